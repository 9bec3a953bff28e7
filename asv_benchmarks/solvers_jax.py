"""The programs of `workloads.solvers` by hand for JAX's users: with Diffrax, Optimistix, and Equinox."""

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import optimistix

from .workloads.solvers import TIGHT

MAX_STEPS = 100_000


def solution(field: Callable[..., Any], solver: Any, u0: Any, end: Any, args: Any, saveat: Any, atol: float) -> Any:
    return diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        solver,
        0.0,
        end,
        None,
        u0,
        args=args,
        saveat=saveat,
        stepsize_controller=diffrax.PIDController(rtol=TIGHT, atol=atol),
        max_steps=MAX_STEPS,
    ).ys


def lorenz(t: Any, u: Any, p: Any) -> Any:
    x, y, z = u
    return jnp.array([p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z])


def last(field: Callable[..., Any], solver: Any, atol: float = TIGHT) -> Callable[..., Any]:
    def run(u0: Any, p: Any, end: Any) -> Any:
        return solution(field, solver, u0, end, p, diffrax.SaveAt(t1=True), atol)[0]

    return run


def prey(t: Any, u: Any, p: Any) -> Any:
    return jnp.array([p[0] * u[0] - p[1] * u[0] * u[1], p[2] * u[0] * u[1] - p[3] * u[1]])


def lotka_volterra(u0: Any, p: Any, times: Any) -> Any:
    return solution(prey, diffrax.Dopri5(), u0, times[-1], p, diffrax.SaveAt(ts=times), TIGHT).T


def robertson(t: Any, u: Any, k: Any) -> Any:
    slow, fast, square = k[0] * u[0], k[1] * u[1] * u[2], k[2] * u[1] ** 2
    return jnp.array([fast - slow, slow - fast - square, square])


def kepler(mean: Any, eccentricity: Any) -> Any:
    def equation(x: Any, args: Any) -> Any:
        return x - args[1] * jnp.sin(x) - args[0]

    options = {"lower": 0.0, "upper": jnp.pi}
    solver = optimistix.Bisection(rtol=1e-12, atol=1e-12)
    return optimistix.root_find(equation, solver, 1.5, (mean, eccentricity), options, max_steps=256).value


def decay(t: Any, p: Any) -> Any:
    return p[0] * jnp.exp(-p[1] * t) + p[2]


def fitted_decay(t: Any, y: Any) -> Any:
    solver = optimistix.LevenbergMarquardt(rtol=1e-8, atol=1e-8)
    start = jnp.array([1.0, 1.0, 0.0])
    return optimistix.least_squares(lambda p, _: decay(t, p) - y, solver, start).value


def logistic(x: Any, y: Any, start: Any) -> Any:
    def loss(w: Any, _: Any) -> Any:
        return jnp.sum(jnp.logaddexp(0.0, x @ w) - y * (x @ w)) / len(y) + 0.005 * jnp.sum(w**2)

    return optimistix.minimise(loss, optimistix.BFGS(rtol=1e-5, atol=1e-5), start, max_steps=1000).value


STIFF = last(robertson, diffrax.Kvaerno5(), 1e-10)
VERSIONS: dict[str, Callable[..., Any]] = {
    "lorenz_rk45": last(lorenz, diffrax.Dopri5()),
    "lorenz_dop853": last(lorenz, diffrax.Dopri8()),
    "lotka_volterra": lotka_volterra,
    "robertson_radau": STIFF,
    "robertson_bdf": STIFF,
    "kepler": kepler,
    "fitted_decay": fitted_decay,
    "robust_decay": fitted_decay,
    "logistic": logistic,
}


def of_squares(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: jnp.sum(function(*args) ** 2)


def compiled(name: str, argnums: tuple[int, ...], in_axes: tuple[int | None, ...]) -> Callable[..., Any] | None:
    """The compiled program, its value and gradient, or its batch; None where none is written."""
    function = VERSIONS.get(name)
    if function is None:
        return None
    if argnums:
        return jax.jit(jax.value_and_grad(of_squares(function), argnums=argnums))
    return jax.jit(jax.vmap(function, in_axes=in_axes) if in_axes else function)
