"""PyTensor's mode ``NUMBAGRAPH``: functions whose native part is numbagraph's, with the draws of PyTensor's other
modes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pytensor.compile.mode import Mode, predefined_linkers, predefined_modes, register_linker, register_mode
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.basic import Container, PerformLinker
from pytensor.link.utils import map_storage
from pytensor.link.vm import VMLinker
from pytensor.scalar.basic import ScalarType

from numbagraph.pymc_bridge.foreign import REFUSALS, ByPytensor, Cell, FallbackWarning, foreign_step
from numbagraph.pymc_bridge.generators import Journal
from numbagraph.pymc_bridge.graph_partition import Division, NativeFunction, Partition, Step, divide
from numbagraph.pymc_bridge.length_patterns import LengthPatterns
from numbagraph.pymc_bridge.sampling.default_mode import install
from numbagraph.pymc_bridge.sampling.drawing import DrawingStep, draws, noting

LONGEST = 60
"""The largest number of characters of an op in a warning."""
LINKER, MODE = "numbagraph", "NUMBAGRAPH"


class NumbagraphLinker(PerformLinker, VMLinker):
    """Links PyTensor's functions: native code for all ops that have a translation, and PyTensor's own for the rest.

    Random variables draw the numbers of its other modes for the same seed, natively or by
    PyTensor. It is a `VMLinker` for what runs functions inside of loops: the program writes updates itself.
    """

    required_rewrites = ("minimum_compile",)
    incompatible_rewrites = (
        "cxx_only",
        # loops are fused here, and products of matrices may be part of them
        "fusion",
        "BlasOpt",
        "InplaceBlasOpt",
        # values are immutable, but for the states of random generators
        "inplace_elemwise",
        "blockwise_inplace",
        "local_inplace_setsubtensor",
        "local_inplace_AdvancedIncSubtensor",
        "local_inplace_AdvancedIncSubtensor1",
        "scan_make_inplace",
        "cond_make_inplace",
    )

    def __init__(self, allow_gc: bool | None = None, schedule: Any = None) -> None:
        VMLinker.__init__(self, allow_gc=allow_gc, schedule=schedule)
        self.required_rewrites = type(self).required_rewrites
        self.incompatible_rewrites = type(self).incompatible_rewrites

    def make_all(self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None) -> Any:
        """Link a graph as PyTensor requires: return the function that runs it, the containers of its inputs and
        outputs, and its steps and nodes."""
        fgraph: Any = self.fgraph
        order = self.schedule(fgraph)
        input_storage, output_storage, storage_map = map_storage(
            fgraph, order, input_storage, output_storage, storage_map
        )
        division = divide(fgraph, order, getattr(fgraph, "name", None) or "pytensor")
        warn_of_fallbacks(division)
        run: Any = LinkedProgram(fgraph, division, storage_map, self.updated_vars)
        run.allow_gc = self.allow_gc
        run.storage_map = storage_map
        inputs = [Container(*each) for each in zip(fgraph.inputs, input_storage, strict=True)]
        outputs = [Container(*each, readonly=True) for each in zip(fgraph.outputs, output_storage, strict=True)]
        return run, inputs, outputs, run.steps, order


def warn_of_fallbacks(division: Division) -> None:
    """One warning that names all ops that have no translation."""
    reasons: dict[str, str] = {}
    for node, reason in division.reasons.items():
        reasons.setdefault(shortened(str(node.op)), reason)
    if reasons:
        lines = [f"- {op}: {reason}" for op, reason in reasons.items()]
        text = "\n".join(("PyTensor itself runs ops that numbagraph cannot translate", *lines))
        warnings.warn(text, FallbackWarning, stacklevel=2)


def shortened(op: str) -> str:
    """Shorten an op's text, which may have a whole graph inside of it."""
    return op if len(op) <= LONGEST else f"{op[:LONGEST]}..."


