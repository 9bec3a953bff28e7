"""Values that stay as they are when what is computed from them is rebuilt."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from numbagraph.ir.values import Value, toposort


class _Opaque(threading.local):
    values: frozenset[Value] = frozenset()


_opaque = _Opaque()


@contextmanager
def opaque(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Keep ``values`` as they are inside the context. Nodes are interned by their operands, so a value whose operands
    were rebuilt would be another one, and a look-up of the old one would find nothing."""
    before = _opaque.values
    _opaque.values = before.union(values)
    try:
        yield values
    finally:
        _opaque.values = before


def opaque_values() -> frozenset[Value]:
    """The values that are kept on this thread."""
    return _opaque.values


def below_opaque() -> frozenset[Value]:
    """The values that are kept on this thread, and all that they are computed from."""
    return frozenset(toposort(_opaque.values)) if _opaque.values else frozenset()
