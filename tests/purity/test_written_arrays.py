"""Arrays that attributes, globals, elements and variables of enclosing functions hold, and that a function writes into:
each call has Python's effect on the array itself, or none."""

import copy

import numpy as np
import pytest

import numbagraph
from numbagraph import grad, graph_jit

Y = np.arange(3.0) + 1


class Net:
    def __init__(self):
        self.w, self.b, self.n = np.eye(3), np.zeros(3), 0
        self.log = np.zeros(5)
        self.parts = {"w": np.ones(3), "b": np.zeros(2)}
        self.layers = [np.zeros(3), np.ones(3)]
        self.same = self.w

    def row(self, y):
        self.w[0] = y
        return self.w.sum(), self.same.sum()

    def step(self, y):
        self.w += 0.1 * np.outer(y, y)
        return self.w.sum()

    def learn(self, y):
        gradient = grad(lambda w: ((w @ y - 1) ** 2).sum())(self.w)
        self.w -= 0.01 * gradient
        self.n += 1
        return (self.w @ y).sum()

    def logged(self, y):
        self.log[self.n] = y.sum()
        self.n += 1
        return self.log.sum()

    def in_a_loop(self, y):
        for i in range(len(y)):
            self.b[i] += y[i] * i
        return self.b * 1

    def in_a_branch(self, y):
        if y[0] > 0:
            self.w[2] = y
        else:
            self.b[1] -= 1
        return self.w.sum()

    def in_a_dict(self, y):
        self.parts["w"][0] = y[0]
        self.parts["w"] -= 0.1 * y
        return self.parts["w"].sum()

    def in_each_element(self, y):
        for name in self.parts:
            self.parts[name] += y[0]
        return self.parts["b"] * 1

    def in_a_list(self, y):
        self.layers[0][1] = y[1]
        self.layers[1] *= 2
        return self.layers[0] * 1

    def through_a_view(self, y):
        row = self.w[1]
        row[:] = y
        return self.w[1] * 1

    def by_a_helper(self, y):
        def update(a, v):
            a[0] = v

        update(self.b, y[1])
        return self.b.sum()

    def by_out(self, y):
        np.multiply(y, 2.0, out=self.b)
        return y

    def with_a_number(self, y):
        self.b[0] = 9.0
        return y + self.b

    def by_methods(self, y):
        self.b.fill(3.0)
        self.w.sort(axis=0)
        return y


