"""Places that a function reads: how each is made, how it is read, and how it changes between calls, as Python's text.

In these, ``{k}`` is the number of a place, and ``value`` what it is given.
"""

from __future__ import annotations

import dataclasses
import types
from collections import OrderedDict, UserDict, defaultdict, deque
from typing import Any, NamedTuple

import numpy as np

from tests.support.rebinding import with_constant


class Part:
    """An object with an attribute."""

    def __init__(self, v: Any) -> None:
        self.v = v

    @property
    def read(self) -> Any:
        return self.v

    def times(self, x: Any) -> Any:
        return x * self.v


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v


@dataclasses.dataclass
class Fields:
    v: Any
    more: list[Any]


class Pair(NamedTuple):
    first: Any
    second: Any


NAMES: dict[str, Any] = {
    "np": np,
    "Part": Part,
    "Slotted": Slotted,
    "Fields": Fields,
    "Pair": Pair,
    "Space": types.SimpleNamespace,
    "dataclasses": dataclasses,
    "with_constant": with_constant,
    **{each.__name__: each for each in (OrderedDict, UserDict, defaultdict, deque)},
}


class Place(NamedTuple):
    """How something is made, read and changed."""

    made: str
    read: str
    changes: tuple[str, ...]


def cell(k: str) -> str:
    return f"""
def make{k}(kept):
    def get(): return kept
    def put(new):
        nonlocal kept
        kept = new
    return get, put
get{k}, put{k} = make{k}(value)"""


