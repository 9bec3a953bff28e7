"""Values that are known exactly, at limits and whole numbers: others compute with them as if they were exact."""

import math

import numpy as np
import pytest
from scipy import special

import numbagraph.intrinsics.emitters.vecmath.deferred  # noqa: F401  declares all formulas
from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.vecmath.declare import functions

NAMES = {"arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sin", "cos", "tan", "sinh", "cosh", "tanh"} | {
    each.op for each in functions.values() if each.arity == 1 and "." not in each.name and hasattr(special, each.op)
}
LIMITS = [math.inf, -math.inf, 1e30, -1e30, 1e5, -1e5, 100.0, -100.0, 40.0, -40.0, 6.5, -6.5, 0.0, -0.0, 1e-30, -1e-30]
WHOLE = [*range(-20, 30), 0.5, -0.5, 0.25, 1.5, 2.5, 30, 60, 90, 180, 360, 1024]
WITHOUT_SIGNS = ("ber", "bei", "berp", "beip")
"""Their infinities have the sign of a sine, for which SciPy rounds the angle."""
ANGLES = (math.pi, math.pi / 2, math.pi / 4)


def is_known(values: np.ndarray) -> np.ndarray:
    """Whole numbers that are far from those that only rounding makes whole, simple fractions, and angles."""
    whole = (values == np.rint(values)) & (np.abs(values) < 2.0**22)
    angles = np.isin(np.abs(values), np.array(ANGLES, values.dtype))
    return whole | angles | np.isinf(values) | np.isin(np.abs(values), [0.5, 0.25, 0.75])


@pytest.mark.parametrize("function", sorted(NAMES))
@pytest.mark.filterwarnings("ignore")
def test_known_values(function: str) -> None:
    ufunc = getattr(np, function, None) or getattr(special, function)
    for dtype, points in ((np.float64, [*LIMITS, *WHOLE]), (np.float32, LIMITS)):
        x = np.array(points, dtype)
        with np.errstate(all="ignore"):
            wanted = ufunc(x)
        known = is_known(wanted) & ~((np.abs(x) > 2.0**27) & np.isinf(wanted) & (function in WITHOUT_SIGNS))
        found = graph_jit(lambda x: ufunc(x))(x)
        np.testing.assert_allclose(found[known], wanted[known], rtol=0, atol=1e-300)  # SciPy's have no denormals


def test_factorials() -> None:
    n = np.arange(23)
    wanted = [float(math.factorial(each)) for each in n]
    assert graph_jit(lambda n: special.gamma(n + 1.0))(n).tolist() == wanted
    assert graph_jit(lambda n: special.factorial(n))(n).tolist() == wanted
    single = graph_jit(lambda n: special.gamma(n))(np.arange(1, 15, dtype=np.float32))
    assert single.tolist() == wanted[:14]
