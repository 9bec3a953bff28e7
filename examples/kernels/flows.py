"""Incompressible flows in two dimensions by Chorin's projection: velocities first without pressure, then the pressure
that makes them free of divergence (Chorin 1968; Ferziger, Peric and Street, Computational Methods for Fluid Dynamics,
chapter 8)."""

import numpy as np


def cavity_flow(u, v, p, dx, dt, viscosity, steps, sweeps):
    """A box whose lid moves with speed 1: velocities ``u`` and ``v`` and pressure ``p`` are changed in place.

    The first axis is the height. Central differences; Jacobi sweeps for the pressure. Gives the kinetic energy after
    each step.
    """
    energy = np.zeros(steps)
    for t in range(steps):
        old_u, old_v = u.copy(), v.copy()
        inner_u, inner_v = old_u[1:-1, 1:-1], old_v[1:-1, 1:-1]
        for new, old in ((u, old_u), (v, old_v)):
            along = (old[1:-1, 2:] - old[1:-1, :-2]) / (2 * dx)
            across = (old[2:, 1:-1] - old[:-2, 1:-1]) / (2 * dx)
            spread = old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1] - 4 * old[1:-1, 1:-1]
            new[1:-1, 1:-1] += dt * (viscosity * spread / dx**2 - inner_u * along - inner_v * across)
        divergence = (u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx)
        for _ in range(sweeps):
            around = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]
            p[1:-1, 1:-1] = 0.25 * (around - dx**2 * divergence / dt)
            p[:, 0] = p[:, 1]
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[-1, :] = 0.0
        u[1:-1, 1:-1] -= dt * (p[1:-1, 2:] - p[1:-1, :-2]) / (2 * dx)
        v[1:-1, 1:-1] -= dt * (p[2:, 1:-1] - p[:-2, 1:-1]) / (2 * dx)
        u[-1, :] = 1.0
        energy[t] = 0.5 * np.sum(u**2 + v**2) * dx**2
    return energy


def cavity_vorticity_loops(stream, vorticity, dx, dt, viscosity, steps, sweeps):
    """The same box by stream function and vorticity, ``laplacian(stream) = -vorticity`` (Ferziger, section 8.3).

    Thom's formula gives the vorticity at walls; Gauss's and Seidel's sweeps the stream function. Both are changed in
    place. Gives the smallest stream function and where it is.
    """
    n, m = stream.shape
    new = vorticity.copy()
    for _ in range(steps):
        for _ in range(sweeps):
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    around = stream[i - 1, j] + stream[i + 1, j] + stream[i, j - 1] + stream[i, j + 1]
                    stream[i, j] = 0.25 * (around + dx * dx * vorticity[i, j])
        for j in range(m):
            vorticity[0, j] = -2.0 * stream[1, j] / (dx * dx)
            vorticity[n - 1, j] = -2.0 * stream[n - 2, j] / (dx * dx) - 2.0 / dx
        for i in range(n):
            vorticity[i, 0] = -2.0 * stream[i, 1] / (dx * dx)
            vorticity[i, m - 1] = -2.0 * stream[i, m - 2] / (dx * dx)
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u = (stream[i + 1, j] - stream[i - 1, j]) / (2 * dx)
                v = -(stream[i, j + 1] - stream[i, j - 1]) / (2 * dx)
                along = (vorticity[i, j + 1] - vorticity[i, j - 1]) / (2 * dx)
                across = (vorticity[i + 1, j] - vorticity[i - 1, j]) / (2 * dx)
                around = vorticity[i - 1, j] + vorticity[i + 1, j] + vorticity[i, j - 1] + vorticity[i, j + 1]
                spread = (around - 4 * vorticity[i, j]) / (dx * dx)
                new[i, j] = vorticity[i, j] + dt * (viscosity * spread - u * along - v * across)
        vorticity[1:-1, 1:-1] = new[1:-1, 1:-1]
    lowest, place = np.inf, (0, 0)
    for i in range(n):
        for j in range(m):
            if stream[i, j] < lowest:
                lowest, place = stream[i, j], (i, j)
    return lowest, place


def channel_flow(u, v, p, dx, dt, viscosity, force, sweeps, tolerance, most):
    """A periodic channel that a force drives, until the mean speed grows by less than ``tolerance`` in a step.

    The first axis is the height, with walls; the second is periodic. Gives velocities, pressure and the steps.
    """

    def slope(f):
        return (np.roll(f, -1, axis=1) - np.roll(f, 1, axis=1))[1:-1] / (2 * dx)

    def rise(f):
        return (f[2:] - f[:-2]) / (2 * dx)

    def spread(f):
        return (np.roll(f, -1, axis=1) + np.roll(f, 1, axis=1))[1:-1] + f[2:] + f[:-2] - 4 * f[1:-1]

    u, v, p = u.copy(), v.copy(), p.copy()
    growth = tolerance + 1.0
    count = 0
    while growth > tolerance and count < most:
        before = u.sum()
        next_u = u[1:-1] + dt * (viscosity * spread(u) / dx**2 - u[1:-1] * slope(u) - v[1:-1] * rise(u) + force)
        next_v = v[1:-1] + dt * (viscosity * spread(v) / dx**2 - u[1:-1] * slope(v) - v[1:-1] * rise(v))
        u[1:-1] = next_u
        v[1:-1] = next_v
        divergence = slope(u) + rise(v)
        for _ in range(sweeps):
            p[1:-1] = 0.25 * (spread(p) + 4 * p[1:-1] - dx**2 * divergence / dt)
            p[0] = p[1]
            p[-1] = p[-2]
        u[1:-1] -= dt * slope(p)
        v[1:-1] -= dt * rise(p)
        growth = (u.sum() - before) / u.sum()
        count += 1
    return u, v, p, count


def _box(rng, n):
    return *0.01 * rng.normal(size=(3, n, n + 1)), 1.0 / n, 0.1 / n, 0.1 / n, 5, 10


def _channel(rng, n):
    return *0.01 * rng.normal(size=(3, n, n + 1)), 1.0 / n, 0.1 / n, 0.1 / n, 1.0, 10, 0.05, 30


INPUTS = {
    cavity_flow: (_box, (8, 11, 60, 200)),
    cavity_vorticity_loops: (lambda rng, n: (*_box(rng, n)[1:6], 3, 5), (8, 11, 40, 120)),
    channel_flow: (_channel, (8, 11, 60, 200)),
}
