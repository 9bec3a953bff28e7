"""Loops and branches that are compiled as such, with JAX's names and conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import optree

from numbagraph.api.compiled_loops import outside
from numbagraph.api.transformed import plain
from numbagraph.blockwise.promotion import as_value, convert, weak_constant, weak_convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close, close_together
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import BOOL, INT64, WEAK_TYPES
from numbagraph.ir.values import Constant, Extent, Input, Value, at_source
from numbagraph.ops.control.loop import Loop
from numbagraph.ops.control.operands import row_type, strong
from numbagraph.ops.indexing.subscripts import index
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.effect_tokens import scan_in_order, while_in_order
from numbagraph.tracing.errors import TraceError, name_and_place
from numbagraph.tracing.python_arithmetic import check_difference
from numbagraph.tracing.regions import (
    TRUE,
    Body,
    invariants,
    require_equal_lengths,
    require_structure,
    require_to_run,
    trace_region,
)
from numbagraph.tracing.trace import active, as_traced, current_trace
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import Tracer, to_value, user_source

Function = Callable[..., Any]
ORDER = "buifc"
ATTEMPTS = 4
"""The greatest number of times that a body is traced until its carries keep their types: a weak number takes the dtype
of the value that a step makes of it."""


def described(what: str, function: Function) -> str:
    """Return the name and place of a function of a loop or a branch, for error texts. Raise if it is no function."""
    if not callable(function):
        raise TraceError(f"{what} must be a function, not {type(function).__name__}\n  at {user_source()}")
    return f"{what} {name_and_place(function)}"


def values_of(tree: Any) -> tuple[list[Value], optree.PyTreeSpec]:
    leaves, spec = flatten(tree)
    try:
        return [as_value(to_value(leaf)) for leaf in leaves], spec
    except TraceError:
        raise
    except TypeError as error:
        raise TraceError(f"loops and branches are given arrays and numbers: {error}\n  at {user_source()}") from error


class Carry:
    """The carried values of a loop, whose types are found by tracing its body."""

    def __init__(self, tree: Any) -> None:
        self.values, self.spec = values_of(tree)

    def parameters(self) -> list[Input]:
        return [Input(each.type, f"carry{number}") for number, each in enumerate(self.values)]

    def settle(self, after: Sequence[Value], what: str) -> bool:
        """Return whether the values after a step have the types of those before it. If not, convert numbers of Python
        at the start to the new type: the body must be traced again."""
        settled = True
        for number, (before, now) in enumerate(zip(self.values, after, strict=True)):
            self._require_shape(before, now, what)
            if before.dtype == now.dtype and (now.type.weak or not before.type.weak):
                continue
            if before.type.weak:
                settled = False
                fit = weak_convert if now.type.weak else convert
                self.values[number] = fit(before, np.result_type(before.dtype, now.dtype) if now.type.weak else
                                          np.result_type(now.dtype, WEAK_TYPES[before.dtype](0)))  # fmt: skip
            elif not (now.type.weak and ORDER.index(now.dtype.kind) <= ORDER.index(before.dtype.kind)):
                raise self._refusal(what, before, now, "start with that dtype, or convert what the step gives")
        return settled

    def _require_shape(self, before: Value, now: Value, what: str) -> None:
        error = self._refusal(what, before, now, "its shape must stay what it is")
        if now.ndim != before.ndim:
            raise error
        for one, other in zip(now.shape, before.shape, strict=True):
            shapes.require_same(one, other, str(error))

    @staticmethod
    def _refusal(what: str, before: Value, now: Value, advice: str) -> TraceError:
        return TraceError(
            f"{what} makes {now.type} of a carried value that is {before.type}: {advice}\n  at {user_source()}"
        )

    def fitted(self, after: Sequence[Value]) -> list[Value]:
        """Convert the values after a step to the types that are carried."""
        return [now if old.type.weak else convert(now, old.dtype) for now, old in zip(after, self.values, strict=True)]


def whole_number(number: Any, what: str) -> Value:
    """Return an integer as one of Python's."""
    value = as_value(to_value(number))
    if value.ndim or value.dtype.kind not in "iu":
        raise TraceError(f"{what} is an integer, not {value.type}\n  at {user_source()}")
    if value.type.weak and value.dtype == INT64:
        return value
    return weak_constant(int(value.data)) if isinstance(value, Constant) else registry["cast"].bind(
        value, dtype=INT64, weak=True)  # fmt: skip


