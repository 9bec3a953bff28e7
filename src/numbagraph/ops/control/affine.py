"""Analysis of affine functions: a pullback through values that are affine in a point is the same at any point."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, guard_values, substitute
from numbagraph.ir.values import Input, Node, Unsupported, Value, toposort
from numbagraph.ops.control.loop import Loop
from numbagraph.ops.control.operands import strong_type, zeros
from numbagraph.ops.control.pruned_scans import as_loop, narrowed, needed_carries
from numbagraph.ops.creation import is_zeros
from numbagraph.transforms.autodiff import is_differentiable


def at_zero(transposed: Sequence[Value], outputs: Sequence[Value], seeds: Sequence[Value]) -> list[Value] | None:
    """Return ``transposed``, the transpose of ``outputs``, without ``seeds``. It is the same at any seeds if
    ``outputs`` are linear in them, so zeros take their place; loops that give something else, too, may first be rid of
    the seeds. None if ``outputs`` are not seen to be linear."""
    found = narrowed(transposed)
    if set(toposort(found)).isdisjoint(seeds):
        return found
    if not is_affine(narrowed(outputs), seeds):
        return None
    return substitute(found, {each: zeros(each) for each in seeds})


def is_affine(values: Sequence[Value], points: Iterable[Value]) -> bool:
    """Whether values are seen to be affine in some of the values that they are computed from.

    Most ops are affine if their pullback does not read the inputs in question. A loop is affine if its step is, and a
    branch if all branches are.
    """
    dependent = dependents(values, points)
    return all(
        is_affine_node(each, dependent) for each in toposort(values) if isinstance(each, Node) and each in dependent
    )


def dependents(values: Sequence[Value], points: Iterable[Value]) -> set[Value]:
    """Return the values that depend on ``points``, among all that ``values`` are computed from. Each result of a loop
    is looked at by itself."""
    found: set[Value] = set(points)
    for value in toposort(values):
        if isinstance(value, Node) and not found.isdisjoint(value.inputs) and not is_zeros(value):
            flags = [each in found for each in value.inputs]
            if (
                value.op.name != "scan"
                or flags[0]
                or is_varying_result(as_loop(value), value.attrs["result"], flags[1:])
            ):
                found.add(value)
    return found


def is_varying_result(loop: Loop, result: int, flags: Sequence[bool]) -> bool:
    varying = varying_carries(loop.body, flags, loop.carries)
    if loop.carries <= result < loop.outputs:
        return depends([loop.body.outputs[result]], loop.body, varying)
    return varying[result % loop.outputs]


def is_affine_node(node: Node, dependent: Collection[Value]) -> bool:
    """Whether a node is affine in those of its inputs that depend on something."""
    flags = [each in dependent for each in node.inputs]
    varying = [each for each, flag in zip(node.inputs, flags, strict=True) if flag]
    if not all(map(is_differentiable, [node, *varying])):
        return False
    if node.op.kind == "control":
        return is_affine_control(node, flags)
    if isinstance(node.op.vjp, Unsupported) or node.op.computed(node):
        return False
    seed = Input(strong_type(node), "cotangent")
    given = {node.attrs["result"]: seed} if node.op.multi_result else seed
    asked = {"wanted": tuple(flags)} if node.op.selective else {}
    try:
        with shapes.collect_guards():  # what is found is not computed
            found = node.op.vjp(given, node, *node.inputs, **node.attrs, **asked)
    except NotImplementedError:
        return False
    own = [each for each, flag in zip(found, flags, strict=True) if flag and each is not None]
    return not any(isinstance(each, Unsupported) for each in own) and set(dependent).isdisjoint(toposort(own))  # type: ignore[type-var]


def is_affine_control(node: Node, flags: Sequence[bool]) -> bool:
    attrs = node.attrs
    if node.op.name == "switch":
        index, *operands = flags
        return not index and all(is_affine_region(each, operands, [attrs["result"]]) for each in attrs["branches"])
    if node.op.name == "scan":
        length, *operands = flags
        return not length and is_affine_step(attrs["body"], operands, attrs["carries"], needed(node))
    if node.op.name == "while_loop":
        varying = varying_carries(attrs["body"], flags, attrs["carries"])
        asked = depends(attrs["condition"].outputs, attrs["condition"], varying)
        return not asked and is_affine_step(attrs["body"], flags, attrs["carries"], range(attrs["carries"]))
    end = attrs["carries"] + attrs["captures"]
    carried, others = flags[end : end + attrs["carried"]], flags[end + attrs["carried"] :]
    before = [False] * end
    if any(flags[:end]):
        return False
    flags = [*carried, *before, *others]
    return is_affine_step(attrs["pullback"], flags, attrs["carried"], range(len(carried)))


def needed(node: Node) -> list[int]:
    """Return the outputs of the body of a scan that a result of it follows from."""
    loop, result = as_loop(node), node.attrs["result"]
    if loop.carries <= result < loop.outputs:
        return [*needed_carries(loop, (), [result]), result]
    return needed_carries(loop, [result % loop.outputs], ())


def is_affine_step(body: Graph, flags: Sequence[bool], carries: int, results: Iterable[int]) -> bool:
    """Whether some outputs of a loop's body are affine in those operands of the loop that have a flag."""
    return is_affine_region(body, varying_carries(body, flags, carries), results)


def varying_carries(body: Graph, flags: Sequence[bool], carries: int) -> list[bool]:
    """The flags, and one for each carry that depends on what has one in some step."""
    found = list(flags)
    while True:
        after = [found[place] or depends([body.outputs[place]], body, found) for place in range(carries)]
        if after == found[:carries]:
            return found
        found[:carries] = after


def depends(values: Sequence[Value], region: Graph, flags: Sequence[bool]) -> bool:
    points = {each for each, flag in zip(region.inputs, flags, strict=True) if flag}
    return not dependents(values, points).isdisjoint(values)


def is_affine_region(region: Graph, flags: Sequence[bool], results: Iterable[int]) -> bool:
    """Whether some outputs of a region are affine in those inputs that have a flag, and its guards are the same."""
    points = [each for each, flag in zip(region.inputs, flags, strict=True) if flag]
    if depends(guard_values(region.guards), region, flags):
        return False
    return is_affine([region.outputs[each] for each in results], points)
