"""Lists of a traced length, kept as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import outgrown
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.iterables import Elements, Rows, whole_number
from numbagraph.capture.values.list_aliases import is_made_here
from numbagraph.capture.values.raised_errors import Raised
from numbagraph.capture.values.widened_lists import begun, place_of, require_numbers, require_wide
from numbagraph.capture.values.written_arrays import Lent
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.runtime.arguments import register_node
from numbagraph.tracing.retrace import LengthsNeeded, ListNeeded
from numbagraph.tracing.stale_arrays import Stale
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class Kept:
    """The kind of the elements of a list: all that is known of the list beside its array, once it is taken apart."""

    __slots__ = ("are_pythons", "begins", "depth", "is_outgrown", "is_tuple", "lent", "ndim", "place")

    def __init__(self, depth: int, ndim: int, are_pythons: bool, place: Any = None, *, is_tuple: bool = False) -> None:
        self.is_tuple = is_tuple
        """Whether this is a tuple, which may hold lists, rather than a list."""
        self.depth = depth
        """The number of the array's first dimensions that are those of lists in lists."""
        self.ndim = ndim
        self.are_pythons = are_pythons
        """Whether the elements are numbers of Python's."""
        self.place = place
        """The place where the list was made, if its elements may become wider (`widened_lists.py`)."""
        self.lent = Lent()
        self.begins: tuple[Any, ...] | None = None
        """The elements that a list held before the loop that has appended to it; None for other lists."""
        self.is_outgrown = False
        """Whether the list is longer or shorter now, or in another order, and has its elements elsewhere."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and self._kind() == other._kind()

    def __hash__(self) -> int:
        return hash(self._kind())

    def _kind(self) -> tuple[int, int, bool]:
        return self.depth, self.ndim, self.is_tuple

    def __repr__(self) -> str:
        return "a tuple" if self.is_tuple else "a list"

    def elements(self, array: Any, depth: int) -> Any:
        """Return the list, once its array is known."""
        if self.are_pythons:
            found = array.tolist()
        else:
            found = list(array) if depth == 1 else [self.elements(each, depth - 1) for each in array]
        return tuple(found) if self.is_tuple and depth == self.depth else found


class Stacked(Rows):
    """A list of a traced length."""

    advice = "make an array of it, np.array(...)"
    is_row = False
    """Whether this is one of the lists in a list, which all have one length."""

    def __init__(self, array: Tracer, depth: int = 1, are_pythons: bool = False, kept: Kept | None = None) -> None:
        super().__init__(array)
        self.kept = kept or Kept(depth, array.ndim, are_pythons)
        self.depth = depth

    @property
    def array(self) -> Any:  # type: ignore[override]
        if self.kept.is_outgrown:
            raise outgrown()
        return self._array

    @array.setter
    def array(self, array: Tracer) -> None:
        self._array = array

    def python_class(self) -> type:
        return tuple if self.is_tuple else list

    @property
    def is_tuple(self) -> bool:
        return self.kept.is_tuple and self.depth == self.kept.depth

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "a tuple" if self.is_tuple else "a list"

    def as_tuple(self) -> Any:
        """Return the tuple of the elements of a list that nothing else holds."""
        own = self.kept
        self.kept = Kept(self.depth, own.ndim, own.are_pythons, is_tuple=True)
        self.kept.lent = own.lent
        return self

    def as_list(self) -> Any:
        """Return a list of the elements."""
        found = self[:]
        found.kept.is_tuple = False
        return found

    def _become(self, array: Any, are_pythons: bool) -> None:
        """Replace the elements. Other objects that stand for the list keep those from before, and are unreadable."""
        lent, place, self.kept.is_outgrown = self.kept.lent, self.kept.place, True
        self.kept = Kept(self.depth, array.ndim, are_pythons, place)
        self.kept.lent = lent
        self.array = array

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return made(self._with_same(self._like(self.array[key].copy())))
        return self._element(self.array[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to one element."""
        if self.is_tuple:
            raise TypeError(f"'tuple' object does not support item assignment\n  at {user_source()}")
        if isinstance(key, slice) or self.depth > 1:
            raise LengthsNeeded(
                f"assignment to a part of a list whose length is traced: assign to its elements, or use an array"
                f"\n  at {user_source()}"
            )
        own, new = self.array.value, as_value(to_value(value))
        require_wide(own.dtype, value, self.kept.are_pythons, self.kept.place)
        if new.ndim != own.ndim - 1:
            raise CaptureError(
                f"an element of another shape in a list whose length is traced: use an array\n  at {user_source()}"
            )
        self.kept.are_pythons &= new.type.weak
        self.array[key] = value

    def append(self, element: Any) -> None:
        """Append an element behind a loop. In another loop or a branch this raises, since the length would change."""
        self.extend([element])

    def extend(self, elements: Any) -> None:
        self._require_outside("extended")
        other: Any = elements
        if isinstance(elements, Tracer):
            other = Rows(elements)
        elif not isinstance(elements, Rows):
            held = list(elements)
            if not held:
                return
            other = Elements(held)
        are_pythons = isinstance(other, Stacked) and other.kept.are_pythons
        are_pythons |= isinstance(other, Elements) and other.are_pythons
        if self.kept.are_pythons and are_pythons and {self.array.dtype.kind, other.array.dtype.kind} == {"i", "f"}:
            self.array, other.array = self.array.astype(float), other.array.astype(float)
        is_alike = other.array.dtype == self.array.dtype and other.array.ndim == self.array.ndim
        if not is_alike or self.depth > 1 or getattr(other, "depth", 1) > 1:
            raise CaptureError(
                f"a list whose length is traced is extended by arrays, or by elements of another type: make an array "
                f"of it, np.array(...)\n  at {user_source()}"
            )
        whole: Any = np.concatenate([self.array, other.array])
        self._become(whole, self.kept.are_pythons and are_pythons)
        self.kept.lent = Lent()
        for each in getattr(other, "elements", [other.array]):
            self.kept.lent.keep(whole, each)
        self._with_same(self)

    def reverse(self) -> None:
        self._require_outside("reversed")
        self._become(self.array[::-1].copy(), self.kept.are_pythons)

    def arrange(self, order: Any) -> None:
        """Put the elements into an order."""
        self._require_outside("sorted")
        self._become(self.array[order], self.kept.are_pythons)

    def index(self, value: Any, *bounds: Any, message: str = "") -> Any:
        """The place of the first element that equals a number."""
        is_equal = self.equals(value)
        if bounds:
            raise CaptureError(f"index() of a list from a place on: write a loop\n  at {user_source()}")
        text = message or f"the value is not in {self.python_class().__name__}"
        Raised(ValueError, (text,)).require(registry["any"](as_value(to_value(is_equal))))
        return Tracer(whole_number(np.argmax(is_equal)))

    def occurrences(self, value: Any) -> Any:
        """``count(value)`` of Python's lists."""
        return Tracer(whole_number(np.sum(self.equals(value))))

    def equals(self, value: Any) -> Any:
        """A mask of the elements, which are numbers, that equal one."""
        array = self.array
        if array.ndim != 1:
            raise CaptureError(
                f"index(), remove() or count() of a list of arrays: compare np.array(...)\n  at {user_source()}"
            )
        return array == value

    def remove(self, value: Any) -> None:
        name = self.python_class().__name__
        self.pop(self.index(value, message=f"{name}.remove(x): x not in {name}"))

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        converted(self.sort)(key=key, reverse=reverse)

    def pop(self, key: Any = -1) -> Any:
        self._require_outside("made shorter")
        found = self[key]
        rest: Any = self.array[:-1] if isinstance(key, int) and key == -1 else np.delete(self.array, key, axis=0)
        self._become(rest.copy(), self.kept.are_pythons)
        return found

    def __add__(self, other: Any) -> Any:
        is_tuple = self.is_tuple
        found = self._with_same(self._like(self.array.copy()))
        found.kept.is_tuple = False
        made(found).extend(other)
        return found.as_tuple() if is_tuple else found

    def __iadd__(self, other: Any) -> Any:
        if self.is_tuple:
            return self + other
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> Any:
        if not isinstance(times, (int, Tracer)):
            return NotImplemented
        rows: Any = np.maximum(times, 0)
        whole: Any = np.broadcast_to(self.array, (rows, *self.array.shape))
        flat: Any = np.reshape(whole, (-1, *self.array.shape[1:]))
        return self._with_same(self._like(flat.copy()))

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> Any:
        if self.is_tuple:
            return self * times
        self._require_outside("repeated")
        self._become((self * times).array, self.kept.are_pythons)
        return self

    def __radd__(self, other: Any) -> Any:
        found = Elements(other) if other else None
        if found is None:
            return self[:]
        front = Stacked(found.array.copy(), are_pythons=found.are_pythons)
        return (front.as_tuple() if self.is_tuple else front) + self

    def _like(self, array: Any) -> Stacked:
        """Return another list of such elements."""
        place = None if self.kept.place is None else place_of(array, True, "other")
        found = Stacked(begun(array, place), self.depth, self.kept.are_pythons)
        found.kept.place, found.kept.is_tuple = place, self.is_tuple
        return found

    def _with_same(self, other: Stacked) -> Stacked:
        """Return another list of the same arrays. Nothing may be assigned to the arrays from then on, since the other
        list has copies."""
        if self.array.ndim > self.depth:
            for each in (self, other):
                each.array._foreign = Stale.OWNED
        return other

    def _require_outside(self, what: str) -> None:
        if self.is_tuple:
            raise TypeError(f"a tuple cannot be {what}: make a list of it, list(x)\n  at {user_source()}")
        if self.is_row:
            raise LengthsNeeded(
                f"a list inside of a list whose length is traced cannot be {what}: assign to its elements, or put all "
                f"elements into one list, and where each part begins into another\n  at {user_source()}"
            )
        if not is_made_here(self):
            raise ListNeeded(
                f"a list whose length is traced is {what} in a loop or a branch on traced values: use an array"
                f"\n  at {user_source()}"
            )

    def table(self) -> Any:
        """The array that `np.array` makes of the list."""
        return self.array

    def at(self, number: Tracer) -> Any:
        return self._element(self.array[number])

    def _element(self, found: Tracer) -> Any:
        if self.depth > 1:
            part = Stacked(found, self.depth - 1, kept=self.kept)
            part.is_row = True
            return part
        if not found.ndim:
            if not self.kept.are_pythons:
                return found
            return Tracer(registry["cast"].bind(found.value, dtype=found.dtype, weak=True))
        return self.kept.lent.lend(found.copy())

    def part(self, key: Any) -> Any:
        """An array that is an element, for an assignment to a part of it."""
        if self.depth > 1 or self.array.ndim == 1:
            return self[key]
        self.kept.lent.take_back()
        return self.array[key]

    def __repr__(self) -> str:
        return f"a list of {self.array.value.type}"


