"""Conversion between dtypes, and choice between values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import batch_elementwise, decomposition, draw, elementwise, real_if
from numbagraph.blockwise.lowering import Cast
from numbagraph.blockwise.promotion import Kind, as_strong, as_value, common_rule, convert, kind_of, promote
from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.target import host
from numbagraph.ir.op import load, quiet, registry
from numbagraph.ir.types import BOOL, DTYPES, canonical_dtype
from numbagraph.ir.values import ArrayType, Op, Unsupported, Value
from numbagraph.ops import joining

DISCRETE = Unsupported("the result is discrete: it has no derivative")


def cast_type(value: Value, *, dtype: np.dtype, weak: bool = False) -> ArrayType:
    return ArrayType(canonical_dtype(dtype), value.shape, weak)


def cast_vjp(g: Value, y: Value, x: Value, *, dtype: np.dtype, weak: bool = False) -> tuple[Value | None]:
    return (real_if(g, x) if x.dtype.kind in "fc" and y.dtype.kind in "fc" else None,)


def cast_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "c":
        return []
    # What NumPy makes of a NaN as uint32 depends on the layout of the array, and of a negative float on the processor;
    # so does, on ARM, what it makes of any float that does not fit.
    left_open = [each for each in DTYPES if (each.kind in "iu" if host().is_arm else each == np.uint32)]
    targets = [each for each in DTYPES if dtype.kind != "f" or each not in left_open]
    return [(draw(rng, dtype, (3, 4), (0.0, 3.0) if each.kind == "u" else (-3.0, 3.0)), each) for each in targets]


def cast_in_jax(a: Any, *, dtype: np.dtype, weak: bool = False) -> Any:
    """Convert in JAX, without its warning of dtypes that its configuration lacks: the user did not ask JAX for them."""
    return load("jax.numpy:asarray")(a).astype(load("jax:dtypes").canonicalize_dtype(dtype))


cast = registry.register(
    Op(
        name="cast",
        kind="elementwise",
        reference=lambda a, *, dtype, weak=False: quiet(np.asarray(a).astype, dtype),
        infer=cast_type,
        frontend=lambda op, a, dtype: convert(as_value(a), canonical_dtype(dtype)),
        lower=Cast(),
        vjp=cast_vjp,
        batch=batch_elementwise,
        jnp=cast_in_jax,
        samples=cast_samples,
        zero_dim="operand",
    )
)


def where_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, BOOL, (3, 4)), draw(rng, dtype, (4,)), draw(rng, dtype, (3, 1)))]


def where_frontend(op: Op, condition: Any, *choices: Any, weak: bool = False) -> Any:
    if not choices:
        return registry["nonzero"](condition)
    if len(choices) == 1:
        raise ValueError("either both or neither of x and y should be given")
    return op.bind(*promote(where_rule, (condition, *choices), weak=weak))


def where_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    return BOOL, *common_rule(1)(kinds)[1:]


where = elementwise(
    np.where,
    frontend=where_frontend,
    emit=scalar.where,
    dtype=where_rule,
    vjp=lambda g, y, condition, a, b: (None, where(condition, g, 0.0), where(condition, 0.0, g)),
    samples=where_samples,
    zero_dim="array",
)


def select_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    conditions = [draw(rng, BOOL, (3, 4)) for _ in range(3)]
    return [(conditions, [draw(rng, dtype, (4,)) for _ in range(3)], 1)]


@decomposition(np.select, samples=select_samples)
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Value:
    condlist, choicelist = (
        joining.pieces_of(each) if isinstance(each, Value) else each for each in (condlist, choicelist)
    )
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    *choices, result = promote(common_rule(), (*choicelist, default))
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        condition = as_value(condition)
        if condition.dtype != BOOL:
            raise TypeError(f"select takes boolean conditions, not {condition.dtype}")
        result = where(condition, choice, result)
    return result


def clip_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 4), (-5.0, 5.0))
    if dtype == BOOL:
        return [(array, False, True)]
    return [(array, 1, 2), (array, None, 2), (array, draw(rng, dtype, (4,), (-2.0, 2.0)), None)]


def within(bound: Any, dtype: np.dtype, side: str) -> Any:
    """Return a bound that is a Python integer as one of the dtype; beyond all integers of the dtype, on its own side,
    it becomes the last of them."""
    if dtype.kind not in "iu":
        return bound
    end = int(np.iinfo(dtype).min if side == "maximum" else np.iinfo(dtype).max)
    if type(bound) is int:
        return max(bound, end) if side == "maximum" else min(bound, end)
    is_known = not isinstance(bound, Value) or kind_of(bound) is not int or not -(2**63) < end < 2**63 - 1
    return bound if is_known else registry[side](bound, end, weak=True)


@decomposition(np.clip, samples=clip_samples)
def clip(
    a: Any, a_min: Any = np._NoValue, a_max: Any = np._NoValue, out: None = None, *, min: Any = None, max: Any = None
) -> Value:
    if out is not None:
        raise TypeError("clip: out= is not supported in a traced function: return the value")
    missing = [name for name, bound in (("a_min", a_min), ("a_max", a_max)) if bound is np._NoValue]
    if len(missing) == 1:
        raise TypeError(f"clip() missing 1 required positional argument: {missing[0]!r}")
    if missing:
        a_min = a_max = None
    elif min is not None or max is not None:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    lower, upper = (a_min if min is None else min), (a_max if max is None else max)
    a = as_strong(a)
    lower, upper = within(lower, a.dtype, "maximum"), within(upper, a.dtype, "minimum")
    value, *bounds = promote(common_rule(), (a, *[each for each in (lower, upper) if each is not None]))
    if len(bounds) == 2 and not any(each.ndim for each in bounds):  # between numbers, an equal zero keeps its sign
        return registry["minimum"](bounds[1], registry["maximum"](bounds[0], value))
    if lower is not None:
        value = registry["maximum"](value, bounds[0])
    return value if upper is None else registry["minimum"](value, bounds[-1])


def replace_special(x: np.ndarray, nan: Any, posinf: Any, neginf: Any) -> np.ndarray:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def replace_special_vjp(g: Value, y: Value, x: Value, *replacements: Value) -> tuple[Value, ...]:
    equal = registry["equal"]
    taken = (registry["isfinite"](x), registry["isnan"](x), equal(x, np.inf), equal(x, -np.inf))
    return tuple(where(each, g, 0.0) for each in taken)


_replace_special = elementwise(
    replace_special,
    emit=scalar.replace_special,
    dtype=common_rule(),
    vjp=replace_special_vjp,
    jnp=lambda x, nan, posinf, neginf: load("jax.numpy:nan_to_num")(x, nan=nan, posinf=posinf, neginf=neginf),
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)), 0.0, 1.0, 2.0)] if dtype.kind == "f" else [],
)


def special_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 4))
    return [(array,), (array, True, 1.5), (array, True, 0.0, 3.0, -2.5)]


@decomposition(np.nan_to_num, samples=special_samples)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Value:
    if not copy:
        raise TypeError("nan_to_num: copy=False is not supported in a traced function: assign, x[...] = nan_to_num(x)")
    value = as_strong(x)
    if value.dtype.kind == "c":
        parts = [nan_to_num(registry[part](value), copy, nan, posinf, neginf) for part in ("real", "imag")]
        return registry["complex_of"](*parts)
    if value.dtype.kind != "f":
        return value
    limits = np.finfo(value.dtype)
    replacements = (nan, limits.max if posinf is None else posinf, limits.min if neginf is None else neginf)
    return _replace_special(value, *[convert(as_value(each), value.dtype) for each in replacements])
