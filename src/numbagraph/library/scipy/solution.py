"""Solutions of equations with the derivatives that follow from these, not from how they were found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import registry
from numbagraph.ir.regions import close, without_effects
from numbagraph.ir.structs import replace
from numbagraph.ir.values import ArrayType, Input
from numbagraph.ops import effects
from numbagraph.ops.rules.implicit_rule import solution
from numbagraph.tracing.effect_tokens import set_order
from numbagraph.tracing.regions import trace_region
from numbagraph.tracing.trace import as_traced
from numbagraph.tracing.tracer import Tracer, to_value


def solved(equation: Callable[[Any], Any], x: Any, is_solved: Any = True, elementwise: bool = False) -> Any:
    """Return ``x``, a solution of ``equation(x) = 0``, with derivatives of any order by all that the equation uses.

    ``x`` is an array or a number of float64, and ``equation(x)`` has its shape. Where ``is_solved`` is false,
    derivatives are NaN. If the equation is ``elementwise``, each element is solved for by itself, and ``is_solved`` may
    have the shape of ``x``.
    """
    found = as_value(to_value(x))
    reshape = registry["reshape"]
    flat = reshape(found, (-1,)) if found.ndim > 1 else found
    own = Input(ArrayType(flat.dtype, flat.shape), "solution")

    def run(point: Tracer) -> Tracer:
        set_order(effects.first())  # effects of the equation took place in the search
        value = as_traced(equation)(Tracer(reshape(point.value, found.shape)))
        return Tracer(reshape(as_value(to_value(value)), flat.shape))

    body = trace_region(run, (own,), "the function of a solver")
    closed = close((own,), body.outputs, name="equation", known=body.is_used)
    closed = replace(closed, region=without_effects(closed.region))
    is_found = as_value(to_value(is_solved))
    result = solution(flat, reshape(is_found, (-1,)) if is_found.ndim > 1 else is_found, closed, elementwise)
    return Tracer(reshape(result, found.shape) if found.ndim else registry["as_scalar"].bind(result))
