"""Metadata for LLVM about arrays that share no memory.

An array that a program only reads lies in memory that the program never writes: an argument that is updated in place
shares memory with no other one. So loads from such arrays have ``noalias`` with a scope to which the other accesses of
the function, and its calls, belong. Both marks stand in one function: where LLVM inlines it, it copies the scope.
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
    """A list of one alias scope, to which the writes and the calls of a function belong."""
    module = function.module
    return module.add_metadata([Distinct(module, f"written by {function.name}", Distinct(module, "numbagraph"))])
