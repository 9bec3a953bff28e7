"""Programs around SciPy's solvers, beside SciPy itself, JAX's users' libraries and CyRK.

`python -m asv_benchmarks.solvers [PATTERN ...]` prints a row for each work: the time of a call, medians of interleaved
calls on one thread, SciPy's and the peers' as ratios to it (above 1: numbagraph is faster), and first calls in new
processes with empty caches, imports left out. Batches beside SciPy's are loops of SciPy's calls over a hundredth of
the elements, and SciPy has no gradients. The peers are installed by `pip install diffrax optimistix CyRK`, and left out
where they are not.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from fnmatch import fnmatch
from importlib.util import find_spec
from typing import Any

import numpy as np

from . import threads
from .workloads.solvers import WORKS, Work

MODULE = "asv_benchmarks.solvers"
BUDGET_SECONDS, ROUNDS = 2.0, (3, 200)
SHARE_OF_BATCH = 100

Call = Callable[[], Any]


def of_squares(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: np.sum(function(*args) ** 2)


def ours(work: Work) -> Call:
    import numbagraph as ng

    function: Any = work.function
    if work.argnums:
        function = ng.value_and_grad(of_squares(function), argnums=work.argnums)
    elif work.in_axes:
        function = ng.vmap(function, in_axes=work.in_axes)
    compiled, args = ng.graph_jit(function), work.args()
    return lambda: compiled(*args)


def scipys(work: Work) -> Call | None:
    """SciPy's own solver; of a batch a share of the elements."""
    if work.argnums:
        return None
    args = work.args()
    if not work.in_axes:
        return lambda: work.function(*args)
    mapped = [np.moveaxis(args[k], axis, 0) for k, axis in enumerate(work.in_axes) if axis is not None]
    count = len(mapped[0]) // SHARE_OF_BATCH

    def element(number: int) -> Any:
        own = (
            each if axis is None else np.take(each, number, axis) for each, axis in zip(args, work.in_axes, strict=True)
        )
        return work.function(*own)

    return lambda: np.stack([element(number) for number in range(count)])


def jaxs(work: Work) -> Call | None:
    if find_spec("diffrax") is None:
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    from . import solvers_jax

    compiled = solvers_jax.compiled(work.function.__name__, work.argnums, work.in_axes)
    args = tuple(map(jax.numpy.asarray, work.args()))
    return None if compiled is None else lambda: jax.block_until_ready(compiled(*args))


def cyrks(work: Work) -> Call | None:
    """CyRK's solver with a right-hand side of Numba's."""
    method = {"lorenz_rk45": 1, "lorenz_dop853": 2}.get(work.name)
    if method is None or find_spec("CyRK") is None:
        return None
    from CyRK import nbsolve_ivp
    from numba import njit

    from .workloads.solvers import TIGHT

    u0, p, end = work.args()

    @njit
    def field(t: Any, u: Any, p: Any) -> Any:
        out = np.empty(3)
        out[0] = p[0] * (u[1] - u[0])
        out[1] = u[0] * (p[1] - u[2]) - u[1]
        out[2] = u[0] * u[1] - p[2] * u[2]
        return out

    def call() -> Any:
        return nbsolve_ivp(
            field, (0.0, end), u0, args=(p,), rk_method=method, rtol=TIGHT, atol=TIGHT, warnings=False
        ).y[:, -1]

    return call


def find_roots(work: Work) -> Call | None:
    """SciPy's own solver of many equations at once."""
    if work.name != "kepler_batch":
        return None
    from scipy.optimize import elementwise

    mean, eccentricity = work.args()
    return lambda: (
        elementwise.find_root(lambda x, m, e: x - e * np.sin(x) - m, (0.0, np.pi), args=(mean, eccentricity)).x
    )


SYSTEMS: dict[str, Callable[[Work], Call | None]] = {
    "numbagraph": ours,
    "scipy": scipys,
    "jax": jaxs,
    "cyrk": cyrks,
    "find_root": find_roots,
}


