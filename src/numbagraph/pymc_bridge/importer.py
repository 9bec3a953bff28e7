"""Translates PyTensor's graphs to numbagraph's: one short function for each op of PyTensor, found by the op's class.

The functions build nodes through the ops' own front ends, which check shapes and dtypes as they do for NumPy code.
PyTensor's dtypes are explicit, so there are no weak scalars, and each result is converted to the dtype of its PyTensor
type. A length that PyTensor does not know is one symbol: broadcasting against it is an error, there as here (but where
part of an array is replaced, PyTensor repeats an update of length 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from math import prod
from typing import Any

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort
from pytensor.scalar.basic import ScalarType

from numbagraph.blockwise.promotion import LARGEST_CONSTANT, convert
from numbagraph.forking import import_module
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, guard_values, substitute, with_guard_values
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import ArrayType, Dim, Extent, Input, Node, Value, at_source, constant
from numbagraph.ir.values import Constant as GraphConstant
from numbagraph.ops.shape import broadcast_value, expand_at
from numbagraph.pymc_bridge.branch_graphs import Branches, entering
from numbagraph.pymc_bridge.origin import expression, origin_of
from numbagraph.pymc_bridge.parametrisations import PARAMETRISATIONS
from numbagraph.pymc_bridge.translations.assertions import Requirement, with_checks
from numbagraph.pymc_bridge.translations.sparse_matrix import (
    COMPRESSED,
    KnownPattern,
    SparseMatrix,
    coordinates,
    of_numbers,
)
from numbagraph.rewrite.canonical import BEFORE_GRADIENT
from numbagraph.rewrite.engine import rewrite_values
from numbagraph.rewrite.fold_captured import fold_captured
from numbagraph.rewrite.masks import guards_without_masks
from numbagraph.transforms.interpret import evaluate

Handler = Callable[..., Any]
"""``handler(importer, node, *inputs)`` returns the value (or a sequence of values) for an application of an op."""

_handlers: dict[type, Handler] = {}
_choices: set[type] = set()
_movers: set[Handler] = set()

LATER = {
    "pytensor.sparse": (
        "numbagraph.pymc_bridge.translations.sparse",
        "numbagraph.pymc_bridge.translations.sparse_products",
        "numbagraph.pymc_bridge.translations.sparse_items",
    ),
    "pytensor.xtensor": ("numbagraph.pymc_bridge.translations.named_dimensions",),
    "pytensor.tensor.optimize": ("numbagraph.pymc_bridge.translations.optimisation",),
}
"""The modules with translations that few models need, by the package or module of PyTensor that has the ops."""


BY_PYTENSOR = (
    'PyTensor runs it, and native code the rest, in pm.sample and pm.fit with compile_kwargs={"mode": "NUMBAGRAPH"}. '
    "Instead of it, to_pytensor takes a NumPy function into the model, with derivatives, and numbagraph.pure_callback "
    "takes any Python function into that"
)
"""Advice for an op without a translation."""


class UnsupportedOp(NotImplementedError):
    """An op of PyTensor that has no translation."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.located = False
        if advice:
            self.add_note(f"  {advice}")

    def locate(self, where: object) -> None:
        """Record the place where the user wrote the code that needs the op; the innermost place counts."""
        if not self.located:
            self.add_note(f"  at {where}")
        self.located = True


def imports(*classes: type, moves: bool = False) -> Callable[[Handler], Handler]:
    """Declare the translation of the ops of some classes. With ``moves``, they move numbers, which may be wider
    integers than PyTensor's types say (see `running_dtype`)."""

    def declare(handler: Handler) -> Handler:
        if moves:
            _movers.add(handler)
        for each in classes:
            if each in _handlers:
                raise ValueError(f"{each.__name__} has a translation already")
            _handlers[each] = handler
        return handler

    return declare


def chooses(*classes: type) -> Callable[[Handler], Handler]:
    """Declare the translation of ops that choose between branches: it gets the condition, and translates the rest
    itself."""
    _choices.update(classes)
    return imports(*classes)


def is_choice(node: Apply) -> bool:
    return type(node.op) in _choices


