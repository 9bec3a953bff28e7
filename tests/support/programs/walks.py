"""Textbook algorithms that walk with stacks, queues and heaps, and change places in lists and arrays."""

import bisect
import heapq
import math
from collections import deque

import numpy as np

from tests.support.programs.declared import case

Y = np.random.default_rng(1).normal(size=20)
H = np.array([2, 1, 5, 6, 2, 3])
R = np.array([1, 1, 2, 3, 3, 3])
I = np.array([[1, 3], [2, 6], [8, 10], [9, 12], [20, 21]])
M, Wm = (
    np.array([[2, 0, 1, 3], [1, 3, 0, 2], [1, 2, 0, 3], [3, 2, 0, 1]]),
    np.array([[0, 3, 1, 2], [3, 1, 0, 2], [1, 0, 3, 2], [0, 2, 3, 1]]),
)
E1 = np.array([[0, 1], [1, 2], [3, 4], [0, 2]])
Wt = np.random.default_rng(5).random((4, 4))
Wt = Wt + Wt.T


@case((M, Wm), (Wm, M), (M[:1, :1] * 0, Wm[:1, :1] * 0))
def gale_shapley(men, women):
    n = len(men)
    rank = np.zeros((n, n), int)
    for w in range(n):
        for i in range(n):
            rank[w, women[w, i]] = i
    wife = [-1] * n
    husband = [-1] * n
    nxt = [0] * n
    free = list(range(n))
    while free:
        m = free.pop()
        w = men[m, nxt[m]]
        nxt[m] += 1
        if husband[w] == -1:
            husband[w] = m
            wife[m] = w
        elif rank[w, m] < rank[w, husband[w]]:
            free.append(husband[w])
            wife[husband[w]] = -1
            husband[w] = m
            wife[m] = w
        else:
            free.append(m)
    return wife


@case((5, E1), (7, E1), (2, E1[:1]))
def union_find(n, edges):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    count = n
    for k in range(len(edges)):
        a, b = edges[k]
        ra, rb = (find(a), find(b))
        if ra != rb:
            parent[ra] = rb
            count -= 1
    return count


@case((R,), (R[:1],), (R[::-1].copy(),))
def rle(x):
    out = []
    i = 0
    while i < len(x):
        j = i
        while j < len(x) and x[j] == x[i]:
            j += 1
        out.append((x[i], j - i))
        i = j
    return out


@case((Y.reshape(10, 2),), (Y[:6].reshape(3, 2),))
def hull(pts):
    n = len(pts)
    order = sorted(range(n), key=lambda i: (pts[i, 0], pts[i, 1]))

    def cross(o, a, b):
        return (pts[a, 0] - pts[o, 0]) * (pts[b, 1] - pts[o, 1]) - (pts[a, 1] - pts[o, 1]) * (pts[b, 0] - pts[o, 0])

    lower = []
    for p in order:
        while len(lower) >= 2 and cross(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    upper = []
    for p in reversed(order):
        while len(upper) >= 2 and cross(upper[-2], upper[-1], p) <= 0:
            upper.pop()
        upper.append(p)
    return lower[:-1] + upper[:-1]


@case((0.0, 2.0, 1e-05), (0.0, 0.0, 0.001), (-1.0, 1.0, 0.001))
def simpson_stack(a, b, tol):

    def f(x):
        return math.sqrt(abs(x)) * math.cos(x)

    def simp(l, r):
        return (r - l) / 6 * (f(l) + 4 * f((l + r) / 2) + f(r))

    total = 0.0
    stack = [(a, b, tol)]
    n = 0
    while stack:
        l, r, t = stack.pop()
        m = (l + r) / 2
        n += 1
        w = simp(l, r)
        h = simp(l, m) + simp(m, r)
        if abs(h - w) < 15 * t or r - l < 1e-06:
            total += h + (h - w) / 15
        else:
            stack.append((l, m, t / 2))
            stack.append((m, r, t / 2))
    return (total, n)


@case((Y, 3), (Y, 1), (Y[:2], 5))
def moving_median(x, k):
    win = []
    out = []
    for i in range(len(x)):
        bisect.insort(win, x[i])
        if i >= k:
            win.pop(bisect.bisect_left(win, x[i - k]))
        m = len(win)
        out.append(win[m // 2] if m % 2 else (win[m // 2 - 1] + win[m // 2]) / 2)
    return np.array(out)


@case((np.sort(np.abs(Y)), np.abs(Y)), (np.abs(Y[:1]), np.abs(Y[:1])), (np.arange(5.0), np.ones(5) * 0.5))
def bank(arr, serv):
    q = deque()
    t = 0.0
    waits = []
    i = 0
    free = 0.0
    for i in range(len(arr)):
        start = max(arr[i], free)
        waits.append(start - arr[i])
        free = start + serv[i]
        q.append(free)
        while q and q[0] <= arr[i]:
            q.popleft()
    return (sum(waits) / len(waits), len(q))


@case((10, 3), (1, 3), (7, 2))
def josephus(n, k):
    people = list(range(n))
    i = 0
    while len(people) > 1:
        i = (i + k - 1) % len(people)
        people.pop(i)
    return people[0]


@case((np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1]]), 0, 0, 7), (np.array([[1]]), 0, 0, 1), (np.array([[1, 2]]), 0, 1, 5))
def floodfill(g, i, j, c):
    old = g[i, j]
    if old == c:
        return 0
    stack = [(i, j)]
    count = 0
    while stack:
        y, x = stack.pop()
        if 0 <= y < g.shape[0] and 0 <= x < g.shape[1] and (g[y, x] == old):
            g[y, x] = c
            count += 1
            stack.extend([(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)])
    return count


