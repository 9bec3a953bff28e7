"""Numbers of Python as arguments, where NumPy's functions ask what they are."""

import numpy as np
import pytest
from scipy.spatial import distance

from numbagraph import grad, graph_jit

VECTOR, MATRIX = np.array([3.0, -4.0, 0.0, 1e-3]), np.arange(12.0).reshape(3, 4) - 5
ORDERS = [2, 1, 0, 3, 0.5, np.inf, -np.inf, -1, -2.0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("x", [VECTOR, VECTOR.astype(np.float32), VECTOR.astype(int), VECTOR + 1j, VECTOR[:0]])
@pytest.mark.filterwarnings("ignore")
def test_norms_of_vectors_of_an_order(x, order):
    if not x.size and order == -np.inf:
        return
    compiled = graph_jit(lambda x, order: (np.linalg.norm(x, order), np.linalg.vector_norm(x, ord=order)))
    wanted = np.linalg.norm(x, order)
    for found in compiled(x, order):
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if x.dtype == np.float32 else 1e-14)
        assert found.dtype == wanted.dtype


@pytest.mark.filterwarnings("ignore")
def test_norms_along_an_axis():
    compiled = graph_jit(lambda x, order: np.linalg.norm(x, order, axis=0, keepdims=True))
    for order in ORDERS:
        np.testing.assert_allclose(compiled(MATRIX, order), np.linalg.norm(MATRIX, order, axis=0, keepdims=True))


@pytest.mark.parametrize("order", [2.0, 1.0, 3.0, np.inf, -np.inf])
def test_derivatives_of_norms_of_an_order(order):
    found = graph_jit(grad(lambda x, order: np.linalg.norm(x, order)))(VECTOR, order)
    np.testing.assert_allclose(found, graph_jit(grad(lambda x: np.linalg.norm(x, order)))(VECTOR), rtol=1e-14)


def test_the_order_of_a_matrix_norm_makes_a_version():
    norm = graph_jit(lambda x, order: np.linalg.norm(x, order))
    for order in (np.inf, 1.0, 2.0, np.inf):
        np.testing.assert_allclose(norm(MATRIX, order), np.linalg.norm(MATRIX, order))


@pytest.mark.parametrize("x", [-4.0, -4, 3, np.float32(2), np.array(-7), np.array([-3, 0, 2]), np.array([-1.5, 2.5])])
def test_pieces_of_a_number(x):
    """The opposite of a bool of Python is no bool, and results have the dtype of the argument."""
    for function in (
        lambda x: np.piecewise(x, [x < 0], [5.7, lambda x: x * 2]),
        lambda x: np.piecewise(x, [x < -2, x > 2], [1, 2]),
        lambda x: np.piecewise(x, [x < -2, x > 2], [1, 2, lambda x, a: x + a], 0.5),
        lambda x: np.piecewise(x, x < 0, [1.5, 2]) if np.ndim(x) else np.piecewise(x, [x < 0], [1.5, 2]),
    ):
        found, wanted = graph_jit(function)(x), np.asarray(function(x))
        np.testing.assert_array_equal(found, wanted)
        assert np.asarray(found).dtype == wanted.dtype


def test_pieces_by_lists_of_bools():
    mask = [True, False, True, False]
    for conditions in (mask, [mask], [mask, [not each for each in mask]]):
        function = lambda x, c=conditions: np.piecewise(x, c, [lambda x: -x, 2])  # noqa: E731
        np.testing.assert_array_equal(graph_jit(function)(VECTOR), function(VECTOR))


@pytest.mark.parametrize("order", [1.0, 2.0, 3, 0.5, np.inf])
def test_distances_of_an_order(order):
    u, v, w = VECTOR, VECTOR[::-1] * 0.3, np.array([1.0, 0.0, 2.0, 0.5])
    compiled = graph_jit(lambda u, v, order, w: (distance.minkowski(u, v, order), distance.minkowski(u, v, order, w)))
    wanted = distance.minkowski(u, v, order), distance.minkowski(u, v, order, w)
    np.testing.assert_allclose(compiled(u, v, order, w), wanted, rtol=1e-14)


@pytest.mark.parametrize("metric", ["chebyshev", "cityblock", "euclidean", "hamming", "canberra"])
def test_distances_from_a_list(metric):
    function = getattr(distance, metric)
    found = graph_jit(lambda u: (function(u, [0, 1, 0]), function([1, 0, 0], u)))(np.array([0, 1, 1]))
    np.testing.assert_allclose(found, (function([0, 1, 1], [0, 1, 0]), function([1, 0, 0], [0, 1, 1])))


def test_pieces_by_rows_of_conditions():
    for function in (
        lambda x: np.piecewise(x, np.stack([x < -1, x > 1]), [1, 2, 3]),
        lambda x: np.piecewise(x, np.stack([x < 0, x >= 0]), [lambda x: -x, lambda x: x]),
    ):
        np.testing.assert_array_equal(graph_jit(function)(VECTOR), function(VECTOR))


@pytest.mark.parametrize("degree", [0, 2, -1])
def test_polynomials_of_a_degree_that_is_an_argument(degree):
    x, y = np.array([1.0, 2.0, 3.0, 5.0]), np.array([1.0, 4.0, 2.0, 0.0])
    functions = [lambda x, y, d: np.polyfit(x, y, d), lambda x, y, _: np.polyfit(x, y, degree)]
    for function in functions:
        compiled = graph_jit(function)
        if degree >= 0:
            np.testing.assert_allclose(compiled(x, y, degree), np.polyfit(x, y, degree), atol=1e-12)
        else:
            with pytest.raises(ValueError, match="expected deg >= 0"):
                compiled(x, y, degree)


def test_turns_of_a_number_that_is_an_argument():
    """Versions by its value, also of what is computed from it: a traced number equals none that `np.rot90` names."""
    x = np.arange(6.0).reshape(2, 3)
    for function in (lambda x, k: np.rot90(x, k), lambda x, k: np.rot90(x, k % 3, axes=(1, 0))):
        turned = graph_jit(function)
        for k in (0, 1, 2, 3, -1, 5):
            np.testing.assert_array_equal(turned(x, k), function(x, k))


def test_turns_by_an_element():
    """An element of an array is no argument that a version can be made for."""
    with pytest.raises(TypeError, match=r"(?s)k must be known .*static_argnames.*test_number_arguments\.py"):
        graph_jit(lambda x: np.rot90(x, x.argmax()))(np.arange(6.0).reshape(2, 3))
