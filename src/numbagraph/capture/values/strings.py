"""Texts that branches and loops choose from: a number of the program says which text it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.message_templates import Fields, Percent, Template, Text
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Value
from numbagraph.runtime.arguments import register_node
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.static_values import numbers_in
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class Leaf:
    """A part of a variable at the end of a branch or a body."""

    __slots__ = ("object", "value")

    def __init__(self, object: Any, value: Value | None) -> None:
        self.object = object
        self.value = value
        """The value, if the part is a number or an array."""


class ChosenText(OnlyTraced):
    """One of several texts."""

    __slots__ = ("index", "options")

    def __init__(self, options: tuple[str, ...], index: Tracer) -> None:
        self.options = options
        self.index = index
        """The place of the text among the options."""

    def operand(self) -> NoReturn:
        raise self._refusal()

    def where(self, holds: Callable[[str], Any]) -> Any:
        """Whether something holds for the text, given that it is known for each option."""
        places = [place for place, option in enumerate(self.options) if holds(option)]
        if len(places) in (0, len(self.options)):
            return bool(places)
        found: Value = registry["equal"](self.index.value, places[0])
        for place in places[1:]:
            found = registry["logical_or"](found, registry["equal"](self.index.value, place))
        return Tracer(registry["cast"].bind(found, dtype=BOOL, weak=True))

    def __eq__(self, other: object) -> Any:
        if isinstance(other, ChosenText):
            same = [both(self.where(option.__eq__), other.where(option.__eq__)) for option in self.options]
            return any_of(same)
        return self.where(lambda option: option == other)

    def __ne__(self, other: object) -> Any:
        same = self == other
        if not isinstance(same, Tracer):
            return not same
        return Tracer(registry["cast"].bind(registry["logical_not"](same.value), dtype=BOOL, weak=True))

    def __bool__(self) -> bool:
        if all(self.options) or not any(self.options):
            return bool(self.options[0])
        raise self._refusal()

    def _refusal(self) -> CaptureError:
        shown = ", ".join(map(repr, self.options))
        error = CaptureError(
            f"a text that a loop or a branch on traced values chooses ({shown}) can be compared, looked for and "
            f"returned: do the rest with each text, on each path\n  at {user_source()}"
        )
        error.numbers = frozenset(numbers_in(self.index))  # known ones choose while the function is traced
        return error

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise self._refusal()

    __add__ = __radd__ = __mul__ = __mod__ = __getitem__ = __iter__ = __len__ = __lt__ = __le__ = __gt__ = _refuse
    __ge__ = __str__ = __format__ = __contains__ = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:
        raise self._refusal()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._refusal()

    def __repr__(self) -> str:
        return f"one of the texts {', '.join(map(repr, self.options))}"


def both(one: Any, other: Any) -> Any:
    if not isinstance(one, Tracer) or not isinstance(other, Tracer):
        return (other if one else False) if not isinstance(one, Tracer) else (one if other else False)
    return Tracer(registry["cast"].bind(registry["logical_and"](one.value, other.value), dtype=BOOL, weak=True))


def any_of(truths: Sequence[Any]) -> Any:
    traced = [each.value for each in truths if isinstance(each, Tracer)]
    if any(each for each in truths if not isinstance(each, Tracer)) or not traced:
        return any(each for each in truths if not isinstance(each, Tracer))
    found = traced[0]
    for each in traced[1:]:
        found = registry["logical_or"](found, each)
    return Tracer(registry["cast"].bind(found, dtype=BOOL, weak=True))


# ---- in errors ----


def chosen_text(arguments: Sequence[Any]) -> ChosenText | None:
    """The first chosen text in the arguments of an error, or None."""
    parts = [part for each in arguments for part in (each.values if isinstance(each, Text) else (each,))]
    return next((each for each in parts if isinstance(each, ChosenText)), None)


def with_text(arguments: Sequence[Any], chosen: ChosenText, text: str) -> list[Any]:
    """Return the arguments of an error with one of the texts in place of a chosen text."""

    def own(part: Any) -> Any:
        return text if part is chosen else part

    return [Text(each.template, tuple(map(own, each.values))) if isinstance(each, Text) else own(each)
            for each in arguments]  # fmt: skip


# ---- of traced values ----


def text(template: Template, *values: Any) -> Any:
    """Return the text of a template and values: a text that is made later, if they are traced."""
    if any(isinstance(each, (Tracer, ChosenText, Text)) for each in values):
        return Text.of(template, values)
    return template.format(*values)


def percent(pattern: str, values: Any) -> Any:
    """``pattern % values``."""
    if isinstance(values, Mapping):
        return text(Percent(pattern, tuple(values)), *values.values())
    return text(Percent(pattern, None), *(values if isinstance(values, tuple) else (values,)))


def formatting(pattern: str) -> Callable[..., Any]:
    """``pattern.format``."""
    return lambda *args, **kwargs: text(Fields(pattern, tuple(kwargs)), *args, *kwargs.values())


def joining(separator: str) -> Callable[[Any], Any]:
    """``separator.join``."""

    def call(texts: Any) -> Any:
        if isinstance(texts, (list, tuple)) and any(isinstance(each, Text) for each in texts):
            between = separator.replace("{", "{{").replace("}", "}}")
            return Text.of(between.join(["{}"] * len(texts)), texts)
        return separator.join(texts)

    return call


def shown_as(function: Callable[..., str]) -> Callable[..., Any]:
    """``str`` or ``repr``."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], (Tracer, ChosenText, Text)):
            return text("{}" if function is str else "{!r}", *args)
        return function(*args, **kwargs)

    return call


# ---- as trees ----


class Texts:
    """The pytree node of a chosen text, by which a variable is taken apart."""

    __slots__ = ("index", "options")

    def __init__(self, options: tuple[str, ...], index: Any) -> None:
        self.options, self.index = options, index


def _put_together(options: Any, children: Any) -> Any:
    (index,) = children
    if isinstance(index, Leaf):
        return Texts(options, index)
    return ChosenText(options, index) if isinstance(index, Tracer) else options[int(index)]


def _taken_apart(node: Any) -> tuple[tuple[Any], tuple[str, ...]]:
    return (node.index,), node.options


register_node(Texts, _taken_apart, _put_together)


def is_text(thing: Any) -> bool:
    return isinstance(thing, Texts) or (isinstance(thing, Leaf) and type(thing.object) is str)


def are_other_texts(one: Any, other: Any) -> bool:
    """Whether two parts of variables are texts, and not known to be the same."""
    if not is_text(one) or not is_text(other):
        return False
    return isinstance(one, Texts) or isinstance(other, Texts) or one.object != other.object


def united(one: Any, other: Any) -> tuple[Texts, Texts]:
    """Return two texts with the same options."""
    options = tuple(dict.fromkeys([*options_of(one), *options_of(other)]))
    return among(one, options), among(other, options)


def options_of(text: Any) -> tuple[str, ...]:
    return text.options if isinstance(text, Texts) else (text.object,)


def among(text: Any, options: tuple[str, ...]) -> Texts:
    """Return a text as a choice from more options."""
    places = [options.index(each) for each in options_of(text)]
    if not isinstance(text, Texts):
        return Texts(options, Leaf(places[0], weak_constant(places[0])))
    if places == list(range(len(places))):
        return Texts(options, text.index)
    index = text.index.value
    found: Value = weak_constant(places[0])
    for place, new in enumerate(places[1:], 1):
        found = registry["where"](registry["equal"](index, place), weak_constant(new), found)
    return Texts(options, Leaf(Tracer(to_value(found)), found))
