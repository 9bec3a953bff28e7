"""Comparisons of tuples and lists that hold traced numbers, such as shapes."""

from __future__ import annotations

import functools
from typing import Any

from numbagraph.frontend.capture.control import asked, not_, truth
from numbagraph.frontend.capture.numbers import is_traced
from numbagraph.frontend.capture.possibly import weak_truth
from numbagraph.frontend.tracing import Tracer
from numbagraph.ir.op import registry


def equal(left: Any, right: Any) -> Any:
    """``left == right``."""
    if not isinstance(left, (tuple, list)) or not isinstance(right, (tuple, list)) or not is_traced(left, right):
        return left == right
    if isinstance(left, tuple) != isinstance(right, tuple) or len(left) != len(right):
        return False
    found = [asked(equal(*pair)) for pair in zip(left, right, strict=True)]
    traced = [truth(each) for each in found if isinstance(each, Tracer)]
    if not all(each for each in found if not isinstance(each, Tracer)):
        return False
    return Tracer(weak_truth(functools.reduce(registry["logical_and"], traced))) if traced else True


def not_equal(left: Any, right: Any) -> Any:
    """``left != right``."""
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)) and is_traced(left, right):
        return not_(equal(left, right))
    return left != right
