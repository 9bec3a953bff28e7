"""The LLVM of graphs of scalars, each scalar once: the code of straight lines and of loop bodies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from llvmlite import ir

from numbagraph.emit.lazy_select import Ways
from numbagraph.intrinsics.emitters import integers
from numbagraph.intrinsics.emitters.emitter import I64, Emitter, Label, Operand, memory_type
from numbagraph.intrinsics.emitters.ir import (
    Apply,
    Buffer,
    CheckedIndex,
    LeafStride,
    Literal,
    Load,
    Register,
    Scalar,
    walk,
)
from numbagraph.ir.values import Value


class Outside(Protocol):
    """The values from other code that scalars use."""

    def external(self, scalar: Scalar) -> ir.Value:
        """A register, or the stride of a leaf."""
        ...

    def base(self, buffer: Buffer) -> ir.Value:
        """The address of a buffer's allocation."""
        ...

    def position(self, emitter: Emitter, index: ir.Value, extent: ir.Value, signed: bool) -> ir.Value:
        """The position along an extent that an index stands for, which is counted from the end where it is below 0.
        Emits the handling of an index that is out of bounds."""
        ...

    def label(self, buffer: Buffer) -> Label | None:
        """The alias metadata of loads and stores in the memory of a buffer."""
        ...


class Placement(Protocol):
    """The place of each scalar's code, and the way in which that code addresses memory."""

    def emitter(self, scalar: Scalar) -> Emitter:
        """The emitter of the block that a scalar's code goes into."""
        ...

    def distance(self, emitter: Emitter, step: ir.Value) -> ir.Value:
        """The distance in memory that an index is multiplied by, from a stride or a length."""
        ...

    def copied(self, emitter: Emitter, load: Load) -> ir.Value | None:
        """A pointer to the copy of an element, if there is one."""
        ...


class FixedPlacement:
    """The placement of straight-line code: all scalars go where its emitter stands."""

    def __init__(self, code: Emitter) -> None:
        self.code = code

    def emitter(self, scalar: Scalar) -> Emitter:
        return self.code

    def distance(self, emitter: Emitter, step: ir.Value) -> ir.Value:
        return step

    def copied(self, emitter: Emitter, load: Load) -> ir.Value | None:
        return None


class ChainedPlacement(FixedPlacement):
    """The placement in a step of a loop. Scalars that follow from the carried numbers, and from elements of carried
    arrays, are emitted as a chain, since the next step waits for them."""

    def __init__(self, code: Emitter, carried: Iterable[Value]) -> None:
        super().__init__(code)
        self.chained_code = Emitter(code.builder, chained=True)
        self.carried = {*carried}
        self.carried_arrays: Collection[int] = ()
        """The numbers of the arguments that are carried arrays."""
        self._known: dict[Scalar, bool] = {}

    def emitter(self, scalar: Scalar) -> Emitter:
        return self.chained_code if self.is_chained(scalar) else self.code

    def is_chained(self, scalar: Scalar) -> bool:
        if scalar not in self._known:
            own = self.is_carried(scalar.buffer) if isinstance(scalar, Load) else False
            own = own or (isinstance(scalar, Register) and scalar.value in self.carried)
            self._known[scalar] = own or any(map(self.is_chained, scalar.operands))
        return self._known[scalar]

    def is_carried(self, buffer: Buffer) -> bool:
        return buffer.leaf in self.carried_arrays


def is_stretch(scalar: Scalar) -> bool:
    """Whether a scalar is the position along a dimension whose length may be 1: it is 0 there."""
    return isinstance(scalar, Apply) and scalar.emit is integers.stretch


