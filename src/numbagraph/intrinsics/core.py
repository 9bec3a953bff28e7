"""Core ops: one LLVM function for one element of a batch, and the loop over the batch that calls it.

Such a function takes the addresses of the element's operands and results, which are contiguous, and of scratch memory.
There are several for each op: for small matrices, whose loops are unrolled or short, and for large ones, by LAPACK.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.batches import Extents, for_each, laid_out
from numbagraph.intrinsics.emitter import I1, I64, POINTER, Emitter, llvm_constant, llvm_type
from numbagraph.intrinsics.fortran import Fortran
from numbagraph.intrinsics.matrices import Code, Index, Matrix

Names = tuple[str, ...]
"""Of the core dimensions of an operand or result."""


@dataclass
class Element:
    """One element of a batch, in the function that computes it."""

    code: Code
    operands: Sequence[ir.Value]
    results: Sequence[ir.Value]
    scratch: Sequence[ir.Value]
    lengths: dict[str, Index]
    attributes: dict[str, Any]
    dtypes: Sequence[np.dtype]
    """Of the operands, the results, and the scratch memory."""
    shapes: tuple[tuple[Names, ...], tuple[Names, ...]]
    """The names of the dimensions of the operands, and of the results."""

    def __getitem__(self, name: str) -> Index:
        """A length."""
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

    def _matrix(self, pointer: ir.Value, names: Names, dtype: np.dtype) -> Matrix:
        """A vector is a matrix of one row."""
        return self.matrix(pointer, self.lengths[names[-1]], dtype)

    def matrix(self, pointer: ir.Value, width: Index, dtype: np.dtype | None = None) -> Matrix:
        """A matrix whose rows, of a width, follow each other."""
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
        """Whether LAPACK has failed: negative numbers are arguments that are no good, which does not happen."""
        return self.builder.icmp_signed(">", info, ir.Constant(info.type, 0))


Algorithm = Callable[[Element], ir.Value | None]
"""What computes one element, and gives whether that has failed."""

CORE = "numbagraph.core."
"""The prefix of external symbols that are calls of core ops on batches."""

emitters: dict[str, CoreEmitter] = {}
"""By the op's name."""


@dataclass(frozen=True)
class CoreEmitter:
    """The emitter of calls of a core op. It is told where operands, results and scratch memory are, and their extents.

    Results and scratch memory that have no batch dimensions are used by all elements, one after the other.
    """

    name: str
    inputs: tuple[Names, ...]
    outputs: tuple[Names, ...]
    library: Algorithm
    small: Algorithm | None = None
    """For short real matrices."""
    size: str = ""
    """The length that says which are short."""
    unrolled: int = 4
    """The length up to which loops of `small` are unrolled."""
    short: int = 16
    """The length up to which it is used."""

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

    def __call__(
        self,
        emitter: Emitter,
        addresses: Sequence[ir.Value],
        extents: Sequence[Extents],
        dtypes: Sequence[np.dtype],
        **attributes: Any,
    ) -> ir.Value:
        """Call what stands in the library, which is compiled once a machine."""
        attributes.pop("result", None)
        lengths, batch, steps = laid_out(emitter, self.operands, len(self.inputs), extents, dtypes)
        numbers = [*(lengths[label] for label in self.labels), *batch, *(each for own in steps for each in own)]
        call = BatchedCall(self, tuple(dtypes), len(batch), attributes)
        function = emitter.function(call.symbol, I1, call.argument_types, pure=False)
        return emitter.builder.call(function, [*addresses, *numbers])


