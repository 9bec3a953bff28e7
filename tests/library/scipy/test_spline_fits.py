"""B-splines of `scipy.interpolate` that a compiled function fits to traced points and heights."""

import numpy as np
import pytest
from scipy import interpolate

from numbagraph import fori_loop, graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(7)
KNOTS = np.cumsum(RNG.uniform(0.2, 1.0, 10))
HEIGHTS = RNG.normal(size=(10, 2))
AT = np.concatenate([RNG.uniform(-1.0, KNOTS[-1] + 1, 6), KNOTS[:3], KNOTS[-1:], [np.nan, 0.0]]).reshape(3, 4)
INSIDE = np.sort(RNG.uniform(KNOTS[0], KNOTS[-1], 7))
FEW = np.concatenate([KNOTS[:1].repeat(4), [KNOTS[3] + 0.1, KNOTS[5]], KNOTS[-1:].repeat(4)])
"""Knots for a spline of degree 3 of six coefficients."""


@pytest.mark.repeats(but_each=5)
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5])
def test_interpolating_splines_of_any_degree(k):
    def values(y, at):
        spline = interpolate.make_interp_spline(KNOTS, y, k)
        return spline(at), spline(at, min(k, 1)), spline.derivative(min(k, 1))(at), spline.antiderivative(2)(at)

    check(values, HEIGHTS, AT, rtol=1e-9)
    check_slope(lambda y: interpolate.make_interp_spline(KNOTS, y, k)(INSIDE), HEIGHTS)


def test_interpolating_splines_of_traced_points():
    def values(x, y, at):
        spline = interpolate.make_interp_spline(x, y)
        return spline(at), spline.integrate(at[1, 1], at[1, 2]), spline.integrate(-3.0, 30.0, False), *spline.tck[:2]

    check(values, KNOTS, HEIGHTS, AT, rtol=1e-9)
    check_slope(lambda x: interpolate.make_interp_spline(x, HEIGHTS)(INSIDE), KNOTS)
    check_slope(lambda at: interpolate.make_interp_spline(KNOTS, HEIGHTS * at[0])(at), INSIDE)
    check(lambda y, at: interpolate.make_interp_spline(KNOTS, y, axis=-1)(at), HEIGHTS.T, AT, rtol=1e-9)
    check(lambda y, at: interpolate.make_interp_spline(KNOTS, y)(at), HEIGHTS[:, 0] * (1 + 2j), AT, rtol=1e-9)


@pytest.mark.parametrize(
    ("k", "conditions"),
    [
        (3, "natural"),
        (3, "clamped"),
        (3, ([(1, [0.5, 1.0])], [(2, [0.0, 1.0])])),
        (5, ([(1, [0.0, 1.0]), (2, [0.0, 0.0])], [(1, [0.0, 2.0]), (2, [0.0, 1.0])])),
    ],
)
def test_derivatives_at_the_ends(k, conditions):
    check(lambda y, at: interpolate.make_interp_spline(KNOTS, y, k, bc_type=conditions)(at), HEIGHTS, AT, rtol=1e-8)


def test_traced_derivatives_at_an_end():
    def values(first, at):
        spline = interpolate.make_interp_spline(KNOTS, HEIGHTS[:, 0], bc_type=([(1, first)], [(1, 0.0)]))
        return spline(at)

    check(values, np.float64(0.3), AT, rtol=1e-9)
    check_slope(lambda first: values(first[0], INSIDE), np.array([0.3]))


def test_least_squares_splines():
    weights = RNG.uniform(0.5, 2.0, 10)
    for method in ("qr", "norm-eq"):
        check(
            lambda y, at, method=method: interpolate.make_lsq_spline(KNOTS, y, FEW, method=method)(at),
            HEIGHTS, AT, rtol=1e-8,
        )  # fmt: skip
    check(lambda x, y, w, t, at: interpolate.make_lsq_spline(x, y, t, 3, w)(at), KNOTS, HEIGHTS, weights, FEW, AT,
          rtol=1e-8)  # fmt: skip

    def of_all(x):
        points = np.concatenate([KNOTS[:1], x[:8], KNOTS[-1:]])
        return interpolate.make_lsq_spline(points, x[8:18], FEW, w=x[18:])(INSIDE)

    check_slope(of_all, np.concatenate([KNOTS[1:-1], HEIGHTS[:, 0], weights]))


