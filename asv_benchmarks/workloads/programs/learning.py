"""Programs that fit and learn: networks, attention, regressions, processes, clusters, transport."""

from typing import Any

import numpy as np

from .base import Program


def gated_network(x, w, u, b):
    """Cho and others' gated recurrent unit (2014), over a batch of sequences, its first axis being time."""
    size = u.shape[0]
    h = np.zeros((x.shape[1], size))
    for t in range(len(x)):
        given, kept = x[t] @ w + b, h @ u
        update = 1 / (1 + np.exp(-(given[:, :size] + kept[:, :size])))
        reset = 1 / (1 + np.exp(-(given[:, size : 2 * size] + kept[:, size : 2 * size])))
        new = np.tanh(given[:, 2 * size :] + reset * kept[:, 2 * size :])
        h = update * h + (1 - update) * new
    return h


def gated_network_jax(x: Any, w: Any, u: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    size = u.shape[0]

    def step(h: Any, given: Any) -> Any:
        kept = h @ u
        gates = jax.nn.sigmoid(given[:, : 2 * size] + kept[:, : 2 * size])
        update, reset = gates[:, :size], gates[:, size:]
        return update * h + (1 - update) * jnp.tanh(given[:, 2 * size :] + reset * kept[:, 2 * size :]), None

    return jax.lax.scan(step, jnp.zeros((x.shape[1], size)), x @ w + b)[0]


def perceptron_step(x, labels, w1, b1, w2, b2):
    """The cross-entropy of a perceptron with a hidden layer, and its weights after a step of descent by hand."""
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    shifted = scores - scores.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(x))
    loss = -logs[rows, labels].mean()
    slope = np.exp(logs)
    slope[rows, labels] -= 1
    slope /= len(x)
    back = (slope @ w2.T) * (1 - hidden**2)
    steps = x.T @ back, back.sum(axis=0), hidden.T @ slope, slope.sum(axis=0)
    return loss, w1 - 0.1 * steps[0], b1 - 0.1 * steps[1], w2 - 0.1 * steps[2], b2 - 0.1 * steps[3]


