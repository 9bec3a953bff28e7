"""Loops that poll, from time to time, whether a signal handler has raised an exception."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.emit.straight_line import BETWEEN, StraightLine
from numbagraph.intrinsics.emitters.emitter import I1, I32, I64, Emitter
from numbagraph.ir.abi import INTERRUPTED

SIGNALS = "numbagraph.signals."
"""The prefix of external symbols that are functions of `numbagraph.runtime.signals`."""


class Patience:
    """The work that is left until the next poll. All loops of a program, inner ones too, count in one place: each of
    them may be too short to poll by itself."""

    def __init__(self, line: StraightLine, work: ir.Value) -> None:
        self.line = line
        self.work = work
        """The work of a step."""

    def steps(self) -> ir.Value:
        """The most steps that a loop may take before it polls."""
        builder, least = self.line.code.builder, ir.Constant(I64, 1)
        if isinstance(self.work, ir.Constant):
            return ir.Constant(I64, max(1, BETWEEN // self.work.constant))
        steps = builder.udiv(ir.Constant(I64, BETWEEN), self.work)
        return builder.select(builder.icmp_unsigned("<", steps, least), least, steps)

    def spend(self, steps: ir.Value | None = None) -> None:
        """Count a step, or several; poll, if it is time to."""
        builder, place = self.line.code.builder, self.line.patience
        work = self.work if steps is None else builder.mul(self.work, steps)
        left = builder.sub(builder.load(place), work)
        builder.store(left, place)
        with builder.if_then(builder.icmp_signed("<", left, ir.Constant(I64, 0)), likely=False):
            builder.store(ir.Constant(I64, BETWEEN), place)
            self.ask()

    def ask(self) -> None:
        raised = self.line.code.builder.call(self.line.code.function(f"{SIGNALS}raised", I1, [], pure=False), [])
        self.line.leave_if(raised, ir.Constant(I32, INTERRUPTED))

    @property
    def round(self) -> int | None:
        """The number of steps after which a loop that counts them by itself polls; None if it counts in memory."""
        if not isinstance(self.work, ir.Constant):
            return None
        return 1 << (max(1, BETWEEN // self.work.constant).bit_length() - 1)

    def counter(self) -> ir.Value | None:
        """Allocate, before a loop whose number of steps is not known, a stack slot for the step that polls next. It
        becomes a register."""
        if self.round is None:
            return None
        builder = self.line.code.builder
        with builder.goto_entry_block():
            slot = builder.alloca(I64)
        builder.store(ir.Constant(I64, self.round - 1), slot)
        return slot

    def spend_step(self, step: ir.Value, counter: ir.Value | None) -> None:
        """Count a step of a loop whose number of steps is not known."""
        if counter is None:
            self.spend()
            return
        builder, following = self.line.code.builder, ir.Constant(I64, self.round)
        asks = builder.load(counter)
        with builder.if_then(builder.icmp_signed("==", step, asks), likely=False):
            builder.store(builder.add(asks, following), counter)
            self.ask()

    def spend_rest(self, steps: ir.Value) -> None:
        """Count, behind a loop whose number of steps is not known, the steps since its last poll."""
        if self.round is not None:
            self.spend(self.line.code.builder.and_(steps, ir.Constant(I64, self.round - 1)))


def define_without_signals(module: ir.Module) -> None:
    """Give the polling function a body that reports no signal, for code that callers from C run."""
    function = module.globals.get(f"{SIGNALS}raised")
    if isinstance(function, ir.Function) and function.is_declaration:
        function.linkage = "internal"
        Emitter(ir.IRBuilder(function.append_basic_block("entry"))).builder.ret(ir.Constant(I1, 0))
