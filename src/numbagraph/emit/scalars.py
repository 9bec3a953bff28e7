"""Emits graphs of scalars, each scalar once; where, is the matter of whoever knows the loops."""

from __future__ import annotations

from collections.abc import Collection

from llvmlite import ir

from numbagraph.intrinsics.emitter import I64, Emitter, Operand, memory_type
from numbagraph.intrinsics.ir import Apply, Buffer, CheckedIndex, LeafStride, Literal, Load, Register, Scalar, walk


class ScalarEmitter:
    """Emits a graph of scalars, each once. Where it is emitted is the subclass's matter."""

    def __init__(self) -> None:
        self.values: dict[Scalar, ir.Value] = {}
        self.of_one_tile: Collection[Buffer] = ()
        """Temporary memory that is as long as a tile of the rows that use it."""

    def emitter(self, scalar: Scalar) -> Emitter:
        raise NotImplementedError

    def external(self, scalar: Scalar) -> ir.Value:
        """A register, stride or buffer address that comes from outside."""
        raise NotImplementedError

    def base(self, buffer: Buffer) -> ir.Value:
        raise NotImplementedError

    def check(self, emitter: Emitter, failed: ir.Value) -> None:
        raise NotImplementedError

    def distance(self, emitter: Emitter, step: ir.Value) -> ir.Value:
        """The distance in memory that an index is multiplied by."""
        return step

    def scalar(self, root: Scalar) -> ir.Value:
        if root not in self.values:
            for each in walk([root]):
                if each not in self.values:
                    self.values[each] = self._emit(each)
        return self.values[root]

    def operand(self, scalar: Scalar) -> Operand:
        return Operand(self.scalar(scalar), scalar.dtype)

    def _emit(self, scalar: Scalar) -> ir.Value:
        if isinstance(scalar, (Register, LeafStride)):
            return self.external(scalar)
        emitter = self.emitter(scalar)
        if isinstance(scalar, Literal):
            return emitter.constant(scalar.value, scalar.dtype)
        if isinstance(scalar, Apply):
            return scalar.emit(emitter, *[Operand(self.values[each], each.dtype) for each in scalar.arguments])
        if isinstance(scalar, Load):
            return emitter.load(self.element(emitter, scalar), scalar.dtype)
        if isinstance(scalar, CheckedIndex):
            return self._checked(emitter, scalar)
        raise TypeError(f"{scalar!r} has no value outside its loop")

    def _checked(self, emitter: Emitter, scalar: CheckedIndex) -> ir.Value:
        builder, index, extent = emitter.builder, self.values[scalar.index], self.values[scalar.extent]
        if scalar.index.dtype.kind == "i":
            wrapped = builder.add(index, extent)
            index = builder.select(builder.icmp_signed("<", index, ir.Constant(I64, 0)), wrapped, index)
        failed = builder.icmp_unsigned(">=", index, extent)
        self.check(emitter, failed)
        return builder.select(failed, ir.Constant(I64, 0), index)

    def element(self, emitter: Emitter, load: Load) -> ir.Value:
        """A pointer to what is loaded."""
        return self.address(emitter, load.buffer, load.indices, load.flat)

    def address(self, emitter: Emitter, buffer: Buffer, indices: tuple[Scalar, ...], flat: bool = False) -> ir.Value:
        """A pointer to one element, typed for its memory format."""
        builder, base = emitter.builder, self.base(buffer)
        pointer_type = memory_type(buffer.dtype).as_pointer()
        if buffer.strides is None:
            linear = self._linear(emitter, buffer, indices, flat)
            return builder.gep(builder.bitcast(base, pointer_type), [linear], inbounds=True)
        offset: ir.Value = ir.Constant(I64, 0)
        for axis, index in enumerate(indices):
            stride = self.distance(emitter, self.scalar(buffer.strides[axis]))
            offset = builder.add(offset, builder.mul(self.scalar(index), stride, flags=("nsw",)), flags=("nsw",))
        return builder.bitcast(builder.gep(base, [offset], inbounds=True), pointer_type)

    def _linear(self, emitter: Emitter, buffer: Buffer, indices: tuple[Scalar, ...], flat: bool) -> ir.Value:
        builder = emitter.builder
        if flat or not indices:
            return self.scalar(indices[0]) if indices else ir.Constant(I64, 0)
        linear: ir.Value | None = None
        places = list(zip(indices, buffer.extents, strict=True))
        for index, extent in reversed(places) if buffer.fortran else places:
            value = self.scalar(index)
            if linear is None:
                linear = value
            else:
                row = builder.mul(linear, self.distance(emitter, self.scalar(extent)), flags=("nsw",))
                linear = builder.add(row, value, flags=("nsw",))
        assert linear is not None
        return linear


class StraightEmitter(ScalarEmitter):
    """Emits scalars outside of any loop: all of them at the same place."""

    code: Emitter

    def emitter(self, scalar: Scalar) -> Emitter:
        return self.code
