"""Classes that describe how an op becomes part of a loop nest: an op's ``lower`` is an instance of one of them.

An element is computed on demand, at its use: to know it at an index, ask for elements of the inputs. ``element`` is a
generator that yields such requests, ``(input, index)``, and is sent the scalars; `fuse` runs it without recursion, so
the depth of a graph is no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.ir import (
    Apply,
    CheckedIndex,
    Emit,
    EmitCall,
    Literal,
    LoopIndex,
    Scalar,
    checked,
    index_operation,
    literal,
    register,
    walk,
)
from numbagraph.intrinsics.emitters.reducers import Reducer
from numbagraph.ir.shapes import resolve, same
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Extent, Lowering, Node, Unsupported, Value

if TYPE_CHECKING:
    from llvmlite import ir

    from numbagraph.intrinsics.emitters.emitter import Emitter, Operand

Index = tuple[Scalar, ...]
Request = tuple[Value, Index]
Element = Generator[Request, Scalar, Scalar]


def extent_scalar(extent: Extent) -> Scalar:
    """An extent as a scalar of the loop nest."""
    extent = resolve(extent)
    return literal(extent) if isinstance(extent, int) else register(extent)


class IndexSum(Struct):
    """An index as a sum of scalars, each with a count, and a number. Two ways to compute one index give one scalar."""

    terms: dict[Scalar, int]
    number: int = 0

    def scaled(self, factor: int) -> IndexSum:
        terms = {term: count * factor for term, count in self.terms.items()} if factor else {}
        return IndexSum(terms, self.number * factor)

    def plus(self, other: IndexSum) -> IndexSum:
        return combined((self, other))

    def scalar(self) -> Scalar:
        if not self.terms:
            return literal(self.number)
        if not self.number and list(self.terms.values()) == [1]:
            return next(iter(self.terms))
        key = (frozenset(self.terms.items()), self.number)
        found = _sums.get(key)
        if found is None:
            found = _sums[key] = self._build()
            _parts[found] = self
        return found

    def _build(self) -> Scalar:
        """Build the additions, positive terms first, so that few are negated."""
        total: Scalar = literal(self.number)
        for term, count in sorted(self.terms.items(), key=lambda item: item[1] < 0):
            part = term
            if count not in (1, -1):
                part = index_operation("multiply", integers.multiply, term, literal(abs(count)))
            if count > 0:
                total = part if is_literal(total, 0) else index_operation("add", integers.add, total, part)
            else:
                total = index_operation("subtract", integers.subtract, total, part)
        return total


def combined(sums: Iterable[IndexSum]) -> IndexSum:
    """Return the total of several sums; terms that cancel are dropped."""
    terms: dict[Scalar, int] = {}
    number = 0
    for each in sums:
        number += each.number
        for term, count in each.terms.items():
            terms[term] = terms.get(term, 0) + count
    return IndexSum({term: count for term, count in terms.items() if count}, number)


_sums: WeakValueDictionary[Any, Scalar] = WeakValueDictionary()
_parts: WeakKeyDictionary[Scalar, IndexSum] = WeakKeyDictionary()


def parts(index: Scalar) -> IndexSum:
    """An index as a sum."""
    if isinstance(index, Literal):
        return IndexSum({}, index.value)
    return _parts.get(index) or IndexSum({index: 1})


def is_literal(scalar: Scalar, value: int) -> bool:
    return isinstance(scalar, Literal) and scalar.value == value


def add(left: Scalar, right: Scalar) -> Scalar:
    """Add two indices; static parts are folded, and terms that cancel are dropped."""
    if is_literal(left, 0):
        return right
    return left if is_literal(right, 0) else parts(left).plus(parts(right)).scalar()


def subtract(left: Scalar, right: Scalar) -> Scalar:
    return left if is_literal(right, 0) else parts(left).plus(parts(right).scaled(-1)).scalar()


def multiply(left: Scalar, right: Scalar) -> Scalar:
    for factor, other in ((right, left), (left, right)):
        if isinstance(factor, Literal):
            return parts(other).scaled(factor.value).scalar() if factor.value != 1 else other
    return index_operation("multiply", integers.multiply, left, right)


def minimum(left: Scalar, right: Scalar) -> Scalar:
    if isinstance(left, Literal) and isinstance(right, Literal):
        return literal(min(left.value, right.value))
    return index_operation("minimum", integers.minimum, left, right)


def linear_index(index: Sequence[Scalar], extents: Sequence[Scalar]) -> Scalar:
    """Return the position of an index in C order. For an index that `unravel` made, it is the position that this was
    made of."""
    linear: Scalar = literal(0)
    for position, extent in zip(index, extents, strict=True):
        quotient = _operands(integers.divide, linear)
        if quotient is not None and quotient[1] is extent and _operands(integers.remainder, position) == quotient:
            linear = quotient[0]
        else:
            linear = add(multiply(linear, extent), position)
    return linear


def unravel(linear: Scalar, extents: Sequence[Scalar]) -> Index:
    """The inverse of `linear_index`."""
    index: list[Scalar] = []
    for axis, extent in reversed(list(enumerate(extents))):
        if all(is_literal(outer, 1) for outer in extents[:axis]):
            quotient, remainder = literal(0), linear
        else:
            quotient, remainder = divide(linear, extent)
        index.append(literal(0) if is_literal(extent, 1) else remainder)
        linear = linear if is_literal(extent, 1) else quotient
    return tuple(reversed(index))


def divide(linear: Scalar, extent: Scalar) -> tuple[Scalar, Scalar]:
    """Return quotient and remainder of an index, without a division where it is known to be a number of whole rows and
    an offset in one."""
    if isinstance(extent, Literal) and extent.value <= 1:
        return linear, literal(0)
    whole, rest = IndexSum({}), parts(linear)
    for term, count in rest.terms.items():
        factors = _operands(integers.multiply, term)
        if factors is not None and factors[1] is extent:
            whole, rest = whole.plus(parts(factors[0]).scaled(count)), rest.plus(IndexSum({term: -count}))
        elif isinstance(extent, Literal) and count % extent.value == 0:
            whole, rest = whole.plus(IndexSum({term: count // extent.value})), rest.plus(IndexSum({term: -count}))
    offset = rest.scalar()
    if is_literal(offset, 0) or _is_below(offset, extent):
        return whole.scalar(), offset
    quotient = index_operation("divide", integers.divide, linear, extent)
    return quotient, index_operation("remainder", integers.remainder, linear, extent)


def _operands(emit: Emit, scalar: Scalar) -> tuple[Scalar, ...] | None:
    """The operands of an index operation, if ``scalar`` is that operation."""
    return scalar.arguments if isinstance(scalar, Apply) and scalar.emit is emit else None


def _is_below(index: Scalar, extent: Scalar) -> bool:
    """Whether an index is known to be less than ``extent``."""
    if isinstance(index, LoopIndex):
        return index.extent is extent
    if isinstance(index, Literal) and isinstance(extent, Literal):
        return index.value < extent.value
    operands = _operands(integers.remainder, index)
    return operands is not None and operands[1] is extent


def flat_index(index: Index, extents: Sequence[Scalar]) -> Scalar | None:
    """The linear index, where it is cheaper than ``index`` because that was unravelled from one."""
    if len(index) > 1 and any(_operands(integers.remainder, position) for position in index):
        return linear_index(index, extents)
    return None


def broadcast_index(source: tuple[Extent, ...], target: tuple[Extent, ...], index: Index) -> Index:
    """Return the index at which an operand of shape ``source`` is read for the element ``index`` of the broadcast shape
    ``target``."""
    if source is target or source == target:
        return index
    offset = len(target) - len(source)
    result: list[Scalar] = []
    for axis, extent in enumerate(source):
        extent, position = resolve(extent), index[offset + axis]
        if isinstance(extent, int) and extent == 1:
            result.append(literal(0))
        elif same(extent, target[offset + axis]) or isinstance(extent, int):
            result.append(position)
        else:
            # a computed length that may turn out to be 1
            result.append(index_operation("stretch", integers.stretch, position, register(extent)))
    return tuple(result)


class Map(Lowering):
    """An elementwise op: one emitter on the broadcast operands, which gets the node's attributes."""

    emit: Emit
    refuse: Callable[[Node], Emit | None] = lambda node: None
    """``refuse(node)``: an emitter that gives, as an index, 1 for operands that NumPy raises an error for and 0 for
    others; or None."""

    def element(self, node: Node, index: Index) -> Element:
        arguments = []
        for source in node.inputs:
            arguments.append((yield source, broadcast_index(source.shape, node.shape, index)))
        emit = partial(self.emit, **node.attrs) if node.attributes else self.emit
        refuse = self.refuse(node)
        if refuse is None:
            return Apply(node.op.name, emit, tuple(arguments), node.dtype)
        refused = Apply("refuse", refuse, tuple(arguments), np.dtype(np.uint64))
        emit, arguments = partial(_first, emit, len(arguments)), [*arguments, checked(refused, literal(1))]
        return Apply(node.op.name, emit, tuple(arguments), node.dtype)


