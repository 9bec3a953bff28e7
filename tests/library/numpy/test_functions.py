"""NumPy's functions that are no ops of their own: those that write, that call users' functions, and ufuncs' methods."""

import functools
import subprocess
import sys

import numpy as np
import pytest

import numbagraph.fft
from numbagraph import grad, graph_jit, vmap
from numbagraph.ir.op import load, numpy_function, registry
from numbagraph.library.namespaces import public_function
from numbagraph.ops.deferred import NAMES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5))


def check(function, *arrays):
    """A function gives what it gives without compilation, and leaves its arguments in the same state."""
    own, others = ([each.copy() for each in arrays] for _ in range(2))
    expected, found = function(*own), graph_jit(function)(*others)
    for left, right in zip((found, *others), (expected, *own), strict=True):
        assert (left is None) == (right is None)
        if right is not None:
            assert np.asarray(left).dtype == np.asarray(right).dtype
            np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("module", NAMES)
def test_modules_declare_what_the_table_says(module):
    before = {name: registry[name] for name in NAMES[module].split()}
    assert all(registry.holds(op) for op in before.values())
    loaded = load(f"numbagraph.ops.{module}:__name__")
    declared = {op.name for op in registry if getattr(op.frontend, "__module__", "") == loaded}
    others = {name for each, names in NAMES.items() if each != module for name in names.split()}
    assert declared - others <= set(before)


def test_what_is_declared_is_deferred_no_more():
    """Rules wait for what is deferred: whoever imports its module, by whatever way, ends that."""
    program = "\n".join(
        [
            "import numbagraph.ops.linalg.determinants",
            "from numbagraph.ir.op import registry",
            "print(registry['det'].name, registry.is_deferred(each.name for each in registry.declared()))",
        ]
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "det False"


def fill_some(a, v):
    np.fill_diagonal(a, v)


def fill_and_wrap(a, v):
    np.fill_diagonal(a, v, wrap=True)


def put_some(a, v):
    np.put(a, [0, -1, 7, 0], v)


def put_clipped(a, v):
    np.put(a, [90, -90], v, mode="clip")


def put_wrapped(a, v):
    np.put(a, [90, -90], v, mode="wrap")


def put_largest(a, v):
    np.put_along_axis(a, np.argmax(a, axis=1, keepdims=True), v[0], axis=1)


@pytest.mark.parametrize(
    "function", [fill_some, fill_and_wrap, put_some, put_clipped, put_wrapped, put_largest], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("shape", [(4, 5), (5, 2), (9, 2), (3, 3), (1, 8)])
def test_functions_that_write(function, shape):
    check(function, RNG.normal(size=shape), np.array([7.0, 8.0, 9.0]))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 9])
def test_values_that_are_put_are_repeated(count):
    positions = np.array([3, -1, 3, 0, 7, 3, 1, 0])
    for given in (positions, positions[:3], positions[:0]):
        check(lambda a, k, v: np.put(a, k, v), np.zeros(8), given, np.arange(1.0, count + 1))


def test_methods_of_arrays_that_write():
    def function(a):
        a.put([1, 2], [5.0, 6.0])
        a.partition(2, axis=0)
        a[:2] = np.sort(a[:2], axis=0)  # NumPy leaves the order of the parts open
        a[3:] = np.sort(a[3:], axis=0)

    check(function, np.sort(X, axis=0)[::-1].copy())


def test_orders_of_elements():
    for array in (X, np.asfortranarray(X), X[:, ::2], RNG.normal(size=(2, 3, 4))):
        check(lambda x: np.reshape(x, (-1, 2), order="F") + 1, array[:, :4])
        check(lambda x: x.ravel(order="F") * 2, array)
        check(lambda x: np.ravel(x.reshape(x.shape[::-1], order="F")) + 1, array)


def test_put_out_of_bounds_raises():
    def function(a):
        np.put(a, [99], 1.0)

    with pytest.raises(IndexError):
        graph_jit(function)(X.copy())


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("count", [0, 2])
def test_put_into_an_empty_array(mode, count):
    def function(a, k, v):
        np.put(a, k, v, mode)

    check(function, np.ones(0), np.arange(0), np.ones(count))
    for each in (function, graph_jit(function)):
        with pytest.raises(IndexError, match="cannot replace elements of an empty array"):
            each(np.ones(0), np.arange(2), np.ones(count))


