"""Lists to which one path appends, and in whose place another path begins a new one."""

import numpy as np

from tests.support.programs.declared import another, case, refused

X, NONE = np.array([1.0, 2.0, 0.0, 0.0, 5.0, 6.0, 7.0]), np.zeros(0)


@case((X, 0.5), (X, 9.0), (NONE, 0.5), (X[:1], 0.5), (X[2:4], 0.5))
def lengths_of_runs(x, t):
    out = []
    current = []
    for v in x:
        if v > t:
            current.append(v)
        else:
            out.append(len(current))
            current = []
    out.append(len(current))
    return out


@case((X, 0.5), (NONE, 0.5), (X[2:4], 0.5))
def sums_of_runs(x, t):
    out = []
    current = []
    for v in x:
        if v > t:
            current.append(v)
        elif current:
            out.append(sum(current))
            current = []
    if current:
        out.append(sum(current))
    return np.array(out)


def put(held, v):
    held.append(v)


@case((X, 0.5), (NONE, 0.5))
def appended_by_a_function(x, t):
    out = []
    current = []
    for v in x:
        if v > t:
            put(current, v)
        else:
            out.append(max(current) if current else v)
            current = []
    return out


@case((np.array([1, 1, 2, 2, 2, 3]),), (np.array([1]),))
def encoded(x):
    out = []
    current = [x[0]]
    for i in range(1, len(x)):
        if x[i] == x[i - 1]:
            current.append(x[i])
        else:
            out.append((current[0], len(current)))
            current = [x[i]]
    out.append((current[0], len(current)))
    return out


@case((X, 0.5), (NONE, 0.5))
def the_one_before(x, t):
    current = []
    before = []
    n = 0
    for v in x:
        if v > t:
            current.append(v)
        else:
            before = current
            current = []
        n += len(before)
    return n, len(before), len(current)


@case((X, 0.5), (NONE, 0.5))
def first_element_grows(x, t):
    current = [0.0]
    s = np.float64(0.0)
    for v in x:
        if v > t:
            current[0] += v
            current.append(v)
        else:
            s += current[0] * len(current)
            current = [0.0]
    return s


@case((X, 0.5), (NONE, 0.5))
def in_two_loops(x, t):
    current = []
    n = 0
    for i in range(len(x)):
        for j in range(i, len(x)):
            if x[j] > t:
                current.append(x[j])
            else:
                n += len(current)
                current = []
        n += 100 * len(current)
    return n, current


@another((X, 0.5), (NONE, 0.5))
def full_stack(x, t):
    current = []
    n = 0
    for v in x:
        if len(current) == 2:
            current = []
        current.append(v)
        if v == 6.0:
            break
        n += len(current)
    return n, current


@another((X, 0.5), (NONE, 0.5))
def swapped_lists(x, t):
    a, b = [], []
    for v in x:
        if v > t:
            a.append(v)
        else:
            a, b = [], a
    return a, b


@another((X, 0.5), (X, 3.0))
def in_a_branch(x, t):
    current = [1.0, 2.0]
    if x[1] > t:
        current.append(3.0)
    else:
        current = []
    return current


@case((X, 0.5), (NONE, 0.5))
def windows(x, t):
    current = []
    out = []
    for v in x:
        current.append(v)
        if len(current) == 3:
            out.append(sum(current) / 3)
            current = current[1:]
    return out


@refused("may be out of date", (X, 0.5))
def held_in_the_step(x, t):
    current = []
    n = 0
    for v in x:
        old = current
        if v > t:
            current.append(v)
        else:
            current = []
        n += len(old)
    return n


@refused("may be out of date", (X, 0.5))
def held_before(x, t):
    current = []
    pair = (current, 1)
    for v in x:
        if v > t:
            current.append(v)
        else:
            current = []
    return len(pair[0]), len(current)
