"""Approximations of the inverse Jacobian that are learnt from the steps of an iteration, as SciPy has them.

Each has a memory, the product of the approximation with a vector, and what a step adds to the memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import fori_loop
from numbagraph.library.scipy.arguments import refuse

Function = Callable[..., Any]


class Approximation(NamedTuple):
    """The memory at the start; ``product(memory, f)``; and ``learn(memory, step)``."""

    memory: Any
    product: Function
    learn: Function


class Step(NamedTuple):
    """A step, the change of the function, and the function before and after it."""

    dx: Any
    df: Any
    before: Any
    after: Any


def scale_of(x: Any, f: Any, alpha: Any) -> Any:
    """Return the given scale of the first approximation, or one that fits the first value."""
    if alpha is not None:
        return np.float64(alpha)
    size = np.linalg.norm(f)
    return np.where(size > 0, 0.5 * np.maximum(np.linalg.norm(x), 1.0) / np.where(size > 0, size, 1.0), 1.0)


def good_broyden(
    x: Any, f: Any, alpha: Any = None, reduction_method: Any = "restart", max_rank: Any = None, is_second: bool = False
) -> Approximation:
    """Broyden's first approximation, or his second one. The matrix is kept whole."""
    name = reduction_method if isinstance(reduction_method, str) else reduction_method[0]
    if name not in ("restart", "simple", "svd"):
        raise ValueError(f"Unknown rank reduction method '{name}'")
    if name != "restart" and max_rank is not None:
        refuse(f"Broyden's method with reduction_method={name!r}", "take 'restart', or leave max_rank out")
    n = len(x)
    first = -scale_of(x, f, alpha) * np.eye(n)

    def product(memory: Any, f: Any) -> Any:
        inverse, count = memory
        found = inverse @ f
        is_finite = np.all(np.isfinite(found))
        return np.where(is_finite, found, first @ f), (
            np.where(is_finite, inverse, first),
            np.where(is_finite, count, 0),
        )

    def learn(memory: Any, step: Step) -> Any:
        inverse, count = memory
        if max_rank is not None:
            is_full = (count > max_rank - 1) & (count <= n)
            inverse, count = np.where(is_full, first, inverse), np.where(is_full, 0, count)
        v = step.df if is_second else inverse.T @ step.dx
        square = np.linalg.norm(step.df) ** 2 if is_second else np.dot(step.df, v)
        return inverse + np.outer(step.dx - inverse @ step.df, v / square), count + 1

    return Approximation((first, np.int64(0)), product, learn)


def bad_broyden(x: Any, f: Any, **options: Any) -> Approximation:
    return good_broyden(x, f, is_second=True, **options)


def anderson_mixing(x: Any, f: Any, alpha: Any = None, w0: Any = 0.01, M: Any = 5) -> Approximation:
    """Eyert's extended Anderson mixing over the last steps."""
    n, scale = len(x), scale_of(x, f, alpha)
    if M == 0:
        return linear_mixing(x, f, alpha)
    places = np.arange(M)

    def product(memory: Any, f: Any) -> Any:
        steps, changes, count = memory
        is_used = places < count
        square = changes @ changes.T * (1.0 + w0**2 * np.eye(M))
        square = np.where(is_used[:, np.newaxis] & is_used, square, np.eye(M))
        weights, is_singular = eliminated(square, np.where(is_used, changes @ f, 0.0))
        weights = np.where(is_singular, 0.0, weights)
        memory = steps, changes, np.where(is_singular, 0, count)
        return -scale * f + weights @ (steps + scale * changes), memory

    def appended(rows: Any, row: Any, count: Any) -> Any:
        shifted = np.concatenate((rows[1:], rows[:1]))
        kept = np.where(count < M, rows, shifted)
        return np.where((places == np.minimum(count, M - 1))[:, np.newaxis], row, kept)

    def learn(memory: Any, step: Step) -> Any:
        steps, changes, count = memory
        return appended(steps, step.dx, count), appended(changes, step.df, count), np.minimum(count + 1, M)

    return Approximation((np.zeros((M, n)), np.zeros((M, n)), np.int64(0)), product, learn)


def eliminated(matrix: Any, right: Any) -> tuple[Any, Any]:
    """Solve a small system by elimination, and return whether its matrix is singular."""
    n = len(matrix)
    places = np.arange(n)

    def step(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        work, is_singular = state
        best = np.argmax(np.where(places >= k, np.abs(work[:, k]), -1.0))
        here, other = work[k], work[best]
        is_here, is_other = (places == k)[:, np.newaxis], (places == best)[:, np.newaxis]
        work = np.where(is_here, other, np.where(is_other, here, work))
        is_zero = ~(np.abs(other[k]) > 0.0)
        row = other / np.where(is_zero, 1.0, other[k])
        factors = np.where(places == k, 0.0, work[:, k])
        return np.where(is_here, row, work - np.outer(factors, row)), is_singular | is_zero

    augmented = np.concatenate((matrix, right[:, np.newaxis]), axis=1)
    work, is_singular = fori_loop(0, n, step, (augmented, np.bool_(False)))
    return work[:, n], is_singular


def diagonal_broyden(x: Any, f: Any, alpha: Any = None) -> Approximation:
    """The diagonal of Broyden's matrices."""

    def learn(memory: Any, step: Step) -> Any:
        return memory - (step.df + memory * step.dx) * step.dx / np.linalg.norm(step.dx) ** 2

    return Approximation(np.ones(len(x)) / scale_of(x, f, alpha), lambda memory, f: (-f / memory, memory), learn)


def linear_mixing(x: Any, f: Any, alpha: Any = None) -> Approximation:
    """A multiple of the identity."""
    scale = scale_of(x, f, alpha)
    return Approximation(scale, lambda memory, f: (-f * memory, memory), lambda memory, _: memory)


def exciting_mixing(x: Any, f: Any, alpha: Any = None, alphamax: Any = 1.0) -> Approximation:
    """A diagonal whose elements grow as long as the function keeps their sign."""
    scale = scale_of(x, f, alpha)

    def learn(memory: Any, step: Step) -> Any:
        return np.clip(np.where(step.after * step.before > 0, memory + scale, scale), 0.0, alphamax)

    return Approximation(scale * np.ones(len(x)), lambda memory, f: (-f * memory, memory), learn)


APPROXIMATIONS: dict[str, Function] = {
    "anderson": anderson_mixing,
    "broyden1": good_broyden,
    "broyden2": bad_broyden,
    "diagbroyden": diagonal_broyden,
    "excitingmixing": exciting_mixing,
    "linearmixing": linear_mixing,
}
