"""What LLVM is told of arrays that share no memory.

The arrays that a program reads and does not write are in memory that it never writes: an argument that is updated in
its place shares memory with no other one. So its loads of these have no alias in one scope, which everything that a
region calls is in. Both are said of each other within one function: where LLVM inlines that, it copies the scope.
"""

from __future__ import annotations

from llvmlite import ir


class Distinct(ir.MDValue):
    """A node that equals no other one, since it is its own first operand."""

    def __init__(self, module: ir.Module, name: str, *more: ir.MDValue) -> None:
        super().__init__(module, (), name=str(len(module.metadata)))
        self.operands = (self, *more, ir.MetaDataString(module, name))

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def scope(function: ir.Function) -> ir.MDValue:
    """A list of one scope, which is that of what a function calls."""
    module = function.module
    return module.add_metadata([Distinct(module, f"written by {function.name}", Distinct(module, "numbagraph"))])
