"""Steady state: the time of a call."""

from collections.abc import Callable
from typing import Any, ClassVar

from asv_benchmarks.steady import check, expected, prepare
from asv_benchmarks.systems import Unsupported

from .common import FOLLOWED, chosen, labels


class Call:
    """Compiled and checked against NumPy in `setup`, so that only calls are timed."""

    params: ClassVar = [labels("run"), FOLLOWED]
    param_names: ClassVar = ["workload", "system"]

    def setup(self, label: str, name: str) -> None:
        case, system = chosen(label, name)
        system.load()
        problem = case.problem()
        try:
            candidate = prepare(system, problem)
        except Unsupported as reason:
            raise NotImplementedError(reason) from None
        check(candidate.result, expected(problem), case.workload.rtol)
        self.call: Callable[[], Any] = eval(f"lambda: {candidate.statement}", candidate.scope)

    def time_call(self, label: str, name: str) -> None:
        self.call()
