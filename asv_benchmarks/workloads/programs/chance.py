"""Programs with random numbers that are given: lattices, reactions, walks, chains, options."""

from typing import Any

import numpy as np

from .base import Program


def potts(spins, proposals, uniforms, coupling):
    """Sweeps of Metropolis over the Potts model of three states on a torus."""
    spins = spins.copy()
    n = len(spins)
    for sweep in range(len(uniforms)):
        for i in range(n):
            for j in range(n):
                old, new = spins[i, j], proposals[sweep, i, j]
                gain = 0
                for near in (spins[(i + 1) % n, j], spins[i - 1, j], spins[i, (j + 1) % n], spins[i, j - 1]):
                    if near == new:
                        gain += 1
                    if near == old:
                        gain -= 1
                if uniforms[sweep, i, j] < np.exp(coupling * gain):
                    spins[i, j] = new
    return spins


def potts_jax(spins: Any, proposals: Any, uniforms: Any, coupling: Any) -> Any:
    """Site by site, since each sees what those before it have become."""
    import jax
    import jax.numpy as jnp

    n = len(spins)
    i, j = (each.ravel() for each in jnp.meshgrid(jnp.arange(n), jnp.arange(n), indexing="ij"))
    sites = (i * n + j, (i + 1) % n * n + j, (i - 1) % n * n + j, i * n + (j + 1) % n, i * n + (j - 1) % n)
    around = jnp.stack(sites[1:], axis=1)

    def visit(flat: Any, given: Any) -> Any:
        site, nearby, new, uniform = given
        near, old = flat[nearby], flat[site]
        gain = (near == new).sum() - (near == old).sum()
        return flat.at[site].set(jnp.where(uniform < jnp.exp(coupling * gain), new, old)), None

    def sweep(flat: Any, given: Any) -> Any:
        new, uniform = given
        return jax.lax.scan(visit, flat, (sites[0], around, new.ravel(), uniform.ravel()))[0], None

    return jax.lax.scan(sweep, spins.ravel(), (proposals, uniforms))[0].reshape(n, n)


def predators(prey, hunters, waits, choices, end):
    """Gillespie's direct method for Lotka and Volterra's reactions (1977, section IV.C)."""
    t = 0.0
    k = 0
    while t < end and k < len(waits):
        births, meals, deaths = 1.0 * prey, 0.005 * prey * hunters, 0.6 * hunters
        total = births + meals + deaths
        if total == 0.0:
            break
        t += waits[k] / total
        chosen = choices[k] * total
        if chosen < births:
            prey += 1
        elif chosen < births + meals:
            prey -= 1
            hunters += 1
        else:
            hunters -= 1
        k += 1
    return t, prey, hunters


