"""Sums of products over named dimensions: `einsum`, and the products of NumPy that are cases of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_strong, common_rule, convert, promote
from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import conjugate
from numbagraph.ops.diagonals import diagonal
from numbagraph.ops.product import matrix_product, total
from numbagraph.ops.shape import broadcast_value, copy, expand_dims, permute, ravel, reshape_value, squeeze

Label = Any
Labels = tuple[Label, ...]


class Labelled(Struct):
    """A value whose dimensions have names. Dimensions of the same name run together."""

    value: Value
    labels: Labels

    def extent(self, label: Label) -> Any:
        return shapes.resolve(self.value.shape[self.labels.index(label)])

    def ordered(self, labels: Sequence[Label]) -> Labelled:
        """Return the value with its dimensions in the order of ``labels``."""
        return Labelled(permute(self.value, [self.labels.index(label) for label in labels]), tuple(labels))

    def spread(self, labels: Sequence[Label]) -> Value:
        """Return the value with dimensions for all of ``labels``, in their order; those that it lacks have length 1."""
        value = self.ordered([label for label in labels if label in self.labels]).value
        missing = [axis - len(labels) for axis, label in enumerate(labels) if label not in self.labels]
        return expand_dims.bind(value, axes=tuple(missing)) if missing else value

    def summed(self, labels: Collection[Label]) -> Labelled:
        """Return the sum over some of the dimensions."""
        axes = tuple(axis - len(self.labels) for axis, label in enumerate(self.labels) if label in labels)
        rest = tuple(label for label in self.labels if label not in labels)
        return Labelled(total(self.value, axes), rest) if axes else self

    def without_diagonals(self) -> Labelled:
        """Return the value with each name once: where two dimensions have one name, their diagonal remains."""
        value, labels = self.value, list(self.labels)
        for label in dict.fromkeys(self.labels):
            while labels.count(label) > 1:
                first = labels.index(label)
                second = labels.index(label, first + 1)
                text = f"einsum: dimensions {label!r} of one operand have different lengths"
                shapes.require_same(value.shape[first], value.shape[second], text)
                value = diagonal(value, 0, first, second)
                labels = [each for axis, each in enumerate(labels) if axis not in (first, second)] + [label]
        return Labelled(value, tuple(labels))

    def without_stretched(self, other: Labelled) -> Labelled:
        """Return the value without those dimensions of length 1 that are longer in ``other``."""
        ones = [
            label
            for label in self.labels
            if label in other.labels and self.extent(label) == 1 and other.extent(label) != 1
        ]
        axes = tuple(self.labels.index(label) - len(self.labels) for label in ones)
        rest = tuple(label for label in self.labels if label not in ones)
        return Labelled(squeeze.bind(self.value, axes=axes), rest) if axes else self

    def stretched(self, label: Label, extent: Any) -> Labelled:
        """Return the value with the length ``extent`` along a dimension whose own length may turn out to be 1."""
        axis = self.labels.index(label)
        if shapes.same(self.value.shape[axis], extent):
            return self
        shape = [*self.value.shape[:axis], extent, *self.value.shape[axis + 1 :]]
        return Labelled(broadcast_value(self.value, shape), self.labels)


def contraction(left: Labelled, right: Labelled, kept: Collection[Label]) -> Labelled:
    """Return the product of two operands, summed over all dimensions but those that are kept."""
    left, right = left.without_stretched(right), right.without_stretched(left)
    left, right = (
        one.summed([label for label in one.labels if label not in kept and label not in other.labels])
        for one, other in ((left, right), (right, left))
    )
    shared = [label for label in left.labels if label in right.labels]
    for label in shared:
        text = (
            f"lengths of the dimensions {label!r} differ{shapes.lengths_text(left.extent(label), right.extent(label))}"
        )
        common = shapes.broadcast_extents(left.extent(label), right.extent(label), text)
        left, right = left.stretched(label, common), right.stretched(label, common)
    batch = [label for label in shared if label in kept]
    summed = [label for label in shared if label not in kept]
    rows = [label for label in left.labels if label not in shared]
    columns = [label for label in right.labels if label not in shared]
    if summed and rows and columns:
        return matrix_contraction(left, right, batch, rows, summed, columns)
    order = loop_order(left, right, [*batch, *rows, *summed, *columns])
    return Labelled(left.spread(order) * right.spread(order), tuple(order)).summed(summed)


def loop_order(left: Labelled, right: Labelled, labels: list[Label]) -> Sequence[Label]:
    """Return the labels of an operand that has all dimensions, so that the loops run along its memory; else
    ``labels``."""
    return next((one.labels for one in (left, right) if len(one.labels) == len(labels)), labels)


def matrix_contraction(
    left: Labelled, right: Labelled, batch: list[Label], rows: list[Label], summed: list[Label], columns: list[Label]
) -> Labelled:
    """Contract two operands by a product of matrices, whose rows and columns may each stand for several dimensions."""
    product = matrix_product(grouped(left, batch, rows, summed), grouped(right, batch, summed, columns))
    extents = [*product.shape[: len(batch)], *map(left.extent, rows), *map(right.extent, columns)]
    return Labelled(reshape_value(product, extents), (*batch, *rows, *columns))


def grouped(operand: Labelled, batch: list[Label], first: list[Label], second: list[Label]) -> Value:
    """Return the operand as a stack of matrices; no copy is made where the memory already has its dimensions in this
    order, or in that of the transposed matrices."""
    if operand.labels == (*batch, *second, *first):
        matrices = grouped_in_order(operand, batch, second, first)
        return permute(matrices, [*range(len(batch)), len(batch) + 1, len(batch)])
    return grouped_in_order(operand.ordered([*batch, *first, *second]), batch, first, second)


def grouped_in_order(operand: Labelled, batch: list[Label], first: list[Label], second: list[Label]) -> Value:
    lengths = [shapes.product([operand.extent(label) for label in group]) for group in (first, second)]
    return reshape_value(operand.value, [*operand.value.shape[: len(batch)], *lengths])


def contract(operands: Sequence[Labelled], result: Labels) -> Value:
    """The sum of the product of all operands, from the left to the right."""
    first, *rest = [operand.without_diagonals() for operand in operands]
    for number, operand in enumerate(rest):
        later = {label for each in rest[number + 1 :] for label in each.labels}
        first = contraction(first, operand, later.union(result))
    return first.summed([label for label in first.labels if label not in result]).ordered(result).value


def einsum_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    shapes_ = {"i": 3, "j": 4, "k": 5, "l": 2, "a": 2}
    texts = (
        "ij,jk->ik", "ij,jk", "i,i", "ij->ji", "ij->", "ii", "aij,ajk->aik", "ij,j", "ij,i->j", "i,j->ij",
        "ij,jk,kl->il", "ijk,jk->i", "aij,bjk->abik", "ij,ij->ij", "...ij,...jk->...ik", "i...->...", "ijk,lji->kl",
        "ijj->ji", "ij",
    )  # fmt: skip
    calls = []
    for text in texts:
        terms = text.partition("->")[0].replace("...", "a").replace("b", "l").split(",")
        calls.append((text, *[draw(rng, dtype, tuple(shapes_[label] for label in term)) for term in terms]))
    return calls


def renamed(*operands: Any, **_: Any) -> Any:
    """Return the only operand of an einsum that sums over nothing; None for any other einsum."""
    if len(operands) == 2 and isinstance(operands[0], str):
        inputs, arrow, output = operands[0].replace(" ", "").partition("->")
        term, result, operand = term_of_text(inputs), term_of_text(output) if arrow else None, operands[1]
    elif len(operands) in (2, 3) and not isinstance(operands[0], str):
        (operand, term), result = operands[:2], operands[2] if len(operands) == 3 else None
    else:
        return None
    sums = len(set(term)) < len(term) if result is None else set(term) != set(result)
    return None if sums else operand


@decomposition(np.einsum, samples=einsum_samples, ulp=32, view_of=renamed)
def einsum(*operands: Any, out: None = None, optimize: Any = False, dtype: Any = None, **_: Any) -> Value:
    if out is not None:
        raise TypeError("out= is not supported in a traced function: use the value that is returned")
    terms, result, arrays = subscripts_of(operands)
    values = promote(common_rule(), map(as_strong, arrays))
    if dtype is not None:
        values = tuple(convert(value, canonical_dtype(dtype)) for value in values)
    labelled = [named(value, term) for value, term in zip(values, terms, strict=True)]
    return contract(labelled, result_labels(labelled, terms, result))


def subscripts_of(operands: Sequence[Any]) -> tuple[list[Labels], Labels | None, Sequence[Any]]:
    """Return the names of the operands' dimensions, those of the result if they are given, and the operands."""
    if isinstance(operands[0], str):
        inputs, arrow, output = operands[0].replace(" ", "").partition("->")
        terms = [term_of_text(term) for term in inputs.split(",")]
        arrays, result = operands[1:], term_of_text(output) if arrow else None
    else:
        pairs = len(operands) // 2 * 2
        arrays = operands[0:pairs:2]
        terms = [term_of_list(each) for each in operands[1:pairs:2]]
        result = term_of_list(operands[-1]) if len(operands) % 2 else None
    if len(terms) != len(arrays):
        raise ValueError(f"einsum: the subscripts name {len(terms)} operands, and {len(arrays)} are given")
    return terms, result, arrays


