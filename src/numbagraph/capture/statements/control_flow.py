"""Truth, branches and loops, of traced values or of Python's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.statements.branches import branch
from numbagraph.capture.statements.extended_state import Extended
from numbagraph.capture.statements.list_buffering import with_buffers, with_changed_lists, with_lists
from numbagraph.capture.statements.loop_conditions import tested_in_steps
from numbagraph.capture.statements.loops import Step, captured
from numbagraph.capture.syntax.generator_functions import Yielding, taken
from numbagraph.capture.syntax.source import CaptureError, site
from numbagraph.capture.values.append_log import Appended, Outgrown, resolved
from numbagraph.capture.values.containers import Containers, copied, is_own
from numbagraph.capture.values.iterables import Generated, require_known, traced_iterable
from numbagraph.capture.values.known_iterables import counted_elements
from numbagraph.capture.values.list_aliases import Ends
from numbagraph.capture.values.list_buffer import Buffered
from numbagraph.capture.values.list_slots import Rebound, renewed, with_slots
from numbagraph.capture.values.objects import is_object
from numbagraph.capture.values.optional import UNDEFINED, Possibly, required, settled, weak_truth
from numbagraph.capture.values.python_iterators import require_here
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Value
from numbagraph.tracing.retrace import ConditionWrites, PlacesWritten, StaticLoop, UnlikeBranches
from numbagraph.tracing.trace import active, tried
from numbagraph.tracing.tracer import TraceError, Tracer, to_value, user_source
from numbagraph.tracing.unrolled_loops import FEWEST_AROUND, MOST_STEPS

MOST_UNROLLED = 2000
ENDED = "the end of the loop"

State = Sequence[Any]
Function = Callable[..., Any]


# ---- truth ----


def truth(value: Tracer) -> Value:
    found: Value = to_value(value)
    if found.ndim:
        if any(shapes.resolve(each) != 1 for each in found.shape):
            raise TraceError(
                f"the truth value of an array with more than one element is ambiguous: use .any() or .all()"
                f"\n  on {found.type}\n  at {user_source()}"
            )
        found = registry["reshape"](found, ())
    return found if found.dtype == BOOL else registry["not_equal"](found, 0)


def asked(test: Any) -> Any:
    """Return a condition in a form that can be tested: None does not hold, nor does a list without elements."""
    test = resolved(test)
    require_known(test)
    if isinstance(test, Stacked):
        return Tracer(weak_truth(registry["greater"](test.count(), 0)))
    if not isinstance(test, Possibly):
        return test
    value = asked(settled(test.value))
    inner = truth(value) if isinstance(value, Tracer) else bool(value)
    return Tracer(weak_truth(registry["logical_and"](to_value(test.present), inner)))


def not_(value: Any) -> Any:
    value = asked(value)
    return Tracer(weak_truth(registry["logical_not"](truth(value)))) if isinstance(value, Tracer) else not value


def and_(first: Any, *others: Function) -> Any:
    for each in others:
        test = asked(first)
        if isinstance(test, Tracer):
            first = chosen(test, each, lambda kept=first: kept)
        elif not first:
            return first
        else:
            first = each()
    return first


def or_(first: Any, *others: Function) -> Any:
    for each in others:
        test = asked(first)
        if isinstance(test, Tracer):
            first = chosen(test, lambda kept=first: settled(kept), each)
        elif first:
            return first
        else:
            first = each()
    return first


def if_expression(test: Any, yes: Function, no: Function) -> Any:
    test = asked(test)
    if isinstance(test, Tracer):
        return chosen(test, yes, no)
    return yes() if test else no()


def chosen(test: Tracer, yes: Function, no: Function) -> Any:
    names, ends = ("a value",), Ends()
    try:
        with tried():
            found = branch(truth(test), names, lambda: ends.note([yes()]), lambda: ends.note([no()]))
            ends.note_aliases(found)
            return found[0]
    except (UnlikeBranches, PlacesWritten):  # lists of several lengths, and attributes
        return if_(test, names, lambda _: [yes()], lambda _: [no()], [UNDEFINED])[0]


# ---- branches and loops ----


def if_(
    test: Any, names: Sequence[str], yes: Function, no: Function, state: State, kept: Sequence[str] = ()
) -> Sequence[Any]:
    test = asked(test)
    if not isinstance(test, Tracer):
        return yes(*state) if test else no(*state)
    extended = Extended(names, state, kept)
    sides = extended.body(yes), extended.body(no)
    return extended.run(lambda names, state: captured_if(test, names, *sides, state))


def captured_if(test: Tracer, names: Sequence[str], yes: Function, no: Function, state: State) -> Sequence[Any]:
    rebound, state = Rebound(may_begin=True), renewed(state)

    def run(state: State) -> Sequence[Any]:
        containers = Containers(state)
        sides = [with_slots(lambda given, side=side: side(*given), rebound) for side in (yes, no)]
        found = branch(truth(test), names, *[containers.changed_by(each, state) for each in sides])
        return rebound.noted(containers.after(found), state, containers.touched)

    return with_lists(run, state, rebound)


def while_(
    names: Sequence[str], test: Function, body: Function, state: State, kept: Sequence[str] = ()
) -> Sequence[Any]:
    before = state
    for number in range(MOST_UNROLLED + 1):
        first = asked(test(*state))
        if not isinstance(first, Tracer) and not first:
            return state
        if active.rolls and number == MOST_STEPS and not isinstance(first, Tracer):
            given = with_traced_numbers(before, state)
            try:
                with tried():
                    return While(names, test, body, given, asked(test(*given)), kept).captured()
            except Exception:  # noqa: BLE001  whatever needs the numbers themselves
                pass

        loop = While(names, test, body, state, first, kept)
        try:
            with tried():
                return loop.captured()
        except StaticLoop:
            if not number and any(type(each) in (list, deque) or is_object(each) for each in state):
                try:
                    with tried():
                        return loop.with_changed_lists()
                except Exception:  # noqa: BLE001  Python runs the loop
                    pass
        except Exception:
            if isinstance(first, Tracer):
                raise
        before, state = state, body(*state)
    raise CaptureError(
        f"a loop took more than {MOST_UNROLLED} steps while it was traced, since its condition is not traced"
        f"\n  at {user_source()}"
    )


def with_traced_numbers(before: State, state: State) -> State:
    """Return variables, of which the numbers that a step has changed are traced."""
    pairs = zip(before, state, strict=True)
    return [Tracer(weak_constant(new)) if type(new) in (int, float) and new != old else new for old, new in pairs]


class While:
    """A ``while`` loop with the variables before a step whose condition has been asked."""

    def __init__(
        self, names: Sequence[str], test: Function, body: Function, state: State, first: Any, kept: Sequence[str]
    ) -> None:
        self.extended = Extended(names, state, kept)
        self.test, self.body = self.extended.test(test), self.extended.body(body)
        self.asking = self.extended.result(test)
        self.first = first
        self.rebound = Rebound()

    def captured(self) -> State:
        """Return the variables after the loop."""

        def run(names: Sequence[str], state: State) -> State:
            self.rebound = Rebound()  # an earlier pass may have had fewer variables
            return with_lists(*self.parts(names, renewed(state)), self.rebound)

        return self.extended.run(run)

    def with_changed_lists(self) -> State:
        """Return the variables after a loop whose condition seems to be known, but is not where a step changes
        lists."""

        def run(names: Sequence[str], state: State) -> State:
            self.rebound = Rebound()
            whole, state = self.parts(names, state)
            return with_changed_lists(whole, state, self.rebound, one_step(self.one, state))

        return self.extended.run(run)

    def one(self, state: State) -> State:
        return with_slots(lambda given: self.body(*given), self.rebound)(state)

    def tested(self, variables: State) -> list[Any]:
        """Return the condition before the variables, which asking for it may change."""
        found, *after = self.asking(*map(copied, variables))
        found = asked(found)
        pairs = zip(variables, after, strict=True)
        kept = len(variables) - len(self.extended.places)
        return [
            Tracer(truth(found)) if isinstance(found, Tracer) else found,
            *(old if number < kept else new for number, (old, new) in enumerate(pairs)),
        ]

    def parts(self, names: Sequence[str], state: State) -> tuple[Function, State]:
        """Return a function that traces the loop, and the variables that it is given."""

        def run(state: State) -> State:
            containers = Containers(state, self.rebound.ends)
            step = Step(
                lambda _, variables: containers.run(self.one, variables),
                lambda _, variables: condition(self.test, variables),
                counts=False,
            )
            try:
                with tried():
                    found = captured(names, state, step, site())
            except ConditionWrites:
                found = captured(*tested_in_steps(names, self.first, state, step, self.tested), site())[1:]
            return self.rebound.noted(containers.after(found), state, containers.touched)

        return run, state


def one_step(one: Function, state: State) -> Function:
    """Return one step of a loop whose condition seems to be known, but is not where a branch appends to a list."""

    def run() -> None:
        found = Containers(state).run(one, state)
        if any(isinstance(each, Appended) for each in found):
            raise CaptureError(f"a branch appends to a list in a loop that asks for its length\n  at {user_source()}")

    return run


def condition(test: Function, variables: State) -> Any:
    found = asked(test(*map(copied, variables)))
    return Tracer(truth(found)) if isinstance(found, Tracer) else found


def for_(
    iterable: Any, names: Sequence[str], body: Function, may_end: bool, state: State, kept: Sequence[str] = ()
) -> Sequence[Any]:
    iterable = taken(required(iterable))
    if isinstance(iterable, Yielding):
        return over_yielding(iterable, body, state)
    if isinstance(iterable, Generated):
        return over_generator(iterable, names, body, may_end, state)
    found = traced_iterable(iterable)
    if found is not None:
        return captured_for(found, names, body, may_end, state, kept)
    require_here(iterable)
    known = counted_elements(iterable)
    if known is not None and known[0] >= FEWEST_AROUND and not (may_end and isinstance(iterable, Iterator)):
        is_long = known[0] > MOST_STEPS
        try:
            with tried():
                found = captured_for(known[1](), names, body if is_long else around_loops(body), may_end, state, kept)
                if not is_long:
                    require_known_numbers(state, found)
        except Exception:  # whatever needs the numbers themselves, such as an attribute's name
            if known[0] > MOST_UNROLLED:
                raise
        else:
            use_up(iterable)
            return found
    if type(iterable) in (list, deque) and is_own(iterable) and any(each is iterable for each in state):
        try:
            with tried():
                return over_growing(iterable, names, body, may_end, state)
        except Exception:  # noqa: BLE001  Python runs the loop
            pass
    return unrolled(iterable, names, body, state)


class BetterCopied(Exception):
    """A loop of few steps that is no region: nothing but its steps is lost with their copies."""


def around_loops(body: Function) -> Function:
    """Return a step that has to hold a loop."""

    def step(*given: Any) -> Any:
        before = active.loops
        found = body(*given)
        if active.loops == before:
            raise BetterCopied
        return found

    return step


def require_known_numbers(before: State, after: State) -> None:
    """Raise where a number of Python's is not known any more: what follows may need it, such as for an axis."""
    for one, other in zip(before, after, strict=True):
        if (
            not isinstance(one, Tracer)
            and isinstance(other, Tracer)
            and not other._is_array
            and other.dtype.kind in "biu"
        ):
            raise BetterCopied


