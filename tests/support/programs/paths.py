"""Programs whose lengths fit on some paths alone, and programs with `match` and `:=`."""

import math

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([3.0, -1.0, 4.0, -1.0, 5.0])
ONES = np.ones(3)


@case((ONES, np.zeros(3)), (ONES, np.ones(4)), (ONES, np.ones(1)))
def added_where_lengths_fit(x, y):
    if x.shape[0] == y.shape[0]:
        return np.sum(x + y)
    return np.sum(x)


@case((ONES, np.zeros(3)), (ONES, np.ones(4)), (ONES, np.ones(1)))
def lengths_are_checked(x, y):
    if len(x) != len(y):
        raise ValueError(f"{len(x)} and {len(y)}")
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s + (x * y).sum()


@case((ONES, np.ones(4), 0), (ONES, np.zeros(3), 2))
def added_in_no_step(x, y, n):
    for _ in range(n):
        x += y


@case((ONES, np.ones((3, 2)), 0), (np.ones((3, 3)), np.ones((3, 4)), 0))
def shapes_of_no_step(x, y, n):
    for _ in range(n):
        x[0] = y
    return x


@case((np.ones((2, 3)), np.ones((4, 2))), (np.ones((2, 3)), np.ones((3, 2))), (np.ones((2, 3)), np.ones((2, 3))))
def multiplied_as_they_fit(a, b):
    if a.shape[1] == b.shape[0]:
        return (a @ b).sum()
    elif a.shape == b.shape:
        return (a * b).sum()
    return -a[0, 0]


@case((X,), (-X,))
def assigned_in_the_condition(x):
    if (s := x.sum()) > 3:
        return s * 2
    return s


@case((X, 3), (X, 5), (X, 0))
def assigned_in_the_condition_of_a_loop(x, n):
    i = 0
    while (v := x[i]) > -2 and i < n:
        if v > 3.5:
            break
        i += 1
    return v, i


@case((X, 3), (X, 9), (-X, 3))
def assigned_in_a_later_part(x, n):
    if n < 5 and (v := x[n]) > 0 and (w := v * 2) < 100:
        return v + w
    if n > 5 or (u := x[n]) < 0:
        return x[0] - 1
    return u


@case((X, 3), (X, 9))
def assigned_and_read_later(x, n):
    if n > 5 and (v := x[0]) > 0:
        n = 2
    return v + n


@case((X, 4), (X, 1))
def assigned_in_arguments(x, n):
    t = 0.0
    for i in range(n):
        t += max(y := x[i], 0.0) - y
    return t, (z := t + 1) + z


@case((X,), (X[:0],))
def assigned_in_a_list(x):
    return [y for v in x if (y := v * 2) > 1]


@refused(r"'y' is assigned \(:=\)", (X, 1), (X, -1))
def assigned_under_a_condition(x, n):
    return (y := x[0]) if n > 0 else (y := x[1])


@case((0, 2.0), (1, 2.0), (2, 2.0), (5, 2.0))
def literals(k, v):
    match k:
        case 0:
            return v
        case 1 | 2:
            r = v * 2
        case _:
            r = -v
    return r


@case((0, 2.0), (1, 2.0), (-3, 2.0), (7, -2.0))
def guards(k, v):
    match k:
        case n if n < 0:
            return n * v
        case 0:
            return 0.0
        case 7 as n if v > 0:
            return 1.0 * n
        case n:
            return v + n


@case((0.5, 2.0), (0.0, 2.0), (1.0, 0.0), (0.0, -2.0))
def tuples(a, b):
    match (a, b):
        case (0.0, y) if y > 0:
            return y
        case (x, 0.0):
            return x
        case (x, y):
            return x * y


@case((5, 2.0), (0, 2.0))
def matched_in_a_loop(n, v):
    state, total = 0, 0.0
    for i in range(n):
        match state:
            case 0:
                state = 1
            case 1 if total > 10:
                break
            case 1:
                total += v
                state = 2
                continue
            case _:
                state = 0
        total += i
    else:
        total = -total
    return state, total


@case((3,), (3.0,), (np.float64(3.0),), (np.arange(3),))
def matched_by_class(x):
    total = 0.0
    for _ in range(3):
        match x:
            case float():
                total += 1
            case int() as k:
                total += k
            case _:
                total -= 1
    return total


@case((3.0, 2), (-3.0, 2), (0.0, 0))
def no_case_holds(x, n):
    r = 0.0
    match n:
        case 2 if x > 0:
            r = math.sqrt(x)
        case (1, _):
            r = 5.0
    return r


@refused("a mapping pattern", (1.0,))
def matched_mapping(x):
    if x > 0:
        x = 2.0
    match {"a": x}:
        case {"a": y}:
            return y


@case((3.0,), (3,), (np.float64(3.0),), (np.ones(2),), (True,))
def instances(x):
    if isinstance(x, np.ndarray):
        return x.sum()
    if isinstance(x, bool):
        return 1.5
    if isinstance(x, (int, np.integer)):
        return 2.5
    return x * 2


@case((3.0,), (3,), (np.ones(2),))
def types(x):
    if type(x) is float:
        return 1.0
    if type(x) == int:  # noqa: E721
        return 2.0
    return x * 2


@case((3.0,), (3,), (np.ones(2),))
def classes(x):
    match x:
        case float():
            return 1.0
        case int():
            return 2.0
    return x * 2


@case((ONES, np.zeros(3)), (ONES, np.zeros(4)), (np.ones((2, 3)), np.ones((2, 3))), (np.ones((2, 3)), np.ones(6)))
def shapes_are_checked(x, y):
    if x.shape != y.shape:
        raise ValueError("shapes differ")
    return (x + y).sum() if y.shape == (3,) or x.shape[1:] == (3,) else 0.0


@case((np.arange(4), 3), (np.arange(0), 0), (np.arange(2), 0), (np.arange(2), 3))
def read_in_no_step(c, n):
    s = np.int64(0)
    for _ in range(n):
        for _ in range(3):
            s += c[3] + c[c[0] :].sum()
    return s


@case((np.arange(3.0), np.arange(3.0), 1.0), (np.arange(3.0), np.arange(4.0), -1.0))
def chosen_as_lengths_fit(x, y, c):
    total = 0.0
    for v in x:
        if c > 0:
            total += (x * v + y).sum()
        else:
            total -= y[-1] * v
    return total


@case((np.arange(5.0).reshape(5, 1), 0, -1), (np.arange(4.0).reshape(2, 2), 0, 1), (np.arange(2.0).reshape(1, 2), 2, 1))
def lengths_that_contradict(m, n, k):
    for _ in range(n):
        m[0, 1:] = m[:, k]
    m[n // 2, 1:] += 2.0
    return m[0, 0]


@case((X, 3, 1.0), (X, 3, -1.0), (-X, 0, 1.0))
def the_same_on_both_paths(x, n, v):
    count = 0
    for i in range(n):
        if (x[i] > 0 or x[i] > 0) and (v > 0 or v > 0 or i == i):
            count += 1
    flag = (v > 0) if n > 2 else (v > 0)
    return count, 1 if flag and n > 0 else 2
