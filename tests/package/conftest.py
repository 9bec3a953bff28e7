"""The registry of tests that plant faults in it."""

import pytest

from numbagraph.ir.op import registry


@pytest.fixture
def own_registry(monkeypatch):
    """What a test changes is undone after it, and no code of it stays on disk. All ops are declared before: those of
    modules that are imported in between would be gone after it."""
    assert list(registry)
    for table in ("_ops", "_by_function"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))
    monkeypatch.setattr(registry, "_lazy", {name: [*found] for name, found in registry._lazy.items()})
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
