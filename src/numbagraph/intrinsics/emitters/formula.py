"""Ways to write an emitter: as an instruction, as a formula, or as another emitter for each kind of dtype."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, NoReturn, Self, TypeVar, overload

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import Emitter, Operand, llvm_type
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir.types import BOOL, FLOAT64, real_dtype

INT32 = np.dtype(np.int32)
R = TypeVar("R", bound="FormulaValue")


def by_kind(**emitters: Emit) -> Emit:
    """Return an emitter that calls the one for the kind of the first operand's dtype; a keyword is a set of kinds
    (``iu=``)."""
    table = {kind: emit for kinds, emit in emitters.items() for kind in kinds}

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        return table[operands[0].dtype.kind](emitter, *operands)

    return emit


def identity(emitter: Emitter, x: Operand) -> ir.Value:
    return x.value


def instruction(name: str) -> Emit:
    """Return the emitter of one method of llvmlite's builder."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        return getattr(emitter.builder, name)(*[each.value for each in operands])

    return emit


def intrinsic(name: str, flags: tuple[str, ...] = ()) -> Emit:
    """Return the emitter of one of LLVM's intrinsic functions, with flags for the cases that it may ignore."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        return emitter.intrinsic(name, *[each.value for each in operands], flags=flags)

    return emit


class FormulaValue:
    """The base class of `Number` and `Bits`."""

    __slots__ = ("dtype", "emitter", "value")

    def __init__(self, emitter: Emitter, value: ir.Value, dtype: np.dtype) -> None:
        self.emitter = emitter
        self.value = value
        self.dtype = dtype

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "a number of a formula is no operand of an op: lifted(vecmath.exp)(x) is exp(x) there, by its emitter"
        )

    @property
    def operand(self) -> Operand:
        return Operand(self.value, self.dtype)

    def constant(self, number: float) -> Self:
        """Return a number of the same dtype."""
        return type(self)(self.emitter, self.emitter.constant(number, self.dtype), self.dtype)

    def _value(self, other: FormulaValue | float) -> ir.Value:
        return other.value if isinstance(other, FormulaValue) else self.constant(other).value

    def _apply(self, method: str, *others: FormulaValue | float) -> Self:
        values = [self._value(each) for each in others]
        return type(self)(self.emitter, getattr(self.emitter.builder, method)(self.value, *values), self.dtype)


class Number(FormulaValue):
    """A floating-point register (or a truth value) with Python's operators, so that a formula reads as one."""

    __slots__ = ()

    @property
    def bits(self) -> Bits:
        """The bits of the number, as an integer."""
        dtype = np.dtype(f"i{self.dtype.itemsize}")
        return Bits(self.emitter, self.emitter.builder.bitcast(self.value, llvm_type(dtype)), dtype)

    def cast(self, dtype: np.dtype) -> Number:
        return Number(self.emitter, self.emitter.cast(self.operand, dtype), dtype)

    def compare(self, predicate: str, other: Number | float) -> Number:
        """Compare two numbers; NaN compares false, but for ``!=``."""
        builder = self.emitter.builder
        compare = builder.fcmp_unordered if predicate == "!=" else builder.fcmp_ordered
        return Number(self.emitter, compare(predicate, self.value, self._value(other)), BOOL)

    def __add__(self, other: Number | float) -> Number:
        return self._apply("fadd", other)

    def __radd__(self, other: float) -> Number:
        return self.constant(other) + self

    def __sub__(self, other: Number | float) -> Number:
        return self._apply("fsub", other)

    def __rsub__(self, other: float) -> Number:
        return self.constant(other) - self

    def __mul__(self, other: Number | float) -> Number:
        return self._apply("fmul", other)

    def __rmul__(self, other: float) -> Number:
        return self.constant(other) * self

    def __truediv__(self, other: Number | float) -> Number:
        return self._apply("fdiv", other)

    def __rtruediv__(self, other: float) -> Number:
        return self.constant(other) / self

    def __mod__(self, other: Number | float) -> Number:
        """Return C's ``fmod``, whose result has the sign of the dividend."""
        return self._apply("frem", other)

    def __neg__(self) -> Number:
        return self._apply("fneg")

    def __lt__(self, other: Number | float) -> Number:
        return self.compare("<", other)

    def __le__(self, other: Number | float) -> Number:
        return self.compare("<=", other)

    def __gt__(self, other: Number | float) -> Number:
        return self.compare(">", other)

    def __ge__(self, other: Number | float) -> Number:
        return self.compare(">=", other)

    def equals(self, other: Number | float) -> Number:
        return self.compare("==", other)

    def differs(self, other: Number | float) -> Number:
        """Return whether two numbers differ; NaN differs from everything."""
        return self.compare("!=", other)

    def is_nan(self) -> Number:
        return self.differs(self)

    def __and__(self, other: Number) -> Number:
        return self._apply("and_", other)

    def __or__(self, other: Number) -> Number:
        return self._apply("or_", other)

    def __xor__(self, other: Number) -> Number:
        return self._apply("xor", other)

    def __invert__(self) -> Number:
        return self._apply("not_")

    @overload
    def where(self, yes: Complex, no: Complex) -> Complex: ...
    @overload
    def where(self, yes: R, no: R | float) -> R: ...
    @overload
    def where(self, yes: float, no: R) -> R: ...
    def where(self, yes: Any, no: Any) -> Any:
        """Return ``yes`` where this truth value holds, else ``no``: registers (one may be a Python number), or
        complex."""
        if isinstance(yes, Complex):
            return Complex(self.where(yes.real, no.real), self.where(yes.imag, no.imag))
        model = yes if isinstance(yes, FormulaValue) else no
        yes, no = (each if isinstance(each, FormulaValue) else model.constant(each) for each in (yes, no))
        return type(model)(self.emitter, self.emitter.builder.select(self.value, yes.value, no.value), model.dtype)


