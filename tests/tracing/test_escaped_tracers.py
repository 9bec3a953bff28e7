"""A traced array that is used where it does not belong: after its trace, in another one, on another thread."""

import copy
import gc
import itertools
import operator
import threading
import weakref

import numpy as np
import pytest

import numbagraph
import numbagraph.numpy as xp
from numbagraph import graph_jit
from numbagraph.tracing.tracer import Tracer

X = np.arange(3.0) + 1


class Hidden(list):
    pass


def hiding_place():
    """Where no name in a function leads to: a list that is found among what refers to its class."""
    return next(each for each in gc.get_referrers(Hidden) if type(each) is Hidden)


def hide(x):
    for each in (x, x * 2, x[1:], x.sum()):
        getattr(hiding_place(), "append")(each)  # noqa: B009
    return x


@pytest.fixture(scope="module")
def kept():
    """An argument, an array that was made of it, a view and a scalar."""
    hidden = Hidden()
    graph_jit(hide, backend="numpy")(X)
    found = list(hidden)
    assert [type(each) for each in found] == [Tracer] * 4
    return found


USES = {
    "operator": lambda x: x + 1,
    "reflected": lambda x: 1 + x,
    "with an array": lambda x: X * x,
    "in place": lambda x: operator.iadd(x, 1),
    "method": lambda x: x.sum(),
    "attribute": lambda x: x.T,
    "conversion": lambda x: x.astype(np.float32),
    "ufunc": np.exp,
    "function": np.sum,
    "namespace": xp.exp,
    "stacked": lambda x: np.stack([x, x]),
    "item": lambda x: x[...],
    "position": lambda x: X[x],
    "assignment": lambda x: operator.setitem(x, ..., 1.0),
    "shape": lambda x: x.shape,
    "size": lambda x: x.size,
    "copy": lambda x: x.copy(),
    "deepcopy": copy.deepcopy,
    "truth": bool,
    "number": float,
    "array": np.asarray,
    "iteration": lambda x: list(x) if x.ndim else float(x),
    "argument": lambda x: graph_jit(lambda y: y * 2)(x),
    "gradient": lambda x: numbagraph.grad(lambda y: (y * y).sum())(x),
    "batch": lambda x: numbagraph.vmap(lambda y: y * y)(x) if x.ndim else x + 1,
}


@pytest.mark.parametrize("name", USES)
def test_after_its_trace(name, kept):
    line = hide.__code__.co_firstlineno
    message = rf"(?s)kept after the trace that it belongs to, that of hide \({__file__}:{line}\).*return it.*\n  at "
    for tracer in kept:
        with pytest.raises(TypeError, match=message):
            USES[name](tracer)
        with pytest.raises(TypeError, match=message):
            graph_jit(lambda x: (USES[name](tracer), x)[1], backend="numpy")(X)  # noqa: B023


def test_where_it_was_made(kept):
    line = hide.__code__.co_firstlineno + 1
    with pytest.raises(TypeError, match=rf"it was made at {__file__}:{line}"):
        kept[1] + 1
    with pytest.raises(TypeError, match="kept after the trace"):
        graph_jit(lambda x: (x, kept[0]))(X)  # it is returned, and nothing else


def test_what_is_told_of_it_all_the_same(kept):
    assert [repr(each)[:7] for each in kept] == ["Tracer("] * 4
    assert [each.dtype for each in kept] == [np.dtype(float)] * 4
    assert [each.ndim for each in kept] == [1, 1, 1, 0]


def test_in_a_container_of_c(kept):
    chain = itertools.chain([kept[0]])
    with pytest.raises(TypeError, match="kept after the trace"):
        graph_jit(lambda x: x + next(chain))(X)


def test_of_a_trace_that_failed():
    hidden = Hidden()

    def failing(x):
        hiding_place().append(x)
        raise KeyError("half-way")

    with pytest.raises(KeyError, match="half-way"):
        graph_jit(failing)(X)
    (tracer,) = hidden
    with pytest.raises(TypeError, match=r"kept after the trace that it belongs to, that of .*failing \("):
        tracer + 1


def test_in_a_trace_inside_of_its_own():
    def outer(x):
        return x + graph_jit(lambda y: y * x)(np.ones(3))

    message = (
        r"(?s)traced array of .*outer \(.*is used while .*<lambda> \(.*is traced"
        r".*pass it as an argument.*test_escaped_tracers"
    )
    with pytest.raises(TypeError, match=message):
        graph_jit(outer)(X)
    with_argument = graph_jit(lambda x: x + graph_jit(lambda y, z: y * z)(np.ones(3), x))
    np.testing.assert_array_equal(with_argument(X), 2 * X)


def test_on_another_thread():
    def function(x):
        errors = []

        def use():
            try:
                x + np.ones(3)
            except TypeError as error:
                errors.append(error)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        raise errors[0]

    message = r"(?s)traced array of .*function \(.*is used on another thread.*test_escaped_tracers"
    with pytest.raises(TypeError, match=message):
        graph_jit(function)(X)


def test_a_kept_array_holds_no_others_alive():
    hidden = Hidden()

    def trace():
        weights = np.ones(1000)

        def function(x):
            hiding_place().append(x)
            return x + weights[:3]

        graph_jit(function, backend="numpy")(X)
        return weakref.ref(weights)

    reference = trace()
    assert len(hidden) == 1
    gc.collect()
    assert reference() is None
