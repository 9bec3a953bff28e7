"""Vectors whose length changes from step to step of a loop."""

import numpy as np

from tests.support.programs.declared import another, case, refused

X = np.array([0.5, -1.0, 2.0, 0.25, -3.0, 1.5, 4.0, -0.5])
GRAPH = np.array([[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])


@case((GRAPH, 0), (GRAPH, 2), (GRAPH, 4), (GRAPH[:1, :1], 0))
def levels(follows, start):
    n = len(follows)
    level = np.full(n, -1)
    level[start] = 0
    frontier = np.array([start])
    depth = 0
    while len(frontier) > 0:
        depth += 1
        found = np.zeros(n, dtype=bool)
        for u in frontier:
            for v in range(n):
                if follows[u, v] and level[v] < 0:
                    level[v] = depth
                    found[v] = True
        frontier = np.nonzero(found)[0]
    return level


@case((GRAPH == 1,), (GRAPH[:1, :1] == 1,))
def from_the_first(follows):
    seen = np.zeros(len(follows), dtype=bool)
    seen[0] = True
    frontier = np.array([0])
    depth = 0
    while frontier.size > 0:
        following = np.zeros(len(follows), dtype=bool)
        for u in frontier:
            following |= follows[u]
        following &= ~seen
        seen |= following
        frontier = np.flatnonzero(following)
        depth += 1
    return depth, seen


@case((30,), (2,), (0,), (100,))
def sieve(n):
    candidates = np.arange(2, n)
    primes = []
    while len(candidates):
        primes.append(candidates[0])
        candidates = candidates[candidates % candidates[0] != 0]
    return primes


@case((X,), (X[:1],), (X[:0],), (X.astype(np.float32),))
def above_the_mean(x):
    before = x
    steps = 0
    while x.size > 2:
        before = x
        x = x[x > x.mean()]
        steps += len(before) - len(x)
    return steps, before, x


@case((X,), (X[:3],), (X[:1],), (np.ones(33),))
def summed_by_pairs(x):
    while len(x) > 1:
        if len(x) % 2:
            x = np.append(x, 0.0)
        x = x[0::2] + x[1::2]
    return x[0]


@case((np.array([7, 3, 7, 12, 40]),), (np.array([3]),), (np.array([], int),))
def halved(x):
    different = np.unique(x)
    steps = 0
    while len(different) > 1:
        different = np.unique(different // 2)
        steps += 1
    return steps


@another((X, 0), (X, 1), (X, 3), (X[:2], 4))
def so_many_times(x, n):
    y = x.copy()
    for _ in range(n):
        y = y[y > y.mean() * 0.5]
        y = y * 1.5
    return y, len(y)


@another((X, 0), (X, 3), (X[:1], 8))
def longer_each_time(x, n):
    y = x.copy()
    for i in range(n):
        y = np.concatenate([y, y[:1] + i])
    return y


@another((X[:1], 3), (X[:1], 12))
def doubled(x, n):
    y = np.array([1.0])
    for _ in range(n):
        y = np.concatenate([y, 1 - y])
    return y, len(y)


@another((X, 0), (X, 1))
def shorter_at_one_end(x, flag):
    while len(x) > 2:
        if flag > 0:
            x = x[1:]
        else:
            x = x[:-1]
    return x


@another((X,), (np.full(3, 60.0),))
def doubled_while_it_is_small(x):
    y, n = x, x.size
    while y.sum() < 100:
        n = 2 * n
        y = np.ones(n)
    return y


@refused("begin the loop with a copy", (X,))
def assigned_behind(x):
    y = x
    while len(y) > 3:
        y = y[::2]
    y[0] = 5.0
    return y
