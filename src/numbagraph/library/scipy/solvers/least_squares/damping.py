"""The Levenberg-Marquardt parameter for a radius, by MINPACK's iteration on pivoted QR factors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import fori_loop, while_loop
from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import norm

TINY = 2.2250738585072014e-308


def back_substituted(upper: Any, right: Any) -> tuple[Any, Any]:
    """Solve with an upper triangle; what follows a zero on its diagonal is zero. Returns the rank, too."""
    n = right.shape[0]
    places = np.arange(n)
    rank = np.min(np.where(np.diagonal(upper) == 0.0, places, n))

    def step(count: Any, x: Any) -> Any:
        j = n - 1 - count
        found = (right[j] - np.sum(upper[j] * x)) / upper[j, j]
        return np.where((places == j) & (j < rank), found, x)

    return fori_loop(0, n, step, np.zeros(n)), rank


def forward_substituted(upper: Any, right: Any) -> Any:
    """Solve with the transpose of an upper triangle."""
    n = right.shape[0]

    def step(j: Any, x: Any) -> Any:
        return np.where(np.arange(n) == j, (right[j] - np.sum(upper[:, j] * x)) / upper[j, j], x)

    return fori_loop(0, n, step, np.zeros(n))


def damped_triangle(upper: Any, scale: Any, turned: Any) -> tuple[Any, Any]:
    """Turn a diagonal, each element as a row below, into an upper triangle and its right side by plane rotations."""
    n = turned.shape[0]
    first, second = np.triu_indices(n)
    first, second = lifted(first), lifted(second)
    places = np.arange(n + 1)

    def step(number: Any, state: Any) -> Any:
        triangle, row = state
        j, k = first[number], second[number]
        row = np.where(k == j, np.where(places == j, scale[j], 0.0), row)
        own = triangle[k]
        length = np.hypot(own[k], row[k])
        is_turned = row[k] != 0.0
        cosine = np.where(is_turned, np.abs(own[k]) / length, 1.0)
        sine = np.where(is_turned, np.where(own[k] < 0.0, -row[k], row[k]) / length, 0.0)
        turned_row = np.where(places == k, 0.0, cosine * row - sine * own)
        triangle = np.where((places[:n] == k)[:, None], cosine * own + sine * row, triangle)
        return triangle, turned_row

    start = np.concatenate((upper, turned[:, None]), axis=1), np.zeros(n + 1)
    triangle, _ = fori_loop(0, n * (n + 1) // 2, step, start)
    return triangle[:, :n], triangle[:, n]


class Search(NamedTuple):
    """The state of the search for a parameter: its bounds, and what the last one gave."""

    par: Any
    low: Any
    high: Any
    excess: Any
    step: Any
    count: Any
    is_done: Any


def damped_step(upper: Any, order: Any, diag: Any, turned: Any, radius: Any, par: Any) -> tuple[Any, Any]:
    """Return the parameter, and the least-squares step (in the pivoted order) whose scaled norm it makes the radius."""
    scale = diag[order]
    step, rank = back_substituted(upper, turned)
    scaled = scale * step
    length = norm(scaled)
    excess = length - radius
    slope = norm(forward_substituted(upper, scale * (scaled / length)))
    low = np.where(rank == turned.shape[0], excess / radius / slope / slope, 0.0)
    steepness = norm(upper.T @ turned / scale)
    high = steepness / radius
    high = np.where(high == 0.0, TINY / np.fmin(radius, 0.1), high)
    par = np.fmin(np.fmax(par, low), high)
    par = np.where(par == 0.0, steepness / length, par)

    def trial(state: Search) -> Search:
        par = np.where(state.par == 0.0, np.fmax(TINY, state.high * 0.001), state.par)
        triangle, right = damped_triangle(upper, np.sqrt(par) * scale, turned)
        step, _ = back_substituted(triangle, right)
        scaled = scale * step
        length = norm(scaled)
        excess = length - radius
        is_flat = (state.low == 0.0) & (excess <= state.excess) & (state.excess < 0.0)
        is_done = (np.abs(excess) <= 0.1 * radius) | is_flat | (state.count == 9)
        slope = norm(forward_substituted(triangle, scale * (scaled / length)))
        low = np.where(excess > 0.0, np.fmax(state.low, par), state.low)
        high = np.where(excess < 0.0, np.fmin(state.high, par), state.high)
        better = np.fmax(low, par + excess / radius / slope / slope)
        return Search(np.where(is_done, par, better), low, high, excess, step, state.count + 1, is_done)

    is_newton = excess <= 0.1 * radius
    start = Search(np.where(is_newton, 0.0, par), low, high, excess, step, np.int64(0), is_newton)
    found = while_loop(lambda state: np.logical_not(state.is_done), trial, start)
    return found.par, found.step