def handler_of(op: Any) -> Handler | None:
    """The translation of an op: that of its class, or of the nearest class that it inherits from."""
    module = type(op).__module__
    package = ".".join(module.split(".")[:2])
    for each in (*LATER.get(package, ()), *LATER.get(module, ())):
        import_module(each)
    return next((_handlers[each] for each in type(op).__mro__ if each in _handlers), None)


class ImportedGraph(Graph):
    """A graph whose last inputs are arrays that were constants in PyTensor."""

    captured: tuple[np.ndarray, ...] = field(default=(), compare=False)


class Importer:
    """One translation: the value of each variable of PyTensor."""

    def __init__(self, inputs: Iterable[Variable] = (), *, check_parameters: bool = True) -> None:
        self.values: dict[Variable, Any] = {}
        self.arrays: dict[Input, np.ndarray] = {}
        self.constancy: dict[Value, bool] = {}
        """Whether values depend on constants alone, as far as that has been found out."""
        self.read: dict[Any, Any] = {}
        """The contents of shared variables whose values are taken as they are."""
        self.doubted: set[Variable] = set()
        """Variables that have other lengths than their types say, and variables that follow from these."""
        self.requirements: list[Requirement] = []
        self.check_parameters = check_parameters
        """Whether parameters of distributions are checked."""
        self.outer: Importer | None = None
        """In one branch of a choice, the importer of the graph around it."""
        self.taken: Value | None = None
        """The condition under which the branch is taken."""
        self.entered: list[Value] = []
        """The values that the branch uses and does not compute itself."""
        self.branches: Branches | None = None
        self.python_calls: Callable[[Importer, Apply], list[Value] | None] = lambda importer, node: None
        """Computes the values of an op that is Python alone; None where it must not, or cannot."""
        for variable in inputs:
            self.values[variable] = input_of(variable)

    def __call__(self, variable: Variable) -> Any:
        """Translate a variable. There is no recursion, since graphs are deep."""
        stack = [variable]
        while stack:
            top = stack[-1]
            if self.knows(top):
                stack.pop()
            elif top.owner is None:
                self.values[top] = self.leaf(top)
            else:
                if is_choice(top.owner) and (self.branches is None or top.owner not in self.branches.homes):
                    self.branches = Branches([variable], self.knows, is_choice)
                missing = [each for each in self.needed(top.owner) if not self.knows(each)]
                stack.extend(missing)
                if not missing:
                    self.translate(top.owner)
        return self.values[variable]

    def needed(self, node: Apply) -> Sequence[Variable]:
        """The variables that have to be translated before an application of an op."""
        return self.branches.needed(node) if is_choice(node) and self.branches else node.inputs

    def knows(self, variable: Variable) -> bool:
        """Whether a variable has been translated: here, or around the branch that is being translated."""
        if variable in self.values:
            return True
        if self.outer is None or self.taken is None or not self.outer.knows(variable):
            return False
        value = self.outer.values[variable]
        if isinstance(value, Value):
            value = value if self.is_constant(value) else entering(value, self.taken)
            self.entered.append(value)
        self.values[variable] = value
        return True

    def branch(self, taken: Value) -> Importer:
        """An importer for one branch of a choice."""
        inside = self.part()
        inside.outer, inside.branches, inside.taken = self, self.branches, taken
        return inside

    def part(self) -> Importer:
        """An importer without any translations yet, for a part of the same graph."""
        inside = Importer(check_parameters=self.check_parameters)
        inside.arrays, inside.constancy, inside.read = self.arrays, self.constancy, self.read
        inside.requirements, inside.python_calls = self.requirements, self.python_calls
        inside.doubted = self.doubted
        return inside

    def require(self, condition: Value, message: str, error: type[Exception], variable: Variable) -> None:
        """Add a condition for the graph to check."""
        self.requirements.append(Requirement(condition, message, error, variable))

    def leaf(self, variable: Variable) -> Any:
        """A constant, or a shared variable, whose value is taken as it is now."""
        if isinstance(variable, Constant):
            data = variable.data
        elif isinstance(variable, SharedVariable):
            data = self.read[variable] = variable.get_value(borrow=True)
        else:
            raise ValueError(f"{describe(variable)} is needed, but it is not among the inputs")
        if not hasattr(variable.type, "dtype"):
            return data  # a slice, or None: part of an index
        return self.known(data, variable.name or "constant")

    def known(self, data: Any, name: str) -> Any:
        """Translate a number, an array, or a sparse matrix of PyTensor."""
        if not hasattr(data, "tocsr"):
            return self.capture(np.asarray(data), name)
        matrix = data if data.format in COMPRESSED else data.tocsr()
        rows, columns = (self.capture(each, "places") for each in coordinates(matrix))
        return SparseMatrix(KnownPattern(matrix, rows, columns), self.capture(matrix.data, name))

    def capture(self, data: np.ndarray, name: str) -> Value:
        """A number as a constant, an array as a hidden input."""
        data = data.astype(canonical_dtype(data.dtype), copy=False)
        if data.size == 1:
            return expand_at(constant(data.reshape(())), range(data.ndim))
        if data.size and np.all(_bits(data) == _bits(data).flat[0]):
            return broadcast_value(constant(data.flat[0]), data.shape)
        if data.dtype.kind == "i" and data.ndim == 1 and data.size <= LARGEST_CONSTANT:
            return constant(data)  # a shape, perhaps
        value = Input(ArrayType(data.dtype, data.shape), name)
        snapshot = np.array(data, order="C", copy=True)
        snapshot.flags.writeable = False
        self.arrays[value] = snapshot
        return value

    def translate(self, node: Apply) -> None:
        inputs = [self.values[each] for each in (node.inputs[:1] if is_choice(node) else node.inputs)]
        handler = handler_of(node.op)
        with at_source(origin_of(node)):
            try:
                results = self.computed_now(node) if handler is None else handler(self, node, *inputs)
            except UnsupportedOp as error:
                error.locate(origin_of(node))
                raise
            except (TypeError, ValueError, IndexError, NotImplementedError) as error:
                raise type(error)(f"{error}\n  in the translation of {describe(node.outputs[0])}") from error
            if not isinstance(results, (list, tuple)):
                results = [results]
            if self.doubted and not self.doubted.isdisjoint(node.inputs):
                self.doubted.update(node.outputs)
            known = all(isinstance(each, GraphConstant) for each in inputs) and not is_choice(node)
            for variable, result in zip(node.outputs, results, strict=True):
                self.values[variable] = self.computed_number(self.typed(variable, result, handler in _movers), known)

    def typed(self, variable: Variable, result: Any, moved: bool) -> Any:
        """Convert a result to the dtype of PyTensor's type, unless it was moved from a wider one; its known lengths are
        those that PyTensor knows."""
        if isinstance(result, SparseMatrix):
            return result.of(convert(result.data, canonical_dtype(variable.type.dtype)))
        if not isinstance(result, Value) or not hasattr(variable.type, "dtype"):
            return result
        dtype = canonical_dtype(variable.type.dtype)
        if result.dtype.kind == "c" and dtype.kind != "c":
            raise UnsupportedOp(f"{describe(variable)} would lose its imaginary part")
        if not moved or result.dtype.kind not in "iu" or result.dtype.itemsize <= dtype.itemsize:
            result = convert(result, dtype)
        if isinstance(variable.type, ScalarType) or variable in self.doubted:
            return result  # inside of an op that is applied to each element, or of a type that is not the value's
        for extent, known in zip(result.shape, static_shape(variable), strict=True):
            if known is not None and not shapes.same(extent, known):
                shapes.require_same(extent, known, f"{describe(variable)} must have shape {static_shape(variable)}")
        return result

    def computed_number(self, value: Any, known: bool) -> Any:
        """Replace a value that follows from constants by a constant, if it is a number, or some integers: an axis, or
        lengths, say.

        Integers may follow from arrays as well: the number of groups is the largest index and one.
        """
        if not isinstance(value, Node) or (value.ndim and not are_few_integers(value)):
            return value
        data = self.data_of(value) if known or value.dtype.kind in "iu" else None
        return value if data is None else constant(data, dtype=value.dtype)

    def data_of(self, value: Any) -> Any:
        """The array that a value is, or the sparse matrix, if it depends on constants alone."""
        if isinstance(value, SparseMatrix):
            elements = self.data_of(value.data)
            return None if elements is None else of_numbers(value.pattern, elements)
        if not isinstance(value, Value) or not self.is_constant(value):
            return None
        reached = Graph((), (value,)).order
        graph = Graph(tuple(each for each in reached if isinstance(each, Input)), (value,))
        return np.asarray(evaluate(graph, [self.arrays[each] for each in graph.inputs])[0])

    def is_constant(self, value: Value) -> bool:
        """Whether a value depends on constants alone. The answer is kept: integers need it at every step."""
        stack = [value]
        while stack:
            top = stack[-1]
            missing = [each for each in top.inputs if each not in self.constancy] if isinstance(top, Node) else []
            stack.extend(missing)
            if missing:
                continue
            stack.pop()
            if isinstance(top, Node):
                self.constancy[top] = all(self.constancy[each] for each in top.inputs)
            else:
                self.constancy[top] = isinstance(top, GraphConstant) or top in self.arrays
        return self.constancy[value]

    def computed_now(self, node: Apply) -> list[Any]:
        """The results of an op without a translation, where they follow from constants alone, or are Python's."""
        values = [self.values[each] for each in node.inputs]
        data = [self.data_of(each) for each in values]
        if any(each is None for each in data) or not data or not hasattr(node.op, "perform"):
            called = self.python_calls(self, node)
            if called is not None:
                return called
            where = f"{type(node.op).__module__}.{type(node.op).__name__}"
            computed = describe(node.outputs[0])
            raise UnsupportedOp(
                f"PyTensor's op {node.op} ({where}) has no translation. It computes {computed}", advice=BY_PYTENSOR
            )
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, data, storage)
        return [self.known(each, "computed") for (each,) in storage]

    def inner(self, graph: FunctionGraph, inputs: Sequence[Any]) -> list[Any]:
        """The results of a graph inside an op."""
        inside = self.part()
        inside.values.update(zip(graph.inputs, inputs, strict=True))
        return [inside(output) for output in graph.outputs]


