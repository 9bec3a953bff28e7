"""Truth values that are known in a region, from its condition or an earlier check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Constant, Node, Value
from numbagraph.tracing.trace import active


@contextmanager
def assumed(test: Value, holds: bool) -> Iterator[None]:
    """Assume inside the block that a condition holds, or does not."""
    scope = active.scope
    assert scope is not None
    before = scope.facts
    learn(test, holds)
    try:
        yield
    finally:
        scope.facts = before


def learn(test: Value, holds: bool) -> None:
    """Note that a condition holds, or does not, from now on in this region and in those inside."""
    scope = active.scope
    assert scope is not None
    scope.facts = {**scope.facts, **dict(consequences(test, holds))}


def consequences(test: Value, holds: bool) -> Iterator[tuple[Value, bool]]:
    """The truth values that follow from a condition's, with its own."""
    yield test, holds
    if not isinstance(test, Node):
        return
    name = test.op.name
    if name == "cast" and test.inputs[0].dtype == BOOL:
        yield from consequences(test.inputs[0], holds)
    elif name == "logical_not":
        yield from consequences(test.inputs[0], not holds)
    elif name == ("logical_and" if holds else "logical_or"):
        for each in test.inputs:
            yield from consequences(each, holds)


def known(flag: Value) -> bool | None:
    """The truth of a flag; None where it is not known."""
    if isinstance(flag, Constant):
        return bool(flag.data)
    scope = active.scope
    while scope is not None:
        if flag in scope.facts:
            return scope.facts[flag]
        scope = scope.parent
    return None
