"""JAX's reductions by a function of the user: a scan, each step of which takes one element of each operand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from numbagraph.api.loops import scan
from numbagraph.jax_bridge.control import typed
from numbagraph.jax_bridge.translation import Run, dtype_of, jaxpr_of, shape_of, traced


def folded(
    run: Run, equation: Any, of_two: Callable[..., Any], stacks: Sequence[Any], initial: Sequence[Any]
) -> list[Any]:
    """Fold the first axes of stacks of the operands by a function that takes two numbers of each."""
    count, *shape = map(int, stacks[0].shape)
    totals = [np.broadcast_to(traced(each), tuple(shape)) for each in initial]
    if not count:
        return totals
    for _ in shape:
        of_two = jax.vmap(of_two)
    types = [jax.ShapeDtypeStruct(tuple(shape), dtype_of(each)) for each in equation.invars]
    combine = jaxpr_of(of_two, *types)

    def step(carry: Sequence[Any], row: Sequence[Any]) -> tuple[Any, None]:
        return typed(run.closed(combine, [*carry, *row]), combine.out_avals), None

    last, _ = scan(step, typed(totals, combine.out_avals), tuple(map(traced, stacks)))
    return list(last)


def reduce(run: Run, equation: Any, *operands: Any) -> list[Any]:
    axes = [int(each) for each in equation.params["dimensions"]]
    arrays, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    kept = shape_of(equation.outvars[0])
    length = math.prod(shape_of(equation.invars[0])[axis] for axis in axes)
    rest = [axis for axis in range(len(shape_of(equation.invars[0]))) if axis not in axes]
    stacks = [np.transpose(traced(x), [*axes, *rest]).reshape((length, *kept)) for x in arrays]
    return folded(run, equation, jaxpr_as_fun(equation.params["jaxpr"]), stacks, initial)


TABLE: dict[str, Callable[..., Any]] = {"reduce": reduce}
