"""The positions of what a mask selects, side by side: no branch depends on an element."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import I64
from numbagraph.intrinsics.matrices import Index
from numbagraph.intrinsics.selections import Row, append, count, lanes_for, spread
from numbagraph.ir.types import INT64

FLAGS = np.dtype(np.uint8)


def true_positions(element: Element) -> None:
    """As many positions as there is room for; zeros where fewer elements are true.

    As many elements at a time as one instruction compresses, while there is room for as many; then one by one.
    """
    builder, emitter, code = element.builder, element.emitter, element.code
    flags, found = Row.at(element, element.operands[0], FLAGS), Row.at(element, element.results[0], INT64)
    n, m = element["n"], element["m"]
    state: list[ir.Value] = [code.index(0).register, code.index(0).register]
    for width in dict.fromkeys((lanes_for(INT64), 1)):

        def goes_on(k: ir.Value, kept: ir.Value, width: int = width) -> ir.Value:
            return builder.and_((code.index(k) + width).compare("<=", n), (code.index(kept) + width).compare("<=", m))

        def step(k: ir.Value, kept: ir.Value, width: int = width) -> list[ir.Value]:
            given, first = flags.load(code.index(k), width), spread(element, k, width)
            mask = builder.icmp_unsigned("!=", given, ir.Constant(given.type, [0] * width if width > 1 else 0))
            numbers = builder.add(first, ir.Constant(first.type, list(range(width)))) if width > 1 else k
            append(element, found, Index(emitter, kept), numbers, mask, width)
            return [(code.index(k) + width).register, builder.add(kept, count(element, mask, width))]

        state = list(emitter.repeat(state, goes_on, step))
    kept = Index(emitter, state[1])
    code.loop(0, m - kept, lambda k: found.store(ir.Constant(I64, 0), kept + k))
