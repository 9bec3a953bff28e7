"""Operators and methods of sets whose elements are traced, and of dicts that give up keys."""

import numpy as np

from tests.support.programs.declared import another, case, refused

NONE = np.array([], int)
X, Y = np.array([3, 1, 2, 3]), np.array([2, 5])
REACHED = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])


@case((X, Y), (NONE, Y), (X, NONE), (X, np.array([2, 3, 1])), (np.array([1, 2]), X))
def of_two_sets(x, y):
    a, b = {int(v) for v in x}, {int(v) for v in y}
    asked = [a.issubset(b), a.issuperset(b), a.isdisjoint(b), a <= b, a < b, a >= b, a > b]
    return asked, sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b)


@case((X, Y), (NONE, Y), (X, NONE))
def changed_in_place(x, y):
    a, b = set(x.tolist()), set(y.tolist())
    c = a.copy()
    other = a
    c ^= b
    a.update(b)
    b.difference_update(a)
    a |= a
    a &= a
    a -= {1}
    return sorted(c), sorted(other), sorted(b), len(a - a)


@case((X, Y), (NONE, Y))
def with_known_sets(x, y):
    a = {int(v) for v in x}
    for v in y:
        a |= {int(v)}
    a &= set(range(100))
    return sorted({1, 2, 50} - a), sorted({1, 2, 50} & a), sorted(a - {2}), len({7} | a), a.isdisjoint([1, 9])


@case((np.array([4]), NONE), (np.array([4]), np.array([4])))
def of_short_lists(x, y):
    a = set(x.tolist())
    a |= set(y.tolist())
    return sorted(a)


@case((REACHED, 0), (REACHED, 3))
def closure(follows, start):
    seen = {int(start)}
    pending = [int(start)]
    while pending:
        u = pending.pop()
        for v in range(len(follows)):
            if follows[u, v] and v not in seen:
                seen |= {v}
                pending.append(v)
    return sorted(seen)


@another((np.array([[1, 2, 3], [2, 3, 4]]),), (np.zeros((0, 3), int),))
def in_all_rows(rows):
    common = set(range(10))
    for row in rows:
        found = set()
        for v in row:
            found.add(int(v))
        common &= found
    return sorted(common)


@case((X,), (NONE,), (Y,))
def taken_out_if_there(x):
    places = {}
    for i in range(len(x)):
        places[int(x[i])] = i
    total = 0
    for k in range(10):
        total += places.pop(k, -1)
    return total, len(places)


@refused(r"min\(x\) and x\.remove", (X,))
def any_element(x):
    return set(x).pop()


@refused("loop over its elements", (X,))
def joined_dicts(x):
    counts = {int(v): 1 for v in x}
    return counts | {1: 2}
