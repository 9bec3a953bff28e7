"""Attributes, globals and elements of dicts that a function assigns to: each call has Python's effect, or none."""

import copy
import os

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


class Held:
    def __init__(self, t=0.0, kid=None):
        self.t, self.n, self.kid = t, 0, kid

    def add(self, v):
        self.t = self.t + v
        self.n += 1
        return self.t

    def hand(self, v):
        if v > self.t:
            self.kid.add(v)
            return v
        return self.t


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_entries_that_hold_no_array_any_more(backend):
    """The function is traced with what is there, as if it had not been called before."""
    held = Held()

    def either(v):
        if held.t is None:
            return -v
        if isinstance(held.t, list):
            return v * len(held.t)
        return held.add(v)

    compiled = graph_jit(either, backend=backend)
    assert [compiled(1.0), compiled(2.0)] == [1.0, 3.0]
    for value, expected in ((None, -2.0), ([1.0, 2.0, 3.0], 6.0), (4.0, 6.0), (np.float32(1), 3.0)):
        held.t = value
        assert compiled(2.0) == expected
    held.t = 10**30
    with pytest.raises(numbagraph.errors.SideEffectError):
        compiled(1.0)
    del held.t
    with pytest.raises(AttributeError, match="no attribute 't'"):
        compiled(1.0)
    held.t = 1.0
    assert compiled(1.0) == 2.0


def test_batches_do_not_write():
    held = Held()
    with pytest.raises(numbagraph.errors.TraceError, match="'t' is assigned to in vmap"):
        graph_jit(vmap(held.add))(X)
    assert (held.t, held.n) == (0.0, 0)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_none_has_no_attributes_on_the_path_that_is_taken(backend):
    leaf = Held(1.5)

    def run(x):
        found = 0.0
        for v in x:
            found += leaf.hand(v)
        return found

    compiled = graph_jit(run, backend=backend)
    assert compiled(np.array([1.0, 0.5])) == 3.0
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'add'"):
        compiled(X)
    leaf.kid = Held()
    assert compiled(X) == 6.5
    assert (leaf.kid.t, leaf.kid.n) == (5.0, 2)


def test_attributes_of_loops_within_loops_keep_their_types():
    """Several objects have attributes of one name, and passes over the outer loop find them one after the other."""
    one, other = Held(2.0, Held(-1.0)), Held(3.0)

    def run(x):
        for v in x:
            for w in x:
                one.kid.add(w)
                one.t, other.t = other.t, one.t + v
                other.n += 1
        return x[one.n] + x[other.n % 3] + one.kid.n

    expected = run(X)
    values = [(each.t, each.n) for each in (one, one.kid, other)]
    one.t, one.kid.t, other.t = 2.0, -1.0, 3.0
    one.n = one.kid.n = other.n = 0
    assert graph_jit(run)(X) == expected
    assert [(each.t, each.n) for each in (one, one.kid, other)] == values


def test_a_function_that_calls_itself_and_writes():
    held = Held()

    def down(n):
        held.n += 1
        return 1.0 if n == 0 else down(n - 1)

    compiled = graph_jit(down)
    for n, count in ((3, 4), (3, 8), (1, 10)):
        assert (compiled(n), held.n) == (1.0, count)
    with pytest.raises(numbagraph.errors.TraceError, match="calls itself"):
        graph_jit(down)(3.0)
    assert held.n == 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning", "ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_children_and_copies_have_state_of_their_own():
    held = Held()
    compiled = graph_jit(held.add)
    compiled(1.0)
    child = os.fork()
    if not child:
        os._exit(0 if compiled(2.0) == 3.0 and held.n == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    net = Net()
    net.fast(X)
    other = copy.deepcopy(net)
    other.fast(X)
    assert (compiled(1.0), held.n, net.n, other.n) == (2.0, 2, 1, 2)


def test_the_first_change_that_is_refused_is_named():
    held = Held()
    held.pair = [1.0, 2.0]

    def both(x):
        held.n += 1
        held.pair[0] = x
        return x

    with pytest.raises(numbagraph.errors.SideEffectError, match=r"\.pair was changed"):
        graph_jit(both)(1.0)
