"""Writes while a function is traced: NumPy's values, or an error; never a write that is lost."""

import inspect

import numpy as np
import pytest

from numbagraph import TraceError, graph_jit
from numbagraph import numpy as xp
from numbagraph.ir.op import numpy_function, registry
from numbagraph.ir.types import COMPLEX128, FLOAT64, INT64
from numbagraph.ir.values import Unsupported
from numbagraph.library.namespaces import public_function
from numbagraph.testing import check_writes, samples
from numbagraph.testing.op_calls import applied, is_supported
from numbagraph.testing.views import check_function, leaves_of
from numbagraph.tracing.tracer import Tracer
from tests.fuzz.arguments import form
from tests.ops.test_ops import first_calls

TWICE = ("diag_indices", "diag_indices_from")
"""NumPy gives one array several times, which is a listed difference."""
PUBLIC = sorted(
    op.name
    for op in registry
    if not isinstance(op.frontend, Unsupported) and not op.name.startswith("empty") and op.name not in TWICE
)


def run(function, *arrays):
    return graph_jit(function, backend="numpy", cache=False)(*arrays)


@pytest.mark.parametrize("name", PUBLIC)
def test_writes_around_every_op(name):
    check_writes(registry[name], FLOAT64)


@pytest.mark.parametrize("name", ["real", "imag", "conjugate", "round", "asarray", "array", "diag", "getitem"])
def test_writes_where_dtypes_decide_what_is_shared(name):
    check_writes(registry[name], COMPLEX128, INT64)


def by_name(call):
    """The call's function with its arrays by name, or None where NumPy takes them by position only."""
    function = numpy_function(call.op)
    try:
        names = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in names[: len(call.arguments)]):
        return None
    named = dict(zip([each.name for each in names], call.arguments, strict=False))
    place = next((name for name, each in named.items() if isinstance(each, np.ndarray)), None)
    return lambda function: lambda array: function(**dict(reversed({**named, place: array}.items()))) if place else None


def test_views_by_keywords():
    """What NumPy shares with an argument is shared however the argument is given."""
    checked = []
    for name in PUBLIC:
        op = registry[name]
        function = numpy_function(op)
        for call in samples(op, FLOAT64):
            if (
                function is None
                or op.kind == "elementwise"
                or len(call.arrays) != 1
                or not is_supported(call.expected(call.arrays))
            ):
                continue
            results = [each for each in leaves_of(applied(function, call.arguments)) if isinstance(each, np.ndarray)]
            make = by_name(call)
            if make is not None and any(np.shares_memory(each, call.arrays[0]) for each in results):
                check_function(make(function), make(function), call.arrays, f"{call}, by name")
                checked.append(name)
    assert {"split", "squeeze", "diagonal", "transpose", "moveaxis", "ravel", "flip"} <= set(checked)


METHODS = {
    "astype": [(np.float64,), (np.float32,)],
    "clip": [(0, 1)],
    "dot": [(np.ones(4),)],
    "repeat": [(2,)],
    "reshape": [(4, 3), (3, 4), (-1,)],
    "searchsorted": None,  # of sorted vectors
    "swapaxes": [(0, 1)],
    "take": [([0, 1], 0)],
    "transpose": [(), (1, 0), ((1, 0),)],
    "fill": None,
    "sort": None,
    "item": None,
    "tolist": None,
    **dict.fromkeys(("itemset", "partition", "put", "resize", "setfield", "setflags")),
}
"""Arguments of the methods that need some; None for those that give no array."""


def methods_and_attributes():
    for name in dir(np.ndarray):
        if not name.startswith("__") and (hasattr(Tracer, name) or name in registry):
            if callable(getattr(np.ndarray, name)):
                for arguments in METHODS.get(name, [()]) or ():
                    yield f"{name}{arguments}", lambda x, name=name, given=arguments: getattr(x, name)(*given)
            elif name not in ("dtype", "ndim", "shape", "size"):
                yield name, lambda x, name=name: getattr(x, name)
    yield "astype(copy=False)", lambda x: x.astype(x.dtype, copy=False)


