"""Linear algebra on batches of small and of middle-sized matrices, and the density of normal vectors."""

import importlib

import numpy as np

from .base import Problem, Workload, generator

BATCHES = {3: 100_000, 4: 10_000, 50: 1000}
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


def positive(length: int) -> np.ndarray:
    a = generator(length).normal(size=(BATCHES[length], length, length))
    return a @ a.swapaxes(1, 2) + length * np.eye(length)


def columns(length: int) -> np.ndarray:
    return generator(length).normal(size=(BATCHES[length], length, 1))


def normal_vectors_problem(length: int, argnums: tuple[int, ...] = ()) -> Problem:
    x, mu = columns(length)[..., 0], np.linspace(-1, 1, length)
    scale = np.linspace(0.5, 2.0, len(x))
    by_hand = normal_vectors_by_hand if argnums else None
    return Problem(normal_vectors, (x, mu, scale, positive(length)), argnums=argnums, by_hand=by_hand)


WORKLOADS = (
    Workload("cholesky", (3, 50), lambda n: Problem(cholesky, (positive(n),))),
    Workload("triangular", (3, 50), lambda n: Problem(triangular, (np.linalg.cholesky(positive(n)), columns(n)))),
    Workload("solve", (3, 50), lambda n: Problem(solve, (positive(n), columns(n)))),
    Workload("inverse", (3, 50), lambda n: Problem(inverse, (positive(n),))),
    Workload("determinant", (3, 50), lambda n: Problem(determinant, (positive(n),))),
    Workload("normal_vectors", (4, 50), normal_vectors_problem),
    Workload("normal_vectors_grad", (4, 50), lambda n: normal_vectors_problem(n, (0, 1, 2))),
)
