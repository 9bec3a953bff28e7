"""Loops that ask, from time to time, whether a signal handler has raised an exception."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.straight_line import StraightLine
from numbagraph.intrinsics.emitter import I1, I32, I64, Emitter
from numbagraph.ir.abi import INTERRUPTED

SIGNALS = "numbagraph.signals."
"""The prefix of external symbols that are functions of `numbagraph.runtime.signals`."""

BETWEEN = 2**25
"""Work between two such questions, in elements: some 10 ms. A question takes 50 ns, and the GIL, which others may have
for 5 ms."""


class Patience:
    """Work that is left until the next question."""

    def __init__(self, line: StraightLine, work: ir.Value) -> None:
        self.line = line
        self.work = work
        """What a step costs."""
        builder = line.code.builder
        with builder.goto_entry_block():
            self.left = builder.alloca(I64)
        builder.store(ir.Constant(I64, BETWEEN), self.left)

    def spend(self) -> None:
        """Count a step; ask, if it is time to."""
        builder = self.line.code.builder
        left = builder.sub(builder.load(self.left), self.work)
        builder.store(left, self.left)
        with builder.if_then(builder.icmp_signed("<", left, ir.Constant(I64, 0)), likely=False):
            builder.store(ir.Constant(I64, BETWEEN), self.left)
            raised = builder.call(self.line.code.function(f"{SIGNALS}raised", I1, [], pure=False), [])
            self.line.leave_if(raised, ir.Constant(I32, INTERRUPTED))


def define_without_signals(module: ir.Module) -> None:
    """Give the function a body that says no, for code that callers from C run."""
    function = module.globals.get(f"{SIGNALS}raised")
    if isinstance(function, ir.Function) and function.is_declaration:
        function.linkage = "internal"
        Emitter(ir.IRBuilder(function.append_basic_block("entry"))).builder.ret(ir.Constant(I1, 0))
