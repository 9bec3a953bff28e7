"""Failures of native code while a sampler runs: points are rejected, or the sampler ends with a Python error.

nutpie's sampler panics if a log-density reports that it cannot go on, and if the variables of a draw cannot be
computed. So native code reports neither: the sampler is ended from outside, by the thread that waits for it. Until then
its calls succeed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any
from weakref import ref

from pymc.exceptions import SamplingError

from numbagraph.emit.flat_point import ENDED, REJECTED, UNHEARD
from numbagraph.forking import new_lock
from numbagraph.ir.abi import OUT_OF_MEMORY
from numbagraph.pymc_bridge.sampling.divergences import WithoutGaps

ADVICE = (
    "A point is rejected, and sampling goes on, where a function raises ValueError, ArithmeticError, or an exception "
    "whose attribute is_recoverable is True"
)

BRIEFLY = 0.001

POLL = 0.1
"""The seconds after which the waiting thread checks whether the sampler has to end; nutpie polls for signals as
often."""


class RejectionWarning(UserWarning):
    """A warning: a Python function of the model raised an exception at some points, which a sampler rejected."""


class SamplingEndedError(Exception):
    """An error: a function is not called any more, since an exception ends the sampler."""


def is_recoverable(error: BaseException) -> bool:
    """Whether an exception means that there is no value at a point, rather than that a program is wrong.

    An attribute of the exception itself counts, as for nutpie's own callbacks. Otherwise these are Python's errors of
    numbers, and of values that a function is not defined for; NumPy's and SciPy's `LinAlgError` are among them.
    """
    said = getattr(error, "is_recoverable", None)
    return isinstance(error, (ArithmeticError, ValueError)) if said is None else bool(said)


def described(error: BaseException) -> str:
    """An exception in one line, and where it was raised."""
    where = "".join(f"\n{note}" for note in getattr(error, "__notes__", ())[:1])
    return f"{type(error).__name__}: {error}{where}"


class Run:
    """The exceptions that the calls of one sampler have raised."""

    def __init__(self) -> None:
        self.count = 0
        self.first: BaseException | None = None
        """The first exception for which a point was rejected."""
        self.last: BaseException | None = None
        self.end: RuntimeError | None = None
        """The error with which the sampler ends."""

    def reject(self, error: BaseException) -> None:
        self.count += 1
        self.first, self.last = self.first or error, error

    def raise_end(self) -> None:
        """Raise the error with which the sampler ends, if there is one."""
        if self.end is not None:
            raise self.end

    def warn(self) -> None:
        """Warn of the number of points that were rejected."""
        if self.first is not None:
            warnings.warn(
                f"{points(self.count)} rejected, for a Python function of the model raised an exception there. The "
                f"first was {described(self.first)}",
                RejectionWarning,
                stacklevel=4,
            )

    def not_begun(self) -> SamplingError | None:
        """The error of a sampler that found no point to begin with, if exceptions are the reason."""
        if self.first is None:
            return None
        error = SamplingError(
            f"a chain found no point to begin with: {points(self.count)} rejected, for a Python function of the model "
            f"raised an exception there. The first was {described(self.first)}"
        )
        error.__cause__ = self.first
        return error

    def panicked(self, panic: BaseException) -> SamplingError:
        """The error of a sampler that panicked.

        nutpie computes the density again at a point that a chain is at, where a call must not report a rejection.
        """
        if self.last is None:
            error = SamplingError(f"sampling ended, for nutpie's sampler panicked: {panic}")
            error.__cause__ = panic
            return error
        error = SamplingError(
            "sampling ended, for a Python function of the model raised an exception at a point at which it had a value "
            f"before: {described(self.last)}"
        )
        error.add_note("  Let the function raise each time that it has these arguments, or never")
        error.__cause__ = self.last
        return error


def is_panic(error: BaseException) -> bool:
    """Whether an error is a panic of Rust's, whose class cannot be imported."""
    return type(error).__name__ == "PanicException"


def points(count: int) -> str:
    return "1 point was" if count == 1 else f"{count} points were"


