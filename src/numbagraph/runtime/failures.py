"""The records that native code leaves where it fails: the plan of the call, and for loops the step and its operands.

Native code calls the functions here once a failure, so they are written in Python.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any

from numbagraph.intrinsics.emitters.external import FINDERS
from numbagraph.ir.abi import FAILURES
from numbagraph.ir.structs import Struct
from numbagraph.runtime.interruption import keeping


class Operand(Struct):
    """A leaf of a step: its lengths, and its bytes or, for an argument of the call, their place."""

    lengths: tuple[int, ...]
    content: Any


class StepRecord(Struct):
    """A step that failed."""

    name: str
    """The name of the native function of the step."""
    number: int
    operands: tuple[Operand, ...]


class Stop(Struct):
    """A call that native code did not finish."""

    plan: int
    """The address of its `PlanRecord`."""
    arguments: tuple[int, ...]
    """The addresses of the arguments' objects."""
    steps: tuple[StepRecord, ...]
    """The steps that failed, the innermost loop first."""

    def is_of(self, plans: Sequence[int], arguments: Sequence[Any]) -> bool:
        """Whether the stop belongs to a call of one of these plans with these arguments."""
        return self.plan in plans and self.arguments[: len(arguments)] == tuple(map(id, arguments))


class _Left(threading.local):
    def __init__(self) -> None:
        self.steps: list[StepRecord] = []
        self.stop: Stop | None = None


_left = _Left()


def is_stopped() -> bool:
    """Whether a call of this thread has been stopped, and its stop has not been taken yet."""
    return _left.stop is not None


def take() -> Stop | None:
    """Return the stop of this thread's last call, and forget it; None if native code did not begin, or gave a
    result."""
    stop, _left.stop = _left.stop, None
    return stop


@ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
@keeping
def _record(name: bytes, step: int, count: int, entries: Any) -> None:
    words = iter(entries[:count])
    operands = []
    for address in words:
        size, lasts, rank = next(words), next(words), next(words)
        lengths = tuple(next(words) for _ in range(rank))
        lasting = lasts and size and rank  # no array of ctypes has no bytes; numbers lie on the stack
        content = (ctypes.c_char * size).from_address(address) if lasting else ctypes.string_at(address, size)
        operands.append(Operand(lengths, content))
    record = StepRecord(name.decode(), step, tuple(operands))
    if _left.steps and not _left.steps[-1].name.startswith(f"{record.name}."):
        _left.steps.clear()  # of a failure that nobody asked about
    _left.steps.append(record)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
@keeping
def _stopped(plan: int, objects: int, given: int) -> None:
    arguments = tuple((ctypes.c_void_p * given).from_address(objects)) if given else ()
    _left.stop = Stop(plan, arguments, tuple(_left.steps))
    _left.steps.clear()


def stop_symbols() -> dict[str, int]:
    """The addresses of functions that the native entry calls where a program did not finish."""
    return {"program_stopped": ctypes.cast(_stopped, ctypes.c_void_p).value or 0}


FINDERS[FAILURES] = lambda names: [ctypes.cast(_record, ctypes.c_void_p).value or 0 for _ in names]
