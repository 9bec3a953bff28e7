"""Checks of derivatives: ``<u, J v> == <J^T u, v>`` with ``J v`` from finite differences, to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

from numbagraph.api.differentiation import jvp, vjp
from numbagraph.ir.types import COMPLEX64, FLOAT32
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.runtime.arguments import flatten

Function = Callable[..., Any]

STEP = 2.0**-10
STENCIL = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
"""The central difference of sixth order: what remains is rounding, about 1e-12 of the values."""

TOLERANCE = 1e-7


def check_gradients(
    function: Function, arguments: Sequence[Any], *, order: int = 2, compiled: int = 2, seed: int = 0
) -> None:
    """Compare reverse and forward mode with finite differences, then the same of the gradient, and so on.

    Parameters
    ----------
    function
        A function of arrays, in NumPy.
    arguments
        Where to differentiate. Arrays of float64 and complex128 are differentiated, others held.
    order
        How often to differentiate.
    compiled
        Up to which order derivatives are compiled. Those of higher orders, whose graphs are large and take long to
        compile, are evaluated with NumPy.
    seed
        Of the random directions.

    Raises
    ------
    AssertionError
        With the mode and the order in which a derivative is wrong.
    """
    rng = np.random.default_rng(seed)
    for current in range(1, order + 1):
        reference = GraphFunction(function, backend="numpy")
        cotangent = optree.tree_map(lambda each: direction(rng, each), reference(*arguments))
        leaves = flatten(cotangent)[0]
        if not any(map(is_inexact, leaves)) or any(each.dtype in (FLOAT32, COMPLEX64) for each in leaves):
            return  # there is nothing to differentiate, or too little precision for differences
        tangent = [direction(rng, each) for each in arguments]
        expected, size = pair(cotangent, difference(reference, arguments, tangent))
        pulled, pushed = pullback(function, cotangent), pushforward(function, tangent)
        backend = "numba" if current <= compiled else "numpy"
        found = {
            "reverse": pair(GraphFunction(pulled, backend=backend)(*arguments), inexact(tangent))[0],
            "forward": pair(cotangent, GraphFunction(pushed, backend=backend)(*arguments))[0],
        }
        for mode, value in found.items():
            if not abs(value - expected) <= TOLERANCE * max(size, 1e-3):
                raise AssertionError(f"{mode} mode, order {current}: {expected} expected, found {value}")
        function = pulled


def is_inexact(array: Any) -> bool:
    """Whether an array or tracer can be differentiated."""
    return np.dtype(getattr(array, "dtype", type(array))).kind in "fc"


def inexact(arrays: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(each for each in arrays if is_inexact(each))


def direction(rng: np.random.Generator, like: Any) -> np.ndarray:
    """Random numbers of the dtype and shape of an array; zeros for what cannot be differentiated."""
    array = np.asarray(like)
    if not is_inexact(array):
        return np.zeros_like(array)
    numbers = rng.uniform(-1, 1, array.shape)
    if array.dtype.kind == "c":
        numbers = numbers + 1j * rng.uniform(-1, 1, array.shape)
    return np.asarray(numbers, array.dtype)


def of_inexact(function: Function, arrays: Sequence[Any]) -> Function:
    """A function of those arguments of ``function`` that can be differentiated, with the others held."""

    def held(*primals: Any) -> Any:
        rest = iter(primals)
        return function(*[next(rest) if is_inexact(each) else each for each in arrays])

    return held


def pullback(function: Function, cotangent: Any) -> Function:
    """The function that returns the cotangents of the inexact arguments, as a tuple."""

    def pulled(*arrays: Any) -> Any:
        return vjp(of_inexact(function, arrays), *inexact(arrays))[1](cotangent)

    return pulled


def pushforward(function: Function, tangent: Sequence[Any]) -> Function:
    """The function that returns the tangent of another function's value."""

    def pushed(*arrays: Any) -> Any:
        return jvp(of_inexact(function, arrays), inexact(arrays), inexact(tangent))[1]

    return pushed


def difference(function: Function, arguments: Sequence[Any], tangent: Sequence[Any]) -> list[Any]:
    """The derivative along ``tangent`` of each leaf of a function's value, by finite differences."""
    total: list[Any] = []
    for multiple, weight in STENCIL.items():
        for sign in (1, -1):
            step = sign * multiple * STEP
            moved = [
                each + step * along if is_inexact(each) else each
                for each, along in zip(arguments, tangent, strict=True)
            ]
            leaves = [np.asarray(leaf) * (sign * weight / STEP) for leaf in flatten(function(*moved))[0]]
            total = [one + other for one, other in zip(total, leaves, strict=True)] if total else leaves
    return total


def pair(left: Any, right: Any) -> tuple[float, float]:
    """The real part of the sum of products, as JAX pairs cotangents with tangents, and the size of its terms."""
    total = size = 0.0
    for one, other in zip(flatten(left)[0], flatten(right)[0], strict=True):
        if is_inexact(one):
            products = np.asarray(one) * np.asarray(other)
            total += float(np.sum(products).real)
            size += float(np.sum(np.abs(products)))
    return total, size
