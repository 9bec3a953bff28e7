"""Tracers: stand-ins for arrays, through which a plain NumPy function writes down its graph."""

from __future__ import annotations

import difflib
import operator
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np

from numbagraph import ops, shapes
from numbagraph.captured import Captured
from numbagraph.graph import Dim, Node, Source, Value, at_source
from numbagraph.op import Op, registry
from numbagraph.python_numbers import checked
from numbagraph.types import canonical_dtype

_FOLDERS = (Path(__file__).parent, *(Path(np.__file__).parent.with_name(name) for name in ("numpy", "scipy")))
_LIBRARIES = tuple(f"{folder}{os.sep}" for folder in _FOLDERS)
_active = threading.local()


class TraceError(TypeError):
    """Something that cannot be done with an array whose elements are not known yet."""


class Trace:
    """One function being traced: the arrays that it captures, and what it requires of its arguments."""

    def __init__(self, guards: shapes.GuardCollector) -> None:
        self.guards = guards
        self.captured = Captured()
        self.aliases = 0

    def alias(self, value: Value) -> Value:
        """A stand-in for a value that no other use of it shares."""
        self.aliases += 1
        return registry["alias"].bind(value, number=self.aliases)


def input_shape(name: str, ones: Iterable[bool | None]) -> tuple[Any, ...]:
    """The symbolic shape of an argument: which lengths are 1, which are not, and of which (None) nobody knows."""
    return tuple(1 if one else Dim(f"{name}.shape[{axis}]", may_be_one=one is None) for axis, one in enumerate(ones))


def current_trace() -> Trace | None:
    return getattr(_active, "trace", None)


@contextmanager
def tracing() -> Iterator[Trace]:
    """Everything inside belongs to one graph."""
    previous = current_trace()
    with shapes.collect_guards() as guards:
        _active.trace = Trace(guards)
        try:
            yield _active.trace
        finally:
            _active.trace = previous


def user_source() -> Source | None:
    """The line of the user's code that is being run: the innermost frame outside of numbagraph and NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            return Source(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def to_value(operand: Any) -> Any:
    """An argument of an op: tracers as their values, arrays as captured inputs, containers element by element."""
    if isinstance(operand, Tracer):
        return operand.value
    if isinstance(operand, np.ndarray) and operand.ndim:
        trace = current_trace()
        assert trace is not None
        return trace.captured.input_of(operand)
    if isinstance(operand, (tuple, list)):
        return type(operand)(to_value(each) for each in operand) if type(operand) in (tuple, list) else operand
    if isinstance(operand, slice):
        return slice(to_value(operand.start), to_value(operand.stop), to_value(operand.step))
    return operand


def to_tracer(result: Any, parent: Tracer | None = None, function: Any = None) -> Any:
    if isinstance(result, Value):
        return Tracer(result, parent if parent is not None and is_view(result, parent, function) else None)
    if isinstance(result, (tuple, list)):
        make = getattr(result, "_make", type(result))  # of a named tuple
        return make(map(to_tracer, result))
    return result


def is_view(value: Value, parent: Tracer, function: Any) -> bool:
    """Whether NumPy's result would share the memory of an argument. One of rank 0 is a scalar, which shares nothing."""
    kind = getattr(function, "kind", None)
    if not value.ndim or kind == "view":
        return bool(value.ndim)
    ancestor: Tracer | None = parent if kind == "composite" else None
    while ancestor is not None:  # a view of everything, or one that undoes another, is no node of its own
        if value is ancestor.value:
            return True
        ancestor = ancestor._parent
    return isinstance(value, Node) and value.op.kind == "view"


