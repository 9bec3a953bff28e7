"""The tests catch faults: each of these plants one, and sees the check fail that is there to find it.

The faults are in ops of our own making, registered for one test, or in the compiler, patched for one test.
"""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import broadcasting_vjp
from numbagraph.blockwise.kinds import decomposition, draw, elementwise, reduction, view
from numbagraph.blockwise.promotion import as_strong, common_rule, promote
from numbagraph.emit import program as program_emitter
from numbagraph.intrinsics.emitters import scalar, vecmath
from numbagraph.intrinsics.emitters.ir import literal
from numbagraph.intrinsics.emitters.reducers import Reducer
from numbagraph.ir import structs
from numbagraph.ir.op import registry
from numbagraph.ir.types import COMPLEX128, FLOAT32, FLOAT64, INT64
from numbagraph.ir.values import Unsupported, new_memory, nowhere
from numbagraph.jit import version
from numbagraph.loops import schedule
from numbagraph.ops.comparison import equal
from numbagraph.ops.selection import where
from numbagraph.ops.special.error_functions import expit
from numbagraph.runtime import arguments
from numbagraph.testing import (
    check_batching,
    check_donations,
    check_gradients,
    check_op,
    check_own_memory,
    check_writes,
    samples,
    special_points,
)
from numbagraph.testing.checks import check_lengths_of_one
from numbagraph.testing.special_points import check_special_points
from numbagraph.testing.zeros import check_signs_of_zero

DISCRETE = Unsupported("planted")


pytestmark = pytest.mark.usefixtures("own_registry")


def altered(name, **properties):
    """An op of the registry under another name, with some properties replaced."""
    original = registry[name]
    return registry.register(structs.replace(original, name=f"altered_{name}", **properties))


def sample(op, dtype=FLOAT64):
    return next(iter(samples(op, dtype)))


def caught(check, *arguments, match):
    with pytest.raises(AssertionError, match=match):
        check(*arguments)


# ---- the checks pass where nothing is wrong ----


@pytest.mark.parametrize("name", ["multiply", "exp", "sum", "max", "transpose", "where", "cumsum"])
def test_without_a_fault_the_checks_pass(name):
    op = altered(name)
    assert check_op(op, FLOAT64, sparing=True) >= 10
    check_gradients(sample(op).function, sample(op).arrays, compiled=1)
    check_batching(sample(op))


# ---- values ----


def test_a_wrong_result_is_caught():
    op = elementwise(np.add, name="planted", emit=scalar.subtract, vjp=DISCRETE)
    caught(check_op, op, FLOAT64, match="elements differ by more than a single bit")
    caught(check_op, op, np.uint8, match="elements differ")


def test_an_error_of_one_unit_in_the_last_place_is_caught():
    def emit(emitter, x, y):
        total = emitter.builder.fadd(x.value, y.value)
        return emitter.builder.fmul(total, total.type(1 - np.finfo(np.float64).eps))

    op = elementwise(np.add, name="planted", emit=emit, vjp=DISCRETE)
    caught(check_op, op, FLOAT64, match="differ by more than a single bit")
    tolerant = structs.replace(op, name="tolerant", ulp=2.0)
    registry.register(tolerant)
    assert check_op(tolerant, FLOAT64) > 10


def test_a_wrong_emitter_at_nan_is_caught():
    """An ordered comparison and a select: right for numbers, wrong for NaN, and found by the special values alone."""

    def emit(emitter, x, y):
        return emitter.builder.select(emitter.builder.fcmp_ordered(">", x.value, y.value), x.value, y.value)

    op = elementwise(np.maximum, name="planted", emit=emit, vjp=DISCRETE)
    caught(check_op, op, FLOAT64, match="special values.* nan expected|nan expected")


def test_a_wrong_sign_of_zero_is_caught():
    def emit(emitter, x):
        return emitter.builder.fsub(x.value.type(0.0), x.value)

    op = elementwise(np.negative, name="planted", emit=emit, vjp=DISCRETE)
    caught(check_op, op, FLOAT64, match=r"special values.*-0\. expected, found 0\.")


def test_a_wrong_sign_of_zero_below_the_tolerance_is_caught():
    def emit(emitter, x):
        return emitter.builder.fadd(vecmath.sinh(emitter, x), x.value.type(0.0))

    op = elementwise(np.sinh, name="planted", emit=emit, vjp=DISCRETE, ulp=4)
    assert check_op(op, FLOAT64) > 10
    caught(check_signs_of_zero, sample(op), match="another sign than NumPy's; -0 expected")
    assert check_signs_of_zero(sample(registry["sinh"])) > 10


