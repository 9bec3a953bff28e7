"""Lengths as graph values: arithmetic, unification, broadcasting, and the guards that these give rise to."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from numbagraph.ir import collectors
from numbagraph.ir.collectors import GuardCollector, active_collector
from numbagraph.ir.graph import DimEquality, Guard
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Dim, Extent, Input, Node, Value, constant, current_source, toposort

Shape = tuple[Extent, ...]
collect_guards = collectors.collect_guards


class ShapeError(ValueError):
    """Shapes that do not fit. Tracing completes the message with the user's line."""

    __module__ = "numbagraph.errors"


class UnknownLength(TypeError):
    """The error for an argument whose use needs a length that is known before the graph is made."""


def current_collector() -> GuardCollector:
    """Return the collector of the guards that arise now; outside of traces, one whose guards are dropped."""
    return active_collector() or GuardCollector()


def require(condition: Value | bool, subject: str, error: type[Exception] = ShapeError) -> None:
    """Require a condition at entry; raise at once where it is known to be False. Outside a trace, a symbolic condition
    has been required while the function was traced."""
    if isinstance(condition, (bool, np.bool_)):
        if not condition:
            raise error(subject)
        return
    collector = active_collector()
    if collector is not None:
        collector.add(Guard(condition, subject, current_source(), error))


def require_of(
    condition: Value | bool,
    subject: str,
    error: type[Exception],
    failure: Callable[..., Exception],
    arguments: tuple[Value, ...],
) -> None:
    """Require a condition at entry. Where it fails, ``failure`` makes the error from the values of ``arguments``."""
    if isinstance(condition, (bool, np.bool_)):
        require(condition, subject, error)
        return
    collector = active_collector()
    if collector is not None:
        collector.add(Guard(condition, subject, current_source(), error, failure, arguments))


def require_all(found: GuardCollector) -> None:
    """Add the requirements of a function that was traced inside of another one to those of the outer one."""
    collector = active_collector()
    if collector is not None:
        for guard in found.guards:
            collector.add(guard)
        collector.equalities += found.equalities


def resolve(extent: Extent) -> Extent:
    """An extent's canonical form: unified lengths are one object, constants are ints."""
    if isinstance(extent, Dim):
        extent = extent.representative
    if isinstance(extent, Constant) and not extent.ndim and extent.dtype.kind != "f":
        return int(extent.data)
    return extent


def as_value(extent: Extent) -> Value:
    """An extent as a graph value."""
    extent = resolve(extent)
    return extent if isinstance(extent, Value) else constant(extent, dtype=INT64, weak=True)


def same(left: Extent, right: Extent) -> bool:
    """Whether two extents are known to be equal."""
    return _same(left, right, set())


def _same(left: Extent, right: Extent, equal: set[tuple[Node, Node]]) -> bool:
    """Whether two extents are known to be equal; ``equal`` has the pairs that were found equal, so that shared parts
    are compared once."""
    left, right = resolve(left), resolve(right)
    if left is right:
        return True
    if isinstance(left, Node) and isinstance(right, Node):
        if (left, right) in equal:
            return True
        alike = left.op is right.op and left.attributes == right.attributes
        if not alike or not all(_same(*pair, equal) for pair in zip(left.inputs, right.inputs, strict=True)):
            return False
        equal.add((left, right))
        return True
    return isinstance(left, int) and isinstance(right, int) and left == right


def assumed_same(left: Extent, right: Extent) -> bool:
    """Whether two computed lengths are one where lengths of arguments are equal that were so in the call for which
    the function is traced. These are unified then: a call in which they differ has another version."""
    pairs: dict[tuple[Dim, Dim], None] = {}
    if not _alike(left, right, pairs, set()) or length_then(left) == 1:
        return False
    for pair in pairs:
        one, other = map(resolve, pair)
        if one is not other:
            assert isinstance(one, Dim)
            one.unify(other, assumed=True)
    return True


def _alike(left: Extent, right: Extent, pairs: dict[tuple[Dim, Dim], None], alike: set[tuple[Extent, Extent]]) -> bool:
    """Whether two extents differ only in lengths that were equal in the call for which the function is traced. Such
    lengths are put into ``pairs``; ``alike`` has the pairs that were compared before."""
    left, right = resolve(left), resolve(right)
    if left is right or (left, right) in alike:
        return True
    if isinstance(left, Dim) and isinstance(right, Dim):
        pairs[left, right] = None
        return left.traced_as is not None and left.traced_as == right.traced_as
    if isinstance(left, Node) and isinstance(right, Node):
        alike.add((left, right))
        same_op = left.op is right.op and left.attributes == right.attributes
        return same_op and all(_alike(*pair, pairs, alike) for pair in zip(left.inputs, right.inputs, strict=True))
    return isinstance(left, int) and isinstance(right, int) and left == right


