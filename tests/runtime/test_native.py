"""The native entry: what it accepts, what it hands to programs, and what it returns."""

import pickle
import sys

import numpy as np
import pytest

from numbagraph.ir.abi import OUT_OF_MEMORY, ArrayLeaf, NativeSignature, Result, ScalarLeaf
from numbagraph.runtime.entry import make_callable
from tests.support.native_programs import (
    ADD_ONE,
    DTYPES,
    FLOAT,
    add_one,
    copy_text,
    donating,
    identity,
    native,
    plan,
    probe,
    program_text,
    shapes_text,
    unaligned,
    vector,
)


@pytest.mark.parametrize("n", [0, 2, 3, 1000])
def test_vector_in_vector_out(n):
    x = np.arange(float(n))
    y = add_one()(x)
    np.testing.assert_array_equal(y, x + 1)
    assert type(y) is np.ndarray
    assert y.dtype is FLOAT
    assert y.flags.carray
    assert y.flags.owndata


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize(
    "argument",
    [
        [1.0, 2.0],
        None,
        1.0,
        np.float64(1.0),
        np.ones(()),
        np.ones(1),
        np.ones((2, 2)),
        np.ones(4)[::2],
        np.ones(3, np.float32),
        np.ones(3, np.int64),
        np.ones(3, ">f8"),
        np.ones(3, object),
        np.ones(3, "U8"),
        np.ones(3, "m8[s]"),
        np.ones(3, [("a", "f8")]),
        np.ones(3).view(Subclass),
        np.ma.ones(3),
        unaligned(3),
        np.ones(3).__array_interface__,
    ],
)
def test_what_does_not_fit_is_not_implemented(argument):
    assert add_one()(argument) is NotImplemented


def test_wrong_number_of_arguments_is_not_implemented():
    function = add_one()
    assert function() is NotImplemented
    assert function(np.ones(3), np.ones(3)) is NotImplemented
    with pytest.raises(TypeError, match="keyword"):
        function(x=np.ones(3))


def test_equal_dtype_objects_are_accepted():
    unpickled = pickle.loads(pickle.dumps(np.arange(3.0)))
    assert unpickled.dtype is not FLOAT
    np.testing.assert_array_equal(add_one()(unpickled), [1, 2, 3])
    longlong = np.arange(3, dtype=np.longlong)
    pointers, _ = probe([vector(dtype=np.dtype(np.int64))])(longlong)
    assert pointers == [longlong.ctypes.data]
    assert probe([vector(dtype=np.dtype(np.int64))])(longlong.view(np.ulonglong)) is NotImplemented
    assert probe([vector(dtype=np.dtype(np.int64))])(longlong.view("m8[s]")) is NotImplemented


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    function = probe([vector(dtype=dtype)])
    for other in DTYPES:
        array = np.zeros(3, other)
        found = function(array)
        assert (found is NotImplemented) == (other != dtype)


def test_pointers_extents_and_strides():
    dense = np.zeros((2, 1, 3))
    strided = np.zeros((4, 6, 8))[::2, ::-1, 1:2]
    flat = np.float32(3)
    fortran = np.zeros((2, 5), order="F")
    captured = (np.arange(5), np.zeros((3, 8))[:, ::2], np.zeros((3, 4)).T, np.array(2.5))
    leaves = [
        ArrayLeaf(FLOAT, (False, True, False)),
        ArrayLeaf(FLOAT, (False, False, True), contiguous=False, rows=True),
        ArrayLeaf(FLOAT, (False, False), contiguous=False, fortran=True),
        ArrayLeaf(np.dtype(np.float32), ()),
    ]
    pointers, meta = probe(leaves, captured)(dense, strided, fortran, flat)
    assert pointers[:3].tolist() == [array.ctypes.data for array in (dense, strided, fortran)]
    assert pointers[4:].tolist() == [array.ctypes.data for array in captured]
    expected = (2, 1, 3, *strided.shape, *strided.strides, 2, 5, 5, 3, 4, *captured[1].strides, 4, 3)
    assert tuple(meta) == expected


def test_length_one_is_part_of_the_key():
    ones = ArrayLeaf(FLOAT, (True, False))
    function = probe([ones])
    assert function(np.zeros((1, 3))) is not NotImplemented
    assert function(np.zeros((1, 0))) is not NotImplemented
    for shape in ((1, 1), (2, 3), (0, 3), (3, 1)):
        assert function(np.zeros(shape)) is NotImplemented


