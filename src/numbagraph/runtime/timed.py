"""Programs that measure themselves: their compilation, their runs, and their records."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import llvmlite.ir as ir
import numpy as np

from numbagraph.emit.program import DeferredLoops
from numbagraph.emit.timed import FIELDS, Watched, emit_timed
from numbagraph.ir.structs import cached_property
from numbagraph.loops.ir import Program
from numbagraph.runtime.specialise import Specialisation


class TimedProgram(Specialisation, frozen=False):
    """A specialisation whose steps are measured. It is compiled anew, and not cached."""

    watched: list[Watched] = field(default_factory=list)

    @classmethod
    def of(cls, special: Specialisation) -> TimedProgram:
        return cls(special.graph, special.signature, special.captured, special.name, None, special.parallel)

    @cached_property
    def emitted(self) -> Program:
        """The program whose steps ``watched`` lists."""
        return self.tiled

    def emit(self, module: ir.Module, deferred: DeferredLoops | None = None) -> ir.Module:
        assert deferred is None
        self.watched = emit_timed(module, self.emitted, self.signature, self.graph.inputs, self.name)
        return module

    def deferred_loops(self) -> None:
        """Return None: loops with checks are emitted at once, so that they are measured."""

    @cached_property
    def reading(self) -> int:
        """The nanoseconds that a reading of the clock takes."""
        return ctypes.CFUNCTYPE(ctypes.c_int64)(self.library.address(f"{self.name}.reading"))()

    @cached_property
    def _records(self) -> list[Any]:
        type_ = ctypes.c_int64 * len(FIELDS)
        return [type_.from_address(self.library.address(each.symbol)) for each in self.watched]

    def records(self) -> np.ndarray:
        """Return the counts since the last call of this method: for each of ``watched`` a row with the columns
        ``FIELDS``."""
        found = np.array([list(each) for each in self._records], np.int64).reshape(-1, len(FIELDS))
        for each in self._records:
            ctypes.memset(ctypes.addressof(each), 0, ctypes.sizeof(each))
        return found

    def without_clock(self, records: np.ndarray) -> np.ndarray:
        """The records without the time that the readings of the clock took themselves."""
        found = records.copy()
        for number, (elapsed, runs, *_) in enumerate(records):
            readings = runs + 2 * sum(records[inner, 1] for inner in self.inside(number))
            found[number, 0] = max(0, elapsed - self.reading * readings)
        return found

    def inside(self, number: int) -> Sequence[int]:
        """The steps that a step contains."""
        depth, after = self.watched[number].depth, range(number + 1, len(self.watched))
        end = next((each for each in after if self.watched[each].depth <= depth), len(self.watched))
        return range(number + 1, end)
