"""`numbagraph.to_jax`: functions for `jax.jit`, `grad`, `vmap` and `export`, beside what NumPy and numbagraph give."""

import subprocess
import sys

import numpy as np
import pytest

import numbagraph

jax = pytest.importorskip("jax")
from jax import export  # noqa: E402
from jax import numpy as jnp  # noqa: E402

X = np.array([0.5, -1.0, 2.0], np.float32)


def energy(x, scale):
    return np.sum(np.sin(x) ** 2) * scale


def test_jax_is_not_imported_for_the_name():
    code = "import sys, numbagraph; numbagraph.to_jax, numbagraph.from_jax; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_transformations_of_jax():
    f = numbagraph.to_jax(energy)
    np.testing.assert_allclose(jax.jit(f)(X, 2.0), energy(X, 2.0), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(X, 2.0), 4 * np.sin(X) * np.cos(X), rtol=1e-6)
    batch = np.stack([X, 2 * X])
    expected = [energy(each, 2.0) for each in batch]
    np.testing.assert_allclose(jax.vmap(f, (0, None))(batch, 2.0), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.jvp(f, (X, 2.0), (np.ones_like(X), 0.0))[1], np.sum(4 * np.sin(X) * np.cos(X)), 1e-6)
    np.testing.assert_allclose(jax.hessian(f)(X, 2.0), np.diag(4 * np.cos(2 * X)), rtol=1e-5, atol=1e-6)
    assert f.__name__ == "energy"


def test_all_lengths():
    f = numbagraph.to_jax(lambda x: np.sum(x) + len(x))
    for length in (2, 3, 0, 1, 7):
        assert jax.jit(f)(jnp.ones(length)) == 2 * length


def test_numbers_that_loops_are_given_are_traced():
    def filtered(x, noise, order):
        mean, variance, total = 0.0, 1.0, 0
        for each in x:
            variance = variance + noise
            mean = mean + variance / (variance + 1.0) * (each - mean)
            total = total + order * (each > 0)
        return mean, total

    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(True):
        found = jax.jit(numbagraph.to_jax(filtered))(X.astype(float), 0.25, 3)
        slope = jax.jit(jax.grad(lambda noise: numbagraph.to_jax(filtered)(X.astype(float), noise, 3)[0]))(0.25)
    np.testing.assert_allclose(found, filtered(X.astype(float), 0.25, 3), rtol=1e-12)
    step = 1e-6
    low, high = (filtered(X.astype(float), 0.25 + each, 3)[0] for each in (-step, step))
    np.testing.assert_allclose(slope, (high - low) / (2 * step), rtol=1e-7)


def test_an_exported_function_takes_any_length():
    (n,) = export.symbolic_shape("n")
    stored = export.export(jax.jit(numbagraph.to_jax(energy)))(jax.ShapeDtypeStruct((n,), jnp.float32), 2.0)
    np.testing.assert_allclose(stored.call(X, 2.0), energy(X, 2.0), rtol=1e-6)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.filterwarnings("error")
def test_dtypes_follow_the_configuration_of_jax(wide):
    captured = np.array([1.0, 2.0, 3.0])
    f = numbagraph.to_jax(lambda x: (x * captured, np.sum(x > 0), np.arange(3.0), x.astype(np.float64)))
    with jax.enable_x64(wide):
        found = [each.dtype.itemsize for each in jax.jit(f)(X)]
    assert found == ([8, 8, 8, 8] if wide else [4, 4, 4, 4])
    assert jnp.arange(2.0).dtype == np.float32


def test_trees_static_arguments_and_methods():
    def model(p, *, power):
        return {"loss": np.sum(p["a"] ** power), "n": len(p)}

    f = numbagraph.to_jax(numbagraph.graph_jit(model, static_argnames="power"))
    found = jax.jit(f, static_argnames="power")({"a": X, "b": X}, power=2)
    np.testing.assert_allclose(found["loss"], np.sum(X**2), rtol=1e-6)
    assert found["n"] == 2

    class Model:
        scale = 3.0

        @numbagraph.graph_jit
        def apply(self, x):
            return x * self.scale

    np.testing.assert_array_equal(numbagraph.to_jax(Model().apply)(X), X * 3)


def test_loops_branches_and_derivatives_inside():
    def run(x):
        total = 0.0
        for each in x:
            if each > 0:
                total = total + each**2
        while total > 1.0:
            total = total / 2
        return total

    np.testing.assert_allclose(jax.jit(numbagraph.to_jax(run))(X), run(X), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.jacfwd(numbagraph.to_jax(run)))(X), np.where(X > 0, 2 * X, 0) / 8, rtol=1e-6)
    slope = numbagraph.to_jax(numbagraph.grad(lambda x: np.sum(x**3)))
    np.testing.assert_allclose(jax.jit(jax.jacfwd(slope))(X), np.diag(6 * X), rtol=1e-6)


def test_a_rule_of_the_users_is_that_of_jax():
    weights = np.array([1.0, 2.0, 3.0], np.float32)

    @numbagraph.custom_vjp
    def clipped(x, bound):
        return np.clip(x, 0.0, bound)

    clipped.defvjp(lambda x, bound: (clipped(x, bound), x), lambda x, g: (g * weights * x, None))
    f = numbagraph.to_jax(lambda x: np.sum(clipped(x, 1) * 5))
    for gradient in (jax.grad(f), jax.jit(jax.grad(f))):
        np.testing.assert_allclose(gradient(X), 5 * weights * X)
    np.testing.assert_allclose(jax.vmap(jax.grad(f))(np.stack([X, X + 1])), 5 * weights * np.stack([X, X + 1]))


