"""Core ops: one LLVM function for one element of a batch, and the loop over the batch that calls it.

Such a function takes the addresses of the element's operands and results, which are contiguous, and of scratch memory.
It has several variants: for small matrices, whose loops are unrolled or short, and for large ones, by LAPACK. At run
time, a program chooses the variant by the lengths, and has it compiled if no other program has done so before: to
compile all of them together would take five times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.batches import Extents, for_each, for_each_block, laid_out, together
from numbagraph.intrinsics.emitters.emitter import I1, I8, I32, I64, POINTER, Emitter, llvm_constant, llvm_type
from numbagraph.intrinsics.emitters.formula import Number
from numbagraph.intrinsics.emitters.fortran import Fortran, one_thread, too_long
from numbagraph.intrinsics.emitters.lanes import LaneAddresses, LaneMatrix, LaneMemory, Lanes, lanes_of
from numbagraph.intrinsics.emitters.matrices import Code, Index, Matrix
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import BOOL

Names = tuple[str, ...]
"""The names of the core dimensions of an operand or result."""


class Element(Struct, frozen=False):
    """One element of a batch, in the function that computes it."""

    code: Code
    operands: Sequence[ir.Value]
    results: Sequence[ir.Value]
    scratch: Sequence[ir.Value]
    lengths: dict[str, Index]
    attributes: dict[str, Any]
    dtypes: Sequence[np.dtype]
    """The dtypes of the operands, the results, and the scratch memory."""
    shapes: tuple[tuple[Names, ...], tuple[Names, ...]]
    """The names of the dimensions of the operands, and of the results."""

    def __getitem__(self, name: str) -> Index:
        """Return a length by its name."""
        return self.lengths[name]

    @property
    def emitter(self) -> Emitter:
        return self.code.emitter

    @property
    def builder(self) -> ir.IRBuilder:
        return self.code.emitter.builder

    @property
    def fortran(self) -> Fortran:
        return Fortran(self.emitter, self.code.dtype)

    def operand(self, number: int) -> Matrix:
        return self._matrix(self.operands[number], self.shapes[0][number], self.dtypes[number])

    def result(self, number: int = 0) -> Matrix:
        return self._matrix(self.results[number], self.shapes[1][number], self.dtypes[len(self.operands) + number])

    def memory(self, number: int, names: Names, dtype: np.dtype) -> Matrix:
        """A piece of scratch memory."""
        return self._matrix(self.scratch[number], names, dtype)

    def _matrix(self, pointer: ir.Value, names: Names, dtype: np.dtype) -> Matrix:
        """Return an operand or result as a matrix: a vector is a matrix of one row, and a number a vector of one
        element."""
        return self.matrix(pointer, self.size(names[-1:]), dtype)

    def matrix(self, pointer: ir.Value, width: Index, dtype: np.dtype | None = None) -> Matrix:
        """Return the matrix at an address, whose rows, of a width, follow each other."""
        return Matrix(self.emitter, pointer, dtype or self.code.dtype, width, self.code.index(1))

    def size(self, names: Names) -> Index:
        """The number of elements of an operand or result."""
        size = self.code.index(1)
        for name in names:
            size = size * self.lengths[name]
        return size

    def copy(self, target: ir.Value, source: ir.Value, size: Index, dtype: np.dtype | None = None) -> None:
        """Copy elements that follow each other."""
        function = self.emitter.function("memcpy", POINTER, [POINTER, POINTER, I64], pure=False)
        width = (size * (dtype or self.code.dtype).itemsize).register
        self.builder.call(function, [self.builder.bitcast(each, POINTER) for each in (target, source)] + [width])

    def positive(self, info: ir.Value) -> ir.Value:
        """Return whether LAPACK has failed. (Negative codes are for invalid arguments, which does not happen.)"""
        return self.builder.icmp_signed(">", info, ir.Constant(info.type, 0))

    def any(self, failed: ir.Value) -> ir.Value:
        """Return whether anything has failed."""
        return failed

    def finish(self) -> None:
        """Store all values that are still in registers but belong into memory."""

    def fill_with_nan(self, failed: ir.Value) -> None:
        """Fill the results of an element that has none with NaN."""
        with self.builder.if_then(failed, likely=False):
            for number, names in enumerate(self.shapes[1]):
                dtype = self.dtypes[len(self.operands) + number]
                if dtype.kind in "fc":
                    pointer = self.builder.bitcast(self.results[number], llvm_type(dtype).as_pointer())
                    nan = llvm_constant(np.nan if dtype.kind == "f" else complex(np.nan, np.nan), dtype)
                    self.code.loop(
                        0,
                        self.size(names),
                        lambda k, pointer=pointer, nan=nan: self.builder.store(
                            nan, self.builder.gep(pointer, [k.register])
                        ),
                    )


class LaneBlock(Element, frozen=False):
    """Several elements, each in a lane of its own: each address of an element becomes one address for each lane."""

    operands: Sequence[Any]
    results: Sequence[Any]
    """`LaneAddresses`, which only `operand` and `result` know how to use."""

    memories: dict[ir.Value, LaneMemory] = field(default_factory=dict)
    """The memory of lanes, by the address of the first lane."""

    @property
    def lanes(self) -> Lanes:
        assert isinstance(self.emitter, Lanes)
        return self.emitter

    def _matrix(self, pointer: Any, names: Names, dtype: np.dtype) -> LaneMatrix:
        addresses: LaneAddresses = pointer
        first = addresses.lanes[0]
        if first not in self.memories:
            self.memories[first] = LaneMemory(self.lanes, addresses, dtype, self.size(names).static)
        return LaneMatrix(self.memories[first], self.size(names[-1:]), self.code.index(1))

    def any(self, failed: ir.Value) -> ir.Value:
        return self.lanes.any(failed)

    def finish(self) -> None:
        for memory in self.memories.values():
            memory.flush()

    def fill_with_nan(self, failed: ir.Value) -> None:
        """Fill the results with NaN in the lanes that have failed."""
        choose, first = Number(self.emitter, failed, BOOL), self.code.index(0)
        for number, names in enumerate(self.shapes[1]):
            row = self.result(number)
            if row.dtype.kind == "f":

                def put(k: Index, row: Matrix = row) -> None:
                    row[first, k] = choose.where(np.nan, row[first, k])

                self.code.loop(0, self.size(names), put)


Algorithm = Callable[[Element], ir.Value | None]
"""A function that emits the computation of one element, and returns whether that has failed."""

CORE = "numbagraph.core."
"""The prefix of the names of functions that compute core ops on batches."""

LOAD = "numbagraph.load."
"""The prefix of the external function ``load.core(name, slot)``, which compiles such a function if necessary, and puts
its address into the slot. If that fails, the slot stays empty."""


class Variant(Struct):
    """One way to compute an element, and the lengths that it is for."""

    name: str
    algorithm: Algorithm
    lengths: Mapping[str, int] = field(default_factory=dict)
    """The lengths that it is for. If there are any, its loops are unrolled."""


emitters: dict[str, CoreEmitter] = {}
"""The emitters of core ops, by the op's name."""


