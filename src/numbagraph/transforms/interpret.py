"""Running a graph value by value: on arrays with each op's NumPy reference, or on whatever else stands for a value."""

from __future__ import annotations

import math
import operator
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, Guard
from numbagraph.ir.internal import HOW_TO_REPORT, InternalError
from numbagraph.ir.op import boxing
from numbagraph.ir.sources import text_of
from numbagraph.ir.values import Constant, Dim, Extent, Node, Source, Value, python_type, toposort

T = TypeVar("T")
_ARITHMETIC = re.compile(r"\b(add|subtract|multiply|floor_divide|maximum|minimum)\((-?\d+), (-?\d+)\)")
MOST_BYTES = 2**63
CALLED_BACK = "  in the callback "
"""The beginning of the note that is added to an error of a function which compiled code called back."""
EXACT = {"add": operator.add, "multiply": operator.mul}
Look = Callable[[Graph, Sequence[Any], Sequence[Any]], None]
Environment = dict[Value, Any]
"""The data of values. At first, it holds the inputs and the lengths of their dimensions."""


def interpret(
    outputs: Iterable[Value],
    environment: dict[Value, T],
    leaf: Callable[[Value], T],
    apply: Callable[[Node, list[T]], T],
) -> list[T]:
    """Evaluate ``outputs`` in dependency order and without recursion, and return their data.

    ``leaf`` gives the data of a value without inputs, ``apply`` those of a node, given the data of its inputs. Neither
    is called for values that are in ``environment``. Data that are not needed any more are taken out of it again, so
    that large arrays do not pile up.
    """
    outputs = list(outputs)
    order = toposort(outputs, known=environment)
    last_user: dict[Value, Value | None] = {
        source: value for value in order if isinstance(value, Node) for source in value.inputs
    }
    last_user |= dict.fromkeys(outputs)
    for value in order:
        if not isinstance(value, Node):
            environment[value] = leaf(value)
            continue
        environment[value] = apply(value, [environment[source] for source in value.inputs])
        for source in value.inputs:
            if last_user[source] is value:
                environment.pop(source, None)
    return [environment[output] for output in outputs]


def evaluate(graph: Graph, arrays: Sequence[Any], *, check: bool = False) -> list[Any]:
    """Run a graph on arrays (and Python scalars where inputs are weak) with each op's NumPy reference.

    Parameters
    ----------
    graph
        What to run.
    arrays
        One array for each input.
    check
        Whether to compare the dtype and shape of every intermediate result with what the graph says.

    Returns
    -------
    list
        One array or scalar for each output. An array owns its memory: an output that is a view of an input is copied.

    Raises
    ------
    Exception
        What NumPy raises, or what a guard says, with the user's line, the operation and the operands' shapes.
    """
    with regions.looked_at(None) as look:
        results = Evaluation(graph, bind(graph, arrays), check=check).results()
    if look is not None:
        look(graph, arrays, results)
    owned = {id(array) for array in arrays}
    return [boxed(output, own(result, owned)) for output, result in zip(graph.outputs, results, strict=True)]


class Effects(threading.local):
    """Whether effects of a graph take place on this thread."""

    are_wanted = True

    @contextmanager
    def suppressed(self) -> Iterator[None]:
        """Run graphs again without their effects."""
        before, self.are_wanted = self.are_wanted, False
        try:
            yield
        finally:
            self.are_wanted = before


effects = Effects()


class Regions(threading.local):
    """The function that looks at each run of a region on this thread, with its arguments and results. It does not look
    at regions inside of that region."""

    look: Look | None = None

    @contextmanager
    def looked_at(self, look: Look | None) -> Iterator[Look | None]:
        before, self.look = self.look, look
        try:
            yield before
        finally:
            self.look = before


regions = Regions()


def after_failure(
    graph: Graph, arrays: Sequence[Any], described: str, fails: Callable[[Sequence[Any]], bool] = lambda arrays: True
) -> list[Any]:
    """Run the graph with NumPy after native code failed a check: NumPy's interpreter meets the same fault, and says
    where.

    Whether a matrix is singular or a condition holds may be a matter of rounding, and lengths may be too long for BLAS.
    So where NumPy finds no fault its results count. Another thread may have changed an array, too: ``fails`` says
    whether native code fails with arrays that none changes.
    """
    check_sizes(graph, arrays)
    with effects.suppressed():
        results = evaluate(graph, arrays)
    opaque = any(isinstance(value, Node) and isinstance(value.op.lower, lowering.Opaque) for value in graph.order)
    if opaque or any(guard.ordered and guard.condition in graph.late for guard in graph.guards):
        return results
    kept = [copy_alike(each) if isinstance(each, np.ndarray) else each for each in arrays]
    with effects.suppressed():
        results = evaluate(graph, kept)
    if not fails(kept):
        return results
    text = f"{described}: compiled code failed a check that the NumPy interpreter passes"
    raise InternalError(f"{text}. {HOW_TO_REPORT}")


