"""What is paid once: compilation with an empty and with a full cache, and the import."""

from typing import ClassVar

from asv_benchmarks import cold
from asv_benchmarks.systems import SYSTEMS
from asv_benchmarks.workloads import case

from .common import FOLLOWED, labels, median

REPEATS = 3
LIMIT_SECONDS = 300.0


def cold_median(what: str, label: str, name: str) -> float:
    systems = [SYSTEMS[name]]
    return median(cold.compile_case(what, case(label), systems, REPEATS, LIMIT_SECONDS, every_size=False))


class Compile:
    """From the function to its first result, in new processes."""

    params: ClassVar = [labels("compile"), FOLLOWED]
    param_names: ClassVar = ["workload", "system"]
    unit = "s"

    def track_cold(self, label: str, name: str) -> float:
        return cold_median("compile", label, name)

    def track_second_process(self, label: str, name: str) -> float:
        return median(cold.second_process(case(label), [SYSTEMS[name]], REPEATS, LIMIT_SECONDS, every_size=False))


class Growth:
    """Cold compilation by the number of nodes."""

    params: ClassVar = [labels("growth"), FOLLOWED]
    param_names: ClassVar = ["workload", "system"]
    unit = "s"

    def track_cold(self, label: str, name: str) -> float:
        return cold_median("growth", label, name)


class Import:
    """Our import over Numba's, which it contains."""

    unit = "ratio"

    def track_ratio_to_numba(self) -> float:
        ours, numba = (
            median([result])
            for result in cold.imports([SYSTEMS["numbagraph"], SYSTEMS["numba"]], REPEATS, LIMIT_SECONDS)
        )
        return ours / numba