class Sequences:
    """The arrays that a loop runs over, and the number of its steps."""

    def __init__(self, xs: Any, length: Any) -> None:
        self.values, self.spec = values_of(xs)
        extent: Extent | None = None
        for value in self.values:
            if not value.ndim:
                raise TraceError(f"scan runs over the first dimension of arrays, and {value.type} has none"
                                 f"\n  at {user_source()}")  # fmt: skip
        if length is not None:
            count = whole_number(length, "the number of steps")
            shapes.require(shapes.compare("greater_equal", count, 0), "a number of steps is negative")
            extent = shapes.resolve(count)
        for value in self.values:
            lengths = [value.shape[0] if extent is None else extent, value.shape[0]]
            text = f"scan: arrays of lengths {shapes.shape_text(lengths)} cannot go along"
            extent = value.shape[0] if extent is None else shapes.require_same(extent, value.shape[0], text)
        if extent is None:
            raise TraceError(f"scan needs arrays to run over, or a length\n  at {user_source()}")
        self.length = shapes.as_value(extent)

    def parameters(self) -> list[Input]:
        return [Input(row_type(each), f"x{number}") for number, each in enumerate(self.values)]


@for_users
def scan(
    f: Function,
    init: Any,
    xs: Any = None,
    length: Any = None,
    reverse: bool = False,
    unroll: int = 1,
    *,
    keep: str = "all",
    lags: Sequence[int] | None = None,
    checkpoint: bool = False,
) -> tuple[Any, Any]:
    """A loop that carries values from one step to the next, compiled as a loop.

    Parameters
    ----------
    f : callable
        ``f(carry, x) -> (carry, y)``, one step.
    init
        What is carried into the first step: an array, a number, or a tree of them. Shapes and dtypes stay; a number of
        Python takes the dtype of what the step makes of it.
    xs : optional
        Arrays (or a tree of them) with one element for each step along their first dimension.
    length : int, optional
        The number of steps, where there is no ``xs``. It may change without a new compilation, and may be 0.
    reverse : bool, optional
        Whether to begin with the last element.
    unroll : int, optional
        With ``backend="jax"``, how many steps are written out in one iteration. LLVM decides that itself.
    keep : {"all", "last"}, optional
        Whether the ``y`` of all steps are stacked, or none are kept.
    lags : sequence of int, optional
        How far back ``f`` reads what is carried: with ``(1, 2)``, each leaf of ``carry`` is the pair of the last value
        and the one before, and ``f`` gives the next value. Leaves of ``init`` then have a leading dimension of
        ``max(lags)``, the oldest first.
    checkpoint : bool, optional
        Whether a gradient stores only what is carried into about √n segments of √n steps, and goes through each of
        these once more (see `checkpoint`).

    Returns
    -------
    carry
        What the last step gave; with ``lags``, the last ``max(lags)`` values.
    ys
        The tree of stacked ``y``, each with a leading dimension of ``length``; None with ``keep="last"``.

    Raises
    ------
    TraceError, ValueError
        If a step changes the type, shape or structure of what is carried; if ``keep`` is neither of these.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    """
    if keep not in ("all", "last"):
        raise ValueError(f'keep must be "all" or "last", not {keep!r}')
    how = Manner(bool(reverse), int(unroll), keep, bool(checkpoint))
    taps = None if lags is None else tuple(lags)
    if current_trace() is None:
        options = {"reverse": how.reverse, "unroll": how.unroll, "keep": keep, "checkpoint": how.checkpoint}
        again = partial(scan, f, **options, lags=taps)
        make = lambda: lambda init, xs, length: again(init, xs, length)  # noqa: E731
        return outside(f, ("scan", how, taps), make)(init, xs, length)
    if taps is not None:
        return scan_with_lags(as_traced(plain(f)), init, xs, length, taps, how)
    with at_source(user_source()):
        return traced_scan(as_traced(plain(f)), init, xs, length, how)


