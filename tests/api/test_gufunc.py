"""Generalised ufuncs: called as NumPy's are, differentiable, and taken over by arrays of other libraries."""

import pickle

import dask.array as da
import numba
import numpy as np
import pytest
import xarray
from numpy._core import _umath_tests

import numbagraph as ng
from numbagraph import grad, graph_jit, gufunc, vmap
from numbagraph.blockwise.signature import SignatureError
from tests.api.test_gufunc_loops import doubled

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(4, 3, 5)), RNG.normal(size=(3, 5))


@gufunc("(n),(n)->()")
def inner1d(x, y):
    """The inner product."""
    return np.sum(x * y)


@gufunc("(m?,n),(n,p?)->(m?,p?)")
def matmul(x, y):
    return x @ y


@gufunc("(3),(3)->(3)")
def cross1d(x, y):
    parts = [x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3] for i in range(3)]
    return np.stack(parts)


@gufunc("(n)->(),()")
def moments(x):
    return np.mean(x), np.mean(x**2)


@gufunc("(m),(n)->(m+n-1)")
def convolve(x, y):
    m, n = x.shape[0], y.shape[0]
    place = ng.numpy.arange(m + n - 1)[:, None] - ng.numpy.arange(m)
    return np.sum(x * np.where((place >= 0) & (place < n), y[np.clip(place, 0, n - 1)], 0.0), axis=-1)


@gufunc("(),()->()")
def scaled(x, y):
    return x * y


def outcome(function, args, options):
    try:
        return function(*args, **options)
    except Exception as error:  # noqa: BLE001  which one is the question
        return type(error)


def compare(ours, theirs, *args, **options):
    found, expected = outcome(ours, args, options), outcome(theirs, args, options)
    if isinstance(expected, type):
        assert isinstance(found, type), f"{expected.__name__} expected, not {found}"
        assert issubclass(found, expected) or issubclass(expected, found), (found, expected)
    else:
        assert not isinstance(found, type), found
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-13)


OPTIONS = [
    {},
    {"axis": -1},
    {"axis": 0},
    {"axis": 1, "keepdims": True},
    {"axis": 3},
    {"axis": (0,)},
    {"axis": None, "axes": None},
    {"axis": 0, "axes": [0, 0]},
    {"keepdims": True},
    {"keepdims": False},
    {"axes": [0, 0]},
    {"axes": [(1,), -2]},
    {"axes": [0, 0, ()]},
    {"axes": [0]},
    {"axes": [0, 0, 0]},
    {"axes": [0, 0, 0], "keepdims": True},
    {"axes": [0, 0, 1], "keepdims": True},
    {"axes": [0, 0, 3], "keepdims": True},
    {"axes": (0, 0)},
    {"axes": [0, (0, 1)]},
    {"axes": [0, "x"]},
    {"axes": [0, 7]},
    {"where": True},
    {"nonsense": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_of_one_core_dimension(options):
    compare(inner1d, _umath_tests.inner1d, A, A * 2, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"axes": [(-2, -1), (-2, -1), (-1, -2)]},
        {"axes": [(0, 1), (1, 0), (0, 1)]},
        {"axes": [(0, 2), (2, 0), (1, 0)]},
        {"axes": [(0, 1), (1, 0)]},
        {"axes": [(0, 0), (1, 0), (0, 1)]},
        {"axes": [0, 1, 2]},
        {"axis": 0},
        {"keepdims": True},
    ],
    ids=str,
)
def test_options_of_matrices(options):
    x = RNG.normal(size=(4, 4, 4))
    compare(matmul, np.matmul, x, x + 1, **options)


@pytest.mark.parametrize(
    "shapes", [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((3,), (4,)), ((), (3,))]
)
def test_dimensions_that_may_be_missing(shapes):
    compare(matmul, np.matmul, *(RNG.normal(size=shape) for shape in shapes))
    compare(matmul, np.matmul, *(RNG.normal(size=(5, *shape) if len(shape) > 1 else shape) for shape in shapes))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((7, 3), (3,)), ((2,), (3,)), ((2,), (2,)), ((3,), ())])
def test_fixed_lengths(shapes):
    compare(cross1d, _umath_tests.cross1d, *(RNG.normal(size=shape) for shape in shapes))


