"""Operators that converted functions call: truth, branches, loops, elements and assignments, of traced values or
Python's."""

from __future__ import annotations

import collections
import collections.abc
import copy
import functools
import operator
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numbagraph.capture.builtins.comparison import equal, not_equal, ordered
from numbagraph.capture.builtins.comprehensions import generated
from numbagraph.capture.builtins.dicts import CLASSES, dict_, made_by, method_of, set_
from numbagraph.capture.builtins.dicts import dict_of as dict_of_pairs
from numbagraph.capture.builtins.dicts import set_of as set_of_elements
from numbagraph.capture.builtins.elements import (
    append,
    attribute_of,
    augment_attribute,
    augment_item,
    augmented,
    contains,
    delete_item,
    extend,
    holder_at,
    is_repetition,
    item,
    place_of,
    set_attribute,
    set_item,
    times,
    unpack,
    unpack_star,
)
from numbagraph.capture.builtins.iteration import consumer, with_generator
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.printing import writing
from numbagraph.capture.builtins.replacements import replacement
from numbagraph.capture.builtins.slices import slice_
from numbagraph.capture.builtins.sorted_lists import is_lazy, list_of, sort
from numbagraph.capture.builtins.special_methods import attribute, of_builtin, operated, special
from numbagraph.capture.builtins.standard_library import iterated, of_library
from numbagraph.capture.convert import traceable
from numbagraph.capture.polyfills.itertools import queued
from numbagraph.capture.statements import control_flow
from numbagraph.capture.statements.control_flow import and_, asked, if_, if_expression, not_, or_, truth, while_
from numbagraph.capture.syntax.generator_functions import generator, has_ended
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import resolved
from numbagraph.capture.values.cell import Cell
from numbagraph.capture.values.containers import in_region, made, made_if_list, made_whole, refuse_change, refuse_once
from numbagraph.capture.values.iterables import require_known, starred
from numbagraph.capture.values.list_aliases import may_be_one
from numbagraph.capture.values.list_buffer import Buffered
from numbagraph.capture.values.list_of_lists import Row
from numbagraph.capture.values.optional import (
    UNDEFINED,
    Possibly,
    is_none,
    present,
    required,
    required_in,
    settled_in,
)
from numbagraph.capture.values.raised_errors import Elsewhere, Raised, is_caught
from numbagraph.capture.values.stacked_list import Stacked, numbers_of
from numbagraph.capture.values.strings import (
    chosen_text,
    formatting,
    joining,
    percent,
    shown_as,
    text,
    with_text,
)
from numbagraph.ir.later import Later
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.operators import is_sparse, lifted
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, user_source

if TYPE_CHECKING:
    from numbagraph.capture.statements import try_except as trying
else:  # few functions have handlers
    trying = Later("numbagraph.capture.statements.try_except")

__all__ = [
    "UNDEFINED",
    "and_",
    "append",
    "asked",
    "assert_",
    "assigned",
    "attribute",
    "attribute_of",
    "augment_attribute",
    "augment_item",
    "augmented",
    "binary",
    "call",
    "call_with_generator",
    "cell",
    "contains",
    "converted",
    "defined",
    "delete_item",
    "dict_",
    "dict_of",
    "equal",
    "for_",
    "generated",
    "generator",
    "has_ended",
    "holder_at",
    "if_",
    "if_expression",
    "is_",
    "is_sequence",
    "item",
    "list_of",
    "made",
    "not_",
    "not_equal",
    "or_",
    "ordered",
    "percent",
    "pick",
    "place_of",
    "raise_",
    "returned",
    "set_",
    "set_attribute",
    "set_item",
    "set_of",
    "slice_",
    "starred",
    "text",
    "try_",
    "unary",
    "unpack",
    "unpack_star",
    "while_",
]

State = Sequence[Any]
Function = Callable[..., Any]


# ---- variables ----


def pick(variables: dict[str, Any], *names: str) -> list[Any]:
    return [variables.get(name, UNDEFINED) for name in names]


def defined(variable: Any, name: str) -> Any:
    """Return a variable that is read; where some path assigned nothing to it, the program raises UnboundLocalError."""
    if not isinstance(variable, Possibly) or variable.absent is not UNDEFINED:
        return variable
    message = f"cannot access local variable {name!r} where it is not associated with a value"
    return present(variable, UnboundLocalError, message)


def assigned(variable: Any) -> Any:
    """Return a variable that has been assigned to on each path that leads here."""
    return variable.value if isinstance(variable, Possibly) and variable.absent is UNDEFINED else variable


def returned(value: Any) -> Any:
    """Return the result of a function, which one of its paths has assigned."""
    value = assigned(value)
    return None if value is UNDEFINED else settled_in(value)


# ---- errors ----


def raise_(error: Any, *arguments: Any) -> None:
    """``raise error(*arguments)``, or ``raise error``."""
    if isinstance(error, Elsewhere):
        error.refuse()
    chosen = chosen_text(arguments)
    if chosen is not None:
        *first, last = chosen.options
        for each in first:
            own = with_text(arguments, chosen, each)
            if_(chosen == each, (), lambda own=own: raise_(error, *own), tuple, ())
        return raise_(error, *with_text(arguments, chosen, last))
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
    test = asked(test)
    if not isinstance(test, Tracer):
        assert test, message and str(message())
        return
    Raised(AssertionError, (message(),) if message else ()).require(truth(test))


