"""Effects: calls of Python functions that are made for their side effects, in a fixed order.

Each takes a number that the one before gave, and gives the next one, so that their order is a dependence between
data: loops carry the number, branches pass it on, and the last one is a hidden result of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numbagraph.ir.later import Later
from numbagraph.ir.op import registry
from numbagraph.ir.regions import close
from numbagraph.ir.shapes import as_value
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Op, Value, constant
from numbagraph.ops.callback import Call, Callback, Kind, callback_of
from numbagraph.ops.control.operands import batch_size, element_type, stand_ins
from numbagraph.transforms.interpret import effects

if TYPE_CHECKING:
    from numbagraph.ops.control import loop
else:
    loop = Later("numbagraph.ops.control.loop")

ORDER = ArrayType(INT64)


def first() -> Value:
    """Return the number that the first effect takes."""
    return constant(0, dtype=INT64)


def effect(call: Callable[..., None], name: str, source: Any, order: Value, operands: Sequence[Value]) -> Value:
    """Return the number after ``call(*arrays)``, which takes copies of the operands."""

    def ordered(number: Any, *arrays: Any) -> list[Any]:
        call(*arrays)
        return [number]

    kinds = tuple(Kind(each.dtype, (None,) * each.ndim) for each in operands)
    number = Kind(INT64, ())
    made = callback_of(Call(ordered, id(ordered), name, source, (number, *kinds), (number,)), Effect)
    return made.applied([order, *operands], [])[0]


def after_all(order: Value) -> Value:
    """Return the number after the effects of all elements of a batch."""
    return registry["sum"](order) if order.ndim else order


class Effect(Callback):
    """A call whose first operand, and only result, is the number that orders it."""

    name, kind = "effect", "effect"

    def evaluate(self, *operands: Any, results: Sequence[int], **attrs: Any) -> list[Any]:
        return super().evaluate(*operands, results=results, **attrs) if effects.are_wanted else [operands[0]]

    def batch(self, op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, result: int, symbol: str) -> Value:
        """Run the effect for one element after the other; the resulting number has no batch dimension."""
        order, *operands = inputs
        if batched[0]:
            order = registry["sum"].bind(order, axes=(-1,))
        if not any(batched[1:]):
            return op.bind(order, *operands, symbol=symbol, result=result)
        number, *points = stand_ins([ORDER, *map(element_type, operands, batched[1:])], "point")
        after = op.bind(number, *points, symbol=symbol, result=result)
        pairs = list(zip(points, operands, batched[1:], strict=True))
        xs, shared = ([pair[:2] for pair in pairs if pair[2] is flag] for flag in (True, False))
        closed = close([number, *(point for point, _ in (*xs, *shared))], [after], name="element")
        values = (order, *(value for _, value in (*xs, *shared)), *closed.captures)
        length = as_value(batch_size(operands, batched[1:]))
        return loop.Loop(length, values, closed.region, 1, len(xs), reverse=False).result(0)
