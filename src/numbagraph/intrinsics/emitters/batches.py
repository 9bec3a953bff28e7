"""Loops over a batch, which call a function for each element; an operand may have one element for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I1, I64, Emitter

Extents = Sequence[ir.Value]


def product(emitter: Emitter, factors: Sequence[ir.Value]) -> ir.Value:
    return reduce(emitter.builder.mul, factors, ir.Constant(I64, 1))


def batch_steps(emitter: Emitter, own: Extents, batch: Extents, size: ir.Value) -> list[ir.Value]:
    """Return the distance in memory of an operand's elements, which have a size, along each batch dimension; 0 where
    the element is repeated."""
    builder, zero = emitter.builder, ir.Constant(I64, 0)
    steps: list[ir.Value] = [zero] * (len(batch) - len(own))
    for number, extent in enumerate(own):
        repeated = builder.icmp_unsigned("==", extent, ir.Constant(I64, 1))
        steps.append(builder.select(repeated, zero, product(emitter, (size, *own[number + 1 :]))))
    return steps


def laid_out(
    emitter: Emitter,
    names: Sequence[Sequence[str]],
    inputs: int,
    extents: Sequence[Extents],
    dtypes: Sequence[np.dtype],
) -> tuple[dict[str, ir.Value], Extents, list[list[ir.Value]]]:
    """Return the lengths of the core dimensions, the batch, and the steps of operands, results, and scratch memory.

    ``names`` are those of the core dimensions of ``inputs`` operands and then of the results. Results that are wanted
    have all dimensions of the batch; scratch memory, which comes last, has none.
    """
    lengths: dict[str, ir.Value] = {}
    batches: list[Extents] = [[]] * len(dtypes)
    for number, (own_names, own) in enumerate(zip(names, extents, strict=False)):
        first = len(own) - len(own_names)
        lengths |= zip(own_names, own[first:], strict=True)
        batches[number] = own[:first]
    batch = max(batches[inputs : len(names)], key=len)
    steps = []
    for own, dtype, own_names in zip(batches, dtypes, [*names, *[()] * (len(dtypes) - len(names))], strict=True):
        width = ir.Constant(I64, dtype.itemsize)
        size = product(emitter, (width, *(lengths[name] for name in own_names)))
        steps.append(batch_steps(emitter, own, batch, size))
    return lengths, batch, steps


def for_each(
    emitter: Emitter,
    batch: Extents,
    steps: Sequence[Sequence[ir.Value]],
    addresses: Sequence[ir.Value],
    call: Callable[..., ir.Value | None],
) -> ir.Value:
    """Call ``call`` on the addresses of each element of a batch, ``steps`` bytes apart, and return whether any call has
    failed."""
    builder = emitter.builder
    if not batch:
        return call(*addresses) or ir.Constant(I1, 0)

    def goes_on(index: ir.Value, *_: ir.Value) -> ir.Value:
        return builder.icmp_signed("<", index, batch[0])

    def step(index: ir.Value, failed: ir.Value, *current: ir.Value) -> list[ir.Value]:
        failed = builder.or_(failed, for_each(emitter, batch[1:], [each[1:] for each in steps], current, call))
        moved = [builder.gep(address, [each[0]]) for address, each in zip(current, steps, strict=True)]
        return [builder.add(index, ir.Constant(I64, 1)), failed, *moved]

    return emitter.repeat([ir.Constant(I64, 0), ir.Constant(I1, 0), *addresses], goes_on, step)[1]


def together(
    emitter: Emitter, batch: Extents, steps: Sequence[Sequence[ir.Value]]
) -> tuple[Extents, list[list[ir.Value]]]:
    """Merge batch dimensions into a last one that is as long as possible: as far as the elements of all operands follow
    each other at equal distances. The merged dimensions get the length 1."""
    builder, one = emitter.builder, ir.Constant(I64, 1)
    *outer, length = batch
    last = [own[-1] for own in steps]
    merged: ir.Value = ir.Constant(I1, 1)
    for axis in reversed(range(len(outer))):
        single = builder.icmp_signed("==", length, one)
        for number, own in enumerate(steps):
            last[number] = builder.select(builder.and_(merged, single), own[axis], last[number])
            follows = builder.icmp_signed("==", own[axis], builder.mul(last[number], length))
            merged = builder.and_(merged, follows)
        length = builder.select(merged, builder.mul(length, outer[axis]), length)
        outer[axis] = builder.select(merged, one, outer[axis])
    return [*outer, length], [[*own[:-1], step] for own, step in zip(steps, last, strict=True)]


def for_each_block(
    emitter: Emitter,
    batch: Extents,
    steps: Sequence[Sequence[ir.Value]],
    addresses: Sequence[ir.Value],
    width: int,
    call: Callable[..., ir.Value],
) -> ir.Value:
    """Call for ``width`` elements at a time: on the addresses of the first element of each operand, the offsets of the
    others, and the number of the last one. The elements that are left at the end are done together with some that were
    done before."""
    builder, length = emitter.builder, batch[-1]
    last_steps = [own[-1] for own in steps]
    rest = builder.sub(length, ir.Constant(I64, width))
    fits = builder.icmp_signed(">=", rest, ir.Constant(I64, 0))
    final = builder.select(fits, rest, ir.Constant(I64, 0))
    last = builder.select(fits, ir.Constant(I64, width - 1), builder.sub(length, ir.Constant(I64, 1)))

    def blocks(*current: ir.Value) -> ir.Value:
        def step(begin: ir.Value, failed: ir.Value) -> list[ir.Value]:
            first = builder.select(builder.icmp_signed("<", begin, final), begin, final)
            moved = [
                builder.gep(one, [builder.mul(first, each)]) for one, each in zip(current, last_steps, strict=True)
            ]
            failed = builder.or_(failed, call(*moved, *last_steps, last))
            return [builder.add(begin, ir.Constant(I64, width)), failed]

        def goes_on(begin: ir.Value, _: ir.Value) -> ir.Value:
            return builder.icmp_signed("<", begin, length)

        return emitter.repeat([ir.Constant(I64, 0), ir.Constant(I1, 0)], goes_on, step)[1]

    return for_each(emitter, batch[:-1], [own[:-1] for own in steps], addresses, blocks)
