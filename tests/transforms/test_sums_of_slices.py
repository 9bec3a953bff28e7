"""Cotangents of slices are added where they lie, and those of what may be repeated copied where nothing is."""

import itertools

import numpy as np
import pytest

from numbagraph import grad, graph_jit, hessian, vmap

RNG = np.random.default_rng(11)
BACKENDS = ("numba", "numpy", "jax")


def differences(function, args, number, step=1e-6):
    found = np.zeros_like(args[number])
    for place in np.ndindex(found.shape):
        low, high = ([each.copy() if isinstance(each, np.ndarray) else each for each in args] for _ in range(2))
        low[number][place] -= step
        high[number][place] += step
        found[place] = (function(*high) - function(*low)) / (2 * step)
    return found


def laplacian(u):
    inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    return np.sum(inner**3)


def interiors(u, f):
    """The lengths of either interior may turn out to be 1, and are then repeated."""
    return np.sum(np.sin(u[1:-1, 1:-1]) * f[1:-1, 1:-1] ** 2)


def relaxed(u, f, steps):
    for _ in range(steps):
        new = u.copy()
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        new[1:-1, 1:-1] = 0.25 * (around - f[1:-1, 1:-1]) + 0.1 * u[1:-1, 1:-1] ** 2
        u = new
    return np.sum(u**2)


def windows(x, w, n):
    total = 0.0
    for i in range(n):
        total = total + np.sum(np.sin(x[i : i + 3]) * w)
    return total


def smoothed(x, n):
    y = np.zeros_like(x)
    for i in range(n):
        y[i : i + 3] = y[i : i + 3] * 0.5 + np.sin(x[i : i + 3])
    return np.sum(y**2)


def several(x, n):
    """Slices and elements of one array, in a loop inside of a loop too."""
    total = x[0] * x[-1]
    for i in range(n):
        total = total + np.sum(x[i:] ** 2) * x[i] + x[1:-1].sum()
        for j in range(2):
            total = total + np.prod(x[i : i + 2]) * x[j]
    return total


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(6, 5), (3, 3), (2, 4), (3, 7)])
def test_stencils(shape, backend):
    u = RNG.normal(size=shape)
    found = graph_jit(grad(laplacian), backend=backend)(u)
    np.testing.assert_allclose(found, differences(laplacian, [u], 0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_lengths_that_may_be_repeated(backend):
    by_both = graph_jit(grad(interiors, argnums=(0, 1)), backend=backend)
    for one, other in itertools.product((2, 3, 5), repeat=2):
        shapes = [(one, 5), (other, 5), (5, one), (5, other)]
        for first, second in (shapes[:2], shapes[2:], (shapes[0], shapes[3]), ((one, one), (other, other))):
            u, f = RNG.normal(size=first), RNG.normal(size=second)
            try:
                interiors(u, f)
            except ValueError:
                with pytest.raises(ValueError, match="could not be broadcast"):
                    by_both(u, f)
                continue
            for number, each in enumerate(by_both(u, f)):
                np.testing.assert_allclose(each, differences(interiors, [u, f], number), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shape", [(6, 5), (3, 3), (3, 6)])
def test_time_steps_that_assign_an_interior(shape):
    u, f = RNG.normal(size=(2, *shape))
    found = graph_jit(grad(relaxed, argnums=(0, 1)))(u, f, 3)
    for number, each in enumerate(found):
        np.testing.assert_allclose(each, differences(relaxed, [u, f, 3], number), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("function", "args"), [(smoothed, (5,)), (several, (5,)), (windows, (RNG.normal(size=3), 5))])
def test_slices_in_loops(function, args):
    x = RNG.normal(size=8)
    compiled = graph_jit(grad(function))
    for count in (5, 0, 1, 5):
        given = [x, *args[:-1], count]
        np.testing.assert_allclose(compiled(*given), differences(function, given, 0), rtol=1e-6, atol=1e-8)


def test_second_derivatives_and_batches():
    u = RNG.normal(size=(4, 4))
    found = graph_jit(hessian(laplacian))(u)
    assert np.allclose(found, np.transpose(found, (2, 3, 0, 1)))
    slopes = differences(lambda u: graph_jit(grad(laplacian))(u)[1, 1], [u], 0)
    np.testing.assert_allclose(found[1, 1], slopes, rtol=1e-5, atol=1e-6)
    batch = RNG.normal(size=(3, 5, 5))
    found = graph_jit(vmap(grad(laplacian)))(batch)
    np.testing.assert_allclose(found, [graph_jit(grad(laplacian))(each) for each in batch], rtol=1e-12)


def test_a_step_of_a_gradient_costs_what_the_step_reads():
    """Not the length of the array that it reads from."""
    explained = graph_jit(grad(windows)).explain(np.ones(103), np.ones(3), 100)
    step = explained.partition("step_pullback")[2]
    assert "< 103" not in step
    assert "set_slice" in step


def test_nothing_is_scattered_element_by_element_where_nothing_is_repeated():
    compiled = graph_jit(grad(interiors))
    compiled.graph(np.ones((6, 5)), np.ones((6, 5)))  # has a version of its own
    graph = compiled.graph(np.ones((6, 5)), np.ones((3, 5)))
    scattered = [line for line in str(graph).splitlines() if "scatter_add(" in line]
    assert scattered
    explained = compiled.explain(np.ones((6, 5)), np.ones((3, 5)))
    nests = [line for line in str(explained).splitlines() if "(scatter_add)" in line]
    assert nests
    assert all("< 0" in line for line in nests)
