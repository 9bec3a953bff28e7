"""Tracers: stand-ins for arrays; and the choice of the op or function that a NumPy call on a tracer becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.array_classes import refuse_other_classes
from numbagraph.ir.op import registry
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Node, Value, at_source, new_memory
from numbagraph.ops.indexing import subscripts, view_assignment
from numbagraph.ops.shape import size_of
from numbagraph.tracing import in_place, memory_layout
from numbagraph.tracing.concretization import Unknown
from numbagraph.tracing.errors import OnlyTraced, TraceError, located, user_source
from numbagraph.tracing.in_place import WRITERS, Named, reduction_dtype, target_of, write_into, write_under_mask
from numbagraph.tracing.index_keys import assigned_key, read_key
from numbagraph.tracing.metadata import QUERIES
from numbagraph.tracing.number_methods import method_of
from numbagraph.tracing.operators import has_operators, install_operators
from numbagraph.tracing.replacements import replacements
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.stale_arrays import OUTSIDE, Sources, Stale
from numbagraph.tracing.trace import CaptureError, active, current_trace, refused
from numbagraph.tracing.ufuncs import of_ufunc
from numbagraph.tracing.unrolled_loops import source_of_call
from numbagraph.tracing.unsupported import unsupported


def any_traced(leaves: Iterable[Any]) -> bool:
    """Whether a call has traced arguments; raises unless these belong to the trace that is active."""
    kept = (leaf.arrays() for leaf in leaves if isinstance(leaf, OnlyTraced))
    found = [*(leaf for leaf in leaves if isinstance(leaf, Tracer)), *(each for arrays in kept for each in arrays)]
    return any([each.require_scope() is None for each in found])  # noqa: C419  all of them


def to_value(operand: Any) -> Any:
    """An argument of an op: tracers as their values, arrays as captured inputs, containers element by element."""
    if isinstance(operand, Tracer):
        if operand._scope is not active.scope:
            operand.require_scope()
        return operand.value
    if type(operand) is not np.ndarray and hasattr(type(operand), "__array__"):
        refuse_other_classes(operand, "an operand from outside of the traced function")
        operand = operand if isinstance(operand, (np.ndarray, np.generic, OnlyTraced)) else np.asarray(operand)
    if isinstance(operand, np.ndarray) and operand.ndim:
        trace = current_trace()  # None: there is a tracer beside it which is refused, or needs no trace
        return operand if trace is None else trace.captured.input_of(operand)
    if isinstance(operand, (tuple, list)):
        return type(operand)(to_value(each) for each in operand) if type(operand) in (tuple, list) else operand
    if isinstance(operand, OnlyTraced) and (own := operand.operand()) is not operand:
        return to_value(own)
    if isinstance(operand, slice):
        return slice(to_value(operand.start), to_value(operand.stop), to_value(operand.step))
    return operand


def named_values(options: dict[str, Any]) -> dict[str, Any]:
    return {name: to_value(each) for name, each in options.items()}


def to_tracer(result: Any) -> Any:
    """Results of an op, as arrays that share no memory with others."""
    if isinstance(result, Value):
        return Tracer(result)
    return with_leaves(result, list(map(to_tracer, result))) if isinstance(result, (tuple, list)) else result


def with_leaves(results: Any, leaves: list[Any]) -> Any:
    """A tuple, named tuple or list like ``results``, of others."""
    return results._make(leaves) if hasattr(results, "_make") else type(results)(leaves)


def apply(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call an op (or a function of values) on tracers and whatever NumPy users mix with them."""
    out = kwargs.pop("out", None)
    if out is not None:
        return write_into(out, function, args, named_values(kwargs))
    if getattr(function, "may_copy", False):
        args, kwargs = memory_layout.with_known_order(function, args, kwargs)
    source = source_of_call()
    with at_source(source):
        try:
            values, options = [to_value(each) for each in args], named_values(kwargs)
            result = function(*values, **options)
        except TraceError:
            raise
        except shapes.UnknownLength as error:
            raise LengthsNeeded(f"{error}\n  at {source}") from error
        except (TypeError, ValueError, IndexError, ArithmeticError, NotImplementedError) as error:
            raise located(
                error, function, tuple(each.value for each in args if isinstance(each, Tracer)), source
            ) from error
    view_of = getattr(function, "view_of", new_memory)
    operands = None if view_of is new_memory else view_of(*args, **kwargs)
    is_view: bool | None = True
    if operands is not None and getattr(function, "may_copy", False):
        is_view = memory_layout.is_view(function, operands, result, args, kwargs)
    if operands is None or is_view is False:
        return memory_layout.of_new(to_tracer(result), function, args, kwargs)

    def view(value: Value, operand: Any, position: int | None) -> Tracer:
        def derive(changed: Value) -> Value:
            own = [changed if given is operand else each for given, each in zip(args, values, strict=True)]
            named = {name: changed if kwargs[name] is operand else each for name, each in options.items()}
            again = function(*own, **named)
            return again if position is None else again[position]

        if is_view is None and isinstance(operand, Tracer) and memory_layout.may_reorder(function):
            return new_view(value, operand, None)
        found = as_view(value, operand, derive if is_view else None)
        return for_reading(found, operand) if getattr(function, "name", "") in memory_layout.FOR_READING else found

    if isinstance(result, Value):
        return view(result, operands, None)
    each = operands if isinstance(operands, tuple) else (operands,) * len(result)
    return with_leaves(result, [view(*pair, position) for position, pair in enumerate(zip(result, each, strict=True))])


