"""Write docs/ops.md, the table of all ops, from the registry. ``--check`` fails when the page is out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from written import write

from numbagraph import ops
from numbagraph.ir.op import registry
from numbagraph.ir.values import Op, Unsupported

PAGE = Path(__file__).parents[1] / "docs" / "ops.md"
HEADER = """# Ops

Generated from the registry by `python tools/op_table.py`: every op, what is traced as it, and its properties.
An ULP bound of 0 means that results equal NumPy's bit for bit. A decomposition is written in other ops, and is traced
through when it is called.

| op | kind | traced from | derivative | ULP |
| --- | --- | --- | --- | --- |
"""


def traced_from(function: object) -> str:
    """How a user spells a function that becomes an op."""
    if isinstance(function, str):
        return function.replace(":", ".")
    if isinstance(function, tuple):
        return f"{traced_from(function[0])}.{function[1]}"
    module = getattr(function, "__module__", None) or "numpy"
    name = getattr(function, "__name__", str(function))
    return f"{module.removeprefix('numpy._core.') if module.startswith('numpy._core') else module}.{name}"


def row(op: Op) -> str:
    functions = ", ".join(f"`{traced_from(each)}`" for each in op.implements) or "numbagraph alone"
    derivative = "yes" if op.kind == "decomposition" or not isinstance(op.vjp, Unsupported) else op.vjp.reason
    return f"| `{op.name}` | {op.kind} | {functions} | {derivative} | {op.ulp:g} |"


def page() -> str:
    assert ops is not None
    rows = [row(op) for op in sorted(registry, key=lambda each: (each.kind, each.name))]
    return HEADER + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(write(PAGE, page()))
