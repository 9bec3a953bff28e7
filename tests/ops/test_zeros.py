"""Results that are zero have NumPy's sign, for every op: with zeros of both signs among the operands."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.target import host
from numbagraph.ir.op import registry
from numbagraph.ir.types import COMPLEX128, FLOAT64
from numbagraph.testing import assert_same
from numbagraph.testing.op_calls import is_supported, samples
from numbagraph.testing.zeros import check_signs_of_zero

TIES = dict.fromkeys("fmax fmin histogram2d nanmax nanmin sort unique".split(), "f")
"""Which of two zeros NumPy takes follows from its vector loops: it differs with the lengths and the processor."""
SORTED = (
    *("median", "nanmedian", "nanpercentile", "nanquantile", "pad", "partition", "percentile", "quantile"),
    *("sort_complex", "unique_counts", "unique_values"),
)
"""What chooses among equal zeros, as sorting does."""
OTHER_FORMULAS = ("gradient", "polyval", "vander")
"""Sums and products in another order than NumPy's."""
ONE_TERM = {
    "convolve": "fc",
    "correlate": "fc",
    "einsum": "fc",
    "prod": "c",
    "sparse_sampled_product_columns": "fc",
    "sum": "fc",
    "sum_to_extents": "fc",
    "tensordot": "fc",
}
"""A listed difference: a sum, or a product, of one term is the term."""
PRODUCTS = {"nanprod": "c", "prod": "c"}
"""The order of factors is NumPy's own, and products of complex numbers are sums."""
PRODUCTS_OF_MATRICES = (
    *("cho_solve", "cholesky", "dot", "einsum", "expm", "expm_frechet", "inner", "lu_solve", "matmul", "matrix_power"),
    *("multi_dot", "pinv", "solve_tridiagonal_factored", "tensordot", "tridiagonal_factors", "vdot", "vecdot"),
)
SOLUTIONS = (
    *("solve", "solve_banded", "solve_continuous_lyapunov", "solve_discrete_lyapunov", "solve_factored"),
    *("solve_sylvester", "solve_triangular", "sparse_solve_triangular", "tensorsolve"),
)
BY_LIBRARIES = {
    **dict.fromkeys(PRODUCTS_OF_MATRICES, "c"),
    **dict.fromkeys(
        ("lstsq", "lu", "lu_factor", "polyfit", "product_of_q", "product_with_q", "square_lu", "svd"), "fc"
    ),
    **dict.fromkeys(SOLUTIONS, "fc"),
}
"""Sums of products in BLAS and LAPACK, whose order and rounding follow from lengths and processor."""


LEFT_OPEN = dict.fromkeys(SORTED + OTHER_FORMULAS, "fc")


def kinds_left_open(name):
    return "".join(table.get(name, "") for table in (LEFT_OPEN, TIES, ONE_TERM, PRODUCTS, BY_LIBRARIES))


def calls(op, extent="all"):
    """The op's samples that NumPy accepts; usually the first of each dtype."""
    found = []
    for dtype in (FLOAT64, COMPLEX128):
        if dtype.kind not in kinds_left_open(op.name):
            each = [call for call in samples(op, dtype) if any(array.dtype.kind in "fc" for array in call.arrays)]
            found += each if extent == "all" else each[:1]
    return [call for call in found if is_supported(call.expected(call.arrays))]


NAMES = sorted(op.name for op in registry if calls(op, "usual"))


@pytest.mark.parametrize("name", NAMES)
def test_signs_of_zero(name, extent):
    """What is made of other ops on NumPy, and those as native code."""
    op = registry[name]
    found = calls(op, extent)
    if op.kind == "decomposition" or extent == "all":
        for call in found:
            check_signs_of_zero(call, "numpy")
    if op.kind != "decomposition" or extent == "all":
        for call in found if extent == "all" else found[:1]:
            check_signs_of_zero(call)


def test_what_is_left_open_is_as_little_as_can_be():
    assert {*LEFT_OPEN, *TIES, *ONE_TERM, *PRODUCTS, *BY_LIBRARIES} <= {op.name for op in registry}


def test_zeros_are_compared():
    assert sum(check_signs_of_zero(call, "numpy") for call in calls(registry["multiply"], "all")) > 100


def test_running_products_begin_with_their_first_term():
    """Of complex numbers, one times a number is another one."""
    for first in (complex(np.inf, 0), complex(-0.0, -0.0), complex(0, -np.inf), complex(np.nan, 1), complex(2, 3)):
        x = np.array([first, 1 + 2j, 3 - 1j])
        for axis, array in ((0, x), (0, np.tile(x[:, None], 5)), (1, np.tile(x, (5, 1)))):
            with np.errstate(all="ignore"):
                expected = np.cumprod(array, axis)
            for backend in ("numpy", "numba"):
                found = graph_jit(lambda x: np.cumprod(x, axis), backend=backend)(array)  # noqa: B023
                assert_same(found, expected, ulp=4)


ZEROS_IN_ORDER = pytest.mark.xfail(host().is_arm, reason="listed: clip is made of ARM's extrema, which order zeros")
BETWEEN = [(-1, 0), (-0.0, 1), (None, 0.0), (-0.0, None)]
BETWEEN += [pytest.param(each, marks=ZEROS_IN_ORDER) for each in [(0, 1), (-1, -0.0), (0.0, 0.0)]]


@pytest.mark.parametrize("bounds", BETWEEN)
def test_clip_keeps_the_sign_of_a_zero_between_numbers(bounds):
    for dtype in (np.float64, np.float32):
        x = np.array([-0.0, 0.0, np.nan, 2.0, -2.0] * 3, dtype)
        for given in (x, x[0], x[1]):
            found, wanted = graph_jit(lambda x: np.clip(x, *bounds))(given), np.clip(given, *bounds)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
