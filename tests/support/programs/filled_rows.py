"""Lists in a list that become longer at places which are elements of arrays: adjacency lists, groups, buckets, piles."""

from collections import deque

import numpy as np

from tests.support.programs.declared import another, case, refused

EDGES = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [4, 5]])
NO_EDGES = np.zeros((0, 2), int)
K = np.array([1, 2, 1, 3, 2, 1])


@case((K, 4), (np.array([5]), 3))
@another((K[:0], 3), (np.array([0]), 1), (np.array([-1, -2]), 3), (K, 0))
def grouped(keys, k):
    groups = [[] for _ in range(k)]
    for i, key in enumerate(keys):
        groups[key].append(i)
    return [len(each) for each in groups], [sum(each) for each in groups], groups


@case((EDGES, 6, 0))
@another((EDGES, 6, 4), (NO_EDGES, 2, 1))
def distances(edges, n, start):
    neighbours = [[] for _ in range(n)]
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    distance = [-1] * n
    distance[start] = 0
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in neighbours[u]:
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
    return distance


@another((EDGES, np.arange(5) * 0.5, 6))
def weighted(edges, w, n):
    neighbours = [[] for _ in range(n)]
    for (u, v), c in zip(edges, w):  # noqa: B905
        neighbours[u].append((v, c))
        neighbours[v].append((u, c))
    total = np.zeros(n)
    for u in range(n):
        for v, c in neighbours[u]:
            total[u] += c * v
    return total


@case((np.array([3, 1, 2, 5, 5, 4]),))
@another((K[:0],))
def piles(x):
    held, moved = [[] for _ in range(3)], 0
    for v in x:
        held[v % 3].append(v)
    for v in x:
        pile = held[v % 3]
        if pile and pile[-1] >= v:
            held[(v + 1) % 3].append(pile.pop())
            moved += 1
    held[0] = []
    return moved, held


@case((np.array([170, 45, 75, 90, 2]),))
@another((K[:0],), (K[:1],))
def radix_sorted(x):
    a, p = list(x), 1
    for _ in range(3):
        buckets = [[] for _ in range(10)]
        for v in a:
            buckets[(v // p) % 10].append(v)
        a = [v for bucket in buckets for v in bucket]
        p *= 10
    return a


@another((np.array([0.1, 0.9, 0.5, 0.55, 0.95]), 4), (np.zeros(0), 3))
def bucket_sorted(x, k):
    buckets, found = [[] for _ in range(k)], []
    for v in x:
        buckets[int(v * k)].append(v)
    for each in buckets:
        for v in sorted(each):
            found.append(v)
    return found, [np.median(np.array(each)) if len(each) > 0 else np.float64(-1) for each in buckets]


@another((EDGES, 6), (NO_EDGES, 2), (np.array([[0, 1], [1, 2], [2, 0], [2, 3]]), 4))
def finished(edges, n):
    following = [[] for _ in range(n)]
    for u, v in edges:
        following[u].append(int(v))
    seen, order = [False] * n, []
    for start in range(n):
        if seen[start]:
            continue
        seen[start] = True
        stack = [(start, 0)]
        while stack:
            u, i = stack.pop()
            if i < len(following[u]):
                stack.append((u, i + 1))
                v = following[u][i]
                if not seen[v]:
                    seen[v] = True
                    stack.append((v, 0))
            else:
                order.append(u)
    return order


@another((K, 5))
def by_another_name(x, n):
    rows = [[] for _ in range(n)]
    for v in x:
        row = rows[v % n]
        row.append(v)
        row.extend([v + np.int64(1), v])
        row[0] = v * v
    return rows, 2 in rows[1], [row[-1] for row in rows if len(row) > 0]


@another((K, 3), (K[:0], 2))
def popped_from_none(x, n):
    rows = [[] for _ in range(n)]
    for v in x:
        rows[v % n].append(v)
    return rows[0].pop()


@case((np.array([1.0, 2.0, 3.0]), 5))
@another((np.zeros(0), 3))
def rows_of_known_length(x, n):
    table = [[0.0, 0.0] for _ in range(n)]
    boxes = [[[0] * 2 for _ in range(3)] for _ in range(n)]
    for i, v in enumerate(x):
        table[i % n][i % 2] += float(v)
    boxes[n - 1][2][1] = 4
    return table, boxes


@another((K, np.array([3, 1, 2]), 4))
def ordered(x, y, n):
    pairs = sorted(zip(x, x[::-1]), key=lambda each: (each[1], -each[0]))
    total = x[0] * 0
    for i, (a, b) in enumerate(reversed(pairs)):
        total += i * a + b
    return total


@refused("append to its lists, loop over them", (K, 4))
def rows_put_in_order(x, n):
    rows = [[] for _ in range(n)]
    for v in x:
        rows[v].append(v)
        rows[v].sort()
    return len(rows)


@refused("one of the lists in a list holds arrays", (EDGES, 6))
def rows_of_arrays(edges, n):
    rows = [[] for _ in range(n)]
    for edge in edges:
        rows[edge[0]].append(edge)
    return len(rows)