class LinkedProgram:
    """A graph as steps that read and write PyTensor's cells; calling it runs them."""

    allow_gc: bool | None
    storage_map: Mapping[Variable, Cell]
    need_update_inputs = False
    """Whether PyTensor must write updates after a call: the program does it itself."""

    def __init__(
        self,
        fgraph: FunctionGraph,
        division: Division,
        storage: dict[Variable, Cell],
        updates: Mapping[Variable, Variable],
    ) -> None:
        """``updates`` has the inputs that change, and the variables with their new values."""
        self.journal = Journal()
        self.steps = [self.step(step, division, storage) for step in division.steps]
        self.draws = any(map(draws, division.steps))
        results = set(fgraph.outputs)
        self.temporaries = [storage[each] for step in division.steps for each in step.outputs if each not in results]
        foreign = [each for step in division.steps if isinstance(step, Apply) for each in step.outputs]
        self.results = [storage[each] for each in foreign if each in results]
        self.outputs = [storage[each] for each in fgraph.outputs]
        self.updates = [(storage[target], storage[source]) for target, source in updates.items()]

    def step(self, step: Step, division: Division, storage: Mapping[Variable, Cell]) -> Callable[[], None]:
        """Make the function that runs a step."""
        if isinstance(step, Apply):
            thunk = foreign_step(step, dict(storage))
            return noting(thunk, step, storage, self.journal) if draws(step) else thunk
        make = partial(DrawingStep, journal=self.journal) if draws(step) else native_step
        return make(step, division.functions[step], storage)

    def run_all_or_none(self) -> None:
        """Run the steps. If one fails, restore the generators' states."""
        try:
            self.run()
        except BaseException:
            self.journal.undo()
            raise
        self.journal.entries.clear()

    def run(self) -> None:
        for step in self.steps:
            step()

    def __call__(self, output_subset: Sequence[int] | None = None) -> list[Any]:  # noqa: ARG002  PyTensor 2 gives it
        """The outputs. All steps are run, whichever outputs are wanted."""
        for cell in self.results:
            cell[0] = None  # an op may reuse what it finds, but the caller has that
        if self.draws:
            self.run_all_or_none()
        else:
            self.run()
        for cell in self.temporaries:
            cell[0] = None
        outputs = [cell[0] for cell in self.outputs]  # one of them may be an input that changes now
        updated = [source[0] for _, source in self.updates]
        for (target, _), value in zip(self.updates, updated, strict=True):
            target[0] = value
        return outputs


def native_step(partition: Partition, function: NativeFunction, storage: Mapping[Variable, Cell]) -> Callable[[], None]:
    """Make a native function that reads and writes cells. PyTensor decides on lengths that it refuses, and on results
    of its own ops that are not of their types."""
    by_pytensor, patterns = ByPytensor(partition), LengthPatterns(partition, function.graph.name)
    inputs = [storage[each] for each in partition.inputs]
    outputs = [storage[each] for each in partition.outputs]
    numbers = [storage[each] for each in partition.outputs if isinstance(each.type, ScalarType)]

    def step() -> None:
        arrays = [cell[0] for cell in inputs]
        try:
            results = (patterns.find(arrays) or function)(*arrays)
        except REFUSALS as refusal:
            results = by_pytensor(arrays, refusal)
            patterns.learn(arrays, refusal)
        for cell, result in zip(outputs, results, strict=True):
            cell[0] = result
        for cell in numbers:
            cell[0] = cell[0][()]

    return step


def is_ours(mode: Any) -> bool:
    """Whether a mode, or the mode of a name, has numbagraph's linker."""
    return (
        mode.upper() == MODE if isinstance(mode, str) else isinstance(getattr(mode, "linker", None), NumbagraphLinker)
    )


WRONG = ("local_log_erfc",)
"""PyTensor's rewrites that change results: this one takes powers of integers, which overflow. numbagraph has another
form."""


def register() -> None:
    """Make the mode known to PyTensor, by name, and let all of `pm.sample` have it."""
    if LINKER not in predefined_linkers:
        register_linker(LINKER, NumbagraphLinker())
    if MODE not in predefined_modes:
        register_mode(MODE, Mode(NumbagraphLinker(), RewriteDatabaseQuery(include=["fast_run"], exclude=WRONG)))
    install(is_ours)


register()
