"""Texts and functions of a list or a dict, of which branches choose one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from numbagraph.capture.statements.control_flow import if_expression
from numbagraph.capture.values.strings import ChosenText
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import Tracer

Conditions = Sequence[tuple[int, Tracer]]


def by_text(holder: dict[Any, Any], key: ChosenText, options: Sequence[str]) -> Any:
    """Return an element of a dict, by one of several texts."""
    first, *others = options
    if not others:
        return holder[first]
    return if_expression(key == first, lambda: holder[first], lambda: by_text(holder, key, others))


def are_objects(holder: Sequence[Any]) -> bool:
    """Whether the elements of a list are texts, or functions, of which branches can choose one."""
    kinds = {type(each) is str if callable(each) or type(each) is str else None for each in holder}
    return len(kinds) == 1 and None not in kinds


def object_at(holder: Sequence[Any], conditions: Conditions) -> Any:
    """Return the text or the function that a list has where a condition holds. Of several functions, branches choose in
    each call."""
    if len(holder) > 2 and all(isinstance(each, (FunctionType, BuiltinFunctionType, np.ufunc)) for each in holder):
        return lambda *args, **kwargs: by_place(holder, conditions, lambda each: converted(each)(*args, **kwargs))
    return by_place(holder, conditions, lambda each: each)


def by_place(holder: Sequence[Any], conditions: Conditions, use: Callable[[Any], Any]) -> Any:
    (place, here), *others = conditions
    if not others:
        return use(holder[place])
    return if_expression(here, lambda: use(holder[place]), lambda: by_place(holder, others, use))
