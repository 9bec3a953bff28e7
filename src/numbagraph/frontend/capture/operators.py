"""What converted functions call: truth, branches, loops, elements and assignments, of traced values or of Python's."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value, weak_constant
from numbagraph.frontend.active import active, current_trace, tried
from numbagraph.frontend.capture.branches import branch
from numbagraph.frontend.capture.calls import as_array, as_bool, replacement
from numbagraph.frontend.capture.convert import traceable
from numbagraph.frontend.capture.errors import Raised, Text, is_caught
from numbagraph.frontend.capture.iterables import Stacked, as_iterable, require_known, traced_iterable
from numbagraph.frontend.capture.loops import StaticLoop, Step, captured
from numbagraph.frontend.capture.source import CaptureError
from numbagraph.frontend.capture.state import UNDEFINED as _UNDEFINED
from numbagraph.frontend.capture.state import Possibly, is_number, placeholder, value_of
from numbagraph.frontend.capture.storages import in_region as traced_region
from numbagraph.frontend.tracing import TraceError, Tracer, apply, to_value, user_source
from numbagraph.frontend.user_code import OWN
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import ArrayType, Input, Value

UNDEFINED = _UNDEFINED
UNROLLED = 8
"""The number of steps up to which a loop over known things is traced step by step."""
MOST_UNROLLED = 2000
ENDED = "the end of the loop"

State = Sequence[Any]
Function = Callable[..., Any]


# ---- variables ----


def pick(variables: dict[str, Any], *names: str) -> list[Any]:
    return [variables.get(name, UNDEFINED) for name in names]


def defined(variable: Any, name: str) -> Any:
    """A variable that is read where some path leads on which nothing was assigned to it."""
    if not isinstance(variable, Possibly):
        return variable
    message = f"cannot access local variable {name!r} where it is not associated with a value"
    Raised(UnboundLocalError, (message,)).require(to_value(variable.defined))
    return variable.value


def returned(value: Any) -> Any:
    """What a function returns: one of its paths has given it."""
    if isinstance(value, Possibly):
        return value.value
    return None if value is UNDEFINED else value


def in_region() -> bool:
    """Whether what happens now does so in a loop or a branch of the program, rather than once."""
    return active.scope is not None and active.scope.journal is not None


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


def not_(value: Any) -> Any:
    return Tracer(registry["logical_not"](truth(value))) if isinstance(value, Tracer) else not value


def and_(first: Any, *others: Function) -> Any:
    for each in others:
        if isinstance(first, Tracer):
            first = chosen(first, each, lambda kept=first: kept)
        elif not first:
            return first
        else:
            first = each()
    return first


def or_(first: Any, *others: Function) -> Any:
    for each in others:
        if isinstance(first, Tracer):
            first = chosen(first, lambda kept=first: kept, each)
        elif first:
            return first
        else:
            first = each()
    return first


def if_expression(test: Any, yes: Function, no: Function) -> Any:
    if isinstance(test, Tracer):
        return chosen(test, yes, no)
    return yes() if test else no()


def chosen(test: Tracer, yes: Function, no: Function) -> Any:
    return branch(truth(test), ("a value",), lambda: [yes()], lambda: [no()])[0]


# ---- branches and loops ----


def if_(test: Any, names: Sequence[str], yes: Function, no: Function, state: State) -> Sequence[Any]:
    if not isinstance(test, Tracer):
        return yes(*state) if test else no(*state)
    containers = Containers(state)
    sides = [containers.changed_by(lambda given, side=side: side(*given), state) for side in (yes, no)]
    return containers.after(branch(truth(test), names, *sides))


class Containers:
    """The lists and dicts among variables: a branch or a body changes copies of them, and once it is known what these
    become, they are changed."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.same = [type(each) in (list, dict, tuple) for each in state]

    def changed_by(self, function: Callable[[State], State], state: State) -> Callable[[], State]:
        """The function of copies of the variables."""
        return lambda: self.run(function, state)

    def run(self, function: Callable[[State], State], state: State) -> State:
        given = [copied(each) for each in state]
        found = function(given)
        pairs = zip(self.same, found[-len(given) :] if given else (), given, strict=True)
        self.same = [flag and one is other for flag, one, other in pairs]
        return found

    def after(self, variables: State) -> list[Any]:
        """The variables behind the loop or the branch, with the lists and dicts that they were before."""
        return [
            updated(old, new) if flag else new for flag, old, new in zip(self.same, self.state, variables, strict=True)
        ]


