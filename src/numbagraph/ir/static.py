"""Keys for the static arguments of a function, for whose values it is compiled."""

from __future__ import annotations

import dataclasses
import struct
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import optree

from numbagraph.ir.op import imported

_PLAIN = frozenset({str, bytes, int, bool, type(None)})
"""Types whose equal values mean the same to a function."""


def typed(value: Hashable) -> Hashable:
    """Return a key that is equal for values that mean the same to a function: 1, 1.0 and True do not, nor do the zeros
    of either sign; NaN does. Look into tuples, frozen sets and dataclasses; equal objects of other classes are taken
    for the same."""
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    take_apart = next((_PARTS[base] for base in kind.__mro__ if base in _PARTS), None)
    if take_apart is not None:
        return kind, take_apart(value)
    decimal = imported("decimal")
    if decimal is not None and isinstance(value, decimal.Decimal):
        return kind, decimal.Decimal.as_tuple(value)
    if "__dataclass_params__" in vars(kind) and kind.__dataclass_params__.eq:  # type: ignore[attr-defined]
        compared = [each.name for each in dataclasses.fields(kind) if each.compare]  # type: ignore[arg-type]
        return kind, tuple([typed(getattr(value, name)) for name in compared])
    return kind, value


_PARTS: dict[type, Callable[[Any], Hashable]] = {
    float: lambda value: struct.pack("d", value),
    complex: lambda value: struct.pack("dd", value.real, value.imag),
    np.generic: lambda value: (value.dtype, value.tobytes()),
    tuple: lambda value: tuple(map(typed, value)),
    frozenset: lambda value: frozenset(map(typed, value)),
    range: lambda value: (value.start, value.stop, value.step),
}
"""For types (and their subclasses) whose equal values may differ: a function that returns a key by which they
differ."""


def typed_names(tree: optree.PyTreeSpec) -> tuple[Hashable, ...]:
    """Return a key that tells apart the names of equal trees; it is empty where all names in dicts are strings."""
    names = tree.entries() if tree.type in (dict, OrderedDict, defaultdict) else ()
    own = () if all(type(name) is str for name in names) else tuple(map(typed, names))
    return (*own, *[each for child in tree.children() for each in typed_names(child)])