def test_integer_division_without_care_for_signs_is_caught():
    """Truncation instead of floor, on operands that are never zero."""

    def emit(emitter, x, y):
        divide = emitter.builder.udiv if x.dtype.kind == "u" else emitter.builder.sdiv
        safe = emitter.builder.select(
            emitter.builder.icmp_signed("==", y.value, y.value.type(0)), y.value.type(1), y.value
        )
        return divide(x.value, safe)

    op = elementwise(np.floor_divide, name="planted", emit=emit, vjp=DISCRETE)
    caught(check_op, op, np.uint8, match="special values.*0 expected")


# ---- dtypes, shapes, kinds of result ----


def test_a_wrong_dtype_rule_is_caught():
    op = elementwise(np.add, name="planted", emit=scalar.add, dtype=lambda kinds: (FLOAT64,) * 3, vjp=DISCRETE)
    caught(check_op, op, FLOAT32, match="dtype float32 expected, found float64")
    caught(check_op, op, INT64, match="dtype int64 expected, found float64")


def test_a_dtype_that_should_be_refused_is_caught():
    op = elementwise(
        np.subtract, name="planted", emit=scalar.logical("xor"), dtype=lambda kinds: (kinds[0],) * 3, vjp=DISCRETE
    )
    caught(check_op, op, np.bool_, match="TypeError expected")


def test_a_wrong_shape_rule_is_caught():
    def infer(value, **attrs):
        result = registry["sum"].infer(value, **attrs)
        return result.with_shape((1, *result.shape))

    def frontend(op, a, axis=None, *rest):
        return op.bind(*registry["sum"].frontend(registry["sum"], a, axis, *rest).inputs, axes=(-1,))

    op = altered("sum", infer=infer, frontend=frontend)
    caught(check_op, op, FLOAT64, match="shape|expected|Error")


def test_an_array_in_place_of_a_scalar_is_caught():
    op = altered("add", zero_dim="array")
    caught(check_op, op, FLOAT64, match="a NumPy scalar expected, found a array")


def planted_product(frontend):
    """A product of two vectors."""
    samples = [np.arange(3, dtype=np.uint8), np.arange(3, dtype=np.uint8)]
    decomposition(np.inner, name="planted", samples=lambda rng, dtype: [samples], implements=())(frontend)
    return registry["planted"]


def test_a_weak_number_that_numpy_converts_is_caught():
    def inner(a, b):
        left, right = promote(common_rule(), (a, b))
        return registry["inner"](left, right)

    op = planted_product(inner)
    caught(check_op, op, np.uint8, "numpy", match="Python number 3 as argument 0 beside arrays.* int64 expected")


def test_a_length_of_1_that_numpy_does_not_repeat_is_caught():
    op = planted_product(lambda a, b: registry["sum"](registry["multiply"](as_strong(a), as_strong(b)), -1, np.uint8))
    caught(check_lengths_of_one, sample(op, np.uint8), match="length 1 along axis 0 of array 0: an exception expected")


# ---- indices, strides, memory ----


def planted_view(shift):
    """A reversal along the last axis whose index map is off by ``shift``."""

    def source_index(node, index):
        last = lowering.extent_scalar(node.shape[-1])
        return *index[:-1], lowering.subtract(lowering.subtract(last, literal(1 + shift)), index[-1])

    return view(
        np.fliplr,
        name="planted",
        source_index=source_index,
        infer=lambda value: value.type,
        frontend=lambda op, a: op.bind(a),
        evaluate=lambda a: a[..., ::-1],
        vjp=lambda g, y, x: (registry["planted"].bind(g),),
        samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)],
    )


def test_an_index_map_that_is_off_by_one_is_caught():
    assert check_op(planted_view(0), FLOAT64) > 5
    registry._ops.pop("planted")
    caught(check_op, planted_view(1), FLOAT64, match="elements differ")


def test_wrong_strides_are_caught(monkeypatch):
    """Strided arrays read as if they were contiguous: what a wrong layout in the dispatch key comes to."""
    describe = arguments.describe

    def confused(leaf, name):
        layout, array = describe(leaf, name)
        if isinstance(array, np.ndarray) and not array.flags.c_contiguous:
            buffer = np.lib.stride_tricks.as_strided(array, writeable=False)
            return structs.replace(layout, contiguous=True), np.ascontiguousarray(buffer.reshape(array.shape)[::-1])
        return layout, array

    monkeypatch.setattr("numbagraph.jit.backends.describe", confused)
    caught(check_op, registry["add"], FLOAT64, match="strided|Fortran order|negative strides")