def updated(old: Any, new: Any) -> Any:
    """A container, changed into what another one holds."""
    kind = type(old)
    if kind is not type(new) or kind not in (list, dict, tuple):
        return new
    if kind is tuple:
        parts = tuple(map(updated, old, new))
        return old if all(map(operator.is_, parts, old)) else parts
    require_changeable(old)
    if kind is list:
        old[:] = [updated(old[number], each) if number < len(old) else each for number, each in enumerate(new)]
    else:
        kept = {key: updated(old[key], each) if key in old else each for key, each in new.items()}
        old.clear()
        old.update(kept)
    return old


def copied(thing: Any) -> Any:
    """A variable, with lists and dicts of its own."""
    kind = type(thing)
    if kind is dict:
        return made({key: copied(each) for key, each in thing.items()})
    if kind in (list, tuple):
        parts = [copied(each) for each in thing]
        if kind is list:
            return made(parts)
        return thing if all(map(operator.is_, parts, thing)) else tuple(parts)
    return made(set(thing)) if kind is set else thing


def while_(names: Sequence[str], test: Function, body: Function, state: State) -> Sequence[Any]:
    for _ in range(MOST_UNROLLED):
        first = test(*state)
        if not isinstance(first, Tracer) and not first:
            return state
        containers = Containers(state)
        step = Step(
            lambda _, variables: containers.run(lambda given: body(*given), variables),  # noqa: B023
            lambda _, variables: condition(test, variables),
            counts=False,
        )
        try:
            with tried():
                return containers.after(captured(names, state, step, site()))
        except StaticLoop:
            pass
        except Exception:
            if isinstance(first, Tracer):
                raise
        state = body(*state)
    raise CaptureError(
        f"a loop took more than {MOST_UNROLLED} steps while it was traced, since its condition is not traced"
        f"\n  at {user_source()}"
    )


def condition(test: Function, variables: State) -> Any:
    found = test(*map(copied, variables))
    return Tracer(truth(found)) if isinstance(found, Tracer) else found


def for_(iterable: Any, names: Sequence[str], body: Function, may_end: bool, state: State) -> Sequence[Any]:
    found = traced_iterable(iterable)
    if found is not None:
        return captured_for(found, names, body, may_end, state)
    is_long = isinstance(iterable, (range, np.ndarray)) and len(iterable) > UNROLLED
    if is_long:
        try:
            with tried():
                return captured_for(as_iterable(iterable), names, body, may_end, state)
        except Exception:  # whatever needs the numbers themselves, such as an attribute's name
            if len(iterable) > MOST_UNROLLED:
                raise
    return unrolled(iterable, names, body, state)


def unrolled(iterable: Any, names: Sequence[str], body: Function, state: State) -> Sequence[Any]:
    """Each step as it comes; behind one that may end the loop, the others are branches."""
    ended: Any = False
    for item in iterable:
        if isinstance(ended, Tracer):
            ended, *state = branch(
                truth(ended),
                (ENDED, *names),
                lambda kept=(ended, *state): kept,
                lambda item=item, kept=tuple(state): flat(body(item, *map(copied, kept))),
            )
        elif ended:
            break
        else:
            ended, state = body(item, *state)
    return state


def flat(found: tuple[Any, Sequence[Any]]) -> list[Any]:
    ended, state = found
    return [ended, *state]


