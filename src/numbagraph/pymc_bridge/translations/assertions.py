"""The checks that PyTensor makes when a graph runs (`Assert`, parameters of distributions), in numbagraph's graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Constant, Value, at_source
from numbagraph.pymc_bridge.origin import Origin


class Requirement(Struct):
    """A condition that a graph checks when it runs, and the variable that it protects."""

    condition: Value
    message: str
    error: type[Exception]
    variable: Variable


def with_checks(
    requirements: Sequence[Requirement],
    conditions: Sequence[Value],
    variables: Sequence[Variable],
    values: Sequence[Value],
    name: Callable[[Variable], str],
) -> tuple[list[Value], list[Guard]]:
    """Values whose conditions are checked where they are computed, and guards for the other conditions.

    ``conditions`` are those of the requirements, and ``name`` returns the name of a variable in errors. The elements of
    an empty array check nothing.
    """
    checked, guards = list(values), list[Guard]()
    for each, condition in zip(requirements, conditions, strict=True):
        if isinstance(condition, Constant) and condition.data.all():
            continue
        origin = Origin("", 0, variable=name(each.variable))
        number = output_of(each, variables)
        if has_elements(checked[number]):
            with at_source(origin):
                attributes = {"message": each.message, "error": each.error}
                checked[number] = registry["check"](checked[number], condition, **attributes)
        else:
            guards.append(Guard(condition, each.message, origin, each.error, ordered=True))
    return checked, guards


def output_of(requirement: Requirement, outputs: Sequence[Variable]) -> int:
    """The first output that depends on a checked variable. (One inside an op's own graph is no output's ancestor.)"""
    for number, output in enumerate(outputs):
        if requirement.variable in ancestors([output]):
            return number
    return 0


def has_elements(value: Value) -> bool:
    """Whether an array is known not to be empty."""
    return all(isinstance(each, int) and each > 0 for each in map(shapes.resolve, value.shape))