def copy_alike(array: np.ndarray) -> np.ndarray:
    """Copy an array to memory in which its elements lie as before: compiled code is made for the layout."""
    if not array.size:
        return array.copy()
    ends = [(length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True)]
    first = -sum(min(each, 0) for each in ends)
    memory = np.empty(first + sum(max(each, 0) for each in ends) + array.itemsize, np.uint8)
    found: np.ndarray = np.ndarray(array.shape, array.dtype, memory, first, array.strides)
    found[...] = array
    return found


def boxed(value: Value, result: object) -> Any:
    """A result as the kind of object that NumPy (or Python) would give: an array or a scalar."""
    kind = boxing(value)
    if kind == "array":
        return np.asarray(result)
    return np.asarray(result).item() if kind == "python" else np.asarray(result)[()]


def own(result: object, taken: set[int]) -> Any:
    """An output as memory that nothing else uses."""
    if not isinstance(result, np.ndarray):
        return result
    if result.base is not None or not result.flags.writeable or id(result) in taken:
        result = np.array(result, order="C")
    taken.add(id(result))
    return result


def bind(graph: Graph, arrays: Sequence[Any]) -> Environment:
    """The inputs and their dimensions' lengths, by value."""
    if len(arrays) != len(graph.inputs):
        raise TypeError(f"{graph.name} takes {len(graph.inputs)} arrays, not {len(arrays)}")
    environment: Environment = {}
    for value, array in zip(graph.inputs, arrays, strict=True):
        environment[value] = weak_data(value, array)
        lengths = np.shape(array)
        if len(lengths) != value.ndim:
            raise shapes.ShapeError(f"{graph.name}: {value.name} must have {value.ndim} dimensions, not {len(lengths)}")
        for extent, length in zip(value.shape, lengths, strict=True):
            known = environment.setdefault(extent, length) if isinstance(extent, Dim) else extent
            if isinstance(known, int) and known != length:
                expected = shapes.shape_text(value.shape)
                raise shapes.ShapeError(f"{graph.name}: {value.name} must have shape {expected}, not {lengths}")
    for extent in [extent for extent in environment if isinstance(extent, Dim)]:
        if isinstance(extent.representative, Dim):
            environment.setdefault(extent.representative, environment[extent])
    return environment


def weak_data(value: Value, data: object) -> Any:
    """Return a weak value as a Python scalar, and the data of any other value as they are."""
    kind = python_type(value.type)
    known = isinstance(data, (np.ndarray, np.generic, int, float, complex)) and not np.ndim(data)  # of a batch: many
    return kind(data) if kind is not None and known else data


def leaf_data(value: Value, environment: Environment) -> Any:
    """Return the data of a constant, or the number that a length is."""
    if isinstance(value, Constant):
        return weak_data(value, value.data)
    if isinstance(value, Dim):
        return length_of(value, environment)
    raise ValueError(f"{value!r} is not an input of the graph")


def length_of(extent: Extent, environment: Environment) -> int:
    """The number that an extent is."""
    if extent not in environment:
        extent = shapes.resolve(extent)
    if isinstance(extent, int):
        return extent
    if isinstance(extent, Dim):
        return environment[extent]
    return int(evaluate_scalar(extent, environment))


def evaluate_scalar(value: Value, environment: Environment) -> Any:
    """Evaluate a value that depends on lengths and rank-0 inputs alone."""
    (result,) = interpret([value], dict(environment), lambda leaf: leaf_data(leaf, environment), apply_reference)
    return result


