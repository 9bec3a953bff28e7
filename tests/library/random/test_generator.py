"""`numpy.random.Generator` as an argument: NumPy's numbers, draw for draw, and NumPy's state afterwards."""

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit
from numbagraph.jit.generator_memory import spans_of
from numbagraph.runtime.arguments import flatten

KINDS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")


def generator(kind="PCG64", seed=7) -> Any:
    return np.random.Generator(getattr(np.random, kind)(seed))


def state(rng):
    return repr(rng.bit_generator.state)


def same_draws(function, *args, kind="PCG64", calls=2, **options):
    """Compare a function with itself under `graph_jit`: what it returns, and the state that it leaves."""
    expected, found = generator(kind), generator(kind)
    compiled = graph_jit(function, **options)
    for _ in range(calls):
        wanted, given = (list(flatten(each)[0]) for each in (function(expected, *args), compiled(found, *args)))
        assert len(wanted) == len(given)
        for one, other in zip(wanted, given, strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
            assert np.asarray(one).dtype == np.asarray(other).dtype
        assert state(expected) == state(found)


def simple(rng):
    """Draws of 32 and of 64 bits, one after the other, so that the half that is left over matters."""
    first = rng.random(3, dtype=np.float32)
    return first, rng.random(), rng.random(dtype=np.float32), rng.standard_normal((2, 3)), rng.poisson(3.0, 3)


def located(rng):
    """What is shifted and scaled."""
    scales = np.array([[1.0], [2.0]])
    return (
        rng.normal(),
        rng.normal(2.0, 3.0, 4),
        rng.normal([1.0, -1.0, 0.0], scales),
        rng.uniform(-1.0, [1.0, 2.0], (3, 2)),
        rng.uniform(3, 5),
        rng.exponential(scales),
        rng.gamma([0.5, 1.0, 3.0], 2.0, (2, 3)),
        rng.gamma(2.5),
        rng.normal(size=()),
        rng.normal(np.array(1.0)),
        rng.uniform(high=3),
    )


def standard(rng):
    return (
        rng.standard_normal(5, dtype=np.float32),
        rng.standard_exponential(4),
        rng.standard_exponential(3, dtype=np.float32),
        rng.standard_exponential(3, method="inv"),
        rng.standard_exponential((2, 1), np.float32, "inv"),
        rng.standard_cauchy(3),
        rng.standard_gamma(1.5, 3),
        rng.standard_gamma(1.5, 3, dtype=np.float32),
        rng.standard_t([2.0, 5.0]),
        rng.random(0),
        rng.random((2, 0, 3)),
    )


def continuous(rng):
    return (
        rng.beta(0.5, [0.3, 2.0]),
        rng.chisquare(3.0, 3),
        rng.noncentral_chisquare(0.7, 1.5, 2),
        rng.f(3.0, 4.0, 2),
        rng.noncentral_f(3.0, 4.0, 1.0),
        rng.pareto(3.0, 2),
        rng.weibull(2.0, 2),
        rng.power(3.0, 2),
        rng.laplace(size=3),
        rng.gumbel(1.0, 2.0, 3),
        rng.logistic(scale=2.0, size=3),
        rng.lognormal(0.5, [1.0, 2.0]),
        rng.rayleigh(2.0, 3),
        rng.wald(1.0, 2.0, 3),
        rng.vonmises(0.5, 4.0, 3),
        rng.triangular(-1.0, 0.5, 2.0, 3),
    )


def discrete(rng):
    return (
        rng.poisson(),
        rng.poisson([0.5, 200.0], (3, 2)),
        rng.binomial(10, 0.3, 4),
        rng.binomial([5, 1000], [[0.1], [0.9]]),
        rng.binomial(7, 0.5),
        rng.negative_binomial(3, 0.4, 3),
        rng.geometric(0.3, 3),
        rng.logseries(0.6, 3),
        rng.zipf(2.5, 3),
        rng.hypergeometric(10, 7, 8, 4),
    )


def integers(rng, n, x):
    return (
        rng.integers(5),
        rng.integers(10, dtype=int),
        rng.integers(2, dtype=bool),
        rng.integers(n),
        rng.integers(-n, n, (2, 3), dtype=np.int32),
        rng.integers(0, 255, 7, dtype=np.uint8, endpoint=True),
        rng.integers(-100, 100, 3, dtype=np.int8),
        rng.integers(n, size=2, dtype=np.uint16),
        rng.integers(0, 2, 5, dtype=bool),
        rng.integers(-(2**63), 2**63, 3),
        rng.integers(2**63, 2**64 - 1, 3, dtype=np.uint64, endpoint=True),
        rng.integers(0, 2**32, 3),
        rng.integers(5, 5, 2, endpoint=True),
        rng.integers([1, 2], [5, 2**40]),
        rng.integers(np.arange(3) - n, n),
        rng.integers(0, x.shape[0], 3),
        rng.random(dtype=np.float32),
    )


def orders(rng, n, x):
    copied, rows = x.copy(), np.outer(x, x[:3])
    rng.shuffle(copied)
    rng.shuffle(rows, axis=1)
    permuted = rng.permutation(6), rng.permutation(n), rng.permutation(x), rng.permutation(rows, axis=1)
    return copied, rows, permuted, rng.permuted(rows), rng.random()


def choices(rng, n, x):
    p = x / x.sum()
    return (
        rng.choice(x),
        rng.choice(x, (2, 2)),
        rng.choice(5, 3),
        rng.choice(n),
        rng.choice(x, 6, p=p),
        rng.choice(4, p=[0.1, 0.2, 0.3, 0.4]),
        rng.choice(np.outer(x, x), 2, axis=1),
    )


def bootstrap(rng, n, x):
    means = np.empty(n)
    for number in range(n):
        means[number] = x[rng.integers(0, x.shape[0], size=x.shape[0])].mean()
    return means


@pytest.mark.parametrize("kind", ["PCG64", "MT19937"])
@pytest.mark.parametrize("function", [integers, orders, choices, bootstrap])
def test_integers_and_what_follows_from_them(function, kind):
    exact = np.array([0.25, 1.0, 0.5, 2.0, 0.125])  # in any order of additions
    same_draws(function, np.int64(6), exact, kind=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_state_are_those_of_numpy(kind):
    same_draws(simple, kind=kind, calls=60 if kind == "MT19937" else 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_halves_of_words(kind, count):
    """With a half left over before, and without; and one left behind, or none."""
    same_draws(lambda rng: rng.random(count, dtype=np.float32), kind=kind, calls=4)


@pytest.mark.parametrize("function", [located, standard, continuous, discrete])
def test_every_distribution(function):
    same_draws(function)


@pytest.mark.parametrize("function", [simple, discrete])
def test_numpy_backend(function):
    same_draws(function, backend="numpy")


def test_draws_that_nobody_uses():
    def function(rng, x):
        rng.normal(size=3)
        return x + 1.0

    same_draws(function, 2.0)


# ---- loops and branches ----


def walk(rng, n):
    """A rejection sampler in a loop, of which one branch draws."""
    total, kept = 0.0, np.zeros(n)
    for step in range(n):
        total += rng.normal()
        if total > 0.5:
            total -= rng.random()
        kept[step] = total
    return kept


def until(rng, limit):
    """The condition itself draws: once more than there are steps."""
    count = 0
    while rng.random() < limit:
        count += 1
    return count, rng.random()


def nested(rng, limit):
    count, total = 0, 0.0
    for outer in range(4):
        while rng.random() < limit and count < 50:
            count += 1
            if count % 3 == 0:
                total += rng.normal()
        total -= outer
    return count, total


def some_and_all(rng, limit):
    """`any` and `all` stop drawing where they know."""
    found = any(rng.random() < limit for _ in range(5)), all(rng.random() < limit for _ in range(5))
    chosen = sum(rng.random() for _ in range(4) if rng.random() < limit)
    return found, sum(rng.random() < limit for _ in range(3)), chosen + 0.0 * rng.random(1), rng.random()


def ended(rng, n):
    for _ in range(n):
        drawn = rng.random()
        if drawn > 0.9:
            return drawn
    return -1.0


def by_function(rng, n):
    total = 0.0
    for _ in range(n):
        total += sum_of(rng, 3)
    return total


def sum_of(rng, count):
    return rng.normal(size=count).sum()


def either(rng, x):
    return (rng.normal() if x > 0 else rng.random()), rng.random()


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (walk, 20),
        (until, 0.9),
        (nested, 0.6),
        (some_and_all, 0.3),
        (some_and_all, 0.8),
        (ended, 40),
        (ended, 2),
        (by_function, 4),
        (either, 1.0),
        (either, -1.0),
    ],
)
def test_loops_and_branches(function, argument):
    same_draws(function, argument, calls=3)


def test_state_of_many_words_in_a_loop():
    same_draws(walk, 700, kind="MT19937")


@pytest.mark.parametrize("method", ["standard_normal", "standard_exponential"])
def test_a_state_that_is_made_anew_within_a_draw(method):
    """`MT19937` has 624 numbers, of which a draw takes two: after an odd number, one is on each side."""
    compiled = graph_jit(lambda rng, n: (rng.random(dtype=np.float32), getattr(rng, method)(n)))
    expected, found = generator("MT19937"), generator("MT19937")
    for n in (0, 1, 300, 310, 311, 312, 313, 1000, 7, 5000):
        wanted = expected.random(dtype=np.float32), getattr(expected, method)(n)
        for one, other in zip(wanted, compiled(found, n), strict=True):
            np.testing.assert_array_equal(one, other)
        assert state(expected) == state(found)


def test_conditions_that_write_arrays():
    def function(x):
        count = 0
        while grown(x) < 10.0:
            count += 1
        return count

    expected, found = np.array([0.5, 1.0]), np.array([0.5, 1.0])
    assert graph_jit(function)(found) == function(expected)
    np.testing.assert_array_equal(found, expected)


def grown(x):
    x[0] += 1.0
    return x.sum()


# ---- arguments ----


def test_shapes_of_arguments():
    def function(rng, x):
        return rng.normal(size=x.shape), rng.normal(x), x.astype(np.float32) * rng.normal(), x[x > 0] + rng.random()

    same_draws(function, np.array([-1.0, 2.0, 3.0]))


def test_python_numbers_are_weak():
    def function(rng, x):
        return x * rng.normal(), x * rng.random(dtype=np.float32), x + rng.poisson(3.0)

    same_draws(function, np.ones(2, np.float32))


def test_one_state_under_two_names():
    def function(one, other):
        return one.random() + 2.0 * other.random(), one.normal()

    compiled = graph_jit(function)
    expected, found = generator(), generator()
    assert compiled(found, found) == function(expected, expected)
    assert compiled(found, np.random.Generator(found.bit_generator)) == function(expected, expected)
    assert compiled(found, generator(seed=3)) == function(expected, generator(seed=3))
    assert state(expected) == state(found)


def test_trees_of_generators_of_several_kinds():
    def function(tree):
        return tree["a"].random() + tree["b"][0].normal() * tree["b"][1]

    compiled = graph_jit(function)
    for kinds in (("PCG64", "MT19937"), ("MT19937", "PCG64"), ("SFC64", "SFC64"), ("PCG64", "MT19937")):
        expected, found = ({"a": generator(kinds[0]), "b": (generator(kinds[1], 2), 3.0)} for _ in range(2))
        assert compiled(found) == function(expected)
        assert state(found["b"][0]) == state(expected["b"][0])


def test_compiled_functions_inside():
    inner = graph_jit(lambda rng, x: x * rng.normal())
    same_draws(lambda rng: inner(rng, 3.0) + rng.random())


def test_calls_after_pickling():
    compiled = pickle.loads(pickle.dumps(graph_jit(walk)))
    expected, found = generator(), generator()
    np.testing.assert_array_equal(compiled(found, 9), walk(expected, 9))
    assert state(expected) == state(found)


def test_calls_of_one_function_with_other_layouts():
    """What a call that is known does in a faster way must be the same."""
    compiled = graph_jit(lambda rng, x: rng.normal(size=3) * x)
    for kind in (*KINDS, *KINDS):
        expected, found = generator(kind), generator(kind)
        for x in (1.0, 2, np.float32(3.0), np.ones(3), np.ones((2, 3))):
            np.testing.assert_array_equal(compiled(found, x), expected.normal(size=3) * x)
            np.testing.assert_array_equal(compiled(x=x, rng=found), expected.normal(size=3) * x)
            assert state(found) == state(expected)


def test_arrays_that_are_written_too():
    def function(rng, x):
        x += rng.normal(size=x.shape[0])

    compiled, written, expected = graph_jit(function), np.zeros(4), np.zeros(4)
    first, second = generator(), generator()
    for _ in range(3):
        function(first, expected)
        compiled(second, written)
        np.testing.assert_array_equal(written, expected)
    written.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(second, written)
    assert state(first) == state(second)


def test_results_in_arrays_of_the_caller():
    compiled, out = graph_jit(lambda rng: rng.normal(size=3) * 2.0), np.empty(3)
    first, second = generator(), generator()
    for _ in range(3):
        compiled(second, out=out)
        np.testing.assert_array_equal(out, first.normal(size=3) * 2.0)
    assert state(first) == state(second)


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (lambda rng, x: (rng.normal(), numbagraph.check(x > 0, "negative"))[0], 1.0, -1.0),
        (lambda rng, n: rng.normal(size=n), 3, -1),
        (lambda rng, n: rng.normal(size=n), 3, 2**45),
        (lambda rng, n: rng.permutation(10)[n], 3, 11),
    ],
)
def test_failures_after_draws_leave_the_state(function, good, bad):
    compiled: Any = graph_jit(function)
    rng = generator()
    compiled(rng, good)
    before = state(rng)
    with pytest.raises((ValueError, MemoryError, IndexError)):
        compiled(rng, bad)
    assert state(rng) == before


