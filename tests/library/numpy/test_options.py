"""Options of NumPy's functions, and what results are: values, dtypes, shapes, scalars or arrays, errors."""

import linecache
import warnings

import numpy as np
import pytest

from numbagraph import graph_jit

WHOLE = np.arange(12).reshape(3, 4)
SINGLE = WHOLE.astype(np.float32) * np.float32(0.1)
SMALL = np.array([100, 100, 27], np.int8)
FLAGS = np.array([True, False, True])
LARGE = np.full(3, 2**62)
TRUE, FALSE = np.bool_(True), np.bool_(False)
HALF = np.float64(0.5)
POINTS = np.array([0.5, 1e200, -1e150, 0.0])
COEFFICIENTS = np.array([1.5, 0.0, 2.0])


def outcome(function, *args):
    copies = [each.copy() for each in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*copies)
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            return error


def check(text, *args):
    """A call gives what NumPy gives, or raises an error of the same kind. Arguments are a, b and c."""
    names = ["a", "b", "c"][: len(args)]
    *first, last = text.split("; ")
    lines = [f"def function({', '.join(names)}):", *(f"    {each}" for each in first), f"    return {last}"]
    scope, name = {"np": np}, f"<{text} of {names}>"
    linecache.cache[name] = (1, None, [f"{each}\n" for each in lines], name)  # functions are captured by their source
    exec(compile("\n".join(lines), name, "exec"), scope)
    expected, found = outcome(scope["function"], *args), outcome(graph_jit(scope["function"]), *args)
    if isinstance(expected, Exception):
        kind = next(each for each in (TypeError, ValueError, IndexError, OverflowError) if isinstance(expected, each))
        assert isinstance(found, kind), found
        return
    assert not isinstance(found, Exception), found
    several = isinstance(expected, (tuple, list))
    for own, other in zip(found if several else [found], expected if several else [expected], strict=True):
        assert type(own) is type(other)
        assert own.dtype == other.dtype
        np.testing.assert_allclose(own, other, rtol=1e-6 if other.dtype == np.float32 else 1e-13)
        np.testing.assert_array_equal(np.signbit(own), np.signbit(other)) if other.dtype.kind == "f" else None


@pytest.mark.parametrize(
    ("text", "array"),
    [
        ("o = np.zeros(4); np.sum(a, axis=0, out=o); o", SINGLE),
        ("o = np.zeros(4); np.mean(a, axis=0, out=o); o", SINGLE),
        ("o = np.zeros((), np.complex64); np.sum(a, out=o); o", LARGE),
        ("o = np.zeros((), np.uint8); np.prod(a, out=o); o", SMALL),
        ("o = np.zeros(4, 'u4'); np.max(a, axis=0, out=o); o", WHOLE),
        ("o = np.zeros(4, bool); np.var(a, axis=0, out=o); o", WHOLE),
        ("o = np.zeros((3, 4), 'u4'); np.cumsum(a, axis=0, out=o); o", WHOLE - 5),
        ("o = np.zeros(3); np.cumprod(a, out=o); o", LARGE),
        ("o = np.zeros(4); np.add.reduce(a, axis=0, out=o, where=a > 0.3); o", SINGLE),
        ("o = np.zeros(4, 'f4'); np.subtract.reduce(a, axis=0, out=o); o", WHOLE),
        ("o = np.zeros((3, 4), 'i4'); np.add.accumulate(a, out=o); o", SINGLE * 7),
        ("o = np.zeros((3, 4), 'i4'); np.sqrt(a, out=o, casting='unsafe'); o", SINGLE * 7),
        ("o = np.zeros((3, 4), 'i4'); np.sqrt(a, out=o, casting='unsafe', where=a > 2); o", SINGLE * 7),
        ("o = np.zeros(4, 'f4'); np.sum(a, axis=0, out=o, dtype=np.int64); o", SINGLE * 7),
    ],
)
def test_results_that_are_written_elsewhere_are_computed_in_the_dtype_of_both(text, array):
    check(text, array)


def test_results_that_do_not_fit_are_refused():
    def function(a):
        o = np.zeros(3, np.int32)
        np.sqrt(a, out=o)
        return o

    with pytest.raises(TypeError, match=r"Cannot cast ufunc 'sqrt' output from dtype\('float64'\) to dtype\('int32'\)"):
        graph_jit(function)(LARGE)


