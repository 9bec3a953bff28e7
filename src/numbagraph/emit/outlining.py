"""Long straight lines as calls of several functions: LLVM's code generator takes quadratic time for the values of one.

A block of more instructions than `MOST` becomes pieces, each a function of its own. Values that one piece computes and
another code uses lie in a frame, whose arrays each piece gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir

MOST = 2000
"""The number of instructions up to which a block stays as it is."""
PIECE = 1000
"""The number of instructions of a piece."""
FIRST = ir.Constant(ir.IntType(32), 0)
Frame = Sequence[ir.Value]
"""The addresses of the arrays of values."""
STAYING = (ir.PhiInstr, ir.AllocaInstr)
"""The instructions that belong to the function itself."""


def outline(function: ir.Function) -> None:
    """Let each long block of a function be calls of pieces of it."""
    for block in function.blocks:
        if block.terminator is not None and len(block.instructions) > MOST:
            LongBlock(block).divide()


class LongBlock:
    """A block that is divided into pieces."""

    def __init__(self, block: ir.Block) -> None:
        self.block, self.function = block, block.function
        *body, self.end = block.instructions
        self.staying = [each for each in body if isinstance(each, STAYING)]
        moved = [each for each in body if not isinstance(each, STAYING)]
        self.pieces = [moved[start : start + PIECE] for start in range(0, len(moved), PIECE)]
        self.piece_of: dict[Any, int] = {each: number for number, piece in enumerate(self.pieces) for each in piece}
        self.slots: dict[ir.Value, tuple[int, int]] = {}
        """The places of values that other code uses than that which computes them: an array, and an index into it."""
        self.types: dict[ir.Type, int] = {}
        """The types of the values in the frame, which has an array for each: LLVM's text repeats the type of what an
        address points to, and that of a structure names all members."""
        self.lengths: list[int] = []

    def divide(self) -> None:
        sizes = (each for each in self.staying if isinstance(each, ir.AllocaInstr))
        if any(is_local(value) for each in sizes for value in operands(each)):
            return  # memory of a size that the block computes
        users = [each for block in self.function.blocks if block is not self.block for each in block.instructions]
        outside = [*users, *(each for each in self.staying if isinstance(each, ir.PhiInstr)), self.end]
        after = {
            value: None for each in outside for value in operands(each) if is_local(value) and value in self.piece_of
        }
        for piece in self.pieces:
            for each in piece:
                for value in operands(each):
                    if is_local(value) and self.piece_of.get(value) != self.piece_of[each]:
                        self.keep(value)
        for value in after:
            self.keep(value)
        self.block.instructions, self.block.terminator = [], None
        builder = ir.IRBuilder(self.function.entry_basic_block)
        builder.position_at_start(self.function.entry_basic_block)
        arrays = [ir.ArrayType(each, self.lengths[number]) for each, number in self.types.items()]
        frame: Frame = [builder.alloca(each) for each in arrays]
        self.block.instructions += self.staying
        builder.position_at_end(self.block)
        for value in self.slots:
            if value not in self.piece_of:
                builder.store(value, self.place(builder, frame, value))
        for number, piece in enumerate(self.pieces):
            builder.call(self.piece(number, piece, arrays), frame)
        loaded: dict[ir.Value, ir.Value] = {value: builder.load(self.place(builder, frame, value)) for value in after}
        self.block.instructions.append(self.end)
        self.block.terminator = self.end
        for each in outside:
            replace(each, loaded)

    def keep(self, value: ir.Value) -> None:
        """Give a value a place in the frame."""
        if value not in self.slots:
            array = self.types.setdefault(value.type, len(self.lengths))
            if array == len(self.lengths):
                self.lengths.append(0)
            self.slots[value] = array, self.lengths[array]
            self.lengths[array] += 1

    def place(self, builder: ir.IRBuilder, frame: Frame, value: ir.Value) -> ir.Value:
        array, index = self.slots[value]
        return builder.gep(frame[array], [FIRST, ir.Constant(ir.IntType(32), index)], inbounds=True)

    def piece(self, number: int, instructions: list[ir.Instruction], arrays: Sequence[ir.Type]) -> ir.Function:
        """The function of a piece, which takes the frame."""
        module = self.function.module
        name = module.get_unique_name(f"{self.function.name}.piece")
        found = ir.Function(module, ir.FunctionType(ir.VoidType(), [each.as_pointer() for each in arrays]), name)
        found.linkage = "internal"
        for attribute in ("noinline", "nounwind"):
            found.attributes.add(attribute)
        block: Any = found.append_basic_block("entry")
        builder, frame = ir.IRBuilder(block), list(found.args)
        for each in frame:
            each.name = "frame"
        for each in instructions:  # names are those of their old function, and the new ones differ from them
            block.scope.register(each.name, deduplicate=True)
        given: dict[ir.Value, ir.Value] = {}
        for each in instructions:
            for value in operands(each):
                if is_local(value) and self.piece_of.get(value) != number and value not in given:
                    given[value] = builder.load(self.place(builder, frame, value))
        for each in instructions:
            replace(each, given)
            each.parent = block
        block.instructions += instructions
        builder.position_at_end(block)
        for each in instructions:
            if each in self.slots:
                builder.store(each, self.place(builder, frame, each))
        builder.ret_void()
        return found


def operands(instruction: Any) -> Iterator[ir.Value]:
    if is_phi(instruction):
        for value, _ in instruction.incomings:
            yield value
    else:
        yield from getattr(instruction, "operands", ())  # a comment has none


def is_phi(instruction: Any) -> bool:
    return isinstance(instruction, ir.PhiInstr)


def is_local(value: object) -> bool:
    """Whether a value belongs to a function."""
    return isinstance(value, (ir.Instruction, ir.Argument))


def replace(instruction: Any, found: dict[ir.Value, ir.Value]) -> None:
    """Let an instruction use other values. Some instructions have their operands a second time, under other names."""
    if is_phi(instruction):
        instruction.incomings = [(new_for(value, found), block) for value, block in instruction.incomings]
    elif any(is_local(each) and each in found for each in operands(instruction)):
        for name, held in list(vars(instruction).items()):
            if is_local(held):
                setattr(instruction, name, new_for(held, found))
            elif isinstance(held, (list, tuple)):
                setattr(instruction, name, type(held)(new_for(each, found) for each in held))
    else:
        return
    instruction._clear_string_cache()


def new_for(value: Any, found: dict[ir.Value, ir.Value]) -> Any:
    return found.get(value, value) if is_local(value) else value
