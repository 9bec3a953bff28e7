"""Calls of compiled functions from Python, which native code takes once there is a version."""

import copy
import gc
import inspect
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit
from numbagraph.jit.dispatch import NativeCallable

NUMBER = numbagraph.Abstract((), np.float64)


def double(x):
    return 2.0 * x


def compiled(function, *arguments, **options):
    found = graph_jit(function, **options)
    found(*arguments)
    assert "method" in type(NativeCallable.__dict__["__call__"]).__name__, "native code takes the call"
    return found


def test_all_ways_to_call_are_one():
    f = compiled(lambda x, y=3.0: x - y, 1.0, 2.0)
    calls = (
        f(5.0, 1.0),
        f(5.0, y=1.0),
        f(x=5.0, y=1.0),
        f(*(5.0,), y=1.0),
        f.__call__(5.0, 1.0),
        numbagraph.GraphFunction.__call__(f, 5.0, 1.0),
        numbagraph.GraphFunction.__call__(f, 5.0, y=1.0),
        next(map(f, [5.0], [1.0])),
    )
    assert calls == (4.0,) * 8
    assert f(5.0) == f(x=5.0) == 2.0
    assert f(5.0, **dict[str, float]()) == 2.0
    assert str(inspect.signature(f)) == "(x, y=3.0)"
    assert callable(f)
    assert list(inspect.signature(numbagraph.GraphFunction.__call__).parameters) == ["self", "args", "kwargs"]


@pytest.mark.parametrize("wrong", [(), (1.0, 2.0, 3.0)])
def test_a_wrong_number_of_arguments(wrong):
    f = compiled(lambda x, y: x - y, 1.0, 2.0)
    with pytest.raises(TypeError, match="argument"):
        f(*wrong)
    with pytest.raises(TypeError, match=r"unexpected keyword|argument"):
        f(1.0, z=2.0)
    assert f(3.0, 1.0) == 2.0


def test_others_cannot_be_called_by_the_method():
    compiled(double, 1.0)
    with pytest.raises(TypeError, match="NativeCallable"):
        NativeCallable.__call__(3, 1.0)
    with pytest.raises(TypeError, match="argument"):
        NativeCallable.__call__()


def test_a_function_without_versions_beside_one_that_has_some():
    compiled(double, 1.0)
    f = graph_jit(lambda x: x + 1.0)
    assert f(1.0) == 2.0
    f.cache_clear()
    assert f(2.0) == 3.0
    blank = numbagraph.GraphFunction.__new__(numbagraph.GraphFunction)
    with pytest.raises(AttributeError):
        blank(1.0)


class Counted(numbagraph.GraphFunction):
    calls = 0

    def __call__(self, *args, **kwargs):
        Counted.calls += 1
        return super().__call__(*args, **kwargs)


def test_a_subclass_has_its_own_call():
    f = Counted(double)
    before = Counted.calls
    assert [f(1.0), f(2.0), f(x=3.0)] == [2.0, 4.0, 6.0]
    assert Counted.calls == before + 3


def test_copies_and_pickles():
    f = compiled(double, 1.0)
    for other in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert other(2.0) == other(2.0) == 4.0


class Broken(Exception):
    pass


def test_a_version_is_tried_once():
    f, tried = compiled(double, 1.0), []

    def refuse(*args):
        tried.append(args)
        return NotImplemented

    f._flat_calls = (refuse, refuse)
    assert f(2.0) == 4.0
    assert tried == [(2.0,), (2.0,)]
    assert f(x=3.0) == 6.0
    assert len(tried) == 4


@pytest.mark.parametrize("kind", [Broken, KeyboardInterrupt, SystemExit, StopIteration])
def test_an_error_of_a_callback_is_the_callers(kind):
    raised = []

    def check(x):
        if x > 1.0:
            raised.append(kind("too large"))
            raise raised[-1]
        return x

    f = compiled(lambda x: numbagraph.pure_callback(check, NUMBER, x) + 1.0, 0.5)
    for _ in range(3):
        with pytest.raises(kind, match="too large") as caught:
            f(2.0)
        assert caught.value is raised[-1]
        names = _names(caught.value)
        assert names[-1] == "check"
        if issubclass(kind, Exception):
            assert not {"_call", "_raise"} & set(names), "frames of the package are left out"
        assert f(0.25) == 1.25
    assert sys.exc_info() == (None, None, None)


