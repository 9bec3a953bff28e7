"""The elementwise kind: ``(),()->()``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import Reference, batch_elementwise, broadcasting_vjp, draw, jnp_named, reference_of
from numbagraph.blockwise.promotion import DtypeRule, as_value, is_large, loop_dtypes, promote, ufunc_rule, weak_convert
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import ArrayType, Node, Op, Unsupported, Value, Vjp, new_memory, nowhere

Interval = tuple[float, float]
Domain = Interval | tuple[Interval, ...]


UNARY_OPERATORS = ("neg", "pos", "abs", "invert")
COMPARISONS = ("lt", "le", "gt", "ge")
ON_TRUTH_VALUES = (*COMPARISONS, "and", "or", "xor")


def install_operator(name: str, op: Op) -> None:
    """Give `Value` a Python operator, and its reflection where Python has one."""
    counts = name not in ON_TRUTH_VALUES

    def apply(*operands: Any) -> Value:
        return op.frontend(op, *(as_integers(operands) if counts else operands), weak=True)

    if name in UNARY_OPERATORS:
        setattr(Value, f"__{name}__", lambda self: apply(self))
        return
    setattr(Value, f"__{name}__", lambda self, other: apply(self, other))
    if name not in COMPARISONS:
        setattr(Value, f"__r{name}__", lambda self, other: apply(other, self))


def as_integers(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return Python's bools as integers, which they are to Python's arithmetic, unless there is an array among the
    operands."""
    if any(map(is_large, operands)):
        return operands
    values = [as_value(each) for each in operands]
    if not all(value.type.weak for value in values):
        return operands
    return tuple(weak_convert(value, INT64) if value.dtype == BOOL else value for value in values)


def elementwise_type(rule: DtypeRule, name: str) -> Callable[..., ArrayType]:
    def infer(*inputs: Value, **_attributes: Any) -> ArrayType:
        types = [value.type for value in inputs]
        dtype = loop_dtypes(rule, tuple([each.dtype for each in types]))[-1]
        weak = all(each.weak for each in types)
        distinct = {each.shape for each in types if each.shape}
        if len(distinct) > 1:
            return ArrayType(dtype, shapes.broadcast_shapes([each.shape for each in types], name), weak)
        shape = distinct.pop() if distinct else ()
        for each in types:
            if each.dtype is dtype and each.shape == shape and each.weak == weak:
                return each
        return ArrayType(dtype, shape, weak)

    return infer


def elementwise(
    reference: Any,
    *,
    emit: Emit,
    vjp: Vjp | Unsupported,
    refuse: Callable[[Node], Emit | None] | None = None,
    name: str | None = None,
    dtype: DtypeRule | None = None,
    frontend: Callable[..., Value] | None = None,
    jnp: Callable[..., Any] | Unsupported | None = None,
    samples: Callable[..., Any] | None = None,
    domain: Domain = (-3.0, 3.0),
    operator: str = "",
    commutative: bool = False,
    implements: tuple[Any, ...] = (),
    cost: float = 1.0,
    ulp: float = 0.0,
    scale: float = 0.0,
    zero_dim: str = "scalar",
    view_of: Callable[..., Any] = new_memory,
    logarithm_of: tuple[int, ...] = (),
    kinks: Callable[..., Any] = nowhere,
) -> Op:
    """Declare an op ``(),()->()``: one number of each broadcast operand gives one number.

    Parameters
    ----------
    reference
        The NumPy ufunc or function, or "module:name" (imported when used).
    emit
        ``emit(emitter, *operands)``: its LLVM on operands of the loop's dtypes.
    vjp
        ``vjp(g, y, *operands)``: cotangents in public ops; the sums that broadcasting calls for are added.
    dtype
        Which loop serves which operands; by default what the reference ufunc resolves to.
    refuse
        Which operands NumPy raises an error for: see `lowering.Map`.
    frontend
        What the function does when it is called, if that is not to promote its operands and to bind.
    domain
        The interval from which the tests draw operands, or one interval an operand.
    operator
        Python's operator, such as "add" for ``+``.
    commutative
        Whether the two operands may be exchanged: rules then match either order.
    ulp
        How far the result may be from the reference's; 0 means bit for bit.
    scale
        A magnitude below which that distance is not relative to the result.
    view_of
        The operand that NumPy's result is a view of.
    logarithm_of
        The number of the operand that it takes the logarithm of: see `Op`.
    kinks
        Whether derivatives jump at some operands: see `Op`.
    """
    found, call = reference_of(reference)
    name = name or found
    rule = dtype or ufunc_rule(reference)

    def promoted(op: Op, *operands: Any, weak: bool = False) -> Value:
        return op.bind(*promote(rule, operands, weak=weak))

    op = registry.register(
        Op(
            name=name,
            kind="elementwise",
            reference=call,
            infer=elementwise_type(rule, name),
            frontend=frontend or promoted,
            lower=lowering.Map(emit) if refuse is None else lowering.Map(emit, refuse),
            vjp=broadcasting_vjp(vjp),
            batch=batch_elementwise,
            jnp=jnp or jnp_named(name),
            samples=samples or elementwise_samples(reference, domain),
            implements=(reference, *implements),
            cost=cost,
            ulp=ulp,
            scale=scale,
            zero_dim=zero_dim,
            operator=operator,
            commutative=commutative,
            view_of=view_of,
            logarithm_of=logarithm_of,
            kinks=kinks,
        )
    )
    if operator:
        install_operator(operator, op)
    return op


def elementwise_samples(reference: Reference, domain: Domain) -> Callable[..., Any]:
    """Operands that broadcast against each other, inside the function's domain."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        function = load(reference) if isinstance(reference, str) else reference
        shapes_ = [(3, 4), (4,), (3, 1)][: arity(function)]
        intervals: Any = domain if isinstance(domain[0], tuple) else [domain] * len(shapes_)
        return [tuple(draw(rng, dtype, *each) for each in zip(shapes_, intervals, strict=True))]

    return samples


def arity(function: Callable[..., Any]) -> int:
    return function.nin if isinstance(function, np.ufunc) else len(inspect.signature(function).parameters)
