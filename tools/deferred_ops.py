"""Write the table of ops that are declared when one of them is asked for: ``python tools/deferred_ops.py``.

It says by which import a name is found, so that importing numbagraph need not import all modules of ops. Those that
`numbagraph.ops` imports are not in it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

from written import write

import numbagraph.ops
from numbagraph.ir.op import Registry, called
from numbagraph.ir.values import Op

FILE = Path(__file__).parents[1] / "src" / "numbagraph" / "ops" / "deferred.py"
PREFIX = "numbagraph.ops."


def modules_of_ops() -> dict[Op, str]:
    """The module that declares each op that `numbagraph.ops` does not import."""
    found: dict[Op, str] = {}
    register = Registry.register

    def noting(self: Registry, op: Op) -> Op:
        frame = sys._getframe(1)
        while frame.f_code.co_name != "<module>" or not frame.f_globals["__name__"].startswith(PREFIX):
            assert frame.f_back is not None
            frame = frame.f_back
        found[op] = frame.f_globals["__name__"].removeprefix(PREFIX)
        return register(self, op)

    Registry.register = noting
    for each in pkgutil.walk_packages(numbagraph.ops.__path__, PREFIX):
        importlib.import_module(each.name)
    Registry.register = register
    return found


def functions_of(op: Op) -> list[str]:
    """What the functions of libraries are called that an op implements, unless it is like the op without its prefix."""
    theirs = [each for each in op.implements if not getattr(each, "__module__", "").startswith("numbagraph.")]
    names = [each.rpartition(":")[2] if isinstance(each, str) else called(each) for each in theirs]
    return [] if set(names) <= {op.name.rpartition(".")[2]} else list(dict.fromkeys(names))


def entry(key: str, words: str) -> str:
    line = f'    "{key}": "{words}",'
    if len(line) <= 120:
        return line
    lines = textwrap.wrap(words, 108, break_long_words=False, break_on_hyphens=False)
    quoted = [f'        "{each} "' for each in lines[:-1]] + [f'        "{lines[-1]}"']
    return "\n".join([f'    "{key}": (', *quoted, "    ),"])


def table() -> str:
    """The text of the module."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    functions: dict[str, str] = {}
    for op, module in modules_of_ops().items():
        names[module].append(op.name)
        if others := functions_of(op):
            functions[op.name] = " ".join(others)
    return "\n".join(
        [
            '"""Written by ``python tools/deferred_ops.py``: ops that are declared when one of them is asked for."""',
            "",
            "NAMES = {",
            *(entry(module, " ".join(found)) for module, found in sorted(names.items())),
            "}",
            '"""The names of ops by their module in `numbagraph.ops`, in the order of their declarations."""',
            "",
            "CALLED = {",
            *(entry(*each) for each in sorted(functions.items())),
            "}",
            '"""The functions that some of them implement, where these are not called like the op."""',
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(write(FILE, table()))
