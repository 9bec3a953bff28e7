"""What the steps of loops stack is computed behind the loop, where the steps that follow do not need it."""

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit, scan
from numbagraph.ir.values import Node
from numbagraph.rewrite.pipeline import optimise

X = np.random.default_rng(3).normal(size=40)
P = np.array([0.2, 0.1, 0.7])


def garch(p, xs):
    def step(carry, x):
        w, last = carry
        w = p[0] + p[1] * last**2 + p[2] * w
        return (w, x), np.log(w) + x * x / w

    return np.sum(scan(step, (1.0, 0.0), xs)[1])


def backwards(p, xs):
    def step(carry, x):
        return np.tanh(carry * p[0] + x), np.exp(carry) * x

    last, ys = scan(step, 0.3, xs, reverse=True)
    return last + np.sum(ys * np.arange(len(xs)))


def two_results(p, xs):
    def step(carry, x):
        after = carry * p[0] + x
        return after, (np.sin(after) * p[1], np.where(x > 0, np.exp(x), after), after, np.exp(p[2]))

    last, (a, b, c, d) = scan(step, 0.0, xs)
    return last + np.sum(a * b) + np.sum(c) + np.sum(d)


def with_taps(p, xs):
    def step(carry, x):
        now = carry[0] * p[0] - carry[1] * p[1] + x
        return now, np.cos(carry[1]) * now

    return np.sum(scan(step, np.array([0.1, 0.2]), xs, lags=(1, 2))[1])


def numbered(p, xs):
    def step(carry, x):
        number, total = carry
        total = total * p[0] + x
        return (number + 1, total), np.exp(total) * number

    return np.sum(scan(step, (0, 0.0), xs)[1])


def of_a_mean(p, xs):
    """What is computed with a vector stays in the loop."""

    def step(carry, x):
        after = carry * p[0] + x
        return after, np.exp(np.mean(p * after)) * np.sqrt(1 + after**2) * np.cos(after)

    return np.sum(scan(step, 0.0, xs)[1])


def in_a_loop(p, xs):
    def outer(carry, x):
        def step(inner, y):
            inner = inner * p[0] + y * x
            return inner, np.sin(inner)

        last, ys = scan(step, carry, xs[:5])
        return last * 0.1, np.exp(np.sum(ys) * 0.1)

    return np.sum(scan(outer, 0.1, xs)[1])


def by_python(p, xs):
    total, ys = 0.0, np.zeros(len(xs))
    for i in range(len(xs)):
        total = total * p[0] + xs[i]
        ys[i] = np.log1p(total**2)
    return np.sum(ys)


def carried_sum(p, xs):
    def step(carry, x):
        w, total = carry
        w = p[0] + p[1] * x * x + p[2] * w
        return (w, total - 0.5 * (np.log(w) + x * x / w)), None

    return scan(step, (1.0, 0.0), xs)[0][1]


def carried_backwards(p, xs):
    def step(carry, x):
        total, w, largest = carry
        after = w * p[0] + x
        return (p[1] * total + np.exp(-w) * x - p[2], after, np.maximum(largest, np.sin(after) * x)), total * x

    (total, w, largest), ys = scan(step, (0.5, 0.3, 0.1), xs, reverse=True)
    return total + w + largest + np.sum(ys)


def every_sum(p, xs):
    def step(carry, x):
        w, total, other = carry
        w = w * p[0] + x
        return (w, np.exp(w) + total + p[1] * x, other + np.tanh(w) * np.log1p(w * w)), (total, other)

    last, (totals, others) = scan(step, (0.1, 0.0, 0.2), xs)
    return last[1] + last[2] + np.sum(totals * others)


def sum_alone(p, xs):
    return scan(lambda total, x: (total + np.exp(p[0] * x) * p[1], None), 0.0, xs)[0]


def with_its_sum(p, xs):
    """The next step needs the sum."""

    def step(carry, x):
        w, total = carry
        return (w * p[0] + x * np.tanh(total), total + np.exp(w * p[1]) * p[2]), None

    return scan(step, (0.1, 0.0), xs)[0][1]