def as_view(value: Value, operand: Any, derive: Callable[[Value], Value] | None) -> Tracer:
    """A value as an array in the memory of an operand, where that is an array. ``derive`` makes it of the operand's
    value; without it, NumPy may have made a copy."""
    if type(operand) is not np.ndarray and hasattr(type(operand), "__array__"):
        refuse_other_classes(operand, "an operand from outside of the traced function")
    if isinstance(operand, np.ndarray) and operand.ndim:
        view = Tracer(value)
        view._foreign = OUTSIDE
        return view
    if not isinstance(operand, Tracer) or not operand._is_array:
        return Tracer(value)
    if value is operand.value and (derive is not None or operand._parent is None):
        return operand
    return new_view(value, operand, derive)


def new_view(value: Value, operand: Tracer, derive: Callable[[Value], Value] | None) -> Tracer:
    view = Tracer(value, operand)
    view._derive = derive
    view._layout = memory_layout.of_view(value, operand)
    return view


def for_reading(view: Tracer, operand: Any) -> Tracer:
    """Return a view that cannot be written into."""
    view = new_view(view.value, view, lambda value: value) if view is operand else view
    view._foreign = view._foreign or memory_layout.READ_ONLY
    return view


def gives_view(key: Any) -> bool:
    """Whether NumPy gives a view for a key: positions in arrays of rank 0 make it a copy."""
    parts = key if isinstance(key, tuple) else (key,)
    return subscripts.is_basic(key) and not any(isinstance(each, Tracer) and each._is_array for each in parts)


