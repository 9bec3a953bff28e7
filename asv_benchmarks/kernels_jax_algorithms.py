"""More kernels as users of JAX write them: factorisations, flows, sums into bins, checksums.

What is computed row by row there, or of ever shorter rows, is of whole rows under a mask here: lengths are static.
"""

from typing import Any


def forward_substitution(lower: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(i: Any, x: Any) -> Any:
        return x.at[i].set((b[i] - lower[i] @ x) / lower[i, i])

    x = jax.lax.fori_loop(0, b.shape[0], step, jnp.zeros_like(b))
    return x, jnp.max(jnp.abs(lower @ x - b))


def back_substitution(upper: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    n = b.shape[0]
    rows = jnp.arange(n)

    def step(number: Any, x: Any) -> Any:
        i = n - 1 - number
        found = x[i] / upper[i, i]
        return jnp.where(rows < i, x - upper[:, i] * found, x).at[i].set(found)

    pivots = jnp.abs(jnp.diag(upper))
    return jax.lax.fori_loop(0, n, step, b), pivots > jnp.abs(upper).sum(axis=1) - pivots


def lu(a: Any) -> Any:
    import jax
    import jax.numpy as jnp

    rows = jnp.arange(a.shape[0])

    def step(k: Any, a: Any) -> Any:
        below = rows > k
        factors = jnp.where(below, a[:, k] / a[k, k], 0.0)
        rest = a - jnp.outer(factors, jnp.where(below, a[k], 0.0))
        return rest.at[:, k].set(jnp.where(below, factors, a[:, k]))

    a = jax.lax.fori_loop(0, a.shape[0] - 1, step, a)
    pivots = jnp.diag(a)
    return jnp.sum(jnp.log(jnp.abs(pivots))), 1 - 2 * (jnp.sum(pivots < 0) % 2), a


def cholesky(a: Any) -> Any:
    import jax
    import jax.numpy as jnp

    rows = jnp.arange(a.shape[0])

    def step(j: Any, lower: Any) -> Any:
        column = a[:, j] - lower @ lower[j]
        return lower.at[:, j].set(jnp.where(rows >= j, column / jnp.sqrt(column[j]), 0.0))

    lower = jax.lax.fori_loop(0, a.shape[0], step, jnp.zeros_like(a))
    return lower, 2.0 * jnp.sum(jnp.log(jnp.diag(lower)))


def gram_schmidt(a: Any) -> Any:
    import jax
    import jax.numpy as jnp

    columns = jnp.arange(a.shape[1])

    def step(k: Any, factors: Any) -> Any:
        q, r = factors
        length = jnp.sqrt(jnp.sum(q[:, k] ** 2))
        column = q[:, k] / length
        row = jnp.where(columns > k, column @ q, 0.0)
        return (q - jnp.outer(column, row)).at[:, k].set(column), r.at[k].set(row.at[k].set(length))

    return jax.lax.fori_loop(0, a.shape[1], step, (a, jnp.zeros((a.shape[1], a.shape[1]))))


def knapsack(weights: Any, values: Any, best: Any) -> Any:
    import jax
    import jax.numpy as jnp

    room = jnp.arange(best.shape[0])

    def step(best: Any, item: Any) -> Any:
        weight, value = item
        return jnp.where(room >= weight, jnp.maximum(best, best[room - weight] + value), best), None

    best, _ = jax.lax.scan(step, best, (weights, values))
    return best[-1], jnp.argmax(best == best[-1]), best


def k_means(points: Any, centres: Any, most: int) -> Any:
    import jax
    import jax.numpy as jnp

    def step(state: Any) -> Any:
        centres, labels, rounds, _ = state
        nearest = jnp.argmin(jnp.sum((points[:, None] - centres) ** 2, axis=2), axis=1)
        same = jnp.array_equal(nearest, labels)
        sizes = jnp.zeros(centres.shape[0]).at[nearest].add(1.0)[:, None]
        means = jnp.zeros_like(centres).at[nearest].add(points) / jnp.maximum(sizes, 1.0)
        return jnp.where(same | (sizes == 0), centres, means), nearest, rounds + 1, same

    start = (centres, jnp.full(points.shape[0], -1), 0, False)
    return jax.lax.while_loop(lambda state: (state[2] < most) & ~state[3], step, start)[:3]


def conv2d_windows(image: Any, kernel: Any) -> Any:
    import jax.numpy as jnp

    rows, columns = kernel.shape
    high, wide = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    places = [(i, j) for i in range(rows) for j in range(columns)]
    result = sum(image[i : i + high, j : j + wide] * kernel[i, j] for i, j in places)
    largest = jnp.argmax(result)
    return result, (largest // wide, largest % wide)


def stockham(x: Any) -> Any:
    import jax.numpy as jnp

    length, stride, y = x.size, 1, x
    while length > 1:
        half = length // 2
        first, second = y.reshape(2, half, stride)
        twiddles = jnp.exp(-2j * jnp.pi * jnp.arange(half) / length)
        y = jnp.stack([first + second, (first - second) * twiddles[:, None]], axis=1).reshape(-1)
        length, stride = half, stride * 2
    return y, jnp.abs(y) ** 2


def after_eight_bits(crc: Any, divisor: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.lax.fori_loop(0, 8, lambda _, c: jnp.where(c & 1, (c >> 1) ^ divisor, c >> 1), crc)


def crc32_bitwise(data: Any) -> Any:
    import jax
    import jax.numpy as jnp

    divisor, full = jnp.uint32(0xEDB88320), jnp.uint32(0xFFFFFFFF)
    return jax.lax.scan(lambda c, byte: (after_eight_bits(c ^ byte, divisor), None), full, data)[0] ^ full


def crc32_table(data: Any) -> Any:
    import jax
    import jax.numpy as jnp

    table = after_eight_bits(jnp.arange(256), 0xEDB88320)
    crc, _ = jax.lax.scan(lambda c, byte: ((c >> 8) ^ table[(c ^ byte) & 0xFF], None), jnp.int64(0xFFFFFFFF), data)
    return crc ^ 0xFFFFFFFF


def crc32_rows(blocks: Any) -> Any:
    import jax
    import jax.numpy as jnp

    table = after_eight_bits(jnp.arange(256, dtype=jnp.uint32), jnp.uint32(0xEDB88320))
    full = jnp.full(blocks.shape[0], 0xFFFFFFFF, dtype=jnp.uint32)
    crc, _ = jax.lax.scan(lambda c, column: ((c >> 8) ^ table[(c ^ column) & 0xFF], None), full, blocks.T)
    return ~crc


def adler32(data: Any) -> Any:
    import jax.numpy as jnp

    n, numbers = data.size, data.astype(jnp.int64)
    high = (n + jnp.sum(jnp.arange(n, 0, -1) * numbers)) % 65521
    return high * 65536 + (1 + jnp.sum(numbers)) % 65521


def histogram(x: Any, weights: Any, edges: Any) -> Any:
    import jax.numpy as jnp

    bins = edges.shape[0] - 1
    place = jnp.where(x == edges[-1], bins - 1, jnp.searchsorted(edges, x, side="right") - 1)
    place = jnp.where(place < 0, bins, place)  # beyond the end: left out
    counts = jnp.zeros(bins, dtype=jnp.int64).at[place].add(1, mode="drop")
    totals = jnp.zeros(bins).at[place].add(weights, mode="drop")
    return counts, totals, totals / jnp.maximum(counts, 1)


def azimuthal_integration(image: Any, mask: Any, centre: Any, radii: Any) -> Any:
    import jax.numpy as jnp

    rings = radii.shape[0] - 1
    y, x = jnp.arange(image.shape[0])[:, None] - centre[0], jnp.arange(image.shape[1]) - centre[1]
    ring = jnp.searchsorted(radii, jnp.sqrt(x**2 + y**2), side="right") - 1
    ring = jnp.where(mask | (ring < 0), rings, ring)

    def total(values: Any) -> Any:
        return jnp.zeros(rings).at[ring].add(values, mode="drop")

    counts = jnp.maximum(total(1.0), 1.0)
    means = total(image) / counts
    return means, jnp.sqrt(total((image - means[jnp.minimum(ring, rings - 1)]) ** 2) / counts)


def csr_vector(data: Any, indices: Any, starts: Any, x: Any) -> Any:
    import jax.numpy as jnp

    count = starts.shape[0] - 1
    rows = jnp.repeat(jnp.arange(count), jnp.diff(starts), total_repeat_length=data.shape[0])
    y = jnp.zeros(count).at[rows].add(data * x[indices], indices_are_sorted=True)
    return y, jnp.sqrt(y @ y)


def resolvent_moments(a: Any, probe: Any, centre: Any, radius: Any, points: int, moments: Any) -> Any:
    import jax.numpy as jnp

    directions = jnp.exp(2j * jnp.pi * (jnp.arange(points) + 0.5) / points)
    z = centre + radius * directions
    solved = jnp.linalg.solve(z[:, None, None] * jnp.eye(a.shape[0]) - a, probe)
    weights = radius * directions / points * z ** jnp.arange(moments.shape[0])[:, None]
    moments = moments + jnp.einsum("kp,pij->kij", weights, solved)
    return jnp.trace(moments[0]).real, moments


def cavity_flow(u: Any, v: Any, p: Any, dx: Any, dt: Any, viscosity: Any, steps: int, sweeps: int) -> Any:
    import jax
    import jax.numpy as jnp

    def along(f: Any) -> Any:
        return (f[1:-1, 2:] - f[1:-1, :-2]) / (2 * dx)

    def across(f: Any) -> Any:
        return (f[2:, 1:-1] - f[:-2, 1:-1]) / (2 * dx)

    def around(f: Any) -> Any:
        return f[1:-1, 2:] + f[1:-1, :-2] + f[2:, 1:-1] + f[:-2, 1:-1]

    def moved(f: Any, u: Any, v: Any) -> Any:
        spread = around(f) - 4 * f[1:-1, 1:-1]
        change = viscosity * spread / dx**2 - u[1:-1, 1:-1] * along(f) - v[1:-1, 1:-1] * across(f)
        return f.at[1:-1, 1:-1].add(dt * change)

    def step(fields: Any, _: Any) -> Any:
        u, v, p = fields
        u, v = moved(u, u, v), moved(v, u, v)
        divergence = along(u) + across(v)

        def sweep(_: Any, p: Any) -> Any:
            p = p.at[1:-1, 1:-1].set(0.25 * (around(p) - dx**2 * divergence / dt))
            p = p.at[:, 0].set(p[:, 1])
            p = p.at[:, -1].set(p[:, -2])
            return p.at[0].set(p[1]).at[-1].set(0.0)

        p = jax.lax.fori_loop(0, sweeps, sweep, p)
        u = u.at[1:-1, 1:-1].add(-dt * along(p)).at[-1].set(1.0)
        v = v.at[1:-1, 1:-1].add(-dt * across(p))
        return (u, v, p), 0.5 * jnp.sum(u**2 + v**2) * dx**2

    fields, energy = jax.lax.scan(step, (u, v, p), length=steps)
    return energy, *fields


def channel_flow(
    u: Any, v: Any, p: Any, dx: Any, dt: Any, viscosity: Any, force: Any, sweeps: int, tolerance: Any, most: int
) -> Any:
    import jax
    import jax.numpy as jnp

    def slope(f: Any) -> Any:
        return (jnp.roll(f, -1, axis=1) - jnp.roll(f, 1, axis=1))[1:-1] / (2 * dx)

    def rise(f: Any) -> Any:
        return (f[2:] - f[:-2]) / (2 * dx)

    def spread(f: Any) -> Any:
        return (jnp.roll(f, -1, axis=1) + jnp.roll(f, 1, axis=1))[1:-1] + f[2:] + f[:-2] - 4 * f[1:-1]

    def moved(f: Any, u: Any, v: Any) -> Any:
        return dt * (viscosity * spread(f) / dx**2 - u[1:-1] * slope(f) - v[1:-1] * rise(f))

    def step(state: Any) -> Any:
        u, v, p, _, count = state
        before = u.sum()
        u, v = u.at[1:-1].add(moved(u, u, v) + dt * force), v.at[1:-1].add(moved(v, u, v))
        divergence = slope(u) + rise(v)

        def sweep(_: Any, p: Any) -> Any:
            p = p.at[1:-1].set(0.25 * (spread(p) + 4 * p[1:-1] - dx**2 * divergence / dt))
            return p.at[0].set(p[1]).at[-1].set(p[-2])

        p = jax.lax.fori_loop(0, sweeps, sweep, p)
        u, v = u.at[1:-1].add(-dt * slope(p)), v.at[1:-1].add(-dt * rise(p))
        return u, v, p, (u.sum() - before) / u.sum(), count + 1

    start = (u, v, p, tolerance + 1.0, 0)
    u, v, p, _, count = jax.lax.while_loop(lambda state: (state[3] > tolerance) & (state[4] < most), step, start)
    return u, v, p, count


VERSIONS = {
    version.__name__: version
    for version in (
        forward_substitution,
        back_substitution,
        lu,
        cholesky,
        gram_schmidt,
        knapsack,
        k_means,
        conv2d_windows,
        stockham,
        crc32_bitwise,
        crc32_table,
        crc32_rows,
        adler32,
        histogram,
        azimuthal_integration,
        csr_vector,
        resolvent_moments,
        cavity_flow,
        channel_flow,
    )
}
