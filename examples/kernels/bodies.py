"""Bodies that attract each other, by the leapfrog method (Hairer, Lubich and Wanner, Geometric Numerical Integration,
section I.1)."""

import math

import numpy as np


def accelerations(positions, masses, softening):
    """Newton's law for all pairs, softened near zero: ``sum_j m_j (x_j - x_i) / (r_ij**2 + softening**2)**1.5``."""
    apart = positions[None, :, :] - positions[:, None, :]
    squares = np.sum(apart**2, axis=2) + softening**2
    return np.sum(apart * (masses[None, :, None] * squares[:, :, None] ** -1.5), axis=1)


def n_body(positions, velocities, masses, softening, dt, steps):
    """Kick, drift, kick with all pairs at once. Gives positions, velocities, and the energy after each step."""
    x = positions.copy()
    v = velocities.copy()
    energy = np.zeros(steps)
    acceleration = accelerations(x, masses, softening)
    for t in range(steps):
        v += 0.5 * dt * acceleration
        x += dt * v
        acceleration = accelerations(x, masses, softening)
        v += 0.5 * dt * acceleration
        apart = x[:, None, :] - x[None, :, :]
        potential = -masses[:, None] * masses / np.sqrt(np.sum(apart**2, axis=-1) + softening**2)
        energy[t] = 0.5 * np.sum(masses[:, None] * v**2) + 0.5 * (potential.sum() - np.trace(potential))
    return x, v, energy


def n_body_loops(x, v, masses, softening, dt, steps):
    """The same pair by pair, each pair once, in ``x`` and ``v`` themselves. Gives the energy at the end."""
    n = x.shape[0]
    force = np.zeros((n, 3))
    for step in range(steps + 1):
        for i in range(n):
            for c in range(3):
                force[i, c] = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                square = dx * dx + dy * dy + dz * dz + softening * softening
                scale = 1.0 / (square * math.sqrt(square))
                for c, d in enumerate((dx, dy, dz)):
                    force[i, c] += masses[j] * scale * d
                    force[j, c] -= masses[i] * scale * d
        kick = 0.5 * dt if step == 0 or step == steps else dt
        for i in range(n):
            for c in range(3):
                v[i, c] += kick * force[i, c]
                if step < steps:
                    x[i, c] += dt * v[i, c]
    energy = 0.0
    for i in range(n):
        energy += 0.5 * masses[i] * (v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
        for j in range(i):
            square = (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2
            energy -= masses[i] * masses[j] / math.sqrt(square + softening**2)
    return energy


def _cloud(rng, n, steps):
    return rng.normal(size=(n, 3)), 0.1 * rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, size=n), 0.1, 0.001, steps


INPUTS = {
    n_body: (lambda rng, n: _cloud(rng, n, 5), (6, 9, 50, 400)),
    n_body_loops: (lambda rng, n: _cloud(rng, n, 5), (6, 9, 50, 200)),
}
