"""Traces ``try`` whose handlers take errors that the program raises.

The body is traced in a region, only to find its guards, which are the errors that it may raise. The guards whose errors
a handler takes, in the order in which they are met, decide whether the body runs or the handler does, each as the
branch of a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from numbagraph.blockwise.promotion import as_value, weak_constant
from numbagraph.capture.statements.branches import branch
from numbagraph.capture.statements.control_flow import if_
from numbagraph.capture.statements.extended_state import Extended, value_at
from numbagraph.capture.values.containers import Containers
from numbagraph.capture.values.raised_errors import Catcher, Elsewhere, Unseen, catching
from numbagraph.capture.values.written_arrays import Traced, in_region
from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Node, Value, current_source, toposort
from numbagraph.ops.control.operands import may_fail
from numbagraph.tracing.checks import kind_of
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.python_arithmetic import is_own_limit
from numbagraph.tracing.regions import HAS_RUN
from numbagraph.tracing.retrace import ListFull, OrderMissing, PlacesWritten
from numbagraph.tracing.trace import active, tried
from numbagraph.tracing.tracer import Tracer, user_source

State = Sequence[Any]
Function = Callable[..., Any]
NUMBER = ("which handler takes an error",)


class InBranch(Exception):
    """The error class of a guard that stands for the errors of one of two branches."""


class Handler(NamedTuple):
    kinds: tuple[type[BaseException], ...]
    run: Function | None
    """A function of the error and the variables; None where the handler raises the error again."""


class Failing(NamedTuple):
    """The first of the errors that handlers take."""

    holds: Value
    """The condition that neither this error is raised nor others that the same handler takes."""
    number: Any
    """The number, from 1 on, of the handler that takes it."""
    guards: Sequence[Guard]
    """The guards behind it."""


class Catching(Catcher):
    """The handlers of one ``try``, while its body is traced."""

    def __init__(self, handlers: Sequence[Handler]) -> None:
        self.handlers = handlers

    def taken(self, kind: type[BaseException]) -> int | None:
        """The number, from 1 on, of the handler that takes an error; None if none does, or if it raises the error
        again."""
        for number, each in enumerate(self.handlers, 1):
            if issubclass(kind, each.kinds):
                return None if each.run is None else number
        return None

    def number(self, guard: Guard) -> Any:
        if guard.error is InBranch:
            return Tracer(guard.arguments[0])
        kind = kind_of(guard)
        is_ours = guard.subject == HAS_RUN or kind is ListFull or is_own_limit(guard.subject)
        return None if is_ours else self.taken(kind)

    def place(self, guards: Sequence[Guard]) -> int:
        """The number of guards up to the last one whose error a handler takes."""
        return max((at for at, each in enumerate(guards, 1) if self.number(each) is not None), default=0)

    def require_unwritten(self, region: Traced, end: int) -> None:
        """Raise where an array, an object or a container has changed before an error that a handler takes."""
        journal = region.journal
        changes = [journal.changed.get(id(array), 0) for array, _ in region.written]
        if any(each < end for each in (*changes, *(count for _, count in journal.holders.values()))):
            raise Unseen(
                "`except` takes an error after an array, a list, a dict or an object has changed in the same statement "
                f"or function: raise errors before anything is changed, or use `if`\n  at {user_source()}"
            )

    # ---- what happens in the body ----

    def note_node(self, node: Node) -> None:
        """Require that the positions of an indexing op are in bounds. Raise for an op whose LinAlgError a handler would
        take."""
        if node.attrs.get("on_error") == "raise" and self.taken(np.linalg.LinAlgError) is not None:
            raise Unseen(
                f"`except` cannot take a LinAlgError of compiled code. In place of `try`, write "
                f'`with numbagraph.on_linalg_error("nan"):`, and in place of `except`, `if np.isnan(y).any():`'
                f"\n  at {user_source()}"
            )
        for number, extent in node.op.bounds(node):
            positions = registry["cast"].bind(node.inputs[number], dtype=INT64)
            length = shapes.as_value(extent)
            above = registry["greater_equal"](positions, registry["negative"](length))
            inside = registry["logical_and"](above, registry["less"](positions, length))
            shapes.require(registry["all"](inside) if inside.ndim else inside, "index out of bounds", IndexError)

    def note_loop(self, guards: Sequence[Guard]) -> None:
        for each in guards:
            if self.number(each) is not None:
                raise Unseen(
                    f"`except` cannot take a {kind_of(each).__name__} of a loop's step in a function around it: "
                    f"write `try` into the loop, or ask with `if` before\n  at {each.source or user_source()}"
                )

    def note_branches(self, test: Value, no: Traced, yes: Traced) -> None:
        ends = [self.place(each.guards) for each in (no, yes)]
        if not any(ends):
            return
        for side, end in zip((no, yes), ends, strict=True):
            self.require_unwritten(side, end)
        sides = [
            lambda each=each, end=end: [inside(each.used, lambda: self.first(each.guards[:end], each.used))]
            for each, end in zip((yes, no), reversed(ends), strict=True)
        ]
        with catching(Catcher()):
            number = as_value(branch(test, NUMBER, *sides)[0].value)
        holds = registry["equal"](number, 0)
        shapes.current_collector().add(Guard(holds, "a branch", current_source(), InBranch, None, (number,), True))

    # ---- which error is the first ----

    def failing(self, guards: Sequence[Guard]) -> Failing | None:
        """Return the first error that a handler takes, joined with those that can be checked at once. Require the
        conditions before it here."""
        for at, guard in enumerate(guards):
            number = self.number(guard)
            if number is None:
                shapes.current_collector().add(guard)
                continue
            holds, end = guard.condition, at + 1
            while end < len(guards) and type(number) is int and self.number(guards[end]) == number:
                if not is_harmless(guards[end].condition):
                    break
                holds = registry["logical_and"](holds, guards[end].condition)
                end += 1
            return Failing(holds, number, guards[end:])
        return None

    def first(self, guards: Sequence[Guard], used: Iterable[Value], last: int = 0) -> Any:
        """The number of the handler that takes the first of some errors; ``last`` if none is raised."""
        found = self.failing(guards)
        if found is None:
            return last
        if isinstance(found.holds, Constant):
            return self.first(found.guards, used, last) if found.holds.data else found.number
        available = {*used, *loops_in(found.holds)}

        def others() -> Any:
            return inside(available, lambda: self.first(found.guards, available, last))

        return branch(found.holds, NUMBER, lambda: [others()], lambda: [found.number])[0]


def inside(available: Iterable[Value], function: Function) -> Any:
    """Call a function in a region that is passed some values rather than computing them again."""
    scope = active.scope
    assert scope is not None
    scope.used.update(dict.fromkeys(available))
    return function()


def is_harmless(condition: Value) -> bool:
    """Whether a condition can be computed where an earlier one does not hold."""
    return all(
        not isinstance(each, Node) or (each.op.kind in ("elementwise", "identity") and not may_fail(each))
        for each in toposort([condition])
    )


def loops_in(condition: Value) -> list[Value]:
    """The loops and branches whose results a condition needs."""
    return [each for each in toposort([condition]) if isinstance(each, Node) and each.op.kind == "control"]


def try_(
    names: Sequence[str],
    body: Function,
    orelse: Function | None,
    handlers: Sequence[tuple[Function | None, Function | None]],
    partial: bool,
    state: State,
) -> Sequence[Any]:
    """Return the variables behind ``try``. Each handler is a function of its classes, and one of the error and the
    variables."""
    extended = Extended(names, state)
    own, then = extended.body(body), None if orelse is None else extended.body(orelse)
    plain = [Handler(classes_of(classes), run) for classes, run in handlers]
    known = [each._replace(run=None if each.run is None else extended.body(each.run)) for each in plain]

    def run_plainly(state: State, wrap: Callable[[Function], Function] = lambda body: body) -> State:
        """Run all as Python does: what has changed before an error stays."""
        found = plainly(wrap(body), orelse, plain, partial, state[: len(extended.state)])
        return [*found, *map(value_at, extended.places)]

    return extended.run(lambda names, state: captured_try(names, own, then, known, partial, state, run_plainly))


def captured_try(
    names: Sequence[str],
    body: Function,
    orelse: Function | None,
    known: Sequence[Handler],
    partial: bool,
    state: State,
    run_plainly: Function,
) -> Sequence[Any]:
    catcher = Catching(known)
    containers = Containers(state)
    raised: list[Exception] = []

    def attempt(_: Any) -> None:
        try:
            containers.run(lambda given: body(*given), state)
        except TraceError:
            raise
        except Exception as error:  # noqa: BLE001  the program's
            raised.append(error)

    try:
        with tried(), catching(catcher):
            region = in_region(attempt, "the body of try")
    except (Unseen, PlacesWritten):
        raise
    except (Exception, OrderMissing) as refused:  # noqa: BLE001  raised where nothing else is
        return run_plainly(state, lambda body, refused=refused: unraised(body, catcher, refused))
    number = catcher.taken(type(raised[0])) if raised else None
    end = len(region.guards) if number else catcher.place(region.guards)
    if not catcher.place(region.guards):
        return run_plainly(state)
    if partial:
        raise Unseen(
            f"`except` takes an error after a part of the same statement is done: let `try` hold what may raise "
            f"alone, and put the rest into `else`\n  at {user_source()}"
        )
    catcher.require_unwritten(region, end + 1 if number else end)  # an error that is known comes last
    return chosen(catcher, region, end, number or 0, (names, body, orelse, state))


def unraised(body: Function, catcher: Catching, refused: BaseException) -> Function:
    """Return the body of a ``try`` as a function that raises ``refused`` if the body may raise an error that a handler
    takes."""

    def run(*given: Any) -> State:
        guards = shapes.current_collector().guards
        mark = len(guards)
        with catching(catcher):
            found = body(*given)
        if catcher.place(guards[mark:]):
            raise refused
        return found

    return run


def chosen(
    catcher: Catching, region: Traced, end: int, last: int, statement: tuple[Sequence[str], Function, Any, State]
) -> Sequence[Any]:
    """Return the variables behind the body, or behind the handler that takes its first error."""
    names, body, orelse, state = statement
    found = catcher.failing(region.guards[:end])
    assert found is not None
    number, holds = found.number, found.holds
    if found.guards or last or type(number) is not int:
        number = catcher.first(region.guards[:end], region.used, last)
        holds = registry["equal"](as_value(number.value), 0) if isinstance(number, Tracer) else number == 0
    available = {*region.used, *(loops_in(holds) if isinstance(holds, Value) else ())}

    def run(*given: Any) -> Any:
        after = inside(available, lambda: body(*given))
        return orelse(*after) if orelse is not None else after

    def handle(*given: Any) -> Any:
        return handled(catcher.handlers, 1, number, names, given)

    test = Tracer(holds) if isinstance(holds, Value) else holds
    return if_(test, names, run, handle, state)


def handled(handlers: Sequence[Handler], first: int, number: Any, names: Sequence[str], given: State) -> Any:
    """Return the variables behind the handler of a number."""
    if not isinstance(number, Tracer):
        handler = handlers[number - 1]
        assert handler.run is not None
        return handler.run(Elsewhere(), *given)
    run = handlers[first - 1].run
    if first == len(handlers):
        return given if run is None else run(Elsewhere(), *given)
    rest = lambda *state: handled(handlers, first + 1, number, names, state)  # noqa: E731
    if run is None:
        return rest(*given)
    test = Tracer(registry["equal"](as_value(number.value), weak_constant(first)))
    return if_(test, names, lambda *state: run(Elsewhere(), *state), rest, given)


def plainly(
    body: Function, orelse: Function | None, handlers: Sequence[Handler], partial: bool, state: State
) -> Sequence[Any]:
    """Return the variables behind ``try`` where Python raises the errors while the function is traced."""
    try:
        found = body(*state)
    except Exception as error:
        for each in handlers:
            if isinstance(error, each.kinds):
                if each.run is None:
                    raise
                if partial:
                    raise Unseen(
                        f"`except` takes an error of a statement that has done something before: put what may raise "
                        f"into a `try` of its own\n  at {user_source()}"
                    ) from error
                return each.run(error, *state)
        raise
    return found if orelse is None else orelse(*found)


def classes_of(classes: Function | None) -> tuple[type[BaseException], ...]:
    found = Exception if classes is None else classes()
    return tuple(found) if isinstance(found, tuple) else (found,)
