"""Binary morphology of `scipy.ndimage`: whether all, or any, of some neighbours are true."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, known, refuse
from numbagraph.library.scipy.ndimage.axes import dtype_of
from numbagraph.tracing.tracer import Tracer

Extend = Callable[..., Any]


def structure_of(structure: Any, ndim: int) -> Any:
    """A mask of the neighbours that count: by default those that share a face."""
    if structure is None:
        distances = np.abs(np.indices([3] * ndim) - 1).sum(0)
        return distances <= 1
    found = array(structure) != 0
    if found.ndim != ndim:
        raise RuntimeError("structure and input must have same dimensionality")
    if 0 in known(found, "binary morphology"):
        raise RuntimeError("structure must not be empty")
    return found


def morphology(name: str, passes: str, extended: Extend) -> Function:
    """Return a function that makes one pass after the other: an erosion (``e``), or a dilation (``d``)."""

    def call(
        input: Any, structure: Any, iterations: Any, mask: Any, output: Any, border_value: Any, origin: Any, axes: Any
    ) -> Any:
        image = array(input)
        if image.dtype.kind == "c":
            raise TypeError("Complex type not supported")
        if axes is not None:
            refuse(f"scipy.ndimage.{name} with axes=", "give structure= with a length of 1 along each other axis")
        if isinstance(iterations, Tracer) or iterations < 1:
            refuse(f"scipy.ndimage.{name} with iterations= that is traced, or less than 1", "give how many there are")
        dtype_of(output, image)
        flags = structure_of(structure, image.ndim)
        shifts = [int(each) for each in np.broadcast_to(origin, image.ndim)]
        found = image != 0
        for each in passes:
            for _ in range(int(iterations)):
                done = one_pass(found, flags, shifts, bool(border_value), each == "d", extended)
                found = done if mask is None else np.where(array(mask) != 0, done, found)
        return found  # SciPy takes no other dtype than bool

    return with_parameters(name, call)


def with_parameters(name: str, call: Function) -> Function:
    """Return the function with SciPy's parameters, whose order differs."""
    if name in ("binary_erosion", "binary_dilation"):

        def single(
            input: Any, structure: Any = None, iterations: Any = 1, mask: Any = None, output: Any = None,
            border_value: Any = 0, origin: Any = 0, brute_force: bool = False, *, axes: Any = None,
        ) -> Any:  # fmt: skip
            del brute_force
            return call(input, structure, iterations, mask, output, border_value, origin, axes)

        return single

    def double(
        input: Any, structure: Any = None, iterations: Any = 1, output: Any = None, origin: Any = 0, mask: Any = None,
        border_value: Any = 0, brute_force: bool = False, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        del brute_force
        return call(input, structure, iterations, mask, output, border_value, origin, axes)

    return double


def one_pass(image: Any, flags: Any, shifts: list[int], border: bool, dilates: bool, extended: Extend) -> Any:
    """Return whether all neighbours are true or, for a dilation, whether any is, seen from the neighbour's side."""
    sizes = known(flags, "binary morphology")
    if dilates:
        flags = np.flip(flags)
        shifts = [-each - (1 - size % 2) for each, size in zip(shifts, sizes, strict=True)]
    begins = [size // 2 + each for size, each in zip(sizes, shifts, strict=True)]
    if any(not 0 <= begin < size for begin, size in zip(begins, sizes, strict=True)):
        raise ValueError("invalid origin")
    margins = [(begin, size - 1 - begin) for begin, size in zip(begins, sizes, strict=True)]
    shape = known(image, "binary morphology")
    padded = extended(image, margins, ["constant"] * len(shape), border)
    found: Any = np.full(shape, not dilates)
    for place in itertools.product(*map(range, sizes)):
        flag = flags[place]
        if not isinstance(flag, Tracer) and not flag:
            continue
        part = padded[tuple(slice(start, start + length) for start, length in zip(place, shape, strict=True))]
        found = found | (part & flag) if dilates else found & (part | np.logical_not(flag))
    return found


PASSES = {"binary_erosion": "e", "binary_dilation": "d", "binary_opening": "ed", "binary_closing": "de"}


def functions(extended: Extend) -> dict[str, Function]:
    return {name: morphology(name, passes, extended) for name, passes in PASSES.items()}
