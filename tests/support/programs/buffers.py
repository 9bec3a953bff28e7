"""Lists that loops read, make longer and make shorter: stacks, queues, sequences that follow from what they hold."""

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from tests.support.programs.declared import case, refused

INTEGERS, NONE = np.array([5, -3, 8, 0, 2, 2, -7]), np.zeros(0, dtype=int)
FLOATS, ONE = np.array([3.0, -1.0, 2.0, 7.0, 0.5]), np.array([4.0])
POINTS = np.array([[0.0, 0], [1, 1], [2, 2], [2, 0], [0, 2], [1, 0.5]])
ADJACENT = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])


@case((10,), (2,), (3,))
def fib_list(n):
    f = [0, 1]
    for i in range(2, n):
        f.append(f[i - 1] + f[i - 2])
    return f


@case((10,), (2,), (3,))
def fib_list2(n):
    f = [0, 1]
    while len(f) < n:
        f.append(f[-1] + f[-2])
    return f


@case(
    (np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]), 0),
)
def dfs_stack(adj, s):
    n = len(adj)
    seen = [False] * n
    stack = [s]
    order = []
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for v in range(n - 1, -1, -1):
            if adj[u, v] and not seen[v]:
                stack.append(v)
    return order


@case(
    (np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]), 0),
)
def bfs_queue(adj, s):
    n = len(adj)
    dist = np.full(n, -1)
    dist[s] = 0
    q = deque([s])
    while q:
        u = q.popleft()
        for v in range(n):
            if adj[u, v] and dist[v] == -1:
                dist[v] = dist[u] + 1
                q.append(v)
    return dist


@case((np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1]]), 0, 0, 7), (np.array([[1]]), 0, 0, 2))
def flood_fill(img, r, c, new):
    old = img[r, c]
    if old == new:
        return img
    h, w = img.shape
    stack = [(r, c)]
    while stack:
        y, x = stack.pop()
        if y < 0 or y >= h or x < 0 or x >= w:
            continue
        if img[y, x] != old:
            continue
        img[y, x] = new
        stack.append((y + 1, x))
        stack.append((y - 1, x))
        stack.append((y, x + 1))
        stack.append((y, x - 1))
    return img


@case((INTEGERS,), (NONE,))
def quicksort_stack(a):
    stack = [(0, len(a) - 1)]
    while stack:
        lo, hi = stack.pop()
        if lo >= hi:
            continue
        p = a[hi]
        i = lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        stack.append((lo, i - 1))
        stack.append((i + 1, hi))


@case((np.array([3, 1, 4, 1, 5, 0]),), (np.array([0]),))
def counting_sort(a):
    k = a.max()
    count = np.zeros(k + 1, dtype=int)
    for v in a:
        count[v] += 1
    out = []
    for i, c in enumerate(count):
        for _ in range(c):
            out.append(i)
    return np.array(out)


@case((360,), (97,), (1,), (2,))
def factorize(n):
    f = []
    d = 2
    while d * d <= n:
        while n % d == 0:
            f.append(d)
            n //= d
        d += 1
    if n > 1:
        f.append(n)
    return f


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()

    def empty(self):
        return len(self.items) == 0


@case((INTEGERS,), (NONE,), (np.array([1]),))
def stack_class(a):
    s = Stack()
    for v in a:
        if v > 0:
            s.push(v)
        elif not s.empty():
            s.pop()
    t = a.sum() * 0
    while not s.empty():
        t = t * 3 + s.pop()
    return t


@case((np.array([1, 2, 0, 2, 1, 0]),), (NONE,), (np.array([0]),))
def balanced(a):
    st = []
    for c in a:
        if c == 1:
            st.append(c)
        elif c == 2:
            if not st:
                return False
            st.pop()
    return not st


@case((np.array([2.0, 3, -1, 4, -2]),), (np.array([5.0]),))
def rpn(tokens):
    st = []
    for t in tokens:
        if t == -1:
            b = st.pop()
            a = st.pop()
            st.append(a + b)
        elif t == -2:
            b = st.pop()
            a = st.pop()
            st.append(a * b)
        else:
            st.append(t)
    return st[0]


@case((np.array([-1.0]),), (np.array([1.0, -1.0]),))
def rpn_err(tokens):
    st = []
    for t in tokens:
        if t == -1:
            b = st.pop()
            a = st.pop()
            st.append(a + b)
        else:
            st.append(t)
    return st.pop()


@case((np.array([2, 1, 5, 6, 2, 3]),), (np.array([1]),))
def histogram_area(h):
    st = []
    best = 0
    i = 0
    n = len(h)
    while i < n:
        if not st or h[st[-1]] <= h[i]:
            st.append(i)
            i += 1
        else:
            top = st.pop()
            w = i if not st else i - st[-1] - 1
            best = max(best, h[top] * w)
    while st:
        top = st.pop()
        w = i if not st else i - st[-1] - 1
        best = max(best, h[top] * w)
    return best