METHODS = [each for name, each in vars(Net).items() if not name.startswith("__")]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.__name__)
def test_methods_write_into_the_arrays_of_their_objects(method, backend):
    net, expected = Net(), Net()
    arrays = {name: each for name, each in vars(net).items() if isinstance(each, np.ndarray)}
    compiled = graph_jit(getattr(net, method.__name__), backend=backend)
    for y in (Y, -Y, Y + 1):
        np.testing.assert_allclose(compiled(y), method(expected, y), rtol=1e-12)
        for name, each in arrays.items():
            assert getattr(net, name) is each
            np.testing.assert_allclose(each, getattr(expected, name), rtol=1e-12)
        for name, each in net.parts.items():
            np.testing.assert_allclose(each, expected.parts[name], rtol=1e-12)
        for one, other in zip(net.layers, expected.layers, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


TOTAL = np.zeros(3)
TABLE = {"w": np.zeros(3), "m": np.ones((2, 2))}


def test_globals_and_variables_of_enclosing_functions():
    buffer = np.zeros(3)

    def add(y):
        TOTAL[0] += y[0]
        TABLE["m"][0, 1] = y[1]
        buffer[1] += y[0]
        return TOTAL * 2, buffer.sum()

    compiled = graph_jit(add)
    for times in (1, 2):
        total, both = compiled(Y)
        np.testing.assert_array_equal(total, [2.0 * times, 0, 0])
        assert both == times
    np.testing.assert_array_equal(TOTAL, [2, 0, 0])
    np.testing.assert_array_equal(TABLE["m"], [[1, 2], [1, 1]])
    np.testing.assert_array_equal(buffer, [0, 2, 0])


def test_another_array_in_the_place_of_the_first_is_written():
    net, expected = Net(), Net()
    compiled = graph_jit(net.by_a_helper)
    compiled(Y)
    first = net.b
    for each in (net, expected):
        each.b = np.ones(4, np.float32)
    assert compiled(Y) == expected.by_a_helper(Y)
    np.testing.assert_array_equal(net.b, expected.b)
    np.testing.assert_array_equal(first, [2, 0, 0])


class Method:
    def __init__(self):
        self.b = np.zeros(3)

    @graph_jit
    def add(self, y):
        self.b += y
        return self.b.sum()

    @graph_jit
    def pick(self, y, i):
        self.b[0] += 1
        return y[i]


def test_compiled_methods_write_into_their_own_objects():
    one, other = Method(), Method()
    assert (one.add(Y), one.add(Y), other.add(Y)) == (6, 12, 6)
    outer = graph_jit(lambda y: one.add(y) + one.b[0])
    assert outer(Y) == 18 + 3
    np.testing.assert_array_equal(one.b, 3 * Y)
    np.testing.assert_array_equal(other.b, Y)


def test_a_call_that_fails_writes_nothing():
    holder = Method()
    holder.pick(Y, 1)
    with pytest.raises(IndexError):
        holder.pick(Y, 7)
    np.testing.assert_array_equal(holder.b, [1, 0, 0])


class Refused:
    def __init__(self):
        self.w = np.zeros((3, 3))
        self.row = self.w[1]
        self.pair = (np.zeros(3),)
        self.b = np.zeros(3)

    def shared_memory(self, y):
        self.w[1] = y
        return self.row.sum()

    def in_a_tuple(self, y):
        self.pair[0][1] = y[1]
        return y

    def bound_and_written(self, y):
        self.b[0] = y[0]
        self.b = self.b * 2
        return y


@pytest.mark.parametrize("name", ["shared_memory", "in_a_tuple", "bound_and_written"])
def test_arrays_whose_other_names_would_not_see_a_write_are_refused(name):
    holder = Refused()
    before = copy.deepcopy(vars(holder))
    with pytest.raises(numbagraph.errors.TraceError):
        graph_jit(getattr(holder, name))(Y)
    np.testing.assert_equal(vars(holder), before)


def test_arguments_and_read_only_arrays_are_told_apart():
    net = Net()
    compiled = graph_jit(net.row)
    compiled(Y)
    with pytest.raises(ValueError, match="shares memory with an argument"):
        compiled(net.w[1])
    net.w.flags.writeable = False
    with pytest.raises(ValueError, match="is read-only"):
        compiled(Y)


class Pair:
    def __init__(self):
        self.one, self.two = np.arange(3.0), np.arange(3.0) + 5

    def element(self, y):
        self.one[0] += y[0]
        return self.two[0]

    def whole(self, y):
        self.one += y[0]
        return self.two.sum()

    def both(self, y):
        self.one[0] += y[0]
        self.two[0] *= 2.0
        return self.one[0]


def apart(pair):
    pair.one, pair.two = np.arange(3.0) + 2, np.arange(3.0)


def as_one(pair):
    pair.one = pair.two = np.ones(3)


def as_number(pair):
    pair.two = np.float64(2.0) * np.ones(3)


@pytest.mark.parametrize("name", ["element", "whole", "both"])
def test_names_of_one_array_and_of_two_from_call_to_call(name):
    pairs = Pair(), Pair()
    calls = getattr(pairs[0], name), graph_jit(getattr(pairs[1], name))
    for change in (apart, as_one, apart, as_one, as_number):
        for _ in range(2):
            found = [call(Y) for call in calls]
            assert found[0] == found[1]
        np.testing.assert_array_equal(pairs[0].one, pairs[1].one)
        np.testing.assert_array_equal(pairs[0].two, pairs[1].two)
        assert (pairs[0].one is pairs[0].two) == (pairs[1].one is pairs[1].two)
        for pair in pairs:
            change(pair)
