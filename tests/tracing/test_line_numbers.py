"""The lines of frames in functions that are too long for Python to look for them each time."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from numbagraph.tracing.line_numbers import LONG, LineNumbers


def frames_of(text: str, name: str) -> list[tuple[int, int, int]]:
    """The offset, the line and what `LineNumbers` finds, at each call of ``here`` in the function of some text."""
    found: list[tuple[int, int, int]] = []
    lines = LineNumbers()

    def here() -> int:
        frame: FrameType = sys._getframe(1)
        found.append((frame.f_lasti, frame.f_lineno, lines.of(frame)))
        return 1

    scope = {"here": here}
    exec(text, scope)
    scope[name]()  # type: ignore[operator]
    return found


@pytest.mark.parametrize(
    "statement", ["x = here()", "x = (here() +\n        here())", "if here(): x = [here() for _ in (1,)]"]
)
def test_lines_are_those_of_python(statement: str) -> None:
    text = "def long():\n" + "".join(f"    {statement}\n    y = x\n\n" for _ in range(2_000))
    found = frames_of(text, "long")
    assert max(offset for offset, _, _ in found) > 2 * LONG
    assert [line for _, line, _ in found] == [line for _, _, line in found]


def test_two_long_functions_call_each_other() -> None:
    body = "".join("    here()\n" for _ in range(4_000))
    text = f"def inner():\n{body}\n    return 1\n\ndef outer():\n{body}    inner()\n    here()\n"
    found = frames_of(text, "outer")
    assert len(found) == 8_001
    assert [line for _, line, _ in found] == [line for _, _, line in found]
