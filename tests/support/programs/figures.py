"""Numerical methods and simulations of textbooks, in Python's loops."""

import math

import numpy as np

from tests.support.programs.declared import case

Y = np.random.default_rng(1).normal(size=20)
G = (np.random.default_rng(2).random((6, 6)) < 0.4).astype(int)
T = np.random.default_rng(3).random((4, 6)) + np.array([[0.0], [3.0], [0.0], [0.0]])
Ag, bg = np.random.default_rng(4).normal(size=(4, 4)), np.array([1.0, -2.0, 0.5, 3.0])
gg = np.random.default_rng


@case((Y, 30, gg(1)), (Y, 0, gg(1)), (Y[:2], 10, gg(2)))
def anneal(x, steps, gen):
    cur = x.copy()
    e = (cur**2).sum()
    best = e
    t = 1.0
    for _ in range(steps):
        i = gen.integers(0, len(cur))
        new = cur.copy()
        new[i] += gen.normal()
        en = (new**2).sum()
        if en < e or gen.random() < math.exp(-(en - e) / t):
            cur, e = (new, en)
            best = min(best, e)
        t *= 0.95
    return best


@case((Y[:16],), (Y[:1],), (Y[:2],))
def fft_iter(x):
    n = len(x)
    a = x.astype(complex)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            a[i], a[j] = (a[j], a[i])
    length = 2
    while length <= n:
        ang = -2 * math.pi / length
        wl = complex(math.cos(ang), math.sin(ang))
        for i in range(0, n, length):
            w = 1 + 0j
            for k in range(length // 2):
                u = a[i + k]
                v = a[i + k + length // 2] * w
                a[i + k] = u + v
                a[i + k + length // 2] = u - v
                w *= wl
        length <<= 1
    return a


@case((G, 3), (G, 0), (G[:3, :3], 1))
def life(g, n):
    for _ in range(n):
        c = np.zeros(g.shape, int)
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di or dj:
                    c += np.roll(np.roll(g, di, 0), dj, 1)
        g = ((c == 3) | (g == 1) & (c == 2)).astype(int)
    return g


@case((Y[:4], Y[4:7], 20), (Y[:1], Y[:1], 5), (Y[:0], Y[:1], 3))
def newton_fractal(xs, ys, it):
    out = np.zeros((len(ys), len(xs)), int)
    roots = [complex(1, 0), complex(-0.5, math.sqrt(3) / 2), complex(-0.5, -math.sqrt(3) / 2)]
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            z = complex(x, y)
            for k in range(it):
                if abs(z) < 1e-12:
                    break
                z = z - (z**3 - 1) / (3 * z**2)
            for r in range(3):
                if abs(z - roots[r]) < 0.001:
                    out[i, j] = r + 1
    return out


@case((T[0], T[1], T[2], T[3]), (T[0, :2], T[1, :2], T[2, :2], T[3, :2]))
def thomas(a, b, c, d):
    n = len(d)
    cp = [0] * n
    dp = [0] * n
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m if i < n - 1 else 0
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = [0] * n
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.array(x)


@case((Ag, bg), (Ag * 0, bg), (Ag[:1, :1], bg[:1]))
def gauss_jordan(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for c in range(n):
        p = c
        for r in range(c + 1, n):
            if abs(A[r, c]) > abs(A[p, c]):
                p = r
        if A[p, c] == 0:
            raise ValueError("singular")
        if p != c:
            A[[c, p]] = A[[p, c]]
            b[c], b[p] = (b[p], b[c])
        piv = A[c, c]
        A[c] /= piv
        b[c] /= piv
        for r in range(n):
            if r != c:
                f = A[r, c]
                A[r] -= f * A[c]
                b[r] -= f * b[c]
    return b


@case((0.0, 1.0, 4), (0.0, 2.0, 0), (1.0, 3.0, 2))
def romberg(a, b, n):
    R = [[0.0] * (n + 1) for _ in range(n + 1)]
    h = b - a
    R[0][0] = 0.5 * h * (math.sin(a) + math.sin(b))
    for i in range(1, n + 1):
        h /= 2
        s = 0.0
        for k in range(1, 2**i, 2):
            s += math.sin(a + k * h)
        R[i][0] = 0.5 * R[i - 1][0] + h * s
        for j in range(1, i + 1):
            R[i][j] = R[i][j - 1] + (R[i][j - 1] - R[i - 1][j - 1]) / (4**j - 1)
    return R[n][n]


@case((Y, 2), (Y[:1], 0), (Y[:5], 1))
def goertzel(x, k):
    w = 2 * math.pi * k / len(x)
    c = 2 * math.cos(w)
    s1 = s2 = 0.0
    for v in x:
        s1, s2 = (v + c * s1 - s2, s1)
    return s1 * s1 + s2 * s2 - c * s1 * s2


@case((Y, 3, gg(1)), (Y, 20, gg(1)), (Y, 1, gg(2)))
def reservoir(x, k, gen):
    res = [x[i] for i in range(k)]
    for i in range(k, len(x)):
        j = gen.integers(0, i + 1)
        if j < k:
            res[j] = x[i]
    return np.array(res)


@case((30,), (2,), (1,))
def collatz_longest(n):
    best = 0
    arg = 0
    for s in range(1, n):
        k = s
        c = 0
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            c += 1
        if c > best:
            best, arg = (c, s)
    return (arg, best)


@case((30,), (6,), (2,))
def perfect(n):
    out = []
    for k in range(2, n):
        s = 1
        d = 2
        while d * d <= k:
            if k % d == 0:
                s += d
                if d != k // d:
                    s += k // d
            d += 1
        if s == k:
            out.append(k)
    return out


@case((240, 46), (7, 0), (0, 5))
def egcd(a, b):
    x0, x1, y0, y1 = (1, 0, 0, 1)
    while b:
        q, a, b = (a // b, b, a % b)
        x0, x1 = (x1, x0 - q * x1)
        y0, y1 = (y1, y0 - q * y1)
    return (a, x0, y0)


@case((360,), (97,), (1,))
def factor(n):
    f = []
    p = 2
    while p * p <= n:
        while n % p == 0:
            f.append(p)
            n //= p
        p += 1
    if n > 1:
        f.append(n)
    return f


@case((0.8, 1.0, 20, gg(1)), (0.8, 1.0, 1, gg(1)))
def simple_queue(lam, mu, n, gen):
    t = 0.0
    free = 0.0
    total = 0.0
    for _ in range(n):
        t += gen.exponential(1 / lam)
        start = max(t, free)
        total += start - t
        free = start + gen.exponential(1 / mu)
    return total / n


@case((1.0, 0.0, 1.0, 0.1, 0.001), (1.0, 0.0, 0.0, 0.1, 0.001), (2.0, 0.0, 0.5, 1.0, 0.01))
def rk45(y, t, t1, h, tol):
    ts = [t]
    ys = [y]
    while t < t1:
        h = min(h, t1 - t)
        k1 = -y * t
        k2 = -(y + h * k1) * (t + h)
        e = abs(h * (k2 - k1) / 2)
        if e < tol:
            t += h
            y += h * (k1 + k2) / 2
            ts.append(t)
            ys.append(y)
            h *= 1.5
        else:
            h *= 0.5
    return (np.array(ts), np.array(ys))