def is_(left: Any, right: Any) -> Any:
    """``left is right``."""
    if left is None or right is None:
        return is_none(right if left is None else left)
    if isinstance(left, Possibly) or isinstance(right, Possibly):
        raise CaptureError(f"`is` between values that may be None: ask `is None` of each\n  at {user_source()}")
    if may_be_one(left, right):
        raise CaptureError(
            f"`is` cannot tell whether two variables are one {type(left).__name__}: a loop or a branch on traced "
            f"values has bound one of them. Compare what they hold\n  at {user_source()}"
        )
    return left is right


def is_sequence(value: Any, length: int) -> bool:
    """Whether a pattern of elements matches a value: NumPy's arrays are no sequences."""
    return (
        isinstance(value, collections.abc.Sequence)
        and not isinstance(value, (str, bytes, bytearray))
        and (len(value) == length)
    )


def binary(name: str, left: Any, right: Any) -> Any:
    """Apply an operator, in place of Python where a sparse array from outside would not leave it to a traced array on
    its right, or where a list is repeated."""
    left, right = resolved(left), resolved(right)
    if name == "mul" and is_repetition(left, right):
        return times(left, right)
    is_outside = is_sparse(left) and isinstance(right, (Tracer, OnlyTraced))
    return made_if_list(operated(name, lifted(left) if is_outside else left, right))


def unary(name: str, operand: Any) -> Any:
    """``-operand`` and its like."""
    method = special(operand, f"__{name}__")
    return getattr(operator, name)(operand) if method is None else method()


# ---- loops ----


def for_(iterable: Any, names: State, body: Function, may_end: bool, state: State, kept: State) -> State:
    if isinstance(iterable, Row):
        iterable = iterable.steps()
    elif (method := special(iterable, "__iter__")) is not None:
        iterable = method()
    return control_flow.for_(iterated(call, iterable), names, body, may_end, state, kept)


def try_(*parts: Any) -> State:
    return trying.try_(*parts)


# ---- calls ----


def call(function: Any) -> Any:
    """Return the replacement of a function that converted code calls. Converted functions may be called outside of a
    trace, too."""
    if current_trace() is None:
        return function
    function = required(function)
    if isinstance(function, functools.partial):
        return functools.partial(call(function.func), *function.args, **function.keywords)
    if (written := writing(function)) is not None:
        return written
    if (of_objects := of_builtin(function, call_builtin)) is not None:
        return of_objects
    return call_builtin(function)


def call_builtin(function: Any) -> Any:
    """Return the replacement of a function whose arguments have no special methods of the user's."""
    found = of_library(function, call)
    if found is not None:
        return found
    found = consumer(function, call) or replacement(function)
    if found is not None and any(function is each for each in (list, sorted)):
        make = of_required(found)
        return lambda *args, **kwargs: made_if_list(make(*args, **kwargs))
    if found is not None:
        return found if any(function is each for each in (isinstance, type, hasattr)) else of_required(found)
    if function is collections.deque:
        return queue
    holder = getattr(function, "__self__", None)
    if isinstance(holder, Tracer) and function.__name__ == "tolist":
        return lambda: numbers_of(holder)
    buffered = resolved(holder)
    if isinstance(buffered, (Stacked, list)) and function.__name__ == "sort" and is_traced(buffered):
        if isinstance(buffered, list):
            refuse_change(function)
        return sort(call, buffered)
    if type(holder) in (list, dict, collections.deque) and function.__name__ == "copy":
        return lambda: made(function())
    if function is copy.copy:
        return lambda thing: made(copy.copy(thing))
    if function is copy.deepcopy:
        return lambda thing: made_whole(copy.deepcopy(thing))
    if isinstance(holder, str) and function.__name__ in ("format", "join"):
        return (formatting if function.__name__ == "format" else joining)(holder)
    if function is str or function is repr:
        return shown_as(function)
    if isinstance(buffered, Stacked) and function.__name__ == "count":
        return buffered.occurrences
    if isinstance(buffered, Buffered):
        name = function.__name__
        return (lambda each: extend(buffered, each)) if name == "extend" else getattr(buffered, name)
    if any(function is each for each in CLASSES):
        return made_by(call, function)
    if (asking := method_of(holder, function)) is not None:
        return asking
    if function is setattr:
        return set_attribute
    if in_region() and function is delattr:
        refuse_once("delattr()")
    if isinstance(holder, (list, dict)) and function.__name__ == "__setitem__":
        return functools.partial(set_item, holder)
    refuse_change(function)
    require_known(getattr(function, "__self__", None))
    return traceable(function, sys.modules[__name__])


def set_of(generator: Any) -> Any:
    """``{element for ...}``."""
    return set_of_elements(call, generator)


def dict_of(generator: Any) -> Any:
    """``{key: value for ...}``."""
    return dict_of_pairs(call, generator)


def queue(iterable: Any = (), maxlen: int | None = None) -> Any:
    """``collections.deque``."""
    if isinstance(maxlen, Tracer):
        raise LengthsNeeded(
            f"deque() takes no computed maxlen: give it a number that is an argument, or write "
            f"`if len(queue) > n: queue.popleft()` behind each append()\n  at {user_source()}"
        )
    if is_lazy(iterable) or is_traced(iterable):
        return call(queued)(iterable, maxlen)
    return made(collections.deque(iterable, maxlen))


def call_with_generator(function: Any) -> Any:
    """Return the replacement of a function for a call some of whose arguments are generators."""
    return with_generator(function, call) if current_trace() is not None else function


def of_required(function: Function) -> Function:
    """Return the function for arguments that are required not to be None."""
    return lambda *args, **kwargs: function(*required_in(args), **required_in(kwargs))


def cell(name: str) -> Cell:
    """Return a variable that nested functions share."""
    return made(Cell(name))


def converted(function: Any) -> Any:
    """Return a function that is defined in converted code: it has been converted with this."""
    return function