class Tracer(Unknown):
    """An array whose elements are not known yet. Behaves as a NumPy array does; every operation becomes a node."""

    __slots__ = (
        "__weakref__", "_derive", "_foreign", "_key", "_layout", "_origins", "_parent", "_scope", "_views", "value",
    )  # fmt: skip
    __array_priority__ = 1000
    namespace: ClassVar[ModuleType]
    """`numbagraph.numpy`, which is made of functions of tracers and registers itself here."""

    def __init__(self, value: Value, parent: Tracer | None = None, *, argument: bool = False) -> None:
        self.value = value
        self._foreign: str | Sources = "an argument" if argument else ""
        """The owner of the array's memory, if that is not the traced function."""
        self._derive: Callable[[Value], Value | Stale] | None = None
        """For a view: the function that makes it of its parent. Without one, NumPy may have made a copy."""
        self._key: Any = None
        """For a view made by indexing its parent: the key, in a tuple."""
        self._layout = memory_layout.Layout.ANY
        self._origins: tuple[Tracer, ...] = ()  # the arrays that it may be, as loops and branches chose it
        self._parent = parent
        self._scope = active.scope
        self._views: list[ref[Tracer]] = []
        if parent is not None:
            parent._views.append(ref(self))

    def require_scope(self) -> None:
        """Raise unless the array is used in its own trace, and on that trace's thread."""
        scope = active.scope
        if self._scope is scope or self._scope is None:
            return
        if scope is None or not scope.admits(self._scope, self.value):
            raise self._scope.refusal(self.value)
        scope.note_read(self, self._scope)

    def _refuse(self, message: str, kind: type[TraceError] = TraceError) -> TraceError:
        self.require_scope()
        return refused(super()._refuse(message, kind))

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def shape(self) -> tuple[Any, ...]:
        self.require_scope()
        resolved = (shapes.resolve(extent) for extent in self.value.shape)
        return tuple(extent if isinstance(extent, int) else Tracer(extent) for extent in resolved)

    @property
    def size(self) -> Any:
        self.require_scope()
        count = size_of(self.value)
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
        return Flat.of(self)

    @property
    def _is_array(self) -> bool:
        if self.value.ndim or self._parent is not None:
            return True
        return isinstance(self.value, Node) and self.value.op is registry["asarray"]

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.namespace

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call_function(function, args, kwargs)

    def __getitem__(self, key: Any) -> Tracer:
        key = read_key(key, to_value)
        found = apply(subscripts.index, self, key)
        if not self._is_array or not gives_view(key) or not (found.ndim or subscripts.has_ellipsis(key)):
            return found
        key = to_value(key)
        view = as_view(found.value, self, lambda value: subscripts.index(value, key))
        if view is not self:
            view._key = (key,)
        return view

    def __setitem__(self, key: Any, update: Any) -> None:
        self._rebind(subscripts.set_index, assigned_key(key, update, self.ndim, to_value), update)

    def _rebind(self, function: Callable[..., Value], *args: Any) -> Tracer:
        """Assign a new value to this tracer, to its views and, if it is a view made by indexing, to its parent."""
        if isinstance(self._foreign, Sources):
            self._foreign = self._foreign.give_up(self)
        if self._foreign is memory_layout.READ_ONLY:
            raise ValueError(f"assignment destination is read-only\n  on {self.value.type}\n  at {user_source()}")
        if self._foreign:
            text = f"assignment into {self._foreign} would change data outside: assign into a copy (x.copy())"
            raise self._refuse(text, CaptureError if self._foreign is memory_layout.KEPT else TraceError)
        if self._scope is not active.scope:
            self._enter_region()
        if self._parent is None:
            self._renew(self._changed(function, *args))
            if active.scope is not None and active.scope.journal is not None:
                active.scope.journal.note_change(self)
        elif self._key is not None:
            self._parent._rebind(view_assignment.set_view, *self._key, Tracer(self._changed(function, *args)))
        elif self._derive is None:  # NumPy may have made a copy: what its parent allows does not matter
            raise self._refuse(memory_layout.OF_ANOTHER)
        else:
            self._parent._rebind(self._written_through, Tracer(self._changed(function, *args)))
        return self

    def _written_through(self, base: Value, changed: Value) -> Value:
        """Return the new value of the parent of this view, once the view has changed."""
        found = view_assignment.written_through(self._derive, base, changed)  # type: ignore[arg-type]  there is one
        if found is None:
            raise self._refuse(memory_layout.OF_ANOTHER)
        return found

    def _enter_region(self) -> None:
        """Note an assignment in a region to an array from outside. Raise where it would be lost."""
        scope, root = active.scope, self
        while root._parent is not None:
            root = root._parent
        if scope is None or scope.journal is None or root._scope is None or not scope.is_inside(root._scope):
            raise self._refuse(
                "assignment in a loop's body or a branch to an array from outside would be lost: carry it"
            )
        scope.journal.note(root)

    def _live_views(self) -> list[Tracer]:
        """The views that are still referenced, without those of regions that have ended."""
        views = (view for each in self._views if (view := each()) is not None)
        return [view for view in views if view._scope is None or not view._scope.ended]

    def _share_with(self, other: Tracer, foreign: str | Sources = Stale.OWNED) -> None:
        """Mark another array as one that may be this one: it cannot be written, nor read after this one has changed."""
        other._foreign = foreign
        other._derive = lambda value: Stale(other.value, Stale.SHARED)
        self._views.append(ref(other))

    def _renew(self, value: Value | Stale) -> None:
        """Give this array its new value, and views of it theirs."""
        self.value = value  # type: ignore[assignment]
        views = self._live_views()
        self._views = list(map(ref, views))
        for view in views:
            if isinstance(value, Stale):
                view._renew(value)
            elif view._derive is None:
                view._renew(Stale(view.value))
            else:
                with at_source(user_source()):
                    view._renew(view._derive(value))

    def _changed(self, function: Callable[..., Value], *args: Any) -> Value:
        """Return the value of this array after an in-place operation, which keeps its shape and dtype."""
        result = apply(function, self, *args)
        if not isinstance(result, Tracer):
            raise self._refuse("an in-place operation has one result")
        text = str(super()._refuse("an in-place operation would change the shape of its operand"))
        if result.ndim != self.ndim:
            raise shapes.ShapeError(text)
        for extent, own in zip(result.value.shape, self.value.shape, strict=True):
            shapes.require_same(extent, own, text)
        if result.dtype != self.dtype:
            if not np.can_cast(result.dtype, self.dtype, "same_kind"):
                raise self._refuse(in_place.no_cast(function, result.dtype, self.dtype))
            result = apply(registry["cast"], result, self.dtype)
        return result.value if result.ndim else registry["asarray"](result.value)

    def _in_place(self, function: Callable[..., Value], other: Any) -> Tracer:
        """Apply ``x += y``. Of ``x[key] += y``, this is the part that changes the view ``x[key]``, and so ``x``."""
        return self._rebind(function, other) if self._is_array else apply(function, self, other)

    def __round__(self, digits: int | None = None) -> Tracer:
        if digits is None:
            raise self._unknown("round() to a Python integer", "np.round(x) is the number, as an array")
        is_whole = self.value.type.weak and self.dtype.kind in "bi" and digits >= 0
        return Tracer(self.value) if is_whole else apply(registry["round"], self, digits)

    def __len__(self) -> int:
        extent = shapes.resolve(self.value.shape[0]) if self.ndim else None
        if isinstance(extent, int):
            return extent
        raise self._unknown("len()", "x.shape[0] is the length")

    def __iter__(self) -> Iterator[Tracer]:
        extent = shapes.resolve(self.value.shape[0]) if self.ndim else None
        if not isinstance(extent, int):
            raise self._not_iterable()
        return (self[number] for number in range(extent))

    def __format__(self, specification: str) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return f"Tracer({self.value.type})"

    def __copy__(self, _memo: Any = None) -> Tracer:
        return Tracer(to_value(self))

    __deepcopy__ = __copy__

    def copy(self, order: str = "C") -> Tracer:
        return memory_layout.arranged(Tracer(to_value(self)), self, order)

    def astype(self, dtype: Any, *, order: str = "K", casting: str = "unsafe", copy: bool = True) -> Tracer:
        """Convert to a dtype, without a copy where none is needed."""
        target = canonical_dtype(dtype)
        if not np.can_cast(self.dtype, target, casting):  # type: ignore[arg-type]
            raise self._refuse(f"cannot cast from {self.dtype} to {target} according to the rule {casting!r}")
        if copy or target != self.dtype or not self._is_array:
            return memory_layout.arranged(apply(registry["cast"], self, dtype), self, order)
        return apply(registry["asarray"], self, order=order)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Tracer:
        target = shape[0] if len(shape) == 1 else shape
        return apply(registry["reshape"], self, target, order=order, copy=copy)

    def transpose(self, *axes: Any) -> Tracer:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return apply(registry["transpose"], self, order or None)

    def fill(self, number: Any) -> None:
        self._rebind(in_place.writing_functions.each_filled, number)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self._rebind(lambda value: registry["sort"](value, *args, **kwargs))

    def partition(self, kth: Any, axis: int = -1, *_: Any, **__: Any) -> None:
        self._rebind(lambda value, kth: registry["partition"](value, kth, axis), kth)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        WRITERS[np.put](self, indices, values, mode)

    def __getattr__(self, name: str) -> Any:
        """The methods of an array that have the name of an op: ``sum``, ``clip``, ``argmax``, ..."""
        if (method := method_of(self, name)) is not None:
            return lambda: apply(method, self)
        if not hasattr(np.ndarray, name) or name not in registry:
            raise self._missing(name)
        function = getattr(np, name, None)
        return lambda *args, **kwargs: apply(
            registry[name], *in_place.out_by_name(function, (self, *args), kwargs), **kwargs
        )

    def clip(self, min: Any = None, max: Any = None, *args: Any, **kwargs: Any) -> Any:
        return apply(registry["clip"], *in_place.out_by_name(np.clip, (self, min, max, *args), kwargs), **kwargs)

    def flatten(self, order: str = "C") -> Tracer:
        return apply(registry["ravel"], self, order=order).copy()

    def compress(self, condition: Any, axis: int | None = None) -> Tracer:
        return apply(registry["compress"], condition, self, axis)

    def conjugate(self) -> Tracer:
        """Conjugate. This method, other than NumPy's function, gives a real array back as it is."""
        return apply(registry["conjugate"], self) if self.dtype.kind == "c" or not self._is_array else self

    conj = conjugate


