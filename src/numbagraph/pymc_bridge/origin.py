"""The origin of a variable of PyTensor: its name, and the line of the user's code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pymc
import pytensor
from pytensor.compile.ops import ViewOp
from pytensor.graph.basic import Apply, Variable

import numbagraph
from numbagraph.ir.sources import Source
from numbagraph.tracing.user_code import folders_of

_LIBRARIES = folders_of(numbagraph, pymc, pytensor)


@dataclass(unsafe_hash=True, slots=True)
class Origin(Source):
    """A line of the user's code, and the variable that it computes."""

    variable: str = ""

    def __str__(self) -> str:
        return f"{self.variable} ({self.file}:{self.line})" if self.file else self.variable


def origin_of(node: Apply) -> Origin:
    """The origin of an application of an op."""
    return Origin(*_line_of(node.outputs[0]), variable=expression(node.outputs[0]))


def _line_of(variable: Variable) -> tuple[str, int]:
    """The innermost line outside of PyMC, PyTensor and Python, of which they keep a few lines for each variable."""
    for trace in getattr(variable.tag, "trace", []):
        for entry in reversed(trace if isinstance(trace, (list, tuple)) else [trace]):
            file, line, *_ = entry
            if not str(file).startswith(_LIBRARIES):
                return str(file), int(line)
    return "", 0


def copy_lines(pairs: Iterable[tuple[Variable, Variable]]) -> None:
    """Give the copies of variables, and the variables that they are computed from, the lines of their originals.

    A deterministic variable is a view, and its copy is none.
    """
    waiting, seen = list(pairs), set[Variable]()
    while waiting:
        original, copy = map(viewed, waiting.pop())
        if copy in seen or original.owner is None or copy.owner is None:
            continue
        seen.add(copy)
        if type(original.owner.op) is type(copy.owner.op) and len(original.owner.inputs) == len(copy.owner.inputs):
            copy.tag.trace = getattr(original.tag, "trace", [])
            waiting += zip(original.owner.inputs, copy.owner.inputs, strict=True)


def viewed(variable: Variable) -> Variable:
    while variable.owner is not None and isinstance(variable.owner.op, ViewOp):
        variable = variable.owner.inputs[0]
    return variable


def expression(variable: Variable, depth: int = 2) -> str:
    """A variable's name, or a short expression of the variables that it is computed of."""
    if variable.name:
        return variable.name
    if variable.owner is None or not depth:
        return "..."
    operands = [expression(each, depth - 1) for each in variable.owner.inputs]
    op: Any = variable.owner.op
    if "Subtensor" in type(op).__name__:
        return f"{operands[0]}[{', '.join(operands[1:])}]"
    return f"{getattr(op, 'name', None) or type(op).__name__}({', '.join(operands)})"
