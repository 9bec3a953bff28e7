"""Emitters of exact scalar operations: arithmetic, comparison, selection.

Every emitter takes operands of the dtypes of the loop that NumPy would choose, and computes what that loop computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from llvmlite import ir

from numbagraph.intrinsics.emitters import complexes
from numbagraph.intrinsics.emitters.emitter import CONTRACT, I1, I64, Emitter, Operand, llvm_type, opaque, width_of
from numbagraph.intrinsics.emitters.formula import (
    Complex,
    Number,
    by_kind,
    formula,
    identity,
    instruction,
    intrinsic,
    on_parts,
    wrap,
)
from numbagraph.intrinsics.emitters.formula import (
    absolute as magnitude,
)
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.target import current_target

add = by_kind(b=instruction("or_"), iu=instruction("add"), f=instruction("fadd"), c=on_parts(instruction("fadd")))
subtract = by_kind(iu=instruction("sub"), f=instruction("fsub"), c=on_parts(instruction("fsub")))
multiply = by_kind(b=instruction("and_"), iu=instruction("mul"), f=instruction("fmul"), c=formula(complexes.multiply))
divide = by_kind(f=instruction("fdiv"), c=formula(complexes.divide))
negative = by_kind(iu=instruction("neg"), f=instruction("fneg"), c=on_parts(instruction("fneg")))
conjugate = by_kind(iuf=identity, c=formula(lambda x: Complex(x.real, -x.imag)))
square_root = by_kind(f=intrinsic("sqrt"), c=complexes.square_root)


def add_reassociated(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Add to an accumulator, in an order that LLVM may choose. It may fuse with the multiplication of the term, since
    the last bits of a sum are not specified; values computed before that are exact."""
    flags = ("reassoc", *CONTRACT)
    if x.dtype.kind == "f":
        for each in (x.value, y.value):
            if isinstance(each, ir.Instruction) and each.opname == "fmul":
                each.flags = sorted({*each.flags, *CONTRACT})
        return emitter.builder.fadd(x.value, y.value, flags=flags)
    if x.dtype.kind == "c":
        return emitter.pair(
            emitter.builder.fadd(emitter.real(x.value), emitter.real(y.value), flags=flags),
            emitter.builder.fadd(emitter.imaginary(x.value), emitter.imaginary(y.value), flags=flags),
        )
    return add(emitter, x, y)


def square(emitter: Emitter, x: Operand) -> ir.Value:
    return multiply(emitter, x, x)


def _absolute_integer(emitter: Emitter, x: Operand) -> ir.Value:
    negative_ = emitter.builder.icmp_signed("<", x.value, ir.Constant(x.value.type, 0))
    return emitter.builder.select(negative_, emitter.builder.neg(x.value), x.value)


absolute = by_kind(bu=identity, i=_absolute_integer, f=intrinsic("fabs"), c=complexes.absolute)


def _sign_integer(emitter: Emitter, x: Operand) -> ir.Value:
    builder, zero = emitter.builder, ir.Constant(x.value.type, 0)
    positive = builder.zext(builder.icmp_unsigned("!=", x.value, zero), x.value.type)
    if x.dtype.kind == "u":
        return positive
    return builder.or_(positive, builder.ashr(x.value, ir.Constant(x.value.type, width_of(x.value) - 1)))


def _sign_real(x: Number) -> Number:
    return (x > 0).where(1.0, (x < 0).where(-1.0, x.equals(0).where(0.0, x)))


sign = by_kind(iu=_sign_integer, f=formula(_sign_real), c=formula(complexes.sign))


def _reciprocal_integer(emitter: Emitter, x: Operand) -> ir.Value:
    """Return an integer's reciprocal: 1 and -1 are their own, that of 0 is infinity as an integer (the least of 32 bits
    or more), and all others are 0."""
    builder, type_ = emitter.builder, x.value.type
    unit = builder.icmp_unsigned("==", x.value, ir.Constant(type_, 1))
    infinity = 0
    if x.dtype.kind == "i":
        unit = builder.or_(unit, builder.icmp_unsigned("==", x.value, ir.Constant(type_, -1)))
        infinity = -(2 ** (width_of(x.value) - 1)) if width_of(x.value) >= 32 else 0
    inverse = builder.select(unit, x.value, ir.Constant(type_, 0))
    by_zero = builder.icmp_unsigned("==", x.value, ir.Constant(type_, 0))
    return builder.select(by_zero, ir.Constant(type_, infinity), inverse)


