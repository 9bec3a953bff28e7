"""SciPy's sparse arrays while a function is traced: traced elements, and positions that are traced arrays as well.

To derivatives and loops such an array is the vector of its elements, since its pattern is none of their matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from numbagraph.ir.op import load
from numbagraph.ir.values import Value
from numbagraph.library.scipy.sparse import binary, indexing
from numbagraph.ops.sparse import formats
from numbagraph.ops.sparse import pairs as sparse_products
from numbagraph.ops.sparse.formats import Form
from numbagraph.runtime.arguments import register_node
from numbagraph.tracing.errors import OnlyTraced, TraceError, user_source
from numbagraph.tracing.replacements import replacements
from numbagraph.tracing.sparse_pytrees import ALL_PARTS, NAMES, OF_VECTORS, Parts, form_of, parts_of
from numbagraph.tracing.trace import refused
from numbagraph.tracing.tracer import Tracer, apply, to_value

KEEP_ZERO = frozenset(
    "arcsin arcsinh arctan arctanh ceil deg2rad expm1 floor log1p rad2deg rint sign sin sinh sqrt tan tanh "
    "trunc".split()
)
"""The ufuncs that SciPy has as methods of sparse arrays, since they map zero to zero."""


class Pattern:
    """The places of the elements, which are shared by all arrays that differ in their elements alone."""

    def __init__(self, name: str, positions: tuple[Any, ...], lengths: Any) -> None:
        self.name = name
        self.positions = positions
        self.lengths = lengths

    def __repr__(self) -> str:
        return f"pattern of a {self.name}_array"

    @property
    def form(self) -> Form:
        return Form(self.name, *(to_value(each) for each in (*self.positions, self.lengths)))


class SparseArray(binary.Compared, OnlyTraced):
    """A stand-in for a sparse array of SciPy, with its methods."""

    __slots__ = ("_data", "_is_own", "_pattern")
    __array_priority__ = 1001
    has_operators = True
    ndim = 2

    def __init__(self, data: Any, pattern: Pattern, *, is_own: bool = True) -> None:
        if isinstance(data, Tracer) and data.ndim != 1:
            raise TraceError(
                "a batch of sparse arrays is no sparse array: map over dense operands (in_axes of the sparse one is "
                f"None), and return .data or .toarray() of a sparse result\n  at {user_source()}"
            )
        self._data: Any = data
        self._pattern = pattern
        self._is_own = is_own

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return load(f"scipy.sparse:{self.format}_array")

    def __repr__(self) -> str:
        return f"SparseArray({self.format}, {self._data!r})"

    def __getattr__(self, name: str) -> Any:
        if name in NAMES[self.format]:
            return self._pattern.positions[NAMES[self.format].index(name)]
        kind = self.__class__
        if name.startswith("_") or not hasattr(kind, name):
            if not name.startswith("__"):  # a function of SciPy's asks, which converted code may call another one for
                refused(TraceError(f"a traced {kind.__name__} has no attribute {name!r}\n  at {user_source()}"))
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        if name in KEEP_ZERO:
            return lambda: self._of_elements(getattr(np, name))
        return self._refuse(name)

    def _refuse(self, what: str, instead: str = "compute it outside, or of .toarray(), .data or .indices") -> NoReturn:
        kind = self.__class__.__name__
        text = f"{what} of a {kind} is not supported in a traced function: {instead}\n  at {user_source()}"
        raise refused(TraceError(text))

    def operand(self) -> Any:
        """Raise: NumPy's functions take dense arrays."""
        self._refuse("a function of NumPy", "write A @ x, A * x or A.toarray()")

    # ---- parts ----

    @property
    def data(self) -> Any:
        """The elements."""
        return self._data

    @data.setter
    def data(self, elements: Any) -> None:
        if elements is self._data:  # A.data *= 2
            return
        if not self._is_own:
            self._refuse("an assignment to .data", "assign to A.data[...], or to the data of A.copy()")
        self._data = as_tracer(elements)

    @property
    def format(self) -> str:
        return self._pattern.name

    @property
    def shape(self) -> tuple[Any, Any]:
        rows, columns = self._pattern.lengths.shape[1:]
        return (columns, rows) if self.format == "csc" else (rows, columns)

    @property
    def dtype(self) -> np.dtype:
        return self._data.dtype

    @property
    def nnz(self) -> Any:
        return self._data.shape[0]

    size = nnz

    @property
    def coords(self) -> tuple[Any, Any]:
        if self.format != "coo":
            raise AttributeError(f"'{self.format}_array' object has no attribute 'coords'")
        return self._pattern.positions

    def _all_parts(self) -> Parts:
        pattern = self._pattern
        return Parts(self.format, (self._data, *pattern.positions, pattern.lengths))

    # ---- how others are made ----

    def _call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function of the elements, of their places, and of other values."""
        pattern, options = self._pattern, kwargs

        def call(data: Value, *values: Any) -> Any:
            return function(data, pattern.form, *values, **options)

        call.__name__ = f"{self.format}_array.{function.__name__}"
        return apply(call, self._data, *args)

    def _with(self, data: Any) -> SparseArray:
        """Return an array with other elements at the same places."""
        return SparseArray(data, self._pattern)

    def _of(self, name: str, parts: Any) -> SparseArray:
        """Return an array of computed elements and positions, with its lengths as the last part."""
        data, first, second, lengths = parts
        return SparseArray(data, Pattern(name, (first, second), lengths))

    def _of_elements(self, function: Callable[[Any], Any]) -> SparseArray:
        """Apply a function that is not linear to each element, after elements at one place have been added."""
        return self._with(function(self._call(formats.distinct)))

    def _same_pattern(self, other: SparseArray) -> bool:
        """Whether elements of two arrays are at the same places, one by one."""
        own, its = self._pattern, other._pattern
        pairs = zip((*own.positions, own.lengths), (*its.positions, its.lengths), strict=True)
        return own.name == its.name and all(to_value(one) is to_value(another) for one, another in pairs)

    # ---- conversions ----

    def copy(self) -> SparseArray:
        return self._with(self._data.copy())

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> SparseArray:
        return self._with(self._data.astype(dtype, casting=casting, copy=copy))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        if out is not None:
            self._refuse("toarray with out=", "leave out= away")
        del order
        return self._call(formats.dense)

    todense = toarray

    def tocoo(self, copy: bool = False) -> SparseArray:
        del copy
        if self.format == "coo":
            return self
        coordinates = self._call(lambda data, form: tuple(form.coordinates))
        lengths = self._pattern.lengths
        lengths = lengths.transpose(0, 2, 1) if self.format == "csc" else lengths
        return SparseArray(self._data, Pattern("coo", coordinates, lengths))

    def _compressed(self, name: str) -> SparseArray:
        if self.format == name:
            return self

        def parts(data: Value, form: Form) -> tuple[Value, ...]:
            data, found = formats.compressed(data, form, name)
            return data, *found.pattern

        return self._of(name, self._call(parts))

    def tocsr(self, copy: bool = False) -> SparseArray:
        del copy
        return self._compressed("csr")

    def tocsc(self, copy: bool = False) -> SparseArray:
        del copy
        return self._compressed("csc")

    def asformat(self, format: str | None, copy: bool = False) -> SparseArray:
        del copy
        if format is not None and format not in NAMES:
            self._refuse(f"asformat({format!r})")
        return self if format is None else getattr(self, f"to{format}")()

    def transpose(self, axes: Any = None, copy: bool = False) -> SparseArray:
        if axes not in (None, (1, 0)):
            raise ValueError("Sparse arrays/matrices do not support an 'axes' parameter but (1, 0)")
        del copy
        name, pattern = self.format, self._pattern
        if name != "coo":
            return SparseArray(self._data, Pattern(formats.FLIPPED[name], pattern.positions, pattern.lengths))
        return SparseArray(self._data, Pattern(name, pattern.positions[::-1], pattern.lengths.transpose(0, 2, 1)))

    @property
    def T(self) -> SparseArray:
        return self.transpose()

    # ---- products and sums ----

    def __matmul__(self, other: Any) -> Any:
        other = sparse_or_dense(other)
        if is_vector(other):
            return other.from_left(self)
        if isinstance(other, SparseArray):
            return binary.times(self, other)
        if not np.ndim(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._call(formats.product, other)

    def __rmatmul__(self, other: Any) -> Any:
        other = sparse_or_dense(other)
        if isinstance(other, SparseArray):
            return other @ self
        if not np.ndim(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return np.transpose(self.T @ np.transpose(other))

    def dot(self, other: Any) -> Any:
        return self * other if is_scalar(other) else self @ other

    def multiply(self, other: Any) -> Any:
        if is_scalar(other):
            return self._with(self._data * other)
        other = sparse_or_dense(other)
        if is_vector(other):
            return self.multiply(other.toarray())._as_sum()
        if not isinstance(other, SparseArray):
            return self.tocoo()._with(self._data * self._call(formats.factors, other))
        if self._same_pattern(other):
            return self._of_elements(lambda data: data * other._data)._as_sum()
        name = "csr" if self.format == "coo" else self.format
        own, its = self._compressed(name), other._compressed(name)
        pattern = own._pattern
        found = its._call(lambda data, form: formats.looked_up(data, form, pattern.form))
        return own._with(own._data * found)

    __mul__ = multiply
    __rmul__ = multiply

    def __truediv__(self, other: Any) -> Any:
        if is_scalar(other):
            return self._with(self._data / other)
        other = sparse_or_dense(other)
        if isinstance(other, SparseArray):
            self._refuse("the quotient of sparse arrays", "A.toarray() / B.toarray() is the dense quotient")
        return self.multiply(np.divide(1, other))

    def _added(self, other: Any, sign: int) -> Any:
        if is_scalar(other):
            if isinstance(other, Tracer) or other:
                raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")
            return self.copy()
        other = sparse_or_dense(other)
        if not isinstance(other, SparseArray):
            return self.toarray() + other if sign > 0 else self.toarray() - other
        if not self._same_pattern(other):  # what is no number of its own dtype below 0 may be one of both
            both = np.result_type(self.dtype, other.dtype)
            return binary.total(self, other if sign > 0 else -other.astype(both))
        return self._with(self._data + other._data if sign > 0 else self._data - other._data)._as_sum()

    def _as_sum(self) -> SparseArray:
        """Convert to the format that SciPy gives the sum of two arrays."""
        return self.tocsr() if self.format == "coo" else self

    def __add__(self, other: Any) -> Any:
        return self._added(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._added(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._added(other, 1)

    def __neg__(self) -> SparseArray:
        return self._with(-self._data)

    def __pos__(self) -> SparseArray:
        return self.copy()

    def __abs__(self) -> SparseArray:
        return self._of_elements(np.abs)

    def power(self, n: Any, dtype: Any = None) -> SparseArray:
        if not is_scalar(n):
            raise NotImplementedError("input is not scalar")
        if not isinstance(n, Tracer) and not n:
            raise NotImplementedError("zero power is not supported as it would densify the matrix")
        own = self if dtype is None else self.astype(dtype)
        return own._of_elements(lambda data: data**n)

    __pow__ = power

    def conj(self, copy: bool = True) -> SparseArray:
        del copy
        return self._with(np.conj(self._data))

    conjugate = conj

    @property
    def real(self) -> SparseArray:
        return self._with(self._data.real)

    @property
    def imag(self) -> SparseArray:
        return self._with(self._data.imag)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if out is not None:
            self._refuse("a sum with out=", "leave out= away")
        axis = normalised(axis)
        if axis is None:
            return np.sum(self._data, dtype=dtype)
        found = self._call(formats.total, axis=axis, dtype=sum_dtype(self.dtype))
        return found if dtype is None else found.astype(dtype)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        axis = normalised(axis)
        inner = np.dtype(np.float64) if self.dtype.kind in "biu" else self.dtype
        count = self.shape[0] * self.shape[1] if axis is None else self.shape[axis]
        found = (self.astype(inner) * (1.0 / count)).sum(axis, inner, out)
        return found if dtype is None else found.astype(dtype)

    def diagonal(self, k: int = 0) -> Any:
        return self._call(formats.diagonal, k=int(k))

    def trace(self, offset: int = 0) -> Any:
        return self.diagonal(offset).sum()

    def _extreme(self, name: str, axis: Any, out: Any) -> Any:
        if axis is not None or out is not None or self.dtype.kind == "c":
            self._refuse(f"{name}() along an axis, with out=, or of complex numbers", "compute it of A.toarray()")
        return self._with(self._call(formats.distinct))._call(sparse_products.extreme, name=name)

    def max(self, axis: Any = None, out: Any = None) -> Any:
        return self._extreme("max", axis, out)

    def min(self, axis: Any = None, out: Any = None) -> Any:
        return self._extreme("min", axis, out)

    # ---- what NumPy asks ----

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__
        if method == "__call__" and not kwargs:
            if name in KEEP_ZERO or name in UNARY:
                return getattr(inputs[0], UNARY.get(name, name))()
            if name in BINARY:
                left, right = inputs
                own, reflected = BINARY[name]
                if isinstance(left, SparseArray):
                    return getattr(left, own)(right)
                if hasattr(self, reflected):
                    return getattr(right, reflected)(left)
        return self._refuse(f"numpy.{name}")

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0] etc.")

    def __bool__(self) -> bool:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all().")

    def __iter__(self) -> NoReturn:
        self._refuse("iteration over the rows")

    def __getitem__(self, key: Any) -> Any:
        return indexing.item(self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        self._refuse("assignment to elements", "assign to A.data[...]")

    def _compare(self, other: Any, compare: binary.Compare) -> Any:
        if not binary.is_comparable(other):
            return NotImplemented
        if is_scalar(other):
            return binary.compared(self, other, compare)
        other = sparse_or_dense(other)
        if not isinstance(other, SparseArray):
            return compare(self.toarray(), other)
        if compare in binary.HOLDS_FOR_ZEROS:
            self._refuse("this comparison of two sparse arrays", binary.OF_ZEROS)
        return binary.together(self, other, compare)


UNARY = {"negative": "__neg__", "absolute": "__abs__", "positive": "__pos__", "conjugate": "conj"}
BINARY = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "power": ("__pow__", "__rpow__"),
}
"""Python's operators by NumPy's names."""


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of sums along an axis, as SciPy has it."""
    if dtype.kind == "u":
        return np.dtype(np.uint)
    return np.dtype(np.int_) if np.can_cast(dtype, np.int_) else dtype


