"""The reason why a sampler finds no point to begin with: native code reports an error, but not its cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
from pymc.exceptions import SamplingError

from numbagraph.pymc_bridge.importer import from_pytensor
from numbagraph.pymc_bridge.native import VectorFunction
from numbagraph.transforms.interpret import evaluate

BEGINNINGS = 5
"""The number of points, drawn at random, at which a reason is looked for."""


def explain_failure(compiled: Any, model: pm.Model) -> None:
    """Raise the error at points where chains of a compiled model begin, if there is one."""
    function: VectorFunction = compiled.logp_func
    for seed in range(BEGINNINGS):
        x = compiled.initial_point_func(seed)
        parts = [x[each.begin : each.begin + each.size].reshape(each.shape) for each in function.own_parts]
        value, *gradient = function.evaluate(x)
        if not np.isfinite(value):
            raise SamplingError(not_finite_at(model, compiled, parts))
        bad = [name for name, each in zip(compiled.shapes, gradient, strict=False) if not np.all(np.isfinite(each))]
        if bad:
            raise SamplingError(
                f"where chains begin, the log-density is {value}, but its derivative is not finite: that by "
                f"{', '.join(bad)}"
            )
        zero = [name for name, each in zip(compiled.shapes, gradient, strict=False) if not np.all(each)]
        if zero:
            raise SamplingError(
                f"the derivative of the log-density by {', '.join(zero)} is zero where chains begin, so the sampler "
                "cannot: remove variables that nothing depends on, or let chains begin elsewhere (initvals)"
            )


def not_finite_at(model: Any, compiled: Any, parts: Sequence[np.ndarray]) -> str:
    """The terms of the log-density that are not finite at a point, and the point."""
    factors = [*model.basic_RVs, *model.potentials]
    values = {each.name: each for each in model.value_vars}
    point = dict(zip(compiled.shapes, parts, strict=False))
    graph = from_pytensor([values[name] for name in point], model.logp(factors, sum=False))
    with np.errstate(all="ignore"):
        terms = evaluate(graph, [*point.values(), *graph.captured])
    totals = {each.name: np.sum(term) for each, term in zip(factors, terms, strict=True)}
    bad = ", ".join(f"{name}: {total}" for name, total in totals.items() if not np.isfinite(total))
    where = {name: np.round(each, 3).tolist() for name, each in point.items()}
    return (
        f"where chains begin, the log-density is not finite. Of its terms these are not: {bad}. The point is {where}; "
        "initvals says where else chains may begin"
    )
