"""Compiled functions inside of JAX: native code that XLA calls on the CPU (`jax.ffi`), with reverse mode and `vmap`."""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optree
from jax.custom_batching import custom_vmap
from jax.dtypes import canonicalize_dtype, float0
from llvmlite import ir

from numbagraph.api.differentiation import vjp
from numbagraph.api.vmap import vmap
from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.builtins.numbers import weakened
from numbagraph.emit.c_function import fixed_address
from numbagraph.emit.xla_function import Texts, emit_xla_function
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.jax_bridge.traced_calls import bound
from numbagraph.jit.binding import Arguments
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.jit.version import Traced, trace
from numbagraph.runtime.arguments import Abstract, describe, flatten
from numbagraph.runtime.callbacks import symbols_for_c
from numbagraph.runtime.compile import Library, compile_module
from numbagraph.runtime.embedding import Embedding
from numbagraph.runtime.specialise import Specialisation, compiling, signature_of
from numbagraph.tracing.static_lengths import known_shape, with_lengths
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import Tracer, to_value

HANDLER = "xla_handler"
_numbers = itertools.count()
KNOWN_MAJOR = 0
PYTHON_DTYPES = {"b": bool, "i": np.int64, "f": np.float64, "c": np.complex128}
Call = Callable[[list[Any]], Any]
"""The user's function, as one of its leaves."""
Flat = Callable[[Sequence[Tracer]], tuple[Tracer, ...]]
"""A function from leaves to leaves."""


def native(function: Callable[..., Any]) -> Callable[..., Any]:
    """Implement `numbagraph.to_jax` with ``native=True``."""
    if not callable(function):
        raise TypeError(f"to_jax takes functions, not {function!r}")
    compiled = function if isinstance(function, GraphFunction) else GraphFunction(function)
    if compiled.backend != "numba":
        compiled = GraphFunction(compiled.function, **{**compiled.definition.options, "backend": "numba"})
    known: dict[Any, Native] = {}

    @functools.wraps(compiled.function)
    @for_users
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments, given = bound(compiled, args, kwargs)
        arrays = [jax.numpy.asarray(leaf) for leaf in given]
        is_weak = tuple(not isinstance(leaf, Abstract) for leaf in arguments.leaves)
        key = (arguments.key, is_weak, canonicalize_dtype(np.float64))
        if key not in known:
            known[key] = Native(compiled, arguments, is_weak)
        return known[key].filled(arrays)

    return call


class Tree(Struct, eq=False):
    """The tree of the results that the user's function returns."""

    spec: optree.PyTreeSpec
    constants: tuple[Any, ...]
    """The constant value of each leaf; None for a result."""

    def filled(self, results: Sequence[Any]) -> Any:
        found = iter(results)
        leaves = [next(found) if each is None else each for each in self.constants]
        return optree.tree_unflatten(self.spec, leaves)


class Target(Struct, eq=False):
    """Native code that XLA knows by its name."""

    name: str
    types: tuple[jax.ShapeDtypeStruct, ...]
    slots: tuple[int, ...]
    """For each result of the flat function, the number of the native code's result that holds it."""
    tree: Tree
    owners: tuple[Any, ...]
    """Objects that must live as long as XLA may call the target."""


_REGISTERED: list[Target] = []
"""All registered targets. XLA never forgets a target, so none is ever freed."""


