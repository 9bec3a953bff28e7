"""Reductions: many numbers become one."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import reduction
from numbagraph.blockwise.promotion import convert
from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.formula import instruction
from numbagraph.intrinsics.emitters.reducers import ArgReducer, Reducer, Sum, better
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import BOOL, INT64, real_dtype
from numbagraph.ir.values import Op, Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.selection import DISCRETE, where
from numbagraph.ops.shape import broadcast_to


def accumulator_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype in which NumPy accumulates sums and products: integers at least as wide as the platform's."""
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return INT64
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def lowest(dtype: np.dtype) -> Any:
    """Return a number that no other of the dtype is less than."""
    if dtype.kind == "c":
        return complex(-np.inf, -np.inf)
    if dtype.kind == "f":
        return -np.inf
    return False if dtype == BOOL else np.iinfo(dtype).min


def highest(dtype: np.dtype) -> Any:
    if dtype.kind == "c":
        return complex(np.inf, np.inf)
    if dtype.kind == "f":
        return np.inf
    return True if dtype == BOOL else np.iinfo(dtype).max


def sum_vjp(g: Value, y: Value, x: Value, *, axes: tuple[int, ...]) -> tuple[Value]:
    return (broadcast_to(g, x.shape),)


def prod_vjp(g: Value, y: Value, x: Value, *, axes: tuple[int, ...]) -> tuple[Value]:
    """Return the cotangent of the factors, by the product of all others for each element: there is no division, so
    zeros are exact to every order."""
    cumprod, cotangent, partial = registry["cumprod"], g, x
    for axis in axes:
        before, after = (cumprod.bind(partial, axis=axis, reverse=each, exclusive=True) for each in (False, True))
        cotangent = cotangent * before * after
        partial = prod(partial, axis=axis, keepdims=True)
    return (cotangent,)


def extremum_vjp(g: Value, y: Value, x: Value, *, axes: tuple[int, ...]) -> tuple[Value]:
    """Return the cotangent of the elements; those that tie for the extremum share it."""
    chosen = equal(x, y)
    count = sum(convert(chosen, real_dtype(x.dtype)), axis=axes, keepdims=True)
    return (where(chosen, g / count, 0.0),)


sum = reduction(
    np.sum,
    ufunc=np.add,
    reducer=Sum("sum", scalar.add_reassociated, 0),
    accumulator=accumulator_dtype,
    vjp=sum_vjp,
    join="add",
    ulp=4,
)
# A product is taken in order, as NumPy takes it: in another one it may overflow where NumPy's does not.
prod = reduction(
    np.prod,
    ufunc=np.multiply,
    reducer=Reducer("prod", scalar.multiply, 1, ordered=True),
    accumulator=accumulator_dtype,
    vjp=prod_vjp,
    join="multiply",
    ulp=32,
)
max = reduction(
    np.max,
    ufunc=np.maximum,
    implements=(np.amax,),
    reducer=Reducer("max", scalar.extremum(">"), lowest),
    empty="zero-size array to reduction operation maximum which has no identity",
    vjp=extremum_vjp,
    join="maximum",
)
min = reduction(
    np.min,
    ufunc=np.minimum,
    implements=(np.amin,),
    reducer=Reducer("min", scalar.extremum("<"), highest),
    empty="zero-size array to reduction operation minimum which has no identity",
    vjp=extremum_vjp,
    join="minimum",
)
any = reduction(
    np.any,
    ufunc=np.logical_or,
    reducer=Reducer("any", scalar.logical("or_"), False, absorbing=True),
    accumulator=lambda dtype: BOOL,
    vjp=DISCRETE,
)
all = reduction(
    np.all,
    ufunc=np.logical_and,
    reducer=Reducer("all", scalar.logical("and_"), True, absorbing=False),
    accumulator=lambda dtype: BOOL,
    vjp=DISCRETE,
)


def reduction_of_bits(ufunc: np.ufunc, combine: str, identity: int) -> Op:
    """Declare ``reduce`` of a function of bits, which NumPy has as a method alone."""

    def reduce(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return ufunc.reduce(a, axis=axis, keepdims=keepdims)

    def jnp(a: Any, axis: Any) -> Any:
        axes = [a.ndim + each for each in axis]
        return load("jax.lax:reduce")(a, np.asarray(identity).astype(a.dtype), load(f"jax.lax:{ufunc.__name__}"), axes)

    def bits(dtype: np.dtype) -> np.dtype:
        if dtype.kind not in "biu":
            raise TypeError(f"ufunc '{ufunc.__name__}' not supported for the input types: {dtype} has no bits")
        return dtype

    return reduction(
        reduce,
        name=f"{ufunc.__name__}_reduce",
        ufunc=ufunc,
        reducer=Reducer(ufunc.__name__, instruction(combine), lambda dtype: np.asarray(identity).astype(dtype)[()]),
        accumulator=bits,
        vjp=DISCRETE,
        jnp=jnp,
    )


bitwise_and_reduce = reduction_of_bits(np.bitwise_and, "and_", -1)
bitwise_or_reduce = reduction_of_bits(np.bitwise_or, "or_", 0)
bitwise_xor_reduce = reduction_of_bits(np.bitwise_xor, "xor", 0)
argmax = reduction(
    np.argmax,
    reducer=ArgReducer("argmax", better(">"), lowest, scalar.extremum(">"), ">"),
    empty="attempt to get argmax of an empty sequence",
    vjp=DISCRETE,
)
argmin = reduction(
    np.argmin,
    reducer=ArgReducer("argmin", better("<"), highest, scalar.extremum("<"), "<"),
    empty="attempt to get argmin of an empty sequence",
    vjp=DISCRETE,
)
