"""Functions that run a range of iterations: of one nest, or of nests and calls over the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from numbagraph.emit.accumulators import Partial, first_reduced
from numbagraph.emit.interface import Range
from numbagraph.emit.nest import declare_nest
from numbagraph.emit.scalars import StraightCode
from numbagraph.intrinsics.emitters.ir import Buffer, Scalar
from numbagraph.ir.structs import Struct
from numbagraph.loops.ir import Call, Kernel, Reduction

BY_ITERATIONS, BY_ROWS = Range(), Range(by_rows=True)


class RangeFunction(Struct, frozen=False):
    """``i1 function(begin, end, owners..., externals..., slots...)``, which returns whether a check has failed."""

    function: ir.Function
    members: Sequence[Kernel | Call]
    """The nests and calls that the function runs."""
    length: Scalar
    """The number of iterations."""
    owners: list[Buffer]
    externals: list[Scalar]
    slots: list[Partial]
    """The partial results that the function continues from, and leaves."""
    shared: list[Reduction]
    """The outputs to whose elements in memory several ranges add."""
    may_fail: bool
    in_lines: bool
    """Whether a range may begin in the middle of a line of cache, unless ranges are cut with care."""
    rows_of_tile: Callable[[StraightCode], ir.Value] | None = None
    """Emits the number of rows that run together; it is the argument after the externals if the function has tiles."""

    def arguments(self, code: StraightCode) -> list[ir.Value]:
        """The arguments of a call between the range and the slots."""
        arguments = [*map(code.base, self.owners), *map(code.external, self.externals)]
        return arguments if self.rows_of_tile is None else [*arguments, self.rows_of_tile(code)]


def emit_range(module: ir.Module, kernel: Kernel, name: str, interface: Range = BY_ITERATIONS) -> RangeFunction:
    """Emit a nest as a function of a range of its outermost loop."""
    nest = declare_nest(module, kernel, name, interface)
    slots = [nest.partial(each) for each in nest.slots]
    function = nest.emit()
    reductions = [each for each in kernel.outputs if isinstance(each, Reduction) and first_reduced(kernel, each)]
    return RangeFunction(
        function,
        members=[kernel],
        length=kernel.loops[0].extent,
        owners=nest.owners,
        externals=nest.externals,
        slots=slots,
        shared=[each for each in reductions if kernel.loops[0] in each.reduced],
        may_fail=nest.flag is not None,
        in_lines=len(kernel.loops) == 1,
    )