def test_isinstance():
    same_draws(lambda rng: rng.random() if isinstance(rng, np.random.Generator) else None)


def test_derivatives_follow_what_is_shifted_and_scaled():
    def loss(x, rng):
        return np.sum((x * rng.normal(size=3) + rng.gamma(2.0, x)) ** 2)

    rng, other = generator(), generator()
    found = graph_jit(numbagraph.grad(loss))(1.5, rng)
    normals, gamma = other.normal(size=3), other.standard_gamma(2.0)
    np.testing.assert_allclose(found, 3.0 * np.sum((normals + gamma) ** 2), rtol=1e-13)
    assert state(rng) == state(other)


def test_threads_draw_from_one_stream():
    """Those of NumPy, too."""
    rng, drawn = generator(), []
    function = graph_jit(lambda rng: rng.standard_normal(100))
    function(generator())

    def work(draw):
        for _ in range(20):
            drawn.append(draw())

    ways = [lambda: function(rng), lambda: rng.standard_normal(100)]
    threads = [threading.Thread(target=work, args=(way,)) for way in (*ways, *ways)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    expected = generator()
    np.testing.assert_array_equal(np.sort(np.concatenate(drawn)), np.sort(expected.standard_normal(8000)))
    assert state(rng) == state(expected)


def test_threads_with_two_generators_do_not_wait_for_each_other():
    one, other = generator(), generator(seed=2)
    function = graph_jit(lambda first, second: first.normal() + second.normal())
    function(one, other)

    def work(*given):
        for _ in range(50):
            function(*given)

    threads = [threading.Thread(target=work, args=each, daemon=True) for each in ((one, other), (other, one))]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert not any(each.is_alive() for each in threads)


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_found_in_memory(kind):
    """Without it, everything is the same, and slower."""
    assert spans_of(kind) is not None


def times_of_events(rng, end):
    t = 0.0
    times = [0.0]
    while t < end:
        t += rng.exponential(1.0)
        times.append(t)
    return np.array(times)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_draws_are_appended_until_a_condition_fails(backend):
    same_draws(times_of_events, 5.0, calls=3, backend=backend)