@pytest.mark.parametrize(
    "text",
    [
        "o = np.zeros((2, 4), 'c8'); np.concatenate((a[:1], a[1:2]), out=o, casting='no'); o",
        "o = np.zeros((2, 4), 'f4'); np.concatenate((a[:1], a[1:2]), out=o, casting='safe'); o",
        "o = np.zeros((2, 4), 'i4'); np.concatenate((a[:1], a[1:2]), out=o); o",
        "o = np.zeros((2, 4), 'i4'); np.concatenate((a[:1] * 7, a[1:2] * 7), out=o, casting='unsafe'); o",
        "o = np.zeros((2, 4)); np.concatenate((a[:1], a[1:2]), out=o, dtype=np.float64); o",
        "o = np.zeros((2, 4)); np.stack((a[0], a[1]), out=o); o",
        "o = np.zeros((2, 4), 'i8'); np.stack((a[0], a[1] * 7), out=o, casting='unsafe'); o",
    ],
)
def test_joined_arrays_are_converted_by_the_casting_that_is_asked_for(text):
    check(text, SINGLE)


@pytest.mark.parametrize("kind", ["q", "Quick", "heap", "m", "merge", "S", "stable", "x", "", "quicksort"])
@pytest.mark.parametrize("call", ["np.sort(a, kind={!r})", "a.argsort(kind={!r})"])
def test_a_kind_of_sorting_is_its_first_letter(call, kind):
    check(call.format(kind), SMALL)


@pytest.mark.parametrize(
    "text",
    [
        "a[[0, 1], [0, 1, 2]]",
        "a[a[0, :2] * 0, a[0, :3] * 0]",
        "a[False, [0, 1]]",
        "b = a.copy(); b[[0, 1], [0, 1, 2]] = 1; b",
        "np.tensordot(a, a, ([0, 0], [0, 0]))",
        "np.tensordot(a, a, ([0, 1], [0, 0]))",
        "a.reshape(4, 3, copy=True)",
        "a.reshape((4, 3), copy=None)",
        "round(a[1, 1] * 1.25, ndigits=1)",
        "np.nanquantile(a, 1, axis=0)",
        "np.nanquantile(a, [0, 1])",
    ],
)
def test_calls_of_arrays_take_and_refuse_what_those_of_numpy_do(text):
    check(text, WHOLE)


@pytest.mark.parametrize("initial", ["[1, 2]", "1j", "np.nan", "2.5", "None", "True"])
@pytest.mark.parametrize(
    "function", ["np.sum({})", "np.max({})", "np.gcd.reduce({})", "np.add.reduce({}, where=a > 2)"]
)
def test_what_reductions_begin_with(function, initial):
    check(function.format(f"a, initial={initial}"), WHOLE[0])
    if initial == "None":
        check(function.format("a, initial=None"), WHOLE[0][:0])


@pytest.mark.parametrize("name", ["fmax", "fmin", "maximum", "hypot"])
def test_reductions_over_all_axes(name):
    check(f"np.{name}.reduce(a, axis=None)", WHOLE)


@pytest.mark.parametrize(
    "key", ["True", "False", "None, True", "0, True", "True, [0, 1]", ":, True", "..., False", "True, ..., 0"]
)
def test_truth_values_are_masks_without_dimensions(key):
    check(f"a[{key}]", WHOLE)
    check(f"x = a.copy(); x[{key}] = 7; x", WHOLE)
    check(f"x = a.copy(); x[{key}] *= 2; x", WHOLE)


@pytest.mark.parametrize("truth", [TRUE, FALSE])
@pytest.mark.parametrize("key", ["b", "b, 0", ":, b", "0, b", "..., b"])
def test_truth_values_that_are_traced(key, truth):
    check(f"a[{key}]", WHOLE, truth)
    check(f"a[{key}].sum()", WHOLE, truth)
    check(f"x = a.copy(); x[{key}] = 7; x", WHOLE, truth)
    check(f"x = a.copy(); y = x[{key}]; y[...] = 7; x", WHOLE, truth)
    check("a[a > 0.2]", HALF)


