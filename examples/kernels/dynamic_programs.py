"""Dynamic programs: the best of many ways, from the best of their parts (Cormen and others, Introduction to
Algorithms)."""

import numpy as np


def edit_distance(a, b):
    """The fewest insertions, deletions and replacements from ``a`` to ``b`` (Wagner and Fischer 1974).

    One row of the table at a time; what an insertion gives runs along a row, which is a running minimum of each value
    less its position.
    """
    m = b.shape[0]
    positions = np.arange(m + 1)
    row = positions.copy()
    for i in range(a.shape[0]):
        best = row + 1
        replaced = row[:-1] + (b != a[i])
        best[1:] = np.minimum(best[1:], replaced)
        row = np.minimum.accumulate(best - positions) + positions
    return row[m]


def edit_distance_loops(a, b):
    """The same cell by cell, with two rows of the table."""
    n, m = len(a), len(b)
    before = np.arange(m + 1)
    row = np.zeros(m + 1, dtype=np.int64)
    for i in range(1, n + 1):
        row[0] = i
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + cost)
        before, row = row, before
    return before[m]


def common_subsequence_loops(a, b):
    """The longest common subsequence: its length, and its positions in ``a`` and ``b``, -1 behind it.

    A table from the front, and a walk back through it (section 14.4).
    """
    n, m = a.shape[0], b.shape[0]
    lengths = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                lengths[i + 1, j + 1] = lengths[i, j] + 1
            else:
                lengths[i + 1, j + 1] = max(lengths[i, j + 1], lengths[i + 1, j])
    in_a = np.full(n, -1)
    in_b = np.full(n, -1)
    i, j, k = n, m, lengths[n, m]
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            i, j, k = i - 1, j - 1, k - 1
            in_a[k] = i
            in_b[k] = j
        elif lengths[i - 1, j] >= lengths[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return lengths[n, m], in_a, in_b


def viterbi(start, transition, emission):
    """The most probable path through a hidden Markov model, all probabilities as logarithms (Rabiner 1989).

    ``emission`` has a row for each observation. Gives the path and the logarithm of its probability.
    """
    length, states = emission.shape
    best = start + emission[0]
    origins = np.zeros((length, states), dtype=np.int64)
    for t in range(1, length):
        ways = best[:, None] + transition
        origins[t] = np.argmax(ways, axis=0)
        best = np.max(ways, axis=0) + emission[t]
    path = np.zeros(length, dtype=np.int64)
    path[-1] = np.argmax(best)
    for t in range(length - 1, 0, -1):
        path[t - 1] = origins[t, path[t]]
    return path, np.max(best)


def viterbi_loops(start, transition, emission, path):
    """The same state by state; the path goes into ``path``."""
    length, states = emission.shape
    score = np.empty((length, states))
    origins = np.empty((length, states), dtype=np.int32)
    for s in range(states):
        score[0, s] = start[s] + emission[0, s]
    for t in range(1, length):
        for s in range(states):
            best, origin = -np.inf, -1
            for r in range(states):
                way = score[t - 1, r] + transition[r, s]
                if way > best:
                    best, origin = way, r
            score[t, s] = best + emission[t, s]
            origins[t, s] = origin
    last = 0
    for s in range(1, states):
        if score[length - 1, s] > score[length - 1, last]:
            last = s
    path[length - 1] = last
    for t in range(length - 1, 0, -1):
        path[t - 1] = origins[t, path[t]]
    return score[length - 1, last]


def knapsack(weights, values, best):
    """The largest value of items whose weights add up to at most each capacity, in ``best``, which begins with zeros.

    Item by item, all capacities at once: an item that is taken leaves that much less room (Kellerer, Pferschy and
    Pisinger, Knapsack Problems, section 2.3). Gives the largest value, and the smallest capacity that has it.
    """
    for i in range(len(weights)):
        w = weights[i]
        taken = best[:-w] + values[i]
        best[w:] = np.maximum(best[w:], taken)
    largest = best[-1]
    enough = np.argmax(best == largest)
    return largest, enough


def knapsack_loops(weights, values, capacity):
    """The same capacity by capacity, with which items are taken, as bools, and what these weigh."""
    n = weights.shape[0]
    best = np.zeros(capacity + 1, dtype=np.int64)
    taken = np.zeros((n, capacity + 1), dtype=np.bool_)
    for i in range(n):
        for c in range(capacity, weights[i] - 1, -1):
            value = best[c - weights[i]] + values[i]
            if value > best[c]:
                best[c] = value
                taken[i, c] = True
    chosen = np.zeros(n, dtype=np.bool_)
    room = capacity
    for i in range(n - 1, -1, -1):
        if taken[i, room]:
            chosen[i] = True
            room -= weights[i]
    return best[capacity], chosen, capacity - room


def floyd_warshall(distance):
    """The lengths of the shortest ways between all nodes, in ``distance`` itself (section 23.2).

    Each node in turn is allowed on the way. Gives the longest of the shortest ways, and between which nodes it is.
    """
    n = distance.shape[0]
    for k in range(n):
        through = distance[:, k, None] + distance[k]
        distance[:] = np.minimum(distance, through)
    reached = np.where(np.isinf(distance), -1.0, distance)
    far = np.argmax(reached)
    return reached.max(), far // n, far % n


def floyd_warshall_loops(distance):
    """The same pair by pair, with the node that comes before the last on each way, -1 where there is none."""
    n = distance.shape[0]
    length = distance.copy()
    before = np.full((n, n), -1)
    for i in range(n):
        for j in range(n):
            if i != j and length[i, j] < np.inf:
                before[i, j] = i
    for k in range(n):
        for i in range(n):
            for j in range(n):
                way = length[i, k] + length[k, j]
                if way < length[i, j]:
                    length[i, j] = way
                    before[i, j] = before[k, j]
    return length, before


def _texts(rng, n):
    return rng.integers(0, 4, size=n), rng.integers(0, 4, size=n + 3)


def _markov(rng, n, states=6):
    def logarithms(*shape):
        return np.log(rng.dirichlet(np.ones(states), size=shape))

    return logarithms(), logarithms(states), logarithms(n)


def _items(rng, n):
    return rng.integers(1, 12, size=n), rng.integers(1, 50, size=n)


def _graph(rng, n):
    distance = rng.integers(1, 100, size=(n, n)).astype(float)
    distance[rng.random((n, n)) < 0.6] = np.inf
    np.fill_diagonal(distance, 0.0)
    return distance


INPUTS = {
    edit_distance: (_texts, (10, 7, 200, 2000)),
    edit_distance_loops: (_texts, (10, 7, 200, 1000)),
    common_subsequence_loops: (_texts, (10, 7, 200, 1000)),
    viterbi: (_markov, (10, 7, 500, 10_000)),
    viterbi_loops: (lambda rng, n: (*_markov(rng, n), np.zeros(n, dtype=np.int64)), (10, 7, 500, 10_000)),
    knapsack: (lambda rng, n: (*_items(rng, n), np.zeros(3 * n + 20, dtype=np.int64)), (10, 7, 100, 1000)),
    knapsack_loops: (lambda rng, n: (*_items(rng, n), 3 * n), (10, 7, 100, 600)),
    floyd_warshall: (lambda rng, n: (_graph(rng, n),), (8, 5, 60, 300)),
    floyd_warshall_loops: (lambda rng, n: (_graph(rng, n),), (8, 5, 40, 120)),
}
