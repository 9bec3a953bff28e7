"""Derivatives of traced functions, with JAX's names and conventions.

A transformation returns a function. Inside a traced function it adds to the graph; called on arrays, it compiles
itself, so `grad(f)(x)` works with and without `graph_jit`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
import optree

from numbagraph.api.argnums import Argnames, Argnums, Positions
from numbagraph.api.linearisation import at_points, cotangents_of, tangents_of
from numbagraph.api.transformed import Function, Transformed, plain
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.opaque import opaque
from numbagraph.ir.public import Public
from numbagraph.ir.regions import Closed, close
from numbagraph.ir.values import ArrayType, Input, Value, constant
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.jit.pickling import Pickled
from numbagraph.ops.rules.custom_rule import with_closed_rule, with_rule
from numbagraph.purity.snapshots import holds_tracers
from numbagraph.runtime.arguments import flatten, leaves_like
from numbagraph.runtime.structures import structure_of
from numbagraph.tracing.effect_tokens import left_out
from numbagraph.tracing.regions import trace_region
from numbagraph.tracing.trace import apart, as_traced, current_trace
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import TraceError, Tracer, apply, to_value, user_source

P = ParamSpec("P")
R = TypeVar("R")


def values_of(tree: Any) -> tuple[list[Value], optree.PyTreeSpec]:
    """Return the leaves of a tree of tracers, arrays and numbers, as values of the current graph."""
    leaves, spec = flatten(tree)
    return [as_value(to_value(leaf)) for leaf in leaves], spec


def values_like(expected: optree.PyTreeSpec, tree: Any, what: str, like: str) -> list[Value]:
    """Return the leaves of a tree that must have the structure of another one; the order of dicts does not matter."""

    def mismatch(found: optree.PyTreeSpec) -> TypeError:
        return TypeError(f"{what} must be like {like}, {structure_of(expected)}, not {structure_of(found)}")

    return [as_value(to_value(leaf)) for leaf in leaves_like(expected, tree, mismatch)]


def tree_of(spec: optree.PyTreeSpec, values: Sequence[Value]) -> Any:
    return optree.tree_unflatten(spec, [Tracer(value) for value in values])


def arguments_of(spec: optree.PyTreeSpec, values: Sequence[Value]) -> Any:
    """Return a tree of values as arguments of a function, which must not write into them."""
    return optree.tree_unflatten(spec, [Tracer(value, argument=True) for value in values])


def require_differentiable(values: Sequence[Value], what: str) -> None:
    for value in values:
        if value.dtype.kind not in "fc":
            raise TraceError(
                f"{what} needs float or complex arguments, not {value.type}: convert, or leave the argument out of "
                f"argnums\n  at {user_source()}"
            )


def differentiable(values: Sequence[Value], what: str) -> list[Value]:
    """Return the points at which a derivative is taken: integers, such as those of ``p0=[1, 1]``, become float64."""
    float64 = np.dtype(np.float64)
    points = [
        registry["cast"].bind(value, dtype=float64, weak=value.type.weak) if value.dtype.kind in "iu" else value
        for value in values
    ]
    require_differentiable(points, what)
    return points


def require_scalar(outputs: Sequence[Value], what: str) -> None:
    if len(outputs) != 1 or outputs[0].ndim or outputs[0].dtype.kind != "f":
        types = ", ".join(str(each.type) for each in outputs) or "no array"
        advice = ""
        if len(outputs) == 1 and outputs[0].ndim:
            advice = ": np.sum makes one number of it, and jacrev has the derivatives of each element"
        elif len(outputs) > 1:
            advice = ": has_aux=True takes a pair of the scalar and the others, and jacrev has the derivatives of all"
        raise TraceError(
            f"{what} needs a function with one real scalar result, not {types}{advice}\n  at {user_source()}"
        )


@for_users
def value_and_grad(
    fun: Callable[P, R], argnums: Argnums = None, has_aux: bool = False, *, argnames: Argnames = None
) -> Transformed[P, tuple[R, Any]]:
    """A function that returns ``(fun(...), gradient)``.

    Parameters
    ----------
    fun
        A function with one real scalar result; with ``has_aux``, a pair of it and anything else.
    argnums : int or sequence of int, optional
        The positional arguments to differentiate with respect to (pytrees allowed); the first by default.
    has_aux : bool, optional
        Whether ``fun`` returns ``(value, auxiliary)``.
    argnames : str or iterable of str, optional
        Keyword arguments to differentiate with respect to; the gradient is then a dict of them.

    Returns
    -------
    callable
        Takes the arguments of ``fun``, and gives ``(value, gradient)`` or ``((value, auxiliary), gradient)``. A
        gradient has the structure, shapes and dtypes of its argument, and float64 for integers, which are taken as
        float64; with several ``argnums`` it is a tuple.

    Raises
    ------
    TraceError
        If ``fun`` does not give one real scalar, or an argument that is differentiated is a bool.
    TypeError
        If ``argnums`` or ``argnames`` name an argument that a call does not have.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> f = numbagraph.value_and_grad(lambda x: np.sum(x**2))
    >>> f(np.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """
    inner = plain(fun)
    positions = Positions(inner, argnums, argnames)

    def transformed(*args: Any, **kwargs: Any) -> Any:
        values, spec = values_of(positions.take(args, kwargs))
        with at_points(differentiable(values, "grad")) as points:
            new_args, new_kwargs = positions.put(args, kwargs, arguments_of(spec, points))
            result = as_traced(inner)(*new_args, **new_kwargs)
            value, auxiliary = result if has_aux else (result, None)
            outputs, _ = values_of(value)
            require_scalar(outputs, "grad")
            one = constant(1, dtype=outputs[0].dtype)
            beside = [each.value for each in flatten(auxiliary)[0] if isinstance(each, Tracer)]
            gradient = tree_of(spec, cotangents_of(outputs, [one], points, branching=True, beside=beside))
        return ((value, auxiliary) if has_aux else value), positions.arrange(gradient)

    again = functools.partial(value_and_grad, argnums=argnums, has_aux=has_aux, argnames=argnames)
    return Transformed(transformed, fun, again)


@for_users
def grad(
    fun: Callable[P, Any], argnums: Argnums = None, has_aux: bool = False, *, argnames: Argnames = None
) -> Transformed[P, Any]:
    """The gradient of a function with a real scalar result.

    Parameters
    ----------
    fun
        A function with one real scalar result; with ``has_aux``, a pair of it and anything else.
    argnums : int or sequence of int, optional
        The positional arguments to differentiate with respect to (pytrees allowed); the first by default.
    has_aux : bool, optional
        Whether ``fun`` returns ``(value, auxiliary)``.
    argnames : str or iterable of str, optional
        Keyword arguments to differentiate with respect to; the gradient is then a dict of them.

    Returns
    -------
    callable
        Takes the arguments of ``fun``, and gives the gradient or ``(gradient, auxiliary)``. A gradient has the
        structure, shapes and dtypes of its argument, and float64 for integers, which are taken as float64; with
        several ``argnums`` it is a tuple.

    Raises
    ------
    TraceError
        If ``fun`` does not give one real scalar, or an argument that is differentiated is a bool.
    TypeError
        If ``argnums`` or ``argnames`` name an argument that a call does not have.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.grad(lambda x: np.sum(np.sin(x)))(np.zeros(2))
    array([1., 1.])
    """
    both = value_and_grad(fun, argnums, has_aux, argnames=argnames)

    def transformed(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    again = functools.partial(grad, argnums=argnums, has_aux=has_aux, argnames=argnames)
    return Transformed(transformed, fun, again)


@for_users
def vjp(fun: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function, and the function that pulls cotangents back through it.

    Parameters
    ----------
    fun
        A function of arrays, numbers and pytrees of them.
    *primals
        The arguments at which it is differentiated. Integers are constants: their cotangents are zero.
    has_aux : bool, optional
        Whether ``fun`` returns ``(value, auxiliary)``.

    Returns
    -------
    tuple
        ``(value, pullback)`` or, with ``has_aux``, ``(value, pullback, auxiliary)``. ``pullback(cotangent)`` takes a
        tree like ``value`` and gives a tuple with one cotangent a primal.

    Raises
    ------
    TypeError
        From ``pullback``, if the cotangent does not have the structure of the value.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> value, pullback = numbagraph.vjp(np.sin, np.array([0.0, 1.0]))
    >>> pullback(np.array([1.0, 0.0]))
    (array([1., 0.]),)
    """
    inner = plain(fun)
    if current_trace() is None:
        return _vjp_of_arrays(inner, primals, has_aux)
    values, spec = values_of(primals)
    with at_points(values) as points:
        result = as_traced(inner)(*arguments_of(spec, points))
        value, auxiliary = result if has_aux else (result, None)
        outputs, output_spec = values_of(value)

    def pullback(cotangent: Any) -> Any:
        given = values_like(output_spec, cotangent, "the cotangent", "the function's value")
        given = [_like(each, output, "a cotangent", "result") for each, output in zip(given, outputs, strict=True)]
        with opaque(points):
            return tree_of(spec, cotangents_of(outputs, given, points))

    return (value, pullback, auxiliary) if has_aux else (value, pullback)


def _vjp_of_arrays(inner: Function, primals: tuple[Any, ...], has_aux: bool) -> Any:
    """Return `vjp` outside of a trace: the pullback is a compiled function of primals and cotangent."""
    result = GraphFunction(inner, mutates=())(*primals)

    @GraphFunction
    def pull(primals: Any, cotangent: Any) -> Any:
        return vjp(inner, *primals, has_aux=has_aux)[1](cotangent)

    pullback = functools.partial(pull, primals)
    return (result[0], pullback, result[1]) if has_aux else (result, pullback)


def _like(value: Value, other: Value, what: str, of: str) -> Value:
    """Convert a tangent or cotangent to the dtype and shape of its primal."""
    own, wanted_shape = shapes.shape_text(value.shape), shapes.shape_text(other.shape)
    subject = f"{what} of shape {own} must be {wanted_shape}, the shape of its {of}"
    if value.ndim != other.ndim:
        raise shapes.ShapeError(subject)
    for extent, wanted in zip(value.shape, other.shape, strict=True):
        shapes.require_same(extent, wanted, subject)
    return registry["cast"](value, other.dtype)


@for_users
def jvp(fun: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of a function and its derivative along ``tangents``.

    Parameters
    ----------
    fun
        A function of arrays, numbers and pytrees of them.
    primals : sequence
        The arguments at which it is differentiated; integers are taken as float64.
    tangents : sequence
        One for each of them, with its structure and shapes.
    has_aux : bool, optional
        Whether ``fun`` returns ``(value, auxiliary)``.

    Returns
    -------
    tuple
        ``(value, tangent)`` or, with ``has_aux``, ``(value, tangent, auxiliary)``. A tangent is like its value.

    Raises
    ------
    ShapeError
        If a tangent has another shape than its primal.
    TraceError
        If a primal is a bool.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.jvp(lambda x: x**2, (3.0,), (1.0,))
    (9.0, np.float64(6.0))
    """
    inner = plain(fun)

    def transformed(primals: Any, tangents: Any) -> Any:
        values, spec = values_of(tuple(primals))
        given = values_like(spec, tuple(tangents), "tangents", "primals")
        with at_points(differentiable(values, "jvp")) as points:
            given = [_like(each, point, "a tangent", "primal") for each, point in zip(given, points, strict=True)]
            result = as_traced(inner)(*arguments_of(spec, points))
            value, auxiliary = result if has_aux else (result, None)
            outputs, output_spec = values_of(value)
            tangent = tree_of(output_spec, tangents_of(outputs, points, given))
        return (value, tangent, auxiliary) if has_aux else (value, tangent)

    call = GraphFunction(transformed, mutates=()) if current_trace() is None else transformed
    return call(tuple(primals), tuple(tangents))


def stop_gradient(x: Any) -> Any:
    """``x``, which derivatives take for a constant.

    Parameters
    ----------
    x
        An array, a number, or a pytree of them.

    Returns
    -------
    same as ``x``
        The same values.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.grad(lambda x: x * numbagraph.stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    leaves, spec = flatten(x)
    if current_trace() is None:
        return x
    return optree.tree_unflatten(spec, [apply(registry["stop_gradient"], leaf) for leaf in leaves])


def cotangent_leaves(cotangent: Any, argument: optree.PyTreeSpec) -> list[Value | None]:
    """The leaves of one argument's cotangent; None stands for zero, for the whole argument or for a leaf."""
    if cotangent is None:
        return [None] * argument.num_leaves
    try:
        leaves = argument.flatten_up_to(cotangent)
    except (TypeError, ValueError) as error:
        raise TypeError(f"a cotangent must be like its argument, {structure_of(argument)}: {error}") from None
    return [None if leaf is None else as_value(to_value(leaf)) for leaf in leaves]


_closing: ContextVar[tuple[Any, ...]] = ContextVar("numbagraph.closing", default=())
"""The functions whose rules are being made regions."""


class custom_vjp(Public, Generic[P, R]):
    """A function whose reverse derivative is given rather than derived.

    Parameters
    ----------
    fun
        The function, as it is evaluated when nothing is differentiated.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.custom_vjp
    ... def clipped(x):
    ...     return np.clip(x, 0.0, 1.0)
    >>> def forward(x):
    ...     return clipped(x), None
    >>> def backward(residuals, cotangent):
    ...     return (cotangent,)
    >>> clipped.defvjp(forward, backward)
    >>> numbagraph.grad(lambda x: np.sum(clipped(x)))(np.array([-1.0, 0.5]))
    array([1., 1.])
    """

    def __init__(self, fun: Callable[P, R]) -> None:
        self.function = plain(fun)
        self.forward: Function | None = None
        self.backward: Function | None = None
        self._eager = GraphFunction(self, mutates=())
        functools.update_wrapper(self, fun, updated=())

    def defvjp(self, fwd: Function, bwd: Function) -> None:
        """Give the rule for the derivative.

        Parameters
        ----------
        fwd
            ``fwd(*args) -> (value, residuals)``: the function, and what its derivative needs, as any tree.
        bwd
            ``bwd(residuals, cotangent) -> cotangents``: a tuple with one an argument, None for zero.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> rounded = numbagraph.custom_vjp(np.round)
        >>> rounded.defvjp(lambda x: (rounded(x), None), lambda _, g: (g,))
        >>> numbagraph.grad(lambda x: np.sum(rounded(x)))(np.array([1.4, 1.6]))
        array([1., 1.])
        """
        self.forward, self.backward = plain(fwd), plain(bwd)

    def __reduce__(self) -> tuple[Any, ...]:
        pickled = Pickled(self.function, custom_vjp, self)
        rule = () if pickled.function is None else (self.forward, self.backward)
        return _rebuild, (pickled, *rule)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if current_trace() is None:
            return self._eager(*args, **kwargs)
        return self._traced(inspect.signature(self.function).bind(*args, **kwargs).args if kwargs else args)

    def _traced(self, args: tuple[Any, ...]) -> Any:
        given, spec = values_of(args)
        values = list(map(apart, given))
        with opaque(values):
            outputs, output_spec = values_of(as_traced(self.function)(*arguments_of(spec, values)))

        def backward(arguments: Sequence[Value], cotangents: Sequence[Value]) -> list[Value | None]:
            if self.forward is None or self.backward is None:
                raise TraceError(f"{self.function.__name__} has no rule: call its defvjp before differentiating it")
            with left_out():
                _, residuals = as_traced(self.forward)(*arguments_of(spec, arguments))
                found = as_traced(self.backward)(residuals, arguments_of(output_spec, cotangents))
            if len(found) != len(args):
                name = self.function.__name__
                raise TypeError(f"the backward rule of {name} gave {len(found)} cotangents for {len(args)} arguments")
            pairs = zip(found, spec.children(), strict=True)
            return [each for one, argument in pairs for each in cotangent_leaves(one, argument)]

        reads = self.backward is not None and any(map(holds_tracers, (self.forward, self.backward)))
        if not reads or self in _closing.get():
            return tree_of(output_spec, with_rule(outputs, values, backward))
        token = _closing.set((*_closing.get(), self))  # the forward rule calls the function itself
        try:
            closed, flags = closed_rule(backward, values, outputs)
        finally:
            _closing.reset(token)
        return tree_of(output_spec, with_closed_rule(outputs, values, closed, flags))


def closed_rule(
    backward: Callable[..., list[Value | None]], arguments: Sequence[Value], results: Sequence[Value]
) -> tuple[Closed, list[bool]]:
    """Return a backward rule as a region, and flags that say which arguments have cotangents."""
    flags: list[bool] = []

    def run(own: Sequence[Tracer], given: Sequence[Tracer]) -> list[Tracer]:
        found = backward([each.value for each in own], [each.value for each in given])
        flags[:] = [each is not None for each in found]
        return [Tracer(each) for each in found if each is not None]

    own = [Input(each.type, "argument") for each in arguments]
    given = [Input(ArrayType(each.dtype, each.shape), "cotangent") for each in results]
    body = trace_region(run, (own, given), "the rule of a custom_vjp")
    return close((*own, *given), body.outputs, name="rule", known=body.is_used, guards=body.guards), flags


def _rebuild(pickled: Pickled, *rule: Function | None) -> Any:
    found = pickled.decorated(custom_vjp)
    if rule:
        found.forward, found.backward = rule
    return found
