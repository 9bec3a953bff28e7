"""The index of the library: the paths of the functions that are no ops, by the function of NumPy's or SciPy's."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from numpy.polynomial._polybase import ABCPolyBase

from numbagraph.tracing.replacements import Finder, replacements

FUNCTIONS: dict[Any, str] = {
    np.apply_along_axis: "numbagraph.library.numpy.along_axis:apply_along_axis",
    np.apply_over_axes: "numbagraph.library.numpy.along_axis:apply_over_axes",
    np.piecewise: "numbagraph.library.numpy.along_axis:piecewise",
    np.trim_zeros: "numbagraph.library.numpy.along_axis:trim_zeros",
    np.require: "numbagraph.library.numpy.memory:require",
    np.einsum_path: "numbagraph.library.numpy.polynomials:einsum_path",
    np.poly: "numbagraph.library.numpy.polynomials:poly",
    np.polydiv: "numbagraph.library.numpy.polynomials:polydiv",
    np.roots: "numbagraph.library.numpy.polynomials:roots",
    np.ix_: "numbagraph.library.numpy.polynomials:ix_",
    np.polyval: "numbagraph.library.numpy.polynomials:polyval",
    np.polynomial.polynomial.polyval: "numbagraph.library.numpy.polynomial_series:polyval",
}
if hasattr(np, "unstack"):  # NumPy 2.1
    FUNCTIONS[np.unstack] = "numbagraph.library.numpy.polynomials:unstack"

ROLES = {
    "method of a ufunc": "numbagraph.library.numpy.ufunc_methods:call_method",
    "ndarray.view": "numbagraph.library.numpy.view:view",
    "numpy.random.Generator": "numbagraph.library.random.permutations:WholeGenerator",
    "numpy.random.default_rng": "numbagraph.library.random.seeding:default_rng",
    "sparse array of SciPy's": "numbagraph.library.scipy.sparse.arrays:lifted",
    "sparse array of parts": "numbagraph.library.scipy.sparse.arrays:of_parts",
    "sparse vector of a row": "numbagraph.library.scipy.sparse.vectors:SparseVector",
    "sparse vector of parts": "numbagraph.library.scipy.sparse.vectors:of_parts",
    "sparse arrays of JAX as pytrees": "numbagraph.library.scipy.sparse.jax_arrays:register",
}


def _module(thing: Any) -> str:
    return str(getattr(thing, "__module__", ""))


def _kind(thing: Any) -> str:
    return str(type(thing).__module__)


def _holder(function: Any) -> Any:
    return getattr(function, "__self__", None)


def _is_of_series(function: Any) -> bool:
    """Whether a function is one of `numpy.polynomial`, or a series that is called, which is traced by its own
    source."""
    if not _module(function).startswith("numpy.polynomial."):
        return False
    if isinstance(function, ABCPolyBase):
        return True
    return isinstance(getattr(function, "__wrapped__", function), FunctionType) and function not in FUNCTIONS


BEFORE_OPS = (
    Finder(
        lambda function: _kind(_holder(function)).startswith("scipy.stats._"),
        "numbagraph.library.scipy.stats.methods:method_of",
    ),
    Finder(
        lambda function: "scipy.sparse" in (_module(function)[:12], _module(type(_holder(function)))[:12]),
        "numbagraph.library.scipy.sparse.functions:replacement",
    ),
    Finder(_is_of_series, "numbagraph.library.numpy.polynomial_series:traced_series"),
    Finder(lambda function: isinstance(function, np.vectorize), "numbagraph.library.numpy.vectorize:vectorised"),
    Finder(
        lambda function: _kind(function).startswith("numba.np.ufunc."), "numbagraph.library.numba_ufuncs:traced_ufunc"
    ),
)
AFTER_OPS = (
    Finder(
        lambda function: _module(function).startswith("scipy.") or _kind(function).startswith("scipy."),
        "numbagraph.library.scipy.dispatch:replacement",
    ),
)

replacements.fill(FUNCTIONS, ROLES, BEFORE_OPS, AFTER_OPS)
