"""Kernels as users of JAX write them: `jax.numpy` and `jax.lax` in place of assignments and Python's loops.

Each returns what the kernel returns, and then the arguments that the kernel changes. Python's integers are static.
"""

from typing import Any


def jacobi_2d(u: Any, f: Any, h: Any, steps: int) -> Any:
    import jax
    import jax.numpy as jnp

    def step(_: Any, pair: Any) -> Any:
        old, _ = pair
        around = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
        return old.at[1:-1, 1:-1].set(0.25 * (around - h * h * f[1:-1, 1:-1])), old

    new, old = jax.lax.fori_loop(0, steps, step, (u, u))
    return new, jnp.abs(new - old).max()


def heat_3d(u: Any, kappa: Any, steps: int) -> Any:
    import jax

    def step(u: Any, _: Any) -> Any:
        core = u[1:-1, 1:-1, 1:-1]
        along_x = u[2:, 1:-1, 1:-1] - 2.0 * core + u[:-2, 1:-1, 1:-1]
        along_y = u[1:-1, 2:, 1:-1] - 2.0 * core + u[1:-1, :-2, 1:-1]
        along_z = u[1:-1, 1:-1, 2:] - 2.0 * core + u[1:-1, 1:-1, :-2]
        u = u.at[1:-1, 1:-1, 1:-1].set(core + kappa * (along_x + along_y + along_z))
        return u, u.sum()

    u, totals = jax.lax.scan(step, u, length=steps)
    return totals, u


def fdtd_2d(ez: Any, hx: Any, hy: Any, permittivity: Any, courant: Any, steps: int) -> Any:
    import jax
    import jax.numpy as jnp

    n, m = ez.shape

    def step(fields: Any, t: Any) -> Any:
        ez, hx, hy = fields
        hx = hx - courant * (ez[:, 1:] - ez[:, :-1])
        hy = hy + courant * (ez[1:, :] - ez[:-1, :])
        curl = (hy[1:, 1:-1] - hy[:-1, 1:-1]) - (hx[1:-1, 1:] - hx[1:-1, :-1])
        ez = ez.at[1:-1, 1:-1].add(courant * curl / permittivity[1:-1, 1:-1])
        ez = ez.at[n // 2, m // 2].add(jnp.sin(0.3 * t))
        return (ez, hx, hy), 0.5 * jnp.sum(permittivity * ez**2)

    fields, energy = jax.lax.scan(step, (ez, hx, hy), jnp.arange(steps))
    return energy, *fields


def horizontal_diffusion(field: Any, strength: Any) -> Any:
    import jax.numpy as jnp

    neighbours = field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    laplacian = neighbours - 4.0 * field[1:-1, 1:-1]
    flux_x = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    up_x = flux_x * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0
    flux_x = jnp.where(up_x, 0.0, flux_x)
    flux_y = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    up_y = flux_y * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0
    flux_y = jnp.where(up_y, 0.0, flux_y)
    out = flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1]
    return field.at[2:-2, 2:-2].add(-strength * out), jnp.count_nonzero(up_x) + jnp.count_nonzero(up_y)