def are_few_integers(value: Value) -> bool:
    lengths = [each for each in value.shape if isinstance(each, int)]
    return value.dtype.kind == "i" and len(lengths) == value.ndim and prod(lengths) <= LARGEST_CONSTANT


def _bits(data: np.ndarray) -> np.ndarray:
    """An array to be compared bit by bit: 0.0 is not -0.0, and a NaN is itself."""
    return np.ascontiguousarray(data).view(f"V{data.itemsize}") if data.dtype.kind in "fc" else data


def static_shape(variable: Variable) -> tuple[int | None, ...]:
    return getattr(variable.type, "shape", ())


def input_of(variable: Variable) -> Input:
    """The input for a variable."""
    name = variable.name or f"x{id(variable)}"
    shape: tuple[Extent, ...] = tuple(
        Dim(f"{name}.shape[{axis}]") if length is None else length for axis, length in enumerate(static_shape(variable))
    )
    return Input(ArrayType(canonical_dtype(variable.type.dtype), shape), name)


def checked_input(variable: Variable, name: str | None = None) -> Input:
    """The input for a variable. Native code relies on the lengths that PyTensor knows, so they are checked."""
    name = name or variable.name or "an intermediate result"
    known = static_shape(variable)
    shape = tuple(1 if length == 1 else Dim(f"{name}.shape[{axis}]") for axis, length in enumerate(known))
    for axis, (extent, length) in enumerate(zip(shape, known, strict=True)):
        if length not in (None, 1):
            shapes.require_same(extent, length, f"{describe(variable)} must have length {length} along axis {axis}")
    return Input(ArrayType(canonical_dtype(variable.type.dtype), shape), name)


