"""Calls of Python functions while a compiled function runs: `pure_callback`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

from numbagraph.api.differentiation import arguments_of, cotangent_leaves, tree_of
from numbagraph.api.vmap import pulled_back
from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.lengths import as_shape
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Value, at_source
from numbagraph.ops.callback import METHODS, Call, Callback, Kind, callback_of
from numbagraph.ops.control.operands import strong
from numbagraph.ops.rules.custom_rule import with_rule
from numbagraph.runtime.arguments import flatten, leaves_like
from numbagraph.runtime.structures import structure_of
from numbagraph.tracing.errors import TraceError, name_and_place
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class OnLeaves(Struct, eq=False):
    """A function of trees as a function of their leaves."""

    function: Callable[..., Any]
    arguments: optree.PyTreeSpec
    results: optree.PyTreeSpec
    described: str

    @cached_property
    def _is_flat(self) -> bool:
        """Whether each argument is a leaf."""
        return all(each.is_leaf() for each in self.arguments.children())

    @cached_property
    def _is_single(self) -> bool:
        return self.results.is_leaf()

    @cached_property
    def _count(self) -> int | None:
        """The number of results, if they are the elements of a tuple; else None."""
        is_row = self.results.type is tuple and all(each.is_leaf() for each in self.results.children())
        return self.results.num_leaves if is_row else None

    def __call__(self, *leaves: Any) -> Sequence[Any]:
        returned = self.function(*(leaves if self._is_flat else optree.tree_unflatten(self.arguments, leaves)))
        if self._is_single:
            return (returned,)
        if type(returned) is tuple and len(returned) == self._count and {*map(type, returned)} == {np.ndarray}:
            return returned
        return leaves_like(self.results, returned, self._mismatch)

    def _mismatch(self, found: optree.PyTreeSpec) -> TypeError:
        expected = structure_of(self.results)
        return TypeError(f"{self.described} must return what result_types says, {expected}, not {structure_of(found)}")

    @property
    def identity(self) -> Any:
        """A key for the function, by the parts of a method: a method is another object each time that it is looked
        up."""
        parts = [getattr(self.function, name, None) for name in ("__self__", "__func__")]
        numbers = tuple(map(id, parts if None not in parts else [self.function]))
        return (*numbers, self.arguments, self.results)


def pure_callback(
    callback: Callable[..., Any],
    result_types: Any,
    *args: Any,
    vjp: Callable[..., Any] | None = None,
    vmap_method: str = "sequential",
) -> Any:
    """Call a Python function, of which nothing is traced, each time that the compiled function runs.

    The function must be pure, as it may be called more or less often than it is written: not at all if nobody uses what
    it returns, once for several equal calls in one line, once more to find where another operation failed. In a branch
    or a loop it is called in those steps alone that are run. An exception that it raises reaches the caller.

    Parameters
    ----------
    callback : callable
        Takes NumPy arrays and scalars, copies that it may keep and change, in trees like ``args``.
    result_types
        A tree like that which ``callback`` returns, of things with a ``shape`` and a ``dtype``: `numbagraph.Abstract`,
        arrays of NumPy, or arrays of the traced function. Lengths may be traced numbers, such as ``x.shape[0]``.
    *args
        What ``callback`` is called with: arrays, numbers and trees of them.
    vjp : callable, optional
        The derivative, ``vjp(cotangent, result, *args)``: the cotangent of each argument (None if it is zero), which
        of complex numbers is multiplied by the derivative, not by its conjugate. It is traced: where it cannot be
        written in NumPy, it is a `pure_callback` itself. Forward mode (`jvp`, `hessian`)
        needs the cotangent outside of that: callbacks of ``result`` and ``args``, times ``cotangent``.
    vmap_method : {"sequential", "expand_dims", "broadcast_all"}, optional
        How batches are computed: by a call for each element; or by one call with arrays that have one more dimension
        on the left, which has length 1 (or, with "broadcast_all", the length of the batch) where an argument is the
        same for all elements.

    Returns
    -------
    tree
        What ``callback`` returns, in arrays of the traced function.

    Raises
    ------
    TypeError, ValueError
        When it returns other dtypes or shapes than it was said to, or ``vmap_method`` is none of these.
    TraceError
        If what is given is no function.

    Notes
    -----
    A call takes two to three microseconds, and the GIL. ``callback`` sees the world as it is when it is called, and may
    change it: a list of what it was given, a cache. A function that is traced as well is no such callback: what it
    reads is part of the compiled function, which is compiled anew when that changes. With ``backend="jax"`` an
    exception is JAX's own, whose message has the traceback.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> def solve(y0, rate):  # anything: an ODE solver, a database, C++
    ...     return y0 * np.exp(-rate * np.arange(3))
    >>> @numbagraph.graph_jit
    ... def loss(y0, rate):
    ...     y = numbagraph.pure_callback(solve, numbagraph.Abstract((3,)), y0, rate)
    ...     return np.sum(y**2)
    >>> loss(1.0, 0.0)
    np.float64(3.0)

    A derivative that is Python, too:

    >>> import math
    >>> def erf(x):
    ...     slope = lambda x: np.float64(2 / math.sqrt(math.pi) * math.exp(-x * x))
    ...     rule = lambda g, y, x: (g * numbagraph.pure_callback(slope, y, x),)
    ...     return numbagraph.pure_callback(lambda x: np.float64(math.erf(x)), x, x, vjp=rule)
    >>> numbagraph.grad(erf)(0.0)
    np.float64(1.1283791670955126)
    """
    source = user_source()
    if not callable(callback):
        raise TraceError(f"pure_callback calls functions, not {type(callback).__name__}\n  at {source}")
    if vmap_method not in METHODS:
        raise ValueError(f"vmap_method is one of {', '.join(METHODS)}, not {vmap_method!r}\n  at {source}")
    leaves, arguments = flatten(args)
    templates, results = flatten(result_types)
    name = name_and_place(callback)
    function = OnLeaves(callback, arguments, results, name)
    eager = current_trace() is None and not any(isinstance(each, Tracer) for each in (*leaves, *templates))
    with at_source(source):
        values: list[Any] = [np.array(each)[()] if eager else strong(operand(each, source)) for each in leaves]
        kinds = tuple(Kind(each.dtype, (None,) * each.ndim) for each in values)
        known, sizes = kinds_of(templates, source)
        made = callback_of(Call(function, function.identity, name, source, kinds, known, vmap_method))
        if eager:
            found = made.evaluate(*values, results=range(len(known)))
            return optree.tree_unflatten(results, found)
        outputs = made.applied(values, sizes)
        if vjp is not None:
            outputs = with_rule(outputs, values, Rule(vjp, function, made, sizes).cotangents)
        return tree_of(results, [scalar_result(each) for each in outputs])


class Rule(Struct, eq=False):
    """A user's derivative of a callback."""

    vjp: Callable[..., Any]
    function: OnLeaves
    callback: Callback
    sizes: Sequence[Value]

    def cotangents(self, values: Sequence[Value], given: Sequence[Value]) -> list[Value | None]:
        function = self.function
        results = [scalar_result(each) for each in self.callback.applied(values, self.sizes)]
        trees = arguments_of(function.results, given), arguments_of(function.results, results)
        operands = arguments_of(function.arguments, values)
        found = pulled_back(self.vjp, function.described, *trees, operands)
        pairs = zip(found, function.arguments.children(), strict=True)
        return [leaf for each, argument in pairs for leaf in cotangent_leaves(each, argument)]


def operand(leaf: Any, source: Any) -> Value:
    try:
        return as_value(to_value(leaf))
    except TraceError:
        raise
    except TypeError as error:
        raise TraceError(f"pure_callback is given arrays and numbers: {error}\n  at {source}") from error


def kinds_of(templates: Sequence[Any], source: Any) -> tuple[tuple[Kind, ...], list[Value]]:
    """The types of results, and the lengths in them that are values."""
    kinds, sizes = [], []
    for each in templates:
        if not hasattr(each, "shape") or not hasattr(each, "dtype"):
            raise TraceError(
                f"result_types has {type(each).__name__}, which has no shape and dtype: write "
                f"numbagraph.Abstract(shape, dtype)\n  at {source}"
            )
        known, passed = shapes.split_extents(as_shape(to_value(tuple(each.shape))))
        kinds.append(Kind(canonical_dtype(each.dtype), known))
        sizes += passed
    return tuple(kinds), sizes
