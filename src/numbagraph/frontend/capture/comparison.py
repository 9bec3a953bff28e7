"""Comparisons of tuples and lists that hold traced numbers, such as shapes."""

from __future__ import annotations

import functools
import operator
from typing import Any

from numbagraph.frontend.capture.control import asked, if_expression, not_, truth
from numbagraph.frontend.capture.iterables import require_known
from numbagraph.frontend.capture.numbers import is_traced
from numbagraph.frontend.capture.possibly import weak_truth
from numbagraph.frontend.tracing import Tracer
from numbagraph.ir.op import registry


def equal(left: Any, right: Any) -> Any:
    """``left == right``."""
    require_known(left)
    require_known(right)
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
    require_known(left)
    require_known(right)
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)) and is_traced(left, right):
        return not_(equal(left, right))
    return left != right
