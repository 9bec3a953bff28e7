"""Sorting, searching, tables, and what else textbooks have."""

import math

import numpy as np
from tests.support.programs.declared import case

R = np.random.default_rng(11)
X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
I = np.array([3, 1, 2, 0, 5, 4, 2])
A = R.random((4, 4)) + 4 * np.eye(4)
S = A + A.T
B = R.random(4)
W = np.array([[0, 3, np.inf, 7.0], [8, 0, 2, np.inf], [5, np.inf, 0, 1], [2, np.inf, np.inf, 0]])


@case((np.array([[0, 3, 3], [1, 7, 2]]), 8))
def equalise(image, levels):
    hist = np.zeros(levels, dtype=np.int64)
    for v in image.ravel():
        hist[v] += 1
    total, lut = 0, np.zeros(levels)
    for k in range(levels):
        total += hist[k]
        lut[k] = round((levels - 1) * total / image.size)
    out = np.empty_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = lut[image[i, j]]
    return out


@case((np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0]]), 0, 0, 5))
def flood_fill(image, r, c, colour):
    n, m = image.shape
    old = image[r, c]
    stack = np.zeros((4 * n * m + 1, 2), dtype=np.int64)
    stack[0] = r, c
    top = 1
    while top > 0:
        top -= 1
        i, j = stack[top]
        if i < 0 or i >= n or j < 0 or j >= m or image[i, j] != old:
            continue
        image[i, j] = colour
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            stack[top] = i + di, j + dj
            top += 1
    return image


@case((R.random((8, 2)), R.random(2), 3))
def k_nearest(points, q, k):
    d = np.zeros(len(points))
    for i, p in enumerate(points):
        d[i] = math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q)))
    chosen = []
    for _ in range(k):
        j = np.argmin(d)
        chosen.append(j)
        d[j] = np.inf
    return chosen


@case((R.random(8) + 1j * R.random(8),))
def fft_recursive(x):
    def fft(v, n):
        if n == 1:
            return v
        even, odd = fft(v[0::2], n // 2), fft(v[1::2], n // 2)
        t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + t, even - t])

    if x[0].real > 1e9:
        return x
    return fft(x, 8)


