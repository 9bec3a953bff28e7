"""Programs that select by a mask, or write where it selects, under transformations, loops and branches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit, jvp, vmap

RNG = np.random.default_rng(3)
X, STEP = RNG.random((4, 9)), 1e-6
MASK = X[0] > 0.3
MASK[:4] = True
V = RNG.random((4, int(MASK.sum())))


def assign(x, v, m):
    y = x * 1.0
    y[m] = v
    return y


def assign_one(x, v, m):
    y = x * 1.0
    y[m] = v[:1]
    y[~m] *= 2
    return y


def add(x, v, m):
    y = x * 1.0
    y[m] += v
    return y


def select(x, v, m):
    return x * 0 + (x[m] * v).sum()


def compress(x, v, m):
    return x * 0 + np.compress(m, x).max() + v.sum()


def multiply_at(x, v, m):
    y = x * 1.0
    np.multiply.at(y, [0, 1, 0], v[:3])
    return y


def place(x, v, m):
    y = x * 1.0
    np.place(y, m, v)
    return y


def putmask(x, v, m):
    y = x * 1.0
    np.putmask(y, m, v)
    return y


def place_few(x, v, m):
    y = x * 1.0
    np.place(y, m, v[:2])
    return y


def putmask_few(x, v, m):
    y = x * 1.0
    np.putmask(y, m, v[1:3])
    return y


def sort(x, v, m):
    y = np.zeros_like(x)
    y[m] = np.sort(x[m]) * v
    return y


def running(x, v, m):
    y = x * 1.0
    y[m] = np.cumsum(x[m]) + v
    return y


Program = Callable[[Any, Any, Any], Any]
REPEATING = [place, place_few, putmask, putmask_few]
PROGRAMS = [assign, assign_one, add, select, compress, multiply_at, *REPEATING, sort, running]
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)


def repeated(program: Program) -> Callable[..., Any]:
    def function(x, v, m, n=3):
        for _ in range(n):
            x = program(x, v, m)
        return x

    return function


def branching(program: Program) -> Program:
    def function(x, v, m):
        return program(x, v, m) if x[0] > -1 else x

    return function


def total(program: Program) -> Program:
    return lambda x, v, m: program(x, v, m).sum()


def slopes(program: Program, x: Any, v: Any, *, of_values: bool = False) -> np.ndarray:
    """Differences of the sum of a program's results."""
    given = v if of_values else x
    found = []
    for place in range(len(given)):
        ends = []
        for step in (STEP, -STEP):
            moved = given.copy()
            moved[place] += step
            ends.append(program(*((x, moved) if of_values else (moved, v)), MASK).sum())
        found.append((ends[0] - ends[1]) / (2 * STEP))
    return np.array(found)


@each_program
@pytest.mark.parametrize("around", [repeated, branching], ids=lambda each: each.__name__)
def test_in_loops_and_branches(program: Program, around: Callable[[Program], Program]) -> None:
    function = around(program)
    np.testing.assert_allclose(graph_jit(function)(X[0], V[0], MASK), function(X[0], V[0], MASK), rtol=1e-12)
    of_x = graph_jit(grad(total(function)))(X[0], V[0], MASK)
    np.testing.assert_allclose(of_x, slopes(function, X[0], V[0]), atol=1e-6)


@each_program
def test_derivatives(program: Program) -> None:
    of_x, of_v = graph_jit(grad(total(program), argnums=(0, 1)))(X[0], V[0], MASK)
    np.testing.assert_allclose(of_x, slopes(program, X[0], V[0]), atol=1e-6)
    np.testing.assert_allclose(of_v, slopes(program, X[0], V[0], of_values=True), atol=1e-6)
    ones = np.ones_like(X[0])
    forward = graph_jit(lambda x, v, m: jvp(lambda x: total(program)(x, v, m), (x,), (ones,))[1])
    np.testing.assert_allclose(forward(X[0], V[0], MASK), of_x.sum(), atol=1e-10)


@each_program
def test_second_derivatives(program: Program) -> None:
    """A gradient's sum, differentiated by what the gradient's differences are taken of."""
    squares = lambda x, v, m: (program(x, v, m) ** 3).sum()  # noqa: E731
    first = graph_jit(grad(squares))
    found = graph_jit(grad(lambda x, v, m: grad(squares)(x, v, m).sum()))(X[0], V[0], MASK)
    np.testing.assert_allclose(found, slopes(first, X[0], V[0]), atol=1e-5)


@each_program
@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)], ids=str)
def test_batches_with_one_mask(program: Program, axes: tuple[int | None, int | None]) -> None:
    x, v = (each if axis == 0 else each[0] for each, axis in zip((X, V), axes, strict=True))
    pairs = [(X[k if axes[0] == 0 else 0], V[k if axes[1] == 0 else 0]) for k in range(len(X))]
    mapped = vmap(program, in_axes=(*axes, None))
    np.testing.assert_allclose(graph_jit(mapped)(x, v, MASK), [program(*pair, MASK) for pair in pairs], rtol=1e-12)
    if axes == (0, 0):
        wanted = [slopes(program, *pair) for pair in pairs]
        inside = vmap(grad(total(program)), in_axes=(0, 0, None))
        np.testing.assert_allclose(graph_jit(inside)(X, V, MASK), wanted, atol=1e-6)
        np.testing.assert_allclose(graph_jit(grad(total(mapped)))(X, V, MASK), wanted, atol=1e-6)


@pytest.mark.parametrize("program", REPEATING, ids=lambda each: each.__name__)
@pytest.mark.parametrize("axes", [(0, 0, 0), (0, None, 0), (None, 0, 0), (None, None, 0)], ids=str)
@pytest.mark.parametrize("backend", ["numba", "jax"])
def test_batches_with_masks_of_their_own(program: Program, axes: tuple[int | None, ...], backend: str) -> None:
    masks = RNG.random(X.shape) < [[0.0], [0.3], [0.7], [1.0]]
    given = [each if axis == 0 else each[0] for each, axis in zip((X, V, masks), axes, strict=True)]
    rows = [[each[k] if axis == 0 else each for each, axis in zip(given, axes, strict=True)] for k in range(len(X))]
    mapped = vmap(program, in_axes=axes)
    found = graph_jit(mapped, backend=backend)(*given)
    np.testing.assert_allclose(found, [program(*row) for row in rows], rtol=1e-12)
    weighed = lambda x, v, m: (mapped(x, v, m) * np.arange(1.0, X.size + 1).reshape(X.shape)).sum()  # noqa: E731
    of_values = graph_jit(grad(weighed, argnums=1), backend=backend)(*given)
    wanted = np.zeros_like(given[1])
    for place in np.ndindex(wanted.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = given[1].copy()
            moved[place] += step
            each = [program(row[0], moved[k] if axes[1] == 0 else moved, row[2]) for k, row in enumerate(rows)]
            ends.append((np.array(each) * np.arange(1.0, X.size + 1).reshape(X.shape)).sum())
        wanted[place] = (ends[0] - ends[1]) / (2 * STEP)
    np.testing.assert_allclose(of_values, wanted, atol=1e-5)