def normalised(axis: Any) -> int | None:
    """Return an axis, counted from the left; None stands for both."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    if axis is None or sorted(each % 2 for each in axes) == [0, 1]:
        return None
    if len(axes) != 1 or not -2 <= axes[0] < 2:
        raise ValueError(f"axis must be an integer between -2 and 1, not {axis!r}")
    return int(axes[0]) % 2


def is_scalar(thing: Any) -> bool:
    return not isinstance(thing, SparseArray) and not is_vector(thing) and not is_scipys(thing) and np.ndim(thing) == 0


def is_scipys(thing: Any) -> bool:
    """Whether something is a sparse array or matrix of SciPy."""
    return type(thing).__module__.startswith("scipy.sparse.") and hasattr(thing, "format")


def as_tracer(array: Any) -> Tracer:
    return array if isinstance(array, Tracer) else Tracer(to_value(np.asarray(array)))


def is_vector(thing: Any) -> bool:
    """Whether something is a traced sparse array of one dimension."""
    return hasattr(type(thing), "from_left")


def sparse_or_dense(thing: Any) -> Any:
    """Return an operand as a sparse array, a traced array, or an array."""
    if isinstance(thing, (SparseArray, Tracer)) or is_vector(thing):
        return thing
    return lifted(thing) if is_scipys(thing) else np.asarray(thing)


def lifted(array: Any) -> Any:
    """Return a sparse array from outside of the traced function as a traced one."""
    name = type(array).__name__
    if name in ("bsr_array", "dia_array", "dok_array", "lil_array"):
        return lifted(array.tocsr())
    if name not in {f"{each}_array" for each in NAMES}:
        raise TraceError(
            f"a {name} is not supported in a traced function: scipy.sparse.csr_array(A) is the same as "
            f"an array\n  at {user_source()}"
        )
    return of_parts(form_of(array), tuple(Tracer(to_value(each)) for each in parts_of(array)))


def of_parts(form: str, parts: tuple[Any, ...]) -> Any:
    data, *positions, lengths = parts
    if form in OF_VECTORS:
        return replacements.for_role("sparse vector of parts")(form, data, positions, lengths)
    return SparseArray(data, Pattern(form, tuple(positions), lengths), is_own=False)


def flatten(array: Any) -> tuple[Any, ...]:
    return (array._data,), array._pattern, ("data",)


register_node(SparseArray, flatten, lambda pattern, children: SparseArray(children[0], pattern))
ALL_PARTS[SparseArray] = SparseArray._all_parts