reciprocal = by_kind(iu=_reciprocal_integer, f=formula(lambda x: 1.0 / x), c=formula(complexes.reciprocal))


def real_part(emitter: Emitter, x: Operand) -> ir.Value:
    return emitter.real(x.value) if x.dtype.kind == "c" else x.value


def imaginary_part(emitter: Emitter, x: Operand) -> ir.Value:
    return emitter.imaginary(x.value) if x.dtype.kind == "c" else ir.Constant(llvm_type(x.dtype), 0)


def compare(predicate: str) -> Emit:
    """Return the emitter of a comparison; NaN compares unequal to everything, and complex numbers compare in lexical
    order."""

    def integers(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
        if x.dtype.kind != y.dtype.kind:
            return _compare_signs(emitter, predicate, x, y)
        signed = emitter.builder.icmp_signed if x.dtype.kind == "i" else emitter.builder.icmp_unsigned
        return signed(predicate, x.value, y.value)

    def reals(x: Number, y: Number) -> Number:
        return x.compare(predicate, y)

    return by_kind(biu=integers, f=formula(reals), c=formula(complexes.compare(predicate)))


def _compare_signs(emitter: Emitter, predicate: str, x: Operand, y: Operand) -> ir.Value:
    """Compare by value a signed and an unsigned integer of one width: a negative one is less than any unsigned one."""
    builder = emitter.builder
    signed = x if x.dtype.kind == "i" else y
    is_negative = builder.icmp_signed("<", signed.value, ir.Constant(signed.value.type, 0))
    holds_if_less = predicate in ("<", "<=", "!=") if signed is x else predicate in (">", ">=", "!=")
    compared = builder.icmp_unsigned(predicate, x.value, y.value)
    return builder.select(is_negative, ir.Constant(I1, int(holds_if_less)), compared)


def _integer_extremum(predicate: str) -> Emit:
    def emit(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
        signed = emitter.builder.icmp_signed if x.dtype.kind == "i" else emitter.builder.icmp_unsigned
        return emitter.builder.select(signed(predicate, x.value, y.value), x.value, y.value)

    return emit


def extremum(predicate: str, *, accumulate: bool = True) -> Emit:
    """The emitter of maximum (">") or minimum ("<"): NaN wins.

    LLVM reorders an accumulation by its own instruction, for which the sign of zero makes no difference here: to order
    zeros takes half the time. Of two numbers that are equal, NumPy takes the second on x86.
    """

    def second(x: Number, y: Number) -> Number:
        return x.is_nan().where(x, x.compare(predicate, y).where(x, y))

    name = "maximum" if predicate == ">" else "minimum"
    return by_kind(
        b=instruction("or_" if predicate == ">" else "and_"),
        iu=_integer_extremum(predicate),
        f=_accumulated(name) if accumulate else _by_instruction_of_arm(name, second),
        c=formula(complexes.extremum(predicate)),
    )


def _accumulated(name: str) -> Emit:
    """Return the emitter of an extremum of an accumulator and an element. If no element is NaN, neither is the
    accumulator."""

    def emit(emitter: Emitter, accumulated: Operand, element: Operand) -> ir.Value:
        callee = element.value.callee if isinstance(element.value, ir.CallInstr) else None
        beside = isinstance(callee, ir.Function) and callee.name.startswith(BESIDE_NAN)
        no_nan = beside and not current_target().is_arm  # there `fmax` of any two numbers is such a call
        flags = ("nsz", "nnan") if no_nan else ("nsz",)
        return emitter.intrinsic(name, accumulated.value, element.value, flags=flags)

    return emit


BESIDE_NAN = ("llvm.maxnum", "llvm.minnum")
"""The instructions that `where` becomes with an infinity in place of NaN."""


def extremum_ignoring_nan(predicate: str) -> Emit:
    """Return the emitter of fmax (">") or fmin ("<"): the operand that is not NaN, if there is one."""

    def second(x: Number, y: Number) -> Number:
        return y.is_nan().where(x, x.compare(predicate, y).where(x, y))

    plain, complex_ = extremum(predicate), complexes.extremum_ignoring_nan(predicate)
    name = "maxnum" if predicate == ">" else "minnum"
    return by_kind(biu=plain, f=_by_instruction_of_arm(name, second), c=formula(complex_))


def _by_instruction_of_arm(name: str, elsewhere: Callable[[Number, Number], Number]) -> Emit:
    """Return the emitter of an extremum as NumPy takes it: on ARM by an instruction, by which 0 is more than -0."""
    on_arm, on_others = intrinsic(name), formula(elsewhere)

    def emit(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
        return (on_arm if current_target().is_arm else on_others)(emitter, x, y)

    return emit


def where(emitter: Emitter, condition: Operand, x: Operand, y: Operand) -> ir.Value:
    if name := _extremum_beside_nan(condition.value, x.value, y.value):
        return emitter.intrinsic(name, y.value, x.value)
    first, second = (_without_identity(emitter, each) for each in (x, y))
    return emitter.builder.select(condition.value, first, second)


def _extremum_beside_nan(condition: ir.Value, filler: ir.Value, value: ir.Value) -> str:
    """Return which extremum ``where(isnan(value), filler, value)`` is for an infinite filler: one instruction, behind
    which LLVM knows that there is no NaN. Return nothing in other cases, and on ARM, whose instruction makes a NaN of
    one that signals."""
    is_nan = isinstance(condition, ir.FCMPInstr) and condition.op == "une" and condition.operands == [value, value]
    if current_target().is_arm or not is_nan or not isinstance(filler, ir.Constant) or not math.isinf(filler.constant):
        return ""
    return "maxnum" if filler.constant < 0 else "minnum"


def _without_identity(emitter: Emitter, x: Operand) -> ir.Value:
    """Return an operand that LLVM does not know for the identity of an extremum: ``max(m, where(c, x, -inf))`` would
    become ``where(c, max(m, x), m)``, which it does not vectorise."""
    is_infinite = x.dtype.kind == "f" and isinstance(x.value, ir.Constant) and math.isinf(x.value.constant)
    return opaque(emitter.builder, x.value) if is_infinite and emitter.in_vectors else x.value


def is_false(emitter: Emitter, _: Operand, condition: Operand) -> ir.Value:
    """Return 1 where a condition does not hold, as an index."""
    return emitter.builder.zext(emitter.builder.not_(condition.value), I64)


def logical(operation: str) -> Emit:
    """Return the emitter of a logical operation on truth values, by the name of the builder's method."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        return getattr(emitter.builder, operation)(*[emitter.is_true(each) for each in operands])

    return emit


def _test(function: Callable[[Number], Number], *, integers: int, combine: str) -> Emit:
    """Return the emitter of a test of floating-point numbers, which has one outcome for all integers."""

    def complex_(emitter: Emitter, x: Operand) -> ir.Value:
        number = wrap(emitter, x)
        return getattr(emitter.builder, combine)(function(number.real).value, function(number.imag).value)

    return by_kind(biu=lambda emitter, x: ir.Constant(I1, integers), f=formula(function), c=complex_)


is_nan = _test(Number.is_nan, integers=0, combine="or_")
is_infinite = _test(lambda x: magnitude(x).equals(math.inf), integers=0, combine="or_")
is_finite = _test(lambda x: magnitude(x) < math.inf, integers=1, combine="and_")


@formula
def replace_special(x: Number, nan: Number, positive_infinity: Number, negative_infinity: Number) -> Number:
    finite = x.equals(-math.inf).where(negative_infinity, x.is_nan().where(nan, x))
    return x.equals(math.inf).where(positive_infinity, finite)