@pytest.mark.parametrize("name", ["subtract", "divide", "hypot", "logaddexp", "copysign", "fmax", "add", "maximum"])
@pytest.mark.parametrize("axis", [0, 1, pytest.param(-1, marks=pytest.mark.repeats)])
def test_methods_of_ufuncs(name, axis):
    ufunc = getattr(np, name)
    check(lambda x: ufunc.reduce(x, axis=axis), X)
    check(lambda x: ufunc.accumulate(x, axis=axis), X)
    check(lambda x: ufunc.reduceat(x, [0, 2, 1, 3], axis=axis), X)
    if axis == 0:
        check(lambda x, y: ufunc.outer(x, y), X, X[0])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int8, np.bool_])
def test_all_bits_of_unsigned_integers(dtype):
    rows = np.array([[255, 3], [7, 2]]).astype(dtype)
    for array in (rows, rows[:0]):
        found, expected = graph_jit(lambda x: np.bitwise_and.reduce(x))(array), np.bitwise_and.reduce(array)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ufunc", [np.fmax, np.fmin])
def test_reductions_beside_nan(ufunc):
    """NaN is left where there is nothing else; ``initial``, ``where`` and other dtypes are NumPy's."""
    rows = np.array([[np.nan, 1.0, -np.inf, 3.0], [np.nan] * 4, [np.inf, np.nan, 0.0, -0.0]])
    for options in ({"axis": 1}, {}, {"axis": None}, {"axis": (0, 1), "keepdims": True}, {"axis": 1, "initial": 2.0}):
        for array in (rows, rows.astype(np.float32), np.nan_to_num(rows).clip(-9, 9).astype(np.int8), rows + 1j):
            if array.dtype.kind == "c" and len(np.atleast_1d(options.get("axis", 0))) > 1:
                continue
            expected = ufunc.reduce(array, **options)
            found = graph_jit(lambda a, o=options: ufunc.reduce(a, **o))(array)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=f"zero-size array to reduction operation {ufunc.__name__}"):
        graph_jit(lambda a: ufunc.reduce(a))(rows[:0])


@pytest.mark.parametrize("ufunc", [np.bitwise_or, np.bitwise_and, np.bitwise_xor, np.logical_or, np.logical_and])
def test_accumulation_from_the_first_element(ufunc):
    for array in (np.arange(-6, 6).reshape(3, 4), np.arange(5, dtype=np.uint8), np.arange(7) % 3 > 0, np.arange(0)):
        for axis in range(array.ndim):
            expected = ufunc.accumulate(array, axis)
            found = graph_jit(lambda a, axis=axis: ufunc.accumulate(a, axis))(array)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_reductions_take_one_element_after_the_other():
    """The vector loops of NumPy for AVX-512 reduce rows by ``arctan2`` and ``power`` wrongly."""
    for ufunc in (np.arctan2, np.power):
        expected = [functools.reduce(ufunc, row) for row in np.abs(X)]
        found = graph_jit(lambda x, ufunc=ufunc: ufunc.reduce(x, axis=1))(np.abs(X))
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_reductions_of_few_elements(length):
    check(lambda x: np.logaddexp.reduce(x, axis=0), X[:length])
    if length:
        check(lambda x: np.subtract.reduce(x, axis=0), X[:length])
    else:
        with pytest.raises(ValueError, match="no identity"):
            graph_jit(lambda x: np.subtract.reduce(x, axis=0))(X[:0])


def add_at(a, i, v):
    np.add.at(a, i, v)


def maximum_at(a, i, v):
    np.maximum.at(a, i, v)


def negative_at(a, i, v):
    np.negative.at(a, i)


