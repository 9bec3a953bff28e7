"""Elementwise ops of several operands on JAX, where one operand has more dimensions than the others."""

import numpy as np
import pytest

pytest.importorskip("jax")

from numbagraph import graph_jit
from numbagraph.ir.op import registry
from numbagraph.ir.values import Unsupported
from numbagraph.library.namespaces import public_function

NAMES = sorted(
    op.name
    for op in registry
    if op.kind == "elementwise" and not isinstance(op.jnp, Unsupported) and not isinstance(op.frontend, Unsupported)
)


def operands_of(name, dtype):
    """Arrays of one dimension for an op of several operands; None for others."""
    for args in registry[name].samples(np.random.default_rng(0), np.dtype(dtype)):
        if len(args) > 1 and all(isinstance(each, np.ndarray) and each.size > 1 for each in args):
            return [np.resize(each, 4) for each in args]
    return None


def takes(name, args):
    """Whether an op takes operands of these dtypes."""
    try:
        public_function(name, "numbagraph")(*args)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
def test_operands_of_several_ranks(name):
    """Functions of `jax.lax` do not broadcast, as those of `jax.numpy` do."""
    if operands_of(name, np.float64) is None:
        pytest.skip("it has one operand")
    args = next(args for dtype in (np.float64, np.int64) if takes(name, args := operands_of(name, dtype)))
    function = public_function(name, "numbagraph")
    given = [np.stack([args[0]] * 2), *args[1:]]
    found, expected = (
        graph_jit(lambda *each: function(*each), backend=backend)(*given) for backend in ("jax", "numpy")
    )
    for each, other in zip(*((x,) if not isinstance(x, tuple) else x for x in (found, expected)), strict=True):
        assert each.shape == (2, 4)
        np.testing.assert_allclose(each, other, rtol=1e-9)
