"""Functions that return from inside of loops."""

import math

import numpy as np

from tests.support.programs.declared import case

U = np.arange(20.0).reshape(4, 5) ** 1.5 % 3
A = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, -1.0], [0.25, -1.0, 3.0]])
B = np.array([1.0, 2.0, -1.0])
X = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0])


@case((U, 1e-3, 100), (U[:, :3], 1e-6, 200), (U, 1e-9, 3))
def gauss_seidel(u, tolerance, most):
    sweeps = 0
    while True:
        error = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                error = max(error, abs(new - u[i, j]))
                u[i, j] = new
        sweeps += 1
        if error < tolerance:
            return u, sweeps
        if sweeps >= most:
            raise RuntimeError(f"no convergence after {sweeps} sweeps")


@case((A, B, 1e-10, 100), (A, B, 1e-10, 2))
def relaxed(a, b, tolerance, most):
    n = len(b)
    x = np.zeros(n)
    for k in range(most):
        old = x.copy()
        for i in range(n):
            s = 0.0
            for j in range(n):
                if j != i:
                    s += a[i, j] * x[j]
            x[i] = (b[i] - s) / a[i, i]
        if np.abs(x - old).max() < tolerance:
            return {"x": x, "steps": k + 1}
    return {"x": x, "steps": most}


@case((A, B, 1e-10, 100), (A, B, 1e-10, 2))
def rebound(a, b, tolerance, most):
    x = np.zeros(len(b))
    for k in range(most):
        new = np.empty(len(b))
        for i in range(len(b)):
            new[i] = (b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i]
        if np.abs(new - x).max() < tolerance:
            return new, k
        x = new
    raise ValueError("no convergence")


@case((U, 3), (U, 6))
def exchanged(u, n):
    u = u.copy()
    v = np.zeros_like(u)
    for k in range(100):
        for i in range(1, u.shape[0]):
            v[i] = 0.5 * (u[i] + u[i - 1])
        u, v = v, u
        if k == n:
            return u, v, u[1:-1].sum()


@case((X, 4.0), (X, 8.5), (X, 0.5), (X, 100.0))
def parts(x, limit):
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        y[i] = math.sqrt(x[i])
        total += x[i]
        if total > limit and i % 2:
            return y[1:], -i, y[i - 1]
        if total > limit:
            return y[:-1], i, y[0]
    return y[:0:-1], -1, x[0]


@case((X, 4.0), (X, 5.0), (X, 14.0), (X, 100.0))
def from_nests(x, limit):
    count = np.zeros(len(x), dtype=np.int64)
    for i in range(len(x)):
        for j in range(i):
            count[j] += 1
            if x[i] * x[j] == limit:
                return i, j, count
            if x[i] + x[j] == limit:
                return None
        count[i] -= 1
        if count[i] > 3:
            return i, i + 1, count[::-1]
    else:
        count[0] = 7
    return None


@case((X, 4.0))
def inside_of_try(x, limit):
    y = np.zeros(len(x))
    try:
        for i in range(len(x)):
            y[i] = x[i] * 2
            if y[i] > limit:
                return y
        raise ValueError
    except ValueError:
        return -y


@case((X, 4.0), (X, 100.0))
def around_try(x, limit):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * 2
        try:
            if y[i] > limit:
                return y[i], i
        finally:
            y[0] += 1.0
    return y[0], 0


class Relaxation:
    def __init__(self, u):
        self.u = u
        self.sweeps = 0

    def step(self):
        for i in range(1, len(self.u) - 1):
            self.u[i] = 0.5 * (self.u[i - 1] + self.u[i + 1])
        self.sweeps += 1

    def solve(self, tolerance):
        while True:
            before = self.u.copy()
            self.step()
            if np.abs(self.u - before).max() < tolerance:
                return self.u, self.sweeps


@case((X, 1e-2), (X[:3], 1e-6))
def of_objects(x, tolerance):
    return Relaxation(x.copy()).solve(tolerance)


@case((X, 3), (X, 20))
def unassigned_before(x, n):
    for i in range(len(x)):
        if i == n:
            return y  # pyright: ignore[reportPossiblyUnboundVariable]
        if x[i] > 2 and i > 0:
            y = x[i]
    return x[0]


@case((X, 2), (X, 0))
def unassigned(x, n):
    for i in range(len(x)):
        if i == n:
            return y  # pyright: ignore[reportPossiblyUnboundVariable]
        if x[i] > 100:
            y = x[i]
    return x[0]


def found(x, limit):
    best = []
    for v in x:
        best.append(v)
        if v > limit:
            return np.array(best)
    return np.array(best)


@case((X, 4.5), (X, 100.0))
def appended_before(x, limit):
    return found(x, limit) * 2


def halves(x, limit):
    for v in x:
        for k in range(2):
            if v > limit:
                return
            yield v * k


@case((X, 4.5), (X, 100.0))
def generators(x, limit):
    total = 0.0
    for v in halves(x, limit):
        total = total / 2 + v
        if total > 4.0:
            return v
    return total


@case((X, 4.5), (X, 3.0))
def several_alike(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return False
        for j in range(i):
            if x[i] + x[j] == limit:
                return False
            if x[j] - x[i] > limit:
                return True
    return True
