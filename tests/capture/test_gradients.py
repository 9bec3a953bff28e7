"""Gradients of kernels with Python's loops and branches, against central differences of plain Python."""

import heapq
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


def gram_schmidt(a):
    n = a.shape[1]
    q, r, a = np.zeros_like(a), np.zeros((n, n)), a.copy()
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return r.sum()


def gauss_seidel(u):
    u, sweeps = u.copy(), 0
    while True:
        error = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                error = max(error, abs(new - u[i, j]))
                u[i, j] = new
        sweeps += 1
        if error < 1e-3 or sweeps > 30:
            return (u**2).sum()


def pivoted(a):
    u, sign = a.copy(), 1.0
    for k in range(len(a)):
        p = k
        for i in range(k + 1, len(a)):
            if abs(u[i, k]) > abs(u[p, k]):
                p = i
        if p != k:
            u[[k, p]] = u[[p, k]]
            sign = -sign
        for i in range(k + 1, len(a)):
            u[i, k:] -= u[i, k] / u[k, k] * u[k, k:]
    return sign * np.prod(np.diag(u))


def newton(a):
    x = a[0]
    for _ in range(50):
        step = (x**3 - a[1] * x - a[2]) / (3 * x * x - a[1])
        x = x - step
        if abs(step) < 1e-13:
            return x
    return x


def trajectory(x):
    rows = [x * 1]
    for _ in range(3):
        rows.append(np.sin(rows[-1]) * 1.5)
    total = 0.0
    for row in rows:
        total += (row * row).sum()
    return total


def kalman(z):
    x, p, likelihood = 0.0, 1.0, 0.0
    for v in z:
        p = p + 0.1
        k = p / (p + 0.5)
        likelihood -= 0.5 * ((v - x) ** 2 / (p + 0.5) + np.log(p + 0.5))
        x, p = x + k * (v - x), (1 - k) * p
    return likelihood


def heap_order(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v)
    total = 0.0
    for _ in range(len(x)):
        total = total * 0.5 + heapq.heappop(heap) ** 2
    return total


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
    (gram_schmidt, RNG.random((5, 3))),
    (gauss_seidel, RNG.random((5, 5))),
    (pivoted, RNG.random((4, 4))),
    (newton, np.array([2.0, 1.5, 3.0])),
    (trajectory, RNG.random(3)),
    (kalman, RNG.random(7)),
    (heap_order, RNG.random(6)),
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


@pytest.mark.parametrize(
    "function",
    [
        *(gram_schmidt, pivoted, trajectory),
        *(pytest.param(each, marks=pytest.mark.repeats) for each in (lu_solve, cholesky, gauss_seidel, kalman)),
    ],
)
def test_forward_mode_gives_the_same_gradients(function):
    x = next(x for each, x in KERNELS if each is function)
    forward = ng.graph_jit(ng.jacfwd(function))(x)
    np.testing.assert_allclose(forward, ng.graph_jit(ng.grad(function))(x), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("function", [pytest.param(gram_schmidt, marks=pytest.mark.repeats), trajectory])
def test_hessians_are_those_of_reverse_mode(function):
    x = next(x for each, x in KERNELS if each is function)
    hessian, reverse = ng.graph_jit(ng.hessian(function))(x), ng.graph_jit(ng.jacrev(ng.grad(function)))(x)
    np.testing.assert_allclose(hessian, reverse, rtol=1e-9, atol=1e-11)


def test_gradient_of_a_vector_whose_length_changes():
    def function(x):
        while len(x) > 2:
            x = x[x > x.mean()] * x[0]
        return x.sum()

    x = np.array([0.53, 1.21, 2.07, 0.78, 3.13, 1.59, 4.31, 0.17])
    step = 1e-6 * np.eye(len(x))
    expected = [(function(x + each) - function(x - each)) / 2e-6 for each in step]
    np.testing.assert_allclose(ng.graph_jit(ng.grad(function))(x), expected, rtol=1e-6, atol=1e-7)
