"""Proofs that values became independent of others while they were rewritten: no derivative is zero without one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from numbagraph.ir.values import Input, Value, toposort
from numbagraph.rewrite.engine import Rewrite, Rewriter
from numbagraph.rewrite.pipeline import PREPARE
from numbagraph.transforms.autodiff import cotangents, reached


def require(before: Sequence[Value], after: Sequence[Value], points: Collection[Value]) -> None:
    """Require a reason for each of ``points`` that ``before`` depends on and ``after`` does not: a rule that removes
    the dependence.

    Parameters
    ----------
    before, after
        Values as they were, and as `numbagraph.rewrite.pipeline.prepare` gave them.
    points
        What they are to be differentiated by.

    Raises
    ------
    AssertionError
        If a point was lost without a reason: that is a fault of a rewriting.
    """
    lost = reached(before, points) - reached(after, points)
    unproven = [each for each in lost if not is_still(before, each) and not is_dropped(before, each)]
    if unproven:
        names = ", ".join(str(each.type) for each in unproven)
        raise AssertionError(f"a rewriting lost the way from a value to a point of its derivative ({names})")


def is_still(values: Sequence[Value], point: Value) -> bool:
    """Whether the derivatives of values say that none of them changes with a point."""
    seeds = [Input(each.type, "cotangent") for each in values]
    try:
        (found,) = cotangents(values, seeds, [point])
    except NotImplementedError:
        return False
    return found is None


def is_dropped(values: Sequence[Value], point: Value) -> bool:
    """Whether a rule replaces a value that changes with a point by one that does not, here or in a region."""
    outside = set(toposort(values))
    for each in PREPARE:
        rewriter = Rewriter(each.rules)
        values = [rewriter.value(value) for value in values]
        if any(drops(rewrite, point, outside) for rewrite in rewriter.rewrites):
            return True
    return False


def drops(rewrite: Rewrite, point: Value, outside: Collection[Value]) -> bool:
    """Whether one application of a rule removes the dependence on a point, or on an input of a region."""
    given = (each for each in inputs_of([rewrite.node]) if each not in outside)
    wanted = [point, *given]
    return bool(reached([rewrite.node], wanted) - reached([rewrite.replacement], wanted))


def inputs_of(values: Iterable[Value]) -> list[Value]:
    return [each for each in toposort(values) if isinstance(each, Input)]
