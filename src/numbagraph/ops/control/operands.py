"""Helpers that loops and branches share: stand-ins for operands, and contexts for regions that are made or run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, Guard
from numbagraph.ir.op import registry
from numbagraph.ir.regions import opened, opened_guards, regions_of
from numbagraph.ir.values import ArrayType, Batch, Dim, Extent, Input, Node, Op, Unsupported, Value, Vjp, extent_values
from numbagraph.transforms.autodiff import is_differentiable
from numbagraph.transforms.batching import Batched, batch_with_guards
from numbagraph.transforms.interpret import bind, length_of, saying


def control_op(
    name: str,
    *,
    evaluate: Callable[..., Sequence[Any]],
    infer: Callable[..., ArrayType],
    vjp: Vjp | Unsupported,
    batch: Batch,
    translate: Callable[..., tuple[Sequence[Any], Any]] | Unsupported,
) -> Op:
    """Declare an op that holds regions. Each of its results is a node, and one step of the program computes all."""

    def one(*arrays: Any, result: int, **attrs: Any) -> Any:
        return evaluate(*arrays, results=[result], **attrs)[0]

    return registry.register(
        Op(
            name=name,
            kind="control",
            reference=one,
            infer=infer,
            frontend=Unsupported(f"it is made by the functions of numbagraph.{name}"),
            lower=lowering.Control(evaluate, translate),
            vjp=vjp,
            batch=batch,
            jnp=Unsupported("all results of a loop or a branch are translated at once"),
            samples=lambda rng, dtype: [],
            multi_result=True,
            selective=True,
        )
    )


def may_fail(node: Node) -> bool:
    """Whether computing a value may raise an error: then it must not be computed where the program would not."""
    lower = node.op.lower
    refuses = isinstance(lower, lowering.Map) and lower.refuse(node) is not None
    return isinstance(lower, lowering.Opaque) or refuses or bool(node.op.bounds(node))


def is_arithmetic(region: Graph) -> bool:
    """Whether a region computes without loops, and what may fail in it are guards of its own and of its branches."""
    for each in region.order:
        if not isinstance(each, Node):
            continue
        if each.op.name == "switch":
            if not all(map(is_arithmetic, each.attrs["branches"])):
                return False
        elif each.op.kind in ("control", "effect") or may_fail(each):
            return False
    return True


def cannot_fail(region: Graph) -> bool:
    """Whether nothing in a region may raise an error."""
    nodes = [each for each in region.order if isinstance(each, Node)]
    inner = {id(each): each for node in nodes for each in regions_of(node)}
    return not region.guards and not any(map(may_fail, nodes)) and all(map(cannot_fail, inner.values()))


def held(holds: Value, values: Sequence[Value], flags: Sequence[bool]) -> list[Value]:
    """Return the values of one element of a batch without their derivatives where something does not hold. The
    derivative of what is computed there and not chosen is 0, and the chain rule would multiply it by derivatives that
    may be infinite. An array without a flag, the same for all elements, stays as it is, and one."""
    still = registry["stop_gradient"]
    return [
        registry["where"](holds, each, still(each)) if is_differentiable(each) and (flag or not each.ndim) else each
        for each, flag in zip(values, flags, strict=True)
    ]


def implied(holds: Value, condition: Value) -> Value:
    """Whether a condition is true where it has to hold."""
    return registry["logical_or"](registry["logical_not"](holds), condition)


def stand_ins(types: Iterable[ArrayType], name: str) -> list[Input]:
    """Return an input of each type."""
    return [Input(each, name) for each in types]


def with_lengths_known(points: Sequence[Input], captures: Sequence[Value], beside: Sequence[Input] = ()) -> list[Value]:
    """Return the values that a region is opened with: stand-ins for its captures, but each length as itself. Types
    refer to lengths, also the types of the stand-ins ``beside``. If a length had a stand-in that is found to be equal
    to it, the stand-in would take its place in the whole program."""
    lengths = {extent for each in (*points, *beside) for extent in extent_values(each.type)}
    return [
        given if isinstance(given, Dim) or given in lengths else point
        for point, given in zip(points, captures, strict=True)
    ]


def row_type(value: Value) -> ArrayType:
    """Return the type of an array without its first dimension."""
    return value.type.with_shape(value.shape[1:])


def zeros(value: Value) -> Value:
    return registry["zeros_like"](value)


@contextmanager
def region_guards() -> Iterator[list[Guard]]:
    """Collect the guards that arise inside the context, for a region that is being made: they must hold where the
    region runs, and not before."""
    with shapes.collect_guards() as found:
        yield found.guards
    lengths = shapes.GuardCollector()
    lengths.equalities = found.equalities
    shapes.require_all(lengths)


def known_or_zero(value: Value | None, like: Value) -> Value:
    return zeros(like) if value is None else value


def strong_type(value: Value) -> ArrayType:
    """Return the type of a value as an array's, even if the value is a Python number."""
    return ArrayType(value.dtype, value.shape)


def strong(value: Value) -> Value:
    """Return a value as one of an array's dtype, even if it is a Python number."""
    return convert(value, value.dtype)


def differentiable(values: Sequence[Value], wanted: Sequence[bool]) -> list[int]:
    """Return the positions of those values with a flag that can change by a little."""
    return [number for number, value in enumerate(values) if wanted[number] and is_differentiable(value)]


def batch_size(inputs: Sequence[Value], batched: Sequence[bool]) -> Extent:
    return next(value.shape[0] for value, flag in zip(inputs, batched, strict=True) if flag)


def element_type(value: Value, flag: bool) -> ArrayType:
    """Return the type of one element of a batch; the type itself for a value that has no batch."""
    return row_type(value) if flag else value.type


def batches_of(points: Sequence[Input], flags: Sequence[bool], size: Extent) -> dict[Value, Input]:
    """Return the whole batches that take the place of stand-ins for one element, for the values that have a flag."""
    return {
        point: Input(ArrayType(point.dtype, (size, *point.shape)), "batch")
        for point, flag in zip(points, flags, strict=True)
        if flag
    }


def batched_region(
    region: Graph, points: Sequence[Input], wholes: Mapping[Value, Value], size: Extent
) -> tuple[list[Batched], list[Guard]]:
    """The outputs of a region for a whole batch, and its guards: each must hold for all elements."""
    return batch_with_guards(opened(region, points), opened_guards(region, points), dict(wholes), size)


def given_or_zero(given: Mapping[int, Value], number: int, value: Value) -> Value:
    """Return the cotangent of a result; where it has none, zeros like it."""
    return given[number] if number in given else zeros(value)


def empty_output(region: Graph, number: int, arrays: Sequence[Any], leading: int) -> np.ndarray:
    """Return memory for an output of a region, once for each of ``leading`` steps. ``arrays`` are like the arrays that
    the region takes."""
    value, environment = region.outputs[number], bind(region, arrays)
    lengths = [length_of(shapes.resolve(extent), environment) for extent in value.shape]
    return np.empty((leading, *lengths), value.dtype)


def in_step(number: Callable[[], int]) -> saying:
    """A context that adds the number of a loop's step to errors that arise inside."""
    return saying(lambda: f"in step {number()}")
