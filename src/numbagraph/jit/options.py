"""The options of decorators, as types for type checkers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypedDict

Names = str | Iterable[str]
Backend = Literal["numba", "jax", "numpy"]


class CompileOptions(TypedDict, total=False):
    """The options that all compiled functions have."""

    backend: Backend
    cache: bool
    parallel: bool
    convert: bool
    debug_nans: bool | Literal["inf"]
    stabilise: bool


class JitOptions(CompileOptions, total=False):
    """The options of `numbagraph.graph_jit`, which passes them on by name."""

    static_argnames: Names
    donate_argnames: Names
    mutates: Names | None


class UfuncOptions(TypedDict, total=False):
    """The options of a call of a generalised ufunc, as of `numpy.ufunc`."""

    out: Any
    where: Any
    axes: Any
    axis: int
    keepdims: bool
    dtype: Any
    casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"]
