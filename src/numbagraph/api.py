"""What users import: compilation and derivatives."""

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
from numbagraph.jit import GraphFunction, graph_jit
from numbagraph.runtime.arguments import Abstract

__all__ = [
    "Abstract",
    "GraphFunction",
    "custom_vjp",
    "grad",
    "graph_jit",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
