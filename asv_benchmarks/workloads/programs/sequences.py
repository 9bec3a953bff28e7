"""Programs that go along sequences: alignment, hidden states, filters, runs, windows."""

from typing import Any

import numpy as np

from .base import Program


def local_alignment(a, b, match, mismatch, gap):
    """Smith and Waterman, Identification of common molecular subsequences (1981)."""
    scores = np.zeros((len(a) + 1, len(b) + 1))
    best = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            similar = match if a[i - 1] == b[j - 1] else -mismatch
            score = max(0.0, scores[i - 1, j - 1] + similar, scores[i - 1, j] - gap, scores[i, j - 1] - gap)
            scores[i, j] = score
            best = max(best, score)
    return best


def local_alignment_jax(a: Any, b: Any, match: Any, mismatch: Any, gap: Any) -> Any:
    """A row a step: what comes from the left is a cumulative maximum."""
    import jax
    import jax.numpy as jnp

    slopes = gap * jnp.arange(len(b) + 1)

    def step(row: Any, letter: Any) -> Any:
        similar = jnp.where(letter == b, match, -mismatch)
        ways = jnp.maximum(row[:-1] + similar, row[1:] - gap)
        ways = jnp.concatenate([jnp.zeros(1), jnp.maximum(ways, 0.0)])
        row = jax.lax.cummax(ways + slopes) - slopes
        return row, row.max()

    return jax.lax.scan(step, jnp.zeros(len(b) + 1), a)[1].max()


def soft_dtw(x, y, gamma):
    """Cuturi and Blondel, Soft-DTW: a differentiable loss function for time series (2017), algorithm 1."""
    n, m = len(x), len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            low = min(r[i - 1, j - 1], r[i - 1, j], r[i, j - 1])
            total = np.exp((low - r[i - 1, j - 1]) / gamma)
            total += np.exp((low - r[i - 1, j]) / gamma)
            total += np.exp((low - r[i, j - 1]) / gamma)
            r[i, j] = (x[i - 1] - y[j - 1]) ** 2 + low - gamma * np.log(total)
    return r[n, m]


def soft_dtw_jax(x: Any, y: Any, gamma: Any) -> Any:
    """A diagonal a step: position `i` of diagonal `k` is row `i`, column `k - i`."""
    import jax
    import jax.numpy as jnp

    n, m = len(x), len(y)
    rows = jnp.arange(n)

    def step(pair: Any, k: Any) -> Any:
        before, last = pair
        columns = k - 2 - rows
        cost = (x - y[jnp.clip(columns, 0, m - 1)]) ** 2
        ways = jnp.stack([before[:-1], last[:-1], last[1:]])
        found = cost - gamma * jax.nn.logsumexp(-ways / gamma, axis=0)
        found = jnp.where((columns >= 0) & (columns < m), found, 1e10)
        new = jnp.concatenate([jnp.full(1, 1e10), found])
        return (last, new), None

    far = jnp.full(n + 1, 1e10)
    (_, last), _ = jax.lax.scan(step, (far.at[0].set(0.0), far), jnp.arange(2, n + m + 1))
    return last[n]


def hidden_markov(start, transition, emission, observed):
    """The log-likelihood by the forward algorithm with scales (Rabiner 1989, section V.A)."""
    belief = start * emission[:, observed[0]]
    total = 0.0
    for t in range(1, len(observed)):
        scale = belief.sum()
        total += np.log(scale)
        belief = (belief / scale) @ transition * emission[:, observed[t]]
    return total + np.log(belief.sum())


def hidden_markov_jax(start: Any, transition: Any, emission: Any, observed: Any) -> Any:
    import jax
    import jax.numpy as jnp

    emitted = emission.T[observed]

    def step(belief: Any, likely: Any) -> Any:
        scale = belief.sum()
        return (belief / scale) @ transition * likely, jnp.log(scale)

    belief, logs = jax.lax.scan(step, start * emitted[0], emitted[1:])
    return logs.sum() + jnp.log(belief.sum())


def kalman(y, forward, noise, seen, spread):
    """The log-likelihood of a series under a linear Gaussian state that is observed in one direction."""
    size = len(forward)
    mean = np.zeros(size)
    covariance = 10.0 * np.eye(size)
    total = 0.0
    for value in y:
        mean = forward @ mean
        covariance = forward @ covariance @ forward.T + noise
        innovation = value - seen @ mean
        along = covariance @ seen
        variance = seen @ along + spread
        gain = along / variance
        mean = mean + gain * innovation
        covariance = covariance - np.outer(gain, along)
        total -= 0.5 * (np.log(2 * np.pi * variance) + innovation**2 / variance)
    return total


