"""Names that are bound to something else while a function is traced, looked up or run, by itself or other threads."""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.jit import native_callers, versions
from numbagraph.jit.versions import Versions
from numbagraph.purity.environment import MOST_TRACES

X = np.array([1.0, 2.0, 3.0])
K: Any = 2.0


def read_global(x: Any) -> Any:
    return x * K


def set_global(name: str, value: Any) -> Callable[[], None]:
    return lambda: globals().__setitem__(name, value)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    set_global("K", 2.0)()


def test_while_another_thread_binds_new_values() -> None:
    """A version belongs to the values that its trace has read."""
    compiled = graph_jit(read_global)
    stop, values = threading.Event(), itertools.count(2)

    def rebind() -> None:
        while not stop.is_set():
            globals()["K"] = float(next(values))

    thread = threading.Thread(target=rebind)
    thread.start()
    try:
        found = [compiled(X) / X for _ in range(4)]
    finally:
        stop.set()
        thread.join()
    read = [each[0] for each in found]
    assert all(np.all(each == number) for each, number in zip(found, read, strict=True))
    assert read == sorted(read)
    np.testing.assert_array_equal(compiled(X), X * globals()["K"])


def test_while_other_threads_rebind() -> None:
    compiled = graph_jit(read_global)
    wanted = {value: X * value for value in (2.0, 3.0)}
    for value in wanted:  # a trace cannot see a name that is bound to another value and back meanwhile
        set_global("K", value)()
        compiled(X)
    stop = threading.Event()

    def rebind() -> None:
        while not stop.is_set():
            for value in wanted:
                globals()["K"] = value

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=rebind)
    thread.start()
    try:
        for _ in range(2000):
            found = compiled(X)
            assert any(np.array_equal(found, each) for each in wanted.values())
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    for value, each in wanted.items():
        set_global("K", value)()
        np.testing.assert_array_equal(compiled(X), each)


def test_rebound_between_the_look_at_the_guards_and_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = Versions.ready

    def rebinding(self: Versions, *args: Any) -> Any:
        version = ready(self, *args)
        set_global("K", 9.0)()
        return version

    compiled = graph_jit(read_global)
    monkeypatch.setattr(Versions, "ready", rebinding)
    np.testing.assert_array_equal(compiled(X), X * 2)
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(X), X * 9)


def rebinding_before(monkeypatch: pytest.MonkeyPatch, name: str, times: int) -> None:
    """Bind K to the next number as often as a function is traced, up to ``times``, after what it reads was noted."""
    module = versions if hasattr(versions, name) else native_callers
    original, left = getattr(module, name), iter(range(times))

    def rebinding(*args: Any, **options: Any) -> Any:
        if next(left, None) is not None:
            set_global("K", K + 1)()
        return original(*args, **options)

    monkeypatch.setattr(module, name, rebinding)


@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize("into", [False, True])
def test_what_was_traced_while_names_changed_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, times: int, into: bool
) -> None:
    """Its values are those of one moment of the call, as Python's would be, and no later call has them."""
    compiled = graph_jit(read_global)
    out = np.empty(3) if into else None
    rebinding_before(monkeypatch, "trace", times)
    np.testing.assert_array_equal(compiled(X, out=out), X * K)
    seen, last = range(2, int(K) + 1), K
    assert last == 2 + min(times, MOST_TRACES)
    assert compiled.cache_info().versions == (times < MOST_TRACES)
    monkeypatch.undo()
    for value in (*seen, *reversed(seen)):
        set_global("K", float(value))()
        np.testing.assert_array_equal(compiled(X, out=out), X * value)
        np.testing.assert_array_equal(compiled(X), X * value)


def test_native_callers_keep_nothing_that_was_traced_while_names_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, out = graph_jit(read_global), np.empty(3)
    rebinding_before(monkeypatch, "embed", 1)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    for value in (3.0, 2.0, 3.0):
        address = compiled.address(X)
        assert prototype(address)(X.ctypes.data, 3, out.ctypes.data) == 0
        np.testing.assert_array_equal(out, X * K)
        set_global("K", 5.0 - value)()
    rebinding_before(monkeypatch, "embed", MOST_TRACES)
    set_global("K", 7.0)()
    with pytest.raises(RuntimeError, match=r"read_global.*K changed each of the 3 times"):
        compiled.address(X)
    for value in (8.0, 9.0, 10.0, 7.0):
        set_global("K", value)()
        assert prototype(compiled.address(X))(X.ctypes.data, 3, out.ctypes.data) == 0
        np.testing.assert_array_equal(out, X * value)
