"""Functions on vectors and matrices that are written as loops into their results, as ops of a graph."""

from __future__ import annotations

import hashlib
import itertools
import marshal
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import align_batches
from numbagraph.blockwise.signature import Lengths, Signature
from numbagraph.forking import importing
from numbagraph.intrinsics.emitters.batches import Extents, for_each, laid_out
from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER, Emitter
from numbagraph.ir import shapes
from numbagraph.ir.op import quiet
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.values import ArrayType, Op, Unsupported, Value

LOOPS = "numbagraph.gufunc_loop."
"""The prefix of external symbols that are such functions, compiled by Numba."""

_numbers = itertools.count()
_owners: dict[str, Callable[..., None]] = {}
"""The function that each symbol stands for."""


class LoopCore(Struct, eq=False):
    """A function ``core(*operands, *results)`` for some dtypes.

    It gets each operand without core dimensions as a number, and each result without core dimensions as an array of one
    element. ``sizes(lengths)`` gives the lengths that stand in the results alone.
    """

    name: str
    function: Callable[..., None]
    signature: Signature
    inputs: tuple[np.dtype, ...]
    outputs: tuple[np.dtype, ...]
    sizes: Callable[[Lengths], Lengths]

    @cached_property
    def symbol(self) -> str:
        """The name of the compiled function. It follows from the code, so that programs which call it can be kept on
        disk. Where functions have equal code but differ in the variables around it, all but the first get a number."""
        dtypes = [each.name for each in (*self.inputs, *self.outputs)]
        content = marshal.dumps(getattr(self.function, "__code__", None))
        key = repr((self.name, content, str(self.signature), dtypes))
        while _owners.setdefault(key, self.function) is not self.function:
            key = f"{next(_numbers)} {key}"
        return LOOPS + hashlib.sha256(key.encode()).hexdigest()

    @property
    def labels(self) -> list[str]:
        """The labels of all lengths: names, and numbers for fixed ones."""
        return list(dict.fromkeys(label for core in self.cores for label in core.labels))

    @property
    def cores(self) -> list[Any]:
        return [*self.signature.inputs, *self.signature.outputs]

    def shape(self, operands: Sequence[shapes.Shape], result: int) -> shapes.Shape:
        """The shape of a result."""
        lengths = self.lengths(operands)
        batch = self.signature.batch_shape(self.name, operands)
        return (*batch, *(each.length.value(lengths) for each in self.signature.outputs[result]))

    def lengths(self, operands: Sequence[shapes.Shape]) -> Lengths:
        lengths = self.signature.bind(self.name, operands).lengths
        return {**lengths, **self.sizes(lengths)}

    def infer(self, *operands: Value, result: int = 0, **_: Any) -> ArrayType:
        return ArrayType(self.outputs[result], self.shape([each.shape for each in operands], result))

    def evaluate(self, *arrays: Any, result: int = 0, **_: Any) -> Any:
        """Return one result, computed element by element in Python."""
        ranks = [len(core) for core in self.signature.inputs]
        given = [np.shape(each) for each in arrays]
        batch = np.broadcast_shapes(*(shape[: len(shape) - rank] for shape, rank in zip(given, ranks, strict=True)))
        operands = [
            np.broadcast_to(each, (*batch, *shape[len(shape) - rank :]))
            for each, shape, rank in zip(arrays, given, ranks, strict=True)
        ]
        own: list[Any] = [self.shape(given, number) for number in range(len(self.outputs))]
        results = [np.empty(shape, dtype) for shape, dtype in zip(own, self.outputs, strict=True)]
        whole = [... if core else np.newaxis for core in self.signature.outputs]
        for index in np.ndindex(*batch):
            numbers = [each[index].copy() if rank else each[index] for each, rank in zip(operands, ranks, strict=True)]
            quiet(self.function, *numbers, *(each[*index, last] for each, last in zip(results, whole, strict=True)))
        return results[result]

    def emit(
        self,
        emitter: Emitter,
        addresses: Sequence[ir.Value],
        extents: Sequence[Extents],
        dtypes: Sequence[np.dtype],
        **_: Any,
    ) -> ir.Value:
        """Emit a loop over the batch, which calls the compiled function."""
        names = [core.labels for core in self.cores]
        lengths, batch, steps = laid_out(emitter, names, len(self.inputs), extents, dtypes)
        numbers = [lengths[label] for label in self.labels]
        types = [*[POINTER] * len(self.cores), *[I64] * len(numbers)]
        function = emitter.function(self.symbol, I32, types, pure=False)

        def call(*elements: ir.Value) -> ir.Value:
            code = emitter.builder.call(function, [*elements, *numbers])
            return emitter.builder.icmp_signed("!=", code, ir.Constant(I32, 0))

        return for_each(emitter, batch, steps, addresses, call)

    @cached_property
    def op(self) -> Op:
        """The op of this function. It is not in the registry: it lives as long as someone uses it."""
        ranks = [tuple(map(len, side)) for side in (self.signature.inputs, self.signature.outputs)]

        def batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], **attrs: Any) -> Value:
            return op.bind(*align_batches(inputs, batched, map(len, self.signature.inputs)), **attrs)

        return Op(
            name=self.name,
            kind="loop core",
            reference=self.evaluate,
            infer=self.infer,
            frontend=lambda op, *operands: op.bind(*operands, symbol=self.symbol),
            lower=lowering.Core(self.emit, ranks[0], ranks[1]),
            vjp=Unsupported(f"{self.name} is written as loops: give gufunc its vjp"),
            batch=batch,
            jnp=self.in_jax,
            samples=lambda rng, dtype: [],
            multi_result=len(self.outputs) > 1,
            zero_dim="array",
        )

    def results(self, operands: Sequence[Value]) -> list[Value]:
        """Return the nodes of all results. The symbol is an attribute of them, since names alone do not tell what a
        graph computes."""
        numbers = [{"result": number} for number in range(len(self.outputs))] if self.op.multi_result else [{}]
        return [self.op.bind(*operands, symbol=self.symbol, **each) for each in numbers]

    def in_jax(self, *arrays: Any, result: int = 0, **_: Any) -> Any:
        """Compute a result with JAX by a call back to Python, since JAX has no way to compile loops of Numba."""
        with importing:
            import jax

        shape = self.shape([each.shape for each in arrays], result)
        target = jax.ShapeDtypeStruct(shape, self.outputs[result])
        return jax.pure_callback(partial(self.evaluate, result=result), target, *arrays)