def use_up(iterable: Any) -> None:
    """Leave an iterator as a loop leaves it."""
    if isinstance(iterable, Iterator):
        deque(iterable, maxlen=0)


def over_growing(held: Any, names: Sequence[str], body: Function, may_end: bool, state: State) -> State:
    """Run a loop over a list that its steps change."""

    def run(given: State) -> State:
        return captured_for(resolved(held), names, body, may_end, given)

    return with_buffers(run, state, [held])


def grows_meanwhile() -> CaptureError:
    return CaptureError(
        f"a list becomes longer while a loop runs over it: write `while k < len(list)`\n  at {user_source()}"
    )


def over_yielding(generator: Yielding, body: Function, state: State) -> Sequence[Any]:
    """Run a loop over the elements that a generator function yields, whose steps take place there."""

    def visit(element: Any, whole: Any) -> Any:
        return tuple(flat(body(element, *whole[1:])))

    found: Sequence[Any] = generator.run(visit, (False, *state))
    return found[1:]


def over_generator(
    generator: Generated, names: Sequence[str], body: Function, may_end: bool, state: State
) -> Sequence[Any]:
    """Run a loop over the elements of a generator, each of which is made when its step comes."""
    all_names = (ENDED, *names)

    def visit(element: Any, _: Any, *given: Any) -> tuple[Any, State]:
        found = flat(body(element, *given))
        return found[0], found

    def one(element: Any, given: State) -> State:
        if generator.is_nested:
            return for_(generator.element(element), all_names, visit, may_end, given)
        return visit(generator.element(element), *given)[1]

    def step(element: Any, *given: Any) -> tuple[Any, State]:
        whole = [False, *given]
        if generator.test is None:
            whole = list(one(element, whole))
        else:
            yes, no = (lambda *each: one(element, each)), (lambda *each: list(each))
            whole = list(if_(generator.test(element), all_names, yes, no, whole))
        return whole[0], whole[1:]

    return for_(generator.iterable, names, step, may_end, state)


