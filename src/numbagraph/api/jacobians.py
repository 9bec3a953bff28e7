"""Jacobians and matrices of second derivatives, with JAX's names and conventions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import optree

from numbagraph.api.differentiation import (
    Argnums,
    Positions,
    arguments_of,
    differentiable,
    require_differentiable,
    tree_of,
    values_of,
)
from numbagraph.api.linearisation import at_points, cotangents_of, tangents_of, zeros_like
from numbagraph.api.transformed import Function, Transformed, plain
from numbagraph.ir import shapes
from numbagraph.ir.docstrings import CommonSections
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.tracing.trace import as_traced
from numbagraph.tracing.tracebacks import for_users
from numbagraph.transforms import batching

P = ParamSpec("P")

derivatives = CommonSections(
    {
        "fun": """
            fun
                A function of arrays, numbers and pytrees of them.
            """,
        "argnums": """
            argnums : int or sequence of int, optional
                The positional arguments to differentiate with respect to; the first by default. They are
                floating-point or complex arrays, or numbers.
            """,
        "has_aux": """
            has_aux : bool, optional
                Whether ``fun`` returns ``(value, auxiliary)``, of which only the first is differentiated.
            """,
    },
    Returns="""
        callable
            Takes the arguments of ``fun``, and gives an array of shape ``output.shape + argument.shape`` for each pair
            of output and argument, in the dtype of the output; with ``has_aux``, the auxiliary results behind it.
        """,
    Raises="""
        TraceError
            If an argument that is differentiated is a bool, or an output is an integer or a bool.
        """,
)
"""The sections of functions for matrices of derivatives."""


def _basis(value: Value) -> tuple[Value, Any]:
    """Return all unit arrays of a value's shape, along a leading dimension, and their number."""
    count = shapes.product(value.shape)
    matrix = registry["eye"](count, dtype=value.dtype)
    return registry["reshape"](matrix, (count, *value.shape)), count


def _jacobian(fun: Function, argnums: Argnums, has_aux: bool, forward: bool) -> Transformed[..., Any]:
    inner = plain(fun)
    positions = Positions(inner, argnums, None)

    def transformed(*args: Any, **kwargs: Any) -> Any:
        values, spec = values_of(positions.take(args, kwargs))
        with at_points(differentiable(values, "a Jacobian")) as points:
            new_args, new_kwargs = positions.put(args, kwargs, arguments_of(spec, points))
            result = as_traced(inner)(*new_args, **new_kwargs)
            value, auxiliary = result if has_aux else (result, None)
            outputs, output_spec = values_of(value)
            rows = _forward_blocks(outputs, points) if forward else _reverse_blocks(outputs, points)
        blocks = [positions.arrange(tree_of(spec, row)) for row in rows]
        jacobian = optree.tree_unflatten(output_spec, blocks)
        return (jacobian, auxiliary) if has_aux else jacobian

    again = functools.partial(jacfwd if forward else jacrev, argnums=argnums, has_aux=has_aux)
    return Transformed(transformed, fun, again)


def _reverse_blocks(outputs: Sequence[Value], points: Sequence[Value]) -> list[list[Value]]:
    """Return, for each output, the derivatives with respect to each point, of shape ``output.shape + point.shape``."""
    rows = []
    for output in outputs:
        require_differentiable([output], "a Jacobian")
        with at_points([zeros_like(output)]) as (seed,):
            found = cotangents_of([output], [seed], points)
        basis, count = _basis(output)
        rows.append(
            [
                registry["reshape"](each, (*output.shape, *point.shape))
                for each, point in zip(_mapped(found, {seed: basis}, count), points, strict=True)
            ]
        )
    return rows


def _forward_blocks(outputs: Sequence[Value], points: Sequence[Value]) -> list[list[Value]]:
    columns = []
    for position, point in enumerate(points):
        with at_points([zeros_like(point)]) as (seed,):
            given = [seed if number == position else zeros_like(each) for number, each in enumerate(points)]
            found = tangents_of(outputs, points, given)
        basis, count = _basis(point)
        columns.append(
            [
                registry["reshape"](registry["moveaxis"](each, 0, -1), (*output.shape, *point.shape))
                for each, output in zip(_mapped(found, {seed: basis}, count), outputs, strict=True)
            ]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def _mapped(values: Sequence[Value], seeds: dict[Value, Value], count: Any) -> list[Value]:
    """Return ``values`` with their seed replaced by every unit array in turn, along a leading dimension."""
    mapped = batching.batch(values, seeds, count)
    return [value if batched else registry["broadcast_to"](value, (count, *value.shape)) for value, batched in mapped]


@for_users
@derivatives
def jacrev(fun: Callable[P, Any], argnums: Argnums = None, has_aux: bool = False) -> Transformed[P, Any]:
    """The Jacobian of a function, one row of it at a time: for few outputs of many inputs.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.jacrev(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(fun, argnums, has_aux, forward=False)


@for_users
@derivatives
def jacfwd(fun: Callable[P, Any], argnums: Argnums = None, has_aux: bool = False) -> Transformed[P, Any]:
    """The Jacobian of a function, one column of it at a time: for many outputs of few inputs.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.jacfwd(lambda t: np.stack([np.cos(t), np.sin(t)]))(0.0)
    array([-0.,  1.])
    """
    return _jacobian(fun, argnums, has_aux, forward=True)


@for_users
@derivatives
def hessian(fun: Callable[P, Any], argnums: Argnums = None) -> Transformed[P, Any]:
    """The matrix of second derivatives, as the Jacobian of the gradient.

    Returns
    -------
    callable
        Takes the arguments of ``fun``, and gives an array of shape ``output.shape + argument.shape + argument.shape``;
        with several ``argnums``, a tuple of tuples of them.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return jacfwd(jacrev(fun, argnums), argnums)
