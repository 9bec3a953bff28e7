"""Programs that are refused."""

import numpy as np

from tests.support.programs.declared import refused

RNG = np.random.default_rng(0)


@refused("was bound to other arrays in a loop", (RNG.random(6), 3), (RNG.random(6), 0))
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


@refused("'c' changes in a loop", (2.5, 3))
def closure_changes(x, n):
    c = 1.0

    def f(t):
        return t * c

    s = 0.0
    for i in range(n):
        c = c * x
        s += f(i)
    return s


@refused("'best' is", (np.arange(10.0), 3.0))
def none_state(a, t):
    best = None
    for i in range(len(a)):
        if a[i] > t and best is None:
            best = a[i]
    return best


@refused("assignment into a view", (np.arange(6.0).reshape(2, 3),))
def transposed_write(A):
    A = A.copy()
    B = A.T
    for i in range(3):
        B[i] = i
    return A


@refused("'s' is of type str", (3,))
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
