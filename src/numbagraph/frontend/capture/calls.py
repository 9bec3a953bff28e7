"""What functions of Python and NumPy stand for in converted code: the same, of traced numbers and lengths."""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value, convert, weak_convert
from numbagraph.frontend.capture.iterables import (
    Enumerated,
    Range,
    Reversed,
    Stacked,
    Zipped,
    as_iterable,
    require_known,
    traced_iterable,
)
from numbagraph.frontend.capture.state import fitted, joined, kind
from numbagraph.frontend.impure import spelled
from numbagraph.frontend.tracing import TraceError, Tracer, apply, to_value, user_source
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, INT64, UINT64
from numbagraph.ir.values import Value, at_source
from numbagraph.ops.indexing import index

Function = Callable[..., Any]


def is_traced(*trees: Any) -> bool:
    leaves: list[Any] = optree.tree_leaves(trees, none_is_leaf=True)  # type: ignore[arg-type]
    return any(isinstance(leaf, (Tracer, Stacked)) for leaf in leaves)


def with_python(function: Function) -> Callable[[Function], Function]:
    """A function that does what a function of Python's does, where nothing is traced."""

    def decorate(traced: Function) -> Function:
        @functools.wraps(traced)
        def call(*args: Any, **kwargs: Any) -> Any:
            for each in args:
                require_known(each)
            if not is_traced(args, kwargs):
                return function(*args, **kwargs)
            with at_source(user_source()):
                return traced(*args, **kwargs)

        return call

    return decorate


# ---- Python's numbers ----


def number(value: Any, what: str) -> Value:
    """A number, or an array of one element, as Python's conversions take it."""
    found: Value = as_value(to_value(value))
    if found.ndim:
        if any(shapes.resolve(each) != 1 for each in found.shape):
            raise TraceError(f"{what}() takes one number, not {found.type}\n  at {user_source()}")
        found = registry["reshape"](found, ())
    return found


def required(condition: Value, message: str, error: type[Exception]) -> None:
    shapes.require(condition, message, error)


@with_python(int)
def as_int(value: Any = 0) -> Any:
    found = number(value, "int")
    if found.dtype.kind == "c":
        raise TypeError(f"int() takes a real number, not {found.type}\n  at {user_source()}")
    if found.dtype.kind == "f":
        required(registry["logical_not"](registry["isnan"](found)), "cannot convert float NaN to integer", ValueError)
        small = registry["less"](registry["absolute"](found), 2.0**63)
        required(small, "cannot convert float infinity, or 2**63 and more, to an integer of 64 bits", OverflowError)
        found = registry["trunc"](found)
    elif found.dtype == UINT64:
        small = registry["less"](found, np.uint64(2**63))
        required(small, "cannot convert 2**63 and more to an integer of 64 bits", OverflowError)
    return Tracer(weakened(found, INT64))


def weakened(value: Value, dtype: np.dtype) -> Value:
    """A number as one of Python's."""
    if value.type.weak:
        return weak_convert(value, dtype)
    return registry["cast"].bind(convert(value, value.dtype), dtype=dtype, weak=True)


@with_python(float)
def as_float(value: Any = 0.0) -> Any:
    found = number(value, "float")
    if found.dtype.kind == "c":
        raise TypeError(f"float() takes a real number, not {found.type}\n  at {user_source()}")
    return Tracer(weakened(found, FLOAT64))


@with_python(complex)
def as_complex(real: Any = 0, imag: Any = 0) -> Any:
    both = number(real, "complex"), number(imag, "complex")
    total = registry["add"](both[0], registry["multiply"](both[1], 1j))
    return Tracer(weakened(total, np.dtype(np.complex128)))


@with_python(bool)
def as_bool(value: Any = False) -> Any:
    found = number(value, "bool")
    return Tracer(weakened(found if found.dtype == BOOL else registry["not_equal"](found, 0), BOOL))


def python_number(element: Tracer) -> Tracer:
    """What ``item()`` gives."""
    found = number(element, "item")
    own = BOOL if found.dtype == BOOL else INT64 if found.dtype.kind in "iu" else np.result_type(found.dtype, FLOAT64)
    return Tracer(weakened(found, own))


@with_python(len)
def length(thing: Any) -> Any:
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
            return apply(registry[name], as_array(args[0]))
        elements = list(args[0]) if len(args) == 1 else list(args)
        found = elements[0]
        for each in elements[1:]:
            left, right = as_value(to_value(each)), as_value(to_value(found))
            if left.ndim or right.ndim:
                raise TraceError(f"{name}() of arrays: use np.{name}imum\n  at {user_source()}")
            target = joined(kind(left.type), kind(right.type))
            both = [fitted(value, target, (), name) for value in (left, right)]
            chosen = registry["where"](registry[comparison](left, right), *both)
            found = Tracer(weakened(chosen, target.dtype) if target.weak else index(chosen, ()))
        return found

    return call