@case((R.random(8) + 1j * R.random(8),))
def fft_iterative(x):
    n = len(x)
    a = x.copy()
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    size = 2
    while size <= n:
        w = np.exp(-2j * np.pi / size)
        for start in range(0, n, size):
            f = 1 + 0j
            for k in range(size // 2):
                u = a[start + k]
                t = a[start + k + size // 2] * f
                a[start + k] = u + t
                a[start + k + size // 2] = u - t
                f *= w
        size *= 2
    return a


@case((X, np.array([1.0, 0.5, 0.25])))
def convolution(x, k):
    out = np.zeros(len(x) + len(k) - 1)
    for i, a in enumerate(x):
        for j, b in enumerate(k):
            out[i + j] += a * b
    return out


@case((np.array([10, 9, 2, 5, 3, 7, 101, 18]),))
def longest_increasing(x):
    n = len(x)
    best = np.ones(n, dtype=int)
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return max(best)


@case((np.array([-2, 1, -3, 4, -1, 2, 1, -5, 4]),))
def kadane(x):
    best = cur = x[0]
    lo = hi = s = 0
    for i in range(1, len(x)):
        if cur < 0:
            cur, s = x[i], i
        else:
            cur += x[i]
        if cur > best:
            best, lo, hi = cur, s, i
    return best, lo, hi


@case((48, 36), (17, 5), (0, 5))
def extended_gcd(a, b):
    x0, x1, y0, y1 = 1, 0, 0, 1
    while b:
        q = a // b
        a, b = b, a % b
        x0, x1 = x1, x0 - q * x1
        y0, y1 = y1, y0 - q * y1
    return a, x0, y0


@case((3, 200, 13), (2, 10, 1000))
def modpow(b, e, m):
    r = 1
    b %= m
    while e > 0:
        if e & 1:
            r = r * b % m
        b = b * b % m
        e >>= 1
    return r


@case((0.0, np.array([1.0, 0.0]), 0.1, 20))
def rk4(t, y, h, n):
    def f(t, y):
        return np.array([y[1], -y[0]])

    path = [y]
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        path.append(y)
    return np.array(path), t


@case((1.0, 0.0, 5.0, 1e-6))
def rkf_adaptive(y, t, end, tol):
    h = 0.1
    steps = 0
    while t < end:
        h = min(h, end - t)
        k1 = -y * t
        k2 = -(y + h * k1) * (t + h)
        low, high = y + h * k1, y + h / 2 * (k1 + k2)
        err = abs(high - low)
        if err < tol:
            t += h
            y = high
            steps += 1
        h *= min(2.0, max(0.2, 0.9 * (tol / err) ** 0.5)) if err > 0 else 2.0
    return y, steps


@case((R.random((10, 2)), 2, 5))
def kmeans(points, k, steps):
    centres = points[:k].copy()
    labels = np.zeros(len(points), dtype=int)
    for _ in range(steps):
        for i in range(len(points)):
            best = None
            for j in range(k):
                d = np.sum((points[i] - centres[j]) ** 2)
                if best is None or d < best:
                    best, labels[i] = d, j
        for j in range(k):
            mask = labels == j
            if mask.any():
                centres[j] = points[mask].mean(axis=0)
    return centres, labels


@case((A, B))
def gauss_pivot(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if a[p, k] == 0:
            raise np.linalg.LinAlgError("singular")
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@case((S + 8 * np.eye(4),), (-np.eye(3),))
def cholesky(a):
    n = len(a)
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i][j] - sum(l[i][k] * l[j][k] for k in range(j))
            if i == j:
                if s <= 0:
                    raise ValueError(f"not positive definite: {s} at {i}")
                l[i][j] = math.sqrt(s)
            else:
                l[i][j] = s / l[j][j]
    return l


@case((np.full(5, -1.0), np.full(5, 4.0), np.full(5, -1.0), X))
def thomas(a, b, c, d):
    n = len(d)
    c, d = c.copy(), d.copy()
    c[0] /= b[0]
    d[0] /= b[0]
    for i in range(1, n):
        m = b[i] - a[i] * c[i - 1]
        c[i] /= m
        d[i] = (d[i] - a[i] * d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


@case((R.random((5, 5)), 0.2, 3))
def adi(u, r, steps):
    n = len(u)

    def solve(d):
        c, x = np.zeros(n), np.zeros(n)
        c[0], x[0] = -r / (1 + 2 * r), d[0] / (1 + 2 * r)
        for i in range(1, n):
            m = 1 + 2 * r + r * c[i - 1]
            c[i] = -r / m
            x[i] = (d[i] + r * x[i - 1]) / m
        for i in range(n - 2, -1, -1):
            x[i] -= c[i] * x[i + 1]
        return x

    for _ in range(steps):
        for i in range(n):
            u[i, :] = solve(u[i, :])
        for j in range(n):
            u[:, j] = solve(u[:, j])
    return u


@case((np.array([5, 2, 9, 1]),))
def bubble(x):
    x = list(x)
    swapped = True
    while swapped:
        swapped = False
        for i in range(1, len(x)):
            if x[i - 1] > x[i]:
                x[i - 1], x[i] = x[i], x[i - 1]
                swapped = True
    return x


@case((np.arange(10) * 3, 12), (np.arange(10) * 3, 13))
def binary_search(x, t):
    lo, hi = 0, len(x) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if x[mid] == t:
            return mid
        if x[mid] < t:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


@case((np.array([3, 1, 2, 1]), 4))
def counting_sort(x, k):
    counts = np.zeros(k, dtype=int)
    for v in x:
        counts[v] += 1
    out = np.empty_like(x)
    pos = 0
    for v in range(k):
        for _ in range(counts[v]):
            out[pos] = v
            pos += 1
    return out


@case((np.array([7, 3, 8, 1, 9]),))
def heap_sort(x):
    a = x.copy()
    n = len(a)

    def sift(a, start, end):
        root = start
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                return
            a[root], a[child] = a[child], a[root]
            root = child

    for s in range(n // 2 - 1, -1, -1):
        sift(a, s, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift(a, 0, end)
    return a


@case(
    (20, 3.7, 0.3),
)
def logistic(n, r, x):
    orbit = np.empty(n)
    for i in range(n):
        x = r * x * (1 - x)
        orbit[i] = x
    return orbit


@case((np.array([3.0, 1.0]),))
def nelder_1d(x0):
    x, step, it = x0.copy(), 1.0, 0

    def f(p):
        return (p[0] - 1) ** 2 + 10 * (p[1] + 2) ** 2

    best = f(x)
    while step > 1e-3:
        improved = False
        for d in range(len(x)):
            for sign in (1, -1):
                trial = x.copy()
                trial[d] += sign * step
                value = f(trial)
                if value < best:
                    x, best, improved = trial, value, True
        if not improved:
            step /= 2
        it += 1
    return x, best, it


@case((-0.5, 0.6, 100), (0.3, 0.0, 10), (1.0, 1.0, 5))
def mandelbrot(re, im, n):
    z, c = 0j, complex(re, im)
    for k in range(n):
        z = z * z + c
        if abs(z) > 2:
            return k
    return n


@case((np.array([1.0, 2, 3, 4, 5, 6]), 3))
def moving_median(x, k):
    out = []
    for i in range(len(x) - k + 1):
        w = sorted(x[i : i + k])
        out.append(w[k // 2])
    return np.array(out)


@case((np.array([2, 7, 11, 15]), 9), (np.array([2, 7, 11, 15]), 10))
def two_sum(x, target):
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if x[i] + x[j] == target:
                return i, j
    return -1, -1


@case((X, 3), (X, 1))
def downsample(x, n):
    out = np.zeros((len(x) + n - 1) // n)
    for i in range(len(out)):
        chunk = x[i * n : (i + 1) * n]
        out[i] = chunk.mean()
    return out


@case((np.array([0.1, 0.5, 0.2]), 0.3))
def weighted_choice(p, u):
    total = sum(p)
    acc = 0.0
    for i, v in enumerate(p):
        acc += v / total
        if u < acc:
            return i
    return len(p) - 1


@case((np.array([0b1011, 7, 0], dtype=np.uint8),), (np.arange(9, dtype=np.uint8),))
def crc8(data):
    crc = 0
    for byte in data:
        crc ^= int(byte)
        for _ in range(8):
            crc = ((crc << 1) ^ 0x07) & 0xFF if crc & 0x80 else (crc << 1) & 0xFF
    return crc


@case((42, 5))
def lcg(seed, n):
    out = []
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2**31
        out.append(seed / 2**31)
    return out


@case((np.array([[1, 2], [3, 4]]), 5), (np.array([[1, 2], [3, 4]]), 0))
def matrix_power(m, n):
    r = np.eye(2, dtype=int)
    while n:
        if n % 2:
            r = r @ m
        m = m @ m
        n //= 2
    return r


@case((X, 2.0))
def golden_section(x, tol):
    g = (math.sqrt(5) - 1) / 2
    a, b = min(x), max(x)
    c, d = b - g * (b - a), a + g * (b - a)
    f = lambda t: (t - 1.5) ** 2
    while abs(b - a) > 1e-6 * tol:
        if f(c) < f(d):
            b = d
        else:
            a = c
        c, d = b - g * (b - a), a + g * (b - a)
    return (a + b) / 2