class Failures:
    """A record of failing calls of the functions of one compiled model."""

    def __init__(self) -> None:
        self.lock = new_lock()
        self.runs: set[Run] = set()
        """One run for each sampler that is going on."""
        self.count = 0
        """The number of points that were rejected, by all samplers."""
        self.is_over = False
        """Whether all samplers have to end."""
        self.is_quiet = False
        """Whether rejected points cause no warning."""

    def new_run(self) -> Run:
        run = Run()
        with self.lock:
            self.runs.add(run)
            self.is_over = False
        return run

    def finished(self, run: Run) -> None:
        """Forget a sampler none of whose chains goes on."""
        with self.lock:
            self.runs.discard(run)
            self._look()

    def give_up(self, run: Run, error: RuntimeError) -> None:
        """Let a sampler end with an error, unless there is one already."""
        with self.lock:
            run.end = run.end or error
            self._look()

    def require_going_on(self) -> None:
        """Raise in a function that a sampler calls, if all samplers have to end."""
        if self.is_over:
            raise SamplingEndedError

    def _look(self) -> None:
        self.is_over = bool(self.runs) and all(each.end is not None for each in self.runs)

    def hear(
        self, error: BaseException | None, code: int, evaluate: Callable[[], object], *, of_draws: bool = False
    ) -> int:
        """Record a failed call, and return the code by which native code handles the sampler.

        ``evaluate`` raises what native code cannot say. Draws are points that have a density; their variables must be
        computed.
        """
        with self.lock:
            runs = list(self.runs)
            if not runs:
                return UNHEARD
            if isinstance(error, SamplingEndedError):
                return ENDED
            if error is not None and not of_draws and is_recoverable(error):
                self.count += 1
                for run in runs:
                    run.reject(error)
                return REJECTED
            end = end_of(error, code, evaluate, of_draws=of_draws)
            for run in runs:
                self.give_up(run, end)
        return ENDED


def end_of(error: BaseException | None, code: int, evaluate: Callable[[], object], *, of_draws: bool) -> SamplingError:
    """The error of a call with which a sampler cannot go on."""
    if error is None and code == OUT_OF_MEMORY:
        error = MemoryError()
    elif error is None:
        try:
            evaluate()
        except Exception as found:  # noqa: BLE001  it is raised as the cause
            error = found
    reason = "NumPy finds nothing wrong" if error is None else described(error)
    what = "the variables of a draw" if of_draws else "the log-density"
    end = SamplingError(f"sampling ended, for {what} could not be computed: {reason}")
    end.add_note("  var_names says which variables are computed" if of_draws else f"  {ADVICE}")
    end.__cause__ = error
    return end


class WatchedSampler:
    """nutpie's sampler, which ends if a call of native code has failed; it has all methods of nutpie's."""

    def __init__(self, sampler: Any, failures: Failures, run: Run, model: ref[Any]) -> None:
        """``model`` is one that nutpie alone holds, as long as one of the chains goes on."""
        self._sampler, self._failures, self._run, self._model = sampler, failures, run, model
        self._has_panicked = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sampler, name)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the sampler has finished; TimeoutError after so many seconds."""
        last = None if timeout is None else time.monotonic() + timeout
        while not self._waited(last):
            if self._run.end is not None:
                self.abort()
                break
        self._run.raise_end()

    def _waited(self, last: float | None) -> bool:
        """Wait for a while, but not longer than until ``last``; return whether the sampler has finished."""
        rest = POLL if last is None else last - time.monotonic()
        try:
            self._sampler.wait(max(0.0, min(POLL, rest)))
        except TimeoutError:
            if rest <= POLL and last is not None:
                raise
            return False
        except RuntimeError as error:
            self._failures.give_up(self._run, self._run.not_begun() or error)
            self._join()
            self._run.raise_end()
        except BaseException as error:  # noqa: BLE001  a panic is no Exception
            self._note_panic(error)
            self._join()
            self._run.raise_end()
        return True

    def _join(self) -> None:
        """Wait for the chains that nutpie leaves alone where one of them cannot begin: if they still ran when the
        interpreter ends, it would crash."""
        while self._model() is not None:
            time.sleep(BRIEFLY)
            self._sampler.is_empty(ignore_error=True)  # nutpie lets go of objects when it is called
        self._failures.finished(self._run)

    def abort(self) -> None:
        """End all chains."""
        if not self._has_panicked:
            try:
                self._sampler.abort()
            except BaseException as error:  # noqa: BLE001  a panic is no Exception
                self._note_panic(error)
                self._join()
        self._failures.finished(self._run)

    def _note_panic(self, error: BaseException) -> None:
        """Let the sampler end with an error about the model if a panic occurred; raise other errors."""
        if not is_panic(error):
            raise error
        self._has_panicked = True
        self._failures.give_up(self._run, self._run.panicked(error))

    def inspect(self) -> Any:
        """The draws so far."""
        self._run.raise_end()
        return WithoutGaps(self._sampler.inspect())

    def take_results(self) -> Any:
        """Return the draws, once, and warn of the number of points that were rejected."""
        self._failures.finished(self._run)
        self._run.raise_end()
        found = WithoutGaps(self._sampler.take_results())
        if not self._failures.is_quiet:
            self._run.warn()
        return found
