"""Collocation by cubics with continuous slopes: its residuals, their derivatives, and estimates of the errors.

Kierzenka and Shampine, A BVP solver based on residual control and the Matlab PSE, ACM Trans. Math. Softw. 27 (2001).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.differentiation import jvp
from numbagraph.api.vmap import vmap

Function = Callable[..., Any]


SIGNS = np.reshape([-1.0, 1.0], (2, 1, 1, 1))
"""How a step changes with the states at its ends."""


class SingularTerm(NamedTuple):
    """The term ``S y / (x - a)`` of an equation."""

    matrix: Any
    projection: Any
    """The matrix that brings a state at the start to where the term is finite."""
    correction: Any
    """The factor of the slopes at the start."""


class Equations(NamedTuple):
    """The equations of a problem, of states (n, m) at m points and of k parameters."""

    fun: Function
    bc: Function
    fun_jac: Function | None
    bc_jac: Function | None
    n: int
    k: int
    start: Any
    term: SingularTerm | None

    def slopes(self, x: Any, y: Any, p: Any, has_start: bool) -> Any:
        """Return the slopes at points, of which the first one may be the start of the interval."""
        f = self.fun(x, y, p)
        if self.term is None:
            return f
        if not has_start:
            return f + self.term.matrix @ y / (x - self.start)
        rest = f[:, 1:] + self.term.matrix @ y[:, 1:] / (x[1:] - self.start)
        return np.concatenate([(self.term.correction @ f[:, 0])[:, np.newaxis], rest], axis=1)

    def slope_derivatives(self, x: Any, y: Any, p: Any) -> tuple[Any, Any]:
        """Return the derivatives of the slopes at points, of which the first one is the start of the interval, by the
        state (m, n, n) and by the parameters (m, n, k)."""
        if self.fun_jac is None:
            found = along_rows(lambda y, p: self.slopes(x, y, p, True), (y, p), (self.n, self.k))
            found = np.transpose(found, (2, 1, 0))
            return found[:, :, : self.n], found[:, :, self.n :]
        by_y, by_p = (np.transpose(each, (2, 0, 1)) for each in self.fun_jac(x, y, p))
        if self.term is not None:
            rest = by_y[1:] + self.term.matrix / (x[1:, np.newaxis, np.newaxis] - self.start)
            by_y = np.concatenate([(self.term.correction @ by_y[0])[np.newaxis], rest])
        return by_y, by_p

    def boundary_derivatives(self, ya: Any, yb: Any, p: Any) -> Any:
        """Return the derivatives of the boundary conditions by both states and by the parameters."""
        if self.bc_jac is not None:
            return np.concatenate(self.bc_jac(ya, yb, p), axis=1)
        return along_rows(self.bc, (ya, yb, p), (self.n, self.n, self.k)).T


def along_rows(f: Function, at: tuple[Any, ...], counts: tuple[int, ...]) -> Any:
    """Return the derivatives of a function by each row of its arguments, all of whose elements change as one."""

    def along(direction: Any) -> Any:
        tangents, start = [], 0
        for each, count in zip(at, counts, strict=True):
            end = start + count
            part = direction[start:end]
            tangents.append(part[:, np.newaxis] + np.zeros_like(each) if each.ndim > 1 else part)
            start = end
        return jvp(f, at, tuple(tangents))[1]

    return vmap(along)(np.eye(sum(counts), dtype=at[0].dtype))


class Residuals(NamedTuple):
    """What a state leaves of the equations, and the slopes that it has."""

    middle: Any
    """The states in the middles of the intervals."""
    f: Any
    f_middle: Any
    collocation: Any
    boundary: Any


def residuals(equations: Equations, x: Any, y: Any, p: Any) -> Residuals:
    h = np.diff(x)
    f = equations.slopes(x, y, p, True)
    middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
    f_middle = equations.slopes(x[:-1] + 0.5 * h, middle, p, False)
    collocation = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * f_middle)
    return Residuals(middle, f, f_middle, collocation, equations.bc(y[:, 0], y[:, -1], p))


class Blocks(NamedTuple):
    """The Jacobian's rows: those of each interval, by the states at its left, at its right and by the parameters, and
    those of the boundary conditions, by the states at both ends and by the parameters."""

    intervals: Any
    boundary: Any


def blocks(equations: Equations, x: Any, y: Any, p: Any, middle: Any) -> Blocks:
    h, count = np.diff(x), x.shape[0]
    by_y, by_p = equations.slope_derivatives(
        np.concatenate([x, x[:-1] + 0.5 * h]), np.concatenate([y, middle], axis=1), p
    )
    ends, inside = np.stack([by_y[: count - 1], by_y[1:count]]), by_y[count:]
    h = h[:, np.newaxis, np.newaxis]
    sides = SIGNS * (np.eye(equations.n) + h**2 / 12 * (inside @ ends)) - h / 6 * (ends + 2 * inside)
    columns = [sides[0], sides[1]]
    if equations.k:
        low, high = by_p[: count - 1], by_p[1:count]
        columns.append(-h / 6 * (low + high + 4 * (by_p[count:] + 0.125 * h * (inside @ (low - high)))))
    return Blocks(np.concatenate(columns, axis=2), equations.boundary_derivatives(y[:, 0], y[:, -1], p))


def coefficients(x: Any, y: Any, slopes: Any) -> Any:
    """Return the coefficients of the cubics (4, m - 1, n), those of the highest powers first."""
    h = np.diff(x)
    secant = (y[:, 1:] - y[:, :-1]) / h
    t = (slopes[:, :-1] + slopes[:, 1:] - 2 * secant) / h
    return np.transpose(np.stack([t / h, (secant - slopes[:, :-1]) / h - t, slopes[:, :-1], y[:, :-1]]), (0, 2, 1))


def squares(x: Any) -> Any:
    return np.sum(np.real(x * np.conj(x)), axis=0)


def rms_residuals(equations: Equations, x: Any, p: Any, cubics: Any, found: Residuals) -> Any:
    """Return the root mean square of the relative residuals on each interval, by Lobatto's rule of five points."""
    h, count = np.diff(x), x.shape[0] - 1
    centre, shift = x[:-1] + 0.5 * h, 0.5 * h * (3 / 7) ** 0.5
    distance = np.stack([centre + shift, centre - shift]) - x[:-1]
    c3, c2, c1, c0 = (each.T[:, np.newaxis] for each in cubics)
    y = ((c3 * distance + c2) * distance + c1) * distance + c0
    slopes = (3 * c3 * distance + 2 * c2) * distance + c1
    points = np.ravel(distance + x[:-1])
    f = equations.slopes(points, y.reshape((equations.n, -1)), p, False)
    rest = squares((slopes.reshape((equations.n, -1)) - f) / (1 + np.abs(f)))
    middle = squares(1.5 * found.collocation / h / (1 + np.abs(found.f_middle)))
    return (0.5 * (32 / 45 * middle + 49 / 90 * (rest[:count] + rest[count:]))) ** 0.5
