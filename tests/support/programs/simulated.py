"""Objects with state as simulations and recursions have them."""

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

import numpy as np, sys, dataclasses


class Obj:
    def __init__(self, v):
        self.v = v


@case(*VECTORS)
def dictnew(x):
    d = {}

    def f(v):
        d["a"] = v
        return d["a"]

    s = 0.0
    for v in x:
        s += f(v)
    return s + d["a"]


class Hist:
    def __init__(self):
        self.h = []
        self.best = -1e9

    def add(self, v):
        self.h.append(v)
        if v > self.best:
            self.best = v
        return self.best


@case(*VECTORS)
def histobj(x):
    h = Hist()
    s = 0.0
    for v in x:
        s += h.add(v)
    return s + h.h[-1] + len(h.h)


class Ring2:
    def __init__(self, n):
        self.d = [0.0] * n

    def push(self, v):
        self.d.append(v)
        old = self.d.pop(0)
        return old


@case(*VECTORS)
def delay(x):
    r = Ring2(3)
    s = 0.0
    for v in x:
        s += r.push(v)
    return s


@case(*VECTORS)
def memo(x):
    seen = []

    def f(v):
        seen.append(v)
        return len(seen) * v

    s = 0.0
    for v in x:
        if v > 0.5:
            s += f(v)
    return s + len(seen)


@dataclasses.dataclass
class Particle:
    pos: np.ndarray
    vel: np.ndarray

    def kick(self, a, dt):
        self.vel = self.vel + a * dt

    def drift(self, dt):
        self.pos = self.pos + self.vel * dt

    @property
    def energy(self):
        return 0.5 * np.sum(self.vel**2) + 0.5 * np.sum(self.pos**2)


@case(
    (
        50,
        0.01,
    )
)
def leap(n, dt):
    p = Particle(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    e = 0.0
    for _ in range(n):
        p.kick(-p.pos, dt / 2)
        p.drift(dt)
        p.kick(-p.pos, dt / 2)
        e = max(e, abs(p.energy - 1.0))
    return p.pos[0], e


@case(
    (
        20,
        0.01,
    )
)
def bodies(n, dt):
    ps = [Particle(np.array([1.0, 0.0]), np.array([0.0, 1.0])), Particle(np.array([-1.0, 0.0]), np.array([0.0, -1.0]))]
    for _ in range(n):
        for p in ps:
            p.kick(-p.pos, dt)
        for p in ps:
            p.drift(dt)
    return ps[0].pos[0], ps[1].energy


class RNG:
    def __init__(self, seed):
        self.state = np.uint64(seed)

    def next(self):
        self.state ^= self.state << np.uint64(13)
        self.state ^= self.state >> np.uint64(7)
        self.state ^= self.state << np.uint64(17)
        return self.state / 2.0**64


@case((30,))
def xorshift(n):
    r = RNG(12345)
    s = 0.0
    for _ in range(n):
        if r.next() < 0.5:
            s += r.next()
    return s


class Kalman:
    def __init__(self):
        self.x = np.zeros(2)
        self.P = np.eye(2)

    def predict(self, F, Q):
        self.x = F @ self.x
        self.P = F @ self.P @ F.T + Q

    def update(self, z):
        H = np.array([1.0, 0.0])
        S = H @ self.P @ H + 0.1
        K = self.P @ H / S
        self.x = self.x + K * (z - H @ self.x)
        self.P = self.P - np.outer(K, H @ self.P)
        return np.log(S)


@case(*VECTORS)
def kalman(z):
    k = Kalman()
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    ll = 0.0
    for v in z:
        k.predict(F, 0.01 * np.eye(2))
        ll += k.update(v)
    return ll, k.x[0], k.P[1, 1]


class Opt:
    def __init__(self, lr):
        self.lr = lr
        self.t = 0
        self.m = None

    def step(self, p, g):
        self.t += 1
        self.m = g if self.m is None else 0.9 * self.m + 0.1 * g
        return p - self.lr * self.m


@case(
    (
        np.ones(3),
        15,
    )
)
def opt(p, n):
    o = Opt(0.1)
    for _ in range(n):
        p = o.step(p, 2 * (p - 3))
    return p


class Sim:
    def __init__(self):
        self.t = 0.0
        self.log = np.zeros(10)
        self.k = 0

    def tick(self, dt):
        self.t += dt
        if self.t > 0.5 and self.k < 10:
            self.log[self.k] = self.t
            self.k += 1
        return self.k


@case(*VECTORS)
def sim(x):
    s = Sim()
    c = 0
    for v in x:
        c += s.tick(v)
    return c, s.k, s.log.sum()


@case(*VECTORS)
def swapattr(x):
    a = Obj(0.0)
    b = Obj(1.0)

    def f(v):
        a.v, b.v = b.v, a.v + v
        return a.v

    s = 0.0
    for v in x:
        s += f(v)
    return s, b.v


@case(*VECTORS)
def objinobj(x):
    o = Obj(Obj(0.0))
    s = 0.0

    def f(v):
        o.v = Obj(o.v.v + v)
        return o.v.v

    for v in x:
        s += f(v)
    return s, o.v.v


@case(*VECTORS)
def tuplattr(x):
    o = Obj((0.0, 0))
    s = 0.0

    def f(v):
        a, n = o.v
        o.v = (a + v, n + 1)
        return o.v[0]

    for v in x:
        s += f(v)
    return s, o.v[1]


@case(*VECTORS)
def strattr(x):
    o = Obj("idle")
    n = 0

    def f(v):
        nonlocal n
        if v > 1:
            o.v = "run"
        if o.v == "run":
            n += 1

    for v in x:
        f(v)
    return n


@case(*VECTORS)
def boolattr(x):
    o = Obj(False)
    n = 0
    for v in x:
        if v > 1:
            o.v = True
        if o.v:
            n += 1
    return n


@case(*VECTORS)
def earlyret(x):
    o = Obj(0.0)

    def f(v):
        o.v += v
        if o.v > 3:
            return -1.0
        return o.v

    s = 0.0
    for v in x:
        r = f(v)
        if r < 0:
            break
        s += r
    return s, o.v


class Sub1:
    def f(self, v):
        return v


class Sub2(Sub1):
    def f(self, v):
        return super().f(v) * 2 if v > 1 else super().f(v)


@case(*VECTORS)
def supif(x):
    o = Sub2()
    s = 0.0
    for v in x:
        s += o.f(v)
    return s


@case(*VECTORS)
def whileobj(x):
    o = Obj(1.0)
    n = 0
    while o.v < 100:
        o.v *= 1 + x[1]
        n += 1
    return o.v, n


@case(*VECTORS)
def lambdas(x):
    c = [0]
    inc = lambda: c.__setitem__(0, c[0] + 1)
    for v in x:
        if v > 1:
            inc()
    return c[0]
