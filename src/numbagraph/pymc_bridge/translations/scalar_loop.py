"""Translation of `ScalarLoop`, the loop of a function of numbers: series of derivatives are summed by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.api.vmap import over_batches
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import ArrayType, Input, Value, constant
from numbagraph.ops.control.operands import stand_ins
from numbagraph.pymc_bridge.importer import Importer
from numbagraph.pymc_bridge.translations.inner_graphs import body_of_loop, in_best_form, known_around


def scalar_loop(importer: Importer, op: Any, inputs: Sequence[Value]) -> list[Value]:
    """A loop for each element, which takes as many steps as that needs."""

    def of_one(elements: Sequence[Value]) -> list[Value]:
        return element_loop(importer, op, *elements)

    return over_batches(of_one, inputs, [0] * len(inputs), "ScalarLoop")


def element_loop(importer: Importer, op: Any, steps: Value, *operands: Value) -> list[Value]:
    """The values after the last step, and of a loop with a condition, whether that has ended it."""
    graph = op.fgraph
    count = len(graph.outputs) - op.is_while
    initial, constants = operands[:count], operands[count:]
    number, goes_on = Input(ArrayType(INT64, ()), "number"), Input(ArrayType(BOOL, ()), "goes_on")
    carries = stand_ins([each.type for each in initial], "carry")
    parameters = [*carries, number, goes_on]
    inside = importer.part()
    inside.values.update(zip(graph.inputs, [*carries, *constants], strict=True))
    body = body_of_loop(inside, graph.outputs, [steps, *constants], parameters)
    after = [*body.outputs[:count], number + constant(np.int64(1))]
    after.append(registry["logical_not"](body.outputs[count]) if op.is_while else goes_on)
    more = registry["logical_and"](goes_on, registry["less"](number, steps))
    drafts = Draft("goes_on", [more]), Draft("step", after, body.guards)
    (condition, step), captures = close_together(parameters, drafts, known_around([body], parameters))
    operands = (*initial, constant(np.int64(0)), constant(np.bool_(True)), *captures)
    attrs = {"condition": condition, "body": in_best_form(step), "carries": len(parameters)}
    found = [registry["while_loop"].bind(*operands, **attrs, result=result) for result in range(len(parameters))]
    if not op.is_while:
        return found[:count]
    ended = registry["logical_or"](registry["logical_not"](found[-1]), registry["less_equal"](steps, 0))
    return [*found[:count], ended]
