"""Attributes, globals and elements of dicts that a function assigns to: each call has Python's effect, or none."""

import copy

import numpy as np
import pytest

import numbagraph
from numbagraph import cond, grad, graph_jit, scan, vmap
from tests.purity import test_outer_state as writers

X = np.arange(3.0) + 1
COUNT = 0


def state():
    held = [vars(writers.STATE), writers.COUNT, vars(writers.MODULE).get("level")]
    return copy.deepcopy(held)


@pytest.fixture
def restored():
    before = state()
    yield
    vars(writers.STATE).update(before[0])
    writers.COUNT, writers.MODULE.level = before[1:]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("function", writers.KEPT, ids=lambda each: each.__name__)
@pytest.mark.usefixtures("restored")
def test_each_call_has_pythons_effect(function, backend):
    before = state()
    for _ in range(3):
        function(X)
    expected = state()
    vars(writers.STATE).update(copy.deepcopy(before[0]))
    writers.COUNT, writers.MODULE.level = before[1:]
    compiled = graph_jit(function, backend=backend)
    for _ in range(3):
        compiled(X)
    np.testing.assert_equal(state(), expected)


class Net:
    def __init__(self):
        self.w, self.n, self.rate = np.eye(3), 0, 0.1

    def fit(self, y):
        error = self.w @ y - 2 * y
        self.w = self.w - self.rate * np.outer(error, y)
        self.n += 1
        return (error**2).sum()

    fast = graph_jit(fit)


def test_methods_train_their_objects():
    """Each object has its own state; what is assigned to an attribute in between counts, with another dtype too."""
    one, other = Net(), Net()
    for k in range(4):
        y = X + k
        assert np.isclose(one.fast(y), other.fit(y))
        np.testing.assert_allclose(one.w, other.w)
        assert (one.n, type(one.n)) == (k + 1, int)
    third = Net()
    third.fast(X)
    assert (third.n, one.n) == (1, 4)
    for each in (one, other):
        each.w = np.eye(3, dtype=np.float32)
    assert np.isclose(one.fast(X), other.fit(X))
    np.testing.assert_allclose(one.w, other.w, rtol=1e-6)


class Counter:
    def __init__(self):
        self.calls = 0

    @graph_jit
    def pick(self, x, i):
        self.calls += 1
        return x[i]

    @graph_jit
    def count(self):
        self.calls += 1
        return self.calls


def test_a_call_that_fails_changes_nothing():
    counter = Counter()
    assert counter.pick(X, 1) == 2.0
    with pytest.raises(IndexError):
        counter.pick(X, 7)
    assert counter.calls == 1
    assert counter.pick(X, 0) == 1.0
    assert counter.calls == 2


def test_calls_inside_of_other_compiled_functions():
    counter = Counter()
    assert [counter.count(), counter.count()] == [1, 2]
    outer = graph_jit(lambda x: counter.count() * x + counter.calls)
    assert [outer(2.0), outer(2.0)] == [9.0, 12.0]
    total = numbagraph.shared(0.0)

    @graph_jit
    def add():
        total.value += 1.0
        return total.value

    assert add() == 1.0
    again = graph_jit(lambda x: x + add())
    assert [again(1.0), again(1.0)] == [3.0, 4.0]
    assert total.value == 3.0


def test_loops_and_branches_write():
    net = Net()
    net.rate = 0.0

    def run(x):
        for v in x:
            if v > 1.5:
                net.rate += v
                net.n += 1
        return net.rate

    compiled = graph_jit(run)
    assert [compiled(X), compiled(X)] == [5.0, 10.0]
    assert (net.rate, net.n) == (10.0, 4)


def test_globals_and_derivatives():
    def square(x):
        global COUNT  # noqa: PLW0603
        COUNT += 1
        return x**2 * COUNT

    compiled = graph_jit(grad(square))
    start = COUNT
    assert compiled(3.0) == 6.0 * (start + 1)
    assert compiled(3.0) == 6.0 * (start + 2)
    assert start + 2 == COUNT


def test_what_cannot_be_stored_is_refused():
    counter = Counter()

    def text(x):
        counter.calls = f"{x.ndim}"
        return x

    def element(x):
        counter.calls = [x]
        return x

    for each in (text, element):
        with pytest.raises(numbagraph.errors.SideEffectError, match="was changed while"):
            graph_jit(each)(X)
        assert counter.calls == 0


BODIES = {
    "vmap": lambda counter, x: vmap(counter.scaled)(np.ones((4, 2))),
    "scan": lambda counter, x: scan(lambda carry, each: (counter.scaled(carry), each), 1.0, np.ones(3)),
    "cond": lambda counter, x: cond(np.sum(x) > 0, counter.scaled, lambda x: x * 1.0, 1.0),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_run_for_several_steps_or_elements(name):
    class Counted:
        calls = 0

        def __init__(self):
            self.calls = 0

        def scaled(self, x):
            self.calls += 1
            return x * self.calls

    counter = Counted()
    with pytest.raises(numbagraph.TraceError, match=r"(?s)'calls' is assigned to in .*test_written_state\.py:"):
        graph_jit(lambda x: BODIES[name](counter, x))(X)
    assert counter.calls == 0
