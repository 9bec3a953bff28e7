"""Errors for operations that need the elements of an array before they are known, with advice on what to write
instead."""

from __future__ import annotations

import dis
import sys
from abc import abstractmethod
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

from numbagraph.ir.values import Constant, Dim, Node, Value, toposort
from numbagraph.tracing.errors import TraceError, UnknownValueError, called_library, calling_source, unread_caller
from numbagraph.tracing.near_names import near_name
from numbagraph.tracing.replacements import replacements
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.user_code import OWN, library_of

CONTROL = (
    "Its value is not known while the function is traced. numpy.where chooses element by element; an argument that "
    "is named in static_argnames is an ordinary Python value"
)


_QUERIES = {
    "isscalar",
    *("singledispatch.<locals>.wrapper", "singledispatchmethod.__get__.<locals>._method"),
}
"""Functions of NumPy and `functools` that look at an object's class on behalf of their callers."""


OUTSIDE = (
    "They are not known while the function is traced: call it outside, and pass what it gives, or call it by "
    "numbagraph.pure_callback"
)
OF_NUMBERS = "A number that it must know is an argument that is named in static_argnames"
_ADVICE = {
    "numpy.lib._stride_tricks_impl.as_strided": "It reads memory at distances, which arrays have none of in a traced "
    "function: np.lib.stride_tricks.sliding_window_view gives windows, np.broadcast_to repeats",
    "numpy.polynomial.": "np.polynomial.polynomial.polyval(x, p.coef) is p(x), and other bases have such functions",
    "numpy.": "Write np.stack([x, y]) for np.array([x, y]), and numbagraph.numpy.asarray(a)[i] for a[i] where a is "
    "NumPy's own; a[i] = x assigns to an array of NumPy's, a = np.array(a) first makes one that takes it; another "
    "library's function is called outside, or by numbagraph.pure_callback",
    "scipy.special.": "SciPy's logsumexp, softmax and log_softmax are in numbagraph.special",
    "scipy.linalg.": "Functions of scipy.linalg are in numbagraph.linalg",
    "jax.": "A function of JAX is called as numbagraph.from_jax(f), also one of operators (lambda A, x: A @ x)",
    "": "Call it outside, and pass what it gives, or call it by numbagraph.pure_callback",
}
"""Advice for functions that make NumPy arrays of their arguments, by the beginning of the function's name."""


OF_MEMORY = {
    **dict.fromkeys(("flags", "strides"), "it has no memory yet, and its results are C-contiguous: ask them outside"),
    **dict.fromkeys(("base", "data", "ctypes"), "it has no memory yet: ask the function's result"),
    **dict.fromkeys(("tobytes", "tofile", "dump", "dumps"), "return the array, and write it outside"),
    "byteswap": "its elements have the machine's byte order: call it on the result",
    "getfield": "x.real and x.imag are the parts of complex numbers; pass fields of a structured array one by one",
}
"""Advice for the attributes of arrays that are about memory."""


def for_numpy_arrays(name: str) -> str:
    own = name if "." in name else "numpy."  # a function in C has no frame
    return next(text for start, text in _ADVICE.items() if own.startswith(start))


def is_of_lengths(value: Value) -> bool:
    """Whether a number follows from the lengths of arguments alone."""
    order = toposort([value])
    leaves = [each for each in order if not isinstance(each, (Node, Constant))]
    return bool(leaves) and all(isinstance(each, Dim) for each in leaves)


def asking_library() -> str | None:
    """The function of another library that asks for a value on behalf of the user's code; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and library_of(frame.f_code.co_filename) == OWN:
        frame = frame.f_back
    if frame is None or library_of(frame.f_code.co_filename) is None:
        return None
    return called_library(frame)


@lru_cache(4096)
def asks_classes(code: CodeType) -> bool:
    """Whether a function is the user's, and may look at an object's class."""
    if library_of(code.co_filename) is not None:
        return False
    return not {"isinstance", "__class__"}.isdisjoint(code.co_names) or dis.opmap["MATCH_CLASS"] in code.co_code[::2]


@lru_cache(4096)
def asks_for_others(code: CodeType) -> bool:
    return code.co_qualname in _QUERIES and library_of(code.co_filename) is not None


def is_for_users(frame: FrameType | None) -> bool:
    """Whether a frame that looks at an object's class runs the user's code."""
    if frame is not None and asks_for_others(frame.f_code):
        return frame.f_back is not None and library_of(frame.f_back.f_code.co_filename) is None
    return frame is not None and asks_classes(frame.f_code)


def asking(frame: FrameType) -> tuple[FrameType | None, type | None]:
    """The frame that looks at an object's class, and the abstract class that it compares with, if it is one."""
    found: FrameType | None = frame
    kind = None
    while found is not None and found.f_code.co_name == "__instancecheck__":
        kind, found = found.f_locals.get("cls"), found.f_back
    return found, kind


