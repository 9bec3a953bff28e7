"""The immutable graph: interned values, and `Graph`, a function from inputs to outputs.

Two nodes with the same op, inputs and attributes are the same object, so common subexpressions merge by
construction, dead code is what nobody references, and a pass is a function from graph to graph.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from numbagraph.forking import new_lock
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.types import INT64, WEAK_TYPES, ArrayType, Extent

if TYPE_CHECKING:
    from numbagraph.ir.op import Op

_lock = new_lock()
_nodes: WeakValueDictionary[Any, Node] = WeakValueDictionary()
_constants: WeakValueDictionary[Any, Constant] = WeakValueDictionary()
_location = threading.local()


@dataclass(frozen=True, slots=True)
class Source:
    """A line of the user's code."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


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


class Value:
    """Anything a graph computes with. The operators are those of NumPy; ops install them."""

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
    """An argument of a graph. Each is unique: position and scope are the graph's matter."""

    __slots__ = ("name",)

    def __init__(self, type: ArrayType, name: str) -> None:
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"

    def __str__(self) -> str:
        return self.name


class BatchElement(Input):
    """Stands for one element of a batch while it is found out what is done to one: at entry it has no value."""

    __slots__ = ()


class Dim(Value):
    """The length of one dimension of an input, known not to be 1 unless ``may_be_one``.

    Broadcasting two of them unifies them: one becomes the other's `representative`, and the equality is
    checked at the function's entry. Unification only ever merges, and only while a function is traced.
    """

    __slots__ = ("_parent", "may_be_one", "name")

    def __init__(self, name: str, may_be_one: bool = False) -> None:
        self.type = ArrayType(INT64, (), weak=True)
        self.name = name
        self.may_be_one = may_be_one
        self._parent: Extent = self

    @property
    def representative(self) -> Extent:
        parent = self._parent
        while isinstance(parent, Dim) and parent._parent is not parent:
            parent = parent._parent
        self._parent = parent
        return parent

    def unify(self, other: Extent) -> None:
        assert self._parent is self
        self._parent = other

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


class Node(Value):
    """An application of an op. ``attrs`` are hashable and static; what is known only at run time is an input."""

    __slots__ = ("attributes", "inputs", "op", "source")
    op: Op
    inputs: tuple[Value, ...]
    attributes: tuple[tuple[str, Any], ...]
    source: Source | None

    @property
    def attrs(self) -> dict[str, Any]:
        return dict(self.attributes)

    def __repr__(self) -> str:
        return f"{self.op.name}: {self.type}"

    def __str__(self) -> str:
        """The expression, for the short ones that extents are; of a long one, its top."""
        return self._text(3)

    def _text(self, depth: int) -> str:
        inputs = (each._text(depth - 1) if isinstance(each, Node) else str(each) for each in self.inputs)
        return f"{self.op.name}({', '.join(inputs)})" if depth else "..."


def make_node(
    op: Op, inputs: tuple[Value, ...], attributes: tuple[tuple[str, Any], ...], infer: Callable[[], ArrayType]
) -> Node:
    """The interned node; ``infer`` is only asked for its type when it is new."""
    key = (op, inputs, attributes)
    node = _nodes.get(key)
    if node is not None:
        return node
    type_ = infer()
    with _lock:
        node = _nodes.get(key)
        if node is None:
            node = Node()
            node.op, node.inputs, node.attributes, node.type = op, inputs, attributes, type_
            node.source = current_source()
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
    seen: set[Value] = set(known)
    stack: list[tuple[Value, bool]] = [(value, False) for value in reversed(list(outputs))]
    while stack:
        value, ready = stack.pop()
        if ready:
            order.append(value)
        elif value not in seen:
            seen.add(value)
            stack.append((value, True))
            if isinstance(value, Node):
                stack.extend((source, False) for source in reversed(value.inputs) if source not in seen)
    return order


class Guard(Struct):
    """A condition (boolean scalar) that must hold at entry; ``subject`` says what it protects, for people."""

    condition: Value
    subject: str
    source: Source | None
    error: type[Exception] = ValueError


class DimEquality(Struct):
    """Two lengths that a function's own broadcasting says are equal; checked at entry."""

    dim: Dim
    other: Extent
    subject: str
    source: Source | None
    error: type[Exception]