@pytest.mark.parametrize("function", [add_at, maximum_at, negative_at])
def test_at_sees_what_it_has_done_at_equal_positions(function):
    check(function, np.arange(5.0), np.array([0, 3, 0, -1, 3, 0]), np.arange(6.0) - 2)
    check(function, np.arange(6.0).reshape(3, 2), np.array([0, 2, 0]), np.ones((3, 2)))


@pytest.mark.parametrize("fill", [0.0, -0.0])
def test_at_leaves_the_signs_of_zeros(fill):
    def sums(i, v):
        total = np.full(4, fill)
        np.add.at(total, i, v)
        return total

    i, v = np.array([1, 1, 3]), np.array([1.0, 2.0, -0.0])
    found, expected = graph_jit(sums)(i, v), sums(i, v)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_gradients_go_through_methods_of_ufuncs():
    found = graph_jit(grad(lambda x: np.hypot.reduce(x)))(X[0])
    np.testing.assert_allclose(found, X[0] / np.sqrt(np.sum(X[0] ** 2)), rtol=1e-12)


def test_functions_that_call_functions():
    check(lambda x: np.apply_along_axis(lambda row: row.sum() / row[0], 1, x), X)
    check(lambda x: np.apply_along_axis(np.cumsum, 0, x), X)
    check(lambda x: np.apply_along_axis(np.sum, 0, x), X[0])
    check(lambda x: np.apply_over_axes(np.sum, x, [0, 1]), X)
    check(lambda x: np.piecewise(x, [x < 0, x > 1], [lambda v: -v, 7.0, lambda v: v**2]), X)
    check(lambda x: np.piecewise(x, [x > 0], [lambda v: v - v.mean()]), X)


def test_functions_that_numpy_does_not_dispatch():
    check(lambda x: np.mean([x, x + 2], axis=0), X)
    check(lambda x: np.array([x[0, 0], 2.0]), X)
    check(lambda x: np.vectorize(lambda v, w: v * w if v > 0 else w)(x, 2.0), X)
    check(lambda x: np.polynomial.chebyshev.chebval(x, [1.0, 2.0, 3.0]), X)


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
@pytest.mark.parametrize("name", ["chebval", "hermval", "hermeval", "lagval", "legval", "polynomial_value"])
def test_series_round_and_have_special_values_where_numpys_have(name, dtype):
    numpys, ours = numpy_function(registry[name]), public_function(name, "numbagraph.numpy")
    points = np.array([0, 2, -3.3] if dtype == "int32" else [0, 1.7, -2.3, np.inf, np.nan]).astype(dtype)
    points = points[:3] if dtype == "complex64" else points
    for numbers in ([0.5], [3], [0.5, -1.0], [1.0, 0.0, 2.0, -0.25, 0.1]):
        for series in (numbers, np.array(numbers, np.float32)):
            with np.errstate(all="ignore"):
                expected = numpys(points, series)
            found = graph_jit(lambda x, series=series: ours(x, series))(points)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=32 * np.finfo(expected.dtype).eps)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13, 101])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_transforms_of_any_length(n, norm):
    x = RNG.normal(size=n)
    z = x + 1j * x[::-1]
    check(lambda z: np.fft.fft(z, norm=norm), z)
    check(lambda z: np.fft.ifft(z, norm=norm), z)
    check(lambda x: np.fft.irfft(np.fft.rfft(x, norm=norm), x.shape[0], norm=norm), x)
    check(lambda x: np.fft.fft(x.astype(np.float32)).real > -1e9, x)


def test_transforms_of_views():
    z = RNG.normal(size=(4, 6, 5)) + 1j
    for view in (z[::2], z[:, ::-1], z.T, np.asfortranarray(z), z[:, :, :1]):
        for axis in (0, 1, 2):
            check(lambda z, axis=axis: np.fft.fft(z, axis=axis), view)
        check(np.fft.fftn, view)


def test_transforms_of_nothing_are_refused():
    for function in (np.fft.fft, np.fft.rfft, np.fft.irfft):
        with pytest.raises(ValueError, match="Invalid number of FFT data points"):
            graph_jit(lambda x, function=function: function(x))(np.zeros(0))


