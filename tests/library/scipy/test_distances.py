"""Distances of scipy.spatial, beside SciPy."""

import numpy as np
import pytest
from scipy.spatial import distance

from numbagraph import grad, graph_jit, vmap
from numbagraph.errors import TraceError
from tests.library.scipy.test_functions import INTEGERS, RNG, A, S, X, check, check_error

METRICS = (
    "euclidean sqeuclidean cityblock chebyshev cosine correlation canberra braycurtis hamming jaccard seuclidean "
    "mahalanobis jensenshannon dice rogerstanimoto russellrao sokalsneath yule minkowski"
).split()


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("metric", METRICS)
def test_metrics(metric):
    one, other = RNG.uniform(0, 1, (7, 3)), RNG.uniform(0, 1, (5, 3))
    if metric in INTEGERS:
        one, other = one > 0.5, other > 0.4
    options = {"p": 1.5} if metric == "minkowski" else {}
    check(lambda a, b: distance.cdist(a, b, metric, **options), one, other, again=[(other, one)])
    if metric in ("seuclidean", "mahalanobis", "minkowski"):
        check(lambda a: distance.pdist(a, metric, **options), one)
    if metric not in ("seuclidean", "mahalanobis", "jensenshannon"):
        weights = np.array([0.5, 2.0, 1.0])
        check(lambda a, b, w: distance.cdist(a, b, metric, w=w, **options), one, other, weights)


@pytest.mark.parametrize("count", [1, 2, 3, 50, 301])
def test_pairs(count):
    points = RNG.normal(size=(count, 2))
    check(lambda a: distance.pdist(a), points)
    if count > 1:
        check(lambda d: distance.squareform(d), distance.pdist(points))
        check(lambda d: distance.squareform(d), distance.cdist(points, points))


@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "cosine", "jensenshannon"])
@pytest.mark.parametrize("count", [63, 64, 65, 66, 150])
def test_pairs_around_a_strip_of_vectors(count, metric):
    points = RNG.uniform(0.1, 1.0, (count, 9))
    check(lambda a: distance.pdist(a[:, :3], metric), points, again=[(points[::-1],), (points[:, ::-2],)])
    check(lambda a: distance.pdist(a, metric), points)


def test_pairs_on_several_threads():
    points = RNG.normal(size=(1100, 3))
    found = graph_jit(lambda a: distance.pdist(a, "cityblock"), parallel=True)(points)
    np.testing.assert_allclose(found, distance.pdist(points, "cityblock"), rtol=1e-12)


def test_matrices_that_are_read_elsewhere_too_are_whole():
    """What is above the diagonal is all that one of the readers needs."""
    points = RNG.normal(size=(100, 3))

    def squares(a):
        return np.sum((a[:, None] - a) ** 2, axis=-1)

    check(lambda a: (distance.squareform(squares(a), checks=False), squares(a)), points)
    check(lambda a: (distance.squareform(squares(a), checks=False), np.sum(squares(a), axis=0)), points)
    check(lambda a: (distance.squareform(np.sqrt(squares(a)), checks=False), squares(a)[::-1].T + 1.0), points)
    check(lambda a: distance.squareform(squares(a) + squares(a).T, checks=False), points)
    check(lambda a: distance.squareform(np.cumsum(squares(a), axis=1), checks=False), points)


def test_rows_of_pairs_are_looked_up_in_bounds():
    points, wrong = RNG.normal(size=(5, 2)), graph_jit(lambda a, rows: distance.pdist(a[rows]))
    np.testing.assert_allclose(wrong(points, np.array([4, 0, 2])), distance.pdist(points[[4, 0, 2]]))
    for rows in ([5], [0, 5], [5, 0], [0, 1, 5]):
        with pytest.raises(IndexError):
            wrong(points, np.array(rows))


