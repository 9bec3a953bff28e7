"""Writes through views of arrays of enclosing scopes, and inside of transformations and calls."""

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit
from numbagraph import numpy as xp
from tests.tracing.test_views import run


def test_views_of_arrays_of_an_enclosing_scope():
    data = np.arange(4.0)

    def write(x):
        xp.flip(data)[0] = x[0]

    def write_part(x):
        np.broadcast_arrays(x[:0].sum(), data)[1][0] = 1

    run(write, np.full(1, 9.0))
    np.testing.assert_array_equal(data, [0, 1, 2, 9])
    run(write_part, np.ones(1))
    np.testing.assert_array_equal(data, [1, 1, 2, 9])


def inner(w):
    w[0] = 5.0
    return np.sum(w**2)


@pytest.mark.parametrize(
    "transformed",
    [
        numbagraph.grad(inner),
        numbagraph.jacfwd(inner),
        lambda y: numbagraph.vjp(inner, y)[0],
        lambda y: numbagraph.jvp(inner, (y,), (y,)),
        lambda y: numbagraph.vmap(inner)(y[None]),
        numbagraph.custom_vjp(inner),
        lambda y: numbagraph.vectorize(inner, signature="(n)->()")(y),
    ],
)
def test_arguments_of_transformed_functions_stay_as_they_are(transformed):
    """The transformed function has what its caller has: a write into it would be lost."""

    def outer(x):
        y = x * 1
        return transformed(y), y

    for function in (outer, transformed):
        with pytest.raises(TypeError, match="assignment into an argument"):
            run(function, np.arange(3.0))


def test_what_transformations_give_can_be_written_into():
    def function(x):
        g = numbagraph.grad(lambda w: np.sum(w**3))(x)
        g[0] = 1
        rows = numbagraph.vmap(lambda row: row * 2)(x)
        rows += g
        stopped = x * 1
        numbagraph.stop_gradient(stopped)
        return g, rows

    x = np.arange(3.0)
    g = 3 * x**2
    g[0] = 1
    np.testing.assert_array_equal(run(function, x), [g, 2 * x + g])


def test_functions_that_are_called_write_into_the_caller_s_arrays():
    @graph_jit
    def callee(y):
        y[0] = 5
        return y.sum()

    def caller(x):
        y = x * 1
        return callee(y), y

    total, y = run(caller, np.ones(3))
    assert total == 7
    np.testing.assert_array_equal(y, [5, 1, 1])