def test_exchanged_strides_are_caught(monkeypatch):
    """The strides of a two-dimensional array in the wrong order, in the compiler itself."""
    original = schedule.LeafStride
    monkeypatch.setattr(schedule, "LeafStride", lambda number, axis: original(number, 1 - axis))
    op = altered("exp")
    caught(check_op, op, FLOAT64, match="Fortran order|strided|negative strides|stride 0")


@pytest.mark.parametrize("name", ["transpose", "array_split", "broadcast_arrays", "einsum", "real"])
def test_a_view_that_is_taken_for_a_new_array_is_caught(name):
    op = altered(name, view_of=new_memory)
    dtype = COMPLEX128 if name == "real" else FLOAT64
    assert check_writes(registry[name], dtype) + 1
    caught(check_writes, op, dtype, match="(assign|change) (argument|result).* differ")


@pytest.mark.parametrize("name", ["sort", "add", "cumsum"])
def test_a_new_array_that_is_taken_for_a_view_is_caught(name):
    caught(
        check_writes, altered(name, view_of=lambda a, *_, **__: a), FLOAT64, match="refused, but no memory is shared"
    )


def test_results_in_the_memory_of_arguments_are_caught(monkeypatch):
    monkeypatch.setattr("numbagraph.testing.op_calls.GraphFunction", lambda function, **_: lambda x: x)
    caught(check_op, registry["positive"], FLOAT64, match="shares memory")


def test_a_modified_argument_is_caught(monkeypatch):
    def spoiling(function, **_):
        def call(x):
            result = np.negative(x)
            if x.flags.writeable and x.size:
                x[(0,) * x.ndim] = 77
            return result

        return call

    monkeypatch.setattr("numbagraph.testing.op_calls.GraphFunction", spoiling)
    caught(check_op, registry["negative"], FLOAT64, match="an argument was modified")


def merged(collect):
    """What gives equal results one place."""

    def collect_outputs(*given):
        values, outputs = collect(*given)
        places = {value: number for number, value in enumerate(dict.fromkeys(values))}
        slots = tuple(None if slot is None else places[values[slot]] for slot in outputs.slots)
        return tuple(places), structs.replace(outputs, slots=slots, count=len(places))

    return collect_outputs


@pytest.mark.parametrize(
    ("what", "fault", "backend"),
    [
        ("jit.version.collect_outputs", merged(version.collect_outputs), "numba"),
        ("jit.version.own_copy", lambda leaf: leaf, "numba"),
        ("transforms.interpret.own", lambda result, taken: result, "numpy"),
    ],
    ids=["equal results in one array", "one array for all calls", "the argument itself"],
)
def test_results_that_share_memory_are_caught(what, fault, backend, monkeypatch):
    call = sample(registry["multiply"])
    check_own_memory(call, backend)
    monkeypatch.setattr(f"numbagraph.{what}", fault)
    caught(check_own_memory, call, backend, match="shares memory")


# ---- bounds and guards ----


def missing_bounds_check():
    """What tests/tracing/test_errors.py asks of an index that is out of bounds."""
    f = graph_jit(lambda x, i: x[i] + 1)
    with pytest.raises(IndexError, match="out of bounds"):
        f(np.arange(5.0), np.array([0, 5]))


def test_a_missing_bounds_check_is_caught(monkeypatch):
    missing_bounds_check()
    monkeypatch.setattr("numbagraph.blockwise.lowering.checked", lambda index, extent, inside: index)
    with pytest.raises(BaseException, match="DID NOT RAISE"):
        missing_bounds_check()


def missing_guard():
    """What tests/tracing/test_errors.py asks of lengths that differ."""
    f = graph_jit(lambda x, y: x + y)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(3), np.ones(4))


def test_a_missing_guard_is_caught(monkeypatch):
    missing_guard()
    monkeypatch.setattr(program_emitter, "repeated_dims", lambda leaves: iter(()))
    with pytest.raises(BaseException, match="DID NOT RAISE"):
        missing_guard()


