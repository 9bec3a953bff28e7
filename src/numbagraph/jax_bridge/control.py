"""JAX's loops, branches and calls, and its rules of derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.tree_util import tree_leaves, tree_unflatten

from numbagraph.api.branches import switch
from numbagraph.api.loops import scan, while_loop
from numbagraph.ir.opaque import opaque
from numbagraph.ir.values import Value
from numbagraph.jax_bridge.translation import ClosedJaxpr, Run, fitted, is_constant, jaxpr_of, traced
from numbagraph.ops.rules.custom_rule import with_rule
from numbagraph.tracing.trace import apart
from numbagraph.tracing.tracer import Tracer


def called(*names: str) -> Callable[..., Any]:
    """Translate a call of a jaxpr that the equation holds under one of these names."""

    def call(run: Run, equation: Any, *operands: Any) -> list[Any]:
        jaxpr = next(equation.params[name] for name in names if name in equation.params)
        return run.closed(jaxpr, operands) if hasattr(jaxpr, "consts") else run.open(jaxpr, (), operands)

    return call


def typed(results: Sequence[Any], variables: Sequence[Any]) -> tuple[Tracer, ...]:
    """The results of a region as traced arrays of the dtypes of the jaxpr."""
    pairs = zip(results, variables, strict=True)
    return tuple(traced(fitted(each, getattr(variable, "aval", variable))) for each, variable in pairs)


def scanned(run: Run, equation: Any, *operands: Any) -> list[Any]:
    jaxpr, length, reverse = (equation.params[name] for name in ("jaxpr", "length", "reverse"))
    constants, carries = kept(equation.params)
    fixed, initial = operands[:constants], operands[constants : constants + carries]
    sequences = tuple(map(traced, operands[constants + carries :]))

    def step(carry: Sequence[Any], x: Sequence[Any]) -> tuple[Any, Any]:
        found = typed(run.closed(jaxpr, [*fixed, *carry, *x]), jaxpr.out_avals)
        return found[:carries], found[carries:]

    first = typed(initial, jaxpr.in_avals[constants : constants + carries])
    last, stacked = scan(step, first, sequences, length=int(length), reverse=bool(reverse))
    return [*last, *stacked]


def kept(params: Any) -> tuple[int, int]:
    """The number of a scan's operands that are constants, and of those that are carries."""
    if "num_consts" in params:  # until JAX 0.10
        return params["num_consts"], params["num_carry"]
    constants, carries, _ = map(len, params["ft_in"].unpack())
    return constants, carries


def while_loops(run: Run, equation: Any, *operands: Any) -> list[Any]:
    condition, body = equation.params["cond_jaxpr"], equation.params["body_jaxpr"]
    of_condition = equation.params["cond_nconsts"]
    before = of_condition + equation.params["body_nconsts"]
    fixed, own, initial = operands[:of_condition], operands[of_condition:before], operands[before:]
    is_batched = condition.out_avals[0].shape != ()  # by jax.vmap, whose loop runs until its last element is done

    def wanted(carry: Sequence[Any]) -> Any:
        return traced(run.closed(condition, [*fixed, *carry])[0])

    def goes_on(carry: Sequence[Any]) -> Any:
        return np.any(wanted(carry)) if is_batched else wanted(carry)

    def step(carry: Sequence[Any]) -> Any:
        found = typed(run.closed(body, [*own, *carry]), body.out_avals)
        return chosen(wanted(carry), found, carry) if is_batched else found

    return list(while_loop(goes_on, step, typed(initial, body.out_avals)))