@case((INTEGERS,), (NONE,), (np.array([1]),))
def next_greater(a):
    res = np.full(len(a), -1)
    st = []
    for i in range(len(a)):
        while st and a[st[-1]] < a[i]:
            res[st.pop()] = a[i]
        st.append(i)
    return res


@case((np.array([1.0, 3, -1, -3, 5, 3, 6, 7]), 3), (np.array([1.0]), 1))
def sliding_max(a, k):
    dq = deque()
    out = []
    for i in range(len(a)):
        while dq and dq[0] <= i - k:
            dq.popleft()
        while dq and a[dq[-1]] <= a[i]:
            dq.pop()
        dq.append(i)
        if i >= k - 1:
            out.append(a[dq[0]])
    return np.array(out)


@case(
    (POINTS,),
)
def convex_hull(pts):
    order = np.lexsort((pts[:, 1], pts[:, 0]))
    p = pts[order]

    def cross(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    lower = []
    for i in range(len(p)):
        while len(lower) >= 2 and cross(p[lower[-2]], p[lower[-1]], p[i]) <= 0:
            lower.pop()
        lower.append(i)
    upper = []
    for i in range(len(p) - 1, -1, -1):
        while len(upper) >= 2 and cross(p[upper[-2]], p[upper[-1]], p[i]) <= 0:
            upper.pop()
        upper.append(i)
    return lower[:-1] + upper[:-1]


@case((np.array([[0, 0, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0]]),), (np.array([[0]]),), (np.array([[0, 1], [1, 0]]),))
def maze(grid):
    h, w = grid.shape
    dist = -np.ones((h, w), dtype=int)
    dist[0, 0] = 0
    q = deque([(0, 0)])
    while q:
        r, c = q.popleft()
        if (r, c) == (h - 1, w - 1):
            return int(dist[r, c])
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            nr, nc = r + dr, c + dc
            if 0 <= nr < h and 0 <= nc < w and grid[nr, nc] == 0 and dist[nr, nc] < 0:
                dist[nr, nc] = dist[r, c] + 1
                q.append((nr, nc))
    return -1


@case((np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1]]),), (np.array([[0]]),))
def components(img):
    h, w = img.shape
    lab = np.zeros((h, w), dtype=int)
    cur = 0
    for i in range(h):
        for j in range(w):
            if img[i, j] == 1 and lab[i, j] == 0:
                cur += 1
                lab[i, j] = cur
                stack = [(i, j)]
                while stack:
                    y, x = stack.pop()
                    for dy in (-1, 0, 1):
                        for dx in (-1, 0, 1):
                            if abs(dy) + abs(dx) != 1:
                                continue
                            yy, xx = y + dy, x + dx
                            if 0 <= yy < h and 0 <= xx < w and img[yy, xx] == 1 and lab[yy, xx] == 0:
                                lab[yy, xx] = cur
                                stack.append((yy, xx))
    return lab, cur


@dataclass
class Particle:
    x: float
    v: float
    history: list = field(default_factory=list)

    def step(self, dt):
        self.v -= self.x * dt
        self.x += self.v * dt
        self.history.append(self.x)


@case((1.0, 0.5, 10), (1.0, 0.5, 1))
def history_in_an_object(x, v, n):
    particle = Particle(x, v)
    for _ in range(n):
        particle.step(0.1)
    return particle.x, np.array(particle.history), len(particle.history)


@case((1.0, 10), (1.0, 2000), (1.0, 0))
def longer_than_its_room(x, n):
    stack = [x]
    k = 0
    while len(stack) > 0 and k < n:
        v = stack.pop()
        stack.append(v + 1)
        stack.append(v * 0.5)
        k += 1
    return len(stack), stack[0], stack[-1]


@case((np.array([3, 1, 2]),), (np.array([1, 1]),))
def loop_over_what_grows(counts):
    queue = [0]
    for node in queue:
        for k in range(counts[node % len(counts)]):
            if len(queue) < 12:
                queue.append(node + k + 1)
    return queue


@case((INTEGERS, 1), (INTEGERS, -2), (INTEGERS, 40), (INTEGERS, -40), (np.array([4]), 0))
def inserted_and_deleted(a, k):
    held = []
    for v in a:
        held.insert(k, v)
        if v == 2:
            del held[-1]
        if v == 8:
            held.reverse()
    held += [a[0]]
    held.extend(a[:2])
    return held, held[-1], sum(held), max(held), a[0] in held


@case((INTEGERS, 2), (INTEGERS, 9), (INTEGERS, -9))
def popped_at_places(a, k):
    held = []
    for v in a:
        held.append((v, v * 0.5))
    first, half = held.pop(k)
    total = 0.0
    for v, w in held:
        total += v * w
    return first, half, total


@refused("several structures", (np.arange(4.0), 3))
def of_two_structures(x, n):
    out = []
    while len(out) < n:
        if len(out) == 1:
            out.append((x[0], x[1]))
        else:
            out.append(x[0])
    return len(out)


@case((4,), (0,), (40,))
def unread_list_that_grows_under_a_loop(n):
    queue = [0]
    for node in queue:
        for k in range(n):
            if node + k < 5:
                queue.append(node + k + 1)
    return queue