def test_the_gradient_of_a_spectrum_s_energy():
    """Parseval: the sum of squares of a spectrum is n times that of the signal."""
    x = RNG.normal(size=7)
    found = graph_jit(grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2)))(x)
    np.testing.assert_allclose(found, 2 * 7 * x, rtol=1e-12)


def test_transforms_of_batches():
    found = graph_jit(vmap(lambda row: np.fft.irfft(np.fft.rfft(row) * 2, row.shape[0])))(X)
    np.testing.assert_allclose(found, 2 * X, rtol=1e-12)


def test_the_namespace_of_transforms():
    np.testing.assert_allclose(graph_jit(lambda x: numbagraph.fft.rfft(x))(X), np.fft.rfft(X), rtol=1e-12, atol=1e-14)
    with pytest.raises(AttributeError, match="no function"):
        numbagraph.fft.sine()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.array2string(x), r"numpy\.array2string is not supported in a traced function: numbagraph\.debug"),
        (
            lambda x: np.may_share_memory(x, x),
            r"numpy\.may_share_memory is not supported in a traced function: results",
        ),
    ],
)
def test_refusals_say_what_to_write_instead(function, message):
    with pytest.raises(TypeError, match=message):
        graph_jit(function)(X)


def test_modules_of_composed_functions_are_imported_when_one_is_called():
    names = [f"numbagraph.ops.{module}" for module in NAMES]
    program = f"import sys, numbagraph; print([each for each in {names} if each in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_functions_of_linear_algebra_import_no_other_library():
    lines = [
        "import sys, numpy as np, numbagraph as ng",
        "before = {*sys.modules}",
        "solve = ng.graph_jit(lambda a, b: ng.linalg.solve_triangular(a, b, lower=True), cache=False)",
        "solve(np.tril(np.ones((3, 3))), np.ones((3, 2)))",
        "print('scipy.linalg' in {*sys.modules} - before)",
    ]
    result = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_histogram_of_elements_beside_the_edges(dtype):
    """A division says which bin it is, and may be one off."""

    def counts(x, bins, low, high):
        return np.histogram(x, bins, (low, high)), np.histogram(x[:-3], bins, weights=x[:-3] + 2)

    compiled = graph_jit(counts)
    for bins, low, high in ((7, -0.3, 1.1), (30, 1e5, 1e5 + 3), (1, -2.0, 1e-3)):
        edges = np.linspace(low, high, bins + 1).astype(dtype)
        beside = [np.nextafter(edges, dtype(-np.inf)), np.nextafter(edges, dtype(np.inf))]
        x = np.concatenate([edges, *beside, [np.nan, np.inf, -np.inf]]).astype(dtype)
        for found, expected in zip(compiled(x, bins, low, high), counts(x, bins, low, high), strict=True):
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)


def added_to_zeros(i, v):
    total = np.zeros((5, *v.shape[1:]), v.dtype)
    np.add.at(total, i, v)
    return total


@pytest.mark.parametrize("v", [np.array([0.1, -0.0, 1e300, 2.5]), np.arange(12).reshape(4, 3), np.ones(4, bool)])
def test_sums_from_zero_are_those_of_add_at(v):
    compiled = graph_jit(added_to_zeros)
    for i in (np.array([1, 1, -5, 4]), np.array([2, 2, 2, 2]), np.array([0, 0, 0, 0], np.int32)):
        found, expected = compiled(i, v), added_to_zeros(i, v)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(IndexError):
        compiled(np.array([0, 1, 2, 5]), v)


def joined_with_others(x):
    y = np.tile(2 * x, (2, 3))
    return y, y.T.ravel(), (x[:, None, :] * x[:1]).reshape(-1), np.flip(x)[:, ::2].reshape(-1, 2)


STORED_APART = {
    "stack": lambda x: np.stack([x * k for k in range(11)], axis=-1),
    "dstack": lambda x: np.dstack([x, x.T.copy().T, x + 1]),
    "uneven": lambda x: np.dstack([x, np.stack([x, -x], axis=2), x]),
    "columns": lambda x: np.column_stack([x[0], x[1], x[2], x.T]),
    "tile": lambda x: np.tile(x, (2, 1, 3)),
    "transposed": lambda x: (x.T.ravel(), x.T.reshape(2, -1) + 1, x.ravel()),
    "shared": joined_with_others,
    "repeat": lambda x: (np.repeat(x, 3), np.repeat(x, 2, axis=0)),
}


