"""What users import: compilation, derivatives, and what compiled functions share."""

from numbagraph.differentiation import (
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
)
from numbagraph.gufunc import GUFunc, gufunc
from numbagraph.jit import GraphFunction, graph_jit
from numbagraph.mapping import vectorize, vmap
from numbagraph.ops.linalg.errors import on_linalg_error
from numbagraph.runtime.arguments import Abstract
from numbagraph.runtime.memory import release_memory
from numbagraph.runtime.threads import threads

__all__ = [
    "Abstract",
    "GUFunc",
    "GraphFunction",
    "custom_vjp",
    "grad",
    "graph_jit",
    "gufunc",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "on_linalg_error",
    "release_memory",
    "stop_gradient",
    "threads",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
]
