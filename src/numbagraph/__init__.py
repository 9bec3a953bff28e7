"""numbagraph compiles NumPy code, with its gradients, to one native function."""

from numbagraph import numpy, ops, special
from numbagraph.api import (
    Abstract,
    GraphFunction,
    custom_vjp,
    grad,
    graph_jit,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    release_memory,
    stop_gradient,
    threads,
    value_and_grad,
    vjp,
)
from numbagraph.version import __version__

__all__ = [
    "Abstract",
    "GraphFunction",
    "__version__",
    "custom_vjp",
    "grad",
    "graph_jit",
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
    "vjp",
]
