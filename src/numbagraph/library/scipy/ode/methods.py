"""Initial value problems, and what a method does for them: trials, and polynomials through its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from numbagraph.ir.structs import Struct

UNLIMITED = np.iinfo(np.int64).max


class Piece(NamedTuple):
    """A polynomial through a step."""

    origin: Any
    """The time at which it is ``base``."""
    unit: Any
    """The time that its variable counts in."""
    base: Any
    rows: Any
    """Its coefficients."""


class Counts(NamedTuple):
    """How many evaluations of slopes and Jacobians, and how many factorisations a solution has taken."""

    slopes: Any
    jacobians: Any
    factors: Any


class Stepping(Protocol):
    """What a trial starts from, as far as the loops know it."""

    t: Any
    y: Any
    slope: Any
    failed: Any
    steps: Any


class Method(Struct, eq=False):
    """A method of steps."""

    name: str
    order: int
    """The order of the estimate of the error, which gives the first step."""
    first: Callable[..., Any]
    """The state before the first trial, of a problem, time, state, slope, length, and whether polynomials are
    asked for."""
    trial: Callable[..., Any]
    """The state after one more trial, of a problem and a state."""
    piece: Callable[..., Piece]
    """The polynomial through the last step, of a problem and a state."""
    at: Callable[[Any, Any], Any]
    """The difference from a polynomial's base, of its coefficients and its variable. The variable has an axis more
    where it stands for several parts, each with coefficients of its own."""
    counts: Callable[[Any], Counts]
    """What a state has taken."""
    output: Callable[[Any, Any, Any, Piece], Any]
    """SciPy's own polynomial, of both ends of a step, the state at its start and the polynomial."""
    extra: int = 0
    """How many evaluations each polynomial takes."""
    first_size: Callable[..., Any] | None = None
    """The length of the first step, of a problem, time, state and slope, if it takes no evaluation."""
    takes_later_step: bool = False
    """Whether the polynomial at a time where two steps meet is that of the later one."""

    def value(self, piece: Piece, t: Any) -> Any:
        """The value of a polynomial."""
        return piece.base + self.at(piece.rows, (t - piece.origin) / np.where(piece.unit == 0, 1.0, piece.unit))


class Watch(Struct, eq=False):
    """The events of a problem."""

    functions: tuple[Callable[[Any, Any], Any], ...]
    limits: tuple[int, ...]
    """How often each may occur; `UNLIMITED` where it does not end the solution."""
    directions: Any
    root: Callable[..., Any]
    """The root of a function between two times, and whether it is one."""

    @property
    def terminal(self) -> list[int]:
        """The numbers of the events that end a solution."""
        return [number for number, limit in enumerate(self.limits) if limit != UNLIMITED]


class Problem(Struct, eq=False):
    """An initial value problem, and how accurately it is solved."""

    slope: Callable[[Any, Any], Any]
    method: Method
    end: Any
    direction: Any
    rtol: Any
    atol: Any
    longest: Any
    watch: Watch | None = None
    jacobian: Callable[[Any, Any], Any] | None = None
    """The matrix of derivatives of the slope by the state, as a function of time and state."""
    has_fixed_jacobian: bool = False

    def remains(self, t: Any) -> Any:
        """Whether the end has not been reached."""
        return self.direction * (t - self.end) < 0

    def shortest(self, t: Any) -> Any:
        """The length that steps at a time must have."""
        return 10.0 * np.abs(np.nextafter(t, self.direction * np.inf) - t)

    def fitted(self, t: Any, size: Any) -> Any:
        """A length that a step at a time may have."""
        shortest = self.shortest(t)
        return np.where(size > self.longest, self.longest, np.where(size < shortest, shortest, size))


def integer(number: int) -> Any:
    return np.asarray(number, np.int64)


def norm(x: Any) -> Any:
    """The root mean square of magnitudes; 0 of none."""
    return np.sqrt(squares(x) / np.maximum(x.size, 1))


def squares(x: Any) -> Any:
    return np.sum(x.real**2 + x.imag**2) if x.dtype.kind == "c" else np.sum(x * x)


def at_most(value: Any, most: Any) -> Any:
    """``min(most, value)`` of Python, which is ``most`` where the value is NaN."""
    return np.where(value < most, value, most)


def at_least(value: Any, least: Any) -> Any:
    """``max(least, value)`` of Python, which is ``least`` where the value is NaN."""
    return np.where(value > least, value, least)


def first_size(problem: Problem, t: Any, y: Any, slope: Any) -> Any:
    """The length of the first step, by Hairer, Norsett and Wanner's rule."""
    length = np.abs(problem.end - t)
    scale = problem.atol + np.abs(y) * problem.rtol
    d0, d1 = norm(y / scale), norm(slope / scale)
    h0 = np.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    h0 = at_most(length, h0)
    after = problem.slope(t + h0 * problem.direction, y + h0 * problem.direction * slope)
    d2 = norm((after - slope) / scale) / h0
    largest = np.where(d2 > d1, d2, d1)
    h1 = np.where(
        (d1 <= 1e-15) & (d2 <= 1e-15),
        np.maximum(1e-6, h0 * 1e-3),
        (0.01 / largest) ** (1 / (problem.method.order + 1)),
    )
    found = np.where(y.size == 0, length, at_most(h1, 100 * h0))  # nothing limits the step of an empty state
    return at_most(problem.longest, at_most(length, found))
