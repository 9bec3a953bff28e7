"""Linear algebra on batches of small and of middle-sized matrices, and the density of normal vectors."""

import importlib

import numpy as np

from .base import Problem, Workload, generator

BATCHES = {3: 100_000, 4: 10_000, 16: 10_000, 50: 1000}
"""How many matrices of each length."""

TRIANGULAR = {"jax.numpy": "jax.scipy.linalg", "pytensor.tensor": "pytensor.tensor.slinalg"}
"""Where the solution of triangular systems is, beside each namespace; NumPy has none."""


def solve_lower(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    library = importlib.import_module(TRIANGULAR.get(np.__name__, "numbagraph.linalg"))
    return library.solve_triangular(factor, right, lower=True)


def cholesky(a: np.ndarray) -> np.ndarray:
    return np.linalg.cholesky(a)


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(a, b)


def inverse(a: np.ndarray) -> np.ndarray:
    return np.linalg.inv(a)


def determinant(a: np.ndarray) -> np.ndarray:
    return np.linalg.det(a)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.matmul(a, b)


def eigenvalues(a: np.ndarray) -> np.ndarray:
    return np.linalg.eigh(a)[0]


def triangular(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return solve_lower(a, b)


def normal_vectors(x: np.ndarray, mu: np.ndarray, scale: np.ndarray, cov: np.ndarray) -> np.floating:
    factor = np.linalg.cholesky(cov * scale[:, None, None])
    scaled = solve_lower(factor, (x - mu)[..., None])[..., 0]
    diagonal = np.diagonal(factor, axis1=-2, axis2=-1)
    return -0.5 * np.sum(scaled**2) - np.sum(np.log(diagonal))


def normal_vectors_by_hand(x: np.ndarray, mu: np.ndarray, scale: np.ndarray, cov: np.ndarray) -> tuple:
    difference = x - mu
    right = np.linalg.solve(cov, difference[..., None])[..., 0] / scale[:, None]
    squares, logarithms = np.sum(difference * right, -1), np.linalg.slogdet(cov)[1]
    length = x.shape[1]
    value = -0.5 * np.sum(squares + logarithms + length * np.log(scale))
    return value, (-right, right.sum(0), 0.5 * (squares - length) / scale)


def normal_vectors_loops(x: np.ndarray, mu: np.ndarray, scale: np.ndarray, cov: np.ndarray) -> float:
    n, total = len(mu), 0.0
    factor, scaled = np.empty((n, n)), np.empty(n)
    for b in range(len(x)):
        for i in range(n):
            for j in range(i + 1):
                entry = cov[b, i, j] * scale[b]
                for k in range(j):
                    entry -= factor[i, k] * factor[j, k]
                factor[i, j] = np.sqrt(entry) if i == j else entry / factor[j, j]
            rest = x[b, i] - mu[i]
            for k in range(i):
                rest -= factor[i, k] * scaled[k]
            scaled[i] = rest / factor[i, i]
            total -= 0.5 * scaled[i] ** 2 + np.log(factor[i, i])
    return total


def normal_vectors_grad_loops(x: np.ndarray, mu: np.ndarray, scale: np.ndarray, cov: np.ndarray) -> tuple:
    """The gradient is the closed form, for which one more system is solved."""
    n, total = len(mu), 0.0
    factor, scaled = np.empty((n, n)), np.empty(n)
    to_x, to_mu, to_scale = np.empty_like(x), np.zeros_like(mu), np.empty_like(scale)
    for b in range(len(x)):
        squares = 0.0
        for i in range(n):
            for j in range(i + 1):
                entry = cov[b, i, j] * scale[b]
                for k in range(j):
                    entry -= factor[i, k] * factor[j, k]
                factor[i, j] = np.sqrt(entry) if i == j else entry / factor[j, j]
            rest = x[b, i] - mu[i]
            for k in range(i):
                rest -= factor[i, k] * scaled[k]
            scaled[i] = rest / factor[i, i]
            squares += scaled[i] ** 2
            total -= np.log(factor[i, i])
        total -= 0.5 * squares
        to_scale[b] = 0.5 * (squares - n) / scale[b]
        for i in range(n - 1, -1, -1):
            scaled[i] /= factor[i, i]
            for k in range(i):
                scaled[k] -= factor[i, k] * scaled[i]
            to_x[b, i] = -scaled[i]
            to_mu[i] += scaled[i]
    return total, (to_x, to_mu, to_scale)


def positive(length: int) -> np.ndarray:
    a = generator(length).normal(size=(BATCHES[length], length, length))
    return a @ a.swapaxes(1, 2) + length * np.eye(length)


def columns(length: int) -> np.ndarray:
    return generator(length).normal(size=(BATCHES[length], length, 1))


def normal_vectors_problem(length: int, argnums: tuple[int, ...] = ()) -> Problem:
    x, mu = columns(length)[..., 0], np.linspace(-1, 1, length)
    scale = np.linspace(0.5, 2.0, len(x))
    by_hand, loops = (normal_vectors_by_hand, normal_vectors_grad_loops) if argnums else (None, normal_vectors_loops)
    args = x, mu, scale, positive(length)
    return Problem(normal_vectors, args, argnums=argnums, by_hand=by_hand, loops=loops)


WORKLOADS = (
    Workload("cholesky", (3, 50), lambda n: Problem(cholesky, (positive(n),))),
    Workload("triangular", (3, 50), lambda n: Problem(triangular, (np.linalg.cholesky(positive(n)), columns(n)))),
    Workload("solve", (3, 50), lambda n: Problem(solve, (positive(n), columns(n)))),
    Workload("inverse", (3, 50), lambda n: Problem(inverse, (positive(n),))),
    Workload("determinant", (3, 50), lambda n: Problem(determinant, (positive(n),))),
    Workload("eigenvalues", (50,), lambda n: Problem(eigenvalues, (positive(n),))),
    Workload("products", (3, 4, 16), lambda n: Problem(product, (positive(n), positive(n)))),
    Workload("normal_vectors", (4, 50), normal_vectors_problem),
    Workload("normal_vectors_grad", (4, 50), lambda n: normal_vectors_problem(n, (0, 1, 2))),
)