@pytest.mark.parametrize("name", STORED_APART)
@pytest.mark.parametrize("shape", [(4, 3), (4, 1), (4, 0)])
def test_arrays_that_are_stored_in_another_order_than_they_are_read(name, shape):
    array = np.arange(1.0 * shape[0] * shape[1]).reshape(shape)
    found, expected = graph_jit(STORED_APART[name])(array), STORED_APART[name](array)
    for left, right in zip(
        *((each if isinstance(each, tuple) else (each,)) for each in (found, expected)), strict=True
    ):
        np.testing.assert_array_equal(left, right, strict=True)


def test_copies_read_along_memory():
    tiled = graph_jit(lambda x: np.tile(x, 3))
    assert "rem i64" not in tiled.llvm(np.ones(5))  # neither signed nor unsigned
    assert "1 loop nests" in graph_jit(lambda x, y: np.dstack([x, y])).explain(X, X)


@pytest.mark.parametrize("shape", [(4, 4), (7, 3), (3, 7), (0, 3), (3, 0), (1, 1)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_of_any_shape(shape, wrap):
    def filled(x, v):
        np.fill_diagonal(x, v, wrap)

    check(filled, np.ones(shape), np.arange(2.0))


PLACES = [0, -1, np.int64(2), slice(1, 3), slice(None, None, 2), slice(None, 0, -2), slice(3, 1), slice(-9, 9, 3)]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_elements_removed_and_inserted_at_known_places(place):
    for axis in (0, -1, None):
        check(lambda x, axis=axis: np.delete(x, place, axis) * 1.0, X)
    if not isinstance(place, slice):
        check(lambda x, v: np.insert(x, place, v, 0), X, X[0])
        check(lambda x, v: np.insert(x, place, v, 1), X, X[:2, :1].ravel()[:1])


@pytest.mark.parametrize("place", [6, -6])
@pytest.mark.parametrize("function", [lambda x, k: np.delete(x, k), lambda x, k: np.insert(x, k, 1.0)])
def test_known_places_out_of_bounds(place, function):
    for call in (lambda x: function(x, place), graph_jit(lambda x: function(x, place))):
        with pytest.raises(IndexError, match="out of bounds for"):
            call(X[0])


def test_lines_from_points_at_infinity():
    at = np.array([0.0, 0.5, 1.0, 2.0, 3.0, np.inf, np.nan])
    check(lambda x: np.interp(x, [0.0, 1.0, 3.0], [1.0, np.inf, 2.0]), at)
    check(lambda x: np.interp(x, [-np.inf, 1.0, np.inf], [1.0, 3.0, 2.0]), at)
    check(lambda x: np.interp(x, [0.0, 1.0, 3.0], [np.inf, np.inf, 2.0]), at)


@pytest.mark.parametrize("statistic", [np.nanmean, np.nanvar, np.nanstd])
def test_statistics_of_floats_are_no_integers(statistic):
    with pytest.raises(TypeError, match="dtype must be inexact"):
        graph_jit(lambda x: statistic(x, dtype=np.int64))(X)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.float32])
def test_unwrapped_angles_have_their_dtype(dtype):
    check(lambda x: np.unwrap(x, period=5), (7 * np.arange(9) % 5).astype(dtype))


def test_gradients_along_an_axis_twice():
    with pytest.raises(ValueError, match="repeated axis"):
        graph_jit(lambda x: np.gradient(x, axis=(0, -2)))(X)


def test_functions_that_are_called_like_those_of_scipy_import_nothing():
    program = """
import sys, numbagraph
from numbagraph.ir.op import registry
def lu(x): return x
assert registry.find(lu) is None and "scipy.linalg" not in sys.modules
import scipy.linalg
assert registry.find(scipy.linalg.lu) is not None
"""
    subprocess.run([sys.executable, "-c", program], check=True)
