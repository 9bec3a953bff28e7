"""A graph as one of the functions of C that SciPy calls: `quad` and `ndimage` say how in their documentation."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from numbagraph.emit.call import ProgramCall
from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER
from numbagraph.ir.structs import Struct

DOUBLE = ir.DoubleType()
DOUBLES = DOUBLE.as_pointer()


class Form(Struct):
    """The way in which a function of C takes numbers, and returns them."""

    types: tuple[ir.Type, ...]
    takes: str
    """One "number"; a "count" of numbers and their address; or a "line": an address and a length."""
    gives: str
    """A "number"; "stored" for a number at an address; or a "line": an address with a length."""


FORMS = {
    "double(double)": Form((DOUBLE,), "number", "number"),
    "double(double,void*)": Form((DOUBLE, POINTER), "number", "number"),
    "double(int,double*)": Form((I32, DOUBLES), "count", "number"),
    "double(int,double*,void*)": Form((I32, DOUBLES, POINTER), "count", "number"),
    "int(double*,npy_intp,double*,void*)": Form((DOUBLES, I64, DOUBLES, POINTER), "line", "stored"),
    "int(double*,npy_intp,double*,npy_intp,void*)": Form((DOUBLES, I64, DOUBLES, I64, POINTER), "line", "line"),
}
"""The forms by their C declarations, without names and spaces."""


def emit_scipy_function(
    module: ir.Module, name: str, form: Form, numbers: int, begin: Callable[[ir.IRBuilder], ProgramCall]
) -> None:
    """Emit the function. ``numbers`` is the number that a "count" must have, each an argument of the graph; 0 if they
    are one array. Where the graph fails the function returns NaN, or 0, which SciPy takes for a failure; ``begin``
    returns the call that it makes."""
    returns_number = form.gives == "number"
    function = ir.Function(module, ir.FunctionType(DOUBLE if returns_number else I32, form.types), name)
    failed = ir.Constant(DOUBLE, float("nan")) if returns_number else ir.Constant(I32, 0)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    own = builder.alloca(DOUBLE)

    def fail_if(condition: ir.Value) -> None:
        with builder.if_then(condition, likely=False):
            builder.ret(failed)

    if form.takes == "count" and numbers:
        fail_if(builder.icmp_signed("!=", function.args[0], ir.Constant(I32, numbers)))
    call = begin(builder)
    if form.takes == "number":
        call.scalar(0, function.args[0])
    elif form.takes == "line":
        call.array(0, builder.bitcast(function.args[0], POINTER), [function.args[1]], ())
    elif not numbers:
        length = builder.sext(function.args[0], I64)
        call.array(0, builder.bitcast(function.args[1], POINTER), [length], ())
    for position in range(numbers if form.takes == "count" else 0):
        call.scalar(position, builder.load(builder.gep(function.args[1], [ir.Constant(I64, position)])))
    fail_if(builder.icmp_signed("!=", call.prepare(), ir.Constant(I32, 0)))
    if form.gives == "line":
        (length,) = call.extents(0)
        fail_if(builder.icmp_signed("!=", length, function.args[3]))
    target = own if returns_number else function.args[2]
    fail_if(builder.icmp_signed("!=", call.run([builder.bitcast(target, POINTER)]), ir.Constant(I32, 0)))
    builder.ret(builder.load(own) if returns_number else ir.Constant(I32, 1))
