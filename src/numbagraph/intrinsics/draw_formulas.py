"""Distributions whose numbers are formulas of uniform, normal and exponential ones where parameters are usual.

The formulas are those of NumPy's C code, in its order of operations, and need no loop: where NumPy would reject a
number and draw again, or takes another way, the case is not usual. A formula is written once, for what draws and
computes. That is code that is being emitted (`Emitted`), or Python (`Plain`), which finds out whether this build of
NumPy has the formula: a C compiler may contract a product and a sum, and another release may draw otherwise (NEP 19).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.bit_generators import STEPS, State
from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import F64, I1, Emitter, llvm_type
from numbagraph.intrinsics.formula import Number
from numbagraph.intrinsics.matrices import Index, StackVariable
from numbagraph.intrinsics.ziggurats import UNDONE, Usual, exponential, in_registers, normal, uniform
from numbagraph.ir.types import BOOL, FLOAT64

TRIALS = 64
"""Numbers that are compared with NumPy's. A contracted product and sum shows in one of a few."""


class Emitted:
    """Draws from a state in registers, and computes, by code at the emitter's position."""

    def __init__(self, emitter: Emitter, state: State | None = None, kind: str = "") -> None:
        self.emitter = emitter
        self.state = state
        self.kind = kind
        self._usual = StackVariable(emitter, ir.Constant(I1, 1))

    def _drawn(self, usual: Usual) -> Number:
        assert self.state is not None
        number, inside = usual(self.state, STEPS[self.kind](self.state))
        self.require(Number(self.emitter, inside, BOOL))
        return Number(self.emitter, number, FLOAT64)

    def uniform(self) -> Number:
        return self._drawn(uniform)

    def normal(self) -> Number:
        return self._drawn(normal)

    def exponential(self) -> Number:
        return self._drawn(exponential)

    @property
    def usual(self) -> ir.Value:
        return self._usual.value

    def require(self, condition: Number) -> None:
        """What holds in usual cases."""
        self._usual.value = self.emitter.builder.and_(self.usual, condition.value)

    def _number(self, number: Number | float) -> Number:
        if isinstance(number, Number):
            return number
        return Number(self.emitter, self.emitter.constant(number, FLOAT64), FLOAT64)

    def where(self, condition: Number, yes: Number | float, no: Number | float) -> Number:
        return condition.where(self._number(yes), self._number(no))

    def either(self, condition: Number, yes: Callable[[], Any], no: Callable[[], Any]) -> Number:
        """What one of two functions gives, which alone draws."""
        branches = [lambda branch=branch: self._number(branch()).value for branch in (yes, no)]
        return Number(self.emitter, self.emitter.choose(condition.value, *branches), FLOAT64)

    def intrinsic(self, name: str, number: Number) -> Number:
        return Number(self.emitter, self.emitter.intrinsic(name, number.value), FLOAT64)

    def sqrt(self, number: Number) -> Number:
        return self.intrinsic("sqrt", number)

    def ceil(self, number: Number) -> Number:
        return self.intrinsic("ceil", number)

    def floor(self, number: Number) -> Number:
        return self.intrinsic("floor", number)

    def libm(self, name: str, *numbers: Number) -> Number:
        """A function of C's library, which NumPy's C code calls, too."""
        return Number(self.emitter, self.emitter.call(name, F64, *[each.value for each in numbers]), FLOAT64)


