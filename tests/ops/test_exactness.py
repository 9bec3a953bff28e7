"""NumPy 2 is the specification: dtypes (NEP 50), integers that overflow or are divided by zero, NaN, -0.0, rounding."""

import functools
import itertools
import operator

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import numpy_function, registry
from numbagraph.ir.types import COMPLEXES, DTYPES, FLOAT32, FLOAT64
from numbagraph.ir.values import ArrayType, Input, constant
from numbagraph.testing import LAYOUTS, assert_same, special_values
from numbagraph.testing.op_calls import outcome
from numbagraph.tracing.trace import tracing

UFUNCS = sorted(op.name for op in registry if op.kind == "elementwise" and isinstance(numpy_function(op), np.ufunc))
BINARY = [name for name in UFUNCS if numpy_function(registry[name]).nin == 2]
UNARY = [name for name in UFUNCS if numpy_function(registry[name]).nin == 1]
PYTHON = {bool: True, int: 2, float: 2.5, complex: 1 + 2j}


def dtype_or_error(function, *arguments):
    """The dtype of a result, or the class of the exception."""
    result = outcome(function, arguments)
    if isinstance(result, Exception):
        return TypeError if isinstance(result, TypeError) else type(result)
    return result.dtype if result.dtype in DTYPES else TypeError


def stand_in(kind):
    """An array of a dtype, or a Python scalar of a type, as a value of a graph."""
    if isinstance(kind, type):
        return Input(ArrayType(np.dtype(kind), (), weak=True), "x")
    return Input(ArrayType(kind, (1,)), "x")


def refuses_complex(op, expected, found):
    """Functions of `scipy.special` are there for real arguments; complex ones are an error."""
    return found is TypeError and expected in COMPLEXES and op.implements[0] not in vars(np).values()


def sample(kind):
    return PYTHON[kind] if isinstance(kind, type) else np.ones(1, kind)


# ---- NEP 50 ----


@pytest.mark.parametrize("name", BINARY)
def test_result_dtypes_of_all_pairs(name):
    op, wrong = registry[name], []
    for left, right in itertools.product([*DTYPES, *PYTHON], repeat=2):
        if isinstance(left, type) and isinstance(right, type):
            continue
        expected = dtype_or_error(numpy_function(op), sample(left), sample(right))
        found = dtype_or_error(op, stand_in(left), stand_in(right))
        if found != expected and not refuses_complex(op, expected, found):
            wrong.append(f"{left}, {right}: {expected} expected, found {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", UNARY)
def test_result_dtypes_of_one_operand(name):
    op = registry[name]
    for dtype in DTYPES:
        expected, found = dtype_or_error(numpy_function(op), sample(dtype)), dtype_or_error(op, stand_in(dtype))
        assert found == expected or refuses_complex(op, expected, found), dtype


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "lshift", "lt", "eq"]
)
def test_python_s_operators_on_python_numbers(name):
    function = getattr(operator, name)
    f = graph_jit(lambda x, y: function(x, y), backend="numpy")
    for x, y in [(7, 2), (7.0, 2), (7, 2.0), (True, 2), (True, True), *([(7, 2j)] if name != "lt" else [])]:
        try:
            expected = function(x, y)
        except TypeError:
            with pytest.raises(TypeError):
                f(x, y)
            continue
        result = f(x, y)
        assert (type(result), result) == (type(expected), expected) or isinstance(x, bool)


def test_conversions_between_all_dtypes():
    for source in DTYPES:
        x = special_values(source)
        with np.errstate(all="ignore"):
            if source.kind in "fc":  # what does not fit is undefined in C, and differs from one processor to the next
                x = x[np.isfinite(x) & (np.abs(x) < 120) & (x.real >= 0)]
            targets = [target for target in DTYPES if not (source.kind == "c" and target.kind != "c")]
            results = graph_jit(lambda x, targets=targets: tuple(x.astype(each) for each in targets))(x)
            for target, result in zip(targets, results, strict=True):
                assert_same(result, x.astype(target), what=f"{source} to {target}")


