"""Products of matrices: of large ones by SciPy's BLAS, of small ones by vector code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.batches import Extents, batch_steps, for_each, product
from numbagraph.intrinsics.emitters.emitter import I1, I64, Emitter
from numbagraph.intrinsics.emitters.fortran import Fortran, one_thread, too_long
from numbagraph.intrinsics.emitters.matrices import Code, Index, Matrix
from numbagraph.intrinsics.emitters.products import SmallProduct, small_products
from numbagraph.intrinsics.emitters.small_matrices import has_small_product, is_small, small_product


def matmul(
    emitter: Emitter,
    addresses: Sequence[ir.Value],
    extents: Sequence[Extents],
    dtypes: Sequence[np.dtype],
    *,
    transposed: tuple[bool, bool],
) -> ir.Value:
    """Emit ``(..., m, k), (..., k, n) -> (..., m, n)``; ``transposed`` says whose last two dimensions are exchanged.

    Return whether that has failed.
    """
    *batch, rows, columns = extents[2]
    if dtypes[0].kind != "f" or not (batch or has_small_product(emitter, transposed)):
        return by_blas(emitter, addresses, extents, dtypes, transposed)
    if not batch:
        return of_two(emitter, addresses, extents, dtypes, transposed)
    small = SmallProduct.is_for(emitter, rows, extents[0][-2 if transposed[0] else -1], columns)

    def by_small_products() -> ir.Value:
        first, second = transposed
        return small_products[transposed](emitter, addresses, extents, dtypes, first=first, second=second)

    return emitter.choose(small, by_small_products, lambda: by_blas(emitter, addresses, extents, dtypes, transposed))


def of_two(
    emitter: Emitter,
    addresses: Sequence[ir.Value],
    extents: Sequence[Extents],
    dtypes: Sequence[np.dtype],
    transposed: tuple[bool, bool],
) -> ir.Value:
    """Emit the product of two matrices without a batch, and return whether that has failed."""
    rows, columns = extents[2]
    lengths = rows, extents[0][-2 if transposed[0] else -1], columns

    def by_small_product() -> ir.Value:
        small_product(emitter, dtypes[0], transposed, addresses, lengths)
        return ir.Constant(I1, 0)

    small = is_small(emitter, lengths)
    return emitter.choose(small, by_small_product, lambda: by_blas(emitter, addresses, extents, dtypes, transposed))


def by_blas(
    emitter: Emitter,
    addresses: Sequence[ir.Value],
    extents: Sequence[Extents],
    dtypes: Sequence[np.dtype],
    transposed: tuple[bool, bool],
) -> ir.Value:
    """Emit the product of matrices of any size whose lengths fit into BLAS's integers, and return whether they do not.

    BLAS counts along columns: it sees each matrix as its transpose, so it computes right times left.
    """
    *left_batch, first, second = extents[0]
    *right_batch, _, _ = extents[1]
    *batch, rows, columns = extents[2]
    inner = first if transposed[0] else second
    if not right_batch and not transposed[0]:
        # one matrix on the right serves all on the left: their rows are the rows of one tall matrix
        rows, left_batch, batch = product(emitter, (*batch, rows)), [], []
    failed = too_long(emitter, (rows, inner, columns))
    if not batch and addresses[0] is addresses[1] and transposed[0] != transposed[1]:
        routine: Gemm | Syrk = Syrk(emitter, dtypes[0], transposed[0], rows, inner)
    else:
        routine = Gemm(emitter, dtypes[0], transposed, rows, inner, columns)
    sides = (left_batch, rows, inner), (right_batch, inner, columns), (batch, rows, columns)
    width = ir.Constant(I64, dtypes[0].itemsize)
    steps = [batch_steps(emitter, own, batch, product(emitter, (width, m, n))) for own, m, n in sides]
    with (
        emitter.builder.if_then(emitter.builder.not_(failed), likely=True),
        one_thread(emitter, (rows, inner, columns)),
    ):
        for_each(emitter, batch, steps, addresses, routine.call)
    return failed


class Gemm:
    """Calls of BLAS that differ only in their addresses."""

    def __init__(
        self, emitter: Emitter, dtype: np.dtype, transposed: tuple[bool, bool], m: ir.Value, k: ir.Value, n: ir.Value
    ) -> None:
        self.fortran = Fortran(emitter, dtype)
        left, right = (self.fortran.character("T" if each else "N") for each in transposed)
        self.first = [right, left, *map(self.fortran.length, (n, m, k)), self.fortran.number(1)]
        rows = m if transposed[0] else k, k if transposed[1] else n, n
        self.widths = [self.fortran.width(each) for each in rows]
        self.zero = self.fortran.number(0)

    def call(self, left: ir.Value, right: ir.Value, result: ir.Value) -> None:
        widths = self.widths
        self.fortran.blas("gemm", *self.first, right, widths[1], left, widths[0], self.zero, result, widths[2])


class Syrk:
    """Products of a matrix with itself, of which one is transposed: half of a symmetric matrix is computed, and the
    other half is a copy."""

    def __init__(self, emitter: Emitter, dtype: np.dtype, first: bool, n: ir.Value, k: ir.Value) -> None:
        self.fortran, self.code = Fortran(emitter, dtype), Code(emitter, dtype)
        self.n = self.code.index(n)
        self.before = [self.fortran.character(each) for each in ("U", "N" if first else "T")]
        self.before += [*map(self.fortran.length, (n, k)), self.fortran.number(1)]
        self.width, self.result_width = self.fortran.width(n if first else k), self.fortran.width(n)
        self.zero = self.fortran.number(0)

    def call(self, matrix: ir.Value, _: ir.Value, result: ir.Value) -> None:
        self.fortran.blas("syrk", *self.before, matrix, self.width, self.zero, result, self.result_width)
        code, builder = self.code, self.code.emitter.builder
        found = Matrix(code.emitter, result, code.dtype, self.n, code.index(1))

        def copy_row(i: Index) -> None:
            code.loop(0, i, lambda j: builder.store(builder.load(found.address(i, j)), found.address(j, i)))

        code.loop(0, self.n, copy_row)
