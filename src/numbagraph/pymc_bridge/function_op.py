"""`to_pytensor`: NumPy functions that `graph_jit` compiles, as ops of PyTensor with derivatives."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree
import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor.shape import Shape_i

from numbagraph.api.differentiation import vjp
from numbagraph.capture.syntax.generator_functions import Lazy
from numbagraph.ir import shapes
from numbagraph.ir.abi import ArrayLeaf
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Extent, Value
from numbagraph.jit.conversion import converter
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.jit.version import Traced, trace
from numbagraph.pymc_bridge.compatibility import as_in_pytensor_3
from numbagraph.pymc_bridge.importer import Importer, describe, imports, static_shape
from numbagraph.runtime.arguments import NAMESPACE, flatten
from numbagraph.runtime.embedding import FAILURES
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.static_lengths import with_lengths
from numbagraph.tracing.trace import tracing
from numbagraph.tracing.tracer import Tracer


class NativeCall(Struct):
    """A compiled function with the tree of its arguments: a function of those leaves that are arrays."""

    function: GraphFunction
    spec: optree.PyTreeSpec
    places: tuple[int, ...]
    """The numbers of the leaves that are arrays."""
    others: tuple[Any, ...]
    """The other leaves, with their types: 1 and 1.0 are equal, but not the same to a function."""

    def __call__(self, *arrays: Any) -> Any:
        given = dict(zip(self.places, arrays, strict=True))
        rest = (value for _, value in self.others)
        leaves = [given[place] if place in given else next(rest) for place in range(self.spec.num_leaves)]
        args, kwargs = optree.tree_unflatten(self.spec, leaves)
        return self.function(*args, **kwargs)

    @property
    def options(self) -> dict[str, Any]:
        return {name: getattr(self.function.definition, name) for name in ("backend", "cache", "parallel", "stabilise")}

    def __str__(self) -> str:
        return self.function.__name__


class Pullback(Struct):
    """The function that computes the cotangents of some of the arrays, from the arrays and the cotangents of some
    results."""

    function: NativeCall | Pullback
    points: tuple[int, ...]
    results: tuple[int, ...]

    def __call__(self, *arrays: Any) -> Any:
        count = len(arrays) - len(self.results)
        inputs, cotangents = list(arrays[:count]), list(arrays[count:])

        def chosen(*points: Any) -> list[Any]:
            replaced = dict(zip(self.points, points, strict=True))
            leaves = leaves_of(self.function(*[replaced.get(k, each) for k, each in enumerate(inputs)]))
            return [leaves[each] for each in self.results]

        return vjp(chosen, *[inputs[each] for each in self.points])[1](cotangents)

    @property
    def options(self) -> dict[str, Any]:
        return self.function.options

    def __str__(self) -> str:
        return f"pullback of {self.function}"


def known_tree(tree: Any) -> Any:
    """Return a tree of results if it holds no list of a traced length, which no list of variables can be."""
    leaves = optree.tree_leaves(tree, is_leaf=lambda each: isinstance(each, Lazy), namespace=NAMESPACE)
    if any(isinstance(each, Lazy) for each in leaves):
        raise LengthsNeeded(
            "an op of PyTensor cannot return a list whose length PyTensor does not know: return an array, "
            "np.array(...), or give the argument a shape, such as pt.specify_shape(x, (3,))"
        )
    return tree


def leaves_of(tree: Any) -> tuple[Tracer, ...]:
    """The arrays among the leaves of a traced function's results."""
    return tuple(each for each in flatten(known_tree(tree))[0] if isinstance(each, Tracer))


class Capture(Struct):
    """How a function is traced."""

    is_one: bool | None
    """Whether lengths that PyTensor does not know are 1; None where they may be."""
    converts: bool
    """Whether loops and branches are captured."""
    has_lengths: bool
    """Whether the graph is one for the lengths that PyTensor knows alone."""

    def require_lengths(self, tracers: Sequence[Tracer], variables: Sequence[Variable]) -> None:
        if self.has_lengths:
            with_lengths(tracers, [static_shape(each) for each in variables])


def captures(variables: Sequence[Variable]) -> list[Capture]:
    """How a function may be traced, the most general first."""
    known = any(length is not None for each in variables for length in static_shape(each))
    options = itertools.product((False, True) if known else (False,), (False, True), (None, False))
    return [Capture(is_one, converts, has_lengths) for has_lengths, converts, is_one in options]


