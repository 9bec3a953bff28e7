"""The NumPy interpreter: exact dtypes and shapes, precise errors, memory of its own."""

import weakref

import numpy as np
import pytest

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.shapes import ShapeError, require
from numbagraph.ir.types import DTYPES, FLOAT64
from numbagraph.ir.values import ArrayType, Input, Source, Unsupported, at_source, constant
from numbagraph.testing.op_calls import accepted, applied
from numbagraph.transforms.interpret import evaluate, interpret
from tests.support.graphs import run, trace

HERE = Source("model.py", 7)
NAMES = sorted(op.name for op in registry if not isinstance(op.frontend, Unsupported))


def test_evaluates_what_numpy_gives():
    x, y = np.arange(3.0), np.arange(6.0).reshape(2, 3)
    (result,) = run(lambda x, y: registry["sum"](x * y + 1.0, axis=-1), x, y)
    np.testing.assert_array_equal(result, np.sum(x * y + 1.0, axis=-1))


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("name", NAMES)
def test_every_op_gives_the_dtype_and_shape_of_its_node(name):
    for call in accepted(registry[name], *DTYPES):
        try:
            graph = trace(lambda *values, call=call: applied(registry[name], call.fill(values)), *call.arrays)
        except TypeError:
            continue  # a dtype that the op refuses
        evaluate(graph, call.arrays, check=True)


def test_python_scalars_stay_weak():
    (result,) = run(lambda x, scale: x * scale, np.ones(2, np.float32), 0.5)
    assert result.dtype == np.float32
    (number,) = run(lambda a, b: a + b, 1, 2)
    assert number == 3
    assert type(number) is int


def test_lengths_can_be_operands():
    (result,) = run(lambda x: registry["broadcast_to"](1.0, x.shape), np.zeros((2, 3)))
    np.testing.assert_array_equal(result, np.ones((2, 3)))


def test_shapes_that_do_not_fit_name_the_lengths_and_the_line():
    with at_source(HERE):
        graph = trace(lambda x, y: x + y, np.zeros(3), np.zeros((2, 3)))
    with pytest.raises(ShapeError, match=r"add: operands .* with shapes \(4,\) \(2, 3\)\n  at model.py:7"):
        evaluate(graph, [np.zeros(4), np.zeros((2, 3))])


def test_computed_lengths_are_numbers_in_errors():
    graph = trace(lambda x, y: registry["concatenate"]([x, x, y]) + x, np.zeros(3), np.zeros(2))
    with pytest.raises(ShapeError, match=r"shapes \(8,\) \(3,\)"):
        evaluate(graph, [np.zeros(3), np.zeros(2)])


def test_a_guard_raises_its_own_error():
    def function(n):
        require(n < 3, "n is too large", OverflowError)
        return n * 1.0

    graph = trace(function, 2)
    assert evaluate(graph, [2]) == [2.0]
    with pytest.raises(OverflowError, match="n is too large"):
        evaluate(graph, [3])


def test_an_error_of_numpy_names_the_operation_its_operands_and_the_line():
    with at_source(HERE):
        graph = trace(registry["take"], np.zeros(5), np.array([1, 2]))
    with pytest.raises(IndexError, match=r"index 9 is out of bounds for axis 0 with size 5\n  at model.py:7"):
        evaluate(graph, [np.zeros(5), np.array([0, 9])])
    with at_source(HERE):
        graph = trace(registry["cholesky"], np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match=r"definite\n  in cholesky\(float64\[2, 2\]\)\n  at model.py:7"):
        evaluate(graph, [-np.eye(2)])


def test_arguments_must_be_those_of_the_graph():
    graph = trace(lambda x: x + 1.0, np.zeros((1, 3)))
    with pytest.raises(ShapeError, match="x0 must have 2 dimensions, not 1"):
        evaluate(graph, [np.zeros(3)])
    with pytest.raises(ShapeError, match="x0 must have shape"):
        evaluate(graph, [np.zeros((2, 3))])
    with pytest.raises(TypeError, match="takes 1 arrays, not 2"):
        evaluate(graph, [np.zeros((1, 3)), 1.0])


def test_results_own_their_memory():
    x = np.zeros(3)
    views = [lambda x: x, lambda x: (x, x), lambda x: registry["broadcast_to"](x, (2, x.shape[0]))]
    for function in views:
        results = run(function, x)
        for result in results:
            result += 1
        assert not x.any()
        assert all(np.all(result == 1) for result in results)


def test_a_constant_is_not_handed_out():
    number = constant(np.array([1.0, 2.0]))
    (result,) = run(lambda _: number, 0)
    result[:] = 0
    assert number.data.tolist() == [1.0, 2.0]


def test_depth_is_no_limit():
    def chain(x):
        for _ in range(5000):
            x = x + 1.0
        return x

    (result,) = run(chain, np.zeros(1))
    assert result.tolist() == [5000.0]


def test_what_is_not_needed_any_more_is_released():
    alive: weakref.WeakSet[object] = weakref.WeakSet()
    most = 0

    class Result:
        pass

    def apply(node, operands):
        nonlocal most
        result = Result()
        alive.add(result)
        most = max(most, len(alive))
        return result

    x = Input(ArrayType(FLOAT64), "x")
    value = x
    for _ in range(50):
        value = value + 1.0
    interpret([value], {x: Result()}, lambda leaf: leaf, apply)
    assert most <= 3


def test_the_check_finds_a_wrong_result():
    graph = trace(lambda x: x + 1.0, np.zeros(3))
    x, node = graph.inputs[0], graph.outputs[0]
    assert evaluate(Graph((x,), (node,)), [np.zeros(3)], check=True)[0].dtype == np.float64
    with pytest.raises(AssertionError, match="add gave complex128"):
        evaluate(Graph((x,), (node,)), [np.zeros(3, complex)], check=True)