def describe(variable: Variable) -> str:
    """The name of a variable for messages, or else the op that computes it."""
    if variable.name is not None:
        return f"{variable.name!r} ({variable.type})"
    made = "an input" if variable.owner is None else f"a result of {variable.owner.op}"
    return f"{made} ({variable.type})"


def from_pytensor(inputs: Sequence[Variable], outputs: Sequence[Variable], *, name: str = "pytensor") -> ImportedGraph:
    """Import a PyTensor graph, whether PyTensor has rewritten it or not.

    Parameters
    ----------
    inputs
        Variables of PyTensor that become the graph's inputs. A shared variable may be one of them; one that is not has
        the value that it has now.
    outputs
        Variables that follow from them.
    name
        What the graph is called in errors.

    Returns
    -------
    ImportedGraph
        It computes ``outputs`` of ``inputs``. Arrays that are constants in PyTensor are its last inputs, and their
        values are in ``captured``. What PyTensor checks when it runs (`Assert`, parameters of distributions) is checked
        here, too, and raises the same error.

    Raises
    ------
    UnsupportedOp
        For an op that has no translation, with its name and the variable that it computes.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> from numbagraph.transforms.interpret import evaluate
    >>> x = pt.dvector("x")
    >>> graph = from_pytensor([x], [pt.exp(x).sum()])
    >>> evaluate(graph, [np.zeros(3), *graph.captured])
    [np.float64(3.0)]
    """
    with shapes.collect_guards() as guards:
        importer = Importer(inputs)
        values = [importer(output) for output in outputs]
        own = [importer.values[variable] for variable in inputs]
    return finish(importer, own, outputs, values, guards, name)


