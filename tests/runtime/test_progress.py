"""The line about long compilations: on terminals alone, and gone in the end."""

from __future__ import annotations

import io
import sys
import threading

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.runtime import progress, specialise


class Terminal(io.StringIO):
    """A stream that says that it is a terminal, and when it was written to."""

    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        self.written.set()
        return super().write(text)


def test_a_line_that_is_taken_away(monkeypatch):
    terminal = Terminal(True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.progress("f", 0.01):
        assert terminal.written.wait(60)
    assert "\rnumbagraph compiles f: " in terminal.getvalue()
    *_, last, end = terminal.getvalue().split("\r")
    assert (last.strip(), end) == ("", "")


@pytest.mark.parametrize("stream", [Terminal(False), None])
def test_nothing_where_nobody_reads(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    before = threading.active_count()
    with progress.progress("f", 0.0):
        assert threading.active_count() == before
    assert stream is None or not stream.getvalue()


def test_errors_leave_no_thread(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal(True))
    before = threading.active_count()
    with pytest.raises(ValueError, match="wrong"), progress.progress("f"):
        raise ValueError("wrong")
    assert threading.active_count() == before


def test_compilations_have_one(monkeypatch):
    told = []

    def recorded(name):
        told.append(name)
        return progress.progress(name)

    monkeypatch.setattr(specialise, "progress", recorded)
    function = graph_jit(lambda x: x * 1.25 + 7, cache=False)
    function(np.ones(3))
    function(np.ones(4))
    assert len(told) == 1
