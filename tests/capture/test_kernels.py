"""The kernels of `examples/kernels`, as they are written, give what Python gives."""

import numpy as np
import optree
import pytest

from examples.kernels import KERNELS, arguments
from numbagraph import graph_jit

ROUNDED = {
    "heat_3d": 1e-13,
    "fdtd_2d": 1e-13,
    "fdtd_2d_loops": 1e-14,
    "forward_substitution": 1e-14,
    "cholesky": 1e-14,
    "gram_schmidt": 1e-13,
    "n_body": 1e-13,
    "julia": 1e-14,
    "soft_k_means": 1e-5,
    "conv2d_windows": 1e-14,
    "stockham": 1e-14,
    "stockham_batched": 1e-14,
    "azimuthal_integration": 1e-14,
    "csr_vector": 1e-14,
    "resolvent_moments": 1e-13,
    "resolvent_trace": 1e-13,
    "cauchy_derivatives": 1e-13,
    "zeros_inside_loops": 1e-13,
    "cavity_flow": 1e-13,
}
"""Sums in another order, and functions that NumPy computes in another way: how far off, of each array's largest
magnitude. All others are the same bit for bit."""

NUMPY_NUMBERS = {"zeros_inside_loops"}
"""Where Python makes a number of its own of its complex number and a float64, which comes second."""


def compare(found, expected, rtol, own_types=True):
    """Equal structures, types, dtypes and shapes, and values that are the same bits, or within ``rtol``: of an array's
    largest element; of the largest of all for a number, which may be what is left of others."""
    leaves, structure = optree.tree_flatten(found)
    known, wanted = optree.tree_flatten(expected)
    assert structure == wanted
    sizes = [np.max(np.abs(each), initial=0.0) for each in known]
    for one, other in zip(leaves, known, strict=True):
        assert type(one) is type(other) or not own_types
        left, right = np.asarray(one), np.asarray(other)
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        if rtol:
            size = np.max(np.abs(right), initial=0.0) if right.ndim else max(sizes)
            np.testing.assert_allclose(left, right, rtol=0, atol=rtol * size)
        else:
            np.testing.assert_array_equal(left, right)
            np.testing.assert_array_equal(np.signbit(left.real), np.signbit(right.real))


def same_as_python(name, compiled, size):
    """Results, and what the arguments hold after the call."""
    given, changed = arguments(name, size), arguments(name, size)
    expected = KERNELS[name](*changed), changed
    compare((compiled(*given), given), expected, ROUNDED.get(name), name not in NUMPY_NUMBERS)


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_those_of_python(name):
    """Lengths change from call to call."""
    compiled = graph_jit(KERNELS[name])
    for size in ("small", "other", "small"):
        same_as_python(name, compiled, size)


def test_the_tables_name_kernels():
    assert {*ROUNDED, *NUMPY_NUMBERS} <= {*KERNELS}
