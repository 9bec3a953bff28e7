"""The log-density of a PyMC model around a differential equation, with its gradient, beside `pm.ode` and Diffrax.

`python -m asv_benchmarks.ode_models` prints the time of an evaluation, medians of interleaved calls on one thread, of
the rates of hares and lynxes (`examples/pymc_models/predator_prey.py`): by `solve_ivp` in `to_pytensor`, by PyMC's own
`DifferentialEquation`, and by Diffrax in a log-density written by hand for JAX. It runs where PyMC is; Diffrax is left
out where it is not installed (`pip install diffrax`).
"""

import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from . import threads

MODULE = "asv_benchmarks.ode_models"
TOLERANCE = 1.49012e-8
"""The tolerance of `pm.ode`, which cannot be changed."""
TIMES = np.arange(21.0)
HARES = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1,
         40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]  # fmt: skip
LYNXES = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4,
          8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]  # fmt: skip
PELTS = np.array([HARES, LYNXES], float).T
RATES, STARTS = np.array([1.0, 0.05, 1.0, 0.05]), np.array([10.0, 10.0])
POINT = np.log([0.55, 0.028, 0.8, 0.024, 34.0, 6.0, 0.25, 0.25])
"""The logarithms of rates, of both numbers at the start, and of the spread of both counts."""
CALLS = 300

Evaluation = Callable[[], tuple[Any, Any]]


def model(solution: Callable[[Any, Any], Any]) -> Any:
    """The model, around a solution (years, 2) for a start and rates, all in logarithms but the rates."""
    import pymc as pm

    with pm.Model() as made:
        rates = pm.LogNormal("rates", np.log(RATES), 0.5)
        start = pm.LogNormal("start", np.log(STARTS), 1.0)
        spread = pm.LogNormal("spread", -1.0, 1.0, shape=2)
        pm.LogNormal("pelts", solution(pm.math.log(start), rates), spread, observed=PELTS)
    return made


def ours() -> Evaluation:
    from scipy.integrate import solve_ivp

    from numbagraph.pymc_bridge import compile_logp, to_pytensor

    def slopes(t: Any, y: Any, births: Any, losses: Any, deaths: Any, gains: Any) -> Any:
        hares, lynxes = np.exp(y)
        return np.array([births - losses * lynxes, gains * hares - deaths])

    @to_pytensor
    def solution(start: Any, rates: Any) -> Any:
        found = solve_ivp(slopes, (0, 20), start, t_eval=TIMES, args=tuple(rates), rtol=TOLERANCE, atol=TOLERANCE)
        return found.y.T

    compiled = compile_logp(model(solution))
    return lambda: compiled(POINT)


def pm_odes() -> Evaluation:
    import pymc as pm
    from pymc.ode import DifferentialEquation

    def slopes(y: Any, t: Any, p: Any) -> Any:
        return [p[0] - p[1] * pm.math.exp(y[1]), p[3] * pm.math.exp(y[0]) - p[2]]

    solution = DifferentialEquation(slopes, TIMES, n_states=2, n_theta=4, t0=0)
    function = model(solution).logp_dlogp_function(ravel_inputs=True)
    function.set_extra_values({})
    return lambda: function(POINT)


def diffraxs() -> Evaluation | None:
    if find_spec("diffrax") is None:
        return None
    import diffrax
    import jax

    jax.config.update("jax_enable_x64", True)
    from jax import numpy as jnp
    from jax.scipy.stats import norm

    def slopes(t: Any, y: Any, p: Any) -> Any:
        return jnp.array([p[0] - p[1] * jnp.exp(y[1]), p[3] * jnp.exp(y[0]) - p[2]])

    def density(point: Any) -> Any:
        rates, start, spread = jnp.exp(point[:4]), point[4:6], jnp.exp(point[6:])
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(slopes), diffrax.Dopri5(), 0.0, 20.0, None, start, args=rates, max_steps=10_000,
            saveat=diffrax.SaveAt(ts=TIMES), stepsize_controller=diffrax.PIDController(rtol=TOLERANCE, atol=TOLERANCE),
        ).ys  # fmt: skip
        logs = jnp.log(PELTS)
        prior = norm.logpdf(point[:4], np.log(RATES), 0.5).sum() + norm.logpdf(start, np.log(STARTS), 1.0).sum()
        return prior + norm.logpdf(point[6:], -1.0, 1.0).sum() + (norm.logpdf(logs, found, spread) - logs).sum()

    compiled = jax.jit(jax.value_and_grad(density))
    return lambda: jax.block_until_ready(compiled(POINT))


SYSTEMS: dict[str, Callable[[], Evaluation | None]] = {"numbagraph": ours, "pm.ode": pm_odes, "diffrax": diffraxs}


def seconds(call: Evaluation) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    calls, firsts = {}, {}
    for name, make in SYSTEMS.items():
        start = time.process_time()
        call = make()
        if call is not None:
            calls[name], result = call, call()
            firsts[name] = time.process_time() - start
            print(f"{name}: {float(result[0]):.6f}, {np.asarray(result[1]).round(3)}", file=sys.stderr)
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(CALLS):
        for name, call in calls.items():
            if sum(spent[name]) < 20.0:
                spent[name].append(seconds(call))
    own = statistics.median(spent["numbagraph"])
    for name, each in spent.items():
        median = statistics.median(each)
        print(
            f"{name:12} {median * 1e6:10.1f} µs {median / own:8.1f} ×   first {firsts[name]:6.2f} s of processor time"
        )


if __name__ == "__main__":
    threads.restart_with(1, MODULE, sys.argv[1:])
    main()
