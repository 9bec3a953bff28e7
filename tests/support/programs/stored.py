"""Attributes and elements that functions and methods assign to: storage under any name."""

import collections
import contextlib
import dataclasses
import functools
import operator

import numpy as np
from tests.support.programs.declared import case

X = np.linspace(0.1, 2.0, 7)
VECTORS = ((X,), (X[::-1] * 1.7 - 0.5,))
RATES = ((0.1, 20), (0.3, 3), (0.05, 1))

import numpy as np, sys


class Priv:
    def __init__(self):
        self.__n = 0.0
        self.__d = {"a": 0.0}

    def add(self, v):
        self.__n += v
        self.__d["a"] += v
        if self.__n > 3:
            self.__n = 0.0
        return self.__n + self.__d["a"]


@case(*VECTORS)
def priv(x):
    p = Priv()
    s = 0.0
    for v in x:
        s += p.add(v)
    return s


class Node2:
    def __init__(self, v):
        self.v = v
        self.k = None


class Tree:
    def __init__(self):
        self.root = Node2(0.0)
        self.root.k = Node2(1.0)

    def up(self, v):
        self.root.v += v
        self.root.k.v *= 1 + v / 10
        return self.root.k.v


@case(*VECTORS)
def deep(x):
    q = Tree()
    s = 0.0
    for v in x:
        s += q.up(v)
    return s, q.root.v


@case(*VECTORS)
def two_names(x):
    a = Node2(0.0)
    b = a
    s = 0.0

    def f(v):
        a.v += v
        return b.v

    for v in x:
        s += f(v)
    return s, b.v


@case(*VECTORS)
def nestedloop(x):
    c = [0, 0.0]

    def f(v):
        c[0] += 1
        c[-1] += v
        return c[1]

    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            if x[j] > 0.5:
                s += f(x[j])
    return s, c[0], c[1]


@case(*VECTORS)
def wh(x):
    n = 0

    def inc():
        nonlocal n
        n = n + 1.5
        return n

    k = 0
    while inc() < 9:
        k += 1
    return n, k


@case(*VECTORS)
def trye(x):
    o = Node2(0.0)

    def f(v):
        o.v += v
        return o.v

    s = 0.0
    for v in x:
        try:
            s += f(v)
        except ZeroDivisionError:
            s -= 1
    return s, o.v


@case(*VECTORS)
def comp(x):
    o = Node2(0.0)

    def f(v):
        o.v += v
        return o.v

    return np.sum(np.array([f(v) for v in x])), o.v


@case(*VECTORS)
def mixed(x):
    o = Node2(0)

    def f(v):
        o.v = o.v + v
        return o.v

    s = 0.0
    for v in x:
        s += f(v) if v > 0.5 else -1.0
        o.v *= 0.5
    return s, o.v


@case(*VECTORS)
def arrattr(x):
    o = Node2(np.zeros(3))

    def f(v):
        o.v = o.v + v
        o.v[0] *= 0.5
        return o.v.sum()

    s = 0.0
    for v in x:
        s += f(v)
    return s, o.v[0]


@case(*VECTORS)
def keepold(x):
    o = Node2(np.zeros(3))
    last = np.zeros(3)

    def f(v):
        nonlocal last
        last = o.v
        o.v = o.v + v
        return o.v.sum() - last.sum()

    s = 0.0
    for v in x:
        s += f(v)
    return s, last[0]


@case(*VECTORS)
def reset(x):
    o = Node2(0.0)

    def f(v):
        o.v += v
        if o.v > 2:
            o.v = 0.0
            o.k = 1.0
        return o.v

    s = 0.0
    for v in x:
        s += f(v)
    return s, (0.0 if o.k is None else o.k)


@case(*VECTORS)
def dictf(x):
    d = {"a": 0.0, "n": 0}

    def f(v):
        d["a"] += v
        d["n"] += 1
        return d["a"] / d["n"]

    s = 0.0
    for v in x:
        s += f(v)
    return s, d["n"]


@case(*VECTORS)
def dictnew(x):
    d = {}

    def f(v):
        d["a"] = v
        return d["a"]

    s = 0.0
    for v in x:
        s += f(v)
    return s, d["a"]


class Gen:
    def __init__(self, x):
        self.x = x
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= len(self.x):
            raise StopIteration
        v = self.x[self.i]
        self.i += 1
        return v


class Poly:
    def __init__(self, c):
        self.c = c

    def __call__(self, v):
        r = 0.0
        for k in self.c:
            r = r * v + k
        return r

    def __len__(self):
        return len(self.c)


@case(*VECTORS)
def poly(x):
    p = Poly(x)
    return p(2.0) + len(p)


class Matrix2:
    def __init__(self, a):
        self.a = a

    def __matmul__(self, o):
        return Matrix2(self.a @ o.a)

    def __pow__(self, n):
        r = Matrix2(np.eye(2))
        for _ in range(n):
            r = r @ self
        return r

    def __getitem__(self, k):
        return self.a[k]

    def __setitem__(self, k, v):
        self.a[k] = v

    def __iadd__(self, o):
        self.a = self.a + o.a
        return self


@case((np.array([[1.0, 2.0], [0.5, 1.0]]),))
def m2(a):
    m = Matrix2(a) ** 3
    m[0, 0] = 5.0
    m += Matrix2(a)
    return m[0, 0] + m[1, 0]


@case(*VECTORS)
def m2loop(x):
    m = Matrix2(np.eye(2))
    for v in x:
        m = m @ Matrix2(np.array([[1.0, v], [0.0, 1.0]]))
        if v > 1:
            m += Matrix2(np.eye(2))
    return m[0, 1]


class Dual:
    def __init__(self, v, d):
        self.v = v
        self.d = d

    def __add__(self, o):
        return Dual(self.v + o.v, self.d + o.d) if isinstance(o, Dual) else Dual(self.v + o, self.d)

    __radd__ = __add__

    def __mul__(self, o):
        return Dual(self.v * o.v, self.v * o.d + self.d * o.v) if isinstance(o, Dual) else Dual(self.v * o, self.d * o)

    __rmul__ = __mul__

    def __lt__(self, o):
        return self.v < (o.v if isinstance(o, Dual) else o)


@case(*VECTORS)
def dual(x):
    y = Dual(1.0, 0.0)
    for v in x:
        d = Dual(v, 1.0)
        y = y * d + 2.0 * d
        if y < 3.0:
            y = y + 1.0
    return y.v, y.d
