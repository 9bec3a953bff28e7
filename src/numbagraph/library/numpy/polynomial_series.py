"""Functions of `numpy.polynomial`: NumPy's own Python, traced where the lengths of arrays are known."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import optree
from numpy.polynomial._polybase import ABCPolyBase

from numbagraph.capture import operators
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.convert import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.library.numpy.polynomials import array_of
from numbagraph.library.numpy.polynomials import polyval as highest_first
from numbagraph.tracing.static_lengths import known_shape
from numbagraph.tracing.tracer import TraceError, Tracer, apply, user_source

Function = Callable[..., Any]


def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`numpy.polynomial.polynomial.polyval`."""
    series = array_of(c)
    if series.ndim != 1:
        known_shape(series.value, "polyval of several polynomials")
    if series.ndim != 1 or isinstance(shapes.resolve(series.value.shape[0]), int):
        return apply(registry["polynomial_value"], x, series, tensor)
    series = series if series.dtype.kind in "fc" else series.astype(np.float64)
    return highest_first(series[::-1], x)


def traced_series(function: Any) -> Function:
    """Return the replacement of a function of coefficients or points, or of a series at points. Zeros at the end of
    coefficients are kept: their number depends on the elements."""
    if isinstance(function, ABCPolyBase):
        return partial(traced_series(type(function).__call__), function)
    name = function.__name__
    what = f"numpy.polynomial.{function.__module__.rpartition('.')[2]}.{name}"
    op = registry.find(function)
    if op is not None:
        own: Function = lambda *args, **kwargs: apply(op, *args, **kwargs)  # noqa: E731
    elif name == "_vander_nd":
        own = partial(grid_of_powers, operators.call)
    elif name.startswith("poly2"):
        own = partial(from_powers, operators.call, function)
    elif name in OWN:
        own = OWN[name]
    else:
        own = convert(inspect.unwrap(function), operators)
        kind = next((each for each in BY_KIND if name.endswith(each)), None)
        own = own if kind is None else BY_KIND[kind](function, own, what)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_traced(args, kwargs):
            return function(*args, **kwargs)
        for each in optree.tree_leaves((args, kwargs)):  # type: ignore[arg-type]
            if isinstance(each, Tracer):
                known_shape(each.value, what)
        return own(*args, **kwargs)

    return call


# ---- what NumPy's source decides by the elements ----


def coefficients(alist: Any, trim: bool = True) -> list[Any]:
    """`numpy.polynomial.polyutils.as_series`."""
    del trim
    arrays: list[Any] = [np.atleast_1d(array_of(each)) for each in alist]
    for each in arrays:
        if each.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
        if not known_shape(each.value, "coefficients")[0]:
            raise ValueError("Coefficient array is empty")
    dtype = np.result_type(*arrays)
    dtype = np.dtype(np.float64) if dtype.kind in "iub" else dtype
    return [each.astype(dtype) for each in arrays]


def from_powers(traced: Function, function: FunctionType, pol: Any) -> Any:
    """`numpy.polynomial.chebyshev.poly2cheb` and its like, by Horner's scheme."""
    basis = function.__name__.removeprefix("poly2")
    add, times = (traced(getattr(sys.modules[function.__module__], f"{basis}{each}")) for each in ("add", "mulx"))
    (powers,) = coefficients([pol])
    found: Any = 0
    for number in reversed(range(powers.shape[0])):
        found = add(times(found), powers[number])
    return found


def grid_of_powers(traced: Function, functions: Any, points: Any, degrees: Any) -> Any:
    """`numpy.polynomial.polyutils._vander_nd`: each dimension of the points adds one for its degrees."""
    found: Any = 1.0
    for number, (function, at) in enumerate(zip(functions, np.broadcast_arrays(*points), strict=True)):
        place = [np.newaxis] * len(functions)
        columns = traced(function)(at + 0.0, degrees[number])
        found = found * columns[(..., *place[:number], slice(None), *place[number + 1 :])]
    return found


def times_x(function: FunctionType, own: Function, _: str) -> Function:
    """Return the product of a series and x, which has one more coefficient, whatever the first one is."""
    line = getattr(sys.modules[function.__module__], f"{function.__name__.removesuffix('mulx')}x")

    def call(c: Any) -> Any:
        (series,) = coefficients([c])
        return series * line if series.shape[0] == 1 else own(series)

    return call


def integral(_: FunctionType, own: Function, what: str) -> Function:
    """Return the integral of a series, which has one more coefficient. That of one coefficient is computed as that of
    two, the second of which is 0."""

    def call(c: Any, m: Any = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1, axis: int = 0) -> Any:
        series: Any = np.atleast_1d(array_of(c))
        k = list(k) if isinstance(k, tuple) else k
        shape = known_shape(series.value, what)
        if not -series.ndim <= axis < series.ndim or shape[axis] != 1:
            return own(series, m, k, lbnd, scl, axis)
        longer = own(np.concatenate([series, np.zeros_like(series)], axis), m, k, lbnd, scl, axis)
        return np.delete(longer, -1, axis)

    return call


def line(function: FunctionType, own: Function, what: str) -> Function:
    """Return a line, whose slope must be known: it has one coefficient where it is level."""
    refuse = refused("it has one coefficient where scl is 0: write those of off + scl * x")(function, own, what)
    return lambda off, scl: (refuse if is_traced(scl) else own)(off, scl)


def refused(instead: str) -> Callable[[FunctionType, Function, str], Function]:
    def make(_: FunctionType, __: Function, what: str) -> Function:
        def call(*_: Any, **__: Any) -> Any:
            raise TraceError(f"{what} is not supported in a traced function: {instead}\n  at {user_source()}")

        return call

    return make


OWN: dict[str, Function] = {"as_series": coefficients, "trimseq": lambda seq: seq}
BY_KIND: dict[str, Callable[[FunctionType, Function, str], Function]] = {
    "mulx": times_x,
    "int": integral,
    "fromroots": lambda _, own, __: own,
    "roots": refused("np.linalg.eigvals of the companion matrix, such as chebcompanion(c), has them in another order"),
    "fit": refused("np.linalg.lstsq of the matrix of the points, such as chebvander(x, deg), and y"),
    "line": line,
    "gauss": lambda function, _, __: function,
    "trimcoef": refused("how many coefficients are left depends on them"),
}
"""The makers of replacements, by the end of a function's name; each basis has another beginning."""
