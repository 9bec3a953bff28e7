"""Write the tables of the emitters in `vecmath` from what they approximate. ``--check`` fails when they differ.

A module of ``tables/`` declares the tables of a family of functions, which are written to a module of the same name.
Names of families or tables as arguments: write (or check) only those.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

from tables import (
    bessel,
    bessel_integrals,
    dawson,
    dilogarithm,
    elliptic,
    error_function,
    exponential,
    exponential_integrals,
    gamma,
    hyperbolic_integrals,
    inverse_error_function,
    inverse_trigonometric,
    kelvin,
    modified_bessel,
    powers,
    trigonometric,
)

FAMILIES = (
    exponential,
    trigonometric,
    inverse_trigonometric,
    powers,
    error_function,
    inverse_error_function,
    gamma,
    elliptic,
    bessel,
    bessel_integrals,
    dawson,
    exponential_integrals,
    hyperbolic_integrals,
    modified_bessel,
    kelvin,
    dilogarithm,
)
FOLDER = Path(__file__).parents[1] / "src" / "numbagraph" / "intrinsics" / "emitters" / "vecmath" / "tables"
HEADER = '"""Written by `python tools/coefficients.py`: polynomials, lowest coefficient first, and constants."""\n'


def table(declared: Any) -> dict[str, tuple[float, ...]]:
    entries = {dtype: tuple(declared.numbers(dtype)) for dtype in ("float64", "float32")}
    return {dtype: numbers for dtype, numbers in entries.items() if numbers}


def written(file: Path) -> dict[str, Any]:
    """The tables in a file."""
    if not file.exists():
        return {}
    statements = ast.parse(file.read_text()).body
    return {each.targets[0].id: ast.literal_eval(each.value) for each in statements if isinstance(each, ast.Assign)}


def literal(number: float) -> str:
    """As the formatter has it."""
    return repr(number).replace("e+", "e")


def text(tables: dict[str, Any]) -> str:
    lines = [HEADER]
    for name, entries in tables.items():
        lines.append(f"{name} = {{")
        for dtype, numbers in entries.items():
            if len(numbers) == 1:
                lines.append(f'    "{dtype}": ({literal(numbers[0])},),')
            else:
                lines += [f'    "{dtype}": (', *(f"        {literal(number)}," for number in numbers), "    ),"]
        lines.append("}")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    names = {each for each in arguments if not each.startswith("-")}
    outdated = []
    for family in FAMILIES:
        stem = family.__name__.rpartition(".")[2]
        file = FOLDER / f"{stem}.py"
        before, every = written(file), not names or stem in names
        wanted = {each.name: each for each in family.TABLES}
        if not every and not names.intersection(wanted):
            continue
        new = text({name: table(each) if every or name in names else before[name] for name, each in wanted.items()})
        if "--check" not in arguments:
            file.write_text(new)
        elif not file.exists() or file.read_text() != new:
            outdated.append(file.name)
    if outdated:
        print(f"{', '.join(outdated)} out of date: run python tools/coefficients.py")
    return len(outdated)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
