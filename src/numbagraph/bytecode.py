"""What the bytecode of a Python function names, and what it writes."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from numbagraph.graph import Source

_KINDS = {
    "STORE_ATTR": "attribute",
    "DELETE_ATTR": "attribute",
    "STORE_GLOBAL": "global",
    "DELETE_GLOBAL": "global",
    "STORE_DEREF": "cell",
    "DELETE_DEREF": "cell",
}
_STORES = {dis.opmap[name] for name in _KINDS}
_ITEM_STORES = {dis.opmap[name] for name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE") if name in dis.opmap}
_BINARY_OP = dis.opmap["BINARY_OP"]
_IN_PLACE = range(13, 26)
"""Arguments of BINARY_OP that stand for ``+=`` and its kin."""

_MUTATORS = frozenset(
    "add append appendleft clear copyto delitem discard extend extendleft fill fill_diagonal heappop heappush "
    "heapreplace insert insort itemset partition place pop popitem popleft put put_along_axis putmask remove resize "
    "reverse rotate setdefault setfield setitem sort update".split()
)
"""Methods and functions that change a container or an array."""


MOST_KNOWN = 4096
_known: dict[int, tuple[CodeType, Stores]] = {}
"""By identity, since Python computes the hash of a code object from all of it, each time."""


class Stores(NamedTuple):
    """What a function's bytecode names and stores."""

    names: frozenset[str]
    """Of globals and attributes."""
    stored: frozenset[tuple[str, str]]
    """Pairs of a kind ("attribute", "global", "cell") and a name."""
    changes: bool
    """Whether it may change what a container or an array holds."""


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def stores_of(code: CodeType) -> Stores:
    """What a function, with those defined in it, names and stores."""
    known = _known.get(id(code))
    if known is None:
        if len(_known) > MOST_KNOWN:
            _known.clear()
        known = _known[id(code)] = code, read(code)
    return known[1]


def read(code: CodeType) -> Stores:
    names: set[str] = set()
    stored: set[tuple[str, str]] = set()
    changes = False
    for each in codes_of(code):
        names.update(each.co_names)
        opcodes, arguments = each.co_code[::2], each.co_code[1::2]
        changes |= not _ITEM_STORES.isdisjoint(opcodes)
        changes |= any(op == _BINARY_OP and arg in _IN_PLACE for op, arg in zip(opcodes, arguments, strict=True))
        if not _STORES.isdisjoint(opcodes):
            found = ((_KINDS.get(one.opname), one.argval) for one in dis.get_instructions(each))
            stored.update((kind, name) for kind, name in found if kind is not None)
    return Stores(frozenset(names), frozenset(stored), changes or not _MUTATORS.isdisjoint(names))


def places_of(code: CodeType, kind: str, name: str) -> Iterator[Source]:
    """The lines that store a name of some kind, or (of kind "content") that change a container or an array."""
    for each in codes_of(code):
        for one in dis.get_instructions(each):
            changes = (
                changes_content(one) if kind == "content" else (_KINDS.get(one.opname), one.argval) == (kind, name)
            )
            line = one.positions.lineno if one.positions is not None else None
            if changes and line is not None:
                yield Source(each.co_filename, line)


def changes_content(instruction: dis.Instruction) -> bool:
    """Whether an instruction may change what a container holds: ``d[k] = v``, ``l += [v]``, ``l.append``."""
    if instruction.opcode in _ITEM_STORES:
        return True
    if instruction.opcode == _BINARY_OP:
        return instruction.arg in _IN_PLACE
    return instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL") and instruction.argval in _MUTATORS