PLACES: dict[str, Place] = {
    "global": Place("g{k} = value", "g{k}", ("g{k} = value",)),
    "cell": Place(cell("{k}"), "get{k}()", ("put{k}(value)",)),
    "attribute": Place("o{k} = Part(value)", "o{k}.v", ("o{k}.v = value", "o{k} = Part(value)")),
    "property": Place("o{k} = Part(value)", "o{k}.read", ("o{k}.v = value", "o{k} = Part(value)")),
    "slot": Place("o{k} = Slotted(value)", "o{k}.v", ("o{k}.v = value", "o{k} = Slotted(value)")),
    "class": Place(
        "class C{k}: v = value\nclass D{k}(C{k}): pass\no{k} = D{k}()",
        "o{k}.v",
        (
            "C{k}.v = value",
            "D{k}.v = value",
            "o{k}.v = value",
            "D{k} = type('D{k}', (C{k},), dict(v=value)); o{k} = D{k}()",
        ),
    ),
    "entry": Place(
        "d{k} = dict(a=value, b=1)",
        "d{k}['a']",
        (
            "d{k}['a'] = value",
            "d{k} = dict(a=value)",
            "d{k}['b'] = value",
            "d{k}['c'] = d{k}.pop('a'); d{k}['a'] = value",
        ),
    ),
    "entry by a name": Place(
        "d{k}, n{k} = {{'a': value, 'b': 2}}, 'a'",
        "d{k}[n{k}]",
        ("d{k}['a'] = value", "d{k}['b'] = value", "n{k} = 'b'", "n{k} = 'a'"),
    ),
    "values": Place(
        "d{k} = dict(a=value)",
        "sum([each for each in d{k}.values()])",
        ("d{k}['a'] = value", "d{k}['z'] = value", "d{k}.clear()", "d{k} = dict(b=value, c=value)"),
    ),
    "length": Place(
        "d{k} = dict(a=value)",
        "(len(d{k}) + ('z' in d{k}))",
        ("d{k}['z'] = value", "d{k}.pop('z', None)", "d{k}.clear()"),
    ),
    "list": Place(
        "l{k} = [value, value]",
        "sum([0, *l{k}])",
        (
            "l{k}[0] = value",
            "l{k}.append(value)",
            "l{k}.pop() if l{k} else None",
            "l{k} = [value]",
            "l{k}.insert(0, value)",
        ),
    ),
    "element": Place("l{k} = [value]", "l{k}[-1]", ("l{k}[0] = value", "l{k}.append(value)", "l{k}.reverse()")),
    "deep": Place(
        "d{k} = dict(a=dict(b=[value], c=(1, [value])))",
        "d{k}['a']['b'][0] + d{k}['a']['c'][1][0]",
        ("d{k}['a']['b'][0] = value", "d{k}['a'] = dict(b=[value], c=(1, [value]))", "d{k}['a']['c'][1][:] = [value]"),
    ),
    "objects": Place(
        "l{k} = [Part(value), Slotted(value), Space(v=value)]",
        "sum([each.v for each in l{k}])",
        ("l{k}[0].v = value", "l{k}[1].v = value", "l{k}[2].v = value", "l{k}.append(Part(value))", "l{k}.pop(0)"),
    ),
    "methods": Place(
        "l{k} = [Part(value)]",
        "[each.times(1) for each in l{k}][0]",
        ("l{k}[0].v = value", "l{k}[0] = Part(value)", "l{k}[0].times = lambda x: x * 3"),
    ),
    "functions": Place(
        "d{k} = dict(f=np.abs)",
        "d{k}['f'](x)",
        ("d{k}['f'] = np.negative", "d{k}['f'] = lambda x: x + 2", "d{k}['f'] = np.square"),
    ),
    "default": Place(
        "def h{k}(x, a=value, *, b=value): return a * x + b",
        "h{k}(x)",
        ("h{k}.__defaults__ = (value,)", "h{k}.__kwdefaults__ = dict(b=value)", "h{k}.__kwdefaults__['b'] = value"),
    ),
    "container as a default": Place(
        "def h{k}(x, a=[value]): return sum(a) + x",
        "h{k}(x)",
        ("h{k}.__defaults__[0][0] = value", "h{k}.__defaults__[0].append(value)", "h{k}.__defaults__ = ([value],)"),
    ),
    "code": Place(
        "def h{k}(x): return x + 12345\nwith_constant(h{k}, 1)",
        "h{k}(x)",
        ("with_constant(h{k}, value)", "h{k}.__code__ = (lambda x: x * 3).__code__"),
    ),
    "static": Place("s.w{k} = dict(a=value)", "s.w{k}['a']", ("s.w{k}['a'] = value", "s.w{k} = dict(a=value)")),
    "text": Place(
        "o{k}, n{k} = Part(value), 'v'",
        "getattr(o{k}, n{k}, 5)",
        ("o{k}.v = value", "n{k} = 'other'", "n{k} = 'v'", "o{k}.other = value"),
    ),
    "dataclass": Place(
        "o{k} = Fields(value, [value])",
        "dataclasses.replace(o{k}, more=[]).v + o{k}.more[0]",
        ("o{k}.v = value", "o{k}.more[0] = value", "o{k}.more = [value]"),
    ),
    "named tuple": Place(
        "o{k} = Pair(dict(a=value), [Part(value)])",
        "o{k}.first['a'] + o{k}[1][0].v",
        ("o{k}.first['a'] = value", "o{k}.second[0].v = value", "o{k} = Pair(dict(a=value), [Part(value)])"),
    ),
    "set": Place(
        "e{k} = {{1, 2}}",
        "sum([0, *e{k}])",
        ("e{k}.add(3)", "e{k}.discard(2)", "e{k}.update(range(9))", "e{k} = {{1}}"),
    ),
    "deque": Place(
        "q{k} = deque([value, 1])", "q{k}[0]", ("q{k}.rotate()", "q{k}.appendleft(value)", "q{k}[0] = value")
    ),
    "other dicts": Place(
        "d{k} = [OrderedDict(a=value), UserDict(a=value), defaultdict(int, a=value)]",
        "sum([list(each.values())[0] for each in d{k}])",
        ("d{k}[0]['b'] = value", "d{k}[0].move_to_end('a')", "d{k}[1]['a'] = value", "d{k}[2]['a'] = value"),
    ),
}
