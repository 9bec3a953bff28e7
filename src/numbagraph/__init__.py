"""numbagraph compiles NumPy code, with its gradients, to one native function."""

from typing import TYPE_CHECKING, Any

from numbagraph.forking import import_module, importing
from numbagraph.runtime.garbage_collection import collector_at_rest

with collector_at_rest:  # of modules nothing is garbage
    import numbagraph.library.index  # registers what the library implements
    import numbagraph.library.op_function  # noqa: F401  offers ops as functions in numbagraph.intrinsics
    from numbagraph import errors, fft, linalg, numpy, ops, special
    from numbagraph.api.differentiation import (
        custom_vjp,
        grad,
        jvp,
        stop_gradient,
        value_and_grad,
        vjp,
    )
    from numbagraph.api.graph_jit import graph_jit
    from numbagraph.api.gufunc import GUFunc, gufunc
    from numbagraph.api.vmap import vectorize, vmap
    from numbagraph.ir.shapes import ShapeError
    from numbagraph.jit.debug_nans import debug_nans
    from numbagraph.jit.graph_function import GraphFunction
    from numbagraph.jit.shared_variables import SharedContext, SharedVariable, shared
    from numbagraph.ops.linalg.singular import on_linalg_error
    from numbagraph.runtime.arguments import Abstract
    from numbagraph.runtime.cache import cache_clear
    from numbagraph.runtime.memory import release_memory
    from numbagraph.runtime.threads import threads
    from numbagraph.tracing.checks import CheckError, check
    from numbagraph.tracing.errors import TraceError
    from numbagraph.version import __version__
collector_at_rest.keep_for_good()

__all__ = [
    "Abstract",
    "CheckError",
    "GUFunc",
    "GraphFunction",
    "ShapeError",
    "SharedContext",
    "SharedVariable",
    "TraceError",
    "__version__",
    "associative_scan",
    "cache_clear",
    "check",
    "checkpoint",
    "cond",
    "custom_vjp",
    "debug_nans",
    "debug_print",
    "errors",
    "fft",
    "fori_loop",
    "from_jax",
    "grad",
    "graph_jit",
    "gufunc",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linalg",
    "map",
    "numpy",
    "on_linalg_error",
    "ops",
    "profile",
    "pure_callback",
    "random",
    "release_memory",
    "scan",
    "shared",
    "special",
    "stop_gradient",
    "switch",
    "threads",
    "to_jax",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
    "while_loop",
]

_LATER = ("jax_bridge", "pymc_bridge", "random", "testing")
"""Modules that are imported when they are used, since some import other libraries."""

_FUNCTIONS_LATER = {
    "associative_scan": "associative_scan",
    "branches": "checkpoint cond switch",
    "callbacks": "pure_callback",
    "jacobians": "hessian jacfwd jacrev",
    "jax_functions": "from_jax to_jax",
    "loops": "fori_loop map scan while_loop",
    "debug_print": "debug_print",
    "profiling": "profile",
}
"""Functions that many programs do not call, by their modules, which are imported when a function is used."""

if TYPE_CHECKING:
    from numbagraph.api.associative_scan import associative_scan
    from numbagraph.api.branches import checkpoint, cond, switch
    from numbagraph.api.callbacks import pure_callback
    from numbagraph.api.debug_print import debug_print
    from numbagraph.api.jacobians import hessian, jacfwd, jacrev
    from numbagraph.api.jax_functions import from_jax, to_jax
    from numbagraph.api.loops import fori_loop, map, scan, while_loop  # noqa: A004  JAX's name
    from numbagraph.api.profiling import profile


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from numbagraph import random
else:  # to a checker it would say that there is every name

    def __getattr__(name: str) -> Any:
        if name in _LATER:
            return import_module(f"{__name__}.{name}")
        for module, names in _FUNCTIONS_LATER.items():
            if name in names.split():
                found = getattr(import_module(f"{__name__}.api.{module}"), name)
                return globals().setdefault(name, found)
        with importing:
            from numbagraph.tracing.near_names import near_name  # noqa: PLC0415  for typing errors alone

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{near_name(name, __all__, 0.7)}")
