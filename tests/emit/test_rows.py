"""Nests that run together over rows, and tiles of what is read with strides."""

import re

import numpy as np
import pytest
import scipy.special
from scipy import fft

from numbagraph import grad, graph_jit, linalg, special, value_and_grad, vmap
from numbagraph.emit import tiled_loops as rows
from numbagraph.emit.hints import BLOCK
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.testing import LAYOUTS

TOGETHER = "together for as many rows"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(11, 6, 5))


def normalised(x):
    return (x - np.mean(x, axis=-1, keepdims=True)) / np.std(x, axis=-1, keepdims=True)


def running(x):
    total = np.cumsum(np.exp(x), axis=-1)
    return total / np.max(total, axis=-1, keepdims=True), total


def of_other_rows(x):
    top = np.max(x, axis=-1, keepdims=True)
    return np.exp(x - top[::-1]) / np.sum(top)


@pytest.fixture(params=[1, 200, 2**17])
def tile(request, monkeypatch):
    monkeypatch.setattr(rows, "TILE_BYTES", request.param)


def compare(function, expected, x):
    compare_compiled(graph_jit(function, cache=False), expected, x)


def compare_compiled(compiled, expected, x):
    found, wanted = compiled(x), expected(x)
    for each, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, wanted)), strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("layout", ["C order", pytest.param("Fortran order", marks=pytest.mark.repeats), "strided"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: special.softmax(x, axis=-1), lambda x: scipy.special.softmax(x, axis=-1)),
        (lambda x: special.logsumexp(x, axis=-1), lambda x: scipy.special.logsumexp(x, axis=-1)),
        (lambda x: special.softmax(x, axis=1), lambda x: scipy.special.softmax(x, axis=1)),
        (normalised, normalised),
        (running, running),
        (of_other_rows, of_other_rows),
    ],
)
def test_tiles_of_rows(function, expected, layout):
    compiled = graph_jit(function, cache=False)
    for x in (X, X[:0], X[:1]):
        compare_compiled(compiled, expected, LAYOUTS[layout](x))


@pytest.mark.usefixtures("tile")
def test_gradients_by_rows():
    def loss(x):
        return np.sum(special.softmax(x, axis=-1) ** 2)

    value, gradient = graph_jit(value_and_grad(loss), cache=False)(X)
    p = scipy.special.softmax(X, axis=-1)
    np.testing.assert_allclose(value, np.sum(p**2))
    np.testing.assert_allclose(gradient, 2 * p * (p - np.sum(p * p, axis=-1, keepdims=True)), rtol=1e-10)


def logistic(x, y, beta):
    eta = x @ beta
    return np.sum(y * eta - special.softplus(eta))


def logistic_reference(x, y, beta):
    eta = x @ beta
    return np.sum(y * eta - np.logaddexp(0, eta)), x.T @ (y - scipy.special.expit(eta))


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 3, 700, 30_000])
def test_sums_over_rows(rows, parallel):
    x, y, beta = RNG.normal(size=(rows, 7)), RNG.random(rows), RNG.normal(size=7)
    function = graph_jit(value_and_grad(logistic, argnums=2), parallel=parallel)
    value, gradient = function(x, y, beta)
    wanted_value, wanted_gradient = logistic_reference(x, y, beta)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-10)