def test_smoothing_splines():
    weights = RNG.uniform(0.5, 2.0, 10)

    def values(x, y, w, lam, at):
        return interpolate.make_smoothing_spline(x, y, w, lam=lam)(at)

    check(lambda y, at: interpolate.make_smoothing_spline(KNOTS, y, lam=0.3)(at), HEIGHTS, AT, rtol=1e-8)
    check(values, KNOTS[:5], HEIGHTS[:5, 0], weights[:5], np.float64(0.0), AT, rtol=1e-8)
    parts = np.concatenate([KNOTS, HEIGHTS[:, 0], weights, [0.2]])
    check_slope(lambda parts: values(parts[:10], parts[10:20], parts[20:30], parts[30], INSIDE), parts)


def test_smoothing_that_cross_validation_chooses():
    x = np.linspace(0.0, 4.0, 30)
    y = np.sin(2 * x) + 0.2 * RNG.normal(size=30)
    w = RNG.uniform(0.5, 2.0, 30)
    check(lambda y, at: interpolate.make_smoothing_spline(x, y, w)(at), y, INSIDE, rtol=1e-5)
    both = np.stack([y, y[::-1]], axis=1)
    check(lambda y, at: interpolate.make_smoothing_spline(x, y)(at), both, INSIDE, rtol=1e-5)
    with pytest.raises(TypeError, match="give lam= a number"):
        graph_jit(lambda x: interpolate.make_smoothing_spline(x, y)(1.0))(x)


def test_splines_by_the_names_of_fitpack():
    y = HEIGHTS[:, 0]
    check(lambda y, at: interpolate.splev(at, interpolate.splrep(KNOTS, y), 1), y, INSIDE, rtol=1e-8)
    check(lambda x, y: interpolate.splrep(x, y, k=2)[:2], KNOTS, y, rtol=1e-8)
    check(lambda y: interpolate.splrep(KNOTS, y, t=[KNOTS[3] + 0.1])[:2], y, rtol=1e-8)
    check(lambda y, a: interpolate.splint(a, 2.0, interpolate.splrep(KNOTS, y)), y, np.float64(-1.0), rtol=1e-8)
    check(lambda y: interpolate.splder(interpolate.splrep(KNOTS, y), 2)[:2], y, rtol=1e-8)
    check(lambda y: interpolate.splantider(interpolate.splrep(KNOTS, y))[:2], y, rtol=1e-8)
    with pytest.raises(TypeError, match=r"splrep with s > 0 is not supported.*make_smoothing_spline"):
        graph_jit(lambda y: interpolate.splrep(KNOTS, y, s=1.0)[1])(y)


MADE = {
    "interpolated": lambda y: interpolate.InterpolatedUnivariateSpline(KNOTS, y),
    "quadratic": lambda y: interpolate.InterpolatedUnivariateSpline(KNOTS, y, k=2, bbox=[0, 9], ext=1),
    "constant": lambda y: interpolate.UnivariateSpline(KNOTS, y, s=0, ext="const"),
    "least squares": lambda y: interpolate.LSQUnivariateSpline(KNOTS, y, [KNOTS[4]], w=1 + KNOTS),
}


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", MADE)
def test_univariate_splines(name):
    made = MADE[name]

    def values(spline, at):
        return spline(at), spline(at, 1), spline.derivatives(at[1]), spline.integral(at[0], at[3])

    at = np.append(INSIDE, [-1.0, 20.0])
    check(lambda y, at: values(made(y), at), HEIGHTS[:, 0], at, rtol=1e-8)
    check(lambda y, at: (made(y).derivative()(at), made(y).get_knots()), HEIGHTS[:, 0], at, rtol=1e-8)
    check(lambda y, at: (made(y).antiderivative()(at), made(y).get_coeffs()), HEIGHTS[:, 0], INSIDE, rtol=1e-8)
    captured = made(HEIGHTS[:, 0])
    check(lambda at: values(captured, at), at, rtol=1e-8)
    check_slope(lambda y: made(y)(INSIDE), HEIGHTS[:, 0])


def test_what_univariate_splines_refuse():
    check_error(lambda y: interpolate.UnivariateSpline(KNOTS, y, s=0, ext=7)(1.0), HEIGHTS[:, 0])
    check_error(lambda y: interpolate.InterpolatedUnivariateSpline(KNOTS[::-1], y)(1.0), HEIGHTS[:, 0])
    with pytest.raises(TypeError, match=r"s > 0 is not supported.*LSQUnivariateSpline"):
        graph_jit(lambda y: interpolate.UnivariateSpline(KNOTS, y)(1.0))(HEIGHTS[:, 0])
    with pytest.raises(TypeError, match="brentq"):
        graph_jit(lambda y: interpolate.InterpolatedUnivariateSpline(KNOTS, y).roots())(HEIGHTS[:, 0])


