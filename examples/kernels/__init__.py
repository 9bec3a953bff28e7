"""Kernels of scientific programs as people write them, in NumPy's arrays or in loops; no line is for a compiler.

Each is written from its mathematics, which its docstring names. Pairs such as ``lu`` and ``lu_loops`` say about the
same in both styles. ``KERNELS`` has all of them by name, and ``arguments`` what to call them on.
"""

import zlib

import numpy as np

from . import (
    advection,
    binning,
    bodies,
    checksums,
    clusters,
    contours,
    convolution,
    dynamic_programs,
    escape,
    factorisations,
    flows,
    fourier,
    sparse_products,
    stencils,
    triangular,
)

FAMILIES = (
    stencils,
    triangular,
    factorisations,
    dynamic_programs,
    bodies,
    escape,
    clusters,
    convolution,
    fourier,
    checksums,
    binning,
    sparse_products,
    contours,
    flows,
    advection,
)
KERNELS = {kernel.__name__: kernel for family in FAMILIES for kernel in family.INPUTS}
SIZES = ("small", "other", "medium", "large")
"""``other`` is as small as ``small``, with other lengths."""


def arguments(name, size):
    """What to call that kernel on: the same numbers each time, in new arrays."""
    make, lengths = next(family.INPUTS[KERNELS[name]] for family in FAMILIES if KERNELS[name] in family.INPUTS)
    rng = np.random.default_rng([zlib.crc32(name.encode()), SIZES.index(size)])
    return make(rng, lengths[SIZES.index(size)])
