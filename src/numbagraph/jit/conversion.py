"""Decides when functions are traced in their converted form, in which loops and branches are calls of operators.

A function is traced as it is first. Where that needs a value not known during tracing, such as the truth of a traced
array, all functions of the trace are converted, and it is traced again; so straight-line code pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from numbagraph.ir.later import Later
from numbagraph.ir.sources import Source
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.internal_errors import file_of, frames_of, line_of
from numbagraph.tracing.retrace import LengthsNeeded, Unconvertible, UnrolledLoop, WithoutSource
from numbagraph.tracing.static_lengths import Known, Place, places_of
from numbagraph.tracing.static_values import needs_counts, numbers_given
from numbagraph.tracing.trace import active, tried
from numbagraph.tracing.unrolled_loops import FEW_CALLS, MOST_CALLS, long_loops_found, long_loops_rolled
from numbagraph.tracing.user_code import library_of

if TYPE_CHECKING:
    from numbagraph.capture import operators
else:  # few functions need to be converted
    operators = Later("numbagraph.capture.operators")

T = TypeVar("T")


def converter() -> Callable[[Any], Any]:
    """Return the function that converts functions. Few functions need it, so it is imported late."""
    return operators.call


def is_from_library(error: Exception) -> bool:
    """Whether a function of NumPy's, SciPy's or Numba's has raised an error. Such a function may need more of an array
    or a length than a traced one has, and converted code may use another function in its place."""
    place = error.__traceback__
    while place is not None:
        if str(place.tb_frame.f_globals.get("__name__", "")).startswith(("numpy.", "scipy.", "numba.")):
            return True
        place = place.tb_next
    return False


def last_call(error: RecursionError) -> tuple[str, Source | None]:
    """The function of the user's in which a recursion without end has stopped, and its line."""
    own = [each for each in frames_of(error.__traceback__) if library_of(file_of(each)) is None]
    place = next((each for each in reversed(own) if each.tb_frame.f_code.co_name != "<lambda>"), own[-1])
    return place.tb_frame.f_code.co_name, line_of(place)