class Evaluation:
    """One run of a graph with NumPy. Its guards are checked in their order; those that follow from lengths and numbers
    alone before anything is computed, unless one of the others stands before the one that fails."""

    def __init__(self, graph: Graph, environment: Environment, *, check: bool = False) -> None:
        self.graph = graph
        self.environment = environment
        self.check = check
        self.calls = Calls(graph)
        self.pending: dict[Value, Guard] = {}
        """Guards that are checked as soon as their conditions are known."""

    def results(self) -> list[Any]:
        """Check what can be checked at entry, run the graph, and return its outputs."""
        self.check_entry()
        return self.run([*self.pending, *self.graph.outputs])[len(self.pending) :]

    def check_entry(self, unknown: Collection[Value] = ()) -> None:
        """Raise unless the arguments fulfil what lengths and numbers alone say, ``unknown`` conditions aside."""
        for equality in self.graph.equalities:
            if length_of(equality.dim, self.environment) != length_of(equality.other, self.environment):
                raise equality.error(requirement(equality.subject, equality.source, self.environment))
        for guard in self.graph.guards:
            if guard.condition in self.graph.late:
                self.pending.setdefault(guard.condition, guard)
            elif guard.condition not in unknown and not evaluate_scalar(guard.condition, self.environment):
                self.run([*self.pending])
                raise self.failure(guard)

    def run(self, values: Sequence[Value]) -> list[Any]:
        return interpret(values, dict(self.environment), self.leaf, self.apply)

    def leaf(self, value: Value) -> Any:
        return leaf_data(value, self.environment)

    def apply(self, node: Node, operands: list[Any]) -> Any:
        result = self.calls.result(node, operands)
        if self.check:
            check_result(node, result, self.environment)
        if node in self.pending and not result:
            raise self.failure(self.pending.pop(node))
        return result

    def failure(self, guard: Guard) -> Exception:
        """Return the error of a guard whose condition does not hold."""
        if guard.failure is None:
            return guard.error(requirement(guard.subject, guard.source, self.environment))
        with effects.suppressed():  # they have taken place
            found = self.run(guard.arguments)
        error = guard.failure(*map(boxed, guard.arguments, found))
        if not guard.ordered and guard.source is not None:
            error.args = (with_place(str(error), guard.source),)
        return error


class Calls:
    """The results of loops, branches and calls of Python functions. All results of one call that are wanted are
    computed together."""

    def __init__(self, graph: Graph) -> None:
        self.wanted: dict[Any, list[int]] = {}
        self.found: dict[Any, dict[int, Any]] = {}
        for value in toposort([*graph.outputs, *(guard.condition for guard in graph.guards)]):
            if isinstance(value, Node) and isinstance(value.op.lower, lowering.Together):
                self.wanted.setdefault(call_of(value), []).append(value.attrs["result"])

    def result(self, node: Node, operands: list[Any]) -> Any:
        """The result of a node, by NumPy."""
        lower = node.op.lower
        if not isinstance(lower, lowering.Together):
            return apply_reference(node, operands)
        return weak_data(node, self.of_call(node, operands, lower.evaluate))

    def of_call(self, node: Node, operands: list[Any], compute: Callable[..., Sequence[Any]]) -> Any:
        """Return one of the results of a call; keep the others until they are asked for."""
        call, attrs = call_of(node), node.attrs
        result = attrs.pop("result")
        if result not in self.found.get(call, ()):
            numbers = [*dict.fromkeys([*self.wanted.get(call, ()), result])]
            with saying(lambda: operation_of(node, operands), node.source):
                self.found[call] = dict(zip(numbers, compute(*operands, results=numbers, **attrs), strict=True))
        return self.found[call][result]


def call_of(node: Node) -> Any:
    """Return a key that is equal for the nodes which are results of one call: the op, its inputs and the other
    attributes."""
    return node.op, node.inputs, tuple(item for item in node.attributes if item[0] != "result")


def apply_reference(node: Node, operands: list[Any]) -> Any:
    """The result of one op, by NumPy."""
    with saying(lambda: operation_of(node, operands), node.source):
        result = node.op.reference(*operands, **node.attrs)
    return weak_data(node, result)


def located(error: Exception, node: Node, operands: Sequence[Any]) -> Exception:
    """Return an error of the same kind, with the operation, its operands and the user's line in the message."""
    return extended(error, operation_of(node, operands), node.source)


def operation_of(node: Node, operands: Sequence[Any]) -> str:
    """A loop, a branch, or an operation with its operands, if users know it by its name."""
    if node.op.kind == "control":
        return "in a branch" if node.op.name == "switch" else "in a loop"
    return f"in {node.op.name}({', '.join(map(describe, operands))})" if node.op.implements else ""


class saying:
    """A context that adds text to the message of an error which leaves it, such as the operation, and the place where
    it arose."""

    __slots__ = ("source", "text")

    def __init__(self, text: Callable[[], str], source: Source | None = None) -> None:
        self.text = text
        self.source = source

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception):
            more = extended(error, self.text(), self.source)
            if more is not error:
                raise more from error