def test_operands():
    compare(inner1d, _umath_tests.inner1d, A, B)
    compare(inner1d, _umath_tests.inner1d, A.tolist(), B.tolist())
    compare(inner1d, _umath_tests.inner1d, A[:, None], B)
    compare(inner1d, _umath_tests.inner1d, A[::-1, ::2, ::-1], B[::2])
    compare(inner1d, _umath_tests.inner1d, A[:0], B)
    compare(inner1d, _umath_tests.inner1d, A[..., :0], B[:, :0])
    compare(inner1d, _umath_tests.inner1d, B[0], B[0])
    compare(inner1d, _umath_tests.inner1d, A, B[:, :4])
    compare(inner1d, _umath_tests.inner1d, A, B[:2])
    compare(inner1d, _umath_tests.inner1d, A, 3.0)
    compare(inner1d, _umath_tests.inner1d, A)
    compare(inner1d, _umath_tests.inner1d, A, B, None)
    compare(inner1d, _umath_tests.inner1d, A, B, None, None)
    compare(inner1d, _umath_tests.inner1d, A.astype(np.int64), B.astype(np.int64))


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((4, 3), "f8"), ((4, 3), "f4"), ((4, 3), "c16"), ((4, 2), "f8"), ((4, 3), "i8"), ((2, 4, 3), "f8")],
)
def test_arrays_for_results(shape, dtype):
    for order in ("C", "F"):
        found, expected = np.zeros(shape, dtype, order=order), np.zeros(shape, dtype, order=order)
        outcomes = [outcome(f, (A, B), {"out": out}) for f, out in ((inner1d, found), (_umath_tests.inner1d, expected))]
        if isinstance(outcomes[1], type):
            assert issubclass(outcomes[1], outcomes[0]) or issubclass(outcomes[0], outcomes[1])
        else:
            assert outcomes[0] is found
            np.testing.assert_allclose(found, expected, rtol=1e-6)
    out = np.zeros((4, 3))
    assert inner1d(A, B, out=(out,)) is out
    assert inner1d(A, B, out) is out
    with pytest.raises(TypeError, match="'out' must be an array"):
        inner1d(A, B, out=[0.0])
    with pytest.raises(ValueError, match="'out' must be a tuple"):
        inner1d(A, B, out=(out, out))


def test_several_results():
    out = np.zeros(3)
    first, second = moments(B, out=(None, out))
    np.testing.assert_allclose(first, B.mean(axis=1))
    np.testing.assert_allclose(out, (B**2).mean(axis=1))
    assert second is out
    first, second = moments(A, axis=0, keepdims=True)
    assert first.shape == second.shape == (1, 3, 5)


def test_lengths_by_expressions():
    np.testing.assert_allclose(convolve(A, np.arange(3.0))[2, 1], np.convolve(A[2, 1], np.arange(3.0)))
    with pytest.raises(ValueError, match="the length m\\+n-1 of a result is negative"):
        convolve(A[..., :0], A[..., :0])


def test_where():
    out, mask = np.zeros((3, 5)), B > 0
    assert scaled(B, 2.0, out=out, where=mask) is out
    np.testing.assert_array_equal(out, np.multiply(B, 2.0, out=np.zeros((3, 5)), where=mask))
    with pytest.raises(TypeError, match="needs out="):
        scaled(B, 2.0, where=mask)


def test_dtypes():
    total = gufunc("(n)->()", dtypes=["f->f", "d->d"])(lambda x: np.sum(x))
    assert (total.types, total.ntypes) == (["f->f", "d->d"], 2)
    for dtype, expected in (("f4", "f4"), ("i2", "f4"), ("i8", "f8"), ("?", "f4"), ("f8", "f8")):
        assert total(np.ones(3, dtype)).dtype == expected
    assert total(np.ones(3), dtype="f4").dtype == np.float32
    assert inner1d(A, B, dtype="f4").dtype == np.float32
    with pytest.raises(TypeError, match="does not take complex128"):
        total(np.ones(3, complex))
    with pytest.raises(TypeError, match="cannot cast"):
        inner1d(A, B, dtype="i8")
    with pytest.raises(ValueError, match="spelled as in"):
        gufunc("()->()", dtypes=["dd"])(np.sin)


