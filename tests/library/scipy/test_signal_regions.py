"""Functions of `scipy.signal` and `scipy.cluster.vq` in loops and branches of the caller."""

import numpy as np
import pytest
from scipy import signal
from scipy.cluster import vq

from numbagraph import grad, scan
from tests.support.scipy_checks import check

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)
POINTS = RNG.normal(size=(12, 2))


def test_loops():
    def tuned(w):
        total = 0.0
        for _ in range(3):
            b, a = signal.butter(2, w)
            total += np.sum(signal.lfilter(b, a, X) ** 2)
            w = w * 0.9
        return total

    def powers(x):
        while np.sum(signal.welch(x, nperseg=16)[1]) > 1e-2:
            x = x * 0.5
        return x

    check(tuned, 0.3)
    check(powers, X)
    slope = (tuned(0.3 + 1e-6) - tuned(0.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(grad(tuned)(0.3), slope, 1e-6)


@pytest.mark.filterwarnings("ignore:One of the clusters is empty")
def test_branches():
    def chosen(x):
        if x[0] > 0:
            found = np.sum(signal.stft(x, nperseg=16)[2].real) + signal.find_peaks(x, prominence=0.5)[0].size
        else:
            found = np.sum(signal.step(([1.0], [1.0, np.abs(x[0]), 1.0]), N=20)[1])
        return found

    def nearest(x):
        if x[0, 0] > 0:
            return np.sum(vq.kmeans2(x, POINTS[:3], 2)[0])
        return np.sum(vq.vq(x, POINTS[:2])[1])

    for x in (X, -X):
        check(chosen, x)
    for points in (POINTS, -POINTS):
        check(nearest, points)


def test_rows_one_after_the_other():
    rows = X.reshape(3, 20)

    def step(total, row):
        return total + np.sum(signal.periodogram(row)[1]), signal.firwin(5, 0.3 + row[0] ** 2 / 99)

    found = scan(step, 0.0, rows)
    expected = sum(np.sum(signal.periodogram(row)[1]) for row in rows)
    np.testing.assert_allclose(found[0], expected)
    np.testing.assert_allclose(found[1], [signal.firwin(5, 0.3 + row[0] ** 2 / 99) for row in rows])
