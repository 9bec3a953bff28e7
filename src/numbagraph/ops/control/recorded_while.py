"""While loops that record values of each step, so that a pullback can go through the steps in reverse."""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, guard_values, substitute, with_guard_values
from numbagraph.ir.regions import Draft, close, close_together, opened, opened_guards, without_unused
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, Value, toposort
from numbagraph.ops.control.operands import stand_ins, strong_type
from numbagraph.ops.control.records import Records, gone_back, records_of
from numbagraph.ops.control.updates import Step, not_restored
from numbagraph.ops.control.while_pullback import Pullback


class Recorded(Struct, eq=False):
    """A while loop whose steps give what is stored of them beside what they carry on, and the loop over these steps
    from the last to the first.

    The second carries cotangents, and those carries of the first that it restores, from what they were in the end. Its
    region is given these, what is stored, and what it captures.
    """

    condition: Graph
    body: Graph
    captures: tuple[Value, ...]
    pullback: Graph
    restored: tuple[int, ...]
    """Carries of the first loop that the second one restores, by number."""
    captured: tuple[Value, ...]
    """The values that the pullback captures."""


def recorded(node: Node) -> Recorded:
    """Return the two loops of a `while_pullback`. For an array that a step updates, elements are stored
    (`records_of`)."""
    pullback = Pullback(**{name: each for name, each in node.attrs.items() if name != "result"})
    carry, captures, carried, others = pullback.split(node.inputs)
    operands = [*carry, *captures, *others]
    points = stand_ins([each.type for each in operands], "point")
    seeds = stand_ins(map(strong_type, carried), "cotangent")
    own, shared = points[: len(carry) + len(captures)], points[len(carry) :]
    known: dict[Value, Value] = dict(zip(shared, operands[len(carry) :], strict=True))
    with shapes.collect_guards():  # the node requires the same
        outputs, back = opened(pullback.body, own), opened(pullback.pullback, [*seeds, *points])
        required = opened_guards(pullback.pullback, [*seeds, *points])
        in_part = not_restored(points, outputs, len(carry))
        step = Step(points, outputs, len(carry), len(carry), [*back, *guard_values(required)], seeds, in_part)
        records = records_of(step)
        if not have_known_lengths(records.stored):
            records = Records()
        logs = stand_ins([each.type for each in records.stored], "stored")
        view = gone_back(step, records, logs)
        results = view.seen_by([*back, *view.before.values(), *guard_values(required)])
    read = set(toposort(results))
    whole = [each for each in points[: len(carry)] if each in read]
    drafts = (
        Draft(pullback.condition.name, opened(pullback.condition, own), opened_guards(pullback.condition, own)),
        Draft(pullback.body.name, [*outputs, *records.stored, *whole], opened_guards(pullback.body, own)),
    )
    regions, more = close_together(points, drafts)
    (condition, body), kept = without_unused(regions, len(carry))
    given = [*operands, *substitute(more, known)]
    last = len(back) + len(view.before)
    parameters = [*seeds, *view.after.values(), *logs, *whole]
    closed = close(
        [*parameters, *shared],
        results[:last],
        name=pullback.pullback.name,
        guards=with_guard_values(required, results[last:]),
    )
    (region,), used = without_unused([closed.region], len(parameters))
    captured = [*known.values(), *substitute(closed.captures, known)]
    return Recorded(
        condition,
        body,
        tuple(given[number] for number in kept[len(carry) :]),
        region,
        tuple(view.after),
        tuple(captured[number - len(parameters)] for number in used[len(parameters) :]),
    )


def have_known_lengths(values: Sequence[Value]) -> bool:
    """Whether the lengths of values follow from those of operands, and not from elements."""
    lengths = toposort(shapes.as_value(extent) for each in values for extent in each.shape)
    return not any(each.ndim or (isinstance(each, Node) and each.op.kind == "control") for each in lengths)