def is_protocol(kind: type) -> bool:
    """Whether an object is an instance of a class if it has all of its methods."""
    return bool(getattr(kind, "_is_protocol", False))


def is_only_of(abstract: type, kind: type, other: type) -> bool:
    return issubclass(kind, abstract) and not issubclass(other, abstract)


class Unknown:
    """The methods of an array that a traced array cannot have."""

    __slots__ = ()
    value: Value

    @property
    @abstractmethod
    def _is_array(self) -> bool:
        """Whether this is an array that can be changed in place, rather than a NumPy scalar."""

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]  nobody sets it
        """The class that `isinstance` and `match` see where an object's type does not decide: user code sees the class
        of the array or number that the traced array will be."""
        frame = sys._getframe(1)
        if (
            library_of(frame.f_code.co_filename) is OWN or current_trace() is None
        ):  # mostly it is our own code that asks
            return type(self)
        frame, abstract = asking(frame)
        if not is_for_users(frame):
            return type(self)
        found = self.python_class()
        if abstract is not None and (is_protocol(abstract) or is_only_of(abstract, type(self), found)):
            raise self._unknown(f"isinstance() with {abstract.__name__}")  # converted code asks the class itself
        return found

    def python_class(self) -> type:
        """The class of the array or number that this will be."""
        type_ = self.value.type
        if type_.weak:
            return type(np.zeros((), type_.dtype).item())
        found: type = np.ndarray if self._is_array else type_.dtype.type
        return found

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        name = called_library(sys._getframe(1))
        self._need_length(name)
        unread = unread_caller() if name.startswith("scipy.") else None
        if unread is not None:
            advice = f"Define {unread} in a file: its source is not known, so its calls of SciPy are not seen"
        else:
            advice = OF_NUMBERS if self.value.type.weak and "." in name else for_numpy_arrays(name)
        raise self._refuse(f"a traced array cannot become a NumPy array: {name} converts its arguments. {advice}")

    def _need_length(self, name: str) -> None:
        """Raise, where a library asks for a number that follows from lengths of arguments: it is traced for these."""
        trace = current_trace()
        if trace is not None and trace.converts and is_of_lengths(self.value):
            raise LengthsNeeded(
                f"{name} needs a length that is known while the function is traced\n  at {calling_source()}"
            )

    def _refuse(self, message: str, kind: type[TraceError] = TraceError) -> TraceError:
        return kind(f"{message}\n  on {self.value.type}\n  at {calling_source()}")

    def _unknown(self, what: str, instead: str = "") -> TraceError:
        """The error for an operation that needs a value, with what to write instead."""
        library = asking_library()
        if library is not None:
            self._need_length(library)
            instead, control = f"{library} wants the values themselves", OUTSIDE
        else:
            control = CONTROL
        return self._refuse(f"{what} of a traced array: {instead and instead + '. '}{control}", UnknownValueError)

    def _missing(self, name: str) -> AttributeError:
        """Return the error for an attribute that a traced array does not have, with advice for one about memory."""
        advice = OF_MEMORY.get(name)
        more = near_name(name, dir(np.ndarray))
        more += "" if advice is None else f": {advice}\n  on {self.value.type}\n  at {calling_source()}"
        return AttributeError(f"a traced array has no attribute {name!r}{more}")

    def view(self, *args: Any, **options: Any) -> Any:
        return replacements.for_role("ndarray.view")(self, *args, **options)

    def __bool__(self) -> bool:
        raise self._unknown(
            "the truth",
            "numbagraph.cond runs one of two branches, and numbagraph.while_loop goes on as long as a condition holds",
        )

    def __int__(self) -> int:
        raise self._unknown("int()", "x.astype(int) is the integer, as an array")

    def __trunc__(self) -> int:  # math.trunc asks for nothing else
        raise self._unknown("math.trunc()", "np.trunc(x) is the number, as an array")

    def __float__(self) -> float:
        raise self._unknown(
            "float()",
            "leave it out, write x.astype(float), or call NumPy's function instead of math's; what needs a number "
            "itself, such as a solver of SciPy, is called through numbagraph.pure_callback",
        )

    def __complex__(self) -> complex:
        raise self._unknown("complex()", "x.astype(complex) is the number, as an array")

    def __index__(self) -> int:
        raise self._unknown(
            "a Python integer",
            "numbagraph.numpy has zeros, ones, full, arange and linspace that take lengths which are not known yet; "
            "numbagraph.fori_loop is a loop over a range",
        )

    def _not_iterable(self) -> TypeError:
        if not self.value.ndim:
            kind = self.python_class()
            is_array = kind is np.ndarray
            return TypeError("iteration over a 0-d array" if is_array else f"{kind.__name__!r} object is not iterable")
        return self._unknown(
            "iteration",
            "np.sort, np.max and their like take the place of Python's functions of lists, and numbagraph.scan is a "
            "loop over the first dimension",
        )

    def __contains__(self, item: Any) -> bool:
        raise self._unknown("a membership (`in`)", "np.any(x == item) tells, and np.isin for many items")

    def __hash__(self) -> int:
        raise self._unknown(
            "hash(), as of a key of a dict or an element of a set,",
            "np.bincount and np.unique(x, return_counts=True) count, an array that is indexed by integers takes the "
            "place of a dict, and np.unique that of a set",
        )

    def __str__(self) -> str:
        return Description(self)

    device = "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        if stream is not None or device != "cpu":
            raise ValueError(f"arrays of a traced function are on the device 'cpu', not on {device!r}")
        return self

    @property
    def itemsize(self) -> int:
        return self.value.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.value.dtype.itemsize  # type: ignore[attr-defined]

    def item(self, *_args: Any) -> Any:
        raise self._unknown("item()", "leave it out: an element, x[0], is used as a number")

    def tolist(self) -> Any:
        raise self._unknown("tolist()", "use the array itself, or return it and make the list outside")


