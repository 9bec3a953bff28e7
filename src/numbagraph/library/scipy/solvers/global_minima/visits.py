"""Random points of generalized simulated annealing, drawn as SciPy draws them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from numbagraph.api.branches import cond
from numbagraph.library.scipy.solvers.global_minima.random_states import from_state

FARTHEST, NEAREST = 1e8, 1e-10
"""From where on moves are drawn anew, and how near to a lower bound no point stays."""


class Distribution(NamedTuple):
    """The distribution of moves: its parameter, constants that follow from it, the box, and the generator."""

    parameter: Any
    width: Any
    scale: Any
    lower: Any
    range: Any
    generator: Any


def distribution_of(parameter: Any, lower: Any, upper: Any, generator: Any) -> Distribution:
    second = np.exp((4.0 - parameter) * np.log(parameter - 1.0))
    third = np.exp((2.0 - parameter) * np.log(2.0) / (parameter - 1.0))
    width = np.sqrt(np.pi) * second / (third * (3.0 - parameter))
    fifth = 1.0 / (parameter - 1.0) - 0.5
    angle = np.pi * (1.0 - fifth)
    scale = angle / np.sin(angle) / np.exp(gammaln(2.0 - fifth))
    return Distribution(parameter, width, scale, lower, upper - lower, generator)


def moves(distribution: Distribution, temperature: Any, normal: Any) -> Any:
    """Return moves from pairs of normal numbers."""
    parameter = distribution.parameter
    width = distribution.width * np.exp(np.log(temperature) / (parameter - 1.0))
    size = np.exp(-(parameter - 1.0) * np.log(distribution.scale / width) / (3.0 - parameter))
    return normal[:, 0] * size / np.exp((parameter - 1.0) * np.log(np.abs(normal[:, 1])) / (3.0 - parameter))


def within(distribution: Distribution, x: Any) -> Any:
    """Return a point in the box, which is continued periodically."""
    moved = np.fmod(x - distribution.lower, distribution.range) + distribution.range
    found = np.fmod(moved, distribution.range) + distribution.lower
    return found + np.where(np.abs(found - distribution.lower) < NEAREST, NEAREST, 0.0)


def visited(distribution: Distribution, x: Any, step: Any, temperature: Any, words: Any) -> tuple[Any, Any]:
    """Return the point of a step of the chain, and the state of the generator after it: all numbers move in the first
    steps, one number in each of the others."""
    n, generator = len(x), distribution.generator

    def all_moved() -> tuple[Any, Any]:
        normal, drawn = from_state(generator, words, lambda local: local.normal(size=(n, 2)))
        tails, after = from_state(generator, drawn, lambda local: local.uniform(size=2))
        by = moves(distribution, temperature, normal)
        by = np.where(by > FARTHEST, FARTHEST * tails[0], np.where(by < -FARTHEST, -FARTHEST * tails[1], by))
        return within(distribution, by + x), after

    def one_moved() -> tuple[Any, Any]:
        normal, drawn = from_state(generator, words, lambda local: local.normal(size=(1, 2)))
        by = moves(distribution, temperature, normal)[0]

        def anew() -> tuple[Any, Any]:
            number, after = from_state(generator, drawn, lambda local: np.float64(local.uniform()))
            return np.where(by > 0, FARTHEST, -FARTHEST) * number, after

        by, after = cond(np.abs(by) > FARTHEST, anew, lambda: (np.float64(by), drawn))
        return np.where(np.arange(n) == step - n, within(distribution, by + x), x), after

    return cond(step < n, all_moved, one_moved)
