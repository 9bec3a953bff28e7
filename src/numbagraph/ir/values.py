"""Values of a graph, interned, and the ops that make them of one another.

Two nodes with the same op, inputs and attributes are the same object, so common subexpressions merge by construction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Union, cast
from weakref import WeakValueDictionary

import numpy as np

from numbagraph.forking import new_lock
from numbagraph.ir.collectors import Requirement, active_collector, with_requirements
from numbagraph.ir.sources import Source
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64, WEAK_TYPES

_lock = new_lock()
_nodes: WeakValueDictionary[Any, Node] = WeakValueDictionary()
_constants: WeakValueDictionary[Any, Constant] = WeakValueDictionary()
_location = threading.local()


def current_source() -> Source | None:
    return getattr(_location, "source", None)


class at_source:
    """A context: nodes made inside come from ``source``. (A class, since a generator would take twice as long.)"""

    __slots__ = ("previous", "source")

    def __init__(self, source: Source | None) -> None:
        self.source = source

    def __enter__(self) -> None:
        self.previous = current_source()
        _location.source = self.source

    def __exit__(self, *error: object) -> None:
        _location.source = self.previous


Extent = Union[int, "Value"]
"""The length of one dimension: a Python int when static, else an integer scalar value of the graph."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Dtype and shape of a value; ``weak`` marks a Python scalar, which adapts to the arrays it meets (NEP 50)."""

    dtype: np.dtype
    shape: tuple[Extent, ...] = ()
    weak: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def with_shape(self, shape: tuple[Extent, ...]) -> ArrayType:
        return ArrayType(self.dtype, shape)

    def __str__(self) -> str:
        if self.weak and not self.shape:
            return f"Python {type(self.dtype.type().item()).__name__}"
        extents = ", ".join(str(extent) for extent in self.shape)
        return f"{'weak ' if self.weak else ''}{self.dtype}[{extents}]"


class Value:
    """A value of a graph. The operators are those of NumPy; ops install them."""

    __slots__ = ("__weakref__", "type")
    type: ArrayType

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    @property
    def shape(self) -> tuple[Extent, ...]:
        return self.type.shape

    @property
    def ndim(self) -> int:
        return len(self.type.shape)

    __array_ufunc__ = None  # a NumPy array on the left defers to the reflected operator
    __iter__ = None  # having `__getitem__` does not make it a sequence: its length may not be known

    def __bool__(self) -> bool:
        raise TypeError("the truth of a graph value is not known while the graph is built")

    if TYPE_CHECKING:
        # installed by the declarations in numbagraph.ops (`operator=`)
        def __add__(self, other: Any) -> Value: ...
        def __radd__(self, other: Any) -> Value: ...
        def __sub__(self, other: Any) -> Value: ...
        def __rsub__(self, other: Any) -> Value: ...
        def __mul__(self, other: Any) -> Value: ...
        def __rmul__(self, other: Any) -> Value: ...
        def __truediv__(self, other: Any) -> Value: ...
        def __rtruediv__(self, other: Any) -> Value: ...
        def __floordiv__(self, other: Any) -> Value: ...
        def __mod__(self, other: Any) -> Value: ...
        def __pow__(self, other: Any) -> Value: ...
        def __matmul__(self, other: Any) -> Value: ...
        def __and__(self, other: Any) -> Value: ...
        def __or__(self, other: Any) -> Value: ...
        def __xor__(self, other: Any) -> Value: ...
        def __invert__(self) -> Value: ...
        def __neg__(self) -> Value: ...
        def __abs__(self) -> Value: ...
        def __lt__(self, other: Any) -> Value: ...
        def __le__(self, other: Any) -> Value: ...
        def __gt__(self, other: Any) -> Value: ...
        def __ge__(self, other: Any) -> Value: ...
        def __getitem__(self, key: Any) -> Value: ...


class Input(Value):
    """An argument of a graph. Each is unique: the graph decides on position and scope."""

    __slots__ = ("name",)

    def __init__(self, type: ArrayType, name: str) -> None:
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"

    def __str__(self) -> str:
        return self.name


class BatchElement(Input):
    """A stand-in for one element of a batch, while the function of one element is traced: it has no value at entry."""

    __slots__ = ()


