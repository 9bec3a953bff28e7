"""Numerical recipes as their readers write them: roots, integrals, equations, eigenvalues, differential equations."""

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


@case((0.0, 2.0), (1.0, 3.0))
def bisection(a, b):
    def f(x):
        return x * x - 2

    fa = f(a)
    if fa * f(b) > 0:
        raise ValueError("no sign change")
    while b - a > 1e-12:
        m = 0.5 * (a + b)
        fm = f(m)
        if fm == 0:
            return m
        if fa * fm < 0:
            b = m
        else:
            a, fa = m, fm
    return 0.5 * (a + b)


@case((1.0,), (50.0,))
def newton_loop(x):
    for i in range(50):
        step = (x**3 - 2 * x - 5) / (3 * x * x - 2)
        x -= step
        if abs(step) < 1e-13:
            break
    else:
        raise RuntimeError("no convergence")
    return x, i


@case((0.0, 1.0, 5), (0.0, 2.0, 3))
def romberg(a, b, n):
    r = np.zeros((n, n))
    h = b - a
    r[0, 0] = 0.5 * h * (math.exp(a) + math.exp(b))
    for i in range(1, n):
        h /= 2
        total = 0.0
        for k in range(1, 2**i, 2):
            total += math.exp(a + k * h)
        r[i, 0] = 0.5 * r[i - 1, 0] + h * total
        for j in range(1, i + 1):
            r[i, j] = r[i, j - 1] + (r[i, j - 1] - r[i - 1, j - 1]) / (4**j - 1)
    return r[n - 1, n - 1]


@case((S,))
def power_iteration(a):
    v = np.ones(a.shape[0])
    value = 0.0
    for _ in range(200):
        w = a @ v
        new = np.linalg.norm(w)
        v = w / new
        if abs(new - value) < 1e-10:
            break
        value = new
    return value


@case((W, 0), (W, 2))
def dijkstra(w, source):
    n = len(w)
    dist = np.full(n, np.inf)
    done = np.zeros(n, dtype=bool)
    dist[source] = 0.0
    for _ in range(n):
        best, u = np.inf, -1
        for i in range(n):
            if not done[i] and dist[i] < best:
                best, u = dist[i], i
        if u < 0:
            break
        done[u] = True
        for v in range(n):
            if dist[u] + w[u, v] < dist[v]:
                dist[v] = dist[u] + w[u, v]
    return dist


@case((W,))
def floyd_warshall(w):
    d = w.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


@case((X,), (np.array([1.0]),), (np.array([]),))
def insertion_sort(x):
    a = x.copy()
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@case((X,), (I,))
def quick_sort(x):
    a = x.copy()
    lo = np.zeros(64, dtype=np.int64)
    hi = np.zeros(64, dtype=np.int64)
    hi[0] = len(a) - 1
    top = 1
    while top > 0:
        top -= 1
        l, h = lo[top], hi[top]
        if l >= h:
            continue
        pivot = a[h]
        i = l
        for j in range(l, h):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[h] = a[h], a[i]
        lo[top], hi[top] = l, i - 1
        lo[top + 1], hi[top + 1] = i + 1, h
        top += 2
    return a