@case((5,), (1,), (6,))
def nqueens(n):
    count = 0
    cols = [-1] * n
    r = 0
    while r >= 0:
        cols[r] += 1
        while cols[r] < n:
            ok = True
            for i in range(r):
                if cols[i] == cols[r] or abs(cols[i] - cols[r]) == r - i:
                    ok = False
                    break
            if ok:
                break
            cols[r] += 1
        if cols[r] >= n:
            cols[r] = -1
            r -= 1
        elif r == n - 1:
            count += 1
        else:
            r += 1
    return count


@case((H,), (H[:1],))
def histogram_rect(h):
    stack = []
    best = 0
    for i in range(len(h) + 1):
        cur = h[i] if i < len(h) else 0
        while stack and h[stack[-1]] >= cur:
            top = stack.pop()
            w = i if not stack else i - stack[-1] - 1
            best = max(best, h[top] * w)
        stack.append(i)
    return best


@case((Y, 3), (Y, 1), (Y[:2], 3))
def sliding_max(x, k):
    q = deque()
    out = []
    for i in range(len(x)):
        while q and x[q[-1]] <= x[i]:
            q.pop()
        q.append(i)
        if q[0] <= i - k:
            q.popleft()
        if i >= k - 1:
            out.append(x[q[0]])
    return np.array(out)


@case((np.array([3, 4, -1, 2, -3]),), (np.array([5]),), (np.array([5, -1]),))
def shunting(tok):
    st = []
    for t in tok:
        if t >= 0:
            st.append(t)
        else:
            b = st.pop()
            a = st.pop()
            if t == -1:
                st.append(a + b)
            elif t == -2:
                st.append(a - b)
            else:
                st.append(a * b)
    return st[0]


@case((Y,))
def merge_sort(x):
    a = [v for v in x]
    n = len(a)
    w = 1
    while w < n:
        b = []
        for lo in range(0, n, 2 * w):
            i, j = (lo, min(lo + w, n))
            mid = j
            hi = min(lo + 2 * w, n)
            while i < mid or j < hi:
                if j >= hi or (i < mid and a[i] <= a[j]):
                    b.append(a[i])
                    i += 1
                else:
                    b.append(a[j])
                    j += 1
        a = b
        w *= 2
    return np.array(a)


@case((H,), (H[:1],))
def huffman_cost(w):
    heap = [v for v in w]
    heapq.heapify(heap)
    cost = 0
    while len(heap) > 1:
        a = heapq.heappop(heap)
        b = heapq.heappop(heap)
        cost += a + b
        heapq.heappush(heap, a + b)
    return cost


@case((Wt,), (Wt[:1, :1],), (Wt[:2, :2],))
def prim(W):
    n = len(W)
    inn = [False] * n
    key = [math.inf] * n
    key[0] = 0
    tot = 0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not inn[v] and (u == -1 or key[v] < key[u]):
                u = v
        inn[u] = True
        tot += key[u]
        for v in range(n):
            if W[u, v] > 0 and (not inn[v]) and (W[u, v] < key[v]):
                key[v] = W[u, v]
    return tot


@case((H, 8), (H, 100), (H[:1], 1))
def two_sum_sorted(x, t):
    idx = sorted(range(len(x)), key=lambda i: x[i])
    lo, hi = (0, len(x) - 1)
    while lo < hi:
        s = x[idx[lo]] + x[idx[hi]]
        if s == t:
            return (idx[lo], idx[hi])
        if s < t:
            lo += 1
        else:
            hi -= 1
    return (-1, -1)


@case((H,), (H[:1],), (H[::-1].copy(),))
def rain(h):
    l, r = (0, len(h) - 1)
    lm = rm = 0
    w = 0
    while l < r:
        if h[l] < h[r]:
            lm = max(lm, h[l])
            w += lm - h[l]
            l += 1
        else:
            rm = max(rm, h[r])
            w += rm - h[r]
            r -= 1
    return w


@case((I,), (I[::-1].copy(),), (I[:1],))
def intervals(iv):
    order = sorted(range(len(iv)), key=lambda i: iv[i, 0])
    out = []
    for i in order:
        s, e = iv[i]
        if out and s <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], e))
        else:
            out.append((s, e))
    return out
