"""The line that a frame is at, in functions of any length."""

from __future__ import annotations

from bisect import bisect_right
from types import CodeType, FrameType

LONG = 2**14
"""The offset of an instruction, in bytes, from which on a table pays: Python itself reads all entries before it."""


class LineTable:
    """The lines of the instructions of one function."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        ranges = list(code.co_lines())
        self.starts = [start for start, _, _ in ranges]
        self.lines = [line for _, _, line in ranges]

    def line(self, position: int) -> int:
        return self.lines[bisect_right(self.starts, position) - 1] or self.code.co_firstlineno


class LineNumbers:
    """The lines of frames. A table of the last long function is kept, as its lines follow each other."""

    def __init__(self) -> None:
        self._table: LineTable | None = None

    def of(self, frame: FrameType) -> int:
        if frame.f_lasti < LONG:
            return frame.f_lineno
        table = self._table
        if table is None or table.code is not frame.f_code:
            table = self._table = LineTable(frame.f_code)
        return table.line(frame.f_lasti)


line_numbers = LineNumbers()
