"""Functions of JAX as functions of numbagraph: the jaxpr, an operation at a time, on traced arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Literal
from jax.tree_util import tree_flatten, tree_unflatten

from numbagraph.api.transformed import Transformed
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import at_source
from numbagraph.jax_bridge import (
    control,
    elementwise,
    folding,
    linear_algebra,
    python_callbacks,
    random_bits,
    sliding,
    sparse,
    structure,
)
from numbagraph.jax_bridge.translation import ClosedJaxpr, Run, fitted, jaxpr_of
from numbagraph.ops.linalg.singular import on_linalg_error
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.static_lengths import known_shape
from numbagraph.tracing.tracer import Tracer, to_value, user_source
from numbagraph.tracing.user_code import library_of

TABLE: dict[str, Callable[..., Any]] = {
    **elementwise.TABLE,
    **structure.TABLE,
    **folding.TABLE,
    **sliding.TABLE,
    **linear_algebra.TABLE,
    **control.TABLE,
    **random_bits.TABLE,
    **python_callbacks.TABLE,
    **sparse.TABLE,
}
"""``TABLE[name](run, equation, *operands)``: the result of an equation of the primitive of that name, or a list."""


OTHERWISE = "write this part with NumPy, or call it through numbagraph.pure_callback"
_STATE = "return the new array (x.at[i].set(y)) in place of writing into a reference"
_REAL = "numpy.linalg.eigh is for symmetric matrices; call others through numbagraph.pure_callback"
INSTEAD = {
    "addupdate": _STATE,
    "eig": _REAL,
    "get": _STATE,
    "io_callback": "jax.pure_callback is for what only returns something, jax.debug.callback for what only acts",
    "new_ref": _STATE,
    "rng_bit_generator": "make the key with impl='threefry2x32', which is JAX's default",
    "schur": _REAL,
    "swap": _STATE,
}
"""Advice for primitives without a translation: the code to write instead."""


def imported(function: Callable[..., Any]) -> Transformed[..., Any]:
    """Implement `numbagraph.from_jax`."""
    if not callable(function):
        raise TypeError(f"from_jax takes functions of JAX, not {function!r}")

    def transformed(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten((args, kwargs))
        with at_source(user_source()), on_linalg_error("nan"), np.errstate(all="ignore"):
            jaxpr, results = traced_by_jax(function, spec, leaves)
            found = evaluate(jaxpr, [each for each in leaves if not is_known(each)])
        return tree_unflatten(results, found)

    return Transformed(transformed, function, imported)


def traced_by_jax(function: Callable[..., Any], spec: Any, leaves: Sequence[Any]) -> tuple[ClosedJaxpr, Any]:
    """Trace a function by JAX, with 64-bit types, on those leaves of its arguments that are arrays. Return the jaxpr,
    and the tree of the results."""
    results = None

    def of_leaves(*given: Any) -> Any:
        nonlocal results
        arrays = iter(given)
        args, kwargs = tree_unflatten(spec, [each if is_known(each) else next(arrays) for each in leaves])
        found, results = tree_flatten(function(*args, **kwargs))
        return found

    return jaxpr_of(of_leaves, *[abstract(each) for each in leaves if not is_known(each)]), results


def is_known(leaf: Any) -> bool:
    """Whether an argument is a Python object, such as a static argument, which JAX's function gets as it is."""
    return not isinstance(leaf, (Tracer, OnlyTraced)) and not hasattr(type(leaf), "__array__")


def abstract(leaf: Any) -> Any:
    """The type of an argument for JAX's tracing; concrete values stay."""
    if not isinstance(leaf, (Tracer, OnlyTraced)):  # an array from outside of the trace
        return leaf
    value = to_value(leaf)
    if not isinstance(leaf, Tracer):
        return value
    shape = known_shape(value, "a function of JAX")
    return jax.ShapeDtypeStruct(shape, value.dtype, weak_type=value.type.weak)


def evaluate(jaxpr: ClosedJaxpr, arguments: Sequence[Any]) -> list[Any]:
    """The results of a jaxpr on traced arrays."""
    return evaluate_open(jaxpr.jaxpr, jaxpr.consts, arguments)


def evaluate_open(jaxpr: Jaxpr, constants: Iterable[Any], arguments: Sequence[Any]) -> list[Any]:
    pairs = zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *arguments], strict=True)
    known: dict[Any, Any] = {variable: fitted(each, variable.aval) for variable, each in pairs}

    def read(atom: Any) -> Any:
        return fitted(atom.val, atom.aval) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        found = apply(equation, [read(each) for each in equation.invars])
        known.update(zip(equation.outvars, found, strict=True))
    return [read(each) for each in jaxpr.outvars]


RUN = Run(evaluate, evaluate_open)


def apply(equation: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
    """Evaluate one equation; the results have the dtypes and shapes of the equation."""
    name = equation.primitive.name
    knows_keys = name in control.TABLE or name in random_bits.TABLE
    if not knows_keys and any(map(random_bits.is_key, equation.invars)):
        translate = random_bits.of_keys(equation)
    else:
        translate = TABLE.get(name)
    if translate is None:
        raise NotImplementedError(
            f"from_jax has no translation of JAX's primitive {name!r}, which the function calls: "
            f"{INSTEAD.get(name, OTHERWISE)}\n  at {place_of(equation)}"
        )
    for each in equation.outvars:
        require_dtype(each.aval, name)
    found = translate(RUN, equation, *operands)
    results = found if isinstance(found, list) else [found]
    return [fitted(each, variable.aval) for each, variable in zip(results, equation.outvars, strict=True)]


@functools.lru_cache(256)
def _is_known(dtype: Any) -> bool:
    try:
        canonical_dtype(dtype)
    except TypeError:
        return False
    return True


def require_dtype(aval: Any, name: str) -> None:
    dtype = getattr(aval, "dtype", None)
    if dtype is None or (not jax.numpy.issubdtype(dtype, jax.dtypes.extended) and not _is_known(dtype)):
        raise NotImplementedError(f"from_jax: JAX's primitive {name!r} gives {aval}, which numbagraph has no type for")


def place_of(equation: JaxprEqn) -> str:
    """The place where the user's function calls a primitive, if JAX knows it."""
    frames = equation.source_info.traceback
    for each in () if frames is None else frames.frames:
        if library_of(each.file_name) is None:
            return f"{each.file_name}:{each.line_num}"
    return "a line that JAX does not tell"
