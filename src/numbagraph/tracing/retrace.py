"""The reasons for which something is traced again, as exceptions, and who retries it.

============================  =====================================  ============================================
exception                     retried by                             with
============================  =====================================  ============================================
`Unconvertible`               `jit.conversion`                       the function as it is, and known lengths
`WithoutSource`               `jit.conversion`                       the function as it is, and known lengths
`UnrolledLoop`                `jit.conversion`                       loops as regions, or else the function as it is
`LengthsNeeded`               `jit.conversion`                       this length, all lengths, then all integers
`ListFull`                    `jit.execution`                        more room for lists
`KeysNeeded`                  `jit.conversion`                       hash tables in place of dicts and sets
`WiderElements`               `capture.statements.list_buffering`    buffers for wider elements
`ListNeeded`                  `capture.statements.list_buffering`    lists in growable buffers
`ReboundListChanges`          `capture.statements.list_buffering`    a slot of its own for the variable
`LengthChanges`               `jit.conversion`                       lengths that are known
`UncountedGrowth`             `capture.statements.loops`             a first loop that counts the steps
`PlacesWritten`               `capture.statements.extended_state`    attributes and elements as variables
`ConditionWrites`             `capture.statements.control_flow`      the condition inside of each step
`StaticLoop`                  `capture.statements.control_flow`      Python, which runs the loop
`UnlikeBranches`              `capture.statements.control_flow`      a branch that joins variables one by one
`Unstackable`                 `capture.builtins.sorted_lists`        appends, one element after the other
`OrderMissing`                `tracing.effect_tokens`                the order of effects as a carried value
============================  =====================================  ============================================

The first six let a whole function be traced again, the others a loop, a branch or a list. An error that users see, if
nothing helps, is a `TraceError`; the others are always caught.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numbagraph.ir.values import Source, Value
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.trace import CaptureError, refused

REGISTER = (
    "text that exec runs has a source where its file has a name of its own, code = compile(text, name, 'exec'), and "
    "linecache has the text, linecache.cache[name] = (len(text), None, text.splitlines(True), name)"
)


IN_A_FILE = "Python keeps no source of what it reads from standard input or the plain prompt. Put it in a file"


class Retrace(BaseException):
    """A reason for which something is traced again."""


class Unconvertible(TraceError, Retrace):
    """A function whose loops and branches cannot be captured, for lack of source."""


class WithoutSource(Exception, Retrace):
    """An error for a function that cannot be converted, for lack of source: with known lengths, the refused operation
    may be possible."""

    def __init__(self, refused: Exception, reason: Unconvertible) -> None:
        super().__init__(refused)
        self.refused = refused
        text, _, place = str(reason).partition("\n")
        advice = IN_A_FILE if "<stdin>" in place else REGISTER
        refused.add_note(f"{text}, so its loops and branches are not captured: {advice}\n{place}")


class LengthsNeeded(TraceError, Retrace):
    """A length must be known while the function is traced (`numbagraph.tracing.static_lengths`): ``extent``, or any
    one."""

    def __init__(self, text: str, extent: Value | None = None) -> None:
        super().__init__(text)
        self.extent = extent
        refused(self)


class UnrolledLoop(TraceError, Retrace):
    """A loop that Python runs while it is traced has become long."""

    def __init__(self, source: Source) -> None:
        super().__init__(f"a loop is traced step by step\n  at {source}")
        self.source = source
        refused(self)

    def without_region(self, reason: Exception) -> Exception:
        """Return the error for a loop whose steps are too many, where an error says why they are no region."""
        if isinstance(reason, TraceError):
            return reason
        return CaptureError(
            f"a loop takes more steps than can be traced one by one, and one step for all cannot be traced: "
            f"{type(reason).__name__}: {reason}. What needs the number of a step itself must not be in a long loop"
            f"\n  {self.source.text}"
        )


class ListFull(RuntimeError, Retrace):
    """A list has become longer than there is room for."""


class KeysNeeded(CaptureError, Retrace):
    """A dict or a set has traced keys, or keys of new types."""


class WiderElements(CaptureError, Retrace):
    """An element of a list is of another type than those before."""


class ListNeeded(CaptureError, Retrace):
    """A list whose length is traced becomes longer or shorter in a loop or a branch."""


class ReboundListChanges(ListNeeded):
    """A list changes that a variable holds which a loop or a branch may bind to another list; ``slot`` stands for the
    variable."""

    def __init__(self, slot: Any, text: str) -> None:
        super().__init__(text)
        self.slot = slot


class LengthChanges(LengthsNeeded):
    """A loop carries an array whose shape changes, in other axes than the first."""


class UncountedGrowth(CaptureError, Retrace):
    """A list grows in a loop whose number of steps is not known before."""


class PlacesWritten(CaptureError, Retrace):
    """A loop or a branch assigns to attributes or elements of things from outside that are not variables of it."""

    def __init__(self, places: Sequence[Any], text: str) -> None:
        super().__init__(text)
        self.places = places


class ConditionWrites(Exception, Retrace):
    """The condition of a loop has changed an array."""


class StaticLoop(Exception, Retrace):
    """The condition of a loop does not depend on traced values."""


class UnlikeBranches(CaptureError, Retrace):
    """The values that a variable has after two paths cannot be joined."""


class Unstackable(CaptureError, Retrace):
    """The elements of a list do not have one shape, or are no numbers."""


class OrderMissing(Retrace):
    """An effect in a region that is not given the order of effects. No user code should catch it."""

    def __init__(self, source: Source | None) -> None:
        self.source = source
