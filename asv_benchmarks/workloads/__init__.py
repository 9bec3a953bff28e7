"""The registry of workloads, in the order of the tables."""

from collections.abc import Sequence
from fnmatch import fnmatch

from . import dag, elementwise, functions, loops, matrices, models, rows
from .base import Case, Problem, Workload

__all__ = ["WORKLOADS", "Case", "Problem", "Workload", "case", "select"]

WORKLOADS: tuple[Workload, ...] = (
    *elementwise.WORKLOADS,
    *models.WORKLOADS,
    *rows.WORKLOADS,
    *matrices.WORKLOADS,
    *dag.WORKLOADS,
    *loops.WORKLOADS,
    *functions.WORKLOADS,
)
TAGGED = ("overhead", "growth", "functions", "scaling")
"""What is measured on the workloads with that tag only."""
APART = "functions"
"""What is measured on nothing else, because there are many of them."""


def select(what: str, patterns: Sequence[str] = ()) -> list[Case]:
    """The cases to measure; patterns are globs over labels such as `chain-10000`, or parts of them."""
    workloads = [w for w in WORKLOADS if (what in w.tags if what in TAGGED else APART not in w.tags)]
    cases = [Case(workload, size) for workload in workloads for size in workload.sizes_for(what)]
    if not patterns:
        return cases
    return [c for c in cases if any(fnmatch(c.label, p) or p in c.label for p in patterns)]


def case(label: str) -> Case:
    """The case of that label; its size need not be one of the workload's own."""
    name, _, size = label.rpartition("-")
    return Case(next(workload for workload in WORKLOADS if workload.name == name), int(size))
