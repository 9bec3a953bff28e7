"""Calls of Python functions from compiled code: nodes whose results a user's function computes when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
from llvmlite import ir

from numbagraph.blockwise import lowering
from numbagraph.forking import new_lock
from numbagraph.intrinsics.emitters.batches import Extents
from numbagraph.intrinsics.emitters.emitter import I32, I64, POINTER, Emitter
from numbagraph.ir import shapes
from numbagraph.ir.array_classes import description
from numbagraph.ir.later import Later
from numbagraph.ir.op import load, registry
from numbagraph.ir.sources import Source, text_of
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.ir.values import ArrayType, Extent, Op, Unsupported, Value
from numbagraph.ops.control.operands import batch_size, element_type, stand_ins
from numbagraph.transforms.batching import spread
from numbagraph.transforms.interpret import describe, note_callback

if TYPE_CHECKING:
    from numbagraph.ops.control import scan
else:
    scan = Later("numbagraph.ops.control.scan")

CALLBACKS = "numbagraph.callbacks."
"""The prefix of external symbols that call users' functions."""

REPORT = "numbagraph.callers.report"
"""The external symbol of the function that prints an exception which is set."""

METHODS = ("sequential", "expand_dims", "broadcast_all")
"""The ways to compute a batch, as `jax.pure_callback` names them."""

_numbers = count()
_lock = new_lock()
_owners: WeakValueDictionary[str, Callback] = WeakValueDictionary()
"""The callback of each symbol in this process, as long as a graph has it."""


class Kind(Struct):
    """The dtype of an array, and its lengths as far as they are known: no length of an operand is."""

    dtype: np.dtype
    lengths: tuple[int | None, ...]

    @property
    def ndim(self) -> int:
        return len(self.lengths)


class Call(Struct, eq=False):
    """A call of a Python function: ``function(*arrays)`` gives an array for each result."""

    function: Callable[..., Sequence[Any]]
    identity: Any
    """An object that tells the function from all others, as long as it lives."""
    name: str
    source: Source | None
    inputs: tuple[Kind, ...]
    outputs: tuple[Kind, ...]
    method: str = METHODS[0]

    def over_batch(self, size: int | None) -> Call:
        """Return the call for arrays with one more dimension, which has length 1 where there was no batch."""
        inputs = tuple(Kind(each.dtype, (None, *each.lengths)) for each in self.inputs)
        outputs = tuple(Kind(each.dtype, (size, *each.lengths)) for each in self.outputs)
        return replace(self, inputs=inputs, outputs=outputs)