def chosen(condition: Any, found: Sequence[Any], carry: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a step for the elements of a batch that go on, and the previous carries for the others."""
    return tuple(
        np.where(np.expand_dims(condition, tuple(range(condition.ndim, new.ndim))), new, old)
        for new, old in zip(found, carry, strict=True)
    )


def branches(run: Run, equation: Any, index: Any, *operands: Any) -> list[Any]:
    jaxprs = equation.params["branches"]

    def branch(jaxpr: ClosedJaxpr) -> Callable[..., Any]:
        return lambda *given: typed(run.closed(jaxpr, given), jaxpr.out_avals)

    if is_constant(index):
        chosen = jaxprs[min(max(int(index), 0), len(jaxprs) - 1)]
        return run.closed(chosen, operands)
    return list(switch(index, [branch(each) for each in jaxprs], *operands))


def platform_index(_run: Run, equation: Any) -> int:
    """The number of the program, among several, that is for the CPU; None stands for all other platforms."""
    platforms = equation.params["platforms"]
    named = [number for number, each in enumerate(platforms) if each is not None and "cpu" in each]
    return named[0] if named else platforms.index(None)


def ruled(evaluated: Callable[..., list[Any]]) -> Callable[..., Any]:
    """A call whose derivatives are not those of its computation: JAX evaluates its rules."""

    def call(run: Run, equation: Any, *operands: Any) -> list[Any]:
        operands = tuple(Tracer(apart(each.value)) if isinstance(each, Tracer) else each for each in operands)
        with opaque([each.value for each in operands if isinstance(each, Tracer)]):
            results = evaluated(run, equation, *operands)
        if not any(isinstance(each, Tracer) for each in operands):
            return results
        tracers = typed(results, equation.outvars)
        own = [number for number, each in enumerate(operands) if isinstance(each, Tracer)]

        def backward(given: Sequence[Value], cotangents: Sequence[Value]) -> list[Value | None]:
            arguments = list(operands)
            for number, each in zip(own, given, strict=True):
                arguments[number] = Tracer(each)
            found = pulled_back(run, equation, arguments, [Tracer(each) for each in cotangents])
            return [None if found[number] is None else traced(found[number]).value for number in own]

        values = with_rule([each.value for each in tracers], [operands[number].value for number in own], backward)
        return [Tracer(each) for each in values]

    return call


def pulled_back(run: Run, equation: Any, operands: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The cotangents of an equation's operands, None where there is none, by JAX's derivative of the equation."""
    function = function_of(equation)
    avals = [each.aval for each in equation.invars]
    smooth = [number for number, each in enumerate(avals) if jax.numpy.issubdtype(each.dtype, jax.numpy.inexact)]
    results = [
        number
        for number, each in enumerate(equation.outvars)
        if jax.numpy.issubdtype(each.aval.dtype, jax.numpy.inexact)
    ]

    def pull_back(given: Sequence[Any], backwards: Sequence[Any]) -> Any:
        def of_smooth(*some: Any) -> Any:
            every = list(given)
            for number, each in zip(smooth, some, strict=True):
                every[number] = each
            found = function(*every)
            return [found[number] for number in results]

        return jax.vjp(of_smooth, *(given[number] for number in smooth))[1](list(backwards))

    types = [each.aval for each in equation.outvars]
    jaxpr = jaxpr_of(
        pull_back,
        [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in avals],
        [jax.ShapeDtypeStruct(types[number].shape, types[number].dtype) for number in results],
    )
    found = iter(run.closed(jaxpr, [*operands, *(cotangents[number] for number in results)]))
    return [next(found) if number in smooth else None for number in range(len(operands))]


def function_of(equation: Any) -> Callable[..., Any]:
    """An equation as a function of JAX."""
    bind = getattr(equation.primitive, "get_bind_params", None)
    if bind is None:
        return lambda *arguments: as_list(equation.primitive.bind(*arguments, **equation.params))
    found = bind(equation.params)
    functions, params = found if isinstance(found, tuple) else ((), found)
    return lambda *arguments: as_list(equation.primitive.bind(*functions, *arguments, **params))


def as_list(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


def solved(run: Run, equation: Any, *operands: Any) -> list[Any]:
    """Solve a linear system by the function that the equation has for it."""
    lengths, jaxprs = equation.params["const_lengths"], equation.params["jaxprs"]
    before = lengths.matvec + lengths.vecmat
    constants = operands[before : before + lengths.solve]
    right = operands[sum(lengths) :]
    return run.closed(jaxprs.solve, [*constants, *right])


def expanded(run: Run, equation: Any, *operands: Any) -> list[Any]:
    """Evaluate an operation that has its own expansion into others: functions with derivatives of their own, from JAX
    0.11 on."""
    operation = equation.params["_prim"]

    def expand(*given: Any) -> list[Any]:
        return tree_leaves(operation.expand(*tree_unflatten(operation.in_tree, given)))

    types = [jax.ShapeDtypeStruct(each.aval.shape, each.aval.dtype) for each in equation.invars]
    return run.closed(jaxpr_of(expand, *types), operands)


call = called("call_jaxpr", "jaxpr", "fun_jaxpr")
TABLE: dict[str, Callable[..., Any]] = {
    "call_hi_primitive": ruled(expanded),
    "checkpoint": call,
    "closed_call": call,
    "composite": call,
    "cond": branches,
    "core_call": call,
    "custom_jvp_call": ruled(call),
    "custom_linear_solve": ruled(solved),
    "custom_vjp_call": ruled(call),
    "custom_vmap_call": called("call"),
    "custom_vjp_call_jaxpr": ruled(call),
    "jit": call,
    "pjit": call,
    "platform_index": platform_index,
    "remat": call,
    "remat2": call,
    "scan": scanned,
    "while": while_loops,
}