class Dim(Value):
    """The length of one dimension of an input, known not to be 1 unless ``may_be_one``.

    Broadcasting two of them unifies them: one becomes the other's `representative`, and the equality is
    checked at the function's entry. Unification only ever merges, and only while a function is traced.
    """

    __slots__ = ("_parent", "apart", "assumed", "may_be_one", "name", "traced_as")

    def __init__(
        self, name: str, may_be_one: bool = False, apart: bool = False, *, traced_as: int | None = None
    ) -> None:
        self.type = ArrayType(INT64, (), weak=True)
        self.name = name
        self.may_be_one = may_be_one
        self.apart = apart
        """Whether it is never unified: equalities are checked where statements require them."""
        self.traced_as = traced_as
        """The length in the call for which the function is traced."""
        self.assumed = False
        """Whether it was unified because it is equal in that call, though nothing requires it."""
        self._parent: Extent = self

    @property
    def representative(self) -> Extent:
        parent = self._parent
        while isinstance(parent, Dim) and parent._parent is not parent:
            parent = parent._parent
        self._parent = parent
        return parent

    def unify(self, other: Extent, *, assumed: bool = False) -> None:
        assert self._parent is self
        self._parent, self.assumed = other, assumed

    def __str__(self) -> str:
        representative = self.representative
        return self.name if representative is self else str(representative)

    __repr__ = __str__


class Constant(Value):
    """A small array (mostly a scalar) that is part of the code. Interned bit by bit: 0.0 is not -0.0."""

    __slots__ = ("data",)
    data: np.ndarray

    def __repr__(self) -> str:
        return repr(self.data.item()) if self.type.weak else f"{self.dtype}({self.data.tolist()!r})"


def constant(value: Any, *, dtype: Any = None, weak: bool = False) -> Constant:
    """The constant of ``value``; a Python scalar with ``weak=True`` keeps its weak type."""
    data = np.array(value, dtype=dtype, order="C")
    key = (data.dtype, data.shape, weak, data.tobytes())
    with _lock:
        found = _constants.get(key)
        if found is None:
            data.flags.writeable = False
            found = Constant()
            found.type = ArrayType(data.dtype, data.shape, weak)
            found.data = data
            _constants[key] = found
        return found


Attributes = dict[str, Any]


class Unsupported(Struct):
    """A property that an op lacks, and why: asking for it raises the reason."""

    reason: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(self.reason)


def nowhere(*_operands: object) -> bool:
    return False


def no_shorter_sum(_node: Node, _other: Value) -> None:
    return None


def no_inputs(_node: Node) -> int:
    return 0


def as_it_is(result: Any) -> Any:
    return result


def new_memory(*_args: object, **_kwargs: object) -> None:
    return None


Cotangents = Sequence[Value | Unsupported | None]
"""For each input of a node, its cotangent: None is zero, and `Unsupported` says why there is none."""


class Vjp(Protocol):
    """The derivative of an op, transposed: from the cotangent of its result to those of its inputs.

    ``g`` is the cotangent, of the shape and dtype of the result ``y``; for a joint op it is a mapping from the number
    of a result to its cotangent, without those that are zero, and ``y`` is one of the results. ``inputs`` and
    ``attrs`` are those of the node. Gives a cotangent for each input, in order, of its shape: written in public ops,
    linear in ``g``. A real input of a complex result may be given a complex one, of which the real part is taken.
    The kinds take simpler ones, and make these of them: that of an elementwise op does not sum over what was repeated.

    Each op has its own inputs and attributes: in a type, ``*Any, **Any`` leaves them open.
    """

    def __call__(self, g: Any, y: Value, /, *inputs: Any, **attrs: Any) -> Cotangents: ...


class Batch(Protocol):
    """The op on inputs of which some have one more dimension, on the left: that of the batch.

    ``batched`` says which of ``inputs`` have it; all of these have the same length there, and at least one does.
    ``attrs`` are those of the node; axes in them count from the right, so they mean the same. Gives the stack of the
    results, along a leading dimension.
    """

    def __call__(self, op: Op, inputs: Sequence[Value], batched: Sequence[bool], /, *_: Any, **attrs: Any) -> Value: ...


class Lowering(Struct):
    """A base class that describes how an op becomes part of a loop nest. The layers above check which class of
    `numbagraph.blockwise.lowering` it is: these have little in common, so nothing is declared here."""


