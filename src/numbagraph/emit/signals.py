"""Loops that ask, from time to time, whether a signal handler has raised an exception."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.straight_line import BETWEEN, StraightLine
from numbagraph.intrinsics.emitter import I1, I32, I64, Emitter
from numbagraph.ir.abi import INTERRUPTED

SIGNALS = "numbagraph.signals."
"""The prefix of external symbols that are functions of `numbagraph.runtime.signals`."""


class Patience:
    """Work that is left until the next question. All loops of a program, those inside of others too, count in one
    place: each of them may be too short to ask."""

    def __init__(self, line: StraightLine, work: ir.Value) -> None:
        self.line = line
        self.work = work
        """What a step costs."""

    def steps(self) -> ir.Value:
        """The most steps that a loop may take before it asks."""
        builder, least = self.line.code.builder, ir.Constant(I64, 1)
        if isinstance(self.work, ir.Constant):
            return ir.Constant(I64, max(1, BETWEEN // self.work.constant))
        steps = builder.udiv(ir.Constant(I64, BETWEEN), self.work)
        return builder.select(builder.icmp_unsigned("<", steps, least), least, steps)

    def spend(self, steps: ir.Value | None = None) -> None:
        """Count a step, or several; ask, if it is time to."""
        builder, place = self.line.code.builder, self.line.patience
        work = self.work if steps is None else builder.mul(self.work, steps)
        left = builder.sub(builder.load(place), work)
        builder.store(left, place)
        with builder.if_then(builder.icmp_signed("<", left, ir.Constant(I64, 0)), likely=False):
            builder.store(ir.Constant(I64, BETWEEN), place)
            raised = builder.call(self.line.code.function(f"{SIGNALS}raised", I1, [], pure=False), [])
            self.line.leave_if(raised, ir.Constant(I32, INTERRUPTED))


def define_without_signals(module: ir.Module) -> None:
    """Give the function a body that says no, for code that callers from C run."""
    function = module.globals.get(f"{SIGNALS}raised")
    if isinstance(function, ir.Function) and function.is_declaration:
        function.linkage = "internal"
        Emitter(ir.IRBuilder(function.append_basic_block("entry"))).builder.ret(ir.Constant(I1, 0))
