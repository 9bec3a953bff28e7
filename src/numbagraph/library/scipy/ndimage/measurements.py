"""`scipy.ndimage`: statistics of the elements that have a label: sums, means, extrema, centres of mass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.library.scipy.arguments import Function, array, double, known, lifted, refuse, require
from numbagraph.tracing.tracer import apply


def positions(shape: Any, axis: int) -> Any:
    """The positions along an axis, in as many dimensions as a shape has."""
    behind = len(shape) - 1 - axis
    return apply(registry["arange"], shape[axis])[(slice(None), *[None] * behind)]


def labelled(image: Any, labels: Any) -> Any:
    """The labels, for each element of an image."""
    return np.broadcast_to(lifted(array(labels)), image.shape)


def chosen(image: Any, labels: Any, index: Any) -> Any:
    """A mask of the elements that have one label, or, without ``index``, a positive one."""
    return labelled(image, labels) > 0 if index is None else labelled(image, labels) == index


def limits(kind: np.dtype) -> tuple[int, int]:
    found = np.iinfo(kind)
    return found.min, found.max


class Groups(NamedTuple):
    """Elements in groups, by the place of their labels among the labels that are asked for."""

    numbers: Any
    """The group of each element; elements of other labels are in a last group."""
    places: Any
    """The group of each label that is asked for, in the shape of the result."""
    blank: Any
    """Zeros, one for each group."""

    @classmethod
    def of(cls, image: Any, labels: Any, index: Any) -> Groups:
        asked = array(index)
        wanted, flat = lifted(np.sort(np.ravel(asked))), np.ravel(labelled(image, labels))
        places = np.searchsorted(wanted, flat)
        count = wanted.shape[0]
        padded = np.concatenate([wanted, np.zeros(1, wanted.dtype)])  # for places behind the last one
        numbers = np.where((padded[places] == flat) & (places < count), places, count)
        blank = np.concatenate([np.zeros_like(wanted, np.float64), np.zeros(1)])
        return cls(numbers, np.searchsorted(wanted, asked), blank)

    def sums(self, values: Any) -> Any:
        """The sum in each group, in doubles. Raise for complex numbers."""
        if values.dtype.kind == "c":
            kinds = f"from {values.dtype!r} to dtype('float64')"
            raise TypeError(f"Cannot cast array data {kinds} according to the rule 'safe'")
        found = lifted(self.blank).copy()
        np.add.at(found, self.numbers, np.ravel(values).astype(np.float64))
        return found

    def counts(self) -> Any:
        """The number of elements in each group."""
        return self.sums(np.ones_like(self.numbers, np.float64))

    def extrema(self, values: Any, is_largest: bool) -> Any:
        """The largest or the smallest value in each group, where NaN is larger than any number; 0 in groups without
        elements."""
        kind = values.dtype
        ends = (-np.inf, np.inf) if kind.kind == "f" else (False, True) if kind.kind == "b" else limits(kind)
        found = lifted(np.full_like(self.blank, ends[not is_largest], kind)).copy()
        if is_largest:
            np.maximum.at(found, self.numbers, values)
        elif kind.kind == "f":
            np.fmin.at(found, self.numbers, values)
            found = np.where(self.sums(~np.isnan(values)) > 0, found, np.array(np.nan, kind))
        else:
            np.minimum.at(found, self.numbers, values)
        return np.where(self.counts() > 0, found, np.zeros((), kind))


def in_double(input: Any) -> Any:
    """Return an array of doubles, or of complex numbers of double precision."""
    image = array(input)
    return image.astype(np.complex128) if image.dtype.kind == "c" else double(image)


def is_single(index: Any) -> bool:
    return index is None or np.ndim(index) == 0


def require_elements(image: Any) -> None:
    require(np.greater(image.size, 0), "zero-size array to reduction operation minimum which has no identity")


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.sum_labels`: of several labels in doubles."""
    image = array(input)
    if labels is None:
        return np.sum(image)
    if is_single(index):
        return np.sum(image, where=chosen(image, labels, index))
    groups = Groups.of(image, labels, index)
    return groups.sums(image)[groups.places]


def counts_of(image: Any, labels: Any, index: Any) -> Any:
    if is_single(index):
        return np.sum(chosen(image, labels, index))
    groups = Groups.of(image, labels, index)
    return groups.counts()[groups.places]


def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.mean`."""
    image = in_double(input)
    if labels is None:
        return np.mean(image)
    return sum_labels(image, labels, index) / counts_of(image, labels, index)


def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.variance`."""
    image = in_double(input)
    if labels is None:
        centred = image - np.mean(image)
    elif is_single(index):
        centred = image - mean(image, labels, index)
    else:
        require_elements(image)
        groups = Groups.of(image, labels, index)
        means = groups.sums(image) / np.maximum(groups.counts(), 1.0)
        centred = np.reshape(np.ravel(image) - means[groups.numbers], image.shape)
    squares = sum_labels(centred * np.conj(centred), labels, index)
    return squares / (image.size if labels is None else counts_of(image, labels, index))


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.standard_deviation`."""
    return np.sqrt(variance(input, labels, index))


def extreme(name: str) -> Function:
    """``maximum`` or ``minimum``. Of several labels, those of no element have 0, and NaN is larger than any number."""

    def call(input: Any, labels: Any = None, index: Any = None) -> Any:
        image = array(input)
        if labels is None:
            return getattr(np, name)(image)
        if is_single(index):
            return getattr(np, name)(image[chosen(image, labels, index)])
        require_elements(image)
        if image.dtype.kind == "c":
            refuse(f"scipy.ndimage.{name}imum of complex numbers by several labels", "call it for each label")
        groups = Groups.of(image, labels, index)
        return groups.extrema(np.ravel(image), name == "max")[groups.places]

    return call


def median(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.median` of all elements, or of one label."""
    image = array(input)
    if image.dtype.kind == "c":
        refuse("scipy.ndimage.median of complex numbers", "np.sort sorts them: take the one in the middle")
    if labels is None:
        return np.median(image)
    if not is_single(index):
        refuse("scipy.ndimage.median of several labels", "np.stack([ndimage.median(x, labels, i) for i in (1, 2)])")
    return np.median(image[chosen(image, labels, index)])


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """`scipy.ndimage.center_of_mass`."""
    image = array(input)
    whole = sum_labels(image, labels, index)
    found = []
    for axis in range(image.ndim):
        places = positions(image.shape, axis).astype(np.float64)
        found.append(sum_labels(image * places, labels, index) / whole)
    if is_single(index) or labels is None:
        return tuple(found)
    (count,) = known(np.ravel(array(index)), "the list that scipy.ndimage.center_of_mass gives for several labels")
    return [tuple(each[number] for each in found) for number in range(count)]


MEASUREMENTS: dict[str, Function] = {
    each.__name__: each for each in (sum_labels, mean, variance, standard_deviation, median, center_of_mass)
}
MEASUREMENTS |= {"sum": sum_labels, "maximum": extreme("max"), "minimum": extreme("min")}
