"""Programs that are refused."""

import numpy as np

from tests.support.programs.declared import case, refused

RNG = np.random.default_rng(0)


@case(*((RNG.random(6), n) for n in (0, 1, 2, 3)))
def swap_alias(a, n):
    a = a.copy()
    b = np.zeros_like(a)
    keep = a
    for t in range(n):
        b[1:] = a[:-1]
        a, b = b, a
    return a + keep


@refused("may be another variable's too", (RNG.random(5), 4))
def last_shared_then_write(a, n):
    x = a.copy()
    y = x * 0
    for i in range(n):
        x = x * 2
        y = x
    y[0] = 7
    return x, y


@refused("may be another variable's too", (1.0,), (-1.0,))
def branch_alias_then_write(c):
    x = np.zeros(3)
    y = np.ones(3)
    z = x if c > 0 else y
    z[0] = 5
    return x, y, z


@refused("may be one that has been assigned to since", (1.0,), (-1.0,))
def branch_alias_read_after(c):
    x = np.zeros(3)
    y = np.ones(3)
    z = x if c > 0 else y
    x[0] = 5
    return z


@refused("leaves int64", (100,))
def fib_overflow(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case((2.5, 3))
def closure_changes(x, n):
    c = 1.0

    def f(t):
        return t * c

    s = 0.0
    for i in range(n):
        c = c * x
        s += f(i)
    return s


@refused("a text that a loop or a branch on traced values chooses", (3,))
def string_state(n):
    s = "a"
    for i in range(n):
        s = s + "b"
    return len(s)


@refused("was changed while dict_arg was traced", ({"a": np.arange(3.0), "k": 2.0},))
def dict_arg(d):
    s = 0.0
    for i in range(d["a"].shape[0]):
        s += d["a"][i] * d["k"]
        d["k"] = s
    return s


@refused("may be one that has been assigned to since", (RNG.random(5), 3))
def appended_and_written(x, n):
    out = []
    for i in range(n):
        out.append(x)
        x[0] += 1
    return np.array(out)


@refused("may be one that has been assigned to since", (RNG.random(5), 3))
def appended_and_written_later(x, n):
    out = []
    for i in range(n):
        out.append(x)
    x[0] = 7.0
    return np.array(out)


@refused("may be one that has been assigned to since", (RNG.random(5), 3))
def listed_and_written_later(x, n):
    out = [x for _ in range(n)]
    x[0] = 7.0
    return np.array(out)


@refused("may be another variable's too", (RNG.random(5) + 1, 3))
def chosen_in_a_loop_and_written(x, n):
    best = None
    for i in range(n):
        if x[i] > 0:
            best = x
    if best is not None:
        best[0] = 100.0
    return x


@refused("may be another variable's too", (RNG.random(5) + 1, 3))
def chosen_in_nested_branches_and_written(x, n):
    z = x.copy()
    if x[0] > 0:
        if n > 2:
            z = x
    z[0] = 100.0
    return x


@refused("may be one that has been assigned to since", (RNG.random(5) + 1, 3))
def chosen_in_a_loop_and_read(x, n):
    z = x.copy()
    for i in range(n):
        if x[i] > 0:
            z = x
    x[0] = 100.0
    return z


@case((2.0, 3))
def functions_of_the_last_value(x, k):
    functions = []
    for i in range(3):
        functions.append(lambda v: v * i)
    s = 0.0
    for f in functions:
        s += f(x)
    return s if k > 2 else 0.0


@refused("'i' changes in a list of functions", (2.0, 3))
def list_of_functions_of_the_last_value(x, k):
    functions = [lambda v: v * i for i in range(3)]
    return functions[0](x) if k > 2 else 0.0


@refused("next", (RNG.random(5), 3))
def iterators_in_loops(x, n):
    numbers = iter((1, 2, 3))
    s = 0.0
    for i in range(n):
        s += x[i] * next(numbers)
    return s


@refused("that two variables or places share", (RNG.random(5), 3))
def shared_rows_of_a_list(x, n):
    row = [0.0] * 3
    rows = [row] * 2
    for i in range(n):
        rows[0][1] += x[i]
    return rows


@refused("that two variables or places share", (RNG.random(5), 3))
def list_by_two_names_changed(x, n):
    a = b = [0.0]
    for i in range(n):
        a[0] += x[i]
        b[0] += 1
    return a, b


@refused("that two variables or places share", (RNG.random(5) + 1, 3))
def list_by_two_names_in_a_branch(x, n):
    a = b = [0.0]
    if x[0] > 0:
        a[0] += x[0]
        b[0] += 1
    return a, b


@case((RNG.random(8),), (RNG.random(2),))
def halved(x):
    n = x.size
    y = x * 1.0
    while n > 1:
        half = n // 2
        y = y.reshape(2, half, -1)[0].reshape(-1)
        n = half
    return y


@case((RNG.random(8), 3), (RNG.random(8), 0), (RNG.random(7), 2))
def as_long_as_before(x, steps):
    y = x * 1.0
    half = x.size // 2
    for _ in range(steps):
        pairs = np.ones((half, 2))
        pairs[:, 0] = y.sum()
        y = pairs.reshape(-1)
        half = x.size - half
    return y


@case((RNG.random((8, 3)),))
def rows_while_they_are_large(x):
    y = x
    while y.sum() > 2:
        y = y[y[:, 0] > y[:, 0].mean()]
    return y


@refused("is a number on one path and an array", (np.array([2.0]), 1), (RNG.random(3), -1))
def number_or_array(x, n):
    if n > 0:
        return x
    return n


@refused("is a number on one path and an array", (RNG.random(3), 4))
def number_becomes_array(x, n):
    product = 1.0
    for _ in range(n):
        product = product * x
    return product
