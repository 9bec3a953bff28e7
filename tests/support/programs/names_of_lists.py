"""Lists whose lengths are traced, which have two names, or are elements of others, and become longer or shorter."""

import numpy as np

from tests.support.programs.declared import case, refused


def lengthened(held, n):
    while len(held) < 2 * n:
        held.append(len(held))


@case((0,), (1,), (3,))
def extended_in_place(n):
    a = [i for i in range(n)]
    b = a
    a += [7]
    a[0] = 5
    return b, a


@case((0,), (1,), (3,))
def longer_in_a_branch(n):
    a = [1] * n
    b = a
    if n > 2:
        a += [3]
    return b


@case((0,), (1,), (3,))
def longer_in_a_loop(n):
    a = [1] * n
    b = (a, n)
    for i in range(n):
        a.append(i)
    return b


@case((0,), (1,), (4,))
def shorter_in_a_loop(n):
    a = [1] * n
    b = a
    while len(a) > n // 2:
        a.pop()
    return a, b


@case((0,), (1,), (3,))
def longer_in_a_callee(n):
    a = [1] * n
    lengthened(a, n)
    return a


@case((0,), (1,), (3,))
def grown_from_nothing_under_two_names(n):
    a = []
    b = a
    for i in range(n):
        a += [i]
    return b, a


@case((0,), (1,), (3,))
def repeated_in_place(n):
    a = [0, 1]
    b = a
    a *= n
    c = [2] * n
    d = c
    c *= 2
    return b, d


@case((0,), (1,), (3,))
def repeated_lists_of_traced_length(n):
    a = [i for i in range(n)]
    return a * 2, 2 * a, a * n, n * a, a * -1


@case((0, 5), (3, 20000))
def longer_behind_loops(n, m):
    a = [i for i in range(n)]
    b = a
    for i in range(n):
        a[i] = a[i] + 1
    total = 0
    for i in range(m):
        total += i % 7
    a.append(5)
    return b, total


@case((2,), (4,))
def lists_in_a_list_become_longer(n):
    rows = [[k] * n for k in range(n)]
    row = rows[1]
    row.append(5)
    rows[0] += [1]
    rows[n - 1].pop()
    rows[n - 1].reverse()
    return rows


@case((np.array([2, 5]), 11), (np.array([4]), 6), (np.array([3]), 0))
def fewest_coins(coins, n):
    fewest = [0] + [float("inf")] * n
    for i in range(1, n + 1):
        for c in coins:
            if c <= i and fewest[i - c] + 1 < fewest[i]:
                fewest[i] = fewest[i - c] + 1
    return np.array(fewest, dtype=float)
