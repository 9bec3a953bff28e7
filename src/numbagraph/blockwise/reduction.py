"""The reduction kind: ``(n)->()`` over any set of axes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import batch_unary, draw, reference_of, scalar_result, without_axes
from numbagraph.blockwise.promotion import as_value, convert, is_large
from numbagraph.blockwise.storing import written
from numbagraph.intrinsics.emitters.reducers import Reducer
from numbagraph.ir import shapes
from numbagraph.ir.op import lazy, registry
from numbagraph.ir.types import BOOL, INT64, canonical_dtype
from numbagraph.ir.values import ArrayType, Op, Unsupported, Value, Vjp, constant

Function = Callable[..., Any]


def reduction(
    reference: Function,
    *,
    reducer: Reducer,
    vjp: Vjp | Unsupported,
    accumulator: Callable[[np.dtype], np.dtype] = lambda dtype: dtype,
    name: str | None = None,
    empty: str | None = None,
    join: str | None = None,
    ufunc: np.ufunc | None = None,
    implements: tuple[Any, ...] = (),
    jnp: Function | None = None,
    ulp: float = 0.0,
) -> Op:
    """Declare an op ``(n)->()`` over any set of axes. Its parameters are those of the NumPy function.

    Parameters
    ----------
    vjp
        ``vjp(g, y, x, axes=...)``, where ``g`` and ``y`` still have the reduced axes, with length 1.
    accumulator
        From the operand's dtype to the one that is accumulated in.
    empty
        For a reduction without identity, the error that no elements give.
    join
        The binary op that combines the result with ``initial``.
    ufunc
        The ufunc of which this is the ``reduce`` method.
    implements
        Other functions that are the same.
    """
    found, call = reference_of(reference)
    name = name or found
    evaluate = evaluator(reference, reducer)
    translated = jnp or lazy(f"jax.numpy:{name}")

    def infer(value: Value, *, axes: tuple[int, ...]) -> ArrayType:
        return ArrayType(reducer.result_dtype(value.dtype), without_axes(value.shape, axes))

    def frontend(op: Op, *args: Any, **kwargs: Any) -> Value:
        options = numpy_arguments(reference, args, kwargs)
        value = as_value(options["a"])
        dtype, initial = options.get("dtype"), options.get("initial")
        value = convert(value, accumulator(value.dtype) if dtype is None else canonical_dtype(dtype))
        axes = reduced_axes(value, options.get("axis"), several=not reducer.positional)
        where = options.get("where", True)
        without = empty or f"zero-size array to reduction operation {name} which has no identity"
        if initial is None and (empty is not None or "initial" in options):
            require_elements(value, axes, without)
            if where is not True:
                raise ValueError(f"{name} has no identity, so a where mask needs initial= as well")
        if where is not True:
            value = selected(value, where, constant(reducer.identity_of(value.dtype), dtype=value.dtype))
        reduced = op.bind(value, axes=axes) if axes else of_one(reducer, value)
        if initial is not None and join is not None:
            reduced = registry[join](reduced, start_of(initial, value.dtype))
        kept = axes and options.get("keepdims")
        return registry["expand_dims"].bind(reduced, axes=axes) if kept else scalar_result(reduced)

    def differentiate(g: Value, y: Value, x: Value, *, axes: tuple[int, ...]) -> tuple[Any, ...]:
        assert not isinstance(vjp, Unsupported)
        restored = [registry["expand_dims"].bind(each, axes=axes) for each in (g, y)]
        return tuple(vjp(*restored, x, axes=axes))

    return registry.register(
        Op(
            name=name,
            kind="reduction",
            reference=lambda a, *, axes: evaluate(call, a, axes),
            infer=infer,
            frontend=frontend,
            lower=lowering.Reduce(reducer),
            vjp=vjp if isinstance(vjp, Unsupported) else differentiate,
            batch=batch_unary,
            jnp=lambda a, *, axes: evaluate(translated, a, axes),
            samples=lambda rng, dtype: reduction_samples(reference, rng, dtype),
            implements=(reference, *implements, *([(ufunc, "reduce")] if ufunc is not None else [])),
            ulp=ulp,
        )
    )


def evaluator(reference: Function, reducer: Reducer) -> Function:
    """Return ``evaluate(function, array, axes)``, which calls NumPy's function, or one like it, with the attributes of
    a node."""

    def position(function: Function, a: Any, axes: tuple[int, ...]) -> Any:
        if len(axes) == 1:
            return function(a, axis=axes[0])
        kept = a.shape[: a.ndim - len(axes)]  # several axes are the last ones: ``axis=None`` binds all of them
        return function(a.reshape((*kept, int(np.prod(a.shape[len(kept) :])))), axis=-1)

    def typed(function: Function, a: Any, axes: tuple[int, ...]) -> Any:
        return function(a, axis=axes, dtype=a.dtype)  # the operand has been converted to the accumulator's dtype

    def started(function: Function, a: Any, axes: tuple[int, ...]) -> Any:
        # a reduction of no elements gives the identity, as loop nests have it
        return function(a, axis=axes, initial=np.dtype(a.dtype).type(reducer.identity_of(a.dtype)))

    def plain(function: Function, a: Any, axes: tuple[int, ...]) -> Any:
        return function(a, axis=axes)

    if reducer.positional:
        return position
    parameters = inspect.signature(reference).parameters
    return typed if "dtype" in parameters else started if "initial" in parameters else plain


def numpy_arguments(reference: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, as NumPy's own signature says; those that have their default value are left out."""
    signature = inspect.signature(reference)
    given = signature.bind(*args, **kwargs).arguments
    given = {name: each for name, each in given.items() if each is not signature.parameters[name].default}
    if given.pop("out", None) is not None:
        raise TypeError("out= is not supported in a traced function: use the value that is returned")
    return given


