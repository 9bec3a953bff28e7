"""Replacements of functions of Python and NumPy in converted code, which take traced numbers and lengths."""

from __future__ import annotations

import builtins
import functools
import itertools
from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.blockwise.storing import element_of
from numbagraph.capture.builtins.complex_mathematics import CMATH
from numbagraph.capture.builtins.mathematics import MATH
from numbagraph.capture.builtins.memoised import memoised
from numbagraph.capture.builtins.numbers import (
    SCALAR_TYPES,
    Function,
    as_bool,
    as_complex,
    as_float,
    as_int,
    is_traced,
    number,
    python_number,
    weakened,
    with_python,
)
from numbagraph.capture.values.iterables import (
    Enumerated,
    Range,
    Reversed,
    Zipped,
    as_iterable,
    is_apart,
    one_by_one,
    traced_iterable,
)
from numbagraph.capture.values.loop_state import fitted, joined, kind
from numbagraph.capture.values.optional import Possibly, is_none, is_present
from numbagraph.capture.values.python_iterators import noted
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import DTYPES, FLOAT64, INT64, canonical_dtype
from numbagraph.ir.values import Value
from numbagraph.ops.indexing.subscripts import index
from numbagraph.purity.nondeterminism import refusal_of, spelled
from numbagraph.tracing import memory_layout
from numbagraph.tracing.in_place import out_by_name
from numbagraph.tracing.python_arithmetic import OVERFLOW
from numbagraph.tracing.replacements import replacements
from numbagraph.tracing.trace import converted
from numbagraph.tracing.tracer import TraceError, Tracer, apply, to_value, user_source


@with_python(len)
def length(thing: Any) -> Any:
    if not isinstance(thing, (Tracer, Stacked)):
        return len(thing)
    extent = thing.count() if isinstance(thing, Stacked) else first_extent(thing)
    extent = shapes.resolve(extent)
    return extent if isinstance(extent, int) else Tracer(extent)


def first_extent(thing: Tracer) -> Any:
    if not thing.ndim:
        raise TypeError(f"object of type {thing.dtype} has no len()\n  at {user_source()}")
    return thing.value.shape[0]


def extreme(name: str, comparison: str) -> Function:
    """``min`` or ``max``: of an array all elements; of several numbers the first of those that nothing surpasses."""
    python = getattr(builtins, name)

    @with_python(python)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise TraceError(f"{name}() of traced values takes no {', '.join(kwargs)}\n  at {user_source()}")
        if len(args) == 1 and isinstance(args[0], (Tracer, Stacked)):
            return as_element(apply(registry[name], as_array(args[0])), args[0])
        elements = list(args[0]) if len(args) == 1 else list(args)
        found = elements[0]
        for each in elements[1:]:
            winner = beyond(name, each, found)
            if winner is not None:
                found = winner
                continue
            left, right = within(name, as_value(to_value(each)), as_value(to_value(found)))
            if left.ndim or right.ndim:
                raise TraceError(f"{name}() of arrays: use np.{name}imum\n  at {user_source()}")
            target = joined(kind(left.type), kind(right.type))
            both = [fitted(value, target, (), name) for value in (left, right)]
            chosen = registry["where"](registry[comparison](left, right), *both)
            found = Tracer(weakened(chosen, target.dtype) if target.weak else index(chosen, ()))
        return found

    return call


def beyond(name: str, one: Any, other: Any) -> Any:
    """Return the extreme of two integers of Python's, or of one and an integer whose dtype does not hold it; None
    otherwise."""
    if type(one) is int and type(other) is int:
        return getattr(builtins, name)(other, one)
    for given, limited in ((one, other), (other, one)):
        if type(given) is int and isinstance(limited, (Tracer, np.generic)):
            value = as_value(to_value(limited))
            if value.dtype.kind in "iu" and not value.type.weak and not value.ndim:
                limits = np.iinfo(value.dtype)
                if not limits.min <= given <= limits.max:
                    return limited if (name == "min") == (given > limits.max) else given
    return None