def predators_jax(prey: Any, hunters: Any, waits: Any, choices: Any, end: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def rates(prey: Any, hunters: Any) -> Any:
        return 1.0 * prey, 0.005 * prey * hunters, 0.6 * hunters

    def goes_on(state: Any) -> Any:
        t, k, prey, hunters = state
        return (t < end) & (k < len(waits)) & (sum(rates(prey, hunters)) != 0.0)

    def react(state: Any) -> Any:
        t, k, prey, hunters = state
        births, meals, deaths = rates(prey, hunters)
        total = births + meals + deaths
        chosen = choices[k] * total
        born, eaten = chosen < births, (chosen >= births) & (chosen < births + meals)
        died = chosen >= births + meals
        prey = prey + born.astype(int) - eaten.astype(int)
        return t + waits[k] / total, k + 1, prey, hunters + eaten.astype(int) - died.astype(int)

    t, _, prey, hunters = jax.lax.while_loop(goes_on, react, (0.0, 0, jnp.asarray(prey), jnp.asarray(hunters)))
    return t, prey, hunters


def reflected_walk(steps, low, high):
    """A walk between two walls."""
    path = np.empty(len(steps))
    x = 0.5 * (low + high)
    for i in range(len(steps)):
        x += steps[i]
        if x > high:
            x = 2 * high - x
        elif x < low:
            x = 2 * low - x
        path[i] = x
    return path


def reflected_walk_jax(steps: Any, low: Any, high: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def step(x: Any, dx: Any) -> Any:
        x = x + dx
        x = jnp.where(x > high, 2 * high - x, jnp.where(x < low, 2 * low - x, x))
        return x, x

    return jax.lax.scan(step, 0.5 * (low + high), steps)[1]


def random_walk_metropolis(steps, uniforms):
    """A chain on a density of two modes: its states, and how many proposals it took."""
    chain = np.empty(len(steps))
    x, taken = 0.0, 0
    height = np.logaddexp(-0.5 * (x - 1.5) ** 2, -0.5 * (x + 1.5) ** 2)
    for i in range(len(steps)):
        y = x + steps[i]
        other = np.logaddexp(-0.5 * (y - 1.5) ** 2, -0.5 * (y + 1.5) ** 2)
        if np.log(uniforms[i]) < other - height:
            x = y
            height = other
            taken += 1
        chain[i] = x
    return chain, taken


def random_walk_metropolis_jax(steps: Any, uniforms: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def density(x: Any) -> Any:
        return jnp.logaddexp(-0.5 * (x - 1.5) ** 2, -0.5 * (x + 1.5) ** 2)

    def step(state: Any, given: Any) -> Any:
        x, height = state
        dx, logarithm = given
        y = x + dx
        other = density(y)
        took = logarithm < other - height
        new = jnp.where(took, y, x), jnp.where(took, other, height)
        return new, (new[0], took)

    _, (chain, took) = jax.lax.scan(step, (0.0, density(0.0)), (steps, jnp.log(uniforms)))
    return chain, took.sum()


def american_put(spot, strike, rate, volatility, expiry):
    """Cox, Ross and Rubinstein's tree (1979) of sixty steps, backwards."""
    n = 60
    dt = expiry / n
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = np.exp(-rate * dt)
    values = np.maximum(strike - spot * up ** (2.0 * np.arange(n + 1) - n), 0.0)
    for i in range(n - 1, -1, -1):
        held = discount * (p * values[1 : i + 2] + (1 - p) * values[: i + 1])
        values = np.maximum(held, strike - spot * up ** (2.0 * np.arange(i + 1) - i))
    return values[0]


def american_put_loops(spot, strike, rate, volatility, expiry):
    n = 60
    dt = expiry / n
    up = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = np.exp(-rate * dt)
    values = np.maximum(strike - spot * up ** (2.0 * np.arange(n + 1) - n), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            held = discount * (p * values[j + 1] + (1 - p) * values[j])
            values[j] = max(held, strike - spot * up ** (2.0 * j - i))
    return values[0]


def american_put_jax(spot: Any, strike: Any, rate: Any, volatility: Any, expiry: Any) -> Any:
    """All steps at the full length: what is beyond the tree is never read."""
    import jax
    import jax.numpy as jnp

    n = 60
    dt = expiry / n
    up = jnp.exp(volatility * jnp.sqrt(dt))
    p = (jnp.exp(rate * dt) - 1 / up) / (up - 1 / up)
    discount = jnp.exp(-rate * dt)
    ups = 2.0 * jnp.arange(n + 1)

    def step(values: Any, i: Any) -> Any:
        held = discount * (p * jnp.roll(values, -1) + (1 - p) * values)
        return jnp.maximum(held, strike - spot * up ** (ups - i)), None

    last = jnp.maximum(strike - spot * up ** (ups - n), 0.0)
    return jax.lax.scan(step, last, jnp.arange(n - 1, -1, -1))[0][0]


def lattice(rng, n):
    sweeps = max(2, n // 8)
    return rng.integers(0, 3, (n, n)), rng.integers(0, 3, (sweeps, n, n)), rng.random((sweeps, n, n)), 0.9


def reactions(rng, n):
    return 100, 150, rng.exponential(size=n), rng.random(n), 30.0


PROGRAMS = (
    Program(potts, potts_jax, lattice, 32, 4),
    Program(predators, predators_jax, reactions, 8000, 20),
    Program(reflected_walk, reflected_walk_jax, lambda rng, n: (rng.normal(size=n), -1.0, 2.0), 20_000, 9, (0,)),
    Program(
        random_walk_metropolis,
        random_walk_metropolis_jax,
        lambda rng, n: (rng.normal(size=n), rng.random(n)),
        *(5000, 9),
    ),
    Program(
        american_put,
        american_put_jax,
        lambda rng, n: (100.0, 95.0 + n, 0.04, 0.25, 0.75),
        *(5, 2, (0, 2, 3), american_put_loops),
    ),
)
