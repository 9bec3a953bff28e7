"""`scipy.spatial`: nearest points, triangulations, and interpolation between points without an order."""

import numpy as np
import pytest
from scipy import interpolate, spatial

from numbagraph import fori_loop, graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(11)
POINTS, MANY = RNG.random((40, 3)), RNG.random((3000, 3))
AT = RNG.random((2, 5, 3))


@pytest.mark.parametrize("data", [POINTS, MANY], ids=["compared", "searched"])
def test_nearest_points(data):
    tree, wrapped = spatial.KDTree(data), spatial.cKDTree(data, boxsize=[1.0, 1.0, 0.0])

    def values(x):
        return *tree.query(x), *tree.query(x, 3), *tree.query(x, [2]), *wrapped.query(x, 2)

    check(values, AT)
    check(lambda x: tree.query(x, 2, p=1, distance_upper_bound=0.1), AT)
    check(lambda x: tree.query(x, [1, 3], p=np.inf), AT[0, 0])
    check(lambda x: tree.query(x, 2, p=3), AT)
    check(lambda data, x: spatial.KDTree(data).query(x, 2), data, AT)
    check_slope(lambda x: tree.query(x, 2)[0], AT)
    check(lambda x, r: tree.query_ball_point(x, r, return_length=True), AT, np.float64(0.3))
    check(lambda x, r: tree.query_ball_point(x, r, p=1, return_length=True), AT, RNG.random((2, 5)))
    check(lambda r: tree.count_neighbors(wrapped, r), np.array([0.0, 0.1, 0.4]))
    several = graph_jit(vmap(lambda x: tree.query(x)))(AT)
    np.testing.assert_allclose(several[0], tree.query(AT)[0])
    np.testing.assert_array_equal(several[1], tree.query(AT)[1])


def test_nearest_of_traced_points():
    check(lambda d, x: spatial.cKDTree(d, boxsize=1.0).query(x, 2), POINTS, AT)
    check(lambda d, x, r: spatial.cKDTree(d).query_ball_point(x, r, return_length=True), POINTS, AT, np.float64(0.4))
    check(lambda d, r: spatial.cKDTree(d).count_neighbors(spatial.cKDTree(d[:9] * 2), r), POINTS, np.float64(0.4))
    check_slope(lambda d: spatial.KDTree(d).query(AT, 3)[0], POINTS)
    check(lambda d, x: spatial.KDTree(d).query(x, 3), POINTS[:2], AT)
    check(lambda d, x: spatial.KDTree(d).query(x), POINTS[:1], AT[0, 0])

    def wander(x):
        for _ in range(3):
            distance, place = spatial.KDTree(POINTS).query(x)
            x = 0.5 * x + 0.5 * POINTS[place] if distance > 0.05 else x + 0.1
        return x

    check(wander, AT[0, 0])
    tree = spatial.cKDTree(MANY)
    found = graph_jit(lambda x: fori_loop(0, 3, lambda _, x: x + tree.query(x)[0], x))(AT[0, 0])
    expected = AT[0, 0]
    for _ in range(3):
        expected = expected + tree.query(expected)[0]
    np.testing.assert_allclose(found, expected)


def test_what_a_tree_refuses():
    tree = spatial.KDTree(POINTS)
    check_error(lambda x: tree.query(x), AT[..., :2])
    check_error(lambda x: tree.query(x), AT * np.nan)
    check_error(lambda x: tree.query(x, p=0.5), AT)
    with pytest.raises(ValueError, match="k must be a positive integer"):
        graph_jit(lambda x: tree.query(x, 0))(AT)
    check_error(lambda d: spatial.KDTree(d).query(AT), np.where(POINTS > 0.9, np.inf, POINTS))
    check_error(lambda d: spatial.KDTree(d).query(AT), POINTS[0])
    for call in (lambda x: tree.query_ball_point(x, 0.1), lambda x: len(spatial.KDTree(x).query_pairs(0.1))):
        with pytest.raises(TypeError, match="the data decide how many"):
            graph_jit(call)(AT[0])
    with pytest.raises(TypeError, match="return distances and indices"):
        graph_jit(spatial.KDTree)(POINTS)


def test_functions_of_points():
    check(lambda d: spatial.distance_matrix(d, d[:3], p=3), POINTS)
    check(lambda d: (spatial.minkowski_distance(d, d[0], 3.0), spatial.minkowski_distance_p(d, d[0], 1.0)), POINTS)
    noise = POINTS[::-1] * 2 + 0.1
    check(spatial.procrustes, POINTS, noise, rtol=1e-9)
    check_slope(lambda d: spatial.procrustes(d, noise)[2], POINTS)
    ends = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    for at in (np.linspace(0.0, 1.0, 5), np.float64(0.3)):
        check(spatial.geometric_slerp, *ends, at)
    check_error(lambda a: spatial.geometric_slerp(a, ends[1], 0.3), ends[0] * 2)
    check_error(lambda a: spatial.procrustes(a, POINTS), POINTS[:3])
    check_error(lambda a: spatial.procrustes(a, POINTS), np.ones_like(POINTS))
    check_error(lambda a: spatial.distance_matrix(a, POINTS), POINTS[:, :2])


