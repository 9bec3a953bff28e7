"""The view kind: every element is an element of the operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import Reference, batch_unary, first_argument, reference_of
from numbagraph.ir.op import registry
from numbagraph.ir.values import ArrayType, Batch, Op, Unsupported, Value, Vjp, new_memory


def as_array(operand: Any) -> Any:
    """Return an array of NumPy or JAX as it is, and a Python scalar as an array."""
    return operand if hasattr(operand, "ndim") else np.asarray(operand)


def view(
    reference: Reference | None,
    *,
    source_index: Callable[..., lowering.Index],
    infer: Callable[..., ArrayType],
    frontend: Callable[..., Value],
    evaluate: Callable[..., Any],
    vjp: Vjp | Unsupported,
    samples: Callable[..., Any],
    name: str | None = None,
    batch: Batch = batch_unary,
    jnp: Callable[..., Any] | Unsupported | None = None,
    implements: tuple[Any, ...] = (),
    cost: float = 0.0,
    copies: bool = False,
    in_order: bool = False,
    zero_dim: str = "array",
    **properties: Any,
) -> Op:
    """Declare an op whose every element is an element of its first operand: no work, only other indices.

    ``source_index(node, index)`` is the operand's index; ``evaluate(array, *symbolic, **attrs)`` the same in NumPy,
    which serves `jax.numpy` as well when it is written in methods and functions that both have. ``cost`` is that of
    the index arithmetic, in additions. Where NumPy gives a new array rather than a view, say that it ``copies``: the
    result may then be assigned into. ``in_order`` says that the elements are all those of the operand, in C's order.
    """
    if name is None:
        assert reference is not None
        name = reference_of(reference)[0]
    return registry.register(
        Op(
            name=name,
            kind="copy" if copies else "view",
            reference=lambda a, *symbolic, **attrs: evaluate(as_array(a), *symbolic, **attrs),
            infer=infer,
            frontend=frontend,
            lower=lowering.View(source_index, in_order),
            vjp=vjp,
            batch=batch,
            jnp=jnp or (lambda a, *symbolic, **attrs: evaluate(as_array(a), *symbolic, **attrs)),
            samples=samples,
            implements=(reference, *implements) if reference is not None else implements,
            zero_dim=zero_dim,
            cost=cost,
            view_of=new_memory if copies else first_argument(frontend, skip=1),
            **properties,
        )
    )