class Plain:
    """Draws from a generator of NumPy's, and computes in Python, one operation after the other."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.uniform = generator.random
        self.normal = generator.standard_normal
        self.exponential = generator.standard_exponential
        self.sqrt = math.sqrt
        self.ceil = math.ceil
        self.floor = math.floor
        self.usual = True

    def require(self, condition: bool) -> None:
        self.usual = self.usual and condition

    def where(self, condition: bool, yes: float, no: float) -> float:
        return yes if condition else no

    def either(self, condition: bool, yes: Callable[[], Any], no: Callable[[], Any]) -> float:
        return yes() if condition else no()

    def libm(self, name: str, *numbers: float) -> float:
        return getattr(math, name)(*numbers)


class Formula(NamedTuple):
    """``number(draws, *constants(draws, *parameters))``: what depends on the parameters alone is computed once, if all
    draws have the same."""

    number: Callable[..., Any]
    constants: Callable[..., tuple[Any, ...]]
    example: tuple[float, ...]
    """Parameters that are usual."""


def given(draws: Any, *parameters: Any) -> tuple[Any, ...]:
    del draws
    return parameters


def gamma_constants(draws: Any, shape: Any) -> tuple[Any, ...]:
    draws.require(shape >= 1.0)
    b = shape - 1.0 / 3.0
    return b, 1.0 / draws.sqrt(9.0 * b), shape <= 1.0


def gamma(draws: Any, b: Any, c: Any, is_exponential: Any) -> Any:
    return draws.either(is_exponential, draws.exponential, lambda: squeezed(draws, b, c))


def squeezed(draws: Any, b: Any, c: Any) -> Any:
    """Marsaglia and Tsang, A simple method for generating gamma variables (2000), where the squeeze accepts."""
    x = draws.normal()
    v = 1.0 + c * x
    draws.require(v > 0.0)
    v = v * v * v
    draws.require(draws.uniform() < 1.0 - 0.0331 * (x * x) * (x * x))
    return b * v


def chisquare_constants(draws: Any, df: Any) -> tuple[Any, ...]:
    return gamma_constants(draws, df / 2.0)


def chisquare(draws: Any, *constants: Any) -> Any:
    return 2.0 * gamma(draws, *constants)


def noncentral_constants(draws: Any, df: Any, nonc: Any) -> tuple[Any, ...]:
    draws.require(nonc > 0.0)
    return draws.sqrt(nonc), *chisquare_constants(draws, df - 1.0)


def noncentral_chisquare(draws: Any, root: Any, *constants: Any) -> Any:
    central = chisquare(draws, *constants)
    n = draws.normal() + root
    return central + n * n


def f_constants(draws: Any, dfnum: Any, dfden: Any) -> tuple[Any, ...]:
    return dfnum, dfden, chisquare_constants(draws, dfnum), chisquare_constants(draws, dfden)


def f(draws: Any, dfnum: Any, dfden: Any, above: Any, below: Any) -> Any:
    numerator = chisquare(draws, *above) * dfden
    return numerator / (chisquare(draws, *below) * dfnum)


def noncentral_f_constants(draws: Any, dfnum: Any, dfden: Any, nonc: Any) -> tuple[Any, ...]:
    return dfnum, dfden, noncentral_constants(draws, dfnum, nonc), chisquare_constants(draws, dfden)


def noncentral_f(draws: Any, dfnum: Any, dfden: Any, above: Any, below: Any) -> Any:
    numerator = noncentral_chisquare(draws, *above) * dfden
    return numerator / (chisquare(draws, *below) * dfnum)


def beta_constants(draws: Any, a: Any, b: Any) -> tuple[Any, ...]:
    draws.require((a > 1.0) | (b > 1.0))
    return gamma_constants(draws, a), gamma_constants(draws, b)


def beta(draws: Any, first: Any, second: Any) -> Any:
    one = gamma(draws, *first)
    return one / (one + gamma(draws, *second))


def t_constants(draws: Any, df: Any) -> tuple[Any, ...]:
    return draws.sqrt(df / 2.0), *chisquare_constants(draws, df)


def standard_t(draws: Any, root: Any, *constants: Any) -> Any:
    above = root * draws.normal()
    return above / draws.sqrt(gamma(draws, *constants))


def cauchy(draws: Any) -> Any:
    above = draws.normal()
    return above / draws.normal()


def inverse(draws: Any, a: Any) -> tuple[Any, ...]:
    del draws
    return (1.0 / a,)


def pareto(draws: Any, a: Any) -> Any:
    return draws.libm("expm1", draws.exponential() / a)


def weibull(draws: Any, exponent: Any) -> Any:
    return draws.libm("pow", draws.exponential(), exponent)


def power(draws: Any, exponent: Any) -> Any:
    return draws.libm("pow", -draws.libm("expm1", -draws.exponential()), exponent)


def rayleigh(draws: Any, scale: Any) -> Any:
    return scale * draws.sqrt(2.0 * draws.exponential())


def lognormal(draws: Any, mean: Any, sigma: Any) -> Any:
    return draws.libm("exp", mean + sigma * draws.normal())


def laplace(draws: Any, loc: Any, scale: Any) -> Any:
    u = draws.uniform()
    draws.require(u > 0.0)
    is_above = u >= 0.5
    distance = scale * draws.libm("log", draws.where(is_above, 2.0 - u - u, u + u))
    return draws.where(is_above, loc - distance, loc + distance)


def gumbel(draws: Any, loc: Any, scale: Any) -> Any:
    u = 1.0 - draws.uniform()
    draws.require(u < 1.0)
    return loc - scale * draws.libm("log", -draws.libm("log", u))


def logistic(draws: Any, loc: Any, scale: Any) -> Any:
    u = draws.uniform()
    draws.require(u > 0.0)
    return loc + scale * draws.libm("log", u / (1.0 - u))


def triangular_constants(draws: Any, left: Any, mode: Any, right: Any) -> tuple[Any, ...]:
    del draws
    base, below = right - left, mode - left
    return left, right, below / base, below * base, (right - mode) * base


def triangular(draws: Any, left: Any, right: Any, ratio: Any, left_product: Any, right_product: Any) -> Any:
    u = draws.uniform()
    is_left = u <= ratio
    root = draws.sqrt(draws.where(is_left, u * left_product, (1.0 - u) * right_product))
    return draws.where(is_left, left + root, right - root)


def wald(draws: Any, mean: Any, scale: Any) -> Any:
    """Michael, Schucany and Haas, Generating random variates using transformations with multiple roots (1976)."""
    y = draws.normal()
    y = mean * y * y
    draws.require(y > 0.0)
    x = mean * (1.0 - 2.0 / (1.0 + draws.sqrt(1.0 + 4.0 * scale / y)))
    draws.require(x > 0.0)
    return draws.where(draws.uniform() <= mean / (mean + x), x, mean * mean / x)


def geometric_constants(draws: Any, p: Any) -> tuple[Any, ...]:
    draws.require(p < 1.0 / 3.0)
    return (draws.libm("log1p", -p),)


def geometric(draws: Any, logarithm: Any) -> Any:
    found = draws.ceil(-draws.exponential() / logarithm)
    draws.require(found < 2.0**62)
    return found


def logseries_constants(draws: Any, p: Any) -> tuple[Any, ...]:
    return p, draws.libm("log1p", -p)


def logseries(draws: Any, p: Any, r: Any) -> Any:
    """Kemp, Efficient generation of logarithmically distributed pseudo-random variables (1981)."""
    v = draws.uniform()
    return draws.either(v >= p, lambda: 1.0, lambda: larger(draws, v, r))


def larger(draws: Any, v: Any, r: Any) -> Any:
    q = -draws.libm("expm1", r * draws.uniform())
    return draws.either(v <= q * q, lambda: largest(draws, v, q), lambda: draws.where(v >= q, 1.0, 2.0))


def largest(draws: Any, v: Any, q: Any) -> Any:
    draws.require(v > 0.0)
    found = draws.floor(1.0 + draws.libm("log", v) / draws.libm("log", q))
    draws.require(found >= 1.0)
    draws.require(found < 2.0**62)
    return found


FORMULAS = {
    "standard_gamma": Formula(gamma, gamma_constants, (2.5,)),
    "chisquare": Formula(chisquare, chisquare_constants, (3.0,)),
    "noncentral_chisquare": Formula(noncentral_chisquare, noncentral_constants, (4.5, 1.5)),
    "f": Formula(f, f_constants, (3.0, 5.5)),
    "noncentral_f": Formula(noncentral_f, noncentral_f_constants, (4.5, 5.5, 1.5)),
    "beta": Formula(beta, beta_constants, (2.5, 1.25)),
    "standard_t": Formula(standard_t, t_constants, (3.5,)),
    "standard_cauchy": Formula(cauchy, given, ()),
    "pareto": Formula(pareto, given, (3.3,)),
    "weibull": Formula(weibull, inverse, (3.3,)),
    "power": Formula(power, inverse, (3.3,)),
    "rayleigh": Formula(rayleigh, given, (1.7,)),
    "lognormal": Formula(lognormal, given, (0.3, 1.2)),
    "laplace": Formula(laplace, given, (0.3, 1.2)),
    "gumbel": Formula(gumbel, given, (0.3, 1.2)),
    "logistic": Formula(logistic, given, (0.3, 1.2)),
    "triangular": Formula(triangular, triangular_constants, (-1.1, 0.3, 2.2)),
    "wald": Formula(wald, given, (1.3, 2.1)),
    "logseries": Formula(logseries, logseries_constants, (0.6,)),
    "geometric": Formula(geometric, geometric_constants, (0.1,)),
}
"""By the name of the distribution."""


@cache
def is_numpys(name: str) -> bool:
    """Whether this NumPy draws the numbers of a distribution by its formula."""
    formula = FORMULAS[name]
    ours, theirs = (np.random.Generator(np.random.PCG64(20260101)) for _ in range(2))
    for _ in range(TRIALS):
        draws = Plain(ours)
        number = formula.number(draws, *formula.constants(draws, *formula.example))
        expected = getattr(theirs, name)(*formula.example)
        if not draws.usual:
            ours.bit_generator.state = theirs.bit_generator.state
        elif number != expected:
            return False
    return ours.bit_generator.state == theirs.bit_generator.state


def fill(
    element: Element,
    name: str,
    dtype: np.dtype,
    place: ir.Value,
    parameters: Callable[[Index], Sequence[ir.Value]],
    draw_one: Callable[[Index], ir.Value],
) -> None:
    """Store numbers of a distribution. ``draw_one`` calls NumPy's function on the state in memory."""
    builder, emitter, code, kind = element.builder, element.emitter, element.code, element.attributes["source"]
    formula, result = FORMULAS[name], llvm_type(dtype)
    alike = element["m"].compare("==", 1) if formula.example else ir.Constant(I1, 1)

    def constants(k: Index) -> Any:
        """Whether the parameters are usual, and what depends on them alone."""
        draws = Emitted(emitter)
        found = formula.constants(draws, *[number_of(emitter, each) for each in parameters(k)])
        return number_of(emitter, draws.usual), found

    def usual(state: State, k: Index, slot: ir.Value) -> ir.Value:
        with builder.if_then(builder.not_(alike)):
            mapped(lambda variable, number: setattr(variable, "value", number.value), kept, constants(k))
        are_usual, others = mapped(lambda variable: number_of(emitter, variable.value), kept)

        def draw() -> ir.Value:
            draws = Emitted(emitter, state, kind)
            number = formula.number(draws, *others).value
            builder.store(number if result == F64 else builder.fptosi(number, result), slot)
            return draws.usual

        return emitter.choose(are_usual.value, draw, lambda: ir.Constant(I1, 0))

    with builder.if_then(element["n"].compare(">", 0)):
        kept = mapped(lambda number: StackVariable(emitter, number.value), constants(code.index(0)))
        with builder.if_else(builder.and_(alike, builder.not_(kept[0].value))) as (all_by_numpy, otherwise):
            with all_by_numpy:
                code.loop(0, element["n"], lambda k: builder.store(draw_one(k), builder.gep(place, [k.register])))
            with otherwise:
                in_registers(element, kind, (place, result), usual, draw_one)


def number_of(emitter: Emitter, value: ir.Value) -> Number:
    return Number(emitter, value, BOOL if value.type == I1 else FLOAT64)


def mapped(function: Callable[..., Any], *trees: Any) -> Any:
    """What a function gives of the leaves of nested tuples."""
    if isinstance(trees[0], tuple):
        return tuple(mapped(function, *each) for each in zip(*trees, strict=True))
    return function(*trees)


def has_formula(name: str, kind: str) -> bool:
    """Whether numbers of a distribution are drawn by its formula from a kind of bit generator."""
    return name in FORMULAS and kind in UNDONE and is_numpys(name)
