"""Functions of `itertools`, `heapq`, `bisect` and `math` that are captured as if they were written in Python
(`written`)."""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from numbagraph.capture.builtins import replacements
from numbagraph.capture.builtins.comparison import equal
from numbagraph.capture.builtins.comprehensions import generated
from numbagraph.capture.builtins.iteration import nested
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.sorted_lists import is_lazy, list_of
from numbagraph.capture.polyfills import heapq as heaps
from numbagraph.capture.polyfills import itertools as iterators
from numbagraph.capture.polyfills import math as numbers
from numbagraph.capture.statements.control_flow import and_, if_expression, not_
from numbagraph.capture.syntax.generator_functions import Yielding
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import resolved
from numbagraph.capture.values.containers import in_region
from numbagraph.capture.values.iterables import (
    Counting,
    Cycling,
    Generated,
    Range,
    Repeating,
    as_iterable,
    whole_number,
)
from numbagraph.capture.values.python_iterators import noted
from numbagraph.ir.op import registry
from numbagraph.tracing.tracer import Tracer, user_source

Function = Callable[..., Any]
Call = Callable[[Any], Any]


def known(things: Sequence[Any]) -> bool:
    """Whether none of these things is traced, and no function among them reads a traced value."""
    return not any(is_traced(each) or is_lazy(each) or reads_traced(each) for each in things)


def reads_traced(thing: Any) -> bool:
    cells = thing.__closure__ or () if isinstance(thing, FunctionType) else ()
    return any(is_traced(each.cell_contents) for each in cells)


# ---- iterators that are loops over others ----


