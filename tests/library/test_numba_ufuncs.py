"""What `numba.vectorize` and `numba.guvectorize` make of functions is traced from these; the reference is Numba."""

import math

import numba
import numpy as np
import pytest

import numbagraph as ng

X = np.linspace(-2.0, 3.0, 12).reshape(3, 4)


@numba.vectorize
def kinked(x, slope):
    if x > 0:
        return slope * x
    return math.exp(x) - 1.0


@numba.vectorize(["float32(float32)", "float64(float64)"])
def of_floats(x):
    return x / 2 if x > 0 else x * x


@numba.vectorize(["int64(int64, int64)"], nopython=True)
def greatest_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@numba.guvectorize(["float64[:], float64[:], float64[:]"], "(n),()->(n)")
def smoothed(x, share, out):
    level = x[0]
    for i in range(x.shape[0]):
        level += share[0] * (x[i] - level)
        out[i] = level


@numba.guvectorize(["float64[:,:], float64, float64[:], int64[:]"], "(m,n),()->(m),()")
def rows_above(a, limit, sums, count):
    count[0] = 0
    for i in range(a.shape[0]):
        sums[i] = 0.0
        for j in range(a.shape[1]):
            if a[i, j] > limit:
                sums[i] += a[i, j]
                count[0] += 1


@numba.guvectorize("(n)->()")
def dynamic(x, out):
    out[0] = x.max() - x.min()


CASES = {
    "branch": (lambda x: kinked(x, 2.0), (X,)),
    "broadcast": (lambda x, y: kinked(x, y), (X, X[:, :1])),
    "number": (lambda x: kinked(x, 2.0), (1.5,)),
    "among others": (lambda x: np.sum(kinked(np.sin(x), 0.5), axis=0), (X,)),
    "float32": (of_floats, (X.astype(np.float32),)),
    "integers become floats": (of_floats, (np.arange(-3, 4, dtype=np.int32),)),
    "while": (greatest_divisor, (np.array([12, 18, 0, 35]), np.array([8, 27, 5, 0]))),
    "cores": (lambda x: smoothed(x, 0.5), (X,)),
    "cores of a vector": (lambda x, s: smoothed(x, s), (X[0], np.array([0.1, 0.9]))),
    "two results": (lambda x: rows_above(x, 0.5), (np.stack([X, -X]),)),
    "no rows": (lambda x: smoothed(x, 0.5), (np.empty((0, 4)),)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_as_numba_has_it(name, backend):
    function, arguments = CASES[name]
    expected = function(*arguments)
    found = ng.graph_jit(function, backend=backend)(*arguments)
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6 if other.dtype == np.float32 else 1e-13)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)


def test_results_in_arrays_that_are_given():
    expected, out = np.empty(3), np.empty(3)
    dynamic(X, expected)

    @ng.graph_jit
    def f(x, out):
        dynamic(x, out)
        return kinked(x, 1.0, out=np.empty((3, 4)))

    np.testing.assert_allclose(f(X, out), kinked(X, 1.0), rtol=1e-14)
    np.testing.assert_array_equal(out, expected)


def test_gradients():
    np.testing.assert_allclose(
        ng.grad(lambda x: np.sum(kinked(x, 2.0)))(X), np.where(X > 0, 2.0, np.exp(X)), rtol=1e-14
    )
    found = ng.grad(lambda s: np.sum(smoothed(X[0], s)))(0.3)
    step = 1e-6
    expected = (smoothed(X[0], 0.3 + step).sum() - smoothed(X[0], 0.3 - step).sum()) / (2 * step)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_values_from_outside_are_numbas_own():
    f = ng.graph_jit(lambda x: x + kinked(2.0, 3.0) + smoothed(np.ones(4), 0.5))
    np.testing.assert_array_equal(f(np.zeros(4)), np.full(4, 7.0))


@pytest.mark.parametrize("function", [lambda x: kinked(x, 2.0), lambda x: smoothed(x, 0.5)])
def test_a_refusal_is_at_the_users_line(function):
    line = function.__code__.co_firstlineno
    with pytest.raises(TypeError) as caught:
        ng.graph_jit(function, convert=False)(X)
    assert f"\n  at {__file__}:{line}" in str(caught.value)


def test_an_error_inside_is_at_its_line():
    @numba.vectorize
    def unknown(x):
        return np.busday_count(x, x)

    with pytest.raises(TypeError, match="busday_count is not supported") as caught:
        ng.graph_jit(lambda x: unknown(x))(X)
    assert f"\n  at {__file__}:{unknown.__wrapped__.__code__.co_firstlineno + 2}" in str(caught.value)