def kalman_jax(y: Any, forward: Any, noise: Any, seen: Any, spread: Any) -> Any:
    import jax
    import jax.numpy as jnp

    size = len(forward)

    def step(state: Any, value: Any) -> Any:
        mean, covariance = state
        mean = forward @ mean
        covariance = forward @ covariance @ forward.T + noise
        innovation = value - seen @ mean
        along = covariance @ seen
        variance = seen @ along + spread
        gain = along / variance
        new = mean + gain * innovation, covariance - jnp.outer(gain, along)
        return new, -0.5 * (jnp.log(2 * jnp.pi * variance) + innovation**2 / variance)

    return jax.lax.scan(step, (jnp.zeros(size), 10.0 * jnp.eye(size)), y)[1].sum()


def moving_scores(x):
    """How many standard deviations each element is from the mean of the twenty that end with it."""
    windows = np.lib.stride_tricks.sliding_window_view(x, 20)
    return (x[19:] - windows.mean(axis=1)) / np.sqrt(windows.var(axis=1) + 1e-6)


def moving_scores_loops(x):
    scores = np.empty(len(x) - 19)
    for i in range(len(scores)):
        window = x[i : i + 20]
        mean = 0.0
        for value in window:
            mean += value
        mean /= 20
        variance = 0.0
        for value in window:
            variance += (value - mean) ** 2
        scores[i] = (x[i + 19] - mean) / np.sqrt(variance / 20 + 1e-6)
    return scores


def moving_scores_jax(x: Any) -> Any:
    """The fastest of four: beside a gather of all windows, a convolution and twenty slices."""
    import jax.numpy as jnp
    from jax import lax

    def means(values: Any) -> Any:
        return lax.reduce_window(values, 0.0, lax.add, (20,), (1,), "valid") / 20

    mean = means(x)
    return (x[19:] - mean) / jnp.sqrt(means(x**2) - mean**2 + 1e-6)


def run_lengths(x):
    """The values and lengths of runs of equal elements, and how many runs there are."""
    values, lengths = np.zeros_like(x), np.zeros(len(x), dtype=np.int64)
    runs, length = 0, 1
    for i in range(1, len(x)):
        if x[i] == x[i - 1]:
            length += 1
        else:
            values[runs] = x[i - 1]
            lengths[runs] = length
            runs += 1
            length = 1
    values[runs] = x[-1]
    lengths[runs] = length
    return values, lengths, runs + 1


def run_lengths_jax(x: Any) -> Any:
    import jax.numpy as jnp

    ends = jnp.concatenate([x[1:] != x[:-1], jnp.ones(1, bool)])
    number = jnp.concatenate([jnp.zeros(1, int), jnp.cumsum(ends)[:-1]])
    values = jnp.zeros_like(x).at[number].set(x)
    return values, jnp.zeros(len(x), int).at[number].add(1), ends.sum()


def longest_rise(x):
    """The length of the longest run of elements that rise, and where it ends."""
    best, end, length = 1, 0, 1
    for i in range(1, len(x)):
        if x[i] > x[i - 1]:
            length += 1
        else:
            length = 1
        if length > best:
            best = length
            end = i
    return best, end


def longest_rise_jax(x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    places = jnp.arange(len(x))
    falls = jnp.concatenate([jnp.ones(1, bool), x[1:] <= x[:-1]])
    lengths = places - jax.lax.cummax(jnp.where(falls, places, 0)) + 1
    end = jnp.argmax(lengths)
    return lengths[end], end


def letters(rng, n):
    return rng.integers(0, 4, n), rng.integers(0, 4, n + n // 4), 2.0, 1.0, 1.5


def two_series(rng, n):
    return np.cumsum(rng.normal(size=n)) / 3, np.cumsum(rng.normal(size=n + 7)) / 3, 0.5


def chain(rng, n):
    states = 12
    start, transition = rng.random(states), rng.random((states, states))
    emission = rng.random((states, 20))
    rows = transition / transition.sum(axis=1, keepdims=True)
    return start / start.sum(), rows, emission / emission.sum(axis=1, keepdims=True), rng.integers(0, 20, n)


def state_space(rng, n):
    forward = np.eye(4) + 0.1 * np.diag(np.ones(3), 1)
    return np.cumsum(rng.normal(size=n)) / 5, forward, 0.05 * np.eye(4), np.array([1.0, 0.0, 0.5, 0.0]), 0.3


def series(rng, n):
    return (rng.normal(size=n),)


PROGRAMS = (
    Program(local_alignment, local_alignment_jax, letters, 300, 8),
    Program(soft_dtw, soft_dtw_jax, two_series, 90, 6, (0, 1)),
    Program(hidden_markov, hidden_markov_jax, chain, 400, 5, (0, 1, 2)),
    Program(kalman, kalman_jax, state_space, 300, 5, (0, 1, 2, 3, 4)),
    Program(moving_scores, moving_scores_jax, series, 20_000, 24, (0,), moving_scores_loops),
    Program(run_lengths, run_lengths_jax, lambda rng, n: (rng.integers(0, 3, n),), 20_000, 12),
    Program(longest_rise, longest_rise_jax, series, 20_000, 12),
)
