"""Lists that the steps of loops append to, on some paths alone."""

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((X, 2.0), (X, 20.0), (X, -20.0))
def append_in_branch(x, t):
    out = []
    for v in x:
        if v > t:
            out.append(v)
    return np.array(out)


@case((X, 2.0), (X, 20.0))
def append_in_branch_len(x, t):
    out = []
    for i in range(len(x)):
        if x[i] > t:
            out.append(i)
    return len(out), out, sum(out)


@case((X, 2.0), (X, 20.0))
def append_in_both(x, t):
    out, low = [x[0]], []
    for v in x:
        if v > t:
            out.append(v)
            out.append(2 * v)
        elif v < 0:
            low.append(v)
        else:
            out.append(-v)
        out.append(x[0])
    return out, low


@case((np.array([1, 1, 2, 3, 3, 3]),))
def run_length(x):
    values, counts = [], []
    current, count = x[0], 0
    for v in x:
        if v == current:
            count += 1
        else:
            values.append(current)
            counts.append(count)
            current, count = v, 1
    return np.array(values), np.array(counts), current, count


@case((X, 2.0))
def local_maxima(x, t):
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            if x[i] > t:
                found.append(i)
    return found


@case((X, 2.0))
def append_and_continue(x, t):
    out = []
    for v in x:
        if v < 0:
            continue
        out.append(v * t)
    return np.sum(out)


@case((np.array([[1.0, 2], [3, -4], [5, 6]]),))
def append_rows(m):
    rows = []
    for row in m:
        if row.sum() > 0:
            rows.append(row * 2)
    return np.array(rows)


@case((30,), (2,))
def primes(n):
    out = []
    for k in range(2, n + 1):
        is_prime = True
        for d in range(2, k):
            if d * d > k:
                break
            if k % d == 0:
                is_prime = False
                break
        if is_prime:
            out.append(k)
    return out


@case((X, 2.0))
def nested_condition(x, t):
    out = []
    for v in x:
        if v > 0:
            if v > t:
                out.append(v)
            else:
                out.append(-v)
                out.append(0.5)
    return out


@refused("give it one structure", (X, 2.0))
def append_after_branch_at_top(x, t):
    out = [x[0]]
    if x[1] > t:
        out.append(x[1])
    return len(out)


@refused("a list is read in the loop", (X, 2.0))
def list_read_in_loop(x, t):
    out = []
    for v in x:
        if len(out) < 2 and v > 0:
            out.append(v)
    return out


@refused("grows in a loop whose number of steps is not known", (X, 2.0))
def break_after_append(x, t):
    out = []
    for v in x:
        if v < -5:
            break
        out.append(v)
        if v > 2.4 and v < 2.6:
            break
    return out


@refused("numbers and arrays can be", (X, 2.0))
def append_tuples(x, t):
    out = []
    for i, v in enumerate(x):
        if v > t:
            out.append((i, v))
    return len(out)
