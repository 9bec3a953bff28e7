"""`backend="jax"` where JAX has a GPU: arrays stay on it, and results are NumPy's.

``JAX_PLATFORMS=cuda,cpu python -m pytest tests/gpu tests/jax_bridge`` runs these, and those of the bridge there;
without it, JAX is told to use the CPU. Tests of the bridge that hand sparse arrays to native code need the CPU.
"""

import numpy as np
import pytest

import numbagraph

jax = pytest.importorskip("jax")
from jax import numpy as jnp  # noqa: E402

if jax.default_backend() != "gpu":
    pytest.skip("JAX has no GPU here", allow_module_level=True)

RNG = np.random.default_rng(7)
M, V = RNG.normal(size=(64, 64)), RNG.normal(size=64)
DEVICE = jax.devices()[0]


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.25 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def chosen(x, least):
    total = 0.0
    for each in x:
        if each > least:
            total = total + each * each
    return total


FUNCTIONS = {
    "elementwise": (lambda m, v: np.tanh(m) * np.exp(-(v**2)) + np.arctan2(m, v), M, V),
    "reductions": (lambda m: (np.sum(m, 0), np.mean(m), np.argmax(m, 1), np.std(m), np.any(m > 3)), M),
    "products": (lambda m, v: m @ v + np.einsum("ij,kj->i", m, m), M, V),
    "linear algebra": (lambda m, v: np.linalg.solve(m @ m.T + np.eye(64), v), M, V),
    "sorted and cumulated": (lambda v: np.cumsum(np.sort(v)) + np.argsort(v), V),
    "indices": (lambda m, v: m[np.argsort(v)[:5], 2:4] * v[[0, -1, 3, 3, 2], None], M, V),
    "masks": (lambda v: np.where(v > 0, v, 0.0) + v[v > 0].sum(), V),
    "fft": (lambda v: np.abs(np.fft.rfft(v)) ** 2, V),
    "integers": (lambda v: (v * 100).astype(np.int16) // 7 + np.int8(3), V),
    "loops that write": (lambda v: heat(v.copy(), 50), V),
    "loops with branches": (lambda v: chosen(v, 0.25), V),
    "gradients": (numbagraph.grad(lambda m, v: np.sum(np.sin(m @ v) ** 2), argnums=(0, 1)), M, V),
    "gradients of loops": (numbagraph.grad(lambda v: np.sum(heat(v.copy(), 20) ** 3)), V),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_the_cpu_and_stay_on_the_gpu(name):
    function, *args = FUNCTIONS[name]
    expected = numbagraph.graph_jit(function)(*args)
    compiled = numbagraph.graph_jit(function, backend="jax")
    with jax.enable_x64(True):
        given = [jax.device_put(each, DEVICE) for each in args]
    for _ in range(2):
        found = compiled(*given)
        pairs = zip(*(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True)
        for ours, theirs in pairs:
            assert ours.devices() == {DEVICE}
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_arrays_of_numpy_beside_those_of_the_gpu():
    f = numbagraph.graph_jit(lambda m, v, k: m @ v * k, backend="jax")
    found = f(jnp.asarray(M, np.float32), V, 0.5)
    assert (found.devices(), found.dtype) == ({DEVICE}, np.float64)
    np.testing.assert_allclose(found, np.asarray(M, np.float32) @ V * 0.5, rtol=1e-6)
    assert isinstance(f(M, V, 0.5), np.ndarray)


def test_an_index_out_of_bounds_is_an_error_there_too():
    f = numbagraph.graph_jit(lambda v, i: v[i] * 2, backend="jax")
    v = jnp.asarray(V, np.float32)
    assert f(v, jnp.array([0, -1])).shape == (2,)
    for _ in range(2):
        with pytest.raises(IndexError, match="index 64 is out of bounds for axis 0 with size 64"):
            f(v, jnp.array([0, 64]))


def test_native_code_refuses_arrays_of_a_gpu():
    with pytest.raises(TypeError, match="compiled code reads the memory of the CPU"):
        numbagraph.graph_jit(lambda v: v * 2)(jnp.asarray(V, np.float32))
