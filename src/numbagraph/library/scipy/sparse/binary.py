"""Operations on two sparse arrays while a function is traced, and comparisons with numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.ops.sparse import formats, pairs
from numbagraph.ops.sparse.formats import Form
from numbagraph.tracing.tracer import Tracer

Compare = Callable[[Any, Any], Any]

OF_ZEROS = "it holds where neither has an element, so the result is dense: compare A.toarray()"


class Compared:
    """A class with Python's comparisons, which call one method."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    _compare: Callable[[Any, Compare], Any]

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)


def times(left: Any, right: Any) -> Any:
    """Return the product of two sparse arrays, in SciPy's format: that of the left one, or CSR."""
    name = "csc" if left.format == "csc" else "csr"
    own, its = left._compressed(name), right._compressed(name)
    first, second = (own, its) if name == "csr" else (its.T, own.T)

    def product(data: Value, form: Form, other: Value) -> tuple[Value, ...]:
        data, found = pairs.product(data, form, other, second._pattern.form)
        return data, *found.pattern

    found = own._of("csr", first._call(product, second._data))
    return found if name == "csr" else found.T


def total(left: Any, right: Any) -> Any:
    """Return the sum of two sparse arrays, in SciPy's format."""
    name = "csr" if left.format == "coo" else left.format
    own, its = left._compressed(name), right._compressed(name)

    def added(data: Value, form: Form, other: Value) -> tuple[Value, ...]:
        data, found = pairs.total(data, form, other, its._pattern.form)
        return data, *found.pattern

    return own._of(name, own._call(added, its._data))


def together(left: Any, right: Any, function: Callable[[Any, Any], Any]) -> Any:
    """Apply a function to the elements of two arrays, wherever one of them has any."""
    name = "csr" if left.format == "coo" else left.format
    own, its = left._compressed(name), right._compressed(name)

    def both(data: Value, form: Form, other: Value) -> tuple[Value, ...]:
        data, other, found = pairs.together(data, form, other, its._pattern.form)
        return data, other, *found.pattern

    data, other, *pattern = own._call(both, its._data)
    return own._of(name, (function(data, other), *pattern))


def is_comparable(thing: Any) -> bool:
    """Whether an object may be compared with a sparse array element by element: a number, a dense or a sparse array.
    Others are unequal to any, as in Python."""
    return isinstance(thing, (Tracer, Compared)) or np.asarray(thing).dtype != object or hasattr(thing, "toarray")


def compared(array: Any, number: Any, compare: Compare) -> Any:
    """Compare with a number, where the comparison must not hold for zero."""
    if not isinstance(number, Tracer) and np.asarray(number).dtype.kind not in "biufc":
        raise TypeError(f"a comparison of a sparse array with {number!r}: give a number or an array")
    if not isinstance(number, Tracer) and compare(np.zeros((), array.dtype), number):
        array._refuse(f"a comparison with {number!r}", OF_ZEROS)

    def elements(data: Value, form: Form, other: Any) -> Value:
        del form
        of_zero = registry[NAMES[compare]](np.zeros((), data.dtype), other)
        shapes.require(registry["logical_not"](of_zero), f"a comparison of a sparse array: {OF_ZEROS}", ValueError)
        return registry[NAMES[compare]](data, other)

    own = array._with(array._call(formats.distinct))
    return own._with(own._call(elements, number))._as_sum()


NAMES = {
    operator.eq: "equal", operator.ne: "not_equal", operator.lt: "less", operator.le: "less_equal",
    operator.gt: "greater", operator.ge: "greater_equal",
}  # fmt: skip

HOLDS_FOR_ZEROS = (operator.eq, operator.le, operator.ge)