class Graph(Struct):
    """A function: inputs, outputs, and what must hold for it to be run."""

    inputs: tuple[Input, ...]
    outputs: tuple[Value, ...]
    guards: tuple[Guard, ...] = ()
    equalities: tuple[DimEquality, ...] = field(default=(), compare=False)
    name: str = "f"

    @cached_property
    def order(self) -> tuple[Value, ...]:
        """Every value in dependency order."""
        return tuple(toposort(self.outputs))

    def with_outputs(self, outputs: Iterable[Value], guards: Iterable[Guard] | None = None) -> Graph:
        kept = self.guards if guards is None else tuple(guards)
        return Graph(self.inputs, tuple(outputs), kept, self.equalities, self.name)

    def __str__(self) -> str:
        from numbagraph.inspect.printing import graph_as_python  # noqa: PLC0415  it stands above this file

        return graph_as_python(self)


def content_hash(graph: Graph, *salt: str) -> str:
    """A hash of what the graph computes: equal for equal graphs of two processes, whatever their names."""
    numbers: dict[Value, str] = {}
    digest = hashlib.blake2b("\n".join(salt).encode(), digest_size=20)

    def extent_key(extent: Extent) -> str:
        if isinstance(extent, Dim):
            extent = extent.representative
        return str(extent) if isinstance(extent, int) else number(extent)

    def number(value: Value) -> str:
        if value not in numbers:
            for each in toposort([value], known=numbers):
                describe(each)
        return numbers[value]

    def describe(value: Value) -> None:
        if isinstance(value, Dim):
            representative = value.representative
            if representative is not value:
                numbers[value] = extent_key(representative)
                return
            text = "dim"
        elif isinstance(value, Constant):
            text = f"constant {value.dtype.str} {value.shape} {value.type.weak} {value.data.tobytes().hex()}"
        elif isinstance(value, Node):
            sources = " ".join(numbers[each] for each in value.inputs)
            text = f"{value.op.name} {sources} {attributes_key(value.attributes)}"
        else:
            raise ValueError(f"{value!r} is not an input of the graph")
        numbers[value] = f"%{len(numbers)}"
        digest.update(f"{text}\n".encode())

    for position, value in enumerate(graph.inputs):
        extents = ",".join(extent_key(extent) for extent in value.shape)
        numbers[value] = f"%{len(numbers)}"
        digest.update(f"input {position} {value.dtype.str} {extents} {value.type.weak}\n".encode())
    for output in graph.outputs:
        extents = ",".join(extent_key(extent) for extent in output.shape)
        digest.update(f"output {number(output)} {extents} {output.type.weak}\n".encode())
    for equality in graph.equalities:
        digest.update(f"equal {id_of(equality.dim, graph)} {extent_key(equality.dim)}\n".encode())
    for guard in graph.guards:
        digest.update(f"guard {number(guard.condition)}\n".encode())
    return digest.hexdigest()


def id_of(dim: Dim, graph: Graph) -> str:
    """Where ``dim`` stands among the inputs' extents."""
    for position, value in enumerate(graph.inputs):
        for axis, extent in enumerate(value.shape):
            if extent is dim:
                return f"{position}.{axis}"
    return "computed"


def attributes_key(attributes: tuple[tuple[str, Any], ...]) -> str:
    return repr([(name, content_hash(item) if isinstance(item, Graph) else item) for name, item in attributes])


def substitute(outputs: Iterable[Value], replacements: Mapping[Value, Value]) -> list[Value]:
    """``outputs`` with some values replaced, rebuilt through each op (types follow from the new inputs)."""
    mapped: dict[Value, Value] = dict(replacements)
    outputs = list(outputs)
    for value in toposort(outputs, known=mapped):
        if isinstance(value, Node):
            inputs = tuple(mapped[source] for source in value.inputs)
            if inputs == value.inputs:
                mapped[value] = value
            else:
                with at_source(value.source):
                    mapped[value] = value.op.bind(*inputs, **value.attrs)
        else:
            mapped[value] = value
    return [mapped[output] for output in outputs]


def python_type(type: ArrayType) -> type | None:
    """The Python scalar type of a weak value."""
    return WEAK_TYPES[type.dtype] if type.weak else None