def islice(call: Call, iterable: Any, *bounds: Any) -> Any:
    if len(bounds) == 1:
        bounds = (None, *bounds)
    start, stop, step = (*bounds, None)[:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    if is_one_by_one(iterable):
        return call(iterators.part)(iterable, start, stop, step)
    held = as_iterable(iterable)
    end = Tracer(held.count())
    places = Range(start, end if stop is None else Tracer(registry["minimum"](end.value, whole_number(stop))), step)
    return Generated(places, held.at, None, False)


def zip_longest(_: Call, *iterables: Any, fillvalue: Any = None) -> Any:
    held = [as_iterable(with_places(each)) for each in iterables]
    counts = [Tracer(each.count()) for each in held]

    def at(number: Any, each: Any, own: Any) -> Any:
        return if_expression(number < own, lambda: each.at(number), lambda: fillvalue)

    longest = Tracer(functools.reduce(registry["maximum"], [each.value for each in counts]))
    rows = lambda number: tuple(at(number, *each) for each in zip(held, counts, strict=True))  # noqa: E731
    return Generated(Range(longest), rows, None, False)


def starmap(call: Call, function: Any, iterable: Any) -> Any:
    own = call(function)
    return generated(iterable, lambda parts: own(*parts), None, False)


def filterfalse(call: Call, function: Any, iterable: Any) -> Any:
    own = (lambda each: each) if function is None else call(function)
    return generated(iterable, lambda each: each, lambda each: not_(own(each)), False)


def compress(call: Call, data: Any, selectors: Any) -> Any:
    pairs = zip_(call, data, selectors)
    return generated(
        generated(pairs, lambda pair: pair, lambda pair: pair[1], False), lambda pair: pair[0], None, False
    )


def permutations(_: Call, iterable: Any, r: Any = None) -> Any:
    if not isinstance(r, int):
        raise CaptureError(f"permutations() of as many elements as a traced length says\n  at {user_source()}")
    held = as_iterable(list_of(iterable) if is_one_by_one(iterable) else iterable)
    places = nested([lambda _: Range(Tracer(held.count()))] * r, lambda chosen: chosen)

    def differ(chosen: Sequence[Any]) -> Any:
        return and_(True, *[lambda pair=pair: not_(equal(*pair)) for pair in itertools.combinations(chosen, 2)])

    return generated(places, lambda chosen: tuple(map(held.at, chosen)), differ, False)


def is_one_by_one(iterable: Any) -> bool:
    return isinstance(iterable, (Generated, Yielding))


def power(call: Call, base: Any, exp: Any, mod: Any = None) -> Any:
    return replacements.power(base, exp) if mod is None else call(numbers.modular_power)(base, exp, mod)


# ---- iterators of Python's that a loop over them does not use up ----


def count(_: Call, start: Any = 0, step: Any = 1) -> Any:
    return Counting(start, step)


def cycle(_: Call, iterable: Any) -> Any:
    return Cycling(with_places(iterable))


def repeat(_: Call, element: Any, times: Any = None) -> Any:
    if times is None:
        return Repeating(element)
    if not is_traced(times):
        return noted(itertools.repeat(element, times))
    return Generated(replacements.traced_range(times), lambda _: element, None, False)


def iterated(call: Call, iterable: Any) -> Any:
    """Return the iterable of a loop, with an endless count replaced by a generator."""
    return call(iterators.count)(iterable.start, iterable.step) if isinstance(iterable, Counting) else iterable


def zip_(_: Call, *iterables: Any, **options: Any) -> Any:
    return replacements.zipped(*[with_places(each) for each in iterables], **options)


def with_places(iterable: Any) -> Any:
    """Return an iterable whose elements have known places."""
    return resolved(list_of(iterable)) if is_filtered(iterable) else iterable


def is_filtered(iterable: Any) -> bool:
    """Whether the places of the elements are known only as they come: some are left out, or the generator is nested."""
    if isinstance(iterable, Generated):
        return iterable.test is not None or iterable.is_nested
    return isinstance(iterable, Yielding)


def enumerate_(call: Call, iterable: Any, start: Any = 0) -> Any:
    if is_filtered(iterable):
        return call(iterators.enumerate_)(iterable, start)
    return replacements.enumerated(iterable, start)


# ---- which are replaced ----


def written(function: Function) -> Function:
    return lambda call, *args, **kwargs: call(function)(*args, **kwargs)


_LAZY: dict[Any, Function] = {
    itertools.chain: written(iterators.chain),
    itertools.chain.from_iterable: written(iterators.chained),
    itertools.accumulate: written(iterators.accumulate),
    itertools.takewhile: written(iterators.takewhile),
    itertools.dropwhile: written(iterators.dropwhile),
    itertools.islice: islice,
    itertools.starmap: starmap,
    itertools.zip_longest: zip_longest,
    itertools.filterfalse: filterfalse,
    itertools.compress: compress,
    itertools.permutations: permutations,
    zip: zip_,
    enumerate: enumerate_,
    pow: power,
    math.frexp: written(numbers.frexp),
    math.ldexp: written(numbers.ldexp),
    math.modf: written(numbers.modf),
    math.prod: written(numbers.prod),
    math.factorial: written(numbers.factorial),
    math.comb: written(numbers.comb),
    math.perm: written(numbers.perm),
    math.dist: written(numbers.dist),
    math.fsum: written(numbers.fsum),
    bisect.bisect_left: written(heaps.bisect_left),
    bisect.bisect_right: written(heaps.bisect_right),
    heapq.nsmallest: written(heaps.smallest),
    heapq.nlargest: written(heaps.largest),
}
"""Functions that are Python's where nothing is traced."""

_ENDLESS: dict[Any, Function] = {itertools.count: count, itertools.cycle: cycle, itertools.repeat: repeat}

_CHANGING: dict[Any, Function] = {
    heapq.heappush: heaps.heappush,
    heapq.heappop: heaps.heappop,
    heapq.heapreplace: heaps.heapreplace,
    heapq.heappushpop: heaps.heappushpop,
    heapq.heapify: heaps.heapify,
    bisect.insort_left: heaps.insort_left,
    bisect.insort_right: heaps.insort_right,
}
"""Functions that change a list: in a loop or a branch, Python's would change it once."""


def of_library(function: Any, call: Call) -> Function | None:
    """Return the replacement of a function of these libraries; None for others."""
    try:
        own, changing = _LAZY.get(function), _CHANGING.get(function)
        if (endless := _ENDLESS.get(function)) is not None:
            return functools.partial(endless, call)
    except TypeError:  # it cannot be hashed
        return None

    def changed(*args: Any) -> Any:
        return (call(changing) if in_region() or not known(args) else function)(*args)

    if changing is not None:
        return lambda held, *args: (call(changing) if in_region() or not known((held, *args)) else function)(
            held, *args
        )
    if own is None:
        return None

    def chosen(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(resolved, args))
        if known((*args, *kwargs.values())):
            return noted(function(*args, **kwargs))
        return own(call, *args, **kwargs)

    return chosen
