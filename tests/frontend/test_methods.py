"""Compiled methods, and compiled functions that are pickled and copied."""

import copy
import pickle

import numpy as np
import pytest

from numbagraph import graph_jit


class Model:
    def __init__(self, scale):
        self.scale = scale

    @graph_jit
    def predict(self, x):
        return x * self.scale

    @staticmethod
    @graph_jit
    def shift(x):
        return x + 1


def test_methods():
    x = np.arange(3.0)
    one, two = Model(np.full(3, 2.0)), Model(np.full(3, 5.0))
    for _ in range(2):
        np.testing.assert_array_equal(one.predict(x), 2 * x)
        np.testing.assert_array_equal(two.predict(x), 5 * x)
    np.testing.assert_array_equal(Model.shift(x), x + 1)
    assert one.predict is one.predict


def test_methods_travel_with_their_objects():
    x = np.arange(3.0)
    model = Model(np.full(3, 2.0))
    np.testing.assert_array_equal(model.predict(x), 2 * x)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(x), 2 * x)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model.predict))(x), 2 * x)
    other = copy.copy(model)
    other.scale = np.full(3, 5.0)
    np.testing.assert_array_equal(other.predict(x), 5 * x)
    np.testing.assert_array_equal(model.predict(x), 2 * x)


def test_methods_of_objects_without_a_dict():
    class Slotted:
        __slots__ = ()

        @graph_jit
        def predict(self, x):
            return x

    with pytest.raises(TypeError, match="__slots__"):
        Slotted().predict(np.ones(2))


@graph_jit
def at_module_level(x):
    return x * 3


def plain_at_module_level(x, n):
    return x * n


compiled_under_another_name = graph_jit(plain_at_module_level, static_argnames="n", backend="numpy")


def test_pickling():
    x = np.arange(3.0)
    np.testing.assert_array_equal(at_module_level(x), 3 * x)
    again = pickle.loads(pickle.dumps(at_module_level))
    np.testing.assert_array_equal(again(x), 3 * x)
    again = pickle.loads(pickle.dumps(compiled_under_another_name))
    np.testing.assert_array_equal(again(x, 4), 4 * x)
    assert again.backend == "numpy"
    assert again.static_argnames == ("n",)


def test_a_lambda_cannot_be_pickled():
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError), match=r"lambda|pickle"):
        pickle.dumps(graph_jit(lambda x: x))


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_copying(copier):
    x = np.arange(3.0)
    np.testing.assert_array_equal(copier(at_module_level)(x), 3 * x)
