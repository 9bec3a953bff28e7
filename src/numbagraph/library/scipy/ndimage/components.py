"""`scipy.ndimage`: connected components of an image, by calls of SciPy from compiled code. Nothing is differentiated
through them: they depend on which elements are zero alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.library.scipy.arguments import Function, array, bound, called, known, refuse, require
from numbagraph.library.scipy.ndimage.axes import dtype_of
from numbagraph.tracing.tracer import Tracer, to_value


def flags_of(input: Any) -> Any:
    """A mask of the elements that are not zero."""
    return array(input) != 0


def as_int(number: Any) -> Any:
    """Return a number as an integer of Python's."""
    return Tracer(registry["cast"].bind(as_value(to_value(number)), dtype=INT64, weak=True))


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """`scipy.ndimage.label`. With an array as ``output``, the labels are written into it."""
    image = array(input)
    if image.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    into = output if isinstance(output, (np.ndarray, Tracer)) else None
    kind = np.dtype(np.int32) if output is None else output.dtype if into is not None else dtype_of(output, image)
    path, flags = "scipy.ndimage:label", flags_of(image)
    if structure is None:
        found, count = called(bound(path, None, kind), (np.zeros_like(image, kind), np.int64(0)), flags)
    else:
        near = flags_of(structure)
        if near.ndim != image.ndim:
            raise RuntimeError("structure and input must have equal rank")
        if any(length != 3 for length in known(near, "scipy.ndimage.label")):
            raise ValueError("structure dimensions must be equal to 3")
        found, count = called(bound(path, output=kind), (np.zeros_like(image, kind), np.int64(0)), flags, near)
    if into is None:
        return found, as_int(count)
    require(into.ndim == image.ndim, "output shape not correct")
    for own, other in zip(into.shape, image.shape, strict=True):
        require(own == other, "output shape not correct")
    into[...] = found
    return as_int(count)


def binary_fill_holes(
    input: Any, structure: Any = None, output: Any = None, origin: Any = 0, *, axes: Any = None
) -> Any:
    """`scipy.ndimage.binary_fill_holes`."""
    if output is not None or axes is not None:
        refuse("scipy.ndimage.binary_fill_holes with output= or axes=", "assign the result")
    flags = flags_of(input)
    call = bound("scipy.ndimage:binary_fill_holes", origin=origin if isinstance(origin, int) else tuple(origin))
    return called(call, flags, flags, *([] if structure is None else [flags_of(structure)]))


COMPONENTS: dict[str, Function] = {each.__name__: each for each in (label, binary_fill_holes)}
