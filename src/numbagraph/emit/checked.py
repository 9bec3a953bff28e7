"""Loops with all their checks, which run where one will fail. Each is a function of its own without optimisation: where
it stands, LLVM would optimise what surrounds its steps, too."""

from __future__ import annotations

from collections.abc import Iterator

from llvmlite import ir

from numbagraph.emit.control import RegionFunctions, run_loop, typed
from numbagraph.emit.straight_line import StraightLine
from numbagraph.intrinsics.emitter import I32, memory_type
from numbagraph.intrinsics.ir import Buffer, Scalar
from numbagraph.loops.control_steps import Loop


class Given(StraightLine):
    """The code of such a function. It is given numbers and addresses one by one: tables whose address another function
    knows are in memory."""

    def __init__(self, function: ir.Function, line: StraightLine, numbers: dict[Scalar, ir.Value]) -> None:
        super().__init__(function, line.signature, ())
        self.lasting = line.lasting
        self.numbers = numbers

    def scalar(self, scalar: Scalar) -> ir.Value:
        return self.numbers[scalar]

    def base(self, buffer: Buffer) -> ir.Value:
        return self.buffers[buffer.owner]


def numbers_of(loop: Loop) -> Iterator[Scalar]:
    """The numbers that the code of a loop asks for."""
    for buffer in loop.buffers():
        yield from buffer.extents
    yield from (each for each in (*loop.operands(), loop.trips) if isinstance(each, Scalar))


def call_checked(line: StraightLine, loop: Loop, steps: RegionFunctions, name: str) -> None:
    """Emit a function that runs a loop by other steps, and its call; the enclosing function returns where it fails."""
    code, builder = line.code, line.code.builder
    numbers = {each: line.scalar(each) for each in dict.fromkeys(numbers_of(loop))}
    places = {each: line.base(each) for each in dict.fromkeys(buffer.owner for buffer in loop.buffers())}
    carried = [each for each in loop.carried if not isinstance(each.initial, Buffer)]
    with builder.goto_entry_block():  # not where the version without checks leaves numbers, which stay in registers
        slots = [builder.alloca(memory_type(each.last.dtype)) for each in carried]
    for each, slot in zip(carried, slots, strict=True):
        for buffer in (each.last, each.other):
            places[buffer.owner] = builder.bitcast(slot, places[buffer.owner].type)

    passed = {each: value for each, value in numbers.items() if not isinstance(value, ir.Constant)}
    arguments = [line.patience, *places.values(), *passed.values()]
    type_ = ir.FunctionType(I32, [each.type for each in arguments])
    function = ir.Function(line.function.module, type_, f"{name}.loop")
    function.linkage = "internal"
    patience, *own = function.args
    inner = Given(function, line, numbers | dict(zip(passed, own[len(places) :], strict=True)))
    inner.work_left, inner.buffers = patience, dict(zip(places, own, strict=False))
    run_loop(inner, loop, steps)
    inner.leave(ir.Constant(I32, 0))

    failed = line.call(function, arguments)
    line.leave_if(builder.icmp_signed("!=", failed, ir.Constant(I32, 0)), failed)
    for each, slot in zip(carried, slots, strict=True):
        if each.is_result:
            code.store(code.load(slot, each.last.dtype), typed(line, line.base(each.last), each.last), each.last.dtype)