def as_array(thing: Any) -> Any:
    return thing.array if isinstance(thing, Stacked) else thing


@with_python(sum)
def total(iterable: Any, start: Any = 0) -> Any:
    if isinstance(iterable, (Tracer, Stacked)):
        array = as_array(iterable)
        return np.sum(array, axis=0) + start if array.ndim else sum(array)
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
def rounded(value: Any, digits: int | None = None) -> Any:
    return as_int(np.round(value)) if digits is None else round(value, digits)


@with_python(divmod)
def both_parts(left: Any, right: Any) -> Any:
    return left // right, left % right


@with_python(pow)
def power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    return base**exponent if modulus is None else base**exponent % modulus


def is_instance(thing: Any, kinds: Any) -> bool:
    """``isinstance``, for which a traced number is what it will be."""
    if not isinstance(thing, Tracer):
        return isinstance(thing, kinds)
    flat = kinds if isinstance(kinds, tuple) else (kinds,)
    value = thing.value
    if value.type.weak:
        own: type = type(np.zeros((), value.dtype).item())
        return any(issubclass(own, each) for each in flat)
    own = np.ndarray if thing._is_array else value.dtype.type
    return any(issubclass(own, each) for each in flat)


# ---- iterables ----


@with_python(range)
def traced_range(*bounds: Any) -> Any:
    return Range(*bounds)


def enumerated(iterable: Any, start: Any = 0) -> Any:
    if traced_iterable(iterable) is None and not is_traced(start):
        return enumerate(iterable, start)
    return Enumerated(as_iterable(iterable), start)


def zipped(*iterables: Any, **options: Any) -> Any:
    if all(traced_iterable(each) is None for each in iterables):
        return zip(*iterables, **options)  # noqa: B905  strict is the user's
    return Zipped([as_iterable(each) for each in iterables])


def backwards(iterable: Any) -> Any:
    return reversed(iterable) if traced_iterable(iterable) is None else Reversed(as_iterable(iterable))


def as_list(iterable: Any = ()) -> Any:
    return iterable if isinstance(iterable, Stacked) else list(iterable)


# ---- math ----


def of_math(name: str, op: str, message: str = "math domain error", inside: Function | None = None) -> Function:
    """A function of `math`: of a Python float, and an error where it is not defined."""

    @with_python(getattr(math, name))
    def call(*args: Any) -> Any:
        values = [weakened(number(each, name), FLOAT64) for each in args]
        if inside is not None:
            required(inside(*values), message, ValueError)
        result = registry[op](*values)
        finite = functools.reduce(registry["logical_and"], [registry["isfinite"](each) for each in values])
        if op in _OVERFLOWING:
            fine = registry["logical_or"](registry["isfinite"](result), registry["logical_not"](finite))
            required(fine, "math range error", OverflowError)
        elif op in _PERIODIC:
            known = registry["logical_not"](registry["isinf"](values[0]))
            required(known, "math domain error", ValueError)
        return Tracer(weakened(result, result.dtype) if result.dtype == FLOAT64 else result)

    return call


_OVERFLOWING = {"exp", "expm1", "sinh", "cosh", "power", "exp2", "gamma"}
_PERIODIC = {"sin", "cos", "tan"}


def _not(name: str, bound: float) -> Function:
    return lambda x: registry["logical_not"](registry[name](x, bound))


def _within_one(x: Value) -> Value:
    return registry["logical_not"](registry["greater"](registry["absolute"](x), 1.0))


def whole_of(name: str) -> Function:
    """``math.floor`` and its like give integers."""

    @with_python(getattr(math, name))
    def call(value: Any) -> Any:
        found = number(value, name)
        return as_int(Tracer(registry[name](found) if found.dtype.kind == "f" else found))

    return call


def truth_of(name: str) -> Function:
    @with_python(getattr(math, name))
    def call(value: Any) -> Any:
        return Tracer(weakened(registry[name](number(value, name)), BOOL))

    return call


def _power_is_real(base: Value, exponent: Value) -> Value:
    """C's rule: no pole at 0, no fractional powers of negative numbers; infinities and NaN are numbers here."""
    finite, less = registry["isfinite"], registry["less"]
    limited = registry["logical_and"](finite(base), finite(exponent))
    pole = registry["logical_and"](registry["equal"](base, 0.0), less(exponent, 0.0))
    whole = registry["equal"](registry["floor"](exponent), exponent)
    complex_ = registry["logical_and"](less(base, 0.0), registry["logical_not"](whole))
    return registry["logical_not"](registry["logical_and"](limited, registry["logical_or"](pole, complex_)))


_natural = of_math("log", "log", inside=_not("less_equal", 0.0))


@with_python(math.log)
def logarithm(value: Any, base: Any = math.e) -> Any:
    return _natural(value) if base is math.e else _natural(value) / _natural(base)


