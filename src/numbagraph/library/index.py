"""The index of the library: which module implements a function of NumPy's or SciPy's on traced arrays."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from numpy.polynomial._polybase import ABCPolyBase

from numbagraph.tracing.replacements import Finder, replacements

_NUMPY = "numbagraph.library.numpy."
FUNCTIONS: dict[Any, str] = {
    np.apply_along_axis: _NUMPY + "along_axis:apply_along_axis",
    np.apply_over_axes: _NUMPY + "along_axis:apply_over_axes",
    np.piecewise: _NUMPY + "along_axis:piecewise",
    np.trim_zeros: _NUMPY + "along_axis:trim_zeros",
    np.require: _NUMPY + "memory:require",
    np.einsum_path: _NUMPY + "polynomials:einsum_path",
    np.poly: _NUMPY + "polynomials:poly",
    np.polydiv: _NUMPY + "polynomials:polydiv",
    np.roots: _NUMPY + "polynomials:roots",
    np.ix_: _NUMPY + "polynomials:ix_",
    np.polyval: _NUMPY + "polynomials:polyval",
    np.polynomial.polynomial.polyval: _NUMPY + "polynomial_series:polyval",
}
if hasattr(np, "unstack"):  # NumPy 2.1
    FUNCTIONS[np.unstack] = _NUMPY + "polynomials:unstack"

_SCIPY = "numbagraph.library.scipy."
ROLES = {
    "method of a ufunc": _NUMPY + "ufunc_methods:call_method",
    "ndarray.view": _NUMPY + "view:view",
    "numpy.random.Generator": "numbagraph.library.random.permutations:WholeGenerator",
    "sparse array of SciPy's": _SCIPY + "sparse.arrays:lifted",
    "sparse array of parts": _SCIPY + "sparse.arrays:of_parts",
    "sparse vector of a row": _SCIPY + "sparse.vectors:SparseVector",
    "sparse vector of parts": _SCIPY + "sparse.vectors:of_parts",
    "sparse arrays of JAX as pytrees": _SCIPY + "sparse.jax_arrays:register",
}


def _module(thing: Any) -> str:
    return str(getattr(thing, "__module__", ""))


def _kind(thing: Any) -> str:
    return str(type(thing).__module__)


def _holder(function: Any) -> Any:
    return getattr(function, "__self__", None)


def _is_of_series(function: Any) -> bool:
    """Whether a function of `numpy.polynomial`, or a series that is called, is traced by its own source."""
    if not _module(function).startswith("numpy.polynomial."):
        return False
    if isinstance(function, ABCPolyBase):
        return True
    return isinstance(getattr(function, "__wrapped__", function), FunctionType) and function not in FUNCTIONS


BEFORE_OPS = (
    Finder(
        lambda function: _kind(_holder(function)).startswith("scipy.stats._"),
        _SCIPY + "stats.methods:method_of",
    ),
    Finder(
        lambda function: "scipy.sparse" in (_module(function)[:12], _module(type(_holder(function)))[:12]),
        _SCIPY + "sparse.functions:replacement",
    ),
    Finder(_is_of_series, _NUMPY + "polynomial_series:traced_series"),
    Finder(lambda function: isinstance(function, np.vectorize), _NUMPY + "vectorize:vectorised"),
    Finder(
        lambda function: _kind(function).startswith("numba.np.ufunc."), "numbagraph.library.numba_ufuncs:traced_ufunc"
    ),
)
AFTER_OPS = (
    Finder(
        lambda function: _module(function).startswith("scipy.") or _kind(function).startswith("scipy."),
        _SCIPY + "replacements:replacement",
    ),
)

replacements.fill(FUNCTIONS, ROLES, BEFORE_OPS, AFTER_OPS)