def perceptron_step_jax(x: Any, labels: Any, *weights: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def cross_entropy(w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        logs = jax.nn.log_softmax(jnp.tanh(x @ w1 + b1) @ w2 + b2)
        return -jnp.take_along_axis(logs, labels[:, None], axis=1).mean()

    loss, slopes = jax.value_and_grad(cross_entropy, argnums=(0, 1, 2, 3))(*weights)
    return (loss, *(old - 0.1 * slope for old, slope in zip(weights, slopes, strict=True)))


def causal_attention(x, query, key, value):
    """Four heads, each position seeing those before it (Vaswani and others 2017)."""
    n, width = x.shape
    heads = 4
    size = width // heads
    q = (x @ query).reshape(n, heads, size).transpose(1, 0, 2)
    k = (x @ key).reshape(n, heads, size).transpose(1, 0, 2)
    v = (x @ value).reshape(n, heads, size).transpose(1, 0, 2)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(size)
    scores = np.where(np.tril(np.ones((n, n), dtype=bool)), scores, -1e30)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return (weights @ v).transpose(1, 0, 2).reshape(n, width)


def causal_attention_jax(x: Any, query: Any, key: Any, value: Any) -> Any:
    import jax
    import jax.numpy as jnp

    n, width = x.shape
    q, k, v = ((x @ each).reshape(n, 4, width // 4) for each in (query, key, value))
    scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(width // 4)
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e30))
    return jnp.einsum("hqk,khd->qhd", weights, v).reshape(n, width)


def logistic_regression(x, y, rate):
    """A hundred steps of gradient descent with momentum."""
    w = np.zeros(x.shape[1])
    momentum = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-(x @ w)))
        momentum = 0.9 * momentum + x.T @ (p - y) / len(y) + 1e-3 * w
        w = w - rate * momentum
    return w


def logistic_regression_jax(x: Any, y: Any, rate: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(_: Any, state: Any) -> Any:
        w, momentum = state
        p = jax.nn.sigmoid(x @ w)
        momentum = 0.9 * momentum + (p - y) @ x / len(y) + 1e-3 * w
        return w - rate * momentum, momentum

    zero = jnp.zeros(x.shape[1])
    return jax.lax.fori_loop(0, 100, step, (zero, zero))[0]


def newton_step(x, y, w):
    """A step of Newton's method by twenty conjugate gradients, from products of the Hessian with vectors."""
    p = 1 / (1 + np.exp(-(x @ w)))
    curvature = p * (1 - p)
    residual = -(x.T @ (p - y) + 0.1 * w)
    direction = residual
    step = np.zeros_like(w)
    square = residual @ residual
    for _ in range(20):
        product = x.T @ (curvature * (x @ direction)) + 0.1 * direction
        length = square / (direction @ product)
        step = step + length * direction
        residual = residual - length * product
        before, square = square, residual @ residual
        direction = residual + square / before * direction
    return w + step


def newton_step_jax(x: Any, y: Any, w: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def loss(w: Any) -> Any:
        scores = x @ w
        return jnp.sum(jnp.logaddexp(0.0, scores) - y * scores) + 0.05 * w @ w

    slope, hessian = jax.linearize(jax.grad(loss), w)

    def step(_: Any, state: Any) -> Any:
        step, residual, direction, square = state
        product = hessian(direction)
        length = square / (direction @ product)
        step, residual = step + length * direction, residual - length * product
        new = residual @ residual
        return step, residual, residual + new / square * direction, new

    start = jnp.zeros_like(w), -slope, -slope, slope @ slope
    return w + jax.lax.fori_loop(0, 20, step, start)[0]


def gaussian_process(x, y, scale, height, noise):
    """The log marginal likelihood under Matérn's covariance of order 5/2 (Rasmussen and Williams 2006, 4.17)."""
    apart = np.abs(x[:, None] - x[None, :]) * (np.sqrt(5.0) / scale)
    covariance = height**2 * (1 + apart + apart**2 / 3) * np.exp(-apart) + noise**2 * np.eye(len(x))
    factor = np.linalg.cholesky(covariance)
    white = np.linalg.solve(factor, y)
    return -0.5 * white @ white - np.log(np.diag(factor)).sum() - 0.5 * len(x) * np.log(2 * np.pi)


def gaussian_process_jax(x: Any, y: Any, scale: Any, height: Any, noise: Any) -> Any:
    import jax
    import jax.numpy as jnp

    apart = jnp.abs(x[:, None] - x[None, :]) * (jnp.sqrt(5.0) / scale)
    covariance = height**2 * (1 + apart + apart**2 / 3) * jnp.exp(-apart) + noise**2 * jnp.eye(len(x))
    factor = jnp.linalg.cholesky(covariance)
    white = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
    return -0.5 * white @ white - jnp.log(jnp.diag(factor)).sum() - 0.5 * len(x) * jnp.log(2 * jnp.pi)


def lloyd(points, centres):
    """Ten iterations of k-means."""
    for _ in range(10):
        squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = squares.argmin(axis=1)
        members = np.arange(len(centres))[:, None] == nearest[None, :]
        counts = np.maximum(members.sum(axis=1), 1)
        centres = members.astype(float) @ points / counts[:, None]
    return centres, nearest


def lloyd_loops(points, centres):
    centres = centres.copy()
    nearest = np.zeros(len(points), dtype=np.int64)
    for _ in range(10):
        totals, counts = np.zeros_like(centres), np.zeros(len(centres))
        for i in range(len(points)):
            least = np.inf
            for k in range(len(centres)):
                square = 0.0
                for d in range(points.shape[1]):
                    square += (points[i, d] - centres[k, d]) ** 2
                if square < least:
                    least = square
                    nearest[i] = k
            counts[nearest[i]] += 1
            for d in range(points.shape[1]):
                totals[nearest[i], d] += points[i, d]
        for k in range(len(centres)):
            centres[k] = totals[k] / max(counts[k], 1)
    return centres, nearest


def lloyd_jax(points: Any, centres: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(state: Any, _: Any) -> Any:
        centres, _ = state
        nearest = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        members = jax.nn.one_hot(nearest, len(centres), axis=0)
        return (members @ points / jnp.maximum(members.sum(axis=1), 1)[:, None], nearest), None

    return jax.lax.scan(step, (centres, jnp.zeros(len(points), int)), length=10)[0]


def sinkhorn(a, b, cost):
    """Regularised transport (Cuturi 2013): fifty scalings, and what the plan costs."""
    kernel = np.exp(-cost / 0.1)
    u = np.ones_like(a)
    for _ in range(50):
        v = b / (kernel.T @ u)
        u = a / (kernel @ v)
    return (u[:, None] * kernel * v[None, :] * cost).sum()


def sinkhorn_jax(a: Any, b: Any, cost: Any) -> Any:
    import jax
    import jax.numpy as jnp

    kernel = jnp.exp(-cost / 0.1)

    def step(_: Any, pair: Any) -> Any:
        u, _ = pair
        v = b / (u @ kernel)
        return a / (kernel @ v), v

    u, v = jax.lax.fori_loop(0, 50, step, (jnp.ones_like(a), jnp.ones_like(b)))
    return u @ ((kernel * cost) @ v)


def recurrent(rng, n):
    size, inputs = 2 * n, n
    weights = rng.normal(size=(inputs, 3 * size)) / 4, rng.normal(size=(size, 3 * size)) / 6
    return rng.normal(size=(n + 8, n, inputs)), *weights, np.zeros(3 * size)


def layers(rng, n):
    weights = rng.normal(size=(n // 4, n // 2)) / 5, np.zeros(n // 2), rng.normal(size=(n // 2, 10)) / 5, np.zeros(10)
    return rng.normal(size=(n, n // 4)), rng.integers(0, 10, n), *weights


def tokens(rng, n):
    width = max(4, n // 2 // 4 * 4)
    return rng.normal(size=(n, width)), *rng.normal(size=(3, width, width)) / np.sqrt(width)


def labelled(rng, n):
    x = rng.normal(size=(n, 1 + n // 40))
    return x, (rng.random(n) < 0.5).astype(float)


def process(rng, n):
    x = np.sort(rng.uniform(0, 5, n))
    return x, np.sin(2 * x) + 0.1 * rng.normal(size=n), 0.7, 1.1, 0.2


def distributions(rng, n):
    a, b = rng.random(n), rng.random(n + 9)
    return a / a.sum(), b / b.sum(), rng.random((n, n + 9))


PROGRAMS = (
    Program(gated_network, gated_network_jax, recurrent, 24, 3, (0, 1, 2, 3)),
    Program(perceptron_step, perceptron_step_jax, layers, 256, 8, (0, 2, 3, 4, 5)),
    Program(causal_attention, causal_attention_jax, tokens, 128, 6, (0, 1, 2, 3)),
    Program(
        logistic_regression, logistic_regression_jax, lambda rng, n: (*labelled(rng, n), 0.3), 800, 12, (0, 1, 2)
    ),
    Program(
        newton_step, newton_step_jax, lambda rng, n: (*labelled(rng, n), 0.1 * rng.normal(size=1 + n // 40)),
        *(1200, 80, (0, 1, 2)),
    ),
    Program(gaussian_process, gaussian_process_jax, process, 150, 5, (0, 1, 2, 3, 4)),
    Program(
        lloyd, lloyd_jax, lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=(7, 3))), 1500, 12,
        loops=lloyd_loops,
    ),
    Program(sinkhorn, sinkhorn_jax, distributions, 120, 4, (0, 1, 2)),
)  # fmt: skip
