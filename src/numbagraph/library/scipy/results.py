"""Results of solvers: SciPy's own classes, whose attributes may be traced, as nodes of trees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from scipy.optimize import OptimizeResult

from numbagraph.runtime.arguments import register_node

R = TypeVar("R", bound=dict[str, Any])


def result_of(kind: type[R], **fields: Any) -> R:
    """Return an object of a class of results with these attributes."""
    register(kind)
    return put_together((kind, tuple(fields)), fields.values())


def take_apart(result: dict[str, Any]) -> tuple[list[Any], tuple[type, tuple[str, ...]], list[str]]:
    names = tuple(result)
    return list(result.values()), (type(result), names), list(names)


def put_together(about: tuple[type[R], tuple[str, ...]], children: Iterable[Any]) -> R:
    kind, names = about
    made = kind.__new__(kind)
    made.update(zip(names, children, strict=True))
    return made


def register(kind: type) -> None:
    register_node(kind, take_apart, put_together)


register(OptimizeResult)