def edit_distance(a: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    positions = jnp.arange(b.shape[0] + 1)

    def step(row: Any, letter: Any) -> Any:
        best = (row + 1).at[1:].min(row[:-1] + (b != letter))
        return jax.lax.cummin(best - positions) + positions, None

    return jax.lax.scan(step, positions, a)[0][-1]


def viterbi(start: Any, transition: Any, emission: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def forward(best: Any, emitted: Any) -> Any:
        ways = best[:, None] + transition
        return jnp.max(ways, axis=0) + emitted, jnp.argmax(ways, axis=0)

    best, origins = jax.lax.scan(forward, start + emission[0], emission[1:])
    last = jnp.argmax(best)
    first, path = jax.lax.scan(lambda state, origin: (origin[state], state), last, origins, reverse=True)
    return jnp.concatenate([first[None], path]), jnp.max(best)


def floyd_warshall(distance: Any) -> Any:
    import jax
    import jax.numpy as jnp

    n = distance.shape[0]
    shortest = jax.lax.fori_loop(0, n, lambda k, d: jnp.minimum(d, d[:, k, None] + d[k]), distance)
    reached = jnp.where(jnp.isinf(shortest), -1.0, shortest)
    far = jnp.argmax(reached)
    return reached.max(), far // n, far % n, shortest


def n_body(positions: Any, velocities: Any, masses: Any, softening: Any, dt: Any, steps: int) -> Any:
    import jax
    import jax.numpy as jnp

    def forces(x: Any) -> Any:
        apart = x[None, :, :] - x[:, None, :]
        squares = jnp.sum(apart**2, axis=2) + softening**2
        return jnp.sum(apart * (masses[None, :, None] * squares[:, :, None] ** -1.5), axis=1)

    def step(state: Any, _: Any) -> Any:
        x, v, acceleration = state
        v = v + 0.5 * dt * acceleration
        x = x + dt * v
        acceleration = forces(x)
        v = v + 0.5 * dt * acceleration
        apart = x[:, None, :] - x[None, :, :]
        potential = -masses[:, None] * masses / jnp.sqrt(jnp.sum(apart**2, axis=-1) + softening**2)
        energy = 0.5 * jnp.sum(masses[:, None] * v**2) + 0.5 * (potential.sum() - jnp.trace(potential))
        return (x, v, acceleration), energy

    (x, v, _), energy = jax.lax.scan(step, (positions, velocities, forces(positions)), length=steps)
    return x, v, energy


def mandelbrot(c: Any, most: int) -> Any:
    import jax
    import jax.numpy as jnp

    def inside(z: Any) -> Any:
        return z.real**2 + z.imag**2 <= 4.0

    def step(_: Any, state: Any) -> Any:
        z, counts = state
        stays = inside(z)
        return jnp.where(stays, z**2 + c, z), counts + stays

    z, counts = jax.lax.fori_loop(0, most, step, (jnp.zeros_like(c), jnp.zeros(c.shape, dtype=jnp.int64)))
    return counts, inside(z)


def julia(z: Any, c: Any, most: int) -> Any:
    import jax
    import jax.numpy as jnp

    def step(_: Any, state: Any) -> Any:
        z, counts, last = state
        inside = jnp.abs(z) <= 2.0
        z = jnp.where(inside, z * z + c, z)
        return z, counts + inside, jnp.where(inside, jnp.abs(z), last)

    _, counts, last = jax.lax.fori_loop(0, most, step, (z, jnp.zeros(z.shape), jnp.abs(z)))
    left = last > 2.0
    shade = jnp.log2(jnp.log2(jnp.where(left, last, 4.0)))
    return jnp.where(left, counts + 1.0 - shade, counts)


def soft_k_means(points: Any, centres: Any, stiffness: Any, rounds: int) -> Any:
    import jax
    import jax.numpy as jnp

    def step(_: Any, state: Any) -> Any:
        squares = jnp.sum((points[:, None] - state[0]) ** 2, axis=-1)
        shares = jax.nn.softmax(-stiffness * squares, axis=1)
        return (shares.T @ points) / shares.sum(axis=0)[:, None], shares

    shares = jnp.zeros((points.shape[0], centres.shape[0]), dtype=points.dtype)
    return jax.lax.fori_loop(0, rounds, step, (centres, shares))


def conv2d(images: Any, filters: Any, bias: Any) -> Any:
    import jax

    layout = ("NHWC", "HWIO", "NHWC")
    result = jax.lax.conv_general_dilated(images, filters, (1, 1), "VALID", dimension_numbers=layout)
    return jax.nn.relu(result + bias)


def stockham_batched(x: Any, stages: int) -> Any:
    import jax.numpy as jnp
    import numpy as np

    n, y = x.shape[1], x
    pair = np.arange(n // 2)
    for stage in range(stages):
        stride = 2**stage
        p, q = pair // stride, pair % stride
        a, b = y[:, q + stride * p], y[:, q + stride * p + n // 2]
        both = jnp.stack([a + b, (a - b) * np.exp(-2j * np.pi * p * stride / n)], axis=1)
        y = both.reshape(-1, 2, n // 2 // stride, stride).swapaxes(1, 2).reshape(-1, n)
    return y


def coo_dense(data: Any, rows: Any, columns: Any, b: Any, size: int) -> Any:
    import jax.numpy as jnp

    product = jnp.zeros((size, b.shape[1])).at[rows].add(data[:, None] * b[columns])
    sums = jnp.zeros(b.shape[0]).at[columns].add(jnp.abs(data))
    return product, sums, sums.max()


def resolvent_trace(a: Any, centre: Any, radius: Any, points: int) -> Any:
    import jax.numpy as jnp

    directions = jnp.exp(2j * jnp.pi * (jnp.arange(points) + 0.5) / points)
    z = centre + radius * directions
    resolvent = jnp.linalg.inv(z[:, None, None] * jnp.eye(a.shape[0]) - a)
    integral = jnp.mean(jnp.trace(resolvent, axis1=1, axis2=2) * radius * directions)
    return integral.real, jnp.abs(resolvent).max(axis=(1, 2))


def cauchy_derivatives(coefficients: Any, centres: Any, radius: Any, points: int, order: int) -> Any:
    import math

    import jax.numpy as jnp

    directions = jnp.exp(2j * jnp.pi * jnp.arange(points) / points)
    z = centres[:, None] + radius * directions
    value = jnp.polyval(coefficients, z) * jnp.exp(z)
    return math.factorial(order) / radius**order * jnp.mean(value * directions**-order, axis=1)


def vertical_advection(field: Any, wind: Any, dt: Any, dz: Any) -> Any:
    import jax
    import jax.numpy as jnp

    rate = 0.25 * dt / dz * wind
    known = field[1:-1] - rate[1:-1] * (field[2:] - field[:-2])

    def down(before: Any, level: Any) -> Any:
        rate, known = level
        pivot = 1.0 + rate * before[0]
        found = rate / pivot, (known + rate * before[1]) / pivot
        return found, found

    def up(above: Any, level: Any) -> Any:
        found = level[1] - level[0] * above
        return found, found

    _, levels = jax.lax.scan(down, (jnp.zeros_like(field[0]), field[0]), (rate[1:-1], known))
    _, inner = jax.lax.scan(up, field[-1], levels, reverse=True)
    return jnp.concatenate([field[:1], inner, field[-1:]])


VERSIONS = {
    version.__name__: version
    for version in (
        jacobi_2d,
        heat_3d,
        fdtd_2d,
        horizontal_diffusion,
        edit_distance,
        viterbi,
        floyd_warshall,
        n_body,
        mandelbrot,
        julia,
        soft_k_means,
        conv2d,
        stockham_batched,
        coo_dense,
        resolvent_trace,
        cauchy_derivatives,
        vertical_advection,
    )
}
