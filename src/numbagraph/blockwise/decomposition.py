"""Decompositions: ops that are written in other ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.blockwise.common import Reference, first_argument, reference_of, scalar_result
from numbagraph.ir.op import registry
from numbagraph.ir.values import Op, Unsupported, new_memory


def decomposition(
    reference: Reference,
    *,
    samples: Callable[..., Any],
    name: str | None = None,
    implements: tuple[Any, ...] = (),
    ulp: float = 0.0,
    scalar: bool = False,
    regular: bool = False,
    view_of: Callable[..., Any] | bool = False,
    may_copy: bool = False,
) -> Callable[[Callable[..., Any]], Op]:
    """Declare, as a decorator, a function of graph values that stands for a NumPy function.

    It is called with what the NumPy function is called with, and may give a tuple of values. It is never a node of a
    graph: the ops that it calls are, so all that is known of them (gradients, batches, code) serves it too. With
    ``scalar``, a rank-0 result is a NumPy scalar, whatever op comes last. Where NumPy gives views, ``view_of`` says of
    which operand: True stands for the first one.
    """
    found, call = reference_of(reference)

    def declare(function: Callable[..., Any]) -> Op:
        title = name or found
        frontend = giving_scalars(function) if scalar else function
        of_first = view_of and first_argument(function)
        absent = Unsupported(f"{title} is written in other ops, and is never a node of a graph")
        return registry.register(
            Op(
                name=title,
                kind="decomposition",
                reference=call,
                infer=absent,
                frontend=lambda _, *args, **kwargs: frontend(*args, **kwargs),
                lower=absent,
                vjp=absent,
                batch=absent,
                jnp=absent,
                samples=samples,
                implements=(reference, *implements),
                ulp=ulp,
                regular=regular,
                view_of=view_of if callable(view_of) else of_first or new_memory,
                may_copy=may_copy,
            )
        )

    return declare


def giving_scalars(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return tuple(map(scalar_result, result)) if isinstance(result, tuple) else scalar_result(result)

    return call
