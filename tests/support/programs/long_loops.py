"""Programs with loops of many steps whose number is a constant of the program."""

import math

import numpy as np

from tests.support.programs.declared import gives

X = np.sin(np.arange(1.0, 31.0))
SQUARE = np.cos(np.arange(144.0)).reshape(12, 12)


@gives(X, 0.1)
def diffusion(u, c):
    u = u.copy()
    for _ in range(100):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@gives(np.outer(X[:12], X[8:20]), 0.1)
def membrane(u, c):
    v = np.zeros_like(u)
    for _ in range(30):
        bent = np.zeros_like(u)
        bent[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        v = v + c * bent
        u = u + v
    return u


@gives(X, 0.1)
def string(u, c):
    before = now = u
    for _ in range(40):
        after = 2 * now - before
        after[1:-1] += c * (now[2:] - 2 * now[1:-1] + now[:-2])
        after[0] = 0
        before, now = now, after
    return now, before


@gives(SQUARE @ SQUARE.T + 12 * np.eye(12))
def factor(a):
    a = a.copy()
    for k in range(12):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        for j in range(k + 1, 12):
            a[j:, j] -= a[j:, k] * a[j, k]
    return np.tril(a)


@gives(np.abs(SQUARE[:4, :4]), np.abs(SQUARE.reshape(36, 4)))
def likelihood(moves, emissions):
    state, total = emissions[0], 0.0
    for t in range(1, 36):
        state = (state @ moves) * emissions[t]
        norm = state.sum()
        state, total = state / norm, total + np.log(norm)
    return total


@gives(100.0, 95.0, 0.05, 0.2, 1.0)
def american_put(spot, strike, rate, volatility, years):
    steps = 24
    dt = years / steps
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    value = np.maximum(strike - spot * up ** np.arange(-steps, steps + 1, 2.0), 0)
    for i in range(steps - 1, -1, -1):
        value[: i + 1] = np.exp(-rate * dt) * (p * value[1 : i + 2] + (1 - p) * value[: i + 1])
        value[: i + 1] = np.maximum(value[: i + 1], strike - spot * up ** np.arange(-i, i + 1, 2.0))
    return value[0]


def slopes(state, p):
    x, y, z = state
    return np.array([p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z])


@gives(np.ones(3), np.array([10.0, 28.0, 8 / 3]))
def attractor(state, p):
    path = []
    for _ in range(40):
        first = slopes(state, p)
        second = slopes(state + 0.005 * first, p)
        third = slopes(state + 0.005 * second, p)
        state = state + 0.01 / 6 * (first + 2 * second + 2 * third + slopes(state + 0.01 * third, p))
        path.append(state)
    return np.array(path)


@gives(X)
def parity(x):
    total = np.zeros_like(x)
    for k in range(40):
        total = total + np.sin(k * x) if k % 2 == 0 else total - 0.5 * np.cos(k * x)
    return total


@gives(X)
def comprehended(x):
    return np.array([np.sum(np.sin(x * k)) + np.cos(k * x[0]) for k in range(40)])


@gives(X)
def folded(x):
    return sum(np.sum(np.sin(x * k)) * 0.1 + np.cos(k * x[0]) for k in range(40))


@gives(X)
def zipped(x):
    total = 0.0
    for a, b in zip(range(30), np.linspace(0, 1, 30), strict=True):
        total = total + np.sum(np.sin(a * x + b)) * np.exp(-b)
    return total


@gives(X)
def enumerated(x):
    total = np.zeros_like(x)
    for i, c in enumerate([0.1 * k for k in range(30)]):
        total = total * 0.9 + np.sin(i * x) * c + np.cos(x)
    return total


@gives(X)
def backwards(x):
    x = x.copy()
    for k in reversed(range(29)):
        x[k] = x[k] + 0.5 * np.sin(x[k + 1]) + np.cos(x[k])
    return x


@gives(X)
def counted(x):
    k = 0
    while k < 50:
        x = x + 0.1 * np.sin(x) * np.cos(0.1 * k)
        k += 1
    return x, k


@gives(SQUARE)
def neighbours(u):
    u = u.copy()
    for i in range(1, 11):
        for j in range(1, 11):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


@gives(X)
def stacked(x):
    rows = []
    for k in range(30):
        x = np.tanh(x) * 1.1 + 0.1 * k
        rows.append(x)
    return np.stack(rows).sum(axis=0) + np.concatenate(rows).mean()


@gives(X)
def followed(x):
    y = [x[0], x[1]]
    for t in range(2, 30):
        y.append(0.5 * y[t - 1] - 0.2 * y[t - 2] + np.sin(x[t]))
    return np.array(y)


# ---- what needs the number of a step while it is traced: step by step ----


@gives(X)
def series(x):
    total = np.zeros_like(x)
    for k in range(30):
        total = total + x**k / math.factorial(k)
    return total


@gives(X)
def by_axes(x):
    cube, total = x.reshape(5, 3, 2), 0.0
    for k in range(12):
        total = total + np.sum(np.sum(cube, axis=k % 3) ** 2) * np.sin(np.mean(cube) + k)
    return total


@gives(X)
def by_names(x):
    functions = {f"f{k}": function for k, function in enumerate([np.sin, np.cos, np.tanh] * 4)}
    for k in range(12):
        x = functions[f"f{k}"](x) + 0.1 * x * np.cos(x) - np.mean(x)
        x = x * 0.9 + x.sum() * 0.01
    return x


@gives([np.full((2 + k % 2, 2 + (k + 1) % 2), 0.3) for k in range(12)], np.ones(3))
def layers(weights, x):
    for each in weights:
        x = np.tanh(each @ x) * 0.9
        x = x - np.mean(x) + 0.1 * x**2
    return x
