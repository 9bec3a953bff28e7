"""The names in the bytecode of a Python function, and the writes that it makes."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from numbagraph.ir.values import Source

_STORES = {
    dis.opmap[name]: kind
    for name, kind in {
        "STORE_ATTR": "attribute",
        "DELETE_ATTR": "attribute",
        "STORE_GLOBAL": "global",
        "DELETE_GLOBAL": "global",
        "STORE_DEREF": "cell",
        "DELETE_DEREF": "cell",
    }.items()
}
_ITEM_STORES = {dis.opmap[name] for name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE") if name in dis.opmap}
_BINARY_OP = dis.opmap["BINARY_OP"]
_IN_PLACE = {(_BINARY_OP, argument) for argument in range(13, 26)}
"""Operations for ``+=`` and the other in-place operators."""
_OPAQUE = {
    dis.opmap[name] for name in ("IMPORT_NAME", "LOAD_BUILD_CLASS", "MATCH_CLASS", "STORE_NAME") if name in dis.opmap
}
"""Operations for imports, definitions of classes and patterns."""

_MUTATORS = frozenset(
    "add append appendleft at clear copyto delitem discard extend extendleft fill fill_diagonal heappop heappush "
    "heapreplace insert insort itemset partition place pop popitem popleft put put_along_axis putmask remove resize "
    "reverse rotate setdefault setfield setitem sort update".split()
)
"""Methods and functions that change a container or an array."""


_NOTHING: frozenset[tuple[str, str]] = frozenset()


class Item(NamedTuple):
    """A constant subscript in a chain of attributes: ``cfg["rate"]``."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class Read(NamedTuple):
    """A read such as ``a.b["c"].d``: a name, and a chain of attributes and elements from it on."""

    scope: str
    """The text "global", "local" (also of an enclosing function), or "" where the attributes are of something
    computed."""
    name: str
    attributes: tuple[str | Item, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes alone."""
        return tuple(each for each in self.attributes if type(each) is str)


class Facts(NamedTuple):
    """The facts that the bytecode of one function shows by itself."""

    reads: tuple[Read, ...]
    """The reads, without those of functions that are defined inside. A local name that the code assigns may stand for
    another object later, so reads of it count as reads of something computed."""
    inner: tuple[CodeType, ...]
    """The functions that are defined inside."""
    names: frozenset[str]
    """The names of globals and attributes, also those in functions inside."""
    stored: frozenset[tuple[str, str]]
    """Stored names, as pairs of a kind ("attribute", "global", "cell") and a name, also those in functions inside."""
    changes: bool
    """Whether the function, or one inside, may change the contents of a container or an array."""
    opaque: bool
    """Whether the function, or one inside, gets at objects that no name in the code leads to."""
    writes: bool
    """Whether something may be written that outlives the call, apart from writes by functions that it calls."""


MOST_KNOWN = 4096
_known: dict[int, tuple[CodeType, Facts]] = {}
"""The facts by identity, since Python computes the hash of a code object from all of it, each time."""


def facts_of(code: CodeType) -> Facts:
    """Return the facts that the bytecode of a function shows by itself; they are kept for the next call."""
    known = _known.get(id(code))
    if known is None:
        if len(_known) > MOST_KNOWN:
            _known.clear()
        known = _known[id(code)] = code, _read(code)
    return known[1]


_CHECK_EXC_MATCH, _PUSH_EXC_INFO = dis.opmap["CHECK_EXC_MATCH"], dis.opmap["PUSH_EXC_INFO"]
_WITH_EXCEPT_START = dis.opmap["WITH_EXCEPT_START"]
_ERRORS = frozenset(
    "ArithmeticError Exception IndexError KeyError LinAlgError LookupError OverflowError ValueError "
    "ZeroDivisionError".split()
)


def takes_errors(code: CodeType) -> bool:
    """Whether a function has a handler for errors that operators and subscripts raise when the program runs."""
    used = set(code.co_code[::2])
    if _CHECK_EXC_MATCH in used:
        return not _ERRORS.isdisjoint(code.co_names)
    return _PUSH_EXC_INFO in used and _WITH_EXCEPT_START not in used  # `except` alone, or `finally`


_BY_ANY_NAME = frozenset(("vars", "__dict__", "attrgetter", "asdict", "astuple"))
_ASKING = frozenset(("getattr", "hasattr"))


class Asked(NamedTuple):
    """The attributes that a function reads by texts, with ``getattr`` and the like, rather than by names in its
    code."""

    names: frozenset[str] = frozenset()
    """The attributes that are read by constant texts: ``getattr(x, "name")``."""
    owners: frozenset[str] = frozenset()
    """The globals whose attributes are read by computed texts; "" stands for all other objects."""


def asked_of(code: CodeType) -> Asked:
    """Find the attributes that a function reads by texts rather than by names in its code."""
    if not _BY_ANY_NAME.isdisjoint(code.co_names):
        return Asked(owners=frozenset(("",)))
    if _ASKING.isdisjoint(code.co_names):
        return Asked()
    names, owners = set(), set()
    instructions = [each for each in dis.get_instructions(code) if each.opname != "PUSH_NULL"]
    for position, each in enumerate(instructions):
        if each.argval in _ASKING and each.opname.startswith("LOAD_"):
            owner, *rest = instructions[position + 1 :]
            name = next((one for one in rest if one.opname not in ("LOAD_ATTR", "LOAD_METHOD")), each)
            is_one = owner.opname.startswith("LOAD_") and owner.opname.count("_FAST") < 2
            if is_one and name.opname == "LOAD_CONST" and type(name.argval) is str:
                names.add(name.argval)
            else:
                owners.add(owner.argval if owner.opname == "LOAD_GLOBAL" and name is rest[0] else "")
    return Asked(frozenset(names), frozenset(owners))


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


_LETTERS = {
    **dict.fromkeys(("NOP", "RESUME"), "."),
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME"), "g"),
    **dict.fromkeys(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"), "d"),
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"), "a"),
    **dict.fromkeys(("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF"), "v"),
    "LOAD_SUPER_ATTR": "s",
    "LOAD_CONST": "c",
    "BINARY_SUBSCR": "i",
    "EXTENDED_ARG": "x",
}


def _letter(name: str) -> str:
    if name.startswith(("LOAD_FAST", "STORE_FAST_LOAD_FAST")):
        return "t" if name.count("_FAST") == 2 else "l"
    return _LETTERS.get(name, "-")


_TABLE = "".join(_letter(name) for name in dis.opname[:256]).ljust(256, "-").encode()
"""A letter for each operation, so that a regular expression finds those that matter, much faster than a loop."""
_CHAIN = re.compile(rb"x*(?:[gds]|[lt](?=\.*x*(?:a|c\.*i)))\.*(?:x*(?:a|c\.*i)\.*)*|(?:x*a\.*)+")
"""A name with attributes and constant subscripts of it, or attributes of a computed object."""
_VARIABLE = re.compile(rb"x*v")
_IGNORED, _GLOBAL, _ATTRIBUTE, _SUPER, _TWO_LOCALS, _EXTENDED, _CONSTANT, _ITEM = b".gastxci"
_LOAD_GLOBAL, _LOAD_ATTR = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_ATTR"]
_ATTRIBUTE_SHIFT = 0 if "LOAD_METHOD" in dis.opmap and "LOAD_SUPER_ATTR" not in dis.opmap else 1
"""From Python 3.12 on, `LOAD_ATTR` says in a bit whether a method is called."""


def _read(code: CodeType) -> Facts:
    bytecode = code.co_code.replace(b"\0\0", b"")  # without caches, which are half of it
    operations = bytecode[::2]
    used = set(operations)
    names, stored = frozenset(code.co_names), _NOTHING
    if not used.isdisjoint(_STORES):
        found = ((_STORES.get(one.opcode), one.argval) for one in dis.get_instructions(code))
        stored = frozenset((kind, name) for kind, name in found if kind is not None)
    changes = (
        not used.isdisjoint(_ITEM_STORES)
        or (_BINARY_OP in used and not _IN_PLACE.isdisjoint(zip(operations, bytecode[1::2], strict=True)))
        or not _MUTATORS.isdisjoint(names)
    )
    opaque = not used.isdisjoint(_OPAQUE)
    inner: tuple[CodeType, ...] = ()
    for each in code.co_consts:
        if type(each) is tuple:  # may be the names of keywords in a call
            changes = changes or "out" in each
        elif type(each) is CodeType:
            inner += (each,)
            facts = facts_of(each)
            names, stored = names | facts.names, stored | facts.stored
            changes, opaque = changes or facts.changes, opaque or facts.opaque
    writes = changes or opaque or (bool(stored) and _outlives(code, stored))
    return Facts(_reads(code, bytecode, operations.translate(_TABLE)), inner, names, stored, changes, opaque, writes)


def _outlives(code: CodeType, stored: frozenset[tuple[str, str]]) -> bool:
    """Whether some stored name is not a variable of the function's own."""
    return any(kind != "cell" or name in code.co_freevars for kind, name in stored)


def _reads(code: CodeType, bytecode: bytes, letters: bytes) -> tuple[Read, ...]:
    locals_: tuple[str, ...] = code.co_varnames + code.co_freevars
    if code.co_cellvars:
        cells = tuple(each for each in code.co_cellvars if each not in code.co_varnames)
        locals_ = code.co_varnames + cells + code.co_freevars
    parts = {bytecode[2 * each.start() : 2 * each.end()]: None for each in _CHAIN.finditer(letters)}
    found = [_decoded(each, code, locals_) for each in parts]
    if b"v" in letters:
        stores = (bytecode[2 * each.start() : 2 * each.end()] for each in _VARIABLE.finditer(letters))
        assigned = {locals_[_argument(each)] for each in stores}
        found = [Read("", "", each.names) if each.name in assigned else each for each in found]
    return tuple([each for each in found if each.scope or each.attributes])


def _argument(units: bytes) -> int:
    """The argument of an instruction that stands behind its higher bytes."""
    return int.from_bytes(units[1::2], "big")


def _decoded(units: bytes, code: CodeType, locals_: tuple[str, ...]) -> Read:
    names = code.co_names
    scope, name, high = "", "", 0
    attributes: tuple[str | Item, ...] = ()
    constant: Any = None
    for operation, low in zip(units[::2], units[1::2], strict=True):
        letter = _TABLE[operation]
        if letter == _IGNORED:
            continue
        argument = high | low
        high = argument << 8 if letter == _EXTENDED else 0
        if letter == _ATTRIBUTE:
            attributes += (names[argument >> _ATTRIBUTE_SHIFT if operation == _LOAD_ATTR else argument],)
        elif letter == _CONSTANT:
            constant = code.co_consts[argument]
        elif letter == _ITEM:
            attributes += (Item(constant),)
        elif letter == _GLOBAL:
            scope, name = "global", names[argument >> 1 if operation == _LOAD_GLOBAL else argument]
        elif letter == _SUPER:
            attributes = (names[argument >> 2],)
        elif letter != _EXTENDED:
            scope, name = "local", locals_[argument & 15 if letter == _TWO_LOCALS else argument]
    return Read(scope, name, attributes)


def locations_of(code: CodeType, kind: str, name: str) -> Iterator[Source]:
    """The lines that store a name of some kind, or (of kind "content") that change a container or an array."""
    for each in codes_of(code):
        for one in dis.get_instructions(each):
            changes = (
                changes_content(one, each)
                if kind == "content"
                else (_STORES.get(one.opcode), one.argval) == (kind, name)
            )
            line = one.positions.lineno if one.positions is not None else None
            if changes and line is not None:
                yield Source(each.co_filename, line)


def changes_content(instruction: dis.Instruction, code: CodeType) -> bool:
    """Whether an instruction may change a container's contents: ``d[k] = v``, ``l += [v]``, ``l.append``,
    ``f(x, out=l)``."""
    if instruction.opcode in _ITEM_STORES:
        return True
    if instruction.opcode == _BINARY_OP:
        return (_BINARY_OP, instruction.arg) in _IN_PLACE
    value = instruction.argval if instruction.opname == "LOAD_CONST" else None
    if instruction.opname == "KW_NAMES":  # of Python 3.11 and 3.12, whose `dis` does not tell them
        value = code.co_consts[instruction.arg or 0]
    if isinstance(value, tuple):
        return "out" in value
    return instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL") and instruction.argval in _MUTATORS
