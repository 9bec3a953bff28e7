"""Batching of graphs: a whole batch at once gives what a Python loop over it gives."""

import itertools

import numpy as np
import pytest

from numbagraph.ir.op import registry
from numbagraph.ir.shapes import ShapeError
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import ArrayType, Input, Source, at_source
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.batching import batch, spread
from tests.support.graphs import run

op = registry.__getitem__
RNG = np.random.default_rng(0)

FUNCTIONS = {
    "elementwise": (lambda x, y: op("exp")(x) * y - 1.0, [(3,), (3,)]),
    "different ranks": (lambda x, y: x * y, [(3,), (2, 3)]),
    "reduction": (lambda x, y: op("sum")(x, axis=0) * op("max")(y), [(2, 3), (3,)]),
    "running": (lambda x, y: op("cumsum")(x, axis=0) + y, [(2, 3), (3,)]),
    "views": (lambda x, y: op("transpose")(x) * op("expand_dims")(y, 0), [(2, 3), (2,)]),
    "reshape": (lambda x, y: op("reshape")(x, (6,)) * op("sum")(y), [(2, 3), (2,)]),
    "product": (lambda x, y: op("matmul")(x, y) + 1.0, [(2, 3), (3,)]),
    "gather": (lambda x, y: op("take")(x, op("argmax")(y)), [(4,), (4,)]),
}
CASES = [(name, flags) for name in FUNCTIONS for flags in itertools.product([True, False], repeat=2) if any(flags)]


def batched(function, flags):
    """A function of arguments some of which have a leading batch dimension."""

    def call(*values):
        seeds = {}
        for value, flag in zip(values, flags, strict=True):
            seeds[Input(value.type.with_shape(value.shape[flag:]), "element")] = value
        chosen = {one: many for one, many, flag in zip(seeds, values, flags, strict=True) if flag}
        singles = [one if flag else many for one, many, flag in zip(seeds, values, flags, strict=True)]
        size = next(iter(chosen.values())).shape[0]
        (result,) = batch([function(*singles)], chosen, size)
        return spread(result, size)

    return call


@pytest.mark.parametrize("size", [4, 1, 0])
@pytest.mark.parametrize(("name", "flags"), CASES)
def test_agrees_with_a_loop(name, flags, size):
    function, shapes = FUNCTIONS[name]
    arrays = [RNG.normal(size=(size, *shape) if flag else shape) for shape, flag in zip(shapes, flags, strict=True)]
    (found,) = run(batched(function, flags), *arrays)
    elements = [
        [array[number] if flag else array for array, flag in zip(arrays, flags, strict=True)] for number in range(size)
    ]
    for number, element in enumerate(elements):
        np.testing.assert_allclose(found[number], run(function, *element)[0], rtol=1e-14)
    assert len(found) == size


def test_a_batch_of_a_batch():
    function, _ = FUNCTIONS["elementwise"]
    x, y = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3))
    inner = batched(function, (False, True))
    (found,) = run(batched(inner, (True, False)), x, y)
    np.testing.assert_allclose(found, np.exp(x[:, None]) * y - 1.0)


def test_what_does_not_depend_on_the_batch_is_shared():
    x, y = Input(ArrayType(FLOAT64, (3,)), "x"), Input(ArrayType(FLOAT64, (3,)), "y")
    xs = Input(ArrayType(FLOAT64, (4, 3)), "xs")
    shared = op("exp")(y)
    (first, flag), (second, other) = batch([x * shared, shared], {x: xs}, 4)
    assert (flag, other) == (True, False)
    assert first is xs * shared
    assert second is shared


def test_the_gradient_of_a_batch_is_the_batch_of_gradients():
    def gradient(x):
        return cotangents([op("sum")(op("sin")(x) * x)], [op("sum")(x) * 0.0 + 1.0], [x])[0]

    x = RNG.normal(size=(4, 3))
    (found,) = run(batched(gradient, (True,)), x)
    np.testing.assert_allclose(found, np.sin(x) + x * np.cos(x))


def test_a_batch_must_have_one_more_dimension():
    x = Input(ArrayType(FLOAT64, (3,)), "x")
    with pytest.raises(ShapeError, match=r"a batch of \(3,\) cannot have shape \(3,\)"):
        batch([x], {x: x}, 3)
    with pytest.raises(ShapeError, match=r"a batch of \(3,\) cannot have shape \(5, 3\)"):
        batch([x], {x: Input(ArrayType(FLOAT64, (5, 3)), "xs")}, 4)


def test_an_op_that_cannot_be_batched_is_named_with_the_line():
    n = Input(ArrayType(np.dtype(np.int64), (), weak=True), "n")
    ns = Input(ArrayType(np.dtype(np.int64), (4,)), "ns")
    with at_source(Source("model.py", 7)):
        x = op("broadcast_to")(1.0, (n,))
    with pytest.raises(NotImplementedError, match=r"broadcast_to cannot be batched: .*\n  at model.py:7"):
        batch([x], {n: ns}, 4)
