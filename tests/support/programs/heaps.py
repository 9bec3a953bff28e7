"""Heaps, sorted lists and searches in lists."""

import bisect
import heapq
import operator

import numpy as np

from tests.support.programs.declared import case

X = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, -5.0])
K = np.array([3, 1, 4, 1, 5, 9, 2, 6])
W = np.array(
    [
        [0.0, 7.0, 9.0, 0.0, 0.0, 14.0],
        [7.0, 0.0, 10.0, 15.0, 0.0, 0.0],
        [9.0, 10.0, 0.0, 11.0, 0.0, 2.0],
        [0.0, 15.0, 11.0, 0.0, 6.0, 0.0],
        [0.0, 0.0, 0.0, 6.0, 0.0, 9.0],
        [14.0, 0.0, 2.0, 0.0, 9.0, 0.0],
    ]
)


@case((X, 3), (X, 20), (X, 0))
def largest_kept(x, n):
    heap = []
    for v in x:
        heapq.heappush(heap, v)
        if len(heap) > n:
            heapq.heappop(heap)
    return heap


@case((W, 0), (W, 4))
def dijkstra(w, source):
    n = len(w)
    distance = np.full(n, np.inf)
    distance[source] = 0.0
    heap = [(0.0, source)]
    settled = np.zeros(n, dtype=bool)
    while heap:
        d, u = heapq.heappop(heap)
        if settled[u]:
            continue
        settled[u] = True
        for v in range(n):
            if w[u, v] > 0 and d + w[u, v] < distance[v]:
                distance[v] = d + w[u, v]
                heapq.heappush(heap, (distance[v], v))
    return distance


@case((K, 3), (K, 8))
def heap_of_integers(k, n):
    heap = [int(v) for v in k]
    heapq.heapify(heap)
    total = 0
    for i in range(n):
        total = total * 3 + heapq.heappop(heap)
        total += heapq.heappushpop(heap, i)
        total -= heapq.heapreplace(heap, 2 * i)
    return total, heap


@case((K, 9), (K, 3))
def emptied(k, n):
    heap = []
    for v in k:
        heapq.heappush(heap, v)
    for _ in range(n):
        heapq.heappop(heap)
    return len(heap)


@case((X,))
def without_a_loop(x):
    heap = [x[0], x[1], x[2]]
    heapq.heapify(heap)
    heapq.heappush(heap, x[3])
    return heapq.heappop(heap), heap, heapq.nsmallest(2, x), heapq.nlargest(3, x, key=lambda v: -abs(v))


@case((X, 2.0), (X, 4.5))
def inserted(x, limit):
    held = []
    for v in x:
        if v < limit:
            bisect.insort(held, v)
    return held, bisect.bisect_left(held, 2.0), bisect.bisect(held, limit)


@case((X, K), (X[:4], K[:4]))
def sorted_lists(x, k):
    squares = [v * v for v in x]
    squares.sort(reverse=True)
    order = sorted(range(len(x)), key=lambda i: (i % 2, -x[i]))
    n = order[0] + 2
    order.sort(key=lambda i: n * i % 3)
    first = [x[0], x[1], x[2]]
    first.sort(key=lambda v: -v)
    pairs = sorted([(k[0], x[0]), (k[1], x[1]), (k[0], x[1])], reverse=True)
    return squares, order, first, pairs


@case((W,), (W[:3, :3],))
def kruskal(w):
    edges = []
    for i in range(len(w)):
        for j in range(i + 1, len(w)):
            if w[i, j] > 0:
                edges.append((w[i, j], i, j))
    edges.sort()
    parent = list(range(len(w)))
    total = 0.0
    for weight, i, j in edges:
        while parent[i] != i:
            i = parent[i]
        while parent[j] != j:
            j = parent[j]
        if i != j:
            parent[i] = j
            total += weight
    return total


@case((X, 3), (X, 6))
def median_of_windows(x, n):
    out = np.zeros(len(x))
    for i in range(len(x)):
        window = []
        for j in range(max(0, i - n), i + 1):
            window.append(x[j])
        window.sort()
        out[i] = window[len(window) // 2]
    return out


@case((X, K), (X[:4], K))
def pairs_compared(x, k):
    best = (x[0], 0)
    for i, v in enumerate(x):
        here = (v, k[i % len(k)])
        if here < best:
            best = here
    count = 0
    for v in k:
        point = (v % 3, v)
        if operator.lt(v, 5) and point >= (1, 4):
            count += 1
    return best, count
