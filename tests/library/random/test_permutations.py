"""Methods of `numpy.random.Generator` whose draws depend on each other: NumPy's numbers, and its state afterwards."""

from typing import Any

import numpy as np
import pytest

from numbagraph import TraceError, grad, graph_jit
from numbagraph.runtime.arguments import flatten

BLOCK = np.arange(24.0).reshape(2, 3, 4)
COVARIANCE = np.array([[2.0, 1.0, 0.3], [1.0, 3.0, 0.2], [0.3, 0.2, 1.0]])


def generator(kind="PCG64", seed=7) -> Any:
    return np.random.Generator(getattr(np.random, kind)(seed))


def state(rng):
    return repr(rng.bit_generator.state)


def same_draws(function, *args, kind="PCG64", backend: Any = "numba", rtol=0.0):
    expected, found = generator(kind), generator(kind)
    compiled = graph_jit(function, backend=backend)
    for _ in range(2):
        wanted, given = (list(flatten(each)[0]) for each in (function(expected, *args), compiled(found, *args)))
        for one, other in zip(wanted, given, strict=True):
            assert type(one) is type(other)
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(other, one, rtol=rtol, atol=0)
            assert np.shape(one) == np.shape(other)
        assert state(expected) == state(found)


def permuted(rng):
    return (
        *(rng.permuted(BLOCK, axis=axis) for axis in (0, 1, -1, None)),
        rng.permuted(np.arange(5), axis=0),
        rng.permuted(np.zeros((0, 3)), axis=1),
        rng.random(),
    )


def dirichlet(rng):
    return (
        rng.dirichlet([1.0, 3.0, 2.0], 4),
        rng.dirichlet([1.0, 0.0, 2.0]),
        rng.dirichlet(np.linspace(0.5, 3, 20), (2, 3)),
        rng.dirichlet([0.05, 0.01, 0.09], 5),
        rng.dirichlet([0.05, 0.02]),
        rng.dirichlet([3.0]),
        rng.dirichlet([1, 2], 0),
        rng.random(),
    )


def multinomial(rng):
    return (
        rng.multinomial(20, [0.2, 0.3, 0.5]),
        rng.multinomial(20, [0.2, 0.3, 0.5], (2, 3)),
        rng.multinomial([5, 100], [[0.3, 0.7], [1.0, 0.0]]),
        rng.multinomial(1000, [0.3, 0.3, 0.4, 0.0], 5),
        rng.multinomial([[5], [6]], [[0.5, 0.5], [0.1, 0.9]], (2, 2)),
        rng.multinomial(0, [0.5, 0.5]),
        rng.multinomial(5.0, [1.0]),
        rng.random(),
    )


def hypergeometric(rng):
    return (
        rng.multivariate_hypergeometric([4, 5, 6], 7),
        rng.multivariate_hypergeometric([4, 5, 6], 7, (2, 3)),
        rng.multivariate_hypergeometric([4, 5, 6], 7, 3, "count"),
        rng.multivariate_hypergeometric([400, 0, 600], 700, 3),
        rng.multivariate_hypergeometric([1, 2], 0),
        rng.random(),
    )


def choices(rng):
    return (
        rng.choice(10, 4, replace=False),
        rng.choice(10, 10, False),
        rng.choice(10, 4, False, shuffle=False),
        rng.choice(BLOCK, 2, replace=False, axis=2),
        rng.choice(10, (2, 3), False),
        rng.choice(10, replace=False),
        rng.choice(np.arange(5.0), replace=False),
        rng.choice(5, 0, False),
        rng.choice(10**9, 5, False),
        rng.random(),
    )


def large_choices(rng):
    """Of many, a large part: NumPy shuffles all."""
    return rng.choice(20000, 3000, False), rng.choice(20000, 20000, False, shuffle=False), rng.random()


def weighted_choices(rng):
    return (
        rng.choice(5, 3, False, p=[0.1, 0.2, 0.3, 0.4, 0.0]),
        rng.choice(5, 4, False, p=[0.001, 0.001, 0.001, 0.997, 0.0]),
        rng.choice(np.arange(3.0), replace=False, p=[0.5, 0.5, 0]),
        rng.choice(4, (2, 2), False, p=[0.97, 0.01, 0.01, 0.01]),
        rng.random(),
    )


def orders(rng):
    """Around powers of two, where another bit is drawn, and behind a draw that leaves half of a word."""
    found = [rng.permutation(length) for length in (0, 1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 255, 256, 257, 70000)]
    return *found, rng.integers(9, dtype=np.int32), rng.permutation(6), rng.permutation(BLOCK, axis=1), rng.random()


