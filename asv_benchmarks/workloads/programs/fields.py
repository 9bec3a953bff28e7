"""Programs that step fields and bodies through time: waves, heat, flow, orbits, epidemics, cells."""

from typing import Any

import numpy as np

from .base import Program


def plucked_string(u, speed):
    """A damped wave equation in one dimension, two hundred steps, ends held."""
    before = u.copy()
    for _ in range(200):
        after = np.zeros_like(u)
        bend = u[2:] - 2 * u[1:-1] + u[:-2]
        after[1:-1] = 1.995 * u[1:-1] - 0.995 * before[1:-1] + speed[1:-1] ** 2 * bend
        before, u = u, after
    return u


def plucked_string_jax(u: Any, speed: Any) -> Any:
    import jax
    import jax.numpy as jnp

    squares = speed[1:-1] ** 2

    def step(_: Any, pair: Any) -> Any:
        before, u = pair
        bend = u[2:] - 2 * u[1:-1] + u[:-2]
        return u, jnp.pad(1.995 * u[1:-1] - 0.995 * before[1:-1] + squares * bend, 1)

    return jax.lax.fori_loop(0, 200, step, (u, u))[1]


def membrane(u, depth):
    """Waves over a varying depth in two dimensions: fifty steps, in place."""
    u = u.copy()
    rate = np.zeros_like(u)
    for _ in range(50):
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        rate[1:-1, 1:-1] += 0.2 * depth[1:-1, 1:-1] * lap
        u[1:-1, 1:-1] += rate[1:-1, 1:-1]
        u[:, 0] = u[:, 1]
        u[:, -1] = u[:, -2]
    return u


def membrane_jax(u: Any, depth: Any) -> Any:
    import jax
    import jax.numpy as jnp

    inner = 0.2 * depth[1:-1, 1:-1]

    def step(_: Any, pair: Any) -> Any:
        u, rate = pair
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        rate = rate + inner * lap
        u = u.at[1:-1, 1:-1].add(rate)
        return u.at[:, 0].set(u[:, 1]).at[:, -1].set(u[:, -2]), rate

    return jax.lax.fori_loop(0, 50, step, (u, jnp.zeros_like(inner)))[0]


def hot_plate(u, conductivity):
    """Heat with a conductivity between cells, forty explicit steps."""
    along_x = 0.5 * (conductivity[1:, 1:-1] + conductivity[:-1, 1:-1])
    along_y = 0.5 * (conductivity[1:-1, 1:] + conductivity[1:-1, :-1])
    u = u.copy()
    for _ in range(40):
        flux_x = along_x * (u[1:, 1:-1] - u[:-1, 1:-1])
        flux_y = along_y * (u[1:-1, 1:] - u[1:-1, :-1])
        u[1:-1, 1:-1] += 0.2 * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])
    return u


def hot_plate_jax(u: Any, conductivity: Any) -> Any:
    import jax

    along_x = 0.5 * (conductivity[1:, 1:-1] + conductivity[:-1, 1:-1])
    along_y = 0.5 * (conductivity[1:-1, 1:] + conductivity[1:-1, :-1])

    def step(_: Any, u: Any) -> Any:
        flux_x = along_x * (u[1:, 1:-1] - u[:-1, 1:-1])
        flux_y = along_y * (u[1:-1, 1:] - u[1:-1, :-1])
        return u.at[1:-1, 1:-1].add(0.2 * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1]))

    return jax.lax.fori_loop(0, 40, step, u)


def over_relaxation(u, source):
    """Gauss and Seidel's sweeps with over-relaxation, site by site."""
    u = u.copy()
    n, m = u.shape
    for _ in range(10):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] += 1.5 * (0.25 * (around - source[i, j]) - u[i, j])
    return u


