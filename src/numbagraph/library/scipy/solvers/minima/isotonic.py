"""Isotonic regression, which SciPy's own routine finds, with the derivatives of means of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import called, differentiated, double
from numbagraph.library.scipy.results import result_of


def regression(y: Any, weights: Any) -> Any:
    """Return the increasing values and the number of the block of each: what a callback computes."""
    found = load("scipy.optimize:isotonic_regression")(y, weights=weights)
    lengths = np.diff(found.blocks)
    return np.asarray(found.x), np.repeat(np.arange(len(lengths)), lengths)


def sums_of(block: Any, values: Any) -> Any:
    """The sum of each block, in an array as long as the values, so that batches have one length."""
    found = np.zeros(len(values))
    np.add.at(found, block, values)
    return found


def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    """`scipy.optimize.isotonic_regression`. Its lengths of blocks follow from the data."""
    y = np.atleast_1d(double(y))
    weights = np.ones_like(y) if weights is None else np.atleast_1d(double(weights))
    if y.ndim != 1 or weights.ndim != 1 or y.shape[0] != weights.shape[0]:
        raise ValueError("Input arrays y and w must have one dimension of equal length.")
    if np.any(weights <= 0):
        raise ValueError("Weights w must be strictly positive.")
    step = 1 if increasing else -1
    values, shares = y[::step], weights[::step]
    x, block = called(regression, (np.zeros(len(y)), np.zeros(len(y), dtype=np.int64)), values, shares)
    sums = sums_of(block, shares)
    x = differentiated(x, sums_of(block, shares * values)[block] / sums[block])
    is_first = np.concatenate((np.ones(1, dtype=bool), block[1:] != block[:-1], np.ones(1, dtype=bool)))
    blocks = np.nonzero(is_first[: len(y) + 1])[0]
    weights = sums[: len(blocks) - 1]
    if not increasing:
        x, weights, blocks = x[::-1], weights[::-1], len(y) - blocks[::-1]
    return result_of(OptimizeResult, x=x, weights=weights, blocks=blocks)