class Manner(Struct):
    """The options of a scan: its direction, its unrolling, the results that it keeps, and whether a derivative
    takes it in segments."""

    reverse: bool = False
    unroll: int = 1
    keep: str = "all"
    checkpoint: bool = False


@scan_in_order
def traced_scan(
    f: Function, init: Any, xs: Any, length: Any, how: Manner, user: Function | None = None
) -> tuple[Any, Any]:
    """Trace ``scan``. ``user`` is the function that errors name, if ``f`` is a part of it."""
    what = described("the step", f if user is None else user)
    carry, sequences = Carry(init), Sequences(xs, length)

    def step(carried: Any, x: Any) -> tuple[Any, Any]:
        found = f(carried, x)
        if not isinstance(found, tuple) or len(found) != 2:
            raise TraceError(f"{what} must return a pair, what is carried and what is stacked, not "
                             f"{type(found).__name__}\n  at {user_source()}")  # fmt: skip
        return found if how.keep == "all" else (found[0], None)

    parameters, body = settled(step, carry, sequences, what)
    count = len(carry.values)
    stacked = [strong(each) for each in body.outputs[count:]]
    body = body.giving(lambda: (*carry.fitted(body.outputs[:count]), *stacked))
    results = loop_results(body, parameters, carry, sequences, how)
    tracers = [Tracer(each) for each in results]
    _, ys = optree.tree_unflatten(body.spec, tracers)
    return optree.tree_unflatten(carry.spec, tracers[:count]), ys


def settled(step: Function, carry: Carry, sequences: Sequences, what: str) -> tuple[list[Input], Body]:
    """Trace the body of a loop until the types of its carries stay. Return its parameters, and the body."""
    active.loops += 1
    for _ in range(ATTEMPTS):
        parameters = [*carry.parameters(), *sequences.parameters()]
        trees = [optree.tree_unflatten(carry.spec, parameters[: len(carry.values)])]
        trees.append(optree.tree_unflatten(sequences.spec, parameters[len(carry.values) :]))
        body = trace_region(step, trees, what)
        require_structure(carry.spec, body.spec.child(0), what)
        if carry.settle(body.outputs[: len(carry.values)], what):
            return parameters, body
    raise TraceError(f"{what} gives carried values of another type each time it is traced\n  at {user_source()}")


def loop_results(
    body: Body, parameters: Sequence[Input], carry: Carry, sequences: Sequences, how: Manner
) -> list[Value]:
    count, initial, parameters = len(carry.values), [*carry.values], [*parameters]
    require_equal_lengths(body.outputs[count:], parameters)
    if body.is_checked:
        initial.append(TRUE)
        parameters.insert(count, Input(TRUE.type, "checked"))
        body = replace(body, outputs=(*body.outputs[:count], TRUE, *body.outputs[count:]))
    hoisted = invariants(body, parameters)
    closed = close(
        parameters,
        body.outputs,
        name="step",
        known=lambda node: body.is_used(node) or node in hoisted,
        guards=body.guards,
    )
    operands = (*initial, *sequences.values, *closed.captures)
    counts = len(initial), len(sequences.values)
    is_cut = how.checkpoint or active.checkpoints
    loop = Loop(sequences.length, operands, closed.region, *counts, how.reverse, how.unroll, is_cut)
    results = [loop.result(number) for number in range(len(body.outputs))]
    if body.is_checked:
        require_to_run(results.pop(count))
    return results


