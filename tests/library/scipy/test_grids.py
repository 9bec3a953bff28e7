"""Interpolants of `scipy.interpolate` on grids: `RegularGridInterpolator`, `interpn`, and splines of two variables."""

import numpy as np
import pytest
from scipy import interpolate

from numbagraph import graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(8)
X, Y = np.cumsum(RNG.uniform(0.3, 1.0, 6)), np.cumsum(RNG.uniform(0.3, 1.0, 7))
Z = RNG.normal(size=(6, 7))
POINTS = np.stack([RNG.uniform(X[0], X[-1], 8), RNG.uniform(Y[0], Y[-1], 8)], axis=1)
BEYOND = np.concatenate([POINTS * 1.3, [[np.nan, Y[1]], [X[0], Y[-1]], [X[2], Y[3]]]]).reshape(1, 11, 2)
METHODS = ["linear", "nearest", "slinear", "cubic", "quintic", "pchip", "cubic_legacy"]


def near(method):
    """SciPy's coefficients of splines come from an iteration, which ends at 1e-6; and those of captured objects are
    these."""
    return 3e-5 if method in ("slinear", "cubic", "quintic") else 1e-9


@pytest.mark.repeats(but_each=3)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("method", METHODS)
def test_methods_on_a_grid(method):
    def made(z, p, **options):
        return interpolate.RegularGridInterpolator((X, Y), z, method, bounds_error=False, **options)(p)

    captured = interpolate.RegularGridInterpolator((X, Y), Z, method, bounds_error=False, fill_value=None)
    check(lambda p: captured(p), BEYOND, rtol=1e-9)
    check(lambda z, p: made(z, p, fill_value=7.0), Z, BEYOND, rtol=near(method))
    strict = interpolate.RegularGridInterpolator((X, Y), Z, method)
    compiled = graph_jit(lambda p: strict(p))
    with pytest.raises(ValueError, match="One of the requested xi is out of bounds in dimension 1"):
        compiled(np.array([[X[1], Y[-1] + 1]]))
    with pytest.raises(ValueError, match="out of bounds in dimension 0"):
        compiled(np.array([[np.nan, Y[1]]]))
    exact = f"{method}_legacy" if method in ("slinear", "cubic", "quintic") else method
    if method != "nearest":
        check_slope(lambda z: interpolate.RegularGridInterpolator((X, Y), z, exact)(POINTS), Z)
        check_slope(lambda p: captured(p), POINTS, rtol=1e-4)


@pytest.mark.repeats
@pytest.mark.parametrize("method", METHODS)
def test_traced_points_of_a_grid(method):
    def values(x, y, z, p):
        return interpolate.interpn((x, y), z, p, method, bounds_error=False)

    check(values, X, Y, Z, BEYOND[0], rtol=near(method))
    check(values, X[::-1].copy(), Y, Z[:, :, None] * np.arange(1.0, 3.0), BEYOND[0], rtol=near(method))
    check(lambda z, p: interpolate.RegularGridInterpolator((X[::-1], Y), z, method)(p), Z, POINTS, rtol=near(method))
    if method not in ("nearest", "quintic"):
        check_slope(lambda x: interpolate.interpn((x, Y), Z, POINTS, method, False, None), X, rtol=1e-3)


def test_more_of_grids():
    cube, third = RNG.normal(size=(6, 7, 4)), np.arange(4.0)
    at = np.concatenate([POINTS, RNG.uniform(0.0, 3.0, (8, 1))], axis=1)
    for method in ("pchip", "cubic"):
        check(
            lambda z, p, method=method: interpolate.RegularGridInterpolator((X, Y, third), z, method)(p),
            cube, at, rtol=near(method),
        )  # fmt: skip
    check(lambda z, p: interpolate.interpn((X,), z, p, "pchip"), Z, POINTS[:, :1])
    check(lambda z, p: interpolate.interpn((X,), z, (p,), "linear"), Z, POINTS[:, 0])
    check(lambda z, p: interpolate.interpn((X, Y), z, p, "splinef2d", False, 0.5), Z, POINTS * 1.2)
    check(lambda z, p: interpolate.RegularGridInterpolator((X, Y), z, "cubic")(p, nu=(1, 2)), Z, POINTS, rtol=1e-4)
    captured = interpolate.RegularGridInterpolator((X, Y), Z)
    for method in ("cubic", "pchip"):
        check(lambda p, method=method: captured(p, method), POINTS, rtol=near(method))
    several = graph_jit(vmap(lambda z: interpolate.RegularGridInterpolator((X, Y), z, "cubic")(POINTS)))
    expected = [interpolate.RegularGridInterpolator((X, Y), z, "cubic")(POINTS) for z in (Z, Z + 1)]
    np.testing.assert_allclose(several(np.stack([Z, Z + 1])), expected, rtol=1e-3, atol=1e-4)