class Callback:
    """A call as an op. A program finds the function by a symbol, which is bound when it is loaded: a program on disk
    has the symbol alone. The function lives as long as a graph that has it."""

    name, kind = "pure_callback", "callback"
    promise = "pure_callback was told {}: return that, or change result_types"
    """The end of the error text for a result that differs from what was promised."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.native: Any = None
        """The object that the runtime keeps for this callback."""
        key = repr((call.name, call.inputs, call.outputs, call.method))
        with _lock:
            while _owners.setdefault(symbol_of(key), self) is not self:
                key = f"{next(_numbers)} {key}"
        self.symbol = symbol_of(key)

    @property
    def sizes(self) -> int:
        """The number of unknown lengths of results: they are operands behind the others."""
        return sum(length is None for each in self.call.outputs for length in each.lengths)

    def shapes(self, sizes: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """The shape of each result."""
        rest = iter(sizes)
        for each in self.call.outputs:
            yield tuple(next(rest) if length is None else length for length in each.lengths)

    def infer(self, *operands: Value, result: int, **_: Any) -> ArrayType:
        sizes = [shapes.resolve(each) for each in operands[len(self.call.inputs) :]]
        return ArrayType(self.call.outputs[result].dtype, list(self.shapes(sizes))[result])

    # ---- in Python ----

    def checked(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        """Call the function with arrays that it may keep; the arrays behind them give the dtypes and shapes that its
        results must have."""
        count = len(self.call.inputs)
        found = self._called(arrays[:count])
        for number, (each, like) in enumerate(zip(found, arrays[count:], strict=True)):
            if each.dtype != like.dtype or each.shape != like.shape:
                raise self._refusal(number, each, like)
        return found

    def _called(self, arrays: Sequence[Any]) -> tuple[np.ndarray, ...]:
        try:
            return tuple([self._as_array(each) for each in self.call.function(*arrays)])
        except BaseException as error:
            note_callback(error, self.call.name, self.call.source)
            raise

    def _as_array(self, result: Any) -> np.ndarray:
        if type(result) is np.ndarray:
            return result
        if (found := description(result, "return")) is not None:
            raise TypeError(f"{self.call.name} gave {found}\n  {text_of(self.call.source)}")
        return np.asarray(result)

    def _refusal(self, number: int, found: np.ndarray, target: np.ndarray) -> Exception:
        kind = TypeError if found.dtype != target.dtype else ValueError
        which = f" as result {number}" if len(self.call.outputs) > 1 else ""
        said = self.promise.format(describe(target))
        error = kind(f"{self.call.name} gave {describe(found)}{which}, where {said}\n  {text_of(self.call.source)}")
        vars(error)["is_recoverable"] = False  # as samplers ask: another point would not help
        return error

    def results(self, arrays: Sequence[Any], sizes: Sequence[Any]) -> list[np.ndarray]:
        """Call the function with copies of the arrays, and return copies of its results."""
        copies = (np.array(each)[()] for each in arrays)
        return [np.array(each) for each in self.checked(*copies, *self.targets(zeros, sizes))]

    def targets(self, make: Callable[..., Any], sizes: Sequence[Any]) -> list[Any]:
        """Return ``make(shape, dtype)`` for each result."""
        shapes = self.shapes([int(each) for each in sizes])
        return [make(shape, each.dtype) for shape, each in zip(shapes, self.call.outputs, strict=True)]

    def evaluate(self, *operands: Any, results: Sequence[int], **_: Any) -> list[Any]:
        count = len(self.call.inputs)
        found = self.results(operands[:count], operands[count:])
        return [found[number][()] for number in results]

    def translate(self, *operands: Any, results: Sequence[int], **_: Any) -> tuple[list[Any], bool]:
        """Call the function through `jax.pure_callback`; JAX hands lengths in as numbers."""
        count = len(self.call.inputs)
        arrays, sizes = operands[:count], operands[count:]
        targets = self.targets(load("jax:ShapeDtypeStruct"), sizes)
        call = partial(self._for_jax, sizes)
        found = load("jax:pure_callback")(call, targets, *arrays, vmap_method=METHODS[0])
        return [found[number] for number in results], False

    def _for_jax(self, sizes: Sequence[Any], *arrays: Any) -> list[np.ndarray]:
        return self.results(arrays, sizes)

    # ---- in native code ----

    def emit(
        self,
        emitter: Emitter,
        addresses: Sequence[ir.Value],
        extents: Sequence[Extents],
        dtypes: Sequence[np.dtype],
        **_: Any,
    ) -> ir.Value:
        """Emit a call of ``int32 symbol(addresses, lengths)``."""
        builder, first = emitter.builder, len(self.call.inputs)
        places = [*range(first), *range(first + self.sizes, len(addresses))]
        data = table(emitter, POINTER, [builder.bitcast(addresses[each], POINTER) for each in places])
        lengths = table(emitter, I64, [extent for each in places for extent in extents[each]])
        function = emitter.function(self.symbol, I32, [data.type, lengths.type], pure=False)
        return builder.call(function, [data, lengths])

    # ---- as an op ----

    @cached_property
    def op(self) -> Op:
        """The op of this call. It is not in the registry: it lives as long as someone uses it."""
        inputs, outputs = (tuple(each.ndim for each in kinds) for kinds in (self.call.inputs, self.call.outputs))
        numbers = (0,) * self.sizes
        return Op(
            name=self.name,
            kind=self.kind,
            reference=lambda *operands, result, **attrs: self.evaluate(*operands, results=[result], **attrs)[0],
            infer=self.infer,
            frontend=Unsupported("it is made by numbagraph.pure_callback"),
            lower=lowering.PythonCall(
                self.emit, (*inputs, *numbers), outputs, evaluate=self.evaluate, translate=self.translate
            ),
            vjp=Unsupported(f"{self.call.name} is called back: give pure_callback its vjp"),
            batch=self.batch,
            jnp=Unsupported("all results of a call are translated at once"),
            samples=lambda rng, dtype: [],
            multi_result=True,
        )

    def applied(self, operands: Sequence[Value], sizes: Sequence[Value]) -> list[Value]:
        """Return the nodes of all results. The symbol is an attribute of them, since names alone do not tell what a
        graph computes."""
        bind, numbers = self.op.bind, range(len(self.call.outputs))
        return [bind(*operands, *sizes, symbol=self.symbol, result=number) for number in numbers]

    def batch(self, op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, result: int, symbol: str) -> Value:
        """Batch the call: one call for each element, or one for all if the function takes batches."""
        count, size = len(self.call.inputs), batch_size(inputs, batched)
        if any(batched[count:]):
            raise NotImplementedError("the lengths of its results differ along the batch")
        if self.call.method == METHODS[0]:
            points = stand_ins(map(element_type, inputs, batched), "point")
            numbers = range(len(self.call.outputs))
            own = [op.bind(*points, symbol=symbol, result=number) for number in numbers]
            return scan.over_elements(inputs, batched, points, own)[result]
        operands = [
            each if flag else self._with_batch(each, size)
            for each, flag in zip(inputs[:count], batched[:count], strict=True)
        ]
        (known,), passed = shapes.split_extents([size])
        whole = callback_of(self.call.over_batch(known))
        rest, sizes = iter(inputs[count:]), list[Value]()
        for each in self.call.outputs:
            sizes += [*passed, *(next(rest) for length in each.lengths if length is None)]
        return whole.applied(operands, sizes)[result]

    def _with_batch(self, value: Value, size: Extent) -> Value:
        """Give a batch dimension to an operand that is the same for all elements of the batch."""
        if self.call.method == "expand_dims":
            return registry["expand_dims"](value, 0)
        return spread((value, False), size)


def zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array that only describes a shape and a dtype, without memory for its elements."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def table(emitter: Emitter, type_: ir.Type, values: Sequence[ir.Value]) -> ir.Value:
    """Store values on the stack, one after the other, and return their address; a call inside of a loop takes the room
    once."""
    builder = emitter.builder
    with builder.goto_entry_block():
        room = builder.alloca(ir.ArrayType(type_, max(len(values), 1)))
    for number, value in enumerate(values):
        builder.store(value, builder.gep(room, [ir.Constant(I32, 0), ir.Constant(I32, number)], inbounds=True))
    return builder.bitcast(room, POINTER)


def symbol_of(key: str) -> str:
    return CALLBACKS + sha256(key.encode()).hexdigest()


_callbacks: WeakValueDictionary[Any, Callback] = WeakValueDictionary()


def callback_of(call: Call, kind: type[Callback] = Callback) -> Callback:
    """Return the only callback of a call, so that equal calls are one node. The key does not hold the function: the
    function may hold an object that holds the callback."""
    key = kind, *(getattr(call, name) for name in call.__fields__ if name != "function")
    with _lock:
        found = _callbacks.get(key)
        if found is None:
            found = _callbacks[key] = kind(call)
        return found


def owner_of(symbol: str) -> Callback:
    """Return the callback of a symbol, which a graph keeps alive."""
    return _owners[symbol]
