"""The native code that hands states of NumPy's generators to what it calls: here functions of Python."""

import contextlib
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from numbagraph import graph_jit, pure_callback
from numbagraph.jit.generator_arguments import drawn_meanwhile
from numbagraph.jit.generator_memory import spans_of
from numbagraph.ops.random.generator_states import WORDS, words_of
from numbagraph.runtime.drawing import drawing

KINDS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")


def generator(kind="PCG64", seed=1):
    rng = np.random.Generator(getattr(np.random, kind)(seed))
    rng.integers(0, 100, dtype=np.uint32)  # of a word of 64 bits, one half is left
    return rng


def drawer(run, kind="PCG64", number=0, active: object = SimpleNamespace(trace=None)):
    spans = spans_of(kind)
    assert spans is not None
    return drawing(run, number, getattr(np.random, kind), spans, WORDS[kind], active, drawn_meanwhile)


def is_free(rng):
    """Whether another thread would get the lock."""
    found = []

    def try_it():
        found.append(rng.bit_generator.lock.acquire(blocking=False))
        if found[0]:
            rng.bit_generator.lock.release()

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [0, 2])
def test_words_are_read_and_written(kind, number):
    rng, other = generator(kind), generator(kind, 2)
    other.random(7)
    given, seen = ["first", "second"], []

    def run(*leaves):
        words = leaves[number]
        seen.append((words.copy(), [each for each in leaves if each is not words], is_free(rng)))
        words[:] = words_of(other.bit_generator)
        return "result"

    before = words_of(rng.bit_generator)
    assert drawer(run, kind, number)(*given[:number], rng, *given[number:]) == "result"
    ((words, rest, was_free),) = seen
    np.testing.assert_array_equal(words, before)
    assert rest == given
    assert not was_free
    assert is_free(rng)
    assert repr(rng.bit_generator.state) == repr(other.bit_generator.state)
    np.testing.assert_array_equal(rng.random(5), other.random(5))


def fail(words):
    words[:] = 0
    raise KeyError("own")


def refuse(words):
    words[:] = 0
    return NotImplemented


@pytest.mark.parametrize("kind", KINDS)
def test_what_fails_leaves_the_state(kind):
    rng, same = generator(kind), generator(kind)
    with pytest.raises(KeyError, match="own"):
        drawer(fail, kind)(rng)
    assert drawer(refuse, kind)(rng) is NotImplemented
    assert is_free(rng)
    assert repr(rng.bit_generator.state) == repr(same.bit_generator.state)


def test_draws_meanwhile():
    rng, same = generator(), generator()

    def run(words):
        words[:] = 0
        return rng.random()

    with pytest.raises(RuntimeError, match="PCG64 was drawn from by Python while"):
        drawer(run)(rng)
    same.random()
    assert is_free(rng)
    assert rng.random() == same.random()


class Own(np.random.PCG64):
    pass


def never(*_):
    raise AssertionError


@pytest.mark.parametrize("given", [(), (1.0,), (generator("SFC64"),), (np.random.Generator(Own(1)),)])
def test_other_arguments_are_refused(given):
    assert drawer(never)(*given) is NotImplemented
    assert drawer(never, number=1)(*given) is NotImplemented


class Unknown:
    @property
    def trace(self):
        raise LookupError("no trace")


def test_traces():
    assert drawer(never, active=SimpleNamespace(trace="one"))(generator()) is NotImplemented
    with pytest.raises(LookupError, match="no trace"):
        drawer(never, active=Unknown())(generator())


def test_nothing_is_kept():
    rng = generator()
    things = rng, rng.bit_generator, rng.bit_generator.lock, np.dtype(np.uint64), NotImplemented, None
    draws = [
        drawer(lambda words: words.sum()),
        drawer(refuse),
        drawer(never, active=SimpleNamespace(trace="one")),
        drawer(fail),
    ]
    for each in draws:
        counts = []
        for _ in range(2):
            for _ in range(1000):
                with contextlib.suppress(KeyError):
                    each(rng)
            counts.append([sys.getrefcount(thing) for thing in things])
        assert np.abs(np.subtract(*counts)).max() < 100


@pytest.mark.parametrize("kind", KINDS)
def test_a_callback_that_fails_leaves_the_state(kind):
    calls = []

    def positive(x):
        calls.append(float(x))
        if len(calls) > 2:
            raise ZeroDivisionError("the third")
        return x

    function = graph_jit(lambda rng: pure_callback(positive, np.float64(0), rng.random()))
    rng, same = generator(kind), generator(kind)
    for _ in range(2):
        assert function(rng) == same.random()
    with pytest.raises(ZeroDivisionError, match="the third"):
        function(rng)
    assert is_free(rng)
    assert repr(rng.bit_generator.state) == repr(same.bit_generator.state)