class Bits(FormulaValue):
    """An integer register, as wide as the `Number` that it was made of, with Python's operators."""

    __slots__ = ()

    @property
    def number(self) -> Number:
        """The floating-point number that has these bits."""
        dtype = np.dtype(f"f{self.dtype.itemsize}")
        return Number(self.emitter, self.emitter.builder.bitcast(self.value, llvm_type(dtype)), dtype)

    def compare(self, predicate: str, other: Bits | int) -> Number:
        """Compare as signed integers."""
        return Number(self.emitter, self.emitter.builder.icmp_signed(predicate, self.value, self._value(other)), BOOL)

    def below(self, limit: int) -> Number:
        """Return whether it is less than the limit, both unsigned: one comparison for an interval from 0 on."""
        return Number(self.emitter, self.emitter.builder.icmp_unsigned("<", self.value, self._value(limit)), BOOL)

    def from_(self, limit: int) -> Number:
        """Return the opposite of `below`. A change where it holds takes one masked instruction, not a second one."""
        return Number(self.emitter, self.emitter.builder.icmp_unsigned(">=", self.value, self._value(limit)), BOOL)

    def __add__(self, other: Bits | int) -> Bits:
        return self._apply("add", other)

    def __sub__(self, other: Bits | int) -> Bits:
        return self._apply("sub", other)

    def __and__(self, other: Bits | int) -> Bits:
        return self._apply("and_", other)

    def __or__(self, other: Bits | int) -> Bits:
        return self._apply("or_", other)

    def __xor__(self, other: Bits | int) -> Bits:
        return self._apply("xor", other)

    def __lshift__(self, count: int) -> Bits:
        return self._apply("shl", count)

    def __rshift__(self, count: int) -> Bits:
        """Shift to the right, with zeros from the left."""
        return self._apply("lshr", count)

    def signed_shift(self, count: int) -> Bits:
        """Shift to the right, copying the sign. Vectors before AVX-512 do it by parts if the integers have 64 bits."""
        return self._apply("ashr", count)

    def converted(self) -> Number:
        """The integer's value as a floating-point number."""
        dtype = np.dtype(f"f{self.dtype.itemsize}")
        return Number(self.emitter, self.emitter.cast(self.operand, dtype), dtype)


class Complex(NamedTuple):
    """The two registers of a complex number."""

    real: Number
    imag: Number


def wrap(emitter: Emitter, operand: Operand) -> Any:
    """Return an operand as a `Number`, or as a `Complex` pair."""
    value, dtype = operand
    if dtype.kind != "c":
        return Number(emitter, value, dtype)
    part = real_dtype(dtype)
    return Complex(Number(emitter, emitter.real(value), part), Number(emitter, emitter.imaginary(value), part))


def unwrap(emitter: Emitter, result: FormulaValue | Complex) -> ir.Value:
    return emitter.pair(result.real.value, result.imag.value) if isinstance(result, Complex) else result.value


def formula(function: Callable[..., Any]) -> Emit:
    """Return the emitter of a formula, which is a function of numbers."""

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        return unwrap(emitter, function(*[wrap(emitter, each) for each in operands]))

    return emit


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a formula as one that is evaluated in double precision, whatever its operands are, as SciPy's functions
    are."""

    @wraps(function)
    def computed(*numbers: Number) -> Any:
        return function(*[each.cast(FLOAT64) for each in numbers]).cast(numbers[0].dtype)

    return computed


def in_double(function: Callable[..., Any]) -> Emit:
    """Return the emitter of a formula that is evaluated in double precision."""
    return formula(wide(function))


def lifted(emit: Emit) -> Callable[..., Number]:
    """Return an emitter of a real function as a function of numbers, for formulas."""

    def call(*numbers: Number) -> Number:
        first = numbers[0]
        return Number(first.emitter, emit(first.emitter, *[each.operand for each in numbers]), first.dtype)

    return call


def on_parts(emit: Emit) -> Emit:
    """Return an emitter that applies another one to the real and to the imaginary parts."""
    function = lifted(emit)

    def parts(*numbers: Complex) -> Complex:
        real, imaginary = zip(*numbers, strict=True)
        return Complex(function(*real), function(*imaginary))

    return formula(parts)


absolute = lifted(intrinsic("fabs"))
copysign = lifted(intrinsic("copysign"))
floor = lifted(intrinsic("floor"))
sqrt = lifted(intrinsic("sqrt"))
_fma = lifted(intrinsic("fma"))


def fma(x: Number, y: Number | float, z: Number | float) -> Number:
    """``x * y + z``, rounded once; ``y`` and ``z`` may be Python's numbers."""
    y, z = (each if isinstance(each, Number) else x.constant(each) for each in (y, z))
    return _fma(x, y, z)


def times_power(x: Number, n: Bits) -> Number:
    """Return ``x * 2**n``, rounded once. Where vectors have no instruction for it, it is a call for each element."""
    exponent = x.emitter.cast(n.operand, INT32)
    type_ = x.value.type
    name = f"llvm.ldexp.f{8 * x.dtype.itemsize}.i32"
    function = x.emitter.function(name, type_, [type_, exponent.type], pure=False)
    return Number(x.emitter, x.emitter.builder.call(function, [x.value, exponent]), x.dtype)
