"""Shared variables: what compiled functions read and update, against the same functions on plain objects in Python."""

import copy
import pickle
import threading
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import numbagraph as ng
from numbagraph import SharedContext, graph_jit, shared
from tests.support.caches import printed_in_two_processes

BACKENDS = pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])


def count_calls(s, x):
    s.value += 1
    return s.value * x


def moving(s, x):
    old = s.value
    s.value = 0.5 * old + x
    return old


def in_place(s, x):
    s.value[1] = x[0]
    s.value[1:][0] += 2
    s.value *= 3
    return s.value.sum()


def grow(s, x):
    s.value = np.concatenate([s.value, x])
    return s.value.shape[0]


def swap_with_argument(s, x):
    old = s.value
    s.value = x.copy()
    x[...] = old


def only_read(s, x):
    return s.value[0] + x


def the_argument_itself(s, x):
    s.value = x
    x[0] = -1
    return x


CASES = [
    (count_calls, 0),
    (count_calls, np.float32(1.5)),
    (moving, np.zeros(3)),
    (moving, np.ones(3, np.float32)),
    (in_place, np.arange(3)),
    (in_place, np.asfortranarray(np.arange(3.0))),
    (grow, np.zeros(0)),
    (grow, np.zeros(1)),
    (swap_with_argument, np.arange(3.0)),
    (only_read, np.arange(3.0)),
    (the_argument_itself, np.arange(3.0)),
]


@BACKENDS
@pytest.mark.parametrize(("function", "start"), CASES)
def test_values_live_between_calls(function, start, backend):
    s = shared(start)
    plain = SimpleNamespace(value=np.array(start)[()])
    compiled = graph_jit(lambda x: function(s, x), backend=backend)
    for step in range(4):
        x = np.arange(1, 4, dtype=np.asarray(start).dtype) + step
        own = x.copy()
        expected, found = function(plain, own), compiled(x)
        if plain.value is own:
            plain.value = own.copy()
        if expected is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        np.testing.assert_allclose(s.value, plain.value, rtol=1e-6)
        np.testing.assert_array_equal(x, own)
        assert s.value.dtype == np.asarray(start).dtype


def test_values_outside_of_traces_are_copies():
    start = np.zeros(3)
    s = shared(start)
    start[0] = 9
    s.value[0] = 9
    assert s.value[0] == 0
    new = np.ones(5)
    s.value = new
    new[0] = 9
    np.testing.assert_array_equal(s.value, np.ones(5))
    assert type(shared(1.5).value) is np.float64
    with pytest.raises(ValueError, match="'a name' has 0 dimensions, and cannot hold an array of 1"):
        shared(1.0, "a name").value = np.ones(2)
    with pytest.raises(TypeError, match="has dtype int64, and cannot hold float64"):
        shared(1).value = 2.5
    with pytest.raises(TypeError):
        shared("text")


@BACKENDS
def test_lengths_may_change_between_calls(backend):
    s = shared(np.zeros(3))
    f = graph_jit(lambda x: x + s.value, backend=backend)
    for value in (np.arange(3.0), np.arange(4.0), np.ones(1), np.arange(4.0)):
        s.value = value
        np.testing.assert_array_equal(f(np.ones((2, 1))), np.ones((2, 1)) + value)


@BACKENDS
def test_two_functions_and_calls_inside_of_traces(backend):
    s, other = shared(0.0), shared(np.ones(2))

    @graph_jit(backend=backend)
    def add(x):
        s.value += x
        return s.value

    @graph_jit(backend=backend)
    def both(x):
        first = add(x)
        other.value[0] = add(2 * x)
        return first, s.value

    assert both(1.0) == (1.0, 3.0)
    assert add(1.0) == 4.0
    assert both(1.0) == (5.0, 7.0)
    np.testing.assert_array_equal(other.value, [7.0, 1.0])


