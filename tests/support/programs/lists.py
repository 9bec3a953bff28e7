"""Lists of traced lengths, lists in lists, and elements at traced places."""

import numpy as np
from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((X, 2))
def list_repeat(x, n):
    out = [0.0] * len(x)
    for i in range(len(x)):
        out[i] = x[i] * n
    return out


@case((3,), (0,), (-2,), (12,))
def plain_repeat(n):
    return np.array([1.0] * n), len([1, 2] * n), [3, 4] * n, n * [True]


@case((X, 2))
def list_of_traced_length(x, n):
    out = [0] * n
    for i in range(n):
        out[i] = i * i
    return sum(out), out


@case((5,), (3,), (12,), (0,))
def table_dp(n):
    t = [[0] * (n + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(n + 1):
            t[i][j] = 1 if i == 0 or j == 0 else t[i - 1][j] + t[i][j - 1]
    return t[n][n], t


@case((X,))
def cumulative(x):
    total = 0
    out = []
    for v in x:
        total += v
        out.append(total)
    return out


@case((5,))
def squares(n):
    return [i * i for i in range(n)], [i / 2 for i in range(n) if i % 2]


@case((3, 2.0))
def nested_list_at(k, v):
    m = [[0.0] * 3 for _ in range(4)]
    for i in range(3):
        m[k][i] = v + i
        m[i][i] = v
    return m


@case((3, 2.0), (-1, 2.0), (7, 0.0))
def nested_list_loop(k, v):
    m = [[0.0] * 3 for _ in range(4)]
    for i in range(k):
        m[i][k - 1] += v + i
        m[i][0] = v
    return m


@case((6, 3))
def knap(n, m):
    t = [[0] * (m + 1) for _ in range(n + 1)]
    w = [1, 2, 3, 4, 5, 6]
    for i in range(1, n + 1):
        for j in range(m + 1):
            t[i][j] = t[i - 1][j]
            if w[i - 1] <= j:
                t[i][j] = max(t[i][j], t[i - 1][j - w[i - 1]] + w[i - 1])
    return t[n][m]


@case((30,))
def sieve(n):
    is_prime = [True] * (n + 1)
    is_prime[0] = is_prime[1] = False
    i = 2
    while i * i <= n:
        if is_prime[i]:
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
        i += 1
    return sum(is_prime), is_prime


@case(
    (30,),
)
def fibs(n):
    f = [0] * n
    f[1] = 1
    for i in range(2, n):
        f[i] = f[i - 1] + f[i - 2]
    return f


@refused(r"begin with such numbers, \[0.0\] \* n", (X, 4))
def wider_than_the_list(x, n):
    out = [0] * n
    for i in range(n):
        out[i] = x[i]
    return out


@refused("taken from another one at a place that is traced", (2,), (0,))
def row_at_a_traced_place(k):
    table = [[0.0] * 2 for _ in range(3)]
    row = table[k]
    if k > 0:
        row[0] = 1.0
    return table


@refused(r"begin with such numbers, \[np.float32\(0\)\] \* n", (X.astype("f"), 4))
def narrower_than_the_list(x, n):
    out = [0.0] * n
    for i in range(n):
        out[i] = x[i]
    return out
