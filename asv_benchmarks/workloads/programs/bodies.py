"""Programs of few numbers and many steps: orbits, a ball, an epidemic, escaping points."""

from typing import Any

import numpy as np

from .base import Program


def moons(x, v, masses):
    """Bodies under gravity, thirty steps of Störmer and Verlet's method."""
    dt = 0.01
    for _ in range(30):
        x = x + 0.5 * dt * v
        apart = x[:, None, :] - x[None, :, :]
        squares = (apart**2).sum(axis=-1) + 0.01
        pulls = masses[None, :] / (squares * np.sqrt(squares))
        v = v - dt * (pulls[:, :, None] * apart).sum(axis=1)
        x = x + 0.5 * dt * v
    return x, v


def moons_loops(x, v, masses):
    x, v = x.copy(), v.copy()
    dt = 0.01
    for _ in range(30):
        x += 0.5 * dt * v
        for i in range(len(x)):
            ax = ay = az = 0.0
            for j in range(len(x)):
                dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
                square = dx * dx + dy * dy + dz * dz + 0.01
                pull = masses[j] / (square * np.sqrt(square))
                ax += pull * dx
                ay += pull * dy
                az += pull * dz
            v[i, 0] -= dt * ax
            v[i, 1] -= dt * ay
            v[i, 2] -= dt * az
        x += 0.5 * dt * v
    return x, v


def moons_jax(x: Any, v: Any, masses: Any) -> Any:
    import jax
    import jax.numpy as jnp

    dt = 0.01

    def step(_: Any, state: Any) -> Any:
        x, v = state
        x = x + 0.5 * dt * v
        apart = x[:, None, :] - x[None, :, :]
        squares = (apart**2).sum(axis=-1) + 0.01
        pulls = masses[None, :] / (squares * jnp.sqrt(squares))
        v = v - dt * jnp.einsum("ij,ijk->ik", pulls, apart)
        return x + 0.5 * dt * v, v

    return jax.lax.fori_loop(0, 30, step, (x, v))


def bouncing_ball(height, speed, restitution, steps):
    """A ball on the ground: where it is after each step, and how often it bounced."""
    heights = np.zeros(steps)
    bounces = 0
    for i in range(steps):
        speed -= 9.81e-3
        height += 1e-3 * speed
        if height < 0.0:
            height = -restitution * height
            speed = -restitution * speed
            bounces += 1
        heights[i] = height
    return heights, bounces


def bouncing_ball_jax(height: Any, speed: Any, restitution: Any, steps: int) -> Any:
    import jax
    import jax.numpy as jnp

    def step(state: Any, _: Any) -> Any:
        height, speed, bounces = state
        speed = speed - 9.81e-3
        height = height + 1e-3 * speed
        hit = height < 0.0
        height = jnp.where(hit, -restitution * height, height)
        speed = jnp.where(hit, -restitution * speed, speed)
        return (height, speed, bounces + hit), height

    (_, _, bounces), heights = jax.lax.scan(step, (height, speed, 0), length=steps)
    return heights, bounces


def epidemic(susceptible, infected, contacts, rate, recovery):
    """Infections among groups that meet each other, by Heun's method; all that were ever infected."""
    recovered = np.zeros_like(infected)
    dt = 0.1
    for _ in range(400):
        force = rate * (contacts @ infected)
        new, healed = force * susceptible, recovery * infected
        s, i = susceptible - dt * new, infected + dt * (new - healed)
        later, healing = rate * (contacts @ i) * s, recovery * i
        susceptible = susceptible - 0.5 * dt * (new + later)
        infected = infected + 0.5 * dt * (new + later - healed - healing)
        recovered = recovered + 0.5 * dt * (healed + healing)
    return recovered + infected


def epidemic_jax(susceptible: Any, infected: Any, contacts: Any, rate: Any, recovery: Any) -> Any:
    import jax
    import jax.numpy as jnp

    dt = 0.1

    def flows(s: Any, i: Any) -> Any:
        return rate * (contacts @ i) * s, recovery * i

    def step(_: Any, state: Any) -> Any:
        s, i, r = state
        new, healed = flows(s, i)
        later, healing = flows(s - dt * new, i + dt * (new - healed))
        new, healed = 0.5 * dt * (new + later), 0.5 * dt * (healed + healing)
        return s - new, i + new - healed, r + healed

    _, infected, recovered = jax.lax.fori_loop(0, 400, step, (susceptible, infected, jnp.zeros_like(infected)))
    return recovered + infected


def burning_ship(x, y):
    """Michelitsch and Rössler's variant of Mandelbrot's set (1992): after how many of forty steps each point leaves."""
    c = x[None, :] + 1j * y[:, None]
    z = np.zeros_like(c)
    steps = np.zeros(c.shape, dtype=np.int64)
    for _ in range(40):
        z = (np.abs(z.real) + 1j * np.abs(z.imag)) ** 2 + c
        inside = z.real**2 + z.imag**2 < 4.0
        z = np.where(inside, z, 2.0)
        steps += inside
    return steps


def burning_ship_loops(x, y):
    steps = np.zeros((len(y), len(x)), dtype=np.int64)
    for i in range(len(y)):
        for j in range(len(x)):
            real = imaginary = 0.0
            for _ in range(40):
                real, imaginary = real * real - imaginary * imaginary + x[j], 2 * abs(real * imaginary) + y[i]
                if real * real + imaginary * imaginary < 4.0:
                    steps[i, j] += 1
                else:
                    real, imaginary = 2.0, 0.0
    return steps


def burning_ship_jax(x: Any, y: Any) -> Any:
    import jax
    import jax.numpy as jnp

    shape = (len(y), len(x))

    def step(_: Any, state: Any) -> Any:
        real, imaginary, steps = state
        real, imaginary = real**2 - imaginary**2 + x[None, :], 2 * jnp.abs(real * imaginary) + y[:, None]
        inside = real**2 + imaginary**2 < 4.0
        return jnp.where(inside, real, 2.0), jnp.where(inside, imaginary, 0.0), steps + inside

    start = jnp.zeros(shape), jnp.zeros(shape), jnp.zeros(shape, int)
    return jax.lax.fori_loop(0, 40, step, start)[2]


def groups(rng, n):
    contacts = rng.random((n, n))
    return np.full(n, 0.99), 0.01 * rng.random(n), contacts / contacts.sum(axis=1, keepdims=True), 0.4, 0.1


PROGRAMS = (
    Program(
        moons, moons_jax, lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.random(n)),
        *(48, 4, (0, 1, 2), moons_loops),
    ),
    Program(bouncing_ball, bouncing_ball_jax, lambda rng, n: (1.0, 0.0, 0.9, n), 20_000, 12),
    Program(epidemic, epidemic_jax, groups, 16, 3, (0, 1, 2, 3, 4)),
    Program(
        burning_ship, burning_ship_jax, lambda rng, n: (np.linspace(-2.2, 1.3, n), np.linspace(-1.9, 0.9, n + 3)),
        *(160, 5),
        loops=burning_ship_loops,
    ),
)  # fmt: skip