def within(name: str, left: Value, right: Value) -> tuple[Value, Value]:
    """Return two numbers, where an integer of Python's that is known at run time is clipped to the limit of the other
    one's dtype on the side on which it is not the extreme. No dtype holds all of uint64 and of int64."""

    def limited(value: Value, other: Value) -> Value:
        is_pythons = value.type.weak and value.dtype.kind == "i"
        if not is_pythons or other.type.weak or other.dtype.kind not in "iu":
            return value
        limits, extent = np.iinfo(other.dtype), np.iinfo(np.int64)
        if name == "min":
            nearest = registry["minimum"](value, min(int(limits.max), int(extent.max)))
        else:
            nearest = registry["maximum"](value, max(int(limits.min), int(extent.min)))
        return convert(weakened(nearest, INT64), other.dtype) if other.dtype == np.uint64 else nearest

    return limited(left, right), limited(right, left)


def as_element(found: Any, of: Any) -> Any:
    """Return a number in the kind that the elements of a list have."""
    if not isinstance(of, Stacked) or not of.kept.are_pythons or found.ndim:
        return found
    return Tracer(weakened(found.value, np.dtype(np.int64) if found.dtype.kind == "b" else found.dtype))


def as_array(thing: Any) -> Any:
    return thing.array if isinstance(thing, Stacked) else thing


@with_python(sum)
def total(iterable: Any, start: Any = 0) -> Any:
    if isinstance(iterable, (Tracer, Stacked)):
        array = as_array(iterable)
        if isinstance(iterable, Stacked) and iterable.kept.are_pythons and array.dtype.kind == "i":
            size = registry["absolute"](registry["sum"](registry["cast"](array.value, FLOAT64)))
            shapes.require(registry["less"](size, 2.0**63), OVERFLOW, OverflowError)
        whole = None if array.dtype.kind == "b" or array is not iterable else array.dtype
        return as_element(np.sum(array, axis=0, dtype=whole), iterable) + start if array.ndim else sum(array)
    return sum(list(iterable), start)


def over_elements(name: str) -> Function:
    python = getattr(builtins, name)

    @with_python(python)
    def call(iterable: Any) -> Any:
        if isinstance(iterable, (Tracer, Stacked)):
            return as_bool(apply(registry[name], as_array(iterable)))
        return as_bool(apply(registry[name], np.stack([as_bool(each) for each in iterable])))

    return call


@with_python(round)
def rounded(value: Any, ndigits: int | None = None) -> Any:
    if ndigits is None:
        return as_int(value if number(value, "round").dtype.kind in "biu" else np.round(value))
    if is_traced(ndigits):
        raise TraceError(
            f"round() to a number of digits that is traced: name it in static_argnames\n  at {user_source()}"
        )
    found = round(value, ndigits)
    return python_number(found) if to_value(value).type.weak else found


@with_python(divmod)
def both_parts(left: Any, right: Any) -> Any:
    return left // right, left % right


def power(base: Any, exponent: Any) -> Any:
    return base**exponent


def is_instance(thing: Any, kinds: Any) -> bool:
    """Return ``isinstance(thing, kinds)``, where a traced number has the class of the number that it will be."""
    if isinstance(thing, Possibly):
        found, otherwise = is_instance(thing.value, kinds), isinstance(None, kinds)
        return found if found == otherwise else is_none(thing) if otherwise else is_present(thing)
    if not isinstance(thing, (Tracer, Stacked)):
        return isinstance(thing, kinds)
    return issubclass(type_of(thing), kinds)


def type_of(thing: Any, *bases: Any, **options: Any) -> type:
    """Return ``type(thing)``, where a traced number has the class of the number that it will be."""
    if bases or not issubclass(type(thing), (Tracer, Stacked)):  # isinstance would ask a proxy for what it stands for
        return type(thing, *bases, **options)
    return thing.python_class()


def has_attribute(thing: Any, name: str) -> Any:
    """Return ``hasattr(thing, name)``, where a traced number has the attributes of the number that it will be."""
    if isinstance(thing, Possibly):
        found, otherwise = has_attribute(thing.value, name), hasattr(None, name)
        return found if found == otherwise else is_none(thing) if otherwise else is_present(thing)
    return hasattr(type_of(thing) if isinstance(thing, Tracer) else thing, name)


def attribute(thing: Any, name: str, *default: Any) -> Any:
    """Return ``getattr(thing, name, *default)``, where a traced number has the attributes of the number that it will
    be."""
    if not default or not isinstance(thing, Tracer) or has_attribute(thing, name):
        return getattr(thing, name, *default)
    return default[0]


def is_iterable(thing: Any) -> bool:
    """``np.iterable``."""
    return thing.ndim > 0 if isinstance(thing, Tracer) else np.iterable(thing)


