"""What `numbagraph.from_jax` gives, beside what JAX gives."""

from typing import Any

import jax
import numpy as np

import numbagraph


def check(function: Any, *args: Any, rtol: float = 1e-10, atol: float = 1e-12) -> None:
    expected = jax.jit(function)(*args)
    found = numbagraph.from_jax(function)(*args)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def check_gradient(function: Any, *args: Any) -> None:
    check(function, *args)
    expected = jax.jit(jax.grad(function))(*args)
    np.testing.assert_allclose(numbagraph.grad(numbagraph.from_jax(function))(*args), expected, rtol=1e-9, atol=1e-12)


def require_same(found: Any, expected: Any, *, signs: bool = True) -> None:
    """Results are JAX's: NaN and infinities where it has them, and zeros of its signs."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(
        map(np.asarray, jax.tree.leaves(found)), map(np.asarray, jax.tree.leaves(expected)), strict=True
    ):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind not in "fc":
            np.testing.assert_array_equal(one, other)
            continue
        eps = np.finfo(one.dtype).eps
        np.testing.assert_allclose(one, other, rtol=1e5 * eps if eps < 1e-9 else 200 * eps, atol=8 * eps)
        for part, its in ((one.real, other.real), (one.imag, other.imag)) if signs else ():
            zero = (part == 0) & (its == 0)
            np.testing.assert_array_equal(np.signbit(part[zero]), np.signbit(its[zero]))
            np.testing.assert_array_equal(np.isnan(part), np.isnan(its))
