"""Errors for functions that are not supported, with the name as the user called it, and what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.trace import refused

INSTEAD = {
    "numpy.may_share_memory": "results of compiled functions never share memory",
    "numpy.shares_memory": "results of compiled functions never share memory",
    "numpy.save": "return the array, and save it outside",
    "numpy.savetxt": "return the array, and save it outside",
    "numpy.array2string": "numbagraph.debug_print prints values",
    "numpy.array_repr": "numbagraph.debug_print prints values",
    "numpy.array_str": "numbagraph.debug_print prints values",
    "scipy.special._riemann_zeta": "special.zetac(x) + 1 is the zeta function",
    **{
        f"scipy.special.{name}": "it is traced of real numbers alone: numbagraph.pure_callback calls it otherwise"
        for name in ("hankel1", "hankel1e", "hankel2", "hankel2e", "kelvin", "modfresnelm", "modfresnelp", "wofz")
    },
}
"""Advice for functions that are not supported, by the name that users call."""

FAMILIES = {
    "scipy.special": "numbagraph.pure_callback calls it from compiled code; see docs/coverage/special_ufuncs.md",
    "numpy": "numbagraph.pure_callback calls it from compiled code; see docs/coverage/numpy.md",
}


def spelled_function(function: Any, method: str = "__call__") -> str:
    """The name by which users call a function of NumPy or SciPy."""
    name = getattr(function, "__name__", str(function))
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        module = "numpy" if getattr(np, name, None) is function else "scipy.special"
    for private, public in (("numpy.linalg", "numpy.linalg"), ("numpy.fft", "numpy.fft"), ("numpy.lib", "numpy")):
        if module.startswith(private):
            module = public
    module = "numpy" if module.startswith("numpy._core") or not module else module
    return f"{module}.{name}" if method == "__call__" else f"{module}.{name}.{method}"


def unsupported(function: Any) -> TypeError:
    """The error for a function that is not traced, or not before its callers are converted."""
    name = spelled_function(function)
    advice = INSTEAD.get(name) or FAMILIES["scipy.special" if name.startswith("scipy.special") else "numpy"]
    error = f"{name} is not supported in a traced function: {advice}"
    return refused(TraceError(error)) if name.startswith("numpy.polynomial.") else TypeError(error)