def unrolled(iterable: Any, names: Sequence[str], body: Function, state: State) -> Sequence[Any]:
    """Run each step as it comes; behind one that may end the loop, the others are branches."""
    ended: Any = False
    for element in iterable:
        if isinstance(ended, Tracer):
            ended, *state = if_(
                ended,
                (ENDED, *names),
                lambda *kept: kept,
                lambda _, *kept, element=element: flat(body(element, *kept)),
                (ended, *state),
            )
        elif ended:
            break
        else:
            ended, state = body(element, *state)
        if type(iterable) in (list, deque) and iterable and type(iterable[0]) is Outgrown:
            raise grows_meanwhile()
    return state


def flat(found: tuple[Any, Sequence[Any]]) -> list[Any]:
    ended, state = found
    return [ended, *state]


def captured_for(
    iterable: Any, names: Sequence[str], body: Function, may_end: bool, state: State, kept: Sequence[str] = ()
) -> Sequence[Any]:
    extended = Extended(names, state, kept)
    step = extended.step(body)
    return extended.run(lambda names, state: captured_loop(iterable, names, step, may_end, state))


def captured_loop(iterable: Any, names: Sequence[str], body: Function, may_end: bool, state: State) -> Sequence[Any]:
    length, is_buffered = iterable.count(), isinstance(iterable, Buffered)
    rebound, state = Rebound(), renewed(state)

    def run(state: State) -> Sequence[Any]:
        containers = Containers(state, rebound.ends)
        if not may_end and not is_buffered:
            step = Step(
                lambda number, variables: containers.run(
                    with_slots(lambda given: body(iterable.at(number), *given)[1], rebound), variables
                )
            )
            return rebound.noted(
                containers.after(captured(names, state, step, site(), length)), state, containers.touched
            )

        def goes_on(number: Tracer, variables: State) -> Any:
            count = iterable.count() if is_buffered else length  # a list may become longer
            has_next = Tracer(registry["less"](to_value(number), to_value(Tracer(count))))
            return and_(has_next, lambda: not_(variables[0]))

        def one(number: Tracer, variables: State) -> State:
            whole = with_slots(lambda given: flat(body(iterable.at(number), *given)), rebound)
            return containers.run(whole, variables[1:])

        return rebound.noted(
            containers.after(captured((ENDED, *names), (False, *state), Step(one, goes_on), site())[1:]),
            state,
            containers.touched,
        )

    return with_lists(run, state, rebound, length)
