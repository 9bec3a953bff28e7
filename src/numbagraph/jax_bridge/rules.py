"""Rules that users gave for derivatives (`numbagraph.custom_vjp`), as JAX's `custom_vjp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from numbagraph.ir.op import registry
from numbagraph.ir.values import Input, Node, Value
from numbagraph.tracing.trace import tracing
from numbagraph.transforms.autodiff import fit

Run = Callable[[Sequence[Value], dict[Value, Any]], list[Any]]
"""Computes the arrays of values from known ones of other values."""


def with_rule(node: Node, operands: Sequence[Any], run: Run) -> Any:
    """The result that a node of the op `with_rule` picks, which JAX differentiates by the node's rule."""
    rule, result, results = (node.attrs[name] for name in ("rule", "result", "results"))
    own = node.inputs[results:]

    def backward(arrays: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
        given = Input(node.type, "cotangent")
        with tracing(node.op.name) as trace:
            others = [registry["zeros_like"](each) for each in node.inputs[:results]]
            found = rule.cotangents(own, [*others[:result], given, *others[result + 1 :]])
            pairs = zip(found, own, strict=True)
            fitted = [None if each is None else fit(each, argument, node.op.name) for each, argument in pairs]
        known = dict(zip(node.inputs, arrays, strict=True)) | {given: cotangent} | dict(trace.captured.snapshots)
        values = iter(run([each for each in fitted if each is not None], known))
        computed = [None if each is None else next(values) for each in fitted]
        return tuple(as_cotangent(*pair) for pair in zip([*[None] * results, *computed], arrays, strict=True))

    @jax.custom_vjp
    def pick(*arrays: Any) -> Any:
        return arrays[result]

    pick.defvjp(lambda *arrays: (arrays[result], arrays), backward)
    return pick(*map(jnp.asarray, operands))


def as_cotangent(cotangent: Any, array: Any) -> Any:
    """Convert a cotangent to the form that JAX expects for an array. Integers have none, which JAX marks by a dtype."""
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        return np.zeros(array.shape, jax.dtypes.float0)
    return jnp.zeros_like(array) if cotangent is None else jnp.asarray(cotangent, array.dtype)


@jax.custom_jvp
def differentiated_as(value: Any, _form: Any) -> Any:
    """The first operand, with the derivatives of the second one."""
    return value


@differentiated_as.defjvp
def _(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    value, _ = primals
    return value, jnp.broadcast_to(tangents[1], value.shape).astype(value.dtype)
