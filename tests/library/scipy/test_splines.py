"""Interpolants of `scipy.interpolate` that a compiled function makes of traced points and heights."""

import numpy as np
import pytest
from scipy import interpolate

from numbagraph import grad, graph_jit, scan, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(4)
KNOTS = np.cumsum(RNG.uniform(0.1, 1.0, 9))
HEIGHTS = RNG.normal(size=(9, 2))
AT = np.concatenate([RNG.uniform(-1.0, KNOTS[-1] + 1, 20), KNOTS, [np.nan]]).reshape(5, 6)
INSIDE = RNG.uniform(KNOTS[0], KNOTS[-1], 12)

KINDS = [interpolate.CubicSpline, interpolate.PchipInterpolator, interpolate.Akima1DInterpolator]
CONDITIONS = {
    "not-a-knot": "not-a-knot",
    "natural": "natural",
    "clamped": "clamped",
    "both": ("natural", "not-a-knot"),
    "derivatives": ((1, np.array([0.5, -1.0])), (2, np.array([0.3, 2.0]))),
    "one": ("clamped", (1, np.array([0.5, -1.0]))),
    "complex": ((2, np.array([0.5j, -1.0])), "natural"),
}
MADE = {
    **{name: lambda x, y, bc=bc: interpolate.CubicSpline(x, y, bc_type=bc) for name, bc in CONDITIONS.items()},
    "bounded": lambda x, y: interpolate.CubicSpline(x, y, extrapolate=False),
    "periodic beyond": lambda x, y: interpolate.CubicSpline(x, y, extrapolate="periodic"),
    "pchip": interpolate.PchipInterpolator,
    "akima": interpolate.Akima1DInterpolator,
    "makima": lambda x, y: interpolate.Akima1DInterpolator(x, y, method="makima", extrapolate=True),
    "hermite": lambda x, y: interpolate.CubicHermiteSpline(x, y, y[::-1] * 2),
}


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("name", MADE)
def test_interpolants_of_traced_heights(name):
    made = MADE[name]
    for nu in (0, 1, 3, 4):
        check(lambda y, at, nu=nu: made(KNOTS, y)(at, nu), HEIGHTS, AT, rtol=1e-9)
    check(lambda y: made(KNOTS, y)(0.7, extrapolate=False), HEIGHTS, rtol=1e-9)
    check(lambda x, y, at: made(x, y)(at), KNOTS, HEIGHTS, AT, rtol=1e-9, again=[(KNOTS[:6], HEIGHTS[:6], AT[0])])
    check(lambda y: (made(KNOTS, y).c, made(KNOTS, y).x), HEIGHTS, rtol=1e-9)


@pytest.mark.repeats(but_each=11)
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_interpolants_of_few_points(name, count):
    check(lambda x, y, at: MADE[name](x, y)(at), KNOTS[:count], HEIGHTS[:count], AT, rtol=1e-9)


@pytest.mark.repeats
@pytest.mark.parametrize("count", [2, 3, 4, 5, 9])
@pytest.mark.parametrize("columns", [(), (2,), (2, 3)])
def test_periodic_splines(count, columns):
    heights = RNG.normal(size=(count, *columns))
    heights[-1] = heights[0]
    for nu in (0, 1, 2):
        check(
            lambda x, y, at, nu=nu: interpolate.CubicSpline(x, y, bc_type="periodic")(at, nu),
            KNOTS[:count], heights, AT, rtol=1e-8,
        )  # fmt: skip
    if not columns:
        check_slope(
            lambda y: interpolate.CubicSpline(KNOTS[:count], np.append(y, y[:1]), bc_type="periodic")(AT[0]),
            heights[:-1],
        )


