"""Branches that are compiled as such, with JAX's names and conventions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
import optree

from numbagraph.api.loops import described, truth, values_of
from numbagraph.api.transformed import plain
from numbagraph.blockwise.promotion import as_value, convert, weak_convert
from numbagraph.ir import shapes
from numbagraph.ir.later import Later
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together
from numbagraph.ir.structs import replace
from numbagraph.ir.types import INT64, WEAK_TYPES
from numbagraph.ir.values import Value, at_source
from numbagraph.runtime.structures import structure_of
from numbagraph.tracing.effect_tokens import branches_in_order
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.regions import TRUE, Body, require_to_run, trace_region
from numbagraph.tracing.trace import active, as_traced, current_trace
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import Tracer, to_value, user_source
from numbagraph.tracing.unrolled_loops import long_loops_found

if TYPE_CHECKING:
    from numbagraph.capture.values import optional as possibly
    from numbagraph.capture.values import raised_errors as errors
else:
    errors, possibly = map(Later, ("numbagraph.capture.values.raised_errors", "numbagraph.capture.values.optional"))

Function = Callable[..., Any]
P = ParamSpec("P")
R = TypeVar("R")


@for_users
def cond(pred: Any, true_fun: Function, false_fun: Function, *operands: Any) -> Any:
    """``true_fun(*operands) if pred else false_fun(*operands)``, of which only the branch that is taken runs.

    Parameters
    ----------
    pred : bool
        A boolean or a number, which may be known only when the program runs.
    true_fun, false_fun : callable
        Functions of ``operands`` that give trees of one structure, with the same shapes and dtypes.
    *operands
        Arrays, numbers and trees of them.

    Returns
    -------
    tree
        What the branch that was taken gives.

    Raises
    ------
    TraceError
        If the results of the branches differ in structure, dtype or shape.

    Notes
    -----
    Under `vmap`, where the elements of a batch take different branches, both are computed, unless one could raise an
    error: then the elements are computed one after the other.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.graph_jit
    ... def entropy(p):
    ...     return numbagraph.cond(p > 0, lambda p: -p * np.log(p), lambda p: 0.0, p)
    >>> entropy(0.5), entropy(0.0)
    (np.float64(0.34657359027997264), np.float64(0.0))
    """
    if not isinstance(pred, Tracer):
        return (true_fun if pred else false_fun)(*operands)
    with at_source(user_source()):
        index = convert(truth([pred_value(pred)], "the condition of cond"), INT64)
        return taken(index, (false_fun, true_fun), operands)


def pred_value(pred: Tracer) -> Value:
    value: Value = to_value(pred)
    return value


@for_users
def switch(index: Any, branches: Sequence[Function], *operands: Any) -> Any:
    """``branches[index](*operands)``, of which only the branch that is taken runs.

    Parameters
    ----------
    index : int
        Which branch; below 0 it is the first, beyond the last it is the last.
    branches : sequence of callable
        Functions of ``operands`` that give trees of one structure, with the same shapes and dtypes.
    *operands
        Arrays, numbers and trees of them.

    Returns
    -------
    tree
        What the branch that was taken gives.

    Raises
    ------
    ValueError
        If there is no branch.
    TraceError
        If the index is not one integer, or branches give other structures, shapes or dtypes.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.graph_jit(lambda k, x: numbagraph.switch(k, [np.sin, np.cos, np.exp], x))(1, 0.0)
    np.float64(1.0)
    """
    functions = tuple(branches)
    if not functions:
        raise ValueError("switch needs at least one branch")
    if not isinstance(index, Tracer):
        return functions[min(max(int(index), 0), len(functions) - 1)](*operands)
    with at_source(user_source()):
        value = pred_value(index)
        if value.ndim or value.dtype.kind not in "iu":
            raise TraceError(f"the index of switch is one integer, not {value.type}\n  at {user_source()}")
        return taken(convert(value, INT64), functions, operands)


def checkpoint(fun: Callable[P, R], *, loops: bool = False) -> Callable[P, R]:
    """The function, of which a gradient stores the arguments alone: what is between is computed a second time.

    Parameters
    ----------
    fun : callable
        A function of arrays, numbers and trees of them.
    loops : bool, optional
        Whether it is only its loops of which a gradient stores less, Python's own and `scan`, `fori_loop` and
        `while_loop`: of n steps what is carried into about √n segments of √n steps, which are then computed again, one
        after the other.

    Returns
    -------
    callable
        The same function, for use inside of one that is differentiated.

    Notes
    -----
    The gradient of a loop stores what is carried into each step, and computes all else of the step again; so a step
    needs no `checkpoint`. With ``loops=True`` memory grows with the square root of the number of steps. The numbers are
    the same bit for bit, but for sums behind the loop, and derivatives by what all steps of a ``while`` loop or of a
    loop in a loop read, which are sums, too: they may differ by rounding.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> f = numbagraph.checkpoint(lambda x: np.sin(np.exp(x)))
    >>> numbagraph.grad(lambda x: np.sum(f(x)))(np.zeros(1))
    array([0.54030231])
    >>> def damped(x):
    ...     for _ in range(1_000):
    ...         x = 0.999 * x + 0.001 * np.cos(x)
    ...     return np.sum(x)
    >>> numbagraph.grad(numbagraph.checkpoint(damped, loops=True))(np.zeros(1)).round(6)
    array([0.261996])
    """
    inner = plain(fun)

    @functools.wraps(inner, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is None:
            return inner(*args, **kwargs)
        if loops:
            with loops_checkpointed():
                return as_traced(inner)(*args, **kwargs)
        with at_source(user_source()):
            first = convert(as_value(0), INT64)
            return taken(first, (lambda args, kwargs: as_traced(inner)(*args, **kwargs),), (args, kwargs))

    return call


@contextmanager
def loops_checkpointed() -> Iterator[None]:
    """Let derivatives of the loops that the block traces compute again what they do not store. Loops of many steps are
    loops, however few calls they make."""
    around, active.checkpoints = active.checkpoints, True
    try:
        with long_loops_found(None if active.calls is None else 0):
            yield
    finally:
        active.checkpoints = around


def taken(index: Value, functions: Sequence[Function], operands: Sequence[Any]) -> Any:
    """Return the results of the branch that a number selects."""
    return traced_branches(index, [as_traced(plain(each)) for each in functions], operands)


@branches_in_order
def traced_branches(index: Value, functions: Sequence[Function], operands: Sequence[Any]) -> Any:
    assert current_trace() is not None
    values, spec = values_of(tuple(operands))
    arguments = optree.tree_unflatten(spec, values)
    names = [described("the branch", each) for each in functions]
    sides = [Side(each) for each in functions]
    bodies = [trace_region(each, arguments, name, values) for each, name in zip(sides, names, strict=True)]
    if any(each.raised for each in sides):
        bodies, names = with_unreached(bodies, names, sides)
    fits = alike(bodies, names)
    bodies = [each.giving(lambda each=each: fitted(each.outputs, fits)) for each in bodies]
    outputs = [[*each.outputs] for each in bodies]
    is_checked = any(body.is_checked for body in bodies)
    if is_checked:
        outputs = [[*values, TRUE] for values in outputs]
    drafts = [
        Draft(f"branch{number}", values, body.guards)
        for number, (body, values) in enumerate(zip(bodies, outputs, strict=True))
    ]
    regions, captures = close_together((), drafts, lambda node: any(each.is_used(node) for each in bodies))
    bind = registry["switch"].bind
    results = [bind(index, *captures, branches=regions, result=number) for number in range(len(outputs[0]))]
    if is_checked:
        require_to_run(results.pop())
    return optree.tree_unflatten(bodies[0].spec, [Tracer(each) for each in results])


class Side:
    """The function of a branch. An error that Python or NumPy raise there, as for an index that is known to be out of
    bounds, becomes an error of the program, which it raises where it takes the branch."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.raised: Any = None

    def __call__(self, *operands: Any) -> Any:
        try:
            return self.function(*operands)
        except Exception as error:
            self.raised = errors.raised_of(error)
            if self.raised is None:
                raise
            self.raised.require(False)
            return ()


