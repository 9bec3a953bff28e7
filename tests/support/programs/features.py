"""Python's own functions and statements as they are used around arrays."""

import functools, itertools, math, operator

from collections import namedtuple

from dataclasses import dataclass, field

from types import SimpleNamespace

import numpy as np

from tests.support.programs.declared import case

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])

I = np.array([3, 1, 2, 0, 5, 4])

Particle = namedtuple("Particle", "x v")


@case((1.0, 0.5, 10))
def namedtuple_in_loop(x, v, n):
    s = Particle(x, v)
    for _ in range(n):
        s = s._replace(v=s.v - 0.1 * s.x)
        s = Particle(s.x + 0.1 * s.v, s.v)
    return s.x, s.v


def gen_pairs(x):
    for i in range(len(x) - 1):
        yield x[i], x[i + 1]


@case((X, 2.0))
def helper_generator(x, t):
    s = 0.0
    for a, b in gen_pairs(x):
        if a > b:
            s += a - b
    return s


def gen_while(n):
    while n > 1:
        yield n
        n = n // 2


@case((100, 2.0))
def helper_generator_while(n, t):
    s = 0
    for k in gen_while(n):
        s += k
    return s


def gen_filter(x, t):
    for v in x:
        if v > t:
            yield v


@case((X, 2.0))
def helper_generator_filter(x, t):
    s = 0.0
    for v in gen_filter(x, t):
        s += v
    return s, sum(gen_filter(x, t)), max(gen_filter(x, t))


def power_rec(x, n):
    if n == 0:
        return 1.0
    half = power_rec(x, n // 2)
    if x > 1e10:
        return half
    return half * half * (x if n % 2 else 1.0)


@case((1.5,))
def recursion_static(x):
    return power_rec(x, 11)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@case((1.0,))
def recursion_fib(x):
    if x > 0:
        return fib(10) * x
    return x


def simpson(f, a, b, depth):
    m = (a + b) / 2
    whole = (b - a) / 6 * (f(a) + 4 * f(m) + f(b))
    if depth == 0:
        return whole
    l = simpson(f, a, m, depth - 1)
    r = simpson(f, m, b, depth - 1)
    if abs(l + r - whole) < 1e-3:
        return whole
    return l + r


@case((0.0, 2.0))
def recursion_simpson(a, b):
    return simpson(lambda t: t**4, a, b, 3)


@case((X,))
def builtins_over_sequences(x):
    s = 0.0
    for i, v in enumerate(x):
        if v > 0:
            s += i
    for a, b in zip(x, x[1:]):
        if a > b:
            s += 1
    for v in reversed(x):
        s = s * 2 + v
    return s, sorted(x), min(x), max(x), sum(x), any(v > 3 for v in x), all(v > -2 for v in x)


@case((X,))
def map_two(x):
    s = 0.0
    for v in map(lambda a, b: a * b, x, x[::-1]):
        if v > 0:
            s += v
    return s


@case((X,))
def filter_sum(x):
    s = 0.0
    for v in filter(lambda v: v > 0, x):
        s += v
    return s, sum(filter(lambda v: v > 0, x)), list(filter(lambda v: v > 0, x))


@case((X, 3))
def sorted_key(x, n):
    order = sorted(range(len(x)), key=lambda i: x[i])
    if n > 2:
        return order
    return order[::-1]


@case((X, 3))
def sorted_reverse(x, n):
    if n > 2:
        return sorted(x, reverse=True)
    return sorted(x)


@case((X, 3))
def sorted_abs(x, n):
    if n > 2:
        return sorted(x, key=abs)
    return sorted(x, key=lambda v: -v)


@case((X,))
def max_key(x):
    k = max(range(len(x)), key=lambda i: x[i])
    j = min(range(len(x)), key=x.__getitem__)
    if x[k] > 0:
        return k, j
    return 0, 0


@case((X, 0.0), (X, 3.0))
def max_default(x, t):
    return max((v for v in x if v > t), default=x[1]), min([v for v in x if v > t + 3], default=x[0])


@case((X, 1.0), (X, -3.0), (X, 30.0))
def chained(x, t):
    n = 0
    for v in x:
        if -t < v <= t < 10 != v:
            n += 1
    return n


@case((7,), (9,), (2,), (97,))
def while_else(n):
    k = 2
    while k * k <= n:
        if n % k == 0:
            kind = 0
            break
        k += 1
    else:
        kind = 1
    return kind, k


@case((X, 2.0), (X, 9.0))
def none_flag(x, t):
    first = None
    for i, v in enumerate(x):
        if v > t and first is None:
            first = i
    return -1 if first is None else first


@case((X, 2.0), (X, 9.0))
def fstring_raise(x, t):
    for i, v in enumerate(x):
        if v > t:
            raise ValueError(f"element {i} is {v:.2f}, more than {t!r}")
    return t


@case((X, 2.0), (X, 1.0))
def try_finally(x, t):
    s = 0.0
    try:
        for v in x:
            if v > t:
                s += v / t
    finally:
        s += 1.0
    return s
