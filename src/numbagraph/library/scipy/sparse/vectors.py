"""SciPy's sparse arrays of one dimension while a function is traced: arrays of one row, whose row dimension is
hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.sparse.arrays import (
    BINARY,
    KEEP_ZERO,
    UNARY,
    Pattern,
    SparseArray,
    is_scalar,
    is_vector,
    sparse_or_dense,
)
from numbagraph.library.scipy.sparse.binary import Compare, Compared, is_comparable
from numbagraph.ops.creation import filled, number_as
from numbagraph.runtime.arguments import register_node
from numbagraph.tracing.errors import OnlyTraced, TraceError, user_source
from numbagraph.tracing.sparse_pytrees import ALL_PARTS, Parts
from numbagraph.tracing.trace import refused
from numbagraph.tracing.tracer import apply

ALIKE = frozenset("copy astype conj conjugate power tocoo tocsr __neg__ __pos__ __abs__".split()) | KEEP_ZERO
"""The methods that return an array of the same shape."""
NUMBERS = frozenset(("max", "min"))


class SparseVector(Compared, OnlyTraced):
    """A stand-in for a sparse array of SciPy of one dimension, with its methods."""

    __slots__ = ("_row",)
    __array_priority__ = 1002
    has_operators = True
    ndim = 1

    def __init__(self, row: SparseArray) -> None:
        self._row = row

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return load(f"scipy.sparse:{self.format}_array")

    def __repr__(self) -> str:
        return f"SparseVector({self._row!r})"

    def __getattr__(self, name: str) -> Any:
        if name in ALIKE:
            return lambda *args, **kwargs: SparseVector(getattr(self._row, name)(*args, **kwargs))
        if name in NUMBERS or name in ("dtype", "format", "nnz", "size"):
            return getattr(self._row, name)
        if name in ("indices", "indptr") and self.format == "csr":
            return getattr(self._row, name)
        if name.startswith("_") or not hasattr(self.__class__, name):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        return self._refuse(name)

    def _refuse(
        self, what: str, instead: str = "compute it of .toarray(), or of A[i:i+1], which has a row"
    ) -> NoReturn:
        text = f"{what} of a {self.format}_array of one dimension is not supported in a traced function: {instead}"
        raise refused(TraceError(f"{text}\n  at {user_source()}"))

    def operand(self) -> Any:
        """Raise: NumPy's functions take dense arrays."""
        self._refuse("a function of NumPy", "write a @ x, a * x or a.toarray()")

    def _all_parts(self) -> Parts:
        parts = self._row._all_parts()
        data, *positions, lengths = parts.parts
        return Parts(f"{self.format} vector", (data, *(positions[1:] if self.format == "coo" else positions), lengths))

    # ---- parts ----

    @property
    def data(self) -> Any:
        """The elements."""
        return self._row.data

    @data.setter
    def data(self, elements: Any) -> None:
        self._row.data = elements

    @property
    def shape(self) -> tuple[Any]:
        return self._row.shape[1:]

    @property
    def coords(self) -> tuple[Any]:
        return self._row.coords[1:]

    @property
    def col(self) -> Any:
        return self._row.col

    @property
    def T(self) -> SparseVector:
        return self

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        return self._row.toarray(order, out)[0]

    todense = toarray

    # ---- what is computed ----

    def from_left(self, matrix: SparseArray) -> SparseVector:
        """``matrix @ self``."""
        return SparseVector((matrix @ self._row.T).T.tocoo())

    def __matmul__(self, other: Any) -> Any:
        other = sparse_or_dense(other)
        if is_vector(other):
            return (self._row @ other.toarray())[0]
        found = self._row @ other
        return SparseVector(found.tocoo()) if isinstance(found, SparseArray) else found[0]

    def __rmatmul__(self, other: Any) -> Any:
        other = sparse_or_dense(other)
        return (self._row @ np.transpose(other))[0]

    def dot(self, other: Any) -> Any:
        return self * other if is_scalar(other) else self @ other

    def _pair(self, name: str, other: Any) -> Any:
        """Return the result of a method with a number, or with a vector."""
        other = other if is_scalar(other) else sparse_or_dense(other)
        if not is_scalar(other) and other.ndim != 1:
            self._refuse(f"{name.strip('_')} with an array of {other.ndim} dimensions")
        found = getattr(self._row, name)(other._row if is_vector(other) else other)
        return SparseVector(found) if isinstance(found, SparseArray) else found[0]

    def multiply(self, other: Any) -> Any:
        return self._pair("multiply", other)

    __mul__ = multiply
    __rmul__ = multiply

    def __truediv__(self, other: Any) -> Any:
        return self._pair("__truediv__", other)

    def __add__(self, other: Any) -> Any:
        return self._pair("__add__", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._pair("__sub__", other)

    def __rsub__(self, other: Any) -> Any:
        return self._pair("__rsub__", other)

    def __neg__(self) -> SparseVector:
        return SparseVector(-self._row)

    def __pos__(self) -> SparseVector:
        return self.copy()

    def __abs__(self) -> SparseVector:
        return SparseVector(abs(self._row))

    def __pow__(self, n: Any) -> SparseVector:
        return SparseVector(self._row.power(n))

    def _reduced(self, name: str, axis: Any, **options: Any) -> Any:
        if axis not in (None, 0, -1, (0,), (-1,)):
            raise ValueError(f"axis must be 0 or -1 of an array of one dimension, not {axis!r}")
        return getattr(self._row, name)(None, **options)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return self._reduced("sum", axis, dtype=dtype, out=out)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return self._reduced("mean", axis, dtype=dtype, out=out)

    @property
    def real(self) -> SparseVector:
        return SparseVector(self._row.real)

    @property
    def imag(self) -> SparseVector:
        return SparseVector(self._row.imag)

    # ---- what Python and NumPy ask ----

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__
        if method == "__call__" and not kwargs:
            if name in KEEP_ZERO or name in UNARY:
                return getattr(inputs[0], UNARY.get(name, name))()
            if name in BINARY:
                left, right = inputs
                own, reflected = BINARY[name]
                if is_vector(left):
                    return getattr(left, own)(right)
                if hasattr(type(self), reflected):
                    return getattr(right, reflected)(left)
        return self._refuse(f"numpy.{name}")

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0] etc.")

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all().")

    def __iter__(self) -> NoReturn:
        self._refuse("iteration", "iterate over .toarray()")

    def __getitem__(self, key: Any) -> Any:
        keys = [each for each in (key if isinstance(key, tuple) else (key,)) if each is not Ellipsis] or [slice(None)]
        if len(keys) > 1:
            raise IndexError("too many indices for a sparse array of one dimension")
        (place,) = keys
        is_number = place is not None and not isinstance(place, slice) and np.ndim(place) == 0
        return self._row[0, place] if is_number else SparseVector(self._row[:, place])

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        self._refuse("assignment to elements", "assign to a.data[...]")

    def _compare(self, other: Any, compare: Compare) -> Any:
        if not is_comparable(other):
            return NotImplemented
        own = sparse_or_dense(other)
        found = compare(self._row, own._row if is_vector(own) else own)
        return SparseVector(found) if isinstance(found, SparseArray) else found[0]


def of_parts(form: str, data: Any, positions: Sequence[Any], lengths: Any) -> SparseVector:
    """Return the array that has such parts, which are those of an array of one row, but for a COO array's rows."""
    name = form.partition(" ")[0]
    if name == "coo":
        (places,) = positions
        rows = apply(lambda columns: filled(number_as(0, columns.dtype), columns.shape), places)
        positions = rows, places
    return SparseVector(SparseArray(data, Pattern(name, tuple(positions), lengths), is_own=False))


def apart(array: SparseVector) -> tuple[Any, ...]:
    return (array._row,), None, ("row",)


def together(_: None, children: Any) -> SparseVector:
    return SparseVector(*children)


register_node(SparseVector, apart, together)
ALL_PARTS[SparseVector] = SparseVector._all_parts
