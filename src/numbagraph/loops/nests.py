"""Builds the loop nest of a group of roots: loops, the scalar body that their elements need, and what is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from numbagraph.blockwise import lowering
from numbagraph.blockwise.lowering import Index, extent_scalar
from numbagraph.intrinsics import integers
from numbagraph.intrinsics.ir import Apply, Buffer, Literal, Load, LoopIndex, Scalar, index_operation, literal, register
from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Constant, Dim, Extent, Node, Value
from numbagraph.loops.ir import Kernel, Output, Reduction, Scan, Scatter, Store
from numbagraph.loops.order import along_memory
from numbagraph.transforms.autodiff import call_of

Domain = tuple[Any, ...]
"""The loops of a nest, outermost first (extents other than 1), and a mark that keeps unlike nests apart."""


def loops_of(shape: Iterable[Extent]) -> tuple[Extent, ...]:
    return tuple(extent for extent in map(shapes.resolve, shape) if not (isinstance(extent, int) and extent == 1))


def iteration_space(value: Value) -> tuple[Extent, ...]:
    """The shape over which a root is computed: for whatever accumulates, that of what it accumulates."""
    if isinstance(value, Node) and isinstance(value.op.lower, (lowering.Reduce, lowering.ScatterInto)):
        return value.inputs[0].shape
    return value.shape


def domain_of(value: Value) -> Domain | None:
    """What must be equal for two roots to share a nest; None for a root that is not a loop nest of its own."""
    lower = value.op.lower if isinstance(value, Node) else None
    if isinstance(lower, lowering.Opaque) and isinstance(value, Node) and value.op.joint:
        return ("call", call_of(value))
    if isinstance(lower, (lowering.Opaque, lowering.Assemble)):
        return None
    space = iteration_space(value)
    mark = "scan" if isinstance(lower, lowering.Running) else "map"
    return (mark, *loops_of(space))


class Memory(Struct, frozen=False):
    """Where values have memory, shared by all nests of a program."""

    leaves: dict[Value, Buffer] = field(default_factory=dict)
    buffers: dict[Value, Buffer] = field(default_factory=dict)
    constants: dict[Constant, Buffer] = field(default_factory=dict)

    def of(self, value: Value) -> Buffer | None:
        if isinstance(value, Constant) and value.ndim:
            if value not in self.constants:
                extents = tuple(extent_scalar(extent) for extent in value.shape)
                name = f"constant{len(self.constants)}"
                self.constants[value] = Buffer(name, value.type, extents, literal=value.data)
            return self.constants[value]
        return self.leaves.get(value) or self.buffers.get(value)


class Puller:
    """Computes elements of values at indices, without recursion; each pair of value and index once."""

    def __init__(self, memory: Memory, inlined: frozenset[Value] | set[Value] = frozenset()) -> None:
        self.memory = memory
        self.inlined = inlined
        self.known: dict[tuple[Value, Index], Scalar] = {}

    def pull(self, value: Value, index: Index) -> Scalar:
        """The element of ``value`` at ``index``."""
        return self._leaf(value, index) or self.compute(value, index)

    def compute(self, value: Value, index: Index) -> Scalar:
        """The same, computed from the inputs even where the value has memory or a register of its own."""
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
        assert lowering.is_pulled(value.op.lower), f"{value!r} has no memory"
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


def build_nest(name: str, roots: list[Value], memory: Memory) -> Kernel:
    """The loop nest that computes ``roots``, which share one domain."""
    flat = _flatten(name, roots, memory)
    if flat is not None:
        return flat
    extents = loops_of(iteration_space(roots[0]))
    loops = [LoopIndex(f"i{depth}", extent_scalar(extent)) for depth, extent in enumerate(extents)]
    puller = Puller(memory, {root for root in roots if _is_map(root)})
    outputs: list[Output] = []
    for root in roots:
        outputs.extend(_outputs(root, _place(root, loops), puller, memory))
    return along_memory(Kernel(name, tuple(loops), outputs))


def _is_map(root: Value) -> bool:
    return isinstance(root, Node) and lowering.is_pulled(root.op.lower)


def _place(root: Value, loops: list[LoopIndex]) -> Index:
    """The index of each axis of a root's iteration space, in terms of the nest's loops."""
    remaining = iter(loops)
    return tuple(literal(0) if shapes.resolve(extent) == 1 else next(remaining) for extent in iteration_space(root))


def _outputs(root: Value, index: Index, puller: Puller, memory: Memory) -> list[Output]:
    """What the nest writes for one root."""
    if not isinstance(root, Node) or lowering.is_pulled(root.op.lower):
        value = puller.pull(root, index) if isinstance(root, Node) else _copied(root, index, memory)
        return [Store(memory.buffers[root], index, value, getattr(root, "source", None))]
    lower = root.op.lower
    if isinstance(lower, lowering.Reduce):
        return [_reduction(root, lower, index, puller, memory)]
    if isinstance(lower, lowering.Running):
        return [_running(root, lower, index, puller, memory)]
    assert isinstance(lower, lowering.ScatterInto)
    return [_scatter(root, lower, index, puller, memory)]


def _copied(root: Value, index: Index, memory: Memory) -> Scalar:
    """An input or a constant that is itself a result."""
    source = memory.of(root)
    assert source is not None
    return Load(source, index)


def _reduction(root: Node, lower: lowering.Reduce, index: Index, puller: Puller, memory: Memory) -> Output:
    source = root.inputs[0]
    axes = [axis + source.ndim for axis in root.attrs["axes"]]
    reduced = frozenset(index[axis] for axis in axes if isinstance(index[axis], LoopIndex))
    kept = tuple(index[axis] for axis in range(source.ndim) if axis not in axes)
    position = None
    if lower.reducer.positional:
        lengths = [extent_scalar(source.shape[axis]) for axis in axes]
        position = lowering.linear_index([index[axis] for axis in axes], lengths)
    value = puller.pull(source, index)
    if root.ndim and not reduced:
        return Store(memory.buffers[root], kept, literal(0) if lower.reducer.positional else value, root.source)
    output = Reduction(lower.reducer, value, reduced, kept, position=position, source=root.source)
    if root.ndim:
        output.buffer = memory.buffers[root]
    else:
        output.register = root
    return output


def _running(root: Node, lower: lowering.Running, index: Index, puller: Puller, memory: Memory) -> Output:
    """A running reduction: in a register along the innermost loop, along any other from the element before it."""
    axis, buffer = root.attrs["axis"] + root.ndim, memory.buffers[root]
    loop, last = index[axis], lowering.subtract(extent_scalar(root.shape[axis]), literal(1))

    def place(position: Scalar) -> Index:
        at = lowering.subtract(last, position) if root.attrs["reverse"] else position
        return (*index[:axis], at, *index[axis + 1 :])

    def pulled(at: Index) -> list[Scalar]:
        return [puller.pull(each, lowering.broadcast_index(each.shape, root.shape, at)) for each in root.inputs]

    reducer, exclusive, here = lower.reducer, root.attrs["exclusive"], place(loop)
    innermost = all(isinstance(each, Literal) for each in index[axis + 1 :])
    if innermost and isinstance(loop, LoopIndex):
        *factor, value = pulled(here)
        return Scan(reducer, value, buffer, here, *factor, exclusive=exclusive, source=root.source)
    before = place(index_operation("previous", integers.previous, loop))
    *factor, value = pulled(before if exclusive else here)

    def carried(accumulator: Scalar) -> Scalar:
        return Apply("carried", reducer.carried, (loop, accumulator), root.dtype)

    def advanced(accumulator: Scalar) -> Scalar:
        return Apply(reducer.name, reducer.advance, (accumulator, value, *factor), root.dtype)

    stored = Load(buffer, before)
    return Store(buffer, here, carried(advanced(stored)) if exclusive else advanced(carried(stored)), root.source)


def _scatter(root: Node, lower: lowering.ScatterInto, index: Index, puller: Puller, memory: Memory) -> Scatter:
    updates, positions = root.inputs[0], root.inputs[1 : 1 + root.attrs["count"]]
    axis, checks = root.attrs["axis"] + root.ndim, root.attrs["checked"]
    target = lowering.scattered_index(positions, root, axis, checks, updates, index, puller.pull)
    return Scatter(lower.reducer, puller.pull(updates, index), memory.buffers[root], target, root.source)


def element_count(extents: Iterable[Scalar]) -> Scalar:
    count: Scalar = literal(1)
    for extent in extents:
        count = lowering.multiply(count, extent)
    return count


def _flatten(name: str, roots: list[Value], memory: Memory) -> Kernel | None:
    """One loop over all elements, where every array of the nest is C-contiguous and of the same shape."""
    space = iteration_space(roots[0])
    if len(loops_of(space)) < 2 or not all(_can_be_flat(root, space, memory) for root in roots):
        return None
    extents = tuple(map(extent_scalar, space))
    loop = LoopIndex("i", element_count(extents))
    puller = FlatPuller(memory, {root for root in roots if _is_map(root)}, loop)
    outputs: list[Output] = []
    index = (loop,) + (literal(0),) * (len(space) - 1)
    for root in roots:
        if isinstance(root, Node) and isinstance(root.op.lower, lowering.Reduce):
            value = puller.pull(root.inputs[0], index)
            reduced = Reduction(root.op.lower.reducer, value, frozenset((loop,)), (), register=root, source=root.source)
            outputs.append(reduced)
        else:
            assert isinstance(root, Node)
            outputs.append(Store(memory.buffers[root], (loop,), puller.pull(root, index), root.source, flat=True))
    kernel = Kernel(name, (loop,), outputs, flattened=extents)
    kernel.notes.append("all dimensions run as one loop: every array is contiguous and of the same shape")
    return kernel


class FlatPuller(Puller):
    """Pulls by the linear index, which stands in the first place of every index."""

    def __init__(self, memory: Memory, inlined: set[Value], loop: LoopIndex) -> None:
        super().__init__(memory, inlined)
        self.loop = loop

    def _leaf(self, value: Value, index: Index) -> Scalar | None:
        found = super()._leaf(value, index)
        if isinstance(found, Load) and not found.flat:
            found = self.known[value, index] = Load(found.buffer, (self.loop,), flat=True)
        return found


def _can_be_flat(root: Value, space: tuple[Extent, ...], memory: Memory) -> bool:
    def whole(value: Value) -> bool:
        return value.ndim == len(space) and all(map(shapes.same, value.shape, space))

    if not isinstance(root, Node):
        return False
    lower = root.op.lower
    stack: list[Value] = [root]
    if isinstance(lower, lowering.Reduce):
        if lower.reducer.positional or root.ndim:
            return False
        stack = [root.inputs[0]]
    elif not isinstance(lower, (lowering.Map, lowering.Cast)):
        return False
    seen: set[Value] = set()
    while stack:
        value = stack.pop()
        if value in seen or not value.ndim:
            continue
        seen.add(value)
        buffer = memory.of(value) if value is not root else None
        if not whole(value) or (buffer is not None and not buffer.contiguous):
            return False
        if buffer is None:
            if not (isinstance(value, Node) and isinstance(value.op.lower, (lowering.Map, lowering.Cast))):
                return False
            stack.extend(value.inputs)
    return True
