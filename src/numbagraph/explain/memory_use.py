"""A description of the memory that a program needs, for the error where it cannot be had."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from numbagraph.explain.report import evaluate_length, format_bytes, lengths_of
from numbagraph.intrinsics.emitters.ir import Buffer
from numbagraph.ir.shapes import shape_text
from numbagraph.ir.sources import text_of
from numbagraph.ir.values import Node
from numbagraph.loops.ir import Program, TiledLoop
from numbagraph.runtime.specialise import Specialisation


def too_large(special: Specialisation, arrays: Sequence[Any], described: str) -> str:
    """The largest array that a program makes for these arguments, with the operation and the user's line."""
    known = lengths_of(special.graph.inputs, arrays)
    sizes: dict[Buffer, tuple[int, tuple[int, ...]]] = {}
    for buffer in made_by(special.tiled):
        lengths = [evaluate_length(extent, known) for extent in buffer.extents]
        shape = tuple(each for each in lengths if each is not None)
        if len(shape) == len(lengths):
            sizes[buffer] = buffer.dtype.itemsize * math.prod(shape), shape
    if not sizes:
        return f"{described}: there is no memory for a result, or for what is computed on the way"
    buffer = max(sizes, key=lambda each: sizes[each][0])
    size, shape = sizes[buffer]
    kind = "a result" if buffer.result is not None else "what is computed on the way to the results"
    text = (
        f"{described}: there is no memory; the largest array, {kind}, is of {buffer.dtype} with shape "
        f"{shape_text(shape)}: {format_bytes(size)}"
    )
    maker = buffer.value
    return f"{text}\n  in {maker.op.name}\n  {text_of(maker.source)}" if isinstance(maker, Node) else text


def made_by(program: Program) -> Iterator[Buffer]:
    """The arrays that a call allocates: results, and temporaries that are in memory as a whole."""
    in_tiles = {buffer for step in program.body.steps if isinstance(step, TiledLoop) for buffer in step.in_tile}
    yield from (each for each in program.results if isinstance(each, Buffer))
    yield from (buffer for slot in program.body.slots for buffer in slot if slot[0] not in in_tiles)
