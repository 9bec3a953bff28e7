"""Elements, and assignments to them, of traced arrays or of Python's containers."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.builtins.grids import made_by
from numbagraph.capture.builtins.hash_table import Table, require_table
from numbagraph.capture.builtins.numbers import as_bool, is_traced
from numbagraph.capture.builtins.object_choice import are_objects, by_text, object_at
from numbagraph.capture.builtins.replacements import as_numpy_array
from numbagraph.capture.builtins.special_methods import attribute as read_attribute
from numbagraph.capture.builtins.special_methods import operated, special
from numbagraph.capture.statements.control_flow import for_, if_expression
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import resolved
from numbagraph.capture.values.cell import Cell
from numbagraph.capture.values.containers import (
    in_region,
    made,
    made_if_list,
    note_change,
    refuse_change,
    require_changeable,
    require_own,
)
from numbagraph.capture.values.iterables import (
    Elements,
    Range,
    as_iterable,
    require_known,
    traced_iterable,
    whole_number,
)
from numbagraph.capture.values.list_aliases import Hidden, copies_of, is_made_here
from numbagraph.capture.values.list_buffer import Buffered
from numbagraph.capture.values.list_of_lists import require_rows
from numbagraph.capture.values.loop_state import is_number
from numbagraph.capture.values.objects import is_object
from numbagraph.capture.values.optional import UNDEFINED, Possibly, present, required
from numbagraph.capture.values.picked_arrays import Picked
from numbagraph.capture.values.places import Place, write
from numbagraph.capture.values.raised_errors import of_none
from numbagraph.capture.values.stacked_list import Stacked, repeated
from numbagraph.capture.values.strings import ChosenText
from numbagraph.capture.values.traced_keys import KINDS
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ops.indexing.strided_slices import has_strided
from numbagraph.ops.indexing.subscripts import index
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.in_place import not_traced
from numbagraph.tracing.operators import counts
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.static_values import numbers_in
from numbagraph.tracing.trace import converted, current_trace
from numbagraph.tracing.tracer import TraceError, Tracer, apply, to_value, user_source


def item(holder: Any, key: Any) -> Any:
    holder, key = required(holder), required(key)
    require_known(holder)
    if (method := special(holder, "__getitem__")) is not None:
        return method(key)
    if isinstance(key, ChosenText) and isinstance(holder, dict):
        return by_text(holder, key, key.options)
    if isinstance(holder, (Tracer, np.ndarray)):
        key = with_arrays_of(key)
    if has_traced(key) and not isinstance(holder, Tracer):
        try:
            return at_traced(holder, key)
        except CaptureError as error:  # functions, texts and their like: a known number chooses one
            error.numbers = frozenset(numbers_in(key))
            raise
    whole: Any = holder
    found = whole[key]
    if type(key) is slice:
        return made_if_list(found)
    if isinstance(found, Possibly) and found.absent is UNDEFINED:
        return present(found, KeyError, repr(key))
    return found.operand() if type(found) is Hidden else found


def at_traced(holder: Any, key: Any) -> Any:
    """Return ``holder[key]`` of a container with a traced key."""
    if type(holder) is dict and not all(is_number(each) and not np.ndim(each) for each in flatten(holder)[0]):
        raise CaptureError(
            f"an element of a dict at a traced key, which holds other things than numbers: let it hold numbers and "
            f"tuples of them, or let integers of Python's be its keys\n  at {user_source()}"
        )
    if type(holder) in KINDS:
        require_table(holder, key)
    elif type(holder) is list:
        require_rows(holder)
    if isinstance(key, Tracer) and isinstance(holder, (list, tuple)) and are_objects(holder):
        return object_at(holder, list(places(holder, key)))
    make = made_by(holder)
    return lifted(holder)[place_in(holder, key)] if make is None else make(key)


def place_in(holder: Any, key: Any) -> Any:
    """Return a key of a list or a tuple, for which a truth value of Python's is 0 or 1."""
    if isinstance(holder, (list, tuple)) and isinstance(key, Tracer) and not key.ndim and key.dtype == BOOL:
        if not key.value.type.weak:
            raise TypeError(f"list indices must be integers or slices, not numpy.bool\n  at {user_source()}")
        return Tracer(whole_number(key))
    return key


