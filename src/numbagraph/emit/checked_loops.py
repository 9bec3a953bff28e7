"""Loops with all their checks, which run where a check will fail. Each is a function of its own without optimisation:
inline, LLVM would optimise the code around its steps, too. A program rarely needs such a function, so it is made and
compiled on first use."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from llvmlite import ir

from numbagraph.emit.control_flow import RegionFunctions, bytes_of, copy_memory, run_loop, typed
from numbagraph.emit.runtime_calls import LOAD_CHECKED, text
from numbagraph.emit.straight_line import StraightLine
from numbagraph.intrinsics.emitters.core import loaded
from numbagraph.intrinsics.emitters.emitter import I32, POINTER, memory_type
from numbagraph.intrinsics.emitters.ir import Buffer, Scalar
from numbagraph.ir.abi import NO_SOLUTION, NativeSignature
from numbagraph.ir.structs import replace
from numbagraph.loops.control_steps import Carried, Loop, Region, taken


class Given(StraightLine):
    """The code of the function of a loop with checks. Its numbers and addresses are passed one by one: a table whose
    address another function knows stays in memory."""

    def __init__(self, function: ir.Function, signature: NativeSignature, numbers: dict[Scalar, ir.Value]) -> None:
        super().__init__(function, signature, ())
        self.numbers = numbers

    def scalar(self, scalar: Scalar) -> ir.Value:
        return self.numbers[scalar]

    def base(self, buffer: Buffer) -> ir.Value:
        return self.buffers[buffer.owner]


def numbers_of(loop: Loop) -> Iterator[Scalar]:
    """The numbers that the code of a loop uses."""
    for buffer in loop.buffers():
        yield from buffer.extents
    yield from (each for each in (*loop.operands(), loop.trips) if isinstance(each, Scalar))


@contextmanager
def on_copies(line: StraightLine, loop: Loop | None) -> Iterator[dict[Buffer, ir.Value]]:
    """Let a loop update copies of the arrays that it updates in place, and copy them back once it has ended."""
    updated = [] if loop is None else [each.last for each in loop.carried if updates(each)]
    sizes = {each: bytes_of(line, each) for each in updated}
    moved: dict[Buffer, ir.Value] = {}
    for each, size in sizes.items():
        moved[each.owner] = line.code.builder.bitcast(line.take(size), line.base(each).type)
        copy_memory(line, moved[each.owner], line.base(each), size)
    yield moved
    for each, size in sizes.items():
        copy_memory(line, line.base(each), moved[each.owner], size)
        line.give(moved[each.owner])


def updates(carried: Carried) -> bool:
    """Whether an array is updated in the memory that it begins in."""
    return isinstance(carried.initial, Buffer) and carried.initial.owner is carried.last.owner


class CheckedLoop:
    """A loop with its checks, as a function, and its call."""

    def __init__(
        self,
        line: StraightLine,
        loop: Loop,
        functions: Callable[[ir.Module, Region], RegionFunctions],
        name: str,
        moved: Mapping[Buffer, ir.Value],
    ) -> None:
        self.line = line
        self.loop = loop
        self.functions = functions
        self.name = name
        self.numbers = {each: line.scalar(each) for each in dict.fromkeys(numbers_of(loop))}
        owners = dict.fromkeys(buffer.owner for buffer in loop.buffers())
        self.places = {each: moved[each] if each in moved else line.base(each) for each in owners}
        self.slots = self._slots()
        self.passed = {each: value for each, value in self.numbers.items() if not isinstance(value, ir.Constant)}
        self.arguments = [line.patience, *self.places.values(), *self.passed.values()]
        self.type = ir.FunctionType(I32, [each.type for each in self.arguments])

    def _slots(self) -> list[tuple[Carried, ir.Value]]:
        """The carried numbers and the stack slots where the function leaves them. The version without checks keeps its
        own in registers."""
        builder, found = self.line.code.builder, []
        for each in self.loop.carried:
            if isinstance(each.initial, Buffer):
                continue
            with builder.goto_entry_block():
                slot = builder.alloca(memory_type(each.last.dtype))
            for buffer in (each.last, each.other):
                self.places[buffer.owner] = builder.bitcast(slot, self.places[buffer.owner].type)
            found.append((each, slot))
        return found

    def define(self, module: ir.Module, name: str | None = None) -> ir.Function:
        """Emit the function."""
        function = ir.Function(module, self.type, name or self.name)
        patience, *own = function.args
        numbers = dict(zip(self.passed, own[len(self.places) :], strict=True))
        inner = Given(function, self.line.signature, self.numbers | numbers)
        inner.lasting = self.line.lasting
        inner.work_left, inner.buffers = patience, dict(zip(self.places, own, strict=False))
        assert self.loop.with_checks is not None
        region = self.loop.with_checks()
        run_loop(inner, with_region(inner, self.loop, region), self.functions(module, region))
        inner.leave(ir.Constant(I32, 0))
        return function

    def call(self, function: ir.Value) -> None:
        """Call it; the enclosing function returns where it fails."""
        line, code = self.line, self.line.code
        failed = line.call(function, self.arguments)
        line.leave_if(code.builder.icmp_signed("!=", failed, ir.Constant(I32, 0)), failed)
        for each, slot in self.slots:
            if each.is_result:
                target = typed(line, line.base(each.last), each.last)
                code.store(code.load(slot, each.last.dtype), target, each.last.dtype)

    @property
    def symbol(self) -> str:
        """The name of the function, with a digest of its arguments: other arguments make another name."""
        given = "\n".join(map(str, self.arguments))
        return f"{self.name}:{hashlib.sha256(given.encode()).hexdigest()[:16]}"

    def call_deferred(self, program: str) -> str:
        """Call the function by its address, which is loaded on first use by the program's name and the function's
        symbol. Return the symbol."""
        line, symbol, module = self.line, self.symbol, self.line.function.module
        slot = ir.GlobalVariable(module, POINTER, f"{self.name}.known")
        slot.linkage, slot.initializer = "internal", ir.Constant(POINTER, None)
        name = text(module, f"{program}:{symbol}")
        address = loaded(
            line.code, LOAD_CHECKED, slot, lambda: name, partial(line.leave, ir.Constant(I32, NO_SOLUTION))
        )
        self.call(line.code.builder.bitcast(address, self.type.as_pointer()))
        return symbol


def with_region(line: StraightLine, loop: Loop, region: Region) -> Loop:
    """Return a loop with another body, which may make its carries in other places: it gets memory of its own then."""
    carried = []
    for place, each in enumerate(loop.carried):
        takes = taken(region, place)
        if takes != each.takes and isinstance(each.initial, Buffer):
            first, other = each.initial, own_memory(line, each.other)
            if takes is None:  # what is read may be where the result is
                first = own_memory(line, each.initial)
                copy_memory(line, line.base(first), line.base(each.initial), bytes_of(line, first))
            each = replace(each, initial=first, takes=takes, other=other)
        carried.append(each)
    return replace(loop, body=region, carried=carried)


def own_memory(line: StraightLine, like: Buffer) -> Buffer:
    """Memory for a buffer like another one, until the function returns."""
    buffer = Buffer(f"{like.name}_checked", like.type, like.extents)
    line.buffers[buffer] = line.take(bytes_of(line, buffer))
    return buffer
