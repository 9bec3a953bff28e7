"""Random numbers of NumPy's `Generator`, drawn from the words of a bit generator's state.

The functions of distributions are those that NumPy exports for callers from C (its manual, "Extending: CFFI"): of a
``bitgen_t`` and the parameters. What NumPy refuses, the draw refuses: the error is then NumPy's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Algorithm, Element
from numbagraph.intrinsics.emitters.emitter import F64, I1, I64, POINTER, Emitter, llvm_type, memory_type
from numbagraph.intrinsics.emitters.external import NUMPY_RANDOM
from numbagraph.intrinsics.emitters.matrices import Index
from numbagraph.intrinsics.emitters.random import inlined_draws, ziggurats
from numbagraph.intrinsics.emitters.random.bit_generators import record_of
from numbagraph.ir.types import FLOAT32, FLOAT64, UINT64

Check = Callable[[ir.IRBuilder, ir.Value], ir.Value]
"""A check of a parameter, which emits whether NumPy accepts it. Where it says no, NumPy decides, and may accept the
parameter all the same."""


def between(low: float, high: float, *, open_below: bool = False, open_above: bool = False) -> Check:
    """Return a check for numbers of an interval; NaN is in none."""

    def check(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
        above = builder.fcmp_ordered(">" if open_below else ">=", value, ir.Constant(F64, low))
        below = builder.fcmp_ordered("<" if open_above else "<=", value, ir.Constant(F64, high))
        return builder.and_(above, below)

    return check


LARGEST = float(np.finfo(np.float64).max)
POSITIVE = between(0.0, LARGEST, open_below=True)
NOT_NEGATIVE = POSITIVE
"""The check of a number that is not negative. It leaves zeros to NumPy, which refuses the negative one."""
FINITE = between(-LARGEST, LARGEST)


def count(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Check a number that is not negative, and not so large that sums of some overflow."""
    return builder.icmp_unsigned("<", value, ir.Constant(I64, 10**9))