def extended(error: Exception, text: str, source: Source | None = None) -> Exception:
    """Return an error of the same kind, with ``text`` and a place added to its message. An error that a function raises
    itself has arguments of the user's: it is returned as it is, with a note."""
    if source is not None:
        said = "\n".join([str(error), *getattr(error, "__notes__", ())])
        text = "\n  ".join(each for each in (text, source.text_behind(said)) if each)
    if not text:
        return error
    if getattr(error, "__notes__", ()):
        error.add_note(f"  {text}")
        return error
    message = f"{error}\n  {text}"
    try:
        return type(error)(message)
    except Exception:  # noqa: BLE001  a class with a constructor of its own
        return (MemoryError if isinstance(error, MemoryError) else ValueError)(message)


def note_callback(error: BaseException, name: str, source: Source | None) -> None:
    """Add to an error of a function that compiled code called back a note that says where the call was."""
    error.add_note(f"{CALLED_BACK}{name}\n  {text_of(source)}")


def describe(operand: object) -> str:
    if isinstance(operand, (np.ndarray, np.generic)):
        return f"{operand.dtype}[{', '.join(map(str, operand.shape))}]"
    return repr(operand)


def check_entry(graph: Graph, environment: Environment, unknown: Collection[Value] = ()) -> None:
    """Raise unless the arguments fulfil what is required of lengths and numbers, ``unknown`` conditions aside."""
    Evaluation(graph, environment).check_entry(unknown)


def check_sizes(graph: Graph, arrays: Sequence[Any]) -> None:
    """Raise if an array would have more bytes than there are addresses: NumPy would first compute the arrays before
    it."""
    environment = bind(graph, arrays)
    evaluation = Evaluation(graph, environment)
    evaluation.check_entry()
    lengths: dict[Extent, int] = {}
    for value in graph.values:
        for extent in value.shape:
            if extent not in lengths:
                lengths[extent] = exact_length(extent, environment)
        known = tuple(lengths[extent] for extent in value.shape)
        if isinstance(value, Node) and value.dtype.itemsize * math.prod(max(each, 1) for each in known) >= MOST_BYTES:
            evaluation.run([*evaluation.pending])  # what is required of elements may say more
            raise ValueError(
                f"array is too big: one of {value.dtype} with shape {shapes.shape_text(known)} has 2**63 bytes or more"
                f"\n  in {value.op.name}\n  {text_of(value.source)}"
            )


def exact_length(extent: Extent, environment: Environment) -> int:
    """Return a length as a Python int; if the sum or product that it follows from has wrapped, the true value of
    that."""
    extent = shapes.resolve(extent)
    for value in toposort([extent], known=environment) if isinstance(extent, Node) else ():
        if not isinstance(value, Node) or value.op.name not in EXACT or value.ndim or value.dtype.kind not in "iu":
            continue
        if shapes.follows_from_lengths(value):
            exact = EXACT[value.op.name](*(length_of(each, environment) for each in value.inputs))
            if exact >= MOST_BYTES:
                return exact
    return length_of(extent, environment)


def requirement(subject: str, source: Source | None, environment: Environment) -> str:
    """Return the text of a requirement, with numbers in place of its symbolic lengths, and with its source."""
    lengths = {value.name: length for value, length in environment.items() if isinstance(value, Dim)}
    for name in sorted(lengths, key=len, reverse=True):
        subject = subject.replace(name, str(lengths[name]))
    count = 1
    while count:
        subject, count = _ARITHMETIC.subn(computed, subject)
    return with_place(subject, source)


def with_place(text: str, source: Source | None) -> str:
    """Return the text of an error with the place of a guard. An error that the trace has met in a branch has one."""
    return text if source is None else "\n  ".join([text.partition("\n  at ")[0], source.text])


def computed(match: re.Match[str]) -> str:
    """Return the result of an operation on two numbers that stands in a text, such as "add(3, 4)"."""
    return str(getattr(np, match[1])(int(match[2]), int(match[3])))


def check_result(node: Node, result: Any, environment: Environment) -> None:
    """Compare the dtype and the shape of a result with what the graph says."""
    expected = tuple(length_of(extent, environment) for extent in node.shape)
    if np.shape(result) != expected or np.asarray(result).dtype != node.dtype:
        seen = describe(np.asarray(result))
        raise AssertionError(f"{node.op.name} gave {seen} where the graph says {node.type}, at {node.source}")
