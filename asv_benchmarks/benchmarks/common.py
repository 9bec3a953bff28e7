"""What the benchmarks share: which systems they follow, and how a combination is skipped."""

import os

from asv_benchmarks.results import Result
from asv_benchmarks.steady import reason_absent
from asv_benchmarks.systems import SYSTEMS, System
from asv_benchmarks.workloads import Case, case, select

FOLLOWED = os.environ.get("NUMBAGRAPH_BENCH_SYSTEMS", "numbagraph").split(",")
"""The peers do not change with our history; name them here to have them in the same plots."""


def labels(what: str) -> list[str]:
    return [each.label for each in select(what)]


def chosen(label: str, name: str) -> tuple[Case, System]:
    """The case and the system, or asv's signal to skip the combination."""
    found, system = case(label), SYSTEMS[name]
    if reason := reason_absent(system, found, every_size=False):
        raise NotImplementedError(reason)
    return found, system


def median(results: list[Result]) -> float:
    """The only result's figure, or NaN, asv's sign for "not measured"; a failure is an error."""
    (result,) = results
    if result.failed:
        raise RuntimeError(result.failed)
    return result.seconds if result.seconds is not None else float("nan")