@pytest.mark.parametrize(
    "text",
    [
        "np.fft.fftfreq(a.size)",
        "np.fft.fftfreq(a.size, d=a[0])",
        "np.fft.rfftfreq(a.size, 0.5)",
        "a[np.tril_indices(a.shape[0])[0]]",
        "np.triu_indices(a.shape[0], 1, 6)",
        "np.diag_indices(a.shape[0], 3)",
        "np.ix_(a > 0, [0, 1])",
        "np.array(a, ndmin=2)",
        "np.array([a[0], 2], ndmin=3)",
    ],
)
def test_functions_of_lengths(text):
    check(text, POINTS)


def test_polynomials_of_unknown_degree_are_evaluated_by_horners_scheme():
    check("np.polyval(a, b)", COEFFICIENTS, POINTS)
    check("np.polyval(a, b)", COEFFICIENTS[:0], POINTS)
    check("np.polyval(a, b)", WHOLE.astype(float), POINTS)
    check("np.polynomial.polynomial.polyval(b, a)", COEFFICIENTS, POINTS)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("sum(a)", [SMALL]),
        ("sum(a)", [FLAGS]),
        ("np.histogram2d(a, b, bins=(2, 3))", [SINGLE[0], WHOLE[0].astype(np.int8)]),
        ("np.histogram2d(a, b, bins=(2, 3))", [FLAGS, SMALL]),
        ("np.histogram2d(a, b, bins=[0, 1, 3])", [FLAGS, SMALL]),
        ("np.interp(a, [0, 1, 2.0], [3, 4, 6])", [HALF]),
        ("np.digitize(a, [0, 1, 2.0])", [HALF]),
        ("np.linspace(0, a, 5, retstep=True)", [HALF]),
        ("np.unwrap(a, period=4)", [FLAGS]),
        ("np.gradient(a, 2.0)", [np.array([1.0, 0.0, 0.0, 0.0])]),
    ],
)
def test_dtypes_and_kinds_of_results(text, args):
    check(text, *args)


def rolled_sums(x, shift):
    return np.roll(x, shift) - 2 * x + np.roll(x, -shift), np.sum(np.roll(x, shift) * x), np.cumsum(np.roll(x, shift))