def _names(error):
    names, traceback = [], error.__traceback__
    while traceback is not None:
        names.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    return names


def test_names_in_order_and_in_another():
    f = compiled(lambda x, y, z=2.0: (x - y) * z, 1.0, 2.0, 3.0)
    name = "".join(["z", ""])  # one that is not interned
    calls = (f(1.0, 2.0, z=3.0), f(1.0, y=2.0, z=3.0), f(x=1.0, y=2.0, z=3.0), f(1.0, z=3.0, y=2.0))
    assert calls == (f(z=3.0, y=2.0, x=1.0), f(1.0, 2.0, **{name: 3.0}), f(1.0, 2.0, 3.0), f(1.0, 2.0, z=np.float64(3)))
    assert f(1.0, y=2.0) == -2.0
    for wrong in ({"y": 1.0, "x": 1.0}, {"z": 1.0}, {"y": 1.0, "w": 2.0}):
        with pytest.raises(TypeError, match="argument"):
            f(1.0, **wrong)
    only = graph_jit(lambda x, /, *, y: x - y)
    assert [only(3.0, y=1.0), only(3.0, y=2.0)] == [2.0, 1.0]
    with pytest.raises(TypeError, match="positional"):
        only(x=3.0, y=1.0)


@pytest.mark.parametrize("kind", [tuple, list, None])
def test_results_are_written_into_out(kind):
    single, several = (
        compiled(lambda x: x + 1.0, np.ones(4)),
        compiled(lambda x: (x + 1.0, np.sum(x)[None]), np.ones(4)),
    )
    for start in range(4):
        x = start + np.arange(4.0)
        if kind is None:
            out = np.empty(4)
            assert single(x, out=out) is out
            assert single(x=x, out=out) is out
            np.testing.assert_array_equal(out, x + 1.0)
            assert single(x, out=None) is not None
        elif kind is tuple:
            outs = np.empty(4), np.empty(1)
            assert several(x, out=outs) is outs
            np.testing.assert_array_equal(outs[0], x + 1.0)
            np.testing.assert_array_equal(outs[1], [np.sum(x)])
            for wrong in (outs[:1], outs[::-1], (), (*outs, None)):
                with pytest.raises((TypeError, ValueError)):
                    several(x, out=wrong)
        else:
            with pytest.raises((TypeError, ValueError)):
                several(x, out=[np.empty(4), np.empty(1)])
    for wrong in (3, "text", np.empty(3), np.empty(4, dtype=np.int64), (np.empty(4), np.empty(4))):
        before = copy.deepcopy(wrong)
        with pytest.raises((TypeError, ValueError)):
            single(np.ones(4), out=wrong)
        np.testing.assert_equal(wrong, before)


def test_more_arguments_than_the_stack_has_room_for():
    single, several = compiled(double, 1.0), compiled(lambda x: (x + 1.0, x + 2.0), np.ones(2))
    several(np.ones(2), out=(np.ones(2), np.ones(2)))
    many = [1.0] * 3_000_000
    with pytest.raises(TypeError, match="too many positional"):
        single(*many)
    with pytest.raises(TypeError, match="argument"):
        single(*many, x=1.0)
    with pytest.raises((TypeError, ValueError), match="out="):
        several(np.ones(2), out=tuple(many))
    assert single(2.0) == 4.0
    generator = np.random.default_rng(0)
    drawing = compiled(lambda generator, x: generator.normal() + x, generator, 1.0)
    state = generator.bit_generator.state
    with pytest.raises(TypeError, match="too many positional"):
        drawing(generator, *many)
    assert generator.bit_generator.state == state


def test_a_parameter_that_is_called_out():
    f = compiled(lambda x, out: x - out, 1.0, 2.0)
    assert f(3.0, out=1.0) == f(3.0, 1.0) == f(out=1.0, x=3.0) == 2.0
    assert f(3.0, out=np.ones(2)).tolist() == [2.0, 2.0]


def test_an_error_while_results_are_written():
    def check(x):
        if x > 1.0:
            raise Broken("too large")
        return x

    f = graph_jit(lambda x: x + numbagraph.pure_callback(check, NUMBER, x[0]))
    out = np.zeros(3)
    for _ in range(3):
        assert f(np.ones(3), out=out) is out
        with pytest.raises(Broken):
            f(np.full(3, 2.0), out=out)
        assert out.tolist() == [2.0] * 3
        with pytest.raises(Broken):
            f(x=np.full(3, 2.0))