def reduced_axes(value: Value, axis: Any, *, several: bool = True) -> tuple[int, ...]:
    """Return normalised axes. As in NumPy, a rank-0 operand may be given the axis 0 or -1."""
    if not several and isinstance(axis, (tuple, list)):
        raise TypeError(f"axis must be an integer or None, not {axis!r}")
    if not value.ndim and isinstance(axis, int) and axis in (0, -1):
        return ()
    return shapes.normalise_axes(axis, value.ndim)


def start_of(initial: Any, dtype: np.dtype) -> Value:
    """Return the start of a reduction, ``initial=``, as a number of ``dtype``."""
    if isinstance(initial, float) and dtype.kind in "iu":
        initial = int(initial)  # raises for what no integer is
    if is_large(initial):
        return written(initial, dtype, alone=True)
    value = as_value(initial)
    if value.ndim:  # of which NumPy makes an integer by Python's int
        kind = TypeError if isinstance(initial, (list, tuple)) and dtype.kind in "iu" else ValueError
        raise kind(f"initial= is one number, not {value.type}")
    if value.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"initial= must be a number that {dtype} can hold, not {value.type}")
    return written(initial, dtype, alone=True)


def require_elements(value: Value, axes: tuple[int, ...], subject: str) -> None:
    for axis in axes:
        shapes.require(shapes.compare("not_equal", value.shape[axis], 0), subject)


def of_one(reducer: Reducer, value: Value) -> Value:
    """Return the reduction of each element by itself."""
    return constant(0, dtype=INT64) if reducer.positional else value


def selected(value: Value, where: Any, filler: Value) -> Value:
    """Return ``value`` with a filler in place of the elements that the mask ``where`` leaves out."""
    mask = as_value(where)
    if mask.dtype != BOOL:
        raise TypeError(f"where= must be boolean, not {mask.dtype}")
    result = registry["where"](mask, value, filler)
    mine, its = shapes.shape_text(mask.shape), shapes.shape_text(value.shape)
    subject = f"where= of shape {mine} does not fit the array of shape {its}"
    if result.ndim != value.ndim:
        raise shapes.ShapeError(subject)
    for extent, wanted in zip(result.shape, value.shape, strict=True):
        shapes.require_same(extent, wanted, subject)
    return result


def reduction_samples(reference: Function, rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Positional arguments of the NumPy function: axes, and each option that can be given by position."""
    array, mask = draw(rng, dtype, (3, 4, 5)), rng.random((3, 4, 5)) < 0.7
    parameters = inspect.signature(reference).parameters.values()
    positional = {each.name: each.default for each in parameters if each.kind is not each.KEYWORD_ONLY}

    def call(**options: Any) -> tuple[Any, ...]:
        last = max(list(positional).index(name) for name in options)
        return tuple({**positional, "a": array, **options}.values())[: last + 1]

    samples: list[tuple[Any, ...]] = [(array,), (array, 0), (array, 1), (array, -1)]
    if "keepdims" in positional:
        samples += [(array, (0, 2)), (array, ()), call(axis=1, keepdims=True)]
    if "initial" in positional:
        samples += [call(axis=-1, initial=1), call(axis=(0, 1), initial=1, where=mask)]
    if "dtype" in positional and dtype.kind in "bu":
        samples.append(call(axis=0, dtype=np.float32))
    return samples
