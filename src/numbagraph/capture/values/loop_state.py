"""The variables that a loop or a branch changes: which parts of them are traced, and in which types they meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value, convert, weak_convert
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.objects import is_object
from numbagraph.capture.values.optional import UNDEFINED, exposed
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.sources import PREFIX
from numbagraph.ir.types import BOOL, WEAK_TYPES
from numbagraph.ir.values import ArrayType, Constant, Value
from numbagraph.ops.shape import broadcast_value
from numbagraph.runtime.arguments import NAMESPACE, flatten
from numbagraph.tracing.tracer import Tracer, to_value, user_source

NUMBERS = (bool, int, float, complex)


class Parts(NamedTuple):
    """A variable, taken apart into leaves and a structure."""

    leaves: list[Any]
    spec: optree.PyTreeSpec

    @property
    def is_undefined(self) -> bool:
        return len(self.leaves) == 1 and self.leaves[0] is UNDEFINED

    @property
    def is_absent(self) -> bool:
        """Whether the variable is undefined, or is or holds None."""
        leaves: list[Any] = optree.tree_leaves(self.whole(), none_is_leaf=True, namespace=NAMESPACE)  # type: ignore[arg-type]
        return any(each is None or each is UNDEFINED for each in leaves)

    def whole(self) -> Any:
        """Return the variable, put together again."""
        return optree.tree_unflatten(self.spec, self.leaves)


def parts_of(variable: Any) -> Parts:
    return Parts(*flatten(exposed(variable)))


def is_number(leaf: Any) -> bool:
    """Whether a leaf can become a value of the graph."""
    return isinstance(leaf, (Tracer, *NUMBERS, np.generic)) or (
        isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biufc"
    )


def is_same(one: Any, other: Any) -> bool:
    """Whether two leaves are one thing: the same array, number or object."""
    if one is other:
        return True
    if isinstance(one, Tracer) and isinstance(other, Tracer):
        return one.value is other.value and not one._is_array and not other._is_array
    if isinstance(one, NUMBERS) and type(one) is type(other):
        return repr(one) == repr(other)
    if is_number(one) or is_number(other) or type(one) is not type(other):
        return False
    if is_object(one) and not vars(one) and not vars(other):
        return True
    return bool(one == other)


def value_of(leaf: Any, name: str) -> Value:
    if not is_number(leaf):
        raise CaptureError(
            f"{shown(name)} is {kind_of(leaf)}, which a loop or a branch on traced values cannot change: numbers, "
            f"arrays, and trees of them can\n  at {user_source()}"
        )
    return as_value(to_value(leaf))


def shown(name: str) -> str:
    return "what is returned" if name.startswith(PREFIX) else repr(name)


def kind_of(leaf: Any) -> str:
    return "None" if leaf is None else f"of type {type(leaf).__name__}"


class Kind(NamedTuple):
    """The dtype to which values of several paths are converted."""

    dtype: np.dtype
    weak: bool


def joined(one: Kind, other: Kind) -> Kind:
    """The dtype of a variable that may have either dtype: NumPy's promotion of both."""
    if one.weak and other.weak:
        return Kind(np.result_type(one.dtype, other.dtype), True)
    strong = [each.dtype for each in (one, other) if not each.weak]
    weak: list[Any] = [WEAK_TYPES[each.dtype](0) for each in (one, other) if each.weak and each.dtype != BOOL]
    if len(strong) == 1 and not weak:  # a truth value beside a number
        weak = [np.bool_(False)]
    return Kind(np.result_type(*strong, *weak), False)


def kind(type: ArrayType) -> Kind:
    return Kind(type.dtype, type.weak)


def converted(value: Value, target: Kind) -> Value:
    return weak_convert(value, target.dtype) if target.weak else convert(value, target.dtype)


def fitted(value: Value, target: Kind, shape: Sequence[Any], name: str) -> Value:
    """A value in a common dtype and shape; a number becomes an array of the same number."""
    value = converted(value, target)
    if value.ndim < len(shape) and not value.ndim:
        return broadcast_value(value, tuple(shape))
    require_shape(value, shape, name)
    return value


def require_shape(value: Value, shape: Sequence[Any], name: str) -> None:
    text = (
        f"{shown(name)} has the shape {shapes.shape_text(value.shape)} on one path and {shapes.shape_text(shape)} on "
        f"another: a loop or a branch on traced values must leave it as it is\n  at {user_source()}"
    )
    if value.ndim != len(shape):
        raise CaptureError(text)
    try:
        for one, other in zip(value.shape, shape, strict=True):
            shapes.require_same(one, other, text)
    except shapes.ShapeError:
        raise CaptureError(text) from None


def common_shape(one: Value, other: Value, name: str) -> tuple[Any, ...]:
    """The shape of two values that meet: that of the array, where one is the number zero, with which a sum begins."""
    small, large = (one, other) if one.ndim < other.ndim else (other, one)
    if large.ndim and not small.ndim and not (isinstance(small, Constant) and small.data == 0):
        raise CaptureError(
            f"{shown(name)} is a number on one path and an array of shape {shapes.shape_text(large.shape)} on another: "
            f"a loop or a branch on traced values gives one of them; write np.full(shape, number)\n  at {user_source()}"
        )
    return large.shape


def with_array(value: Value, was: Tracer) -> Value:
    """A value in the place of an array's, which may have no dimension."""
    return value if value.ndim or not was._is_array else registry["asarray"](value)
