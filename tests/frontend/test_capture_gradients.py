"""Gradients of kernels with Python's loops and branches, against central differences of plain Python."""

import math

import numpy as np
import pytest

import numbagraph as ng

RNG = np.random.default_rng(17)


def stencil(u):
    for _ in range(100):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.2 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return np.sum(u * u)


def heat(u):
    n = u.shape[0]
    for _ in range(10):
        new = u.copy()
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new[i, j] = u[i, j] + 0.1 * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j])
        u = new
    return (u * u * u).sum()


def lu_solve(a):
    n = len(a)
    lu, x = a.copy(), np.arange(1.0, n + 1)
    for k in range(n):
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    for i in range(n):
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]
    return x @ x


def cholesky(a):
    n = len(a)
    low = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = 0.5 * (a[i, j] + a[j, i])
            for k in range(j):
                s -= low[i, k] * low[j, k]
            low[i, j] = math.sqrt(s) if i == j else s / low[j, j]
    total = 0.0
    for i in range(n):
        total += math.log(low[i, i]) + low[i, 0] ** 2
    return total


def thomas(d):
    n = len(d)
    c, x = np.zeros(n), d.copy()
    c[0], x[0] = -1 / (4 + d[0] ** 2), d[0] / (4 + d[0] ** 2)
    for i in range(1, n):
        m = 4 + d[i] ** 2 + c[i - 1]
        c[i] = -1 / m
        x[i] = (d[i] + x[i - 1]) / m
    for i in range(n - 2, -1, -1):
        x[i] -= c[i] * x[i + 1]
    return np.sum(x * x)


def rk4(y):
    def f(y):
        return np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])

    h = 0.05
    for _ in range(60):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y @ y


def adaptive(p):
    y, t, h = p[0], 0.0, 0.1
    while t < 2.0:
        h = min(h, 2.0 - t)
        k1 = -p[1] * y * t
        k2 = -p[1] * (y + h * k1) * (t + h)
        error = abs(h / 2 * (k2 - k1))
        if error < 1e-3:
            y = y + h / 2 * (k1 + k2)
            t += h
            h = h * 1.5
        else:
            h = h * 0.5
    return y * y


def kmeans_step(points):
    centres, total = points[:3].copy(), 0.0
    sums, counts = np.zeros_like(centres), np.zeros(3)
    for i in range(len(points)):
        best, nearest = np.inf, 0
        for j in range(3):
            d = 0.0
            for k in range(points.shape[1]):
                d += (points[i, k] - centres[j, k]) ** 2
            if d < best:
                best, nearest = d, j
        sums[nearest] += points[i]
        counts[nearest] += 1
        total += best
    for j in range(3):
        total += np.sum((sums[j] / counts[j]) ** 2)
    return total


def alignment(scores):
    n, m = scores.shape
    best = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best[i, j] = max(best[i - 1, j - 1] + scores[i - 1, j - 1], best[i - 1, j] - 0.3, best[i, j - 1] - 0.4)
    return best[n, m]


def logistic(p):
    x, total = p[1], 0.0
    for _ in range(30):
        x = p[0] * x * (1 - x)
        total += x * x
    return total


def spd(n):
    a = RNG.random((n, n))
    return a @ a.T + n * np.eye(n)


KERNELS = [
    (stencil, RNG.random(12)),
    (heat, RNG.random((5, 5))),
    (lu_solve, RNG.random((4, 4)) + 4 * np.eye(4)),
    (cholesky, spd(4)),
    (thomas, RNG.random(7)),
    (rk4, np.array([1.0, 0.5])),
    (adaptive, np.array([1.3, 0.8])),
    (kmeans_step, RNG.random((9, 2))),
    (alignment, RNG.random((4, 5))),
    (logistic, np.array([2.9, 0.3])),
]


def central_differences(function, x, step=1e-6):
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        found[place] = (function(up) - function(down)) / (2 * step)
    return found


@pytest.mark.parametrize(("function", "x"), KERNELS, ids=[each.__name__ for each, _ in KERNELS])
def test_gradients_of_loops_are_those_of_differences(function, x):
    value, gradient = ng.graph_jit(ng.value_and_grad(function))(x)
    np.testing.assert_allclose(value, function(x.copy()), rtol=1e-12)
    np.testing.assert_allclose(gradient, central_differences(function, x), rtol=1e-6, atol=1e-7)
