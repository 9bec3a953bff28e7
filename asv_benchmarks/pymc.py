"""PyMC models on numbagraph and on nutpie's own backends: `python -m asv_benchmarks.compare --workloads pymc`.

Each sample is a process of its own, and the caches are empty; "again" is the next process, which finds what the first
has left. A model is built, and libraries are imported, before the clock starts.
"""

import argparse
import ctypes
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from . import report
from .bars import OURS, Bar, against, within
from .cold import inherited
from .results import Result, Results

MODELS = (
    "eight-schools",
    "radon",
    "logistic",
    "gaussian-process",
    "stochastic-volatility",
    "mixture",
    "poisson",
    "item-response",
    "hilbert-space",
    "autoregression",
    "garch",
    "hidden-markov",
)
PEERS = ("nutpie-numba", "nutpie-jax")
ROOT = Path(__file__).resolve().parent.parent
BATCHES = 50
LONG = 30.0
"""Seconds: what takes longer is measured once."""
MOST_ERRORS = 6.0
"""How many standard errors posterior moments may differ by, the largest of up to 2,000 of them."""

TITLES = {
    "pymc compile": "Cold: from a built model to native functions, empty cache",
    "pymc compile again": "The same in the next process, full cache",
    "pymc call": "Log-density and gradient, time a call",
    "pymc sample": "From a built model to a trace, 4 chains of 1,000 + 1,000, empty cache",
    "pymc sample again": "The same in the next process, full cache",
    "pymc import": "Import, processor time beyond that of PyMC, with byte code",
}
IMPORT = "import"
KINDS = {
    IMPORT: ("pymc import",),
    "compile": ("pymc compile", "pymc compile again", "pymc call"),
    "sample": ("pymc sample", "pymc sample again"),
}
SYSTEMS = {IMPORT: (OURS,), "compile": (OURS, *PEERS), "sample": (OURS, "nutpie-numba")}
"""Those that are measured by default: chains of JAX's take minutes, and its calls are compared one by one."""
BRIDGE = "numbagraph.pymc_bridge"
CALLS = {
    "radon": 1 / 1.5,
    "logistic": 1 / 2.5,
    "stochastic-volatility": 1 / 4,
    "mixture": 1 / 4,
    "poisson": 1 / 2,
    "item-response": 1 / 2,
    "hilbert-space": 1 / 2,
    "autoregression": 1 / 2,
    "garch": 1 / 2,
    "hidden-markov": 1 / 2,
}
"""Our time over that of nutpie's Numba, at most; 1 for the other models."""
BARS: tuple[Bar, ...] = (
    within("pymc import", BRIDGE, 0.1),
    *(against("pymc compile", model, "nutpie-numba", 1 / 20) for model in MODELS),
    *(against("pymc compile", model, "nutpie-jax", 1.0) for model in MODELS),
    *(within("pymc compile", model, 1.0) for model in MODELS),
    *(within("pymc compile again", model, 0.25) for model in MODELS),
    *(against("pymc call", model, "nutpie-numba", CALLS.get(model, 1.0)) for model in MODELS),
    *(against("pymc call", model, "nutpie-jax", 1 / 3) for model in MODELS),
    *(against("pymc sample", model, "nutpie-numba", 1 / 5) for model in MODELS),
    *(against("pymc sample again", model, "nutpie-numba", 1.0) for model in MODELS),
)


class Name(NamedTuple):
    """A column of a table."""

    name: str


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


def evaluated(system: str, model: Any) -> dict[str, Any]:
    """Seconds to compile a model, and those of a call."""
    import numpy as np

    begin = time.perf_counter()
    result = compiled(system, model)
    seconds = time.perf_counter() - begin
    point = 0.1 * np.random.default_rng(0).normal(size=result.n_dim)
    return {"seconds": seconds, "call": seconds_a_call(evaluation(result, point))}


def sampled(system: str, model: Any) -> dict[str, Any]:
    """Seconds to sample a model, and the moments of the posterior with their Monte Carlo errors."""
    import nutpie

    options = {"draws": 1000, "tune": 1000, "chains": 4, "seed": 1}
    begin = time.perf_counter()
    if system == OURS:
        from numbagraph.pymc_bridge import sample

        trace = sample(model, progressbar=False, **options)
    else:
        backend = nutpie.compile_pymc_model(model, backend=system.removeprefix("nutpie-"))
        trace = nutpie.sample(backend, progress_bar=False, **options)
    return {"seconds": time.perf_counter() - begin} | moments(trace, [each.name for each in model.free_RVs])


def moments(trace: Any, names: Iterable[str]) -> dict[str, list[float]]:
    """Means and variances of all elements of some variables, and their errors from the effective numbers of draws."""
    import arviz
    import numpy as np

    found, errors = [], []
    for name in names:
        draws = trace.posterior[name]
        for values in (draws, (draws - draws.mean(("chain", "draw"))) ** 2):
            found += np.ravel(values.mean(("chain", "draw"))).tolist()
            size = arviz.ess(values.to_dataset(name=name))[name]
            errors += np.ravel(values.std(("chain", "draw")) / np.sqrt(size)).tolist()
    return {"moments": found, "errors": errors}


def imported(name: str) -> dict[str, float]:
    """Seconds of processor time that a module takes beyond PyMC."""
    import pymc  # noqa: F401  before the clock starts

    gc.collect()  # so that it takes no second look at PyMC's objects, 0.15 s, while the clock runs
    begin = time.process_time()
    import_module(name)
    return {"seconds": time.process_time() - begin}


