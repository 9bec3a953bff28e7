"""Builds the loop nest of live-out values: loops, the scalar body that their elements need, and what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from numbagraph.blockwise import lowering
from numbagraph.blockwise.lowering import Index, extent_scalar
from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.ir import (
    Apply,
    Buffer,
    Literal,
    Load,
    LoopIndex,
    Scalar,
    index_operation,
    literal,
    register,
)
from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Constant, Dim, Extent, Node, Value
from numbagraph.loops.ir import Kernel, Output, Reduction, Scan, Scatter, Store
from numbagraph.loops.order import along_memory
from numbagraph.transforms.interpret import call_of

Domain = tuple[Any, ...]
"""The loops of a nest, outermost first (extents other than 1), and a mark that keeps unlike nests apart."""


def loops_of(shape: Iterable[Extent]) -> tuple[Extent, ...]:
    return tuple(extent for extent in map(shapes.resolve, shape) if not (isinstance(extent, int) and extent == 1))


def iteration_space(value: Value) -> tuple[Extent, ...]:
    """The shape over which a live-out is computed: for whatever accumulates, that of what it accumulates, and for what
    is stored in another shape, that of what is stored."""
    if not isinstance(value, Node):
        return value.shape
    if isinstance(value.op.lower, (lowering.Reduce, lowering.ScatterInto)) or follows_operand(value):
        return value.inputs[0].shape
    return value.shape


def follows_operand(value: Node) -> bool:
    """Whether a reshaped array is computed by the loops of its operand, and stored by the linear index.

    By its own loops, the operand's indices are quotients and remainders, and nothing is read along memory. Where the
    operand lies in memory as it is, the linear index alone is needed.
    """
    lower = value.op.lower
    if not isinstance(lower, lowering.View) or not lower.in_order:
        return False
    loops, others = loops_of(value.shape), loops_of(value.inputs[0].shape)
    if len(loops) == len(others) and all(map(shapes.same, loops, others)):
        return False
    seen: set[Value] = set()
    stack: list[Value] = [value.inputs[0]]
    while stack:
        each = stack.pop()
        if each in seen or not isinstance(each, Node) or not each.ndim:
            continue
        seen.add(each)
        if isinstance(each.op.lower, lowering.View):
            return True
        if isinstance(each.op.lower, (lowering.Map, lowering.Cast)):
            stack.extend(each.inputs)
    return False


def flattened_operand(piece: Value) -> Value:
    """The array whose loops store a piece: of one that is flattened, its operand."""
    if isinstance(piece, Node) and piece.ndim == 1 and follows_operand(piece):
        return piece.inputs[0]
    return piece


def domain_of(value: Value) -> Domain | None:
    """The key that two live-outs must have in common to share a nest; None for a value that has no loop nest of its
    own."""
    lower = value.op.lower if isinstance(value, Node) else None
    if isinstance(lower, lowering.Opaque) and isinstance(value, Node) and value.op.multi_result:
        return ("call", call_of(value))
    if isinstance(lower, (lowering.Opaque, lowering.Assemble)):
        return None
    space = iteration_space(value)
    mark = "scan" if isinstance(lower, lowering.Running) else "map"
    return (mark, *loops_of(space))


class Memory(Struct, frozen=False):
    """The memory of values, shared by all nests of a program."""

    leaves: dict[Value, Buffer] = field(default_factory=dict)
    buffers: dict[Value, Buffer] = field(default_factory=dict)
    constants: dict[Constant, Buffer] = field(default_factory=dict)
    order: Mapping[Value, int] = field(default_factory=dict)
    """The position of all values that the program computes, lengths included. Numbers have registers, whichever nest
    needs them."""

    def of(self, value: Value) -> Buffer | None:
        if isinstance(value, Constant) and value.ndim:
            if value not in self.constants:
                extents = tuple(extent_scalar(extent) for extent in value.shape)
                name = f"constant{len(self.constants)}"
                self.constants[value] = Buffer(name, value.type, extents, literal=value.data)
            return self.constants[value]
        return self.leaves.get(value) or self.buffers.get(value)


class ElementBuilder:
    """Computes elements of values at indices, without recursion; each pair of value and index once."""

    def __init__(self, memory: Memory, inlined: frozenset[Value] | set[Value] = frozenset()) -> None:
        self.memory = memory
        self.inlined = inlined
        self.known: dict[tuple[Value, Index], Scalar] = {}

    def element(self, value: Value, index: Index) -> Scalar:
        """The element of ``value`` at ``index``."""
        return self._leaf(value, index) or self.compute(value, index)

    def compute(self, value: Value, index: Index) -> Scalar:
        """Compute the element from the inputs, even where the value has memory or a register of its own."""
        stack: list[tuple[tuple[Value, Index], Any]] = [((value, index), self._start(value, index))]
        sent: Scalar | None = None
        while stack:
            key, generator = stack[-1]
            try:
                request = generator.send(sent)
            except StopIteration as stop:
                self.known[key] = sent = stop.value
                stack.pop()
                continue
            sent = self._leaf(*request)
            if sent is None:
                stack.append((request, self._start(*request)))
        assert sent is not None
        return sent

    def _start(self, value: Value, index: Index) -> lowering.Element:
        assert isinstance(value, Node), f"{value!r} has no memory"
        assert lowering.is_computed_at_use(value.op.lower), f"{value!r} has no memory"
        return value.op.lower.element(value, index)

    def _leaf(self, value: Value, index: Index) -> Scalar | None:
        known = self.known.get((value, index))
        if known is not None:
            return known
        if not value.ndim:
            return self.rank0(value)
        if value in self.inlined:
            return None
        buffer = self.memory.of(value)
        if buffer is None:
            return None
        flat = lowering.flat_index(index, buffer.extents) if buffer.contiguous else None
        scalar = Load(buffer, index) if flat is None else Load(buffer, (flat,), flat=True)
        self.known[value, index] = scalar
        return scalar

    def rank0(self, value: Value) -> Scalar:
        if isinstance(value, Constant):
            return Literal(value.data[()], value.dtype)
        scalar = extent_scalar(value) if isinstance(value, Dim) else register(value)
        self.known[value, ()] = scalar
        return scalar


def build_nest(name: str, live_outs: list[Value], memory: Memory) -> Kernel:
    """The loop nest that computes ``live_outs``, which share one domain."""
    flat = _flatten(name, live_outs, memory)
    if flat is not None:
        return flat
    extents = loops_of(iteration_space(live_outs[0]))
    loops = [LoopIndex(f"i{depth}", extent_scalar(extent)) for depth, extent in enumerate(extents)]
    builder = ElementBuilder(memory, {live_out for live_out in live_outs if _is_map(live_out)})
    outputs: list[Output] = []
    for live_out in live_outs:
        outputs.extend(_outputs(live_out, _index_of(live_out, loops), builder, memory))
    return along_memory(Kernel(name, tuple(loops), outputs))


def _is_map(live_out: Value) -> bool:
    return isinstance(live_out, Node) and lowering.is_computed_at_use(live_out.op.lower)


def _index_of(live_out: Value, loops: list[LoopIndex]) -> Index:
    """The index of each axis of a live-out's iteration space, in terms of the nest's loops."""
    remaining = iter(loops)
    return tuple(literal(0) if shapes.resolve(extent) == 1 else next(remaining) for extent in iteration_space(live_out))


def _outputs(live_out: Value, index: Index, builder: ElementBuilder, memory: Memory) -> list[Output]:
    """The outputs of the nest for one live-out."""
    if isinstance(live_out, Node) and follows_operand(live_out):
        source = live_out.inputs[0]
        place = lowering.linear_index(index, list(map(extent_scalar, source.shape)))
        element = builder.element(source, index)
        return [Store(memory.buffers[live_out], (place,), element, live_out.source, flat=True)]
    if not isinstance(live_out, Node) or lowering.is_computed_at_use(live_out.op.lower):
        value = builder.element(live_out, index) if isinstance(live_out, Node) else _copied(live_out, index, memory)
        return [Store(memory.buffers[live_out], index, value, getattr(live_out, "source", None))]
    lower = live_out.op.lower
    if isinstance(lower, lowering.Reduce):
        return [_reduction(live_out, lower, index, builder, memory)]
    if isinstance(lower, lowering.Running):
        return [_running(live_out, lower, index, builder, memory)]
    assert isinstance(lower, lowering.ScatterInto)
    return [_scatter(live_out, lower, index, builder, memory)]


def _copied(live_out: Value, index: Index, memory: Memory) -> Scalar:
    """An input or a constant that is itself a result."""
    source = memory.of(live_out)
    assert source is not None
    return Load(source, index)


def _reduction(live_out: Node, lower: lowering.Reduce, index: Index, builder: ElementBuilder, memory: Memory) -> Output:
    source = live_out.inputs[0]
    axes = [axis + source.ndim for axis in live_out.attrs["axes"]]
    reduced = frozenset(index[axis] for axis in axes if isinstance(index[axis], LoopIndex))
    kept = tuple(index[axis] for axis in range(source.ndim) if axis not in axes)
    position = None
    if lower.reducer.positional:
        lengths = [extent_scalar(source.shape[axis]) for axis in axes]
        position = lowering.linear_index([index[axis] for axis in axes], lengths)
    value = builder.element(source, index)
    if live_out.ndim and not reduced:
        return Store(memory.buffers[live_out], kept, literal(0) if lower.reducer.positional else value, live_out.source)
    output = Reduction(lower.reducer, value, reduced, kept, position=position, source=live_out.source)
    if live_out.ndim:
        output.buffer = memory.buffers[live_out]
    else:
        output.register = live_out
    return output


def _running(live_out: Node, lower: lowering.Running, index: Index, builder: ElementBuilder, memory: Memory) -> Output:
    """A running reduction: in a register along the innermost loop, along any other from the element before it."""
    axis, buffer = live_out.attrs["axis"] + live_out.ndim, memory.buffers[live_out]
    loop, last = index[axis], lowering.subtract(extent_scalar(live_out.shape[axis]), literal(1))

    def index_at(position: Scalar) -> Index:
        at = lowering.subtract(last, position) if live_out.attrs["reverse"] else position
        return (*index[:axis], at, *index[axis + 1 :])

    def elements(at: Index) -> list[Scalar]:
        return [
            builder.element(each, lowering.broadcast_index(each.shape, live_out.shape, at)) for each in live_out.inputs
        ]

    reducer, exclusive, here = lower.reducer, live_out.attrs["exclusive"], index_at(loop)
    innermost = all(isinstance(each, Literal) for each in index[axis + 1 :])
    if innermost and isinstance(loop, LoopIndex):
        *factor, value = elements(here)
        return Scan(reducer, value, buffer, here, *factor, exclusive=exclusive, source=live_out.source)
    before = index_at(index_operation("previous", integers.previous, loop))
    *factor, value = elements(before if exclusive else here)

    def carried(accumulator: Scalar) -> Scalar:
        return Apply("carried", reducer.carried, (loop, accumulator), live_out.dtype)

    def advanced(accumulator: Scalar) -> Scalar:
        return Apply(reducer.name, reducer.advance, (accumulator, value, *factor), live_out.dtype)

    stored = Load(buffer, before)
    return Store(buffer, here, carried(advanced(stored)) if exclusive else advanced(carried(stored)), live_out.source)


def _scatter(
    live_out: Node, lower: lowering.ScatterInto, index: Index, builder: ElementBuilder, memory: Memory
) -> Scatter:
    updates, positions = live_out.inputs[0], live_out.inputs[1 : 1 + live_out.attrs["count"]]
    axis, checks = live_out.attrs["axis"] + live_out.ndim, live_out.attrs["checked"]
    target = lowering.scattered_index(positions, live_out, axis, checks, updates, index, builder.element)
    return Scatter(lower.reducer, builder.element(updates, index), memory.buffers[live_out], target, live_out.source)


def element_count(extents: Iterable[Scalar]) -> Scalar:
    count: Scalar = literal(1)
    for extent in extents:
        count = lowering.multiply(count, extent)
    return count


def _flatten(name: str, live_outs: list[Value], memory: Memory) -> Kernel | None:
    """One loop over all elements, where every array of the nest is C-contiguous and of the same shape."""
    space = iteration_space(live_outs[0])
    if len(loops_of(space)) < 2 or not all(_can_be_flat(live_out, space, memory) for live_out in live_outs):
        return None
    extents = tuple(map(extent_scalar, space))
    loop = LoopIndex("i", element_count(extents))
    builder = FlatElementBuilder(memory, {live_out for live_out in live_outs if _is_map(live_out)}, loop)
    outputs: list[Output] = []
    index = (loop,) + (literal(0),) * (len(space) - 1)
    for live_out in live_outs:
        if isinstance(live_out, Node) and isinstance(live_out.op.lower, lowering.Reduce):
            reducer, value = live_out.op.lower.reducer, builder.element(live_out.inputs[0], index)
            position = loop if reducer.positional else None
            reduced = Reduction(reducer, value, frozenset((loop,)), (), register=live_out, position=position)
            reduced.source = live_out.source
            outputs.append(reduced)
        else:
            assert isinstance(live_out, Node)
            outputs.append(
                Store(memory.buffers[live_out], (loop,), builder.element(live_out, index), live_out.source, flat=True)
            )
    kernel = Kernel(name, (loop,), outputs, flattened=extents)
    kernel.notes.append("all dimensions run as one loop: every array is contiguous and of the same shape")
    return kernel


class FlatElementBuilder(ElementBuilder):
    """Finds elements by the linear index, the first number of every index."""

    def __init__(self, memory: Memory, inlined: set[Value], loop: LoopIndex) -> None:
        super().__init__(memory, inlined)
        self.loop = loop

    def _leaf(self, value: Value, index: Index) -> Scalar | None:
        found = super()._leaf(value, index)
        if isinstance(found, Load) and not found.flat:
            found = self.known[value, index] = Load(found.buffer, (self.loop,), flat=True)
        return found


def _can_be_flat(live_out: Value, space: tuple[Extent, ...], memory: Memory) -> bool:
    def whole(value: Value) -> bool:
        return value.ndim == len(space) and all(map(shapes.same, value.shape, space))

    if not isinstance(live_out, Node):
        return False
    lower = live_out.op.lower
    stack: list[Value] = [live_out]
    if isinstance(lower, lowering.Reduce):
        if live_out.ndim:
            return False
        stack = [live_out.inputs[0]]
    elif not isinstance(lower, (lowering.Map, lowering.Cast)):
        return False
    seen: set[Value] = set()
    while stack:
        value = stack.pop()
        if value in seen or not value.ndim:
            continue
        seen.add(value)
        buffer = memory.of(value) if value is not live_out else None
        if not whole(value) or (buffer is not None and not buffer.contiguous):
            return False
        if buffer is None:
            if not (isinstance(value, Node) and isinstance(value.op.lower, (lowering.Map, lowering.Cast))):
                return False
            stack.extend(value.inputs)
    return True
