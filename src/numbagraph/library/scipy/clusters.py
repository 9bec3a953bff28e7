"""`scipy.cluster.vq`: the nearest of some points, and k-means, which draws as SciPy draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.loops import fori_loop, while_loop
from numbagraph.ir.op import load, registry
from numbagraph.library.scipy.arguments import Function, array, differentiated, known, lifted, require
from numbagraph.library.scipy.solvers.global_minima.random_states import from_state, generator_of, left_in
from numbagraph.tracing.tracer import apply

EMPTY = "One of the clusters is empty. Re-run kmeans with a different initialization."


def checked(x: Any, check_finite: bool) -> Any:
    values = array(x)
    if check_finite:
        require(np.all(np.isfinite(values)), "array must not contain infs or NaNs")
    return values


def columns(x: Any) -> Any:
    return lifted(x[:, None] if x.ndim == 1 else x)


def still(x: Any) -> Any:
    return apply(registry["stop_gradient"], lifted(x))


def nearest(obs: Any, book: Any, alive: Any = None) -> Any:
    """The place of the nearest row of a code book for each row. (Places have no derivative.)"""
    difference = still(obs)[:, None, :] - still(book)[None, :, :]
    squares = np.sum(difference * difference, -1)
    return np.argmin(squares if alive is None else np.where(alive, squares, np.inf), 1)


def distances(obs: Any, book: Any, code: Any) -> Any:
    return np.linalg.norm(obs - book[code], axis=-1)


def whiten(obs: Any, check_finite: bool | None = None) -> Any:
    """`scipy.cluster.vq.whiten`."""
    values = checked(obs, check_finite is not False)
    spread = np.std(values, axis=0)
    is_level = spread == 0
    return values / np.where(is_level, 1.0, spread).astype(spread.dtype)


def py_vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """`scipy.cluster.vq.py_vq`."""
    rows, book = (checked(each, check_finite) for each in (obs, code_book))
    if rows.ndim != book.ndim:
        raise ValueError("Observation and code_book should have the same rank")
    rows, book = (columns(each.astype(np.float64)) for each in (rows, book))
    code = nearest(rows, book)
    return code, distances(rows, book, code)


def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """`scipy.cluster.vq.vq`."""
    rows, book = (checked(each, check_finite) for each in (obs, code_book))
    kind = np.result_type(rows.dtype, book.dtype)
    if kind not in (np.float64, np.float32):
        return py_vq(rows, book, check_finite=False)
    if rows.ndim != book.ndim:
        raise ValueError("observation and code should have same number of dimensions")
    rows, book = (columns(each.astype(kind)) for each in (rows, book))
    if known(rows, "vq")[1] != known(book, "vq")[1]:
        raise ValueError("obs and code should have same number of features (columns)")
    code = nearest(rows, book)
    return code.astype(np.int32), distances(rows, book, code)


def means(rows: Any, code: Any, count: int) -> tuple[Any, Any]:
    """The means of the rows with each code, and whether there are any."""
    members = (code[:, None] == np.arange(count)).astype(rows.dtype)
    sizes = np.sum(members, 0)
    return members.T @ rows / np.maximum(sizes, 1)[:, None], sizes > 0


def converged(rows: Any, guess: Any, thresh: Any) -> tuple[Any, Any, Any, Any]:
    """Return the last codes, whether each cluster is left, the mean distance, and the code book before the last one:
    means and codes follow each other until the distance changes no more than a threshold."""
    count = known(guess, "kmeans")[0]
    places = known(rows, "kmeans")[0]

    def is_moving(state: Any) -> Any:
        return state[0] > thresh

    def move(state: Any) -> Any:
        _, before, book, alive, _, _ = state
        code = nearest(rows, book, alive)
        distance = np.mean(distances(rows, book, code))
        following, has_members = means(rows, code, count)
        return np.abs(before - distance), distance, following, alive & has_members, code, book

    infinite = np.array(np.inf, rows.dtype)
    start = (infinite, infinite, guess, np.ones(count, bool), np.zeros(places, np.int64), guess)
    _, distance, _, alive, code, book = while_loop(is_moving, move, start)
    return code, alive, distance, book


def kmeans(
    obs: Any,
    k_or_guess: Any,
    iter: Any = 20,
    thresh: Any = 1e-5,
    check_finite: bool = True,
    *,
    rng: Any = None,
    seed: Any = None,
) -> tuple[Any, Any]:
    """`scipy.cluster.vq.kmeans`. Means and their distance have the derivatives of these codes."""
    values = in_floats(checked(obs, check_finite), "kmeans")
    guess = checked(k_or_guess, check_finite)
    if iter < 1:
        raise ValueError(f"iter must be at least 1, got {iter}")
    rows = columns(values)
    moving = still(rows)
    size = int(np.prod(known(guess, "kmeans")))
    if size < 1:
        raise ValueError(f"Asked for 0 clusters. Initial book was {guess}")
    if size > 1:
        start = still(columns(guess.astype(values.dtype)))
        return result_of_codes(values, rows, known(start, "kmeans")[0], converged(moving, start, thresh))
    count = count_of(k_or_guess)
    generator = generator_of(rng, seed, "kmeans")
    chosen = drawn(generator, known(rows, "kmeans")[0], count, int(iter))

    def attempt(number: Any, best: Any) -> Any:
        found = converged(moving, moving[chosen[number]], thresh)
        better = found[2] < best[2]
        return tuple(np.where(better, *pair) for pair in zip(found, best, strict=True))

    code = np.zeros(known(rows, "kmeans")[0], np.int64)
    none = (code, np.ones(count, bool), np.array(np.inf, values.dtype), moving[:count])
    return result_of_codes(values, rows, count, fori_loop(0, int(iter), attempt, none))


def result_of_codes(values: Any, rows: Any, count: int, found: tuple[Any, Any, Any, Any]) -> tuple[Any, Any]:
    code, alive, distance, _ = found
    book, _ = means(rows, code, count)
    distance = differentiated(distance, np.mean(distances(rows, book, code)))
    return (book[:, 0] if values.ndim == 1 else book)[alive], distance


def in_floats(values: Any, what: str) -> Any:
    if values.dtype not in (np.float64, np.float32):
        raise TypeError(f"{what}: type other than float or double not supported")
    return values


def count_of(k: Any) -> int:
    if int(k) != k:
        raise ValueError("If k_or_guess is a scalar, it must be an integer.")
    if k < 1:
        raise ValueError(f"Asked for {k} clusters.")
    return int(k)


def drawn(generator: Any, population: int, count: int, rounds: int) -> Any:
    """The places of the rows from which each of some searches begins."""

    def step(number: Any, carried: Any) -> Any:
        found, state = carried
        chosen, after = from_state(generator, state, lambda local: local.choice(population, size=count, replace=False))
        following = np.copy(found)
        following[number] = chosen
        return following, after

    found, after = fori_loop(0, rounds, step, (np.zeros((rounds, count), np.int64), generator._state))
    left_in(generator, after)
    return found


def kmeans2(
    data: Any,
    k: Any,
    iter: Any = 10,
    thresh: Any = 1e-5,
    minit: str = "random",
    missing: str = "warn",
    check_finite: bool = True,
    *,
    rng: Any = None,
    seed: Any = None,
) -> tuple[Any, Any]:
    """`scipy.cluster.vq.kmeans2`. An empty cluster stays where it is, without a warning."""
    del thresh
    if int(iter) < 1:
        raise ValueError(f"Invalid iter ({iter}), must be a positive integer.")
    if missing not in ("warn", "raise"):
        raise ValueError(f"Unknown missing method {missing!r}")
    values = in_floats(checked(data, check_finite), "kmeans2")
    if values.ndim > 2:
        raise ValueError("Input of rank > 2 is not supported.")
    rows, book = columns(values), first_book(values, array(k), minit, rng, seed)
    count = known(book, "kmeans2")[0]

    def move(_: Any, state: Any) -> Any:
        book, _, filled = state
        code = nearest(rows, book)
        found, has_members = means(rows, code, count)
        return np.where(has_members[:, None], found, book), code, filled & np.all(has_members)

    start = (columns(book.astype(values.dtype)), np.zeros(known(rows, "kmeans2")[0], np.int64), np.bool_(True))
    book, code, filled = fori_loop(0, int(iter), move, start)
    if missing == "raise":
        require(filled, EMPTY, load("scipy.cluster.vq:ClusterError"))
    return book[:, 0] if values.ndim == 1 else book, code.astype(np.int32)


def first_book(values: Any, k: Any, minit: str, rng: Any, seed: Any) -> Any:
    """The code book that k-means begins with."""
    size = int(np.prod(known(k, "kmeans2")))
    if not int(np.prod(known(values, "kmeans2"))) or not size:
        raise ValueError("Empty input is not supported.")
    if minit == "matrix" or size > 1:
        if values.ndim != k.ndim:
            raise ValueError("k array doesn't match data rank")
        if values.ndim > 1 and known(k, "kmeans2")[1] != known(values, "kmeans2")[1]:
            raise ValueError("k array doesn't match data dimension")
        return k
    count = int(k)
    if count < 1:
        raise ValueError(f"Cannot ask kmeans2 for {count} clusters (k was {k})")
    if minit not in STARTS:
        raise ValueError(f"Unknown init method {minit!r}")
    return STARTS[minit](lifted(values), count, generator_of(rng, seed, "kmeans2"))


def random_points(values: Any, count: int, generator: Any) -> Any:
    """Normal points with the mean and the covariance of the data."""
    mean = np.mean(values, axis=0)
    if values.ndim == 1:
        return generator.standard_normal(count) * np.sqrt(np.cov(values)) + mean
    rows, width = known(values, "kmeans2")
    if width > rows:
        _, sizes, axes = np.linalg.svd(values - mean, full_matrices=False)
        return generator.standard_normal((count, rows)) @ (sizes[:, None] * axes / np.sqrt(rows - 1.0)) + mean
    covariance = np.atleast_2d(np.cov(values.T))
    return generator.standard_normal((count, width)) @ np.linalg.cholesky(covariance).T + mean


def points_of_data(values: Any, count: int, generator: Any) -> Any:
    return values[generator.choice(known(values, "kmeans2")[0], size=count, replace=False)]


def points_far_apart(values: Any, count: int, generator: Any) -> Any:
    """Points of the data, each the likelier the farther it is from those before. [Arthur and Vassilvitskii, k-means++,
    2007]"""
    rows = still(columns(values))
    place = generator.integers(0, known(rows, "kmeans2")[0])
    chosen, squares = [place], None
    for _ in range(count - 1):
        difference = rows - rows[chosen[-1]]
        found = np.sum(difference * difference, -1)
        squares = found if squares is None else np.minimum(squares, found)
        chosen.append(np.searchsorted(np.cumsum(squares / np.sum(squares)), generator.uniform()))
    return values[np.stack(chosen)]


STARTS: dict[str, Function] = {"random": random_points, "points": points_of_data, "++": points_far_apart}

FUNCTIONS: dict[str, Function] = {each.__name__: each for each in (kmeans, kmeans2, py_vq, vq, whiten)}

OBJECTS: dict[str, Any] = {}
