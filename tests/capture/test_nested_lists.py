"""Lists to which inner loops append, and variables that a loop binds to other lists."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit


def products(z):
    out = []
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            out.append(z[i, j] * i)
    return out


def chosen(z):
    out = []
    for row in z:
        for each in row:
            if each > 2:
                out.append(each)
    return out


def enumerated(z):
    out = []
    for index, each in np.ndenumerate(z):
        out.append(each * index[0])
    return np.array(out)


def with_sums(z):
    out = []
    total = z.dtype.type(0)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            total += z[i, j]
            for k in range(3):
                if (j + k) % 2:
                    out.append(total * k)
    return out


def with_counts(z):
    out = [-1]
    for i in range(z.shape[0]):
        count = 0
        for j in range(z.shape[1]):
            if z[i, j] % 2:
                out.append(j)
                count += 1
        out.append(count)
    return out


def ragged(z):
    out = []
    for i in range(z.shape[0]):
        for j in range(min(i, z.shape[1])):
            out.append(z[i, j])
    return out


def arrays(z):
    out = []
    for i in range(z.shape[0]):
        for _ in range(z.shape[1]):
            out.append(z[i])
    return out


def of_while(z):
    out, i = [], 0
    while i < z.shape[0]:
        for j in range(z.shape[1]):
            out.append(z[i, j])
        i += 1
    return out


MATRICES = [np.arange(9).reshape(3, 3), np.arange(12.0)[::-1].reshape(4, 3), np.zeros((0, 3)), np.zeros((3, 0))]


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("function", [products, chosen, enumerated, with_sums, with_counts, ragged, arrays, of_while])
def test_loops_in_loops_append(function, backend):
    f = graph_jit(function, backend=backend)
    for matrix in MATRICES:
        found, expected = f(matrix), function(matrix)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected)


def test_gradients_through_what_inner_loops_append():
    def total(z):
        out = []
        for i in range(z.shape[0]):
            for j in range(z.shape[1]):
                if z[i, j] > 0:
                    out.append(z[i, j] ** 2 * (i + 1))
        return np.sum(np.array(out))

    z = np.random.default_rng(0).normal(size=(3, 4))
    weights = np.arange(1, 4)[:, None]
    np.testing.assert_allclose(graph_jit(grad(total))(z), np.where(z > 0, 2 * z * weights, 0), rtol=1e-14)


def last(z):
    out = []
    for i in range(len(z)):
        out = [z[i, 0]]
    return out


def restarted(z):
    out = []
    for i in range(len(z)):
        out.append(z[i, 0])
        if z[i, 0] > 2:
            out = [z[i, 0]]
    return out


def renamed(z):
    out = []
    for i in range(len(z)):
        new = []
        new.append(z[i, 0])
        out = new
    return out


def of_each_row(z):
    out = []
    for i in range(len(z)):
        out = []
        for j in range(z.shape[1]):
            out.append(z[i, j])
    return out


@pytest.mark.parametrize("function", [last, restarted, renamed, of_each_row])
def test_other_lists_of_steps_are_followed(function):
    for matrix in MATRICES:
        if matrix.size:
            np.testing.assert_array_equal(graph_jit(function)(matrix), function(matrix))