@pytest.mark.parametrize(
    "kind", [interpolate.CubicSpline, interpolate.PchipInterpolator, interpolate.Akima1DInterpolator]
)
def test_axes_and_ranks_of_heights(kind):
    for heights, axis in ((HEIGHTS.T, 1), (HEIGHTS.T[None], -1), (HEIGHTS[:, 0], 0), (HEIGHTS[:, None], 0)):
        check(lambda y, at, axis=axis: kind(KNOTS, y, axis)(at), heights, AT, rtol=1e-9)
    check(lambda y, at: kind(KNOTS, y)(at), np.arange(9), AT, rtol=1e-9)
    check(lambda y, at: kind(KNOTS, y)(at), HEIGHTS.astype(np.float32), AT, rtol=1e-9)


def test_shapes_are_kept_where_heights_do_not_change():
    flat = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 2.0, -1.0, 3.0, 3.0])
    for kind in KINDS:
        for heights in (flat, -flat, flat * 0, np.arange(9.0)):
            check(lambda y, at, kind=kind: kind(KNOTS, y)(at), heights, AT)
    for heights in (flat, flat * 0):
        slopes = grad(lambda y: np.sum(interpolate.PchipInterpolator(KNOTS, y)(INSIDE)))(heights)
        assert np.isfinite(slopes).all()


@pytest.mark.repeats(but_each=9)
@pytest.mark.parametrize("name", [name for name in MADE if name not in ("complex", "bounded")])
def test_derivatives(name):
    made = MADE[name]
    check_slope(lambda y: made(KNOTS, y)(INSIDE), HEIGHTS)
    check_slope(lambda y: made(KNOTS, y)(INSIDE, 1), HEIGHTS)
    check_slope(lambda x: made(x, HEIGHTS)(INSIDE), KNOTS)
    check_slope(lambda at: made(KNOTS, HEIGHTS * at[0])(at), INSIDE)


@pytest.mark.repeats
@pytest.mark.parametrize("name", [name for name in MADE if name != "periodic beyond"])
def test_derivatives_and_integrals_of_splines(name):
    made = MADE[name]
    check(lambda y, at: made(KNOTS, y).derivative()(at), HEIGHTS, AT, rtol=1e-9)
    check(lambda y, at: made(KNOTS, y).derivative(2)(at), HEIGHTS, AT, rtol=1e-9)
    check(lambda y, at: made(KNOTS, y).derivative(5)(at), HEIGHTS, AT, rtol=1e-9)
    check(lambda y, at: made(KNOTS, y).antiderivative()(at), HEIGHTS, AT, rtol=1e-9)
    check(lambda y, at: made(KNOTS, y).antiderivative(2)(at, 1), HEIGHTS, AT, rtol=1e-9)
    check_error(lambda y, at: made(KNOTS, y)(at, -1), HEIGHTS, AT)
    check(lambda y: made(KNOTS, y).integrate(KNOTS[1] + 0.1, KNOTS[5]), HEIGHTS, rtol=1e-9)
    check(lambda y, a: made(KNOTS, y).integrate(a, KNOTS[2]), HEIGHTS, np.float64(KNOTS[6] + 0.1), rtol=1e-9)
    check_slope(lambda y: made(KNOTS, y).integrate(KNOTS[1] + 0.1, KNOTS[5]), HEIGHTS)


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize(
    "kind",
    ["linear", "nearest", "nearest-up", "previous", "next", "cubic", "quadratic", "zero", "slinear", 0, 1, 2, 3],
)
def test_interp1d_of_traced_heights(kind):
    def made(x, y, **options):
        return interpolate.interp1d(x, y, kind, **options)

    order = RNG.permutation(9)
    check(lambda y: made(KNOTS, y)(INSIDE), HEIGHTS.T, rtol=1e-9)
    check(lambda x, y: made(x, y, axis=0)(INSIDE), KNOTS[order], HEIGHTS[order], rtol=1e-9)
    check(lambda y: made(KNOTS, y, axis=0, assume_sorted=True)(INSIDE), HEIGHTS, rtol=1e-9)
    check(lambda y, at: made(KNOTS, y, bounds_error=False)(at), HEIGHTS.T, AT, rtol=1e-9)
    check(lambda y, at: made(KNOTS, y, bounds_error=False, fill_value=(0.0, 1.0))(at), HEIGHTS.T, AT, rtol=1e-9)
    check(lambda y, at: made(KNOTS, y, fill_value="extrapolate")(at), HEIGHTS.T, AT[:4], rtol=1e-9)
    check(lambda y: made(KNOTS, y)(INSIDE), np.arange(9), rtol=1e-9)
    for at, where in ((KNOTS[0] - 1, "below"), (KNOTS[-1] + 1, "above")):
        with pytest.raises(ValueError, match=where):
            graph_jit(lambda y, at: made(KNOTS, y)(at))(HEIGHTS.T, at)
    check_slope(lambda y: made(KNOTS, y)(INSIDE), HEIGHTS.T)
    with_nan = np.where(np.arange(9) == 3, np.nan, HEIGHTS.T)
    if kind not in ("zero", 0):
        check(lambda y: made(KNOTS, y)(INSIDE), with_nan, rtol=1e-9)


