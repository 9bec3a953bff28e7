"""Rules for integrals over boxes: products of rules of Gauss and Kronrod, and Genz and Malik's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._rules import GaussKronrodQuadrature, GenzMalikCubature

POINTS = {"gk21": 21, "gauss-kronrod": 21, "gk15": 15}


class BoxRule(NamedTuple):
    """A rule on the box from -1 to 1."""

    nodes: Any
    weights: Any
    differences: Any
    """The weights of the error: those of this rule, less those of the one of lower order."""


@lru_cache(8)
def rule_of(name: str, ndim: int) -> BoxRule:
    """Return a rule by SciPy's name of it."""
    if name == "genz-malik":
        found = GenzMalikCubature(ndim)
        nodes, weights = found.nodes_and_weights
        lower = np.zeros_like(weights)
        lower[: len(found.lower_nodes_and_weights[1])] = found.lower_nodes_and_weights[1]  # of the first nodes
        return BoxRule(nodes, weights, weights - lower)
    if name not in POINTS:
        raise ValueError(f"unknown rule {name}")
    one = GaussKronrodQuadrature(POINTS[name])
    nodes, weights = one.nodes_and_weights
    lower = np.zeros_like(weights)
    for node, weight in zip(*one.lower_nodes_and_weights, strict=True):
        lower[np.argmin(np.abs(nodes - node))] = weight
    whole = product([weights] * ndim)
    return BoxRule(grid([nodes] * ndim), whole, whole - product([lower] * ndim))


def grid(axes: Sequence[Any]) -> Any:
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def product(weights: Sequence[Any]) -> Any:
    return np.prod(grid(weights), axis=-1)