@pytest.mark.parametrize("length", [0, 1, 2, 7, 33, 1200])
@pytest.mark.parametrize("shift", [0, 1, -2, 5, 40])
def test_loops_over_rolled_arrays_run_in_pieces(length, shift):
    x = np.random.default_rng(length).normal(size=length)
    rows = np.random.default_rng(length).normal(size=(3, length))
    for found, expected in zip(graph_jit(rolled_sums)(x, shift), rolled_sums(x, shift), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

    def of_rows(a):
        return np.roll(a, shift, axis=1) * np.roll(a, 1, axis=0), np.sum(np.exp(np.roll(a, -shift, axis=1)) * a, axis=1)

    for found, expected in zip(graph_jit(of_rows)(rows), of_rows(rows), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("places", ["[3, 500, 7]", "[-1, -3]", "[-1, 3, 3]", "[2]", "[5, -995]", "list(range(20))"])
def test_elements_deleted_at_several_places(places):
    check(f"np.delete(a, {places})", np.arange(1000.0))
    check(f"np.delete(a, {places}, axis=0)", np.arange(2000.0).reshape(1000, 2))
    check(f"np.delete(a, {places})", np.arange(2.0))


@pytest.mark.parametrize(
    "text",
    [
        "np.block([[a, b], [b, a]])",
        "np.block([[a, a], [b, a[:, :2], b[:, 2:]]])",
        "np.block([[a[0], 1], [a[1], b[0]]])",
        "np.block([[a, b], [b]])",
        "np.block([[a, b[:1]], [b, a]])",
        "np.block([[[a], [b]], [[b], [a]]])",
        "np.block([[a[None], b], [b, a]])",
    ],
)
def test_blocks(text):
    check(text, SINGLE, WHOLE)


MANY = np.random.default_rng(3).normal(size=500)
OTHER_RULES = ("fd", "doane", "scott", "rice", "sqrt", "sturges")
RULES = ["auto", *(pytest.param(rule, marks=pytest.mark.repeats) for rule in OTHER_RULES)]


@pytest.mark.parametrize("rule", RULES)
def test_bins_by_a_rule(rule):
    given = (MANY, MANY.astype(np.float32), np.exp(MANY[:77]), (9 * MANY).astype(int), np.repeat([0.0, 1.0, 5.0], 20))
    for array in (*given, (MANY * 20 + 100).astype(np.uint8), np.ones(7), MANY[:1], MANY[:0], MANY.reshape(20, 25)):
        check(f"np.histogram(a, '{rule}')", array)
    check(f"np.histogram(a, '{rule}', density=True)", MANY)
    check(f"np.histogram_bin_edges(a, '{rule}')", MANY)


FAR_APART = [np.array([np.iinfo(each).min // 2, 0, np.iinfo(each).max], each) for each in ("i1", "u2", "i4", "u8")]


@pytest.mark.parametrize("array", FAR_APART, ids=lambda array: array.dtype.name)
@pytest.mark.parametrize("rule", RULES)
def test_bins_by_a_rule_of_integers_whose_distance_is_none_of_their_dtype(rule, array):
    check(f"np.histogram(a, '{rule}')", array)


@pytest.mark.parametrize("call", ["histogram(a, 9)", "histogram_bin_edges(a, 9)", "histogram2d(a, a, 9)[0]"])
def test_more_bins_than_there_are_numbers_between_the_ends(call):
    check(f"np.{call}", np.array([1.0, np.nextafter(1.0, 2.0)]))


@pytest.mark.parametrize("mode", ["clip", "wrap", "raise"])
@pytest.mark.parametrize("count", [0, 3])
def test_positions_in_an_array_of_no_elements(mode, count):
    check(f"np.ravel_multi_index((a, a, a), (2, 1, 0), mode='{mode}')", np.zeros(count, int))


@pytest.mark.parametrize("end", ["3", "2.5", "(1, 99)", "0"])
@pytest.mark.parametrize("dtype", ["u1", "i2", "u8", "f4", "f8"])
def test_ramps_fall_and_rise(dtype, end):
    check(f"np.pad(a, 3, 'linear_ramp', end_values={end})", np.array([100, 7, 1], dtype))


def test_rules_that_there_are_not():
    check("np.histogram(a, 'nope')", MANY)
    check("np.histogram(a, 'auto', weights=a)", MANY)
    with pytest.raises(NotImplementedError, match="stone"):
        graph_jit(lambda a: np.histogram(a, "stone"))(MANY)


def test_several_polynomials_at_once():
    check("np.polyval(a, b)", SINGLE.astype(float)[:1], np.array([[1.5], [2.0], [3.0]]))
    check("np.polyval(a, b)", WHOLE.astype(float), POINTS)


def test_bytes_of_arrays_are_refused_by_name():
    with pytest.raises(TypeError, match="sliding_window_view gives windows"):
        graph_jit(lambda a: np.lib.stride_tricks.as_strided(a, (3, 2), (8, 8)))(POINTS)


@pytest.mark.parametrize(
    "call",
    [
        "np.sum(a, 0, None, o)",
        "a.sum(0, None, o)",
        "np.clip(a[0], 2, 9, o)",
        "np.median(a, 0, o)",
        "np.quantile(a, 0.3, 0, o)",
        "np.take(a, [1, 9, 2, 3], 0, o, 'clip')",
        "np.choose(a[0] % 2, [a[1], a[2]], o, 'raise')",
        "np.nanargmax(a, 0, o)",
        "np.isposinf(a[0] / 0.0, o)",
        "np.round(a[1], 1, o)",
        "np.dot(a[0], a[1], o[0])",
    ],
)
def test_out_by_position(call):
    shape = "(4, 4)" if "take" in call else "4"
    dtype = "bool" if "isposinf" in call else "int" if "arg" in call or "choose" in call or "clip" in call else "float"
    check(f"o = np.zeros({shape}, {dtype}); {call}; o", WHOLE if dtype == "int" else WHOLE * 1.5)


@pytest.mark.parametrize(
    "call", ["a.item(5)", "a.item(-1)", "a.item(1, 2)", "a.item((2, 3))", "a[0].item(1)", "a.item(99)"]
)
def test_one_element_as_a_number(call):
    check(f"np.float64({call}) + 1", WHOLE)


@pytest.mark.parametrize(
    "call",
    [
        "np.lexsort(a)",
        "np.dstack(a)",
        "np.select(a > 4, a, -1)",
        "np.select(a > 4, [b, b + 1, b + 2])",
        "np.choose(b % 3, a)",
        "np.choose(b, a, mode='wrap')",
        "np.choose(b, a)",
    ],
)
def test_arrays_in_place_of_sequences(call):
    check(call, WHOLE, np.array([5, 0, 2, 1]))


def test_lengths_along_several_axes():
    check("np.asarray(np.size(a, (0, 1)) + np.size(a, 1))", WHOLE)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_logarithmic_spaces_of_several_bases(axis):
    check(f"np.logspace(2.0, 3.0, 4, base=a, axis={axis})", np.array([[2.0], [3.0]]))
    check(f"np.logspace(a, 3.0, 4, base=b, axis={axis})", np.arange(3.0), np.array([[2.0], [3.0]]))


def test_dtypes_that_cannot_hold_results():
    for call in (
        "np.std(a, 0, dtype=int)",
        "np.std(a, dtype=int)",
        "np.cov(a, dtype=int)",
        "np.corrcoef(a, dtype=int)",
    ):
        check(call, WHOLE * 0.5)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("flags", "ask them outside"),
        ("strides", "ask them outside"),
        ("tobytes", "write it outside"),
        ("base", "result"),
    ],
)
def test_attributes_about_memory_say_what_to_do(name, advice):
    with pytest.raises(AttributeError, match=f"(?s){advice}.*on float64.*at .*test_options"):
        graph_jit(lambda a: getattr(a, name))(POINTS)


FRAMED = np.pad(np.array([[1.0, 0.0, np.nan], [0.0, -0.0, 2.0]]), ((2, 1), (1, 3)))


@pytest.mark.parametrize("array", [FRAMED, FRAMED.T, FRAMED[::-1], FRAMED > 0, FRAMED * 0, FRAMED[:0], FRAMED[:, :0]])
@pytest.mark.parametrize("options", ["", "'F'", "'b'", "axis=0", "axis=-1", "axis=(1, 0)", "'f', axis=1"])
def test_zeros_are_trimmed_along_axes(array, options):
    check(f"np.trim_zeros(a{', ' * bool(options)}{options})", np.nan_to_num(array, nan=7))


@pytest.mark.parametrize("options", ["", "'x'", "''", "axis=2", "axis=(0, 0)", "axis=(0, -2)", "axis=()"])
def test_zeros_are_trimmed_or_refused(options):
    check(f"np.trim_zeros(a{', ' * bool(options)}{options})", FRAMED[1:])


def test_what_is_trimmed_is_a_view():
    """It stays where it was when its elements become zeros, or others do not."""
    for axis in (None, 0, 1, ()):
        text = f"y = a.copy(); r = np.trim_zeros(y, axis={axis}); r[0] = 0; y[0] = 3; r += 1; y, r, r * 2"
        check(text, np.nan_to_num(FRAMED))
    check("y = a.copy(); r = np.trim_zeros(y); r[0] = 0.0; y[0] = 1.0; y, r", COEFFICIENTS * 0 + [0, 1, 0])
    trimmed = graph_jit(lambda a: np.trim_zeros([a[0], a[1], a[2]]))(np.array([0.0, 2.0, 0.0]))
    np.testing.assert_array_equal(trimmed, [2.0])


@pytest.mark.parametrize("rule", RULES)
def test_rules_see_what_is_inside_of_a_range(rule):
    numbers = MANY[:60] * 2
    kinds = [numbers.astype(np.float32), numbers.astype(np.int8), numbers[::-3], numbers[:0], numbers > 0]
    with_nan = np.append(numbers, [np.nan, np.inf, -0.0])
    for array in (*kinds, np.abs(numbers).astype(np.uint8), with_nan, numbers.reshape(6, 10)):
        check(f"np.histogram(a, '{rule}', (-1, 1))", array)
    for limits in ("(2, 2)", "(50, 60)", "(0.25, 5)", "(a.min(), a.max())"):
        check(f"np.histogram_bin_edges(a, '{rule}', {limits})", numbers)


@pytest.mark.parametrize("bins", ["3", "'fd'"])
@pytest.mark.parametrize("limits", ["(3, 1)", "(0, np.inf)", "(-np.inf, 0)", "(0, np.nan)", "a[:2]", "(1, 1)"])
def test_ranges_of_histograms(bins, limits):
    check(f"np.histogram(a, {bins}, {limits})", MANY[:20])


COPYING = """
np.ravel(y) np.ravel(y,'F') np.ravel(y,order='F') y.ravel('F') np.reshape(y,(-1,),copy=True) np.array(y)
np.array(y,copy=False) np.array(y,copy=None) np.array(y,ndmin=3,copy=False) np.asarray(y) np.asarray(y,copy=True)
np.asarray(y,copy=False) np.asarray(y,None,'F') np.asarray(y,order='F') np.asarray(y,order='C') np.asarray(y,order='A')
np.asarray(y,np.float32) np.asanyarray(y,order='F') np.ascontiguousarray(y) np.ascontiguousarray(y,np.float32)
np.asfortranarray(y) y.astype(float) y.astype(float,copy=False) y.astype(float,order='F',copy=False)
y.astype(int,copy=False) np.atleast_2d(y) np.copy(y) np.delete(y,[],0) np.resize(y,(2,2)) y.conj() np.conj(y)
""".split()


@pytest.mark.parametrize("call", COPYING)
@pytest.mark.parametrize("start", ["y = a + 1", "y = a[0] + 1", "y = np.zeros((3, 4)); y[1] = a[0]"])
def test_what_is_a_copy_and_what_a_view(call, start):
    """Writes into what a function gives reach its operand as with NumPy."""
    check(f"{start}; r = {call}; r[...] = 50; y, r", WHOLE * 1.0)


ARRANGING = {
    "ravel": lambda y: np.ravel(y.T, "F"),
    "reshape": lambda y: np.reshape(y, (-1,), "F"),
    "asarray": lambda y: np.asarray(y.T, order="C"),
    "ascontiguousarray": lambda y: np.ascontiguousarray(y.T),
}


@pytest.mark.parametrize("arrange", ARRANGING.values(), ids=ARRANGING)
def test_writes_where_it_is_not_known_whether_they_reach_the_operand(arrange):
    def function(a):
        y = a + 1
        r = arrange(y)
        r[...] = 50
        return y

    with pytest.raises(TypeError, match=r"assign into a copy \(x\.copy\(\)\)"):
        graph_jit(function)(WHOLE)


@pytest.mark.parametrize("name", ["ascontiguousarray", "asfortranarray", "asarray"])
def test_arrays_of_numbers(name):
    for text in (f"np.{name}(a)", f"np.{name}(a.sum())", f"np.{name}([a, a])", f"np.{name}(2.5) + a"):
        check(text, HALF)
        check(text, POINTS)
    check(f"np.{name}(a, np.float32)", np.array(3))


def test_a_copy_that_cannot_be_avoided():
    check("np.asarray(a, np.float32, copy=False)", POINTS)
    check("np.array(a, np.float32, copy=False)", POINTS)


SHIFTS = np.array([1, -2])


@pytest.mark.parametrize(
    "axes", ["(0, 1)", "(1, 0)", "(0, 0)", "0", "None", "(-1,)", "[1, 0]", "(0, 1, 0)", "()", "(0, 2)"]
)
@pytest.mark.parametrize("shift", [SHIFTS, SHIFTS.astype(np.int8), SHIFTS[:1], SHIFTS[::-1] * 7, SHIFTS[:, None]])
def test_several_shifts(axes, shift):
    check(f"np.roll(a, b, {axes})", WHOLE, shift)
    check(f"np.roll(a, {tuple(shift.ravel().tolist())}, {axes})", WHOLE)


def test_shifts_of_nothing():
    for array in (WHOLE[:0], WHOLE[:, :0], WHOLE[:1], FLAGS):
        check("np.roll(a, b)", array, SHIFTS)
        check("np.roll(a, b, 0)", array, SHIFTS)
