"""Runs a graph with the `jax.numpy` translation of each op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.dtypes import canonicalize_dtype

from numbagraph.blockwise import lowering
from numbagraph.forking import import_module
from numbagraph.ir.abi import PYTHON_SCALARS
from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.structs import cached_property
from numbagraph.ir.values import Node, Op, Value, toposort
from numbagraph.jax_bridge import rules
from numbagraph.loops.lengths import array_of_computed_length, refusal
from numbagraph.transforms.interpret import (
    Calls,
    Environment,
    apply_reference,
    bind,
    boxed,
    check_entry,
    effects,
    evaluate,
    interpret,
    leaf_data,
    length_of,
    located,
)


def to_jax(graph: Graph) -> Callable[..., tuple[Any, ...]]:
    """The graph as a function of JAX arrays, for use inside JAX code: it can be jitted, differentiated and mapped.

    Dtypes follow JAX's configuration: without x64, what is 64 bits wide in NumPy is 32 bits wide. An index out of
    bounds is not noticed, as is JAX's custom, nor that a check of elements fails.
    """

    def run(*arrays: Any) -> tuple[Any, ...]:
        return entered(graph, arrays)[0].results()

    return run


def compile_jax(graph: Graph) -> Callable[[Sequence[Any]], list[Any]]:
    """The graph compiled by JAX, with the dtypes and the errors of NumPy.

    The compiled function takes a sequence of arrays (and Python scalars where inputs are weak). Results are NumPy
    arrays, unless one of the arguments is an array of JAX. 64-bit types are enabled for these calls alone.
    """

    require_known_lengths(graph)

    def run(*arrays: Any) -> tuple[tuple[Any, ...], Any]:
        return results_and_failure(graph, arrays)

    compiled = jax.jit(run, static_argnums=length_arguments(graph))

    def call(arrays: Sequence[Any]) -> list[Any]:
        with x64():
            results, failed = compiled(*arrays)
            if failed is not None and failed:
                with effects.suppressed():
                    again = evaluate(graph, [np.asarray(array) if np.ndim(array) else array for array in arrays])
                if graph.guards:  # whether a condition holds may be a matter of rounding
                    return again
                raise RuntimeError(f"{graph.name}: JAX found an index out of bounds that NumPy does not")
        if any(isinstance(array, jax.Array) for array in arrays):
            return list(results)
        return [boxed(output, np.array(result)) for output, result in zip(graph.outputs, results, strict=True)]

    return call


def entered(graph: Graph, arrays: Sequence[Any]) -> tuple[Translation, list[Value]]:
    """Begin a run of a graph. Arguments must meet the conditions on lengths and numbers that are known; the other
    conditions are returned."""
    environment = bind(graph, arrays)
    traced = {value for value in graph.inputs if isinstance(environment[value], Tracer)}
    conditions = [guard.condition for guard in graph.guards]
    unknown = [each for each in conditions if each in graph.late or not traced.isdisjoint(toposort([each]))]
    check_entry(graph, environment, unknown)
    return Translation(graph, environment), unknown


def results_and_failure(graph: Graph, arrays: Sequence[Any]) -> tuple[Any, Any]:
    """The results of a graph, and whether an index or a condition has failed; None where nothing can."""
    translation, unknown = entered(graph, arrays)
    results = translation.results()
    translation.note_conditions(unknown)
    return results, translation.failed


def require_known_lengths(graph: Graph) -> None:
    """Refuse a graph with lengths that JAX cannot compile."""
    array = array_of_computed_length(graph)
    if array is not None:
        raise NotImplementedError(
            f"{refusal(array)}\nJAX's arrays have no lengths that depend on elements: reduce what a mask selects "
            "(x[mask].sum()), or keep all elements (np.where(mask, x, 0))"
        )


def is_number(value: Value) -> bool:
    """Whether a value may be a length or the start of a slice: an integer as Python has them."""
    return value.type.weak and value.dtype.kind in "iub"


def is_known_number(operand: Any) -> bool:
    return isinstance(operand, (*PYTHON_SCALARS, np.generic)) or (isinstance(operand, np.ndarray) and not operand.ndim)


def length_arguments(graph: Graph) -> tuple[int, ...]:
    """The arguments, by position, that lengths or the starts of slices follow from: to JAX these are static."""
    integers = [extent for value in graph.values for extent in value.shape if isinstance(extent, Value)]
    for node in graph.values:
        if isinstance(node, Node) and not node.type.weak and node.op.kind != "elementwise":
            checked = [number for number, _ in node.op.bounds(node)]
            integers += [each for number, each in enumerate(node.inputs) if is_number(each) and number not in checked]
    reached = set(toposort(integers))
    # a number of steps may follow from elements of arrays, by way of another loop: it is known only when that has run
    return tuple(number for number, value in enumerate(graph.inputs) if value in reached and not value.ndim)


class Translation:
    """One run of a graph on JAX arrays (or their tracers). Lengths are Python integers, computed by NumPy."""

    def __init__(self, graph: Graph, environment: Environment) -> None:
        self.graph = graph
        self.environment = environment
        self.lengths = dict(environment)
        self.calls = Calls(graph)
        self.failed: Any = None
        """Whether any index is out of bounds, or a condition does not hold; None where there is none to check."""

    @cached_property
    def behind_lengths(self) -> set[Value]:
        """The values that lengths follow from, floating-point numbers among them."""
        return set(toposort(each for value in self.graph.values for each in value.shape if isinstance(each, Value)))

    def results(self) -> tuple[Any, ...]:
        return tuple(interpret(self.graph.outputs, self.environment, self.leaf, self.apply))

    def leaf(self, value: Value) -> Any:
        return canonical(leaf_data(value, self.lengths))

    def note_conditions(self, conditions: Iterable[Value]) -> None:
        """Record the conditions that do not hold."""
        for each in self.run([*conditions], {}):
            self.note(jnp.logical_not(each))

    def apply(self, node: Node, operands: list[Any]) -> Any:
        if (node.type.weak or node in self.behind_lengths) and all(map(is_known_number, operands)):
            result = apply_reference(node, operands)
            return result if node.type.weak else canonical(node.dtype.type(result))
        self.check_bounds(node, operands)
        try:
            lower = node.op.lower
            if isinstance(lower, lowering.Together):
                result = self.calls.of_call(node, operands, partial(self.control, lower))
            elif node.op in self.OWN:
                result = self.OWN[node.op](node, operands, self.run)
            else:
                result = node.op.jnp(*operands, **{name: as_jax_has_it(item) for name, item in node.attrs.items()})
        except (TypeError, ValueError, NotImplementedError) as error:
            raise located(error, node, operands) from error
        return in_dtype(result, node.dtype)

    OWN: ClassVar[Mapping[Op, Callable[..., Any]]] = {
        registry["with_rule"]: rules.with_rule,
        registry["differentiated_as"]: lambda node, operands, run: rules.differentiated_as(*operands),
    }
    """The translations of ops that only change derivatives."""

    def run(self, values: Sequence[Value], known: dict[Value, Any]) -> list[Any]:
        """Compute the arrays of more values from known ones."""
        return interpret(values, {**self.lengths, **known}, self.leaf, self.apply)

    def control(self, lower: lowering.Together, *operands: Any, **attrs: Any) -> Sequence[Any]:
        """Results of a loop, a branch, or a call of Python."""
        results, failed = lower.translate(*operands, **{name: translated(item) for name, item in attrs.items()})
        self.note(failed)
        return results

    def check_bounds(self, node: Node, operands: Sequence[Any]) -> None:
        """Record an index that is out of bounds: JAX clamps it, or drops an update, without an error."""
        for number, extent in node.op.bounds(node):
            length, position = length_of(extent, self.lengths), operands[number]
            if isinstance(position, Tracer):
                position = position.astype(int)
                self.note(jnp.any((position < -length) | (position >= length)))
            elif not within(np.asarray(position), length):
                self.note(jnp.bool_(True))

    def note(self, failed: Any) -> None:
        self.failed = failed if self.failed is None else self.failed | failed


def within(position: np.ndarray, length: int) -> bool:
    """Whether positions that are known lie in an array of a length."""
    return not position.size or (-length <= position.min() and position.max() < length)


def translated(item: Any) -> Any:
    """Convert an attribute for a translation: a region becomes a function that returns its results, and whether an
    index was out of bounds or a guard did not hold."""
    if type(item) is tuple:
        return tuple(map(translated, item))
    if not isinstance(item, Graph):
        return item

    def run(*arrays: Any) -> tuple[tuple[Any, ...], Any]:
        translation = Translation(item, bind(item, arrays))
        results = translation.results()
        translation.note_conditions(guard.condition for guard in item.guards)
        return results, jnp.bool_(False if translation.failed is None else translation.failed)

    return run


def as_jax_has_it(item: Any) -> Any:
    """Convert an attribute: a dtype becomes the one that JAX's configuration has for it, without JAX's warning."""
    return np.dtype(canonicalize_dtype(item)) if isinstance(item, np.dtype) else item


def canonical(data: Any) -> Any:
    """Convert an array of NumPy to a dtype that JAX's configuration has. JAX may have traced its function of such an
    array in another dtype, without noticing the difference."""
    if not isinstance(data, (np.ndarray, np.generic)):
        return data
    dtype = canonicalize_dtype(data.dtype)
    return data if data.dtype == dtype else data.astype(dtype)


def in_dtype(result: Any, dtype: np.dtype) -> Any:
    """Convert a result to the dtype that NumPy gives, or to the one that JAX's configuration has for it."""
    result, dtype = jnp.asarray(result), canonicalize_dtype(dtype)
    return result if result.dtype == dtype else result.astype(dtype)


def x64() -> Any:
    """A context in which JAX has 64-bit types."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return import_module("jax.experimental").enable_x64(True)  # until JAX 0.8