@pytest.mark.parametrize(("name", "function"), [*methods_and_attributes()])
def test_writes_around_methods_and_attributes(name, function):
    array = np.arange(12.0).reshape(3, 4)
    if name == "flat":
        return  # no array, but an iterator
    check_function(function, function, [array], name)
    if name.partition("(")[0] in ("conj", "conjugate", "real", "imag", "T", "copy"):
        check_function(function, function, [array + 1j], name)


def through_slices(x):
    x[1:][1:][0] = 5
    x[0, ...][1:] += 1
    x[0, 1, ...] *= 3
    x[2][0] = 7
    x[:, 1][...] = 8
    x[..., None][0] = 1


def rows(y):
    x = y * np.ones((3, 1))
    for row in x:
        row += row[0]
    first, second, third = x
    first += 1
    second[0] = first[1]
    third *= 2
    return x


def base_and_views(x):
    top, last = x[:2], x[-1]
    t = x.T
    left, right = np.hsplit(x, 2)
    inner = top[1:]
    x[1] = 4
    x += 1
    last[0] = 6
    return x, top, last, t, left, right, inner


def overlapping(x):
    x[:2] = x[1:]
    x[...] = x[::-1]
    x += x.T.reshape(3, 4)
    np.add(x[:2], 1, out=x[1:])
    np.multiply(x, 2, out=x)
    np.sum(x, axis=0, out=x[0])
    x.cumsum(axis=1, out=x)


def methods(x):
    x[1].sort()
    x[2:].fill(3)
    x.sort(axis=0)


def rank0(x):
    v, w = x[0, 0, ...], np.zeros_like(x.sum())
    v[...] = 3
    v += 1
    u = w
    u += 2
    s = x[0, 1]
    s += 100
    y = x * 2
    y[1:, ::2] += 1
    return x, v, u, w, s, y[0, 0], y[-1, 2], y[1][1], y[1, 0, ...]


def everything(x):
    x[:] += 1
    x[...] *= 2
    same = x.astype(x.dtype, copy=False)
    same[0] = 1
    flat = x.flatten()
    flat[0] = 100
    return x, same, flat


def kept_views_of_copies(x):
    y = x.copy()
    p, q = np.broadcast_arrays(x, y)
    y[0] = 1
    return p, q, x, y


def turned(x):
    x.T[1] = 5
    x.T[0, 1] += x.T[3, 2]
    x.T.T[0, 2] = 7
    np.swapaxes(x, 0, 1)[1:, ::2] *= 2
    np.moveaxis(x[None], 0, 1)[0, 0] = 8
    np.rot90(x)[0, 0] = 9
    np.flip(x)[0] -= 1
    x.T[[3, 1], 2] = [10, 11]
    for column in x[:, 1:].T:
        column /= 2


def split(x):
    for each in np.array_split(x, 3):
        each -= each.mean()
    left, right = np.hsplit(x, 2)
    right[0] = left[1]
    np.squeeze(x[:, None], 1)[1] = 3
    np.atleast_3d(x)[2, 0] = 4
    np.einsum("ij->ji", x)[0] = 6


def reshaped(x):
    x.reshape(2, 6)[1, ::2] = 5
    x.reshape(-1)[7] = 6
    x.ravel()[2:4] += 1
    x[1:].ravel()[0] = 7
    x[2].reshape(2, 2)[:, 1] = 8
    x.flat[1] = 9
    x.flat[3:5] *= 3
    x.flat[4:6][0] = 100
    x.T.flat[1] = 10
    flat = x.ravel()
    x[0, 0] = 11
    return flat


def in_parts(x):
    z = x + 1j
    z.real[0] = 5
    z.imag[:, 1] += z.real[:, 2]
    z.real = z.imag.T.T
    z.imag -= 1
    z.T.imag[0][1:] = 3
    x.real[0, 0] = 2
    return z


WRITTEN_THROUGH = [
    through_slices, rows, base_and_views, overlapping, methods, rank0, everything, kept_views_of_copies, turned, split,
    reshaped, in_parts,
]  # fmt: skip