@case((np.array([[0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]), 3))
def life(board, steps):
    n, m = board.shape
    for _ in range(steps):
        new = np.zeros_like(board)
        for i in range(n):
            for j in range(m):
                count = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if (di, dj) != (0, 0):
                            count += board[(i + di) % n, (j + dj) % m]
                if count == 3 or (board[i, j] and count == 2):
                    new[i, j] = 1
        board = new
    return board


@case((12345,), (0,), (-7,))
def digit_sum(n):
    n = abs(n)
    total = 0
    while n > 0:
        n, d = divmod(n, 10)
        total += d
    return total


@case((np.array([[0, 1], [2, 3], [1, 3]]), 6))
def union_find(edges, n):
    parent = np.arange(n)

    def find(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    groups = n
    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra != rb:
            parent[ra] = rb
            groups -= 1
    return groups


@case((np.array([40, 20, 30, 10, 30]),))
def matrix_chain(p):
    n = len(p) - 1
    m = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = 10**9
            for k in range(i, j):
                cost = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if cost < m[i, j]:
                    m[i, j] = cost
    return m[0, n - 1]


@case((np.array([1, 3, 4, 5]), np.array([1, 4, 5, 7]), 7))
def knapsack(weights, values, capacity):
    best = [0] * (capacity + 1)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity]


@case((np.array([1, 2, 3, 1]), np.array([2, 3, 3])))
def needleman(a, b):
    n, m = len(a), len(b)
    f = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        f[i, 0] = -i
    for j in range(m + 1):
        f[0, j] = -j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = f[i - 1, j - 1] + (1 if a[i - 1] == b[j - 1] else -1)
            f[i, j] = max(match, f[i - 1, j] - 1, f[i, j - 1] - 1)
    i, j = n, m
    same = 0
    while i > 0 and j > 0:
        if f[i, j] == f[i - 1, j - 1] + (1 if a[i - 1] == b[j - 1] else -1):
            same += a[i - 1] == b[j - 1]
            i, j = i - 1, j - 1
        elif f[i, j] == f[i - 1, j] - 1:
            i -= 1
        else:
            j -= 1
    return f[n, m], same


@case((np.array([[0, 1.0, 1], [1, 0, 0], [0, 1, 0]]), 0.85))
def pagerank(links, d):
    n = len(links)
    out = links.sum(axis=1)
    r = np.full(n, 1 / n)
    for it in range(100):
        new = np.full(n, (1 - d) / n)
        for i in range(n):
            if out[i] > 0:
                new += d * r[i] * links[i] / out[i]
            else:
                new += d * r[i] / n
        if np.abs(new - r).sum() < 1e-10:
            break
        r = new
    return r, it


@case((X, 2.0))
def horner(c, x):
    y = 0.0
    for a in c[::-1]:
        y = y * x + a
    return y


@case((10, 1.0), (1, 0.5))
def continued_fraction(n, x):
    f = 2 * n + 1.0
    for k in range(n, 0, -1):
        f = (2 * k - 1) + k * k * x * x / f
    return x / f


@case((0.0, 1.0, 1e-8))
def adaptive_simpson(a, b, tol):
    def f(x):
        return math.sqrt(x + 0.01)

    stack = np.zeros((60, 3))
    stack[0] = a, b, tol
    top, total = 1, 0.0
    while top:
        top -= 1
        lo, hi, eps = stack[top]
        mid = (lo + hi) / 2
        h = hi - lo
        one = h / 6 * (f(lo) + 4 * f(mid) + f(hi))
        two = h / 12 * (f(lo) + 4 * f((lo + mid) / 2) + 2 * f(mid) + 4 * f((mid + hi) / 2) + f(hi))
        if abs(one - two) < 15 * eps or top > 55:
            total += two + (two - one) / 15
        else:
            stack[top] = lo, mid, eps / 2
            stack[top + 1] = mid, hi, eps / 2
            top += 2
    return total


@case((np.array([[2.0, 1, 1, 0], [1, 3, 0, 1]]), np.array([4.0, 6]), np.array([3.0, 2, 0, 0])))
def simplex(a, b, c):
    m, n = a.shape
    t = np.zeros((m + 1, n + 1))
    t[:m, :n], t[:m, n], t[m, :n] = a, b, -c
    basis = np.arange(n - m, n)
    while True:
        q = int(np.argmin(t[m, :n]))
        if t[m, q] >= -1e-12:
            break
        best, p = np.inf, -1
        for i in range(m):
            if t[i, q] > 1e-12:
                ratio = t[i, n] / t[i, q]
                if ratio < best:
                    best, p = ratio, i
        if p < 0:
            raise ValueError("unbounded")
        t[p] /= t[p, q]
        for i in range(m + 1):
            if i != p:
                t[i] -= t[i, q] * t[p]
        basis[p] = q
    return t[m, n], basis


@case((A,))
def householder_qr(a):
    r = a.copy()
    m, n = r.shape
    q = np.eye(m)
    for k in range(n):
        x = r[k:, k]
        v = x.copy()
        alpha = -np.linalg.norm(x) if x[0] > 0 else np.linalg.norm(x)
        v[0] -= alpha
        norm = v @ v
        if norm > 1e-28:
            r[k:] -= np.outer(v, 2 / norm * (v @ r[k:]))
            q[:, k:] -= np.outer(q[:, k:] @ v, 2 / norm * v)
    return np.abs(np.triu(r)), q @ r


@case((S,))
def jacobi_eigenvalues(a):
    a = a.copy()
    n = len(a)
    for sweep in range(20):
        off = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                off += a[p, q] ** 2
                if abs(a[p, q]) > 1e-14:
                    theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                    t = (1.0 if theta >= 0 else -1.0) / (abs(theta) + math.sqrt(theta**2 + 1))
                    c = 1 / math.sqrt(t * t + 1)
                    s = t * c
                    for k in range(n):
                        akp, akq = a[k, p], a[k, q]
                        a[k, p], a[k, q] = c * akp - s * akq, s * akp + c * akq
                    for k in range(n):
                        apk, aqk = a[p, k], a[q, k]
                        a[p, k], a[q, k] = c * apk - s * aqk, s * apk + c * aqk
        if off < 1e-20:
            break
    return np.sort(np.diag(a))


@case((S, B, 3))
def lanczos(a, v, m):
    alpha, beta = np.zeros(m), np.zeros(m)
    q, old = v / np.linalg.norm(v), np.zeros_like(v)
    for j in range(m):
        w = a @ q - (beta[j - 1] * old if j > 0 else 0)
        alpha[j] = q @ w
        w = w - alpha[j] * q
        beta[j] = np.sqrt(w @ w)
        if beta[j] < 1e-12:
            break
        old, q = q, w / beta[j]
    return alpha, beta


@case((S + 4 * np.eye(4), B))
def cg(a, b):
    x = np.zeros(len(b))
    r = b - a @ x
    p = r
    rs = r @ r
    its = 0
    while rs > 1e-20 and its < 100:
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + new / rs * p
        rs = new
        its += 1
    return x


@case((A, B))
def bicgstab(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    hat = r.copy()
    rho = alpha = omega = 1.0
    v = p = np.zeros_like(b)
    for i in range(1, 50):
        new = hat @ r
        beta = (new / rho) * (alpha / omega)
        rho = new
        p = r + beta * (p - omega * v)
        v = a @ p
        alpha = rho / (hat @ v)
        h = x + alpha * p
        s = r - alpha * v
        if s @ s < 1e-24:
            x = h
            break
        t = a @ s
        omega = (t @ s) / (t @ t)
        x = h + omega * s
        r = s - omega * t
        if r @ r < 1e-24:
            break
    return x


@case((X, 0.5, 4), (X, -0.5, 4))
def upwind(u, c, steps):
    u = u.copy()
    n = len(u)
    for _ in range(steps):
        old = u.copy()
        for i in range(n):
            u[i] = old[i] - c * (old[i] - old[i - 1]) if c > 0 else old[i] - c * (old[(i + 1) % n] - old[i])
    return u


@case((4,), (5,), (1,))
def queens(n):
    cols = [-1] * n
    row, found = 0, 0
    while row >= 0:
        cols[row] += 1
        if cols[row] >= n:
            cols[row] = -1
            row -= 1
            continue
        ok = True
        for r in range(row):
            if cols[r] == cols[row] or abs(cols[r] - cols[row]) == row - r:
                ok = False
                break
        if ok:
            if row == n - 1:
                found += 1
            else:
                row += 1
    return found


@case((6,), (0,))
def pascal(n):
    t = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        t[i, 0] = 1
        for j in range(1, i + 1):
            t[i, j] = t[i - 1, j - 1] + t[i - 1, j]
    return t


@case((1.0, 100), (100.0, 3))
def newton_sqrt(x, n):
    r = x
    while True:
        n -= 1
        new = 0.5 * (r + x / r)
        if abs(new - r) < 1e-14 * r or n == 0:
            break
        r = new
    return r, n


@case((12,), (17,), (1,))
def divisors(n):
    count = 0
    d = 1
    while d * d <= n:
        if n % d == 0:
            count += 1 if d * d == n else 2
        d += 1
    return count