def finish(
    importer: Importer,
    inputs: Sequence[Input],
    outputs: Sequence[Variable],
    values: Sequence[Value],
    guards: shapes.GuardCollector,
    name: str,
) -> ImportedGraph:
    """The graph of ``values``, the first of which are ``outputs``: what is constant is computed, and checks are in it.

    A check stands behind an output rather than where PyTensor has it, where it would keep loops apart.
    """
    requirements = importer.requirements
    conditions = [each.condition for each in requirements]
    for rules in (PARAMETRISATIONS, BEFORE_GRADIENT):
        conditions = rewrite_values(conditions, rules)
    results, checked_before = guards_without_masks((*values, *conditions), tuple(guards.guards), last=True)
    graph = Graph((*inputs, *importer.arrays), results, checked_before, tuple(guards.equalities), name)
    graph, captured = numbers_as_constants(*fold_captured(graph, tuple(importer.arrays.values())))
    names: dict[Variable, str] = {}

    def name_of(variable: Variable) -> str:
        names.update(names or names_of_users(outputs))
        return names.get(variable, "") or expression(variable)

    count = len(values)
    checked, checks = with_checks(requirements, graph.outputs[count:], outputs, graph.outputs[:count], name_of)
    return ImportedGraph(
        graph.inputs, tuple(checked), (*graph.guards, *checks), graph.equalities, name, captured=captured
    )


def names_of_users(outputs: Sequence[Variable]) -> dict[Variable, str]:
    """The name that a variable is computed for: that of the nearest variable that follows from it and has a name."""
    names = {each: each.name or "" for each in outputs}
    for node in reversed(list(toposort(outputs))):
        name = next((each.name or names[each] for each in node.outputs if each.name or each in names), "")
        for each in node.inputs:
            names.setdefault(each, each.name or name)
    return names


def is_one_number(array: np.ndarray) -> bool:
    """Whether the elements of an array are the same, bit for bit."""
    if not array.size:
        return False
    bits = array.view(f"V{array.itemsize}")
    first, last = bits[(0,) * array.ndim], bits[(-1,) * array.ndim]
    return bool(first == last and np.all(bits == first))


def number_of(array: np.ndarray) -> Value:
    return broadcast_value(constant(array.flat[0]), array.shape)


def numbers_as_constants(graph: Graph, captured: Sequence[np.ndarray]) -> tuple[Graph, tuple[np.ndarray, ...]]:
    """The graph with known numbers in it, for rules to see: those of rank 0, and those that an array repeats."""
    first = len(graph.inputs) - len(captured)
    known = dict(zip(graph.inputs[first:], captured, strict=True))
    numbers: dict[Value, Value] = {value: number_of(data) for value, data in known.items() if is_one_number(data)}
    if not numbers:
        return graph, tuple(captured)
    replaced = substitute([*graph.outputs, *guard_values(graph.guards)], numbers)
    count = len(graph.outputs)
    guards = with_guard_values(graph.guards, replaced[count:])
    kept = {value: data for value, data in known.items() if value not in numbers}
    rest = Graph((*graph.inputs[:first], *kept), tuple(replaced[:count]), guards, graph.equalities, graph.name)
    return rest, tuple(kept.values())
