"""numbagraph compiles NumPy code, with its gradients, to one native function."""

from numbagraph import numpy, ops, special
from numbagraph.api import (
    Abstract,
    GraphFunction,
    GUFunc,
    custom_vjp,
    grad,
    graph_jit,
    gufunc,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    release_memory,
    stop_gradient,
    threads,
    value_and_grad,
    vectorize,
    vjp,
    vmap,
)
from numbagraph.version import __version__

__all__ = [
    "Abstract",
    "GUFunc",
    "GraphFunction",
    "__version__",
    "custom_vjp",
    "grad",
    "graph_jit",
    "gufunc",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "numpy",
    "ops",
    "release_memory",
    "special",
    "stop_gradient",
    "threads",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
]
