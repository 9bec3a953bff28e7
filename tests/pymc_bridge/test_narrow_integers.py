"""Ops on truth values and narrow integers, and on running sums of them, in PyTensor's default mode and ours.

PyTensor 3 runs running sums by Numba, which makes int64 of them, whatever PyTensor's types say.
"""

import numpy as np
import pytest

pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore")

import pymc as pm  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

from numbagraph.pymc_bridge import compile_logp  # noqa: E402
from numbagraph.pymc_bridge.translations import mathematics  # noqa: E402

M = np.array([1.0, -1.0, 2.0, 0.5])
DATA = {
    "bool": np.array([1, 1, 0, 1], bool),
    "int8": np.array([50, 40, 40, 30], "int8"),
    "uint8": np.array([100, 100, 100, 30], "uint8"),
    "int32": np.array([2**30, 2**30 + 5, 2**30, 3], "int32"),
}
m = pt.dvector("m")
OPS = {
    "itself": lambda y: y,
    "times a float": lambda y: y * 1.5,
    "plus one": lambda y: 1.5 * (y + 1),
    "times three": lambda y: y * np.int8(3),
    "comparison": lambda y: pt.switch(y > 100, 1.0, 2.0),
    "slice": lambda y: y[1:] * 1.5,
    "element": lambda y: y[-1] * 1.5,
    "places": lambda y: y[np.array([0, 2])] * 1.5,
    "reversed": lambda y: y[::-1] * 1.5,
    "condition": lambda y: pt.switch(y, 1.0, 2.0),
    "maximum": lambda y: pt.max(y) * 1.5,
    "sum": lambda y: y.sum(),
    "mean": lambda y: y.mean(),
    "product": lambda y: pt.prod(y[:2]),
    "reshaped": lambda y: pt.reshape(y, (1, -1)) * 1.5,
    "column": lambda y: y[:, None] * m,
    "cast": lambda y: pt.cast(y, "float64"),
    "narrower": lambda y: pt.cast(y, "int16"),
    "set": lambda y: pt.set_subtensor(m[:3], y[:3]),
    "set in it": lambda y: pt.set_subtensor(y[:1], 1) * 1.5,
    "increment": lambda y: pt.inc_subtensor(m[:3], y[:3]),
    "filled": lambda y: pt.alloc(y[-1], 2) * 1.5,
    "exponential": lambda y: pt.exp(y % 7),
    "logarithm": lambda y: pt.log(y),
    "running": lambda y: pt.cumsum(y) * 1.5,
    "sorted": lambda y: pt.sort(y) * 1.5,
    "largest": lambda y: pt.argmax(y),
    "halves": lambda y: y / 2,
    "whole halves": lambda y: y // 2,
    "remainder": lambda y: y % 7,
    "rows": lambda y: pt.cumsum(pt.reshape(y, (2, 2)), axis=1) * 1.5,
}
OF_INTEGERS = {
    "larger": lambda y: pt.maximum(y, np.int8(3)) * 1.5,
    "clipped": lambda y: pt.clip(y, 0, 120) * 1.5,
    "negative": lambda y: -y,
    "inverted": lambda y: ~y,
    "bits": lambda y: y & 5,
    "square": lambda y: pt.sqr(y),
    "differences": lambda y: pt.diff(y) * 1.5,
}


def agree(inputs, outputs, data):
    """The numbers that the default mode has. Of dtypes, it has some by chance, as memory is at hand."""
    ours, known = (pytensor.function(inputs, outputs, mode=mode)(*data) for mode in ("NUMBAGRAPH", None))
    for found, expected in zip(ours, known, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("running", [None, pt.cumsum, pt.cumprod], ids=["as they are", "sums", "products"])
@pytest.mark.parametrize("dtype", DATA)
def test_ops_of_narrow_integers(dtype, running):
    x = pt.vector("x", dtype=dtype)
    y = x if running is None else running(x)
    ops = {**OPS, **({} if dtype == "bool" else OF_INTEGERS)}
    agree([x, m], [m.sum(), *(each(y) for each in ops.values())], [DATA[dtype], M])


def change_point(steps):
    x = np.linspace(-1.0, 1.0, steps)
    with pm.Model() as model:
        mu = pm.Normal("mu")
        pm.Normal("y", mu * pt.cumsum(pt.as_tensor(x) > 0), 10.0, observed=x)
    return model


@pytest.mark.parametrize("steps", [6, 300])
def test_a_model_of_change_points(steps):
    model = change_point(steps)
    with model:
        known = model.logp_dlogp_function(ravel_inputs=True)
    known.set_extra_values({})
    for found, expected in zip(compile_logp(model)(np.array([0.7])), known(np.array([0.7])), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_counts_as_sequences_of_loops_and_in_graphs_inside_of_ops():
    x = pt.vector("x", dtype="bool")
    total = pytensor.scan(lambda k, s: s + k * 0.5, pt.cumsum(x), pt.constant(0.0), return_updates=False)
    inner = pytensor.compile.builders.OpFromGraph([x], [pt.cumsum(x) * 1.5, pt.cumsum(x)[1:]])
    agree([x], [total, inner(x)[0], inner(x)[1] * 1.5], [DATA["bool"]])


def test_running_sums_of_the_other_width_are_caught(monkeypatch):
    """A planted fault: narrow where PyTensor's are wide, and wide where they are narrow."""
    right = mathematics.running_dtype

    def fault(dtype, ndim, mode):
        return dtype if right(dtype, ndim, mode) != dtype else np.dtype(np.int64)

    monkeypatch.setattr(mathematics, "running_dtype", fault)
    with pytest.raises(AssertionError):
        test_a_model_of_change_points(300)
