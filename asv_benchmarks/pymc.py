"""PyMC models on numbagraph and on nutpie's own backends: `python -m asv_benchmarks.pymc --help`.

Each cell is a process of its own with empty caches; "second" is the next process, which finds what the first has left.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("eight-schools", "radon", "logistic", "stochastic-volatility", "mixture", "gaussian-process")
SYSTEMS = ("numbagraph", "nutpie-numba", "nutpie-jax")
ROOT = Path(__file__).resolve().parent.parent
BATCHES = 50


def compiled(system: str, model: Any) -> Any:
    """The model for nutpie, with everything that is compiled on first use compiled."""
    import numpy as np

    if system == "numbagraph":
        from numbagraph.pymc_bridge import compile_model

        result = compile_model(model)
        result.compiled_logp_func.address, result.compiled_expand_func.address  # noqa: B018  compiled when asked for
        return result
    import nutpie

    result = nutpie.compile_pymc_model(model, backend=system.removeprefix("nutpie-"))
    evaluation(result, np.zeros(result.n_dim))(1)
    return result


REPEAT = """
define i64 @repeat(ptr %function, i64 %count, i64 %size, ptr %x, ptr %gradient, ptr %value, ptr %data) {
entry:
  br label %loop
loop:
  %number = phi i64 [ 0, %entry ], [ %next, %loop ]
  %status = call i64 %function(i64 %size, ptr %x, ptr %gradient, ptr %value, ptr %data)
  %next = add i64 %number, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret i64 %status
}
"""


def evaluation(result: Any, x: Any) -> Callable[[int], Any]:
    """Evaluates log-density and gradient so many times, as nutpie does: natively where there is native code."""
    import numpy as np

    if not hasattr(result, "compiled_logp_func"):
        logp = result._make_logp_func()
        return lambda count: [logp(x, **result._shared_data) for _ in range(count)]
    from numbagraph.runtime.compile import Library, compile_module

    library = Library(compile_module(REPEAT), {})
    pointer, count_type = ctypes.c_void_p, ctypes.c_int64
    types = (count_type, pointer, count_type, count_type, *[pointer] * 4)
    repeat = ctypes.CFUNCTYPE(*types)(library.address("repeat"))
    gradient, value = np.empty(x.size), np.empty(())
    addresses = [each.ctypes.data for each in (x, gradient, value, result.user_data)]
    kept = (library, result, x, gradient, value)
    return lambda count, kept=kept: repeat(result.compiled_logp_func.address, count, x.size, *addresses)


def seconds_a_call(run: Callable[[int], Any]) -> float:
    """The median of some batches, each long enough for the clock."""
    count, samples = 1, []
    while len(samples) < BATCHES:
        begin = time.perf_counter()
        run(count)
        seconds = time.perf_counter() - begin
        if seconds < 2e-3:
            count *= 2
        else:
            samples.append(seconds / count)
    return statistics.median(samples)


def child(system: str, name: str) -> None:
    """Measure one cell, and print it."""
    warnings.simplefilter("ignore")
    import numpy as np

    from asv_benchmarks.workloads.pymc_models import MODELS

    if system == "numbagraph":
        pass
    else:
        import nutpie  # noqa: F401
    model = MODELS[name]()
    begin = time.perf_counter()
    result = compiled(system, model)
    seconds = time.perf_counter() - begin
    point = 0.1 * np.random.default_rng(0).normal(size=result.n_dim)
    print(json.dumps({"compile": seconds, "call": seconds_a_call(evaluation(result, point))}))


def environment(cache: Path) -> dict[str, str]:
    (cache / "numba").mkdir(exist_ok=True)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        **os.environ,
        **one,
        "NUMBAGRAPH_CACHE_DIR": str(cache / "numbagraph"),
        "NUMBAGRAPH_CACHE": "1",
        "NUMBA_CACHE_DIR": str(cache / "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={cache / 'pytensor'}",
        "JAX_PLATFORMS": "cpu",
    }


def cell(system: str, name: str, cache: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "asv_benchmarks.pymc", "--child", system, name]
    done = subprocess.run(command, cwd=ROOT, env=environment(cache), capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": 1.0, "reason": (done.stderr.strip() or "no output").splitlines()[-1]}  # type: ignore[dict-item]
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(system: str, name: str, repeats: int) -> dict[str, float]:
    """Medians: cold and second compilation in seconds, a call in seconds."""
    cold, second, calls = [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for times in (cold, second):
                found = cell(system, name, Path(folder))
                if "failed" in found:
                    return found
                times.append(found["compile"])
                calls.append(found["call"])
    return {"cold": statistics.median(cold), "second": statistics.median(second), "call": statistics.median(calls)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m asv_benchmarks.pymc", description=__doc__)
    parser.add_argument("--child", nargs=2, metavar=("SYSTEM", "MODEL"), help=argparse.SUPPRESS)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--models", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    print(f"{'model':24}{'system':16}{'cold s':>10}{'second s':>10}{'call µs':>10}")
    for name in options.models:
        for system in options.systems:
            found = measure(system, name, options.repeats)
            if "failed" in found:
                print(f"{name:24}{system:16}  {found['reason']}")
            else:
                print(f"{name:24}{system:16}{found['cold']:10.2f}{found['second']:10.2f}{1e6 * found['call']:10.2f}")


if __name__ == "__main__":
    main()
