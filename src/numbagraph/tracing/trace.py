"""Which function is being traced on a thread, and which traced arrays belong to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from numbagraph.blockwise.lowering import View
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Constant, Node, Value
from numbagraph.ops import effects
from numbagraph.tracing.captured_arrays import Captured
from numbagraph.tracing.errors import TraceError, kept, misplaced, user_source

Convert = Callable[[Any], Any]


class Scope:
    """The trace that a tracer belongs to: it is of use there, and in the regions inside. (Not the trace itself, which
    keeps arrays alive.)"""

    __slots__ = ("aliases", "described", "ended", "facts", "journal", "parent", "used")

    def __init__(self, described: str, parent: Scope | None = None) -> None:
        self.described = described
        """The function that is traced, with its line."""
        self.ended = False
        self.parent = parent
        """The scope around this one, if this is a region, such as the body of a loop."""
        self.aliases: dict[Value, None] = {} if parent is None else dict(parent.aliases)
        """The values with respect to which derivatives are taken, here and around. A region is passed those from
        around, since it computes none of them again."""
        self.used: dict[Value, None] = dict(self.aliases)
        """The values of the scopes around this one that are used in it, and what an op may see that looks through the
        value which it is given: all aliases that there are around this scope (behind a transpose, or a negation), and
        loops and branches behind assignments (an element that is read is not the one that was assigned)."""
        self.facts: dict[Value, bool] = {}
        """Conditions whose truth is known here."""
        self.journal: Any = None
        """The record of arrays from outside that are written in a region; without it, they cannot be written."""

    def is_inside(self, owner: Scope) -> bool:
        """Whether this is a region somewhere inside of another scope."""
        scope: Scope | None = self
        while scope is not None and scope is not owner:
            scope = scope.parent
        return scope is not None

    def admits(self, owner: Scope, value: Value) -> bool:
        """Whether a value of another scope may be used in this one; if so, note its use."""
        inner: list[Scope] = []
        scope: Scope | None = self
        while scope is not None and scope is not owner:
            inner.append(scope)
            scope = scope.parent
        if scope is None:
            return False
        for each in inner:
            if value not in each.used:
                each.used |= dict.fromkeys([value, *loops_assigned_to(value)])
        return True

    def note_read(self, array: Any, owner: Scope) -> None:
        """Note that an array of another scope is read in this one, and in those between."""
        while array._parent is not None:
            array = array._parent
        scope: Scope | None = self
        while scope is not None and scope is not owner:
            if scope.journal is not None:
                scope.journal.read[id(array)] = array
            scope = scope.parent

    def refusal(self, value: Value | None) -> TraceError:
        """The error for the use of an array, with a value, where another trace, or none, is active."""
        if self.ended:
            return kept(value, self.described)
        return misplaced(self.described, active.scope.described if active.scope is not None else None)


def loops_assigned_to(value: Value) -> Iterator[Value]:
    """The results of loops and branches that a value is, but for assignments to parts of them, and what is assigned. A
    region that computed them again would do so for each branch behind the other."""
    stack, seen = [value], set[Value]()
    while stack:
        each = stack.pop()
        if not isinstance(each, Node) or each in seen:
            continue
        seen.add(each)
        if each.op.kind == "control":
            yield each
        elif each.op.kind == "indexing" or isinstance(each.op.lower, View):
            stack += each.inputs


class Trace:
    """A function that is being traced: the arrays that it captures, and the guards on its arguments."""

    def __init__(self, guards: shapes.GuardCollector, convert: Convert | None = None, stabilises: bool = True) -> None:
        self.guards = guards
        self.captured = Captured()
        self.aliases = 0
        self.converts = convert is not None
        """Whether functions are traced in their converted form, with loops and branches as calls of operators."""
        self.convert = convert
        """The function that makes the converted form of a function; that of the trace around, where this one does not
        convert."""
        self.stabilises = stabilises
        """Whether formulas may be rewritten so that they are finite where the written form is not."""
        self.loop: Any = None
        """The facts known about the loops in the body of the captured loop that is being traced."""
        self.shared: dict[Any, Any] | None = None
        """The current values of shared variables, if callers have a place for them.

        See `numbagraph.jit.shared_variables.Binding`.
        """
        self.entries: Sequence[tuple[str, Callable[[], Any]]] = ()
        """The attributes, globals and elements that are written back after a call: names, and how to read them."""
        self.picked: dict[int, Any] = {}
        """The lists that were taken from lists at traced places, by identity: they are copies."""
        self.bound: dict[int, Any] = {}
        """The lists and the like that two variables may share, as a loop or a branch has bound them, by identity."""
        self.may_alias: dict[int, tuple[Any, list[Any]]] = {}
        """The lists and the like that may be the same object as others, and cannot be read once one of these changes,
        by identity."""
        self.made: dict[int, Any] = {}
        """The lists and the like that converted code has made outside of loops and branches, by identity."""
        self.keyed: dict[int, tuple[Any, Any]] = {}
        """The dicts and sets that converted code has made, with the places where it did, by identity."""
        self.changed: dict[int, Any] = {}
        """The lists that loops and branches have made longer or shorter, by identity."""
        self.inputs: tuple[Value, ...] = ()
        """The arguments, as values of the graph."""
        self.room = 1
        """The factor on the usual room of lists that loops make longer."""
        self.drawn: list[Any] = []
        """The states, as traced arrays, of the generators of random numbers among the arguments."""
        self.order: Value | None = effects.first()
        """The order that the last effect gave and the next one takes; None in a region that is not given it."""

    def alias(self, value: Value) -> Value:
        """A stand-in for a value that no other use of it shares."""
        self.aliases += 1
        found = registry["alias"].bind(value, number=self.aliases)
        if active.scope is not None:
            active.scope.aliases[found] = None
        return found


class Active(threading.local):
    trace: Trace | None = None
    refusal: TraceError | None = None
    """The last refusal."""
    calls: Any = None
    """The calls of NumPy's functions in a function that is traced as it is and may be converted (`Calls`)."""
    checkpoints = False
    """Whether derivatives of the loops that are traced store little and compute the rest again."""
    rolls = False
    """Whether a function is converted for its loops of many steps: if that fails, it is traced as it is."""
    loops = 0
    """The number of times that a loop has become a region."""
    refusals = 0
    """The number of times that a value not known during tracing was asked of a traced array."""
    scope: Scope | None = None
    """The innermost scope of `trace`. None, too, for the shape functions of loops, which run outside of traces on
    tracers of their own."""

    def __init__(self) -> None:
        self.widened: dict[Any, Any] = {}
        """The dtypes of lists by where they are made, as an earlier trace of the same function has found them."""


