"""A step of a loop that failed in native code is run once more with NumPy, which raises the error. The steps before it
are not run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numbagraph.ir.later import Later
from numbagraph.runtime.failures import StepRecord, Stop, take
from numbagraph.runtime.interruption import raise_kept
from numbagraph.runtime.specialise import Specialisation

if TYPE_CHECKING:
    from numbagraph.runtime import failed_steps
else:  # it imports the passes
    failed_steps = Later("numbagraph.runtime.failed_steps")


def run_once(
    run: Callable[..., Any], special: Specialisation | None, given: Sequence[Any], leaves: Sequence[Any]
) -> Any:
    """Return the result of a version for ``leaves``, or NotImplemented. If native code has just stopped in a call with
    the arguments ``given``, it is not run again. If a step of a loop has failed, raise its error."""
    stop = stop_of(special, given)
    result = run(*leaves) if stop is None else NotImplemented
    if result is NotImplemented and special is not None:
        stop = stop or stop_of(special, leaves)
        raise_kept()
        error = error_of_steps(special, stop.steps) if stop is not None else None
        if error is not None:
            raise error
    return result


def stop_of(special: Specialisation | None, leaves: Sequence[Any]) -> Stop | None:
    """The stop of a call with these leaves, if native code has just stopped in one."""
    stop = take()
    return stop if stop is not None and special is not None and stop.is_of(special.plans, leaves) else None


def error_of_steps(special: Specialisation, steps: Sequence[StepRecord]) -> Exception | None:
    """The error of the innermost step that failed, if NumPy finds one."""
    return failed_steps.error_of(special, steps)
