"""Loops and branches whose bodies have effects: they carry the number that orders effects (`numbagraph.ops.effects`).

A body is traced without this order at first, as most bodies have no effect; one with an effect is traced again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numbagraph.ir.values import Value
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.retrace import OrderMissing
from numbagraph.tracing.trace import Trace, current_trace
from numbagraph.tracing.tracer import Tracer, to_value

Function = Callable[..., Any]


@contextmanager
def without_order(trace: Trace, mark: int) -> Iterator[None]:
    """Trace a region without the order of effects. If an effect needs it, drop the guards from ``mark`` on."""
    before, trace.order = trace.order, None
    try:
        yield
    except OrderMissing:
        del trace.guards.guards[mark:]
        raise
    finally:
        trace.order = before


@contextmanager
def left_out() -> Iterator[None]:
    """Drop the effects of a rule for derivatives: the function that the rule belongs to has had its own."""
    trace = current_trace()
    before = trace.order if trace is not None else None
    try:
        yield
    finally:
        if trace is not None:
            trace.order = before


def order_here() -> Value:
    """Return the order of effects that the next effect takes. Raise `OrderMissing` in a region that is not given it."""
    trace = current_trace()
    assert trace is not None
    if trace.order is None:
        raise OrderMissing(user_source())
    return trace.order


def set_order(value: Any) -> None:
    trace = current_trace()
    assert trace is not None
    trace.order = to_value(value)


class InOrder:
    """A loop body or a branch that takes the order of effects as a carry, and returns the order after its own
    effects."""

    def __init__(self, function: Function, arrange: Callable[[Function, Any, Any], Any]) -> None:
        self.function = function
        self.arrange = arrange
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        if hasattr(function, "__code__"):
            self.__code__ = function.__code__  # errors name the user's line

    def __call__(self, ordered: tuple[Any, Any], *others: Any) -> Any:
        order, value = ordered
        set_order(order)
        return self.arrange(self.function, value, others)


def with_order(trace_it: Callable[[], Any], again: Callable[[Tracer], tuple[Any, Any]]) -> Any:
    """Return the result of ``trace_it``; if that has effects, trace with ``again``, which carries the order of
    effects."""
    try:
        return trace_it()
    except OrderMissing:
        before = Tracer(order_here())
    try:
        order, result = again(before)
    except OrderMissing:
        raise TraceError(
            f"the condition of a loop has an effect, such as debug_print: have it in the step\n  at {user_source()}"
        ) from None
    set_order(order)
    return result


def now() -> Tracer:
    return Tracer(order_here())


def scan_in_order(scan: Function) -> Function:
    """Wrap ``scan(f, init, xs, length, how, user)`` so that ``f`` may have effects."""

    def step(f: Function, value: Any, others: Sequence[Any]) -> Any:
        found = f(value, *others)
        return ((now(), found[0]), found[1]) if isinstance(found, tuple) and len(found) == 2 else found

    @functools.wraps(scan)
    def call(f: Function, init: Any, xs: Any, length: Any, how: Any, user: Function | None = None) -> Any:
        def again(order: Tracer) -> tuple[Any, Any]:
            (after, result), ys = scan(InOrder(f, step), (order, init), xs, length, how, f if user is None else user)
            return after, (result, ys)

        return with_order(lambda: scan(f, init, xs, length, how, user), again)

    return call


def while_in_order(loop: Function) -> Function:
    """Wrap ``loop(condition, body, init, checkpoint)`` so that the body may have effects."""

    def step(f: Function, value: Any, _: Any) -> Any:
        found = f(value)
        return now(), found

    @functools.wraps(loop)
    def call(condition: Function, body: Function, init: Any, checkpoint: bool) -> Any:
        def again(order: Tracer) -> tuple[Any, Any]:
            return loop(lambda state: condition(state[1]), InOrder(body, step), (order, init), checkpoint)

        return with_order(lambda: loop(condition, body, init, checkpoint), again)

    return call


def branches_in_order(choose: Function) -> Function:
    """Wrap ``choose(index, functions, operands)`` so that branches may have effects."""

    @functools.wraps(choose)
    def call(index: Value, functions: Sequence[Function], operands: Sequence[Any]) -> Any:
        def again(order: Tracer) -> tuple[Any, Any]:
            return choose(index, [InOrder(each, branch) for each in functions], ((order, tuple(operands)),))

        return with_order(lambda: choose(index, functions, operands), again)

    def branch(function: Function, operands: Any, _: Any) -> Any:
        found = function(*operands)
        return now(), found

    return call