def over_relaxation_jax(u: Any, source: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def site(left: Any, given: Any) -> Any:
        old, known = given
        new = -0.5 * old + 0.375 * (known + left)
        return new, new

    def row(above: Any, given: Any) -> Any:
        old, below, sources = given
        known = above[1:-1] + below[1:-1] + old[2:] - sources[1:-1]
        _, inner = jax.lax.scan(site, old[0], (old[1:-1], known), unroll=8)
        new = jnp.concatenate([old[:1], inner, old[-1:]])
        return new, new

    def sweep(_: Any, u: Any) -> Any:
        _, rows = jax.lax.scan(row, u[0], (u[1:-1], u[2:], source[1:-1]))
        return jnp.concatenate([u[:1], rows, u[-1:]])

    return jax.lax.fori_loop(0, 10, sweep, u)


def alternating_directions(u, r):
    """Peaceman and Rachford's method (1955) for heat on a square: half steps implicit along each axis, each by
    Thomas's algorithm for all lines at once."""
    n = len(u)
    for _ in range(5):
        for _ in range(2):
            right = (1 - 2 * r) * u
            right[:, 1:] += r * u[:, :-1]
            right[:, :-1] += r * u[:, 1:]
            ratios = np.zeros(n)
            for i in range(n):
                above = ratios[i - 1] if i > 0 else 0.0
                pivot = 1 + 2 * r - r * above
                ratios[i] = r / pivot
                if i > 0:
                    right[i] = (right[i] + r * right[i - 1]) / pivot
                else:
                    right[i] = right[i] / pivot
            for i in range(n - 2, -1, -1):
                right[i] = right[i] + ratios[i] * right[i + 1]
            u = right.T.copy()
    return u


def alternating_directions_jax(u: Any, r: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def down(carry: Any, row: Any) -> Any:
        ratio, above = carry
        pivot = 1 + 2 * r - r * ratio
        new = r / pivot, (row + r * above) / pivot
        return new, new

    def up(below: Any, given: Any) -> Any:
        ratio, row = given
        new = row + ratio * below
        return new, new

    def half(_: Any, u: Any) -> Any:
        right = ((1 - 2 * r) * u).at[:, 1:].add(r * u[:, :-1]).at[:, :-1].add(r * u[:, 1:])
        zero = jnp.zeros_like(u[0])
        _, levels = jax.lax.scan(down, (0.0 * r, zero), right)
        return jax.lax.scan(up, zero, levels, reverse=True)[1].T

    return jax.lax.fori_loop(0, 10, half, u)


def upwind(q, velocity):
    """A tracer carried by a flow that changes its direction, with first-order fluxes; fifty steps on a ring."""
    total = 0.0
    for _ in range(50):
        left, right = np.roll(q, 1), np.roll(q, -1)
        flux_in = np.where(velocity > 0, velocity * left, velocity * q)
        flux_out = np.where(velocity > 0, velocity * q, velocity * right)
        q = q - 0.4 * (flux_out - flux_in)
        total += q.max()
    return q, total


def upwind_jax(q: Any, velocity: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(q: Any, _: Any) -> Any:
        left, right = jnp.roll(q, 1), jnp.roll(q, -1)
        rises = velocity > 0
        q = q - 0.4 * velocity * jnp.where(rises, q - left, right - q)
        return q, q.max()

    q, most = jax.lax.scan(step, q, length=50)
    return q, most.sum()


def life(cells):
    """Conway's game on a torus, thirty generations."""
    for _ in range(30):
        around = np.zeros_like(cells)
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di or dj:
                    around += np.roll(np.roll(cells, di, axis=0), dj, axis=1)
        cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype)
    return cells


def life_jax(cells: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(_: Any, cells: Any) -> Any:
        rows = cells + jnp.roll(cells, 1, axis=0) + jnp.roll(cells, -1, axis=0)
        around = rows + jnp.roll(rows, 1, axis=1) + jnp.roll(rows, -1, axis=1) - cells
        return ((around == 3) | ((cells == 1) & (around == 2))).astype(cells.dtype)

    return jax.lax.fori_loop(0, 30, step, cells)


def plate(rng, n):
    return rng.random((n, n)), 0.5 + 0.5 * rng.random((n, n))


PROGRAMS = (
    Program(plucked_string, plucked_string_jax, lambda rng, n: (rng.normal(size=n), rng.random(n)), 1000, 7, (0, 1)),
    Program(membrane, membrane_jax, plate, 120, 6, (0, 1)),
    Program(hot_plate, hot_plate_jax, plate, 150, 6, (0, 1)),
    Program(over_relaxation, over_relaxation_jax, plate, 100, 6, (0, 1)),
    Program(
        alternating_directions, alternating_directions_jax, lambda rng, n: (rng.random((n, n)), 0.4), 100, 5, (0, 1)
    ),
    Program(upwind, upwind_jax, lambda rng, n: (rng.random(n), rng.normal(size=n)), 2000, 7, (0, 1)),
    Program(life, life_jax, lambda rng, n: (rng.integers(0, 2, (n, n)).astype(np.int32),), 100, 5),
)