def test_splines_of_traced_coefficients():
    c = RNG.normal(size=(6, 2))
    check(lambda c, at: interpolate.BSpline(FEW, c, 3)(at), c, AT, rtol=1e-9)
    check(lambda t, c, at: interpolate.BSpline(t, c, 3, extrapolate=False)(at), FEW, c, AT, rtol=1e-9)
    check_slope(lambda c: interpolate.BSpline(FEW, c, 3)(INSIDE), c)
    captured = interpolate.BSpline(FEW, c, 3)
    check(lambda a: captured.integrate(a, 3.0), np.float64(-0.2), rtol=1e-9)
    check_error(lambda c: interpolate.BSpline(FEW, c, -1)(1.0), c)
    check_error(lambda c: interpolate.BSpline(FEW, c, 3)(1.0), c[:3])
    check_error(lambda t: interpolate.BSpline(t, c, 3)(1.0), FEW[::-1])


def test_fits_in_loops_and_batches():
    found = graph_jit(vmap(lambda y: interpolate.make_interp_spline(KNOTS, y)(INSIDE)))(HEIGHTS.T)
    np.testing.assert_allclose(found, interpolate.make_interp_spline(KNOTS, HEIGHTS)(INSIDE).T, rtol=1e-9)
    found = graph_jit(vmap(lambda y: interpolate.make_smoothing_spline(KNOTS, y, lam=0.1)(INSIDE)))(HEIGHTS.T)
    np.testing.assert_allclose(found, interpolate.make_smoothing_spline(KNOTS, HEIGHTS, lam=0.1)(INSIDE).T, rtol=1e-7)

    def smooth(y):
        for step in range(3):
            if step != 1:
                y = interpolate.make_lsq_spline(KNOTS, y, FEW)(KNOTS) + 0.1 * y
        return y

    def again(y):
        return fori_loop(0, 3, lambda step, y: interpolate.make_lsq_spline(KNOTS, y, FEW)(KNOTS) * 0.5 + y, y)

    check(smooth, HEIGHTS[:, 0], rtol=1e-9)
    expected = HEIGHTS[:, 0]
    for _ in range(3):
        expected = interpolate.make_lsq_spline(KNOTS, expected, FEW)(KNOTS) * 0.5 + expected
    np.testing.assert_allclose(graph_jit(again)(HEIGHTS[:, 0]), expected, rtol=1e-9)


def test_bad_points_and_knots():
    y = HEIGHTS[:, 0]
    interp, lsq, smooth = interpolate.make_interp_spline, interpolate.make_lsq_spline, interpolate.make_smoothing_spline
    for x in (KNOTS[::-1], np.append(KNOTS[:9], KNOTS[8]), np.where(KNOTS > 3, np.nan, KNOTS), KNOTS[:4]):
        check_error(lambda x, y: interp(x, y)(1.0), x, y)
    check_error(lambda x, y: smooth(x, y, lam=1.0)(1.0), KNOTS[::-1], y)
    check_error(lambda x, y: smooth(x, y, lam=1.0)(1.0), KNOTS[:5], y)
    check_error(lambda y: interp(KNOTS, y, bc_type="other")(1.0), y)
    check_error(lambda y: interp(KNOTS, y, bc_type=1)(1.0), y)
    check_error(lambda y: interp(KNOTS, y, bc_type=([(7, 0.0)], [(1, 0.0)]))(1.0), y)
    check_error(lambda y: interp(KNOTS, y, t=FEW)(1.0), y)
    check_error(lambda y: interp(KNOTS, y, -1)(1.0), y)
    check_error(lambda y: interp(KNOTS[:3], y)(1.0), y[:3])
    check_error(lambda y: lsq(KNOTS, y, FEW + 1.0)(1.0), y)
    check_error(lambda y: lsq(KNOTS, y, FEW, w=KNOTS[:3])(1.0), y)
    check_error(lambda y: lsq(KNOTS, y, FEW, method="other")(1.0), y)
    check_error(lambda y: lsq(KNOTS[:2], y, FEW)(1.0), y[:2])
    check_error(lambda y: smooth(KNOTS, y, lam=-1.0)(1.0), y)
    check_error(lambda y: smooth(KNOTS, y, w=-KNOTS, lam=1.0)(1.0), y)
    check_error(lambda y: smooth(KNOTS[:4], y, lam=1.0)(1.0), y[:4])
    with pytest.raises(TypeError, match="CubicSpline"):
        graph_jit(lambda y: interp(KNOTS, y, bc_type="periodic")(1.0))(y)
