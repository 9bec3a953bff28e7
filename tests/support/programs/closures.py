"""Variables of a function that its nested functions assign to."""

import numpy as np
from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((X, 2.0), (X, -9.0))
def nonlocal_counter(x, t):
    count = 0

    def visit(v):
        nonlocal count
        if v > t:
            count += 1

    for v in x:
        visit(v)
    return count


@case((X, 2.0), (-X, 2.0))
def nonlocal_total(x, t):
    total = x[2]

    def add(v):
        nonlocal total
        total += v

    add(x[0])
    if x[1] > 0:
        add(x[1])
    else:
        add(t)
    return total


@case((2.0,), (3.0,))
def nonlocal_calls(t):
    calls = 0

    def f(v):
        nonlocal calls
        calls += 1
        return v * v - t

    lo, hi = 0.0, 10.0
    while hi - lo > 1e-6:
        mid = (lo + hi) / 2
        if f(mid) > 0:
            hi = mid
        else:
            lo = mid
    return lo, calls


@case((7, 5), (3, 0))
def nonlocal_generator(seed, n):
    state = seed

    def draw():
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return state / 2**31

    total = 0.0
    for _ in range(n):
        total += draw() - draw()
    return total, state


@case((4, 2))
def nonlocal_argument(n, k):
    def step():
        nonlocal n
        n -= 1
        return n > 0

    count = 0
    while step():
        count += k
    return n, count


@case((X, 2))
def nonlocal_in_nested(x, n):
    best, at = x[0], 0

    def scan(lo):
        nonlocal best, at

        def consider(i):
            nonlocal best, at
            if x[i] > best:
                best, at = x[i], i

        for i in range(lo, len(x)):
            consider(i)

    scan(n)
    scan(0)
    return best, at


@case((X, 2.0))
def nonlocal_shadowed(x, t):
    s = t

    def inner(s):
        return s * 2

    def outer():
        nonlocal s
        s = s + inner(t)

    for v in x:
        if v > 0:
            outer()
    squares = [s * s for s in (1, 2)]
    return s, squares, (lambda s: s + 1)(3)


@case((X, 2))
def nonlocal_that_widens(x, n):
    total = 0

    def add(v):
        nonlocal total
        total += v

    for v in x:
        add(v)
    return total


@case((X.astype("f"), 2))
def nonlocal_of_another_precision(x, n):
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    for v in x:
        add(v)
    return total