@as_in_pytensor_3
class FunctionOp(Op):
    """A function of arrays as an op of PyTensor. Where its graph is imported, it is the function's own graph."""

    __props__ = ("function",)

    def __init__(self, function: NativeCall | Pullback) -> None:
        self.function = function
        self._traced: dict[Any, tuple[Traced, Capture]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return FunctionOp, (self.function,)

    def __str__(self) -> str:
        return f"FunctionOp({self.function})"

    def make_node(self, *inputs: Any) -> Apply:
        variables = [pt.as_tensor_variable(each) for each in inputs]
        graph, lengths = self.traced(variables).graph, known_lengths(self.traced(variables), variables)
        outputs = [
            pt.tensor(dtype=each.dtype.name, shape=[known_length(extent, lengths) for extent in each.shape])
            for each in self.values(variables)
        ]
        if not outputs:
            raise TypeError(f"{graph.name} gives no arrays, so that it cannot be an op of PyTensor")
        return Apply(self, variables, outputs)

    def tree(self, *inputs: Any) -> Any:
        """The tree of results that the function returns, with variables for arrays."""
        node = self.make_node(*inputs)
        returned, results = self.traced(node.inputs).outputs, iter(node.outputs)
        static = zip(returned.slots, returned.static, strict=True)
        return optree.tree_unflatten(returned.spec, [each if slot is None else next(results) for slot, each in static])

    def values(self, variables: Sequence[Variable]) -> list[Value]:
        """The results in the function's graph."""
        traced = self.traced(variables)
        return [traced.graph.outputs[slot] for slot in traced.outputs.slots if slot is not None]

    def traced(self, variables: Sequence[Variable]) -> Traced:
        """The function's graph for variables of some types, any length of which may be 1 unless PyTensor knows it."""
        return self._captured(variables)[0]

    def capture(self, variables: Sequence[Variable]) -> Capture:
        """How the function is traced for variables of some types."""
        return self._captured(variables)[1]

    def _captured(self, variables: Sequence[Variable]) -> tuple[Traced, Capture]:
        key = tuple(each.type for each in variables)
        if key not in self._traced:
            with collector_at_rest:
                self._traced[key] = self._attempt(variables)
        return self._traced[key]

    def _attempt(self, variables: Sequence[Variable]) -> tuple[Traced, Capture]:
        *attempts, last = captures(variables)
        for each in attempts:
            try:
                return self._trace(variables, each), each
            except FAILURES:  # it may be for lengths that do not broadcast, or have loops and branches on elements
                continue
        return self._trace(variables, last), last

    def _trace(self, variables: Sequence[Variable], capture: Capture) -> Traced:
        layouts = [
            ArrayLeaf(
                dtype_of(each),
                tuple(capture.is_one if length is None else length == 1 for length in static_shape(each)),
            )
            for each in variables
        ]
        names = [each.name or f"argument {number}" for number, each in enumerate(variables)]
        described = str(self.function)

        def call(tracers: Sequence[Tracer]) -> Any:
            capture.require_lengths(tracers, variables)
            return known_tree(self.function(*tracers))

        return trace(call, layouts, names, described, described, converts=capture.converts)

    @cached_property
    def compiled(self) -> Callable[..., GraphFunction]:
        """The compiled function from arrays to a tuple of arrays, by the number of its arguments."""

        @functools.cache
        def compiled(count: int) -> GraphFunction:
            def flat(*arrays: Any) -> tuple[Tracer, ...]:
                return leaves_of(self.function(*arrays))

            kind = inspect.Parameter.POSITIONAL_ONLY
            names = [inspect.Parameter(f"x{number}", kind) for number in range(count)]
            flat.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
            flat.__name__ = str(self.function)
            return GraphFunction(flat, **self.function.options)

        return compiled

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        taken: set[int] = set()
        results = self.compiled(len(inputs))(*inputs)
        for cell, variable, result in zip(output_storage, node.outputs, results, strict=True):
            array = np.asarray(result, dtype=variable.type.dtype)
            cell[0] = array.copy() if id(result) in taken else array
            taken.add(id(result))

    def infer_shape(self, node: Apply, input_shapes: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """Lengths of the inputs where the results have them, and otherwise lengths of the results."""
        lengths: dict[Extent, Any] = {}
        for value, shape in zip(self.traced(node.inputs).graph.inputs, input_shapes, strict=False):
            lengths.update(zip(map(shapes.resolve, value.shape), shape, strict=True))

        def length(output: Variable, axis: int, extent: Extent) -> Any:
            extent = shapes.resolve(extent)
            return lengths[extent] if extent in lengths else Shape_i(axis)(output)

        return [
            tuple(length(output, axis, extent) for axis, extent in enumerate(value.shape))
            for output, value in zip(node.outputs, self.values(node.inputs), strict=True)
        ]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs; zeros for those that are no floats."""
        points = tuple(k for k, each in enumerate(inputs) if dtype_of(each).kind in "fc")
        results = tuple(
            k
            for k, (output, each) in enumerate(zip(outputs, cotangents, strict=True))
            if dtype_of(output).kind in "fc" and not isinstance(each.type, DisconnectedType)
        )
        gradients: list[Any] = [pt.zeros_like(each, dtype=config.floatX) for each in inputs]
        if points and results:
            op = FunctionOp(Pullback(self.function, points, results))
            for place, each in zip(points, op.tree(*inputs, *[cotangents[k] for k in results]), strict=True):
                gradients[place] = each
        return gradients


def dtype_of(variable: Any) -> np.dtype:
    try:
        return canonical_dtype(variable.type.dtype)
    except TypeError as error:
        raise TypeError(f"{describe(variable)}: {error}") from None


def known_lengths(traced: Traced, variables: Sequence[Variable]) -> dict[Extent, int]:
    """The lengths of a function's arguments that PyTensor knows."""
    found: dict[Extent, int] = {}
    for value, variable in zip(traced.graph.inputs, variables, strict=False):
        for extent, length in zip(value.shape, static_shape(variable), strict=True):
            if length is not None:
                found[shapes.resolve(extent)] = length
    return found


def known_length(extent: Extent, known: dict[Extent, int]) -> int | None:
    extent = shapes.resolve(extent)
    return extent if isinstance(extent, int) else known.get(extent)


@imports(FunctionOp)
def function_of_arrays(importer: Importer, node: Apply, *inputs: Value) -> list[Value]:
    """The graph of the function, applied to the translations of the inputs."""
    capture = node.op.capture(node.inputs)
    with tracing(str(node.op.function), converter() if capture.converts else None) as current:
        tracers = [Tracer(each, argument=True) for each in inputs]
        capture.require_lengths(tracers, node.inputs)
        current.captured.have_known_lengths = True  # they are constants of the model
        leaves = leaves_of(node.op.function(*tracers))
    shapes.require_all(current.guards)
    importer.arrays.update(current.captured.snapshots)
    return [each.value for each in leaves]


def to_pytensor(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function as a function of PyTensor's variables, for models.

    Parameters
    ----------
    function : GraphFunction or callable
        What `graph_jit` returns, or a function that it compiles.

    Returns
    -------
    callable
        It is called as ``function`` is, with variables of PyTensor for arrays, and gives variables (a tree of them, if
        the function returns one). Python numbers stay what they are for the function; so do static arguments. Behind it
        is one op, which has derivatives of any order with respect to all arguments of a float dtype. `compile_model`,
        `compile_logp` and PyTensor's mode ``NUMBAGRAPH`` compile the function together with what stands around it.

    Raises
    ------
    TypeError
        When it is called with variables of dtypes that are not supported, or the function returns no arrays.

    Examples
    --------
    >>> import numpy as np, pymc as pm
    >>> @to_pytensor
    ... def penalty(x, scale):
    ...     return -np.sum((x / scale) ** 2)
    >>> with pm.Model() as model:
    ...     x = pm.Flat("x", shape=2)
    ...     p = pm.Potential("p", penalty(x, 2.0))
    >>> model.compile_dlogp(mode="NUMBAGRAPH")({"x": np.array([1.0, 2.0])})
    array([-0.5, -1. ])
    """
    compiled = function if isinstance(function, GraphFunction) else GraphFunction(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = flatten((args, kwargs))
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, (Variable, np.ndarray, np.generic))]
        others = tuple((type(leaf), leaf) for place, leaf in enumerate(leaves) if place not in places)
        return FunctionOp(NativeCall(compiled, spec, tuple(places), others)).tree(*[leaves[place] for place in places])

    return call