class Selected(Stacked):
    """A list of the elements of an array for which a mask holds."""

    def __init__(self, array: Tracer, mask: Tracer, depth: int, are_pythons: bool = False) -> None:
        super().__init__(array[mask], depth, are_pythons)


def _taken_apart(found: Stacked) -> tuple[tuple[Any], Any]:
    return (found.array,), (found.kept, found.depth)


def _put_together(data: tuple[Kept, int], children: Any) -> Any:
    (array,), (kept, depth) = children, data
    if isinstance(array, Tracer):
        return Stacked(array, depth, kept=kept)
    if isinstance(array, np.ndarray) and array.ndim == kept.ndim - (kept.depth - depth):
        return kept.elements(array, depth)
    found: Any = Stacked.__new__(Stacked)
    found._array, found.kept, found.depth = array, kept, depth
    return found


for _kind in (Stacked, Selected):
    register_node(_kind, _taken_apart, _put_together)


def repeated(elements: list[Any] | tuple[Any, ...], times: Tracer) -> Any:
    """``elements * times``."""
    known = shapes.resolve(times.value)
    if isinstance(known, int):
        return elements * known
    if type(elements) is not list or any(isinstance(each, (list, dict, set, tuple)) for each in elements):
        raise CaptureError(
            f"a {type(elements).__name__} is repeated as often as a traced number says: write [0] * n with a number, "
            f"and [[0] * m for _ in range(n)] for a table\n  at {user_source()}"
        )
    require_numbers(elements)
    held = Elements(elements)
    place = place_of(held.array, held.are_pythons)
    array: Any = begun(held.array, place)
    rows: Any = np.maximum(times, 0)
    whole: Any = np.broadcast_to(array, (rows, *array.shape))
    flat: Any = whole[:, 0] if len(elements) == 1 else np.reshape(whole, (-1, *array.shape[1:]))
    found = Stacked(flat.copy(), are_pythons=held.are_pythons)
    found.kept.place = place
    return made(found._with_same(found))


PYTHONS: dict[str, Any] = {"b": bool, "i": np.int64, "u": np.int64, "f": float, "c": complex}
"""The dtypes of lists of Python's numbers, by the kind of their elements' dtype."""


def numbers_of(array: Tracer) -> Any:
    """``array.tolist()``: numbers of Python's, in lists as deep as the array has dimensions."""
    if array.dtype == np.uint64:
        text = f"tolist() of integers beyond int64\n  at {user_source()}"
        fits: Any = array <= np.uint64(2**63 - 1)
        Raised(OverflowError, (text,)).require(registry["all"](to_value(fits)))
    own: Any = array.astype(PYTHONS[array.dtype.kind])
    if not own.ndim:
        return Tracer(registry["cast"].bind(as_value(to_value(own)), dtype=own.dtype, weak=True))
    extent = shapes.resolve(own.value.shape[0])
    if isinstance(extent, int):
        return made([numbers_of(own[number]) for number in range(extent)])
    place = place_of(own, True, "tolist")
    found = Stacked(begun(own, place), own.ndim, are_pythons=True)
    found.kept.place = place
    return made(found)
