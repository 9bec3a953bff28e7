"""`nnls`, `lsq_linear` and `isotonic_regression` of `scipy.optimize` in compiled functions."""

import numpy as np
import pytest
from scipy.optimize import Bounds, isotonic_regression, lsq_linear, nnls

import numbagraph as ng

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(9, 4)), RNG.normal(size=9)


def check(found, expected, left_out=()):
    assert list(found) == [name for name in expected if name not in left_out]
    for name in found:
        if isinstance(expected[name], str):
            assert found[name] == expected[name]
        else:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12, err_msg=name)


def differences(function, x, step=1e-6):
    columns = [(function(x + each) - function(x - each)) / (2 * step) for each in step * np.eye(len(x))]
    return np.stack(columns, axis=-1)


def test_nonnegative():
    compiled = ng.graph_jit(lambda a, b: nnls(a, b))
    for a, b in ((A, B), (A, -B), (A, A @ np.ones(4)), (A[:2], B[:2]), (A, B[:, np.newaxis]), (A[:, :1], B)):
        x, norm = compiled(a, b)
        expected = nnls(a, b)
        np.testing.assert_allclose(x, expected[0], rtol=1e-12)
        np.testing.assert_allclose(norm, expected[1], rtol=1e-9, atol=1e-13)
        assert type(norm) is np.float64


def test_derivatives_of_nonnegative():
    def of_b(b):
        return np.append(*nnls(A, b))

    def of_entries(entries):
        return nnls(entries.reshape(A.shape), B)[0]

    np.testing.assert_allclose(ng.graph_jit(ng.jacrev(of_b))(B), differences(of_b, B), rtol=1e-6, atol=1e-8)
    found = ng.graph_jit(ng.jacfwd(of_entries))(A.ravel())
    np.testing.assert_allclose(found, differences(of_entries, A.ravel()), rtol=1e-6, atol=1e-8)


@ng.graph_jit(static_argnames=("method",))
def bounded(a, b, lower, upper, method):
    return lsq_linear(a, b, Bounds(lower, upper), method=method)


@pytest.mark.parametrize("method", ["trf", "bvls"])
def test_within_bounds(method):
    full, infinite = np.ones(4), np.full(4, np.inf)
    for lower, upper in ((-0.1 * full, 0.2 * full), (0 * full, infinite), (-infinite, 0.05 * full), (-9 * full, full)):
        expected = lsq_linear(A, B, Bounds(lower, upper), method=method)
        check(bounded(A, B, lower, upper, method), expected, left_out=("unbounded_sol",))


@pytest.mark.parametrize("method", ["trf", "bvls"])
def test_derivatives_within_bounds(method):
    def of(p):
        return lsq_linear(A, B * p[0], ([-p[1], -1.0, -0.3, -p[2]], p[3]), method=method, tol=1e-14)

    p = np.array([1.1, 0.1, 0.2, 0.15])
    found = ng.graph_jit(ng.jacfwd(lambda p: (of(p).x, of(p).fun, of(p).cost)))(p)
    assert len(set(of(p).active_mask)) > 1
    for each, name in zip(found, ("x", "fun", "cost"), strict=True):
        expected = differences(lambda p, name=name: np.asarray(of(p)[name]), p, 1e-5)
        np.testing.assert_allclose(each, expected, rtol=1e-5, atol=1e-6)


def test_where_iterations_end_derivatives_are_nan():
    function = ng.graph_jit(lambda b: lsq_linear(A, b, (-0.1, 0.2), max_iter=1))
    check(function(B), lsq_linear(A, B, (-0.1, 0.2), max_iter=1), left_out=("unbounded_sol",))
    slopes = ng.graph_jit(ng.jacrev(lambda b: lsq_linear(A, b, (-0.1, 0.2), max_iter=1).x))(B)
    assert np.all(np.isnan(slopes))


FLAT = np.stack((A[:, 0], 2 * A[:, 0] + 1e-12 * A[:, 1], A[:, 1]), axis=1)
"""Columns of which two are nearly multiples: the minimiser is one of many, but where a bound holds one of them."""


