"""Programs that look for the ends of parts of an array, in loops and branches, and then work on each part."""

import numpy as np

from tests.support.programs.declared import case

X = np.array([1.0, 2.0, 3.0, -1.0, 4.0, 5.0, -2.0, 6.0])
T = np.array([0.0, 2.5, 10.0])


@case((X,), (X[:1],), (X[3:4],), (-X,))
def sums_of_runs(x):
    n, i, k = len(x), 0, 0
    out = np.zeros(n)
    while i < n:
        j = i
        while j < n and x[j] > 0:
            j += 1
        out[k] = (x[i:j] ** 2).sum()
        k += 1
        i = j + 1
    return out, k


@case((X,), (X[:1],))
def runs_reversed(x):
    n, i = len(x), 0
    x = x.copy()
    while i < n:
        j = i
        while j < n and x[j] > 0:
            j += 1
        x[i:j] = x[i:j][::-1] + (j - i)
        i = j + 1
    return x


@case((X,), (X[:1],))
def runs_within_runs(x):
    n, i, total = len(x), 0, 0.0
    x = x.copy()
    while i < n:
        j = i
        while j < n and x[j] > 0:
            j += 1
        y = np.sort(x[i:j])[::-1]
        m = 0
        while m < len(y) and y[m] > 1.5:
            m += 1
        x[i : i + m] = y[:m] * 10 + total
        total += y[m:].sum()
        i = j + 1
    return x, total


@case((X, 0), (X, 3), (X, 20))
def wrong_position_in_a_run(x, a):
    n, i = len(x), 0
    out = np.zeros(n + 1)
    while i < n:
        j = i
        while j < n and x[j] > 0:
            j += 1
        out[i] = x[i:j].sum()
        out[j] += x[a + i]
        i = j + 1
    return out


@case((np.array([1.0, 3, 2, 4, 3.5, 5, 0.5]),), (np.array([3.0, 2, 1]),), (np.array([1.0]),))
def isotonic_regression(y):
    n = len(y)
    level, weight, start = np.empty(n), np.empty(n), np.empty(n, dtype=np.intp)
    m = 0
    for i in range(n):
        level[m], weight[m], start[m] = y[i], 1.0, i
        m += 1
        while m > 1 and level[m - 2] > level[m - 1]:
            both = weight[m - 2] + weight[m - 1]
            level[m - 2] = (level[m - 2] * weight[m - 2] + level[m - 1] * weight[m - 1]) / both
            weight[m - 2] = both
            m -= 1
    out = np.empty(n)
    for k in range(m):
        end = start[k + 1] if k + 1 < m else n
        out[start[k] : end] = level[k]
    return out


@case((X, T), (X[:2], T))
def medians_of_what_is_larger(x, thresholds):
    out = np.zeros(len(thresholds))
    for k in range(len(thresholds)):
        larger = np.sort(x[x > thresholds[k]])
        if larger.size > 0:
            out[k] = larger[larger.size // 2]
    return out


@case((X, T[:2]), (X, T))
def smallest_of_what_is_larger(x, thresholds):
    out = np.zeros(len(thresholds))
    for k in range(len(thresholds)):
        out[k] = np.sort(x[x > thresholds[k]])[0]
    return out


@case((X, T), (X[:2], T))
def places_of_what_is_larger(x, thresholds):
    out = np.full(len(thresholds), -1)
    for k in range(len(thresholds)):
        places = np.nonzero(x > thresholds[k])[0]
        if len(places):
            out[k] = places[0] + places[-1]
    return out


@case((np.array([3, 1, 2]), X))
def as_long_as_a_loop_says(counts, x):
    total = 0.0
    for i in range(len(counts)):
        n = 0
        while n < 5 and x[n] > counts[i]:
            n += 1
        z = np.arange(n + 1) * 1.0
        z[0] = 3
        total += z @ z
    return total


@case((12,), (97,))
def largest_palindrome(n):
    best = 0
    for k in range(n):
        m, length = k, 0
        while m:
            m //= 10
            length += 1
        digits = np.zeros(length + 1, dtype=np.int64)
        m = k
        for p in range(length):
            digits[p] = m % 10
            m //= 10
        if (digits[:length] == digits[:length][::-1]).all():
            best = k
    return best