class Conversion:
    """Whether one function must be traced in its converted form, and may be."""

    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed
        self.needed = False
        self.rolled = False
        """Whether the function is converted for its loops of many steps alone."""
        self.unrolls = False
        """Whether a loop of many steps is traced step by step, since it cannot be converted."""
        self.known = Known.NOTHING
        """The facts that each version is made for alone."""
        self.fixed: frozenset[str] = frozenset()
        """The arguments for whose numbers versions are made (`numbagraph.tracing.static_values`)."""
        self.places: frozenset[Place] = frozenset()
        """The lengths of arguments that versions are made for."""
        self.without_source = False
        """Whether the function is traced as it is, with known lengths, since it cannot be converted."""
        self.room = 1
        """The factor on the usual room of lists that loops make longer."""

    def attempt(self, make: Callable[[bool], T], arguments: Any, at_once: bool) -> T:
        """Return the result of ``make``, with functions as they are or, where that is refused, converted; with known
        lengths and numbers of ``arguments`` where these are needed. ``at_once``: whether it is converted first
        (`Walk.converts_at_once`)."""
        around, active.widened = active.widened, {}
        failed: Exception | None = None
        fixed = self.fixed
        try:
            while True:
                try:
                    found = self._settled(make, at_once)
                except LengthsNeeded as error:
                    if not self._fix_lengths(error, arguments) and not arguments.know_more():
                        raise TraceError(*error.args).with_traceback(error.__traceback__) from None
                except WithoutSource as error:
                    names = numbers_given(error.refused)
                    if arguments.fix_numbers(names, only_counts=needs_counts(error.refused)):
                        fixed |= names
                        continue
                    if not self._may_know_lengths(arguments):
                        raise error.refused from None
                    self.without_source = True
                except Exception as error:
                    names = numbers_given(error)
                    if not arguments.fix_numbers(names, only_counts=needs_counts(error)):
                        if failed is not None and type(failed) is type(
                            error
                        ):  # the first one has the line, and the types of operands
                            raise failed from None
                        raise
                    fixed |= names
                    failed = error
                else:
                    self.known, self.fixed = max(self.known, arguments.known), self.fixed | fixed
                    return found
        finally:
            active.widened = around

    def _fix_lengths(self, error: LengthsNeeded, arguments: Any) -> bool:
        places = places_of(error.extent)
        is_new = arguments.fix_lengths(places)
        if is_new:
            self.places |= places
        return is_new

    @staticmethod
    def _may_know_lengths(arguments: Any) -> bool:
        """Let versions be made for the lengths of a call. Return whether that is new."""
        try:
            return arguments.known is Known.NOTHING and arguments.know_more()
        except LengthsNeeded:  # they are those of a caller in native code
            return False

    def _settled(self, make: Callable[[bool], T], at_once: bool) -> T:
        """Return the result of ``make``, tracing again each time that a list turns out to hold wider numbers than at
        first."""
        while True:
            known = dict(active.widened)
            try:
                return self._attempt(make, at_once)
            except Exception:
                if active.widened == known:
                    raise

    def _attempt(self, make: Callable[[bool], T], at_once: bool) -> T:
        if not self.allowed:
            return make(False)
        if self.needed:
            return self._rolled(make, None) if self.rolled else self._converted(make, None)
        if at_once:
            try:
                return self._converted(make, None)
            except Unconvertible:
                pass
        refusals = active.refusals
        try:
            with long_loops_found(self._fewest_calls()):
                found = make(False)
        except LengthsNeeded:
            raise
        except RecursionError as error:
            name, place = last_call(error)
            raise RecursionError(
                f"{error}: {name} has called itself so often while it was traced. Write a loop, or a case in which it "
                f"does not call itself\n  at {place}"
            ) from None
        except Exception as error:
            compiled_by_numba = type(error).__module__.startswith("numba.")
            if active.refusals == refusals and not compiled_by_numba and not is_from_library(error):
                raise
            refused = error
        else:
            if active.refusals == refusals:
                return found
            refused = active.refusal
        if isinstance(refused, UnrolledLoop):
            if self.unrolls:
                raise refused
            return self._rolled(make, refused)
        return self._converted(make, refused)

    def _fewest_calls(self) -> int | None:
        """The number of calls from which on a loop of many steps is looked for in a function that is traced as it
        is."""
        if self.without_source:  # it has a limit of its own
            return None
        return MOST_CALLS if self.unrolls else FEW_CALLS

    def _rolled(self, make: Callable[[bool], T], refused: UnrolledLoop | None) -> T:
        """Return the result of ``make`` with loops as regions; where something in the function cannot be converted,
        with the function as it is, step by step."""
        try:
            with tried(), long_loops_rolled():
                found = self._converted(make, refused)
        except Exception as reason:  # noqa: BLE001  whatever it is, Python may do it
            self.unroll()
            try:
                return self._attempt(make, at_once=False)
            except UnrolledLoop as endless:
                raise endless.without_region(reason) from None
        self.rolled = True
        return found

    def unroll(self) -> None:
        """Trace loops of many steps step by step from now on."""
        self.rolled, self.needed, self.unrolls = False, False, True

    def _converted(self, make: Callable[[bool], T], refused: Exception | None) -> T:
        """Return the result of ``make`` for the converted function. Raise a refusal that the function has caught
        itself: it would take another path for numbers."""
        refusals = active.refusals
        try:
            with long_loops_found(None):
                found = make(True)
        except Unconvertible as reason:
            if refused is None:
                raise
            raise WithoutSource(refused, reason) from None
        except RecursionError as error:
            name, place = last_call(error)
            raise LengthsNeeded(
                f"{name} calls itself as often as traced values say, so that its trace has no end: write a loop, or "
                f"let a number or a text of Python end it\n  at {place}"
            ) from None
        except Exception:
            if active.refusals != refusals and isinstance(active.refusal, LengthsNeeded):  # a library has caught it
                raise active.refusal from None
            raise
        if active.refusals != refusals and active.refusal is not None:
            raise active.refusal
        self.needed = True
        return found
