"""`pm.Minibatch` in compiled log-densities, beside the same model on the rows that are drawn."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

from pymc.data import MinibatchOp  # noqa: E402
from pytensor.graph.traversal import ancestors  # noqa: E402

from numbagraph.pymc_bridge import UnsupportedOp, compile_logp, compile_model  # noqa: E402

X = np.linspace(-1.0, 1.0, 40)
Y = 2.0 * X - 0.5 + np.random.default_rng(3).normal(size=40)


def line(x, y, total_size=None):
    with pm.Model() as model:
        level, slope = pm.Normal("level"), pm.Normal("slope", 0, 2)
        pm.Normal("y", level + slope * x, 0.7, observed=y, total_size=total_size)
    return model


def seeded(seed):
    """The model on minibatches, whose rows a generator of this seed draws."""
    x, y = pm.Minibatch(X, Y, batch_size=8)
    for node in {each.owner for each in ancestors([x]) if each.owner and isinstance(each.owner.op, MinibatchOp)}:
        node.inputs[-1].set_value(np.random.default_rng(seed))
    return line(x, y, total_size=40)


@pytest.mark.parametrize("freeze", [True, False])
def test_each_call_has_other_rows(freeze):
    compiled, point = compile_logp(seeded(5), freeze=freeze), np.array([0.2, -0.3])
    rng, values = np.random.default_rng(5), []
    for _ in range(3):
        rows = rng.integers(0, 40, size=8)
        expected = line(X[rows], Y[rows], total_size=40).logp_dlogp_function(ravel_inputs=True)
        expected.set_extra_values({})
        found = compiled(point)
        for one, other in zip(found, expected(point), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10)
        values.append(found[0])
    assert len(set(values)) == 3


def test_native_callers_evaluate_the_rows_that_were_drawn():
    compiled = compile_logp(seeded(6))
    function, data = compiled.ctypes
    rows = np.random.default_rng(6).integers(0, 40, size=8)
    expected = line(X[rows], Y[rows], total_size=40).compile_logp()({"level": 0.1, "slope": 1.0})
    point, gradient, value = np.array([0.1, 1.0]), np.empty(2), np.empty(())
    for _ in range(2):
        assert function(2, point.ctypes.data, gradient.ctypes.data, value.ctypes.data, data) == 0
        np.testing.assert_allclose(value, expected, rtol=1e-10)


def test_samplers_refuse_them():
    with pytest.raises(UnsupportedOp, match="Minibatch"):
        compile_model(seeded(7))
