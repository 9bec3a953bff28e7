"""Programs whose variables are None until a loop or a branch gives them a value."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.programs.declared import case, refused

RNG = np.random.default_rng(3)
X = np.array([5.0, 1.0, 2.5, 0.25])


@case((X, 2.0), (X[:1], 2.0), (X[:0], 2.0))
def nearest(x, target):
    best = None
    arg = -1
    for i in range(len(x)):
        d = (x[i] - target) ** 2
        if best is None or d < best:
            best = d
            arg = i
    if best is None:
        raise ValueError("empty")
    return best, arg


@case((RNG.random((6, 3)), np.array([0.5, 0.5, 0.5])), (RNG.random((1, 3)), np.zeros(3)))
def nearest_row(points, target):
    best = None
    distance = None
    for row in points:
        d = np.sum((row - target) ** 2)
        if distance is None or d < distance:
            distance, best = d, row.copy()
    assert best is not None
    assert distance is not None
    return best * 2, distance


@case((X,), (X[:1],), (X[:0],))
def differences(x):
    previous = None
    total = np.float64(0.0)
    for v in x:
        if previous is not None:
            total += abs(v - previous)
        previous = v
    return total + 1.0 * (previous is None)


@case((X,), (X[:1],))
def used_after_the_first_step(x):
    total = x[0]
    for i in range(len(x)):
        if i > 0:
            total += (x[i] - previous) * last
        previous = x[i]
        last = i
    return total


@case((X,), (X[:1],), (X[:0],))
def none_used_after_the_first_step(x):
    previous = None
    total = np.float64(0.0)
    for i in range(len(x)):
        if i > 0:
            total += x[i] - previous
        previous = x[i]
    return total


@case((X, 2.0), (X, 9.0), (X[:0], 0.0))
def found_or_raised(x, t):
    k = None
    for i in range(len(x)):
        if x[i] < t:
            k = i
            break
    if k is None:
        raise KeyError("none")
    return k


def position(x, t):
    for i in range(len(x)):
        if x[i] < t:
            return i
    return None


def position_without_an_end(x, t):
    for i in range(len(x)):
        if x[i] < t:
            return i


@case((X, 2.0), (X, 0.5), (X, 9.0))
def helpers_that_find_nothing(x, t):
    k = position(x, t)
    n = position_without_an_end(x, t / 2)
    return (-1 if k is None else k), (n if n is not None else -2)


@case((X, 2.0), (X, -9.0))
def none_in_arithmetic(x, t):
    k = position(x, t)
    return k + 1


@case((X, 2.0), (X, -9.0))
def none_compared(x, t):
    k = position(x, t)
    return k < 3


@case((X, 1.5), (X, -9.0))
def equal_to_none(x, t):
    k = position(x, t)
    return k == 1, k != 1, k is None, k is not None


@case((X, 9.0), (X, 1.5), (X, -9.0))
def truth_of_what_may_be_none(x, t):
    k = position(x, t)
    a = 1 if k else 2
    b = 0
    if not k:
        b = 5
    c = k or 7
    d = k is not None and k > 0
    return a, b, c, d


@case((1.0,), (-1.0,), (0.0,))
def three_states(x):
    y = None
    if x > 0:
        y = 2.0
    elif x < 0:
        y = 3.0
    if y is None:
        y = -1.0
    return y * x


@case((1.0,), (-1.0,))
def none_or_undefined_or_defined(x):
    if x > 0:
        y = None
    if x > 2:
        y = 3.0
    return 1 if y is None else 2


@case((X, 3), (X, 0))
def reset_in_each_step(x, n):
    total = np.float64(0.0)
    for k in range(n):
        largest = None
        for i in range(len(x)):
            if x[i] < 4 - k and (largest is None or x[i] > largest):
                largest = x[i]
        if largest is not None:
            total += largest * (k + 1)
    return total


@case((X, 1.0), (X, 4.0))
def set_back_to_none(x, t):
    kept = None
    count = 0
    for i in range(len(x)):
        if kept is None:
            kept = x[i]
        elif x[i] < t:
            kept = None
            count += 1
        else:
            kept = kept + x[i]
    return count, np.float64(-1.0) if kept is None else kept


@case((X,), (X[:0],))
def in_trees(x):
    state = {"best": None, "pair": (None, 0)}
    for i in range(len(x)):
        if state["best"] is None or x[i] < state["best"]:
            state["best"] = x[i]
            state["pair"] = (x[i], state["pair"][1] + 1)
    first = state["pair"][0]
    return (np.float64(0) if first is None else first * 2), state["pair"][1], state["best"] is None


@dataclass
class Best:
    value: Any
    place: Any = None


@case((X,), (X[:0],))
def in_dataclasses(x):
    best = Best(None)
    for i in range(len(x)):
        if best.value is None or x[i] < best.value:
            best = Best(x[i], i)
    return -1 if best.place is None else best.place


@case((6.0, 1e-9), (0.0, 1e-9))
def in_while_loops(x, tolerance):
    previous = None
    guess = x
    while previous is None or abs(guess - previous) > tolerance:
        previous = guess
        guess = 0.5 * (guess + x / (guess + 1e-3))
    return guess


@case((X, 2.0), (X, -2.0))
def arrays_that_are_none(x, t):
    w = None
    if t > 0:
        w = x * t
    total = 0.0
    for i in range(len(x)):
        total += x[i] if w is None else w[i]
    return total if w is None else total + np.sum(w) + w.max() + w.shape[0]


@case((X, 2.0), (X, -2.0))
def attribute_of_none(x, t):
    w = None
    if t > 0:
        w = x * t
    return w.sum()


@case((X, 2.0), (X, -2.0))
def element_of_none(x, t):
    w = None
    if t > 0:
        w = x * t
    return w[0]


def weighted(x, weights=None):
    if weights is None:
        weights = np.ones(len(x))
    total = 0.0
    for i in range(len(x)):
        total += weights[i] * x[i]
    return total


@case((X, 2.0), (X, -2.0))
def defaults_that_are_none(x, t):
    w = None
    if t > 0:
        w = x * t
    return weighted(x) + weighted(x, x) + weighted(x, w)


@case((X, 2.0), (X, -2.0))
def isinstance_of_none(x, t):
    k = position(x, t)
    return isinstance(k, int), isinstance(k, (int, type(None)))


@case((X,), (X[:0],))
def all_paths_agree(x):
    last = None
    for v in x:
        last = v
    if last is None:
        last = np.float64(-1.0)
    return last


@case((X, 3.0), (X, 30.0), (X[:0], 1.0))
def none_is_returned(a, t):
    best = None
    for i in range(len(a)):
        if a[i] > t and best is None:
            best = a[i]
    return best


@case((X, 1.5), (-X, 1.5), (X[:0], 1.5))
def no_result_on_some_paths(x, t):
    for i in range(len(x)):
        if x[i] < t:
            return i, x[i:i].sum()


@case((X, 1.5), (X, 30.0), (X, -30.0))
def results_of_which_some_are_none(x, t):
    best, at = None, None
    for i, v in enumerate(x):
        if v < t and (best is None or v > best):
            best, at = v, i
    return {"best": best, "at": at, "array": x * t if t > 0 else None}


@case((X, 1.5), (X, -30.0))
def first_of_two_is_none(x, t):
    best, at = None, None
    for i, v in enumerate(x):
        if v < t and (best is None or v > best):
            best, at = v, i
    if best is None:
        return np.float64(-1.0), -1
    return best, at


@refused("may be None", (X, 3.0))
def none_in_a_text(a, t):
    k = position(a, t)
    if a[0] > 0:
        raise ValueError(f"{k}")
    return 1.0


@case((X, 3), (X, 0))
def appended_values(x, n):
    best = None
    history = []
    for i in range(n):
        if best is None or x[i] < best:
            best = x[i]
        history.append(best)
    return np.array(history, dtype=np.float64)


@case((X, 3), (X, 1))
def pairs_of_the_last_two(x, n):
    a, b = None, None
    for i in range(n):
        a, b = b, x[i]
    return (np.float64(0.0) if a is None else a) - b


@case((X, 1.0, 0.0), (X, 0.0, 1.0), (X, 1.0, 1.0), (X, 0.0, 0.0), (X[:1], 1.0, 0.0), (X[:0], 0.0, 1.0))
def slice_with_ends_that_may_be_none(x, first, last):
    start, stop = None, None
    if first > 0:
        start = 1
    if last > 0:
        stop = -1
    return np.sum(x[start:stop] ** 2), np.sum(x[::2][:stop])


@case((X, 1.0), (X, 0.0))
def assignment_to_a_slice_that_may_be_whole(x, flag):
    y = x.copy()
    stop = None if flag > 0 else 2
    y[:stop] = 7.0
    y[:stop] += x[:stop]
    return y


@case((X, 1.0, 0.0), (X, 0.0, 1.0), (X, 1.0, 1.0), (X, 0.0, 0.0), (X[:1], 1.0, 1.0), (X[:0], 0.0, 1.0))
def backward_slice_with_ends_that_may_be_none(x, first, last):
    start = None if first > 0 else 2
    stop = None if last > 0 else 0
    return np.sum(x[start:stop:-1] ** 2), np.sum(x[start::-2])
