"""Arrays that are joined from flattened ones: each is stored by the loops of the array that is flattened."""

import numpy as np
import pytest

from numbagraph import graph_jit

RNG = np.random.default_rng(0)
A, B, V = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2, 3)), RNG.normal(size=5)


def assigned(a, b, v):
    x = np.zeros(17)
    x[:12] = a.T.ravel()
    x[12:] = v
    return x


FUNCTIONS = {
    "transposed": lambda a, b, v: np.concatenate([a.T.ravel(), v, b.transpose(2, 0, 1).ravel()]),
    "computed": lambda a, b, v: np.concatenate([(a * 2).T.ravel(), v, (b + 1).reshape(-1)[::-1]]),
    "repeated": lambda a, b, v: np.concatenate([np.broadcast_to(v, (3, len(v))).ravel(), v]),
    "outer": lambda a, b, v: np.concatenate([(v[:, None] * v).ravel(), v]),
    "empty": lambda a, b, v: np.concatenate([(v[:, None] * v)[:0].ravel(), v]),
    "one column": lambda a, b, v: np.concatenate([a[:, :1].T.ravel(), a[:1].ravel(), v]),
    "rows": lambda a, b, v: np.stack([a.T.ravel(), a.ravel()]),
    "columns": lambda a, b, v: np.stack([a.T.ravel(), a.ravel()], axis=1),
    "diagonal": lambda a, b, v: np.concatenate([np.diag(v).ravel(), v]),
    "assigned": assigned,
    "resized": lambda a, b, v: np.resize(v, (3, 4)),
    "sum of polynomials": lambda a, b, v: np.polysub(v[:2], a.ravel()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_numpy(name):
    function, compiled = FUNCTIONS[name], graph_jit(FUNCTIONS[name])
    for given in ((A, B, V), (A[:, :1], B[::-1], V[::2]), (np.asfortranarray(A), B[:, :, :0], V)):
        if name == "assigned" and given[0].size != A.size:
            continue
        np.testing.assert_array_equal(compiled(*given), function(*given))


def overwritten(y):
    y[:] = np.concatenate([y[:16].reshape(4, 4).T.ravel(), y[:4]])


def shifted(y):
    square = y[:16].reshape(4, 4)
    y[:] = np.concatenate([square.T.ravel(), square.ravel()])[5:25]


@pytest.mark.parametrize("function", [overwritten, shifted])
def test_what_is_read_is_overwritten(function):
    first = RNG.normal(size=20)
    found, expected = first.copy(), first.copy()
    graph_jit(function)(found)
    function(expected)
    np.testing.assert_array_equal(found, expected)


def test_donated_memory_and_results():
    def joined(y):
        return np.concatenate([y[:16].reshape(4, 4).T.ravel(), y[:4]])

    y = RNG.normal(size=20)
    expected, into = joined(y), y.copy()
    np.testing.assert_array_equal(graph_jit(joined, donate_argnames="y")(y.copy()), expected)
    graph_jit(joined)(into, out=into)
    np.testing.assert_array_equal(into, expected)


def test_a_product_with_itself_copies_nothing():
    """The operands of a contraction are matrices as they lie in memory, transposed where that is enough."""
    cube = RNG.normal(size=(4, 5, 6))
    for axes in (([1, 2], [1, 2]), ([0, 1], [0, 1])):
        compiled = graph_jit(lambda x, axes=axes: np.tensordot(x, x, axes))
        np.testing.assert_allclose(compiled(cube), np.tensordot(cube, cube, axes), rtol=1e-13)
        assert "0 loop nests" in str(compiled.explain(cube))