@dataclass(frozen=True)
class BatchedCall:
    """A core op on a whole batch: ``i1 function(addresses..., lengths..., batch..., steps...)``."""

    op: CoreEmitter
    dtypes: tuple[np.dtype, ...]
    depth: int
    """How many dimensions the batch has."""
    attributes: dict[str, Any]

    @property
    def key(self) -> str:
        attributes = ",".join(f"{name}={each}" for name, each in sorted(self.attributes.items()))
        return f"{self.op.name}:{','.join(each.name for each in self.dtypes)}:{attributes}"

    @property
    def symbol(self) -> str:
        return f"{CORE}{self.key}:{self.depth}"

    @classmethod
    def of(cls, symbol: str) -> BatchedCall:
        """The call that has a symbol."""
        name, dtypes, attributes, depth = symbol.removeprefix(CORE).split(":")
        pairs = (each.split("=") for each in attributes.split(",") if each)
        found = {key: attribute_of(text) for key, text in pairs}
        return cls(emitters[name], tuple(map(np.dtype, dtypes.split(","))), int(depth), found)

    @property
    def argument_types(self) -> list[ir.Type]:
        count = len(self.dtypes)
        return [POINTER] * count + [I64] * (len(self.op.labels) + self.depth * (1 + count))

    def emit(self, module: ir.Module) -> ir.Function:
        """Loops over the batch: one for each way to compute an element, of which the lengths choose one."""
        function = ir.Function(module, ir.FunctionType(I1, self.argument_types), self.symbol)
        count, op = len(self.dtypes), self.op
        pointers, numbers = list(function.args[:count]), list(function.args[count:])
        for argument in pointers:
            argument.add_attribute("noalias")
        lengths = dict(zip(op.labels, numbers, strict=False))
        batch, rest = numbers[len(lengths) :][: self.depth], numbers[len(lengths) + self.depth :]
        steps = [rest[number * self.depth :][: self.depth] for number in range(count)]
        builder = ir.IRBuilder(function.append_basic_block("entry"))

        def run(kind: str, algorithm: Algorithm, length: int | None = None) -> None:
            body = self.element(module, kind, algorithm, length)

            def call(*addresses: ir.Value) -> ir.Value:
                return builder.call(body, [*addresses, *lengths.values()])

            builder.ret(for_each(Emitter(builder), batch, steps, pointers, call))

        if op.small is not None and self.dtypes[0].kind == "f":
            few, many = function.append_basic_block("few"), function.append_basic_block("many")
            size = lengths[op.size]
            builder.cbranch(builder.icmp_signed("<=", size, ir.Constant(I64, op.short)), few, many)
            builder.position_at_end(few)
            loops = function.append_basic_block("loops")
            switch = builder.switch(size, loops)
            for length in range(1, op.unrolled + 1):
                block = function.append_basic_block(f"length{length}")
                switch.add_case(ir.Constant(I64, length), block)
                builder.position_at_end(block)
                run(f"unrolled{length}", op.small, length)
            builder.position_at_end(loops)
            run("loops", op.small)
            builder.position_at_end(many)
        run("library", op.library)
        return function

    def element(self, module: ir.Module, kind: str, algorithm: Algorithm, length: int | None) -> ir.Function:
        """The function for one element; one for all calls that are alike."""
        name = f"element.{self.key}.{kind}"
        found = module.globals.get(name)
        if found is not None:
            return found
        count, labels = len(self.dtypes), self.op.labels
        found = ir.Function(module, ir.FunctionType(I1, [POINTER] * count + [I64] * len(labels)), name)
        found.linkage = "internal"
        found.attributes.add("nounwind")
        found.attributes.add("alwaysinline" if length is not None else "noinline")
        for argument in found.args[:count]:
            argument.add_attribute("noalias")
        emitter = Emitter(ir.IRBuilder(found.append_basic_block("entry")))
        lengths = {
            label: Index(emitter, length if label == self.op.size and length is not None else register)
            for label, register in zip(labels, found.args[count:], strict=True)
        }
        first, second = len(self.op.inputs), len(self.op.operands)
        attributes = dict(self.attributes)
        on_error = attributes.pop("on_error", None)
        element = Element(
            Code(emitter, self.dtypes[0]),
            found.args[:first],
            found.args[first:second],
            found.args[second:count],
            lengths,
            attributes,
            self.dtypes,
            (self.op.inputs, self.op.outputs),
        )
        failed = algorithm(element)
        if failed is not None and on_error == "nan":
            with emitter.builder.if_then(failed, likely=False):
                fill_with_nan(element)
        if on_error != "raise":
            failed = None
        emitter.builder.ret(ir.Constant(I1, 0) if failed is None else failed)
        return found


def attribute_of(text: str) -> Any:
    """The number, truth value or string that an attribute is."""
    return text == "True" if text in ("True", "False") else int(text) if text.isdigit() else text


def fill_with_nan(element: Element) -> None:
    """What the results are where there are none."""
    for number, names in enumerate(element.shapes[1]):
        dtype = element.dtypes[len(element.operands) + number]
        if dtype.kind in "fc":
            pointer = element.builder.bitcast(element.results[number], llvm_type(dtype).as_pointer())
            nan = llvm_constant(np.nan if dtype.kind == "f" else complex(np.nan, np.nan), dtype)
            element.code.loop(
                0,
                element.size(names),
                lambda k, pointer=pointer, nan=nan: (
                    element.builder.store(nan, element.builder.gep(pointer, [k.register])) and None
                ),
            )
