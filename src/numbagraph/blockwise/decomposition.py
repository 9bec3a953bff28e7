"""Decompositions: ops that are written in other ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.blockwise.common import Reference, first_argument, reference_of, scalar_result
from numbagraph.ir.op import registry
from numbagraph.ir.values import Constant, Op, Unsupported, Value, new_memory


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
        frontend = with_known_numbers(giving_scalars(function) if scalar else function, function, title)
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


def with_known_numbers(call: Callable[..., Any], function: Callable[..., Any], title: str) -> Callable[..., Any]:
    """Return ``call``, which raises for a value in the place of a parameter of ``function`` that is an integer or a
    truth value of Python: a value is equal to no number, so that it would take the wrong path."""
    code, kinds = function.__code__, function.__annotations__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = {name: number for number, name in enumerate(names) if kinds.get(name) in ("int", "bool")}
    if not known:
        return call

    def run(*args: Any, **kwargs: Any) -> Any:
        for name, number in known.items():
            given = args[number] if number < min(len(args), code.co_argcount) else kwargs.get(name)
            if isinstance(given, Value) and not isinstance(given, Constant):
                raise TypeError(f"{title}: {name} must be known before values: name it in static_argnames")
        return call(*args, **kwargs)

    return run


def giving_scalars(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return tuple(map(scalar_result, result)) if isinstance(result, tuple) else scalar_result(result)

    return call
