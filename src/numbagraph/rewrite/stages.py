"""A graph after each of the passes, and what they did."""

from __future__ import annotations

from collections.abc import Iterator

from numbagraph.ir.graph import Graph
from numbagraph.ir.structs import Struct
from numbagraph.rewrite.engine import Rewrite, RuleSet


class Stage(Struct):
    """The graph after a pass, and what the pass did."""

    name: str
    graph: Graph
    rewrites: tuple[Rewrite, ...] = ()
    rules: RuleSet | None = None


class Stages(Struct):
    """A graph on its way through the passes."""

    stages: tuple[Stage, ...]

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    @property
    def final(self) -> Graph:
        return self.stages[-1].graph

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        return tuple(applied for stage in self.stages for applied in stage.rewrites)