def captured_for(iterable: Any, names: Sequence[str], body: Function, may_end: bool, state: State) -> Sequence[Any]:
    length, containers = iterable.count(), Containers(state)
    if not may_end:
        step = Step(
            lambda number, variables: containers.run(lambda given: body(iterable.at(number), *given)[1], variables)
        )
        return containers.after(captured(names, state, step, site(), length))

    def goes_on(number: Tracer, variables: State) -> Any:
        has_next = Tracer(registry["less"](to_value(number), to_value(Tracer(length))))
        return and_(has_next, lambda: not_(variables[0]))

    def one(number: Tracer, variables: State) -> State:
        return containers.run(lambda given: flat(body(iterable.at(number), *given)), variables[1:])

    return containers.after(captured((ENDED, *names), (False, *state), Step(one, goes_on), site())[1:])


def site() -> tuple[Any, ...]:
    """Where a loop stands in the user's code, with the calls that lead there."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(OWN):
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


# ---- errors ----


def raise_(error: Any, *arguments: Any) -> None:
    """``raise error(*arguments)``, or ``raise error``."""
    if arguments and not (isinstance(error, type) and issubclass(error, BaseException)):
        error, arguments = error(*arguments), ()
    if isinstance(error, BaseException):
        raised = Raised(type(error), error.args)
    else:
        raised = Raised(error, arguments)
    if is_caught():
        raise raised.marked()
    raise raised.error() if arguments or isinstance(error, type) else error


def assert_(test: Any, message: Function | None) -> None:
    if not isinstance(test, Tracer):
        assert test, message and str(message())
        return
    Raised(AssertionError, (message(),) if message else ()).require(truth(test))


def text(template: str, *values: Any) -> Any:
    """An f-string in an error."""
    found = Text(template, values)
    return found if any(isinstance(each, Tracer) for each in values) else str(found)


# ---- calls ----


def call(function: Any) -> Any:
    """What stands for a function in converted code. Converted functions may be called outside of a trace, too."""
    if current_trace() is None:
        return function
    found = replacement(function)
    if found is not None:
        return found
    if in_region():
        refuse_change(function)
    return traceable(function, sys.modules[__name__])


def converted(function: Any) -> Any:
    """A function that is defined in converted code is converted with it."""
    return function


_CHANGING = frozenset(
    "append extend insert pop popitem remove clear sort reverse update add discard setdefault "
    "appendleft popleft extendleft rotate difference_update intersection_update".split()
)


def refuse_change(method: Any) -> None:
    holder = getattr(method, "__self__", None)
    if isinstance(holder, (list, dict, set)) and method.__name__ in _CHANGING and not is_made_here(holder):
        raise CaptureError(
            f"{method.__name__}() of a {type(holder).__name__} in a loop or a branch on traced values: Python would do "
            f"it once, while the function is traced\n  at {user_source()}"
        )


def made(container: Any) -> Any:
    """A list, dict or set that was made here, in this body or branch."""
    scope = active.scope
    if in_region() and scope is not None:
        scope.journal.made[id(container)] = container
    return container


def is_made_here(container: Any) -> bool:
    scope = active.scope
    return scope is None or scope.journal is None or id(container) in scope.journal.made


# ---- elements ----


def slice_(start: Any, stop: Any, step: Any) -> slice:
    return slice(start, stop, step)


def item(holder: Any, key: Any) -> Any:
    require_known(holder)
    if has_traced(key) and not isinstance(holder, Tracer):
        return lifted(holder)[key]
    return holder[key]


def has_traced(key: Any) -> bool:
    if isinstance(key, slice):
        return any(isinstance(each, Tracer) for each in (key.start, key.stop, key.step))
    return any(map(has_traced, key)) if type(key) is tuple else isinstance(key, Tracer)


def lifted(holder: Any) -> Any:
    """What has traced positions: an array from outside, or numbers in a list or a tuple."""
    if isinstance(holder, np.ndarray):
        return Tracer(as_value(to_value(holder)))
    if isinstance(holder, (list, tuple)):
        return as_iterable(holder).array
    return holder


def set_item(holder: Any, key: Any, value: Any) -> None:
    require_changeable(holder)
    holder[key] = value


def require_changeable(holder: Any) -> None:
    if in_region() and not isinstance(holder, Tracer) and not is_made_here(holder):
        raise CaptureError(
            f"assignment to an element of a {type(holder).__name__} in a loop or a branch on traced values: Python "
            f"would do it once, while the function is traced\n  at {user_source()}"
        )


def set_attribute(holder: Any, name: str, value: Any) -> None:
    if in_region():
        raise CaptureError(
            f"assignment to the attribute {name!r} in a loop or a branch on traced values: use a variable, and assign "
            f"it afterwards\n  at {user_source()}"
        )
    setattr(holder, name, value)


def augmented(name: str, variable: Any, value: Any) -> Any:
    """``variable += value`` and its like."""
    if not isinstance(variable, Tracer) and isinstance(variable, list):
        require_changeable(variable)
    return getattr(operator, name)(variable, value)


def augment_item(name: str, holder: Any, key: Any, value: Any) -> None:
    before = item(holder, key)
    after = getattr(operator, name)(before, value)
    is_view = isinstance(before, Tracer) and (before is holder or before._parent is not None)
    if after is not before or not is_view:  # a view has changed what it is a view of
        set_item(holder, key, after)


def augment_attribute(name: str, holder: Any, attribute: str, value: Any) -> None:
    set_attribute(holder, attribute, getattr(operator, name)(getattr(holder, attribute), value))


def append(holder: Any, element: Any) -> Any:
    """``holder.append(element)``, and the variable after it."""
    require_known(holder)
    if in_region() and not isinstance(holder, Tracer):
        refuse_change(holder.append)
    holder.append(element)
    return holder


def contains(holder: Any, element: Any) -> Any:
    if isinstance(holder, Tracer) or (isinstance(element, Tracer) and isinstance(holder, (np.ndarray, list, tuple))):
        array = holder if isinstance(holder, Tracer) else lifted(holder)
        return as_bool(apply(registry["any"], array == element))
    return element in holder


def unpack(value: Any, shape: Any) -> Any:
    """The elements that a pattern takes."""
    if shape is None:
        return list(value) if type(value) in (list, tuple) else value
    if isinstance(value, Tracer):
        text = f"{len(shape)} values are unpacked from {value.value.type}\n  at {user_source()}"
        if not value.ndim:
            raise TraceError(text)
        shapes.require_same(value.value.shape[0], len(shape), text, ValueError)
        value = [value[number] for number in range(len(shape))]
    parts = list(value)
    if len(parts) != len(shape):
        raise ValueError(f"{len(shape)} values expected, and there are {len(parts)}\n  at {user_source()}")
    return [each if part is None else unpack(each, part) for each, part in zip(parts, shape, strict=True)]


def list_of(iterable: Any, element: Function, test: Function | None) -> Any:
    """A list comprehension."""
    found = traced_iterable(iterable)
    if found is None:
        return made([element(each) for each in iterable if test is None or test(each)])
    if test is not None:
        raise CaptureError(f"the length of this list depends on traced values\n  at {user_source()}")
    return stacked(found, element)


def stacked(iterable: Any, element: Function) -> Any:
    """The elements of a list over traced things, as an array that a loop fills."""
    found, depth = in_region_of(lambda number: element(iterable.at(number)))
    shape = (iterable.count(), *found.shape)
    array = Tracer(placeholder(ArrayType(found.dtype, shape)))

    def body(number: Tracer, variables: State) -> State:
        array[number] = as_array(element(iterable.at(number)))
        return variables

    captured((), (), Step(body), (*site(), "list"), iterable.count())
    return Stacked(array, depth + 1)


def in_region_of(element: Function) -> tuple[ArrayType, int]:
    """The type of what a function gives for the number of a step, and how many dimensions of it are lists."""

    def run(_: Any) -> tuple[ArrayType, int]:
        found = element(Tracer(Input(weak_constant(0).type, "step")))
        array = as_array(found)
        if not is_number(array):
            raise CaptureError(f"a list over traced values holds numbers or arrays of one shape\n  at {user_source()}")
        return value_of(array, "an element").type, getattr(found, "depth", 0)

    result: tuple[ArrayType, int] = traced_region(run, "the elements of a list").result
    return result
