"""``list``, ``sorted`` and ``list.sort`` of traced elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.builtins import comprehensions
from numbagraph.capture.builtins.elements import append
from numbagraph.capture.builtins.hash_table import Table
from numbagraph.capture.builtins.replacements import length
from numbagraph.capture.statements.control_flow import for_
from numbagraph.capture.syntax.generator_functions import Yielding
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import resolved
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.iterables import Generated, Rows, as_iterable, traced_iterable
from numbagraph.capture.values.list_buffer import Buffered
from numbagraph.capture.values.python_iterators import require_here
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.capture.values.written_arrays import in_region as traced_region
from numbagraph.capture.values.written_arrays import without_effects
from numbagraph.ir import shapes
from numbagraph.ir.values import Input
from numbagraph.tracing.retrace import Unstackable
from numbagraph.tracing.trace import tried
from numbagraph.tracing.tracer import Tracer, user_source

Call = Callable[[Any], Any]


def is_lazy(thing: Any) -> bool:
    """Whether elements come one after the other, and cannot be listed during tracing."""
    return isinstance(thing, (Generated, Yielding)) or traced_iterable(thing) is not None


def as_generator(iterable: Any) -> Any:
    """Return the iterable of a `for` loop as a generator."""
    if isinstance(iterable, (Generated, Yielding)):
        return iterable
    return Generated(iterable, lambda element: element, None, False)


def list_of(iterable: Any, *, rolls: bool = True) -> Any:
    """``list(iterable)``. ``rolls``: see `comprehensions.list_of`."""
    if isinstance(iterable, Generated):
        return of_generated(iterable, rolls=rolls)
    if isinstance(iterable, Yielding):
        return appended(iterable)
    if isinstance(iterable, Buffered):
        return iterable.as_list()
    if isinstance(iterable, Stacked):
        return iterable.as_list()
    if isinstance(iterable, Tracer):
        extent = shapes.resolve(iterable.value.shape[0]) if iterable.ndim else 0
        if isinstance(extent, int):
            return [iterable[number] for number in range(extent)]
        return Stacked(Rows(iterable).array.copy())
    if traced_iterable(iterable) is not None:
        return of_generated(as_generator(iterable))
    require_here(iterable)
    return list(iterable)


def of_generated(generator: Generated, *, rolls: bool = True) -> Any:
    try:
        with tried():
            return comprehensions.list_of(generator, rolls=rolls)
    except Unstackable:
        generator.is_taken = False
        return appended(generator)


def appended(iterable: Any) -> Any:
    """Return a list to which a loop appends the elements."""
    found = for_(iterable, ("a list",), lambda element, held: (False, [append(held, element)]), False, [made([])])[0]
    return resolved(found)


def sorted_(call: Call, iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    """Return ``sorted``: elements in their own order, or in that of a key function's results. Equal ones stay in
    order."""
    if isinstance(iterable, Table):
        return arranged(call, iterable.listed(), key, reverse)
    held = made(list_of(iterable) if is_lazy(iterable) else list(iterable))
    return arranged(call, held, key, reverse) if isinstance(held, Stacked) or held else held


def arranged(call: Call, held: Any, key: Any, reverse: Any) -> Any:
    """Return a list in order."""
    if isinstance(held, Stacked):
        order = order_by(ranks_of(call, held, key), reverse)
        held.arrange(order)
        return held
    ranks = held if key is None else [call(key)(each) for each in held]
    if not any(isinstance(part, Tracer) for each in ranks for part in (each if type(each) is tuple else [each])):
        order = sorted(range(len(held)), key=ranks.__getitem__, reverse=reverse)
        return [held[number] for number in order]
    order = order_by([np.stack(each) for each in columns_of(ranks)], reverse)
    columns = [as_iterable(list(each)) for each in columns_of(held)]
    rows = [[each.at(order[number]) for each in columns] for number in range(len(held))]
    return [tuple(each) if type(held[0]) is tuple else each[0] for each in rows]


def columns_of(elements: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The parts of tuples, each collected from all tuples; numbers are one part."""
    if type(elements[0]) is not tuple:
        return [tuple(elements)]
    return list(zip(*elements, strict=True))


def ranks_of(call: Call, held: Stacked, key: Any) -> list[Any]:
    """The keys by which elements are ordered, as an array for each part of the key."""
    if key is None:
        if held.depth > 1 or (not isinstance(held, Buffered) and held.array.ndim > 1):
            raise CaptureError(f"sorted() of lists or arrays: sort numbers\n  at {user_source()}")
        return held.columns() if isinstance(held, Buffered) else [held.array]
    own = call(key)

    def count_of(_: Any) -> int:
        found = own(held.at(Tracer(Input(weak_constant(0).type, "step"))))
        return len(found) if type(found) is tuple else 0

    with without_effects("the key of an order"):
        count: int = traced_region(count_of, "the key of an order").result
    parts = [own] if count == 0 else [lambda each, at=at: own(each)[at] for at in range(count)]
    return [comprehensions.list_of(Generated(held, each, None, False)).array for each in parts]


def order_by(ranks: Sequence[Any], reverse: Any) -> Any:
    """The stable order of elements by keys of several parts, the first of which counts most; descending if
    ``reverse``."""
    if not isinstance(reverse, (bool, int)):
        raise CaptureError(f"sorted() in an order that is traced: sort in both\n  at {user_source()}")
    if reverse:
        ranks = [each[::-1] for each in ranks]
    order: Any = np.argsort(ranks[0], kind="stable") if len(ranks) == 1 else np.lexsort(tuple(reversed(ranks)))
    return (length(ranks[0]) - 1 - order)[::-1] if reverse else order


def sort(call: Call, held: Any) -> Callable[..., None]:
    """``held.sort``."""

    def function(*, key: Any = None, reverse: bool = False) -> None:
        found = arranged(call, held, key, reverse) if isinstance(held, Stacked) or held else held
        if found is not held:
            held[:] = found

    return function