def test_bad_grids():
    grid = interpolate.RegularGridInterpolator
    check_error(lambda z: grid((X, Y), z, "other")(POINTS), Z)
    check_error(lambda z: grid((X, Y, X), z)(POINTS), Z)
    check_error(lambda z: grid((X, X), z)(POINTS), Z)
    check_error(lambda z: grid((X, Y[:, None]), z)(POINTS), Z)
    check_error(lambda x: grid((x, Y), Z)(POINTS), np.where(X > 2, 0.0, X))
    check_error(lambda z: grid((X, Y), z)(POINTS[:, :1]), Z)
    check_error(lambda z: grid((X[:5], Y), z, "quintic")(POINTS), Z[:5])
    check_error(lambda z: grid((X, Y), z)(POINTS, nu=(1, 0)), Z)
    check_error(lambda z: grid((X, Y), z, "pchip")(POINTS), Z + 1j)
    check_error(lambda z: interpolate.interpn((X, Y), z, POINTS, "other"), Z)
    check_error(lambda z: interpolate.interpn((X, Y), z, POINTS, "splinef2d", False, None), Z)


SURFACES = {
    "rectangle": interpolate.RectBivariateSpline(X, Y, Z, kx=2),
    "smooth": interpolate.SmoothBivariateSpline(*RNG.uniform(0, 4, (3, 40)), kx=2, ky=3),
    "least squares": interpolate.LSQBivariateSpline(*RNG.uniform(0, 4, (3, 60)), [2.0], [1.0, 2.0]),
}


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", SURFACES)
def test_splines_of_two_variables(name):
    spline = SURFACES[name]
    x, y = np.sort(POINTS[:, 0] * 1.2), np.sort(POINTS[:, 1] * 1.1)

    def values(x, y):
        return spline(x, y), spline(x, y, dx=1, dy=2), spline.ev(x, y), spline.ev(x, y, dx=1), spline(0.5, y[0])

    check(values, x, y, rtol=1e-8)
    check(lambda a, b: spline.integral(a, 2.0, 0.5, b), np.float64(0.7), np.float64(1.9), rtol=1e-8)
    check(lambda x, y: spline.ev(x[:, None], y), x[:2], y)
    check_slope(lambda x: spline.ev(x, POINTS[:, 1]), POINTS[:, 0] * 0.9)
    check_error(lambda x: spline(x, y), x[::-1])
    check_error(lambda x: spline.ev(x, y, dx=-1), x)


def test_splines_through_traced_heights():
    def made(x, z, p):
        spline = interpolate.RectBivariateSpline(x, Y, z, kx=2, bbox=[0, 9, None, None])
        return spline.ev(p[:, 0], p[:, 1]), spline.integral(0.5, 1.0, 1.0, 2.0), spline.get_coeffs()

    check(made, X, Z, POINTS, rtol=1e-8)
    check_slope(lambda z: interpolate.RectBivariateSpline(X, Y, z).ev(POINTS[:, 0], POINTS[:, 1]), Z)
    check_error(lambda z: interpolate.RectBivariateSpline(X[::-1], Y, z)(1.0, 1.0), Z)
    check_error(lambda z: interpolate.RectBivariateSpline(Y, X, z)(1.0, 1.0), Z)
    with pytest.raises(TypeError, match="s > 0 is not supported"):
        graph_jit(lambda z: interpolate.RectBivariateSpline(X, Y, z, s=1.0)(1.0, 1.0))(Z)


def test_products_of_splines():
    spline = interpolate.RegularGridInterpolator((X, Y), Z, "cubic")._spline
    check(lambda p: (spline(p), spline(p, nu=(1, 1)), spline(p, extrapolate=False)), BEYOND, rtol=1e-9)
    check(lambda c, p: interpolate.NdBSpline(spline.t, c, 3)(p), spline.c, BEYOND, rtol=1e-9)
    check_slope(lambda c: interpolate.NdBSpline(spline.t, c, 3)(POINTS), spline.c)
    check_error(lambda c: interpolate.NdBSpline(spline.t, c, 3)(POINTS), spline.c[1:])
    check_error(lambda c: interpolate.NdBSpline(spline.t, c, 3)(POINTS), spline.c[0])
    check_error(lambda p: spline(p), POINTS[:, :1])
    check_error(lambda p: spline(p, nu=(-1, 0)), POINTS)