def test_what_it_says_of_itself():
    assert (inner1d.nin, inner1d.nout, inner1d.nargs, inner1d.identity) == (2, 1, 3, None)
    assert (inner1d.signature, inner1d.__name__, inner1d.__doc__) == ("(n),(n)->()", "inner1d", "The inner product.")
    assert repr(inner1d) == "<gufunc inner1d (n),(n)->()>"
    for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
        with pytest.raises(RuntimeError, match="no reductions"):
            getattr(inner1d, name)(A)
    with pytest.raises(SignatureError):
        gufunc("(n")


def test_pickles():
    assert pickle.loads(pickle.dumps(inner1d)) is inner1d


# ---- inside of other functions ----


def test_in_traced_functions():
    f = graph_jit(lambda x, y: inner1d(np.exp(x), y, axis=0) + 1)
    np.testing.assert_allclose(f(A, A), np.sum(np.exp(A) * A, axis=0) + 1)
    assert "fused: exp, multiply" in f.explain(A, A)
    np.testing.assert_allclose(vmap(inner1d, in_axes=(0, None))(A, B[0]), A @ B[0])
    with pytest.raises(TypeError, match="neither out= nor where="):
        graph_jit(lambda x: inner1d(x, x, out=np.zeros(3)))(B)


def test_derivatives():
    np.testing.assert_allclose(grad(lambda x: np.sum(inner1d(x, B) ** 2))(A), 2 * np.sum(A * B, -1)[..., None] * B)
    second = grad(lambda x: np.sum(grad(lambda y: np.sum(cross1d(y, B[:, :3]) ** 2))(x)))
    assert np.all(np.isfinite(second(B[:, 1:4])))


def test_a_derivative_that_is_given():
    @gufunc("(n),()->(n),()", vjp=lambda g, y, x, s: (g[0] * 10 + y[1] + g[1], None))
    def f(x, s):
        return x * s, np.sum(x)

    def loss(x, s):
        first, second = f(x, s)
        return np.sum(first * 2) + np.sum(second * 3)

    found = grad(loss, argnums=(0, 1))(B, np.ones(3))
    np.testing.assert_allclose(found[0], 20.0 + B.sum(axis=1)[:, None] + 3.0 + np.zeros_like(B))
    np.testing.assert_array_equal(found[1], 0.0)
    wrong = gufunc("(),()->()", vjp=lambda g, y, a, b: (g,))(lambda a, b: a * b)
    with pytest.raises(TypeError, match="gave 1 cotangents for 2 operands"):
        grad(lambda a: wrong(a, 2.0))(1.0)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_backends(backend):
    f = gufunc("(n),(n)->()", backend=backend)(lambda x, y: np.sum(x * y))
    np.testing.assert_allclose(f(A, B), np.sum(A * B, axis=-1))


def test_in_numba():
    @numba.njit
    def call(x, y):
        return inner1d(x, y)

    np.testing.assert_allclose(call(A, B), np.sum(A * B, axis=-1))


# ---- arrays of other libraries ----


class Wrapped:
    def __init__(self, array):
        self.array = array

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if any(isinstance(each, str) for each in inputs):
            return NotImplemented
        plain = [each.array if isinstance(each, Wrapped) else each for each in inputs]
        return Wrapped(getattr(ufunc, method)(*plain, **options))


class More(Wrapped):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return "more"


class Refusing:
    __array_ufunc__ = None


def test_operands_that_take_over():
    found = inner1d(Wrapped(A), B, axis=-1)
    assert isinstance(found, Wrapped)
    np.testing.assert_allclose(found.array, np.sum(A * B, axis=-1))
    assert inner1d(Wrapped(A), More(A)) == "more"
    with pytest.raises(TypeError, match="gave NotImplemented"):
        inner1d(Wrapped(A), "text")
    with pytest.raises(TypeError, match="does not support ufuncs"):
        inner1d(A, Refusing())


def test_dask():
    x = da.from_array(A, chunks=(2, 3, 5))
    lazy = inner1d(x, B)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(scheduler="threads"), np.sum(A * B, axis=-1))


