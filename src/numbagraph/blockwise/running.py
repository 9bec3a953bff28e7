"""The running kind: along one axis, each element is the accumulator after (or before) its own step."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import batch_elementwise, broadcasting_vjp, draw, reference_of
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.blockwise.reduction import Function, numpy_arguments
from numbagraph.forking import import_module
from numbagraph.intrinsics.emitters.reducers import Reducer
from numbagraph.ir import shapes
from numbagraph.ir.op import lazy, quiet, registry
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import ArrayType, Op, Unsupported, Value, Vjp


def running_op(
    name: str,
    *,
    reducer: Reducer,
    reference: Function,
    jnp: Function,
    frontend: Function,
    vjp: Vjp | Unsupported,
    samples: Function,
    implements: tuple[Any, ...] = (),
    ulp: float = 0.0,
) -> Op:
    """Declare an op that runs along the attribute ``axis``, over operands that broadcast against each other.

    ``reference(*arrays, axis)`` and ``jnp`` run forwards; the attributes ``reverse`` (from the end) and ``exclusive``
    (each element is what was accumulated before it) are derived. They are what gradients are written in:
    ``vjp(g, y, *operands, axis=..., reverse=..., exclusive=...)``.
    """

    def infer(*operands: Value, **_: Any) -> ArrayType:
        return ArrayType(operands[0].dtype, shapes.broadcast_shapes([each.shape for each in operands], name))

    def evaluate(
        library: str, function: Function, arrays: Sequence[Any], *, axis: int, reverse: bool, exclusive: bool
    ) -> Any:
        namespace = import_module(library)
        arrays = namespace.broadcast_arrays(*arrays)
        result = function(*[namespace.flip(each, axis) if reverse else each for each in arrays], axis=axis)
        if exclusive:
            inner = (slice(None),) * (-1 - axis)
            first = namespace.full_like(result[(..., slice(1), *inner)], reducer.identity_of(result.dtype))
            result = namespace.concatenate([first, result[(..., slice(-1), *inner)]], axis=axis)
        return namespace.flip(result, axis) if reverse else result

    return registry.register(
        Op(
            name=name,
            kind="running",
            reference=lambda *arrays, **attrs: quiet(evaluate, "numpy", reference, arrays, **attrs),
            infer=infer,
            frontend=frontend,
            lower=lowering.Running(reducer),
            vjp=broadcasting_vjp(vjp),
            batch=batch_elementwise,
            jnp=lambda *arrays, **attrs: evaluate("jax.numpy", jnp, arrays, **attrs),
            samples=samples,
            implements=implements,
            ulp=ulp,
            zero_dim="array",
        )
    )


def running(
    reference: Function,
    *,
    reducer: Reducer,
    vjp: Vjp | Unsupported,
    accumulator: Function = lambda dtype: dtype,
    name: str | None = None,
    jnp: Function | None = None,
    ufunc: np.ufunc | None = None,
    ulp: float = 0.0,
) -> Op:
    """Declare the running form of a reduction, with the parameters of the NumPy function.

    ``ufunc`` is the one of which this is the ``accumulate`` method.
    """
    found, call = reference_of(reference)
    name = name or found
    translated = jnp or lazy(f"jax.numpy:{name}")
    default = inspect.signature(reference).parameters["axis"].default

    def frontend(op: Op, *args: Any, **kwargs: Any) -> Value:
        options = numpy_arguments(reference, args, kwargs)
        value, dtype, axis = as_value(options["a"]), options.get("dtype"), options.get("axis", default)
        value = convert(value, accumulator(value.dtype) if dtype is None else canonical_dtype(dtype))
        if not value.ndim and default is not None:
            shapes.normalise_axis(axis, 1)
            raise TypeError("cannot accumulate on a scalar")
        if not value.ndim:
            value = registry["expand_dims"].bind(value, axes=(-1,))
        elif axis is None and value.ndim > 1:
            value = registry["reshape"](value, (-1,))
        axis = shapes.normalise_axis(-1 if axis is None else axis, value.ndim)
        return op.bind(value, axis=axis, reverse=False, exclusive=False)

    return running_op(
        name,
        reducer=reducer,
        reference=lambda a, *, axis: call(a, axis=axis, dtype=a.dtype),
        jnp=lambda a, *, axis: translated(a, axis=axis, dtype=a.dtype),
        frontend=frontend,
        vjp=vjp,
        samples=running_samples,
        implements=(reference, *([(ufunc, "accumulate")] if ufunc is not None else [])),
        ulp=ulp,
    )


def running_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 4, 5))
    return [(array[0, 0],), (array, 0), (array, 1), (array, -1), (array,)]