@pytest.mark.parametrize("count", [1, 2, 3, 70])
def test_derivatives_by_pairs(count):
    """Of squared distances: the k-th row has ``2 w (x_k - x_j)`` of each pair that it is in."""
    points, pairs = RNG.normal(size=(count, 3)), count * (count - 1) // 2
    weights = RNG.normal(size=pairs)
    matrix = np.zeros((count, count))
    matrix[np.triu_indices(count, 1)] = weights
    matrix += matrix.T
    expected = 2.0 * (matrix.sum(axis=1)[:, None] * points - matrix @ points)

    def weighted(a, w):
        return np.sum(w * distance.pdist(a, "sqeuclidean"))

    np.testing.assert_allclose(grad(weighted)(points, weights), expected, rtol=1e-10, atol=1e-12)
    direction = RNG.normal(size=points.shape)
    twice = grad(lambda a: np.sum(direction * grad(weighted)(a, weights)))(points)
    curved = 2.0 * (matrix.sum(axis=1)[:, None] * direction - matrix @ direction)
    np.testing.assert_allclose(twice, curved, rtol=1e-10, atol=1e-12)


SMOOTH = (
    "euclidean sqeuclidean cityblock chebyshev cosine correlation canberra braycurtis seuclidean mahalanobis "
    "jensenshannon dice minkowski"
).split()


def weighted_pairs(metric):
    """A sum of distances, each with a weight of its own."""

    def function(a):
        found = distance.pdist(a, metric, **({"p": 1.5} if metric == "minkowski" else {}))
        return np.sum(found * np.arange(1.0, 11.0))

    return function


@pytest.mark.parametrize("row", ["any", "zero"])
@pytest.mark.parametrize("metric", SMOOTH)
def test_derivatives_by_pairs_of_all_metrics(metric, row):
    """What a row's distance to itself would be, of which some have no derivative, is not in them."""
    points = np.random.default_rng(3).uniform(0.2, 1.0, (5, 4))
    if row == "zero" and metric not in ("cosine", "correlation", "jensenshannon"):  # they are NaN there
        points[2] = 0.0
    function, step = weighted_pairs(metric), 1e-6
    found, differences = grad(function)(points), np.empty_like(points)
    for place in np.ndindex(points.shape):
        there = np.zeros_like(points)
        there[place] = step
        differences[place] = (function(points + there) - function(points - there)) / (2 * step)
    smooth = np.ones(5, dtype=bool)
    if metric == "canberra" and row == "zero":
        smooth[2] = False  # it jumps
    np.testing.assert_allclose(found[smooth], differences[smooth], rtol=1e-5, atol=1e-6)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis", "jensenshannon", "minkowski"])
def test_derivatives_of_points_that_are_equal(metric):
    points = np.random.default_rng(3).uniform(0.2, 1.0, (5, 4))
    points[3] = points[1]
    assert np.isfinite(grad(weighted_pairs(metric))(points)).all()


@pytest.mark.parametrize("metric", ["braycurtis", "dice"])
def test_quotients_without_a_denominator(metric):
    pairs = [
        ([0.0, 0.0], [0.0, 0.0]),
        ([1.0, 2.0], [-1.0, -2.0]),
        ([1.0, 0.0], [-1.0, 0.0]),
        ([np.nan, 1.0], [1.0, 0.0]),
    ]
    first, second = (np.array(each) for each in zip(*pairs, strict=True))
    compiled = graph_jit(lambda a, b: distance.cdist(a, b, metric))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(first, second), distance.cdist(first, second, metric), rtol=1e-14)


def test_batches_of_pairs():
    stacks = RNG.normal(size=(4, 70, 2))
    found = graph_jit(vmap(lambda a: distance.pdist(a, "chebyshev")))(stacks)
    np.testing.assert_allclose(found, [distance.pdist(each, "chebyshev") for each in stacks], rtol=1e-14)


