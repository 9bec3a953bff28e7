"""Programs on matrices and graphs: ranks, codes, diffusion, triangular systems."""

from typing import Any

import numpy as np

from .base import Program


def page_rank(links, damping):
    """Fifty iterations of the power method on a dense matrix of links, with pages that lead nowhere."""
    n = len(links)
    degree = links.sum(axis=1)
    ends = degree == 0
    shares = links / np.where(ends, 1.0, degree)[:, None]
    rank = np.full(n, 1.0 / n)
    for _ in range(50):
        lost = rank[ends].sum()
        rank = damping * (shares.T @ rank + lost / n) + (1 - damping) / n
    return rank


def page_rank_loops(links, damping):
    n = len(links)
    degree = links.sum(axis=1)
    ends = degree == 0
    shares = links.copy()
    for i in range(n):
        if not ends[i]:
            shares[i] /= degree[i]
    rank = np.full(n, 1.0 / n)
    for _ in range(50):
        lost = 0.0
        new = np.zeros(n)
        for i in range(n):
            if ends[i]:
                lost += rank[i]
            else:
                new += rank[i] * shares[i]
        rank = damping * (new + lost / n) + (1 - damping) / n
    return rank


def page_rank_jax(links: Any, damping: Any) -> Any:
    import jax
    import jax.numpy as jnp

    n = len(links)
    degree = links.sum(axis=1)
    ends = degree == 0
    shares = links / jnp.where(ends, 1.0, degree)[:, None]

    def step(_: Any, rank: Any) -> Any:
        return damping * (rank @ shares + jnp.sum(rank * ends) / n) + (1 - damping) / n

    return jax.lax.fori_loop(0, 50, step, jnp.full(n, 1.0 / n))


def min_sum(checks, received):
    """Decode a code of low-density checks (Gallager 1962) by fifteen rounds of normalised min-sum.

    Chen and Fossorier, Near optimum universal belief propagation based decoding (2002).
    """
    messages = np.zeros(checks.shape)
    for _ in range(15):
        totals = received + messages.sum(axis=0)
        outgoing = np.where(checks, totals - messages, np.inf)
        signs = np.where(outgoing < 0, -1.0, 1.0)
        sizes = np.abs(outgoing)
        least = sizes.min(axis=1, keepdims=True)
        place = sizes.argmin(axis=1)[:, None]
        others = np.where(np.arange(checks.shape[1]) == place, np.inf, sizes).min(axis=1, keepdims=True)
        bound = np.where(np.arange(checks.shape[1]) == place, others, least)
        product = signs.prod(axis=1, keepdims=True)
        messages = np.where(checks, 0.8 * product * signs * bound, 0.0)
    return received + messages.sum(axis=0)


def min_sum_jax(checks: Any, received: Any) -> Any:
    import jax
    import jax.numpy as jnp

    columns = jnp.arange(checks.shape[1])

    def step(_: Any, messages: Any) -> Any:
        outgoing = jnp.where(checks, received + messages.sum(axis=0) - messages, jnp.inf)
        signs, sizes = jnp.where(outgoing < 0, -1.0, 1.0), jnp.abs(outgoing)
        least = sizes.min(axis=1, keepdims=True)
        here = columns == sizes.argmin(axis=1)[:, None]
        others = jnp.where(here, jnp.inf, sizes).min(axis=1, keepdims=True)
        bound = jnp.where(here, others, least)
        return jnp.where(checks, 0.8 * signs.prod(axis=1, keepdims=True) * signs * bound, 0.0)

    messages = jax.lax.fori_loop(0, 15, step, jnp.zeros(checks.shape))
    return received + messages.sum(axis=0)


def diffusion(values, sources, targets, weights):
    """Forty steps along the edges of a graph, what leaves a node arriving at another one."""
    for _ in range(40):
        flow = 0.02 * weights * (values[sources] - values[targets])
        change = np.zeros_like(values)
        np.add.at(change, targets, flow)
        np.add.at(change, sources, -flow)
        values = values + change
    return values


def diffusion_loops(values, sources, targets, weights):
    values = values.copy()
    for _ in range(40):
        change = np.zeros_like(values)
        for e in range(len(sources)):
            flow = 0.02 * weights[e] * (values[sources[e]] - values[targets[e]])
            change[targets[e]] += flow
            change[sources[e]] -= flow
        values += change
    return values


def diffusion_jax(values: Any, sources: Any, targets: Any, weights: Any) -> Any:
    import jax

    def step(_: Any, values: Any) -> Any:
        flow = 0.02 * weights * (values[sources] - values[targets])
        return values.at[targets].add(flow).at[sources].add(-flow)

    return jax.lax.fori_loop(0, 40, step, values)


def back_substitution(upper, right):
    """Solve an upper triangular system, a row a step."""
    n = len(upper)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (right[i] - upper[i, i + 1 :] @ x[i + 1 :]) / upper[i, i]
    return x


def back_substitution_jax(upper: Any, right: Any) -> Any:
    import jax

    return jax.scipy.linalg.solve_triangular(upper, right)


def links_of(rng, n):
    links = (rng.random((n, n)) < 0.05).astype(float)
    links[:: max(2, n // 10)] = 0.0
    return links, 0.85


def code(rng, n):
    checks = rng.random((n // 2, n)) < 4 / n
    checks[:, :2] = True
    return checks, 1.0 + 0.8 * rng.normal(size=n)


def edges(rng, n):
    return rng.random(n), rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n), rng.random(4 * n)


def triangle(rng, n):
    return np.triu(rng.normal(size=(n, n))) / n + np.eye(n), rng.normal(size=n)


PROGRAMS = (
    Program(page_rank, page_rank_jax, links_of, 200, 8, (1,), page_rank_loops),
    Program(min_sum, min_sum_jax, code, 120, 8, (1,)),
    Program(diffusion, diffusion_jax, edges, 500, 5, (0, 3), diffusion_loops),
    Program(back_substitution, back_substitution_jax, triangle, 200, 4, (0, 1)),
)
