"""Lists that the steps of short loops append to, which trace each step: loops of known lengths that end early."""

import numpy as np

from tests.support.programs.declared import case

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_before_break(x, t):
    out = []
    for i in range(4):
        out.append(x[i])
        if x[i] > t:
            break
    return np.array(out)


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_behind_break(x, t):
    out = []
    for i in range(4):
        if x[i] > t:
            break
        out.append(x[i])
    return out, len(out)


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_around_break(x, t):
    out, places = [], []
    for i in range(4):
        out.append(x[i])
        if x[i] > t:
            break
        places.append(i)
    return np.array(out), len(places), sum(out), places


@case((X, 1.5), (X, 20.0))
def append_over_a_tuple(x, t):
    out = []
    for v in (1.0, 2.0, 3.0):
        out.append(v * x[0])
        if v > t:
            break
    else:
        out.append(x[1])
    return max(out), len(out)


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_to_what_is_read(x, t):
    out = [x[4]]
    for i in range(3):
        if x[i] > t:
            break
        out.append(out[-1] * x[i])
    else:
        out.append(out[0] + 1)
    return out


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def pop_before_break(x, t):
    out = [x[0], x[1], x[2], x[3]]
    total = 0.0
    for k in range(3):
        total += out.pop() * k
        if total > t or x[k] > t:
            break
    return total, out


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_in_a_dict_of_lists(x, t):
    held = {"values": [], "count": 0}
    for i in range(4):
        held["count"] += 1
        if x[i] > t:
            break
    return held["count"], len(held["values"])


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_in_short_loops_of_loops(x, t):
    out = []
    for i in range(3):
        for j in range(2):
            out.append(x[i] + j)
            if x[i + j] > t:
                break
        else:
            out.append(x[4])
    return np.array(out)


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_and_return(x, t):
    out = []
    for i in range(3):
        out.append(x[i])
        if x[i] > t:
            return sum(out), i
    return x[4] + len(out), -1


@case((X, 2.0), (-X, 2.0), (X, 20.0))
def append_under_two_names(x, t):
    out = []
    same = out
    for i in range(3):
        out.append(x[i])
        if x[i] > t:
            break
    same.append(t)
    return np.array(out)