def test_contiguity_is_part_of_the_key():
    fortran = probe([ArrayLeaf(FLOAT, (False, False), contiguous=False, fortran=True)])
    assert fortran(np.zeros((3, 2)).T) is not NotImplemented
    for other in (np.zeros((2, 3)), np.zeros((6, 2)).T[:, ::2], np.zeros((3, 1)).T):
        assert fortran(other) is NotImplemented
    assert probe([vector(contiguous=False)])(np.zeros(3)) is NotImplemented
    assert probe([vector(contiguous=False)])(np.zeros(6)[::2]) is not NotImplemented
    # NumPy calls these contiguous, whatever their strides are.
    assert probe([vector()])(np.zeros(6)[6::2]) is not NotImplemented
    assert probe([ArrayLeaf(FLOAT, (True, False))])(np.zeros((4, 3))[::2][:1]) is not NotImplemented


def test_many_dimensions():
    shape = tuple(2 if axis % 3 else 1 for axis in range(30))
    leaf = ArrayLeaf(FLOAT, tuple(n == 1 for n in shape), contiguous=False)
    array = np.broadcast_to(np.zeros(1), shape)
    _, meta = probe([leaf])(array)
    assert tuple(meta) == shape + array.strides


def test_several_results_are_a_tuple():
    kinds = (Result(FLOAT, 1), Result(FLOAT, 0, "python"), Result(FLOAT, 0, "scalar"), Result(FLOAT, 2))
    signature = NativeSignature((vector(),), (), kinds, single=False)
    body = "".join(copy_text(k, "0", 8) for k in range(4))
    function = native(signature, shapes_text([1, 1, 1]), program_text(body))
    results = function(np.array([4.5, 5.5]))
    assert type(results) is tuple
    assert [type(r) for r in results] == [np.ndarray, float, np.float64, np.ndarray]
    assert [np.shape(r) for r in results] == [(1,), (), (), (1, 1)]
    assert all(np.all(r == 4.5) for r in results)


def test_no_results_and_no_arguments():
    assert native(NativeSignature((), (), (), single=False), shapes_text([]), program_text(""))() == ()
    one = NativeSignature((), (), (Result(FLOAT, 0, "python"),), single=False)
    result = native(one, shapes_text([]), program_text("%y = load ptr, ptr %results\nstore double 2.5, ptr %y"))()
    assert result == (2.5,)


# ---- scalars ----


