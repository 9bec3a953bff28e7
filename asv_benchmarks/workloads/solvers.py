"""Programs around SciPy's solvers, as people write them; `numbagraph` compiles them as they are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, curve_fit, least_squares, minimize

TIGHT = 1e-8


@dataclass(frozen=True)
class Work:
    """A program with a solver in it."""

    name: str
    function: Callable[..., Any]
    args: Callable[[], tuple[Any, ...]]
    argnums: tuple[int, ...] = ()
    """The arguments of the gradient that is measured; none: the value is."""
    in_axes: tuple[int | None, ...] = ()
    """The axes of a batch that is measured; none: one call is."""
    rtol: float = 1e-6
    """How far results may be apart."""


def lorenz(t: Any, u: Any, p: Any) -> Any:
    x, y, z = u
    return np.array([p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z])


def attractor(u0: Any, p: Any, end: Any, method: str) -> Any:
    found = solve_ivp(lorenz, (0.0, end), u0, method=method, rtol=TIGHT, atol=TIGHT, args=(p,))
    return found.y[:, -1]


def lorenz_rk45(u0: Any, p: Any, end: Any) -> Any:
    return attractor(u0, p, end, "RK45")


def lorenz_dop853(u0: Any, p: Any, end: Any) -> Any:
    return attractor(u0, p, end, "DOP853")


def prey(t: Any, u: Any, p: Any) -> Any:
    return np.array([p[0] * u[0] - p[1] * u[0] * u[1], p[2] * u[0] * u[1] - p[3] * u[1]])


def lotka_volterra(u0: Any, p: Any, times: Any) -> Any:
    return solve_ivp(prey, (times[0], times[-1]), u0, t_eval=times, rtol=TIGHT, atol=TIGHT, args=(p,)).y


def robertson(t: Any, u: Any, k: Any) -> Any:
    slow, fast, square = k[0] * u[0], k[1] * u[1] * u[2], k[2] * u[1] ** 2
    return np.array([fast - slow, slow - fast - square, square])


def reaction(u0: Any, k: Any, end: Any, method: str) -> Any:
    found = solve_ivp(robertson, (0.0, end), u0, method=method, rtol=TIGHT, atol=1e-10, args=(k,))
    return found.y[:, -1]


def robertson_radau(u0: Any, k: Any, end: Any) -> Any:
    return reaction(u0, k, end, "Radau")


def robertson_bdf(u0: Any, k: Any, end: Any) -> Any:
    return reaction(u0, k, end, "BDF")


def kepler(mean: Any, eccentricity: Any) -> Any:
    """The eccentric anomaly."""
    return brentq(lambda x: x - eccentricity * np.sin(x) - mean, 0.0, np.pi)


def decay(t: Any, height: Any, rate: Any, offset: Any) -> Any:
    return height * np.exp(-rate * t) + offset


def fitted_decay(t: Any, y: Any) -> Any:
    return curve_fit(decay, t, y, p0=[1.0, 1.0, 0.0])[0]


def robust_decay(t: Any, y: Any) -> Any:
    return least_squares(lambda p: decay(t, *p) - y, np.array([1.0, 1.0, 0.0])).x


def logistic(x: Any, y: Any, start: Any) -> Any:
    def loss(w: Any) -> Any:
        return np.sum(np.logaddexp(0.0, x @ w) - y * (x @ w)) / len(y) + 0.005 * np.sum(w**2)

    return minimize(loss, start, method="BFGS").x


def bell(a: Any) -> Any:
    return quad(lambda x: np.exp(-a * x * x) * np.cos(3.0 * x), 0.0, 4.0)[0]


LORENZ = (np.array([1.0, 1.0, 1.0]), np.array([10.0, 28.0, 8.0 / 3.0]))
HARES = (np.array([10.0, 5.0]), np.array([1.1, 0.4, 0.1, 0.4]), np.linspace(0.0, 15.0, 31))
REACTION = (np.array([1.0, 0.0, 0.0]), np.array([0.04, 1e4, 3e7]), 1e4)


def many_hares() -> tuple[Any, ...]:
    rng = np.random.default_rng(1)
    return HARES[0], HARES[1] * rng.uniform(0.8, 1.2, (1000, 4)), HARES[2]


def anomalies() -> tuple[Any, ...]:
    rng = np.random.default_rng(2)
    return rng.uniform(0.1, 3.0, 100_000), rng.uniform(0.0, 0.9, 100_000)


def measured_decay() -> tuple[Any, ...]:
    t = np.linspace(0.0, 4.0, 100)
    return t, decay(t, 2.5, 1.3, 0.5) + 0.1 * np.random.default_rng(3).normal(size=100)


def classes() -> tuple[Any, ...]:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(1000, 10))
    y = (rng.uniform(size=1000) < 1 / (1 + np.exp(-x @ rng.normal(size=10)))).astype(float)
    return x, y, np.zeros(10)


WORKS = {
    work.name: work
    for work in (
        Work("lorenz_rk45", lorenz_rk45, lambda: (*LORENZ, 20.0), rtol=1e-3),  # chaos enlarges rounding
        Work("lorenz_dop853", lorenz_dop853, lambda: (*LORENZ, 20.0), rtol=1e-3),
        Work("lorenz_rk45_gradient", lorenz_rk45, lambda: (*LORENZ, 2.0), argnums=(1,), rtol=1e-4),
        Work("lorenz_dop853_gradient", lorenz_dop853, lambda: (*LORENZ, 2.0), argnums=(1,), rtol=1e-4),
        Work("lotka_volterra", lotka_volterra, lambda: HARES),
        Work("lotka_volterra_gradient", lotka_volterra, lambda: HARES, argnums=(1,), rtol=1e-4),
        Work("lotka_volterra_batch", lotka_volterra, many_hares, in_axes=(None, 0, None)),
        Work("robertson_radau", robertson_radau, lambda: REACTION),
        Work("robertson_bdf", robertson_bdf, lambda: REACTION),
        Work("robertson_radau_gradient", robertson_radau, lambda: REACTION, argnums=(1,), rtol=1e-4),
        Work("robertson_bdf_gradient", robertson_bdf, lambda: REACTION, argnums=(1,), rtol=1e-4),
        Work("kepler_batch", kepler, anomalies, in_axes=(0, 0)),
        Work("curve_fit", fitted_decay, measured_decay),
        Work("least_squares", robust_decay, measured_decay),
        Work("minimize_bfgs", logistic, classes, rtol=1e-4),
        Work("quad", bell, lambda: (0.7,)),
        Work("quad_batch", bell, lambda: (np.linspace(0.1, 2.0, 10_000),), in_axes=(0,)),
    )
}
