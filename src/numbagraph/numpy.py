"""NumPy's functions for tracers and arrays, by their NumPy names.

In a traced function NumPy's own functions do, except for those that make arrays of a length that is not known yet:
``zeros(n)``, ``arange(n)`` and their like are found here. Called on arrays outside of a trace, these functions are
NumPy's (the reference of each op).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.frontend.active import current_trace
from numbagraph.frontend.tracing import Tracer, apply
from numbagraph.ir.op import numpy_function, registry

_CONSTANTS = ("pi", "e", "inf", "nan", "newaxis", "euler_gamma")
_DTYPES = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 finfo iinfo "
    "isdtype result_type"
).split()


def public_function(name: str, module: str) -> Callable[..., Any]:
    """The op ``name`` as a function of tracers, arrays and numbers."""
    if name not in registry:
        raise AttributeError(f"module {module!r} has no function {name!r}")
    op = registry[name]

    def function(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is None:
            return (numpy_function(op) or op.reference)(*args, **kwargs)
        if len(args) > 1 and isinstance(ufunc := numpy_function(op), np.ufunc) and len(args) > ufunc.nin:
            args, kwargs = args[: ufunc.nin], {"out": args[ufunc.nin :], **kwargs}
        return apply(op, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`numpy.{name}` on tracers and arrays."
    return function


def __getattr__(name: str) -> Any:
    if name in _CONSTANTS or name in _DTYPES:
        return getattr(np, name)
    alias = None if name in registry else registry.find(getattr(np, name, None))
    return public_function(name if alias is None else alias.name, __name__)


def __dir__() -> list[str]:
    return sorted([*_CONSTANTS, *_DTYPES, *(op.name for op in registry)])


Tracer.namespace = sys.modules[__name__]