def test_an_error_that_is_handled_is_the_context_of_the_next():
    def check(x):
        raise Broken("second")

    f = compiled(lambda x, y: numbagraph.pure_callback(check, NUMBER, x) if y > 0 else x, 0.5, -1.0)

    def handle():
        try:
            raise KeyError("first")
        except KeyError:
            f(0.5, 1.0)

    with pytest.raises(Broken) as caught:
        handle()
    assert isinstance(caught.value.__context__, KeyError)


def test_references_are_given_back():
    f = compiled(lambda x, y: (x + y, x[:1] * y), np.ones(3), 2.0)

    def check(x):
        raise Broken

    broken = graph_jit(lambda x: numbagraph.pure_callback(check, numbagraph.Abstract((3,), np.float64), x) + 1.0)
    x, y = np.ones(3), 7.5
    others = (np.ones(3), "no array")

    outs = np.empty(3), np.empty(1)
    one, out = graph_jit(lambda x: x + 1.0), np.empty(3)

    def call():
        f(x, y)
        f(x, y=y)
        f(x, y, out=outs)
        one(x, out=out)
        with pytest.raises(Broken):
            broken(x)
        with pytest.raises((TypeError, ValueError)):
            f(*others)

    for _ in range(3):
        call()
    gc.collect()
    watched = (
        x,
        y,
        f._flat_calls,
        one._writers.into_array,
        NotImplemented,
        Broken,
        others[0],
        f,
        broken,
        one,
        out,
        outs,
        *outs,
    )
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(200):
        call()
    gc.collect()
    after = [sys.getrefcount(each) for each in watched]
    assert max(abs(late - early) for early, late in zip(before, after, strict=True)) < 20


def test_a_function_is_freed():
    f = compiled(lambda x: x + 1.0, 1.0)
    gone = weakref.ref(f)
    f.own = f
    del f
    gc.collect()
    assert gone() is None


def test_versions_are_exchanged_while_others_call():
    f = compiled(lambda x: np.sum(x * 2.0), np.ones(1 << 16))
    large, wrong, stop = np.ones(1 << 16), [], threading.Event()

    def call():
        while not stop.is_set():
            if f(large) != 2.0 * large.size:
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for each in threads:
        each.start()
    try:
        for ndim in range(1, 6):
            assert f(np.ones((2,) * ndim)) == 2.0 * 2**ndim
            f.cache_clear()
    finally:
        stop.set()
        for each in threads:
            each.join()
    assert not wrong


def test_what_a_block_of_code_chooses_holds():
    f = compiled(lambda a: np.linalg.inv(a), np.eye(2))
    singular = np.zeros((2, 2))
    with pytest.raises(np.linalg.LinAlgError):
        f(singular)
    with numbagraph.on_linalg_error("nan"):
        assert np.isnan(f(singular)).all()
    with pytest.raises(np.linalg.LinAlgError):
        f(singular)


def test_a_method_of_a_class():
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @graph_jit
        def scale(self, x):
            return self.factor * x

    for factor in (2.0, 3.0):
        scaled = Scaled(factor)
        assert [scaled.scale(1.0), scaled.scale(x=2.0), Scaled.scale(scaled, 3.0)] == [factor, 2 * factor, 3 * factor]


def named_self(self, x):
    return self * x[1]


@pytest.mark.parametrize("name", ["self", "args", "kwargs", "error", "instance", "out_"])
def test_a_parameter_of_any_name(name):
    namespace = {}
    exec(f"def scaled({name}, x): return {name} * x", namespace)
    x = np.arange(3.0)
    found = graph_jit(namespace["scaled"])
    for _ in range(2):
        np.testing.assert_array_equal(found(x=x, **{name: 2.0}), 2 * x)
    with pytest.raises(ValueError, match="could not be broadcast"):
        found(x=x, **{name: np.ones(2)})
    assert name in str(found.explain(x=x, **{name: 2.0}))
    assert found.result_dtypes(x=x, **{name: 2.0}) == [np.float64]


def test_self_by_keyword_of_what_is_derived():
    x = np.array([2.0, 3.0])
    assert numbagraph.grad(lambda self: self**2)(self=3.0) == 6.0
    np.testing.assert_array_equal(numbagraph.vmap(lambda self: self * 2)(self=x), 2 * x)
    np.testing.assert_array_equal(numbagraph.jacrev(named_self)(self=2.0, x=x), 3.0)
