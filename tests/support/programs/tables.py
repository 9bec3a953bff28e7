"""Tables of dynamic programs, in lists of lists and in rows, and other textbook recurrences."""

import bisect
import math

import numpy as np

from tests.support.programs.declared import case

Y = np.random.default_rng(1).normal(size=20)
H = np.array([2, 1, 5, 6, 2, 3])
obs, pi = np.array([0, 1, 2, 1, 0]), np.array([0.6, 0.4])
Am, Bm = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
AD = np.triu(np.ones((4, 4), int), 1)


@case((np.array([30, 35, 15, 5, 10, 20, 25]),), (np.array([2, 3, 4]),))
def matrix_chain(p):
    n = len(p) - 1
    m = [[0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i][j] = 10**15
            for k in range(i, j):
                cost = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1]
                if cost < m[i][j]:
                    m[i][j] = cost
    return m[0][n - 1]


@case((Y,), (Y[:0],), (Y[:1],))
def lis(x):
    tails = []
    for v in x:
        k = bisect.bisect_left(tails, v)
        if k == len(tails):
            tails.append(v)
        else:
            tails[k] = v
    return len(tails)


@case((obs, pi, Am, Bm), (obs[:1], pi, Am, Bm), (obs[:2], pi, Am, Bm))
def viterbi(obs, pi, A, B):
    n = len(pi)
    T = len(obs)
    V = [[0.0] * n for _ in range(T)]
    back = [[0] * n for _ in range(T)]
    for s in range(n):
        V[0][s] = pi[s] * B[s, obs[0]]
    for t in range(1, T):
        for s in range(n):
            best = -1.0
            arg = 0
            for r in range(n):
                p = V[t - 1][r] * A[r, s]
                if p > best:
                    best, arg = (p, r)
            V[t][s] = best * B[s, obs[t]]
            back[t][s] = arg
    s = 0
    for r in range(n):
        if V[T - 1][r] > V[T - 1][s]:
            s = r
    path = [s]
    for t in range(T - 1, 0, -1):
        s = back[t][s]
        path.append(s)
    return path[::-1]


@case((obs, pi, Am, Bm), (obs[:1], pi, Am, Bm), (obs[:2], pi, Am, Bm))
def hmm_forward(obs, pi, A, B):
    alpha = [pi[i] * B[i, obs[0]] for i in range(len(pi))]
    for t in range(1, len(obs)):
        alpha = [sum((alpha[j] * A[j, i] for j in range(len(pi)))) * B[i, obs[t]] for i in range(len(pi))]
    return sum(alpha)


@case((Y[:4], Y[3:9]), (Y[:1], Y[:2]))
def edit_table(a, b):
    n, m = (len(a), len(b))
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i * 0.5
    for j in range(m + 1):
        d[0][j] = j * 0.5
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d[i][j] = min(d[i - 1][j] + 0.5, d[i][j - 1] + 0.5, d[i - 1][j - 1] + abs(a[i - 1] - b[j - 1]))
    return d[n][m]


@case((Y[:4], Y[3:]), (Y[:1], Y[:2]))
def dtw(a, b):
    n, m = (len(a), len(b))
    prev = [math.inf] * (m + 1)
    prev[0] = 0
    for i in range(n):
        cur = [math.inf]
        for j in range(m):
            cur.append(abs(a[i] - b[j]) + min(prev[j], prev[j + 1], cur[j]))
        prev = cur
    return prev[m]


@case((np.array([1, 2, 5]), 11), (np.array([3]), 4), (np.array([2]), 0))
def coin(coins, t):
    ways = [0] * (t + 1)
    ways[0] = 1
    for c in coins:
        for v in range(c, t + 1):
            ways[v] += ways[v - c]
    return ways[t]


@case((np.array([3, 34, 4, 12]), 19), (np.array([5]), 3), (np.array([1, 1]), 2))
def subset(x, t):
    reach = [False] * (t + 1)
    reach[0] = True
    for v in x:
        for s in range(t, v - 1, -1):
            if reach[s - v]:
                reach[s] = True
    return (reach[t], [s for s in range(t + 1) if reach[s]])


@case((np.array([1, 0.5, 0.25, 0.1]), 3), (np.array([1, 0.5, 0.25, 0.1]), 1), (np.array([1, 0.5, 0.25, 0.1]), 0))
def levinson(r, n):
    a = [1.0] + [0.0] * n
    e = r[0]
    for k in range(1, n + 1):
        acc = r[k]
        for j in range(1, k):
            acc += a[j] * r[k - j]
        ref = -acc / e
        new = a[:]
        for j in range(1, k):
            new[j] = a[j] + ref * a[k - j]
        new[k] = ref
        a = new
        e *= 1 - ref * ref
    return (np.array(a), e)


@case((Y,), (Y[:1],), (-np.abs(Y),))
def kadane(x):
    best = cur = x[0]
    start = bs = be = 0
    for i in range(1, len(x)):
        if cur < 0:
            cur = x[i]
            start = i
        else:
            cur += x[i]
        if cur > best:
            best, bs, be = (cur, start, i)
    return (best, bs, be)


@case((AD + AD.T, 0.85, 5), (AD + AD.T, 0.5, 0), ((AD + AD.T)[:2, :2], 0.85, 3))
def pagerank(A, d, it):
    n = len(A)
    r = [1 / n] * n
    for _ in range(it):
        new = [(1 - d) / n] * n
        for i in range(n):
            out = sum(A[i])
            for j in range(n):
                if A[i, j]:
                    new[j] += d * r[i] / out
        r = new
    return np.array(r)


@case((Y, 2, 5), (Y, 1, 1), (Y, 3, 0))
def kmeans1d(x, k, it):
    c = [x[i] for i in range(k)]
    for _ in range(it):
        s = [0.0] * k
        n = [0] * k
        for v in x:
            b = 0
            for j in range(k):
                if abs(v - c[j]) < abs(v - c[b]):
                    b = j
            s[b] += v
            n[b] += 1
        c = [s[j] / n[j] if n[j] else c[j] for j in range(k)]
    return np.array(c)


@case((30, 4, 9), (90, 0, 3), (110, 5, 1))
def automaton(rule, n, w):
    row = [0] * w
    row[w // 2] = 1
    out = []
    for _ in range(n):
        out.append(sum(row))
        row = [rule >> 4 * row[(i - 1) % w] + 2 * row[i] + row[(i + 1) % w] & 1 for i in range(w)]
    return (out, row)


@case((Y[:3], Y[3:6]), (H[:2], H[:1]), (H, Y))
def poly_mul(a, b):
    out = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return np.array(out)


@case((Y, 2.0), (Y[:1], 2.0), (Y[:2], -1.0))
def horner_div(a, r):
    q = [a[0]]
    for c in a[1:]:
        q.append(c + r * q[-1])
    return (np.array(q[:-1]), q[-1])