def scan_with_lags(f: Function, init: Any, xs: Any, length: Any, lags: tuple[int, ...], how: Manner) -> tuple[Any, Any]:
    """Trace a scan whose step takes values of several steps ago: the last values are carried one by one, and move on by
    one place in each step."""
    if not lags or min(lags) < 1:
        raise ValueError(f"lags are how many steps ago a value was, from 1 on, not {lags}")
    depth = max(lags)
    leaves, spec = flatten(init)
    arrays = [as_value(to_value(leaf)) for leaf in leaves]
    for array in arrays:
        if not array.ndim or not shapes.same(array.shape[0], depth):
            text = f"scan with lags={lags} starts with {depth} values along the first dimension, not {array.type}"
            if not array.ndim:
                raise TraceError(f"{text}\n  at {user_source()}")
            shapes.require_same(array.shape[0], depth, text)
    history = [[Tracer(index(array, place)) for array in arrays] for place in range(depth)]  # the oldest first

    def step(carried: list[list[Any]], x: Any) -> tuple[Any, Any]:
        taps = [tuple(carried[depth - lag][number] for lag in lags) for number in range(len(arrays))]
        found, y = f(optree.tree_unflatten(spec, taps), x)
        new, own = flatten(found)
        require_structure(spec, own, described("the step", f))
        return [*carried[1:], new], y

    carried, ys = traced_scan(step, history, xs, length, how, f)
    last = [np.stack([each[number] for each in carried]) for number in range(len(arrays))]
    return optree.tree_unflatten(spec, last), ys


@for_users
def fori_loop(lower: Any, upper: Any, body_fun: Function, init_val: Any, *, checkpoint: bool = False) -> Any:
    """``for i in range(lower, upper): val = body_fun(i, val)``, compiled as a loop.

    Parameters
    ----------
    lower, upper : int
        Bounds, which may be known only when the program runs.
    body_fun : callable
        ``body_fun(i, val) -> val``.
    init_val
        An array, a number, or a tree of them.
    checkpoint : bool, optional
        Whether a gradient stores only what is carried into about √n segments of √n steps, and goes through each of
        these once more (see `checkpoint`).

    Returns
    -------
    val
        What the last step gave; ``init_val`` where there is none.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.graph_jit
    ... def weighted(x):
    ...     return numbagraph.fori_loop(0, x.shape[0], lambda i, total: total + i * x[i], 0.0)
    >>> weighted(np.array([1.0, 2.0, 4.0]))
    np.float64(10.0)
    """
    if current_trace() is None:
        again = partial(fori_loop, checkpoint=checkpoint)
        make = lambda: lambda *args: again(args[0], args[1], body_fun, args[2])  # noqa: E731
        return outside(body_fun, ("fori_loop", checkpoint), make)(lower, upper, init_val)
    function = as_traced(plain(body_fun))
    with at_source(user_source()):
        first, last = (whole_number(each, "a bound of fori_loop") for each in (lower, upper))
        for condition, _, error in check_difference(last, first, last):
            shapes.require(condition, "fori_loop: the bounds are 2**63 or more apart", error)
        count = shapes.maximum(shapes.subtract(shapes.resolve(last), shapes.resolve(first)), 0)

        def step(carried: Any, _: Any) -> tuple[Any, Any]:
            number, value = carried
            after = registry["add"].bind(to_value(number), weak_constant(1))
            return (Tracer(after), function(number, value)), None

        start, how = (Tracer(first), init_val), Manner(keep="last", checkpoint=bool(checkpoint))
        (_, result), _ = traced_scan(step, start, None, Tracer(shapes.as_value(count)), how, function)
        return result


