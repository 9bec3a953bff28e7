"""Calls, elementwise chains and full reductions."""

import math

import numpy as np

from .base import Problem, Workload, generator


def add_one(x: np.ndarray) -> np.ndarray:
    return x + 1


def add_one_loops(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    for i in range(x.size):
        out[i] = x[i] + 1
    return out


def add_one_problem(n: int) -> Problem:
    x = generator(n).normal(size=n)
    return Problem(add_one, (x,), loops=add_one_loops, numexpr="x + 1", statement="x + 1")


def five_arrays(m: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    return np.where(m, a, b) * c + d


def five_arrays_loops(m: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    out = np.empty_like(a)
    for i in range(a.size):
        out[i] = (a[i] if m[i] else b[i]) * c[i] + d[i]
    return out


def five_arrays_problem(n: int) -> Problem:
    rng = generator(n)
    args = (rng.random(n) < 0.5, *rng.normal(size=(4, n)))
    return Problem(
        five_arrays,
        args,
        loops=five_arrays_loops,
        numexpr="where(m, a, b) * c + d",
        statement="np.where(m, a, b) * c + d",
    )


def sum_squares(x: np.ndarray) -> np.floating:
    return np.sum(x**2)


def sum_squares_loops(x: np.ndarray) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i] * x[i]
    return total


def sum_squares_problem(n: int) -> Problem:
    x = generator(n).normal(size=n)
    return Problem(sum_squares, (x,), loops=sum_squares_loops, numexpr="sum(x**2)")


def chain(a: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return a * np.exp(-(x**2)) + np.log1p(y**2) * np.tanh(z)


def chain_loops(a: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    out = np.empty_like(a)
    for i in range(a.size):
        out[i] = a[i] * math.exp(-x[i] * x[i]) + math.log1p(y[i] * y[i]) * math.tanh(z[i])
    return out


def chain_problem(n: int, dtype: type = np.float64) -> Problem:
    args = tuple(generator(n).normal(size=(4, n)).astype(dtype))
    return Problem(chain, args, loops=chain_loops, numexpr="a * exp(-x**2) + log1p(y**2) * tanh(z)")


def sum_exponentials(x: np.ndarray) -> np.floating:
    return np.sum(np.exp(x))


def sum_exponentials_loops(x: np.ndarray) -> float:
    total = 0.0
    for i in range(x.size):
        total += math.exp(x[i])
    return total


def sum_exponentials_problem(n: int) -> Problem:
    x = generator(n).normal(size=n)
    return Problem(sum_exponentials, (x,), loops=sum_exponentials_loops, numexpr="sum(exp(x))")


def dot(x: np.ndarray) -> np.floating:
    return np.dot(x, x)


def dot_problem(n: int) -> Problem:
    """What `sum_squares` is by BLAS, which reads memory as fast as can be."""
    return Problem(dot, (generator(n).normal(size=n),), loops=sum_squares_loops)


OVERHEAD = frozenset({"overhead"})
SCALING = frozenset({"scaling"})
WORKLOADS = (
    Workload("add_one", (1, 10), add_one_problem, tags=OVERHEAD),
    Workload("five_arrays", (10,), five_arrays_problem, tags=OVERHEAD),
    Workload("sum_squares", (10**4, 10**6, 10**7), sum_squares_problem, tags=SCALING),
    Workload("chain", (10**4, 10**6), chain_problem),
    Workload("chain_float32", (10**4, 10**6), lambda n: chain_problem(n, np.float32), rtol=1e-5),
    Workload("sum_exp", (10**4, 10**6), sum_exponentials_problem, tags=SCALING),
    Workload("dot", (10**7,), dot_problem),
)