def dispatched(function: Any) -> Function:
    """Return the replacement of a `functools.singledispatch` function, which dispatches on the class of the first
    argument."""

    def call(first: Any, *args: Any, **kwargs: Any) -> Any:
        found = function.dispatch(type_of(first))
        return converted(found)(first, *args, **kwargs)

    return call


# ---- iterables ----


@with_python(range)
def traced_range(*bounds: Any) -> Any:
    return Range(*bounds)


def enumerated(iterable: Any, start: Any = 0) -> Any:
    if traced_iterable(iterable) is None and (not is_traced(start) or is_apart(iterable)):
        return noted(enumerate(iterable, start) if not is_traced(start) else numbered(iterable, start))
    return Enumerated(as_iterable(iterable), start)


def numbered(iterable: Any, start: Any) -> Any:
    """Return ``enumerate`` of known things, from a traced number."""
    return map(lambda number, each: (start + number, each), itertools.count(), iterable)


def zipped(*iterables: Any, **options: Any) -> Any:
    if all(traced_iterable(each) is None for each in iterables):
        return noted(zip(*iterables, **options))  # noqa: B905  strict is the user's
    if any(map(is_apart, iterables)):
        return noted(zip(*map(one_by_one, iterables), **options))  # noqa: B905
    return Zipped([as_iterable(each) for each in iterables], **options)


def backwards(iterable: Any) -> Any:
    return noted(reversed(iterable)) if traced_iterable(iterable) is None else Reversed(as_iterable(iterable))


# ---- arrays ----


def of_namespace(function: Function) -> Function | None:
    """Return the replacement of NumPy's function for traced lengths and elements; its results can be assigned to."""
    op = registry.find(function)
    if op is None:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_arrays(args, kwargs)
        return apply(op, *args, **kwargs)

    return call


def of_op(function: Function) -> Function | None:
    """Return the op of a function, also where NumPy would not hand the call to a traced array: the array is in a list,
    or the function is plain Python. None for others."""
    if function in replacements:
        return composed(function)
    op = None if isinstance(function, np.ufunc) else registry.find(function)
    if op is None:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_traced(args, kwargs):
            return function(*args, **kwargs)
        args, kwargs = with_arrays(args, kwargs)
        return apply(op, *out_by_name(function, args, kwargs), **kwargs)

    return call


def composed(function: Function) -> Function:
    """Return the replacement of a function of NumPy that numbagraph composes of others."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_traced(args, kwargs):
            return function(*args, **kwargs)
        args, kwargs = with_arrays(args, kwargs)
        return replacements[function](*args, **kwargs)

    return call


def with_arrays(*trees: Any) -> Any:
    """Return arguments with arrays in place of lists of a traced length."""
    return optree.tree_map(as_array, trees, none_is_leaf=True)  # type: ignore[arg-type]


def as_numpy_array(python: Function) -> Function:
    """``np.array`` and ``np.asarray``, of trees of traced numbers."""
    always = True if python is np.array else None

    def call(thing: Any, dtype: Any = None, order: Any = None, *, copy: Any = always, ndmin: int = 0, **_: Any) -> Any:
        if isinstance(thing, Stacked):
            thing = thing.table()
        if not isinstance(thing, Tracer):
            made = stack_of(thing, dtype) if is_traced(thing) else Tracer(constant_of(python(thing, dtype)))
            thing = memory_layout.arranged(made, thing, "K")
        elif not copy and thing._is_array:
            found = apply(registry["asarray"], thing, dtype, order=order, copy=copy)
            return found[(None,) * (ndmin - found.ndim)] if ndmin > found.ndim else found
        convert_to = registry["cast"] if thing.ndim else element_of  # an array keeps the order of its elements
        result = thing if dtype is None else apply(convert_to, thing, canonical_dtype(dtype))
        result = result[(None,) * (ndmin - result.ndim)] if ndmin > result.ndim else result
        return result.copy(order or "K") if result.ndim else apply(registry["asarray"], result)

    return call


def copied(a: Any, order: Any = "K", **options: Any) -> Any:
    """``np.copy`` and the method of arrays: elements of the copy of an array from outside may be set to traced ones."""
    if isinstance(a, Tracer) or (isinstance(a, np.ndarray) and a.dtype not in DTYPES):
        return np.copy(a, order, **options)
    return as_numpy_array(np.array)(a, order=order)


def arranged(python: Function) -> Function:
    """``np.ascontiguousarray`` and its like, of trees of traced numbers."""
    as_array = as_numpy_array(np.asarray)

    def call(a: Any, dtype: Any = None, **_: Any) -> Any:
        return apply(registry[python.__name__], as_array(a), dtype) if is_traced(a) else python(a, dtype)

    return call


def constant_of(array: np.ndarray) -> Value:
    found: Value = as_value(to_value(array))
    return found


def stack_of(tree: Any, dtype: Any = None) -> Any:
    """Nested lists of traced numbers and arrays, as NumPy's array of them; with ``dtype``, numbers of Python fit it."""
    if isinstance(tree, (list, tuple)):
        return np.stack([element(stack_of(each, dtype), dtype) for each in tree])
    if isinstance(tree, (Tracer, Stacked)):
        return as_array(tree)
    return Tracer(constant_of(np.asarray(tree if dtype is None else np.asarray([tree], dtype)[0])))