install_operators(Tracer, apply)


class Flat(Tracer):
    """The iterator ``x.flat``: elements that are read are copied, and assigned ones reach the array."""

    __slots__ = ()

    @classmethod
    def of(cls, array: Tracer) -> Flat:
        flat = cls(to_value(apply(registry["ravel"], array)), array)
        flat._derive = registry["ravel"]
        return flat

    def __getitem__(self, key: Any) -> Tracer:
        return Tracer(to_value(super().__getitem__(key)))


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy or SciPy ufunc on tracers."""
    if any(map(has_operators, inputs)):
        return NotImplemented
    out = kwargs.pop("out", None)
    if method != "__call__" and registry.find((ufunc, method)) is None:
        composed = Named(f"{ufunc.__name__}.{method}", replacements.for_role("method of a ufunc"))
        if out is None or method == "at":
            return composed(ufunc, method, *inputs, **kwargs)
        if method != "outer" and kwargs.get("dtype") is None:
            own = target_of(out, composed.name).dtype
            kwargs["dtype"] = reduction_dtype(ufunc, own, inputs[0].dtype)
        casting = "same_kind" if method == "outer" else "unsafe"
        return write_into(out, registry["asarray"], (composed(ufunc, method, *inputs, **kwargs),), {}, casting)
    casting = kwargs.get("casting", "same_kind")
    stands_for = ufunc if method == "__call__" else (ufunc, method)
    if out is not None and kwargs.get("where", True) is not True and method == "__call__":
        where = kwargs.pop("where")
        function = Named(ufunc.__name__, lambda *values: of_ufunc(ufunc, method, values, named_values(kwargs)))
        return write_under_mask(out, function, where, inputs, casting)
    function = Named(ufunc.__name__, lambda *values, **named: of_ufunc(ufunc, method, values, named), stands_for)
    if out is not None:
        return write_into(out, function, inputs, named_values(kwargs), casting)
    return apply(function, *inputs, **kwargs)


def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function on tracers."""
    if function in QUERIES:
        return QUERIES[function](*args, **kwargs)
    if function in WRITERS:
        return WRITERS[function](*args, **kwargs)
    if function in replacements:
        return replacements[function](*args, **kwargs)
    op = registry.find(function)
    if op is None:
        operands = tuple(each.value for each in args if isinstance(each, Tracer))
        raise located(unsupported(function), function, operands, user_source())
    return apply(op, *in_place.out_by_name(function, args, kwargs), **kwargs)
