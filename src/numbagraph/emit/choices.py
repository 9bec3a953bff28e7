"""How the innermost loop of a nest is emitted: which variant suits what it reads and accumulates."""

from __future__ import annotations

from collections.abc import Container, Iterable

from numbagraph.emit.hints import depending_on, reads_along, reduces_with_strides
from numbagraph.emit.scalars import is_stretch
from numbagraph.intrinsics.ir import Apply, Load, LoopIndex, Scalar, walk
from numbagraph.intrinsics.vecmath.foundation import functions
from numbagraph.ir.structs import Struct
from numbagraph.loops.ir import Kernel, Scatter

MOST_COPIED = 8
"""Arrays that are copied: each takes a few kilobytes of the stack."""


class Choices(Struct):
    """What has been decided about the innermost loop of a nest."""

    copied: tuple[Load, ...]
    """What is read with strides, and copied into memory of its own for each block."""
    delayed: tuple[Scatter, ...]
    """The scatters that wait until a block has been computed."""
    strided: bool
    """Whether it only accumulates what it reads with strides, and so in scalar lanes."""


def choices_for(kernel: Kernel) -> Choices:
    copied = () if kernel.unrolled else tuple(strided_loads(kernel))
    strided = not copied and not kernel.unrolled and reduces_with_strides(kernel)
    return Choices(copied, tuple(delayed_scatters(kernel)), strided)


def strided_loads(kernel: Kernel) -> list[Load]:
    """What the innermost loop reads with strides, if it computes mathematical functions of it.

    LLVM widens a loop that reads with strides by gathering, and then each element takes five times as long. Where
    little is computed, a copy would take as long.
    """
    if not kernel.loops:
        return []
    loop, inside = kernel.loops[-1], depending_on(kernel.loops[-1], kernel)
    if not computes_functions(inside):
        return []
    found = [each for each in kernel.scalars() if isinstance(each, Load) and each in inside]
    apart = [each for each in found if not reads_along(loop, each)]
    simple = all(each.indices.count(loop) == 1 and len(inside.intersection(each.indices)) == 1 for each in apart)
    return apart if simple and len(apart) <= MOST_COPIED else []


def stretches_of(kernel: Kernel) -> list[Apply]:
    """The positions along dimensions whose lengths may turn out to be 1, if the innermost loop moves any of them."""
    found = [each for each in kernel.scalars() if isinstance(each, Apply) and is_stretch(each)]
    moves = any(kernel.loops[-1] in walk([each]) for each in found) if kernel.loops else False
    return found if moves and not kernel.unrolled else []


def computes_functions(scalars: Iterable[Scalar]) -> bool:
    return any(isinstance(each, Apply) and each.name in functions for each in scalars)


def delayed_scatters(kernel: Kernel) -> list[Scatter]:
    """Scatters of a nest that wait until a block of the innermost loop has been computed.

    Indices that are known at run time only may be equal, so LLVM widens no loop that adds to them, nor what else it
    computes: mathematical functions take five times as long.
    """
    if not kernel.loops:
        return []
    loop, inside = kernel.loops[-1], depending_on(kernel.loops[-1], kernel)
    found = [each for each in kernel.outputs if isinstance(each, Scatter) and scatters_along(loop, each, inside)]
    return found if len(found) <= MOST_COPIED and computes_functions(inside) else []


def scatters_along(loop: LoopIndex, output: Scatter, inside: Container[Scalar]) -> bool:
    """Whether the indices that a scatter goes to in a loop are known at run time only."""
    return output.value in inside and any(each in inside and each is not loop for each in output.indices)