def test_reductions_keep_numpy_s_dtypes():
    functions = (np.sum, np.prod, np.mean, np.var, np.max, np.any, np.argmax, np.cumsum, np.count_nonzero)
    for dtype in DTYPES:
        x = np.ones(3, dtype)
        results = graph_jit(lambda x: tuple(each(x) for each in functions), backend="numpy")(x)
        for function, result in zip(functions, results, strict=True):
            assert np.asarray(result).dtype == np.asarray(function(x)).dtype, (function, dtype)


# ---- integers ----

INTEGERS = [dtype for dtype in DTYPES if dtype.kind in "iu"]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_arithmetic_wraps_and_divides_as_numpy_does(dtype):
    values = special_values(dtype)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))

    def function(x, y):
        return x + y, x - y, x * y, x // y, x % y, -x, abs(x), x / y, np.square(x), x & y, x ^ y, ~x, x == y, x < y

    with np.errstate(all="ignore"):
        expected = function(x, y)
    for number, (each, wanted) in enumerate(zip(graph_jit(function)(x, y), expected, strict=True)):
        assert_same(each, wanted, what=f"result {number}")


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_shifts_by_any_amount(dtype):
    values, bits = special_values(dtype), dtype.itemsize * 8
    amounts = np.array([0, 1, bits - 1, bits, bits + 1, 100], dtype)
    x, y = np.repeat(values, len(amounts)), np.tile(amounts, len(values))
    for each, wanted in zip(graph_jit(lambda x, y: (x << y, x >> y))(x, y), (x << y, x >> y), strict=True):
        assert_same(each, wanted)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_powers(dtype):
    values, powers = special_values(dtype), np.array([0, 1, 2, 3, 7], dtype)
    x, y = np.repeat(values, len(powers)), np.tile(powers, len(values))
    assert_same(graph_jit(lambda x, y: x**y)(x, y), x**y)
    assert_same(graph_jit(lambda x: x**3)(values), values**3)


def test_sums_of_integers_wrap_at_64_bits():
    x = np.full(3, np.iinfo(np.int64).max)
    assert graph_jit(lambda x: np.sum(x))(x) == np.sum(x)
    assert_same(graph_jit(lambda x: np.cumsum(x))(x), np.cumsum(x))
    small = np.full(3, 200, np.uint8)
    assert_same(graph_jit(lambda x: np.sum(x))(small), np.sum(small))
    assert_same(graph_jit(lambda x: np.sum(x, dtype=np.uint8))(small), np.sum(small, dtype=np.uint8))


def test_comparisons_with_integers_outside_of_the_dtype():
    x = np.array([0, 1, 255], np.uint8)
    for number in (-1, 256, 2**40):
        f = graph_jit(lambda x, n: (x < n, x >= n, x == n, x != n, n < x))
        for each, wanted in zip(
            f(x, number), (x < number, x >= number, x == number, x != number, number < x), strict=True
        ):
            assert_same(each, wanted, what=str(number))
        assert_same(graph_jit(lambda x: x < number)(x), x < number)  # noqa: B023


# ---- NaN and zeros ----


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_nan_wins_in_extrema_and_loses_in_fmax(dtype):
    values = np.array([np.nan, -np.inf, -1, 0.5, np.inf], dtype)
    x, y = np.repeat(values, 5), np.tile(values, 5)

    def function(x, y):
        pairs = (np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y))
        return *pairs, np.max(x), np.min(x), np.argmax(x), np.argmin(y), np.sign(x)

    for each, wanted in zip(graph_jit(function)(x, y), function(x, y), strict=True):
        assert_same(each, wanted)


def test_argmax_takes_the_first():
    x = np.array([[1.0, 3.0, 3.0], [np.nan, 7.0, np.nan], [2.0, 2.0, 2.0]])
    f = graph_jit(lambda x: (np.argmax(x, axis=1), np.argmin(x, axis=1), np.argmax(x), np.argmin(x, axis=0)))
    for each, wanted in zip(f(x), f.function(x), strict=True):
        assert_same(each, wanted)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
