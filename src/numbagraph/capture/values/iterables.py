"""The iterables of loops on traced values: a number of elements, and the element of each step."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np

from numbagraph.blockwise.lengths import ceil_divide
from numbagraph.blockwise.promotion import as_value, weak_constant
from numbagraph.capture.syntax.generator_functions import Lazy, Once
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import Outgrown
from numbagraph.capture.values.list_aliases import shared_names
from numbagraph.capture.values.loop_state import is_number
from numbagraph.capture.values.picked_arrays import Picked
from numbagraph.capture.values.python_iterators import require_here
from numbagraph.capture.values.written_arrays import share
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Constant, Value
from numbagraph.ops.ranges import LONGEST, distant_length
from numbagraph.tracing.python_arithmetic import OVERFLOW, bounds, fits
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.stale_arrays import OUTSIDE
from numbagraph.tracing.tracer import Tracer, to_value, user_source

Function = Callable[..., Any]


def whole_number(number: Any) -> Value:
    """Return an argument of `range` as an integer of Python's."""
    value = as_value(to_value(number))
    if value.ndim or value.dtype.kind not in "iub":
        raise CaptureError(f"range takes integers, not {value.type}\n  at {user_source()}")
    if isinstance(value, Constant):
        return weak_constant(int(value.data))
    if value.type.weak and value.dtype == INT64:
        return value
    return registry["cast"].bind(value, dtype=INT64, weak=True)


def known(value: Value) -> int | None:
    extent = shapes.resolve(value)
    return extent if isinstance(extent, int) else None


class Counted(Lazy):
    """An iterable whose elements have numbers, and are as many as `count` says."""

    count: Function
    at: Function

    def __iter__(self) -> Any:
        """Return the elements for a function that is not converted. Their number must be known."""
        text = (
            f"the elements of {self.kind} are taken one by one by a function of a library, or by Python itself, and "
            "their number follows from others: use a loop, a comprehension, or NumPy's functions of np.array(...)"
        )
        if counted(self, text) > MANY:
            return super().__iter__()
        return iter(starred(self))


class Range(Counted):
    """``range`` of traced numbers."""

    kind = "a range"

    def __init__(self, *bounds: Any) -> None:
        values = [whole_number(each) for each in bounds]
        zero, one = weak_constant(0), weak_constant(1)
        self.start, self.stop, self.step = (
            (zero, values[0], one) if len(values) == 1 else (*values, one) if len(values) == 2 else values
        )
        if known(self.step) == 0:
            raise ValueError(f"range() arg 3 must not be zero\n  at {user_source()}")
        if known(self.step) is None:
            nonzero = registry["not_equal"](self.step, 0)
            shapes.require(nonzero, f"range() arg 3 must not be zero\n  at {user_source()}", ValueError)
        self._outside = Tracer(self.start), Tracer(self.step)

    def count(self) -> Value:
        """The number of elements. For steps of 1 it is a difference, which must be an integer of 64 bits; for others it
        is computed without one, and is the largest integer where there are more elements."""
        step = known(self.step)
        if step in (1, -1):
            low, high = (self.start, self.stop) if step == 1 else (self.stop, self.start)
            if not fits("subtract", high, low):
                shapes.require(
                    registry["difference_fits"](high, low), f"{OVERFLOW}\n  at {user_source()}", OverflowError
                )
            return shapes.as_value(shapes.maximum(shapes.subtract(high, low), 0))
        if step is not None and all(bounds(each)[0] >= 0 for each in (self.start, self.stop)) and abs(step) <= LONGEST:
            low, high = (self.start, self.stop) if step > 0 else (self.stop, self.start)
            return shapes.as_value(shapes.maximum(ceil_divide(shapes.subtract(high, low), abs(step)), 0))
        return shapes.as_value(distant_length(self.start, self.stop, self.step)[0])

    def has(self, element: Any) -> Tracer:
        """Whether the range contains a number."""
        found = as_value(to_value(element))
        distance = registry["subtract"](found, self.start)
        step = registry["floor_divide"](distance, self.step)
        exact = registry["equal"](registry["multiply"](step, self.step), distance)
        inside = registry["logical_and"](registry["greater_equal"](step, 0), registry["less"](step, self.count()))
        return Tracer(registry["cast"].bind(registry["logical_and"](exact, inside), dtype=BOOL, weak=True))

    def at(self, number: Tracer) -> Any:
        for each in self._outside:
            each.require_scope()  # a step is given them
        scaled = number.value if known(self.step) == 1 else registry["multiply"].bind(number.value, self.step)
        return Tracer(scaled if known(self.start) == 0 else registry["add"].bind(self.start, scaled))


class Rows(Counted):
    """An array, along its first dimension."""

    kind = "an array"

    def __init__(self, array: Tracer) -> None:
        if not array.ndim:
            raise TypeError(f"iteration over a 0-d array\n  at {user_source()}")
        self.array = array

    def count(self) -> Value:
        return shapes.as_value(self.array.value.shape[0])

    def at(self, number: Tracer) -> Any:
        return self.array[number]

    def walked(self) -> Rows:
        """Return the iterable for a loop over the rows."""
        return self