@pytest.mark.parametrize("function", WRITTEN_THROUGH)
def test_writes_through_views(function):
    def program(x):
        x = x * 1
        return function(x), x

    x = np.arange(12.0).reshape(3, 4)[::-1].copy()
    expected = program(x)
    for backend in ("numpy", "numba"):
        found = graph_jit(program, backend=backend)(x)
        np.testing.assert_equal(found, expected)
        assert form(found) == form(expected)


def frozen(x):
    np.broadcast_to(x, (2, 3, 4))[0] = 1


def by_reshape(x):
    x.T.reshape(2, 6)[0] = 1


def read_after(x):
    flat = x.T.ravel()
    x[0] = 1
    return flat + 1


def returned_after(x):
    flat = x.T.ravel()[1:]
    x[0] = 1
    return flat


def attribute(name):
    def function(x):
        setattr(x, name, 1)

    function.__name__ = name
    return function


def multiple_outputs(x):
    np.divmod(x, 2, out=(x, x))


IN_PLACE = {
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "as_strided": lambda x: np.lib.stride_tricks.as_strided(x, (3,), (8,)),
    **{f".{name}": lambda x, name=name: getattr(x, name)(1) for name in ("resize",)},
}


@pytest.mark.parametrize(
    "function",
    [
        by_reshape, read_after, returned_after, multiple_outputs,
        *map(attribute, ("T", "imag", "flat", "shape", "dtype")),
        *IN_PLACE.values(),
    ],
)  # fmt: skip
def test_what_cannot_be_written_through_is_refused(function):
    array = np.arange(12.0).reshape(3, 4)
    with pytest.raises(TypeError, match=r"at .*test_views\.py"):
        run(lambda x: (x := x * 1, function(x)), array)


def by_broadcast(x):
    np.broadcast_to(x, (2, 3, 4))[0] = 1


def by_broadcast_to_its_own_shape(x):
    np.broadcast_to(x, (3, 4))[0][1] = 1


def by_diagonal(x):
    np.diag(x)[1:] += 1


def by_windows(x):
    np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)[0] = 1


@pytest.mark.parametrize("function", [by_broadcast, by_broadcast_to_its_own_shape, by_diagonal, by_windows])
def test_what_numpy_gives_for_reading_is_not_written(function):
    array = np.arange(12.0).reshape(3, 4)
    for call in (function, graph_jit(function, backend="numpy")):
        with pytest.raises(ValueError, match="read-only"):
            call(array)
    np.testing.assert_array_equal(array, np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize(
    "made",
    [
        lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)).reshape(-1),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)).ravel(),
        lambda x: np.broadcast_to(x, (2, *x.shape)).reshape(-1),
    ],
)
def test_what_may_be_a_copy_of_such_a_view_is_refused_as_one(made):
    """NumPy copies, unless the lengths happen to make it a view: the error says what to write, and not "read-only"."""

    def written(x):
        found = made(x)
        found[0] = 7.0
        return found

    array = np.arange(20.0).reshape(4, 5)
    assert written(array)[0] == 7.0
    with pytest.raises(TraceError, match=r"assign into a copy \(x.copy\(\)\)"):
        graph_jit(written, backend="numpy")(array)
    np.testing.assert_array_equal(array, np.arange(20.0).reshape(4, 5))


def shared_by_layout(x):
    flat = x.ravel()
    flat[1] = 7
    x[0, 0] = 8
    return flat


CUTS = {
    "C": lambda x: x,
    "transposed": lambda x: x.T,
    "columns": lambda x: x[:, ::2],
    "rows": lambda x: x[1:3],
    "every other row": lambda x: x[::2],
    "turned": lambda x: x[::-1, 1:],
    "a column": lambda x: x[:, :1].T,
}


@pytest.mark.parametrize("dtype", ["f8", ">f8"])
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_ravel_shares_memory_as_arguments_lie(backend, dtype):
    compiled = graph_jit(shared_by_layout, backend=backend)
    base = np.arange(24.0).reshape(4, 6).astype(dtype)
    for name, cut in CUTS.items():
        own, changed = base.copy(), base.copy()
        np.testing.assert_array_equal(compiled(cut(own)), shared_by_layout(cut(changed)), name)
        np.testing.assert_array_equal(own, changed, name)