def term_of_list(term: Any) -> Labels:
    if not isinstance(term, (list, tuple)) or not all(
        each is ... or isinstance(each, (int, np.integer)) for each in term
    ):
        given = f"an array ({term.type})" if isinstance(term, Value) else repr(term)
        raise TypeError(
            "each subscript must be either an integer or an ellipsis, in a list behind its operand, as in "
            f"np.einsum(x, [0, 1], y, [1, 2], [0, 2]); this is {given}"
        )
    return tuple(term)


def term_of_text(term: str) -> Labels:
    before, dots, after = term.partition("...")
    for character in before + after:
        if not character.isalpha():
            raise ValueError(f"einsum: invalid subscript {character!r} in {term!r}; subscripts are letters and '...'")
    return (*before, *([...] if dots else []), *after)


def named(value: Value, term: Labels) -> Labelled:
    """Return a value with its dimensions' names; those behind an ellipsis are numbered from the right."""
    names = [label for label in term if label is not ...]
    extra = value.ndim - len(names)
    if extra < 0 or (extra > 0 and ... not in term):
        raise ValueError(f"einsum: {len(names)} subscripts for an operand of {value.ndim} dimensions")
    if ... not in term:
        return Labelled(value, term)
    begin = term.index(...)
    hidden = [("...", number - extra) for number in range(extra)]
    return Labelled(value, (*term[:begin], *hidden, *term[begin + 1 :]))


