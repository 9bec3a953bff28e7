"""A `numpy.random.Generator` while a function is traced: its methods become draws from a state, which each renews."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.lengths import as_shape
from numbagraph.blockwise.promotion import as_strong, convert
from numbagraph.ir import shapes
from numbagraph.ir.array_classes import plain_array
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT32, FLOAT64, UINT64
from numbagraph.ir.values import Value
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.indexing.subscripts import index
from numbagraph.ops.random.draws import DISTRIBUTIONS, DRAWS, INTEGERS
from numbagraph.ops.shape import broadcast_value, reshape_value
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.checks import require
from numbagraph.tracing.errors import OnlyTraced, TraceError, user_source
from numbagraph.tracing.trace import active, current_trace
from numbagraph.tracing.tracer import Tracer, apply

Finish = Callable[..., Value]
"""A function of the drawn numbers and of parameters, which makes the result."""


def first(numbers: Value) -> Value:
    return numbers


class TracedGenerator(OnlyTraced):
    """The random generator of a traced function, with NumPy's methods."""

    advice = "the caller has the generator, which is left in the state after the call"

    def __init__(self, kind: str, state: Tracer) -> None:
        self._kind = kind
        self._state = state
        trace = current_trace()
        if trace is not None:
            trace.drawn.append(state)

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        # so that isinstance(rng, numpy.random.Generator) holds, as without a trace
        return np.random.Generator

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"'numpy.random.Generator' object has no attribute {name!r}")
        raise TraceError(
            f"{name} of a numpy.random.Generator is not compiled: draw outside, and pass what it gives as an argument"
            f"\n  at {user_source()}"
        )

    def __repr__(self) -> str:
        return f"Generator({self._kind})"

    def __bool__(self) -> bool:
        return True

    def arrays(self) -> tuple[Tracer, ...]:
        return (self._state,)

    # ---- draws ----

    def _draw(
        self, name: str, given: Sequence[Any], size: Any = None, finish: Finish = first, alone: Finish | None = None
    ) -> Tracer:
        """Draw numbers from a distribution, of the shape ``size``, or of that to which all parameters broadcast.
        Parameters that the distribution does not take are for ``finish``, which makes the result of the drawn numbers;
        ``alone`` makes the result of one number where no size is given, which is a number of Python by default."""
        taken = DISTRIBUTIONS[name].parameters

        def drawn(state: Value, size: Any, *given: Any) -> tuple[Value, Value]:
            dtypes = [each.dtype for each in taken] + [FLOAT64] * (len(given) - len(taken))
            values = [parameter(*each) for each in zip(given, dtypes, strict=True)]
            shape = shape_of(values, size)
            length = shapes.product(shape)
            carrier = filled(number_as(0, BOOL), (length,))
            operands = (state, *as_vectors(values[: len(taken)], shape, length), carrier)
            both: Any = DRAWS[name](*operands, source=self._kind, on_error="raise")
            numbers, after = both
            numbers = finish(reshape_value(numbers, shape), *values[len(taken) :])
            if not shape:
                numbers = (alone or as_python)(numbers) if size is None else registry["asarray"](numbers)
            return numbers, after

        return self._apply(name, drawn, size, *given)

    def _apply(self, name: str, drawn: Callable[..., tuple[Value, Value]], *given: Any) -> Tracer:
        """Apply a function that returns numbers and the next state to the state and ``given``; keep the state, return
        the numbers."""
        self._require_place()
        drawn.__name__ = f"Generator.{name}"
        numbers, after = apply(drawn, self._state, *given)
        self._renew(after)
        return numbers

    def _renew(self, after: Tracer) -> None:
        """Set the state from which later numbers are drawn."""
        self._state._rebind(lambda _, new: new, after)

    def _orders(self, rows: Any, count: Any) -> Tracer:
        """Return, for each row, the positions of ``count`` shuffled elements."""

        def drawn(state: Value, rows: Any, count: Any) -> tuple[Value, Value]:
            carriers = [filled(number_as(0, BOOL), as_shape(each)) for each in (rows, count)]
            both: Any = registry["draws.orders"](state, *carriers, source=self._kind, on_error="raise")
            return both

        return self._apply("permutation", drawn, rows, count)

    def _require_place(self) -> None:
        state, scope = self._state, active.scope
        if state._foreign:
            raise TraceError(
                "a generator cannot draw in a function that @njit code, C or PyTensor calls: they have no place for "
                f"its state. Draw outside, and pass the numbers as an argument\n  at {user_source()}"
            )
        if state._scope is not scope and (scope is None or scope.journal is None) and not state_ended(state):
            raise TraceError(
                "a numpy.random.Generator cannot draw in a function given to a loop or a branch: each step would draw "
                "the same numbers. Write the loop or the branch in Python, draw before it, or draw from a key of each "
                f"step (numbagraph.random.fold_in)\n  at {user_source()}"
            )

    # ---- NumPy's methods; derivatives follow where numbers are shifted and scaled ----

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Tracer:
        return self._draw(precise("random", dtype, out), (), size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Tracer:
        return self._draw(precise("standard_normal", dtype, out), (), size)

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Tracer:
        name = "standard_exponential" if method == "zig" else "standard_exponential_inv"
        return self._draw(precise(name, dtype, out), (), size)

    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Tracer:
        return self._draw(precise("standard_gamma", dtype, out), (shape,), size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Tracer:
        require_not_negative("scale", scale)
        return self._draw("standard_normal", (loc, scale), size, shifted)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Tracer:
        require_not_negative("scale", scale)
        return self._draw("standard_exponential", (scale,), size, scaled)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Tracer:
        require_not_negative("shape", shape)
        require_not_negative("scale", scale)
        return self._draw("standard_gamma", (shape, scale), size, scaled)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tracer:
        width = array_of(high) - array_of(low)
        text = "Range exceeds valid bounds" if width.ndim else "high - low range exceeds valid bounds"
        require(np.isfinite(width), OverflowError, text)
        require_not_negative("high - low", width)
        return self._draw("random", (low, high), size, lambda numbers, low, high: low + (high - low) * numbers)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Tracer:
        target = np.dtype(dtype)
        if target not in (*INTEGERS, BOOL):
            raise TypeError(f"Unsupported dtype {target!r} for integers")
        bottom, top = (0, low) if high is None else (low, high)
        first, width = integer_range(bottom, top, target, endpoint)
        alone = None if dtype in (bool, int) else as_scalar
        return self._draw(f"integers_{target.name}", (first, width), size, alone=alone)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return a permuted copy of an array, or of ``arange(x)``."""
        array = array_of(x)
        if not array.ndim:
            return self._orders(1, x)[0]
        return apply(registry["take"], array, self._orders(1, array.shape[axis])[0], axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        if not isinstance(x, Tracer):
            raise TraceError(
                f"shuffle of what is not traced would shuffle it once: use permutation, which gives a copy, or pass "
                f"the array as an argument\n  at {user_source()}"
            )
        if x.ndim < 2:
            x[...] = self.permutation(x, axis)
            return
        # nothing is drawn for an array without elements, which may have rows
        count = shapes.minimum(x.value.shape[axis], shapes.product(x.value.shape))
        order = self._orders(1, count if isinstance(count, int) else Tracer(count))[0]
        x[...] = np.reshape(apply(registry["take"], x, order, axis), x.shape)


def as_scalar(number: Value) -> Value:
    """Return a number as NumPy's scalar, rather than as an array of no dimensions."""
    return index(reshape_value(number, (1,)), 0)


def integer_range(low: Any, high: Any, dtype: np.dtype, endpoint: bool) -> tuple[Any, Any]:
    """The lowest integer, as unsigned bits, and the number of integers above it."""
    least, most = (0, 1) if dtype == BOOL else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    text, bits = "low > high" if endpoint else "low >= high", 2 ** (8 * dtype.itemsize) - 1
    if not isinstance(low, Tracer) and not np.any(low):
        text = "high < 0" if endpoint else "high <= 0"
    below, above = f"low is out of bounds for {dtype}", f"high is out of bounds for {dtype}"
    if all(isinstance(each, (int, np.integer)) for each in (low, high)):
        first, last = int(low), int(high) - (not endpoint)
        require(first >= least, ValueError, below)
        require(last <= most, ValueError, above)
        require(first <= last, ValueError, text)
        return np.uint64(first & bits), np.uint64(last - first & bits)
    ends = [array_of(each) for each in (low, high)]
    for each in ends:
        if each.dtype.kind not in "biu" or each.dtype == UINT64:
            raise TypeError(f"bounds of integers are of dtype {each.dtype}: convert them by astype(np.int64)")
    if dtype.itemsize < 4 and any(each.ndim for each in ends):
        raise TraceError(
            f"integers of dtype {dtype} with arrays as bounds are not compiled: draw int64 or int32, whose numbers are "
            f"other ones\n  at {user_source()}"
        )
    first, last = (each.astype(np.int64) for each in ends)
    if least > -(2**63):
        require(first >= least, ValueError, below)
    if most < 2**63 - 1:
        require(last - (not endpoint) <= most, ValueError, above)
    require(first <= last if endpoint else first < last, ValueError, text)
    width = last - first - (not endpoint)
    return first.astype(np.uint64) & np.uint64(bits), width.astype(np.uint64)


def state_ended(state: Tracer) -> bool:
    """Whether a state belongs to a trace that is not active: its use raises another error."""
    scope = active.scope
    return state._scope is not None and (scope is None or not scope.is_inside(state._scope))


def parameter(given: Any, dtype: np.dtype) -> Value:
    """Return a parameter of a distribution, in the dtype in which it is computed."""
    value = as_strong(given)
    kinds = "biuf" if dtype.kind == "f" else "biu"
    if value.dtype.kind not in kinds or (value.ndim and not np.can_cast(value.dtype, dtype, "safe")):
        raise TypeError(f"Cannot cast array data from {value.dtype!r} to {dtype!r} according to the rule 'safe'")
    return convert(value, dtype)


def shape_of(values: Sequence[Value], size: Any) -> tuple[Any, ...]:
    """The shape of the drawn numbers."""
    common = shapes.broadcast_shapes([value.shape for value in values], "shape mismatch") if values else ()
    if size is None:
        return tuple(common)
    target = as_shape(size)
    for value in values:
        if value.ndim:
            broadcast_value(value, target)  # which requires that it fits
    return target


def as_vectors(values: Sequence[Value], shape: Sequence[Any], length: Any) -> list[Value]:
    """Return parameters as vectors: of one element that serves for all draws, or of one for each."""
    if not any(value.ndim for value in values):
        return [reshape_value(value, (1,)) for value in values]
    return [reshape_value(broadcast_value(value, shape), (length,)) for value in values]


def as_python(number: Value) -> Value:
    """Return a number as one of Python's, which NumPy gives where no size is asked for."""
    dtype = FLOAT64 if number.dtype == FLOAT32 else number.dtype
    return registry["cast"].bind(number, dtype=dtype, weak=True)


def precise(name: str, dtype: Any, out: Any) -> str:
    """The name of a distribution's draw in float64 or float32."""
    target = np.dtype(dtype)
    if target not in (FLOAT64, FLOAT32):
        raise TypeError(f"Unsupported dtype {target!r} for {name.removesuffix('_inv')}")
    if out is not None:
        raise TraceError(f"out= of a draw is not compiled: assign what is drawn (x[...] = ...)\n  at {user_source()}")
    return f"{name}_f" if target == FLOAT32 else name


def array_of(given: Any) -> Any:
    """Return a parameter as an array, whose elements can be checked."""
    if isinstance(given, (list, tuple)) and any(isinstance(leaf, Tracer) for leaf in flatten(given)[0]):
        return apply(registry["asarray"], given)
    return given if isinstance(given, Tracer) else plain_array(given)


def require_not_negative(name: str, given: Any) -> None:
    """Require that no element is negative. NumPy refuses negative zero, too, and takes NaN."""
    value = array_of(given)
    if value.dtype.kind == "f":
        require(np.logical_not(np.signbit(value) & ~np.isnan(value)), ValueError, f"{name} < 0")
    elif value.dtype.kind == "i":
        require(value >= 0, ValueError, f"{name} < 0")


def shifted(numbers: Value, loc: Value, scale: Value) -> Value:
    return loc + scale * numbers


def scaled(numbers: Value, scale: Value) -> Value:
    return scale * numbers


def plain(name: str, defaults: Sequence[float] = ()) -> Callable[..., Tracer]:
    """Make the method of a distribution, with the names and the defaults of its parameters."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [each.name for each in DISTRIBUTIONS[name].parameters]
    needed = len(names) - len(defaults)
    default = [inspect.Parameter.empty] * needed + [*defaults]
    given = [inspect.Parameter(each, kind, default=value) for each, value in zip(names, default, strict=True)]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([own, *given, inspect.Parameter("size", kind, default=None)])

    def method(*args: Any, **kwargs: Any) -> Tracer:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self, *parameters, size = bound.arguments.values()
        return self._draw(name, parameters, size)

    method.__name__ = name
    return method


DEFAULTS = {
    "laplace": (0.0, 1.0),
    "gumbel": (0.0, 1.0),
    "logistic": (0.0, 1.0),
    "lognormal": (0.0, 1.0),
    "poisson": (1.0,),
    "rayleigh": (1.0,),
}

for _name in DISTRIBUTIONS:
    if _name not in vars(TracedGenerator) and hasattr(np.random.Generator, _name):
        setattr(TracedGenerator, _name, plain(_name, DEFAULTS.get(_name, ())))