class Elements(Rows):
    """A list or a tuple of numbers, or of arrays of one shape."""

    def __init__(self, elements: Sequence[Any]) -> None:
        self.values = values = [as_value(to_value(each)) for each in elements]
        super().__init__(np.stack([Tracer(each) for each in values]))  # type: ignore[arg-type]
        self.elements = elements
        self.are_arrays = all(isinstance(each, Tracer) and each._is_array and each.ndim for each in elements)
        self.are_pythons = all(each.type.weak for each in values)

    def at(self, number: Tracer) -> Any:
        found = self.array[number]
        if self.are_pythons:
            return Tracer(registry["cast"].bind(found.value, dtype=found.dtype, weak=True))
        if self.are_arrays:
            is_current = all(each.value is value for each, value in zip(self.elements, self.values, strict=True))
            return Picked.of(self.elements, number, found if is_current else None)
        for each in self.elements:
            share(found, each)
            if isinstance(each, np.ndarray):
                found._foreign = found._foreign or OUTSIDE
        return found

    def __getitem__(self, place: Any) -> Any:
        if self.are_arrays and isinstance(place, Tracer):
            number, count = whole_number(place), len(self.elements)
            inside = registry["logical_and"](registry["greater_equal"](number, -count), registry["less"](number, count))
            shapes.require(inside, f"list index out of range\n  at {user_source()}", IndexError)
            return Picked.of(self.elements, place, None)
        return self.at(place)


class Enumerated(Once):
    kind = "an enumerate()"

    def __init__(self, inner: Any, start: Any = 0) -> None:
        self.inner = inner
        self.start = start

    def count(self) -> Value:
        count, first = self.inner.count(), whole_number(self.start)
        begin = known(first)
        if begin is None or begin > LONGEST:  # no loop takes as many steps
            shapes.require(registry["sum_fits"](first, count), f"{OVERFLOW}\n  at {user_source()}", OverflowError)
        return count

    def at(self, number: Tracer) -> Any:
        first = whole_number(self.start)
        place = number if known(first) == 0 else Tracer(registry["add"].bind(first, number.value))
        return place, self.inner.at(number)


class Zipped(Once):
    kind = "a zip()"

    def __init__(self, inner: Sequence[Any], strict: Any = False) -> None:
        self.inner = inner
        if strict:
            self._require_one_length()

    def _require_one_length(self) -> None:
        """Raise unless all lengths are equal. Python raises after the last common element, which a loop with `break`
        may not reach."""
        first = self.inner[0].count()
        for number, each in enumerate(self.inner[1:], 2):
            others = "argument 1" if number == 2 else f"arguments 1-{number - 1}"
            text = f"zip() argument {number} is shorter or longer than {others}\n  at {user_source()}"
            is_same = registry["equal"](first, each.count())
            if isinstance(is_same, Constant):
                if not is_same.data:
                    raise ValueError(text)
            else:
                shapes.require(is_same, text, ValueError)

    def count(self) -> Value:
        first, *others = [each for each in self.inner if not isinstance(each, Endless)]
        found: Any = first.count()
        for each in others:
            found = shapes.minimum(found, each.count())
        return shapes.as_value(found)

    def at(self, number: Tracer) -> Any:
        return tuple(each.at(number) for each in self.inner)


class Mapped(Lazy):
    """The elements of an iterable as a generator without conditions maps them."""

    def __init__(self, inner: Any, element: Function) -> None:
        self.inner = inner
        self.count = inner.count
        self.at = lambda number: element(inner.at(number))


class Endless(Lazy):
    """Endless elements, for a loop that also takes elements of finite iterables."""

    kind = "an iterator without an end"

    def __init__(self, at: Function) -> None:
        self.at = at


class Counting(itertools.count):  # type: ignore[type-arg]
    """``itertools.count`` with its start and step, which may be traced."""

    def __new__(cls, start: Any, step: Any) -> Self:
        is_known = not any(isinstance(each, Tracer) for each in (start, step))
        made: Any = super().__new__(cls, *((start, step) if is_known else ()))
        made.start, made.step = start, step
        return made

    start: Any
    step: Any


class Repeating(itertools.repeat):  # type: ignore[type-arg]
    """``itertools.repeat`` without an end."""

    def __new__(cls, element: Any) -> Self:
        made: Any = super().__new__(cls, element)
        made.element = element
        return made

    element: Any


class Cycling(itertools.cycle):  # type: ignore[type-arg]
    """``itertools.cycle`` with the iterable that it repeats, which may be traced."""

    def __new__(cls, held: Any) -> Self:
        is_known = traced_iterable(held) is None
        if is_known:
            held = list(held)
        made: Any = super().__new__(cls, held if is_known else ())
        made.held = held
        return made

    held: Any