def result_labels(operands: Sequence[Labelled], terms: Sequence[Labels], result: Labels | None) -> Labels:
    """Return the result's names. If they are not given: those behind an ellipsis, and then those that occur once,
    sorted."""
    every = [label for operand in operands for label in operand.labels]
    hidden = sorted({label for label in every if isinstance(label, tuple)}, key=lambda label: label[1])
    if result is None:
        return (*hidden, *sorted(label for label in every if label not in hidden and every.count(label) == 1))
    for label in result:
        if label is not ... and (label not in every or result.count(label) > 1):
            raise ValueError(f"einsum: output subscript {label!r} must occur once, and in an operand")
    if hidden and ... not in result:
        raise ValueError("einsum: the output must have an ellipsis, since an operand has dimensions behind one")
    begin = result.index(...) if ... in result else 0
    return (*result[:begin], *hidden, *result[begin + 1 :]) if ... in result else result


def pair_samples(*pairs: tuple[Any, ...]) -> Callable[..., Any]:
    """Return samples with two operands for each pair of shapes, and further arguments."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        return [(draw(rng, dtype, left), draw(rng, dtype, right), *rest) for left, right, *rest in pairs]

    return samples


def along(prefix: str, count: int) -> list[Label]:
    return [(prefix, number) for number in range(count)]


def summed_product(left: Value, right: Value, axes: Sequence[tuple[int, int]]) -> Value:
    """Return the product of two arrays, summed over pairs of dimensions (counted from the left); the other dimensions
    follow each other."""
    names = along("left", left.ndim), along("right", right.ndim)
    aligned = " and ".join(shapes.shape_text(value.shape) for value in (left, right))
    for number, (first, second) in enumerate(axes):
        text = f"lengths that are summed over differ: axes {first} and {second} of {aligned}"
        shapes.require_same(left.shape[first], right.shape[second], text)
        names[0][first] = names[1][second] = ("sum", number)
    result = tuple(label for label in (*names[0], *names[1]) if label[0] != "sum")
    return contract([Labelled(left, tuple(names[0])), Labelled(right, tuple(names[1]))], result)


@decomposition(
    np.tensordot,
    implements=(np.linalg.tensordot,),
    samples=pair_samples(
        ((2, 3, 4), (3, 4, 5)), ((3, 4), (4, 5), 1), ((3,), (4,), 0), ((2, 3, 4), (4, 3, 2), ((2, 1), (0, 1)))
    ),
    ulp=32,
)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Value:
    left, right = promote(common_rule(), map(as_strong, (a, b)))
    result = summed_product(left, right, axis_pairs(left, right, axes))
    return result if result.ndim else copy.bind(result)  # which NumPy returns as an array


def axis_pairs(left: Value, right: Value, axes: Any) -> list[tuple[int, int]]:
    if isinstance(axes, (int, np.integer)):
        if axes > left.ndim or axes > right.ndim:
            raise IndexError(
                f"tensordot: operands of {left.ndim} and {right.ndim} dimensions have no {axes} axes to sum over"
            )
        return [(left.ndim - int(axes) + number, number) for number in range(int(axes))]
    first, second = (each if isinstance(each, (tuple, list)) else (each,) for each in axes)
    if len(first) != len(second):
        raise ValueError("tensordot: shape-mismatch for sum: as many axes of one operand as of the other")
    pairs = [(from_left(left, i), from_left(right, j)) for i, j in zip(first, second, strict=True)]
    if any(len({*each}) < len(pairs) for each in zip(*pairs, strict=True)):
        raise ValueError("duplicate axes are not allowed in tensordot")
    return pairs


def from_left(value: Value, axis: int) -> int:
    return shapes.normalise_axis(axis, value.ndim) + value.ndim


@decomposition(
    np.dot,
    samples=pair_samples(((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((2, 3, 4), (5, 4, 6))),
    ulp=16,
)
def dot(a: Any, b: Any, out: None = None) -> Value:
    if out is not None:
        raise TypeError("out= is not supported in a traced function: use the value that is returned")
    left, right = promote(common_rule(), map(as_strong, (a, b)))
    if not left.ndim or not right.ndim:
        return left * right
    return summed_product(left, right, [(left.ndim - 1, max(right.ndim - 2, 0))])


@decomposition(np.inner, samples=pair_samples(((3,), (3,)), ((2, 3), (4, 3)), ((2, 3, 4), (4,))), ulp=16)
def inner(a: Any, b: Any) -> Value:
    left, right = promote(common_rule(), map(as_strong, (a, b)))
    if not left.ndim or not right.ndim:
        return left * right
    return summed_product(left, right, [(left.ndim - 1, right.ndim - 1)])


@decomposition(np.vdot, samples=pair_samples(((3,), (3,)), ((2, 3), (3, 2))), ulp=16)
def vdot(a: Any, b: Any) -> Value:
    left, right = (ravel(value) for value in promote(common_rule(), map(as_strong, (a, b))))
    return summed_product(conjugate(left) if left.dtype.kind == "c" else left, right, [(0, 0)])


@decomposition(np.outer, implements=(np.linalg.outer,), samples=pair_samples(((3,), (4,)), ((2, 3), (4,))))
def outer(a: Any, b: Any, out: None = None) -> Value:
    if out is not None:
        raise TypeError("out= is not supported in a traced function: use the value that is returned")
    left, right = (ravel(value) for value in promote(common_rule(), map(as_strong, (a, b))))
    return summed_product(left, right, [])
