"""Approximate Hessians that are learned from changes of slopes: SciPy's `BFGS` and `SR1`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import BFGS, SR1

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import refuse
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen


class Rule(NamedTuple):
    """How a matrix learns: by which update, from which scale, and which curvature counts as none."""

    kind: str
    scale: Any
    least: Any


class Curvature(NamedTuple):
    """A matrix, whether it has learned nothing yet, and whether there was a step without a change of slope."""

    matrix: Any
    is_new: Any
    was_flat: Any


def rule_of(given: Any, n: int) -> Rule:
    """Return the rule of an object of SciPy."""
    scale = given.init_scale
    if not (isinstance(scale, str) and scale == "auto") and np.ndim(scale) > 0 and np.size(scale) != 1:
        require_symmetric(scale, n)
    if isinstance(given, BFGS):
        kind = "skip" if given.exception_strategy == "skip_update" else "damp"
        return Rule(kind, scale, given.min_curvature)
    if not isinstance(given, SR1):
        refuse(f"minimize with hess={type(given).__name__}()", "take BFGS(), SR1() or a function")
    return Rule("sr1", scale, given.min_denominator)


def require_symmetric(scale: Any, n: int) -> None:
    if np.shape(scale) != (n, n):
        raise ValueError(
            "If init_scale is an array, it must have the "
            f"dimensions of the hess/inv_hess: {(n, n)}. Got {np.shape(scale)}."
        )
    if not is_traced(scale) and not np.array_equal(scale, np.transpose(scale)):
        raise ValueError(
            "If init_scale is an array, it must be symmetric (passing scipy.linalg.issymmetric) to be an approximation "
            "of a hess/inv_hess."
        )


def flat(n: int) -> Curvature:
    return Curvature(np.eye(n), np.bool_(True), np.bool_(False))


def usual_scale(step: Any, change: Any) -> Any:
    along, square = np.abs(np.dot(change, step)), np.dot(change, change)
    is_none = (along == 0.0) | (square == 0.0) | (np.dot(step, step) == 0.0)
    return np.where(is_none, 1.0, square / np.where(is_none, 1.0, along))


def first_matrix(rule: Rule, step: Any, change: Any) -> Any:
    if isinstance(rule.scale, str):
        return usual_scale(step, change) * np.eye(len(step))
    if np.size(rule.scale) == 1:
        return np.asarray(rule.scale, dtype=np.float64).reshape(()) * np.eye(len(step))
    return np.asarray(rule.scale, dtype=np.float64)


def learned(rule: Rule, old: Curvature, step: Any, change: Any, is_asked: Any) -> Curvature:
    """Return the curvature after a step with this change of the slope, if asked."""
    is_moved = is_asked & ~np.all(step == 0.0)
    is_flat = np.all(change == 0.0)
    start = np.where(old.is_new, first_matrix(rule, step, change), old.matrix)
    matrix = by_one_rank(rule, start, step, change) if rule.kind == "sr1" else by_two_ranks(rule, start, step, change)
    new = Curvature(matrix, np.bool_(False), old.was_flat)
    return chosen(is_moved & ~is_flat, new, old._replace(was_flat=old.was_flat | (is_moved & is_flat)))


def by_one_rank(rule: Rule, matrix: Any, step: Any, change: Any) -> Any:
    rest = change - np.dot(matrix, step)
    size = np.dot(step, rest)
    is_small = np.abs(size) <= rule.least * np.linalg.norm(step) * np.linalg.norm(rest)
    return np.where(is_small, matrix, matrix + np.outer(rest, rest) / np.where(is_small, 1.0, size))


def by_two_ranks(rule: Rule, matrix: Any, step: Any, change: Any) -> Any:
    image = np.dot(matrix, step)
    is_wrong = np.dot(image, step) <= 0.0
    matrix = np.where(is_wrong, usual_scale(step, change) * np.eye(len(step)), matrix)
    image = np.where(is_wrong, usual_scale(step, change) * step, image)
    size, along = np.dot(image, step), np.dot(step, change)
    is_concave = along <= rule.least * size
    if rule.kind == "damp":
        share = (1.0 - rule.least) / np.where(is_concave, 1.0 - along / size, 1.0)
        change = np.where(is_concave, share * change + (1.0 - share) * image, change)
        along = np.dot(step, change)
        is_concave = np.bool_(False)
    along = np.where(is_concave, 1.0, along)
    new = matrix + np.outer(change, change) / along - np.outer(image, image) / size
    return np.where(is_concave, matrix, new)
