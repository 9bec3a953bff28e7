"""Products of which parts are read, and elements that take long to compute, of which some are read."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from numbagraph.ir import shapes
from numbagraph.ir.values import Node
from numbagraph.rewrite.pipeline import optimise

RNG = np.random.default_rng(0)
DTYPES = (np.float64, np.float32, np.complex128, np.int64, np.int8, np.uint8, bool)


def array(*shape, dtype=np.float64):
    if np.dtype(dtype).kind in "iub":
        return RNG.integers(0, 2 if dtype is bool else 5, shape).astype(dtype)
    data = RNG.normal(size=shape)
    return (data + 1j * RNG.normal(size=shape) if np.dtype(dtype).kind == "c" else data).astype(dtype)


SELECTIONS = {
    "row": lambda p: p[0],
    "last row": lambda p: p[-1],
    "column": lambda p: p[:, 1],
    "element": lambda p: p[1, -2],
    "rows": lambda p: p[1:3],
    "steps": lambda p: p[::-2, 1:],
    "no rows": lambda p: p[2:2],
    "diagonal": lambda p: np.diagonal(p),
    "diagonal above": lambda p: np.diagonal(p, 1),
    "diagonal below": lambda p: np.diag(p, -2),
    "row of the transposed": lambda p: p.T[0],
    "diagonal of the transposed": lambda p: np.diagonal(p.T),
    "element of a row": lambda p: p[2][1],
    "row of rows": lambda p: p[1:3][-1],
    "expanded": lambda p: np.expand_dims(p, 1)[0],
    "new axis": lambda p: p[None, 1],
    "positions": lambda p: p[[0, 2, 0]],
    "columns": lambda p: p[:, [1, 0]],
    "behind a sum of matrices": lambda p: (2 * p + 1)[0],
    "behind a function": lambda p: np.abs(p)[1, :2],
    "trace": lambda p: np.trace(p),
}
SUMS = {
    "all": lambda p: np.sum(p),
    "rows": lambda p: np.sum(p, axis=0),
    "columns": lambda p: np.sum(p, axis=-1),
    "mean": lambda p: np.mean(p),
    "mean of rows": lambda p: np.mean(p, axis=0, keepdims=True),
    "of the transposed": lambda p: np.sum(p.T, axis=0),
    "of the negative": lambda p: np.sum(-(p / 2)),
}


def large_products(function, *args):
    """The products in the optimised graph that have several rows and several columns."""
    found = optimise(graph_jit(function).graph(*args)).final.order
    products = [each for each in found if isinstance(each, Node) and each.op.name == "matmul"]
    return [each for each in products if all(shapes.resolve(extent) != 1 for extent in each.shape[-2:])]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SELECTIONS)
def test_parts_of_products_are_those_of_numpy(name, dtype):
    a, b = array(5, 4, dtype=dtype), array(4, 6, dtype=dtype)

    def function(a, b):
        return SELECTIONS[name](a @ b)

    found, expected = graph_jit(function)(a, b), function(a, b)
    assert found.dtype == expected.dtype
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    if np.dtype(dtype).kind in "fc" and "rows" not in name and name not in ("steps", "positions", "columns"):
        assert not large_products(function, a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_products_are_those_of_numpy(name, dtype):
    a, b = array(5, 4, dtype=dtype), array(4, 6, dtype=dtype)

    def function(a, b):
        product = a @ b
        return SUMS[name](product if dtype is not bool else product & True)

    if dtype is bool and name == "of the negative":
        pytest.skip("NumPy refuses to negate truth values")
    found, expected = graph_jit(function)(a, b), function(a, b)
    assert found.dtype == expected.dtype
    tolerance = 1e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    if dtype in (np.float64, np.float32, np.complex128):
        assert not large_products(function, a, b)


def test_chains_begin_at_the_vector():
    a, b, v = array(5, 4), array(4, 6), array(6)
    for function, args in (
        (lambda a, b, v: a @ b @ v, (a, b, v)),
        (lambda a, b, v: v @ (b.T @ a.T), (a, b, v)),
        (lambda a, b, v: (a @ b @ v) ** 2, (a, b, v)),
        (grad(lambda a, b, v: np.sum(a @ b @ v), argnums=2), (a, b, v)),
    ):
        assert not large_products(function, *args)
    found = graph_jit(grad(lambda a, b, v: np.sum(np.sin(a @ b @ v)), argnums=(0, 1, 2)))(a, b, v)
    weights = np.cos(a @ b @ v)
    expected = np.outer(weights, b @ v), np.outer(a.T @ weights, v), (a @ b).T @ weights
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_product_that_is_needed_whole_is_computed_once():
    a, b = array(5, 4), array(4, 6)

    def both(a, b):
        product = a @ b
        return product, product[0], np.sum(product, axis=0), np.trace(product[:4, :4])

    assert len(large_products(both, a, b)) == 1
    for one, other in zip(graph_jit(both)(a, b), both(a, b), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("name", [*SELECTIONS, *SUMS])
def test_gradients_of_parts_are_those_of_differences(name):
    function = SELECTIONS.get(name) or SUMS[name]
    a, b = array(5, 4), array(4, 6)

    def loss(a, b):
        return np.sum(np.sin(function(a @ b)))

    found = graph_jit(grad(loss, argnums=(0, 1)))(a, b)
    for number, (one, point) in enumerate(zip(found, (a, b), strict=True)):
        direction = array(*point.shape)
        step = [1e-6 * direction if each == number else 0.0 for each in range(2)]
        above, below = loss(a + step[0], b + step[1]), loss(a - step[0], b - step[1])
        assert np.sum(one * direction) == pytest.approx((above - below) / 2e-6, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", [*SELECTIONS, *SUMS])
def test_batches_and_steps_of_loops(name):
    function = SELECTIONS.get(name) or SUMS[name]
    a, b = array(3, 5, 4), array(3, 4, 6)
    expected = [function(x @ y) for x, y in zip(a, b, strict=True)]
    batch = graph_jit(vmap(lambda x, y: function(x @ y)))(a, b)
    np.testing.assert_allclose(batch, expected, rtol=1e-12, atol=1e-12)

    def looped(a, b):
        total = np.sum(function(a[0] @ b[0]))
        for k in range(1, len(a)):
            total = total * 0.5 + np.sum(function(a[k] @ b[k]))
        return total

    assert graph_jit(looped)(a, b) == pytest.approx(looped(a, b), rel=1e-12)


@pytest.mark.parametrize("position", [5, -6, 100])
def test_positions_out_of_bounds_raise_as_in_numpy(position):
    a, b = array(5, 4), array(4, 6)
    for function, extra in (
        (lambda a, b: (a @ b)[position], ()),
        (lambda a, b, i: (a @ b)[i], (position,)),
        (lambda a, b, i: (a @ b)[i], (np.array([0, position]),)),
        (lambda a, b, i: np.exp(a)[i], (np.array([0, position]),)),
        (lambda a, b, i: np.exp(a)[i], (np.array([0, position, 1, 1, 1, 1, 1, 1]),)),
    ):
        with pytest.raises(IndexError):
            function(a, b, *extra)
        with pytest.raises(IndexError):
            graph_jit(function)(a, b, *extra)


@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(0, 4, 6), (5, 0, 6), (5, 4, 0), (1, 1, 1), (1, 4, 1), (2, 1, 3)]
)
def test_empty_and_thin_matrices(rows, inner, columns):
    a, b = array(rows, inner), array(inner, columns)
    for function in (
        lambda a, b: np.sum(a @ b),
        lambda a, b: np.sum(a @ b, axis=0),
        lambda a, b: np.trace(a @ b),
        lambda a, b: np.diagonal(a @ b),
        lambda a, b: (a @ b)[:1],
        lambda a, b: (a @ b)[:, -1:],
    ):
        np.testing.assert_allclose(graph_jit(function)(a, b), function(a, b), rtol=1e-12, atol=1e-12)


def test_what_is_not_finite_stays_where_it_is_read():
    a, b = array(5, 4), array(4, 6)
    a[1, 2], b[3, 0] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        for function in SELECTIONS.values():
            expected = function(a @ b)
            found = graph_jit(lambda a, b, function=function: function(a @ b))(a, b)
            np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))


@pytest.mark.parametrize("count", [0, 1, 5, 40, 400])
@pytest.mark.parametrize("length", [1, 30, 300])
def test_elements_at_positions(count, length):
    x = array(length)
    positions = RNG.integers(-length, length, count)
    for function in (
        lambda x, j: np.exp(x)[j],
        lambda x, j: np.tanh(np.exp(x) + x)[j] * 2,
        lambda x, j: np.exp(x)[j.reshape(-1, 1)],
        lambda x, j: np.sum(np.exp(x)[j]) + np.exp(x)[0],
        lambda x, j: np.exp(np.stack([x, -x]))[:, j],
    ):
        np.testing.assert_allclose(graph_jit(function)(x, positions), function(x, positions), rtol=1e-12)
    found = graph_jit(grad(lambda x, j: np.sum(np.exp(x)[j] ** 2)))(x, positions)
    expected = np.zeros(length)
    np.add.at(expected, positions, 2 * np.exp(2 * x[positions]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_choices_between_results_of_one_function():
    x, y, mask = array(30), array(30), RNG.integers(0, 2, 30).astype(bool)
    for function in (
        lambda m, x, y: np.where(m, np.exp(x), np.exp(y)),
        lambda m, x, y: np.where(m, np.sin(x), np.cos(y)),
        lambda m, x, y: np.where(m, np.exp(x), np.exp(2.0)),
        lambda m, x, y: np.where(m[:, None], np.exp(x), np.exp(y)),
        lambda m, x, y: np.where(m, np.exp(x), np.exp(y)) + np.exp(x),
    ):
        np.testing.assert_allclose(graph_jit(function)(mask, x, y), function(mask, x, y), rtol=1e-12)
    found = graph_jit(grad(lambda x, y, m: np.sum(np.where(m, np.exp(x), np.exp(y))), argnums=(0, 1)))(x, y, mask)
    np.testing.assert_allclose(found[0], np.where(mask, np.exp(x), 0.0), rtol=1e-12)
    np.testing.assert_allclose(found[1], np.where(mask, 0.0, np.exp(y)), rtol=1e-12)


def test_logarithms_of_sums_of_products_of_exponentials():
    a, b = array(30), array(30)
    found = graph_jit(lambda a, b: np.log(np.sum(np.exp(a) * np.exp(b))))
    assert found(a, b) == pytest.approx(np.log(np.sum(np.exp(a + b))), rel=1e-13)
    assert found(a + 800, b) == pytest.approx(np.log(np.sum(np.exp(a + b))) + 800, rel=1e-13)
    assert found(a - 800, b) == pytest.approx(np.log(np.sum(np.exp(a + b))) - 800, rel=1e-13)


@pytest.mark.parametrize("shapes", [((3, 4), (4, 3), (3, 1)), ((3, 0), (0, 3), (3, 1)), ((1, 4), (4, 3), (3, 2))])
def test_gradients_of_loops_whose_chains_begin_at_a_thin_matrix(shapes):
    a, b, c = (array(*shape) for shape in shapes)
    positions = np.zeros(4, int)

    def loss(a, b, c, n):
        total = 0.0
        for k in range(n):
            product = (c.T @ (b.T @ a.T)).T * (k + 1)
            total = total + np.sum(product[:, positions]) + np.sum(product[::-2])
        return total

    found = graph_jit(grad(loss, argnums=(0, 1, 2)))(a, b, c, 3)
    for number, (one, point) in enumerate(zip(found, (a, b, c), strict=True)):
        direction = array(*point.shape)
        step = [1e-6 * direction if each == number else 0.0 for each in range(3)]
        above = loss(a + step[0], b + step[1], c + step[2], 3)
        below = loss(a - step[0], b - step[1], c - step[2], 3)
        assert np.sum(one * direction) == pytest.approx((above - below) / 2e-6, rel=1e-6, abs=1e-7)


def test_stacks():
    a, b, v = array(3, 5, 4), array(3, 4, 6), array(6)
    for function in (
        lambda a, b, v: (a @ b)[1],
        lambda a, b, v: (a @ b)[:, 0],
        lambda a, b, v: (a @ b)[..., -1],
        lambda a, b, v: (a @ b[0])[2, 1],
        lambda a, b, v: (a[0] @ b)[2, 1],
        lambda a, b, v: (a @ b[:1])[2],
        lambda a, b, v: (a @ b)[[0, 2]],
        lambda a, b, v: a @ b @ v,
        lambda a, b, v: a @ b[0] @ v,
        lambda a, b, v: np.sum(a @ b, axis=0),
        lambda a, b, v: np.sum(a @ b, axis=(0, 1)),
        lambda a, b, v: np.sum(a @ b),
        lambda a, b, v: np.trace(a @ b, axis1=1, axis2=2),
        lambda a, b, v: np.moveaxis(a @ b, 0, -1)[2],
        lambda a, b, v: np.diagonal(a @ b, 1, 1, 2),
    ):
        np.testing.assert_allclose(graph_jit(function)(a, b, v), function(a, b, v), rtol=1e-11, atol=1e-12)


def test_formulas_as_written_keep_their_order():
    a, b, v = array(5, 4), array(4, 6), array(6)
    for stabilise in (False, True):
        function = graph_jit(lambda a, b, v: a @ b @ v, stabilise=stabilise)
        found = optimise(function.graph(a, b, v)).final.order
        assert any(isinstance(each, Node) and each.op.name == "matmul" for each in found) != stabilise
        np.testing.assert_allclose(function(a, b, v), a @ b @ v, rtol=1e-11)
