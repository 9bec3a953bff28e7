"""Compiled methods, and compiled functions that are pickled and copied."""

import copy
import functools
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
    assert again.definition.static_argnames == ("n",)


def test_a_lambda_cannot_be_pickled():
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError), match=r"lambda|pickle"):
        pickle.dumps(graph_jit(lambda x: x))


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_copying(copier):
    x = np.arange(3.0)
    np.testing.assert_array_equal(copier(at_module_level)(x), 3 * x)


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


class Base:
    scale = 2.0

    def __init__(self):
        self.weights = np.arange(3.0)

    @classmethod
    @graph_jit
    def of_class(cls, x):
        return x * cls.scale

    @property
    @graph_jit
    def scaled(self):
        return self.weights * self.scale

    @functools.cached_property
    @graph_jit
    def total(self):
        return np.sum(self.weights) * self.scale

    @graph_jit
    def plain(self, x):
        return x * self.scale + self.weights

    @logged
    @graph_jit
    def decorated(self, x, factor=1.0):
        return x * self.scale * factor


class Derived(Base):
    scale = 5.0


@pytest.mark.parametrize("kind", [Base, Derived])
def test_methods_that_are_given_their_object_by_position(kind):
    scale, thing = kind.scale, kind()
    assert kind.of_class(3.0) == thing.of_class(3.0) == 3 * scale
    np.testing.assert_array_equal(thing.scaled, np.arange(3.0) * scale)
    assert thing.total == 3 * scale
    np.testing.assert_array_equal(Base.plain(thing, 1.0), scale + np.arange(3.0))
    assert thing.decorated(2.0, factor=3.0) == 6 * scale
    assert pickle.loads(pickle.dumps(thing)).total == 3 * scale

    @graph_jit
    def around(x):
        return thing.plain(x) + Base.plain(thing, x) + thing.scaled + kind.of_class(x)

    np.testing.assert_array_equal(around(1.0), 3 * scale + np.arange(3.0) * (2 + scale))


def test_a_class_method_below_is_refused():
    with pytest.raises(TypeError, match="write @classmethod above it"):

        class Wrong:
            @graph_jit
            @classmethod
            def of_class(cls, x):
                return x
