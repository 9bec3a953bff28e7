"""One compilation in a process of its own: `python -m asv_benchmarks.growth_child FAMILY SIZE`.

A program of the same family is compiled before, so that what is imported on first use is there. The caches, which the
parent names in the environment, have nothing of the program that is measured.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

from .growth_programs import FAMILIES

PROCESS = Path("/proc/self")


def peak_bytes() -> int:
    """The most memory that the process has had since `forget_peak`."""
    found = next(line for line in (PROCESS / "status").read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(found.split()[1])


def forget_peak() -> None:
    (PROCESS / "clear_refs").write_text("5")


def measure(name: str, size: int) -> dict[str, float]:
    """Processor seconds that a compilation takes, and by how many bytes the process's peak grows. Pages that the system
    has taken back meanwhile count as none."""
    family = FAMILIES[name]
    family.prepare(family.warm, 1.25)()
    compile_ = family.prepare(size, 0.875)
    forget_peak()
    before, start = peak_bytes(), time.process_time()
    compile_()
    return {"seconds": time.process_time() - start, "bytes": max(0, peak_bytes() - before)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
