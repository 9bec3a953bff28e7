"""Functions traced into regions: the bodies of loops, and branches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import optree

from numbagraph.blockwise import lowering
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Dim, Extent, Input, Node, Value, constant, current_source, toposort
from numbagraph.ops.control.operands import may_fail
from numbagraph.rewrite.engine import is_length
from numbagraph.rewrite.masks import guards_without_masks
from numbagraph.runtime.arguments import flatten
from numbagraph.runtime.structures import structure_of
from numbagraph.tracing.effect_tokens import without_order
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.trace import current_trace, entries_kept, region
from numbagraph.tracing.tracer import Tracer, to_value, user_source

HAS_RUN = "a loop or a branch has run"
TRUE = constant(True, dtype=BOOL)
"""The output of a region that is run for its checks alone."""


@contextmanager
def guards_inside(found: list[Guard]) -> Iterator[None]:
    """Collect the guards that arise inside in ``found``: they belong to a region, and not to the trace."""
    trace = current_trace()
    assert trace is not None
    mark = len(trace.guards.guards)
    try:
        yield
    finally:
        found += trace.guards.guards[mark:]
        del trace.guards.guards[mark:]


class Body(Struct):
    """The result of tracing a function into a region, in terms of the values around the region."""

    outputs: tuple[Value, ...]
    spec: optree.PyTreeSpec
    guards: tuple[Guard, ...]
    """The conditions that the region requires where it is run."""
    used: frozenset[Value]
    """The values around the region that it uses."""

    @property
    def is_checked(self) -> bool:
        """Whether the region has to be run even if its outputs are not used, since it may raise an error on purpose."""
        return any(guard.ordered for guard in self.guards)

    def is_used(self, node: Node) -> bool:
        """Whether a value is one of those around the region, and is not computed again."""
        return node in self.used and not is_recomputed(node)

    def giving(self, outputs: Callable[[], Sequence[Value]]) -> Body:
        """Return this body with other outputs, made of its values, and with the guards that arise as they are made."""
        guards: list[Guard] = []
        with guards_inside(guards):
            made = tuple(outputs())
        return replace(self, outputs=made, guards=(*self.guards, *guards))


LARGEST_RECOMPUTED = 16
"""The largest number of nodes that a region computes again."""


def is_recomputed(value: Value) -> bool:
    """Whether a region computes a value of the enclosing graph again: short arithmetic on lengths and integers of
    Python, since types refer to it. The result of a loop, or an element of an array, is passed."""
    stack, seen = [value], set[Value]()
    while stack:
        each = stack.pop()
        if each in seen or (not isinstance(each, Node) and not each.ndim):
            continue
        if (
            not is_length(each)
            or len(seen) == LARGEST_RECOMPUTED
            or (isinstance(each, Node) and each.op.kind == "control")
        ):
            return False
        seen.add(each)
        stack += each.inputs if isinstance(each, Node) else ()
    return True


def trace_region(
    function: Callable[..., Any],
    arguments: Any,
    what: str,
    given: Sequence[Value] = (),
) -> Body:
    """Call a function in a region of its own.

    Parameters
    ----------
    arguments
        Trees, of which the leaves that are values become tracers.
    what
        How errors speak of the function.
    given
        Values around the region among the leaves.
    """
    trace = current_trace()
    assert trace is not None
    mark = len(trace.guards.guards)
    with without_order(trace, mark), entries_kept(what), region(what) as scope:
        values, structure = flatten(tuple(arguments))
        own = optree.tree_unflatten(structure, [Tracer(each, argument=True) for each in values])
        leaves, spec = flatten(function(*own))
        outputs = tuple(as_value(leaf_value(leaf, what)) for leaf in leaves)
    used = with_late_lengths([*scope.used, *given])
    outputs, guards = guards_without_masks(outputs, trace.guards.guards[mark:], used)
    del trace.guards.guards[mark:]
    return Body(outputs, spec, guards, used)


def with_late_lengths(values: Collection[Value]) -> frozenset[Value]:
    """Return values around a region, and those of their lengths that are no arithmetic on lengths of arguments: no
    region computes those again."""
    lengths = {shapes.resolve(extent) for each in values for extent in each.shape}
    return frozenset([*values, *(each for each in lengths if isinstance(each, Node) and not is_recomputed(each))])


def require_to_run(result: Value) -> None:
    """Let a loop or a branch be run in its place even if its results are not used: it checks something. ``result`` is
    one of its results, and true."""
    shapes.current_collector().add(Guard(result, HAS_RUN, current_source(), ordered=True))


def require_structure(expected: optree.PyTreeSpec, found: optree.PyTreeSpec, what: str) -> None:
    if expected != found:
        raise TraceError(
            f"{what} must give carried values of the structure that it takes, {structure_of(expected)}, not "
            f"{structure_of(found)}\n  at {user_source()}"
        )


def require_equal_lengths(stacked: Sequence[Value], parameters: Sequence[Input]) -> None:
    """Require that the lengths of the stacked results of a loop do not depend on the step."""
    for value in stacked:
        lengths = [extent for extent in map(shapes.resolve, value.shape) if isinstance(extent, Value)]
        if not dependents(parameters, lengths).isdisjoint(lengths):
            where = (isinstance(value, Node) and value.source) or user_source()
            raise TraceError(
                f"{value.type} is stacked, and how long it is depends on the step: reduce it in the step "
                f"(x[mask].sum()), or give all steps the same length (np.where(mask, x, 0))\n  at {where}"
            )


def leaf_value(leaf: Any, what: str) -> Any:
    value = to_value(leaf)
    if isinstance(value, (str, bytes)) or callable(value):
        raise TraceError(
            f"{what} gives {type(leaf).__name__}, which is not an array or a number: return arrays, numbers and trees "
            f"of them\n  at {user_source()}"
        )
    return value


def dependents(parameters: Sequence[Value], values: Sequence[Value]) -> set[Value]:
    """The values that depend on parameters, among all that ``values`` are computed from."""
    found: set[Value] = set(parameters)
    for value in toposort(values):
        if isinstance(value, Node) and not found.isdisjoint(value.inputs):
            found.add(value)
    return found


def invariants(body: Body, parameters: Sequence[Value]) -> set[Value]:
    """The values in a loop's body that are the same in each step, and cannot raise an error: loops that take no step
    raise none. Values without arguments in them (zeros, say) and mere views are left out: they cost nothing where they
    are used."""
    roots = [*body.outputs, *(guard.condition for guard in body.guards)]
    varying = dependents(parameters, roots)
    required = {guard.condition for guard in body.guards} - varying
    lengths = {shapes.resolve(each) if isinstance(each, Dim) else each for each in toposort(required)}
    outer: set[Value] = set()
    failing: set[Value] = set()
    found: set[Value] = set()
    for value in toposort(roots):
        if value in varying:
            continue
        if isinstance(value, Input) or (isinstance(value, Node) and body.is_used(value)):
            outer.add(value)
            continue
        if not isinstance(value, Node):
            continue
        if not outer.isdisjoint(value.inputs):
            outer.add(value)
        if may_fail(value) or not failing.isdisjoint(value.inputs) or is_guarded(value, required, lengths):
            failing.add(value)
        elif value in outer and value.op.kind not in ("view", "identity") and not is_recomputed(value):
            found.add(value)
    return found


def is_guarded(value: Node, required: set[Value], lengths: set[Extent]) -> bool:
    """Whether a value may be computed only where what a body requires holds: its type requires that, or it reads or
    writes at places that are outside of an array of another length. A loop that takes no step requires nothing."""
    if any(each.condition in required for each in value.required):
        return True
    if value.op.kind != "view" and not isinstance(value.op.lower, lowering.Assemble):
        return False
    extents = (shapes.resolve(extent) for extent in value.inputs[0].shape)
    return any(isinstance(extent, Value) and not lengths.isdisjoint(toposort([extent])) for extent in extents)