class Parameter(NamedTuple):
    """A parameter of a distribution, with its check."""

    name: str
    check: Check
    dtype: np.dtype = FLOAT64

    def accepts(self, builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
        return self.check(builder, builder.fpext(value, F64) if self.dtype == FLOAT32 else value)


class Distribution(NamedTuple):
    """A function of NumPy's in C: ``function(bitgen, *parameters)``, or, to fill an array, ``function(bitgen,
    *parameters, count, *options, array)``."""

    function: str
    parameters: tuple[Parameter, ...]
    dtype: np.dtype = FLOAT64
    fills: bool = False
    scratch: int = 0
    """The number of bytes of zeros whose address is the last argument."""
    order: tuple[int, ...] = ()
    """The order in which the function takes its parameters, where that is another one."""
    check: Callable[[ir.IRBuilder, Sequence[ir.Value]], ir.Value] | None = None
    """A condition on several parameters together."""
    options: tuple[ir.Constant, ...] = ()


def at_most(limit: int) -> Check:
    """Return a check for unsigned numbers up to a limit."""
    return lambda builder, value: builder.icmp_unsigned("<=", value, ir.Constant(I64, limit))


SINGLE = "random_standard_uniform_fill_f"
"""A distribution that is also drawn in a loop, by `ziggurats.fill_single`."""


def algorithm(name: str, distribution: Distribution) -> Algorithm:
    """Return the algorithm ``(s), (m)..., (n) -> (n), (s)``, which draws from a state and the parameters (of all draws,
    or of each). The length of the last operand is the number of draws. It fails if NumPy may refuse a parameter."""
    return functools.partial(draw, name, distribution)


def draw(name: str, distribution: Distribution, element: Element) -> ir.Value:
    builder, n = element.builder, element["n"]
    state, parameters, target = element.results[1], element.operands[1:-1], element.results[0]
    element.copy(state, element.operands[0], element["s"], UINT64)
    record = record_of(builder, element.attributes["source"], state)
    values = Parameters(element, distribution, parameters)
    refused = values.refused()
    place = builder.bitcast(target, memory_type(distribution.dtype).as_pointer())
    with builder.if_then(builder.not_(refused)):
        kind = element.attributes["source"]
        inlined = ziggurats.inlined(distribution.function, kind)
        if inlined is not None:

            def draw_one(function: str) -> ir.Value:
                return call(element.emitter, function, F64, [record])

            ziggurats.fill(element, inlined, kind, place, draw_one)
        elif distribution.function == SINGLE and kind in ziggurats.UNDONE:
            ziggurats.fill_single(element, kind, place)
        elif distribution.fills:

            def fill(k: Index, count: Index) -> None:
                target = builder.gep(place, [k.register])
                arguments = [record, *values.ordered(k), count.register, *distribution.options, target]
                call(element.emitter, distribution.function, ir.VoidType(), arguments)

            one, zero = element.code.index(1), element.code.index(0)
            if not distribution.parameters:
                fill(zero, n)
            else:
                with builder.if_else(element["m"].compare("==", 1)) as (alike, apart):
                    with alike:
                        fill(zero, n)
                    with apart:
                        element.code.loop(0, n, lambda k: fill(k, one))
        else:

            def draw_at(k: Index) -> ir.Value:
                arguments = [record, *values.ordered(k), *values.scratch]
                return call(element.emitter, distribution.function, llvm_type(distribution.dtype), arguments)

            if element.attributes["formula"]:
                inlined_draws.fill(element, name, distribution.dtype, place, values.at, draw_at)
            else:
                element.code.loop(0, n, lambda k: builder.store(draw_at(k), builder.gep(place, [k.register])))
    return refused


def call(emitter: Emitter, name: str, result: ir.Type, arguments: Sequence[ir.Value]) -> ir.Value:
    function = emitter.function(NUMPY_RANDOM + name, result, [each.type for each in arguments], pure=False)
    return emitter.builder.call(function, arguments)


def zeros(builder: ir.IRBuilder, size: int) -> ir.Value:
    """Return the address of zeros, in which a function of C keeps what it has computed."""
    words = ir.ArrayType(I64, (size + 7) // 8)
    with builder.goto_entry_block():
        place = builder.alloca(words)
        builder.store(ir.Constant(words, None), place)
    return builder.bitcast(place, POINTER)


class Parameters:
    """The parameters of draws, in memory."""

    def __init__(self, element: Element, distribution: Distribution, addresses: Sequence[ir.Value]) -> None:
        self.element = element
        self.distribution = distribution
        builder = self.builder = element.builder
        pairs = zip(addresses, distribution.parameters, strict=True)
        self.places = [builder.bitcast(address, llvm_type(each.dtype).as_pointer()) for address, each in pairs]
        self.scratch = [zeros(builder, distribution.scratch)] if distribution.scratch else []

    def at(self, k: Index) -> list[ir.Value]:
        """Return the parameters of one draw."""
        if not self.places:
            return []
        is_one = self.element["m"].compare("==", 1)
        place = self.builder.select(is_one, ir.Constant(I64, 0), k.register)
        return [self.builder.load(self.builder.gep(each, [place])) for each in self.places]

    def ordered(self, k: Index) -> list[ir.Value]:
        found = self.at(k)
        return [found[number] for number in self.distribution.order or range(len(found))]

    def refused(self) -> ir.Value:
        """Return whether NumPy may refuse any of them."""
        builder, element = self.builder, self.element
        with builder.goto_entry_block():
            flag = builder.alloca(I1)
        builder.store(ir.Constant(I1, 0), flag)

        def look(k: Index) -> None:
            values = self.at(k)
            checks = [
                each.accepts(builder, value) for each, value in zip(self.distribution.parameters, values, strict=True)
            ]
            if self.distribution.check is not None:
                checks.append(self.distribution.check(builder, values))
            accepted = functools.reduce(builder.and_, checks)
            builder.store(builder.or_(builder.load(flag), builder.not_(accepted)), flag)

        if self.places:
            element.code.loop(0, element["m"], look)
        return builder.load(flag)