def test_copies_of_arguments_lie_as_these_do():
    """Native code is given copies where bounds of memory meet."""

    def program(x, y):
        flat = x.ravel()
        flat[1] = y.sum()
        return flat

    for cut in (lambda x: (x[:, ::2], x[:, 1::2]), lambda x: (x[:, :3].T, x[:, 3:])):
        own, changed = np.arange(24.0).reshape(4, 6), np.arange(24.0).reshape(4, 6)
        np.testing.assert_array_equal(graph_jit(program)(*cut(own)), program(*cut(changed)))
        np.testing.assert_array_equal(own, changed)


def test_ufuncs_write_into_arrays_of_an_enclosing_scope():
    buffer = np.zeros(3)
    for function, argument, expected in (
        (lambda x: np.add(x, 1, out=buffer), np.ones(3), [2, 2, 2]),
        (lambda x: np.sum(x, axis=0, out=buffer), np.ones((4, 3)), [4, 4, 4]),
    ):
        run(function, argument)
        np.testing.assert_array_equal(buffer, expected)
    with pytest.raises(TypeError, match="out= of add must be one traced array"):
        run(lambda x: buffer.__iadd__(x), np.ones(3))
    with pytest.raises(TypeError, match="out= of sum must be one traced array"):
        run(lambda x: np.sum(x, out=buffer), np.ones(3))
    np.testing.assert_array_equal(buffer, [4, 4, 4])


def outputs_by_position(op, call):
    """A call with an array for its result by position, or None where NumPy's function has no place for it."""
    try:
        parameters = list(inspect.signature(numpy_function(op)).parameters.values())
    except (TypeError, ValueError):
        return None
    names = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    if "out" not in names or len(call.arguments) > names.index("out"):
        return None
    defaults = [each.default for each in parameters[len(call.arguments) : names.index("out")]]
    return lambda target: applied(public(op), (*call.arguments, *defaults, target))


def public(op):
    return public_function(op.name, "numbagraph.numpy")


@pytest.mark.parametrize("name", [name for name in PUBLIC if numpy_function(registry[name]) is not None])
def test_outputs_are_written_or_refused(name):
    """``out=`` by name and by position: never a result that goes nowhere."""
    op = registry[name]
    call = next(
        (each for each in first_calls(op) if isinstance(each.expected(each.arrays), (np.ndarray, np.generic))), None
    )
    if call is None:
        pytest.skip("it has several results")
    expected = call.expected(call.arrays)
    calls = [lambda target: applied(lambda *each, **options: public(op)(*each, **options, out=target), call.arguments)]
    calls.append(outputs_by_position(op, call))
    for write in filter(None, calls):

        def program(x, write=write):
            target = x * 1
            write(target)
            return target

        start = np.full_like(expected, 0 if np.asarray(expected).any() else 1)
        start = np.atleast_1d(start) if not start.ndim else start
        try:
            found = run(program, start)
        except (TypeError, ValueError, NotImplementedError):
            continue
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=1e-12, atol=1e-12)


def test_results_are_repeated_to_the_array_that_they_are_written_into():
    def program(x, row):
        target = x * 1
        np.multiply(row, 2, out=target)
        xp.add(row[0], 1, target[..., 0])
        return target

    f = graph_jit(program)
    for row in (np.arange(4.0), np.arange(1.0)):
        np.testing.assert_array_equal(f(np.ones((3, 4)), row), program(np.ones((3, 4)), row))
    for wrong, shown in ((np.ones(3), r"\(3,\) to \(3, 4\)"), (np.ones((2, 3, 4)), "could not broadcast")):
        with pytest.raises(ValueError, match=shown):
            f(np.ones((3, 4)), wrong)
        with pytest.raises(ValueError, match="broadcast"):
            program(np.ones((3, 4)), wrong)
