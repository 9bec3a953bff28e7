"""Faults that several tests plant."""

from numbagraph.ir import graph
from numbagraph.rewrite import engine, independence


def go_through_points(monkeypatch):
    """Rewriting and substitution go through the points of derivatives, and nobody asks why nothing depends on these."""
    for module in (engine, graph):
        monkeypatch.setattr(module, "opaque_values", frozenset)
    monkeypatch.setattr(independence, "require", lambda *given: None)
