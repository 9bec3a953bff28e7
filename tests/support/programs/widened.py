"""Lists that begin with integers, or truth values, and get wider numbers: tables of dynamic programs."""

import numpy as np

from tests.support.programs.declared import case

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
WEIGHTS, WORTH = np.array([1, 3, 4, 5]), np.array([1.5, 4.0, 5.0, 7.0])


@case((X, 4), (X, 1))
def halves(x, n):
    table = [0] * (n + 1)
    for i in range(n):
        table[i] = 0.5 * x[i]
    return np.array(table)


@case((WEIGHTS, WORTH, 7), (WEIGHTS[:2], WORTH[:2], 3))
def knapsack(weights, worth, capacity):
    best = [0] * (capacity + 1)
    for i in range(len(weights)):
        for c in range(capacity, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + worth[i])
    return best[capacity]


@case((3, 4, X), (2, 2, X), (1, 1, X))
def best_path(n, m, x):
    table = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i][j] = max(table[i - 1][j], table[i][j - 1] + x[j - 1])
    return np.array(table)


@case((3, 4, X), (1, 2, X))
def table_of_comprehensions(n, m, x):
    table = [[i for _ in range(m)] for i in range(n)]
    for i in range(n):
        for j in range(m):
            table[i][j] += 0.5 * x[(i * m + j) % 5]
    return np.array(table)


@case((X, 5), (X, 2))
def below_a_condition(x, n):
    table = [0] * n
    for i in range(n):
        if x[i] > 0:
            table[i] = x[i]
    total = 0
    for v in table:
        total += v
    return total, sum(table), max(table)


@case((7,), (2,))
def of_pythons(n):
    table = [0] * (n + 1)
    for i in range(n + 1):
        table[i] = i / 2
    return table


@case((7,), (2,))
def truth_becomes_numbers(n):
    table = [False] * n
    for i in range(n):
        table[i] = i * i
    return np.array(table)


@case((7, 1.0), (2, 0.5))
def complex_roots(n, t):
    table = [0] * n
    for i in range(n):
        table[i] = complex(i, t)
    return np.array(table)


@case((7, 2.0), (1, 2.0))
def outside_of_loops(n, t):
    table = [0] * n
    table[0] = t
    return np.array(table), table[0]


@case((X, 4), (X, 1))
def of_a_slice(x, n):
    table = [1] * n
    other = table[:]
    for i in range(n):
        other[i] = x[i] / (i + 1)
    return np.array(table), np.array(other)


@case((4, X), (0, X))
def in_an_own_function(n, x):
    def rows(m):
        return [0] * m

    first, second = rows(n), rows(n)
    for i in range(n):
        first[i] = x[i]
        second[i] = x[i] * 2
    return np.array(first + second) if n > 0 else np.zeros(0)


@case((5, X), (1, X))
def one_of_two(n, x):
    places, values = [0] * n, [0] * n
    for i in range(n):
        places[i] = n - 1 - i
        values[i] = x[i]
    return np.array(places), [values[places[i]] for i in range(n)]


@case((X, 2.0), (X, 100.0))
def longest_by_weight(x, t):
    n = len(x)
    best = [0] * n
    for i in range(n):
        best[i] = x[i]
        for j in range(i):
            if x[j] < x[i] and best[j] + x[i] > best[i]:
                best[i] = best[j] + x[i]
    return max(best)