_MATH: dict[Any, Function] = {
    **{getattr(math, each): of_math(each, each) for each in "sin cos tan exp expm1 sinh cosh tanh exp2 cbrt".split()
       if hasattr(math, each)},
    math.atan: of_math("atan", "arctan"),
    math.asinh: of_math("asinh", "arcsinh"),
    math.fabs: of_math("fabs", "absolute"),
    math.degrees: of_math("degrees", "degrees"),
    math.radians: of_math("radians", "radians"),
    math.atan2: of_math("atan2", "arctan2"),
    math.hypot: of_math("hypot", "hypot"),
    math.copysign: of_math("copysign", "copysign"),
    math.erf: of_math("erf", "erf"),
    math.erfc: of_math("erfc", "erfc"),
    math.sqrt: of_math("sqrt", "sqrt", inside=_not("less", 0.0)),
    math.log: logarithm,
    math.log2: of_math("log2", "log2", inside=_not("less_equal", 0.0)),
    math.log10: of_math("log10", "log10", inside=_not("less_equal", 0.0)),
    math.log1p: of_math("log1p", "log1p", inside=_not("less_equal", -1.0)),
    math.asin: of_math("asin", "arcsin", inside=_within_one),
    math.acos: of_math("acos", "arccos", inside=_within_one),
    math.acosh: of_math("acosh", "arccosh", inside=_not("less", 1.0)),
    math.pow: of_math("pow", "power", inside=_power_is_real),
    **{getattr(math, each): whole_of(each) for each in ("floor", "ceil", "trunc")},
    **{getattr(math, each): truth_of(each) for each in ("isnan", "isinf", "isfinite")},
}  # fmt: skip


# ---- arrays ----


def of_namespace(function: Function) -> Function | None:
    """NumPy's function for traced lengths and elements; what it makes can be assigned to."""
    op = registry.find(function)
    if op is None:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_arrays(args, kwargs)
        return apply(op, *args, **kwargs)

    return call


def with_arrays(*trees: Any) -> Any:
    """Arguments, with arrays in place of lists of a traced length."""
    return optree.tree_map(as_array, trees, none_is_leaf=True)  # type: ignore[arg-type]


def as_numpy_array(python: Function) -> Function:
    """``np.array`` and ``np.asarray``, of trees of traced numbers."""

    def call(thing: Any, dtype: Any = None, **options: Any) -> Any:
        if isinstance(thing, Stacked):
            thing = thing.array
        if not isinstance(thing, Tracer):
            thing = stack_of(thing) if is_traced(thing) else Tracer(constant_of(python(thing, dtype)))
        elif python is np.asarray and (dtype is None or np.dtype(dtype) == thing.dtype) and thing._is_array:
            return thing
        result = thing if dtype is None else apply(registry["cast"], thing, dtype)
        del options
        return result.copy() if result.ndim else apply(registry["asarray"], result)

    return call


def constant_of(array: np.ndarray) -> Value:
    found: Value = as_value(to_value(array))
    return found


def stack_of(tree: Any) -> Any:
    """Nested lists of traced numbers and arrays, as NumPy's array of them."""
    if isinstance(tree, (list, tuple)):
        return np.stack([strong(stack_of(each)) for each in tree])
    return as_array(tree) if isinstance(tree, (Tracer, Stacked)) else Tracer(constant_of(np.asarray(tree)))


def strong(array: Tracer) -> Tracer:
    value = array.value
    return Tracer(convert(value, value.dtype)) if value.type.weak else array


_MAKERS = (
    np.zeros, np.ones, np.full, np.empty, np.eye, np.identity, np.arange, np.linspace, np.tri, np.indices,
    np.zeros_like, np.ones_like, np.full_like, np.empty_like,
)  # fmt: skip

_REPLACED: dict[Any, Function] = {
    range: traced_range,
    enumerate: enumerated,
    zip: zipped,
    reversed: backwards,
    list: as_list,
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
    pow: power,
    isinstance: is_instance,
    np.array: as_numpy_array(np.array),
    np.asarray: as_numpy_array(np.asarray),
    np.ascontiguousarray: as_numpy_array(np.asarray),
    **_MATH,
}


def replacement(function: Any) -> Function | None:
    """What is called instead of a function, or None."""
    try:
        found = _REPLACED.get(function)
    except TypeError:  # it cannot be hashed
        return None
    if found is not None:
        return found
    holder = getattr(function, "__self__", None)
    if isinstance(holder, Tracer) and getattr(function, "__name__", "") == "item":
        return lambda *position: python_number(holder[position] if position else holder)
    if any(function is each for each in _MAKERS):
        return of_namespace(function)
    if getattr(function, "__name__", "") == "prange" and str(getattr(function, "__module__", "")).startswith("numba."):
        return traced_range
    refuse_impure(function)
    return None


def refuse_impure(function: Any) -> None:
    name = spelled(function)
    if name is not None:
        raise TraceError(
            f"{name} answers otherwise in each call, but in a compiled function it would be called only once, while "
            f"the function is traced: call it outside, and pass what it returns as an argument\n  at {user_source()}"
        )