class Reversed(Once):
    kind = "a reversed()"

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def count(self) -> Value:
        return self.inner.count()

    def at(self, number: Tracer) -> Any:
        last = whole_number(Tracer(shapes.as_value(shapes.subtract(self.inner.count(), 1))))
        return self.inner.at(Tracer(registry["subtract"].bind(last, number.value)))


class Generated(Once):
    """A generator of ``element(each)`` for the elements of an iterable for which ``test`` holds."""

    kind = "a generator"

    def __init__(self, iterable: Any, element: Function, test: Function | None, is_nested: bool) -> None:
        is_lazy = isinstance(iterable, range) or traced_iterable(iterable) is not None
        if not is_lazy:
            require_here(iterable)
        self.iterable = iterable if is_lazy else list(iterable)
        self.element = element
        self.test = test
        self.is_nested = is_nested
        """Whether the elements are generators, whose elements come one after the other."""


def require_known(thing: Any) -> None:
    """Raise for a container that a loop or a branch may have changed by the name of another variable."""
    if type(thing) in (list, dict, deque) and thing:
        first = next(iter(thing))
        if type(first) is Outgrown and first.kept is None:
            raise CaptureError(
                f"this {type(thing).__name__} may be out of date: a loop or a branch on traced values has appended to "
                f"it by another name, or has bound that name anew{shared_names(thing)}. Use that name, or copy first: "
                "y = [*x]"
                f"\n  at {user_source()}"
            )


MANY = 10_000
"""The number of elements up to which functions that are not converted take them one by one."""
ENDLESS = (Counting, Cycling, Repeating)
KINDS = (Range, Rows, Enumerated, Zipped, Reversed)


def traced_iterable(thing: Any) -> Any:
    """Return the iterable of a loop if its length or its elements are traced; otherwise None."""
    require_known(thing)
    if isinstance(thing, KINDS):
        return thing.walked() if isinstance(thing, Rows) else thing
    return Rows(thing) if isinstance(thing, Tracer) else None


def starred(thing: Any) -> Any:
    """``*thing`` in a call, a list or a tuple: its elements must be counted while the function is traced."""
    found = traced_iterable(thing)
    if found is None or (isinstance(thing, Tracer) and not thing.ndim):
        return thing
    count = counted(
        found, "*x needs the number of elements of x while the function is traced, and that follows from others: use x"
    )
    return thing if isinstance(thing, Tracer) else [found.at(Tracer(as_value(number))) for number in range(count)]


def counted(iterable: Any, text: str) -> int:
    """The number of elements of an iterable, which must be known while the function is traced."""
    count = shapes.resolve(iterable.count())
    if not isinstance(count, int):
        raise LengthsNeeded(f"{text}\n  at {user_source()}", count)
    return count


def is_apart(thing: Any) -> bool:
    """Whether the elements of an iterable are known one by one, and lie in no array: letters, keys, functions, tuples,
    arrays of several shapes."""
    if traced_iterable(thing) is not None or isinstance(thing, (range, np.ndarray, Generated, Lazy, *ENDLESS)):
        return False
    if not isinstance(thing, (list, tuple)) or not thing or not all(is_number(each) for each in thing):
        return isinstance(thing, Iterable)
    first, *others = [np.shape(each) for each in thing]
    return not all(len(first) == len(each) and all(map(shapes.same, first, each)) for each in others)


def one_by_one(thing: Any) -> Any:
    """Return an iterable whose elements Python takes, for a loop that also takes known things (`is_apart`)."""
    if isinstance(thing, ENDLESS) or (traced_iterable(thing) is None and not isinstance(thing, Generated)):
        return thing
    found = as_iterable(thing)
    text = (
        "a loop takes elements of an array together with things that lie in none (letters, keys, functions), and the "
        "number of these elements is known only at run time: take the things by their number, or slice the array to "
        "a length that is known"
    )
    return (found.at(Tracer(as_value(number))) for number in range(counted(found, text)))


def as_iterable(thing: Any) -> Any:
    """Return the iterable of a loop in a form with traced positions, also for known numbers or an array from
    outside."""
    found = traced_iterable(thing)
    if found is not None:
        return found
    if isinstance(thing, range):
        return Range(thing.start, thing.stop, thing.step)
    if isinstance(thing, Generated) and thing.test is None and not thing.is_nested:
        thing.take()
        return Mapped(as_iterable(thing.iterable), thing.element)
    if isinstance(thing, Counting):
        return Endless(lambda number: thing.start + number * thing.step)
    if isinstance(thing, Cycling):
        held = as_iterable(thing.held)
        return Endless(lambda number: held.at(number % Tracer(held.count())))
    if isinstance(thing, Repeating):
        return Endless(lambda _: thing.element)
    if isinstance(thing, np.ndarray) and thing.ndim:
        return Rows(Tracer(as_value(to_value(thing))))
    if isinstance(thing, (list, tuple)) and thing and all(is_number(each) for each in thing):
        return Elements(thing)
    raise CaptureError(
        f"a loop over {type(thing).__name__} together with traced values: its elements must be known, or lie in an "
        f"array\n  at {user_source()}"
    )