def sum_by_python(p, xs):
    w, total = p[0], 0.0
    for x in xs:
        w = p[1] * x * x + p[2] * w
        total -= 0.5 * (np.log(w) + x * x / w)
    return total


LOOPS = [garch, backwards, two_results, with_taps, numbered, of_a_mean, in_a_loop, by_python]
LOOPS += [carried_sum, carried_backwards, every_sum, sum_alone, with_its_sum, sum_by_python]
DIVIDED = [garch, backwards, two_results, with_taps]
DIVIDED += [carried_sum, carried_backwards, every_sum, sum_alone, sum_by_python]
LENGTHS = (40, 1, 0)


def plainly(function):
    return graph_jit(function, backend="numpy")


@pytest.mark.parametrize("function", LOOPS)
def test_values_are_those_of_python(function):
    compiled, value = graph_jit(function), plainly(function)
    for length in LENGTHS:
        np.testing.assert_allclose(compiled(P, X[:length]), value(P, X[:length]), rtol=1e-12)


def test_the_reference_itself():
    """NumPy's loop over steps, written by hand."""
    w, last, total = 1.0, 0.0, 0.0
    for x in X:
        w, last = P[0] + P[1] * last**2 + P[2] * w, x
        total += np.log(w) + x * x / w
    np.testing.assert_allclose(graph_jit(garch)(P, X), total, rtol=1e-12)
    np.testing.assert_allclose(graph_jit(by_python)(P, X), by_python(P, X), rtol=1e-12)
    np.testing.assert_allclose(graph_jit(sum_by_python)(P, X), sum_by_python(P, X), rtol=1e-12)


@pytest.mark.parametrize("function", DIVIDED)
def test_loops_are_left_without_what_vectors_compute(function):
    final = optimise(graph_jit(function).graph(P, X)).final
    bodies = {each.attrs["body"] for each in final.order if isinstance(each, Node) and each.op.name == "scan"}
    names = {each.op.name for body in bodies for each in body.order if isinstance(each, Node)}
    assert bodies
    assert not names & {"log", "exp", "sin", "cos"}
    assert {each.op.name for each in final.order if isinstance(each, Node)} & {"log", "exp", "sin", "cos"}


