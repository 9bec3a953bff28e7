"""Native functions that draw: PyTensor's random generators become the words of their states in native code.

Generators that PyTensor lets a random variable change are changed, all or none: if a later step of the same call
fails, they are what they were before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomType

from numbagraph.ir.structs import Struct
from numbagraph.ops.random.generator_states import state_of, words_of
from numbagraph.pymc_bridge.foreign import REFUSALS, ByPytensor, Cell
from numbagraph.pymc_bridge.generators import Journal, Memory, memories_of, memory_of
from numbagraph.pymc_bridge.graph_partition import NativeFunction, Partition, native_function
from numbagraph.pymc_bridge.length_patterns import LengthPatterns
from numbagraph.pymc_bridge.translations.draws import DEFAULT_KIND


class Target(Struct):
    """A generator among the results of a partition."""

    number: int
    """The number of the result."""
    source: int
    """The number of the input generator that it follows from."""
    in_place: bool
    """Whether the result is the same object as the input."""


def is_generator(variable: Variable) -> bool:
    return isinstance(variable.type, RandomType)


def draws(step: Partition | Apply) -> bool:
    """Whether a step draws from random generators."""
    return any(map(is_generator, (*step.inputs, *step.outputs)))


def noting(
    thunk: Callable[[], None], node: Apply, storage: Mapping[Variable, Cell], journal: Journal
) -> Callable[[], None]:
    """Wrap the function that runs one of PyTensor's ops, so that the states of its generators are noted before."""
    cells = [storage[each] for each in node.inputs if is_generator(each)]

    def step() -> None:
        for (generator,) in cells:
            memory = memory_of(generator.bit_generator)
            if memory is not None:
                memory.read()
                journal.note(memory)
        thunk()

    return step


def target_of(partition: Partition, variable: Variable, places: Sequence[int]) -> tuple[int, bool]:
    """The generator among the inputs from which one among the results follows, and whether it is the same object."""
    in_place = True
    while variable not in partition.inputs:
        node: Any = variable.owner
        in_place = in_place and bool(node.op.inplace)
        variable = node.inputs[0]
    return places.index(partition.inputs.index(variable)), in_place


class DrawingStep:
    """A partition that draws, which reads and writes cells."""

    def __init__(
        self, partition: Partition, function: NativeFunction, storage: Mapping[Variable, Cell], journal: Journal
    ) -> None:
        self.partition = partition
        self.journal = journal
        self.by_pytensor = ByPytensor(partition)
        self.patterns = LengthPatterns(partition, function.graph.name)
        self.inputs = [storage[each] for each in partition.inputs]
        self.outputs = [storage[each] for each in partition.outputs]
        self.places = [number for number, each in enumerate(partition.inputs) if is_generator(each)]
        self.targets = [
            Target(number, *target_of(partition, each, self.places))
            for number, each in enumerate(partition.outputs)
            if is_generator(each)
        ]
        self.numbers = [storage[each] for each in partition.outputs if isinstance(each.type, ScalarType)]
        self.memories: list[Memory | None] = [None] * len(self.places)
        """The states of the last call."""
        self.name = function.graph.name
        self.versions = {(DEFAULT_KIND,) * len(self.places): function}
        """The native functions by the kinds of the bit generators."""

    def __call__(self) -> None:
        values = [cell[0] for cell in self.inputs]
        sources = [values[place].bit_generator for place in self.places]
        locks = [each.lock for each in sorted(sources, key=id)]  # in one order, whoever takes them
        taken = 0
        try:
            for lock in locks:
                lock.acquire()
                taken += 1
            results = self.results(values, sources)
        finally:
            for lock in locks[:taken]:
                lock.release()
        for cell, result in zip(self.outputs, results, strict=True):
            cell[0] = result
        for cell in self.numbers:
            cell[0] = cell[0][()]

    def results(self, values: list[Any], sources: Sequence[Any]) -> list[Any]:
        """Run the partition, and return its results, with generators in their new states."""
        self.memories = memories = memories_of(sources, self.memories)
        known = [each for each in memories if each is not None]
        if len(known) < len(sources) or len(set(map(id, sources))) < len(sources):
            return self.by_itself(values)
        kinds = tuple([each.kind for each in known])
        arrays = list(values)
        for place, memory in zip(self.places, known, strict=True):
            memory.read()
            arrays[place] = memory.words
        function = self.patterns.find(arrays, kinds) or self.versions.get(kinds) or self.version(kinds)
        try:
            results = list(function(*arrays))
        except REFUSALS as refusal:
            results = list(self.by_pytensor(values, refusal))
            self.patterns.learn(arrays, refusal, kinds, self.generators(kinds))
            for target in self.targets:
                results[target.number] = words_of(results[target.number].bit_generator)
        for target in self.targets:
            memory, own = known[target.source], values[self.places[target.source]]
            if target.in_place:
                self.journal.note(memory)
                memory.write(results[target.number])
            else:
                own = deepcopy(own)
                own.bit_generator.state = state_of(memory.kind, results[target.number])
            results[target.number] = own
        return results

    def generators(self, kinds: Sequence[str]) -> dict[Variable, str]:
        """The kinds of bit generators by the variables."""
        return dict(zip([self.partition.inputs[place] for place in self.places], kinds, strict=True))

    def version(self, kinds: tuple[str, ...]) -> NativeFunction:
        """The native function for bit generators of other kinds."""
        return self.versions.setdefault(kinds, native_function(self.partition, self.name, self.generators(kinds)))

    def by_itself(self, values: Sequence[Any]) -> list[Any]:
        """Compute the results by PyTensor, if native code does not know the kind of a generator, or if one generator
        occurs several times."""
        results = list(self.by_pytensor.function(*values))
        for target in self.targets:
            own = values[self.places[target.source]]
            if target.in_place:
                own.bit_generator.state = results[target.number].bit_generator.state
                results[target.number] = own
        return results
