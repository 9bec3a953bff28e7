"""One thread for every library. They read these settings as they are imported: none is imported here."""

import os
import sys
from collections.abc import MutableMapping

MARK = "NUMBAGRAPH_BENCH_THREADS"
COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",
)
ONE_THREAD_XLA = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def set_environment(environment: MutableMapping[str, str], threads: int) -> None:
    environment.update(dict.fromkeys(COUNTS, str(threads)))
    environment[MARK] = str(threads)
    if threads == 1 and ONE_THREAD_XLA not in environment.get("XLA_FLAGS", ""):
        environment["XLA_FLAGS"] = f"{environment.get('XLA_FLAGS', '')} {ONE_THREAD_XLA}".strip()


def are_several() -> bool:
    """Whether systems may use more than one thread."""
    return os.environ.get(MARK) != "1"


def restart_with(threads: int, module: str, arguments: list[str]) -> None:
    """Run `module` again from the start under `threads` threads and as many cores; 0 leaves all as it is."""
    if not threads or os.environ.get(MARK) == str(threads):
        return
    if hasattr(os, "sched_setaffinity"):  # Linux
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    set_environment(os.environ, threads)
    os.execv(sys.executable, [sys.executable, "-m", module, *arguments])
