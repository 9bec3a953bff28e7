"""`scipy.interpolate.RBFInterpolator` that a compiled function makes of traced points and heights."""

import numpy as np
import pytest
from scipy import interpolate

from numbagraph import graph_jit, vmap
from numbagraph.library.scipy.interpolate.radial import KERNELS
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(9)
POINTS, AT = RNG.normal(size=(14, 2)), RNG.normal(size=(6, 2))
HEIGHTS = RNG.normal(size=(14, 2))


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize("kernel", KERNELS)
def test_radial_functions(kernel):
    def values(y, d, epsilon, smoothing, x):
        return interpolate.RBFInterpolator(y, d, kernel=kernel, epsilon=epsilon, smoothing=smoothing)(x)

    smoothing = RNG.uniform(0.01, 0.1, 14)
    at = np.concatenate([AT, POINTS[:2]])
    check(values, POINTS, HEIGHTS, np.float64(1.3), smoothing, at, rtol=1e-7)
    check_slope(lambda y: values(y, HEIGHTS, 1.3, smoothing, AT), POINTS, rtol=1e-4)
    parts = np.concatenate([HEIGHTS[:, 0], [1.3], smoothing])
    check_slope(lambda each: values(POINTS, each[:14], each[14], each[15:], AT), parts, rtol=1e-4)


def test_options_of_radial_functions():
    made = interpolate.RBFInterpolator
    check(lambda d, x: made(POINTS, d, kernel="gaussian", epsilon=2, degree=-1)(x), HEIGHTS, AT, rtol=1e-7)
    check(lambda d, x: made(POINTS, d, kernel="cubic", degree=2)(x), HEIGHTS[:, 0], AT, rtol=1e-7)
    check(lambda d, x: made(POINTS, d)(x), HEIGHTS[:, 0] * (1 + 2j), AT, rtol=1e-7)
    check(lambda d, x: made(POINTS, d)(x), HEIGHTS.reshape(14, 1, 2), AT, rtol=1e-7)
    captured = made(POINTS, HEIGHTS * (1 + 2j))
    check(lambda x: captured(x), AT, rtol=1e-7)
    several = graph_jit(vmap(lambda d: made(POINTS, d)(AT)))(HEIGHTS.T)
    np.testing.assert_allclose(several, made(POINTS, HEIGHTS)(AT).T, rtol=1e-7)
    with pytest.warns(UserWarning, match="should not be below 1"):
        graph_jit(lambda d: made(POINTS, d, degree=0)(AT))(HEIGHTS)


def test_what_radial_functions_refuse():
    made = interpolate.RBFInterpolator
    check_error(lambda d: made(POINTS, d, kernel="other")(AT), HEIGHTS)
    check_error(lambda d: made(POINTS, d, kernel="gaussian")(AT), HEIGHTS)
    check_error(lambda d: made(POINTS, d, degree=-2)(AT), HEIGHTS)
    check_error(lambda d: made(POINTS[:4], d, degree=3)(AT), HEIGHTS[:4])
    check_error(lambda d: made(POINTS, d)(AT), HEIGHTS[:4])
    check_error(lambda d: made(POINTS[:, 0], d)(AT), HEIGHTS)
    check_error(lambda d: made(POINTS, d, smoothing=np.ones(3))(AT), HEIGHTS)
    check_error(lambda d: made(POINTS, d)(AT[:, :1]), HEIGHTS)
    check_error(lambda d: made(POINTS, d)(AT[0]), HEIGHTS)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        graph_jit(lambda y: made(y, HEIGHTS)(AT))(np.ones_like(POINTS))
    with pytest.raises(TypeError, match="leave neighbors= out"):
        graph_jit(lambda d: made(POINTS, d, neighbors=3)(AT))(HEIGHTS)