def test_what_interp1d_refuses():
    check_error(lambda y: interpolate.interp1d(KNOTS, y, "cubic")(INSIDE), HEIGHTS[:3, 0])
    with pytest.raises(ValueError, match="at least 4 entries"):
        graph_jit(lambda y: interpolate.interp1d(KNOTS[:3], y, "cubic")(INSIDE))(HEIGHTS[:3, 0])
    check_error(lambda y: interpolate.interp1d(KNOTS, y, "other")(INSIDE), HEIGHTS[:, 0])
    check_error(
        lambda y: interpolate.interp1d(KNOTS, y, bounds_error=True, fill_value="extrapolate")(1.0), HEIGHTS[:, 0]
    )
    with pytest.raises(ValueError, match="at least 3 entries"):
        graph_jit(lambda y: interpolate.interp1d(KNOTS[:2], y, "quadratic")(INSIDE))(HEIGHTS[:2, 0])


@pytest.mark.parametrize(
    "kind", [interpolate.CubicSpline, interpolate.PchipInterpolator, interpolate.Akima1DInterpolator]
)
def test_bad_points_and_heights(kind):
    for knots in (KNOTS[::-1], np.append(KNOTS[:8], np.nan), np.append(KNOTS[:8], KNOTS[7]), KNOTS[:5], KNOTS + 0j):
        check_error(lambda x, y: kind(x, y)(0.5), knots, HEIGHTS)
        check_error(lambda y, knots=knots: kind(knots, y)(0.5), HEIGHTS)
    for bad in (np.nan, np.inf):
        check_error(lambda y: kind(KNOTS, y)(0.5), np.where(HEIGHTS > 1, bad, HEIGHTS))
    check_error(lambda x, y: kind(x, y)(0.5), KNOTS[:1], HEIGHTS[:1])
    check_error(lambda x, y: kind(x, y)(0.5), KNOTS[None], HEIGHTS)
    if kind is not interpolate.CubicSpline:
        check_error(lambda y: kind(KNOTS, y)(0.5), HEIGHTS + 1j)


@pytest.mark.parametrize(
    "bc",
    ["periodic", "other", ("natural",), ("periodic", "natural"), ((3, 0.0), "natural"), ((1, 0.0), "natural"), (1, 2)],
)
def test_bad_conditions(bc):
    check_error(lambda y: interpolate.CubicSpline(KNOTS, y, bc_type=bc)(0.5), HEIGHTS)


def test_traced_conditions():
    def spline(y, at, first, last):
        return interpolate.CubicSpline(KNOTS, y, bc_type=((1, first), (2, last)))(at)

    check(spline, HEIGHTS[:, 0], AT, np.float64(0.3), np.float64(-2.0), rtol=1e-9)
    check_slope(lambda first: spline(HEIGHTS[:, 0], INSIDE, first[0], first[1]), np.array([0.3, -2.0]))


