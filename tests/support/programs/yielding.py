"""Generator functions and iterators in loops."""

import itertools

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


def positive(x):
    for v in x:
        if v > 0:
            yield v


@refused("an iterator is used a second time", (X, 2))
def zipped_twice(x, n):
    z = zip(x, x)
    s = 0.0
    for a, b in z:
        s += a * b
    for a, b in z:
        s += 100.0
    return s


@refused("an iterator is used a second time", (X, 2))
def mapped_twice(x, n):
    z = map(abs, x)
    return sum(z) + sum(z)


@refused("an iterator is used a second time", (X, 2))
def generated_twice(x, n):
    z = positive(x)
    return sum(z) + sum(z)


@refused("an iterator is used a second time", (X, 2))
def taken_in_a_loop(x, n):
    z = zip(x, x)
    s = 0.0
    for _ in range(n):
        for a, b in z:
            s += a * b
    return s


@case((X, 2))
def lazy(x, n):
    g = positive(x)
    x[0] = 7.0
    return sum(g), [2 * v for v in x], max(positive(x), key=lambda v: -v), sum(v * v for v in positive(x))


@case((X, 2.6))
def broken_off(x, t):
    s = 0.0
    for v in positive(x):
        if v < t:
            break
        s += v
    else:
        s = -1.0
    for v in itertools.chain([x[0]], [x[1]]):
        s += v
    return s


def tree(n):
    if n > 0:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)


@case((X, 2.6))
def recursive(x, t):
    s = 0.0
    for k in tree(3):
        if x[k] > 0:
            s += x[k] * k
    return s


def padded(x, n):
    yield x[0]
    for i in range(n):
        if x[i] < 0:
            return
        yield x[i]
    yield from x[::-1]


@case((X, 1), (X, 4))
def several_yields(x, n):
    s, k = 0.0, 0
    for v in padded(x, n):
        k += 1
        if v < -0.5:
            continue
        s = s * 2 + v
    return s, k


@case(
    (X, 3),
)
def closure_generator(x, n):
    def odd(m):
        k = 1
        while k < m:
            yield k
            k += 2

    out = np.zeros(10)
    for i in range(n):
        for j in odd(i + 3):
            out[j] += x[i]
    return out, sum(k * k for k in odd(n + 4))
