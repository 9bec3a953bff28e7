"""The elements that a mask selects, or their positions, side by side. No branch depends on an element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import llvm_constant
from numbagraph.intrinsics.emitters.matrices import Index
from numbagraph.intrinsics.emitters.selections import Row, append, count, lanes_for, spread
from numbagraph.ir.types import BOOL, INT64

FLAGS = np.dtype(np.uint8)


Load = Callable[[Index, int], ir.Value]
"""``load(index, lanes)``: the elements at a position and behind it, as a vector of ``lanes`` lanes."""


def true_positions(element: Element) -> None:
    """Write as many positions of true elements as there is room for; zeros if there are fewer."""
    builder = element.builder

    def numbers(k: Index, width: int) -> ir.Value:
        first = spread(element, k.register, width)
        return builder.add(first, ir.Constant(first.type, list(range(width)))) if width > 1 else first

    compacted(element, element.operands[0], numbers, INT64)


def true_elements(element: Element) -> None:
    """Write as many elements as there is room for; zeros if fewer are true."""
    dtype = FLAGS if element.dtypes[0] == BOOL else element.dtypes[0]
    compacted(element, element.operands[1], Row.at(element, element.operands[0], dtype).load, dtype)


def compacted(element: Element, mask: ir.Value, load: Load, dtype: np.dtype) -> None:
    """Write elements, as many at a time as one instruction compresses while there is room for as many, then one by
    one."""
    builder, emitter, code = element.builder, element.emitter, element.code
    flags, found = Row.at(element, mask, FLAGS), Row.at(element, element.results[0], dtype)
    n, m = element["n"], element["m"]
    state: list[ir.Value] = [code.index(0).register, code.index(0).register]
    for width in dict.fromkeys((lanes_for(dtype) if dtype.kind in "iuf" else 1, 1)):

        def goes_on(k: ir.Value, kept: ir.Value, width: int = width) -> ir.Value:
            return builder.and_((code.index(k) + width).compare("<=", n), (code.index(kept) + width).compare("<=", m))

        def step(k: ir.Value, kept: ir.Value, width: int = width) -> list[ir.Value]:
            given = flags.load(code.index(k), width)
            mask = builder.icmp_unsigned("!=", given, ir.Constant(given.type, [0] * width if width > 1 else 0))
            append(element, found, Index(emitter, kept), load(code.index(k), width), mask, width)
            return [(code.index(k) + width).register, builder.add(kept, count(element, mask, width))]

        state = list(emitter.repeat(state, goes_on, step))
    kept = Index(emitter, state[1])
    code.loop(0, m - kept, lambda k: found.store(llvm_constant(0, dtype), kept + k))