def every_kind_of_sum(x):
    """Sums into registers, of elements and of positions, and into arrays, of which later nests need some."""
    scale = np.max(x, axis=-1, keepdims=True)
    y = np.exp(x - scale)
    inverse = 1 / np.sum(y, axis=-1)
    total = np.sum(inverse)
    return total, total * 2 + np.max(inverse), np.argmax(inverse), np.sum(y * inverse[:, None], axis=0), inverse / total


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_kind_of_sum_over_rows(dtype):
    x = RNG.normal(size=(1000, 9)).astype(dtype)
    for found, wanted in zip(graph_jit(every_kind_of_sum)(x), every_kind_of_sum(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=20 * np.finfo(dtype).eps)


@pytest.mark.usefixtures("tile")
def test_sums_over_rows_that_other_rows_need():
    """Of a square matrix: what stands in an array of sums looks like a row, and is not finished before all rows are."""

    def function(x):
        down = np.sum(x, axis=0)
        return np.exp(x) * down[:, None], down

    square = RNG.normal(size=(6, 6))
    for found, wanted in zip(graph_jit(function)(square), function(square), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def normal_logp(x, mean, covariance):
    factor = np.linalg.cholesky(covariance)
    z = linalg.solve_triangular(factor, (x - mean)[..., None], lower=True)[..., 0]
    return -0.5 * np.sum(z**2, axis=-1) - np.sum(np.log(np.diagonal(factor, axis1=-2, axis2=-1)), axis=-1)


def normal_reference(x, mean, covariance):
    rest = x - mean
    quadratic = np.sum(rest * np.linalg.solve(covariance, rest[..., None])[..., 0], axis=-1)
    return -0.5 * (quadratic + np.linalg.slogdet(covariance)[1])


def covariances(*shape):
    square = RNG.normal(size=(*shape, shape[-1]))
    return square @ square.swapaxes(-1, -2) + np.eye(shape[-1])


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    ("batch", "other"),
    [
        *[((50,), (50,)), ((50,), ()), ((7, 5), (5,)), ((0,), (0,))],
        *[pytest.param(batch, batch, marks=pytest.mark.repeats) for batch in [(7, 5), (1,)]],
    ],
)
def test_calls_on_batches_run_with_nests(batch, other, parallel):
    x, mean, covariance = RNG.normal(size=(*batch, 3)), RNG.normal(size=3), covariances(*other, 3)
    found = graph_jit(normal_logp, parallel=parallel)(x, mean, covariance)
    np.testing.assert_allclose(found, normal_reference(x, mean, covariance), rtol=1e-10)
    gradient = graph_jit(grad(lambda *args: np.sum(normal_logp(*args))), parallel=parallel)(x, mean, covariance)
    expected = np.linalg.solve(covariance, (mean - x)[..., None])[..., 0]
    np.testing.assert_allclose(gradient, expected, rtol=1e-9)


def test_errors_of_calls_that_run_with_nests():
    x, mean, covariance = RNG.normal(size=(9, 3)), np.zeros(3), covariances(9, 3)
    covariance[5] = -np.eye(3)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        graph_jit(normal_logp)(x, mean, covariance)


@pytest.mark.usefixtures("tile")
def test_flat_loops_run_with_others():
    """One loop over all elements is cut where a row ends."""

    def function(x):
        y = np.exp(x)
        return y, np.sum(y, axis=-1), np.linalg.cholesky(y @ y.swapaxes(-1, -2) + np.eye(3))

    x = RNG.normal(size=(20, 3, 3))
    assert "together" in graph_jit(function).explain(x)
    for found, wanted in zip(graph_jit(function)(x), function(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_memory_of_one_tile():
    """What is needed within a tile alone is as long as a tile; a value that is wanted as a whole is not."""
    matrices, right = covariances(5, 3), np.ones((5, 3, 1))
    short = "only as many rows as run together"
    assert short in graph_jit(np.linalg.solve).explain(matrices, right)
    whole = graph_jit(lambda a: np.linalg.cholesky(a) - np.linalg.cholesky(a)[::-1])
    assert short not in whole.explain(matrices)


def mirrored_rows(x):
    """Rows of an array of more dimensions, which are those of a matrix on the way: the result is its memory."""
    matrix = np.fft.rfft(x.reshape(-1, x.shape[-1]) * 2.0)
    places = np.where(np.arange(x.shape[-1]) % 2 == 0, 0, 1)
    found = np.take(matrix, places, -1)
    return found.reshape(x.shape)


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize(
    "function",
    [
        mirrored_rows,
        lambda x: (mirrored_rows(x), mirrored_rows(x).real.sum(-1)),
        lambda x: mirrored_rows(x) + mirrored_rows(x)[::-1],
        lambda x: mirrored_rows(np.swapaxes(x, 0, 1)),
        lambda x: np.fft.fft(mirrored_rows(x), axis=0),
    ],
)
def test_rows_of_another_shape(function):
    for shape in [(11, 6, 5), (3, 1, 8), (1, 40, 2)]:
        compare(function, function, RNG.normal(size=shape))


def test_rows_of_another_shape_run_together():
    (program,) = re.findall(r"program: .*(?:\n  .*)*", graph_jit(mirrored_rows, cache=False).explain(X))
    assert f"2 nests and 1 calls, {TOGETHER}" in program


def test_what_runs_together():
    found = graph_jit(normal_logp).explain(np.ones((5, 3)), np.ones(3), covariances(5, 3))
    assert "nests and 2 calls, " + TOGETHER in found
    x, y, beta = np.ones((5, 3)), np.ones(5), np.ones(3)
    assert "3 nests, " + TOGETHER in graph_jit(value_and_grad(logistic, argnums=2)).explain(x, y, beta)
    assert TOGETHER in graph_jit(lambda x: special.softmax(x, axis=-1)).explain(X)
    assert TOGETHER not in graph_jit(lambda x: special.softmax(x, axis=0)).explain(X[0])
    assert TOGETHER not in graph_jit(lambda x: np.max(x, axis=0) - np.sum(x)).explain(X[0])


def test_errors_inside_rows():
    def picked(x, index):
        return normalised(x[:, index])

    np.testing.assert_allclose(graph_jit(picked)(X[0], np.array([0, 2])), picked(X[0], np.array([0, 2])))
    with pytest.raises(IndexError, match="index"):
        graph_jit(picked)(X[0], np.array([0, 5]))


@pytest.mark.usefixtures("tile")
def test_donated_rows():
    function = graph_jit(lambda x: np.exp(x - np.max(x, axis=-1, keepdims=True)[::-1]), donate_argnames="x")
    x = X[0].copy()
    np.testing.assert_allclose(function(x), np.exp(X[0] - X[0].max(axis=-1, keepdims=True)[::-1]), rtol=1e-14)


@pytest.mark.parametrize("count", [0, 1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK - 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_of_what_is_read_with_strides(count, dtype):
    x = RNG.random(2 * count + 1).astype(dtype)
    rtol = 10 * np.finfo(dtype).eps
    for view in (x[::2][:count], x[1::2][::-1]):
        np.testing.assert_allclose(graph_jit(np.exp)(view), np.exp(view), rtol=rtol)
        np.testing.assert_allclose(graph_jit(lambda x: np.sum(np.exp(x)))(view), np.sum(np.exp(view)), rtol=rtol)
        np.testing.assert_allclose(graph_jit(lambda x: np.exp(x) * x[::-1])(view), np.exp(view) * view[::-1], rtol=rtol)


def test_tiles_in_place():
    function = graph_jit(lambda x: np.exp(x.T), donate_argnames="x")
    square = RNG.normal(size=(30, 30))
    np.testing.assert_allclose(function(square.copy()), np.exp(square.T), rtol=1e-14)


@pytest.mark.skipif(current_target().vector_bytes is None, reason="vectors of unknown length")
def test_a_column_is_read_along_memory():
    """Dimensions of length 1 behind the one of a loop do not matter."""
    function = graph_jit(lambda x, y: np.sum(x * y[:, 0], axis=-1))
    x, column = RNG.normal(size=(5, 100)), RNG.normal(size=(100, 1))
    np.testing.assert_allclose(function(x, column), x @ column[:, 0], rtol=1e-12)
    assert re.search(r"<\d+ x double>", function.llvm(x, column))


MATRIX = RNG.normal(size=(70, 5))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: MATRIX @ x[:5],
        lambda x: x @ MATRIX,
        lambda x: np.exp(MATRIX @ x[:5]) @ MATRIX,
        lambda x: grad(lambda x: np.sum(np.exp(MATRIX @ x[:5])))(x),
        lambda x: (MATRIX @ x[:5], MATRIX),
        lambda x: (MATRIX @ x[:5])[:, None] * MATRIX,
    ],
)
@pytest.mark.parametrize("parallel", [False, True])
def test_narrow_matrices_and_vectors(function, parallel):
    """A matrix that is captured may lie in memory otherwise than its owner has it."""
    x = RNG.normal(size=70)
    found, expected = graph_jit(function, parallel=parallel)(x), graph_jit(function, backend="numpy")(x)
    for each, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, expected)), strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-12)


