"""What a call pays for what the function reads of the world around it."""

from typing import ClassVar

from asv_benchmarks.guards import PROGRAMS, nanoseconds_a_guard


class Guard:
    """All kinds of places, in turn; "none" is a call of a function without any."""

    params: ClassVar = list(PROGRAMS)
    param_names: ClassVar = ["place"]
    unit = "ns"

    def setup_cache(self) -> dict[str, float]:
        return nanoseconds_a_guard()

    def track_guard(self, found: dict[str, float], place: str) -> float:
        return found[place]
