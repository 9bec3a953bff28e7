"""Functions of Python and `itertools` that take or give elements one after the other: ``sorted``, ``map``, ``filter``,
``functools.reduce``, ``itertools.product``, ``np.ndindex``..."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from numbagraph.capture.builtins import comprehensions, sorted_lists
from numbagraph.capture.builtins.nditer import length_of, visiting
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.replacements import replacement, traced_range, zipped
from numbagraph.capture.builtins.sorted_lists import as_generator, is_lazy, list_of
from numbagraph.capture.statements.control_flow import for_
from numbagraph.capture.syntax.generator_functions import Once, Yielding
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.containers import in_region, refuse_once
from numbagraph.capture.values.iterables import Generated, Range, Rows, Zipped, as_iterable
from numbagraph.capture.values.python_iterators import noted
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.ir import shapes
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.trace import active
from numbagraph.tracing.tracer import Tracer, user_source
from numbagraph.tracing.unrolled_loops import MOST_STEPS

Function = Callable[..., Any]
Call = Callable[[Any], Any]


def iterator(_: Call) -> Function:
    """Return the replacement of ``iter``."""
    return lambda thing, *sentinel: thing if isinstance(thing, Once) else iter(thing, *sentinel)


def mapped(call: Call) -> Function:
    def function(made: Any, *iterables: Any) -> Any:
        own = call(made)
        if not any(map(is_lazy, iterables)):
            return map(own, *iterables)
        if len(iterables) == 1 and isinstance(iterables[0], Yielding):
            return iterables[0].mapped(own)
        if len(iterables) == 1 and isinstance(iterables[0], Generated):
            return Generated(list_of(iterables[0]), own, None, False)
        pairs = zipped(*[list_of(each) if isinstance(each, Generated) else each for each in iterables])
        return Generated(pairs, lambda parts: own(*parts), None, False)

    return function


def filtered(call: Call) -> Function:
    def function(test: Any, iterable: Any) -> Any:
        own = (lambda element: element) if test is None else call(test)
        if isinstance(iterable, (Generated, Yielding)):
            iterable = list_of(iterable)
        return Generated(iterable, lambda element: element, own, False)

    return function


MISSING = object()


def reduced(call: Call) -> Function:
    def function(made: Any, iterable: Any, first: Any = MISSING) -> Any:
        own = call(made)
        if not is_lazy(iterable):
            given = () if first is MISSING else (first,)
            return functools.reduce(own, iterable, *given)
        if first is MISSING:
            held = list_of(iterable)
            if isinstance(held, list):
                return functools.reduce(own, held)
            message = "reduce() of empty iterable with no initial value"
            shapes.require(shapes.compare("greater", held.count(), 0), message, TypeError)
            first, iterable = held[0], Rows(held.array[1:])
        return for_(iterable, ("a value",), lambda element, found: (False, [own(found, element)]), False, [first])[0]

    return function


# ---- several loops in each other ----


def nested(levels: Sequence[Callable[[tuple[Any, ...]], Any]], made: Function, chosen: tuple[Any, ...] = ()) -> Any:
    """Make a generator of ``made(choice)`` for each choice of one element per level, where levels depend on the
    elements that earlier levels chose."""
    first, *others = levels
    if not others:
        return Generated(first(chosen), lambda element: made((*chosen, element)), None, False)
    return Generated(first(chosen), lambda element: nested(others, made, (*chosen, element)), None, True)


def are_long(iterables: Iterable[Any]) -> bool:
    """Whether loops in each other take many steps over ranges, and are to be regions."""
    found = list(iterables)
    return active.rolls and all(isinstance(each, range) for each in found) and math.prod(map(len, found)) > MOST_STEPS


def product(_: Call) -> Function:
    def function(*iterables: Any, repeat: int = 1) -> Any:
        if not any(map(is_lazy, iterables)) and not are_long(iterables):
            return itertools.product(*iterables, repeat=repeat)
        held = [as_iterable(list_of(each) if isinstance(each, Generated) else each) for each in iterables] * repeat
        return nested([lambda _, each=each: each for each in held], lambda chosen: chosen)  # type: ignore[misc]

    return function


def combined(python: Function, after: int) -> Callable[[Call], Function]:
    """``itertools.combinations``, also with replacement: places that grow by at least ``after``."""

    def replacement_of(_: Call) -> Function:
        def function(iterable: Any, r: int) -> Any:
            if not is_lazy(iterable) and not are_long([iterable]):
                return python(iterable, r)
            held = as_iterable(list_of(iterable) if isinstance(iterable, Generated) else iterable)
            count = Tracer(held.count())
            first = lambda _: Range(count)  # noqa: E731
            later = lambda chosen: Range(chosen[-1] + after, count)  # noqa: E731
            return nested([first, *[later] * (r - 1)], lambda chosen: tuple(map(held.at, chosen)))

        return function

    return replacement_of


def pairwise(_: Call) -> Function:
    def function(iterable: Any) -> Any:
        if not is_lazy(iterable):
            return itertools.pairwise(iterable)
        held = list_of(iterable)
        return (
            Zipped([as_iterable(held[:-1]), as_iterable(held[1:])])
            if not isinstance(held, list)
            else itertools.pairwise(held)
        )

    return function


def indices(_: Call) -> Function:
    def function(*shape: Any) -> Any:
        extents = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if not any(isinstance(each, Tracer) for each in extents) and not are_long([range(each) for each in extents]):
            return np.ndindex(*extents)
        return nested([lambda _, each=each: traced_range(each) for each in extents], lambda chosen: chosen)  # type: ignore[misc]

    return function


def enumerated(_: Call) -> Function:
    def function(array: Any) -> Any:
        if not isinstance(array, Tracer):
            return np.ndenumerate(array)
        levels = [lambda _, axis=axis: traced_range(length_of(array, axis)) for axis in range(array.ndim)]
        return nested(levels, lambda chosen: (chosen, array[chosen]))  # type: ignore[arg-type]

    return function


def following(_: Call) -> Function:
    """Return the replacement of ``next``: it gives the first element of a generator, and uses the generator up."""

    def function(iterator: Any, *default: Any) -> Any:
        if isinstance(iterator, (Generated, Yielding)):
            return comprehensions.first(iterator, *default)
        if isinstance(iterator, OnlyTraced):
            raise CaptureError(
                f"next() of traced elements: a loop that ends with `break` finds the first one that holds, and "
                f"np.argmax(condition) its place\n  at {user_source()}"
            )
        if isinstance(iterator, list):  # a generator whose elements are known
            return next(iter(iterator), *default)
        if in_region():
            refuse_once("next()")
        return next(iterator, *default)

    return function


def consuming(python: Function) -> Callable[[Call], Function]:
    """Return the replacement of a function such as ``sum``, which may be given elements one after the other."""

    def replacement_of(call: Call) -> Function:
        known: Any = replacement(python) or python
        taking = comprehensions.TAKING[python]

        def function(*args: Any, **kwargs: Any) -> Any:
            first = args[0] if args else None
            named = {name: call(each) if name == "key" and each is not None else each for name, each in kwargs.items()}
            is_one_by_one = isinstance(first, (Generated, Yielding))
            if not is_one_by_one and (not named.keys() & {"key", "default"} or len(args) > 1):
                return known(*args, **named)
            whole = as_generator(first)
            if is_one_by_one and isinstance(whole, Generated) and comprehensions.is_known(whole):
                whole = Generated(comprehensions.list_of(whole), lambda element: element, None, False)
                if not is_traced(whole.iterable):
                    return python(whole.iterable, *args[1:], **named)
            return taking(whole, *args[1:], **named) if is_lazy(first) or is_traced(first) else python(*args, **named)

        return function

    return replacement_of


def listed(python: Function) -> Callable[[Call], Function]:
    """``list`` and ``tuple``."""

    def replacement_of(_: Call) -> Function:
        def function(*args: Any) -> Any:
            held = list_of(args[0], rolls=python is list) if args else []
            if isinstance(held, list):
                return python(held)
            return held.as_tuple() if python is tuple and isinstance(held, Stacked) else held

        return function

    return replacement_of


def with_generator(function: Function, call: Callable[[Function], Function]) -> Function:
    """Return the replacement of a function for calls some of whose arguments are generators."""

    def consume(first: Any = None, *args: Any, **kwargs: Any) -> Any:
        taken = next((each for python, each in comprehensions.TAKING.items() if python is function), None)
        ends = comprehensions.ends_early(function) or not (
            isinstance(first, Generated) and comprehensions.is_known(first)
        )
        if taken is not None and (isinstance(first, Yielding) or (isinstance(first, Generated) and ends)):
            return taken(first, *args, **kwargs)
        listed = functools.partial(list_of, rolls=function is not tuple)  # a tuple is no array
        args = tuple(listed(each) if isinstance(each, Generated) else each for each in (first, *args))
        named = {name: listed(each) if isinstance(each, Generated) else each for name, each in kwargs.items()}
        return call(function)(*args, **named)

    return consume


_REPLACED: dict[Any, Callable[[Call], Function]] = {
    sorted: lambda call: functools.partial(sorted_lists.sorted_, call),
    iter: iterator,
    map: mapped,
    filter: filtered,
    functools.reduce: reduced,
    itertools.product: product,
    itertools.combinations: combined(itertools.combinations, 1),
    itertools.combinations_with_replacement: combined(itertools.combinations_with_replacement, 0),
    itertools.pairwise: pairwise,
    np.ndindex: indices,
    np.ndenumerate: enumerated,
    np.nditer: visiting(nested),
    next: following,
    list: listed(list),
    tuple: listed(tuple),
    **{each: consuming(each) for each in (sum, any, all, min, max)},
}


def consumer(function: Any, call: Call) -> Function | None:
    """Return the replacement of a function that takes or gives elements one after the other; None for others."""
    try:
        found = _REPLACED.get(function)
    except TypeError:  # it cannot be hashed
        return None
    if found is None:
        return None
    own = found(call)
    return lambda *args, **kwargs: noted(own(*args, **kwargs))
