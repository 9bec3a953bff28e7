"""`numbagraph.from_jax` of convolutions and of reductions of windows, beside JAX on the CPU."""

import numpy as np
import pytest

import numbagraph

jax = pytest.importorskip("jax")
from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from tests.support.from_jax import check, check_gradient  # noqa: E402

RNG = np.random.default_rng(8)
IMAGE, ROWS = RNG.normal(size=(2, 6, 5, 4)), RNG.normal(size=(2, 9, 4))
TIED = np.array([[1.0, 3.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0, 0.0], [-1.0, 2.0, 2.0, 2.0, 1.0]])


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def rows(kernel=(3, 4, 3), strides=(1,), padding="VALID", **options):
    weights = RNG.normal(size=kernel)
    return lambda x: lax.conv_general_dilated(
        x, weights.astype(x.dtype), strides, padding, dimension_numbers=("NWC", "WIO", "NWC"), **options
    )


def images(kernel=(2, 3, 4, 3), strides=(1, 1), padding="SAME", **options):
    weights = RNG.normal(size=kernel)
    return lambda x: lax.conv_general_dilated(
        x, weights.astype(x.dtype), strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options
    )


CONVOLUTIONS = {
    "rows": (rows(), ROWS),
    "rows with strides": (rows(strides=(2,), padding="SAME"), ROWS),
    "rows beyond one end": (rows(padding=[(3, -1)]), ROWS),
    "rows with holes": (rows(rhs_dilation=(2,), lhs_dilation=(3,), padding=[(1, 2)]), ROWS),
    "rows of groups": (rows((3, 2, 6), feature_group_count=2), ROWS),
    "rows of float32": (rows(), ROWS.astype(np.float32)),
    "rows as wide as the kernel": (rows((9, 4, 1)), ROWS),
    "images": (images(), IMAGE),
    "images with strides": (images(strides=(3, 2), padding="VALID"), IMAGE),
    "images with holes": (images(rhs_dilation=(1, 2), lhs_dilation=(2, 1), padding=[(2, 0), (1, 3)]), IMAGE),
    "a channel of its own each": (images((3, 3, 1, 8), feature_group_count=4, strides=(2, 1)), IMAGE),
    "groups of a batch": (images((2, 2, 4, 6), batch_group_count=2), IMAGE),
    "of NCHW": (lambda x: lax.conv(x, x[:, :, :2, :2], (1, 1), "SAME"), IMAGE),
    "transposed": (
        lambda x: lax.conv_transpose(x, x[0, :2, :2, :, None] * jnp.ones(4), (2, 2), "SAME", transpose_kernel=False),
        IMAGE,
    ),
    "of a volume": (lambda x: lax.conv(x[None, None], x[None, None, :2, :1, :2], (1, 2, 1), "SAME"), IMAGE[0]),
    "without places": (lambda x: jnp.convolve(x, x), np.ones(1)),
    "of polynomials": (lambda x: jnp.convolve(x, x[:3]) * jnp.correlate(x, x[:2], "full")[0], RNG.normal(size=7)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name):
    function, x = CONVOLUTIONS[name]
    check(function, x, **({"rtol": 1e-5, "atol": 1e-5} if x.dtype == np.float32 else {}))


@pytest.mark.repeats(but_each=4)
@pytest.mark.parametrize("name", ["rows with holes", "images with strides", "groups of a batch", "of NCHW"])
def test_gradients_of_convolutions(name):
    function, x = CONVOLUTIONS[name]
    check_gradient(lambda x: jnp.sum(function(x) ** 2), x)
    check(jax.grad(lambda x: jnp.sum(function(x) ** 2)), x)


def test_convolutions_of_nothing():
    check(rows(), ROWS[:0])
    check(rows(padding="SAME"), ROWS[:, :0])
    check(rows(), ROWS[:, :2])
    without_channels = rows((3, 0, 2))
    check(lambda x: without_channels(x[..., :0]), ROWS)


def test_convolutions_of_other_dtypes():
    check(lambda x: lax.conv(x.astype(jnp.int8), jnp.ones((1, 4, 2), jnp.int8), (1,), "VALID"), ROWS.swapaxes(1, 2))
    check(rows(), ROWS + 1j * ROWS[::-1])


def test_kernels_that_are_traced():
    def loss(kernel):
        return jnp.sum(
            jnp.tanh(lax.conv_general_dilated(ROWS, kernel, (2,), "SAME", None, None, ("NWC", "WIO", "NWC")))
        )

    check_gradient(loss, RNG.normal(size=(3, 4, 2)))
    np.testing.assert_allclose(
        numbagraph.vmap(numbagraph.from_jax(loss))(np.ones((2, 3, 4, 1))), jax.vmap(loss)(np.ones((2, 3, 4, 1)))
    )


def pooled(initial, function, size, strides=None, padding="VALID", **options):
    return lambda x: lax.reduce_window(x, initial, function, size, strides or (1,) * len(size), padding, **options)


POOLS = {
    "maximum": (pooled(-jnp.inf, lax.max, (2, 2), (2, 2)), TIED),
    "maximum with padding": (pooled(-jnp.inf, lax.max, (2, 3), (1, 2), "SAME"), TIED),
    "minimum": (pooled(jnp.inf, lax.min, (1, 3), None, ((1, 0), (0, 2))), TIED),
    "maximum with holes": (pooled(-jnp.inf, lax.max, (2, 2), None, "VALID", window_dilation=(1, 3)), TIED),
    "sum": (pooled(0.0, lax.add, (2, 2), (1, 2)), TIED),
    "sum with holes": (
        pooled(0.0, lax.add, (2, 2), None, ((1, 0), (2, 1)), window_dilation=(1, 2), base_dilation=(2, 1)),
        TIED,
    ),
    "product": (pooled(1.0, lax.mul, (2, 2), (1, 2)), TIED),
    "a function": (pooled(0.0, lambda a, b: a * b + a + b, (1, 3)), TIED),
    "sum that starts elsewhere": (pooled(2.0, lax.add, (2, 1)), TIED),
    "mean": (
        lambda x: pooled(0.0, lax.add, (2, 2), None, "SAME")(x) / pooled(0.0, lax.add, (2, 2), None, "SAME")(x * 0 + 1),
        TIED,
    ),
    "images": (pooled(-jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), "SAME"), IMAGE),
    "integers": (pooled(np.int32(-(2**31)), lax.max, (2, 2), (1, 2), "SAME"), TIED.astype(np.int32)),
    "bools": (pooled(np.False_, lax.bitwise_or, (2, 2), (1, 2), "SAME"), TIED > 2),
    "float32": (pooled(np.float32(-np.inf), lax.max, (2, 2), (1, 2), "SAME"), TIED.astype(np.float32)),
    "no rows": (pooled(-jnp.inf, lax.max, (2, 2)), TIED[:1]),
    "an empty array": (pooled(0.0, lax.add, (1, 2), None, "SAME"), TIED[:0]),
    "NaN": (pooled(-jnp.inf, lax.max, (2, 2)), np.where(TIED == 2, np.nan, TIED)),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools(name):
    check(*POOLS[name])


@pytest.mark.repeats(but_each=5)
@pytest.mark.parametrize("name", ["maximum", "maximum with padding", "minimum", "sum with holes", "mean", "images"])
def test_gradients_of_pools(name):
    function, x = POOLS[name]
    weights = jnp.asarray(RNG.normal(size=function(x).shape))
    check_gradient(lambda x: jnp.sum(function(x) * weights), x)
    check(jax.grad(lambda x: jnp.sum(function(x) * weights)), x)


def test_second_derivatives_of_pools():
    pool = POOLS["maximum"][0]

    def twice(x):
        return jnp.sum(jax.grad(lambda x: jnp.sum(pool(x) ** 3))(x) ** 2)

    found = numbagraph.grad(numbagraph.from_jax(twice))(TIED)
    np.testing.assert_allclose(found, jax.grad(lambda x: jnp.sum((3 * pool(x) ** 2) ** 2))(TIED))


def test_tangents_of_pools():
    pool, x = POOLS["maximum with padding"]
    tangent = RNG.normal(size=x.shape).astype(np.float32).astype(float)
    expected = jax.vjp(pool, x)[1](np.ones(pool(x).shape))[0]
    found = numbagraph.jvp(numbagraph.from_jax(pool), (x,), (tangent,))[1]
    np.testing.assert_allclose(found.sum(), np.sum(expected * tangent), rtol=1e-12)
    check(lambda x: jax.jvp(pool, (x,), (x,))[1], np.round(TIED))


def one_more(a, b):
    """Of a and b what is one less than the product of numbers that are one more."""
    return a * b + a + b


def test_reductions_by_functions():
    check(lambda x: lax.reduce(x, 0.5, one_more, (0,)), TIED)
    check(lambda x: lax.reduce(x, 0.5, one_more, (1, 0)), TIED)
    check(lambda x: lax.reduce((x, x * 2), (0.0, 1.0), lambda a, b: (one_more(a[0], b[0]), a[1] * b[1]), (1,)), TIED)
    check(lambda x: lax.reduce(x, 0.5, one_more, (0,)), TIED[:0])
    check_gradient(lambda x: jnp.sum(lax.reduce(x, 0.0, one_more, (0,)) ** 2), TIED)
