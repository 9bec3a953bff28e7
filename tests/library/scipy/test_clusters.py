"""`scipy.cluster.vq` in compiled functions: codes, means, draws, errors and derivatives are SciPy's."""

import numpy as np
import pytest
from scipy.cluster import vq

from numbagraph import grad, graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
X = np.concatenate([centre + 0.5 * RNG.normal(size=(12, 2)) for centre in CENTRES])
BOOK = CENTRES + 0.3
LINE = X[:, 0] + X[:, 1]


def test_codes():
    for function in (vq.vq, vq.py_vq):
        check(lambda x, b, f=function: f(x, b), X, BOOK, again=[(X[:1], BOOK[:1])])
        check(lambda x, b, f=function: f(x, b), LINE, BOOK[:, 0])
        check(lambda x, f=function: f(x, [[1, 2], [3, 4]]), np.arange(8).reshape(4, 2))
    check(lambda x, b: vq.vq(x, b), X.astype(np.float32), BOOK.astype(np.float32), rtol=1e-5)
    check(lambda x: vq.whiten(x), X)
    check_error(lambda x: vq.vq(x, x[0]), X)
    check_error(lambda x: vq.vq(x, x[:, :1]), X)
    check_error(lambda x: vq.whiten(x), X * np.nan)
    check_slope(lambda x: vq.vq(x, BOOK)[1], X)
    check_slope(lambda b: vq.vq(X, b)[1], BOOK)
    check_slope(lambda x: vq.whiten(x), X)


def test_means_from_given_points():
    check(lambda x, b: vq.kmeans(x, b), X, BOOK)
    check(lambda x, b: vq.kmeans(x, b), LINE, BOOK[:, 0])
    check(lambda x, b: vq.kmeans(x, b, thresh=10.0), X, np.concatenate([BOOK, [[90.0, 90.0]]]))
    check(lambda x, b: vq.kmeans2(x, b, 3, minit="matrix"), X, BOOK)
    check(lambda x, b: vq.kmeans2(x, b, 2), LINE, BOOK[:, 0])
    check(lambda x, b: vq.kmeans2(x, b), X.astype(np.float32), BOOK.astype(np.float32), rtol=1e-5)
    check_slope(lambda x: vq.kmeans(x, BOOK)[0], X)
    check_slope(lambda x: vq.kmeans2(x, BOOK)[0], X)
    check_slope(lambda x: vq.kmeans2(x, BOOK + x[0], 1)[0], X)


@pytest.mark.filterwarnings("ignore:One of the clusters is empty")
@pytest.mark.parametrize("minit", ["random", "points", "++"])
def test_draws_are_those_of_scipy(minit):
    for seed in (1, 2):
        expected = vq.kmeans2(X, 3, 4, minit=minit, rng=seed)
        found = graph_jit(lambda x, s: vq.kmeans2(x, 3, 4, minit=minit, rng=s))(X, seed)
        np.testing.assert_allclose(found[0], expected[0], 1e-9)
        np.testing.assert_array_equal(found[1], expected[1])
    generator, other = np.random.default_rng(5), np.random.default_rng(5)
    found = graph_jit(lambda x, g: vq.kmeans2(x, 2, minit=minit, rng=g))(LINE, generator)
    expected = vq.kmeans2(LINE, 2, minit=minit, rng=other)
    np.testing.assert_allclose(found[0], expected[0], 1e-9)
    assert generator.random() == other.random()


@pytest.mark.filterwarnings("ignore:One of the clusters is empty")
def test_wide_data_and_several_searches():
    wide = RNG.normal(size=(4, 6))
    expected = vq.kmeans2(wide, 2, minit="random", rng=3)
    np.testing.assert_allclose(graph_jit(lambda x: vq.kmeans2(x, 2, minit="random", rng=3))(wide)[0], expected[0], 1e-8)
    for count in (2, 5):
        check(lambda x, n=count: vq.kmeans(x, n, iter=6, rng=7), X)
    check(lambda x: vq.kmeans(x, 3, rng=np.random.default_rng(2)), LINE)
    slope = graph_jit(lambda x: grad(lambda y: vq.kmeans(y, 3, rng=1)[1])(x))(X)
    step = 1e-6 * np.cos(np.arange(72.0)).reshape(36, 2)
    expected = (vq.kmeans(X + step, 3, rng=1)[1] - vq.kmeans(X - step, 3, rng=1)[1]) / 2
    np.testing.assert_allclose(np.sum(slope * step), expected, 1e-4)


def test_errors():
    check_error(lambda x: vq.kmeans(x, 3, iter=0, rng=1), X)
    check_error(lambda x: vq.kmeans(x, 0, rng=1), X)
    check_error(lambda x: vq.kmeans2(x, 3, iter=0, rng=1), X)
    check_error(lambda x: vq.kmeans2(x, 3, minit="none", rng=1), X)
    check_error(lambda x: vq.kmeans2(x, 3, missing="none", rng=1), X)
    check_error(lambda x: vq.kmeans2(x, BOOK[:, :1]), X)
    check_error(lambda x: vq.kmeans2(x, BOOK[0], minit="matrix"), X)
    with pytest.raises(TypeError, match="float or double"):
        graph_jit(lambda x: vq.kmeans2(x, 2, rng=1))(np.arange(9))
    with pytest.raises(TypeError, match="kmeans2 without a seed"):
        graph_jit(lambda x: vq.kmeans2(x, 2))(X)
    with pytest.raises(vq.ClusterError, match="One of the clusters is empty"):
        graph_jit(lambda x, b: vq.kmeans2(x, b, missing="raise"))(X, np.concatenate([BOOK, [[90.0, 90.0]]]))


def test_batches_and_loops():
    batch = np.stack([X, X[::-1] * 1.5])
    found = vmap(lambda x: vq.kmeans2(x, BOOK)[0])(batch)
    np.testing.assert_allclose(found, [vq.kmeans2(each, BOOK)[0] for each in batch], 1e-9)

    def steps(x, book):
        for _ in range(3):
            book = vq.kmeans2(x, book, 1)[0] * 1.01
        return book

    check(steps, X, BOOK)
