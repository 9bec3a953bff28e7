"""The calls of `docs/coverage` on other numbers: what is not refused is NumPy's and SciPy's, in value, dtype and shape.

The calls have been written for vectors of float64. Here they are given single precision, integers, complex numbers,
views of reversed arrays and single elements.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

from numbagraph import graph_jit
from tests.support.coverage.families import families
from tests.support.coverage.measure import arguments, function_of

FLOATS, OTHERS = "xypqvwtABSC", "nzijkubm"
VARIANTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "float32": lambda a: a.astype(np.float32),
    "int64": lambda a: np.round(a * 10).astype(np.int64),
    "complex128": lambda a: a + 0.5j * a[::-1],
    "reversed": lambda a: np.asfortranarray(a[..., ::-1])[::-1] if a.ndim > 1 else a[::-1],
    "one element": lambda a: a[tuple(slice(0, 1) for _ in range(a.ndim))],
}
FAMILIES = (
    "numpy linalg fft arrays ufunc_methods special_functions scipy_fft scipy_linalg scipy_integrate scipy_interpolate "
    "scipy_ndimage scipy_signal scipy_distance"
).split()
KNOWN = {
    ("numpy", "roots", "one element"): "where there are no roots, NumPy's have another dtype",
    ("scipy_integrate", "simpson", "complex128"): "SciPy discards the imaginary parts of distances",
    ("scipy_linalg", "logm", "float32"): "SciPy's is of double precision where it is real",
    ("scipy_linalg", "tanhm", "int64"): "a quotient of numbers that are infinite but for rounding",
    ("scipy_linalg", "eigvals_banded", "one element"): "SciPy reads the band beside the diagonal",
}
"""Calls whose results differ, and why."""


def changed(variant: str) -> dict[str, Any]:
    """The arguments, of which the arrays of floating-point numbers are made others."""
    given, change = arguments(), VARIANTS[variant]
    names = FLOATS + (OTHERS if variant in ("reversed", "one element") else "")
    return {name: change(each) if name in names else each for name, each in given.items()}


def problem(call: str, variant: str) -> str:
    """How a call's result differs; empty if it does not, or is refused, or NumPy refuses it."""
    function, given = function_of(call, changed(variant))
    try:
        expected = function(*given)
    except Exception:  # noqa: BLE001  no call for such numbers
        return ""
    _, given = function_of(call, changed(variant))
    try:
        found = graph_jit(function)(*given)
    except (TypeError, ValueError, IndexError, np.linalg.LinAlgError, NotImplementedError):
        return ""
    leaves, expected_leaves = (optree.tree_leaves(each, none_is_leaf=True) for each in (found, expected))
    if len(leaves) != len(expected_leaves):
        return f"{len(leaves)} results, not {len(expected_leaves)}"
    tolerance = 1e-4 if variant == "float32" else 1e-9
    pairs = zip(leaves, expected_leaves, strict=True)
    return next((text for pair in pairs if (text := difference(*map(np.asarray, pair), tolerance))), "")


def difference(found: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return f"{found.dtype}{found.shape}, not {expected.dtype}{expected.shape}"
    if expected.dtype.kind not in "fc":
        return "" if np.array_equal(found, expected) else f"{found}, not {expected}"
    finite = np.abs(expected[np.isfinite(expected)])
    scale = max(finite.max(initial=0), 1e-3)
    same = np.allclose(found, expected, tolerance, tolerance * scale, equal_nan=True)
    return "" if same else f"{found}, not {expected}"


@pytest.mark.repeats
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_calls_on_other_numbers(family, variant):
    found = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, call in families()[family].calls.items():
            if call is not None and (family, name, variant) not in KNOWN:
                text = problem(call, variant)
                if text:
                    found[name] = f"{call}: {text}"
    assert not found, "\n".join(found.values())


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
def test_large_integers_with_and_without_sign_are_members_if_they_are_equal(backend):
    whole = np.array([0, 2**64 - 1, 2**63, 2**63 - 1, 1, 200], np.uint64)
    signed = np.array([-(2**63), 2**63 - 1, 0, -1, 200])
    small = np.array([-1, 0, 1], np.int8)
    for values, others in (
        (whole, signed),
        (signed, whole),
        (whole, small),
        (small, whole),
        (whole, np.tile(signed, 3)),
    ):
        expected = [int(each) in set(map(int, others)) for each in values]
        assert graph_jit(lambda x, y: np.isin(x, y), backend=backend)(values, others).tolist() == expected