class Op(Struct, eq=False):
    """The declaration of one operation. Kinds (`numbagraph.blockwise.kinds`) derive most fields.

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
        ``vjp(g, y, *inputs, **attrs)`` gives the cotangents of the inputs: see `Vjp`.
    batch
        ``batch(op, inputs, batched, **attrs)`` applies the op to inputs with a leading batch dimension: see `Batch`.
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
    lower: Lowering | Unsupported
    vjp: Vjp | Unsupported
    batch: Batch | Unsupported
    jnp: Callable[..., Any] | Unsupported
    samples: Callable[..., Any]
    implements: tuple[Any, ...] = ()
    cost: float = 1.0
    """The time per element relative to an addition, by which fusion weighs recomputation."""
    zero_dim: str = "scalar"
    """The form of a rank-0 result in NumPy: "scalar", a 0-d "array", or that of the first "operand"."""
    multi_result: bool = False
    """Whether nodes that differ in the attribute ``result`` alone are the results of one call. Its vjp takes all their
    cotangents at once, a mapping from the result's number; those that are zero are not in it."""
    selective: bool = False
    """Whether the vjp takes a keyword ``wanted``, a flag for each input: whether its cotangent is asked for."""
    computed: Callable[[Node], int] = no_inputs
    """``computed(node)``: the number of the first inputs that are results computed from the other inputs. The node is
    differentiated with respect to the other inputs alone."""
    captured: Callable[[Node], int] = no_inputs
    """``captured(node)``: the number of the last inputs that the node's rule reads, and gives no cotangents of."""
    plus: Callable[[Node, Value], Value | None] = no_shorter_sum
    """``plus(node, other)``: the sum of a cotangent and another one, where that adds fewer elements than they have."""
    bounds: Callable[[Node], Sequence[tuple[int, Extent]]] = lambda node: ()
    """``bounds(node)``: the inputs that are run-time positions to be checked, by number, and the length of each."""
    ulp: float = 0.0
    """The greatest distance of an element from NumPy's result, in units in the last place; 0 is bit for bit."""
    scale: float = 0.0
    """A magnitude of results below which the error that ``ulp`` allows is not relative to the result: for roots that
    SciPy is not accurate at."""
    determined: Callable[..., Any] = as_it_is
    """A function of a result that gives the part of it that is determined: eigenvectors are, but for a factor of
    each."""
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
    logarithm_of: tuple[int, ...] = ()
    """The number of the operand, if there is one, that the vjp divides by and does nothing else with: it is given the
    factors of a product there, one by one."""
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


class Node(Value):
    """An application of an op. ``attrs`` are hashable and static; what is known only at run time is an input."""

    __slots__ = ("attributes", "inputs", "op", "required", "source")
    op: Op
    inputs: tuple[Value, ...]
    attributes: tuple[tuple[str, Any], ...]
    source: Source | None
    required: tuple[Requirement, ...]
    """The requirements of its type on lengths."""

    @property
    def attrs(self) -> dict[str, Any]:
        return dict(self.attributes)

    def __repr__(self) -> str:
        return f"{self.op.name}: {self.type}"

    def __str__(self) -> str:
        """Return the expression, which is short for an extent; of a long one, its top."""
        return self._text(3)

    def _text(self, depth: int) -> str:
        inputs = (each._text(depth - 1) if isinstance(each, Node) else str(each) for each in self.inputs)
        return f"{self.op.name}({', '.join(inputs)})" if depth else "..."


def make_node(
    op: Op, inputs: tuple[Value, ...], attributes: tuple[tuple[str, Any], ...], infer: Callable[[], ArrayType]
) -> Node:
    """Return the interned node; ``infer`` is only called for its type when it is new. Its requirements are added to the
    active collector each time, also for a node that is made again, such as in a loop body that is traced twice."""
    key = (op, inputs, attributes)
    node = _nodes.get(key)
    if node is None:
        node = _intern(key, *with_requirements(infer))
    collector = active_collector()
    if collector is not None:
        for guard in node.required:
            collector.add(guard)
        if collector.watch is not None:
            collector.watch(node)
    return node


def _intern(key: tuple[Any, ...], type_: ArrayType, required: tuple[Requirement, ...]) -> Node:
    with _lock:
        node = _nodes.get(key)
        if node is None:
            node = Node()
            node.op, node.inputs, node.attributes = key
            node.type, node.required, node.source = type_, required, current_source()
            _nodes[key] = node
        return node


def extent_values(type: ArrayType) -> Iterator[Value]:
    """The symbolic extents of a type."""
    for extent in type.shape:
        if isinstance(extent, Value):
            yield extent


def toposort(outputs: Iterable[Value], known: Iterable[Value] = ()) -> list[Value]:
    """Every value that ``outputs`` depend on, inputs first; stops at ``known`` values. Iterative: graphs are deep."""
    order: list[Value] = []
    seen: set[Value] = set()
    ends = known if isinstance(known, (dict, set, frozenset)) else set(known)  # no copy of what grows from call to call
    stack: list[Value | None] = [*outputs]
    stack.reverse()
    while stack:
        value = stack.pop()
        if value is None:  # the inputs of the one below are in order
            order.append(cast(Value, stack.pop()))
        elif value not in seen and value not in ends:
            seen.add(value)
            if isinstance(value, Node) and value.inputs:
                stack += (value, None, *reversed(value.inputs))
            else:
                order.append(value)
    return order


def python_type(type: ArrayType) -> type | None:
    """The Python scalar type of a weak value."""
    return WEAK_TYPES[type.dtype] if type.weak else None
