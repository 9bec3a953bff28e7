"""Compiled functions and ops for ``@njit`` callers: one Numba type a function, one intrinsic for its whole graph.

Numba finds the type by the attribute ``_numba_type_``, which imports this module, and with it Numba, on first use.
Such a call differs from one from Python in what Numba's types do not tell:

- Any length may be 1, so there are up to two versions, and what depends on it for its rank (``squeeze`` without an
  axis) takes no length to be 1.
- Numba has no weak scalars. A bool, int64, float64 or complex128 is taken for a Python scalar, any other number for
  a NumPy scalar.
- A static argument must be a literal: a number (but no float), a string, None, a dtype, or a tuple of them.
- A list of results becomes a tuple.

``njit(cache=True)`` works where the graph's code holds no address: not with captured arrays, calls of SciPy or BLAS, or
a compiled function as an argument. Numba then warns, and compiles in each process. What is kept is compiled anew when
a file of the compiled function has changed (`numbagraph.runtime.njit_cache`).
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import optree
from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.core.datamodel.models import OpaqueModel
from numba.core.imputils import lower_builtin
from numba.core.pythonapi import NativeValue, unbox
from numba.core.typing.templates import Signature, signature
from numba.core.typing.typeof import Purpose, typeof
from numba.extending import register_model
from numba.np.arrayobj import _empty_nd_impl, make_array
from numba.np.numpy_support import as_dtype, from_dtype

from numbagraph.emit.call import ProgramCall
from numbagraph.intrinsics.emitters.emitter import I8, I32, Emitter, memory_type
from numbagraph.ir.abi import (
    INTERRUPTED,
    NO_SOLUTION,
    OUT_OF_MEMORY,
    PYTHON_SCALARS,
    ArrayLeaf,
    Leaf,
    Result,
    ScalarLeaf,
)
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import canonical_dtype
from numbagraph.runtime.arguments import Placeholder
from numbagraph.runtime.embedding import FAILURES, Embedding
from numbagraph.runtime.njit_cache import Files, files_of

_WEAK_KINDS = {dtype: kind for kind, dtype in PYTHON_SCALARS.items()}
_CONSTANTS = (types.Literal, types.NumberClass, types.DType, types.Omitted, types.EllipsisType)
_NAMED_TUPLES = (types.NamedUniTuple, types.NamedTuple)
_TUPLES = (types.UniTuple, types.Tuple, *_NAMED_TUPLES)


class Parameters(Protocol):
    """The parameters of a compiled function."""

    signature: inspect.Signature
    function: Any
    static_argnames: tuple[str, ...]


class Embedder(Protocol):
    """The part of a compiled function that embeds it in native code."""

    def embedding(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Embedding: ...


class Embeddable(Protocol):
    """The interface of a compiled function that this module uses."""

    @property
    def definition(self) -> Parameters: ...
    @property
    def native_callers(self) -> Embedder: ...

    _prefers_constants: bool
    """Whether every argument with a known value becomes part of the code, as those in ``static_argnames`` do."""


class GraphFunctionType(types.Callable, types.Opaque):
    """The Numba type of one compiled function."""

    def __init__(self, function: Embeddable) -> None:
        self.function = function
        self._calls: dict[Any, GraphCall] = {}
        # Numba keeps types by their names, in its cache on disk even from one process to the next.
        super().__init__(f"{function!r} {uuid.uuid4().hex}")
        lower_builtin(self, types.VarArg(types.Any))(self._lower)

    def __reduce__(self) -> tuple[Any, ...]:
        return _type_of, (self.function,)

    def get_call_type(self, context: Any, args: tuple[types.Type, ...], kws: Mapping[str, types.Type]) -> Signature:  # noqa: ARG002
        """The signature of a call, for which the function is traced if it is the first of its kind."""
        args, named = self._settle(tuple(args), dict(kws))
        key = (args, tuple(named.items()))
        if key not in self._calls:
            self._calls[key] = GraphCall.of(self.function, args, named)
        return self._calls[key].signature

    def get_call_signatures(self) -> tuple[list[Signature], bool]:
        """The signatures of calls, for Numba's error messages."""
        return [each.signature for each in self._calls.values()], True

    def get_impl_key(self, sig: Signature) -> Any:  # noqa: ARG002
        """The key under which Numba finds the implementation."""
        return self

    def _settle(
        self, args: tuple[types.Type, ...], kws: dict[str, types.Type]
    ) -> tuple[tuple[types.Type, ...], dict[str, types.Type]]:
        """The types of the arguments as the call takes them: those that must be constants as literals, all others as
        plain types."""
        positions = range(len(args))
        try:
            bound = self.function.definition.signature.bind(*positions, **{name: name for name in kws}).arguments
        except TypeError as error:
            raise errors.TypingError(str(error)) from None
        static = {bound[name]: name for name in self.function.definition.static_argnames if name in bound}

        def settle(key: int | str, type_: types.Type) -> types.Type:
            if key not in static:
                return type_ if self.function._prefers_constants else types.unliteral(type_)
            if not is_constant(type_):
                raise errors.TypingError(
                    f"the static argument {static[key]!r} must be known when the caller is compiled: "
                    f"pass a literal, or numba.literally(...), instead of a value of type {type_}"
                )
            return type_

        return tuple(map(settle, positions, args)), {name: settle(name, each) for name, each in kws.items()}

    def _lower(self, context: Any, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value]) -> ir.Value:
        assert sig.pysig is not None
        names = [name for name in sig.pysig.parameters if not name.startswith(_POSITIONAL)]
        count = len(sig.args) - len(names)
        key = (sig.args[:count], tuple(zip(names, sig.args[count:], strict=True)))
        return Lowering(context, builder, self._calls[key]).emit(args)