def _first(emit: Emit, count: int, emitter: Emitter, *operands: Operand) -> ir.Value:
    """Emit ``emit`` on the first ``count`` operands; the others are only passed so that they are computed."""
    return emit(emitter, *operands[:count])


class Cast(Lowering):
    """Elementwise conversion to the node's dtype."""

    def element(self, node: Node, index: Index) -> Element:
        (source,) = node.inputs
        argument = yield source, index
        target = node.dtype
        return Apply("cast", lambda emitter, operand: emitter.cast(operand, target), (argument,), target)


class View(Lowering):
    """A view: every element is an element of the first input, at ``source_index(node, index)``."""

    source_index: Callable[[Node, Index], Index]
    in_order: bool = False
    """Whether the elements are all those of the first input, in C's order."""

    def element(self, node: Node, index: Index) -> Element:
        return (yield node.inputs[0], self.source_index(node, index))


class Gather(Lowering):
    """A read of the first input at run-time positions along the axes from ``axis`` on, one array of positions per axis.

    The dimensions of the (broadcast) positions stand where those axes were. ``checked`` says of which positions the
    bounds are checked.
    """

    def element(self, node: Node, index: Index) -> Element:
        source, *positions = node.inputs
        axis, count = node.attrs["axis"] + source.ndim, node.ndim - source.ndim + len(positions)
        where, shape = index[axis : axis + count], node.shape[axis : axis + count]
        chosen = []
        for each, extent, check in zip(positions, source.shape[axis:], node.attrs["checked"], strict=False):
            own = broadcast_index(each.shape, shape, where)
            chosen.append(checked_index((yield each, own), extent, check, own))
        found = yield source, (*index[:axis], *chosen, *index[axis + count :])
        return with_checks(found, chosen)


