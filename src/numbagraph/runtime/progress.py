"""A line that names the function that is being compiled, on terminals and in notebooks, once that takes a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

EVERY = 1.0
"""The seconds until the line is written, and between two updates."""


@contextmanager
def progress(name: str, every: float = EVERY) -> Iterator[None]:
    """Write every second that ``name`` is being compiled, to standard error if that is a terminal or a notebook; erase
    the line at the end."""
    stream = sys.stderr
    if not is_read(stream):
        yield
        return
    done = threading.Event()
    teller = threading.Thread(target=tell, args=(stream, name, every, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def is_read(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal or a notebook's."""
    if stream is None or getattr(stream, "closed", False):
        return False
    return type(stream).__module__.startswith("ipykernel") or stream.isatty()


def tell(stream: TextIO, name: str, every: float, done: threading.Event) -> None:
    width, count = 0, 0
    while not done.wait(every):
        count += 1
        line = f"numbagraph compiles {name}: {count * every:.0f} s"
        stream.write(f"\r{line}")
        stream.flush()
        width = len(line)
    if width:
        stream.write(f"\r{' ' * width}\r")
        stream.flush()