@pytest.mark.parametrize("function", LOOPS)
def test_gradients_are_those_of_differences(function):
    gradient, value, h = graph_jit(numbagraph.grad(function, argnums=(0, 1))), plainly(function), 1e-6
    for length in LENGTHS:
        xs = X[:length]
        found = gradient(P, xs)
        slopes = [(value(P + h * e, xs) - value(P - h * e, xs)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(found[0], slopes, rtol=1e-5, atol=1e-6)
        for place in {0, length // 2, length - 1} if length else ():
            e = np.eye(length)[place]
            slope = (value(P, xs + h * e) - value(P, xs - h * e)) / (2 * h)
            np.testing.assert_allclose(found[1][place], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.repeats
@pytest.mark.parametrize("function", LOOPS)
def test_batches_and_second_derivatives(function):
    xs, ps = X[:6], np.stack([P, 0.9 * P, P**2])
    gradient = numbagraph.grad(function)
    many = graph_jit(numbagraph.vmap(gradient, in_axes=(0, None)))(ps, xs)
    one = graph_jit(gradient)
    np.testing.assert_allclose(many, [one(p, xs) for p in ps], rtol=1e-10, atol=1e-12)
    found, h = graph_jit(numbagraph.hessian(function))(P, xs), 1e-6
    slopes = [(one(P + h * e, xs) - one(P - h * e, xs)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)


def test_checks_stay_in_their_step():
    @graph_jit
    def checked(p, xs):
        def step(carry, x):
            numbagraph.check(x > -1, "too small: {}", x)
            carry = carry * p[0] + x
            return carry, np.exp(carry)

        return np.sum(scan(step, 0.0, xs)[1])

    with pytest.raises(numbagraph.CheckError, match=r"too small: -2.0(.|\n)*step 2"):
        checked(P, np.array([0.0, 1.0, -2.0, -3.0]))


def test_points_where_nothing_is_finite():
    xs = np.array([0.0, np.inf, -np.inf, np.nan, 1.0])

    def function(p, xs):
        def step(carry, x):
            carry = carry * p[0] + x
            return carry, (np.log(carry), np.exp(carry) / x)

        return scan(step, 0.0, xs)

    with np.errstate(all="ignore"):
        expected = plainly(function)(P, xs)
    found = graph_jit(function)(P, xs)
    np.testing.assert_array_equal(found[0], expected[0])
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_batches_and_second_derivatives_keep_their_loops():
    many = numbagraph.vmap(numbagraph.grad(garch), in_axes=(0, None))
    for function, p in ((many, np.stack([P, P])), (numbagraph.hessian(garch), P)):
        final = optimise(graph_jit(function).graph(p, X)).final
        assert "log" not in {each.op.name for each in final.order if isinstance(each, Node)}


def test_sums_are_added_up_in_their_order():
    """Terms of both signs and many magnitudes: any other order gives another number."""

    @graph_jit
    def added(xs):
        return scan(lambda total, x: (total + x * np.exp(np.abs(x)), None), 0.0, xs)[0]

    terms = graph_jit(lambda xs: xs * np.exp(np.abs(xs)))
    xs = np.random.default_rng(5).normal(size=1000) * 30
    expected = 0.0
    for term in terms(xs):
        expected += term
    assert added(xs) == expected
    assert np.sum(terms(xs)) != expected


def estimated(count, p):
    def step(_, carry):
        x, total = carry
        return 2.9 * x * (1 - x), total + np.exp(-x)

    return numbagraph.fori_loop(0, count, step, (p[0], p[0] * 0))[1]


@pytest.mark.parametrize(
    ("function", "is_divided"),
    [
        (lambda p, xs, n: estimated(n, p), False),
        (lambda p, xs, n: estimated(xs.shape[0] * xs.shape[0], p), False),
        (lambda p, xs, n: estimated(xs.shape[0] - 1, p), True),
        (lambda p, xs, n: estimated(1000, p), True),
        (lambda p, xs, n: estimated(10**9, p), False),
        (lambda p, xs, n: sum_alone(p, np.outer(xs, xs).ravel()), True),
    ],
)
def test_terms_are_stored_where_an_array_is_as_long_or_they_are_few(function, is_divided):
    """A loop over more steps than memory holds numbers keeps its sum."""
    final = optimise(graph_jit(function).graph(P, X, 3)).final
    assert ("exp" in {each.op.name for each in final.order if isinstance(each, Node)}) == is_divided


def test_the_sum_of_any_number_of_steps():
    x, total = P[0], 0.0
    for _ in range(1600):
        x, total = 2.9 * x * (1 - x), total + np.exp(-x)
    for function in (lambda p, n: estimated(n, p), lambda p, n: estimated(1600, p)):
        np.testing.assert_allclose(graph_jit(function)(P, 1600), total, rtol=1e-10)


def test_a_failing_check_names_its_step():
    @graph_jit
    def checked(p, xs):
        def step(carry, x):
            w, total = carry
            w = w * p[0] + x
            numbagraph.check(w < 1, "too large: {}", w)
            return (w, total + np.exp(w)), None

        return scan(step, (0.0, 0.0), xs)[0][1]

    with pytest.raises(numbagraph.CheckError, match=r"too large: 2.0(.|\n)*step 2"):
        checked(P, np.array([0.0, 0.5, 1.9, 3.0]))


def test_what_steps_require_is_required_where_nothing_else_is_left_in_them():
    @graph_jit
    def checked(xs):
        def step(carry, x):
            numbagraph.check(x > -1, "too small: {}", x)
            return carry + np.exp(x), np.cos(x) * np.exp(x)

        total, ys = scan(step, 0.0, xs)
        return total + np.sum(ys)

    with pytest.raises(numbagraph.CheckError, match=r"too small: -2.0(.|\n)*step 1"):
        checked(np.array([0.0, -2.0]))
    np.testing.assert_allclose(checked(X[:1] * 0), 2.0)


def test_no_element_is_read_where_there_are_no_steps():
    function = graph_jit(sum_alone)
    assert function(P, X[:0]) == function(P[:0], X[:0]) == 0
    with pytest.raises(IndexError, match="index 0"):
        function(P[:0], X)