@for_users
def map(f: Function, xs: Any) -> Any:
    """``f`` of each element along the first dimension, one after the other.

    Parameters
    ----------
    f : callable
        A function of one element of ``xs``.
    xs
        An array, or a tree of arrays of one length.

    Returns
    -------
    tree
        The results, stacked. `vmap` computes all elements at once; here each may take its own branches and steps.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.map(lambda x: x**2, np.array([1.0, 2.0]))
    array([1., 4.])
    """
    if current_trace() is None:
        return outside(f, "map", lambda: lambda xs: map(f, xs))(xs)
    function = as_traced(plain(f))
    return scan(lambda carry, x: (carry, function(x)), (), xs)[1]


@for_users
def while_loop(cond_fun: Function, body_fun: Function, init_val: Any, *, checkpoint: bool = False) -> Any:
    """``while cond_fun(val): val = body_fun(val)``, compiled as a loop.

    Parameters
    ----------
    cond_fun : callable
        ``cond_fun(val)`` is a boolean.
    body_fun : callable
        ``body_fun(val) -> val``, of the same shapes and dtypes.
    init_val
        An array, a number, or a tree of them.
    checkpoint : bool, optional
        Whether a gradient stores only what is carried into about √(2 n) segments of up to as many steps, and goes
        through each of these once more (see `checkpoint`).

    Returns
    -------
    val
        The first for which ``cond_fun`` is false.

    Notes
    -----
    Under `vmap`, each element takes as many steps as it needs.

    Examples
    --------
    >>> import numbagraph
    >>> numbagraph.while_loop(lambda n: n < 100, lambda n: 2 * n, 3)
    192
    """
    if current_trace() is None:
        make = lambda: lambda init: while_loop(cond_fun, body_fun, init, checkpoint=checkpoint)  # noqa: E731
        return outside(body_fun, ("while_loop", cond_fun, checkpoint), make)(init_val)
    with at_source(user_source()):
        return traced_while(as_traced(plain(cond_fun)), as_traced(plain(body_fun)), init_val, bool(checkpoint))


@while_in_order
def traced_while(cond_fun: Function, body_fun: Function, init_val: Any, checkpoint: bool) -> Any:
    carry, nothing = Carry(init_val), Sequences((), 0)
    what = described("the step", body_fun)
    parameters, body = settled(lambda carried, _: (body_fun(carried), None), carry, nothing, what)
    tree = optree.tree_unflatten(carry.spec, parameters)
    condition = trace_region(cond_fun, (tree,), described("the condition", cond_fun))
    goes_on = truth(condition.outputs, described("the condition", cond_fun))
    body = body.giving(lambda: carry.fitted(body.outputs))
    initial, after = [*carry.values], [*body.outputs]
    is_checked = body.is_checked or condition.is_checked
    if is_checked:
        initial.append(TRUE)
        parameters.append(Input(TRUE.type, "checked"))
        after.append(TRUE)
    hoisted = invariants(body, parameters) | invariants(condition, parameters)
    drafts = Draft("goes_on", [goes_on], condition.guards), Draft("step", after, body.guards)
    regions, captures = close_together(
        parameters, drafts, lambda node: body.is_used(node) or condition.is_used(node) or node in hoisted
    )
    attrs = {"condition": regions[0], "body": regions[1], "carries": len(parameters)}
    if checkpoint or active.checkpoints:
        attrs["checkpoint"] = True
    bind = registry["while_loop"].bind
    results = [bind(*initial, *captures, **attrs, result=number) for number in range(len(parameters))]
    if is_checked:
        require_to_run(results.pop())
    return optree.tree_unflatten(carry.spec, [Tracer(each) for each in results])


def truth(values: Sequence[Value], what: str) -> Value:
    if len(values) != 1 or values[0].ndim:
        types = ", ".join(str(each.type) for each in values)
        raise TraceError(f"{what} must be one boolean, not {types}\n  at {user_source()}")
    return values[0] if values[0].dtype == BOOL else registry["not_equal"](values[0], 0)
