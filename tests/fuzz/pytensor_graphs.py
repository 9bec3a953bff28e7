"""PyTensor's graphs in the mode `NUMBAGRAPH` against its own Python code, op by op.

Values, errors, calls in sequence with other lengths, numbers and layouts, updates, writes to results.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors, applys_between
from pytensor.printing import debugprint

from numbagraph.pymc_bridge import FallbackWarning
from numbagraph.pymc_bridge.graph_partition import divide
from numbagraph.testing.arrays import LAYOUTS, memory_of, special_values
from tests.fuzz.agreement import agree, is_fallback, is_of_positions, is_undecided
from tests.fuzz.evaluation import Evaluation, Failed, Failures, OfNativeCode, Undecided, Values
from tests.fuzz.near import difference
from tests.fuzz.pytensor_matrices import makers
from tests.fuzz.pytensor_ops import names, names_in
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

logging.getLogger("pytensor.graph.rewriting.basic").setLevel(logging.CRITICAL)  # it prints its rewrites' own errors
MODE = "NUMBAGRAPH"
PLAIN = Mode(linker="py", optimizer="fast_run")
DTYPES = ("float64",) * 4 + ("float32", "int64", "int8", "uint8", "int32", "bool", "complex128")
LETTERS = {"a": 3, "b": 4, "c": 2}
"""Lengths that PyTensor does not know, and what they are at first."""
OTHER_LENGTHS = ({"a": 5, "b": 2, "c": 4}, {"a": 1, "b": 3, "c": 1}, {"a": 0, "b": 4, "c": 2})
LARGEST = 600
"""Elements of a value at most."""
RUNS_WITH_ERRORS, RUNS_TO_BE_SURE = 3, 20
NATIVE_LAYOUTS = ("C order", "read-only", "Fortran order", "strided", "negative strides")

Dims = tuple[Any, ...]
"""Of an input: a letter where a length may change, a number where not."""


@dataclass
class Graph:
    """Inputs, what is computed of them, and numbers to begin with."""

    inputs: list[Variable] = field(default_factory=list)
    dims: list[Dims] = field(default_factory=list)
    numbers: list[np.ndarray] = field(default_factory=list)
    shared: dict[Variable, np.ndarray] = field(default_factory=dict)
    """Shared variables, with the values that they begin with."""
    outputs: list[Variable] = field(default_factory=list)
    updates: dict[Variable, Variable] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [f"{each} {each.type} = {value!r}" for each, value in zip(self.inputs, self.numbers, strict=True)]
        given += [f"shared {each} {each.type} = {value!r}" for each, value in self.shared.items()]
        text = debugprint([*self.outputs, *self.updates.values()], file="str", print_type=True)
        return "\n".join([*given, f"updates of {list(self.updates)}", str(text)])


class Draw:
    """Draws ops and operands, and runs each op at once: what PyTensor refuses is not taken."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.graph = Graph()
        self.values: Values = {}
        self.made: list[Variable] = []
        self.makers = makers()

    # ---- chance ----

    def choose(self, items: Any) -> Any:
        items = list(items)
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    # ---- operands ----

    def shape(self, variable: Variable) -> tuple[int, ...]:
        return np.shape(self.values[variable])

    def array(self, shape: Sequence[int], dtype: str) -> np.ndarray:
        kind = np.dtype(dtype).kind
        if kind == "b":
            return np.asarray(self.rng.random(shape) < 0.5)
        if kind in "iu":
            return self.rng.integers(0 if kind == "u" else -3, 6, shape).astype(dtype)
        numbers = self.rng.uniform(-2, 2, shape)
        if self.chance(0.2):
            numbers = np.round(numbers)
        return (numbers + 1j * self.rng.uniform(-2, 2, shape) if kind == "c" else numbers).astype(dtype)

    def add_input(self, numbers: np.ndarray, dims: Dims) -> Variable:
        """A new input, or a constant or a shared variable with these numbers."""
        known = [each if isinstance(each, int) else None for each in dims]
        if self.chance(0.12):
            variable: Any = pt.as_tensor(numbers)
        elif self.chance(0.12):
            name = f"s{len(self.graph.shared)}"
            variable = pytensor.shared(numbers, name=name, shape=tuple(known))
            self.graph.shared[variable] = numbers
        else:
            name = f"x{len(self.graph.inputs)}"
            variable = pt.tensor(name, dtype=str(numbers.dtype), shape=tuple(known))
            self.graph.inputs.append(variable)
            self.graph.dims.append(dims)
            self.graph.numbers.append(numbers)
        self.values[variable] = numbers
        self.made.append(variable)
        return variable

    def new(self, shape: Sequence[int], dtype: Any, name: str = "") -> Variable:
        """An input of some shape. Lengths are known or not; with ``name``, all of one length are of one letter."""
        letters = {length: letter for letter, length in LETTERS.items()}
        dims = [length if length == 1 or self.chance(0.3) else letters.get(length, f"={length}") for length in shape]
        if name:
            dims = [f"={length}" if len(shape) - place <= 2 else length for place, length in enumerate(shape)]
        return self.add_input(self.array(shape, str(dtype)), tuple(dims))

    def any(self, ndim: int | None = None, least: int = 0, kinds: str = "biufc", dtype: str | None = None) -> Any:
        """A value of some rank and dtype: one that is there, or a new input."""
        fitting = [
            each
            for each in self.made
            if (each.ndim == ndim if ndim is not None else each.ndim >= least)
            and np.dtype(each.dtype).kind in kinds
            and dtype in (None, each.dtype)
        ]
        if fitting and self.chance(0.75):
            return self.choose(fitting[-6:])
        rank = self.integer(least, max(least + 1, 4)) if ndim is None else ndim
        dims = [1 if self.chance(0.15) else self.choose(LETTERS) for _ in range(rank)]
        dims = [LETTERS[each] if each != 1 and self.chance(0.3) else each for each in dims]
        numbers = self.array([LETTERS.get(each, each) for each in dims], dtype or self.dtype(kinds))
        return self.add_input(numbers, tuple(dims))

    def dtype(self, kinds: str) -> str:
        return self.choose([each for each in DTYPES if np.dtype(each).kind in kinds])

    def real(self, ndim: int | None = None) -> Any:
        return self.any(ndim=ndim, kinds="f")

    def operand(self, x: Variable) -> Variable:
        """A value of the type and shape of another one."""
        fitting = [each for each in self.made if each.type == x.type and self.shape(each) == self.shape(x)]
        return self.choose(fitting) if fitting and self.chance(0.6) else self.new(self.shape(x), x.dtype)

    def alike(self, count: int) -> list[Variable]:
        """Operands that broadcast."""
        kinds = self.choose(["f", "f", "f", "iu", "biuf", "biufc"])
        first = self.any(kinds=kinds)
        found = [first]
        for _ in range(count - 1):
            fitting = [each for each in self.made if np.dtype(each.dtype).kind in kinds]
            fitting = [each for each in fitting if broadcasts(self.shape(each), self.shape(first))]
            if fitting and self.chance(0.6):
                found.append(self.choose(fitting))
            else:
                shape = self.shape(first)[self.integer(0, first.ndim + 1) :]
                shape = tuple(1 if self.chance(0.2) else each for each in shape)
                found.append(self.new(shape, self.dtype(kinds)))
        return [found[int(place)] for place in self.rng.permutation(len(found))]

    def length(self, number: int) -> Any:
        """An integer: known, or given when the graph runs, or the length of a value."""
        if self.chance(0.5):
            return number
        lengths = [(each, axis) for each in self.made for axis, size in enumerate(self.shape(each)) if size == number]
        if lengths and self.chance(0.6):
            variable, axis = self.choose(lengths)
            return variable.shape[axis]
        return self.add_input(np.array(number), ())

    def vector(self, numbers: Sequence[int]) -> Any:
        """A vector of integers: constant, or given when the graph runs."""
        array = np.asarray(numbers, dtype=np.int64)
        return pt.as_tensor(array) if self.chance(0.4) else self.add_input(array, (len(array),))

    def factors(self, size: int) -> list[int]:
        """Lengths whose product is ``size``."""
        divisors = [each for each in range(1, size + 1) if size % each == 0] or [1]
        first = self.choose(divisors)
        return self.choose([[size], [first, size // first], [size // first, 1, first]])

    # ---- graphs ----

    def take(self, variable: Variable) -> Variable:
        """Run what is new of a graph; an error of PyTensor's is raised."""
        self.values |= Evaluation([variable], [*self.values]).compute(self.values)
        value = self.values[variable]
        if isinstance(value, Failed):
            del self.values[variable]
            raise value.errors[0]
        if np.size(value) > LARGEST or np.ndim(value) > 5 or np.asarray(value).dtype.kind not in "biufc":
            raise ValueError("too large")
        if np.iscomplexobj(value) and variable.type.dtype[0] != "c":  # QR of complex matrices
            raise ValueError("not what its type promises")
        return variable

    def apply(self, name: str) -> None:
        """Apply an op, unless PyTensor refuses it here."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = self.makers[name](self)
                for each in made if isinstance(made, (list, tuple)) else [made]:
                    if each is not None:
                        self.made.append(self.take(each))
        except Exception as error:
            if isinstance(error, (AttributeError, NameError)) and "numbagraph" in str(error):
                raise


def broadcasts(one: Sequence[int], other: Sequence[int]) -> bool:
    try:
        np.broadcast_shapes(tuple(one), tuple(other))
    except ValueError:
        return False
    return True


def draw(rng: np.random.Generator, ops: Sequence[str]) -> Graph:
    """A graph of a few ops, some values of which are its outputs, and some update shared variables."""
    found = Draw(rng)
    drawn = [each for each in ops if each in found.makers]
    for _ in range(int(rng.integers(1, 7))):
        found.apply(found.choose(drawn))
    graph = found.graph
    computed = [each for each in found.made if each.owner is not None]
    if not computed:
        return graph
    graph.outputs = [each for each in computed[:-1] if found.chance(0.4)] + computed[-1:]
    if found.chance(0.15):
        graph.outputs.append(found.choose(found.made))
    for shared in graph.shared:
        fitting = [each for each in found.made if shared.type.is_super(each.type) and each is not shared]
        if fitting and found.chance(0.6):
            graph.updates[shared] = found.choose(fitting)
    used = set(ancestors([*graph.outputs, *graph.updates.values()]))
    kept = [number for number, each in enumerate(graph.inputs) if each in used]
    graph.inputs, graph.dims, graph.numbers = (
        [table[number] for number in kept] for table in (graph.inputs, graph.dims, graph.numbers)
    )
    return graph


def case(rng: np.random.Generator, report: Report) -> None:
    """One graph, called several times."""
    with pytensor.config.change_flags(cxx=""), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = draw(rng, names())
        if graph.outputs:
            Check(graph, rng, report).run()


class Check:
    """A graph's function in our mode beside PyTensor's values."""

    def __init__(self, graph: Graph, rng: np.random.Generator, report: Report) -> None:
        self.graph, self.rng, self.report = graph, rng, report
        self.wanted = [*graph.outputs, *graph.updates.values()]
        self.written = Evaluation(self.wanted, [*graph.inputs, *graph.shared])
        self.states = {each: np.array(value) for each, value in graph.shared.items()}

    def run(self) -> None:
        graph = self.graph
        try:
            options = {"on_unused_input": "ignore", "updates": graph.updates}
            self.ours = pytensor.function(graph.inputs, graph.outputs, mode=MODE, **options)
        except Exception:
            if not self.is_refused_by_pytensor():
                raise
            return
        fgraph: Any = self.ours.maker.fgraph
        self.read_rewritten()
        self.foreign = reasons = divide(fgraph, fgraph.toposort(), "fuzz").reasons
        for node, reason in reasons.items():
            self.report.refused[f"{type(node.op).__name__}: {reason[:60]}"] += 1
        for what, numbers in self.calls():
            if all(each.type.is_valid_value(value) for each, value in self.states.items()):
                self.compare(what, numbers)  # a call may have left what PyTensor does not take
        nodes = [each for each in fgraph.toposort() if each not in reasons]
        original = applys_between([], self.wanted) if not reasons else []
        self.report.covered.update(names_in([*nodes, *original]))

    def is_refused_by_pytensor(self) -> bool:
        try:
            graph = self.graph
            pytensor.function(graph.inputs, graph.outputs, updates=graph.updates, mode=PLAIN, on_unused_input="ignore")
        except Exception as error:  # noqa: BLE001
            self.report.refused[f"PyTensor: {type(error).__name__}"] += 1
            return True
        return False

    # ---- arguments ----

    def calls(self) -> list[tuple[str, list[np.ndarray]]]:
        """What a function is called with, one after the other."""
        numbers, rng = self.graph.numbers, self.rng
        layout = LAYOUTS[str(rng.choice(NATIVE_LAYOUTS))]
        lengths = OTHER_LENGTHS[int(rng.integers(len(OTHER_LENGTHS)))]
        return [
            ("first", numbers),
            ("another layout", [layout(each) for each in numbers]),
            ("other lengths", [self.resized(each, dims, lengths) for each, dims in self.pairs()]),
            ("special values", [self.spoiled(each) for each in numbers]),
            ("one length is another", self.with_one_other()),
            ("again", numbers),
        ]

    def pairs(self) -> list[tuple[np.ndarray, Dims]]:
        return list(zip(self.graph.numbers, self.graph.dims, strict=True))

    def resized(self, array: np.ndarray, dims: Dims, lengths: dict[str, int]) -> np.ndarray:
        shape = [lengths.get(each, size) for each, size in zip(dims, array.shape, strict=True)]
        return np.resize(array, shape)

    def spoiled(self, array: np.ndarray) -> np.ndarray:
        result = np.array(array)
        places = self.rng.random(array.shape) < 0.3
        values = special_values(array.dtype)
        if array.dtype.kind == "f":
            values = values[~(np.abs(values) < np.finfo(array.dtype).tiny) | (values == 0)]
        result[places] = self.rng.choice(values, int(places.sum()))
        return result

    def with_one_other(self) -> list[np.ndarray]:
        """One input has another length, or another number where it is an index."""
        found = list(self.graph.numbers)
        if found:
            place = int(self.rng.integers(len(found)))
            array = found[place]
            axis = int(self.rng.integers(array.ndim)) if array.ndim else 0
            if array.dtype.kind in "iu" and (not array.ndim or self.rng.random() < 0.5):
                found[place] = (array + self.rng.choice([7, -7, 1])).astype(array.dtype)
            elif array.ndim:
                shape = list(array.shape)
                shape[axis] = int(self.rng.choice([1, 0, shape[axis] + 1]))
                found[place] = np.resize(array, shape)
        return found

    # ---- comparison ----

    def compare(self, what: str, numbers: list[np.ndarray]) -> None:
        self.what, self.numbers = what, numbers
        self.given = dict(zip(self.graph.inputs, numbers, strict=True)) | self.states
        before = [memory_of(each) for each in numbers]
        found = self.called(numbers)
        if [memory_of(each) for each in numbers] != before:
            self.fail("an argument was changed")
        expected = self.expected(self.given)
        states = [np.array(each.get_value()) for each in self.graph.updates]
        if isinstance(found, Exception):
            self.check_error(found, expected)
            states = [self.states[each] for each in self.graph.updates]
            self.check_values(states, [each.get_value() for each in self.graph.updates], None)
            return
        expected = self.of_unused_positions() if is_of_positions(expected) else expected
        if isinstance(expected, Exception):
            self.check_error(None, expected)
        else:
            self.check_values([*found, *states], expected, self.wanted)
        self.check_memory(found, numbers)
        self.states |= dict(zip(self.graph.updates, states, strict=True))
        for shared, value in self.states.items():
            if not np.array_equal(shared.get_value(), value, equal_nan=value.dtype.kind in "fc"):
                self.fail("a write to a result changed a shared variable")

    def called(self, numbers: list[np.ndarray]) -> Any:
        with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FallbackWarning)
            try:
                return self.ours(*numbers)
            except Exception as error:  # noqa: BLE001
                return error
            finally:
                self.undecided = (Undecided, OfNativeCode) if any(map(is_fallback, caught)) else (Undecided,)

    def expected(self, given: Values, rounding: np.random.Generator | None = None) -> Any:
        """What PyTensor gives for the graph as it is written, or its errors."""
        return self.outcome(self.written, given, rounding)

    def of_unused_positions(self) -> Any:
        """What there is to compare with where an error of an index array was not found: the results, which may not
        depend on what the array selects (docs/limits.md)."""
        self.written.anywhere = True
        try:
            return self.expected(self.given)
        finally:
            self.written.anywhere = False

    def outcome(self, run: Evaluation, given: Values, rounding: np.random.Generator | None) -> Any:
        try:
            typed = {each: each.type.filter(value, allow_downcast=None) for each, value in given.items()}
            return run(typed, rounding)
        except Failures as error:
            return error
        except (TypeError, ValueError) as error:
            return Failures([error])

    def read_rewritten(self) -> None:
        """The graph that PyTensor has made of this one; its inputs are those that are given, and shared variables."""
        fgraph: Any = self.ours.maker.fgraph
        shared = {id(each.container.storage): each for each in self.graph.shared}
        given, self.sources = iter([*self.graph.inputs]), {}
        for variable, container in zip(fgraph.inputs, self.ours.input_storage, strict=True):
            place = id(container.storage)
            self.sources[variable] = shared[place] if place in shared else next(given)
        targets = {self.sources[fgraph.inputs[source]]: out for out, source in fgraph.update_mapping.items()}
        outputs = [*range(len(self.graph.outputs)), *(targets[each] for each in self.graph.updates)]
        self.made = Evaluation([fgraph.outputs[each] for each in outputs], fgraph.inputs)

    def rewritten(self, rounding: np.random.Generator | None = None) -> Any:
        """What PyTensor gives for the graph that it has made of this one."""
        return self.outcome(self.made, {each: self.given[source] for each, source in self.sources.items()}, rounding)

    def check_values(self, found: Sequence[Any], expected: Sequence[Any], wanted: Any) -> None:
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            if not isinstance(one, np.ndarray):
                self.fail(f"output {number} is no array but {type(one)}")
            if wanted and self.foreign and (one.dtype.kind, np.dtype(wanted[number].dtype).kind) == ("f", "c"):
                one = one.astype(wanted[number].dtype)  # PyTensor's own op is not of its type: noqa: PLW2901
            if difference(one, other, [other]) is None:
                continue
            if wanted is None:
                self.fail(f"a call that fails has changed a shared variable: {one}, not {other}")
            message = self.is_wrong(number, one, other)
            if message:
                self.fail(f"output {number}: {message}")

    def is_wrong(self, number: int, found: Any, expected: Any) -> str | None:
        """How a result differs from PyTensor's, as the graph is written and as PyTensor has rewritten it."""
        message = self.differs(number, found, expected, lambda rng: self.expected(self.given, rng))
        if message is None:
            return None
        other = self.rewritten()
        if isinstance(other, Exception):
            return message
        return message if self.differs(number, found, other[number], self.rewritten) else None

    def differs(self, number: int, found: Any, expected: Any, run: Callable[[Any], Any]) -> str | None:
        runs = [run(np.random.default_rng(seed)) for seed in range(RUNS_TO_BE_SURE)]
        return difference(found, expected, [each[number] for each in runs if not isinstance(each, Exception)])

    def check_error(self, found: Exception | None, expected: Any) -> None:
        """There is an error here if and only if PyTensor has one, and it is of one of the kinds that it has."""
        if agree(found, expected) or is_undecided(expected, self.undecided):
            return
        rewritten = self.rewritten()
        if agree(found, rewritten) or is_undecided(rewritten, self.undecided):
            return
        runs = [self.expected(self.given, np.random.default_rng(seed)) for seed in range(RUNS_WITH_ERRORS)]
        if any(agree(found, each) for each in runs):
            return  # a matter of rounding
        self.fail(f"found {found!r}, expected {expected!r}; rewritten: {rewritten!r}")

    def check_memory(self, found: Sequence[np.ndarray], numbers: Sequence[np.ndarray]) -> None:
        """Each result has memory of its own, which the caller may write to, unless it is one that PyTensor made."""
        for number, each in enumerate(found):
            if any(np.may_share_memory(each, other) for other in (*found[:number], *numbers)):
                self.fail("results share memory with each other or with arguments")
            if each.flags.writeable:
                each[...] = 1

    def fail(self, text: str) -> None:
        given = "\n".join(f"{each} = {value!r}" for each, value in self.given.items())
        raise Difference(f"{self.what}: {text}\n{given}\n{self.graph}")
