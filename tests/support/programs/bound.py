"""Variables that steps of loops, or branches, bind to other lists: rows of dynamic programs, levels, passes."""

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
FIRST, SECOND = np.array([1, 2, 3, 4, 2]), np.array([2, 3, 1, 4])
GRAPH = np.array([[0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]])


@case((FIRST, SECOND), (SECOND, FIRST), (FIRST, SECOND[:0]))
def levenshtein(a, b):
    m = len(b)
    prev = list(range(m + 1))
    for i in range(len(a)):
        cur = [i + 1]
        for j in range(m):
            cost = 0 if a[i] == b[j] else 1
            cur.append(min(prev[j + 1] + 1, cur[j] + 1, prev[j] + cost))
        prev = cur
    return prev[m]


@case((FIRST, SECOND), (SECOND, FIRST), (FIRST, SECOND[:0]))
def longest_common(a, b):
    prev = [0] * (len(b) + 1)
    for x in a:
        cur = [0]
        for j, y in enumerate(b):
            if x == y:
                cur.append(prev[j] + 1)
            else:
                cur.append(max(cur[-1], prev[j + 1]))
        prev = cur
    return prev[-1]


@case((FIRST, SECOND), (SECOND, FIRST), (FIRST[:0], SECOND))
def smith_waterman(a, b):
    prev = [0.0] * (len(b) + 1)
    best = 0.0
    for x in a:
        cur = [0.0]
        for j in range(len(b)):
            score = prev[j] + (2.0 if x == b[j] else -1.0)
            cur.append(max(0.0, score, prev[j + 1] - 0.5, cur[-1] - 0.5))
            best = max(best, cur[-1])
        prev = cur
    return best


@case((4,), (0,), (1,))
def pascal_of_slices(n):
    row = [1]
    for _ in range(n):
        row = [1] + [row[i] + row[i + 1] for i in range(len(row) - 1)] + [1]
    return row


@case((4,), (0,), (1,))
def pascal_of_appends(n):
    row = [1]
    for _ in range(n):
        new = [1]
        for i in range(len(row) - 1):
            new.append(row[i] + row[i + 1])
        new.append(1)
        row = new
    return row


@case((X, 4), (X, 1), (X, 0))
def first_is_kept(x, n):
    first = [1.0]
    row = first
    for i in range(n):
        new = [0.5]
        for v in row:
            new.append(v + i)
        row = new
    return np.array(first), np.array(row)


@case((X, 4), (X, 1), (X, 0))
def two_rows(x, n):
    old, row = [0.0], [1.0]
    for i in range(n):
        new = [0.5]
        for v in row:
            new.append(v + x[i])
        old = row
        row = new
    return np.array(old), np.array(row)


@case((4,), (1,), (0,))
def swapped(n):
    a, b = [1.0], [2.0, 3.0]
    for _ in range(n):
        a, b = b, a
    return a, b


@case((5,), (1,), (0,))
def words_of_fibonacci(n):
    a, b = [1], [2, 3]
    for _ in range(n):
        a, b = b, a + b
    return a, b


@case((GRAPH,), (GRAPH[:1, :1],))
def levels(graph):
    n = len(graph)
    distance = np.full(n, -1)
    distance[0] = 0
    level, depth = [0], 0
    while level:
        depth += 1
        following = []
        for u in level:
            for v in range(n):
                if graph[u, v] and distance[v] < 0:
                    distance[v] = depth
                    following.append(v)
        level = following
    return distance


@case((X,), (X[:1],), (X[:4],))
def sums_of_pairs(x):
    held = [v for v in x]
    while len(held) > 1:
        pairs = []
        for i in range(0, len(held) - 1, 2):
            pairs.append(held[i] + held[i + 1])
        if len(held) % 2 == 1:
            pairs.append(held[-1])
        held = pairs
    return held[0]


@case((5,), (1,), (25,))
def digits_of_factorial(n):
    digits = [1]
    for k in range(2, n + 1):
        carry, new = 0, []
        for d in digits:
            v = d * k + carry
            new.append(v % 10)
            carry = v // 10
        while carry:
            new.append(carry % 10)
            carry //= 10
        digits = new
    return digits[::-1]


@case((3,), (0,), (6,))
def look_and_say(n):
    said = [1]
    for _ in range(n):
        out, i = [], 0
        while i < len(said):
            j = i
            while j < len(said) and said[j] == said[i]:
                j += 1
            out.append(j - i)
            out.append(said[i])
            i = j
        said = out
    return said


@case((X, 4), (X, 1))
def from_nothing(x, n):
    row = []
    for i in range(n):
        new = [x[i]]
        for v in row:
            new.append(v * x[i])
        row = new
    return np.array(row)


@case((X, 4), (X, 1))
def appended_to_zeros(x, n):
    held = [0.0] * n
    for i in range(n):
        if x[i] > 0:
            held.append(x[i] * 2)
    held[0] = x[1]
    return np.array(held)


@case((X, 2.0), (X, 20.0))
def bound_in_a_branch(x, t):
    out = [x[3]]
    if x[0] > t:
        out = [x[1], x[2]]
    out.append(x[4])
    return np.array(out), len(out)


@refused("may be another one's, too", (X, 4))
def bound_to_one_from_outside(x, n):
    base, row = [1.0, 2.0], [1.0]
    for _ in range(n):
        row = base
    row.append(x[0])
    return np.array(base), np.array(row)


@refused("may be another one's, too", (X, 4))
def bound_to_one_that_another_holds(x, n):
    row = [1.0]
    new = row
    for i in range(n):
        new = [0.5]
        for v in row:
            new.append(v + x[i])
        row = new
    new.append(7.0)
    return np.array(row), len(new)


