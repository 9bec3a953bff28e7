"""The LLVM of single numbers: types, memory format, and the building blocks of every scalar emitter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from llvmlite import ir

from numbagraph.ir.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, real_dtype

I1, I8, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
F32, F64 = ir.FloatType(), ir.DoubleType()
POINTER = I8.as_pointer()

_LLVM_TYPES: dict[np.dtype, ir.Type] = {
    BOOL: I1,
    FLOAT32: F32,
    FLOAT64: F64,
    COMPLEX64: ir.LiteralStructType([F32, F32]),
    COMPLEX128: ir.LiteralStructType([F64, F64]),
}
CONTRACT = ("contract",)
PURE = ("memory(none)", "nounwind", "willreturn")

Label = tuple[str, ir.MDValue]
"""The name of metadata, and its node."""


class Operand(NamedTuple):
    """A register and the dtype it holds (LLVM integers have no sign)."""

    value: ir.Value
    dtype: np.dtype


class Inlining:
    """A budget of mathematical functions that the loops of a nest may still take as inline code, rather than as
    calls."""

    def __init__(self, most: int) -> None:
        self.most = self.left = most

    def take(self, room: int) -> bool:
        """Take the code of a function out of the budget, if there is room for it, and return whether there was.
        ``room`` is its size in usual functions."""
        fits = room <= self.left
        self.left -= room if fits else 0
        return fits


def llvm_type(dtype: np.dtype) -> ir.Type:
    """The register type of ``dtype``: a bool is one bit, a complex number a pair."""
    found = _LLVM_TYPES.get(dtype)
    return found if found is not None else ir.IntType(8 * dtype.itemsize)


def memory_type(dtype: np.dtype) -> ir.Type:
    return I8 if dtype == BOOL else llvm_type(dtype)


def llvm_constant(value: complex | np.generic | np.ndarray, dtype: np.dtype) -> ir.Constant:
    """``value`` as a constant of ``dtype``."""
    type_ = llvm_type(dtype)
    number = np.asarray(value).astype(dtype)
    if dtype.kind == "c":
        part, pair = llvm_type(real_dtype(dtype)), complex(number)
        return ir.Constant(type_, [ir.Constant(part, pair.real), ir.Constant(part, pair.imag)])
    return ir.Constant(type_, float(number) if dtype.kind == "f" else int(number))


def type_name(type_: ir.Type) -> str:
    """Return LLVM's name of a type in the names of its intrinsics."""
    if isinstance(type_, ir.VectorType):
        return f"v{type_.count}{type_name(type_.element)}"
    return f"i{type_.width}" if isinstance(type_, ir.IntType) else ("f64" if type_ == F64 else "f32")


def width_of(value: ir.Value) -> int:
    """Return the number of bits of an integer register."""
    assert isinstance(value.type, ir.IntType)
    return value.type.width


