"""Functions written once for NumPy and JAX: `to_jax` of the one and `from_jax` of the other agree with JAX, and so do
their gradients."""

import zlib

import numpy as np
import pytest
import scipy.special

import numbagraph

jax = pytest.importorskip("jax")

from jax import numpy as jnp  # noqa: E402
from jax.scipy import special as of_jax  # noqa: E402

RNG = np.random.default_rng(3)
X, Y, P = RNG.normal(size=6), RNG.normal(size=6), RNG.uniform(0.2, 0.8, 6)
M, N = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 4))
S = RNG.normal(size=(4, 4)) + 4 * np.eye(4)
D = S @ S.T + np.eye(4)
I = np.array([2, 0, -1, 2])  # noqa: E741


def rolled_product(xp, x):
    total = xp.ones_like(x)
    for shift in range(3):
        total = total * xp.roll(x, shift)
    return total


FUNCTIONS = {
    "exp and log": (lambda xp, sp, x: xp.log(1 + xp.exp(x)), X),
    "sin and cos": (lambda xp, sp, x: xp.sin(x) * xp.cos(x) + xp.tan(x / 2), X),
    "hyperbolic": (lambda xp, sp, x: xp.tanh(x) + xp.sinh(x) / xp.cosh(x), X),
    "inverse hyperbolic": (lambda xp, sp, x: xp.arcsinh(x) + xp.arctanh(xp.tanh(x) / 2), X),
    "inverse trigonometric": (lambda xp, sp, p: xp.arcsin(p) + xp.arccos(p) * xp.arctan(p), P),
    "arctan2 and hypot": (lambda xp, sp, x, y: xp.arctan2(x, y) * xp.hypot(x, y), X, Y),
    "powers": (lambda xp, sp, p: p**2.5 + p**3 + p**-2 + xp.sqrt(p) + xp.cbrt(p), P),
    "power of arrays": (lambda xp, sp, p, x: xp.power(p, x), P, X),
    "log1p and expm1": (lambda xp, sp, x: xp.log1p(x**2) * xp.expm1(x) + xp.exp2(x) + xp.log2(x**2 + 1), X),
    "division": (lambda xp, sp, x, y: x / (y**2 + 1) - x // 1.0 + x % 0.7, X, Y),
    "extrema of pairs": (lambda xp, sp, x, y: xp.maximum(x, y) - xp.minimum(x, 2 * y), X, Y),
    "clip and where": (lambda xp, sp, x: xp.where(x > 0, xp.clip(x, 0.1, 0.5), x**2), X),
    "rounding": (lambda xp, sp, x: xp.floor(x) + xp.ceil(x) * xp.sign(x) + xp.round(x) * x, X),
    "logaddexp": (lambda xp, sp, x, y: xp.logaddexp(x, y), X, Y),
    "sum and mean": (lambda xp, sp, x: xp.sum(x * x) / xp.mean(xp.exp(x)), M),
    "sums along axes": (lambda xp, sp, x: xp.sum(x, 0) * xp.prod(x, axis=0), M),
    "variance": (lambda xp, sp, x: xp.var(x, axis=1) + xp.std(x, axis=1, ddof=1), M),
    "max and min": (lambda xp, sp, x: xp.max(x, axis=1) * xp.min(x), M),
    "argmax": (lambda xp, sp, x: x[0] * xp.argmax(x, axis=0) + xp.argmin(x), M),
    "logsumexp": (lambda xp, sp, x: sp.logsumexp(x, axis=1), M),
    "softmax": (lambda xp, sp, x: xp.exp(x - sp.logsumexp(x, axis=-1, keepdims=True)) ** 2, M),
    "expit and logit": (lambda xp, sp, p: sp.expit(p) * sp.logit(p), P),
    "erf and its inverse": (lambda xp, sp, p: sp.erf(p) + sp.erfc(p) * sp.erfinv(p), P),
    "gamma functions": (lambda xp, sp, p: sp.gammaln(p) + sp.digamma(p), P),
    "incomplete gamma": (lambda xp, sp, p: sp.gammainc(2.0, p) + sp.gammaincc(1.5, p), P),
    "incomplete beta": (lambda xp, sp, p: sp.betainc(2.0, 3.0, p), P),
    "normal distribution": (lambda xp, sp, p: sp.ndtr(p) + sp.ndtri(p), P),
    "xlogy and entr": (lambda xp, sp, p, x: sp.xlogy(x, p) + sp.entr(p), P, X),
    "Bessel functions": (lambda xp, sp, x: sp.i0e(x) + sp.i1e(x) + sp.i0(x), X),
    "matrix product": (lambda xp, sp, a, b: a @ b, M, N),
    "einsum": (lambda xp, sp, a, b: xp.einsum("ij,jk->ki", a, b), M, N),
    "outer and dot": (lambda xp, sp, x, y: xp.outer(x, y) * xp.dot(x, y), X, Y),
    "cumulative": (lambda xp, sp, x: xp.cumsum(x) * xp.cumprod(x), X),
    "sort": (lambda xp, sp, x: xp.sort(x) * xp.arange(6.0), X),
    "argsort": (lambda xp, sp, x, y: y[xp.argsort(x)] * xp.arange(6.0), X, Y),
    "concatenate and stack": (lambda xp, sp, x, y: xp.concatenate([x, y, xp.stack([x[0], y[1]])]) ** 2, X, Y),
    "reshape and transpose": (lambda xp, sp, x: xp.transpose(x.reshape(2, 6)) * 2.0, M),
    "flip and roll": (lambda xp, sp, x: xp.flip(x) * rolled_product(xp, x), X),
    "pad": (lambda xp, sp, x: xp.pad(x, ((1, 2), (0, 1)), constant_values=2.0) ** 2, M),
    "tile and repeat": (lambda xp, sp, x: xp.tile(x, 2) * xp.repeat(x, 2), X),
    "slices": (lambda xp, sp, x: x[1:, ::-1] * x[:-1, 1:2] + x[-1, 0], M),
    "indices": (lambda xp, sp, x: x[I, 1:] * x[1, 0], S),
    "points": (lambda xp, sp, x: x[I, xp.arange(4)] ** 2, S),
    "take_along_axis": (lambda xp, sp, x: xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1)[:, :2], M),
    "triangles and diagonal": (lambda xp, sp, x: xp.tril(x) @ xp.triu(x) + xp.diag(xp.diagonal(x)) * xp.trace(x), S),
    "differences": (lambda xp, sp, x: xp.diff(x) * xp.gradient(x)[1:], X),
    "solve": (lambda xp, sp, a, b: xp.linalg.solve(a, b), S, N.T),
    "inverse and determinant": (lambda xp, sp, a: xp.linalg.inv(a) * xp.linalg.det(a), S),
    "slogdet": (lambda xp, sp, a: xp.linalg.slogdet(a)[1] * a[0], S),
    "cholesky": (lambda xp, sp, a: xp.linalg.cholesky(a @ a.T), S),
    "eigenvalues": (lambda xp, sp, a: xp.linalg.eigh(a + a.T)[0], D),
    "singular values": (lambda xp, sp, a: xp.linalg.svd(a, compute_uv=False), M),
    "qr": (lambda xp, sp, a: xp.abs(xp.linalg.qr(a)[1]), M),
    "norm": (lambda xp, sp, a: xp.linalg.norm(a) + xp.linalg.norm(a, axis=1), M),
    "interp": (lambda xp, sp, x, y: xp.interp(x, xp.linspace(-2.0, 2.0, 6), y), X, Y),
    "median": (lambda xp, sp, x: xp.median(x) * x, X),
    "convolve": (lambda xp, sp, x, y: xp.cumsum(x)[None] * xp.kron(x[:2], y[:3]), X, Y),
    "complex": (lambda xp, sp, x, y: xp.abs(xp.exp(x + 1j * y)) + xp.real((x - 1j * y) ** 2), X, Y),
}