def with_arrays_of(key: Any) -> Any:
    """Return a key of an array, with arrays in place of lists of traced numbers."""
    if type(key) is tuple:
        return tuple(map(with_arrays_of, key))
    key = resolved(key)
    if isinstance(key, Stacked) or (type(key) is list and is_traced(key)):
        return as_numpy_array(np.array)(key)
    return key


def delete_item(holder: Any, key: Any) -> None:
    """``del holder[key]``."""
    holder, key = required(holder), required(key)
    if isinstance(holder, Buffered):
        del holder[key]
        return
    if type(holder) in KINDS and has_traced(key):
        require_table(holder, key)
    note_change(holder)
    require_changeable(holder)
    if has_traced(key):
        raise CaptureError(f"del of an element at a place that is traced\n  at {user_source()}")
    del holder[key]


def has_traced(key: Any) -> bool:
    if isinstance(key, slice):
        return any(isinstance(each, Tracer) for each in (key.start, key.stop, key.step))
    return any(map(has_traced, key)) if type(key) is tuple else isinstance(key, Tracer)


def lifted(holder: Any) -> Any:
    """Lift a container so that it takes traced positions: an array from outside, or numbers in a list or a tuple."""
    if isinstance(holder, np.ndarray):
        return Tracer(as_value(to_value(holder)))
    if isinstance(holder, (list, tuple)):
        return of_trees(holder)
    return holder


def of_trees(holder: Sequence[Any]) -> Any:
    """Lift a list or a tuple whose elements may be trees of one structure."""
    parts = [flatten(each) for each in holder]
    spec = parts[0][1] if parts else None
    if any(each[1] != spec for each in parts):
        raise CaptureError(
            f"an element of a {type(holder).__name__} at a place that is traced, where elements are of several kinds "
            f"or lengths: numbers, arrays of one shape, and trees of one structure can be chosen"
            f"\n  at {user_source()}"
        )
    if spec is None or spec.is_leaf():
        return as_iterable(holder)
    return Trees([as_iterable(each) for each in zip(*(leaves for leaves, _ in parts), strict=True)], spec)


class Trees(OnlyTraced):
    """A list of trees, as lists of their leaves."""

    def __init__(self, leaves: Sequence[Any], spec: Any) -> None:
        self.leaves = leaves
        self.spec = spec

    def __getitem__(self, place: Any) -> Any:
        found = optree.tree_unflatten(self.spec, [each[place] for each in self.leaves])
        trace = current_trace()
        if trace is not None and isinstance(found, (list, dict)):
            trace.picked[id(found)] = found
        return found


class Row(OnlyTraced):
    """The row ``rows[place]`` of a list of lists, to an element of which something is assigned: one of several
    lists."""

    def __init__(self, rows: Sequence[Any], place: Tracer) -> None:
        self.rows = rows
        self.place = place

    def __getitem__(self, key: Any) -> Any:
        return item([item(each, key) for each in self.rows], self.place)

    def __setitem__(self, key: Any, value: Any) -> None:
        for at, here in places(self.rows, self.place):
            row = self.rows[at]
            kept = item(row, key)
            set_item(row, key, if_expression(here, lambda: value, lambda kept=kept: kept))


def holder_at(holder: Any, key: Any) -> Any:
    """Return ``holder[key]``, to an element of which something is assigned."""
    holder, key = required(holder), required(key)
    if isinstance(key, Tracer) and holds_containers(holder):
        return Row(holder, key)
    return holder.part(key) if isinstance(holder, Stacked) and not isinstance(key, slice) else item(holder, key)


