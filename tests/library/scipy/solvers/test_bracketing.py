"""Roots between two points: `bisect`, `ridder`, `brentq`, `brenth`, `toms748` beside SciPy's own."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize

import numbagraph as ng

so: Any = scipy.optimize

METHODS = ["bisect", "ridder", "brentq", "brenth", "toms748"]


def cubic(x: Any, a: Any) -> Any:
    return x * x * x + x - a


def flat(x, a):
    return (x - a) * (x - a) * (x - a)


def with_a_hole(x, a):
    return np.where(np.abs(x - a) < 1, np.nan, x - a)


PROBLEMS = {
    "cubic": (cubic, 0.0, 5.0, 2.0),
    "flat": (flat, -1.0, 8.0, 2.3),
    "reciprocal": (lambda x, a: 1.0 / x - a, 1e-3, 50.0, 0.7),
    "first": (lambda x, a: x * a, 0.0, 1.0, 2.0),
    "last": (lambda x, a: x * a, -1.0, 0.0, 2.0),
    "pole": (lambda x, a: 1.0 / (x - a), 0.0, 5.0, 2.2),
}


def about(result):
    return result.function_calls, bool(result.converged), result.flag, result.method


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_roots_and_counts_are_scipys(method, problem):
    solver, (f, a, b, parameter) = getattr(so, method), PROBLEMS[problem]

    def run(a, parameter, maxiter):
        return solver(f, a, b, parameter, full_output=True, disp=False, maxiter=maxiter)

    compiled = ng.graph_jit(run)
    for maxiter in (100, 3):  # one compilation
        expected, details = run(a, parameter, maxiter)
        found, result = compiled(a, parameter, maxiter)
        assert isinstance(result, so.RootResults)
        np.testing.assert_allclose([found, result.root], [expected, expected], 1e-13, 1e-15)
        assert about(result) == about(details)
        # SciPy's C leaves the number of iterations uninitialised for a root at an end
        assert result.iterations == (0 if problem in ("first", "last") else details.iterations)


@pytest.mark.parametrize(
    "given",
    [
        {"a": 3.0},
        {"xtol": -1.0},
        {"rtol": 1e-30},
        {"maxiter": 2},
        {"maxiter": -1},
        {"maxiter": 2.5},
        {"f": with_a_hole, "a": -5.0, "b": 11.5},
        {"f": with_a_hole, "a": 2.0, "b": 11.5},
    ],
    ids=lambda given: "-".join(given),
)
@pytest.mark.parametrize("method", ["brentq", "toms748"])
def test_errors_are_scipys(method, given):
    solver = getattr(so, method)
    options = {"f": cubic, "a": 0.0, "b": 5.0, **given}

    def run(a):
        return solver(args=(a,), **options)

    with pytest.raises((ValueError, RuntimeError, TypeError)) as plain:
        run(2.0)
    with pytest.raises(plain.type) as compiled:
        ng.graph_jit(run)(2.0)
    expected = str(plain.value).splitlines()[0]
    expected = expected.split("[np.")[0] if "bracket is" in expected else expected
    assert str(compiled.value).startswith(expected.split("x=")[0])


def test_more_interpolations_of_toms748():
    for k in (2, 3):
        expected = so.toms748(flat, -1.0, 8.0, (2.3,), k=k, full_output=True)[1]
        found = ng.graph_jit(lambda a: so.toms748(flat, -1.0, 8.0, (a,), k=k, full_output=True)[1])(2.3)  # noqa: B023
        assert (found.function_calls, found.iterations) == (expected.function_calls, expected.iterations)
    with pytest.raises(ValueError, match=r"k too small \(0 < 1\)"):
        ng.graph_jit(lambda a: so.toms748(flat, -1.0, 8.0, (a,), k=0))(2.3)
    with pytest.raises(ValueError, match="a and b are not an interval"):
        ng.graph_jit(lambda a: so.toms748(flat, a, -8.0, (2.3,)))(2.3)


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_follow_from_the_equation(method):
    solver = getattr(so, method)

    def root(a):
        return solver(lambda x: x * x * x + x - a, 0.0, 5.0)

    x = root(2.0)
    first = 1 / (3 * x * x + 1)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(root))(2.0), first, rtol=1e-11)
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(root))(2.0), -6 * x * first**3, rtol=1e-11)


def test_batches_of_roots_are_the_roots_of_each():
    a = np.linspace(0.5, 9.0, 37)

    def root(a):
        return so.brentq(cubic, 0.0, 5.0, (a,), full_output=True)

    found, result = ng.graph_jit(ng.vmap(root))(a)
    each = [root(value) for value in a]
    np.testing.assert_allclose(found, [x for x, _ in each], rtol=1e-12)
    difference = result.iterations - np.array([details.iterations for _, details in each])
    assert np.count_nonzero(difference) <= 2
    assert np.all(result.converged)
    slopes = ng.graph_jit(ng.vmap(ng.grad(lambda a: root(a)[0])))(a)
    np.testing.assert_allclose(slopes, 1 / (3 * found**2 + 1), rtol=1e-11)
    with pytest.raises(ValueError, match="must have different signs"):
        ng.graph_jit(ng.vmap(root))(np.array([1.0, -1.0]))


def test_roots_in_loops_branches_and_handlers():
    def loop(a, n):
        x = a
        for _ in range(n):
            if x > 1.0:
                x = so.brentq(cubic, 0.0, 50.0, (x,))
            else:
                x = x + so.ridder(lambda y: y * y - x - a, 0.0, 50.0)  # noqa: B023
        return x

    np.testing.assert_allclose(ng.graph_jit(loop)(2.5, 9), loop(2.5, 9), rtol=1e-11)
    slope = (loop(2.5 + 1e-5, 9) - loop(2.5 - 1e-5, 9)) / 2e-5
    np.testing.assert_allclose(ng.graph_jit(ng.grad(loop))(2.5, 9), slope, rtol=1e-5)

    def handled(a, b):
        try:
            return so.brentq(cubic, a, 5.0, (b,))
        except ValueError:
            return -1.0

    compiled = ng.graph_jit(handled)
    assert compiled(3.0, 2.0) == -1.0
    np.testing.assert_allclose(compiled(0.0, 2.0), 1.0, rtol=1e-12)


def test_a_root_inside_of_a_root():
    def inner(y, a):
        return so.brentq(lambda x: x * x - y * a, 0.0, 20.0)

    def outer(a):
        return so.brentq(lambda y: inner(y, a) + y - 3.0, 0.0, 9.0)

    y = (np.sqrt(2.0 + 12.0) - np.sqrt(2.0)) ** 2 / 4  # sqrt(2 y) + y = 3
    np.testing.assert_allclose(ng.graph_jit(outer)(2.0), y, rtol=1e-10)
    slope = -(np.sqrt(y / 2.0) / 2) / (np.sqrt(2.0 / y) / 2 + 1)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(outer))(2.0), slope, rtol=1e-9)


def test_values_that_are_not_converged_have_no_derivative():
    def early(a):
        return so.brentq(cubic, 0.0, 5.0, (a,), maxiter=3, disp=False)

    np.testing.assert_allclose(ng.graph_jit(early)(2.0), early(2.0), rtol=1e-14)
    assert np.isnan(ng.graph_jit(ng.grad(early))(2.0))


def test_roots_on_jax():
    pytest.importorskip("jax")

    def root(a):
        return so.brentq(cubic, 0.0, 5.0, (a,))

    np.testing.assert_allclose(ng.graph_jit(root, backend="jax")(2.0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(root), backend="jax")(2.0), 0.25, rtol=1e-12)
