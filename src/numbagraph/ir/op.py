"""The op record, and the registry in which every facet of every op is derived, given or refused with a reason."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from numbagraph.ir.graph import Input, Node, Value, make_node
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import ArrayType

Attributes = dict[str, Any]


class Unsupported(Struct):
    """A facet that an op lacks, and why: asking for it raises the reason."""

    reason: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(self.reason)


def nowhere(*_operands: Any) -> bool:
    return False


def no_inputs(_node: Any) -> int:
    return 0


def as_it_is(result: Any) -> Any:
    return result


def new_memory(*_args: Any, **_kwargs: Any) -> None:
    return None


class Op(Struct, eq=False):
    """Everything numbagraph knows of one operation. Kinds (`numbagraph.blockwise.kinds`) derive most fields.

    Attributes
    ----------
    name
        The public name, as in NumPy.
    kind
        Which kind declared it; passes ask for the kind's traits (`lower`), not for names.
    reference
        ``reference(*arrays, **attrs)`` computes the op with NumPy: the specification, and the NumPy backend.
    infer
        ``infer(*inputs, **attrs) -> ArrayType``: dtype and shape of the result; requires what the inputs must fulfil.
    frontend
        ``frontend(op, *args, **kwargs) -> Value``: takes what a NumPy user passes, promotes, and binds.
    lower
        How the op becomes part of a loop nest: an instance of a class of `numbagraph.blockwise.lowering`.
    vjp
        ``vjp(g, y, *inputs, **attrs)`` gives one cotangent (or None, or why there is none) an input, in public ops.
    batch
        ``batch(op, inputs, batched, **attrs)`` applies the op to inputs with a leading batch dimension.
    jnp
        ``jnp(*arrays, **attrs)``: the same with `jax.numpy`.
    samples
        ``samples(rng, dtype)`` yields argument tuples for the frontend, from which the tests follow.
    implements
        The NumPy (or SciPy, as "module:name") functions that a traced call of which becomes this op.
    """

    name: str
    kind: str
    reference: Callable[..., Any]
    infer: Callable[..., ArrayType]
    frontend: Callable[..., Value]
    lower: Any
    vjp: Callable[..., Sequence[Any]] | Unsupported
    batch: Callable[..., Value] | Unsupported
    jnp: Callable[..., Any] | Unsupported
    samples: Callable[..., Any]
    implements: tuple[Any, ...] = ()
    cost: float = 1.0
    """Time an element relative to an addition: what fusion weighs recomputation with."""
    zero_dim: str = "scalar"
    """What NumPy returns for a rank-0 result: "scalar" or a 0-d "array"."""
    joint: bool = False
    """Whether nodes that differ in the attribute ``result`` alone are the results of one call. Its vjp takes all their
    cotangents at once, a mapping from the result's number; those that are zero are not in it."""
    computed: Callable[[Any], int] = no_inputs
    """``computed(node)``: how many of the first inputs are results that were computed from the other inputs, by which
    alone they are differentiated."""
    bounds: Callable[[Any], Sequence[tuple[int, Any]]] = lambda node: ()
    """``bounds(node)``: the inputs that are run-time positions to be checked, by number, and the length of each."""
    ulp: float = 0.0
    """How far from NumPy's result an element may be, in units in the last place; 0 is bit for bit."""
    scale: float = 0.0
    """A magnitude below which such errors are not relative to the result: for roots that SciPy is not accurate at."""
    determined: Callable[..., Any] = as_it_is
    """What is determined of a result, as a function of it: eigenvectors are, but for a factor of each."""
    regular: bool = False
    """Whether results are determined for matrices of full rank only: the others are not for comparisons."""
    operator: str = ""
    """Python's operator for it, such as "add" for ``+``: graphs are printed with it."""
    commutative: bool = False
    """Whether the two operands may be exchanged: rules match either order."""
    view_of: Callable[..., Any] = new_memory
    """``view_of(*args, **kwargs)``: the operand whose memory NumPy's results share, or a tuple of one for each result;
    None where a result has memory of its own."""
    may_copy: bool = False
    """Whether NumPy gives a copy in place of a view where the operand's strides allow no view."""
    kinks: Callable[..., Any] = nowhere
    """``kinks(*operands)``: whether derivatives of an elementwise op jump there. One that does is the mean of both
    sides, as JAX has it: 0 for ``abs`` at 0, a half for each of two operands that tie."""

    def bind(self, *inputs: Value, **attrs: Any) -> Value:
        """The node of this op on inputs that are already promoted."""
        attributes = tuple(sorted(attrs.items())) if len(attrs) > 1 else tuple(attrs.items())
        return make_node(self, inputs, attributes, lambda: self.infer(*inputs, **attrs))

    def __call__(self, *args: Any, **kwargs: Any) -> Value:
        return self.frontend(self, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def boxing(value: Value) -> str:
    """What a rank-0 result becomes in Python, as NumPy (or, for weak values, Python itself) would have it."""
    if value.type.weak:
        return "python"
    if value.ndim:
        return "array"
    if isinstance(value, Node):
        return value.op.zero_dim
    return "scalar" if isinstance(value, Input) else "array"  # a constant is what a creation function gave


class Registry:
    """Ops by name and by the NumPy function that they implement."""

    def __init__(self) -> None:
        self._ops: dict[str, Op] = {}
        self._by_function: dict[Any, Op] = {}
        self._lazy: dict[str, list[tuple[str, Op]]] = {}

    def register(self, op: Op) -> Op:
        missing = [name for name in op.__fields__ if getattr(op, name) is None]
        if missing:
            raise TypeError(f"op {op.name!r} leaves {', '.join(missing)} open: give it, or Unsupported(reason)")
        if op.name in self._ops:
            raise ValueError(f"op {op.name!r} is declared twice")
        self._ops[op.name] = op
        for function in op.implements:
            if isinstance(function, str):
                self._lazy.setdefault(function.rpartition(":")[2], []).append((function, op))
            else:
                self._by_function[function] = op
        return op

    def __getitem__(self, name: str) -> Op:
        return self._ops[name]

    def __contains__(self, name: str) -> bool:
        return name in self._ops

    def __iter__(self) -> Iterator[Op]:
        return iter(self._ops.values())

    def find(self, function: Any) -> Op | None:
        """The op that implements a NumPy or SciPy function, or None.

        SciPy's functions are declared by name, so that SciPy is imported only where a user has done so.
        """
        try:
            return self._by_function[function]
        except (KeyError, TypeError):
            pass
        for path, op in self._lazy.get(getattr(function, "__name__", ""), ()):
            if load(path) is function:
                self._by_function[function] = op
                return op
        return None


def load(path: str) -> Any:
    """The object at "module:name"."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def numpy_function(op: Op) -> Callable[..., Any] | None:
    """What NumPy or SciPy call an op; None for an op that is numbagraph's own."""
    if not op.implements:
        return None
    first = op.implements[0]
    if isinstance(first, tuple):
        ufunc, method = first
        return getattr(ufunc, method)
    return load(first) if isinstance(first, str) else first


def is_elementwise(function: Any) -> bool:
    """Whether NumPy or SciPy broadcast the operands to the array that the result is written into."""
    function = numpy_function(function) if isinstance(function, Op) else function
    return isinstance(function, np.ufunc) and function.signature is None


def lazy(path: str) -> Callable[..., Any]:
    """A function that imports "module:name" when it is first called."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return load(path)(*args, **kwargs)

    call.__name__ = path.rpartition(":")[2]
    return call


registry = Registry()


def quiet(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy reference without floating-point warnings: compiled code gives none."""
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)