def holds_containers(holder: Any) -> bool:
    return isinstance(holder, (list, tuple)) and any(isinstance(each, (list, dict)) for each in holder)


def set_item(holder: Any, key: Any, value: Any) -> None:
    holder, key = required(holder), required(key)
    if (method := special(holder, "__setitem__")) is not None:
        method(key, value)
        return
    if isinstance(holder, Tracer):
        key = with_arrays_of(key)
    if isinstance(holder, Hidden):
        holder = holder.operand()
    if isinstance(holder, Row):
        holder[key] = value
        return
    if isinstance(holder, Stacked):
        holder[key] = required(value)
        return
    if type(holder) in KINDS and (has_traced(key) or (in_region() and type(holder) is not dict)):
        require_table(holder, key, required(value))
    if in_region() and type(holder) is list and isinstance(key, Tracer) and not is_made_here(holder):
        for at, here in places(holder, key):
            set_item(holder, at, if_expression(here, lambda: value, lambda kept=holder[at]: kept))
        return
    if in_region() and type(holder) in (list, dict) and not is_made_here(holder) and is_known(holder, key):
        assign_outside(place_of_element(holder, key), value)
        return
    if isinstance(holder, np.ndarray):
        require_not_numpys(holder, key, required(value))
    require_changeable(holder)
    if isinstance(holder, list) and isinstance(key, Tracer):
        set_at(holder, key, value)
        return
    holder[key] = required(value) if isinstance(holder, Tracer) else value


def require_not_numpys(array: np.ndarray, key: Any, value: Any) -> None:
    """Raise for a write into an array of NumPy's own that would happen once, while the function is traced."""
    if not array.flags.writeable:
        raise not_traced("an element of a read-only array is assigned to")
    if in_region() or has_traced(key) or (array.dtype != object and is_traced(value)):
        raise not_traced("an element of an array of NumPy's own is assigned to, which is no argument")


def place_of_element(holder: Any, key: Any) -> Place:
    """Return the place of an element, counted from the start of a list."""
    is_from_end = type(holder) is list and key < 0
    return Place(holder, key + len(holder) if is_from_end else key, is_attribute=False)


def is_known(holder: Any, key: Any) -> bool:
    """Whether an element has one place, which is known."""
    return isinstance(key, Hashable) and (type(key) is int if type(holder) is list else not has_traced(key))


def set_at(holder: list[Any], place: Tracer, value: Any) -> None:
    """Assign ``holder[place] = value`` at a traced place: each element becomes the old one or the value."""
    for at, here in places(holder, place):
        holder[at] = if_expression(here, lambda: value, lambda kept=holder[at]: kept)


def places(holder: Sequence[Any], place: Tracer) -> Iterator[tuple[int, Tracer]]:
    """The positions of a list, each with a condition that is true if the traced place is this position."""
    count, number = len(holder), whole_number(place)
    inside = registry["logical_and"](registry["greater_equal"](number, -count), registry["less"](number, count))
    shapes.require(inside, "list index out of range", IndexError)
    for at in range(count):
        here = registry["logical_or"](registry["equal"](number, at), registry["equal"](number, at - count))
        yield at, Tracer(here)


def set_attribute(holder: Any, name: str, value: Any) -> None:
    if holder is None:
        raise of_none(name)
    if isinstance(holder, Cell):
        if in_region() and not is_made_here(holder):
            write(Place(holder, name, is_attribute=True), value)
            return
    elif in_region() and is_made_here(holder):
        require_changeable(holder)
    elif in_region() and not isinstance(holder, Tracer):
        assign_outside(Place(holder, name, is_attribute=True), value)
        return
    if is_object(holder):
        require_own(holder)
    setattr(holder, name, value)


