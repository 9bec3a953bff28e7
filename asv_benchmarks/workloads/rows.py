"""Reductions along rows, alone and followed by a map over the same rows."""

import math

import numpy as np

from .base import Problem, Workload, generator


def softmax_rows(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def softmax_rows_loops(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        largest, total = x[i].max(), 0.0
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest)
        for j in range(x.shape[1]):
            total += out[i, j]
        scale = 1.0 / total
        for j in range(x.shape[1]):
            out[i, j] *= scale
    return out


def logsumexp_rows(x: np.ndarray) -> np.ndarray:
    largest = np.max(x, axis=1, keepdims=True)
    return np.log(np.sum(np.exp(x - largest), axis=1)) + largest[:, 0]


def logsumexp_rows_loops(x: np.ndarray) -> np.ndarray:
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        largest, total = x[i].max(), 0.0
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - largest)
        out[i] = math.log(total) + largest
    return out


def softmax_rows_problem(n: int) -> Problem:
    return Problem(softmax_rows, (generator(n).normal(size=(n, n)),), loops=softmax_rows_loops)


def logsumexp_rows_problem(n: int) -> Problem:
    return Problem(logsumexp_rows, (generator(n).normal(size=(n, n)),), loops=logsumexp_rows_loops)


def cdist(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def cdist_loops(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.empty((x.shape[0], y.shape[0]))
    columns = y.T.copy()  # the inner loop then runs along memory, and vectorises
    for i in range(x.shape[0]):
        row = out[i]
        row[:] = 0.0
        for k in range(x.shape[1]):
            xik, column = x[i, k], columns[k]
            for j in range(row.size):
                row[j] += (xik - column[j]) ** 2
    return out


def cdist_problem(n: int) -> Problem:
    x, y = generator(n).normal(size=(2, n, 8))
    return Problem(cdist, (x, y), loops=cdist_loops)


WORKLOADS = (
    Workload("softmax_rows", (1000,), softmax_rows_problem),
    Workload("logsumexp_rows", (1000,), logsumexp_rows_problem),
    Workload("cdist", (1000,), cdist_problem),
)