def test_there_are_fifty():
    assert len(FUNCTIONS) >= 50


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def modules(library):
    return library, of_jax if library is jnp else scipy.special


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.repeats] * (number % 2)) for number, name in enumerate(FUNCTIONS)]
)
def test_values_and_gradients(name):
    function, *args = FUNCTIONS[name]

    def of(library):
        return lambda *given: function(*modules(library), *given)

    value = np.asarray(of(np)(*args))
    cotangent = np.random.default_rng(zlib.crc32(name.encode())).normal(size=value.shape)

    def with_gradient(vjp, function):
        def both(cotangent, *given):
            found, pull_back = vjp(function, *given)
            return found, pull_back(cotangent)

        return both

    expected, slopes = jax.jit(with_gradient(jax.vjp, of(jnp)))(cotangent, *args)
    np.testing.assert_allclose(expected, value, rtol=1e-9, atol=1e-12)
    there, back = numbagraph.to_jax(of(np)), numbagraph.from_jax(of(jnp))
    for found, own in (
        jax.jit(with_gradient(jax.vjp, there))(cotangent, *args),
        numbagraph.graph_jit(with_gradient(numbagraph.vjp, back))(cotangent, *args),
    ):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        for each, slope in zip(own, slopes, strict=True):
            np.testing.assert_allclose(each, slope, rtol=1e-8, atol=1e-10)
