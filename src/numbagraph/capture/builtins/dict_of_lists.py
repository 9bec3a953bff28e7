"""Dicts of lists with traced keys (``groups[k].append(v)``): a table whose values are `Lists`, each in the place of its
key."""

from __future__ import annotations

from typing import Any

from numbagraph.capture.builtins.hash_table import Made, Table
from numbagraph.capture.syntax.source import CaptureError, site
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.iterables import Generated, Range, whole_number
from numbagraph.capture.values.list_of_lists import Lists, Row
from numbagraph.capture.values.raised_errors import Raised
from numbagraph.capture.values.traced_keys import Defaulting, note_keyed
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.runtime.arguments import register_node
from numbagraph.tracing.trace import active
from numbagraph.tracing.tracer import Tracer, user_source


def begun(container: Any) -> Any:
    """Return a dict or a set that converted code makes, as it is or as a table."""
    place, factory = (*site(), type(container).__name__), getattr(container, "default_factory", None)
    if (place, "keys") not in active.widened:
        note_keyed(container, place)
        return made(container)
    name = "defaultdict" if type(container) is Defaulting else type(container).__name__
    holds_lists = factory is list or (place, "rows") in active.widened
    table = (Grouped if holds_lists else Table)(place, Made(name, factory))
    table.update(container if isinstance(container, dict) else list(container))
    return made(table)


class Grouped(Table):
    """One dict of lists."""

    default = None  # type: ignore[assignment]

    def __init__(self, place: Any, kind: Made) -> None:
        super().__init__(place, kind)
        self.lists = Lists(place, self.room)

    def row(self, key: Any) -> Row:
        """The list of a key, which is empty if it was not there."""
        return self.lists.at(Tracer(self.enter(key)))

    def __getitem__(self, key: Any) -> Any:
        if self.stands_for.name == "defaultdict":
            return self.row(key)
        return self.lists.at(Tracer(self.required(key)))

    part = __getitem__

    def required(self, key: Any) -> Value:
        place = self.place_of(key)
        Raised(KeyError, (key,)).require(registry["greater_equal"](place, 0))
        return place

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, Row) and value.holder is self.lists:  # d[k] += [v] has done it
            return
        row = self.row(key)
        row.clear()
        row.extend(value)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if type(default) is not list or default:
            self._refuse_lists()
        return self.row(key)

    def items(self) -> Any:
        return Generated(Range(Tracer(self.count())), self.pair, None, False)

    def pair(self, number: Tracer) -> tuple[Any, Row]:
        return self.read(whole_number(number)), self.lists.at(number)

    def values(self) -> Any:
        return Generated(Range(Tracer(self.count())), self.lists.at, None, False)

    def result(self) -> Any:
        return Pairs(self.listed().result(), self.lists.result(), self.stands_for)

    def _refuse_lists(self, *_: Any, **__: Any) -> Any:
        raise CaptureError(
            f"this use of a dict of lists with traced keys: append to its lists (x.setdefault(k, []) makes them), loop "
            f"over them, and ask `k in x` before x[k]\n  at {user_source()}"
        )

    get = pop = __delitem__ = remove = discard = move = copy = copy_as = clear = most_common = _refuse_lists


class Pairs:
    """A dict of lists as a result: the keys, and the lists."""

    def __init__(self, keys: Any, lists: Any, kind: Made) -> None:
        self.keys, self.lists, self.kind = keys, lists, kind


def _put_together(kind: Made, children: Any) -> Any:
    keys, lists = children
    if not isinstance(keys, list) or not isinstance(lists, list):
        return Pairs(keys, lists, kind)
    return kind.made(list(zip(keys, lists, strict=False)))  # there is room for more lists


register_node(Pairs, lambda node: ((node.keys, node.lists), node.kind), _put_together)
