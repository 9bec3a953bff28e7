"""Rules for integrals of arrays, with the estimates of `scipy.integrate.quad_vec`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.solvers.integrals.kronrod import EPS, KRONROD_15, KRONROD_21, TINY, Rule

Function = Callable[..., Any]


class ArrayRule(NamedTuple):
    """A rule on an interval, whose points go from its end to its start."""

    nodes: Any
    """The points on the interval from -1 to 1."""
    weights: Any
    gauss: Any
    """The weights of the rule of lower order, zero where it has no point; none of the trapezoidal rule."""
    calls: int
    """The number of evaluations on two halves of an interval."""


def unfolded(rule: Rule) -> ArrayRule:
    """Return a rule of Gauss and Kronrod with its points in a row."""
    pairs = len(rule.nodes)
    nodes = np.concatenate([rule.nodes, [0.0], -rule.nodes[::-1]])
    weights, gauss = (np.concatenate([each[:pairs], [each[pairs]], each[:pairs][::-1]]) for each in rule[1:3])
    return ArrayRule(nodes, weights, gauss, 2 * len(nodes))


RULES = {
    "gk21": unfolded(KRONROD_21),
    "gk15": unfolded(KRONROD_15),
    "trapezoid": ArrayRule(np.array([-1.0, 1.0, 0.0]), np.array([0.25, 0.25, 0.5]), None, 5),
}


class Form(NamedTuple):
    """How the integrand's arrays are stored: in a row, complex ones as real parts before imaginary ones."""

    shape: tuple[Any, ...]
    is_complex: bool
    norm: Function

    def row(self, value: Any) -> Any:
        flat = np.ravel(value)
        if self.is_complex:
            return np.concatenate([np.real(flat), np.imag(flat)])
        return flat.astype(np.float64)

    def array(self, row: Any) -> Any:
        if self.is_complex:
            count = row.shape[0] // 2
            row = row[:count] + 1j * row[count:]
        return row.reshape(self.shape) if self.shape else row[0]

    def size(self, row: Any) -> Any:
        return np.float64(self.norm(self.array(row)))

    def magnitudes(self, rows: Any) -> Any:
        """Return the magnitudes of the numbers in each of several rows."""
        if self.is_complex:
            count = rows.shape[-1] // 2
            return np.hypot(rows[:, :count], rows[:, count:])
        return np.abs(rows)

    def size_of_magnitudes(self, row: Any) -> Any:
        return np.float64(self.norm(row.reshape(self.shape) if self.shape else row[0]))


class ArrayEstimate(NamedTuple):
    """What a rule says of an integral over an interval."""

    value: Any
    error: Any
    rounding: Any


def estimated(rows: Any, a: Any, b: Any, rule: ArrayRule, form: Form) -> ArrayEstimate:
    """Integrate a function, given by its rows at the points of a rule."""
    weights = lifted(rule.weights)[:, np.newaxis]
    value = np.sum(weights * rows, axis=0)
    if rule.gauss is None:
        width = b - a
        coarse = 0.5 * width * (rows[0] + rows[1])
        sizes = form.size(rows[0]) + form.size(rows[1]) + 2 * form.size(rows[2])
        error = form.size(coarse - width * value) / 3
        return ArrayEstimate(width * value, error, 0.25 * np.abs(width) * sizes * 2e-16)
    half = 0.5 * (b - a)
    lower = np.sum(lifted(rule.gauss)[:, np.newaxis] * rows, axis=0)
    magnitude = np.sum(weights * form.magnitudes(rows), axis=0)
    variation = np.sum(weights * form.magnitudes(rows - value / 2.0), axis=0)
    error = form.size((value - lower) * half)
    spread, rounding = form.size_of_magnitudes(variation * half), form.size_of_magnitudes(50 * EPS * half * magnitude)
    scale = 200 * np.divide(error, spread)
    error = np.where((spread != 0) & (error != 0), spread * np.minimum(1.0, scale * np.sqrt(scale)), error)
    error = np.where(rounding > TINY, np.maximum(error, rounding), error)
    return ArrayEstimate(half * value, error, rounding)
