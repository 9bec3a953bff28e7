"""Comparisons of tuples and lists that hold traced numbers, such as shapes."""

from __future__ import annotations

import functools
import operator
from typing import Any

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.special_methods import compared
from numbagraph.capture.statements.control_flow import asked, if_expression, not_, truth
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import resolved
from numbagraph.capture.values.iterables import require_known
from numbagraph.capture.values.optional import weak_truth
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.ir.op import registry
from numbagraph.tracing.tracer import Tracer, user_source


def require_comparable(left: Any, right: Any) -> None:
    """Raise for a list, a dict or a set of traced length beside another one: tracing cannot tell whether they are
    equal."""
    require_known(left)
    require_known(right)
    one, other = resolved(left), resolved(right)
    containers = (Stacked, list, dict, set)
    if isinstance(one, containers) and isinstance(other, containers):
        traced = next((each for each in (one, other) if isinstance(each, Stacked)), None)
        if traced is not None:
            raise CaptureError(
                f"a comparison with {traced!r}, whose length is traced: np.array_equal(x, y) compares lists of numbers"
                f"\n  at {user_source()}"
            )


def equal(left: Any, right: Any) -> Any:
    """``left == right``."""
    if (found := compared("eq", left, right)) is not NotImplemented:
        return found
    require_comparable(left, right)
    if not isinstance(left, (tuple, list)) or not isinstance(right, (tuple, list)) or not is_traced(left, right):
        return left == right
    if isinstance(left, tuple) != isinstance(right, tuple) or len(left) != len(right):
        return False
    found = [asked(equal(*pair)) for pair in zip(left, right, strict=True)]
    traced = [truth(each) for each in found if isinstance(each, Tracer)]
    if not all(each for each in found if not isinstance(each, Tracer)):
        return False
    return Tracer(weak_truth(functools.reduce(registry["logical_and"], traced))) if traced else True


def ordered(name: str, left: Any, right: Any) -> Any:
    """``left < right`` and its like, by the first elements of tuples and lists that differ."""
    require_known(left)
    require_known(right)
    compare = getattr(operator, name)
    if (answer := compared(name, left, right)) is not NotImplemented:
        return answer
    kind = type(left)
    if kind not in (tuple, list) or type(right) is not kind or not is_traced(left, right):
        return compare(left, right)
    found: Any = compare(len(left), len(right))
    for one, other in reversed(list(zip(left, right, strict=False))):
        found = if_expression(
            equal(one, other), lambda kept=found: kept, lambda pair=(one, other): ordered(name, *pair)
        )
    return found


def not_equal(left: Any, right: Any) -> Any:
    """``left != right``."""
    if (found := compared("ne", left, right)) is not NotImplemented:
        return found
    if (found := compared("eq", left, right)) is not NotImplemented:
        return not_(found)
    require_comparable(left, right)
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)) and is_traced(left, right):
        return not_(equal(left, right))
    return left != right