def with_checks(element: Scalar, positions: Iterable[Scalar]) -> Scalar:
    """Return an element with the bounds checks of the positions that it was read at, even if it is the same at every
    position: an element of an array of ones is not read at all."""
    checks = [each for each in positions if isinstance(each, CheckedIndex)]
    if checks:
        read = set(walk([element]))
        checks = [each for each in checks if each not in read]
    if not checks:
        return element
    return Apply("first", partial(_first, _itself, 1), (element, *checks), element.dtype)


def _itself(emitter: Emitter, operand: Operand) -> ir.Value:
    return emitter.cast(operand, operand.dtype)


def checked_index(position: Scalar, extent: Extent, check: bool, own: Index = ()) -> Scalar:
    """Return a run-time position, which is the element at ``own`` of an array of positions, as an index of a dimension.

    Where all positions are the same, none of them is out of bounds if there are none.
    """
    if position.dtype != INT64:
        position = index_operation("widen", integers.widen, position)
    if not check:
        return position
    loops = [each for each in walk(own) if isinstance(each, LoopIndex)]
    needed = set(walk([position])) if loops else set()
    return checked(position, extent_scalar(extent), tuple(each for each in loops if each not in needed))


Pull = Callable[[Value, Index], Scalar]
"""``pull(value, index)``: an element of a value, in the nest that is being built."""