def test_splines_in_loops_and_batches():
    def steps(y):
        spline = interpolate.CubicSpline(KNOTS, y)

        def step(t, at):
            value = spline(at)
            return t + value, value

        return scan(step, 0.0, INSIDE)[1]

    np.testing.assert_allclose(graph_jit(steps)(HEIGHTS[:, 0]), interpolate.CubicSpline(KNOTS, HEIGHTS[:, 0])(INSIDE))
    several = graph_jit(vmap(lambda y: interpolate.CubicSpline(KNOTS, y)(INSIDE)))(HEIGHTS.T)
    np.testing.assert_allclose(several, interpolate.CubicSpline(KNOTS, HEIGHTS)(INSIDE).T)

    def newton(y):
        spline, t = interpolate.CubicSpline(KNOTS, y), KNOTS[4]
        for _ in range(5):
            t = t - spline(t) / spline(t, 1)
        return t

    rising = np.cumsum(np.abs(HEIGHTS[:, 0])) - np.sum(np.abs(HEIGHTS[:5, 0])) + 0.01
    np.testing.assert_allclose(graph_jit(newton)(rising), newton(rising))


def test_what_of_a_spline_is_not_compiled():
    with pytest.raises(TypeError, match=r"roots of a scipy\.interpolate\.CubicSpline is not supported"):
        graph_jit(lambda y: interpolate.CubicSpline(KNOTS, y).roots())(HEIGHTS[:, 0])
    with pytest.raises(TypeError, match="return its values at points"):
        graph_jit(lambda y: interpolate.CubicSpline(KNOTS, y))(HEIGHTS[:, 0])


ENDS = [(1, 1, 1), (1, 3, 1), (2, 1, 3)]
"""How often knots are repeated, beyond the degree: the first one, one inside, and the last one."""


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("ends", ENDS)
def test_b_splines_of_repeated_knots(degree, ends):
    first, inner, last = (degree + each for each in ends)
    knots = np.repeat([0.0, 1.0, 2.0, 3.0], [first, inner, 1, last])
    count = len(knots) - degree - 1
    at = np.array([0.0, 0.5, 1.0 - 1e-12, 1.0, np.nextafter(1.0, 2.0), 1.5, 2.0, 3.0, -1.0, 4.0, np.nan])
    columns = np.cos(np.arange(2.0 * count)).reshape(count, 2) * (1 + 2j)
    for heights, goes_on in ((columns[:, 0].real, True), (columns, False)):
        spline = interpolate.BSpline(knots, heights, degree, extrapolate=goes_on)
        check(lambda x, s=spline: tuple(s(x, nu) for nu in range(degree + 2)), at, rtol=1e-9)
    check_slope(interpolate.BSpline(knots, columns[:, 0].real, degree), np.array([0.3, 1.5, 2.4]))


SPLINES = ["zero", "slinear", "quadratic", "cubic"]


@pytest.mark.repeats(but_each=9)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["linear", "nearest", "nearest-up", "previous", "next", "zero"])
@pytest.mark.parametrize("fill", [np.nan, "extrapolate", (1.0, 2.0)])
def test_one_knot(kind, fill):
    at = np.array([0.0, 1.0, 2.0, np.nan])
    for y in (np.array([2.0]), np.array([[2.0], [3.0]]), np.array([2.0 + 1j]), np.array([2])):

        def function(y, at):
            return interpolate.interp1d(np.array([1.0]), y, kind, bounds_error=False, fill_value=fill)(at)

        try:
            function(y, at)
        except ValueError:  # there is nothing to go on with
            continue
        made = interpolate.interp1d(np.array([1.0]), y, kind, bounds_error=False, fill_value=fill)
        check(lambda at, made=made: made(at), at)
        if kind != "zero" or y.dtype.kind != "c":
            check(function, y, at)


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("kind", SPLINES)
@pytest.mark.parametrize("y", [HEIGHTS[:, 0], HEIGHTS, HEIGHTS.T, np.where(HEIGHTS > 1, np.nan, HEIGHTS)])
def test_splines_that_were_made_outside(kind, y):
    made = interpolate.interp1d(KNOTS, y, kind, axis=0 if len(y) == 9 else 1, bounds_error=False)
    for at in (AT, AT[0], 0.7):
        check(lambda at, made=made: made(at), at, rtol=1e-9)
