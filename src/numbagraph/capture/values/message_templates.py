"""Templates of the texts of errors and prints, which are filled once their numbers are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.ir.structs import Struct
from numbagraph.tracing.errors import OnlyTraced, user_source


class Template(Protocol):
    """A template that makes a text of values, as `str.format` does."""

    def format(self, /, *values: Any) -> str: ...


class Percent(Struct):
    """``pattern % values``."""

    pattern: str
    names: tuple[str, ...] | None
    """The keys of the values, if a dict holds them."""

    def format(self, /, *values: Any) -> str:
        return self.pattern % (values if self.names is None else dict(zip(self.names, values, strict=True)))


class Fields(Struct):
    """``pattern.format(*values, name=value, ...)``; values that have names are the last ones."""

    pattern: str
    names: tuple[str, ...]

    def format(self, /, *values: Any) -> str:
        count = len(values) - len(self.names)
        return self.pattern.format(*values[:count], **dict(zip(self.names, values[count:], strict=True)))


class Nested(Struct):
    """A text some of whose values are texts themselves."""

    outer: Template
    inner: tuple[tuple[Template | None, int], ...]
    """For each value, its own template if it is a text, and the number of values that make it."""

    def format(self, /, *values: Any) -> str:
        return self.outer.format(*own_values(self.inner, values))


def own_values(inner: Sequence[tuple[Template | None, int]], values: Sequence[Any]) -> list[Any]:
    """Combine several values to one text where a value has a template."""
    rest = iter(values)
    found = []
    for template, count in inner:
        own = [next(rest) for _ in range(count)]
        found.append(own[0] if template is None else template.format(*own))
    return found


class Text(OnlyTraced):
    """A text of which some values are traced."""

    __slots__ = ("template", "values")

    advice = "a text of traced values can be printed, and given to errors: return the values"

    def __init__(self, template: Template, values: tuple[Any, ...]) -> None:
        self.template = template
        self.values = values

    @classmethod
    def of(cls, template: Template, values: Sequence[Any]) -> Text:
        """A text of values that may be texts."""
        if not any(isinstance(each, Text) for each in values):
            return cls(template, tuple(values))
        inner = tuple(taken_apart(each)[0] for each in values)
        return cls(Nested(template, inner), tuple(each for value in values for each in taken_apart(value)[1]))

    def __repr__(self) -> str:
        return f"a text of {', '.join(map(repr, self.values))}"

    def __add__(self, other: Any) -> Text:
        return Text.of("{}{}", (self, other)) if isinstance(other, (str, Text)) else NotImplemented

    def __radd__(self, other: Any) -> Text:
        return Text.of("{}{}", (other, self)) if isinstance(other, str) else NotImplemented

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise CaptureError(
            f"a text of traced values has no characters while the function is traced; it can be joined, printed and "
            f"given to errors alone. Compare the values that it is made of\n  at {user_source()}"
        )

    __mul__ = __mod__ = __getitem__ = __iter__ = __len__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse  # type: ignore[assignment]
    __bool__ = __contains__ = __hash__ = _refuse  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


def taken_apart(value: Any) -> tuple[tuple[Template | None, int], tuple[Any, ...]]:
    """Return the template of a text and the number of values that it takes, and these values."""
    if isinstance(value, Text):
        return (value.template, len(value.values)), value.values
    return (None, 1), (value,)
