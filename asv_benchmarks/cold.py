"""What is paid once: compilation with an empty cache, with a full one, the import."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .results import Result
from .steady import reason_absent
from .systems import System
from .workloads import Case

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 30.0
"""No further repetition once those of one cell took this long together."""
IMPORT_SCRIPT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


class Failure(Exception):
    """A child process that gave no time, with the last line that it wrote."""


class Absent(Exception):
    """A child process that says why there is nothing to measure."""


@dataclass
class Cell:
    """The samples of one system on one row, while they are collected."""

    what: str
    row: str
    system: System
    samples: list[float] = field(default_factory=list)
    absent: str = ""
    failed: str = ""

    def measure(self, sample: Callable[[], float]) -> None:
        if self.absent or self.failed or sum(self.samples) > PATIENCE_SECONDS:
            return
        try:
            self.samples.append(sample())
        except Absent as reason:
            self.absent = str(reason)
        except Failure as error:
            self.failed = str(error)

    def result(self) -> Result:
        samples = () if self.failed else tuple(self.samples)
        return Result(self.what, self.row, self.system.name, samples, self.absent, self.failed)


def inherited() -> dict[str, str]:
    """This process's environment, but byte code is written and read: packages that are installed have theirs."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def environment(cache: Path, jax_cache: bool) -> dict[str, str]:
    """Every cache inside `cache`. JAX keeps one only where asked to: where a full cache is the subject."""
    extra = {
        "NUMBAGRAPH_CACHE_DIR": str(cache / "numbagraph"),
        "NUMBA_CACHE_DIR": str(cache / "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={cache / 'pytensor'}",
    }
    if jax_cache:
        extra["JAX_COMPILATION_CACHE_DIR"] = str(cache / "jax")
        extra["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        extra["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    (cache / "numba").mkdir(exist_ok=True)
    return inherited() | extra


def run_child(arguments: list[str], variables: dict[str, str], limit: float) -> str:
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired:
        raise Absent(f"more than {limit:g} s") from None
    if done.returncode:
        raise Failure((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return done.stdout.strip().splitlines()[-1]


def first_result(system: System, case: Case, cache: Path, full: bool, limit: float) -> float:
    variables = environment(cache, jax_cache=full)
    report = json.loads(run_child(["-m", "asv_benchmarks.child", system.name, case.label], variables, limit))
    if "absent" in report:
        raise Absent(report["absent"])
    return report["seconds"]


@contextmanager
def empty_cache() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="numbagraph-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def compile_case(
    what: str, case: Case, systems: list[System], repeats: int, limit: float, every_size: bool
) -> list[Result]:
    """Cold compilation, systems in turn."""
    cells = [Cell(what, case.label, s, absent=_reason(s, case, every_size)) for s in systems]
    for _ in range(repeats):
        for cell in cells:
            with empty_cache() as cache:
                cell.measure(lambda cell=cell, cache=cache: first_result(cell.system, case, cache, False, limit))
    return [cell.result() for cell in cells]


def second_process(case: Case, systems: list[System], repeats: int, limit: float, every_size: bool) -> list[Result]:
    """The same with a cache that an earlier process filled: the first sample fills it and is left out."""
    cells = [Cell("second", case.label, s, absent=_reason(s, case, every_size)) for s in systems]
    for cell in cells:
        if not cell.system.caches and not cell.absent:
            cell.absent = "keeps no compiled code"
    with empty_cache() as folder:
        for turn in range(repeats + 1):
            for cell in cells:
                cache = folder / cell.system.name
                cache.mkdir(exist_ok=True)
                cell.measure(lambda cell=cell, cache=cache: first_result(cell.system, case, cache, True, limit))
                if turn == 0:
                    cell.samples.clear()
    return [cell.result() for cell in cells]


def imports(systems: list[System], repeats: int, limit: float) -> list[Result]:
    """Import times. The first round is left out: it may read the disk and write byte code."""
    cells = [Cell("import", "import", s, absent="" if s.installed() else "not installed") for s in systems]
    for turn in range(repeats + 1):
        for cell in cells:
            script = IMPORT_SCRIPT.format(", ".join(cell.system.modules))
            cell.measure(lambda script=script: float(run_child(["-c", script], inherited(), limit)))
            if turn == 0:
                cell.samples.clear()
    return [cell.result() for cell in cells]


def _reason(system: System, case: Case, every_size: bool) -> str:
    return reason_absent(system, case, every_size) or ("" if system.compiles else "nothing to compile")
