"""Differentiation of graphs: reverse mode, forward mode as its transpose, rules that users wrote."""

import importlib.util

import numpy as np
import pytest

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.shapes import ShapeError
from numbagraph.ir.structs import replace
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import ArrayType, Input, Node, Source, Unsupported, at_source, constant, toposort
from numbagraph.ops.identity import alias, stop_gradient
from numbagraph.ops.rules.custom_rule import with_rule
from numbagraph.transforms.autodiff import cotangents, tangents
from numbagraph.transforms.batching import batch
from numbagraph.transforms.interpret import evaluate
from tests.support.graphs import like, make_input, pairing, run, trace

op = registry.__getitem__
RNG = np.random.default_rng(0)
needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")


def make(dtype, *shape):
    return Input(ArrayType(dtype, shape), "x")


def normal_logp(x, mu, sigma):
    z = (x - mu) / sigma
    return op("sum")(-0.5 * z * z - op("log")(sigma))


def softmax_loss(x, w):
    scores = op("sum")(op("expand_dims")(x, 1) * w, axis=-1)
    shifted = scores - op("max")(scores, axis=-1, keepdims=True)
    return op("sum")(shifted, axis=-1) - op("log")(op("sum")(op("exp")(shifted), axis=-1))


def gathered(x, y):
    """Elements of ``x`` by position, some of them twice."""
    return op("take")(x, constant(np.array([0, 2, 2]))) * y


def known_and_computed(x, y):
    """A length that is known, and not 1, as one that is computed."""
    return op("broadcast_to")(op("take")(x, constant(np.array([0, 2, 2]))), y[1:].shape) * y[1:]


