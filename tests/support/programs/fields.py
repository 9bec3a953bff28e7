"""Programs of several fields: image processing, markets, compression, signals, splines, clustering."""

import math

import numpy as np

from tests.support.programs.declared import case

R = np.random.default_rng(5)
IMAGE = (R.random((5, 6)) > 0.5).astype(np.int64)
KNOTS = np.array([0, 0, 0, 0, 0.3, 0.6, 1, 1, 1, 1.0])
C = R.random(6)
X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((IMAGE,), (IMAGE[:2],))
def connected_components(img):
    h, w = img.shape
    labels = np.zeros((h, w), dtype=np.int32)
    parent = np.zeros(h * w // 2 + 2, dtype=np.int32)
    nxt = 1
    for i in range(h):
        for j in range(w):
            if img[i, j] == 0:
                continue
            up = labels[i - 1, j] if i > 0 else 0
            left = labels[i, j - 1] if j > 0 else 0
            if up == 0 and left == 0:
                labels[i, j] = nxt
                parent[nxt] = nxt
                nxt += 1
            elif up != 0 and left != 0:
                a, b = (up, left)
                while parent[a] != a:
                    a = parent[a]
                while parent[b] != b:
                    b = parent[b]
                lo, hi = (min(a, b), max(a, b))
                parent[hi] = lo
                labels[i, j] = lo
            else:
                labels[i, j] = max(up, left)
    remap = np.zeros_like(parent)
    count = 0
    for k in range(1, nxt):
        r = k
        while parent[r] != r:
            r = parent[r]
        if remap[r] == 0:
            count += 1
            remap[r] = count
        remap[k] = remap[r]
    for i in range(h):
        for j in range(w):
            labels[i, j] = remap[labels[i, j]]
    return (labels, count)


@case((np.array([[0, 1], [1, 2], [0, 2], [2, 3]]), np.array([3.0, 1.0, 2.0, 0.5]), 4))
def kruskal(edges, weights, n):
    order = np.argsort(weights)
    parent = np.arange(n)
    rank = np.zeros(n, dtype=np.int64)

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    mst = 0.0
    chosen = np.zeros(len(edges), dtype=np.bool_)
    taken = 0
    for e in order:
        u, v = edges[e]
        ru, rv = (find(u), find(v))
        if ru == rv:
            continue
        if rank[ru] < rank[rv]:
            ru, rv = (rv, ru)
        parent[rv] = ru
        if rank[ru] == rank[rv]:
            rank[ru] += 1
        mst += weights[e]
        chosen[e] = True
        taken += 1
        if taken == n - 1:
            break
    return (mst, chosen)


@case(
    (
        np.array([1, -1, 1, 1, -1, -1, 1]),
        np.array([100.0, 101, 99.5, 102, 99, 101.5, 103]),
        np.array([5, 3, 4, 6, 10, 2, 1]),
    )
)
def order_book(side, price, qty):
    n = len(side)
    bid_p = np.full(n, -np.inf)
    bid_q = np.zeros(n, dtype=np.int64)
    ask_p = np.full(n, np.inf)
    ask_q = np.zeros(n, dtype=np.int64)
    nb = na = 0
    volume = 0
    notional = 0.0
    for k in range(n):
        s, p, q = (side[k], price[k], qty[k])
        while q > 0:
            if s > 0:
                j = int(np.argmin(ask_p))
                if ask_p[j] > p:
                    break
                t = min(q, ask_q[j])
                ask_q[j] -= t
                notional += t * ask_p[j]
                if ask_q[j] == 0:
                    ask_p[j] = np.inf
            else:
                j = int(np.argmax(bid_p))
                if bid_p[j] < p:
                    break
                t = min(q, bid_q[j])
                bid_q[j] -= t
                notional += t * bid_p[j]
                if bid_q[j] == 0:
                    bid_p[j] = -np.inf
            q -= t
            volume += t
        if q > 0:
            if s > 0:
                bid_p[nb], bid_q[nb] = (p, q)
                nb += 1
            else:
                ask_p[na], ask_q[na] = (p, q)
                na += 1
    return (volume, notional, bid_p.max(), ask_p.min())


@case((KNOTS, C, 3, 0.45), (KNOTS, C, 3, 0.0))
def de_boor(t, c, p, x):
    k = p
    while k < len(t) - p - 2 and x >= t[k + 1]:
        k += 1
    d = [c[j + k - p] for j in range(p + 1)]
    for r in range(1, p + 1):
        for j in range(p, r - 1, -1):
            alpha = (x - t[j + k - p]) / (t[j + 1 + k - r] - t[j + k - p])
            d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
    return d[p]


@case((np.array([4.0, 2.0, 1.0, 0.5, 0.2]), 3))
def levinson(r, order):
    a = np.zeros(order + 1)
    a[0] = 1.0
    e = r[0]
    refl = []
    for m in range(1, order + 1):
        acc = r[m]
        for i in range(1, m):
            acc += a[i] * r[m - i]
        k = -acc / e
        refl.append(k)
        new = a.copy()
        for i in range(1, m):
            new[i] = a[i] + k * a[m - i]
        new[m] = k
        a = new
        e *= 1 - k * k
    return (a, e, np.array(refl))


@case((np.frombuffer(b"abababcab", dtype=np.uint8), 8))
def lz77(data, window):
    n = len(data)
    tokens = np.zeros((n, 3), dtype=np.int32)
    k = 0
    i = 0
    while i < n:
        best_len = best_off = 0
        for j in range(max(0, i - window), i):
            l = 0
            while i + l < n - 1 and data[j + l] == data[i + l]:
                l += 1
            if l > best_len:
                best_len, best_off = (l, i - j)
        tokens[k] = (best_off, best_len, data[i + best_len])
        k += 1
        i += best_len + 1
    return tokens[:k]


@case((np.array([5, 9, 12, 13, 16, 45]),), (np.array([1, 1]),))
def huffman_lengths(freq):
    n = len(freq)
    w = np.zeros(2 * n, dtype=np.int64)
    parent = np.zeros(2 * n, dtype=np.int64)
    alive = np.zeros(2 * n, dtype=bool)
    w[:n] = freq
    alive[:n] = True
    for nxt in range(n, 2 * n - 1):
        a = b = -1
        for i in range(nxt):
            if not alive[i]:
                continue
            if a == -1 or w[i] < w[a]:
                a, b = (i, a)
            elif b == -1 or w[i] < w[b]:
                b = i
        w[nxt] = w[a] + w[b]
        alive[a] = alive[b] = False
        alive[nxt] = True
        parent[a] = parent[b] = nxt
    depth = np.zeros(n, dtype=np.uint8)
    for i in range(n):
        j = i
        while j != 2 * n - 2:
            j = parent[j]
            depth[i] += 1
    return depth


@case((R.random((7, 2)),), (R.random((3, 2)),))
def convex_hull(pts):
    n = len(pts)
    order = np.lexsort((pts[:, 1], pts[:, 0]))
    p = pts[order]

    def cross(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    hull = np.zeros((2 * n, 2))
    k = 0
    for i in range(n):
        while k >= 2 and cross(hull[k - 2], hull[k - 1], p[i]) <= 0:
            k -= 1
        hull[k] = p[i]
        k += 1
    t = k + 1
    for i in range(n - 2, -1, -1):
        while k >= t and cross(hull[k - 2], hull[k - 1], p[i]) <= 0:
            k -= 1
        hull[k] = p[i]
        k += 1
    area = 0.0
    for i in range(k - 1):
        area += hull[i, 0] * hull[i + 1, 1] - hull[i + 1, 0] * hull[i, 1]
    return (k - 1, 0.5 * abs(area))


def make_ode(k, c):

    def rhs(t, y):
        return np.array([y[1], -k * y[0] - c * y[1]])

    return rhs


@case((np.array([1.0, 0.0]), 2.0, 0.1, 0.05, 4), (np.array([1.0, 0.0]), 2.0, 0.1, 0.05, 0))
def closure_ode(y, k, c, h, n):
    f = make_ode(k, c)
    t = 0.0
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return (y, t)


@case((3, 4, 3, 5), (3, 4, 3, 4), (4, 0, 3, 9))
def tuple_compare(a, b, c, d):
    r = 0
    if (a, b) < (c, d):
        r += 1
    if (a, b) == (c, d):
        r += 2
    if (a, b) >= (c, d):
        r += 4
    if [a, b, c] > [a, b]:
        r += 8
    if (a, (b, c)) <= (a, (b, d)):
        r += 16
    if (a,) < (a, b):
        r += 32
    return r


@case((X, np.array([1, 0, 1, 1, 0])), (X[:1], np.array([1])))
def smallest_pair(x, k):
    bx, bk, at = (np.inf, 5, -1)
    for i in range(len(x)):
        if (k[i], x[i]) < (bk, bx):
            bk, bx, at = (k[i], x[i], i)
    return at
