"""Numbers of NumPy's distributions that are drawn by formulas (`draw_formulas`), in a loop with the state in registers.

A formula runs as emitted code (`Emitted`), or in Python (`Plain`), which tests whether this build of NumPy has it: a C
compiler may contract a product and a sum, and another release may draw otherwise (NEP 19). Cases that are not usual are
drawn by NumPy's function, from the state before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import F64, I1, I64, Emitter, llvm_type
from numbagraph.intrinsics.emitters.formula import Number
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.intrinsics.emitters.random.bit_generators import STEPS, State
from numbagraph.intrinsics.emitters.random.draw_formulas import FORMULAS
from numbagraph.intrinsics.emitters.random.ziggurats import UNDONE, Usual, exponential, in_registers, normal, uniform
from numbagraph.ir.types import BOOL, FLOAT64

TRIALS = 64
"""The number of draws that are compared with NumPy's. A contracted product and sum shows in one of a few."""


class Emitted:
    """Draws from a state in registers, and arithmetic, as code at the emitter's position."""

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
        """Note a condition that holds in usual cases."""
        self._usual.value = self.emitter.builder.and_(self.usual, condition.value)

    def _number(self, number: Number | float) -> Number:
        if isinstance(number, Number):
            return number
        return Number(self.emitter, self.emitter.constant(number, FLOAT64), FLOAT64)

    def where(self, condition: Number, yes: Number | float, no: Number | float) -> Number:
        return condition.where(self._number(yes), self._number(no))

    def either(self, condition: Number, yes: Callable[[], Any], no: Callable[[], Any]) -> Number:
        """Return the result of one of two functions, chosen by a condition; only that one draws."""
        branches = [lambda branch=branch: self._number(branch()).value for branch in (yes, no)]
        return Number(self.emitter, self.emitter.choose(condition.value, *branches), FLOAT64)

    def repeat(
        self, state: Sequence[Number | float], goes_on: Callable[..., Number], step: Callable[..., Sequence[Any]]
    ) -> list[Number]:
        """Emit ``while goes_on(*state): state = step(*state)``, whose steps draw."""

        def numbers(values: Sequence[ir.Value]) -> list[Number]:
            return [number_of(self.emitter, each) for each in values]

        found = self.emitter.repeat(
            [self._number(each).value for each in state],
            lambda *values: goes_on(*numbers(values)).value,
            lambda *values: [self._number(each).value for each in step(*numbers(values))],
        )
        return numbers(found)

    def intrinsic(self, name: str, number: Number) -> Number:
        return Number(self.emitter, self.emitter.intrinsic(name, number.value), FLOAT64)

    def sqrt(self, number: Number) -> Number:
        return self.intrinsic("sqrt", number)

    def fabs(self, number: Number) -> Number:
        return self.intrinsic("fabs", number)

    def ceil(self, number: Number) -> Number:
        return self.intrinsic("ceil", number)

    def floor(self, number: Number) -> Number:
        return self.intrinsic("floor", number)

    def libm(self, name: str, *numbers: Number) -> Number:
        """Call a function of C's library, which NumPy's C code calls, too."""
        return Number(self.emitter, self.emitter.call(name, F64, *[each.value for each in numbers]), FLOAT64)


class Plain:
    """Draws from a generator of NumPy's, and arithmetic in Python, one operation after the other."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.uniform = generator.random
        self.normal = generator.standard_normal
        self.exponential = generator.standard_exponential
        self.sqrt = math.sqrt
        self.fabs = math.fabs
        self.ceil = math.ceil
        self.floor = math.floor
        self.usual = True

    def require(self, condition: bool) -> None:
        self.usual = self.usual and condition

    def where(self, condition: bool, yes: float, no: float) -> float:
        return yes if condition else no

    def either(self, condition: bool, yes: Callable[[], Any], no: Callable[[], Any]) -> float:
        return yes() if condition else no()

    def repeat(
        self, state: Sequence[float], goes_on: Callable[..., bool], step: Callable[..., Sequence[float]]
    ) -> Sequence[float]:
        while goes_on(*state):
            state = step(*state)
        return state

    def libm(self, name: str, *numbers: float) -> float:
        return getattr(math, name)(*numbers)


@cache
def is_numpys(name: str) -> bool:
    """Whether this NumPy draws the numbers of a distribution by its formula."""
    return all(draws_alike(name, each) for each in FORMULAS[name].examples)


def draws_alike(name: str, parameters: tuple[float, ...]) -> bool:
    formula, bits = FORMULAS[name], np.random.PCG64
    ours, theirs = (np.random.Generator(bits(20260101)) for _ in range(2))
    for _ in range(TRIALS):
        draws = Plain(ours)
        number = formula.number(draws, *formula.constants(draws, *parameters))
        expected = getattr(theirs, name)(*parameters)
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
    alike = element["m"].compare("==", 1) if formula.examples[0] else ir.Constant(I1, 1)

    def constants(k: Index) -> Any:
        """Return whether the parameters are usual, and the constants that depend on them alone."""
        draws = Emitted(emitter)
        found = formula.constants(draws, *[as_number(emitter, each) for each in parameters(k)])
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


def as_number(emitter: Emitter, parameter: ir.Value) -> Number:
    """Return a parameter as a float; a count has all its digits there: see `distributions.count`."""
    is_count = parameter.type == I64
    return number_of(emitter, emitter.builder.sitofp(parameter, F64) if is_count else parameter)


def mapped(function: Callable[..., Any], *trees: Any) -> Any:
    """Apply a function to the leaves of nested tuples."""
    if isinstance(trees[0], tuple):
        return tuple(mapped(function, *each) for each in zip(*trees, strict=True))
    return function(*trees)


def has_formula(name: str, kind: str) -> bool:
    """Whether numbers of a distribution are drawn by its formula from a kind of bit generator."""
    return name in FORMULAS and kind in UNDONE and is_numpys(name)
