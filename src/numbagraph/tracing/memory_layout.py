"""The memory layout of traced arrays, which decides whether ``reshape`` and ``ravel`` give a view or a copy."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from numbagraph.blockwise.lengths import matching_groups
from numbagraph.ir import shapes
from numbagraph.ir.abi import ArrayLeaf, Leaf
from numbagraph.ir.op import is_elementwise
from numbagraph.ir.values import Dim, Extent, Node, Value

KEPT = "an array that functools.lru_cache keeps"
READ_ONLY = "a view that NumPy gives for reading alone"
OF_ANOTHER = "assignment into a view of another array would change that one: assign into a copy (x.copy())"


class Layout(Enum):
    """The order of an array's elements in memory, as far as it is known."""

    C = "C"
    """The elements follow each other in C order."""
    OTHER = "other"
    """The elements do not follow each other in C order."""
    ANY = "any"


FOR_READING = frozenset({"broadcast_to", "diag", "diagonal", "matrix_diagonal", "sliding_window_view"})
"""Functions whose results are read-only in NumPy."""

_MADE_IN_C = frozenset(
    {"arange", "ascontiguousarray", "empty", "eye", "full", "identity", "indices", "ones", "tri", "zeros"}
)
"""Functions whose results are C-contiguous whatever their operands are."""

_OPERATORS = frozenset(
    getattr(operator, f"__{name}__")
    for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift lt le gt ge neg pos abs invert".split()
) | {operator.lt, operator.le, operator.gt, operator.ge}

_KEEPING = frozenset({"expand_dims", "pick", "reshape", "slice", "squeeze"})


def of_argument(leaf: Leaf) -> Layout:
    return Layout.C if isinstance(leaf, ArrayLeaf) and leaf.contiguous else Layout.OTHER


