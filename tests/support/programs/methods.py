"""Methods of objects that change, called in loops and branches."""

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

import numpy as np, sys, operator, functools, contextlib, dataclasses, collections


class LowPass:
    def __init__(self, a):
        self.a = a
        self.y = 0.0

    def push(self, v):
        self.y = self.a * v + (1 - self.a) * self.y
        return self.y


@case(*VECTORS)
def filt(x):
    f = LowPass(0.3)
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = f.push(x[i])
    return out


class PID:
    def __init__(self, kp, ki, kd):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.i = 0.0
        self.last = None

    def step(self, e, dt):
        self.i += e * dt
        d = 0.0 if self.last is None else (e - self.last) / dt
        self.last = e
        return self.kp * e + self.ki * self.i + self.kd * d


@case(*VECTORS)
def pid(x):
    c = PID(1.0, 0.1, 0.01)
    s = 0.0
    for v in x:
        s += c.step(v, 0.1)
    return s


class Ring:
    def __init__(self, n):
        self.b = np.zeros(n)
        self.k = 0

    def push(self, v):
        self.b[self.k] = v
        self.k = (self.k + 1) % len(self.b)
        return self.b.mean()


@case(*VECTORS)
def ring(x):
    r = Ring(3)
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        out[i] = r.push(v)
    return out


class LCG:
    def __init__(self, s):
        self.s = s

    def next(self):
        self.s = (1103515245 * self.s + 12345) % 2147483648
        return self.s / 2147483648


@case((5,))
def lcg(n):
    g = LCG(42)
    s = 0.0
    for _ in range(n):
        s += g.next()
    return s


class Vec:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, o):
        return Vec(self.a + o.a, self.b + o.b)

    def __mul__(self, k):
        return Vec(self.a * k, self.b * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.a, -self.b)

    @property
    def norm(self):
        return np.sqrt(self.a**2 + self.b**2)

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.a, self.b)[i]

    def __eq__(self, o):
        return self.a == o.a

    def __matmul__(self, o):
        return self.a * o.a + self.b * o.b

    def __abs__(self):
        return self.norm


@case(*VECTORS)
def vecs(x):
    p = Vec(0.0, 0.0)
    v = Vec(1.0, 2.0)
    for dt in x:
        p = p + v * dt
    return p.norm


@case(*VECTORS)
def vecif(x):
    p = Vec(0.0, 0.0)
    for dt in x:
        if dt > 0.5:
            p = -p
        p = p + Vec(dt, 1.0)
    return p @ p


class Cached:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def total(self):
        return np.sum(self.x)


@case(*VECTORS)
def cachedp(x):
    c = Cached(x)
    return c.total + c.total


class Base:
    def __call__(self, v):
        return self.f(v) * 2


class Child(Base):
    def __init__(self, k):
        self.k = k

    def f(self, v):
        return v * self.k if v > 0.5 else v


@case(*VECTORS)
def inherited(x):
    c = Child(3.0)
    s = 0.0
    for v in x:
        s += c(v)
    return s


@contextlib.contextmanager
def scaled(v):
    yield v * 2


@case(*VECTORS)
def ctx(x):
    with scaled(x) as y:
        return np.sum(y)


@case(*VECTORS)
def ctxloop(x):
    s = 0.0
    for v in x:
        with scaled(v) as y:
            if y > 1:
                s += y
    return s


@case(*VECTORS)
def mcall(x):
    return operator.methodcaller("sum")(x)


@case((X.reshape(7, 1) * np.ones(3),))
def aaa(a):
    def f(r):
        return r.sum() if r[0] > 0.5 else -r.sum()

    return np.apply_along_axis(f, 1, a)


@case(*VECTORS)
def counts(x):
    counts = [0]

    def f(v):
        counts[0] += 1
        return v * 2

    s = 0.0
    for v in x:
        if v > 0.5:
            s += f(v)
    return s, counts[0]


@case(*VECTORS)
def nonl(x):
    n = 0

    def f(v):
        nonlocal n
        n += 1
        return v * 2

    s = 0.0
    for v in x:
        s += f(v)
    return s + n


@case(*VECTORS)
def fattr(x):
    def f(v):
        f.calls += 1
        return v * 2

    f.calls = 0
    s = 0.0
    for v in x:
        s += f(v)
    return s + f.calls


class Counter:
    def __init__(self):
        self.n = 0

    def run(self, x):
        def step(v):
            self.n += 1
            return v**2

        s = 0.0
        for v in x:
            s += step(v)
        return s + self.n


@case(*VECTORS)
def objclosure(x):
    return Counter().run(x)


class Holder:
    def __init__(self, f):
        self.f = f
        self.t = 0.0

    def go(self, v):
        self.t += self.f(v)
        return self.t


@case(*VECTORS)
def holdsf(x):
    h = Holder(np.sin)
    s = 0.0
    for v in x:
        s += h.go(v)
    return s


@case(*VECTORS)
def ifname(x):
    if x[0] > 0:
        k = 2.0
    else:
        k = 3.0

    def g(v):
        return v * k

    s = 0.0
    for v in x:
        s += g(v)
    return s


class A:
    def f(self, v):
        return v


class B:
    def f(self, v):
        return 2 * v


@case(*VECTORS)
def oneof(x):
    m = A() if x[0] > 1 else B()
    return m.f(x)


@dataclasses.dataclass
class Res:
    best: float = 0.0
    it: int = 0


@case(*VECTORS)
def result(x):
    r = Res()
    for v in x:
        if v > r.best:
            r.best = v
        r.it += 1
    return r.best, r.it


@case(*VECTORS)
def retres(x):
    r = Res()
    for v in x:
        r.it += 1
        r.best = max(r.best, v)
    return dataclasses.astuple(r)


@dataclasses.dataclass
class State:
    p: float
    v: float

    def step(self, dt):
        return State(self.p + self.v * dt, self.v - self.p * dt)


@case(*VECTORS)
def stepm(x):
    m = State(1.0, 0.0)
    for dt in x:
        m = m.step(dt)
    return m.p, m.v


@case(*VECTORS)
def mstep2(x):
    m = LowPass(0.5)
    last = 0.0
    for v in x:
        last = m.push(v)
        if last > 1:
            break
    return last, m.y
