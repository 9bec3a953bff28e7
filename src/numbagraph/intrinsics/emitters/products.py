"""Products of small square matrices, several at a time: a call of BLAS for each takes longer than the computation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import CoreEmitter, Element, Variant
from numbagraph.intrinsics.emitters.emitter import CONTRACT, I64, Emitter
from numbagraph.intrinsics.emitters.formula import Number
from numbagraph.intrinsics.emitters.matrices import Index

MOST_ROWS = 4
"""The length up to which products are computed this way. Larger ones take as long as reading and writing them, by
BLAS."""


def unrolled(element: Element) -> None:
    """Multiply element by element, with all factors in registers."""
    code, n, target = element.code, element["n"], element.result()
    flags = element.attributes["first"], element.attributes["second"]
    stored = [element.operand(number) for number in range(2)]
    left, right = (
        code.grid(matrix.transposed if flag else matrix, n, n) for matrix, flag in zip(stored, flags, strict=True)
    )

    def entry(i: Index, j: Index) -> None:
        total = code.number(0.0)
        for k in map(code.index, range(n.static or 0)):
            total = with_product(total, left[i, k], right[k, j])
        target[i, j] = total

    code.each(n, n, entry)


def with_product(total: Number, x: Number, y: Number) -> Number:
    """Return ``total + x * y``, rounded once where that is an instruction."""
    builder = total.emitter.builder
    term = builder.fmul(x.value, y.value, flags=CONTRACT)
    return Number(total.emitter, builder.fadd(total.value, term, flags=CONTRACT), total.dtype)


class SmallProduct(CoreEmitter):
    """The emitter of products of square matrices of one length, which has variants of its own."""

    def variants(self, dtype: np.dtype) -> list[Variant]:
        return [Variant(f"unrolled{n}", unrolled, dict.fromkeys("mkn", n)) for n in range(1, MOST_ROWS + 1)]

    def choose(self, emitter: Emitter, variants: Sequence[Variant], lengths: Mapping[str, ir.Value]) -> ir.Value:
        return emitter.builder.sub(lengths["n"], ir.Constant(I64, 1))

    @staticmethod
    def is_for(emitter: Emitter, m: ir.Value, k: ir.Value, n: ir.Value) -> ir.Value:
        """Return whether the emitter is for matrices of these lengths."""
        builder = emitter.builder
        square = builder.and_(builder.icmp_signed("==", m, k), builder.icmp_signed("==", k, n))
        few = builder.icmp_unsigned("<", builder.sub(n, ir.Constant(I64, 1)), ir.Constant(I64, MOST_ROWS))
        return builder.and_(square, few)


small_products: dict[tuple[bool, bool], SmallProduct] = {
    flags: SmallProduct(
        f"matmul_{''.join('nt'[flag] for flag in flags)}",
        (("k", "m") if flags[0] else ("m", "k"), ("n", "k") if flags[1] else ("k", "n")),
        (("m", "n"),),
        library=unrolled,
    )
    for flags in product((False, True), (False, True))
}
"""The emitters of small products, by the flags of the transposed operands."""