@pytest.mark.parametrize("chunks", [(2, 3, 5), (1, 2, 5), (2, 3, 2)])
def test_dask_asks_for_any_lengths(chunks):
    """Those by expressions, of dimensions that may be missing, and that a function says."""
    x, b = da.from_array(A, chunks=chunks), B[:, :2].astype(np.float32)
    rechunk = {"allow_rechunk": True} if chunks != (2, 3, 5) else {}
    for found, expected in (
        (convolve(x, b, **rechunk), convolve(A, b)),
        (convolve(x[0], b, **rechunk), convolve(A[0], b)),
        (matmul(x, B.T, **rechunk), A @ B.T),
        (matmul(x, B[0], **rechunk), A @ B[0]),
        (doubled(x, 2.0, **rechunk)[0], doubled(A, 2.0)[0]),
        (doubled(x, 2.0, **rechunk)[1], doubled(A, 2.0)[1]),
        (convolve(x, b[0], axes=[1, 0, 0], **rechunk), convolve(A, b[0], axes=[1, 0, 0])),
    ):
        assert isinstance(found, da.Array)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found.compute(scheduler="sync"), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="operand 1"):
        matmul(x, B)


def test_xarray():
    x = xarray.DataArray(A, dims=("batch", "row", "column"))
    y = xarray.DataArray(B, dims=("row", "column"))
    found = xarray.apply_ufunc(inner1d, x, y, input_core_dims=[["column"], ["column"]])
    assert found.dims == ("batch", "row")
    np.testing.assert_allclose(found, np.sum(A * B, axis=-1))
    lazy = xarray.apply_ufunc(
        inner1d,
        x.chunk({"batch": 2}),
        y,
        input_core_dims=[["column"], ["column"]],
        dask="parallelized",
        output_dtypes=[float],
    )
    np.testing.assert_allclose(lazy.compute(), found)
    np.testing.assert_allclose(scaled(x, 2.0), A * 2.0)


def uncomputable():
    def compute(block):
        raise AssertionError("computed")

    return da.from_array(A, chunks=(2, 3, 5)).map_blocks(compute, dtype=A.dtype, meta=np.empty((0, 0, 0)))


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (xarray.DataArray(A), "labels would be lost: pass x.values, or call xarray.apply_ufunc"),
        (xarray.Variable(("a", "b", "c"), A), "labels would be lost"),
        (xarray.Dataset({"a": 1.0}), "labels would be lost"),
        (uncomputable(), "computed as a whole: call x.map_blocks"),
    ],
)
def test_labelled_and_lazy_arrays_are_refused(argument, message):
    f = graph_jit(lambda x, y: x + y)
    for arguments in ((argument, 1.0), (np.ones(3), argument)):
        with pytest.raises(TypeError, match=message):
            f(*arguments)
        with pytest.raises(TypeError, match=message):
            f(arguments[0], y=arguments[1])
    with pytest.raises(TypeError, match=message):
        graph_jit(lambda tree: tree["x"] + 1)({"x": argument})


@pytest.mark.parametrize(
    "use",
    [
        lambda x, other: x + other,
        lambda x, other: other + x,
        lambda x, other: np.add(other, x),
        lambda x, other: np.concatenate([x, other]),
        lambda x, other: np.where(x > 0, x, other),
        lambda x, other: {"result": x, "other": other},
    ],
)
@pytest.mark.parametrize(
    ("captured", "message"),
    [(xarray.DataArray(A), "labels would be lost"), (uncomputable(), "computed as a whole")],
)
def test_captured_labelled_and_lazy_arrays_are_refused(captured, message, use):
    with pytest.raises(TypeError, match=message):
        graph_jit(lambda x: use(x, captured))(A)


def test_what_is_to_be_called_instead():
    f = graph_jit(lambda x: x * 2 + 1)
    labelled, lazy = xarray.DataArray(A, dims=("batch", "row", "column")), da.from_array(A, chunks=(2, 3, 5))
    assert xarray.apply_ufunc(f, labelled).dims == labelled.dims
    for found in (xarray.apply_ufunc(f, labelled), f(labelled.values), lazy.map_blocks(f), f(lazy.compute())):
        np.testing.assert_array_equal(found, A * 2 + 1)
    found = da.apply_gufunc(graph_jit(lambda x: np.sum(x, axis=-1)), "(n)->()", lazy, output_dtypes=float)
    np.testing.assert_allclose(found, np.sum(A, axis=-1), rtol=1e-15)


def test_results_of_pythons_numbers_are_numpys():
    plus = gufunc("()->()")(lambda x: x + 1)
    for found in (plus(1.5), graph_jit(lambda x: plus(x))(1.5)):
        assert type(found) is np.float64
        assert found == 2.5
    assert plus(np.float32(1.5)).dtype == np.float32
