"""What Python tells of an object's class, of numbers and arrays that are traced: as of the numbers and arrays that they
will be, also in helpers, methods, and the functions of Python and NumPy that ask for the user."""

import functools
import numbers
import typing
import weakref
from collections import abc

import numpy as np
import pytest

from numbagraph import graph_jit

VALUES = (
    True,
    3,
    3.0,
    1j,
    np.bool_(True),
    np.int32(2),
    np.float64(2.0),
    np.complex64(1j),
    np.arange(3.0),
    np.arange(2),
)
ABSTRACT = (
    numbers.Number, numbers.Complex, numbers.Real, numbers.Integral, abc.Iterable, abc.Sized, abc.Hashable,
    abc.Container, abc.Sequence, abc.Collection, abc.Callable, typing.SupportsFloat, typing.SupportsIndex,
    typing.SupportsAbs, typing.SupportsComplex,
)  # fmt: skip


def length(x):
    return 1.0 if type(x) is float else 2.0


class Helper:
    def answer(self, x):
        return 1.0 if type(x) is np.ndarray else 2.0

    @functools.singledispatchmethod
    def size(self, x):
        return -1.0

    @size.register
    def _(self, x: np.ndarray):
        return 2.0

    @size.register
    def _(self, x: float):
        return 3.0


@functools.singledispatch
def area(x):
    return -1.0


@area.register
def _(x: np.ndarray):
    total = 0.0
    for each in x:
        if each > 1:
            total += each
    return total


@area.register
def _(x: float):
    return x * x


HELPER = Helper()


QUESTIONS = {
    "type in a helper": lambda x: length(x),
    "type in a method": lambda x: HELPER.answer(x),
    "__class__": lambda x: 1.0 if x.__class__ is np.ndarray else 2.0,
    "issubclass": lambda x: 1.0 if issubclass(type(x), np.generic) else 2.0,
    "isscalar": lambda x: 1.0 if np.isscalar(x) else 2.0,
    "iterable": lambda x: 1.0 if np.iterable(x) else 2.0,
    "hasattr of arrays alone": lambda x: 1.0 if hasattr(x, "shape") else 2.0,
    "hasattr of sequences": lambda x: 1.0 if hasattr(x, "__len__") else 2.0,
    "hasattr of nothing": lambda x: 1.0 if hasattr(x, "value") else 2.0,
    "getattr": lambda x: 1.0 if getattr(x, "dtype", None) is None else 2.0,
    "getattr of nothing": lambda x: getattr(x, "value", 5.0),
    "singledispatch": lambda x: area(x),
    "singledispatchmethod": lambda x: HELPER.size(x),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions(question):
    function = QUESTIONS[question]
    for value in VALUES:
        assert float(graph_jit(function)(value)) == float(np.real(function(value))), (question, value)


@pytest.mark.parametrize("kind", ABSTRACT, ids=lambda kind: kind.__name__)
def test_abstract_classes(kind):
    def answer(x):
        return 1.0 if isinstance(x, kind) else 2.0

    for value in VALUES:
        assert graph_jit(answer)(value) == answer(value), value


def test_an_attribute_of_what_may_be_none():
    @graph_jit
    def answer(x, n):
        weights = None
        if n > 2:
            weights = x
        return 1.0 if hasattr(weights, "shape") else 2.0

    assert (answer(np.ones(3), 3), answer(np.ones(3), 1)) == (1.0, 2.0)


@pytest.mark.parametrize("value", [each for each in VALUES if not np.ndim(each)])
def test_numbers_have_no_elements(value):
    def answer(x):
        try:
            iter(x)
        except TypeError:
            return 1.0
        return 2.0

    assert graph_jit(answer)(value) == answer(value) == 1


def test_the_class_of_a_proxy_of_what_is_gone():
    class Gone:
        pass

    thing = Gone()
    proxy = weakref.proxy(thing)
    del thing

    def function(x):
        return x * 2 if type(proxy) is Gone else x * 3

    np.testing.assert_array_equal(graph_jit(function)(np.ones(2)), function(np.ones(2)))
