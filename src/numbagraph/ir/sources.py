"""Lines of the user's code, with the calls that lead there."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from types import CodeType

PREFIX = "_numbagraph_"
"""The prefix of variables and functions that only converted code has."""

Frame = tuple[CodeType, int]
"""A function that runs, and the position of its instruction."""

_MOST_LINES = 3


@dataclass(unsafe_hash=True, slots=True)
class Source:
    """A line of the user's code."""

    file: str
    line: int
    frames: list[Frame] = field(default_factory=list, compare=False, repr=False)
    """The functions that run, innermost first. The same line is the same source, whoever calls."""

    def __str__(self) -> str:
        return line_text(self.file, self.line)

    @property
    def calls(self) -> list[str]:
        """The lines of the functions that run, outermost first, with their names."""
        found: list[tuple[CodeType, str]] = []
        body: str | None = None
        for code, position in self.frames:
            place = body or line_text(code.co_filename, lines_of(code, position)[0])
            if found and found[-1][1] == place and found[-1][0] in code.co_consts:
                found.pop()  # a part of the line, such as what a condition chooses
            body = place if is_body(code) else None  # its function follows
            if body is None:
                found.append((code, place))
        return [f"{place}, in {code.co_name}" for code, place in reversed(found)]

    @property
    def places(self) -> list[str]:
        """The calls that lead to the line, and the line itself, as errors show them."""
        calls = self.calls
        return [f"at {each}" for each in (calls if len(calls) > 1 else [str(self)])]

    @property
    def text(self) -> str:
        """What an error says at its end: the calls that lead to the line, outermost first, and the line itself."""
        return "\n  ".join([*self.places, *(f"  {each}" for each in self.statement)])

    def text_behind(self, said: str) -> str:
        """The text of a place around one that an error has named, without the calls that it has named already."""
        if "\n  at " not in said:
            return self.text
        *callers, _ = self.places
        return f"at {self}" if all(each in said for each in callers) else "\n  ".join(self.places)

    @property
    def alone(self) -> Source:
        """This line without the calls that lead there, so that equal lines of several callers are one."""
        return replace(self, frames=self.frames[:1])

    def copy(self) -> Source:
        return replace(self, frames=self.frames)

    def keep_common(self, other: Source) -> None:
        """Forget the calls that do not lead to ``other``, too: the code of one line stands for both."""
        pairs = zip(self.frames, other.frames, strict=False)
        alike = [one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
        self.frames = alike or self.frames[:1]

    @property
    def statement(self) -> list[str]:
        """The text of the line; where its expression stands on a few lines, of these."""
        first, last = lines_of(*self.frames[0]) if self.frames else (self.line, self.line)
        numbers = range(first, min(last, first + _MOST_LINES - 1) + 1)
        lines = [linecache.getline(self.file, each).rstrip() for each in numbers]
        indented = min((len(each) - len(each.lstrip()) for each in lines if each), default=0)
        return [each[indented:] for each in lines if each]


def is_body(code: CodeType) -> bool:
    """Whether code is the body of a loop or a branch, which converted code has as a function of its own."""
    return code.co_qualname.rpartition(".")[2].startswith(PREFIX)


def lines_of(code: CodeType, position: int) -> tuple[int, int]:
    """The first and the last line of the expression that an instruction belongs to."""
    positions: Iterator[tuple[int | None, ...]] = islice(code.co_positions(), position // 2, None)
    first, last, *_ = next(positions, (None, None))
    return first or code.co_firstlineno, last or first or code.co_firstlineno


def line_text(file: str, line: int) -> str:
    """Return a line as errors show it; in a notebook by its cell, as IPython names it."""
    cell = cell_of(file)
    return f"{file}:{line}" if cell is None else f"{cell}, line {line}"


def cell_of(file: str) -> str | None:
    """The cell of a notebook that IPython calls a file, as it names the cell itself."""
    interpreter = sys.modules.get("IPython")
    shell = interpreter.get_ipython() if interpreter is not None else None
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = name_of(file) if name_of is not None else None
    return None if found is None else " ".join(found)


def text_of(source: Source | None) -> str:
    """The end of an error's text, for a place that may not be known."""
    return f"at {source}" if source is None else source.text