@BACKENDS
def test_failed_calls_change_nothing(backend):
    s, t = shared(0), shared(np.zeros(3))

    @graph_jit(backend=backend)
    def function(x, i):
        s.value += 1
        t.value[0] = 1.0
        x[i] = 5.0
        return x[i]

    x = np.zeros(3)
    for call in range(2):
        before = x.copy()
        with pytest.raises(IndexError):
            function(x, 3)
        assert s.value == call
        assert t.value[0] == (call > 0)
        np.testing.assert_array_equal(x, before)
        function(x, call)
    assert s.value == 2


def test_errors_while_tracing():
    s = shared(np.zeros(3))

    def refuse(function, error, match, *args):
        with pytest.raises(error, match=match):
            function(*args)
        np.testing.assert_array_equal(s.value, np.zeros(3))

    def assign(value):
        s.value = value

    refuse(graph_jit(assign), ValueError, "has 1 dimensions", 1.0)
    refuse(graph_jit(assign), TypeError, "cannot hold complex128", np.ones(3) * 1j)
    body = lambda carry, _: (assign(s.value + carry), (carry, None))[1]  # noqa: E731
    refuse(graph_jit(lambda x: ng.scan(body, x, None, length=2)), TypeError, "carry its value", 1.0)
    inside = lambda carry, _: (s.value.__setitem__(0, carry), (carry, None))[1]  # noqa: E731
    refuse(graph_jit(lambda x: ng.scan(inside, x, None, length=2)), TypeError, "carry it", 1.0)
    refuse(
        ng.vmap(lambda x: assign(s.value + 1)), TypeError, r"(?s)under vmap.*at .*test_shared_variables\.py", np.ones(4)
    )
    refuse(ng.vmap(lambda x: s.value.fill(1.0)), TypeError, "under vmap", np.ones(4))
    refuse(graph_jit(lambda x: shared(x)), TypeError, "make it outside", 1.0)
    refuse(graph_jit(lambda x: SharedContext({s: np.ones(3)}).__enter__()), TypeError, "callers", 1.0)
    refuse(graph_jit(lambda: s.value).address, TypeError, "call the function from Python")
    add = graph_jit(lambda x: x + s.value)
    refuse(numba.njit(lambda x: add(x)), numba.core.errors.TypingError, "call the function from Python", 1.0)


def test_reads_in_loops_batches_and_derivatives():
    s = shared(np.arange(3.0))
    total = graph_jit(lambda x: ng.scan(lambda carry, _: (carry + s.value, s.value[0]), x, None, length=2)[0])
    each = ng.vmap(lambda x: x * s.value)
    slope = ng.grad(lambda x: np.sum(s.value * x**2))
    by_value = graph_jit(lambda x: ng.grad(lambda value: np.sum(value * x))(s.value))
    x = np.array([1.0, 2.0, 4.0])
    for step in (1.0, 2.0):
        s.value = value = np.arange(3.0) + step
        np.testing.assert_array_equal(total(x), x + 2 * value)
        np.testing.assert_array_equal(each(x), np.outer(x, value))
        np.testing.assert_array_equal(slope(x), 2 * value * x)
        np.testing.assert_array_equal(by_value(x), x)


def test_updates_under_gradients():
    calls = shared(0)

    @graph_jit
    @ng.value_and_grad
    def loss(x):
        calls.value += 1
        return np.sum(x**2)

    for _ in range(3):
        loss(np.ones(3))
    assert calls.value == 3


def test_out():
    s = shared(0.0)
    f = graph_jit(lambda x: count_calls(s, x))
    out = np.zeros(3)
    for count in (1, 2, 3):
        assert f(np.ones(3), out=out) is out
        np.testing.assert_array_equal(out, np.full(3, count))
    with pytest.raises(ValueError, match="has shape"):
        f(np.ones(3), out=np.zeros(2))
    assert s.value == 3


def test_updates_do_not_take_donated_memory():
    s = shared(np.zeros(3))

    @graph_jit(donate_argnames="x")
    def f(x):
        s.value = x * 2

    x = np.ones(3)
    f(x)
    x[...] = 7
    np.testing.assert_array_equal(s.value, np.full(3, 2.0))


