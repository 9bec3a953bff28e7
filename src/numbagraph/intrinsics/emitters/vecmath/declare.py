"""The building blocks of the mathematical functions, and their declaration.

A formula has no branch, no table and no call, so LLVM widens the loop that it stands in. It computes both sides of a
case and selects one. Nothing in it may be reordered, and it may stand where multiplications and additions fuse; where a
rounding error is computed, `two_product` keeps them apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import Emitter, Operand
from numbagraph.intrinsics.emitters.formula import Bits, Number, fma, formula, lifted, times_power
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.target import current_target, llvm
from numbagraph.intrinsics.emitters.vecmath.calls import library_call
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.types import FLOAT64

Interval = tuple[float, float]
T = TypeVar("T")

POWERS_WIDEN = 22
"""The first version of LLVM whose vectoriser knows `times_power`."""

functions: dict[str, MathFunction] = {}
"""All mathematical functions by their names, which are those of ops."""


class MathFunction(Struct, eq=False):
    """A function of real numbers: an emitter, with the data by which its accuracy is measured."""

    name: str
    """The name of an op; for an op with several results, followed by the number of one: ``shichi.1``."""
    formula: Callable[..., Number]
    fallback: Emit | None
    """The emitter for places where the formula is of no use. None, if it is a formula of other mathematical
    functions."""
    exact: Callable[..., Any]
    """``exact(mpmath, *arguments)``, in mpmath's numbers."""
    domain: tuple[Interval, ...]
    """The intervals in which tests look for errors closely, one for each argument."""
    near: tuple[float, ...]
    """Roots and boundaries, around which tests look even more closely."""
    everywhere: bool
    """Whether tests look outside of the domain, too."""
    ulp: float
    """The bound of the error, in units in the last place."""
    room: int
    """The time that compiling it takes, in usual functions, without the functions of its formula."""
    serial: bool
    """Whether a single number is computed sooner by the fallback, for which the next one waits in a chain."""
    beside: Callable[..., Any]
    """``beside(*arguments)``: the size that an error is relative to where the result is smaller."""

    @cached_property
    def arity(self) -> int:
        return len(inspect.signature(self.formula).parameters)

    @property
    def op(self) -> str:
        return self.name.partition(".")[0]

    def among(self, results: Any) -> Any:
        """Return the result of this function out of the results of its op."""
        return results[int(self.name.partition(".")[2])] if "." in self.name else results

    @cached_property
    def inlined(self) -> Emit:
        return formula(self.formula)

    def __call__(self, emitter: Emitter, *operands: Operand) -> ir.Value:
        return implementation(self, emitter)(emitter, *operands)

    def of(self, *numbers: Number) -> Number:
        """Return the function of numbers, in a formula."""
        return lifted(self)(*numbers)


def implementation(function: MathFunction, emitter: Emitter) -> Emit:
    """Return the emitter that stands for ``function`` in the code of ``emitter``.

    It is the formula where a loop has room for it, or where it is no more than calls of other functions; elsewhere it
    is a call of the library of formulas, or of libm. Without the instruction, every FMA would be a slow call of libm.
    """
    if function.fallback is None:
        return function.inlined
    if not current_target().has_fma or (emitter.chained and function.serial):
        return function.fallback
    if emitter.inlining is not None and emitter.inlining.take(function.room):
        return function.inlined
    return library_call(function.name)


def math_function(
    fallback: Emit | None,
    exact: Callable[..., Any],
    *,
    domain: Sequence[Interval],
    near: Sequence[float] = (),
    everywhere: bool = True,
    ulp: float = 2.5,
    room: int = 1,
    serial: bool = False,
    beside: Callable[..., Any] = lambda *arguments: np.zeros_like(arguments[0]),
    name: str = "",
) -> Callable[[Callable[..., Number]], MathFunction]:
    """Declare the mathematical function whose formula is decorated; the arguments are fields of `MathFunction`."""

    def declare(function: Callable[..., Number]) -> MathFunction:
        named = name or function.__name__
        if named in functions:
            raise ValueError(f"the mathematical function {named!r} is declared twice")
        functions[named] = MathFunction(
            named, function, fallback, exact, tuple(domain), tuple(near), everywhere, ulp, room, serial, beside
        )
        return functions[named]

    return declare


def by_result(*results: MathFunction) -> Emit:
    """Return the emitter of an op that has several results."""

    def emit(emitter: Emitter, *operands: Operand, result: int = 0) -> ir.Value:
        return results[result](emitter, *operands)

    return emit


def has_formulas(op: str) -> bool:
    """Whether the results of an op of SciPy or NumPy, given by its name, are mathematical functions."""
    plain = op.removeprefix("special.")
    return plain in functions or f"{plain}.0" in functions