def length_then(extent: Extent) -> int | None:
    """Return a length in the call for which the function is traced, where lengths of arguments and arithmetic give it;
    else None."""
    known: dict[Value, int | None] = {}
    for value in toposort([as_value(extent)]):
        known[value] = value.traced_as if isinstance(value, Dim) else None
        if isinstance(value, Constant):
            known[value] = None if value.ndim or value.dtype.kind not in "biu" else int(value.data)
        elif isinstance(value, Node) and value.op.name in EXACT:
            left, right = (known[each] for each in value.inputs)
            known[value] = None if left is None or right is None else EXACT[value.op.name](left, right)
    return known[as_value(extent)]


def not_one(extent: Extent) -> bool:
    """Whether an extent is known not to be 1."""
    extent = resolve(extent)
    return not extent.may_be_one if isinstance(extent, Dim) else isinstance(extent, int) and extent != 1


EXACT: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "minimum": min,
    "maximum": max,
}
"""Operations on known lengths, with exact integers: the product of two lengths may be too large for a length."""


LARGEST_SHIFT = 2**62
"""The largest number that several numbers become one of: what is added or subtracted has to fit into int64."""


def _arithmetic(name: str, left: Extent, right: Extent) -> Extent:
    left, right = resolve(left), resolve(right)
    if isinstance(left, int) and isinstance(right, int):
        return EXACT[name](left, right)
    return resolve(registry[name].bind(as_value(left), as_value(right)))


def add(left: Extent, right: Extent) -> Extent:
    left, right = resolve(left), resolve(right)
    if isinstance(left, int):  # a number comes last, so that one sum has one form
        left, right = right, left
    return _shifted(left, right) if isinstance(right, int) else _arithmetic("add", left, right)


def subtract(left: Extent, right: Extent) -> Extent:
    if same(left, right):
        return 0
    right = resolve(right)
    return _shifted(resolve(left), -right) if isinstance(right, int) else _arithmetic("subtract", left, right)


def _shifted(extent: Extent, number: int) -> Extent:
    """A length plus a number. Of several numbers one after the other, as in ``(n - 20) + 1``, the sum is added:
    lengths that are equal for that reason have one form."""
    if isinstance(extent, int):
        return extent + number
    if isinstance(extent, Node) and extent.op.name in ("add", "subtract"):
        base, before = map(resolve, extent.inputs)
        if isinstance(before, int):
            total = number + (before if extent.op.name == "add" else -before)
            if abs(total) <= LARGEST_SHIFT:
                extent, number = base, total
    if number == 0:
        return extent
    return _arithmetic("add", extent, number) if number > 0 else _arithmetic("subtract", extent, -number)


def multiply(left: Extent, right: Extent) -> Extent:
    left, right = resolve(left), resolve(right)
    if left == 1:
        return right
    if right == 1:
        return left
    return (
        0
        if (isinstance(left, int) and left == 0) or (isinstance(right, int) and right == 0)
        else _arithmetic("multiply", left, right)
    )


def floor_divide(left: Extent, right: Extent) -> Extent:
    return resolve(left) if resolve(right) == 1 else _arithmetic("floor_divide", left, right)


def maximum(left: Extent, right: Extent) -> Extent:
    return resolve(left) if same(left, right) else _arithmetic("maximum", left, right)


def minimum(left: Extent, right: Extent) -> Extent:
    return resolve(left) if same(left, right) else _arithmetic("minimum", left, right)


def compare(name: str, left: Extent, right: Extent) -> Value | bool:
    """``left <name> right`` with the name of a comparison ufunc."""
    left, right = resolve(left), resolve(right)
    if isinstance(left, int) and isinstance(right, int):
        return bool(getattr(np, name)(left, right))
    return registry[name].bind(as_value(left), as_value(right))


def product(extents: Sequence[Extent]) -> Extent:
    result: Extent = 1
    for extent in extents:
        result = multiply(result, extent)
    return result


def shape_text(shape: Sequence[Extent]) -> str:
    extents = ", ".join(str(resolve(extent)) for extent in shape)
    return f"({extents},)" if len(shape) == 1 else f"({extents})"


def lengths_text(left: Extent, right: Extent) -> str:
    """Two lengths that differ, for the end of an error; nothing, where elements of arrays say what they are."""
    left, right = resolve(left), resolve(right)
    return f": {left} and {right}" if all(isinstance(each, (int, Dim)) for each in (left, right)) else ""


def require_same(left: Extent, right: Extent, subject: str, error: type[Exception] = ShapeError) -> Extent:
    """Unify two extents that must be equal, and return the one that stands for both."""
    left, right = resolve(left), resolve(right)
    if same(left, right):
        return left
    if isinstance(left, int) and isinstance(right, int):
        raise error(subject)
    collector = active_collector()
    is_apart = any(isinstance(each, Dim) and each.apart for each in (left, right))
    if not is_apart and (isinstance(right, Dim) or isinstance(left, Dim)):
        dim, other = (right, left) if isinstance(right, Dim) else (left, right)
        if isinstance(other, Dim) and not_one(dim) and not not_one(other):
            dim, other = other, dim  # what is known of one of them is then known of both
        if isinstance(other, Dim) or not_one(other):
            assert isinstance(dim, Dim)
            if collector is not None:
                collector.equalities.append(DimEquality(dim, other, subject, current_source(), error))
            dim.unify(other)
            return other
    if assumed_same(left, right):
        return resolve(left)
    condition = compare("equal", left, right)
    if is_apart and collector is not None and isinstance(condition, Value):
        collector.add(Guard(condition, subject, current_source(), error, ordered=True))
    else:
        require(condition, subject, error)
    return left if isinstance(left, int) or not isinstance(right, int) else right