@pytest.mark.parametrize(("shape", "unrolled"), [((70, 5), True), ((70, 40), False), ((5, 40), False)])
def test_sums_of_few_columns_are_unrolled(shape, unrolled):
    matrix = RNG.normal(size=shape)
    function, x = graph_jit(lambda x: matrix @ x), RNG.normal(size=shape[1])
    np.testing.assert_allclose(function(x), matrix @ x, rtol=1e-12)
    assert ("is unrolled" in function.explain(x)) == unrolled
    if current_target().vector_bytes:
        assert re.search(r"fmuladd\.v\d+f64|f(mul|add) (contract )?<\d+ x double>", function.llvm(x))


@pytest.mark.parametrize("layout", ["C order", "Fortran order", "strided"])
@pytest.mark.parametrize("count", [0, 1, 3, 70])
def test_short_sums_over_any_layout(layout, count):
    """Several sums in one nest, of terms that come from elsewhere as well."""

    def function(x, y):
        return np.sum(x * y[:3], axis=1), np.sum(x * x * y[:3] - y[0], axis=1), np.max(x, axis=1)

    compiled = graph_jit(lambda x, y: function(x.reshape(-1, 3), y))
    x, y = LAYOUTS[layout](RNG.normal(size=(count, 3))), RNG.normal(size=4)
    for each, other in zip(compiled(x, y), function(x, y), strict=True):
        np.testing.assert_allclose(each, other, rtol=1e-12)


