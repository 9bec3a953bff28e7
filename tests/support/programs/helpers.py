"""Properties, operators and other kinds of helpers, called in loops and branches."""

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


class LowPass:
    def __init__(self, a):
        self.a = a
        self.y = 0.0

    def push(self, v):
        self.y = self.a * v + (1 - self.a) * self.y
        return self.y


@dataclasses.dataclass
class Res:
    best: float = 0.0
    it: int = 0


class Stack:
    def __init__(self):
        self.d = []

    def push(self, v):
        self.d.append(v)

    def pop(self):
        return self.d.pop()


@case(*VECTORS)
def stack(x):
    s = Stack()
    t = 0.0
    for v in x:
        s.push(v)
        if v > 1:
            t += s.pop()
    return t


class Acc:
    total = 0.0

    def add(self, v):
        self.total = self.total + v
        return self


@case(*VECTORS)
def chain(x):
    a = Acc()
    for v in x:
        a = a.add(v)
    return a.total


@case(*VECTORS)
def chain2(x):
    a = Acc()
    for v in x:
        a.add(v).add(1.0)
    return a.total


class Prop:
    def __init__(self):
        self._x = 0.0

    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, v):
        self._x = v * 2


@case(*VECTORS)
def setter(x):
    p = Prop()
    for v in x:
        p.x = p.x + v
    return p.x


class Slots:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 0.0

    def inc(self, v):
        self.a += v
        return self.a


@case(*VECTORS)
def slots(x):
    s = Slots()
    r = 0.0
    for v in x:
        r += s.inc(v)
    return r


def factory(k):
    def f(v):
        return v * k

    return f


@case(*VECTORS)
def fact(x):
    fs = [factory(k) for k in (1.0, 2.0, 3.0)]
    s = 0.0
    for v in x:
        for f in fs:
            s += f(v)
    return s


@case(*VECTORS)
def part(x):
    f = functools.partial(np.power, 2.0)
    s = 0.0
    for v in x:
        s += f(v)
    return s


@case(*VECTORS)
def red(x):
    return functools.reduce(lambda a, b: a * 0.5 + b, x)


@case(*VECTORS)
def nt(x):
    P = collections.namedtuple("P", "a b")
    p = P(0.0, 1.0)
    for v in x:
        p = p._replace(a=p.a + v * p.b)
    return p.a


@case(*VECTORS)
def dcrepl(x):
    s = Res()
    for v in x:
        s = dataclasses.replace(s, best=s.best + v, it=s.it + 1)
    return s.best, s.it


class Sub(LowPass):
    def push(self, v):
        y = super().push(v)
        return y * 2


@case(*VECTORS)
def sup(x):
    f = Sub(0.3)
    s = 0.0
    for v in x:
        s += f.push(v)
    return s


class Stat:
    @staticmethod
    def sq(v):
        return v * v

    @classmethod
    def make(cls, v):
        return cls.sq(v) + 1


@case(*VECTORS)
def statics(x):
    s = 0.0
    for v in x:
        if v > 0.5:
            s += Stat.make(v)
    return s


class It:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for v in self.x:
            yield v * 2

    def __contains__(self, v):
        return np.any(self.x == v)


@case(*VECTORS)
def iters(x):
    s = 0.0
    for v in It(x):
        s += v
    return s


class Welford:
    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self.m2 = 0.0

    def add(self, v):
        self.n += 1
        d = v - self.mean
        self.mean += d / self.n
        self.m2 += d * (v - self.mean)

    @property
    def var(self):
        return self.m2 / (self.n - 1) if self.n > 1 else 0.0


@case(*VECTORS)
def welf(x):
    w = Welford()
    for v in x:
        w.add(v)
    return w.mean, w.var


@case(*VECTORS)
def welf_in(x):
    w = Welford()
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        w.add(v)
        out[i] = w.var
    return out


class Net:
    def __init__(self):
        self.W = np.eye(3)

    def fit(self, y):
        for _ in range(5):
            self.W = self.W - 0.1 * (self.W @ y - y)[:, None] * y
        return self.W.sum()


@case((np.arange(3.0),))
def net(y):
    return Net().fit(y)


import numpy as np, sys, dataclasses


class A:
    def __init__(self, k):
        self.k = k

    def f(self, v):
        return v * self.k


class B:
    def __init__(self, k, j):
        self.k = k
        self.j = j

    def f(self, v):
        return v**2 + self.k * self.j


@case(*VECTORS)
def oneof(x):
    m = A(x[0]) if x[0] > 1 else B(2.0, x[1])
    return m.f(x[2]) + m.k


@case(*VECTORS)
def oneof2(x):
    if x[0] < 1:
        m = A(3.0)
    else:
        m = B(2.0, x[1])
    s = 0.0
    for v in x:
        s += m.f(v)
    return s


@case(*VECTORS)
def funs(x):
    f = np.sin if x[0] > 1 else np.cos
    return f(x).sum()


@case(*VECTORS)
def funs2(x):
    def a(v):
        return v + 1

    def b(v):
        return v * 2 if v > 1 else v

    s = 0.0
    for v in x:
        g = a if v > 0.5 else b
        s += g(v)
    return s


@case(*VECTORS)
def lam(x):
    g = (lambda v: v + 1) if x[0] > 1 else (lambda v: v - 1)
    return g(x).sum()


@case(*VECTORS)
def pick(x):
    fs = {"a": np.sin, "b": np.cos}
    f = fs["a"]
    if x[0] > 1:
        f = fs["b"]
    return f(x).sum()