FUNCTIONS = {
    "polynomial": (lambda x: x * x * x - 2.0 * x, [RNG.normal(size=4)]),
    "broadcast": (lambda x, y: x * y + x, [RNG.normal(size=3), RNG.normal(size=(2, 1))]),
    "normal logp": (normal_logp, [RNG.normal(size=5), np.float64(0.3), np.float64(1.7)]),
    "softmax": (softmax_loss, [RNG.normal(size=(3, 2)), RNG.normal(size=(4, 2))]),
    "where": (lambda x, y: op("where")(x > y, op("square")(x), op("exp")(y)), [RNG.normal(size=5), RNG.normal(size=5)]),
    "gathered": (gathered, [RNG.normal(size=4), RNG.normal(size=3)]),
    "known and computed lengths": (known_and_computed, [RNG.normal(size=4), RNG.normal(size=4)]),
    "several": (lambda x, y: (x * y, op("sum")(op("tanh")(x)), y), [RNG.normal(size=(2, 3)), RNG.normal(size=3)]),
    "weak": (lambda x, scale: op("sin")(x * scale), [RNG.normal(size=3), 0.7]),
    "complex": (
        lambda z, w: (op("exp")(z) * w, op("absolute")(z * w), op("real")(z) * op("imag")(w), op("conjugate")(z)),
        [RNG.normal(size=3) + 1j * RNG.normal(size=3), RNG.normal(size=3) - 1j],
    ),
    "complex of real": (lambda x: op("exp")(x * 1j), [RNG.normal(size=3)]),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def test_a_derivative_that_there_is_not_is_asked_for_only_where_it_is_needed():
    a, x = make_input(np.ones(3), "a"), make_input(np.ones(3), "x")
    value = op("sum")(op("jv")(a, x))
    assert cotangents([value], [constant(1.0)], [x])[0] is not None
    with pytest.raises(NotImplementedError, match="jv has no derivative: there is no derivative by the order"):
        cotangents([value], [constant(1.0)], [a])


def pulled(function, arrays, given):
    """The cotangents of a function's arguments."""

    def graph(*values):
        inputs, seeds = values[: len(arrays)], values[len(arrays) :]
        result = function(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        found = cotangents(outputs, seeds, inputs)
        assert all(
            each is None or (each.dtype == value.dtype and each.ndim == value.ndim and not each.type.weak)
            for each, value in zip(found, inputs, strict=True)
        )
        return [value * 0.0 if each is None else each for each, value in zip(found, inputs, strict=True)]

    return run(graph, *arrays, *given)


def pushed(function, arrays, given):
    """The tangents of a function's results."""

    def graph(*values):
        inputs, seeds = values[: len(arrays)], values[len(arrays) :]
        result = function(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        found = tangents(outputs, inputs, seeds)
        assert all(each.dtype == value.dtype for each, value in zip(found, outputs, strict=True))
        return found

    return run(graph, *arrays, *given)


def differences(function, arrays, given, step=1e-6):
    """The tangents of a function's results, by central differences."""
    above = run(function, *[point + step * tangent for point, tangent in zip(arrays, given, strict=True)])
    below = run(function, *[point - step * tangent for point, tangent in zip(arrays, given, strict=True)])
    return [(one - other) / (2 * step) for one, other in zip(above, below, strict=True)]


@every_function
def test_forward_mode_is_the_limit_of_differences(name):
    function, arrays = FUNCTIONS[name]
    given = [like(RNG, array) for array in arrays]
    for found, expected in zip(pushed(function, arrays, given), differences(function, arrays, given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@every_function
def test_reverse_mode_is_the_transpose_of_forward_mode(name):
    function, arrays = FUNCTIONS[name]
    right = [like(RNG, array) for array in arrays]
    left = [like(RNG, result) for result in run(function, *arrays)]
    found = pairing(pulled(function, arrays, left), right)
    assert found == pytest.approx(pairing(left, pushed(function, arrays, right)), rel=1e-12)


@every_function
def test_second_order(name):
    """Derivatives of derivatives are derivatives: the transpose, and the limit of differences."""
    function, arrays = FUNCTIONS[name]
    given = [like(RNG, result) for result in run(function, *arrays)]

    def gradient(*values):
        result = function(*values)
        outputs = result if isinstance(result, tuple) else (result,)
        found = cotangents(outputs, [constant(each) for each in given], values)
        return tuple(value * 0.0 if each is None else each for each, value in zip(found, values, strict=True))

    right = [like(RNG, array) for array in arrays]
    left = [like(RNG, array) for array in arrays]
    along = pushed(gradient, arrays, right)
    assert pairing(pulled(gradient, arrays, left), right) == pytest.approx(pairing(left, along), rel=1e-10, abs=1e-12)
    for found, expected in zip(along, differences(gradient, arrays, right), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@needs_jax
@every_function
def test_agrees_with_jax(name):
    import jax

    from numbagraph.jax_bridge import to_jax
    from numbagraph.jax_bridge.translate import x64

    function, arrays = FUNCTIONS[name]
    given = [like(RNG, result) for result in run(function, *arrays)]
    translated = to_jax(trace(function, *arrays))

    @jax.jit  # compiling all of it at once takes less than compiling each operation
    def pulled_by_jax(primals, cotangents):
        return jax.vjp(translated, *primals)[1](cotangents)

    with x64():
        expected = pulled_by_jax(tuple(arrays), tuple(given))
    for found, other in zip(pulled(function, arrays, given), expected, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-10, atol=1e-12)


def test_dtypes_are_kept():
    found = pulled(lambda x, y: op("exp")(x) * y, [np.ones(2, np.float32), np.ones(2)], [np.ones(2)])
    assert [each.dtype for each in found] == [np.float32, np.float64]
    found = pulled(lambda x, scale: x * scale, [np.ones(2, np.float32), 2.0], [np.ones(2, np.float32)])
    assert [each.dtype for each in found] == [np.float32, np.float64]
    graph = trace(lambda x: cotangents([op("sin")(x * 2.0)], [op("cos")(x)], [x]), np.ones(2, np.float32))
    assert all(value.dtype == np.float32 for value in graph.order if isinstance(value, Node))


def test_nothing_depends_on_an_integer():
    x, n = make(FLOAT64, 3), make(np.dtype(np.int64), 3)
    assert cotangents([x * n], [x], [n]) == [None]
    assert cotangents([n + 1], [n], [n]) == [None]
    assert cotangents([(x > 0.0) * n], [n], [x]) == [None]


def test_what_does_not_depend_on_an_input_has_no_cotangent():
    x, y = make(FLOAT64, 3), make(FLOAT64, 3)
    assert cotangents([x * 2.0], [x], [y]) == [None]
    assert cotangents([x, y], [x, None], [x, y]) == [x, None]
    assert cotangents([stop_gradient(x) * 2.0], [x], [x]) == [None]
    (found,) = run(lambda x: tangents([x], [x * 1.0], [x]), np.ones(3))
    assert found.tolist() == [0.0, 0.0, 0.0]


def test_each_input_is_independent_of_the_others():
    x = make(FLOAT64)
    y = op("exp")(x)
    z = y * x
    assert cotangents([z], [constant(1.0)], [x, y]) == [constant(1.0) * y, constant(1.0) * x]


def test_an_alias_separates_one_use_from_all_others():
    x = make(FLOAT64)
    point = alias(x * x, 1)
    (found,) = cotangents([point + x * x], [constant(1.0)], [point])
    assert found is constant(1.0)
    (found,) = cotangents([point + x * x], [constant(1.0)], [x])
    assert evaluate(Graph((x,), (found,)), [np.float64(3.0)]) == [12.0]


def test_forward_mode_leaves_nothing_of_the_reverse_passes():
    x, t = make(FLOAT64, 3), make(FLOAT64, 3)
    y = op("sin")(x * x)
    (found,) = tangents([y], [x], [t])
    operations = [value.op.name for value in toposort([found], known=[y.inputs[0]]) if isinstance(value, Node)]
    assert sorted(operations) == ["add", "cos", "multiply", "multiply"]


def test_cost_grows_linearly():
    def gradient_size(count):
        x = make(FLOAT64, 3)
        value = x
        for number in range(count):
            value = op("sin")(value) * x if number % 2 else value * value
        return len(toposort(each for each in cotangents([value], [value], [x]) if each is not None))

    assert gradient_size(2000) < 2.1 * gradient_size(1000)


def test_depth_is_no_limit():
    x = make(FLOAT64)
    value = x
    for _ in range(5000):
        value = op("sin")(value)
    (found,) = tangents([value], [x], [constant(1.0)])
    assert 0 < evaluate(Graph((x,), (found,)), [np.float64(1.0)])[0] < 1


def test_an_op_without_derivative_is_named_with_the_line():
    x = make(FLOAT64, 3)
    chaotic = replace(op("sin"), name="chaotic", vjp=Unsupported("it is not smooth"))
    with at_source(Source("model.py", 7)):
        y = chaotic.bind(x)
    with pytest.raises(NotImplementedError, match=r"chaotic has no derivative: it is not smooth\n  at model.py:7"):
        cotangents([y], [x], [x])
    assert cotangents([y + x], [x], [make(FLOAT64, 3)]) == [None]


def clipped(x):
    """The identity, whose cotangents are clipped to [-1, 1]."""
    return with_rule([x * 1.0], [x], lambda _, given: [op("clip")(given[0], -1.0, 1.0)])[0]


def test_a_rule_replaces_the_derivative():
    def function(x, y):
        (result,) = with_rule([x * y], [x, y], lambda values, given: [given[0] * values[1] * 10.0, None])
        return result

    found = pulled(function, [np.array([2.0]), np.array([3.0])], [np.array([1.0])])
    assert [each.tolist() for each in found] == [[30.0], [0.0]]
    assert run(function, np.array([2.0]), np.array([3.0]))[0].tolist() == [6.0]
    (found,) = pushed(function, [np.array([2.0]), np.array([3.0])], [np.array([1.0]), np.array([1.0])])
    assert found.tolist() == [30.0]


def test_a_rule_sees_the_sum_of_all_cotangents():
    def function(x):
        result = clipped(x)
        return result * 0.75 + op("sin")(result) * 0.75 / op("cos")(result)

    (found,) = pulled(function, [np.array([2.0])], [np.array([1.0])])
    assert found.tolist() == [1.0]


def test_a_rule_sees_the_cotangents_of_all_results_at_once():
    def function(x):
        first, second = with_rule([x * 1.0, x * 2.0], [x], lambda _, given: [given[0] * given[1]])
        return op("sin")(second) + second * first, first

    x = np.array([0.5])
    (found,) = pulled(function, [x], [np.array([2.0]), np.array([3.0])])
    assert found == pytest.approx((3.0 + 2.0 * 2 * x) * (2.0 * np.cos(2 * x) + 2.0 * x))


def test_a_missing_cotangent_of_a_rule_is_zero():
    def function(x):
        first, _ = with_rule([x * 1.0, x * 2.0], [x], lambda _, given: [given[0] + given[1] * 100.0])
        return first

    (found,) = pulled(function, [np.array([0.5])], [np.array([2.0])])
    assert found.tolist() == [2.0]


def test_forward_mode_refuses_a_rule_that_is_not_linear():
    with pytest.raises(NotImplementedError, match="not linear"):
        pushed(clipped, [np.array([2.0])], [np.array([1.0])])


def test_a_rule_that_ignores_its_cotangent():
    def function(x):
        return with_rule([x * x], [x], lambda values, given: [values[0] * 3.0])[0]

    assert pulled(function, [np.array([2.0])], [np.array([7.0])])[0].tolist() == [6.0]
    assert pushed(function, [np.array([2.0])], [np.array([7.0])])[0].tolist() == [0.0]


def test_a_rule_must_give_what_fits():
    x = make(FLOAT64, 3)
    (short,) = with_rule([x], [x], lambda _, given: [])
    with pytest.raises(TypeError, match="gave 0 cotangents for 1 arguments"):
        cotangents([short], [x], [x])
    (wrong,) = with_rule([x], [x], lambda _, given: [op("sum")(given[0])])
    with pytest.raises(ShapeError, match=r"with_rule: a cotangent of shape \(\) for a value of shape \(3,\)"):
        cotangents([wrong], [x], [x])


def test_what_a_rule_says_nothing_of_has_the_derivative_of_the_function():
    x, y = make(FLOAT64, 3), make(FLOAT64, 3)
    (result,) = with_rule([x * y], [x], lambda _, given: [given[0]])
    assert cotangents([result], [x], [x]) == [x]
    assert cotangents([result], [y], [x, y]) == [y, y * x]


def test_a_rule_is_batched():
    """Arguments that the batch shares take the sum of their cotangents."""

    def function(x, y):
        def backward(values, given):
            assert all(value.ndim == 1 for value in (*values, *given))
            return [given[0] * values[1] * 2.0, op("clip")(given[0] * values[0], -1.0, 1.0)]

        (result,) = with_rule([x * y], [x, y], backward)
        return result

    def batched(x, y):
        single = Input(ArrayType(FLOAT64, x.shape[1:]), "x")
        ((result, flag),) = batch([function(single, y)], {single: x}, x.shape[0])
        assert flag
        return result

    x, y, given = RNG.normal(size=(4, 3)), RNG.normal(size=3), RNG.normal(size=(4, 3))
    np.testing.assert_array_equal(run(batched, x, y)[0], x * y)
    found = pulled(batched, [x, y], [given])
    np.testing.assert_allclose(found[0], given * y * 2.0)
    np.testing.assert_allclose(found[1], np.clip(given * x, -1, 1).sum(0))
