"""Samplers of JAX on log-densities from `numbagraph.to_jax`, translated and native (`make nightly`)."""

import numpy as np
import pytest

import numbagraph

jax = pytest.importorskip("jax")
blackjax = pytest.importorskip("blackjax")


def log_density(x):
    return -0.5 * np.sum(((x - 1.0) / 2.0) ** 2)


def in_jax(x):
    return -0.5 * jax.numpy.sum(((x - 1.0) / 2.0) ** 2)


def drawn(density):
    with jax.enable_x64(True):
        sampler = blackjax.nuts(density, step_size=0.8, inverse_mass_matrix=4 * np.ones(2))

        def step(state, key):
            state, _ = sampler.step(key, state)
            return state, state.position

        keys = jax.random.split(jax.random.key(0), 300)
        start = sampler.init(jax.numpy.zeros(2))
        return np.asarray(jax.jit(lambda state, keys: jax.lax.scan(step, state, keys)[1])(start, keys))


@pytest.mark.parametrize("native", [False, True])
def test_nuts_of_blackjax(native):
    found = drawn(numbagraph.to_jax(log_density, native=native))
    np.testing.assert_allclose(found, drawn(in_jax), rtol=1e-6, atol=1e-6)
