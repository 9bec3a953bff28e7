"""Integrals with the derivatives that follow from Leibniz's rule, each by a quadrature of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.api import loops
from numbagraph.api.vmap import vmap
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Closed, close, operand_lengths, regions_of, without_effects
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import ArrayType, Constant, Input, Value, constant
from numbagraph.ops import effects
from numbagraph.ops.identity import GradientRule
from numbagraph.ops.rules.custom_rule import BatchedRule
from numbagraph.tracing.regions import trace_region
from numbagraph.tracing.trace import as_traced, converted, current_trace
from numbagraph.tracing.tracer import Tracer, to_value
from numbagraph.transforms.autodiff import cotangents

Function = Callable[..., Any]
Quadrature = Callable[..., Any]


def traced(integrand: Function, weight: Function | None = None) -> Closed:
    """Return the region of a function of a number, with the product with the weight as the second result, if the
    quadrature has one."""
    own = Input(ArrayType(FLOAT64, ()), "x")

    def run(x: Tracer) -> Any:
        trace = current_trace()
        assert trace is not None
        trace.order = effects.first()  # warnings of an integral inside: the quadrature itself gives them
        value = Tracer(number(as_traced(integrand)(x)))
        return value if weight is None else (value, Tracer(number(value * as_traced(weight)(x))))

    body = trace_region(run, (own,), "the function of an integral")
    closed = close((own,), body.outputs, name="integrand", known=body.is_used)
    return replace(closed, region=without_effects(closed.region))


def map_points(function: Function) -> Function:
    return lambda points: loops.map(function, points)


def for_each(integrand: Closed) -> Function:
    """Return the function that evaluates one like this at several points: at once, or, of a function with loops or
    branches, one after the other."""
    return map_points if any(regions_of(each) for each in integrand.region.values) else vmap


def integral(integrand: Closed, a: Any, b: Any, value: Any, quadrature: Quadrature, *settings: Any) -> Any:
    """Return ``value``, the integral of a function of a number, with derivatives of any order.

    ``quadrature(integrand, a, b, *settings)`` integrates the derivatives of the integrand, and gives them derivatives
    in turn. Settings are tolerances and the like, of which the integral has no derivatives.
    """
    given = list(map(number, (a, b, *settings)))
    rule = LeibnizRule(integrand.region, quadrature, len(settings))
    fixed = registry["stop_gradient"](as_value(to_value(value)))
    found = registry["with_rule"].bind(fixed, *given, *integrand.captures, rule=rule, result=0, results=1)
    return Tracer(registry["as_scalar"].bind(found))


def number(x: Any) -> Value:
    return convert(as_value(to_value(x)), FLOAT64)


def known_or_traced(value: Value) -> Any:
    """Return a constant as a number of NumPy's: what depends on infinite bounds is decided while tracing."""
    return value.data[()] if isinstance(value, Constant) and not value.ndim else Tracer(value)


class LeibnizRule(Struct):
    """The rule of an integral: that of the derivative by what the integrand reads, and the integrand at the bounds."""

    region: Graph
    quadrature: Quadrature
    settings: int

    @property
    def captured(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "integral"

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        lower, upper, *settings = map(known_or_traced, arguments[: 2 + self.settings])
        captures = list(map(Tracer, arguments[2 + self.settings :]))
        g: Any = Tracer(given[0])
        with shapes.collect_guards():  # the integrand has been evaluated: what it requires has been checked
            ends = [self._at(lower, upper, captures), self._at(upper, lower, captures)]
            partial = cotangents(self.region.outputs[:1], [constant(1.0, dtype=FLOAT64)], self.region.inputs)[1:]
            wanted = [number for number, each in enumerate(partial) if each is not None]
            numbers = [number for number in wanted if not captures[number].ndim]
            groups = [numbers] * bool(numbers) + [[number] for number in wanted if captures[number].ndim]
            found: dict[int, Any] = {}
            for group in groups:
                slopes = [each for number, each in enumerate(partial) if number in group and each is not None]
                count = sum(captures[number].size for number in group)
                integrals = self._integrals(slopes, count, (lower, upper, *settings), captures)
                parts = integrals if len(group) > 1 else [integrals]
                for place, number in enumerate(group):
                    found[number] = g * np.reshape(parts[place], captures[number].shape)
        nothing = [None] * self.settings
        results = [-g * ends[0], g * ends[1], *nothing, *(found.get(number) for number in range(len(captures)))]
        return [None if each is None else as_value(to_value(each)) for each in results]

    def _evaluated(
        self, values: Sequence[Value], x: Any, captures: Sequence[Any], others: Mapping[Value, Value] | None = None
    ) -> list[Any]:
        """Return values of the region at a point; ``others`` stand for further inputs of theirs."""
        operands = [as_value(to_value(each)) for each in (x, *captures)]
        with shapes.collect_guards():
            mapped = operand_lengths(self.region, operands) | dict(others or {})
            return list(map(Tracer, substitute(values, mapped)))

    def _at(self, x: Any, other: Any, captures: Sequence[Any]) -> Any:
        """Return the integrand with its weight at a bound; zero where it is infinite."""
        is_finite = np.isfinite(x)
        point = np.where(is_finite, x, np.where(np.isfinite(other), other, 0.5))
        return np.where(is_finite, self._evaluated(self.region.outputs[-1:], point, captures)[0], 0.0)

    def _integrals(self, slopes: Sequence[Value], count: Any, options: Sequence[Any], captures: Sequence[Any]) -> Any:
        """Integrate derivatives of the integrand, each of their ``count`` elements on its own, in one vector."""
        quadrature = converted(self.quadrature)

        def element(place: Any) -> Any:
            def slope(x: Any) -> Any:
                return np.concatenate([np.ravel(each) for each in self._evaluated(slopes, x, captures)])[place]

            return quadrature(slope, *options)

        if len(slopes) == 1 and not slopes[0].ndim:
            return quadrature(lambda x: self._evaluated(slopes, x, captures)[0], *options)
        return vmap(element)(np.arange(count))

    def batched(self, batched: Sequence[bool]) -> GradientRule:
        return BatchedRule(self, tuple(batched))
