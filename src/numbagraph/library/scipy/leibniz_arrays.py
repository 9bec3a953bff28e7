"""Integrals of arrays with the derivatives that follow from Leibniz's rule, all by one quadrature of one vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Closed, close, opened, without_effects
from numbagraph.ir.structs import replace
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import ArrayType, Input, Value, constant
from numbagraph.library.scipy.arguments import inexact
from numbagraph.library.scipy.leibniz import LeibnizRule, Quadrature, known_or_traced, number
from numbagraph.ops import effects
from numbagraph.tracing.regions import trace_region
from numbagraph.tracing.trace import as_traced, converted, current_trace
from numbagraph.tracing.tracer import Tracer, to_value
from numbagraph.transforms.autodiff import cotangents


def traced(integrand: Callable[..., Any], shape: tuple[int, ...] = ()) -> Closed:
    """Return the region of a function of a number, or of an array of this shape, that gives an array."""
    own = Input(ArrayType(FLOAT64, shape), "x")

    def run(x: Tracer) -> Tracer:
        trace = current_trace()
        assert trace is not None
        trace.order = effects.first()  # errors and warnings are those of the quadrature itself
        value = inexact(as_traced(integrand)(x))
        kind = np.float64 if value.dtype.kind == "f" else np.complex128
        return Tracer(as_value(to_value(value.astype(kind))))

    body = trace_region(run, (own,), "the function of an integral")
    closed = close((own,), body.outputs, name="integrand", known=body.is_used)
    return replace(closed, region=without_effects(closed.region))


def like(integrand: Closed) -> Any:
    """Return an array like those that a function gives."""
    point = registry["broadcast_to"](constant(0.5, dtype=FLOAT64), integrand.region.inputs[0].shape)
    return Tracer(opened(integrand.region, [point, *integrand.captures])[0])


def integral(integrand: Closed, a: Any, b: Any, value: Any, quadrature: Quadrature, *settings: Any) -> Any:
    """Return ``value``, the integral of a function of a number that gives an array of float64, with derivatives of any
    order. ``quadrature(integrand, a, b, *settings)`` integrates vectors, and gives them derivatives in turn."""
    return with_rule(integrand, value, ArrayRule(integrand.region, quadrature, len(settings)), (a, b, *settings))


def integral_over_box(integrand: Closed, value: Any, quadrature: Quadrature, *settings: Any) -> Any:
    """Return ``value``, the integral over a fixed box of a function of a point, with derivatives of any order.
    ``quadrature(integrand, *settings)`` integrates vectors over this box, and gives them derivatives in turn."""
    return with_rule(integrand, value, BoxRule(integrand.region, quadrature, len(settings)), settings)


def with_rule(integrand: Closed, value: Any, rule: LeibnizRule, options: Sequence[Any]) -> Any:
    given = list(map(number, options))
    fixed = registry["stop_gradient"](as_value(to_value(value)))
    found = registry["with_rule"].bind(fixed, *given, *integrand.captures, rule=rule, result=0, results=1)
    return Tracer(found if found.ndim else registry["as_scalar"].bind(found))


class ArrayRule(LeibnizRule):
    """The rule of an integral of an array: one vector of integrals has the derivatives by all that the integrand
    reads."""

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        lower, upper, *settings = map(known_or_traced, arguments[: 2 + self.settings])
        captures = list(map(Tracer, arguments[2 + self.settings :]))
        g: Any = Tracer(given[0])
        with shapes.collect_guards():  # the integrand has been evaluated: what it requires has been checked
            ends = [np.sum(g * self._at(*bounds, captures)) for bounds in ((lower, upper), (upper, lower))]
            found = self._by_captures(given[0], (lower, upper, *settings), captures)
        return as_values([-ends[0], ends[1], *[None] * self.settings, *found])

    def _by_captures(self, given: Value, options: Sequence[Any], captures: Sequence[Any]) -> list[Any]:
        """Return the cotangents of what the integrand reads."""
        output = self.region.outputs[0]
        # Of a number the cotangent is a factor, so that forward mode can transpose the rule.
        seed = Input(output.type, "cotangent") if output.ndim else constant(1.0, dtype=FLOAT64)
        partial = cotangents([output], [seed], self.region.inputs)[1:]
        places = [place for place, each in enumerate(partial) if each is not None]
        found: dict[int, Any] = {}
        if places:
            slopes = [each for each in partial if each is not None]
            others: dict[Value, Value] = {seed: given} if output.ndim else {}
            parts = self._integral(slopes, others, options, captures)
            parts = parts if output.ndim else Tracer(given) * parts
            start = 0
            for place in places:
                size = captures[place].size
                found[place] = np.reshape(parts[start : start + size], captures[place].shape)
                start = start + size
        return [found.get(place) for place in range(len(captures))]

    def _integral(
        self,
        slopes: Sequence[Value],
        others: Mapping[Value, Value],
        options: Sequence[Any],
        captures: Sequence[Any],
    ) -> Any:
        """Integrate the derivatives of the integrand in one vector; ``others`` stand for inputs of theirs."""

        def slope(x: Any) -> Any:
            found = self._evaluated(slopes, x, captures, others)
            return found[0] if is_number else np.concatenate([np.ravel(each) for each in found])

        is_number = len(slopes) == 1 and not slopes[0].ndim
        return np.reshape(converted(self.quadrature)(slope, *options), (-1,))


class BoxRule(ArrayRule):
    """The rule of an integral over a fixed box."""

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        settings = list(map(known_or_traced, arguments[: self.settings]))
        captures = list(map(Tracer, arguments[self.settings :]))
        with shapes.collect_guards():  # the integrand has been evaluated: what it requires has been checked
            found = self._by_captures(given[0], settings, captures)
        return as_values([*[None] * self.settings, *found])


def as_values(found: Sequence[Any]) -> list[Value | None]:
    return [None if each is None else as_value(to_value(each)) for each in found]