class Description(str):
    """The text that is printed for a traced array. It is not the text of a number: nothing may be computed from it."""

    __slots__ = ("_array",)

    def __new__(cls, array: Any) -> Description:
        self = super().__new__(cls, repr(array))
        self._array = array
        return self


def _refused_text(name: str) -> Callable[..., None]:
    def method(self: Any, *args: Any) -> Any:
        if sys._getframe(1).f_code.co_name == "write":  # print() to a stream that Python implements, as notebooks have
            return getattr(str, name)(self, *args)
        raise self._array._unknown(f"str(), and {name} of that,", "numbagraph.debug_print prints values")

    return method


for _name in (
    *("__len__", "__iter__", "__getitem__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    *("__hash__", "count", "find", "index", "split", "replace", "startswith", "endswith", "strip", "isdigit", "encode"),
):
    setattr(Description, _name, _refused_text(_name))


def refused_method(name: str) -> Callable[..., None]:
    """A method of arrays that writes into them."""

    def refuse(self: Unknown, *_args: Any, **_options: Any) -> None:
        raise self._refuse(f"{name}() writes into the array: assign in a traced function, x[...] = ...")

    return refuse


def refused_attribute(name: str) -> Callable[[Unknown, Any], None]:
    def refuse(self: Unknown, value: Any) -> None:
        if value is not getattr(self, name):  # after `x.T += 1`, what is assigned may be what is there
            instead = "x = x.reshape(...)" if name == "shape" else "x[...] = ..."
            raise self._refuse(f"assignment to .{name} is not supported in a traced function: write {instead}")

    return refuse


for _name in ("itemset", "resize", "setfield", "setflags"):
    setattr(Unknown, _name, refused_method(_name))