class Program:
    """A flat function of JAX's arrays that native code computes, for any shapes of them."""

    def __init__(self, function: GraphFunction[..., Any], arguments: Arguments) -> None:
        self.function = function
        self.arguments = arguments
        self.targets: dict[Any, Target] = {}
        self.made: dict[Any, Program] = {}
        self.of_jax: dict[Any, Callable[..., tuple[Any, ...]]] = {}
        self.tree = Tree(flatten(())[1], ())

    def flat(self, call: Call) -> Flat:
        """The function of leaves that is traced."""
        raise NotImplementedError

    def target(self, arrays: Sequence[Any]) -> Target:
        types = tuple((tuple(each.shape), np.dtype(each.dtype)) for each in arrays)
        if any(not isinstance(extent, int) for shape, _ in types for extent in shape):
            raise TypeError(
                f"{self.function._described} is called with lengths that JAX leaves open, and native code inside of "
                "JAX is made for known ones: export to_jax(f) without native=True"
            )
        key = (self.function.versions.reach(self.arguments), types)
        if key not in self.targets:
            with self.function.versions.lock:
                made = self.function.versions.make(
                    self.arguments, lambda call, converts: self.embedding(self.flat(call), types, converts)
                )
                made.require_valid(self.function._described)
                embedding, shapes = made.found
                self.targets[made.reach, types] = registered(embedding, shapes, self.function._described, self.tree)
                key = (made.reach, types)
        return self.targets[key]

    def embedding(
        self, flat: Flat, types: Sequence[tuple[tuple[int, ...], np.dtype]], converts: bool
    ) -> tuple[Embedding, list[tuple[int, ...]]]:
        described, name = self.function._described, f"xla{next(_numbers)}"
        names = [f"argument {number}" for number in range(len(types))]
        layouts = [describe(Abstract(*each), names[number])[0] for number, each in enumerate(types)]
        shapes = [shape for shape, _ in types]

        def call(tracers: list[Tracer]) -> tuple[Tracer, ...]:
            with_lengths(tracers, shapes)
            return flat(tracers)

        traced: Traced = trace(
            call, layouts, names, name, described, converts=converts, stabilise=self.function.definition.stabilise
        )
        if traced.outputs.has_effects:
            raise NotImplementedError(f"{described} prints (debug_print), which is for calls from Python")
        signature = signature_of(traced.graph, traced.leaves, len(traced.captured), traced.outputs.single)
        special = Specialisation(traced.graph, signature, traced.captured, f"{name}.0")
        return Embedding((special,), False, tuple(range(len(types))), traced.outputs, described), shapes

    def run(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The results, as XLA computes them."""
        target = self.target(arrays)
        found = jax.ffi.ffi_call(target.name, target.types)(*arrays)
        return tuple(found[slot] for slot in target.slots)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Call the function on arrays of JAX, by a JAX function for the present state of the objects that it reads:
        from JAX 0.11 on, a function with derivatives of its own is traced once for types of its arguments, and never
        again."""
        self.target(arrays)
        reach = self.function.versions.reach(self.arguments)
        if reach not in self.of_jax:
            self.of_jax[reach] = self.ruled()
        return self.of_jax[reach](*arrays)

    def ruled(self) -> Callable[..., tuple[Any, ...]]:
        """The function with its rules for `jax.grad` and `jax.vmap`, which are native code as well."""

        @custom_vmap
        def mapped(*arrays: Any) -> tuple[Any, ...]:
            return self.run(arrays)

        @mapped.def_vmap
        def over_a_batch(_: int, is_batched: Sequence[bool], *arrays: Any) -> tuple[tuple[Any, ...], Any]:
            found = self.over(tuple(is_batched))(*arrays)
            return found, (True,) * len(found)

        @jax.custom_vjp
        def differentiated(*arrays: Any) -> tuple[Any, ...]:
            return mapped(*arrays)

        def forward(*arrays: Any) -> tuple[Any, Any]:
            return differentiated(*arrays), arrays

        def backward(arrays: Sequence[Any], cotangents: Sequence[Any]) -> tuple[Any, ...]:
            given = [jax.numpy.asarray(each) for each in cotangents if getattr(each, "dtype", None) != float0]
            if not given or not any(map(has_slope, arrays)):
                return tuple(map(no_slope, arrays))
            slopes = iter(self.pullback(len(arrays))(*arrays, *given))
            return tuple(next(slopes) if has_slope(each) else no_slope(each) for each in arrays)

        differentiated.defvjp(forward, backward)
        return differentiated

    def pullback(self, count: int) -> Program:
        """The derivative of a function with ``count`` arguments."""
        return self.made.setdefault(count, Pullback(self, count))

    def over(self, is_batched: tuple[bool, ...]) -> Program:
        """The function over batches of the arguments that are batched."""
        return self.made.setdefault(is_batched, Batch(self, is_batched))


class Native(Program):
    """The user's function; results are of dtypes that JAX's configuration allows."""

    def __init__(self, function: GraphFunction[..., Any], arguments: Arguments, is_weak: tuple[bool, ...]) -> None:
        super().__init__(function, arguments)
        self.is_weak = is_weak

    def flat(self, call: Call) -> Flat:
        def flat(tracers: Sequence[Tracer]) -> tuple[Tracer, ...]:
            given = [number(each) if weak else each for each, weak in zip(tracers, self.is_weak, strict=True)]
            leaves, spec = flatten(call(given))
            self.tree = Tree(spec, tuple(None if isinstance(each, Tracer) else each for each in leaves))
            return tuple(canonical(each) for each in leaves if isinstance(each, Tracer))

        return flat

    def filled(self, arrays: Sequence[Any]) -> Any:
        """The tree of results of the user's function."""
        return self.target(arrays).tree.filled(self(*arrays))


class Pullback(Program):
    """The pullback of a function: from the arguments and the results' cotangents to the cotangents of the arguments
    that are no integers."""

    def __init__(self, of: Program, count: int) -> None:
        super().__init__(of.function, of.arguments)
        self.of = of
        self.count = count

    def flat(self, call: Call) -> Flat:
        inner = self.of.flat(call)

        def flat(tracers: Sequence[Tracer]) -> tuple[Tracer, ...]:
            arguments, cotangents = tracers[: self.count], tuple(tracers[self.count :])
            places = [place for place, each in enumerate(arguments) if has_slope(each)]

            def of_points(*points: Tracer) -> tuple[Tracer, ...]:
                given = list(arguments)
                for place, point in zip(places, points, strict=True):
                    given[place] = point
                return tuple(each for each in inner(given) if has_slope(each))

            _, pull = vjp(of_points, *(arguments[place] for place in places))
            return pull(cotangents)

        return flat


class Batch(Program):
    """A function over batches of some arguments, along their first dimension."""

    def __init__(self, of: Program, is_batched: tuple[bool, ...]) -> None:
        super().__init__(of.function, of.arguments)
        self.of = of
        self.axes = tuple(0 if each else None for each in is_batched)

    def flat(self, call: Call) -> Flat:
        inner = self.of.flat(call)

        def of_one(*tracers: Tracer) -> tuple[Tracer, ...]:
            return inner(tracers)

        return lambda tracers: vmap(of_one, in_axes=self.axes)(*tracers)


def has_slope(array: Any) -> bool:
    return array.dtype.kind in "fc"


def no_slope(array: Any) -> Any:
    """The cotangent of an argument that JAX takes for constant; zeros for an array of floats."""
    return jax.numpy.zeros_like(array) if has_slope(array) else np.zeros(array.shape, float0)


def number(tracer: Tracer) -> Tracer:
    """Convert an array of JAX to a Python number."""
    return Tracer(weakened(tracer.value, np.dtype(PYTHON_DTYPES[tracer.dtype.kind])))


def canonical(tracer: Tracer) -> Tracer:
    """Convert a result to the dtype that JAX's configuration allows."""
    value = as_value(to_value(tracer))
    return Tracer(registry["cast"](value, np.dtype(canonicalize_dtype(value.dtype))))


def registered(embedding: Embedding, shapes: Sequence[tuple[int, ...]], described: str, tree: Tree) -> Target:
    """Compile native code, and register it with XLA."""
    (special,) = embedding.versions
    outputs = special.graph.outputs
    types = tuple(jax.ShapeDtypeStruct(known_shape(each, "native code inside of JAX"), each.dtype) for each in outputs)
    module = ir.Module(HANDLER)
    emit_xla_function(
        module,
        HANDLER,
        special.signature.arguments,
        shapes,
        [each.shape for each in types],
        interface_version(),
        texts(embedding, described),
        lambda builder: embedding.call(builder, fixed_address, symbols_for_c),
    )
    with compiling:
        library = Library(compile_module(str(module)), {})
    # No process uses the name of another one: XLA's cache on disk may hold programs that call it.
    name = f"numbagraph_{uuid.uuid4().hex}"
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(library.address(HANDLER))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(function), platform="cpu")
    slots = tuple(slot for slot in embedding.outputs.slots if slot is not None)
    target = Target(name, types, slots, tree, (library, embedding, function))
    _REGISTERED.append(target)
    return target


def texts(embedding: Embedding, described: str) -> Texts:
    return Texts(
        refused=tuple(each.message for each in embedding.failures),
        failed=f"{described}: an index is out of bounds, a system has no solution, or a check does not hold. Called on "
        "NumPy's arrays, the function raises the error itself",
        out_of_memory=f"{described}: there is no memory for temporaries",
    )


@functools.cache
def interface_version() -> tuple[int, int]:
    """The version of XLA's foreign function interface, as the header that comes with it says."""
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text(encoding="utf-8")
    major, minor = (
        int(re.search(rf"#define XLA_FFI_API_{part} (\d+)", header)[1])  # type: ignore[index]
        for part in ("MAJOR", "MINOR")
    )
    if major != KNOWN_MAJOR:
        raise NotImplementedError(
            f"XLA's foreign function interface has version {major}.{minor}, and native=True knows {KNOWN_MAJOR}: "
            "use to_jax(f) without it"
        )
    return major, minor