class Emitter:
    """An emitter of scalar operations at the builder's position."""

    def __init__(self, builder: ir.IRBuilder, inlining: Inlining | None = None, *, chained: bool = False) -> None:
        """Prepare an emitter. ``inlining`` is for code in a loop; other code runs once, and is better small than fast.
        ``chained`` marks numbers that follow from those that a loop carries: for these, latency counts."""
        self.builder = builder
        self.inlining = inlining
        self.chained = chained

    @property
    def in_vectors(self) -> bool:
        """Whether this is the body of a loop that LLVM may vectorise."""
        return self.inlining is not None and self.inlining.most > 0

    @property
    def module(self) -> ir.Module:
        return self.builder.module

    def constant(self, value: complex | np.generic | np.ndarray, dtype: np.dtype) -> ir.Constant:
        return llvm_constant(value, dtype)

    def function(self, name: str, result: ir.Type, arguments: list[ir.Type], *, pure: bool = True) -> ir.Function:
        """The declaration of an external function; a pure one may be hoisted out of a loop or dropped."""
        found = self.module.globals.get(name)
        if not isinstance(found, ir.Function):
            found = ir.Function(self.module, ir.FunctionType(result, arguments), name)
            if pure:
                for attribute in PURE:
                    set.add(found.attributes, attribute)  # LLVM knows more attributes than llvmlite lists
        return found

    def intrinsic(self, name: str, *arguments: ir.Value, flags: tuple[str, ...] = ()) -> ir.Value:
        """Call ``llvm.<name>.<type>``, overloaded on the type of its first argument."""
        type_ = arguments[0].type
        types = [argument.type for argument in arguments]
        function = self.function(f"llvm.{name}.{type_name(type_)}", type_, types, pure=False)
        return self.builder.call(function, arguments, fastmath=flags)

    def call(self, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
        """Call an external pure function, such as one of libm."""
        function = self.function(name, result, [argument.type for argument in arguments])
        return self.builder.call(function, arguments)

    def define(self, name: str, build: Callable[..., ir.Value], *operands: Operand) -> ir.Value:
        """Emit a call of a pure function of this module, for a loop or a branch: a nest's own body has none.

        ``build(emitter, *operands)`` gives its value, of the type of the first operand. It is built once for a dtype.
        """
        values = [operand.value for operand in operands]
        name = f"{name}.{operands[0].dtype.name}"
        function = self.module.globals.get(name)
        if function is None:
            function = self.function(name, values[0].type, [value.type for value in values])
            function.linkage = "internal"
            inside = Emitter(ir.IRBuilder(function.append_basic_block("entry")))
            arguments = map(Operand, function.args, (operand.dtype for operand in operands))
            inside.builder.ret(build(inside, *arguments))
        return self.builder.call(function, values)

    def repeat(
        self,
        state: Sequence[ir.Value],
        goes_on: Callable[..., ir.Value],
        step: Callable[..., Sequence[ir.Value]],
        **hints: int,
    ) -> list[ir.PhiInstr]:
        """Emit ``while goes_on(*state): state = step(*state)``, in a function made by `define`, with `loop_hints`."""
        builder = self.builder
        before, function = builder.block, builder.function
        head, body, after = (function.append_basic_block(name) for name in ("head", "body", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        current = [builder.phi(value.type) for value in state]
        builder.cbranch(goes_on(*current), body, after)
        builder.position_at_end(body)
        for phi, initial, following in zip(current, state, step(*current), strict=True):
            phi.add_incoming(initial, before)
            phi.add_incoming(following, builder.block)
        latch = builder.branch(head)
        if hints:
            latch.set_metadata("llvm.loop", loop_hints(builder.module, **hints))
        builder.position_at_end(after)
        return current

    def choose(self, condition: ir.Value, first: Callable[[], ir.Value], second: Callable[[], ir.Value]) -> ir.Value:
        """Return the value of one of two emitters, each in a branch of its own: of the first, if the condition
        holds."""
        builder, found = self.builder, []
        with builder.if_else(condition) as branches:
            for branch, emit in zip(branches, (first, second), strict=True):
                with branch:
                    found.append((emit(), builder.block))
        chosen = builder.phi(found[0][0].type)
        for value, block in found:
            chosen.add_incoming(value, block)
        return chosen

    def load(self, pointer: ir.Value, dtype: np.dtype, label: Label | None = None) -> ir.Value:
        """Load the element at ``pointer`` (typed for `memory_type`), with metadata on its memory."""
        value = self.builder.load(pointer)
        if label is not None:
            value.set_metadata(*label)
        return self.builder.icmp_unsigned("!=", value, ir.Constant(I8, 0)) if dtype == BOOL else value

    def store(self, value: ir.Value, pointer: ir.Value, dtype: np.dtype) -> None:
        self.builder.store(self.builder.zext(value, I8) if dtype == BOOL else value, pointer)

    def real(self, operand: ir.Value) -> ir.Value:
        return self.builder.extract_value(operand, 0)

    def imaginary(self, operand: ir.Value) -> ir.Value:
        return self.builder.extract_value(operand, 1)

    def pair(self, real: ir.Value, imaginary: ir.Value) -> ir.Value:
        """Return a complex number with two real parts."""
        empty = ir.Constant(ir.LiteralStructType([real.type, imaginary.type]), ir.Undefined)
        return self.builder.insert_value(self.builder.insert_value(empty, real, 0), imaginary, 1)

    def cast(self, operand: Operand, target: np.dtype) -> ir.Value:
        """Convert as NumPy's ``astype`` does."""
        value, source = operand
        if source == target:
            return value
        if target.kind == "c":
            return self._cast_to_complex(operand, target)
        if target == BOOL:
            return self.is_true(operand)
        if source.kind == "c":
            part = self.real(value)
            return self.cast(Operand(part, FLOAT32 if source == COMPLEX64 else FLOAT64), target)
        return self._cast_real(value, source, target)

    def _cast_to_complex(self, operand: Operand, target: np.dtype) -> ir.Value:
        part = FLOAT32 if target == COMPLEX64 else FLOAT64
        if operand.dtype.kind == "c":
            source = FLOAT32 if operand.dtype == COMPLEX64 else FLOAT64
            real, imaginary = self.real(operand.value), self.imaginary(operand.value)
            return self.pair(self.cast(Operand(real, source), part), self.cast(Operand(imaginary, source), part))
        return self.pair(self.cast(operand, part), llvm_constant(0.0, part))

    def _cast_real(self, value: ir.Value, source: np.dtype, target: np.dtype) -> ir.Value:
        builder, type_ = self.builder, llvm_type(target)
        if source.kind == "f" and target.kind == "f":
            return builder.fptrunc(value, type_) if target.itemsize < source.itemsize else builder.fpext(value, type_)
        if target.kind == "f":
            return builder.sitofp(value, type_) if source.kind == "i" else builder.uitofp(value, type_)
        if source.kind == "f":
            return self._float_to_integer(value, source, target)
        if target.itemsize * 8 > width_of(value):
            return builder.sext(value, type_) if source.kind == "i" else builder.zext(value, type_)
        return builder.trunc(value, type_) if target.itemsize * 8 < width_of(value) else value

    def _float_to_integer(self, value: ir.Value, source: np.dtype, target: np.dtype) -> ir.Value:
        """Convert a float to an integer. Out of range is undefined in C and in LLVM: the result is that of x86 here,
        and so that of NumPy on x86."""
        wide = I64 if target.itemsize == 8 else I32
        half = 2.0 ** (wide.width - 1)
        if target.kind == "u" and target.itemsize >= 4:
            upper = self.builder.fcmp_ordered(">=", value, llvm_constant(half, source))
            value = self.builder.select(upper, self.builder.fsub(value, llvm_constant(half, source)), value)
            sign = self.builder.shl(self.builder.zext(upper, wide), ir.Constant(wide, wide.width - 1))
            return self.builder.xor(self._float_to_signed(value, wide, source), sign)
        result = self._float_to_signed(value, wide, source)
        return result if target.itemsize * 8 == wide.width else self.builder.trunc(result, llvm_type(target))

    def _float_to_signed(self, value: ir.Value, type_: ir.IntType, source: np.dtype) -> ir.Value:
        """Truncate a float to a signed integer; one that does not fit, and NaN, becomes the least integer.

        The test is the one that `int` makes in captured functions, so LLVM sees the same condition twice.
        """
        least, limit = -(2.0 ** (type_.width - 1)), 2.0 ** (type_.width - 1)
        if type_.width < np.finfo(source).nmant:
            lower = self.builder.fcmp_ordered(">", value, llvm_constant(least - 1, source))
        else:
            lower = self.builder.fcmp_ordered(">=", value, llvm_constant(least, source))
        fits = self.builder.and_(lower, self.builder.fcmp_ordered("<", value, llvm_constant(limit, source)))
        return self.builder.fptosi(self.builder.select(fits, value, llvm_constant(least, source)), type_)

    def is_true(self, operand: Operand) -> ir.Value:
        value, dtype = operand
        if dtype == BOOL:
            return value
        if dtype.kind == "c":
            real, imaginary = self.real(value), self.imaginary(value)
            zero = ir.Constant(real.type, 0.0)
            return self.builder.or_(
                self.builder.fcmp_unordered("!=", real, zero), self.builder.fcmp_unordered("!=", imaginary, zero)
            )
        if dtype.kind == "f":
            return self.builder.fcmp_unordered("!=", value, ir.Constant(value.type, 0.0))
        return self.builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))


def loop_hints(module: ir.Module, **hints: int) -> ir.MDValue:
    """Return metadata of a loop for LLVM's loop vectoriser, such as ``interleave_count=2``."""
    options = {f"llvm.loop.{name.replace('_', '.')}": number for name, number in hints.items()}
    nodes = [module.add_metadata([name, ir.Constant(ir.IntType(32), number)]) for name, number in options.items()]
    loop = module.add_metadata([f"loop {len(module.metadata)}"])
    loop.operands = (loop, *nodes)  # what a loop is known by refers to itself
    return loop


def opaque(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Return a number unchanged, but hide from LLVM how it was computed."""
    type_ = {"float": I32, "double": I64}.get(str(value.type), value.type)
    integer = builder.bitcast(value, type_)
    hidden = builder.asm(ir.FunctionType(type_, [type_]), "", "=r,0", [integer], side_effect=False)
    for attribute in ("nounwind", "readnone"):  # so that it leaves loops
        hidden.attributes.add(attribute)
    return builder.bitcast(hidden, value.type)
