"""JAX's sparse arrays (`jax.experimental.sparse`): the computations with elements and positions that JAX does without a
library for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.forking import import_module
from numbagraph.jax_bridge.translation import Run, jaxpr_of

FORMATS = {
    "bcoo": (
        *("dot_general", "dot_general_sampled", "extract", "fromdense", "sort_indices", "spdot_general"),
        *("sum_duplicates", "todense", "transpose"),
    ),
    "bcsr": ("dot_general", "extract", "fromdense", "todense"),
    "coo": ("fromdense", "matmat", "matvec", "todense"),
    "csr": ("fromdense", "matmat", "matvec", "todense"),
}


def by_elements(name: str, module: str) -> Callable[..., Any]:
    def run(run: Run, equation: Any, *operands: Any) -> list[Any]:
        function = getattr(import_module(f"jax.experimental.sparse.{module}"), f"_{name}_impl")
        jaxpr = jaxpr_of(lambda *arrays: function(*arrays, **equation.params), *(each.aval for each in equation.invars))
        return run.closed(jaxpr, operands)

    return run


TABLE: dict[str, Callable[..., Any]] = {
    f"{module}_{each}": by_elements(f"{module}_{each}", module) for module, names in FORMATS.items() for each in names
}