active = Active()


E = TypeVar("E", bound=TraceError)


def refused(error: E) -> E:
    """Record ``error`` as the last refusal, and return it."""
    active.refusals += 1
    active.refusal = error
    return error


class CaptureError(TraceError):
    """Something in a function's control flow that cannot be traced."""

    __module__ = "numbagraph.errors"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.numbers: frozenset[str] = frozenset()
        """The arguments for whose numbers alone it can be (`numbagraph.tracing.static_values`)."""
        refused(self)


@contextmanager
def tried() -> Iterator[None]:
    """Forget the refusals that arise inside when an exception leaves the block: its caller catches it and tries
    something else, so they are no errors of the function."""
    before = active.refusals
    try:
        yield
    except Exception:
        active.refusals = before
        raise


def current_trace() -> Trace | None:
    return active.trace


def as_traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the form of a function that is traced now: its converted form, if the trace converts functions."""
    trace = current_trace()
    return converted(function) if trace is not None and trace.converts else function


def converted(function: Any) -> Any:
    """Return the converted form of a function that values of converted code call; outside of a trace the function
    itself."""
    trace = current_trace()
    return function if trace is None or trace.convert is None else trace.convert(function)


def apart(value: Value) -> Value:
    """Return a stand-in for an argument of a function that has a rule for its derivative, which no op simplifies:
    ``-(-x)`` is ``x``, which is no argument."""
    trace = current_trace()
    if trace is None or value.dtype.kind not in "fc" or isinstance(value, Constant):
        return value
    return trace.alias(value)


@contextmanager
def region(described: str) -> Iterator[Scope]:
    """Trace everything inside into a region of the graph that is being traced."""
    previous = active.scope
    active.scope = scope = Scope(described, previous)
    try:
        yield scope
    finally:
        scope.ended = True
        active.scope = previous


@contextmanager
def entries_kept(what: str) -> Iterator[None]:
    """Raise where the block, which runs once for all steps or elements, assigns to an entry that outlives the call."""
    trace = current_trace()
    before = [] if trace is None else [(name, read, read()) for name, read in trace.entries]
    yield
    for name, read, old in before:
        if read() is not old:
            raise TraceError(
                f"{name!r} is assigned to in {what}, which runs once for all steps or elements: return the value, and "
                f"assign it outside\n  at {user_source()}"
            )


@contextmanager
def tracing(described: str = "a function", convert: Convert | None = None, stabilises: bool = True) -> Iterator[Trace]:
    """Trace everything inside into one graph.

    ``convert`` makes the converted form of a function, in which loops and branches are calls of operators. Without it
    functions are traced as they are.
    """
    previous = active.trace, active.scope
    scope = Scope(described)
    with shapes.collect_guards() as guards:
        trace = Trace(guards, convert, stabilises)
        if active.trace is not None:
            trace.room = active.trace.room
            trace.convert = trace.convert or active.trace.convert
        active.trace, active.scope = trace, scope
        try:
            yield trace
        finally:
            scope.ended = True
            active.trace, active.scope = previous