def test_derivatives_are_nan_where_columns_depend_on_each_other():
    def of(a, b, bounds):
        return lsq_linear(a, b, bounds, tol=1e-14).x

    for bounds in ((-np.inf, np.inf), (-9.0, 9.0)):
        assert np.all(np.isnan(ng.jacrev(lambda b, bounds=bounds: of(FLAT, b, bounds))(B)))
    assert np.all(np.isnan(ng.jacfwd(lambda b: nnls(np.ones((2, 3)), b + 1.0 - b)[0])(np.ones(2)))) == (
        np.count_nonzero(nnls(np.ones((2, 3)), np.ones(2))[0]) > 1
    )
    assert np.all(np.isnan(ng.jacrev(lambda b: of(A[:2], b, (-np.inf, np.inf)))(B[:2])))  # fewer rows than columns


def test_derivatives_where_a_bound_holds_a_dependent_column():
    b = -FLAT[:, 0] + 0.3 * FLAT[:, 2]
    bounds = ([-1.0, 0.0, -1.0], 1.0)
    slopes = ng.jacfwd(lambda b: lsq_linear(FLAT, b, bounds, method="bvls").x)(0.5 * b)
    free = np.linalg.pinv(FLAT[:, [0, 2]])
    np.testing.assert_allclose(slopes, np.stack((free[0], 0 * b, free[1])), rtol=1e-8, atol=1e-10)


def test_scales_of_columns_do_not_matter():
    scales = np.array([1.0, 1e-5, 1e5, 1.0])
    a = A * scales
    np.testing.assert_allclose(
        ng.jacfwd(lambda b: lsq_linear(a, b).x)(B), np.linalg.pinv(A) / scales[:, np.newaxis], rtol=1e-6
    )


@pytest.mark.parametrize("increasing", [True, False])
def test_isotonic(increasing):
    compiled = ng.graph_jit(lambda y, w: isotonic_regression(y, weights=w, increasing=increasing))
    weights = RNG.uniform(0.5, 2.0, size=9)
    for y in (B, np.arange(9.0), -np.arange(9.0), np.round(B), B[:1], B[:0]):
        expected = isotonic_regression(y, weights=weights[: len(y)], increasing=increasing)
        check(compiled(y, weights[: len(y)]), expected)

    def of(p):
        return isotonic_regression(p[:9], weights=p[9:], increasing=increasing).x

    p = np.concatenate((B, weights))
    slopes = differences(of, p)
    np.testing.assert_allclose(ng.graph_jit(ng.jacrev(of))(p), slopes, rtol=1e-7, atol=1e-9)
    batch = ng.vmap(ng.grad(lambda p: of(p)[4]))(np.stack((p, p + 1.0)))
    np.testing.assert_allclose(batch, (slopes[4], differences(of, p + 1.0)[4]), rtol=1e-7, atol=1e-9)


ERRORS = {
    "a vector": (lambda a, b: nnls(a[0], b), ValueError),
    "lengths": (lambda a, b: nnls(a, b[1:]), ValueError),
    "not finite": (lambda a, b: nnls(a * np.nan, b), ValueError),
    "iterations": (lambda a, b: nnls(a, b, maxiter=1), RuntimeError),
    "bounds": (lambda a, b: lsq_linear(a, b, (1.0, 0.0)).x, ValueError),
    "right side": (lambda a, b: lsq_linear(a, b[1:]).x, ValueError),
    "method": (lambda a, b: lsq_linear(a, b, method="lm").x, ValueError),
    "weights": (lambda a, b: isotonic_regression(b, weights=0 * b).x, ValueError),
    "lengths of weights": (lambda a, b: isotonic_regression(b, weights=b[1:]).x, ValueError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_scipy(name):
    function, error = ERRORS[name]
    with pytest.raises(error) as plain:
        function(A, B)
    with pytest.raises(error) as compiled:
        ng.graph_jit(function)(A, B)
    assert str(plain.value).splitlines()[0][:24] in str(compiled.value)