def test_variables_that_names_are_bound_to_anew():
    holder = SimpleNamespace(s=shared(1.0))
    f = graph_jit(lambda x: x * holder.s.value)
    assert f(2.0) == 2
    holder.s = shared(np.arange(2.0))
    np.testing.assert_array_equal(f(2.0), [0, 2])


def test_contexts():
    s, t = shared(0), shared(np.zeros(2))
    f = graph_jit(lambda: (count_calls(s, 1), t.value))
    outer, inner = SharedContext({s: 10, t: np.ones(3)}), SharedContext({s: 100})
    with outer:
        assert f()[0] == 11
        with inner:
            found = f()
            assert found[0] == 101
            assert found[1].shape == (3,)
            t.value = np.ones(4)
        assert s.value == 11
    assert outer[t].shape == (4,)
    assert s.value == 0
    other = copy.copy(inner)
    assert (f(ctx=inner)[0], f(ctx=other)[0], inner[s], other[s], f()[0]) == (102, 102, 102, 102, 1)
    with pytest.raises(ZeroDivisionError), inner:
        _ = 1 / 0
    assert s.value == 1
    with pytest.raises(TypeError, match="made of shared variables"):
        SharedContext({1: 2})
    with pytest.raises(TypeError, match="made of shared variables"):
        SharedContext([s])
    with pytest.raises(TypeError, match=r"ctx= of .* is a SharedContext, not dict"):
        f(ctx={s: 1})
    own = graph_jit(lambda x, ctx: x + ctx)
    assert own(1.0, ctx=2.0) == 3.0


def test_contexts_that_are_left_in_another_order():
    s = shared(0)
    f = graph_jit(lambda: count_calls(s, 1))

    def counts():
        with SharedContext({s: 100}):
            yield f()
            yield f()

    numbers = counts()
    assert next(numbers) == 101
    with SharedContext({s: 10}):
        numbers.close()
        assert f() == 11
    assert f() == 1


def test_threads_start_with_the_variables_own_values():
    s, found = shared(0), []
    f = graph_jit(lambda: count_calls(s, 1))

    def work(start):
        with SharedContext({s: start}):
            for _ in range(200):
                f()
            found.append(s.value - start)

    with SharedContext({s: 7}):
        thread = threading.Thread(target=lambda: found.append(s.value))
        thread.start()
        thread.join()
        threads = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert found == [0, 200, 200, 200, 200]
    assert s.value == 0


def test_pickles():
    s = shared(np.arange(3.0), name="of test_pickles")
    assert pickle.loads(pickle.dumps(s)) is s
    context = pickle.loads(pickle.dumps(SharedContext({s: np.ones(3)})))
    np.testing.assert_array_equal(context[s], np.ones(3))
    data = pickle.dumps(s).replace(b"of test_pickles", b"of another one!")
    np.testing.assert_array_equal(pickle.loads(data).value, s.value)
    with pytest.raises(TypeError, match="without a name"):
        pickle.dumps(shared(0))
    other = shared(np.ones(3), name="of test_pickles")
    assert pickle.loads(pickle.dumps(other)) is other
    with pytest.raises(TypeError, match="another one has its name"):
        pickle.dumps(s)


PROGRAM = """
import numpy as np, numbagraph
s = numbagraph.shared(np.zeros(3))
@numbagraph.graph_jit
def f(x):
    s.value[0] += x
    return s.value.sum()
print(f(1.0), f(2.0), s.value.tolist(), f.cache_info().found)
"""


def test_a_second_process_finds_the_code(tmp_path, monkeypatch):
    printed = printed_in_two_processes(PROGRAM, tmp_path, monkeypatch)
    assert printed == ["1.0 3.0 [3.0, 0.0, 0.0] 0", "1.0 3.0 [3.0, 0.0, 0.0] 1"]