def test_a_donated_argument_that_is_destroyed_by_a_failed_call_is_caught(monkeypatch):
    call = sample(registry["take"])
    assert check_donations(call) == 1
    monkeypatch.setattr("numbagraph.loops.buffers.fails_late", lambda program: False)
    caught(check_donations, call, match="expected, found|was modified")


# ---- derivatives and batches ----


def test_a_derivative_of_a_mask_is_caught(monkeypatch):
    """The values beside equal operands are right, and so is the first derivative there."""

    def masked(g, y, a, b):
        difference = where(equal(a, b), 0.0, a - b)
        return g * expit(difference), g * expit(-difference)

    monkeypatch.setitem(special_points.EXACT, "altered_logaddexp", special_points.EXACT["logaddexp"])
    op = altered("logaddexp", vjp=broadcasting_vjp(masked))
    check_gradients(sample(op).function, sample(op).arrays)
    caught(check_special_points, op, match=r"at \(0.0, 0.0\), derivative by \(0, 0\): 0.25 expected, found 0.0")


def test_a_kink_that_is_not_declared_is_caught(monkeypatch):
    monkeypatch.setitem(special_points.EXACT, "altered_absolute", abs)
    assert check_special_points(altered("absolute"))
    monkeypatch.setitem(special_points.EXACT, "altered_fabs", abs)
    caught(check_special_points, altered("fabs", kinks=nowhere), match="no kinks are declared")


def test_a_derivative_of_one_side_is_caught(monkeypatch):
    monkeypatch.setitem(special_points.EXACT, "altered_maximum", max)
    op = altered("maximum", vjp=lambda g, y, a, b: (where(a >= b, g, 0.0), where(a >= b, 0.0, g)))
    caught(check_special_points, op, match=r"derivative by \(0,\): 0.5 expected, found 1.0")


@pytest.mark.parametrize(
    ("vjp", "mode"),
    [
        (lambda g, y, x: (g * np.float64(1.001) * y,), "reverse mode, order 1"),
        (lambda g, y, x: (g * y * registry["stop_gradient"](y) / y,), "reverse mode, order 2"),
        (lambda g, y, x: (-g * y,), "order 1"),
    ],
    ids=["slightly wrong", "wrong in the second order", "wrong sign"],
)
def test_a_wrong_vjp_is_caught(vjp, mode):
    op = elementwise(np.exp, name="planted", emit=registry["exp"].lower.emit, vjp=vjp, ulp=8)
    call = sample(op)
    caught(check_gradients, call.function, call.arrays, match=mode)


def test_a_vjp_with_its_operands_exchanged_is_caught():
    op = elementwise(np.multiply, name="planted", emit=scalar.multiply, vjp=lambda g, y, a, b: (g * a, g * b))
    caught(check_gradients, sample(op).function, sample(op).arrays, match="order 1")


def test_a_vjp_that_forgets_to_conjugate_is_caught():
    op = altered("conjugate", vjp=lambda g, y, x: (g,))
    call = sample(op, COMPLEX128)
    caught(check_gradients, call.function, call.arrays, match="order 1")


def test_a_vjp_that_forgets_repeated_elements_is_caught():
    op = reduction(
        np.sum,
        name="planted",
        reducer=Reducer("sum", scalar.add, 0),
        vjp=lambda g, y, x, *, axes: (registry["broadcast_to"](g, x.shape) / 3,),
        ulp=4,
    )
    caught(check_gradients, sample(op).function, sample(op).arrays, match="order 1")


def test_a_wrong_batching_rule_is_caught():
    def batch(op, inputs, batched, **attrs):
        return op.bind(*inputs, **{**attrs, "axes": tuple(axis - 1 for axis in attrs["axes"])})

    op = altered("sum", batch=batch)
    call = next(call for call in samples(op, FLOAT64) if call.arguments[1:] == (-1,))
    caught(check_batching, call, match=r"shape|elements differ")


def test_a_missing_vjp_is_an_error_with_its_reason_and_the_line():
    op = altered("exp", vjp=Unsupported("planted"))
    call = sample(op)
    with pytest.raises(NotImplementedError, match=r"altered_exp has no derivative: planted\n  at .*\.py:\d+"):
        check_gradients(call.function, call.arrays)


def test_an_incomplete_declaration_does_not_register():
    with pytest.raises(TypeError, match=r"leaves batch, vjp open|leaves vjp, batch open"):
        altered("add", vjp=None, batch=None)
    with pytest.raises(ValueError, match="declared twice"):
        registry.register(registry["add"])