def test_derivatives_where_a_mask_protects_them():
    from scipy import special

    f = numbagraph.to_jax(numbagraph.grad(lambda x: np.sum(special.i0(x))))
    with jax.enable_x64(True):
        np.testing.assert_allclose(np.diag(jax.jacfwd(f)(np.zeros(2))), 0.5)  # the slope of i1 at 0


def test_what_jax_has_no_place_for_is_refused():
    def writes(x):
        x[0] = 1.0

    rate = numbagraph.shared(0.5)
    cases = [
        (writes, "writes into x, and JAX's arrays never change"),
        (lambda x: x * rate.value, "uses shared variables"),
    ]
    for function, message in cases:
        with pytest.raises(TypeError, match=message):
            numbagraph.to_jax(function)(jnp.ones(3))
    with pytest.raises(NotImplementedError, match=r"numpy\.random\.Generator"):
        numbagraph.to_jax(lambda x: x * np.random.default_rng(0).normal())(jnp.ones(3))
    with pytest.raises(TypeError, match="whose state JAX cannot change"):
        numbagraph.to_jax(lambda x, rng: x * rng.normal())(jnp.ones(3), np.random.default_rng(0))
    with pytest.raises(NotImplementedError, match="no lengths that depend on elements"):
        jax.jit(numbagraph.to_jax(lambda x: x[x > 0]))(jnp.ones(3))
    with pytest.raises(TypeError, match=r"follow from the argument n.*static_argnums"):
        jax.jit(numbagraph.to_jax(lambda x, n: x[:n]))(jnp.ones(3), 2)
    with pytest.raises(TypeError, match="is a key of JAX"):
        numbagraph.to_jax(lambda x: x)(jax.random.key(0))
    with pytest.raises(TypeError, match="to_jax takes functions, not 1"):
        numbagraph.to_jax(1)


def test_errors_of_arrays_that_are_there():
    f = numbagraph.to_jax(lambda x, i: x[i])
    assert f(X, 2) == 2.0
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        f(X, 5)
    with pytest.raises(ValueError, match="could not be broadcast"):
        numbagraph.to_jax(lambda x, y: x + y)(X, X[:2])


def test_numbers_that_jax_traces_need_not_be_known():
    """Those of Python have rules (no division by zero, no overflow) that nobody can look at while JAX traces."""

    def f(x, scale):
        return np.sum(x * scale**2 + 1.0 / scale)

    translated = numbagraph.to_jax(f)
    np.testing.assert_allclose(jax.jit(translated)(X, 2.0), f(X, 2.0), rtol=1e-6)
    slope = np.sum(2 * X * 2.0 - 1 / 4)
    np.testing.assert_allclose(jax.grad(translated, argnums=1)(X, 2.0), slope, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(translated, (None, 0))(X, jnp.array([1.0, 2.0])), [f(X, 1.0), f(X, 2.0)], 1e-6)
    with pytest.raises(ZeroDivisionError):
        translated(X, 0.0)


def test_captured_arrays_beside_64_bit_types():
    captured = np.array([0.1, 0.2, 0.3])
    f = numbagraph.to_jax(lambda x: x * captured)
    for wide in (True, False, True):
        with jax.enable_x64(wide):
            assert jax.jit(f)(X).dtype.itemsize == (8 if wide else 4)
            np.testing.assert_allclose(jax.jit(f)(X), X * captured, rtol=1e-6)


def test_numbers_of_keys_need_64_bits():
    """Without these JAX would make other numbers, of which some were all zero."""
    key = numbagraph.random.key(3)
    draws = {
        "normal": lambda key: numbagraph.random.normal(key, (3,)),
        "float32": lambda key: numbagraph.random.normal(key, (3,), dtype=np.float32),
        "randint": lambda key: numbagraph.random.randint(key, (3,), 0, 100),
        "split": numbagraph.random.split,
    }
    for draw in draws.values():
        with pytest.raises(NotImplementedError, match=r"jax_enable_x64.*native=True"):
            jax.jit(numbagraph.to_jax(draw))(key)
        np.testing.assert_allclose(numbagraph.to_jax(draw, native=True)(key), draw(key), rtol=1e-5)
        with jax.enable_x64(True):
            np.testing.assert_allclose(jax.jit(numbagraph.to_jax(draw))(key), draw(key), rtol=1e-6)
        np.testing.assert_allclose(numbagraph.graph_jit(draw, backend="jax")(key), draw(key), rtol=1e-6)


def test_positions_warn_of_no_dtypes():
    """JAX warns of int64 that it does not have by default; its warnings are errors here."""
    rows = np.array([[2.0, 1.0], [0.0, 3.0], [2.0, 0.0]])
    found = jax.jit(numbagraph.to_jax(lambda x: x[np.lexsort(x.T[::-1])] + np.arange(x.shape[0])[:, None]))(rows)
    np.testing.assert_array_equal(found, rows[[1, 2, 0]] + np.arange(3)[:, None])
    for function in (
        lambda x: np.argsort(x, axis=0),
        lambda x: np.searchsorted(np.sort(x[:, 0]), x[:, 1]),
        lambda x: np.argpartition(x[:, 0], 1)[1:2],
        lambda x: np.mean(x > 1.0, axis=0),
        lambda x: x.astype(np.int64),
    ):
        np.testing.assert_allclose(jax.jit(numbagraph.to_jax(function))(rows), function(rows))
