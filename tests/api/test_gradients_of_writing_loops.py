"""Gradients of loops that write into what they carry: what was read and overwritten is known on the way back."""

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir.regions import regions_of

RNG = np.random.default_rng(23)


def overwritten(x):
    """Each element is read by the next step, and overwritten by the one after it."""
    a = x.copy()
    for i in range(1, len(x)):
        a[i] = np.sin(a[i - 1]) * a[i]
        a[i - 1] = a[i] * a[i - 1]
    return np.sum(a * a)


def sweeps(x):
    """Every element is overwritten in every sweep (Gauss-Seidel)."""
    a = x.copy()
    for _ in range(3):
        for i in range(1, len(x) - 1):
            a[i] = 0.5 * a[i] + 0.2 * a[i - 1] * a[i + 1]
    return np.sum(a * a * a)


def same_place(x):
    a = x.copy()
    for i in range(len(x)):
        a[0] = a[0] * a[i] + a[-1] ** 2
    return a[0] + np.sum(a)


def branches(x):
    a = x.copy()
    for i in range(1, len(x)):
        if a[i] > a[i - 1]:
            a[i] = a[i] * a[i - 1]
        elif a[i] > 0.3:
            a[i - 1] = a[i] ** 2
    return np.sum(a * a)


def sorting(x):
    """Positions follow from what is overwritten."""
    a = x.copy()
    for _ in range(len(x)):
        for j in range(len(x) - 1):
            if a[j] > a[j + 1]:
                t = a[j]
                a[j] = a[j + 1]
                a[j + 1] = t
    total = 0.0
    for i in range(len(x)):
        total += (i + 1) * a[i] ** 2
    return total


def positions(x):
    """Positions are read from an array of integers that the loop writes."""
    a, order = x.copy(), np.zeros(len(x), np.int64)
    for i in range(len(x)):
        order[i] = (order[i - 1] * 2 + 1) % len(x)
        a[order[i]] = a[order[i]] * a[i] + 0.5
    return np.sum(a * a)


def rows(x):
    a = x.copy()
    for i in range(1, x.shape[0]):
        a[i] = a[i] * np.cos(a[i - 1]) + a[0]
        a[0] = a[i] * a[0]
    return np.sum(a * a)


def slices(x):
    a = x.copy()
    for i in range(1, x.shape[0]):
        a[i, 1:] = a[i, :-1] * a[i - 1, 1:]
        a[1:, 0] = a[:-1, 0] * 1.1 * a[1:, 1]
    return np.sum(a * a)


def repeated(x):
    """Of elements that are written twice the last one counts."""
    a, places = x.copy(), np.array([2, 0, 2, 1])
    for i in range(3):
        a[places] = a[places] * x[:4] * (i + 1)
    return np.sum(a * a)


def triangle(x):
    """Inner loops of another length in each step."""
    a = x.copy()
    n = len(x)
    for i in range(n):
        for j in range(i):
            a[i] = a[i] - 0.3 * a[j] * a[j]
            a[j] = a[j] * a[i]
    return np.sum(a * a)


def accumulated(x):
    """Read in branches, in inner loops, twice in one step, and with rows."""
    total, a = 0.0, x * 1.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                total += x[i, j] * x[i, 0]
            for k in range(j):
                total += x[i, k] * x[k % 3, j]
        a[i, :] = x[i] * x[i, 1] + a[i - 1]
    return total + np.sum(a)


def early(x):
    a = x.copy()
    for i in range(1, len(x)):
        if a[i - 1] > 1.4:
            break
        a[i] = a[i] + a[i - 1] * a[i]
    return np.sum(a * a)


def two(x):
    """Two arrays, one of which is made from the other as both change."""
    a, b = x.copy(), np.zeros(len(x))
    for i in range(1, len(x)):
        b[i] = a[i - 1] * b[i - 1] + a[i]
        a[i] = b[i] * a[i]
    return np.sum(a * b)


def floyd_warshall(x):
    d = x.copy()
    n = len(x)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return np.sum(d * d)