def gathered(x, index, weights):
    """The weighted sum of exponentials of what is gathered, and its gradient, which is scattered."""
    return value_and_grad(lambda x: np.sum(np.exp(x[index]) * weights))(x)


@pytest.mark.parametrize("count", [0, 1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK - 5])
@pytest.mark.parametrize("function", [graph_jit(gathered), graph_jit(gathered, parallel=True)])
def test_functions_of_what_is_gathered(count, function):
    x, index, weights = RNG.normal(size=9), RNG.integers(-9, 9, count), RNG.normal(size=count)
    terms, gradient = np.exp(x[index]) * weights, np.zeros(9)
    np.add.at(gradient, index, terms)
    total, found = function(x, index, weights)
    np.testing.assert_allclose(total, np.sum(terms), rtol=1e-12)
    np.testing.assert_allclose(found, gradient, rtol=1e-12, atol=1e-13)
    if count:
        index[count // 2] = 9
        with pytest.raises(IndexError, match="9"):
            function(x, index, weights)


def test_functions_of_what_is_gathered_in_rows():
    x, index, weights = RNG.normal(size=(4, 9)), RNG.integers(0, 9, (3, 40)), RNG.normal(size=(4, 3, 40))
    gradient = np.zeros((4, 9))
    for row, terms in zip(gradient, np.exp(x[:, index]) * weights, strict=True):
        np.add.at(row, index, terms)
    found = graph_jit(grad(lambda x, index: np.sum(np.exp(x[:, index]) * weights)))(x, index)
    np.testing.assert_allclose(found, gradient, rtol=1e-12)


@pytest.mark.skipif(current_target().vector_bytes is None, reason="vectors of unknown length")
def test_functions_of_what_is_gathered_have_vectors():
    """What is scattered to places that are known at run time only is computed by vectors all the same."""
    code = graph_jit(gathered).llvm(np.ones(9), np.arange(9), np.ones(9))
    assert re.search(r"call (contract )?<\d+ x double> @llvm\.fma", code)


@pytest.mark.parametrize("n", [4, 6, 7, 8])
@pytest.mark.parametrize("transform", [fft.dct, fft.idst])
def test_rows_of_a_region_beside_an_argument_of_a_computed_length(transform, n):
    """How long the argument's rows are is not computed in the region, but given with it."""
    x = np.random.default_rng(0).normal(size=(3, 6))
    found = graph_jit(vmap(lambda x: transform(x, 4, n)))(x)
    np.testing.assert_allclose(found, transform(x, 4, n), rtol=1e-12)
