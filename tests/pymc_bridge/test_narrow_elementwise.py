"""Every elementwise op of PyTensor that is translated, on truth values and narrow integers, beside its default mode."""

import numpy as np
import pytest

pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc.distributions import dist_math  # noqa: E402
from pytensor import scalar as scalars  # noqa: E402
from pytensor.tensor.elemwise import Elemwise  # noqa: E402

from numbagraph.pymc_bridge.translations.scalar_ops import AS_THEY_ARE, IN_RESULT_DTYPE, OTHERS  # noqa: E402

X = {
    "bool": np.array([1, 1, 0, 1], bool),
    "int8": np.array([3, 100, 2, 1], "int8"),
    "uint8": np.array([3, 200, 2, 1], "uint8"),
    "int32": np.array([3, 2**30, 2, 1], "int32"),
}
Y = {
    "bool": np.array([1, 1, 1, 1], bool),
    "int8": np.array([1, 3, -100, 2], "int8"),
    "uint8": np.array([1, 3, 200, 2], "uint8"),
    "int32": np.array([1, 3, -(2**30), 2], "int32"),
}
MODULES = (scalars.basic, scalars.math, pt.xlogx, dist_math)
INSTANCES = {type(each): each for module in MODULES for each in vars(module).values()}
OPS = [INSTANCES[each] for each in {**IN_RESULT_DTYPE, **AS_THEY_ARE, **OTHERS} if each in INSTANCES]
REFUSED = {
    "BetaIncInv": "PyTensor's own is called with too few arguments",
    "PolyGamma": "single precision gives infinities and NaN of its own at large numbers",
    "Conj": "PyTensor's rewriting of it fails for truth values",
    "Angle": "C code computes it in half precision",
    "Real": "Numba has none of truth values",
    "Imag": "Numba has none of truth values",
    "Softplus": "C code computes it in half precision",
}
"""Ops that are not compared, since the default mode has no number, or a coarse one."""


def applied(op, x, y):
    """The op's result, if it takes such numbers."""
    if type(op).__name__ in REFUSED:
        return None
    inputs = [x, y, x, y][: op.nin if op.nin > 0 else 2]
    if isinstance(op, scalars.Pow):
        inputs = [x, y % 3]  # C code gives a number for negative powers of integers, NumPy an error
    try:
        return Elemwise(op)(*inputs)
    except (TypeError, NotImplementedError):
        return None


@pytest.mark.parametrize("dtype", X)
def test_every_elementwise_op(dtype):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    names = [type(op).__name__ for op in OPS]
    found = [(name, made) for name, op in zip(names, OPS, strict=True) if (made := applied(op, x, y)) is not None]
    assert len(found) > 70
    outputs = [each for _, each in found]
    known = pytensor.function([x, y], outputs)(X[dtype], Y[dtype])
    ours = pytensor.function([x, y], outputs, mode="NUMBAGRAPH")(X[dtype], Y[dtype])
    for (name, _), one, other in zip(found, ours, known, strict=True):
        assert one.dtype == other.dtype, name
        # Numba computes some of PyTensor's float64 in single precision: it is their kind that is compared here.
        np.testing.assert_allclose(one, other, rtol=0 if one.dtype.kind in "biu" else 2e-5, err_msg=name)


def test_what_is_not_compared_is_there():
    assert {type(op).__name__ for op in OPS} & set(REFUSED)
    assert len(OPS) > 90