PLANE, VALUES = RNG.random((30, 2)), RNG.normal(size=30)
PLACES = np.concatenate([RNG.random((9, 2)) * 1.1 - 0.05, [[np.nan, 0.5], [5.0, 5.0]]])
INSIDE = np.array([[0.4, 0.5], [0.51, 0.33], [0.62, 0.71]])
CAPTURED = {
    "linear": interpolate.LinearNDInterpolator(PLANE, VALUES),
    "linear, scaled": interpolate.LinearNDInterpolator(
        PLANE * [1, 9], np.stack([VALUES, 2j * VALUES], axis=1), fill_value=3.0, rescale=True
    ),
    "linear, in space": interpolate.LinearNDInterpolator(POINTS, POINTS[:, 0] ** 2),
    "smooth": interpolate.CloughTocher2DInterpolator(PLANE, VALUES),
    "smooth, scaled": interpolate.CloughTocher2DInterpolator(
        PLANE, np.stack([VALUES, VALUES + 1], axis=1), fill_value=1.0, rescale=True
    ),
    "nearest": interpolate.NearestNDInterpolator(PLANE[:-1], VALUES[:-1] * 1j),
}


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", CAPTURED)
def test_interpolants_that_were_made_outside(name):
    made = CAPTURED[name]
    places = AT[0] if "space" in name else PLACES if name != "nearest" else PLACES[:-2]
    check(lambda x: made(x), places)
    check(lambda *columns: made(*columns), *places.T)
    check(lambda x: made(x), places[0])
    if name != "nearest":
        check_slope(lambda x: made(x), np.full((1, 3), 0.45) if "space" in name else INSIDE)
    check_error(lambda x: made(x), np.ones((3, 4)))


def test_interpolants_of_traced_values():
    def values(v, x):
        return (
            interpolate.LinearNDInterpolator(PLANE, v, fill_value=1.0)(x),
            interpolate.NearestNDInterpolator(PLANE, v)(x[:-2]),
        )

    check(values, VALUES, PLACES)
    check(lambda v, x: interpolate.CloughTocher2DInterpolator(PLANE, v)(x), VALUES, PLACES, rtol=1e-5)
    check_slope(lambda v: interpolate.CloughTocher2DInterpolator(PLANE, v, tol=1e-12)(INSIDE), VALUES)
    for method in ("nearest", "linear", "cubic"):
        check(lambda v, x, m=method: interpolate.griddata(PLANE, v, x, m, 2.0), VALUES, PLACES[:-2], rtol=1e-5)
        check(lambda v, x, m=method: interpolate.griddata(PLANE[:, 0], v, x, m), VALUES, PLACES[:, 0], rtol=1e-5)
    several = graph_jit(vmap(lambda v: interpolate.griddata(PLANE, v, INSIDE)))(np.stack([VALUES, 2 * VALUES]))
    expected = interpolate.griddata(PLANE, VALUES, INSIDE)
    np.testing.assert_allclose(several, [expected, 2 * expected])


def test_interpolants_of_traced_points():
    def values(p, v, x):
        return interpolate.LinearNDInterpolator(p, v, rescale=True)(x)

    check(values, PLANE, VALUES, PLACES)
    check_slope(lambda p: values(p, VALUES, INSIDE), PLANE)
    check_slope(lambda x: values(PLANE, VALUES, x), INSIDE)
    check(lambda p: interpolate.NearestNDInterpolator(p, VALUES)(INSIDE, distance_upper_bound=0.05), PLANE)
    check_error(lambda p: interpolate.LinearNDInterpolator(p, VALUES)(INSIDE), PLANE[:3])
    check_error(lambda p: interpolate.griddata(p, VALUES, INSIDE, "other"), PLANE)
    with pytest.raises(TypeError, match="CloughTocher2DInterpolator of traced points is not supported"):
        graph_jit(lambda p: interpolate.CloughTocher2DInterpolator(p, VALUES)(INSIDE))(PLANE)


def test_triangulations_that_were_made_outside():
    made, hull = spatial.Delaunay(PLANE), spatial.ConvexHull(PLANE)
    check(lambda x: (made.find_simplex(x), made.simplices[made.find_simplex(x)]), PLACES[:-2])
    check(lambda x: made.find_simplex(x), PLACES[0])
    check(lambda x: x[hull.vertices] @ hull.equations[0, :2], PLANE)
    check_error(lambda x: made.find_simplex(x), AT)
