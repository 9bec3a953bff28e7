"""The results of `numbagraph.profile`: times, bytes and bandwidths, as a table, as HTML, and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from numbagraph.explain.html import escape, table, written
from numbagraph.explain.report import format_bytes
from numbagraph.ir.public import Public
from numbagraph.ir.structs import Struct

HEAD = ("step", "line", "runs", "time", "share", "bytes", "bandwidth", "of the limit")
COLUMN = " | "
INDENT = "  "


class ProfiledStep(Struct):
    """One step of a compiled function: a loop nest, a call, a loop or a branch.

    Parameters
    ----------
    kind : {"nest", "call", "tiled", "loop", "branch"}
        What it is; ``"tiled"`` are nests and calls that run together for a few rows at a time.
    name : str
        As `explain` names it.
    source : str
        The user's line, or nothing where none is known.
    depth : int
        How many of the steps before it contain it.
    runs : int
        How often it ran in one call of the function; a part of a tiled step, how many tiles there were.
    seconds : float
        All of these runs together, with the steps that it contains.
    bytes : int
        What it read and wrote in all of these runs, each array once a run; 0 for what has steps of its own.
    iterations : int
        How often the bodies of its loops ran, all runs together; 0 for what is no nest.
    limit : float
        Bytes a second that a plain copy of as many bytes moves on this machine; 0 where nothing was moved.
    """

    kind: str
    name: str
    source: str
    depth: int
    runs: int
    seconds: float
    bytes: int
    iterations: int
    limit: float

    @property
    def bandwidth(self) -> float | None:
        """Bytes a second; None where there is nothing to divide."""
        return self.bytes / self.seconds if self.bytes and self.seconds else None

    @property
    def of_limit(self) -> float | None:
        """The bandwidth relative to that of a copy."""
        return self.bandwidth / self.limit if self.bandwidth is not None and self.limit else None


class Profile(Public):
    """The results of `numbagraph.profile`.

    ``print`` shows a table, notebooks show it as HTML, and `as_dict` gives plain data.

    Parameters
    ----------
    function : str
        The function's name and line.
    steps : sequence of ProfiledStep
        In the order in which they run; each after those that contain it.
    seconds : float
        One call of the measured program, from Python: the median.
    calls : int
        How many calls were measured.
    reading : float
        The seconds that it takes to read the clock, which are left out of the times of steps.
    limits : mapping
        The bandwidth of a copy on this machine, in bytes a second, by how many bytes are moved.
    result
        What the function returned.
    page : callable
        Makes the page of `to_html`, which has a title.
    """

    def __init__(
        self,
        function: str,
        steps: Sequence[ProfiledStep],
        seconds: float,
        calls: int,
        reading: float,
        limits: Mapping[int, float],
        result: Any,
        page: Callable[[str], str],
    ) -> None:
        self.function = function
        self.steps = tuple(steps)
        self.seconds = seconds
        self.calls = calls
        self.reading = reading
        self.limits = dict(limits)
        self.result = result
        self._page = page

    @property
    def outside(self) -> float:
        """The seconds of a call that no step took: dispatch, memory for results, single numbers."""
        return max(0.0, self.seconds - self.clock - sum(each.seconds for each in self.steps if not each.depth))

    @property
    def clock(self) -> float:
        """The seconds of a call that were spent on reading the clock, twice for each run of a step."""
        return min(self.seconds, 2 * self.reading * sum(each.runs for each in self.steps))

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the result, as types that JSON has.

        Returns
        -------
        dict
            ``function``, ``seconds``, ``outside``, ``clock``, ``calls``, ``reading``, ``limits`` (a list of pairs) and
            ``steps``, a dictionary each.
        """
        steps = [
            {name: getattr(each, name) for name in ProfiledStep.__fields__}
            | {"bandwidth": each.bandwidth, "of_limit": each.of_limit}
            for each in self.steps
        ]
        known = {name: getattr(self, name) for name in ("function", "seconds", "outside", "clock", "calls", "reading")}
        return {**known, "limits": [list(each) for each in self.limits.items()], "steps": steps}

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """A page for browsers, like that of ``explain(...).to_html()``, with times.

        Parameters
        ----------
        path : path, optional
            Where to write it: one file, which loads nothing from elsewhere.

        Returns
        -------
        str
            The page.
        """
        return written(self._page(self.title), path)

    @property
    def title(self) -> str:
        text = f"{self.function}: {format_time(self.seconds)} a call, {format_time(self.outside)} outside of steps"
        text += f", {format_time(self.clock)} for reading the clock" if self.clock else ""
        return f"{text} (median of {self.calls} calls)" if self.calls > 1 else f"{text} (one call)"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [self._row(each) for each in self.steps]

    def _row(self, step: ProfiledStep) -> tuple[str, ...]:
        own = self.seconds - self.clock
        share = f"{step.seconds / own:.0%}" if own else ""
        limit = "" if step.of_limit is None else f"{step.of_limit:.0%}"
        rate = "" if step.bandwidth is None else f"{step.bandwidth / 1e9:.1f} GB/s"
        moved = format_bytes(step.bytes) if step.bytes else ""
        name = f"{INDENT * step.depth}{step.kind} {step.name}"
        return name, step.source, f"{step.runs:,}", format_time(step.seconds), share, moved, rate, limit

    def __repr__(self) -> str:
        rows = [HEAD, *self.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            COLUMN.join(
                each.ljust(width) if number < 2 else each.rjust(width)
                for number, (each, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self.title, lines[0], "-" * len(lines[0]), *lines[1:]])

    def _repr_html_(self) -> str:
        rows = [(row[0].replace(INDENT, "\N{NO-BREAK SPACE}" * 4), *row[1:]) for row in self.rows]
        return f"<div><code>{escape(self.title)}</code>{table(HEAD, rows)}</div>"


def format_time(seconds: float) -> str:
    """A time with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 999.5 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
