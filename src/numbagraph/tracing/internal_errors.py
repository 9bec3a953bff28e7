"""Faults of numbagraph itself: tells them from other errors by the place where they arose, and words them for users.

The text of a ``raise`` statement of numbagraph's is meant for users, and so are errors that NumPy raises on its behalf;
an assertion, a key that is missing or a bug of a pass is not. No user's code runs below the passes and the code
generator, so that all other errors that arise there are faults.
"""

from __future__ import annotations

import dis
import linecache
import os
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from numbagraph.ir.internal import HOW_TO_REPORT, InternalError
from numbagraph.ir.values import Node, Source
from numbagraph.tracing.user_code import HARMLESS, OWN, library_of


def own(*names: str) -> tuple[str, ...]:
    """The paths of folders and files of numbagraph."""
    return tuple(f"{OWN}{each.replace('/', os.sep)}" for each in names)


COMPILER = own("rewrite/", "loops/", "emit/", "runtime/specialise.py")
"""Files that compile graphs to native code."""
GENERATORS = own("loops/", "emit/", "intrinsics/")
"""The layers that refuse no graph of a user: every refusal comes before them."""
CAPTURE = own("capture/")
"""Files of operators that stand for Python's own, and raise what these raise."""
CALLERS = own("jit/dispatch.py", "api/gufunc.py", "api/transformed.py")
"""Files that call compiled code, whose errors have no frames of their own."""
LOOPS_OF_USERS = own("runtime/numba_loops.py")
"""The file in which Numba compiles loops that users wrote, and raises errors about them."""

NEVER_MEANT = (AssertionError, KeyError, AttributeError, NameError)
"""Classes of errors that the compiler never raises on purpose for a user."""
ACCIDENTS = (LookupError, AttributeError, NameError)
"""Errors of Python that a trace may meet in numbagraph's code, unless a statement raises them for users."""
OF_THE_SYSTEM = (OSError, MemoryError, Warning)

Frames = list[TracebackType]


def fault_of(error: BaseException, described: str | None) -> InternalError | None:
    """Return the `InternalError` for an error that is numbagraph's own fault; None for others."""
    frames = list(frames_of(error.__traceback__))
    if isinstance(error, (InternalError, *OF_THE_SYSTEM)) or not frames:
        return None
    last = max((place for place, each in enumerate(frames) if library_of(file_of(each)) is None), default=-1)
    below = frames[last + 1 :]
    compiles = any(file_of(each).startswith(COMPILER) for each in below)
    if not below or is_refusal_of_numba(below):
        return None
    if not (is_fault_of_compiler(error, below[-1]) if compiles else is_fault_of_trace(error, below[-1])):
        return None
    source, operation = subject_of(below)
    if last >= 0 and not compiles:
        source = line_of(frames[last])
    innermost = next(each for each in reversed(below) if file_of(each).startswith(OWN))
    place = f"{Path(file_of(innermost)).relative_to(Path(OWN).parent).as_posix()}:{innermost.tb_lineno}"
    doing = "compiled" if compiles else "traced"
    text = f"numbagraph failed while it {doing} {described or 'a function'}: {type(error).__name__}: {error} ({place})"
    more = [f"\n  in {operation}" if operation else "", f"\n  at {source}" if source is not None else ""]
    return InternalError(f"{text}. {HOW_TO_REPORT}{''.join(more)}")


def is_refusal_of_numba(frames: Frames) -> bool:
    """Whether an error is Numba's refusal of a loop of a user's."""
    return library_of(file_of(frames[-1])) != OWN and any(file_of(each) in LOOPS_OF_USERS for each in frames)


def is_fault_of_compiler(error: BaseException, innermost: TracebackType) -> bool:
    library = library_of(file_of(innermost))
    if library != OWN:
        return library not in HARMLESS
    if isinstance(error, NEVER_MEANT):
        return True
    if isinstance(error, NotImplementedError) and (not error.args or file_of(innermost).startswith(GENERATORS)):
        return True
    return not is_raised(innermost)


def is_fault_of_trace(error: BaseException, innermost: TracebackType) -> bool:
    if library_of(file_of(innermost)) != OWN:
        return False
    if isinstance(error, AssertionError):
        return is_asserted(innermost)
    if isinstance(error, NotImplementedError):
        return not error.args
    stands_for_python = file_of(innermost).startswith(CAPTURE) or innermost.tb_frame.f_code.co_name.startswith("__")
    if file_of(innermost) in CALLERS and isinstance(error, IndexError):
        return False
    return isinstance(error, ACCIDENTS) and not stands_for_python and not is_raised(innermost)


def frames_of(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def file_of(place: TracebackType) -> str:
    return place.tb_frame.f_code.co_filename


def line_of(place: TracebackType) -> Source:
    return Source(file_of(place), place.tb_lineno)


def is_raised(place: TracebackType) -> bool:
    """Whether a statement has raised the error, rather than a function that it calls."""
    return dis.opname[place.tb_frame.f_code.co_code[place.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


def is_asserted(place: TracebackType) -> bool:
    """Whether the line is an assertion in numbagraph's code, and not code that stands for an assertion of the
    user's."""
    return linecache.getline(file_of(place), place.tb_lineno).lstrip().startswith("assert")


def subject_of(frames: Frames) -> tuple[Source | None, str | None]:
    """The source line and the operation of the value that the innermost frame with one was working on."""
    for each in reversed(frames):
        for node in nodes_in(each.tb_frame):
            if node.source is not None:
                types = ", ".join(str(operand.type) for operand in node.inputs)
                return node.source, f"{node.op.name}({types})"
    return None, None


def nodes_in(frame: FrameType) -> Iterator[Node]:
    """The values that a frame of numbagraph's is working on: its variables, the last first, and objects that these
    hold."""
    for each in reversed(list(frame.f_locals.values())):
        held: list[Any] = [each, *(vars(each).values() if hasattr(each, "__dict__") else ())]
        for found in held:
            if isinstance(found, Node):
                yield found
            elif type(found) in (list, tuple):
                yield from (one for one in found if isinstance(one, Node))
