"""Functions whose results differ from call to call, such as clocks: a trace would call them once for all calls.

`forbidden` refuses such calls while a function is traced. It watches the calls of the user's own code, and that only
where a name in this code may lead to such a function (`reachable_code.py`): all other functions are traced as fast as
ever.
"""

from __future__ import annotations

import datetime
import functools
import sys
import threading
import types
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.forking import new_lock
from numbagraph.purity.pending_calls import called, called_unpacked, unpacking_calls
from numbagraph.runtime.arguments import is_source, source_kinds
from numbagraph.tracing.errors import SideEffectError
from numbagraph.tracing.tracer import TraceError, user_source
from numbagraph.tracing.user_code import library_of

_CLOCKS = (
    "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns thread_time "
    "thread_time_ns clock_gettime clock_gettime_ns localtime gmtime ctime"
).split()
_BUILTIN = {"time": {*_CLOCKS}, "posix": {"urandom", "getrandom", "times"}, "nt": {"urandom", "times"}}
"""Nondeterministic functions in C, by their module."""
_FUNCTIONS = {types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType}
_PURE_IN_PYTHON = {"compare_digest", "uuid3", "uuid5", "getnode"}
_OR_GENERATOR = ", or draw from a numpy.random.Generator that is an argument"
_MAKERS = {"default_rng", "get_bit_generator"}
"""Functions that make a generator, and draw nothing."""

_NAMES = {
    *{"random", "secrets", "uuid", "default_rng", "RandomState", "rvs"},
    *{"uuid1", "uuid4", "randbelow", "token_bytes", "token_hex", "token_urlsafe", "now", "today", "utcnow"},
    *{name for each in _BUILTIN.values() for name in each},
}


@functools.cache
def _names(kinds: tuple[type, ...]) -> frozenset[str]:
    return frozenset(_NAMES | {name for kind in kinds for name in dir(kind) if not name.startswith("_")})


def suspicious_names() -> frozenset[str]:
    """The names of all refused functions, and of the modules that they are in."""
    return _names(source_kinds())


def spelled(function: Any, first: Any = None) -> str | None:
    """The name of a function whose result differs from call to call; None for other functions."""
    while type(function) is functools.partial:
        function = function.func
    if type(function) is types.MethodType:
        function, first = function.__func__, function.__self__
    kind = type(function)
    if (
        kind not in _FUNCTIONS and kind.__name__ != "cython_function_or_method"
    ):  # others may run code when they are asked
        return None
    name = function.__name__
    if name.startswith("__"):
        return None
    if kind is types.BuiltinFunctionType:
        return _of_builtin(function, name)
    if kind is types.MethodDescriptorType:
        return f"random.{name}" if function.__objclass__.__module__ == "_random" else None
    module = str(function.__module__)
    if kind is types.FunctionType:
        if module in ("random", "secrets", "uuid") and name not in _PURE_IN_PYTHON:
            return f"{module}.{function.__qualname__}"
        return f"scipy.stats' {function.__qualname__}" if name == "rvs" and module.startswith("scipy.stats") else None
    if module.startswith("numpy.random") and first is not None and first is getattr(np.random.mtrand, "_rand", None):
        return f"np.random.{name}"
    if module.startswith("numpy.random") and name not in _MAKERS:
        return f"np.random.{function.__qualname__}"
    return None


def _of_builtin(function: Any, name: str) -> str | None:
    owner = function.__self__
    if isinstance(owner, types.ModuleType):
        spelling = owner.__name__ if owner.__name__ == "time" else "os"
        return f"{spelling}.{name}" if name in _BUILTIN.get(owner.__name__, ()) else None
    if is_source(owner):
        return f"random.{name}"
    if isinstance(owner, type) and issubclass(owner, datetime.date) and name in ("now", "today", "utcnow"):
        return f"datetime.{owner.__name__}.{name}"
    return None


def refusal_of(name: str) -> str:
    once = "would be called only once, while the function is traced"
    if name.startswith("np.random.Generator."):
        return (
            f"{name} draws from a generator that is no argument of the compiled function: it {once}, and draw the same "
            "in every call: pass the generator as an argument (rng = np.random.default_rng(0) outside), pass what it "
            "draws, or draw from a key (numbagraph.random.key(0)), which the function may make itself"
        )
    others = _OR_GENERATOR if "andom" in name else ""
    return (
        f"{name} answers otherwise in each call, but in a compiled function it {once}, and its answer be the same in "
        f"every call: call it outside, and pass what it returns as an argument{others}"
    )


class Watch:
    """The calls that user code makes while one function is traced."""

    def __init__(self, codes: Iterable[types.CodeType], home: str | None) -> None:
        self.codes = tuple(codes)
        self.home = home
        self.seen: set[types.CodeType] = set()
        self.error: TraceError | None = None

    def is_users(self, code: types.CodeType) -> bool:
        return library_of(code.co_filename) in (None, self.home)

    def see(self, function: Any, first: Any) -> None:
        """Raise if a call is one of those that are refused."""
        name = spelled(function, first)
        if name is None and type(function) is not types.FunctionType and callable(first):
            name = spelled(first)  # as in map(rng.normal, ...)
        if name is not None:
            self.error = SideEffectError(f"{refusal_of(name)}\n  at {user_source()}")
            raise self.error