@case((X, 4), (X, 1))
def changed_and_bound(x, n):
    row = [1.0]
    keep = row
    for i in range(n):
        row.append(x[i])
        new = [0.5]
        for v in row:
            new.append(v)
        row = new
    return np.array(keep), np.array(row)


@case((GRAPH, 3), (GRAPH, 1))
def neighbours_of_each(graph, k):
    neighbours = [np.nonzero(graph[u])[0] for u in range(k)]
    total = 0
    for u in range(k):
        for v in neighbours[u]:
            total += v
    return total


@case((X, 2.0), (X, 20.0))
def of_several_lengths(x, t):
    if x[0] > t:
        out = [x[2], x[1]]
    else:
        out = [x[2]]
    return np.array(out)


@case((X, 2.0), (X, 20.0), (X, -20.0), (-X, -1.0))
def of_several_branches(x, t):
    if x[0] > t:
        out = [x[4], x[1]]
    elif x[1] > t:
        out = []
    else:
        out = [x[2], x[0], x[3]]
    out.append(x[2])
    return np.array(out), len(out)


@case((X, 2.0), (X, 20.0))
def returned_of_several_lengths(x, t):
    if x[0] > t:
        return [x[0], x[1]]
    return [x[2]]


@case((X, 2.0), (X, 20.0))
def nothing_is_returned(x, t):
    if x[0] > t:
        return []
    out = []
    for v in x:
        out.append(v * 2)
    return out


@case((X, 2.0), (X, 20.0), (X, -20.0))
def first_below(x, t):
    for i in range(len(x)):
        if x[i] < t:
            return [i]
    return []


@case((X, 2.0), (X, 20.0))
def of_comprehensions(x, t):
    if x[0] > t:
        out = [v * t for v in x]
    else:
        out = [0.0] * 2
    return np.array(out)


@case((X, 2.0), (X, 20.0))
def value_of_several_lengths(x, t):
    held = [x[0]] if x[0] > t else [x[1], x[2]]
    return sum(held), len(held)


@refused("may be another one's, too", (X, 2.0), (X, 20.0))
def bound_to_one_from_outside_in_a_branch(x, t):
    base = [1.0, 2.0]
    if x[0] > t:
        out = base
    else:
        out = [x[1]]
    out.append(5.0)
    return len(base), len(out)


@refused("may be another one's, too", (X, 2.0), (X, 20.0))
def two_are_bound_to_one(x, t):
    if x[0] > t:
        a = [1.0, x[1]]
        b = a
    else:
        a = [x[2]]
        b = a
    b.append(3.0)
    return np.array(a), np.array(b)


@refused("that two variables may share", (X, 2.0))
def bound_in_a_branch_and_appended_to(x, t):
    row, new = [1.0], [x[0]]
    if x[1] < t:
        row = new
    new.append(2.0)
    return np.array(row)


@refused("that two variables may share", (X, 2.0))
def bound_in_a_branch_and_assigned_to(x, t):
    row, new = [1.0], [x[0]]
    if x[1] < t:
        row = new
    row[0] = 2.0
    return np.array(new)


@refused("that two variables may share", (X, 2))
def bound_in_a_loop_and_assigned_to(x, n):
    row, new = [1.0], [x[0]]
    for _ in range(n):
        row = new
    new[0] = 2.0
    return np.array(row)


@refused("that two variables may share", (X, 2))
def bound_in_a_branch_of_a_loop(x, n):
    row, total = [1.0], 0
    for i in range(n):
        new = [x[i]]
        if x[i] > 0:
            row = new
        new.append(x[i] * 2)
        total += len(row)
    return np.array(row), total


@refused("that two variables may share", (X, 2.0))
def dict_that_is_bound(x, t):
    held, new = {"a": x[1]}, {"a": x[0]}
    if x[1] < t:
        held = new
    new["a"] = t
    return held["a"]


@case((X, 2.0), (X, -2.0))
def bound_and_read(x, t):
    row, new = [1.0], [x[0]]
    if x[1] < t:
        row = new
    return np.array(row), np.array(new)


@case((X, 2.0), (X, -2.0))
def bound_to_copies(x, t):
    row, new = [1.0], [x[0]]
    if x[1] < t:
        row = new[:]
    new.append(t)
    row[0] += 1
    return np.array(row), np.array(new)


@case((X, 4), (X, 0))
def lists_of_one_length_swapped(x, n):
    a, b = [x[0], x[1]], [x[2], x[3]]
    for i in range(n):
        a, b = b, a
        a[0] = x[i]
    return np.array(a), np.array(b)


@case((X, 4), (X, 1))
def sums_that_begin_anew(x, n):
    held, total = [0.0, 0.0], 0.0
    for i in range(n):
        held[0] += x[i]
        if x[i] < 0:
            held = [0.0, 1.0]
        total += held[0]
    held[1] = 5.0
    return np.array(held), total * 1.0


@case((X, 4), (X, 2))
def dict_that_begins_anew(x, n):
    held = {"a": x[4]}
    for i in range(n):
        held["a"] += x[i]
        if x[i] < 0:
            held = {"a": x[0]}
    held["a"] += 1
    return held["a"]


@refused("that two variables may share", (X, 4))
def changed_under_the_other_name(x, n):
    row, total = [1.0], 0
    for i in range(n):
        new = [x[i]]
        row = new
        if x[i] > 0:
            row = [3.0]
        new[0] = 9.0
        total += row[0]
    return total
