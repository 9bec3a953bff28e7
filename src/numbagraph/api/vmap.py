"""Functions of single elements, as functions of whole batches: `vmap` and `vectorize`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import numpy as np
import optree

from numbagraph.api.requirements import Requirements
from numbagraph.api.transformed import Function, Transformed, plain
from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.promotion import as_value
from numbagraph.blockwise.signature import Binding, CoreShape, Signature, parse
from numbagraph.capture.values.strings import ChosenText
from numbagraph.ir import shapes
from numbagraph.ir.later import Later
from numbagraph.ir.op import registry
from numbagraph.ir.values import BatchElement, Extent, Value, at_source
from numbagraph.jit.shared_variables import unassigned
from numbagraph.ops.control.operands import strong
from numbagraph.rewrite.joined_arrays import parts_alone
from numbagraph.rewrite.masks import under_masks
from numbagraph.runtime.arguments import NAMESPACE, flatten
from numbagraph.tracing.effect_tokens import left_out
from numbagraph.tracing.trace import as_traced
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import Tracer, to_value, user_source
from numbagraph.transforms.batching import spread

if TYPE_CHECKING:
    from numbagraph.loops import versions
else:
    versions = Later("numbagraph.loops.versions")

Axis = int | None
P = ParamSpec("P")
R = TypeVar("R")


class Unmapped:
    """The axis of an argument that is the same for all elements; None would be no leaf of a pytree."""


UNMAPPED = Unmapped()


def axes_of(axes: Any, tree: Any, what: str) -> list[int | Unmapped]:
    """The axis of each leaf of a tree: ``axes`` is one for all of them, or a tree with the structure of its top."""
    prefix = optree.tree_map(lambda axis: UNMAPPED if axis is None else axis, axes, none_is_leaf=True)
    try:
        whole = optree.tree_broadcast_prefix(prefix, tree, namespace=NAMESPACE)
        found: list[Any] = flatten(tree)[1].flatten_up_to(whole)
    except ValueError as error:
        raise ValueError(
            f"vmap: {what} must be an integer, None, or a tree of them like what it belongs to, not {axes!r}: "
            f"{str(error).partition('; tuple: (')[0]}"
        ) from None
    for axis in found:
        if axis is not UNMAPPED and (isinstance(axis, bool) or not isinstance(axis, (int, np.integer))):
            raise TypeError(f"vmap: {what} must hold integers and None, not {axis!r}")
    return found


def value_of(leaf: Any, name: str) -> Value:
    if not isinstance(leaf, (Tracer, np.ndarray, np.generic, bool, int, float, complex)):
        raise TypeError(f"vmap: {name} is of type {type(leaf).__name__}, which has no axis: let its in_axes be None")
    return as_value(to_value(leaf))


def moved_first(value: Value, axis: int, name: str) -> Value:
    if not -value.ndim <= axis < value.ndim:
        raise ValueError(f"vmap: {name}, of shape {shapes.shape_text(value.shape)}, has no axis {axis}")
    return registry["moveaxis"](value, axis, 0)


class Batch:
    """The arguments of a mapped function: stand-ins for one element, and the arrays that these stand for."""

    def __init__(self, axis_size: int | None) -> None:
        self.size: Extent | None = axis_size
        self.origin = "axis_size"
        self.arrays: dict[Value, Value] = {}

    def element(self, leaf: Any, axis: int | Unmapped, name: str) -> Any:
        """One element of an argument."""
        if isinstance(axis, Unmapped):
            return leaf
        value = moved_first(value_of(leaf, name), axis, name)
        self.require_size(value.shape[0], f"axis {axis} of {name}")
        single = BatchElement(value.type.with_shape(value.shape[1:]), f"element of {name}")
        self.arrays[single] = value
        return Tracer(single, argument=True)

    def require_size(self, extent: Extent, origin: str) -> None:
        if self.size is None:
            self.size, self.origin = extent, origin
        text = f"vmap: {origin} has length {shapes.resolve(extent)}, but {self.origin} is {shapes.resolve(self.size)}"
        self.size = shapes.require_same(self.size, extent, text)

    @property
    def known_size(self) -> Extent:
        if self.size is None:
            raise ValueError("vmap: nothing is mapped: give an axis other than None, or axis_size")
        return self.size

    def results(self, values: Sequence[Value], axes: Sequence[int | Unmapped], required: Requirements) -> list[Value]:
        """The results for all elements, each with its batch along an axis."""
        found = required.along(under_masks(parts_alone(values)), self.arrays, self.known_size)
        return [self.placed(*each, axis) for each, axis in zip(found, axes, strict=True)]

    def placed(self, value: Value, batched: bool, axis: int | Unmapped) -> Value:
        assert self.size is not None
        if isinstance(axis, Unmapped):
            if batched:
                raise ValueError("vmap: out_axes is None for a result that is not the same for all elements")
            return value
        whole = spread((value, batched), self.size)
        if not -whole.ndim <= axis < whole.ndim:
            raise ValueError(f"vmap: a result of shape {shapes.shape_text(whole.shape)} has no axis {axis} (out_axes)")
        return registry["moveaxis"](whole, 0, axis)


@overload
def vmap(fun: np.ufunc, in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None) -> Transformed[..., Any]: ...
@overload
def vmap(
    fun: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None
) -> Transformed[P, R]: ...
@for_users
def vmap(fun: Function, in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None) -> Transformed[..., Any]:
    """A function of batches that does for each element what ``fun`` does for one.

    There is no loop in Python: every operation of ``fun`` becomes one with a dimension more.

    Parameters
    ----------
    fun
        A function of arrays, and of pytrees of them.
    in_axes : int, None, or a tree of them
        The axis of each positional argument along which the elements stand; None for what is the same for all. Keyword
        arguments are mapped along their first axis.
    out_axes : int, None, or a tree of them
        Where the elements stand in each result. None asks for a result that is the same for all elements.
    axis_size : int, optional
        How many elements there are: needed if no argument is mapped.

    Returns
    -------
    callable
        Takes arrays with an axis more, and gives such.

    Raises
    ------
    ValueError
        If the lengths of the mapped axes differ, or ``in_axes`` or ``out_axes`` do not fit what they belong to.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> distance = numbagraph.vmap(lambda x, y: np.sqrt(np.sum((x - y) ** 2)), in_axes=(0, None))
    >>> distance(np.array([[3.0, 4.0], [6.0, 8.0]]), np.zeros(2))
    array([ 5., 10.])
    """
    inner = plain(fun)
    in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes

    def transformed(*args: Any, **kwargs: Any) -> Any:
        with at_source(user_source()):
            return of_batch(*args, **kwargs)

    def of_batch(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = flatten((args, kwargs))
        axes = [*axes_of(in_axes, args, "in_axes"), *[0] * len(flatten(kwargs)[0])]
        elements = Batch(axis_size)
        names = [f"argument {'.'.join(map(str, path[1:]))}" for path in spec.paths()]
        singles = [elements.element(*each) for each in zip(leaves, axes, names, strict=True)]
        own_args, own_kwargs = optree.tree_unflatten(spec, singles)
        required = Requirements()
        with unassigned("vmap"):
            result = as_traced(inner)(*own_args, **own_kwargs)
        outputs, output_spec = flatten(result)
        axes = axes_of(out_axes, result, "out_axes")
        pairs = [pair for pair in zip(outputs, axes, strict=True) if not isinstance(pair[0], str)]
        values = [as_value(to_value(index_of(each))) for each, _ in pairs]
        required.take()
        mapped = iter(elements.results(values, [axis for _, axis in pairs], required))
        required.give()
        leaves = [each if isinstance(each, str) else whole_of(each, Tracer(next(mapped))) for each in outputs]
        return optree.tree_unflatten(output_spec, leaves)

    again = functools.partial(vmap, in_axes=in_axes, out_axes=out_axes, axis_size=axis_size)
    return Transformed(transformed, fun, again)


def index_of(result: Any) -> Any:
    """Return what is mapped of a result: of one of several texts its number."""
    return result.index if isinstance(result, ChosenText) else result


def whole_of(result: Any, mapped: Tracer) -> Any:
    return ChosenText(result.options, mapped) if isinstance(result, ChosenText) else mapped


def over_batches(
    function: Callable[[list[Value]], Sequence[Value]], operands: Sequence[Value], ranks: Sequence[int], name: str
) -> list[Value]:
    """Apply ``function`` to the last dimensions of operands, as many of each as ``ranks`` says; all other dimensions
    are those of a batch, and broadcast."""
    leading = [operand.shape[: operand.ndim - rank] for operand, rank in zip(operands, ranks, strict=True)]
    loops = shapes.broadcast_shapes(leading, name)
    chains = [Chain(operand, rank, loops) for operand, rank in zip(operands, ranks, strict=True)]
    required = Requirements()
    outputs = under_masks(parts_alone(function([chain.stages[0] for chain in chains])))
    required.take()
    for axis, size in zip(range(-1, -len(loops) - 1, -1), reversed(loops), strict=True):
        if shapes.resolve(size) == 1:
            outputs = [registry["expand_dims"](each, 0) for each in outputs]
            continue
        steps = dict(filter(None, (chain.step(axis) for chain in chains)))
        outputs = [spread(each, size) for each in required.along(outputs, steps, size)]
    required.give()
    return outputs


class Chain:
    """An operand at each stage from its core to its whole: stand-ins with one dimension of the batch more each."""

    def __init__(self, operand: Value, rank: int, loops: Sequence[Extent]) -> None:
        own = operand.shape[: operand.ndim - rank]
        common = tuple(loops[len(loops) - len(own) :])
        self.axes = [axis for axis in range(-1, -len(own) - 1, -1) if shapes.resolve(own[axis]) != 1]
        if any(not shapes.same(own[axis], common[axis]) for axis in self.axes):
            operand = registry["broadcast_to"](operand, (*common, *operand.shape[len(own) :]))
            self.axes = [axis for axis in range(-1, -len(own) - 1, -1) if shapes.resolve(common[axis]) != 1]
        ones = tuple(axis - rank for axis in range(-len(own), 0) if axis not in self.axes)
        operand = registry["squeeze"](operand, axis=ones) if ones else operand
        depths = range(len(self.axes), 0, -1)
        self.stages: list[Value] = [
            BatchElement(operand.type.with_shape(operand.shape[depth:]), "core") for depth in depths
        ]
        self.stages.append(operand)

    def step(self, axis: int) -> tuple[Value, Value] | None:
        """Return, for one dimension of the batch, the stand-in and the value that replaces it; None if the operand
        lacks it."""
        if axis not in self.axes:
            return None
        stage = self.axes.index(axis)
        return self.stages[stage], self.stages[stage + 1]


class Mapped:
    """A function of cores, given by a signature, that maps over all other dimensions of its operands."""

    def __init__(self, function: Function, signature: Signature, name: str) -> None:
        self.function = function
        self.signature = signature
        self.name = name

    def __call__(self, operands: Sequence[Value]) -> list[Value]:
        """Return the results; each has the dimensions of the batch, and then its core."""
        cores = self.signature.inputs
        if len(operands) != len(cores):
            raise TypeError(f"{self.name}: {self.signature} has {len(cores)} operands, and {len(operands)} are given")
        given = [length_of(each) if core.parameter else each.shape for core, each in zip(cores, operands, strict=True)]
        binding = self.signature.bind(self.name, given)
        if not self.signature.open:
            self.signature.output_shapes(self.name, binding)
        arrays = [
            completed(each, core, binding) for core, each in zip(cores, operands, strict=True) if not core.parameter
        ]
        ranks = [len(core) for core in cores if not core.parameter]
        results = over_batches(lambda each: self.of_cores(each, operands, binding), arrays, ranks, self.name)
        return [
            without_missing(each, core, binding) for core, each in zip(self.signature.outputs, results, strict=True)
        ]

    def of_cores(self, arrays: Sequence[Value], operands: Sequence[Value], binding: Binding) -> list[Value]:
        """Return the results for one element."""
        rest = iter(arrays)
        arguments = [
            length_argument(operand) if core.parameter else Tracer(next(rest), argument=True)
            for core, operand in zip(self.signature.inputs, operands, strict=True)
        ]
        with unassigned(self.name):
            returned = as_traced(self.function)(*arguments)
        results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        cores = self.signature.outputs
        if len(results) != len(cores):
            raise TypeError(f"{self.name} returned {len(results)} results, and {self.signature} has {len(cores)}")
        values = [as_value(to_value(each)) for each in results]
        for number, (value, core) in enumerate(zip(values, cores, strict=True)):
            self.require_core(number, value, core, binding)
        return values

    def require_core(self, number: int, value: Value, core: CoreShape, binding: Binding) -> None:
        """Require that a result has the shape in the signature. Names that no operand has take their lengths from the
        result."""
        text = f"{self.name}: result {number} has shape {shapes.shape_text(value.shape)}, and should have {core} in "
        text += f"{self.signature}, with {', '.join(f'{k} = {shapes.resolve(v)}' for k, v in binding.lengths.items())}"
        if value.ndim != len(core):
            raise shapes.ShapeError(text)
        for extent, dimension in zip(value.shape, core, strict=True):
            name = dimension.length.name
            if name is not None and name not in binding.lengths:
                binding.lengths[name] = extent
            shapes.require_same(extent, dimension.length.value(binding.lengths), text)


def length_of(value: Value) -> Extent:
    if value.ndim or value.dtype.kind not in "iu":
        raise TypeError(f"a length must be an integer, not {value.type}")
    return shapes.resolve(value)


def length_argument(value: Value) -> Any:
    """Return a length as the function takes it: a Python integer, if it is known."""
    extent = shapes.resolve(value)
    return extent if isinstance(extent, int) else Tracer(extent)


def completed(value: Value, core: CoreShape, binding: Binding) -> Value:
    """Return an operand with all of its core's dimensions: missing ones get length 1, others are repeated."""
    absent = tuple(axis for axis, each in enumerate(core, start=-len(core)) if each.label in binding.missing)
    if absent:
        value = registry["expand_dims"](value, absent)
    batch_shape = value.shape[: value.ndim - len(core)]
    whole = [
        binding.lengths[each.label] if each.stretches else extent
        for each, extent in zip(core, value.shape[len(batch_shape) :], strict=True)
    ]
    return registry["broadcast_to"](value, (*batch_shape, *whole)) if any(each.stretches for each in core) else value