def assign_outside(place: Place, value: Any) -> None:
    """Assign to an attribute or an element of something that was not made in the loop or the branch."""
    holder = place.holder
    if place.is_attribute and isinstance(found := getattr(type(holder), place.name, None), property):
        if found.fset is None:
            setattr(holder, place.name, value)  # raises
        converted(found.fset)(holder, value)
        return
    if copies_of(holder):
        require_changeable(holder)
    require_own(holder)
    write(place, value)


def augmented(name: str, variable: Any, value: Any) -> Any:
    """``variable += value`` and its like."""
    given, variable, value = variable, required(variable), required(value)
    if name == "imul" and type(variable) is list and is_traced(value):
        raise LengthsNeeded(f"a list is repeated in place as often as a traced number says\n  at {user_source()}")
    if name == "imul" and not isinstance(variable, Stacked) and is_repetition(variable, value):
        return times(variable, value)
    if name == "iadd" and isinstance(variable, Buffered):
        extend(variable, value)
        return given
    if not isinstance(variable, Tracer) and isinstance(variable, list):
        note_change(variable)
        require_changeable(variable)
    if special(variable, f"__{name}__") is None and hasattr(type(variable), f"__{name}__"):
        return getattr(operator, name)(variable, value)
    method = special(variable, f"__{name}__")
    return operated(name[1:], variable, value) if method is None else method(value)


def times(left: Any, right: Any) -> Any:
    """Repeat a list, which stands before or behind a traced number, as often as the number says."""
    if isinstance(left, Stacked) or isinstance(right, Stacked):
        return made(left * right if isinstance(left, Stacked) else right * left)
    return made(repeated(left, right) if isinstance(right, Tracer) else repeated(right, left))


def is_repetition(left: Any, right: Any) -> bool:
    """Whether a product is that of a list and a number of repetitions."""
    return any(
        (isinstance(one, (list, tuple)) and isinstance(other, Tracer) and counts(other))
        or (isinstance(one, Stacked) and (isinstance(other, int) or (isinstance(other, Tracer) and counts(other))))
        for one, other in ((left, right), (right, left))
    )


def place_of(holder: Any, key: Any) -> tuple[Any, Any, Any]:
    """The target of ``holder[key] += value``, with its element before the value is computed, which may change it."""
    holder, key = required(holder), required(key)
    if isinstance(holder, Tracer):
        key = with_arrays_of(key)
        if has_strided(to_value(key)):
            return holder, key, apply(index, holder, key)
    return holder, key, required(holder_at(holder, key) if isinstance(holder, Stacked) else item(holder, key))


def augment_item(name: str, place: tuple[Any, Any, Any], value: Any) -> None:
    holder, key, before = place
    after = augmented(name, before, required(value))
    is_view = isinstance(before, Tracer) and (
        before is holder or before._parent is not None or isinstance(before, Picked)
    )
    if after is not before or not is_view:  # a view has changed what it is a view of
        set_item(holder, key, after)


def attribute_of(holder: Any, attribute: str) -> tuple[Any, str, Any]:
    """The target of ``holder.attribute += value``, with the attribute before the value is computed."""
    return holder, attribute, read_attribute(holder, attribute)


def augment_attribute(name: str, place: tuple[Any, str, Any], value: Any) -> None:
    holder, attribute, before = place
    set_attribute(holder, attribute, augmented(name, before, value))


def extend(holder: Buffered, elements: Any) -> None:
    """``holder.extend(elements)``."""

    def step(element: Any) -> tuple[bool, list[Any]]:
        holder.append(element)
        return False, []

    for_(elements, (), step, False, ())


def append(holder: Any, element: Any) -> Any:
    """``holder.append(element)``, and the variable after it."""
    variable, holder = holder, required(holder)
    require_known(holder)
    if not isinstance(holder, (Tracer, Buffered)):
        refuse_change(holder.append)
    holder.append(element)
    return holder if isinstance(variable, Possibly) and variable.value is holder else variable


