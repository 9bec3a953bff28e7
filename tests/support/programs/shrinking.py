"""Programs whose arrays become longer or shorter from step to step, or differ between paths that numbers decide."""

import numpy as np

from tests.support.programs.declared import case

R = np.random.default_rng(3)
Z = R.random(8) + 1j * R.random(8)


@case((Z,), (Z[:4],), (Z[:1],))
def fft_of_shrinking_halves(x):
    n = len(x)
    y = x.copy().reshape(n, 1)
    half = n // 2
    while half >= 1:
        w = np.exp(-2j * np.pi * np.arange(half) / (2 * half))[:, None]
        a, b = y[:half], y[half : 2 * half]
        y = np.concatenate([a + b, (a - b) * w], axis=1)
        half //= 2
    return y.ravel()


@case((2, 3, Z), (2, 2, Z[:4]))
def fft_by_the_radix(r, k, x):
    i, j = np.mgrid[0:r, 0:r]
    matrix = np.exp(-2j * np.pi * i * j / r)
    y = x.copy()
    ii, jj = np.mgrid[0:r, 0 : r**k]
    for step in range(k):
        rest = r ** (k - step - 1)
        parts = np.transpose(np.reshape(y, (r**step, r, rest)), axes=(1, 0, 2))
        factors = np.exp(-2j * np.pi * ii[:, : r**step] * jj[:, : r**step] / r ** (step + 1))
        factors = np.repeat(np.reshape(factors, (r, r**step, 1)), rest, axis=2)
        y[:] = np.reshape(matrix @ np.reshape(parts * factors, (r, r ** (k - 1))), (r**k,))
    return y


@case((R.random(8),), (R.random(5),), (R.random(1),))
def sum_by_halves(x):
    y = x
    while len(y) > 1:
        if len(y) % 2:
            y = np.append(y, 0.0)
        y = y[::2] + y[1::2]
    return y[0]


@case((R.random(8), 3), (R.random(9), 2))
def wavelets(x, levels):
    details, a = [], x
    for _ in range(levels):
        m = len(a) // 2
        details.append((a[0 : 2 * m : 2] - a[1 : 2 * m : 2]) / 2)
        a = (a[0 : 2 * m : 2] + a[1 : 2 * m : 2]) / 2
    return a, details


@case((R.random(4), 3), (R.random(3), 0))
def power_of_a_polynomial(p, n):
    q = np.array([1.0])
    for _ in range(n):
        q = np.convolve(q, p)
    return q


@case((2, 3, R.random((2, 3))), (3, 3, R.random((3, 3))), (3, 2, R.random((3, 2))))
def solved_or_inverted(n, m, y):
    total = np.zeros((n, m))
    for z in (1.0, 2.0, 3.0):
        a = np.eye(n) * z
        if n == m:
            x = np.linalg.inv(a)
        else:
            x = np.linalg.solve(a, y)
        if z > 1.5:
            x = -x
        total += x
    return total


@case((np.arange(5.0),), (np.zeros(1),), (np.zeros(0),))
def parts_of_a_list_of_tuples(x):
    held = []
    for i in range(len(x)):
        held.append((i, x[i]))
        if len(held) > 2 and x[i] < 2:
            held.pop()
    back = held[::-1]
    back.append((-1, x.sum()))
    return held[1:], held[-2:], held[1:][::-1], back, held


@case((np.array([0, 1, 2, 2, 3]), np.array([1, 2, 3])), (np.array([1]), np.array([2])), (np.zeros(0, int),) * 2)
def local_alignment(a, b):
    n, m = len(a), len(b)
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    best, place = 0, (0, 0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = score[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
            score[i, j] = max(0, match, score[i - 1, j] - 2, score[i, j - 1] - 2)
            if score[i, j] > best:
                best, place = score[i, j], (i, j)
    i, j = place
    path = []
    while i > 0 and j > 0 and score[i, j] > 0:
        path.append((i - 1, j - 1))
        match = score[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
        if score[i, j] == match:
            i, j = i - 1, j - 1
        elif score[i, j] == score[i - 1, j] - 2:
            i -= 1
        else:
            j -= 1
    return score, path[::-1]
