"""Checks of batching: an op on a whole batch gives what a Python loop over the batch gives."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.api.vmap import vmap
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.testing.checks import Checker
from numbagraph.testing.compare import assert_same
from numbagraph.testing.op_calls import Call, samples
from numbagraph.tracing.tracer import Tracer

SIZE = 3


def check_batching(call: Call, *, sparing: bool = False) -> None:
    """Batch all arguments of a call together, and each alone, and compare with NumPy, element by element.

    With ``sparing`` all together is compiled, and for each alone NumPy evaluates what the batching rule makes.
    """
    batches = [np.stack(each) for each in zip(*[alike(call, seed) for seed in range(SIZE)], strict=True)]
    count = len(batches)
    choices = {(True,) * count, *(tuple(number == chosen for number in range(count)) for chosen in range(count))}
    for flags in sorted(choices):
        check_flags(call, batches, flags, "numpy" if sparing and not all(flags) else "numba")
    if count > 1:
        for inner in range(count):
            check_batches_in_each_other(call, batches, inner)


def alike(call: Call, seed: int) -> list[np.ndarray]:
    """The arrays of a sample from another seed with the same shapes; the call's own if there is none."""
    for other in samples(call.op, call.arrays[0].dtype, seed=seed):
        shapes = [array.shape for array in other.arrays]
        if other.number == call.number and shapes == [array.shape for array in call.arrays]:
            return other.arrays
    return call.arrays


def check_flags(call: Call, batches: Sequence[np.ndarray], flags: Sequence[bool], backend: str) -> None:
    arrays = [each if flag else each[0] for each, flag in zip(batches, flags, strict=True)]

    def of_batch(*tracers: Any) -> Any:
        return batched(call, tracers, flags)

    what = f"{call}, batched arguments {[number for number, flag in enumerate(flags) if flag]}"
    checker = Checker(call, backend)
    singles = [
        call.expected([each[number] if flag else each for each, flag in zip(arrays, flags, strict=True)])
        for number in range(SIZE)
    ]
    found = GraphFunction(of_batch, backend=backend)(*arrays)
    several = isinstance(singles[0], (tuple, list))
    if several:
        found, singles = call.op.determined(tuple(found)), [call.op.determined(tuple(each)) for each in singles]
    columns = list(zip(*singles, strict=True)) if several else [singles]
    for number, (actual, column) in enumerate(zip(found, columns, strict=True)):
        assert_same(actual, np.stack(column), ulp=checker.ulp, scale=checker.scale(arrays), what=f"{what} [{number}]")


def check_batches_in_each_other(call: Call, batches: Sequence[np.ndarray], inner: int) -> None:
    """Batch one argument, and around that all others: the inner batch is then a dimension of some operands alone, as in
    a batch of Jacobians."""
    inside = tuple(number == inner for number in range(len(batches)))
    around = tuple(not flag for flag in inside)
    arrays = [each[: SIZE - 1] if flag else each for each, flag in zip(batches, inside, strict=True)]

    def of_batches(*tracers: Any) -> Any:
        one = lambda *each: tuple(batched(call, each, inside))  # noqa: E731
        return vmap(one, tuple(0 if flag else None for flag in around))(*tracers)

    found = GraphFunction(of_batches, backend="numpy")(*arrays)
    pairs = itertools.product(range(SIZE), range(SIZE - 1))
    singles = [
        call.expected([each[n] if flag else each[k] for each, flag in zip(arrays, inside, strict=True)])
        for k, n in pairs
    ]
    several = isinstance(singles[0], (tuple, list))
    if several:
        found, singles = call.op.determined(tuple(found)), [call.op.determined(tuple(each)) for each in singles]
    checker, what = Checker(call, "numpy"), f"{call}, argument {inner} batched in a batch of the others"
    for actual, column in zip(found, zip(*singles, strict=True) if several else [singles], strict=True):
        expected = np.stack(column).reshape(SIZE, SIZE - 1, *np.shape(column[0]))
        assert_same(actual, expected, ulp=checker.ulp, scale=checker.scale(arrays), what=what)


def batched(call: Call, tracers: Sequence[Any], flags: Sequence[bool]) -> list[Tracer]:
    """The results of a call on batches of some of its arguments."""
    found = vmap(call.function, tuple(0 if flag else None for flag in flags))(*tracers)
    return list(found) if isinstance(found, (tuple, list)) else [found]