def broadcast_extents(left: Extent, right: Extent, subject: str, error: type[Exception] = ShapeError) -> Extent:
    """The broadcast of two extents, by NumPy's rule."""
    left, right = resolve(left), resolve(right)
    if left is right or (isinstance(right, int) and right == 1):
        return left
    if isinstance(left, int) and left == 1:
        return right
    if not_one(left) and not_one(right):
        return require_same(left, right, subject, error)
    if same(left, right):
        return left
    return _broadcast_unknown(left, right, subject, error)


def _broadcast_unknown(left: Extent, right: Extent, subject: str, error: type[Exception]) -> Extent:
    """A length that is not known may turn out to be 1: decide when it is known."""
    lefts, rights = _broadcast_parts(left), _broadcast_parts(right)
    if lefts >= rights or rights >= lefts:
        return left if lefts >= rights else right
    if assumed_same(left, right):
        return resolve(left)
    fits: Any = compare("equal", left, right)
    for extent in (left, right):
        if not not_one(extent):
            fits = registry["logical_or"].bind(fits, _as_bool(compare("equal", extent, 1)))
    require(fits, subject, error)
    if not_one(right):
        return right
    if not_one(left):
        return left
    found = _broadcasts.get(lefts | rights)  # whatever the order of operands, it is one value
    if found is None:
        is_one = _as_bool(compare("equal", left, 1))
        found = _broadcasts[lefts | rights] = registry["where"].bind(is_one, as_value(right), as_value(left))
    return resolve(found)


_broadcasts: WeakValueDictionary[frozenset[Extent], Value] = WeakValueDictionary()


def _broadcast_parts(extent: Extent) -> frozenset[Extent]:
    """The lengths of which ``extent`` is the broadcast."""
    if isinstance(extent, Node) and extent.op.name == "where":
        condition, other, this = extent.inputs
        if condition is compare("equal", this, 1):
            return _broadcast_parts(resolve(this)) | _broadcast_parts(resolve(other))
    return frozenset((extent,))


def _as_bool(condition: Value | bool) -> Value:
    return condition if isinstance(condition, Value) else constant(condition)


def broadcast_shapes(shapes: Sequence[Shape], subject: str, error: type[Exception] = ShapeError) -> Shape:
    """The common shape of operands, by NumPy's rule; ``subject`` names the operation in an error."""
    if len(shapes) == 1:
        return shapes[0]
    ndim = max((len(shape) for shape in shapes), default=0)
    result: list[Extent] = [1] * ndim
    text = f"{subject}: operands could not be broadcast together with shapes {' '.join(map(shape_text, shapes))}"
    for shape in shapes:
        offset = ndim - len(shape)
        for axis, extent in enumerate(shape):
            result[offset + axis] = broadcast_extents(result[offset + axis], extent, text, error)
    return tuple(result)


def normalise_axis(axis: int, ndim: int) -> int:
    """``axis`` counted from the right, so that it stays what it is when batch dimensions come on the left."""
    if not isinstance(axis, (int, np.integer)):
        raise TypeError(f"an axis must be known before values, not {axis!r}: name it in static_argnames")
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(int(axis), ndim)
    return int(axis) - ndim if axis >= 0 else int(axis)


def normalise_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """One axis, a tuple of them, or None for all: sorted, counted from the right."""
    if axis is None:
        return tuple(range(-ndim, 0))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    result = tuple(sorted(normalise_axis(each, ndim) for each in axes))
    if len(set(result)) != len(result):
        raise ValueError("duplicate value in 'axis'")
    return result


def follows_from_lengths(value: Value) -> bool:
    """Whether no number that a user passes has a part in it, as it has in a position that counts from the end."""
    return not any(isinstance(each, Input) for each in toposort([value]))


def split_extents(extents: Sequence[Extent]) -> tuple[tuple[int | None, ...], tuple[Value, ...]]:
    """Extents as a static template (None where symbolic) and the symbolic ones, which become a node's inputs."""
    resolved = [resolve(extent) for extent in extents]
    template = tuple(extent if isinstance(extent, int) else None for extent in resolved)
    return template, tuple(extent for extent in resolved if isinstance(extent, Value))


def join_extents(template: Sequence[int | None], symbolic: Sequence[Any]) -> tuple[Any, ...]:
    """The inverse of `split_extents`."""
    rest = iter(symbolic)
    return tuple(next(rest) if extent is None else extent for extent in template)
