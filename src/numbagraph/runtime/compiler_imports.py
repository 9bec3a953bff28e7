"""The passes that make a program of a graph, and LLVM of the program. A function that is found on disk needs none of
them."""

from numbagraph.emit.program import DeferredLoops, ProgramEmitter, emit_program, repeated_dims
from numbagraph.emit.sizes import TOO_BIG, unbounded
from numbagraph.loops.buffers import fails_late, reuse_donated
from numbagraph.loops.early_exits import may_be_uninterruptible
from numbagraph.loops.ir import Compute
from numbagraph.loops.lengths import array_of_computed_length
from numbagraph.loops.phases import phases_of
from numbagraph.loops.schedule import LengthNotKnown, build_program
from numbagraph.loops.tiling import tiled
from numbagraph.rewrite.pipeline import optimise

__all__ = [
    "TOO_BIG",
    "Compute",
    "DeferredLoops",
    "LengthNotKnown",
    "ProgramEmitter",
    "array_of_computed_length",
    "build_program",
    "emit_program",
    "fails_late",
    "may_be_uninterruptible",
    "optimise",
    "phases_of",
    "repeated_dims",
    "reuse_donated",
    "tiled",
    "unbounded",
]
