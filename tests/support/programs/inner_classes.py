"""Programs that define classes in functions, and functions that call themselves as deep as a number of Python says."""

import dataclasses

import numpy as np

from tests.support.programs.declared import case, refused

X = np.linspace(0.1, 2.0, 7)


@case((X,), (X[:1],))
def a_class_with_state(x):
    class Sum:
        def __init__(self, start):
            self.total = start

        def add(self, v):
            if v > 0.5:
                self.total = self.total + v
            return self.total

        @property
        def twice(self):
            return 2 * self.total

    held, total = Sum(np.float64(0.0)), np.float64(0.0)
    for v in x:
        total += held.add(v)
    return total, held.total, held.twice


@case((X,), (X[:2],))
def a_class_that_reads_variables(x):
    factor = x[0]

    class Scaled:
        def at(self, v):
            return v * factor if v > 1 else v

    scaled, total = Scaled(), np.float64(0.0)
    for v in x:
        total += scaled.at(v)
    return total


@case((X,), (X[:3],))
def a_dataclass(x):
    @dataclasses.dataclass
    class Best:
        value: float = 0.0
        steps: int = 0

    best = Best()
    for v in x:
        if v * (2 - v) > best.value:
            best.value = v * (2 - v)
        best.steps += 1
    return np.float64(best.value), best.steps


@case((X,), (X[:3],))
def a_class_with_a_base(x):
    class Base:
        def at(self, v):
            return v + 1

    class Derived(Base):
        def at(self, v):
            if v > 1:
                return super().at(v) * 2
            return super().at(v)

        @staticmethod
        def square(v):
            return v * v

    held, total = Derived(), np.float64(0.0)
    for v in x:
        total += held.at(v) + Derived.square(v)
    return total


@case((5,), (0,), (3,))
def factorial(n):
    return 1 if n < 1 else n * factorial(n - 1)


@case((9,), (1,))
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@case((np.float64(1.5), 9), (np.float64(1.5), 0))
def power_by_squares(x, n):
    if n == 0:
        return x * 0 + 1
    if n % 2:
        return x * power_by_squares(x, n - 1)
    return power_by_squares(x * x, n // 2)


@case((X, 4), (X, 1))
def chebyshev(x, n):
    def polynomial(k):
        if k == 0:
            return 1.0 + 0 * x
        return x if k == 1 else 2 * x * polynomial(k - 1) - polynomial(k - 2)

    return polynomial(n) * 1.0


@case((X,), (X[:1],))
def pairwise_sum(x):
    def sum_of(a):
        if len(a) == 1:
            return a[0]
        half = len(a) // 2
        return sum_of(a[:half]) + sum_of(a[half:])

    return sum_of(x)


@refused("calls itself as often as traced values say", (5.0,))
def halved_by_itself(x):
    return x if x < 1 else halved_by_itself(x / 2)