def while_writes(x):
    a, i = x.copy(), 1
    while i < len(x) and a[i - 1] < 3.0:
        a[i] = a[i] + a[i - 1] ** 2
        i += 1
    return np.sum(a * a)


LINE, TABLE = RNG.random(7) + 0.2, RNG.random((4, 5)) + 0.1
KERNELS = [
    (overwritten, LINE), (sweeps, LINE), (same_place, LINE), (branches, LINE), (sorting, LINE), (positions, LINE),
    (rows, TABLE), (slices, TABLE), (repeated, LINE), (triangle, LINE), (accumulated, TABLE), (early, LINE),
    (two, LINE), (floyd_warshall, RNG.random((4, 4))), (while_writes, LINE),
]  # fmt: skip
NAMES = [each.__name__ for each, _ in KERNELS]
FEW = {"overwritten", "branches", "triangle"}
SOME = [
    pytest.param(*each, id=name, marks=() if name in FEW else pytest.mark.repeats)
    for each, name in zip(KERNELS, NAMES, strict=True)
]


def differences(function, x, step=1e-6):
    found = []
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        found.append((np.asarray(function(up)) - function(down)) / (2 * step))
    return np.moveaxis(np.array(found), 0, -1).reshape(*np.shape(found[0]), *x.shape)


@pytest.mark.parametrize(("function", "x"), KERNELS, ids=NAMES)
def test_gradients(function, x):
    value, gradient = ng.graph_jit(ng.value_and_grad(function))(x)
    np.testing.assert_allclose(value, function(x.copy()), rtol=1e-12)
    np.testing.assert_allclose(gradient, differences(function, x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("function", "x"), SOME)
def test_second_derivatives(function, x):
    gradient = ng.graph_jit(ng.grad(function))
    expected = differences(gradient, x)
    np.testing.assert_allclose(ng.graph_jit(ng.jacrev(ng.grad(function)))(x), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(function))(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("function", "x"), SOME)
def test_batches(function, x):
    gradient, batch = ng.graph_jit(ng.grad(function)), np.stack([x, x[::-1], x * 1.1])
    expected = [gradient(each) for each in batch]
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(ng.grad(function)))(batch), expected, rtol=1e-12)


@pytest.mark.parametrize(("function", "x"), SOME)
def test_numpy_backend(function, x):
    found = ng.graph_jit(ng.grad(function), backend="numpy")(x)
    np.testing.assert_allclose(found, ng.graph_jit(ng.grad(function))(x), rtol=1e-12)


def table(x):
    best = np.zeros((x.shape[0] + 1, x.shape[1] + 1))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            best[i + 1, j + 1] = max(best[i, j] + x[i, j], best[i, j + 1] - 0.1) * x[0, 0]
    return best[-1, -1]


@pytest.mark.parametrize("function", [table, floyd_warshall])
def test_no_array_is_stored_for_each_step(function):
    """A table for each row of a table, or for each element, would have three or four dimensions; numbers of each
    element have two, or three where there are three loops."""
    program = ng.graph_jit(ng.grad(function)).graph(TABLE[:4, :4])
    most = 2 if function is table else 3
    pending, found = [program], []
    while pending:
        graph = pending.pop()
        found += graph.order
        pending += [region for each in graph.order for region in regions_of(each)]
    assert max(each.ndim for each in found) <= most


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (1, 3), (3, 1)])
def test_tables_of_few_elements(shape):
    if 0 in shape:
        with pytest.raises(IndexError):
            ng.graph_jit(ng.grad(lambda x: table(x) + x[0, 0]))(np.ones(shape))
        return
    x = RNG.random(shape)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(table))(x), differences(table, x), rtol=1e-6, atol=1e-8)


def test_no_steps():
    np.testing.assert_array_equal(ng.graph_jit(ng.grad(overwritten))(np.array([3.0])), [6.0])
    np.testing.assert_array_equal(ng.graph_jit(ng.grad(overwritten))(np.zeros(0)), np.zeros(0))


def test_error_is_that_of_the_value():
    def outside(x):
        a = x.copy()
        for i in range(len(x)):
            a[i + 1] = a[i] * a[i]
        return np.sum(a)

    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
        ng.graph_jit(ng.grad(outside))(LINE)