def with_unreached(
    bodies: Sequence[Body], names: Sequence[str], sides: Sequence[Side]
) -> tuple[list[Body], Sequence[str]]:
    """Replace branches that always raise by placeholders of another branch's results, in its types. Return the bodies,
    and the name of the branch with which each one's results are compared."""
    found = next(
        (pair for pair, side in zip(zip(bodies, names, strict=True), sides, strict=True) if not side.raised), None
    )
    if found is None:
        raise sides[0].raised.marked()
    known, name = found
    outputs = tuple(possibly.placeholder(each.type) for each in known.outputs)
    each_body = zip(bodies, sides, strict=True)
    made = [replace(each, outputs=outputs, spec=known.spec) if side.raised else each for each, side in each_body]
    return made, [name if side.raised else own for own, side in zip(names, sides, strict=True)]


Fit: TypeAlias = Callable[[Value], Value]
"""A function that converts an output of a branch to a type that all branches have in common."""


def fitted(outputs: Sequence[Value], fits: Sequence[Fit]) -> list[Value]:
    return [fit(value) for fit, value in zip(fits, outputs, strict=True)]


def alike(bodies: Sequence[Body], names: Sequence[str]) -> list[Fit]:
    """Return functions that give the outputs of branches common types: numbers of Python take the dtype of other
    branches' outputs."""
    first, title = bodies[0], names[0]
    fits = []
    for body, name in zip(bodies, names, strict=True):
        if body.spec != first.spec:
            raise TraceError(
                f"{name} gives {structure_of(body.spec)}, and {title} gives {structure_of(first.spec)}: let both give "
                f"the same structure\n  at {user_source()}"
            )
    for values in zip(*(body.outputs for body in bodies), strict=True):
        for value, name in zip(values, names, strict=True):
            text = f"{name} gives {value.type}, and {title} gives {values[0].type}\n  at {user_source()}"
            if value.ndim != values[0].ndim:
                raise TraceError(text)
            for extent, expected in zip(value.shape, values[0].shape, strict=True):
                shapes.require_same(extent, expected, text)
        fits.append(to_common_type(values, names))
    return fits


def to_common_type(values: Sequence[Value], names: Sequence[str]) -> Fit:
    strong = {value.dtype: name for value, name in zip(values, names, strict=True) if not value.type.weak}
    if len(strong) > 1:
        both = ", and ".join(f"{name} gives {dtype}" for dtype, name in strong.items())
        raise TraceError(f"{both}: convert one of them\n  at {user_source()}")
    if not strong:
        dtype = np.result_type(*(value.dtype for value in values))
        return lambda value: weak_convert(value, dtype)
    (common,) = strong
    fitting = np.result_type(common, *(WEAK_TYPES[value.dtype](0) for value in values if value.type.weak))
    if fitting != common:
        raise TraceError(f"one branch gives {common}, another a number of Python that is none\n  at {user_source()}")
    return lambda value: convert(value, common)
