"""The first result of one system in a process of its own: `python -m asv_benchmarks.child SYSTEM LABEL`.

The parent, `cold`, names the caches in the environment and reads one line of JSON. Timed is what lies
between "the function is defined, the data are in place" and "the first result is there". The library is
imported before.
"""

import json
import sys
import time

from . import steady, workloads
from .systems import SYSTEMS, Unsupported


def first_result_seconds(name: str, label: str) -> float:
    system, case = SYSTEMS[name], workloads.case(label)
    system.load()
    problem = case.problem()
    arguments = system.arguments(problem)
    start = time.perf_counter()
    result = system.wait(system.compile(problem)(*arguments))
    seconds = time.perf_counter() - start
    steady.check(result, steady.expected(problem), case.workload.rtol)
    return seconds


def main(name: str, label: str) -> None:
    try:
        report: dict[str, float | str] = {"seconds": first_result_seconds(name, label)}
    except Unsupported as reason:
        report = {"absent": str(reason)}
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