def scattered_index(
    positions: Sequence[Value],
    target: Node,
    axis: int,
    checks: Sequence[bool],
    updates: Value,
    index: Index,
    pull: Pull,
) -> Index:
    """Return the index in ``target`` to which the element at ``index`` of the updates goes: the reverse of `Gather`."""
    count = updates.ndim - target.ndim + len(positions)
    where, shape = index[axis : axis + count], updates.shape[axis : axis + count]
    chosen = []
    for each, extent, check in zip(positions, target.shape[axis:], checks, strict=False):
        own = broadcast_index(each.shape, shape, where)
        chosen.append(checked_index(pull(each, own), extent, check, own))
    return (*index[:axis], *chosen, *index[axis + count :])


class Reduce(Lowering):
    """A reduction of all elements along ``axes`` (an attribute)."""

    reducer: Reducer


class Running(Lowering):
    """The running reduction along ``axis`` (an attribute): cumsum and its kind."""

    reducer: Reducer


class ScatterInto(Lowering):
    """A combination of updates into a filled array at run-time positions along the axes from ``axis`` on (see
    `Gather`).

    The inputs are the updates, ``count`` arrays of positions, and the symbolic lengths of the result.
    """

    reducer: Reducer


IndexMap = Callable[[Index, Pull], Index]
"""``index_map(index, pull)``: the index to which an element of a piece goes."""


class Assemble(Lowering):
    """An array put together from pieces: ``pieces(node)`` lists each value and the `IndexMap` of its elements.

    Later pieces overwrite earlier ones. Each piece is stored by a loop nest of its own domain, so none needs a branch.
    """

    pieces: Callable[[Node], list[tuple[Value, IndexMap]]]
    begin: Callable[[Index], Scalar] | None = None
    """``begin(index)``: for a piece that is a part of each row, the start of that part along the last dimension, from
    the index of the row. No two elements go to one place then."""
    reducer: Reducer | None = None
    """What joins the elements of later pieces to those that lie there; None: they overwrite them."""


class Opaque(Lowering):
    """An op that works on whole buffers: no loop nest has a part of it."""


class Control(Opaque):
    """A loop or a branch: it runs the regions that its node holds.

    ``evaluate(*arrays, results, **attrs)`` and ``translate`` give several of its results at once, by number: the one is
    the op's reference, the other its translation, which also says whether a step failed.
    """

    evaluate: Callable[..., Sequence[Any]]
    translate: Callable[..., tuple[Sequence[Any], Any]] | Unsupported


class Routine(Opaque):
    """A call, such as one of BLAS; or one that does the same with each element of a batch."""

    emit: EmitCall
    operands: tuple[int, ...] = ()
    """For each operand, the number of its core dimensions, if there is a batch."""
    ranks: tuple[int, ...] = ()
    """For each result, the number of its core dimensions, if there is a batch."""
    in_place: bool = False
    """Whether it may write its one result into the memory of its first operand."""
    fails_first: bool = False
    """Whether it can fail only before it has written anything."""


Memory = tuple[ArrayType, tuple[Scalar, ...]]
"""The type and the extents of a buffer."""


class Core(Routine):
    """A call that may have several results, and need memory."""

    scratch: Callable[[Node], Sequence[Memory]] = lambda node: ()
    """``scratch(node)``: the memory that the computation of one element needs; all elements use it in turn."""
    cores: tuple[int, ...] = ()
    """For each operand and result, the number of dimensions that must be computed at once; empty: all but the batch
    dimensions."""
    least_rows: int = 1
    """The number of elements, or rows, below which a call spends most of its time on its preparation."""

    @property
    def results(self) -> int:
        return len(self.ranks)


class PythonCall(Core):
    """A call of a Python function; ``evaluate`` and ``translate`` are as those of `Control`."""

    evaluate: Callable[..., Sequence[Any]] = field(kw_only=True)
    translate: Callable[..., tuple[Sequence[Any], Any]] = field(kw_only=True)


Together = Control | PythonCall
"""An op that gives all its results at once, with NumPy and with JAX, too."""


class ComputedAtUse(Protocol):
    """A lowering that gives an element of a node in terms of elements of its inputs.

    ``index`` has one scalar for each dimension of the node. The generator yields ``(input, index)`` for each element
    that it asks for, is sent the scalar that this is, and returns the scalar that is the node's element.
    """

    def element(self, node: Node, index: Index) -> Element: ...


def is_computed_at_use(lower: Lowering | Unsupported) -> TypeGuard[ComputedAtUse]:
    return hasattr(lower, "element")