def test_signs_of_zero(dtype):
    x = np.array([0.0, -0.0, 1.0, -1.0], dtype)

    def function(x):
        return (
            x + 0.0,
            x - 0.0,
            0.0 - x,
            -x,
            x * 0.0,
            x * -1.0,
            x * 1.0,
            x / -1.0,
            np.sqrt(x),
            np.trunc(x * 0.1),
            abs(x),
            x + x,
        )

    with np.errstate(all="ignore"):
        expected = function(x)
    for number, (each, wanted) in enumerate(zip(graph_jit(function)(x), expected, strict=True)):
        assert_same(each, wanted, what=f"result {number}")


def test_constants_keep_the_sign_of_zero_and_nan():
    x = np.zeros(3)
    for number in (0.0, -0.0, np.nan, -np.inf, 5e-324):
        f = graph_jit(lambda x, number=number: np.where(x == 0, number, x), static_argnames="number")
        assert_same(f(x), np.where(x == 0, number, x))
    assert constant(0.0) is not constant(-0.0)
    assert constant(1) is not constant(1.0)


def test_nothing_is_simplified_at_the_cost_of_special_values():
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e308, 5e-324])

    def function(x):
        return x - x, x / x, x * 0, x + 1 - 1, (x * 3) / 3, x == x, np.sqrt(x) ** 2, np.exp(np.log(x)), x**0, x * x / x

    with np.errstate(all="ignore"):
        expected = function(x)
    for number, (each, wanted) in enumerate(zip(graph_jit(function)(x), expected, strict=True)):
        exact = number not in (6, 7)
        assert_same(each, wanted, ulp=0 if exact else 1000, what=f"result {number}")


# ---- accuracy ----


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_are_as_accurate_as_pairwise_summation(dtype, order):
    """A plain loop over a million terms would lose three digits more."""
    rng = np.random.default_rng(0)
    for shape, axis in [((1_000_000,), None), ((1000, 1000), None), ((100_000, 4), 0), ((4, 100_000), 1)]:
        x = np.asarray(rng.random(shape), dtype, order=order)
        for function in (np.sum, np.mean):
            exact = function(x, axis=axis, dtype=np.longdouble)
            found = graph_jit(functools.partial(function, axis=axis))(x)
            ours, theirs = (np.max(np.abs(each / exact - 1)) for each in (found, function(x, axis=axis)))
            assert ours <= max(2 * theirs, 40 * np.finfo(dtype).eps), (function, shape)


def test_chains_of_exact_operations_are_exact():
    """No fused multiply-add, no reassociation and no reciprocals outside of accumulators."""
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 1001)) * 10.0 ** rng.integers(-5, 5, (3, 1001))

    def function(x, y, z):
        return (
            x * y + z,
            x * y - x * z,
            (x + y) + z,
            x + (y + z),
            x / 3.0,
            x / y / z,
            x * 3 * y * 3,
            (x - y) * (x + y),
            x / 10 * 10,
        )

    for number, (each, wanted) in enumerate(zip(graph_jit(function)(x, y, z), function(x, y, z), strict=True)):
        assert_same(each, wanted, what=f"result {number}")


def test_float32_is_computed_in_float32():
    x, y = np.random.default_rng(0).random((2, 1001)).astype(np.float32)
    for number, (each, wanted) in enumerate(
        zip(
            graph_jit(lambda x, y: (x * y + x, x / y * 0.1, np.sqrt(x) - y))(x, y),
            (x * y + x, x / y * 0.1, np.sqrt(x) - y),
            strict=True,
        )
    ):
        assert_same(each, wanted, what=f"result {number}")


# ---- layouts and sizes ----


@pytest.mark.parametrize("dtype", ["i1", "f4", "f8", "c16"])
def test_every_length_around_the_vector_width(dtype):
    f = graph_jit(lambda x, y: (x * 2 + y, np.sum(x, axis=-1), np.cumsum(y, axis=-1)))
    rng = np.random.default_rng(0)
    for length in [*range(70), 127, 128, 129, 1000]:
        x, y = np.asarray(rng.integers(0, 5, (2, length)), dtype)
        result = f(x, y)
        for each, wanted in zip(result, f.function(x, y), strict=True):
            assert_same(each, wanted, what=f"length {length}")