def element(number: Tracer, dtype: Any) -> Tracer:
    """Convert an element of a list for an array of that list."""
    if dtype is None:
        return Tracer(convert(number.value, number.dtype))
    return number if number.ndim else apply(element_of, number, canonical_dtype(dtype), alone=True)


def new_array(shape: Any, dtype: Any = float, *others: Any, **options: Any) -> Any:
    """Return ``np.ndarray(shape, dtype)``, whose elements are not set."""
    if others or options:
        return np.ndarray(shape, dtype, *others, **options)
    return apply(registry["empty"], *with_arrays((shape, dtype), {})[0])


_DISPATCHING = getattr(functools.singledispatch(len), "__code__")  # noqa: B009  unknown to type checkers
_MAKERS = (
    np.zeros, np.ones, np.full, np.empty, np.eye, np.identity, np.arange, np.linspace, np.tri, np.indices,
    np.zeros_like, np.ones_like, np.full_like, np.empty_like,
)  # fmt: skip

_REPLACED: dict[Any, Any] = {
    range: traced_range,
    enumerate: enumerated,
    zip: zipped,
    reversed: backwards,
    len: length,
    int: as_int,
    float: as_float,
    complex: as_complex,
    bool: as_bool,
    min: extreme("min", "less"),
    max: extreme("max", "greater"),
    sum: total,
    any: over_elements("any"),
    all: over_elements("all"),
    round: rounded,
    divmod: both_parts,
    isinstance: is_instance,
    type: type_of,
    hasattr: has_attribute,
    getattr: attribute,
    np.iterable: is_iterable,
    np.random.default_rng: lambda seed=None: replacements.for_role("numpy.random.default_rng")(seed),
    np.array: as_numpy_array(np.array),
    np.asarray: as_numpy_array(np.asarray),
    np.copy: copied,
    np.ascontiguousarray: arranged(np.ascontiguousarray),
    np.asfortranarray: arranged(np.asfortranarray),
    np.ndarray: new_array,
    **SCALAR_TYPES,
    **MATH,
    **CMATH,
}


def replacement(function: Any) -> Function | None:
    """Return the replacement of a function, or None."""
    try:
        found = _REPLACED.get(function)
    except TypeError:  # it cannot be hashed
        found = None
    if found is not None:
        return found
    if getattr(function, "__code__", None) is _DISPATCHING:
        return dispatched(function)
    if (own := memoised(function)) is not None:
        return own
    holder = getattr(function, "__self__", None)
    if isinstance(holder, Tracer) and getattr(function, "__name__", "") == "item":
        return lambda *position: python_number(holder, *position)
    if isinstance(holder, np.ndarray) and getattr(function, "__name__", "") == "copy":
        return lambda order="C": copied(holder, order)
    if any(function is each for each in _MAKERS):
        return of_namespace(function)
    if getattr(function, "__name__", "") == "prange" and str(getattr(function, "__module__", "")).startswith("numba."):
        return traced_range
    found = replacements.before_ops(function) or of_op(function) or replacements.after_ops(function)
    if found is not None:
        return found
    refuse_impure(function)
    return None


def refuse_impure(function: Any) -> None:
    name = spelled(function)
    if name is not None:
        raise TraceError(f"{refusal_of(name)}\n  at {user_source()}")