class CoreEmitter(Struct):
    """The emitter of calls of a core op, on the addresses and extents of operands, results and scratch memory.

    Results and scratch memory that have no batch dimensions are used by all elements, one after the other.
    """

    name: str
    inputs: tuple[Names, ...]
    outputs: tuple[Names, ...]
    library: Algorithm
    small: Algorithm | None = None
    """The algorithm for short real matrices."""
    size: str = ""
    """The name of the length that decides which matrices are short."""
    unrolled: int = 4
    """The length up to which loops of `small` are unrolled."""
    short: int = 16
    """The length up to which `small` is used."""
    long: Algorithm | None = None
    """The algorithm for long rows."""
    least_long: int = 0
    """The length from which on rows are long."""
    threaded: bool = True
    """Whether `library` is one that may start threads."""
    in_place: bool = False
    """Whether it may write the result into the memory of the first operand, which it reads before it writes there."""

    def __post_init__(self) -> None:
        emitters[self.name] = self

    @property
    def operands(self) -> tuple[Names, ...]:
        """The dimensions of the operands and the results."""
        return (*self.inputs, *self.outputs)

    @property
    def labels(self) -> list[str]:
        """The names of all lengths."""
        return list(dict.fromkeys(label for names in self.operands for label in names))

    def variants(self, dtype: np.dtype) -> list[Variant]:
        """Return the variants for operands of a dtype: the one for large matrices alone; or short loops, unrolled ones,
        and that one; or that one and the one for long rows."""
        library = Variant("library", self.library)
        if self.long is not None:
            return [library, Variant("long", self.long)]
        if self.small is None or dtype.kind != "f":
            return [library]
        lengths = range(1, self.unrolled + 1)
        unrolled = [Variant(f"unrolled{length}", self.small, {self.size: length}) for length in lengths]
        return [Variant("loops", self.small), *unrolled, library]

    def choose(self, emitter: Emitter, variants: Sequence[Variant], lengths: Mapping[str, ir.Value]) -> ir.Value:
        """Return the number of the variant for the lengths."""
        if len(variants) == 1:
            return ir.Constant(I64, 0)
        builder, size = emitter.builder, lengths[self.size]
        if self.long is not None:
            return builder.zext(builder.icmp_signed(">=", size, ir.Constant(I64, self.least_long)), I64)
        unrolled = builder.icmp_signed("<=", size, ir.Constant(I64, self.unrolled))
        few = builder.icmp_signed("<=", size, ir.Constant(I64, self.short))
        many = builder.select(few, ir.Constant(I64, 0), ir.Constant(I64, len(variants) - 1))
        return builder.select(unrolled, size, many)

    def __call__(
        self,
        emitter: Emitter,
        addresses: Sequence[ir.Value],
        extents: Sequence[Extents],
        dtypes: Sequence[np.dtype],
        **attributes: Any,
    ) -> ir.Value:
        """Call the function, which is compiled once per machine, and return whether that has failed."""
        attributes.pop("result", None)
        lengths, batch, steps = laid_out(emitter, self.operands, len(self.inputs), extents, dtypes)
        numbers = [*(lengths[label] for label in self.labels), *batch, *(each for own in steps for each in own)]
        call = BatchedCall(self, tuple(dtypes), len(batch), attributes)
        return emitter.builder.call(call.dispatcher(emitter.module), [*addresses, *numbers])


