"""Lists of traced lengths, lists in lists, and elements at traced places."""

import collections

import numpy as np
from tests.support.programs.declared import another, case, refused

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


@case((X, 4))
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


@case((np.float32(1.5), 2), (np.float32(1.5), -1), (np.float32(1.5), -4))
def lists_at_traced_places(x, i):
    weights = [1.0, 2.0, 4.0]
    mixed = (1, 2, 3)
    out = x * weights[i] + x * mixed[i]
    for v, w in zip(np.ones(3, dtype=np.float32), weights):
        out = out + v * w
    return out, weights[i], mixed[i]


@case((X, 1), (X, -3), (X, 3))
def lists_assigned_at_traced_places(x, i):
    a = [0.0, 0.0, 0.0]
    b = [(0, 0.0), (1, 1.0), (2, 2.0)]
    a[i] = x[0]
    b[i] = (7, 8.0)
    for k in range(len(x)):
        a[k % 3] += x[k]
        first, second = b[k % 3]
        b[k % 3] = (first + 1, second + x[k])
    return a, b, a[-1], len(a), b[i][1]


@case((X, 1), (X, 2), (X, 0))
def lists_of_arrays_at_traced_places(x, i):
    rows = [x, x * 2, x * 3]
    s = 0.0
    for k in range(len(x)):
        s += rows[(i + k) % 3][k]
    return rows[i] + 1, s


@case((X, 1), (X, 0))
def element_of_a_list_is_written(x, i):
    rows = [x.copy(), x * 2]
    row = rows[i]
    row[0] = 5.0
    return rows


@case((X, 1), (X, 0))
def element_of_a_list_is_read_after_a_write(x, i):
    a = x.copy()
    rows = [a, x * 2]
    row = rows[i]
    a[0] = 5.0
    return row


NUMBERS = np.arange(17) * 7 % 13


@case((NUMBERS, 3), (NUMBERS[:1], 1), (NUMBERS[:0], 2))
def lists_made_in_a_step(x, n):
    base = [0, 1, 2, 3]
    found = np.zeros((n, 10), dtype=int)
    for i in range(n):
        made = [
            [0] * 4,
            2 * [0, i],
            [0, 0] + [1, 2],
            base[:],
            base[::-1],
            list(base),
            base.copy(),
            sorted(base),
            list(reversed(base)),
            list(range(4)),
        ]
        for k in range(10):
            counts = made[k]
            for v in x:
                counts[v % 4] += 1
            found[i, k] = counts[1] * (i + 1) + counts[3]
    return found, base


@case((NUMBERS,), (NUMBERS[:1],), (np.array([999, 5, 70]),), (NUMBERS[:0],))
def radix_sort(a):
    if len(a) == 0:
        return a
    out = a.copy()
    exponent = 1
    while out.max() // exponent > 0:
        counts = [0] * 10
        for v in out:
            counts[(v // exponent) % 10] += 1
        for d in range(1, 10):
            counts[d] += counts[d - 1]
        sorted_ = np.empty_like(out)
        for v in out[::-1]:
            d = (v // exponent) % 10
            counts[d] -= 1
            sorted_[counts[d]] = v
        out = sorted_
        exponent *= 10
    return out


@case((np.array([1, 2, 1, 2, 1, 3]), np.array([1, 2, 1])), (NUMBERS[:0], NUMBERS[:1]))
def places_of_a_pattern(text, pattern):
    m = len(pattern)
    if m == 0:
        return list(range(len(text)))
    fails = [0] * m
    k = 0
    for i in range(1, m):
        while k and pattern[k] != pattern[i]:
            k = fails[k - 1]
        if pattern[k] == pattern[i]:
            k += 1
        fails[i] = k
    found = []
    k = 0
    for i, each in enumerate(text):
        while k and pattern[k] != each:
            k = fails[k - 1]
        if pattern[k] == each:
            k += 1
        if k == m:
            found.append(i - m + 1)
            k = fails[k - 1]
    return found


@case(
    (X,), (X.astype("f"),), (np.array([3, 1, 4]),), (np.array([3, 1], "u1"),), (X > 1,), (np.array([2**63 - 1], "u8"),)
)
def listed(x):
    return x.tolist()


@case((np.array([[1, 2], [3, 4]]),), (np.zeros((0, 2)),), (np.ones((2, 0)),))
def listed_rows(x):
    found = x.tolist()
    total = 0
    for row in found:
        for v in row:
            total += v
    return found, total * 1.0


@case((X,), (np.array([3, 1, 4]),))
def listed_and_changed(x):
    held = x.tolist()
    held[0] = 0.5
    x[1] = 7
    return held[1] * 1.0, np.array(held)


@case((X,), (np.array([3, 1, 4, 1]),), (X[:0],))
def listed_and_popped(x):
    held, total = x.tolist(), 0.0
    while held:
        total += held.pop() / 2
    return total


@case((X, 2.0), (np.array([3, 1, 4, 1]), 1))
def sum_that_is_listed(x, t):
    return x.sum().tolist() * t if x[0] > t else x.max().tolist()


M = np.arange(12.0).reshape(3, 4)


@case((M, 1, 2))
@another((M, 0, 0), (M, -1, 2), (M, 5, 0))
def indexed_by_lists(m, i, j):
    total = 0.0
    for k in range(i, j + 1):
        total += m[k, [i, j]].sum()
    m[[i, j]] += 1
    m[0, [i, j]] = 5
    return m[[i, j]], m[:, [j, i]], m[[i, j], [j, i]], total


@another((M, np.array([2, 0, 3])))
def indexed_by_longer_lists(m, x):
    kept = []
    for v in x:
        if v != 0:
            kept.append(v)
    return m[[int(v) for v in x if v < 3]], m[:, kept].sum()


@case((np.array([4, 4, 1, 1]), 4))
@another((np.array([3, 1, 2]), 1), (np.array([], int), 1), (np.array([2, 3]), 7))
def found_counted_and_removed(x, k):
    held, queue = [], collections.deque()
    for v in x:
        held.append(int(v))
    n = held.count(k)
    for v in x:
        queue.appendleft(int(v))
        if len(queue) > 2:
            queue.pop()
        queue.rotate(1)
    while k in held:
        n += 10 * held.index(k)
        held.remove(k)
    return held, n, queue, isinstance(held, list), isinstance([0] * len(x), (list, set)), type(queue) is list


@another((np.array([3, 1, 2]), 1), (np.array([3, 1, 2]), 9))
def removed_in_a_loop(x, k):
    held = []
    for v in x:
        held.append(int(v))
        if len(held) == 3:
            held.remove(k)
    return held


@another((10, 3), (0, 1), (7, 7))
def josephus(n, k):
    queue, out = collections.deque(range(n)), []
    while queue:
        queue.rotate(-(k - 1))
        out.append(queue.popleft())
    return out


@case((np.array([4.0]), 1))
@another((np.array([4.0, 1.0, 3.0]), 3), (np.zeros(0), 0))
def sorted_in_each_step(cost, k):
    waiting, order = [(cost[i], i) for i in range(len(cost))], []
    while waiting and len(order) < k + 2:
        waiting.sort()
        c, i = waiting.pop(0)
        order.append(i)
        if c < 5:
            waiting.append((c + 2.5, i + 10))
    return order
