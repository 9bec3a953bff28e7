"""Objects whose attributes change in loops and branches."""

from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from tests.support.programs.declared import case, refused

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@dataclass
class State:
    x: float
    v: float
    n: int = 0


Particle = namedtuple("Particle", "x v")


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.fees = 0.0
        self.log = []

    def withdraw(self, amount):
        if amount > self.balance:
            self.fees += 1.0
        else:
            self.balance -= amount

    def total(self):
        return self.balance - self.fees


@case((1.0, 0.5, 10), (1.0, 0.5, 0))
def dataclass_in_loop(x, v, n):
    s = State(x, v)
    for _ in range(n):
        s.v -= 0.1 * s.x
        s.x += 0.1 * s.v
        if s.x > 1.0:
            s.n += 1
    return s.x, s.v, s.n


@case((State(1.0, 0.5), 10))
def dataclass_given(s, n):
    x, v = s.x, s.v
    for _ in range(n):
        s = State(s.x + 0.1 * s.v, s.v - 0.1 * s.x, s.n + 1)
    return s.x, s.v, s.n, x + v


@case((1.0, 0.5, 10))
def namespace_in_loop(x, v, n):
    s = SimpleNamespace(x=x, v=v)
    i = 0
    while i < n:
        s.v -= 0.1 * s.x
        s.x += 0.1 * s.v
        i += 1
        if s.x < 0:
            break
    return s.x, s.v, i


@case((1.0,), (-1.0,))
def namespace_in_branch(x):
    s = SimpleNamespace(a=0.0)
    if x > 0:
        s.a = x
        s.b = 1.0
    else:
        s.a = -2 * x
        s.b = 2.0
    return s.a, s.b


@case((1.0, 0.5, 10))
def namedtuple_in_loop(x, v, n):
    s = Particle(x, v)
    for _ in range(n):
        s = s._replace(v=s.v - 0.1 * s.x)
        s = Particle(s.x + 0.1 * s.v, s.v)
    return s.x, s.v


@case((X, 6.0), (X, 0.0))
def object_with_methods(x, b):
    a = Account(b)
    for v in x:
        a.withdraw(v)
    return a.balance, a.fees, a.total()


@case((X, 6.0), (X, 0.0))
def method_in_a_branch(x, b):
    a = Account(b)
    if x[0] > b:
        a.withdraw(x[1])
    else:
        a.withdraw(x[0])
        a.fees += 2
    return a.balance, a.fees


@case((X, 6))
def arrays_in_objects(x, n):
    s = SimpleNamespace(x=x.copy(), best=x[0])
    for i in range(n):
        s.x[i % len(s.x)] += 1.0
        if s.x[i % len(s.x)] > s.best:
            s.best = s.x[i % len(s.x)]
        s.x = s.x * 2
    return s.x, s.best


@case((X, 3))
def objects_in_objects(x, n):
    s = SimpleNamespace(inner=SimpleNamespace(a=x[0]), b=[x[1], 0.0])
    for i in range(n):
        s.inner.a += i
        s.b[1] += s.inner.a
    return s.inner.a, s.b


@case((X, 3))
def object_by_two_names(x, n):
    s = SimpleNamespace(a=x[0])
    t = s
    for i in range(n):
        s.a += i
    return t.a, s is t


@case((1.0, 4))
def object_read_by_a_function(x, n):
    s = SimpleNamespace(a=x)
    twice = lambda: s.a * 2
    total = 0.0
    for i in range(n):
        s.a += i
        total += twice()
    return total


@case((np.float64(1.0), 3), (np.float64(1.0), 0))
def object_read_by_another_name(x, n):
    s = SimpleNamespace(a=x)
    t = s
    for i in range(n):
        s.a += i
        x = x + t.a
    return x


class Buffer:
    def __init__(self, x, size):
        self.data = np.zeros(size)
        self.top = 0
        self.total = 0.0
        total = 0.0
        for v in x:
            total += v
        self.total = total

    def push(self, v):
        self.data[self.top] = v
        self.top += 1


@case((np.arange(4.0),), (np.ones(1),))
def initialised_with_lengths_and_loops(x):
    buffer = Buffer(x, len(x) + 1)
    for v in x:
        buffer.push(v)
    return buffer.data, buffer.top, buffer.total
