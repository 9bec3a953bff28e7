"""Checks of run-time indices, and of what was required, before the first step that overwrites an argument: then it is
written where it lies, since nothing can fail any more once it has begun to change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from numbagraph.intrinsics.emitters.ir import Buffer, CheckedIndex, Load, LoopIndex, Register, Scalar, literal, walk
from numbagraph.ir.structs import replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Input, Value
from numbagraph.loops.ir import Check, Compute, Kernel, Output, Step, Store


def with_early_checks(steps: Sequence[Step], written: Collection[Buffer]) -> list[Step]:
    """The steps with the checks of those behind the first one that writes to one of the memories in front of it.

    If one of them uses what is known only then, the steps remain as they are.
    """
    first = next(
        (n for n, step in enumerate(steps) if any(each.owner in written for each in step.writes())), len(steps)
    )
    later = steps[first:]
    changed = {each.owner for step in later for each in step.writes()}
    unknown = {value for step in later for value in step.results()}
    checks: list[Step] = []
    rest: list[Step] = []
    for step in later:
        if not step.checks():
            rest.append(step)
            continue
        if isinstance(step, Check) and are_known(step.scalars(), changed, unknown):
            checks.append(step)
            continue
        if not isinstance(step, Kernel) or step.alternative is not None:
            return [*steps]
        indices = [each for each in step.scalars() if isinstance(each, CheckedIndex)]
        if not are_known(indices, changed, unknown):
            return [*steps]
        checks += checks_of(step, indices)
        rest.append(replace(step, in_bounds=True))
    return [*steps[:first], *checks, *rest]


def are_known(indices: Iterable[Scalar], changed: Collection[Buffer], unknown: Collection[Value]) -> bool:
    """Whether indices, or conditions, use neither memory nor values that come later."""
    return not any(
        (isinstance(each, Load) and each.buffer.owner in changed)
        or (isinstance(each, Register) and each.value in unknown)
        for each in walk(indices)
    )


def checks_of(kernel: Kernel, indices: Iterable[CheckedIndex]) -> list[Step]:
    """Nests for the checked indices, one for those that depend on the same loops. Each index is stored to a buffer that
    is never read."""
    nests: dict[tuple[LoopIndex, ...], list[CheckedIndex]] = {}
    for index in indices:
        used = set(walk([index]))
        nests.setdefault(tuple(loop for loop in kernel.loops if loop in used), []).append(index)
    steps: list[Step] = []
    for loops, own in nests.items():
        if not loops:
            steps += [Compute(Input(ArrayType(INT64, ()), "position"), each) for each in own]
            continue
        unread = [Buffer("checked", ArrayType(INT64, (1,)), (literal(1),)) for _ in own]
        outputs: list[Output] = [Store(each, (literal(0),), index) for each, index in zip(unread, own, strict=True)]
        flattened = kernel.flattened if loops == kernel.loops else ()
        steps.append(Kernel(f"check_{kernel.name}", loops, outputs, flattened=flattened))
    return steps