@pytest.mark.parametrize("boxed", ["array", "scalar"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rank0_values(dtype, boxed):
    leaf = ArrayLeaf(dtype, ())
    function = identity(leaf, boxed)
    for value in np.array([0, 1, 100, -3 if dtype.kind in "ifc" else 2]).astype(dtype):
        for argument in (value, np.array(value), pickle.loads(pickle.dumps(np.array(value)))):
            result = function(argument)
            assert type(result) is (np.ndarray if boxed == "array" else dtype.type)
            assert result.dtype == dtype
            assert result.tobytes() == value.tobytes()
    for argument in (True, 1, 1.0, 1j, None, np.zeros(1, dtype), np.array(value).view(Subclass), np.array(None)):
        assert function(argument) is NotImplemented
    for other in DTYPES:
        if other != dtype:
            assert function(other.type(1)) is NotImplemented
            assert function(np.array(1, other)) is NotImplemented


def test_special_values_keep_their_bits():
    function = identity(ArrayLeaf(FLOAT, ()), "scalar")
    for bits in (0x8000000000000000, 0x7FF8000000001234, 0xFFF0000000000000, 1):
        value = np.uint64(bits).view(np.float64)
        assert function(value).view(np.uint64) == bits


def test_longlong_is_int64():
    function = identity(ArrayLeaf(np.dtype(np.int64), ()), "python")
    assert function(np.longlong(-5)) == -5
    assert function(np.array(-5, np.longlong)) == -5
    assert function(np.ulonglong(5)) is NotImplemented


class Integer(int):
    pass


class Float(float):
    pass


@pytest.mark.parametrize(
    ("kind", "accepted", "refused"),
    [
        (bool, [True, False], [1, 0.0, np.True_, None]),
        (int, [0, 7, -7, 2**63 - 1, -(2**63)], [True, 2**63, -(2**63) - 1, 2**200, 1.0, Integer(3), np.int64(3)]),
        (float, [0.0, -0.0, 2.5, float("inf")], [1, True, Float(2.5), np.float64(2.5), 1j]),
        (complex, [1j, -0.0 + 2.5j, complex("inf")], [1.0, 1, np.complex128(1j)]),
    ],
)
def test_python_scalars(kind, accepted, refused):
    function = identity(ScalarLeaf(kind), "python")
    for value in accepted:
        result = function(value)
        assert type(result) is kind
        assert repr(result) == repr(value)
    for value in refused:
        assert function(value) is NotImplemented


def test_python_results_are_of_python_dtypes():
    with pytest.raises(ValueError, match="float32"):
        identity(ArrayLeaf(np.dtype(np.float32), ()), "python")


# ---- failures ----


def test_guard_that_fails():
    signature = NativeSignature((vector(),), (), (Result(FLOAT, 1),), single=True)
    function = native(signature, shapes_text(["m0"], guard=3), program_text(ADD_ONE))
    assert function(np.ones(3)) is NotImplemented


@pytest.mark.parametrize("single", [True, False])
def test_program_that_fails(single):
    results = (Result(FLOAT, 1), Result(FLOAT, 0, "scalar"), Result(FLOAT, 2))[: 1 if single else 3]
    shapes = shapes_text(["m0", 3, 3][: 1 if single else 3])
    signature = NativeSignature((vector(),), (), results, single=single)
    x = np.ones(5)
    assert native(signature, shapes, program_text("", code=5))(x) is NotImplemented
    function = native(signature, shapes, program_text("", code=OUT_OF_MEMORY))
    with pytest.raises(MemoryError):
        function(x)


def test_results_that_cannot_be_allocated():
    signature = NativeSignature((vector(),), (), (Result(FLOAT, 1), Result(FLOAT, 1)), single=False)
    function = native(signature, shapes_text(["m0", 2**52]), program_text(""))
    with pytest.raises(MemoryError):
        function(np.ones(3))
    function = native(signature, shapes_text(["m0", -1]), program_text(""))
    with pytest.raises(ValueError, match="negative"):
        function(np.ones(3))


def test_captured_arrays_must_fit_their_leaves():
    signature = NativeSignature((), (vector(),), (), single=False)
    for array in (np.ones(3, np.float32), np.ones((3, 3)), np.ones(6)[::2], np.ones(1), unaligned(3)):
        with pytest.raises(ValueError, match="does not fit"):
            plan(signature, shapes_text([]), program_text(""), captured=[array])


# ---- donation ----


def test_donated_argument_is_the_result():
    function = donating()
    x = np.arange(4.0)
    count = sys.getrefcount(x)
    y = function(x)
    assert y is x
    np.testing.assert_array_equal(x, [1, 2, 3, 4])
    assert sys.getrefcount(x) == count + 1


def test_donated_argument_that_is_read_only_is_left_alone():
    x = np.arange(4.0)
    x.flags.writeable = False
    np.testing.assert_array_equal(donating()(x), [1, 2, 3, 4])
    np.testing.assert_array_equal(x, np.arange(4.0))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x[2:4],
        lambda x: x[::-2],
        lambda x: x.reshape(2, 3).T,
        lambda x: x[5:].reshape(()),
        lambda x: np.broadcast_to(x[:1], (3, 4)),
    ],
)
def test_donated_memory_that_something_else_reads_is_left_alone(view):
    x = np.arange(6.0)
    other = view(x)
    for function, arguments in ((donating([other]), (x, other)), (donating((), [other]), (x,))):
        y = function(*arguments)
        assert not np.shares_memory(x, y)
        np.testing.assert_array_equal(y, np.arange(6.0) + 1)
        np.testing.assert_array_equal(x, np.arange(6.0))


def test_donated_memory_that_is_read_backwards_from_outside_is_left_alone():
    both = np.arange(16.0)
    other = both[15::-2]
    assert not np.shares_memory(donating([other])(both[:8], other), both)
    np.testing.assert_array_equal(both, np.arange(16.0))


@pytest.mark.parametrize("cut", [lambda a: a[8:], lambda a: a[7::-2], lambda a: a[8:].reshape(2, 4)])
def test_donated_memory_beside_other_memory_is_taken(cut):
    both = np.arange(16.0)
    x, other = (both[:8], cut(both)) if cut(both)[..., 0].min() >= 8 else (both[8:], cut(both))
    assert np.shares_memory(donating([other])(x, other), both)


# ---- several plans ----


def test_plans_are_tried_in_order():
    plans = []
    for value, leaf in (
        (1, vector()),
        (2, vector(contiguous=False)),
        (3, ScalarLeaf(float)),
        (4, ArrayLeaf(FLOAT, ())),
    ):
        result = Result(np.dtype(np.int64), 0, "python")
        body = f"%y = load ptr, ptr %results\nstore i64 {value}, ptr %y"
        plans.append(plan(NativeSignature((leaf,), (), (result,), single=True), shapes_text([]), program_text(body)))
    function = make_callable(plans, "native")
    assert [function(x) for x in (np.ones(3), np.ones(6)[::2], 2.0, np.float64(2))] == [1, 2, 3, 4]
    assert function(np.ones((3, 3))) is NotImplemented
    assert make_callable([], "native")() is NotImplemented