EXACT = [orders, permuted, dirichlet, multinomial, hypergeometric, choices, large_choices, weighted_choices]


@pytest.mark.parametrize("function", EXACT)
def test_numbers_and_state_are_those_of_numpy(function):
    same_draws(function)


@pytest.mark.repeats
@pytest.mark.parametrize("function", EXACT)
def test_other_bit_generators_and_the_numpy_backend(function):
    for kind in ("PCG64DXSM", "SFC64", "Philox", "MT19937"):
        same_draws(function, kind=kind)
    same_draws(function, backend="numpy")


def test_normal_vectors_are_those_of_numpy_up_to_rounding():
    def function(rng):
        return (
            rng.multivariate_normal(np.ones(3), COVARIANCE, 2),
            rng.multivariate_normal(np.ones(3), COVARIANCE, (2, 2), method="cholesky"),
            rng.multivariate_normal([1, 2, 3], COVARIANCE, method="eigh"),
            rng.multivariate_normal(np.ones(2), np.ones((2, 2)), 4, check_valid="raise"),
            rng.random(),
        )

    same_draws(function, rtol=1e-12)


def test_lengths_and_parameters_that_are_known_only_when_the_program_runs():
    def function(rng, x, n, p):
        out = np.zeros_like(x)
        rng.permuted(x, axis=0, out=out)
        return (
            out,
            rng.choice(x, n, False, axis=1),
            rng.choice(n * 3, n, False),
            rng.choice(3, n, False, p=p),
            rng.dirichlet(p * 4),
            rng.dirichlet(p * 0.1),
            rng.multinomial(n, p, n),
            rng.multivariate_hypergeometric(np.arange(n) + 3, n),
        )

    x, p = np.arange(12.0).reshape(3, 4), np.array([0.2, 0.3, 0.5])
    expected, found, compiled = generator(), generator(), graph_jit(function)
    for n in (2, 3, 2):
        for one, other in zip(function(expected, x, n, p), compiled(found, x, n, p), strict=True):
            np.testing.assert_array_equal(one, other)
        assert state(expected) == state(found)


def test_loops_and_branches():
    def function(rng, n, p):
        total = 0.0
        for _ in range(n):
            total += rng.choice(4, 2, False).sum() + rng.multinomial(5, p)[0]
            if rng.random() < 0.5:
                total += rng.dirichlet(p)[0] + rng.choice(3, 2, False, p=p)[0]
        return total

    same_draws(function, 9, np.array([0.2, 0.3, 0.5]))


