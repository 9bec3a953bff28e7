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


@case((X, 2.0), (-X, 2.0))
def append_after_branch_at_top(x, t):
    out = [x[0]]
    if x[1] > t:
        out.append(x[1])
    return len(out)


@case((X, 2.0), (-X, 2.0), (np.zeros(0), 1.0))
def list_read_in_loop(x, t):
    out = []
    for v in x:
        if len(out) < 2 and v > 0:
            out.append(v)
    return out


@case((X, 2.0), (X, -20.0))
def break_after_append(x, t):
    out = []
    for v in x:
        if v < -5:
            break
        out.append(v)
        if v > 2.4 and v < 2.6:
            break
    return out


@case((X, 2.0), (-X, 2.0))
def append_tuples(x, t):
    out = []
    for i, v in enumerate(x):
        if v > t:
            out.append((i, v))
    return len(out)


@case((27,), (1,))
def until_one(n):
    out = [n]
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        out.append(n)
    return out


@case((np.array([5.0, -1.0, 2.5]), 2.6), (np.array([5.0, -1.0, 2.5]), 100.0), (np.zeros(0), 1.0))
def until_a_break(x, t):
    out = [0.5]
    for v in x:
        if v < t and v < 0:
            break
        if v != 3.0:
            out.append(v * 2)
    return np.array(out)


@case((3.0, 100.0), (3.0, 1e9))
def steps_of_newton(z, a):
    steps = [z]
    for i in range(20):
        new = 0.5 * (z + a / z)
        steps.append(new)
        if abs(new - z) < 1e-10:
            break
        z = new
    else:
        return np.array(steps), -1
    return np.array(steps), i


@case((np.array([5.0, 1.0, 2.5]), 3), (np.array([5.0, 1.0]), 0))
def arrays_until(x, n):
    out = [x]
    k = 0
    while x.sum() < 100 and k < n:
        x = x * 2 + 1
        k += 1
        out.append(x)
    return np.array(out), len(out)


@case((np.array([5.0, 1.0, -2.5, 3.0]),), (np.array([-5.0]),), (np.array([5.0, 1.0]),))
def written_and_appended(x):
    out = [x.sum()]
    i = 0
    while x[i] > 0:
        x[i] += 1
        out.append(x[i])
        i += 1
    return out


@case((np.array([5.0, 0.5, 17.0]),), (np.array([0.5]),))
def halvings_of_each(x):
    total = 0.0
    for v in x:
        steps = [v]
        w = abs(v)
        while w > 1:
            w /= 2
            steps.append(w)
        total += np.array(steps).sum() * len(steps)
    return total


@refused("grows in a loop whose number of steps is not known", (3.0,))
def appended_and_printed(x):
    out = []
    while x > 1:
        x /= 2
        print(x)
        out.append(x)
    return out
