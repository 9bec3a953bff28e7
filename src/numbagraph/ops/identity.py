"""Operations that leave values as they are, and change only how they are differentiated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from numbagraph.blockwise.common import align_batches, batch_elementwise, broadcasting_vjp, draw, flat, give_batch
from numbagraph.blockwise.lowering import Element, Index, View
from numbagraph.blockwise.promotion import as_value
from numbagraph.blockwise.storing import element_of, written
from numbagraph.ir.op import lazy, registry
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import ArrayType, Batch, Lowering, Node, Op, Unsupported, Value, Vjp


def first(value: Any, *rest: Any, **attrs: Any) -> Any:
    return value


def identity(
    name: str,
    vjp: Vjp | Unsupported,
    jnp: Callable[..., Any] = first,
    batch: Batch = batch_elementwise,
    zero_dim: str = "array",
    **properties: Any,
) -> Op:
    """Declare an op that returns its first operand."""
    properties.setdefault("samples", lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)])
    return registry.register(
        Op(
            name=name,
            kind="identity",
            reference=first,
            infer=lambda value, *rest, **attrs: value.type,
            lower=View(lambda node, index: index),
            vjp=vjp,
            batch=batch,
            jnp=jnp,
            zero_dim=zero_dim,
            cost=0.0,
            **properties,
        )
    )


alias = identity(
    "alias",
    lambda g, y, x, *, number: (g,),
    frontend=lambda op, a, number=0: op.bind(as_value(a), number=number),
)
"""A stand-in for one use of a value: a derivative with respect to it leaves other uses alone."""

stop_gradient = identity(
    "stop_gradient",
    flat,
    jnp=lazy("jax.lax:stop_gradient"),
    frontend=lambda op, a: op.bind(as_value(a)),
    view_of=lambda a: a,
)

as_scalar = identity("as_scalar", lambda g, y, x: (g,), zero_dim="scalar", frontend=lambda op, a: op.bind(as_value(a)))
"""A rank-0 value of which NumPy would make a scalar, where the op that computes it would make a 0-d array."""


def as_array(op: Op, value: Value, dtype: Any = None) -> Value:
    """Return a strong value. One of rank 0 becomes a 0-d array in Python, where it would otherwise become a scalar."""
    value = element_of(value, value.dtype if dtype is None else canonical_dtype(dtype))
    return value if value.ndim else op.bind(value)


def as_array_frontend(
    op: Op, a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Value:
    """Bind ``asarray``. The order of memory only decides whether a result is a view
    (`numbagraph.tracing.memory_layout`), and there is only one device."""
    del order, like
    require_cpu(device)
    if copy is False and dtype is not None and getattr(a, "dtype", dtype) != canonical_dtype(dtype):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if dtype is not None and isinstance(a, (list, tuple)):
        a = written(a, canonical_dtype(dtype))
    return as_array(op, as_value(a), dtype)


def require_cpu(device: Any) -> None:
    """Raise for a device that NumPy does not understand."""
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


def of_dtype(a: Any, dtype: Any = None, *_: Any, copy: Any = None, **__: Any) -> Any:
    """Return the argument if ``asarray`` gives it back as it is; else None."""
    if copy:
        return None
    return a if dtype is None or getattr(a, "dtype", None) == canonical_dtype(dtype) else None


asarray = identity(
    "asarray",
    lambda g, y, x: (g,),
    frontend=as_array_frontend,
    implements=(np.asarray, np.asanyarray),
    view_of=of_dtype,
    may_copy=True,
)


def batch_with_first(op: Op, inputs: Sequence[Value], batched: Sequence[bool], **attrs: Any) -> Value:
    """Batch an op whose result has the type of its first operand: that operand gets the batch, and the others meet it
    as in elementwise ops."""
    first, *_ = give_batch(inputs, batched)
    return op.bind(*align_batches([first, *inputs[1:]], [True, *batched[1:]]), **attrs)


def with_derivative(name: str, vjp: Vjp, jnp: Callable[..., Any] = first, batch: Batch = batch_with_first) -> Op:
    """Declare an op that gives its first operand, and has a derivative of its own by the other operands.

    A value that was computed in a way that is right at special points, with masks, then has the derivatives of the
    function that it stands for: a mask's own derivative is 0 where it protects something.
    """
    hidden = Unsupported("it is part of other functions")
    return identity(name, broadcasting_vjp(vjp), jnp, batch, frontend=hidden, samples=lambda rng, dtype: [])


_differentiated_as = with_derivative("differentiated_as", lambda g, y, value, form: (None, g))


def differentiated_as(value: Value, form: Value) -> Value:
    """Return a value that has the derivatives of another form of it. The form itself is not computed."""
    return _differentiated_as.bind(value, form)


class GradientRule(Protocol):
    """A reverse rule that a user wrote, in place of the derivative of what was computed."""

    @property
    def captured(self) -> int:
        """The number of the last arguments that the rule reads, and gives no cotangents of."""
        ...

    def cotangents(self, arguments: Sequence[Value], given: Sequence[Value]) -> Sequence[Value | None]:
        """The cotangents of the arguments (None where zero), given those of all results."""
        ...

    def batched(self, batched: Sequence[bool]) -> GradientRule:
        """The rule for arguments some of which have a leading batch dimension."""
        ...


class Pick(Lowering):
    """The lowering of a choice: every element is that of one of the inputs, whose number is the attribute
    ``result``."""

    def element(self, node: Node, index: Index) -> Element:
        return (yield node.inputs[node.attrs["result"]], index)


def ruled_type(*inputs: Value, rule: GradientRule, result: int, results: int) -> ArrayType:
    return inputs[result].type


def ruled_reference(*inputs: Any, rule: GradientRule, result: int, results: int) -> Any:
    return inputs[result]


def ruled_vjp(
    given: Mapping[int, Value], y: Value, *inputs: Value, rule: GradientRule, result: int, results: int
) -> tuple[Value | None, ...]:
    """Return no cotangents for the results that were computed, and those of the user's rule for the arguments."""
    known = [given[number] if number in given else registry["zeros_like"](inputs[number]) for number in range(results)]
    return (*[None] * results, *rule.cotangents(inputs[results:], known))


def ruled_batch(
    op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, rule: GradientRule, result: int, results: int
) -> Value:
    size = next(value.shape[0] for value, flag in zip(inputs, batched, strict=True) if flag)
    computed = [
        value if flag else registry["broadcast_to"](value, (size, *value.shape))
        for value, flag in zip(inputs[:results], batched[:results], strict=True)
    ]
    rule = rule.batched(tuple(batched[results:]))
    return op.bind(*computed, *inputs[results:], rule=rule, result=result, results=results)


with_rule = registry.register(
    Op(
        name="with_rule",
        kind="identity",
        reference=ruled_reference,
        infer=ruled_type,
        frontend=Unsupported("rules are given through numbagraph.custom_vjp"),
        lower=Pick(),
        vjp=ruled_vjp,
        batch=ruled_batch,
        jnp=ruled_reference,
        samples=lambda rng, dtype: [],
        multi_result=True,
        computed=lambda node: node.attrs["results"],
        captured=lambda node: node.attrs["rule"].captured,
        zero_dim="array",
    )
)
"""One of several computed results (the first inputs), which is differentiated with respect to the arguments (the
others) by a user's rule."""


def identity_operand(node: Node) -> Value:
    """Return the operand that an op of this file gives as its result."""
    return node.inputs[node.attrs.get("result", 0)]