class BatchedCall(Struct):
    """A core op on a whole batch: ``i1 function(addresses..., lengths..., batch..., steps...)``."""

    op: CoreEmitter
    dtypes: tuple[np.dtype, ...]
    depth: int
    """The number of batch dimensions."""
    attributes: dict[str, Any]

    @property
    def key(self) -> str:
        attributes = ",".join(f"{name}={each}" for name, each in sorted(self.attributes.items()))
        return f"{self.op.name}:{','.join(each.name for each in self.dtypes)}:{attributes}"

    @property
    def symbol(self) -> str:
        return f"{CORE}{self.key}:{self.depth}"

    def name_of(self, variant: Variant) -> str:
        """The name of the function of one variant."""
        return f"{self.symbol}:{variant.name}"

    @property
    def variants(self) -> list[Variant]:
        return self.op.variants(self.dtypes[0])

    @classmethod
    def define(cls, module: ir.Module, name: str) -> ir.Function:
        """Emit the function that a name belongs to."""
        op, dtypes, attributes, depth, variant = name.removeprefix(CORE).split(":")
        pairs = (each.split("=") for each in attributes.split(",") if each)
        found = {key: attribute_of(text) for key, text in pairs}
        call = cls(emitters[op], tuple(map(np.dtype, dtypes.split(","))), int(depth), found)
        return call.emit(module, next(each for each in call.variants if each.name == variant))

    @property
    def function_type(self) -> ir.FunctionType:
        count = len(self.dtypes)
        numbers = len(self.op.labels) + self.depth * (1 + count)
        return ir.FunctionType(I1, [POINTER] * count + [I64] * numbers)

    def dispatcher(self, module: ir.Module) -> ir.Function:
        """Emit the function of a program that calls the variant for the lengths, and loads that when it is first
        needed. If that is impossible, the call has failed."""
        found = module.globals.get(self.symbol)
        if isinstance(found, ir.Function):
            return found
        function = ir.Function(module, self.function_type, self.symbol)
        function.linkage = "internal"
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        emitter, variants = Emitter(builder), self.variants
        lengths = dict(zip(self.op.labels, function.args[len(self.dtypes) :], strict=False))
        with builder.if_then(too_long(emitter, lengths.values()), likely=False):
            builder.ret(ir.Constant(I1, 1))
        variant = self.op.choose(emitter, variants, lengths)
        known = table(module, f"{self.symbol}.known", [ir.Constant(POINTER, None)] * len(variants))
        words = [text(module, self.name_of(each)) for each in variants]
        names = table(module, f"{self.symbol}.names", words, constant=True)
        slot, name = (builder.gep(each, [ir.Constant(I64, 0), variant]) for each in (known, names))
        target = loaded(
            emitter, f"{LOAD}core", slot, lambda: builder.load(name), lambda: builder.ret(ir.Constant(I1, 1))
        )
        builder.ret(builder.call(builder.bitcast(target, self.function_type.as_pointer()), function.args))
        return function

    def emit(self, module: ir.Module, variant: Variant) -> ir.Function:
        """Emit a loop over the batch, which computes the elements by one variant."""
        function = ir.Function(module, self.function_type, self.name_of(variant))
        count, op = len(self.dtypes), self.op
        pointers, numbers = list(function.args[:count]), list(function.args[count:])
        self.tell_apart(pointers)
        lengths = numbers[: len(op.labels)]
        batch, rest = numbers[len(lengths) :][: self.depth], numbers[len(lengths) + self.depth :]
        steps = [rest[number * self.depth :][: self.depth] for number in range(count)]
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        emitter = Emitter(builder)

        def call(body: ir.Function, *arguments: ir.Value) -> ir.Value:
            return builder.call(body, [*arguments[:count], *lengths, *arguments[count:]])

        if variant.lengths and batch:
            body, merged = self.block(module, variant), together(emitter, batch, steps)
            failed = for_each_block(emitter, *merged, pointers, lanes_of(self.dtypes[0]), partial(call, body))
        else:
            body = self.element(module, variant)
            limited = op.threaded and variant.algorithm is op.library
            with one_thread(emitter, lengths) if limited else nullcontext():
                failed = for_each(emitter, batch, steps, pointers, partial(call, body))
        builder.ret(failed)
        return function

    def element(self, module: ir.Module, variant: Variant) -> ir.Function:
        """Emit the function for one element."""
        count = len(self.dtypes)
        found = self.inner(module, "element", len(self.op.labels), variant)
        emitter = Emitter(ir.IRBuilder(found.append_basic_block("entry")))
        self.compute(Element, emitter, variant, found.args[:count], found.args[count:])
        return found

    def block(self, module: ir.Module, variant: Variant) -> ir.Function:
        """Emit the function for as many elements as there are lanes. It takes the addresses of the first element, the
        lengths, the distances between elements, and the number of the last one."""
        count, labels = len(self.dtypes), len(self.op.labels)
        found = self.inner(module, "block", labels + count + 1, variant)
        lanes = Lanes(ir.IRBuilder(found.append_basic_block("entry")), lanes_of(self.dtypes[0]))
        *steps, last = found.args[count + labels :]
        addresses = [lanes.addresses(first, step, last) for first, step in zip(found.args, steps, strict=False)]
        self.compute(LaneBlock, lanes, variant, addresses, found.args[count:][:labels])
        return found

    def inner(self, module: ir.Module, name: str, numbers: int, variant: Variant) -> ir.Function:
        """Emit a function of addresses and numbers."""
        count = len(self.dtypes)
        found = ir.Function(
            module, ir.FunctionType(I1, [POINTER] * count + [I64] * numbers), module.get_unique_name(name)
        )
        found.linkage = "internal"
        found.attributes.add("nounwind")
        found.attributes.add("alwaysinline" if variant.lengths else "noinline")
        self.tell_apart(found.args[:count])
        return found

    def tell_apart(self, addresses: Sequence[ir.Argument]) -> None:
        """Mark addresses whose memory no other address shares ("noalias"): not those of an operand and of the result
        that may take its place."""
        shared = (0, len(self.op.inputs)) if self.op.in_place else ()
        for number, each in enumerate(addresses):
            if number not in shared:
                each.add_attribute("noalias")

    def compute(
        self,
        element_type: type[Element],
        emitter: Emitter,
        variant: Variant,
        addresses: Sequence[Any],
        registers: Sequence[ir.Value],
    ) -> None:
        """Emit the body of the function of an element or a block."""
        known = {label: int(label) for label in self.op.labels if label.isdigit()} | dict(variant.lengths)
        lengths = {
            label: Index(emitter, known.get(label, register))
            for label, register in zip(self.op.labels, registers, strict=True)
        }
        first, second = len(self.op.inputs), len(self.op.operands)
        attributes = dict(self.attributes)
        on_error = attributes.pop("on_error", None)
        element = element_type(
            Code(emitter, self.dtypes[0]),
            addresses[:first],
            addresses[first:second],
            addresses[second:],
            lengths,
            attributes,
            self.dtypes,
            (self.op.inputs, self.op.outputs),
        )
        failed = variant.algorithm(element)
        if failed is not None and on_error == "nan":
            element.fill_with_nan(failed)
        element.finish()
        if failed is not None and on_error == "raise":
            emitter.builder.ret(element.any(failed))
        else:
            emitter.builder.ret(ir.Constant(I1, 0))