def apply(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call an op (or a function of values) on tracers and whatever NumPy users mix with them."""
    source = user_source()
    with at_source(source):
        try:
            values, options = [to_value(each) for each in args], {name: to_value(each) for name, each in kwargs.items()}
            result = function(*values, **options)
        except TraceError:
            raise
        except (TypeError, ValueError, IndexError, ArithmeticError, NotImplementedError) as error:
            raise located(error, function, args, source) from error
    place = next((number for number, each in enumerate(args) if isinstance(each, Tracer)), None)
    if place is None:
        return to_tracer(result)
    tracer = to_tracer(result, args[place], function)
    if isinstance(tracer, Tracer):
        tracer._derive = lambda value: function(*values[:place], value, *values[place + 1 :], **options)
    return tracer


def located(error: Exception, function: Callable[..., Any], args: tuple[Any, ...], source: Source | None) -> Exception:
    """The same error with the user's line, the operation and the operands' types in its message."""
    text = str(error)
    if "\n  in " in text:
        return error
    name = getattr(function, "name", getattr(function, "__name__", str(function)))
    operands = ", ".join(str(each.value.type) for each in args if isinstance(each, Tracer))
    message = f"{text}\n  in {name}({operands})\n  at {source}"
    special = (np.linalg.LinAlgError, np.exceptions.AxisError, shapes.ShapeError, NotImplementedError)
    kinds = (*special, TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)
    return next((each for each in kinds if isinstance(error, each)), ValueError)(message)


_CONTROL = (
    "its value is not known while the function is traced. numpy.where chooses element by element; an argument that "
    "is named in static_argnames is an ordinary Python value"
)


class Tracer:
    """An array whose elements are not known yet. Behaves as a NumPy array does; every operation becomes a node."""

    __slots__ = ("__weakref__", "_argument", "_derive", "_key", "_parent", "_views", "value")
    __array_priority__ = 1000

    def __init__(self, value: Value, parent: Tracer | None = None, *, argument: bool = False) -> None:
        self.value = value
        self._argument = argument
        self._derive: Callable[[Value], Value] | None = None
        """For a view: what makes it of its parent."""
        self._key: Any = None
        """For a view made by indexing its parent: the key, in a tuple."""
        self._parent = parent
        self._views: list[ref[Tracer]] = []
        if parent is not None:
            parent._views.append(ref(self))

    __hash__ = None  # type: ignore[assignment]

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def shape(self) -> tuple[Any, ...]:
        resolved = (shapes.resolve(extent) for extent in self.value.shape)
        return tuple(extent if isinstance(extent, int) else Tracer(extent) for extent in resolved)

    @property
    def size(self) -> Any:
        count = shapes.product(self.value.shape)
        return count if isinstance(count, int) else Tracer(count)

    @property
    def T(self) -> Tracer:
        return apply(registry["transpose"], self)

    @property
    def mT(self) -> Tracer:
        return apply(registry["matrix_transpose"], self)

    @property
    def real(self) -> Tracer:
        return apply(registry["real"], self)

    @property
    def imag(self) -> Tracer:
        return apply(registry["imag"], self)

    @property
    def flat(self) -> Tracer:
        return apply(registry["ravel"], self)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        from numbagraph import numpy  # noqa: PLC0415  it is made of functions of tracers

        return numpy

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise self._refuse(
            "a traced array cannot become a NumPy array: a function that converts its arguments was called on it. "
            "Write np.stack([x, y]) for np.array([x, y]). SciPy's logsumexp, softmax and log_softmax are in "
            "numbagraph.special, functions of scipy.linalg in numbagraph.linalg"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call_function(function, args, kwargs)

    def __getitem__(self, key: Any) -> Tracer:
        found = apply(ops.indexing.index, self, key)
        if not found.ndim or not ops.indexing.is_basic(key):
            return Tracer(found.value)
        view = Tracer(found.value, self)
        view._derive, view._key = found._derive, (key,)
        return view

    def __setitem__(self, key: Any, update: Any) -> None:
        self._assign(key, update, (update,))

    def _assign(self, key: Any, update: Any, reading: tuple[Any, ...]) -> None:
        self._rebind(lambda value, *rest: ops.indexing.set_index(value, *rest), key, update, reading=reading)

    def _rebind(self, function: Callable[..., Value], *args: Any, reading: tuple[Any, ...] = ()) -> Tracer:
        """Assignment: this tracer stands for the new value from now on. ``reading`` are operands: views of this array
        among them are those of the new one, afterwards."""
        if self._argument or self._parent is not None:
            what = "an argument" if self._argument else "a view of another array"
            raise self._refuse(f"assignment into {what} would change the caller's data: assign into a copy (x.copy())")
        views = [view for each in self._views if (view := each()) is not None]
        if any(all(view is not operand for operand in reading) for view in views):
            raise self._refuse("assignment into an array of which a view is in use: assign first, or copy the view")
        self.value = self._changed(function, *args)
        for view in views:
            view.value = view._derived(self.value)
        return self

    def _derived(self, value: Value) -> Value:
        assert self._derive is not None
        with at_source(user_source()):
            return self._derive(value)

    def _changed(self, function: Callable[..., Value], *args: Any) -> Value:
        """What an in-place operation makes of this array: its shape and dtype stay."""
        result = apply(function, self, *args)
        text = str(self._refuse("an in-place operation would change the shape of its operand"))
        if result.ndim != self.ndim:
            raise shapes.ShapeError(text)
        for extent, own in zip(result.value.shape, self.value.shape, strict=True):
            shapes.require_same(extent, own, text)
        if result.dtype != self.dtype:
            if not np.can_cast(result.dtype, self.dtype, "same_kind"):
                raise self._refuse(f"cannot cast {result.dtype} to {self.dtype} in an in-place operation")
            result = apply(registry["cast"], result, self.dtype)
        return result.value

    def _in_place(self, function: Callable[..., Value], other: Any) -> Tracer:
        """``x += y``. Of ``x[key] += y``, this is the part that changes the view ``x[key]``, and ``x`` with it."""
        if not self.ndim:
            return apply(function, self, other)
        if self._key is None or self._parent is None:
            return self._rebind(function, other, reading=(other,))
        (key,) = self._key
        self._parent._assign(key, Tracer(self._changed(function, other)), (self, other))
        return self

    def _refuse(self, message: str) -> TraceError:
        return TraceError(f"{message}\n  on {self.value.type}\n  at {user_source()}")

    def __bool__(self) -> bool:
        raise self._refuse(f"the truth of a traced array: {_CONTROL}")

    def __int__(self) -> int:
        raise self._refuse(f"int() of a traced array: {_CONTROL}")

    def __float__(self) -> float:
        raise self._refuse(f"float() of a traced array: {_CONTROL}, or call NumPy's function instead of math's")

    def __complex__(self) -> complex:
        raise self._refuse(f"complex() of a traced array: {_CONTROL}")

    def __round__(self, digits: int | None = None) -> Tracer:
        if digits is None:
            raise self._refuse(f"round() of a traced array to a Python integer: {_CONTROL}, or call numpy.round")
        return apply(registry["round"], self, digits)

    def __index__(self) -> int:
        raise self._refuse(
            f"a traced number used as a Python integer: {_CONTROL}. numbagraph.numpy has zeros, ones, full, arange "
            "and linspace that take lengths which are not known yet"
        )

    def __len__(self) -> int:
        extent = shapes.resolve(self.value.shape[0]) if self.ndim else None
        if isinstance(extent, int):
            return extent
        raise self._refuse("len() of a traced array is not known: use x.shape[0]")

    def __iter__(self) -> Iterator[Tracer]:
        extent = shapes.resolve(self.value.shape[0]) if self.ndim else None
        if not isinstance(extent, int):
            raise self._refuse(f"iteration over a traced array: {_CONTROL}")
        return (self[number] for number in range(extent))

    def __contains__(self, item: Any) -> bool:
        raise self._refuse(f"`in` on a traced array: {_CONTROL}")

    def __format__(self, specification: str) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"Tracer({self.value.type})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        return Tracer(self.value)

    def __copy__(self) -> Tracer:
        return Tracer(self.value)

    copy = __copy__

    def item(self, *_args: Any) -> Any:
        raise self._refuse(f"item() of a traced array: {_CONTROL}")

    def tolist(self) -> Any:
        raise self._refuse(f"tolist() of a traced array: {_CONTROL}")

    def astype(self, dtype: Any, *, order: str = "K", casting: str = "unsafe", copy: bool = True) -> Tracer:
        """Convert; the memory order and whether to copy are the compiler's matter."""
        target = canonical_dtype(dtype)
        if not np.can_cast(self.dtype, target, casting):  # type: ignore[arg-type]
            raise self._refuse(f"cannot cast from {self.dtype} to {target} according to the rule {casting!r}")
        del order, copy
        return apply(registry["cast"], self, dtype)

    def reshape(self, *shape: Any, order: str = "C") -> Tracer:
        target = shape[0] if len(shape) == 1 else shape
        return apply(registry["reshape"], self, target, order=order)

    def transpose(self, *axes: Any) -> Tracer:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return apply(registry["transpose"], self, order or None)

    def fill(self, number: Any) -> None:
        self._rebind(lambda value, *rest: ops.indexing.set_index(value, *rest), ..., number)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self._rebind(lambda value: registry["sort"](value, *args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        """The methods of an array that have the name of an op: ``sum``, ``clip``, ``argmax``, ..."""
        op_name = _METHODS.get(name, name)
        if not hasattr(np.ndarray, name) or op_name not in registry:
            raise AttributeError(f"a traced array has no attribute {name!r}")
        return lambda *args, **kwargs: apply(registry[op_name], self, *args, **kwargs)


_METHODS = {"flatten": "ravel", "conj": "conjugate"}


def _install_operators() -> None:
    names = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    functions = {name: checked(name, getattr(operator, f"__{name}__")) for name in names}
    for name, function in functions.items():
        setattr(Tracer, f"__{name}__", _binary(function))
        setattr(Tracer, f"__r{name}__", _reflected(function))
        setattr(Tracer, f"__i{name}__", _in_place(function))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Tracer, f"__{name}__", _binary(checked(name, getattr(operator, name))))
    setattr(Tracer, "__eq__", _binary(registry["equal"], weak=True))  # noqa: B010
    setattr(Tracer, "__ne__", _binary(registry["not_equal"], weak=True))  # noqa: B010
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Tracer, f"__{name}__", _unary(checked(name, getattr(operator, f"__{name}__"))))
    setattr(Tracer, "__divmod__", lambda self, other: (self // other, self % other))  # noqa: B010
    setattr(Tracer, "__rdivmod__", lambda self, other: (other // self, other % self))  # noqa: B010


def _binary(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return lambda self, other: apply(function, self, other, **options)


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: apply(function, other, self)


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self._in_place(function, other)


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: apply(function, self)


_install_operators()


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy or SciPy ufunc on tracers."""
    out = kwargs.pop("out", None)
    if out is not None:
        target = out[0] if isinstance(out, tuple) else out
        if not isinstance(target, Tracer):
            raise TraceError(f"out= of {ufunc.__name__} must be a traced array too\n  at {user_source()}")
        return target._rebind(lambda _, *values: registry_call(ufunc, method, values, kwargs), *inputs)
    return apply(_Named(ufunc.__name__, lambda *values: registry_call(ufunc, method, values, kwargs)), *inputs)


class _Named:
    """A function with the name under which an error should speak of it."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def registry_call(ufunc: np.ufunc, method: str, values: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    options = {name: to_value(each) for name, each in kwargs.items()}
    op = registry.find(ufunc if method == "__call__" else (ufunc, method))
    if op is None:
        spelled = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise unsupported(spelled)
    if method != "__call__":
        given = {name: each for name, each in options.items() if name != "dtype" or each is not None}
        return op(*values, **{"axis": 0, **given})  # NumPy's functions reduce over all axes, the methods over the first
    dtype = options.pop("dtype", None)
    if options.pop("where", True) is not True:
        raise TypeError(f"where= of {ufunc.__name__} leaves elements undefined: use numpy.where on the result")
    if options:
        raise TypeError(f"{ufunc.__name__} takes no {', '.join(options)} in a traced function")
    if dtype is not None:
        values = tuple(registry["cast"](each, dtype) for each in values)
    return op(*values)


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function on tracers."""
    if function in _QUERIES:
        return _QUERIES[function](*args, **kwargs)
    op = registry.find(function)
    if op is None:
        raise located(unsupported(function.__name__), function, args, user_source())
    return apply(op, *args, **kwargs)


def unsupported(name: str) -> TypeError:
    known = sorted(each.name for each in registry if each.implements)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return TypeError(f"numpy.{name} is not supported in a traced function; the nearest that is: {near[0]}")


_QUERIES: dict[Any, Callable[..., Any]] = {
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.copy: lambda a, *_, **__: a.copy(),
    np.iscomplexobj: lambda a: a.dtype.kind == "c",
    np.isrealobj: lambda a: a.dtype.kind != "c",
    np.result_type: lambda *each: np.result_type(*[getattr(one, "dtype", one) for one in each]),
    np.can_cast: lambda a, *rest, **options: np.can_cast(a.dtype, *rest, **options),
}


def op_function(op: Op) -> Callable[..., Any]:
    """An op as a function of tracers, arrays and scalars."""
    return lambda *args, **kwargs: apply(op, *args, **kwargs)