def pulled_back(vjp: Callable[..., Any], name: str, g: Any, y: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Return the cotangent of each operand, by a user's rule for the function of this name."""
    with left_out():
        found = vjp(g, y, *operands)
    found = found if isinstance(found, (tuple, list)) else (found,)
    if len(found) != len(operands):
        raise TypeError(f"the vjp of {name} gave {len(found)} cotangents for {len(operands)} operands")
    return found


def without_missing(value: Value, core: CoreShape, binding: Binding) -> Value:
    absent = tuple(axis for axis, each in enumerate(core, start=-len(core)) if each.label in binding.missing)
    return registry["squeeze"](value, axis=absent) if absent else value


@overload
def vectorize(
    pyfunc: Function, *, excluded: Iterable[int | str] = (), signature: str | None = None
) -> Transformed[..., Any]: ...
@overload
def vectorize(
    pyfunc: None = None, *, excluded: Iterable[int | str] = (), signature: str | None = None
) -> Callable[[Function], Transformed[..., Any]]: ...
def vectorize(
    pyfunc: Function | None = None, *, excluded: Iterable[int | str] = (), signature: str | None = None
) -> Any:
    """A function of arrays that does for each element what ``pyfunc`` does for one, with NumPy's broadcasting.

    Parameters
    ----------
    pyfunc
        A function of scalars, or of what ``signature`` says.
    excluded : iterable of int and str
        Positions and names of arguments (arrays, numbers and pytrees of them) that are passed on as they are.
    signature : str, optional
        The core dimensions of each operand and result, such as ``"(m,n),(n)->(m)"``; see `numbagraph.gufunc`.

    Returns
    -------
    callable
        With arguments of any number of further dimensions on the left.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> convolve = numbagraph.vectorize(lambda x, y: np.sum(x * y[::-1]), signature="(n),(n)->()")
    >>> convolve(np.eye(2), np.array([1.0, 2.0]))
    array([2., 1.])
    """
    excluded = tuple(excluded)
    if pyfunc is None:
        return functools.partial(vectorize, excluded=excluded, signature=signature)
    inner = plain(pyfunc)
    kept = with_positions(excluded, inner)
    cores = None if signature is None else parse(signature)
    name = getattr(inner, "__name__", "vectorize")

    def transformed(*args: Any, **kwargs: Any) -> Any:
        with at_source(user_source()):
            return of_arrays(*args, **kwargs)

    def of_arrays(*args: Any, **kwargs: Any) -> Any:
        positions = [position for position in range(len(args)) if position not in kept]
        names = [each for each in kwargs if each not in kept]
        operands = [as_value(to_value(each)) for each in (*(args[k] for k in positions), *(kwargs[k] for k in names))]

        def of_operands(*given: Any) -> Any:
            own, named = list(args), dict(kwargs)
            for position, each in zip(positions, given, strict=False):
                own[position] = each
            named.update(zip(names, given[len(positions) :], strict=True))
            return as_traced(inner)(*own, **named)

        single = []

        def noting(*given: Any) -> Any:
            result = of_operands(*given)
            single.append(not isinstance(result, (tuple, list)))
            return result

        if cores is None:
            values = over_batches(
                lambda each: scalars_of(noting(*map(Tracer, each)), name), operands, [0] * len(operands), name
            )
        else:
            values = Mapped(noting, cores, name)(operands)
        results = tuple(Tracer(scalar_result(strong(each))) for each in values)
        return results[0] if single[0] else results

    again = functools.partial(vectorize, excluded=excluded, signature=signature)
    return Transformed(transformed, pyfunc, again)


def with_positions(excluded: Iterable[int | str], function: Function) -> frozenset[int | str]:
    """Return positions and names of arguments, with the positions of those that were named."""
    chosen = frozenset(excluded)
    parameters = enumerate(inspect.signature(function).parameters)
    return chosen | {position for position, name in parameters if name in chosen}


def scalars_of(returned: Any, name: str) -> list[Value]:
    """The results of a function without a signature."""
    results = returned if isinstance(returned, (tuple, list)) else [returned]
    values = [as_value(to_value(each)) for each in results]
    for each in values:
        if each.ndim:
            text = f"{name} returned an array of shape {shapes.shape_text(each.shape)}: give vectorize a signature"
            raise shapes.ShapeError(text)
    return values