def contains(holder: Any, element: Any) -> Any:
    holder, element = required(holder), required(element)
    require_known(holder)
    if (method := special(holder, "__contains__")) is not None:
        return method(element)
    if isinstance(element, ChosenText):
        return element.where(lambda option: option in holder)
    if isinstance(holder, Table):
        return holder.has(element)
    if type(holder) in KINDS and type(element) is tuple and has_traced(element):
        require_table(holder, element)
    if isinstance(element, Tracer) and isinstance(holder, (set, frozenset, dict, range)):
        return is_one_of(holder, element)
    if isinstance(holder, Range):
        return holder.has(element)
    if isinstance(holder, Stacked):
        holder = holder.array
    if isinstance(holder, Tracer) or (isinstance(element, Tracer) and isinstance(holder, (np.ndarray, list, tuple))):
        array = holder if isinstance(holder, Tracer) else lifted(holder)
        array = array.array if isinstance(array, Elements) else array
        return as_bool(apply(registry["any"], array == element))
    return element in holder


def is_one_of(holder: Any, element: Tracer) -> Any:
    """Whether a set, a dict or a range contains a number."""
    if isinstance(holder, range):
        return Range(holder.start, holder.stop, holder.step).has(element)
    numbers = [each for each in holder if isinstance(each, (bool, int, float, complex, np.generic))]
    return as_bool(apply(registry["any"], lifted(numbers).array == element)) if numbers else False


def rows_of(value: Any) -> Any:
    """Return the elements of an iterable as a list, or as one of a traced length."""
    if not isinstance(value, Tracer):
        return list(value)
    known = shapes.resolve(value.value.shape[0]) if value.ndim else 0
    return [value[number] for number in range(known)] if isinstance(known, int) else Stacked(value)


def unpack_star(value: Any, before: int, after: int) -> list[Any]:
    """The elements that a pattern with a star takes, and the list of those that the star takes."""
    value = required(value)
    if isinstance(value, Tracer) and value.ndim > 1 and not isinstance(shapes.resolve(value.value.shape[0]), int):
        raise CaptureError(
            f"a star that takes as many arrays as a traced length says: use slices\n  at {user_source()}"
        )
    held = value if isinstance(value, Stacked) else rows_of(value)
    if isinstance(held, list):
        if len(held) < before + after:
            raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(held)})")
        end = len(held) - after
        return [*held[:before], made(held[before:end]), *held[end:]]
    count = held.array.value.shape[0]
    text = f"not enough values to unpack (expected at least {before + after})"
    shapes.require(shapes.compare("greater_equal", count, before + after), text, ValueError)
    end = Tracer(shapes.as_value(shapes.subtract(count, after)))
    return [*map(held.__getitem__, range(before)), held[before:end], *map(held.__getitem__, range(-after, 0))]


def unpack(value: Any, shape: Any) -> Any:
    """The elements that a pattern takes."""
    value = required(value)
    require_known(value)
    if shape is None:
        return list(value) if type(value) in (list, tuple) else value
    if isinstance(value, Tracer):
        text = f"{len(shape)} values are unpacked from {value.value.type}\n  at {user_source()}"
        if not value.ndim:
            raise TraceError(text)
        shapes.require_same(value.value.shape[0], len(shape), text, ValueError)
        value = [value[number] for number in range(len(shape))]
    elif (lazy := traced_iterable(value)) is not None:
        text = f"{len(shape)} values are unpacked from {lazy.kind}, which has another number\n  at {user_source()}"
        shapes.require_same(lazy.count(), len(shape), text, ValueError)
        value = [lazy.at(Tracer(shapes.as_value(number))) for number in range(len(shape))]
    parts = list(value)
    if len(parts) != len(shape):
        raise ValueError(f"{len(shape)} values expected, and there are {len(parts)}\n  at {user_source()}")
    return [each if part is None else unpack(each, part) for each, part in zip(parts, shape, strict=True)]
