"""Graphs of plain functions of values, for the tests of transformations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

from numbagraph.ir.graph import Graph
from numbagraph.ir.shapes import collect_guards
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import ArrayType, Dim, Input
from numbagraph.transforms.interpret import evaluate

PYTHON_SCALARS = (bool, int, float, complex)


def make_input(data: Any, name: str) -> Input:
    """The input for an array (lengths other than 1 are symbols) or a Python scalar (weak)."""
    if isinstance(data, PYTHON_SCALARS) and not isinstance(data, np.generic):
        return Input(ArrayType(canonical_dtype(type(data)), (), weak=True), name)
    array = np.asarray(data)
    shape = tuple(1 if length == 1 else Dim(f"{name}.shape[{axis}]") for axis, length in enumerate(array.shape))
    return Input(ArrayType(canonical_dtype(array.dtype), shape), name)


def trace(function: Callable[..., Any], *data: Any) -> Graph:
    """The graph of a function of values, for data like this."""
    inputs = tuple(make_input(each, f"x{number}") for number, each in enumerate(data))
    with collect_guards() as guards:
        result = function(*inputs)
        outputs = tuple(optree.tree_leaves(result))  # type: ignore[arg-type]
    return Graph(inputs, outputs, tuple(guards.guards), tuple(guards.equalities))


def run(function: Callable[..., Any], *data: Any) -> list[Any]:
    """Trace and evaluate, with every intermediate result checked."""
    return evaluate(trace(function, *data), data, check=True)


def like(rng: np.random.Generator, value: Any) -> np.ndarray:
    """Random numbers of the dtype and shape of ``value``."""
    array = np.asarray(value)
    numbers = rng.normal(size=array.shape)
    if array.dtype.kind == "c":
        numbers = numbers + 1j * rng.normal(size=array.shape)
    return numbers.astype(array.dtype)


def pairing(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The sum of products of cotangents and tangents: for complex numbers the real part, without conjugation."""
    return float(sum(np.sum(np.asarray(one) * np.asarray(other)).real for one, other in zip(left, right, strict=True)))
