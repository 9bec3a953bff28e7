"""Functions of `numpy.polynomial` of traced coefficients and points, and its series at traced points."""

from typing import Any

import numpy as np
import pytest
from numpy import polynomial

from numbagraph import grad, graph_jit

MODULES: dict[str, Any] = {
    "poly": polynomial.polynomial,
    "cheb": polynomial.chebyshev,
    "leg": polynomial.legendre,
    "herm": polynomial.hermite,
    "herme": polynomial.hermite_e,
    "lag": polynomial.laguerre,
}
X = np.array([-0.5, 0.3, 0.8, 1.2])
C, D, ONE = np.array([1.0, -2.0, 0.5, 0.25]), np.array([2.0, 1.0]), np.array([1.5])
ROWS = np.arange(1.0, 7).reshape(3, 2)
CUBE = np.arange(1.0, 9).reshape(2, 2, 2)
WHOLE = np.array([3, -1, 2])
CASES = {
    "val": [(X, C), (X, ROWS), (X.reshape(2, 2), ROWS), (X[:2], ROWS, False), (WHOLE, WHOLE), (0.5, C), (X, ONE)],
    "val2d": [(X, X[::-1], ROWS), (X, 2 * X, ROWS.astype(int))],
    "val3d": [(X, X[::-1], 2 * X, CUBE)],
    "grid2d": [(X, X[:2], ROWS)],
    "grid3d": [(X, X[:2], X[:3], CUBE)],
    "der": [(C,), (C, 2), (C, 1, 3.0), (ROWS,), (ROWS, 1, 1, 1), (C, 0), (C, 9), (WHOLE,), (ONE,)],
    "int": [
        (C,),
        (ONE,),
        (ONE, 2, [1.0, 2.0], 0.5),
        (C, 2, [1.0, 2.0]),
        (C, 1, 3.0, 0.5, 2.0),
        (ROWS,),
        (ROWS, 1, [], 0, 1, 1),
        (C, 0),
        (WHOLE,),
    ],
    "mul": [(C, D), (D, C), (C, ONE), (WHOLE, C), (C * 1j, D)],
    "add": [(C, D), (D, C), (WHOLE, WHOLE[:1])],
    "sub": [(C, D), (D, C), (WHOLE, WHOLE[:1])],
    "div": [(C, D), (D, C), (C, ONE)],
    "pow": [(D, 3), (D, 1), (C, 0)],
    "mulx": [(C,), (ONE,)],
    "vander": [(X, 3), (X, 0), (X.reshape(2, 2), 2), (WHOLE, 2), (X.astype(np.float32), 2)],
    "vander2d": [(X, 2 * X, [1, 2])],
    "vander3d": [(X, 2 * X, X[::-1], [1, 0, 2])],
    "fromroots": [(X,), (X[:1],), (WHOLE,)],
    "companion": [(C,), (D,)],
    "weight": [(X,)],
}


def same(found, expected):
    found, expected = (each if isinstance(each, tuple) else (each,) for each in (found, expected))
    for one, other in zip(found, expected, strict=True):
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        np.testing.assert_allclose(one, other, 1e-12, 1e-12)


@pytest.mark.repeats(but_each=7)
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("basis", MODULES)
def test_functions_give_what_numpy_gives(basis, kind):
    function = getattr(MODULES[basis], basis + kind, None)
    if function is None:  # powers have no weight
        assert (basis, kind) == ("poly", "weight")
        return
    for given in CASES[kind]:
        rest = [each for each in given if not isinstance(each, np.ndarray)]
        arrays = [each for each in given if isinstance(each, np.ndarray)]
        first = isinstance(given[0], np.ndarray)
        call = (lambda *a, r=rest: function(*a, *r)) if first else (lambda *a, r=rest: function(*r, *a))
        same(graph_jit(call)(*arrays), call(*arrays))


@pytest.mark.parametrize("basis", [each for each in MODULES if each != "poly"])
def test_changes_of_basis(basis):
    for name in (f"{basis}2poly", f"poly2{basis}"):
        function = getattr(MODULES[basis], name)
        for given in (C, D, ONE, WHOLE):
            same(graph_jit(lambda c, f=function: f(c))(given), function(given))


@pytest.mark.parametrize("tensor", [True, False])
@pytest.mark.parametrize("x", [1.5, 3, X[:2], X[:3], X.reshape(2, 2), WHOLE])
@pytest.mark.parametrize("roots", [X, ROWS, WHOLE, CUBE])
def test_products_of_roots(x, roots, tensor):
    def function(x, r):
        return polynomial.polynomial.polyvalfromroots(x, r, tensor=tensor)

    try:
        expected = function(x, roots)
    except ValueError:
        with pytest.raises(ValueError, match=r"tensor|broadcast"):
            graph_jit(function)(x, roots)
    else:
        same(graph_jit(function)(x, roots), expected)


@pytest.mark.parametrize("kind", ["Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"])
def test_series_at_points(kind):
    series = getattr(polynomial, kind)(C, domain=[0.0, 3.0])
    same(graph_jit(lambda x: series(x) + series.deriv()(x))(X), series(X) + series.deriv()(X))
    same(graph_jit(lambda x: series(x))(0.5), series(0.5))


def test_gradients():
    def function(c):
        cheb = polynomial.chebyshev
        return np.sum(cheb.chebval(X, cheb.chebmul(cheb.chebder(c), c)) ** 2)

    step = 1e-6
    expected = [(function(C + each) - function(C - each)) / (2 * step) for each in step * np.eye(4)]
    np.testing.assert_allclose(grad(function)(C), expected, 1e-6)


def test_zeros_at_the_end_stay():
    found = graph_jit(lambda a, b: polynomial.chebyshev.chebsub(a, b))(C, C)
    np.testing.assert_array_equal(found, np.zeros(4))


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda c: polynomial.chebyshev.chebroots(c), "chebroots is not .* np.linalg.eigvals"),
        (lambda c: polynomial.legendre.legfit(X, c, 2), "legfit is not .* np.linalg.lstsq"),
        (lambda c: polynomial.laguerre.lagline(c[0], c[1]), "lagline is not .* off \\+ scl"),
        (lambda c: polynomial.hermite.hermtrim(c), "trimcoef is not .* how many"),
    ],
)
def test_what_depends_on_elements_is_refused(call, instead):
    with pytest.raises(TypeError, match=instead):
        graph_jit(call)(C)
