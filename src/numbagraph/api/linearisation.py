"""Derivatives of values with respect to points: values of a trace at which a function is differentiated.

A point is an opaque leaf as long as its derivative is not complete. The outputs are rewritten before they are
differentiated, and a rewriting that went through a point would leave another value in its place, on which no derivative
depends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from numbagraph.ir.later import Later
from numbagraph.ir.op import registry
from numbagraph.ir.opaque import opaque
from numbagraph.ir.values import Value
from numbagraph.tracing.trace import active, current_trace
from numbagraph.transforms import autodiff

if TYPE_CHECKING:
    from numbagraph.ops.control import affine
    from numbagraph.rewrite import independence, pipeline
else:
    affine, pipeline = Later("numbagraph.ops.control.affine"), Later("numbagraph.rewrite.pipeline")
    independence = Later("numbagraph.rewrite.independence")


def at_points(values: Sequence[Value]) -> AbstractContextManager[Sequence[Value]]:
    """Replace values by stand-ins inside the block, so that a derivative is taken with respect to their uses there
    alone."""
    trace = current_trace()
    assert trace is not None
    return opaque([trace.alias(value) for value in values])


def prepared(
    outputs: Sequence[Value], points: Sequence[Value], branching: bool = False, beside: Sequence[Value] = ()
) -> list[Value]:
    """Return the values in the form in which they should be differentiated: see `numbagraph.rewrite.pipeline.prepare`.

    With ``branching``, choices become branches, but in regions: what is the same in all steps of a loop leaves it, and
    no branch does.
    """
    is_region = active.scope is not None and active.scope.parent is not None
    stabilise = active.trace is None or active.trace.stabilises
    found = pipeline.prepare(outputs, points if branching and not is_region else (), beside, stabilise=stabilise)
    if len(autodiff.reached(found, points)) < len(points):
        independence.require(outputs, found, points)
    return found


def cotangents_of(
    outputs: Sequence[Value],
    given: Sequence[Value],
    points: Sequence[Value],
    branching: bool = False,
    beside: Sequence[Value] = (),
) -> list[Value]:
    """Return the cotangents of ``points``, zero for points on which no output depends."""
    found = autodiff.cotangents(prepared(outputs, points, branching, beside), given, points)
    return [zeros_like(point) if each is None else each for each, point in zip(found, points, strict=True)]


def tangents_of(outputs: Sequence[Value], points: Sequence[Value], given: Sequence[Value]) -> list[Value]:
    """The tangents of outputs, given those of points."""
    return autodiff.tangents(prepared(outputs, points), points, given, affine.at_zero)


def zeros_like(value: Value) -> Value:
    return registry["zeros_like"](value)
