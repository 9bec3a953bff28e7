"""Roots by Newton's steps, each solved for in a Krylov space from differences of the function."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import refuse
from numbagraph.library.scipy.solvers.systems.backtracking import (
    FIRST,
    FULL,
    Search,
    backtracked,
    first_search,
    safe_square,
)
from numbagraph.library.scipy.solvers.systems.krylov_spaces import PRECISION, Method, gmres, lgmres
from numbagraph.library.scipy.solvers.systems.stopping import (
    EXHAUSTED,
    NOT_FINITE,
    NOT_FINITE_PRODUCT,
    RUNNING,
    ZERO,
    Tolerances,
    checked,
)

Function = Callable[..., Any]

SMALLER, LARGEST, BELOW = 0.9, 0.9999, 0.1
"""How the residual that a step may leave follows from how much the last step left."""
OWN = {"lgmres": ("inner_m", "rtol", "atol"), "gmres": ("restart", "rtol", "atol")}
"""Options of the methods that reach them, without those that have names of their own."""
METHODS = ("bicgstab", "gmres", "lgmres", "cgs", "minres", "tfqmr")


class State(NamedTuple):
    """The point, the function there, the step, the Krylov space and the line search that look for the next one, how
    exact the step has to be, and what is counted."""

    x: Any
    f: Any
    dx: Any
    space: Any
    search: Search
    is_inner: Any
    exactness: Any
    size: Any
    checks: Any
    calls: Any
    end: Any


def iterate(
    fun: Function, x: Any, f: Any, tolerances: Tolerances, searches: bool, rdiff: Any = None, method: Any = "lgmres",
    inner_maxiter: int = 20, inner_M: Any = None, outer_k: int = 10, **options: Any,
) -> State:  # fmt: skip
    """Return where the iteration ends. The function is evaluated at one place, for products and for trials."""
    if inner_M is not None:
        refuse("newton_krylov with inner_M=", "leave it out, or multiply the function by the preconditioner")
    solver = solver_of(method, len(x), inner_maxiter, outer_k, options)
    relative = PRECISION**0.5 if rdiff is None else rdiff
    begin, first_norm = FIRST if searches else FULL, tolerances.norm(f)

    def started(state: State) -> State:
        """Check the point, and begin with the next step."""
        is_exhausted = state.checks >= tolerances.maxiter
        checks = state.checks + np.where(is_exhausted, 0, 1)
        end = checked(tolerances, first_norm, state.x, state.f, state.dx, checks)
        end = np.where((end == RUNNING) & ~np.all(np.isfinite(state.f)), NOT_FINITE, end)
        scaled = state.exactness * state.size
        space = solver.begin(state.space, state.f, np.where(scaled < state.exactness, scaled, state.exactness))
        end = np.where(is_exhausted, EXHAUSTED, end)
        return state._replace(space=space, checks=checks, end=end, is_inner=np.bool_(True))

    def inner(old: State, value: Any, length: Any, is_zero: Any) -> State:
        """Add a product to the Krylov space."""
        product = np.where(is_zero, 0.0, (value - old.f) / length)
        is_wrong = ~np.all(np.isfinite(product)) & np.all(np.isfinite(old.space.vector))
        space = solver.advance(old.space, product)
        dx = np.where(space.is_done, -space.solution, old.dx)
        end = np.where(space.is_done & np.all(dx == 0.0), ZERO, RUNNING)
        end = np.where(space.is_done & ~np.all(np.isfinite(dx)), NOT_FINITE, end)
        return old._replace(
            space=space, dx=dx, is_inner=~space.is_done, search=first_search(begin),
            calls=old.calls + np.where(is_zero, 0, 1), end=np.where(is_wrong, NOT_FINITE_PRODUCT, end),
        )  # fmt: skip

    def trial(old: State, value: Any) -> State:
        counted = old._replace(calls=old.calls + 1)
        is_taken, search = backtracked(old.search, np.linalg.norm(old.f) ** 2, safe_square(value))

        def taken() -> State:
            size = np.linalg.norm(value)
            exactness = next_exactness(old.exactness, size, old.size)
            x = old.x + old.search.s * old.dx
            return started(counted._replace(x=x, f=value, size=size, exactness=exactness))

        return cond(is_taken, taken, lambda: counted._replace(search=search))

    def evaluation(old: State) -> State:
        size = np.linalg.norm(old.space.vector)
        is_zero = size == 0
        length = relative * at_least_one(old.x) / at_least_one(old.f) / np.where(is_zero, 1.0, size)
        value = fun(old.x + np.where(old.is_inner, length * old.space.vector, old.search.s * old.dx))
        return cond(old.is_inner, lambda: inner(old, value, length, is_zero), lambda: trial(old, value))

    none, no = np.int64(0), np.bool_(False)
    nowhere, exactness, size = np.full(len(x), np.inf), np.float64(1e-3), np.linalg.norm(f)
    start = State(
        x, f, nowhere, solver.memory, first_search(begin), no, exactness, size, none, none + 1, RUNNING
    )  # fmt: skip
    return while_loop(lambda state: state.end == RUNNING, evaluation, started(start))


def at_least_one(x: Any) -> Any:
    """The largest element, or one, also if there is one that is not a number."""
    largest = np.max(np.abs(x))
    return np.where(largest > 1, largest, 1.0)


def next_exactness(old: Any, size: Any, before: Any) -> Any:
    by_sizes = SMALLER * size**2 / before**2
    by_last = SMALLER * old**2
    found = np.where((by_last >= BELOW) & (by_last > by_sizes), by_last, by_sizes)
    return np.where(found < LARGEST, found, LARGEST)


def solver_of(method: Any, n: Any, inner_maxiter: int, outer_k: int, options: dict[str, Any]) -> Method:
    """Return the method that solves for a step."""
    if method not in OWN:
        what = f"newton_krylov with method={method!r}" if method in METHODS else "newton_krylov with another method"
        refuse(what, "take method='lgmres' or 'gmres'")
    known = inner_options(method, options)
    if method == "lgmres":
        return lgmres(n, outer_k=outer_k, **known)
    return gmres(n, **{"restart": inner_maxiter, **known})


def inner_options(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options whose names begin with ``inner_``, without this. Warn of those that SciPy does not know."""
    names = [each for each in inspect.signature(load(f"scipy.sparse.linalg:{method}")).parameters if each != "self"]
    known = {}
    for key, value in options.items():
        if not key.startswith("inner_"):
            raise ValueError(f"Unknown parameter {key}")
        name = key.removeprefix("inner_")
        if name in OWN[method]:
            known[name] = value
        elif name in names:
            refuse(f"newton_krylov with {key}=", f"choose from {', '.join(f'inner_{each}' for each in OWN[method])}")
        else:
            near = "".join(f" Did you mean '{each}'?" for each in get_close_matches(name, names, n=1))
            warnings.warn(
                f"Option '{key}' is invalid for the inner method: {method}. It will be ignored.Please check inner "
                f"method documentation for valid options.{near}",
                UserWarning,
                stacklevel=3,
            )
    return known
