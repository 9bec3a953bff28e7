"""Small classes of named values, declared as dataclasses are.

The standard library's decorator writes the methods of each class as text and compiles it, 0.4 ms a class: of a hundred
classes, that was a third of the time that importing numbagraph took. Here all classes share their methods. These take
longer to make an object, by half a microsecond a field, so what is made for each node of a graph is still a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, field
from inspect import get_annotations
from operator import attrgetter
from typing import Any, Generic, NoReturn, Self, TypeVar, dataclass_transform, overload

from numbagraph.ir.public import Public

_set = object.__setattr__
S = TypeVar("S", bound="Struct")
T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Struct(Public):
    """A base class, whose subclasses' annotations are fields, in their order; `dataclasses.field` says more of one.

    Parameters
    ----------
    frozen
        Whether the fields stay as they are. What may change is compared by identity.
    eq
        Whether two of the same fields are equal, rather than each equal to itself alone.
    """

    __fields__: tuple[str, ...] = ()
    """The names of all fields; those that are given by name only come last."""
    __declared__: Mapping[str, Field[Any]] = {}
    __defaults__: Mapping[str, Any] = {}
    """The defaults of fields; ``MISSING`` for one that is made anew each time."""
    __factories__: Mapping[str, Callable[[], Any]] = {}

    def __init_subclass__(cls, frozen: bool = True, eq: bool = True) -> None:
        own = {name: as_field(cls.__dict__.get(name, MISSING)) for name in get_annotations(cls)}
        cls.__declared__ = declared = {**cls.__declared__, **own}
        cls.__fields__ = tuple(sorted(declared, key=lambda name: declared[name].kw_only is True))
        cls.__factories__ = made = {
            name: each.default_factory for name, each in declared.items() if each.default_factory is not MISSING
        }
        cls.__defaults__ = {
            name: each.default for name, each in declared.items() if each.default is not MISSING or name in made
        }
        compared = [name for name in cls.__fields__ if declared[name].compare]
        cls.__compared__ = attrgetter(*compared or ["__class__"])
        if frozen:
            cls.__setattr__ = cls.__delattr__ = refuse
        if not (frozen and eq):
            cls.__eq__, cls.__hash__ = object.__eq__, object.__hash__

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names = self.__fields__
        if kwargs or len(args) != len(names):
            args = complete(type(self), args, kwargs)
        for name, value in zip(names, args, strict=True):
            _set(self, name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Do the rest of the initialisation, when all fields have their values."""

    def __eq__(self, other: object, /) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.__compared__(self) == self.__compared__(other)

    def __hash__(self) -> int:
        return hash(self.__compared__(self))

    def __repr__(self) -> str:
        shown = [name for name, declared in self.__declared__.items() if declared.repr]
        return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in shown])})"


class cached_property(Generic[T]):
    """A property that is computed once, like that of ``functools`` from Python 3.12 on.

    That of Python 3.11 has a lock, which in a forked child would stay locked if another thread was computing.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> Self | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.compute(instance)
        return value


def as_field(default: Any) -> Field[Any]:
    return default if isinstance(default, Field) else field(default=default)


def refuse(self: Struct, name: str, *value: Any) -> NoReturn:  # noqa: ARG001
    raise FrozenInstanceError(f"{name!r} of a {type(self).__name__} cannot be changed")


def complete(cls: type[Struct], args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of all fields, in their order."""
    names = cls.__fields__
    values = {**cls.__defaults__, **dict(zip(names, args, strict=False)), **kwargs}
    twice = len(args) > len(names) or not kwargs.keys().isdisjoint(names[: len(args)])
    if twice or values.keys() != cls.__declared__.keys():
        by_name = f" and {', '.join(kwargs)}" if kwargs else ""
        raise TypeError(f"{cls.__name__} takes {', '.join(names) or 'nothing'}, not {len(args)} values{by_name}")
    for name, make in cls.__factories__.items():
        if values[name] is MISSING:
            values[name] = make()
    return tuple([values[name] for name in names])


def replace(struct: S, **changes: Any) -> S:
    """A struct like this one, with some fields changed."""
    return type(struct)(**{name: getattr(struct, name) for name in struct.__fields__} | changes)
