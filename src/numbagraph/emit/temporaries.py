"""The places of a program's temporaries: small ones of known size are on the stack, where LLVM makes them registers;
the others are in memory that is taken once."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from numbagraph.intrinsics.emitters.ir import Buffer, Literal
from numbagraph.ir.structs import Struct
from numbagraph.loops.ir import Program, TiledLoop

SMALL = 128
"""The size in bytes up to which a temporary lies on the stack: a vector, or a matrix of 4 by 4."""
MOST_ON_STACK = 2**13
"""The size in bytes of all temporaries on the stack, at most."""


class Temporaries(Struct):
    """The slots of a program that are on the stack, with their bytes, and the others."""

    on_stack: tuple[tuple[tuple[Buffer, ...], int], ...]
    in_arena: tuple[tuple[Buffer, ...], ...]


def temporaries(program: Program) -> Temporaries:
    """Decide where each slot of a program is. Buffers of tiled loops are as long as a tile."""
    tiled = {owner for step in program.body.steps if isinstance(step, TiledLoop) for owner in step.in_tile}
    on_stack, in_arena, total = [], [], 0
    for slot in map(tuple, program.body.slots):
        size = None if slot[0] in tiled else bytes_of_slot(slot)
        if size is None or size > SMALL or total + size > MOST_ON_STACK:
            in_arena.append(slot)
        else:
            on_stack.append((slot, size))
            total += size
    return Temporaries(tuple(on_stack), tuple(in_arena))


def bytes_of_slot(slot: Sequence[Buffer]) -> int | None:
    """The bytes of the largest buffer of a slot, if they are known."""
    most = 1
    for buffer in slot:
        known = [int(each.value) for each in buffer.extents if isinstance(each, Literal)]
        if len(known) < len(buffer.extents):
            return None
        most = max(most, prod(known) * buffer.dtype.itemsize)
    return most