def test_normal_vectors_have_derivatives():
    def total(scale):
        return np.sum(scale * generator().multivariate_normal(np.zeros(3), COVARIANCE, method="cholesky"))

    slope = grad(
        lambda scale, rng: np.sum(rng.multivariate_normal(np.zeros(3), scale**2 * COVARIANCE, method="cholesky"))
    )
    np.testing.assert_allclose(slope(2.0, generator()), total(1.0), rtol=1e-12)


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda rng: rng.multinomial(5, [0.5, 1.6]), "pvals < 0, pvals > 1"),
        (lambda rng: rng.multinomial(-5, [0.5, 0.5]), "n < 0"),
        (lambda rng: rng.multinomial(5, []), "last dimension of pvals"),
        (lambda rng: rng.multinomial(5, 0.5), "last dimension of pvals"),
        (lambda rng: rng.multinomial(5, [0.5, 0.6, 0.2]), "> 1.0"),
        (lambda rng: rng.multivariate_hypergeometric([1, 2], 5), "nsample > sum"),
        (lambda rng: rng.multivariate_hypergeometric([1, 2], -5), "nonnegative"),
        (lambda rng: rng.multivariate_hypergeometric([1, -2], 1), "nonnegative integers"),
        (lambda rng: rng.multivariate_hypergeometric([1.0, 2], 1), "nonnegative integers"),
        (lambda rng: rng.multivariate_hypergeometric([10**9, 2], 1), "less than 1000000000"),
        (lambda rng: rng.multivariate_hypergeometric([2**62] * 4, 0, method="count"), "sum"),
        (lambda rng: rng.multivariate_hypergeometric([1, 2], 1, method="x"), "method must be"),
        (lambda rng: rng.multivariate_normal([1.0], [[1.0, 2.0]]), "square"),
        (lambda rng: rng.multivariate_normal([[1.0, 2.0]], np.eye(2)), "mean must be"),
        (lambda rng: rng.multivariate_normal([1.0, 2.0], np.eye(3)), "same length"),
        (lambda rng: rng.multivariate_normal([1.0, 2.0], -np.eye(2), check_valid="raise"), "positive-semidefinite"),
        (lambda rng: rng.multivariate_normal([1.0, 2.0], -np.eye(2), method="cholesky"), "positive definite"),
        (lambda rng: rng.dirichlet([-1, 1.0]), "alpha < 0"),
        (lambda rng: rng.choice(5, 6, False), "larger sample"),
        (lambda rng: rng.choice(5, 3, False, p=[1.0, 0, 0, 0, 0]), "Fewer non-zero"),
        (lambda rng: rng.choice(5, 3, False, p=[0.5, 0.5]), "same size"),
        (lambda rng: rng.choice(0, 1, False), "positive integer"),
    ],
)
def test_what_numpy_refuses_is_refused_and_leaves_the_state(draw, text):
    rng, untouched = generator(), state(generator())
    for function in (lambda rng: draw(rng), graph_jit(draw)):
        with pytest.raises(ValueError, match=text):
            function(rng)
        rng = generator()
    compiled = graph_jit(draw)
    with pytest.raises(ValueError, match=text):
        compiled(rng)
    assert state(rng) == untouched


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.complex128, bool])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_permuted_arrays_of_every_dtype(dtype, axis):
    block = np.arange(12).reshape(3, 4).astype(dtype)
    for wide in (dtype, np.result_type(dtype, np.float64)):
        plain, compiled = np.zeros((3, 4), wide), np.zeros((3, 4), wide)
        generator().permuted(block, axis=axis, out=plain)
        graph_jit(lambda rng, x, out: rng.permuted(x, axis=axis, out=out))(generator(), block, compiled)
        np.testing.assert_array_equal(compiled, plain)
    same, expected = block.copy(), block.copy()
    generator().permuted(expected, axis=axis, out=expected)
    graph_jit(lambda rng, x: rng.permuted(x, axis=axis, out=x))(generator(), same)
    np.testing.assert_array_equal(same, expected)


@pytest.mark.parametrize(
    ("x", "out", "text"),
    [
        (np.arange(3) * 0.5, np.zeros(3, np.int64), "according to the rule 'safe'"),
        (np.arange(3), np.zeros(3, np.int32), "according to the rule 'safe'"),
        (np.int64(3), np.zeros((), np.int64), "unsized"),
    ],
)
def test_what_permuted_does_not_take(x, out, text):
    def function(rng, x, out):
        rng.permuted(x, out=out)

    with pytest.raises(TypeError, match=text):
        function(generator(), x, out.copy())
    before = out.copy()
    with pytest.raises(TypeError, match=text):
        graph_jit(function)(generator(), x, out)
    np.testing.assert_array_equal(out, before)


def test_what_is_not_compiled_is_refused():
    with pytest.raises(ValueError, match="where all are positive"):
        graph_jit(lambda rng: rng.dirichlet([0.05, 0.0]))(generator())
    with pytest.raises(ValueError, match="positive-semidefinite"):
        graph_jit(lambda rng: rng.multivariate_normal([1.0, 2.0], -np.eye(2)))(generator())
    with pytest.raises(TraceError, match=r"np\.empty_like"):
        graph_jit(lambda rng: rng.permuted(np.eye(2), axis=1, out=np.eye(2)))(generator())


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (5, 0, 2), (2, 4, 0), (0, 0), (4, 3), (1, 3)])
def test_a_shuffle_of_no_elements_draws_nothing(shape, axis):
    def shuffled(rng, x):
        rng.shuffle(x, axis=axis)
        return rng.permutation(x, axis=axis), rng.random()

    x = np.arange(float(np.prod(shape))).reshape(shape)
    own, given = x.copy(), x.copy()
    expected, found = generator(), generator()
    for one, other in zip(shuffled(expected, own), graph_jit(shuffled)(found, given), strict=True):
        np.testing.assert_array_equal(other, one)
    np.testing.assert_array_equal(given, own)
    assert state(expected) == state(found)


def test_the_elements_of_a_transposed_array_are_permuted_in_the_order_of_c():
    x = np.arange(12.0).reshape(3, 4)
    found = graph_jit(lambda rng, x: rng.permuted(x))(generator(), x.T)
    np.testing.assert_array_equal(found, generator().permuted(np.ascontiguousarray(x.T)))
