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