def leaves(result: Any) -> list[np.ndarray]:
    if isinstance(result, (tuple, list)):
        return [leaf for each in result for leaf in leaves(each)]
    return [np.asarray(result)]


def agree(work: Work, one: Any, other: Any) -> bool:
    """Whether two results are the same, as far as the shorter one goes."""
    pairs = list(zip(leaves(one), leaves(other), strict=True))
    if work.in_axes:
        pairs = [(a[: len(b)], b) for a, b in pairs]
    return all(np.allclose(a, b, rtol=work.rtol, atol=work.rtol * np.max(np.abs(b))) for a, b in pairs)


def seconds(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def steady(work: Work) -> dict[str, float | str]:
    """The median time of each system, or why it has none."""
    found: dict[str, float | str] = {}
    calls: dict[str, Call] = {}
    results: dict[str, Any] = {}
    for name, make in SYSTEMS.items():
        try:
            call = make(work)
            if call is not None:
                results[name], calls[name] = call(), call
        except Exception as error:  # noqa: BLE001  it must not hide the figures of others
            found[name] = f"{type(error).__name__}: {error}".partition("\n")[0]
    samples: dict[str, list[float]] = {name: [] for name in calls}
    spent = sum(seconds(call) for call in calls.values())
    for _ in range(int(min(max(BUDGET_SECONDS * len(calls) / spent, ROUNDS[0]), ROUNDS[1]))):
        for name, call in calls.items():
            if sum(samples[name]) < BUDGET_SECONDS:
                samples[name].append(seconds(call))
    for name, each in samples.items():
        same = "numbagraph" not in results or agree(work, results["numbagraph"], results[name])
        found[name] = statistics.median(each) if same else "another result"
    if work.in_axes and isinstance(found.get("scipy"), float):
        found["scipy"] *= SHARE_OF_BATCH  # type: ignore[operator]
    return found


def first(work: Work, system: str) -> float | str:
    """The first call in a new process."""
    from .cold import Absent, Failure, empty_cache, environment, run_child

    with empty_cache() as cache:
        try:
            return float(run_child(["-m", MODULE, "--first", system, work.name], environment(cache, False), 300.0))
        except (Absent, Failure) as error:
            return str(error)


def first_here(name: str, system: str) -> float:
    import scipy.integrate
    import scipy.optimize  # noqa: F401

    make, work = SYSTEMS[system], WORKS[name]
    if system == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        from . import solvers_jax  # noqa: F401

        jax.block_until_ready(jax.jit(lambda x: x + 1)(1.0))
    else:
        import numbagraph  # noqa: F401
    start = time.perf_counter()
    call = make(work)
    assert call is not None
    call()
    return time.perf_counter() - start


def shown(found: dict[str, float | str], name: str) -> str:
    own, other = found.get("numbagraph"), found.get(name)
    if isinstance(other, str):
        return other
    if other is None or not isinstance(own, float):
        return "-"
    return f"{other / own:.2f}"


def duration(value: float | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value * 1e3:.4g} ms"


def main(patterns: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    peers = [name for name in SYSTEMS if name != "numbagraph"]
    table = Table("", "numbagraph", *peers, "first call", "jax's ÷ ours", title="Solvers: a call, and peers ÷ ours")
    for work in WORKS.values():
        if patterns and not any(fnmatch(work.name, each) for each in patterns):
            continue
        found = steady(work)
        cold = {name: first(work, name) for name in ("numbagraph", "jax") if isinstance(found.get(name), float)}
        cells = [shown(found, name) for name in peers]
        table.add_row(work.name, duration(found.get("numbagraph")), *cells, duration(cold.get("numbagraph")),
                      shown(cold, "jax"))  # fmt: skip
        print(json.dumps({"work": work.name, "seconds": found, "first": cold}), file=sys.stderr, flush=True)
    Console(width=140).print(table)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--first"]:
        print(first_here(sys.argv[3], sys.argv[2]))
    else:
        threads.restart_with(1, MODULE, sys.argv[1:])
        main(sys.argv[1:])