def of_new(made: Any, function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Mark a result that shares no memory with other arrays as C-contiguous where NumPy's is, and return it."""
    value = getattr(made, "value", None)
    if isinstance(value, Value) and (
        value.ndim < 2
        or getattr(function, "name", "") in _MADE_IN_C
        or (is_map(function, args, options) and all(map(is_in_c, args)))
    ):
        made._layout = Layout.C
    return made


def is_map(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Whether NumPy gives the elements of a result the order that those of the operands have."""
    stands_for = getattr(function, "stands_for", function)
    if getattr(function, "name", "") in ("asarray", "cast"):
        return order_of(function, args, options) != "F"
    return is_elementwise(stands_for) or getattr(stands_for, "__wrapped__", None) in _OPERATORS


def is_in_c(operand: Any) -> bool:
    if isinstance(operand, np.ndarray):
        return operand.ndim < 2 or operand.flags.c_contiguous
    if isinstance(operand, type):  # a dtype
        return True
    return getattr(operand, "ndim", 0) < 2 or getattr(operand, "_layout", None) is Layout.C


def arranged(made: Any, operand: Any, order: str | None) -> Any:
    """A copy of an operand in an order of memory: K and A keep that of C."""
    is_c = made.ndim < 2 or order == "C" or (order != "F" and is_in_c(operand))
    made._layout = Layout.C if is_c else Layout.ANY
    return made


def of_view(value: Value, operand: Any) -> Layout:
    """Return the layout of a view of an operand: C where elements that follow each other in the view do so in
    memory."""
    if operand._layout is not Layout.C:
        return Layout.ANY
    while value is not operand.value:
        if not isinstance(value, Node) or value.op.name not in _KEEPING or not keeps_order(value):
            return Layout.ANY
        value = value.inputs[0]
    return Layout.C


def keeps_order(view: Node) -> bool:
    """Whether the elements of a view follow each other as those of its operand do."""
    first = -view.inputs[0].ndim
    match view.op.name:
        case "pick":
            return view.attrs["axis"] == first
        case "slice":
            return view.attrs["axes"] == (first,) and view.attrs["steps"] == (1,)
    return True


_ORDER_PLACES = {"ravel": 1, "reshape": 2, "asarray": 2}
"""Where functions that may copy have an order among their arguments."""

_BY_MEMORY = {"ravel": ("K", "A"), "reshape": ("A",)}
"""The orders of reading that follow from how an array lies in memory."""

_ORDERS = {"asarray": "K", "ascontiguousarray": "C", "asfortranarray": "F"}
"""The order that functions give arrays if none is named. K keeps that of memory."""


def is_view(function: Any, operand: Any, result: Any, args: Sequence[Any], options: Mapping[str, Any]) -> bool | None:
    """Whether a function that may copy gives a view of an operand; None where that is not known."""
    name = function.name
    if name not in _ORDER_PLACES and name not in _ORDERS:
        return None
    order = order_of(function, args, options)
    if name == "reshape":
        if options.get("copy") is not None:
            return None if not options["copy"] else False
        is_c = order == "C" and operand._layout is Layout.C
        return True if is_c or divides(operand.value.shape, result.shape, order) else None
    return True if order in ("K", "A") and name == "asarray" else is_in_order(operand, order)


def divides(source: Sequence[Extent], target: Sequence[Extent], order: str) -> bool:
    """Whether each dimension of a shape becomes one or more of another, which is a view wherever elements lie."""
    step = -1 if order == "F" else 1
    return all(len(before) < 2 for before, _ in matching_groups(source[::step], target[::step]))


def order_of(function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> str:
    """The order of memory that a call asks a function for."""
    place = _ORDER_PLACES.get(function.name, len(args))
    order = args[place] if place < len(args) else options.get("order")
    return _ORDERS.get(function.name, "C") if order is None else order.upper()


def with_known_order(
    function: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a function that reads elements in an order, with K and A replaced by the order in
    memory."""
    place = _ORDER_PLACES.get(function.name, len(args))
    given = args[place] if place < len(args) else options.get("order")
    order = order_of(function, args, options)
    if order in _BY_MEMORY.get(function.name, ()):
        order = known_order(args[0] if args else options["a"], order)
    if given in (None, order):
        return args, options
    if place < len(args):
        return (*args[:place], order, *args[place + 1 :]), options
    return args, {**options, "order": order}


def known_order(operand: Any, order: str) -> str:
    """C or F, whichever K or A stands for; an error where that is not known."""
    if isinstance(operand, np.ndarray):
        return "F" if operand.flags.fnc else "C"
    if not is_in_c(operand) and sum(shapes.resolve(each) != 1 for each in operand.value.shape) > 1:
        raise operand._refuse(
            f"order={order!r} is the order of the elements in memory, which is not known to be C here: write "
            'order="C" or order="F"'
        )
    return "C"


def is_in_order(operand: Any, order: str) -> bool | None:
    """Whether an array's elements follow each other in an order; None where that is not known."""
    if order == "F" and operand.ndim > 1:
        several = sum(map(shapes.not_one, operand.value.shape)) > 1
        return False if several and operand._layout is Layout.C else None
    if operand._layout is Layout.C:
        return True
    return False if operand._layout is Layout.OTHER and (order == "C" or operand.ndim == 1) else None


def may_reorder(function: Any) -> bool:
    """Whether a function gives the operand itself unless it has to arrange it anew."""
    return function.name in _ORDERS


def input_shape(
    name: str, ones: Sequence[bool | None], *, apart: bool = False, lengths: Sequence[int] | None = None
) -> tuple[Any, ...]:
    """The symbolic shape of an argument: ``ones`` says which lengths are 1, which are not, and which (None) are not
    known. ``lengths`` are those of the call for which the function is traced."""
    return tuple(
        1 if one else Dim(f"{name}.shape[{axis}]", one is None, apart, traced_as=length)
        for axis, (one, length) in enumerate(zip(ones, lengths or [None] * len(ones), strict=True))
    )
