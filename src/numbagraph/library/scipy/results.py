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


def register_bunch(kind: type) -> None:
    """Make objects of a class whose attributes are the keywords of its call nodes of trees."""

    def apart(result: Any) -> tuple[list[Any], tuple[str, ...], list[str]]:
        fields = {name: each for name, each in vars(result).items() if not name.startswith("_")}
        return list(fields.values()), tuple(fields), list(fields)

    def together(names: tuple[str, ...], children: Iterable[Any]) -> Any:
        return kind(**dict(zip(names, children, strict=True)))

    register_node(kind, apart, together)


def register_dataclass(kind: type) -> None:
    """Make objects of a dataclass nodes of trees. A list among their attributes is known."""

    def apart(result: Any) -> tuple[list[Any], tuple[Any, ...], list[str]]:
        known = tuple((name, each) for name, each in vars(result).items() if isinstance(each, list))
        fields = {name: each for name, each in vars(result).items() if not isinstance(each, list)}
        return list(fields.values()), (tuple(fields), known), list(fields)

    def together(about: tuple[Any, ...], children: Iterable[Any]) -> Any:
        names, known = about
        return kind(**dict(zip(names, children, strict=True)), **dict(known))

    register_node(kind, apart, together)


register(OptimizeResult)