_POSITIONAL = "_numbagraph_positional"


def type_of(function: Embeddable) -> GraphFunctionType:
    """A new Numba type for a compiled function, which should keep it."""
    return GraphFunctionType(function)


def _type_of(function: Any) -> GraphFunctionType:
    return function._numba_type_


register_model(GraphFunctionType)(OpaqueModel)


@unbox(GraphFunctionType)
def _unbox_function(typ: GraphFunctionType, obj: object, c: Any) -> NativeValue:  # noqa: ARG001
    """Pass a function as an argument of a jitted function: its type says everything.

    That type is another one in every process, so Numba must not keep the caller in its cache on disk. It looks for
    global variables of this name; a weak one stays in the module though it is not used.
    """
    mark = cgutils.add_global_variable(c.builder.module, I8, "numba.dynamic.globals.numbagraph")
    mark.linkage, mark.initializer = "weak", ir.Constant(I8, 0)
    return NativeValue(c.context.get_dummy_value())


class GraphCall(Struct, eq=False):
    """A call of a function on arguments of certain types."""

    embedding: Embedding
    signature: Signature
    files: Files

    @classmethod
    def of(cls, function: Embeddable, args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> GraphCall:
        numbers = iter(range(sum(1 for each in (*args, *kws.values()) for _ in dynamic_types(each))))
        try:
            positional = tuple(argument_tree(each, numbers) for each in args)
            named = {name: argument_tree(each, numbers) for name, each in kws.items()}
            embedding = function.native_callers.embedding(positional, named)
            result = result_type(embedding.outputs.spec, results_of(embedding))
        except FAILURES as error:  # Numba shows an error of tracing to its user as one of typing
            raise errors.TypingError(f"{type(error).__name__}: {error}") from error
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [*(f"{_POSITIONAL}{number}" for number in range(len(args))), *kws]
        pysig = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        files = files_of(function.definition.function, [each.graph for each in embedding.versions])
        return cls(embedding, signature(result, *args, *kws.values()).replace(pysig=pysig), files)


def is_constant(type_: types.Type) -> bool:
    """Whether the value of an argument follows from its type."""
    if isinstance(type_, _TUPLES):
        return all(map(is_constant, type_))
    return isinstance(type_, (*_CONSTANTS, types.NoneType))


def constant_of(type_: Any) -> Any:
    """The value of an argument that is known when the caller is compiled."""
    if isinstance(type_, types.NumberClass):
        return as_dtype(type_.instance_type)
    if isinstance(type_, types.DType):
        return as_dtype(type_.dtype)
    if isinstance(type_, types.EllipsisType):
        return Ellipsis
    return type_.value if isinstance(type_, types.Omitted) else type_.literal_value


def argument_tree(type_: types.Type, numbers: Iterator[int]) -> Any:
    """An argument as the traced function takes it, with placeholders for what is known at run time."""
    if isinstance(type_, _TUPLES):
        children = [argument_tree(each, numbers) for each in type_]
        return type_.instance_class(*children) if isinstance(type_, _NAMED_TUPLES) else tuple(children)
    if isinstance(type_, types.NoneType):
        return None
    if isinstance(type_, _CONSTANTS):
        return constant_of(type_)
    return Placeholder(layout_of(type_), next(numbers))


def dynamic_types(type_: types.Type) -> Iterator[types.Type]:
    """The types of the placeholders of `argument_tree`, in their order."""
    if isinstance(type_, _TUPLES):
        for each in type_:
            yield from dynamic_types(each)
    elif not isinstance(type_, (*_CONSTANTS, types.NoneType)):
        yield type_


def layout_of(type_: types.Type) -> Leaf:
    """The layout in which a value of a Numba type is passed. Numba has no weak scalars: here, numbers of Python's
    dtypes are weak."""
    if isinstance(type_, types.Array):
        if not type_.aligned:
            raise TypeError(f"an unaligned array ({type_}) is not supported: copy it")
        return ArrayLeaf(canonical_dtype(as_dtype(type_.dtype)), (None,) * type_.ndim, type_.layout == "C")
    if not isinstance(type_, (types.Number, types.Boolean)):
        raise TypeError(f"an argument of type {type_} is not supported: pass arrays, numbers and tuples of them")
    dtype = canonical_dtype(as_dtype(type_))
    return ScalarLeaf(_WEAK_KINDS[dtype]) if dtype in _WEAK_KINDS else ArrayLeaf(dtype, ())


def results_of(embedding: Embedding) -> Iterator[types.Type]:
    """The type of each leaf of what the function returns."""
    results = embedding.versions[0].signature.results
    for slot, static in zip(embedding.outputs.slots, embedding.outputs.static, strict=True):
        yield typeof(static, Purpose.constant) if slot is None else type_of_result(results[slot])


def type_of_result(result: Result) -> types.Type:
    dtype = from_dtype(result.dtype)
    return types.Array(dtype, result.ndim, "C") if result.ndim else dtype


def result_type(spec: optree.PyTreeSpec, leaves: Iterator[types.Type]) -> types.Type:
    """The type of the tree that the function returns; a list of arrays becomes a tuple."""
    if spec.is_leaf():
        return next(leaves)
    kind: Any = spec.type
    if kind is type(None):
        return types.none
    named = optree.is_namedtuple_class(kind)
    if not named and kind not in (tuple, list):
        raise TypeError(f"a result of type {kind.__name__} is not supported in njit code: return a tuple")
    children = [result_type(child, leaves) for child in spec.children()]
    found = types.BaseTuple.from_types(children, kind if named else None)
    assert found is not None
    return found


class Lowering:
    """Emits one call into a function that Numba compiles."""

    def __init__(self, context: Any, builder: ir.IRBuilder, call: GraphCall) -> None:
        self.context = context
        self.builder = builder
        self.embedding = call.embedding
        self.signature = call.signature
        if context.environment is not None:
            context.environment.consts.append(call.files)  # kept on disk with the code
        self.call: ProgramCall = call.embedding.call(builder, self._address)

    def _address(self, builder: ir.IRBuilder, number: int) -> ir.Value:
        """A pointer into this process, which keeps the caller out of Numba's cache on disk."""
        return self.context.add_dynamic_addr(builder, number, info="numbagraph")

    def emit(self, args: Sequence[ir.Value]) -> ir.Value:
        leaves = [leaf for pair in zip(self.signature.args, args, strict=True) for leaf in self._leaves(*pair)]
        for position, number in enumerate(self.embedding.order):
            self._pass(position, *leaves[number])
        if self.embedding.failures:
            self._raise_failures(self.call.prepare())
        elif any(self.call.ranks):
            self.call.prepare()
        results = [self._allocate(number, result) for number, result in enumerate(self.call.signature.results)]
        self._raise_checks(self.call.run([pointer for pointer, _ in results]), [value for _, value in results])
        return self._rebuild(results)

    def _leaves(self, type_: types.Type, value: ir.Value) -> Iterator[tuple[types.Type, ir.Value]]:
        """Yield the types and values of the leaves that correspond to the placeholders of `argument_tree`, in their
        order."""
        if isinstance(type_, _TUPLES):
            for position, each in enumerate(type_):
                yield from self._leaves(each, self.builder.extract_value(value, position))
        elif not isinstance(type_, (*_CONSTANTS, types.NoneType)):
            yield type_, value

    def _pass(self, position: int, type_: types.Type, value: ir.Value) -> None:
        if not isinstance(type_, types.Array):
            self.call.scalar(position, value)
            return
        array = make_array(type_)(self.context, self.builder, value)
        extents, strides = (cgutils.unpack_tuple(self.builder, each) for each in (array.shape, array.strides))
        self.call.array(position, array.data, extents, strides)

    def _raise_failures(self, code: ir.Value) -> None:
        """Emit the exception of which ``code`` is the number."""
        with self.builder.if_then(cgutils.is_not_null(self.builder, code), likely=False):
            blocks = [self.builder.append_basic_block("failure") for _ in self.embedding.failures]
            switch = self.builder.switch(code, blocks[-1])
            for number, (block, failure) in enumerate(zip(blocks, self.embedding.failures, strict=True), 1):
                switch.add_case(ir.Constant(I32, number), block)
                self.builder.position_at_end(block)
                self._raise(failure.error, failure.message)

    def _raise(self, error: type[Exception], message: str) -> None:
        self.context.call_conv.return_user_exc(self.builder, error, (message,))

    def _allocate(self, number: int, result: Result) -> tuple[ir.Value, ir.Value | None]:
        """Allocate the memory of a result; also return the array, if it is one."""
        if not result.ndim:
            return cgutils.alloca_once(self.builder, memory_type(result.dtype)), None
        array = _empty_nd_impl(self.context, self.builder, type_of_result(result), self.call.extents(number))
        return array.data, array._getvalue()

    def _raise_checks(self, code: ir.Value, arrays: Sequence[ir.Value | None]) -> None:
        """Emit an exception for a failed check inside a loop, and release the results."""
        with self.builder.if_then(cgutils.is_not_null(self.builder, code), likely=False):
            for array, result in zip(arrays, self.call.signature.results, strict=True):
                if array is not None:
                    self.context.nrt.decref(self.builder, type_of_result(result), array)
            raised = self.builder.icmp_signed("==", code, ir.Constant(I32, INTERRUPTED))
            with self.builder.if_then(raised):
                self.context.call_conv.return_exc(self.builder)
            no_memory = self.builder.icmp_signed("==", code, ir.Constant(I32, OUT_OF_MEMORY))
            with self.builder.if_then(no_memory):
                self._raise(MemoryError, f"{self.embedding.described}: no memory for temporaries")
            no_solution = self.builder.icmp_signed("==", code, ir.Constant(I32, NO_SOLUTION))
            with self.builder.if_then(no_solution):
                text = "a matrix is singular, or not positive definite"
                self._raise(np.linalg.LinAlgError, f"{self.embedding.described}: {text}")
            self._raise(IndexError, f"{self.embedding.described}: an index is out of bounds")

    def _rebuild(self, results: Sequence[tuple[ir.Value, ir.Value | None]]) -> ir.Value:
        """The tree that the function returns."""

        def leaf(slot: int | None, static: object) -> Callable[[types.Type], ir.Value]:
            if slot is None:
                return lambda type_: self.context.get_constant_generic(self.builder, type_, static)
            return lambda _: self._result(slot, *results[slot])

        outputs = self.embedding.outputs
        leaves = iter([leaf(*each) for each in zip(outputs.slots, outputs.static, strict=True)])
        return self._tree(self.signature.return_type, leaves)

    def _tree(self, type_: types.Type, leaves: Iterator[Callable[[types.Type], ir.Value]]) -> ir.Value:
        if isinstance(type_, _TUPLES):
            return self.context.make_tuple(self.builder, type_, [self._tree(each, leaves) for each in type_])
        return self.context.get_dummy_value() if isinstance(type_, types.NoneType) else next(leaves)(type_)

    def _result(self, slot: int, pointer: ir.Value, array: ir.Value | None) -> ir.Value:
        if array is not None:
            return array
        dtype: np.dtype = self.call.signature.results[slot].dtype
        return Emitter(self.builder).load(pointer, dtype)