def test_layouts_can_be_mixed():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 3, 5))
    f = graph_jit(lambda x, y: (x * y, np.sum(x - y, axis=0), x.T + 1))
    for (left, one), (right, other) in itertools.product(LAYOUTS.items(), repeat=2):
        first, second = one(x), other(y)
        for each, wanted in zip(f(first, second), f.function(first, second), strict=True):
            assert_same(each, wanted, ulp=4, scale=1, what=f"{left} and {right}")


def test_byte_order():
    x = np.arange(5.0)
    for swapped in (x.astype(">f8"), x.astype(">i2"), x.astype(">c8")):
        result = graph_jit(lambda x: x * 2)(swapped)
        assert_same(result, (swapped * 2).astype(swapped.dtype.newbyteorder("=")))
        assert swapped.dtype.byteorder == ">"


def test_overlapping_and_repeated_arguments():
    buffer = np.arange(10.0)
    f = graph_jit(lambda x, y: x * 2 - y[::-1])
    for x, y in [
        (buffer, buffer),
        (buffer[:5], buffer[3:8]),
        (buffer[::2], buffer[1::2]),
        (np.broadcast_to(buffer[0], 5), buffer[:5]),
    ]:
        assert_same(f(x, y), x * 2 - y[::-1])


def test_subclasses_become_plain_arrays():
    class Sub(np.ndarray):
        pass

    x = np.arange(3.0).view(Sub)
    result = graph_jit(lambda x: x + 1)(x)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, [1, 2, 3])


def test_high_ranks():
    x = np.random.default_rng(0).random((2, 1, 3, 1, 2, 1, 2))
    f = graph_jit(lambda x: (x + x[..., ::-1], np.sum(x, axis=(0, 2, 6)), np.transpose(x, (6, 4, 2, 0, 1, 3, 5)) * 2))
    for each, wanted in zip(f(x), f.function(x), strict=True):
        assert_same(each, wanted, ulp=4, scale=1)


def test_zero_dimensional_results():
    x = np.arange(3.0)
    functions = {
        "sum": (lambda x: np.sum(x), np.float64),
        "element": (lambda x: x[0], np.float64),
        "where": (lambda x: np.where(np.sum(x) > 0, 1.0, 2.0), np.ndarray),
        "sum of where": (lambda x: np.where(np.sum(x) > 0, 1.0, 2.0) + 1, np.float64),
        "any": (lambda x: np.any(x), np.bool_),
        "with an ellipsis": (lambda x: x[..., 0], np.ndarray),
        "everything": (lambda x: np.sum(x)[...], np.ndarray),
        "mean": (lambda x: x.mean(), np.float64),
        "dot": (lambda x: x @ x, np.float64),
        "reshape": (lambda x: x[:1].reshape(()), np.ndarray),
        "ones_like": (lambda x: np.ones_like(np.sum(x)), np.ndarray),
        "squeezed": (lambda x: np.squeeze(x[:1], 0), np.ndarray),
        "real part": (lambda x: (x * 1j)[1].real, np.float64),
        "imaginary part of a 0-d array": (lambda x: np.where(x[0] == 0, 1j, 2.0).imag, np.ndarray),
        "part of a sum": (lambda x: np.imag(np.sum(x * 1j)), np.float64),
        "real part of a real number": (lambda x: x[0].real, np.float64),
        "cast": (lambda x: np.sum(x).astype(np.float32), np.float32),
        "cast 0-d array": (lambda x: np.where(np.sum(x) > 0, 1.0, 2.0).astype(np.float32), np.ndarray),
    }
    for name, (function, kind) in functions.items():
        assert type(function(x)) is kind, name
        assert_same(graph_jit(function)(x), function(x), what=name)


def test_the_reference_of_small_constants_is_not_shared():
    with tracing():
        first, second = as_value(np.array([1.0, 2.0])), as_value(np.array([1.0, 2.0]))
        assert first is second
