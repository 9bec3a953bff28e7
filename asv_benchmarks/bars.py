"""What numbagraph is held to, as ratios of medians from one run."""

from collections.abc import Callable
from dataclasses import dataclass

from .results import Results
from .workloads import WORKLOADS
from .workloads.base import GROWTH_SIZES

OURS = "numbagraph"
SECOND_PROCESS_SECONDS = 0.030
COMPILED = ("sum_squares-10000", "radon-919", "dag_grad-100", "mixed_grad-100")


@dataclass(frozen=True)
class Bar:
    """`measure` gives the figure that must not exceed `limit`, or None while it is unknown."""

    text: str
    limit: float
    measure: Callable[[Results], float | None]


def against(what: str, row: str, peer: str, limit: float) -> Bar:
    """Our time over a peer's."""

    def measure(results: Results) -> float | None:
        return _ratio(results.seconds(what, row, OURS), results.seconds(what, row, peer))

    return Bar(f"{what}: {row}, times {peer}", limit, measure)


def among_ours(what: str, row: str, other: str, limit: float) -> Bar:
    """Our time on one row over our time on another."""

    def measure(results: Results) -> float | None:
        return _ratio(results.seconds(what, row, OURS), results.seconds(what, other, OURS))

    return Bar(f"{what}: {row}, times {other}", limit, measure)


def against_other(what: str, row: str, peer: str, other: str, limit: float) -> Bar:
    """Our time over a peer's on another row, which is the same task by other means."""

    def measure(results: Results) -> float | None:
        return _ratio(results.seconds(what, row, OURS), results.seconds(what, other, peer))

    return Bar(f"{what}: {row}, times {other} of {peer}", limit, measure)


def within(what: str, row: str, limit: float) -> Bar:
    return Bar(f"{what}: {row}, seconds", limit, lambda results: results.seconds(what, row, OURS))


def linear(workload: str) -> Bar:
    """Compile time a node, the largest graph over the smallest."""
    small, large = GROWTH_SIZES[0], GROWTH_SIZES[-1]

    def measure(results: Results) -> float | None:
        times = [results.seconds("growth", f"{workload}-{size}", OURS) for size in (large, small)]
        ratio = _ratio(*times)
        return None if ratio is None else ratio * small / large

    return Bar(f"growth: {workload}, a node of {large} over a node of {small}", 1.1, measure)


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours is not None and theirs is not None else None


def limit_against_numpy(row: str) -> float:
    """Our time over NumPy's for a function: NumPy's own vector code is hard to beat at a few of them."""
    name = row.rpartition("-")[0]
    if name.startswith("power"):
        return 1 / 0.9
    return 1.0 if name in PARITY else 1 / 1.2


PARITY = ("log", "log1p", "log_float32", "log1p_float32", "tan_float32")
FUNCTIONS = [f"{w.name}-{size}" for w in WORKLOADS if "functions" in w.tags for size in w.sizes]
CHAIN = (("jax", 1 / 3), ("numpy", 1 / 1.9), ("numexpr", 1 / 12))
MATRICES = ("cholesky", "triangular", "solve", "inverse", "determinant")
RANDOM = ("dag_grad-100", "mixed_grad-100")
SUM_SIZES = next(w.sizes for w in WORKLOADS if w.name == "sum_squares")
BARS = (
    against("compile", "sum_squares-10000", "jax", 1.0),
    against("compile", "radon-919", "jax", 1 / 2),
    against("compile", "radon-919", "pytensor", 1 / 15),
    *(against("compile", row, "jax", 1 / 2) for row in RANDOM),
    *(against("compile", row, "pytensor", 1 / 20) for row in RANDOM),
    *(linear(workload) for workload in ("dag", "dag_grad", "mixed", "mixed_grad")),
    *(within("second", row, SECOND_PROCESS_SECONDS) for row in COMPILED),
    against("run", "add_one-1", "numpy", 1.0),
    against("run", "add_one-10", "numpy", 1.0),
    against("run", "five_arrays-10", "numpy", 1.0),
    against("run", "normal-1000000", "numba", 1.3),
    against("run", "normal-1000000", "numpy", 1 / 4),
    against("run", "normal-1000000", "jax", 1 / 25),
    against("run", "radon-919", "numba", 1.2),
    against("run", "cdist-1000", "jax", 1 / 4),
    *(against("run", f"sum_squares-{size}", "jax", 1.0) for size in SUM_SIZES),
    # The index is an argument, so its bounds are checked at every call; captured, they are checked once.
    among_ours("run", "radon_args-919", "radon-919", 1.1),
    against("import", "import", "numba", 1.3),
    *(against("run", row, "jax", 1 / 1.25) for row in FUNCTIONS),
    *(against("run", row, "numpy", limit_against_numpy(row)) for row in FUNCTIONS),
    *(against("run", f"chain-{size}", *bar) for size in (10_000, 1_000_000) for bar in CHAIN),
    *(against("run", f"chain_float32-{size}", "jax", 1 / 2.4) for size in (10_000, 1_000_000)),
    *(against("run", f"sum_exp-{size}", "jax", 1 / 1.8) for size in (10_000, 1_000_000)),
    against_other("run", "sum_squares-10000000", "numpy", "dot-10000000", 1.1),
    *(against("run", f"{name}_rows-1000", "jax", 1 / 1.5) for name in ("softmax", "logsumexp")),
    against("run", "cholesky-3", "jax", 1 / 3),
    against("run", "cholesky-3", "numpy", 1 / 4),
    against("run", "triangular-3", "jax", 1 / 8),
    *(against("run", "solve-3", peer, 1 / 2) for peer in ("jax", "numpy")),
    *(against("run", f"{name}-50", "jax", 1.0) for name in MATRICES),
    *(against("run", f"{name}-50", "numpy", 1.0) for name in MATRICES),
    *(against("run", f"normal_vectors{kind}-4", "jax", 1 / 3) for kind in ("", "_grad")),
    *(against("run", f"normal_vectors{kind}-4", "numba", 1.0) for kind in ("", "_grad")),
    *(against("run", f"normal_vectors{kind}-50", "jax", 1.0) for kind in ("", "_grad")),
    against("run", "normal_vectors_grad-50", "numpy", 1.0),
    *(against("run", f"products-{length}", peer, 1.0) for length in (3, 4, 16) for peer in ("jax", "numpy")),
    against("run", "eigenvalues-50", "numpy", 1.0),
    *(against("run", f"logistic-{size}", "jax", 1 / 2) for size in (1000, 100_000)),
)