def loaded(
    emitter: Emitter, load: str, known: ir.Value, name: Callable[[], ir.Value], leave: Callable[[], object]
) -> ir.Value:
    """Return the address of a function from its slot, into which an external function puts it by its name when it is
    first needed. The emitted function returns if the slot stays empty."""
    builder, none = emitter.builder, ir.Constant(POINTER, None)
    missing = builder.icmp_unsigned("==", builder.load(known), none)
    with builder.if_then(missing, likely=False):
        function = emitter.function(load, ir.VoidType(), [POINTER, known.type], pure=False)
        builder.call(function, [name(), known])
        with builder.if_then(builder.icmp_unsigned("==", builder.load(known), none), likely=False):
            leave()
    return builder.load(known)


def table(module: ir.Module, name: str, entries: Sequence[ir.Constant], *, constant: bool = False) -> ir.GlobalVariable:
    """Entries of one type, as data of the module."""
    type_ = ir.ArrayType(entries[0].type, len(entries))
    variable = ir.GlobalVariable(module, type_, name)
    variable.linkage, variable.global_constant = "internal", constant
    variable.initializer = ir.Constant(type_, entries)
    return variable


def text(module: ir.Module, characters: str) -> ir.Constant:
    """The address of a string that ends with 0."""
    content = [ir.Constant(I8, each) for each in characters.encode() + b"\0"]
    variable = table(module, module.get_unique_name("text"), content, constant=True)
    return variable.gep([ir.Constant(I32, 0), ir.Constant(I32, 0)])


def attribute_of(text: str) -> Any:
    """Return the number, truth value or string that an attribute is."""
    return text == "True" if text in ("True", "False") else int(text) if text.isdigit() else text
