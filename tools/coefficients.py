"""Write the tables of `numbagraph.intrinsics.vecmath` from what they approximate. ``--check`` fails when they differ.

A module of ``tables/`` declares the tables of a family of functions. Names as arguments: write (or check) only those.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

from tables import exponential

FAMILIES = (exponential,)
FILE = Path(__file__).parents[1] / "src" / "numbagraph" / "intrinsics" / "vecmath" / "coefficients.py"
HEADER = '"""Written by `python tools/coefficients.py`: polynomials, lowest coefficient first, and constants."""\n'


def table(declared: Any) -> dict[str, tuple[float, ...]]:
    entries = {dtype: tuple(declared.numbers(dtype)) for dtype in ("float64", "float32")}
    return {dtype: numbers for dtype, numbers in entries.items() if numbers}


def written() -> dict[str, Any]:
    """The tables in the file."""
    if not FILE.exists():
        return {}
    statements = ast.parse(FILE.read_text()).body
    return {each.targets[0].id: ast.literal_eval(each.value) for each in statements if isinstance(each, ast.Assign)}


def text(tables: dict[str, Any]) -> str:
    lines = [HEADER]
    for name, entries in tables.items():
        lines.append(f"{name} = {{")
        for dtype, numbers in entries.items():
            lines += [f'    "{dtype}": (', *(f"        {number!r}," for number in numbers), "    ),"]
        lines.append("}")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    declared = {each.name: each for family in FAMILIES for each in family.TABLES}
    names = [each for each in arguments if not each.startswith("-")] or list(declared)
    before = written()
    tables = {name: table(each) if name in names else before[name] for name, each in declared.items()}
    if "--check" in arguments:
        if not FILE.exists() or FILE.read_text() != text(tables):
            print(f"{FILE.name} is out of date: run python tools/coefficients.py")
            return 1
        return 0
    FILE.write_text(text(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