@contextmanager
def forbidden(watch: Watch | None) -> Iterator[None]:
    """Make nondeterministic calls raise inside the block, if there is a watch."""
    if watch is None:
        yield
        return
    with _monitored(watch) if sys.version_info >= (3, 12) else _stepped(watch):
        yield
    if watch.error is not None:  # someone has caught it
        raise watch.error


@contextmanager
def unwatched() -> Iterator[None]:
    """Suspend the watch, for a call into another library that traces in its own way, and may read the clock."""
    if sys.version_info >= (3, 12):
        with _monitored(Unwatching((), None)):
            yield
        return
    previous = sys.gettrace()
    if getattr(previous, "__module__", None) != __name__:
        yield
        return
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(previous)


class Unwatching(Watch):
    """A watch that sees nothing."""

    def is_users(self, code: types.CodeType) -> bool:  # noqa: ARG002
        return False

    def see(self, function: Any, first: Any) -> None:
        pass


class Monitor:
    """Watches calls of any kind by `sys.monitoring`, set for the watched code alone, and only while it is watched.

    Python 3.12 does not report calls of methods with unpacked arguments (``np.random.rand(*shape)``), 3.13 does: in
    3.12, the instructions that make them are looked at.
    """

    def __init__(self) -> None:
        self.system: Any = sys.monitoring  # type: ignore[attr-defined]
        self.tool: int | None = None
        self.watches: dict[int, list[Watch]] = {}
        """The watches of each thread, innermost last."""
        self.watched: Counter[types.CodeType] = Counter()
        self.lock = new_lock()

    def start(self) -> bool:
        """Take a tool of `sys.monitoring`, and return whether one was left in this process; debuggers, coverage and
        profilers have one each."""
        with self.lock:
            if self.tool is None:
                tool = next((each for each in (4, 3, 5, 2, 1) if self.system.get_tool(each) is None), None)
                if tool is not None:
                    self.system.use_tool_id(tool, "numbagraph")
                    self.system.register_callback(tool, self.system.events.CALL, self.see)
                    self.system.register_callback(tool, self.system.events.INSTRUCTION, self.step)
                    self.tool = tool
            return self.tool is not None

    def see(self, _code: types.CodeType, _offset: int, function: Any, first: Any) -> None:
        watches = self.watches.get(threading.get_ident())
        if watches:
            watches[-1].see(function, None if first is self.system.MISSING else first)
            if isinstance(function, types.FunctionType):
                self.add(watches[-1], function.__code__)

    def step(self, code: types.CodeType, offset: int) -> Any:
        """Handle the event before an instruction, in Python 3.12."""
        if offset not in unpacking_calls(code):
            return self.system.DISABLE
        found = called_unpacked(sys._getframe(1), offset)
        if found is not None:
            self.see(code, offset, *found)
        return None

    def add(self, watch: Watch, code: types.CodeType) -> None:
        """Watch a function, and the functions that it defines."""
        if code in watch.seen or not watch.is_users(code):
            return
        watch.seen.add(code)
        events = self.system.events.CALL
        if sys.version_info < (3, 13) and unpacking_calls(code):
            events |= self.system.events.INSTRUCTION
        with self.lock:
            self.watched[code] += 1
            self.system.set_local_events(self.tool, code, events)
        for each in code.co_consts:
            if isinstance(each, types.CodeType):
                self.add(watch, each)

    def release(self, watch: Watch) -> None:
        with self.lock:
            for code in watch.seen:
                self.watched[code] -= 1
                if not self.watched[code]:
                    del self.watched[code]
                    self.system.set_local_events(self.tool, code, 0)


_monitor = Monitor() if sys.version_info >= (3, 12) else None


@contextmanager
def _monitored(watch: Watch) -> Iterator[None]:
    monitor = _monitor
    if monitor is None or not monitor.start():
        yield
        return
    watches = monitor.watches.setdefault(threading.get_ident(), [])
    watches.append(watch)
    try:
        for code in watch.codes:
            monitor.add(watch, code)
        yield
    finally:
        watches.pop()
        monitor.release(watch)


@contextmanager
def _stepped(watch: Watch) -> Iterator[None]:
    """Watch calls by `sys.settrace`: Python 3.11 reports no calls of functions that Cython has compiled, such as
    NumPy's."""

    def enter(frame: types.FrameType, _event: str, _argument: Any) -> Any:
        if not watch.is_users(frame.f_code):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return step

    def step(frame: types.FrameType, event: str, _argument: Any) -> Any:
        if event == "opcode":
            found = called(frame)
            if found is not None:
                watch.see(*found)
        return step

    previous = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(previous)
