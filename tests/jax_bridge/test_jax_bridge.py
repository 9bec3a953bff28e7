"""Graphs on JAX: NumPy's dtypes, values and errors, without a change to the user's configuration."""

import numpy as np
import pytest

import numbagraph
from numbagraph.ir.op import registry
from tests.support.graphs import trace

jax = pytest.importorskip("jax")

from numbagraph.jax_bridge import compile_jax, to_jax  # noqa: E402  (it imports JAX)

op = registry.__getitem__


def check(function, *data):
    """Compile with JAX and compare with the interpreter."""
    from numbagraph.transforms.interpret import evaluate

    graph = trace(function, *data)
    for found, expected in zip(compile_jax(graph)(data), evaluate(graph, data), strict=True):
        assert type(found) is type(expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert not isinstance(found, np.ndarray) or found.flags.writeable
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_64_bit_types_are_enabled_for_the_call_alone():
    before = jax.numpy.arange(2.0).dtype
    check(lambda x: op("exp")(x) * 2.0, np.arange(3.0))
    check(lambda x: x + 1, np.arange(3))
    assert jax.numpy.arange(2.0).dtype == before == np.float32


def test_dtypes_are_those_of_numpy():
    check(lambda x, scale: x * scale, np.ones(3, np.float32), 0.5)
    check(op("sum"), np.ones(3, np.int8))
    check(lambda x, y: (x * y, x > y), np.ones(3, np.int32), np.ones(3, np.float32))
    check(lambda a, b: a + b, 1, 2.5)


def test_lengths_are_static():
    check(lambda x: op("broadcast_to")(op("sum")(x), (x.shape[0] * 2,)), np.arange(3.0))
    check(lambda x, n: op("broadcast_to")(x, (n,)) * 1.0, np.float64(2.0), 5)


def test_a_new_length_needs_no_new_graph():
    compiled = compile_jax(trace(lambda x: op("sum")(x * x), np.arange(3.0)))
    assert compiled([np.arange(3.0)])[0] == 5.0
    assert compiled([np.arange(4.0)])[0] == 14.0


def test_results_stay_with_jax_when_arguments_are_there():
    (result,) = compile_jax(trace(lambda x: x * 2.0, np.ones(3, np.float32)))([jax.numpy.ones(3)])
    assert isinstance(result, jax.Array)


def test_shapes_are_checked():
    compiled = compile_jax(trace(lambda x, y: x + y, np.zeros(3), np.zeros(3)))
    with pytest.raises(ValueError, match=r"add: operands could not be broadcast together with shapes \(3,\) \(4,\)"):
        compiled([np.zeros(3), np.zeros(4)])


@pytest.mark.parametrize("position", [5, -6])
def test_an_index_out_of_bounds_is_an_error(position):
    check(op("take"), np.arange(5.0), np.array([0, 4, -5]))
    compiled = compile_jax(trace(lambda x, index: op("take")(x, index) + 1.0, np.arange(5.0), np.array([0, 1])))
    with pytest.raises(IndexError, match=f"index {position} is out of bounds for axis 0 with size 5"):
        compiled([np.arange(5.0), np.array([0, position])])


def test_to_jax_is_differentiable_code_of_jax():
    (function,) = (to_jax(trace(lambda x: op("sum")(op("sin")(x)), np.zeros(3))),)
    x = jax.numpy.arange(3.0)
    np.testing.assert_allclose(jax.grad(lambda x: function(x)[0])(x), np.cos(x), rtol=1e-6)
    assert jax.jit(jax.vmap(function))(jax.numpy.zeros((2, 3)))[0].tolist() == [0.0, 0.0]


def test_stop_gradient_stops_the_gradients_of_jax():
    function = to_jax(trace(lambda x: op("sum")(op("stop_gradient")(x) * x), np.zeros(3)))
    assert jax.grad(lambda x: function(x)[0])(jax.numpy.arange(3.0)).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "numbers",
    [
        lambda n: np.arange(1.0, n + 1),
        lambda n: np.arange(float(n)),
        lambda n: np.arange(0, 1, 1 / n),
        lambda n: np.arange(n * 0.5, n * 1.5),
        lambda n: np.zeros(int(np.ceil(n / 2)) + 3)[:n],
    ],
)
def test_lengths_that_are_made_of_floating_point_numbers(numbers):
    def function(x):
        return x * numbers(x.shape[0])

    compiled = numbagraph.graph_jit(function, backend="jax")
    for x in (np.ones(5), np.ones(4, np.float32), np.ones(1)):
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-15)
    x = jax.numpy.ones(5)
    np.testing.assert_allclose(jax.jit(numbagraph.to_jax(function))(x), function(np.ones(5)), rtol=1e-6)
    assert isinstance(numbagraph.to_jax(np.sin)(1.5), jax.Array)
