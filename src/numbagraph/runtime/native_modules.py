"""Native code that is written by hand, in ``native/*.ll``: compiled once a machine, and kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from numbagraph.forking import new_lock
from numbagraph.runtime.cache import default_cache
from numbagraph.runtime.cached_code import checked, load
from numbagraph.runtime.compile import Library, compile_module, target_fingerprint


def read_source(*names: str) -> str:
    """Read some of the files as one module of LLVM IR."""
    files = (Path(__file__).with_name("native") / f"{name}.ll" for name in names)
    return "".join(file.read_text(encoding="utf-8") for file in files)


def expand(source: str, constants: Mapping[str, int]) -> str:
    """Replace names in LLVM IR, which are written in capitals, by numbers."""
    return re.sub(r"\b[A-Z][A-Z0-9_]+\b", lambda match: str(constants.get(match[0], match[0])), source)


def with_fields(source: str, structures: Mapping[str, type[ctypes.Structure]]) -> str:
    """Expand "field STRUCTURE.NAME of POINTER" in LLVM IR to a load at the offset of the field."""

    def expand_field(match: re.Match[str]) -> str:
        name, structure, field, base = match.groups()
        member = getattr(structures[structure], field)
        kind: Any = next(declared[1] for declared in structures[structure]._fields_ if declared[0] == field)
        is_pointer = kind is ctypes.c_void_p or issubclass(kind, ctypes._Pointer)
        spelled = "ptr" if is_pointer else f"i{8 * member.size}"
        return (
            f"{name}.at = getelementptr i8, ptr {base}, i64 {member.offset}\n  {name} = load {spelled}, ptr {name}.at"
        )

    pattern = re.compile(r"(%\w+) = field (\w+)\.(\w+) of (%\w+)")
    lines = [line.partition(";")[0] for line in source.splitlines()]
    return "\n".join(pattern.sub(expand_field, each) if " field " in each else each for each in lines)


def load_source(key: str, source: str, text: Callable[[], str], symbols: Mapping[str, int]) -> Library:
    """Load the library of ``text()``, the expanded source, with object code from the cache if it is there.

    It is not optimised: that takes 15 times as long, and would save a call 20 ns (one argument) to 50 ns (five).
    """
    heads = [line for line in source.splitlines() if line.startswith("define ") and "internal" not in line]
    functions = [line.partition("@")[2].partition("(")[0] for line in heads]
    return load(
        default_cache(),
        key,
        lambda: compile_module(text(), opt=0),
        lambda code: checked(Library(code, symbols), functions),
    )


def load_part(
    name: str,
    constants: Mapping[str, int],
    symbols: Mapping[str, int],
    structures: Mapping[str, type[ctypes.Structure]] | None = None,
) -> Library:
    """Load the library of one of the files."""
    source = read_source(name)
    source = expand(source if structures is None else with_fields(source, structures), constants)
    key = hashlib.sha256(repr((target_fingerprint(), source)).encode()).hexdigest()
    return load_source(key, source, lambda: source, symbols)


class Part:
    """A library of one of the files, with state of its own, which lives until the process ends."""

    def __init__(self, name: str, constants: Mapping[str, int], symbols: Mapping[str, int]) -> None:
        self._library = load_part(name, constants, symbols)
        # Threads may be in its code while the interpreter clears its modules.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._library))

    def address(self, name: str) -> int:
        return self._library.address(name)

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """A function of the library, to be called from Python."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))


class Forkable(Protocol):
    def after_fork(self) -> None: ...


T = TypeVar("T", bound=Forkable)


class OnePerProcess(Generic[T]):
    """An object that a process has one of, made on first use."""

    def __init__(self, make: Callable[[], T]) -> None:
        self.make = make
        self.lock = new_lock()
        self.made: T | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def get(self) -> T:
        with self.lock:
            if self.made is None:
                self.made = self.make()
            return self.made

    def _after_fork(self) -> None:
        if self.made is not None:
            self.made.after_fork()