class ScalarEmitter:
    """Emits a graph of scalars, each once."""

    def __init__(self, outside: Outside, placement: Placement, ways: Ways | None = None) -> None:
        """``ways``: the scalars that are computed in branches, where a choice needs them."""
        self.outside = outside
        self.placement = placement
        self.ways = ways or Ways()
        self.values: dict[Scalar, ir.Value] = {}
        """The scalars that have been emitted."""
        self.offsets: dict[Scalar, ir.Value] = {}
        """The offset that is added to each index that wraps around, in the piece of a loop that is being emitted."""
        self.stretches = True
        """Whether lengths that are not known may be 1; otherwise no dimension of such a length is broadcast."""

    def value(self, root: Scalar) -> ir.Value:
        """The register of a scalar, after emitting it and its operands unless they have been."""
        if root not in self.values:
            for each in walk([root]):
                if each not in self.values and each not in self.ways.inside:
                    self.values[each] = self._emit(each)
        return self.values[root]

    def operand(self, scalar: Scalar) -> Operand:
        return Operand(self.value(scalar), scalar.dtype)

    def _emit(self, scalar: Scalar) -> ir.Value:
        if isinstance(scalar, (Register, LeafStride)):
            return self.outside.external(scalar)
        emitter = self.placement.emitter(scalar)
        if isinstance(scalar, Literal):
            return emitter.constant(scalar.value, scalar.dtype)
        if isinstance(scalar, Apply):
            if not self.stretches and is_stretch(scalar):
                return self.values[scalar.arguments[0]]
            if scalar in self.offsets:
                index = self.values[scalar.arguments[0]]
                return emitter.builder.add(index, self.offsets[scalar], flags=("nsw",))
            if self.ways.are_of(scalar):
                return self._chosen(emitter, scalar)
            return scalar.emit(emitter, *[Operand(self.values[each], each.dtype) for each in scalar.arguments])
        if isinstance(scalar, Load):
            copy = self.placement.copied(emitter, scalar)
            pointer = self.address(emitter, scalar.buffer, scalar.indices, scalar.flat) if copy is None else copy
            return emitter.load(pointer, scalar.dtype, self.outside.label(scalar.buffer))
        if isinstance(scalar, CheckedIndex):
            index, extent = self.values[scalar.index], self.values[scalar.extent]
            return self.outside.position(emitter, index, extent, scalar.index.dtype.kind == "i")
        raise TypeError(f"{scalar!r} has no value outside its loop")

    def _chosen(self, emitter: Emitter, choice: Apply) -> ir.Value:
        """Emit a choice as a branch, in which the chosen element is computed."""

        def way(number: int) -> ir.Value:
            for each in self.ways.members.get((choice, number), ()):
                self.values[each] = self._emit(each)
            return self.values[choice.arguments[number]]

        return emitter.choose(self.values[choice.arguments[0]], lambda: way(1), lambda: way(2))

    def address(self, emitter: Emitter, buffer: Buffer, indices: tuple[Scalar, ...], flat: bool = False) -> ir.Value:
        """A pointer to one element, typed for its memory format."""
        builder, base = emitter.builder, self.outside.base(buffer)
        pointer_type = memory_type(buffer.dtype).as_pointer()
        if buffer.strides is None:
            pointer = builder.bitcast(base, pointer_type)
            for index in self._linear(emitter, buffer, indices, flat):
                pointer = builder.gep(pointer, [index], inbounds=True)
            return pointer
        offset: ir.Value = ir.Constant(I64, 0)
        axes = list(zip(indices, buffer.strides, strict=True))
        for index, stride in axes[:-1] if buffer.rows else axes:
            distance = self.placement.distance(emitter, self.value(stride))
            offset = builder.add(offset, builder.mul(self.value(index), distance, flags=("nsw",)), flags=("nsw",))
        pointer = builder.bitcast(builder.gep(base, [offset], inbounds=True), pointer_type)
        return builder.gep(pointer, [self.value(indices[-1])], inbounds=True) if buffer.rows else pointer

    def _linear(self, emitter: Emitter, buffer: Buffer, indices: tuple[Scalar, ...], flat: bool) -> Iterator[ir.Value]:
        """The address where the row of an element begins, and the offset of the element in it. They are not added up:
        LLVM factors j * n + j, and would not see that this is where an element a[j, k] is with k = j."""
        builder = emitter.builder
        if flat or not indices:
            yield self.value(indices[0]) if indices else ir.Constant(I64, 0)
            return
        axes = list(zip(indices, buffer.extents, strict=True))
        (first, _), *others = reversed(axes) if buffer.fortran else axes
        linear = self.value(first)
        for number, (index, extent) in enumerate(others, 1):
            row = builder.mul(linear, self.placement.distance(emitter, self.value(extent)), flags=("nsw",))
            linear = self.value(index)
            if number < len(others):
                linear = builder.add(row, linear, flags=("nsw",))
            else:
                yield row
        yield linear


class StraightCode(Outside, Protocol):
    """Code outside of any loop, in which scalars can be computed."""

    code: Emitter

    def scalar(self, scalar: Scalar) -> ir.Value:
        """The register of a scalar."""
        ...