def child(kind: str, system: str, name: str) -> None:
    """Measure one sample, and print it."""
    warnings.simplefilter("ignore")
    if kind == IMPORT:
        print(json.dumps(imported(name)))
        return
    import nutpie  # noqa: F401  before the clock starts

    if system == OURS:
        import numbagraph.pymc_bridge  # noqa: F401

    from .workloads.pymc_models import MODELS

    model = MODELS[name]()
    print(json.dumps((evaluated if kind == "compile" else sampled)(system, model)))


def environment(cache: Path) -> dict[str, str]:
    """Every cache inside `cache`, and one thread."""
    (cache / "numba").mkdir(exist_ok=True)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        **inherited(),
        **one,
        "NUMBAGRAPH_CACHE_DIR": str(cache / "numbagraph"),
        "NUMBAGRAPH_CACHE": "1",
        "NUMBA_CACHE_DIR": str(cache / "numba"),
        "PYTENSOR_FLAGS": f"base_compiledir={cache / 'pytensor'}",
        "JAX_PLATFORMS": "cpu",
    }


def run_child(kind: str, system: str, name: str, cache: Path, limit: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "asv_benchmarks.pymc", "--child", kind, system, name]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment(cache), capture_output=True, text=True, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"absent": f"more than {limit:.0f} s"}
    if done.returncode:
        reason = (done.stderr.strip() or "no output").splitlines()[-1]
        return {"absent": "not installed"} if "not installed" in reason else {"failed": reason}
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(kind: str, system: str, name: str, repeats: int, limit: float) -> tuple[list[Result], dict[str, Any]]:
    """The results of one system on one model, and the last output."""
    times: dict[str, list[float]] = {what: [] for what in KINDS[kind]}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for what in KINDS[kind][:2]:
                found = run_child(kind, system, name, Path(folder), limit)
                if "seconds" not in found:
                    return [Result(what, name, system, **found) for what in KINDS[kind]], found
                times[what].append(found["seconds"])
                if "call" in found:
                    times["pymc call"].append(found["call"])
        if times[KINDS[kind][0]][-1] > LONG:
            break
    return [Result(what, name, system, tuple(samples)) for what, samples in times.items()], found


def measure_import(repeats: int, limit: float) -> Result:
    """The first round is left out: it may read the disk and write byte code."""
    samples = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for _ in range(repeats + 1):
            found = run_child(IMPORT, OURS, BRIDGE, Path(folder), limit)
            if "seconds" not in found:
                return Result("pymc import", BRIDGE, OURS, **found)
            samples.append(found["seconds"])
    return Result("pymc import", BRIDGE, OURS, tuple(samples[1:]))


def disagreement(found: dict[str, dict[str, Any]]) -> float:
    """The largest difference of posterior moments between numbagraph and a peer, in standard errors."""
    ours = found.get(OURS, {})
    if "moments" not in ours:
        return 0.0
    ratios = [
        abs(one - other) / (error**2 + another**2) ** 0.5
        for peer in found.values()
        for one, error, other, another in zip(
            ours["moments"], ours["errors"], peer.get("moments", ()), peer.get("errors", ()), strict=False
        )
        if error or another
    ]
    return max(ratios, default=0.0)


def checked(results: list[Result], found: dict[str, dict[str, Any]]) -> list[Result]:
    """The results, unless the systems disagree about the posterior."""
    largest = disagreement(found)
    if largest <= MOST_ERRORS:
        return results
    text = f"posterior moments differ by {largest:.1f} standard errors"
    return [replace(each, samples=(), failed=text) if each.system == OURS else each for each in results]


def measure_model(kind: str, systems: Iterable[str], name: str, repeats: int, limit: float) -> list[Result]:
    """The results of all systems on one model."""
    measured, found = [], {}
    for system in systems:
        cells, found[system] = measure(kind, system, name, repeats, limit)
        measured += cells
    return checked(measured, found)


def compare(
    kinds: Iterable[str], chosen: Iterable[str], models: Iterable[str], repeats: int, limit: float, json: Path | None
) -> int:
    """Measure, print tables and bars; the exit status is 1 if anything failed."""
    results, console = Results(), report.console()
    for kind in kinds:
        systems = [each for each in chosen if kind != IMPORT] or SYSTEMS[kind]
        if kind == IMPORT:
            results.add([measure_import(repeats, limit)])
        else:
            for name in models:
                results.add(measure_model(kind, systems, name, repeats, limit))
        for what in KINDS[kind]:
            report.print_results(console, what, [Name(each) for each in systems], results.of(what), TITLES)
    report.print_bars(console, results, BARS)
    if json:
        report.write_json(json, report.document(1, results, BARS))
    return 1 if any(result.failed for result in results.all()) else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m asv_benchmarks.compare --workloads pymc", description=__doc__)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--workloads", nargs="+", metavar="NAME", default=["pymc"], help="pymc, or names of models")
    parser.add_argument(
        "--systems", nargs="+", choices=(OURS, *PEERS), default=(), help="default: all, but none of JAX for samples"
    )
    parser.add_argument("--what", nargs="+", choices=tuple(KINDS), default=tuple(KINDS))
    parser.add_argument("--repeats", type=int, default=3, help="new processes for each cell (default: 3)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds one process may take (default: 600)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    options = parser.parse_args(arguments)
    if options.child:
        child(*options.child)
        return 0
    models = [name for name in MODELS if name in options.workloads] or list(MODELS)
    return compare(options.what, options.systems, models, options.repeats, options.limit, options.json)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