class Format(NamedTuple):
    """The format of a dtype's numbers."""

    digits: int
    """The number of bits after the leading one."""
    bias: int
    """The stored exponent of 1."""
    tiny: float
    """The least normal number."""
    largest: float
    magic: float
    """A number that, when it is added, rounds another one to an integer, which then stands in the lowest bits."""

    @property
    def width(self) -> int:
        return 32 if self.bias == 127 else 64

    @property
    def one_exponent(self) -> int:
        """The integer that, added to the bits of a number, doubles it; also the bits of the least normal number."""
        return 1 << self.digits

    @property
    def magic_bits(self) -> int:
        return ((self.bias + self.digits) << self.digits) | (1 << (self.digits - 1))

    @property
    def infinity(self) -> int:
        """The bits of infinity."""
        return (2 * self.bias + 1) << self.digits

    @property
    def sign(self) -> int:
        """The bits of -0.0."""
        return (2 * self.bias + 2) << self.digits


@cache
def _format(itemsize: int) -> Format:
    limits = np.finfo(f"f{itemsize}")
    digits = limits.nmant
    return Format(digits, limits.maxexp - 1, float(limits.tiny), float(limits.max), 1.5 * 2.0**digits)


def format_of(x: Number | Bits) -> Format:
    return _format(x.dtype.itemsize)


def by_format(x: Number, double: T, single: T) -> T:
    """Return a constant that differs between double and single precision."""
    return double if x.dtype == FLOAT64 else single


def coefficients_of(table: dict[str, tuple[float, ...]], x: Number) -> tuple[float, ...]:
    """Return the numbers of a generated table for the dtype of ``x``."""
    return table[x.dtype.name]


def constant_of(table: dict[str, tuple[float, ...]], x: Number) -> float:
    """Return the number nearest to a generated constant in the dtype of ``x``."""
    return table[x.dtype.name][0]


def polynomial(x: Number, coefficients: Sequence[float]) -> Number:
    """Return the sum of ``coefficients[k] * x**k``: Horner's rule in two chains, which run side by side."""
    if len(coefficients) < 4:
        return horner(x, coefficients)
    square = x * x
    return fma(horner(square, coefficients[1::2]), x, horner(square, coefficients[::2]))


def horner(x: Number, coefficients: Sequence[float]) -> Number:
    """Return the sum of ``coefficients[k] * x**k`` in one chain."""
    total = x.constant(coefficients[-1])
    for each in reversed(coefficients[:-1]):
        total = fma(total, x, each)
    return total


def at_most(x: Number, limit: float) -> Number:
    """Return ``min(x, limit)``, and NaN for NaN: one instruction."""
    return (x > limit).where(x.constant(limit), x)


def at_least(x: Number, limit: float) -> Number:
    """Return ``max(x, limit)``, and NaN for NaN: one instruction."""
    return (x < limit).where(x.constant(limit), x)


def round_product(x: Number, factor: float) -> tuple[Number, Bits]:
    """Return the integer n nearest to ``x * factor``, which is of moderate size; and bits that end in those of n plus
    twice the bias, for the following steps."""
    offset = format_of(x).magic + 2 * format_of(x).bias
    shifted = fma(x, factor, offset)
    return shifted - offset, shifted.bits


def round_to_power(x: Number, factor: float) -> tuple[Number, Number]:
    """Return the integer n nearest to ``x * factor``, and ``2**n``, if that is a normal number."""
    layout = format_of(x)
    offset = layout.magic + layout.bias
    shifted = fma(x, factor, offset)
    return shifted - offset, (shifted.bits << layout.digits).number


def power_of_two(count: Bits, offset: int = 0) -> Number:
    """Return ``2**(n + offset)``, if that is a normal number, for an integer as `round_product` gives it."""
    layout = format_of(count)
    return ((count + (offset - layout.bias)) << layout.digits).number


def scale(x: Number, count: Bits) -> Number:
    """Return ``x * 2**n`` for an x near 1, right down to the denormals; ``count`` is as `round_product` gives it."""
    layout = format_of(x)
    if llvm().llvm_version_info[0] >= POWERS_WIDEN and current_target().has("avx512f"):
        return times_power(x, count - (layout.magic_bits + 2 * layout.bias))
    half = count >> 1
    # By two factors. Half of twice the bias is the bias. Other bits above the lowest are pushed out.
    return x * (half << layout.digits).number * ((count - half) << layout.digits).number


def opposite(count: Bits, least: int) -> Bits:
    """Return ``max(-n, least)`` for an integer n as `round_product` gives it, in the same form."""
    layout = format_of(count)
    bounded = at_most(count.number, layout.magic + 2 * layout.bias - least).bits
    return bounded.constant(2 * (layout.magic_bits + 2 * layout.bias)) - bounded


def fast_two_sum(x: Number, y: Number) -> tuple[Number, Number]:
    """Return the sum and its rounding error, for an x that is not smaller than y in size."""
    total = x + y
    return total, y - (total - x)


def two_product(x: Number, y: Number) -> tuple[Number, Number]:
    """Return the product and its rounding error. Rounded by an FMA, the product itself cannot fuse with an addition."""
    product = fma(x, y, -0.0)
    return product, fma(x, y, -product)