@pytest.mark.parametrize("name", ["dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"])
def test_distances_of_bools_take_numbers(name):
    metric, u, v, w = getattr(distance, name), np.array([1, 0, 3, 2, 0]), np.array([2, 1, 0, 1, 0]), X[:5]
    for one, other in ((u, v), (u > 0, v > 0), (u * 0.5, v * 1.0)):
        check(lambda a, b: np.float64(metric(a, b)), one, other)
        check(lambda a, b, w: np.float64(metric(a, b, w)), one, other, w)


@pytest.mark.parametrize("name", INTEGERS)
def test_distances_of_bools_take_rows_of_numbers(name):
    """Of which SciPy's functions of rows make bools for some of them, and compute with the others."""
    rng = np.random.default_rng(1)  # whatever tests ran before: for some numbers SciPy divides by zero
    one, other, w = rng.integers(-2, 3, (6, 5)) * 1.5, rng.integers(-2, 3, (4, 5)) * 1.5, X[:5]
    check(lambda a, b: distance.cdist(a, b, name), one, other)
    check(lambda a, b, w: distance.cdist(a, b, name, w=w), one, other, w)
    check(lambda a: distance.pdist(a, name), one)
    check(lambda a, b: np.float64(getattr(distance, name)(a, b)), one[0], other[0])


@pytest.mark.parametrize("name", ["cityblock", "chebyshev", "euclidean", "sqeuclidean", "cosine", "correlation"])
def test_dtypes_of_distances(name):
    metric, u, v = getattr(distance, name), np.array([1, 0, 3, 2]), np.array([2, 1, 0, 1])
    for one, other in ((u, v), (u.astype(np.float32), v.astype(np.float32)), (u, v * 0.5), (u.astype(np.float32), v)):
        check(lambda a, b: np.asarray(metric(a, b)), one, other, rtol=1e-6)


def test_correlations_that_are_not_centred():
    check(lambda a, b: distance.correlation(a, b, None, False), X, X[::-1].copy())


def test_errors_of_distances():
    check_error(lambda d: distance.squareform(d), X[:4])
    check_error(lambda d: distance.squareform(d), S)
    check_error(lambda a: distance.cdist(a, a, "nothing"), A)
    check_error(lambda a: distance.cdist(a, a), X)
    check_error(lambda u, p: distance.minkowski(u, 2 * u, p), X, -0.5)
    with pytest.raises(TraceError, match="leave rng= out"):
        graph_jit(lambda a, seed: distance.directed_hausdorff(a, a, seed))(A, np.random.default_rng(0))
    with pytest.raises(ValueError, match="symmetric"):
        graph_jit(lambda d: distance.squareform(d))(np.triu(np.ones((3, 3))))


def test_distance_of_a_point_to_itself_has_a_derivative():
    found = grad(lambda a: np.sum(distance.cdist(a, a)))(A)
    assert np.isfinite(found).all()


# ---- together with transformations ----


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_canberra_of_two_vectors_leaves_out_what_is_no_number():
    """Of the rows of matrices it does not."""
    nan, inf = np.nan, np.inf
    for one, other in (([1.0, nan, 3.0], [2.0, 1.0, nan]), ([1.0, nan, 3.0], [inf, 0.0, 0.0]), ([nan] * 2, [1.0, 0.0])):
        u, v, w = np.array(one), np.array(other), np.arange(len(one)) + 0.5
        check(lambda u, v: distance.canberra(u, v), u, v)
        check(lambda u, v, w: distance.canberra(u, v, w), u, v, w)
        check(lambda u, v: distance.cdist(u[None], v[None], "canberra"), u, v)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_dtypes_of_distances_of_two_vectors(dtype):
    u, v = (np.array(each).astype(dtype) for each in ([1.0, 2.0, 4.0], [3.0, 1.0, 2.0]))
    check(lambda u, v: distance.jensenshannon(u, v), u, v, rtol=1e-5)
    check(lambda u, v: distance.mahalanobis(u, v, np.eye(3, dtype=dtype)), u, v, rtol=1e-5)
