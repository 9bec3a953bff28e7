"""Derivatives of the incomplete gamma and beta functions by their parameters.

A series, or a continued fraction, is differentiated term by term while it is evaluated: for the gamma function as in
Moore (1982, Applied Statistics 31, 330), for the beta function as in Boik and Robison-Cox (1998, J. Stat. Softw. 3, 1).
Where the one converges slowly the other is fast, and neither subtracts large numbers from each other.

The formulas take registers, or arrays of NumPy: compiled code is compared with these.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from llvmlite import ir

from numbagraph.intrinsics.emitters import vecmath
from numbagraph.intrinsics.emitters.emitter import Emitter, Operand
from numbagraph.intrinsics.emitters.formula import Number, lifted
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir.types import FLOAT64

TOLERANCE = 4 * sys.float_info.epsilon
"""The relative change by a term below which a sum is complete: rounding changes it by less from term to term."""
MOST_TERMS = 3_000.0
"""The greatest number of terms, which is enough for parameters of 100,000. If it is not, the result is NaN."""


if TYPE_CHECKING:

    class Numbers(Protocol):
        """The numbers of formulas: registers, or arrays of NumPy. Truth values are of the same kind."""

        def __neg__(self) -> Numbers: ...
        def __add__(self, other: Any, /) -> Numbers: ...
        def __radd__(self, other: Any, /) -> Numbers: ...
        def __sub__(self, other: Any, /) -> Numbers: ...
        def __rsub__(self, other: Any, /) -> Numbers: ...
        def __mul__(self, other: Any, /) -> Numbers: ...
        def __rmul__(self, other: Any, /) -> Numbers: ...
        def __truediv__(self, other: Any, /) -> Numbers: ...
        def __rtruediv__(self, other: Any, /) -> Numbers: ...
        def __lt__(self, other: Any, /) -> Numbers: ...
        def __le__(self, other: Any, /) -> Numbers: ...
        def __gt__(self, other: Any, /) -> Numbers: ...
        def __ge__(self, other: Any, /) -> Numbers: ...
        def __and__(self, other: Any, /) -> Numbers: ...
        def __or__(self, other: Any, /) -> Numbers: ...


class Functions(NamedTuple):
    """The functions that formulas need for the numbers that they are evaluated on."""

    exp: Callable[..., Numbers]
    log: Callable[..., Numbers]
    log1p: Callable[..., Numbers]
    gammaln: Callable[..., Numbers]
    digamma: Callable[..., Numbers]
    where: Callable[..., Any]
    repeat: Callable[..., Any]
    """``repeat(held, state, goes_on, step)``: ``while goes_on(*held, *state): state = step(*held, *state)``."""


class Fraction(NamedTuple):
    """A continued fraction by Lentz's method: its value, the slope of its logarithm, and the state for the next
    term."""

    value: Numbers
    slope: Numbers
    c: Numbers
    c_slope: Numbers
    d: Numbers
    d_slope: Numbers
    change: Numbers
    slope_change: Numbers

    @classmethod
    def begin(cls, first: Numbers, first_slope: Numbers, c: Numbers, slope: Numbers) -> Fraction:
        """Return the fraction one over ``first``; ``slope`` is the derivative of the logarithm of a factor of the
        fraction."""
        d = 1.0 / first
        zero = first * 0.0
        slope = slope - first_slope * d
        return cls(d, slope, c, zero, d, -(first_slope * d * d), zero + 1.0, zero + 1.0)

    def then(
        self,
        numerator: Numbers,
        numerator_slope: Numbers,
        denominator: Numbers | float,
        denominator_slope: Numbers | float,
    ) -> Fraction:
        """Return the fraction with one term more."""
        c = denominator + numerator / self.c
        c_slope = denominator_slope + (numerator_slope - numerator * self.c_slope / self.c) / self.c
        below_slope = numerator_slope * self.d + numerator * self.d_slope + denominator_slope
        d = 1.0 / (denominator + numerator * self.d)
        factor, slope = c * d, c_slope / c - below_slope * d
        return Fraction(
            self.value * factor, self.slope + slope, c, c_slope, d, -(below_slope * d * d), factor - 1.0, slope
        )

    def known(self, f: Functions, terms: Numbers) -> Fraction:
        """Return the value, or NaN if that many terms are too many."""
        return self._replace(value=f.where(terms < MOST_TERMS, self.value, math.nan))

    @property
    def is_open(self) -> Numbers:
        """Return whether the last term changed anything. NaN does not."""
        rounded = self.c_slope / self.c
        size = self.slope * self.slope + rounded * rounded
        return (self.change * self.change > TOLERANCE**2) | (
            self.slope_change * self.slope_change > TOLERANCE**2 * size
        )


def gammainc_by_a(f: Functions, a: Numbers, x: Numbers) -> Numbers:
    """The derivative of the regularised lower incomplete gamma function by its parameter."""
    inside = (x > 0.0) & (x < math.inf) & (a >= 0.0) & (a < math.inf)
    at_end = f.where((x >= 0.0) & (a > 0.0) & (a < math.inf), 0.0, a * 0.0 + math.nan)
    a, x = f.where(inside, a, 1.0), f.where(inside, x, 1.0)
    log_x, digamma = f.log(x), f.digamma(a + 1.0)
    scale = f.exp(a * log_x - x - f.gammaln(a + 1.0))
    series = _gamma_series(f, a, x, log_x - digamma, x <= a + 1.0)
    fraction = _gamma_fraction(f, a, x, log_x - digamma, x > a + 1.0)
    result = scale * f.where(x <= a + 1.0, series, -(fraction.value * (a * fraction.slope + 1.0)))
    return f.where(inside, result, at_end)


def _gamma_series(f: Functions, a: Numbers, x: Numbers, slope: Numbers, needed: Numbers) -> Numbers:
    """Return the sum over n of the derivatives of ``x**(a + n) exp(-x) / gamma(a + n + 1)``, over the first of these
    terms."""

    def goes_on(a: Numbers, x: Numbers, n: Numbers, term: Numbers, slope: Numbers, total: Numbers) -> Numbers:
        size = term * term * (1.0 + slope * slope)
        return (n < MOST_TERMS) & (size > TOLERANCE**2 * (total * total))

    def step(a: Numbers, x: Numbers, n: Numbers, term: Numbers, slope: Numbers, total: Numbers) -> Sequence[Numbers]:
        above = a + (n + 1.0)
        term, slope = term * (x / above), slope - 1.0 / above
        return n + 1.0, term, slope, total + term * slope

    zero = x * 0.0
    n, _, _, total = f.repeat([a, x], [zero, f.where(needed, zero + 1.0, 0.0), slope, slope], goes_on, step)
    return f.where(n < MOST_TERMS, total, math.nan)


def _gamma_fraction(f: Functions, a: Numbers, x: Numbers, slope: Numbers, needed: Numbers) -> Fraction:
    """Return the continued fraction of the complement, over ``a x**a exp(-x) / gamma(a + 1)``."""

    def goes_on(a: Numbers, n: Numbers, denominator: Numbers, *state: Numbers) -> Numbers:
        return (n < MOST_TERMS) & Fraction(*state).is_open

    def step(a: Numbers, n: Numbers, denominator: Numbers, *state: Numbers) -> Sequence[Numbers]:
        n, denominator = n + 1.0, denominator + 2.0
        return n, denominator, *Fraction(*state).then(n * (a - n), n, denominator, -1.0)

    zero = x * 0.0
    a, x = f.where(needed, a, 0.0), f.where(needed, x, 1e9)  # for which there are few terms
    first = x + 1.0 - a
    begin = Fraction.begin(first, zero - 1.0, zero + 1e300, slope)
    n, _, *state = f.repeat([a], [zero, first, *begin], goes_on, step)
    return Fraction(*state).known(f, n)


def betainc_by(f: Functions, a: Numbers, b: Numbers, x: Numbers, *, first: bool) -> Numbers:
    """The derivative of the regularised incomplete beta function by one of its two parameters."""
    inside = (x > 0.0) & (x < 1.0) & (a > 0.0) & (b > 0.0)
    at_end = f.where((x >= 0.0) & (x <= 1.0) & (a > 0.0) & (b > 0.0), 0.0, x * 0.0 + math.nan)
    a, b, x = f.where(inside, a, 1.0), f.where(inside, b, 1.0), f.where(inside, x, 0.5)
    low = x * (a + b + 2.0) <= a + 1.0
    y, log_x, log_y = 1.0 - x, f.log(x), f.log1p(-x)
    by_a = f.where(low, 1.0 if first else 0.0, x * 0.0 + (0.0 if first else 1.0))
    p, q = f.where(low, a, b), f.where(low, b, a)
    near, log_near, log_far = f.where(low, x, y), f.where(low, log_x, log_y), f.where(low, log_y, log_x)
    whole = f.digamma(a + b)
    slope = by_a * (log_near + whole - f.digamma(p + 1.0)) + (1.0 - by_a) * (log_far + whole - f.digamma(q))
    scale = f.exp(p * log_near + q * log_far + f.gammaln(a + b) - f.gammaln(p + 1.0) - f.gammaln(q))
    fraction = _beta_fraction(f, p, q, near, by_a, slope)
    result = scale * fraction.value * fraction.slope
    return f.where(inside, f.where(low, result, -result), at_end)


def _beta_fraction(f: Functions, a: Numbers, b: Numbers, x: Numbers, by_a: Numbers, slope: Numbers) -> Fraction:
    """Return the continued fraction over ``x**a (1 - x)**b / (a beta(a, b))``, with its derivative by ``a`` where
    ``by_a`` is 1, else by ``b``."""

    def goes_on(a: Numbers, b: Numbers, x: Numbers, by_a: Numbers, n: Numbers, *state: Numbers) -> Numbers:
        return (n < MOST_TERMS) & Fraction(*state).is_open

    def step(a: Numbers, b: Numbers, x: Numbers, by_a: Numbers, n: Numbers, *state: Numbers) -> Sequence[Numbers]:
        m, end = n + 1.0, a + 2.0 * (n + 1.0)
        unit = m * x / ((end - 1.0) * end)
        even, even_slope = unit * (b - m), unit * (1.0 - by_a)
        even_slope = even_slope - even * by_a * (1.0 / (end - 1.0) + 1.0 / end)
        unit = -(a + m) * x / (end * (end + 1.0))
        odd = unit * (a + b + m)
        odd_slope = unit + odd * by_a * (1.0 / (a + m) - 1.0 / end - 1.0 / (end + 1.0))
        return m, *Fraction(*state).then(even, even_slope, 1.0, 0.0).then(odd, odd_slope, 1.0, 0.0)

    share = x / (a + 1.0)
    below = 1.0 - (a + b) * share
    below_slope = by_a * ((a + b) * share / (a + 1.0)) - share
    zero = x * 0.0
    begin = Fraction.begin(below, below_slope, zero + 1.0, slope)
    n, *state = f.repeat([a, b, x, by_a], [zero, *begin], goes_on, step)
    return Fraction(*state).known(f, n)


def on_registers(emitter: Emitter) -> Functions:
    """Return the functions for registers of doubles."""

    def numbers(values: Sequence[ir.Value]) -> list[Number]:
        return [Number(emitter, each, FLOAT64) for each in values]

    def repeat(
        held: Sequence[Number], state: Sequence[Number], goes_on: Callable[..., Any], step: Callable[..., Any]
    ) -> list[Number]:
        values = emitter.repeat(
            [each.value for each in state],
            lambda *current: goes_on(*held, *numbers(current)).value,
            lambda *current: [each.value for each in step(*held, *numbers(current))],
        )
        return numbers(values)

    names = ("exp", "log", "log1p", "gammaln", "digamma")
    functions = {name: lifted(getattr(vecmath, name)) for name in names}
    return Functions(**functions, where=lambda c, x, y: c.where(x, y), repeat=repeat)


def _emitter(name: str, formula: Callable[..., Any]) -> Emit:
    def build(emitter: Emitter, *operands: Operand) -> ir.Value:
        return formula(on_registers(emitter), *[Number(emitter, *each) for each in operands]).value

    def emit(emitter: Emitter, *operands: Operand) -> ir.Value:
        wide = [Operand(emitter.cast(each, FLOAT64), FLOAT64) for each in operands]
        return emitter.cast(Operand(emitter.define(name, build, *wide), FLOAT64), operands[0].dtype)

    return emit


def betainc_by_a(f: Functions, a: Numbers, b: Numbers, x: Numbers) -> Numbers:
    return betainc_by(f, a, b, x, first=True)


def betainc_by_b(f: Functions, a: Numbers, b: Numbers, x: Numbers) -> Numbers:
    return betainc_by(f, a, b, x, first=False)


emit_gammainc_by_a = _emitter("gammainc_by_a", gammainc_by_a)
emit_betainc_by_a = _emitter("betainc_by_a", betainc_by_a)
emit_betainc_by_b = _emitter("betainc_by_b", betainc_by_b)
