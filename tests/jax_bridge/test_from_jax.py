"""`numbagraph.from_jax`: functions of JAX as native code, beside what JAX gives."""

import functools
import warnings

import numpy as np
import pytest

import numbagraph
from numbagraph.errors import TraceError
from numbagraph.purity.outer_state import Outside
from numbagraph.purity.reachable_code import Walk

jax = pytest.importorskip("jax")
from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402

from tests.support.from_jax import check, check_gradient  # noqa: E402

RNG = np.random.default_rng(5)
X, M = RNG.normal(size=5), RNG.normal(size=(4, 3))
I = np.array([2, 0, 7, -9, 2])  # noqa: E741


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def newton(x):
    return lax.while_loop(lambda c: jnp.abs(c * c - x) > 1e-9, lambda c: 0.5 * (c + x / c), x + 1.0)


LOOPS = {
    "scan": lambda x: lax.scan(lambda c, y: (c * 0.9 + jnp.sin(y), c * y), 1.0, x)[1].sum(),
    "scan in reverse": lambda x: lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(()), x, reverse=True)[1] @ x,
    "scan without arrays": lambda x: lax.scan(lambda c, _: (jnp.cos(c), None), x, None, length=3)[0].sum(),
    "fori_loop": lambda x: lax.fori_loop(0, 4, lambda k, c: c * x[k] + k, 1.0),
    "map": lambda x: lax.map(lambda y: y**2 + 1, x).sum(),
    "cond": lambda x: lax.cond(x[0] > 0, lambda y: jnp.sum(y**2), lambda y: jnp.sum(jnp.exp(y)), x),
    "switch": lambda x: lax.switch(jnp.argmax(x), [jnp.sum, lambda y: y @ y, lambda y: jnp.prod(y)], x),
    "checkpoint": lambda x: jax.checkpoint(lambda y: jnp.sum(jnp.sin(y) ** 2))(x),
    "associative_scan": lambda x: lax.associative_scan(lambda a, b: a * b, x).sum(),
    "dynamic slices": lambda x: (
        lax.dynamic_slice(x, (jnp.argmax(x),), (2,)) @ lax.dynamic_update_slice(x, x[:2], (2,))[:2]
    ),
    "clip mode": lambda x: jnp.take(x, I, mode="clip") @ x,
    "fill mode": lambda x: jnp.sum(jnp.take(x, I, mode="fill", fill_value=2.0) ** 2),
    "at set": lambda x: x.at[jnp.array([2, 0, 7, -9, 1])].set(x * 3.0) @ x,  # which of several counts is open
    "at add": lambda x: x.at[I].add(x * 3.0) @ x,
    "at multiply": lambda x: x.at[jnp.array([1, 3])].multiply(3.0) @ x,
    "at subtract": lambda x: x.at[1:3].subtract(x[0]) @ x,
    "at max": lambda x: jnp.sum(x.at[jnp.array([1, 3])].max(0.0)),
    "segments": lambda x: jnp.sum(jax.ops.segment_sum(x, jnp.array([0, 1, 0, 2, 1]), 3) ** 2),
    "relu and its like": lambda x: jnp.sum(jax.nn.relu(x) + jax.nn.silu(x) * jax.nn.gelu(x) + jax.nn.softplus(x)),
    "rules at a negative": lambda x: jnp.sum(
        jax.nn.log_sigmoid(x) + jnp.logaddexp(-x, 0.0) + jnp.logaddexp(x, 0.1 * x)
    ),
    "running extrema": lambda x: jnp.sum(lax.cummax(x) * lax.cummin(x, reverse=True) + lax.cumlogsumexp(x)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_programs_and_their_gradients(name):
    check_gradient(LOOPS[name], X)


def test_while_loops_have_gradients_that_jax_has_not():
    check(newton, 3.0)
    np.testing.assert_allclose(numbagraph.grad(numbagraph.from_jax(newton))(3.0), 0.5 / np.sqrt(3.0), rtol=1e-9)


def test_loops_over_batches_end_with_their_last_element():
    x = np.array([3.0, 0.01, 250.0])
    check(jax.vmap(newton), x)
    check(jax.vmap(jax.vmap(newton)), x.reshape(3, 1))
    np.testing.assert_allclose(
        numbagraph.grad(lambda x: np.sum(numbagraph.from_jax(jax.vmap(newton))(x)))(x), 0.5 / np.sqrt(x), rtol=1e-9
    )
    check(lambda x: jax.scipy.special.expi(x) + jax.scipy.special.exp1(x), x)


def test_batches():
    def single(row, k):
        return lax.dynamic_slice(row, (k,), (2,)).sum() + row.at[k].set(0.0)[0] + row[k]

    numbers = np.array([0, 2, 1, 7])
    expected = jax.vmap(single)(M, numbers)
    np.testing.assert_allclose(numbagraph.vmap(numbagraph.from_jax(single))(M, numbers), expected)
    np.testing.assert_allclose(numbagraph.from_jax(jax.vmap(single))(M, numbers), expected)


@pytest.mark.repeats
def test_batches_of_matrices():
    a = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
    b = RNG.normal(size=(2, 3))
    check(jax.vmap(jnp.linalg.solve), a, b)
    check(lambda a: jnp.linalg.inv(a) + jnp.linalg.qr(a)[1] * 0, a)
    check(lambda a, b: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(a @ a.swapaxes(1, 2))[0], True), b[0]), a, b)
    check(lambda a: jax.scipy.linalg.solve_triangular(a[0], a[1], trans="T", lower=True, unit_diagonal=True), a)
    check(lambda a: jax.scipy.linalg.expm(a[0]), a)
    check(lambda a: jnp.linalg.pinv(a[0, :2]), a)


def test_what_has_no_solution_is_nan():
    found = numbagraph.from_jax(jnp.linalg.cholesky)(-np.eye(2))
    assert np.isnan(found[0, 0])


def integers(x, y):
    return lax.div(x, y), lax.rem(x, y), x // y, x % y, x << 2, lax.shift_right_logical(x, jnp.int32(3)), x**3, ~x ^ y


def test_integers_wrap_and_divide_as_xla_has_it():
    x = np.array([7, -7, 7, -7, 5, -(2**31)], np.int32)
    y = np.array([2, 2, -2, -2, 0, -1], np.int32)
    check(integers, x, y)
    check(lambda x: (x.sum(), jnp.prod(x), jnp.cumsum(x), x.max(), jnp.bitwise_count(x)), x)
    check(lambda x: lax.div(x, x - x), np.array([3, 4], np.uint8))


def test_conversions():
    wild = np.array([1.9, -1.9, 1e30, -1e30, np.nan, np.inf, 3e9])
    for dtype in (jnp.int32, jnp.int64, jnp.uint8, jnp.bool_, jnp.float32, jnp.complex64):
        check(lambda x, dtype=dtype: x.astype(dtype), wild)


def test_bits():
    patterns = np.array(
        [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0xFFC00000, 0xBF800001], np.uint32
    )
    check(lambda x: lax.bitcast_convert_type(x, jnp.float32), patterns)
    check(lambda x: lax.bitcast_convert_type(x, jnp.float64), RNG.normal(size=5).view(np.uint64))
    check(lambda x: lax.bitcast_convert_type(x, jnp.int32), patterns)
    numbers = np.array([0.0, -0.0, 1.5, -np.pi, 5e-324, -1e-310, np.inf, -np.inf, np.nan, np.finfo(float).max])
    check(lambda x: (lax.bitcast_convert_type(x, jnp.uint64), lax.bitcast_convert_type(x, jnp.int64)), numbers)
    check(lambda x: lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32), numbers)
    check(lambda x: x * lax.bitcast_convert_type(np.float64(1.5), jnp.int64), np.arange(3))
    check_gradient(lambda x: jnp.sum(x * lax.bitcast_convert_type(x, jnp.int64).astype(float)), numbers[2:4])
    check(lambda x: lax.bitcast_convert_type(x, jnp.uint32), numbers)
    check(lambda x: lax.bitcast_convert_type(x.reshape(-1, 4), jnp.float64), patterns[:8].astype(np.uint16))


def test_logarithms_and_squares_keep_their_figures():
    x = np.array([8.0, 1e-300, 1.0, np.nextafter(1.0, 2.0), 0.3])
    np.testing.assert_allclose(numbagraph.from_jax(jnp.log2)(x), np.log2(x), rtol=1e-14)
    slope = numbagraph.grad(numbagraph.from_jax(jnp.tanh))
    for point in (0.0, 1e-20, 0.5, 3.0):
        np.testing.assert_allclose(slope(point), 1 / np.cosh(point) ** 2, rtol=1e-12)


def test_differences_of_squares():
    if not hasattr(lax, "one_minus_square"):
        pytest.skip("one_minus_square and polynomial are there from JAX 0.11 and 0.12 on")
    x = np.array([0.0, 1e-20, 0.5, 1 - 1e-15, -1.0])
    check(lax.one_minus_square, x)
    np.testing.assert_allclose(
        numbagraph.grad(lambda x: numbagraph.from_jax(lax.one_minus_square)(x).sum())(x), -2 * x, rtol=1e-15
    )
    check(lax.one_minus_square, np.array([3, -2, 0], np.int32))
    check(lambda x: x * lax.one_minus_square(np.float64(0.5)), x)


def test_polynomials():
    if not hasattr(lax, "polynomial"):
        pytest.skip("polynomial is there from JAX 0.12 on")
    x = RNG.normal(size=5)
    for coefficients in ([2.0], [1.0, 5.0, 2.0], list(range(1, 12)), [x, 1.0, x**2]):
        expected = np.sum([np.asarray(each) * x**power for power, each in enumerate(coefficients)], axis=0)
        found = numbagraph.from_jax(lambda x, given=coefficients: lax.polynomial(x, given))(x)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
        check_gradient(lambda x, given=coefficients: jnp.sum(lax.polynomial(x, given)), x)


def test_special_points():
    wild = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, 2.5])
    check(lambda x: (jnp.sort(x), jnp.argsort(x), jnp.argmax(x), jnp.round(x), jnp.sign(x), lax.top_k(x, 3)), wild)
    check(
        lambda x: (jnp.maximum(x, 1.0), jnp.clip(x, -1, 1), jnp.isnan(x), jnp.nanmax(x), jnp.searchsorted(x[3:], x)),
        wild,
    )
    check(lambda x: (lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), lax.reduce_precision(x, 11, 52)), wild)


def test_lengths_of_zero_and_one():
    def program(x):
        return x.sum(), jnp.cumsum(x), x[::-1], jnp.sort(x), lax.scan(lambda c, y: (c + y, c), 0.0, x), jnp.pad(x, 1)

    for length in (0, 1, 2):
        check(program, np.ones(length))


def test_paddings():
    for config in ([(1, 2, 0), (0, 0, 0)], [(-1, 2, 1), (1, -1, 2)], [(-2, -1, 0), (0, 1, 0)]):
        check(lambda x, config=config: lax.pad(x, 0.5, config), M)


def test_gathers_and_scatters_of_windows():
    numbers = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(1, 0))
    starts = np.array([[0, 1], [2, 3], [9, 9]])
    for mode in ("clip", "fill"):
        check(lambda x, mode=mode: lax.gather(x, starts, numbers, (2, 2), mode=mode), M)
    places = lax.ScatterDimensionNumbers((1, 2), (), (1, 0))
    updates = np.arange(12.0).reshape(3, 2, 2)
    for mode in ("clip", "fill"):
        check(lambda x, mode=mode: lax.scatter_add(x, starts, updates, places, mode=mode), M)


def test_random_numbers_are_those_of_jax():
    def draws(seed):
        key = jax.random.PRNGKey(seed)
        first, second = jax.random.split(key)
        folded = jax.random.fold_in(second, 3)
        return (
            jax.random.normal(first, (2, 3)), jax.random.uniform(second, (5,), jnp.float32),
            jax.random.randint(folded, (4,), 0, 10), jax.random.bernoulli(first, 0.3, (7,)),
            jax.random.permutation(second, 5), jax.vmap(jax.random.exponential)(jnp.stack([first, second])),
        )  # fmt: skip

    check(draws, 7)


KEYS = {
    "unpacked": lambda k: list(jax.random.split(k, 3)),
    "a run-time place": lambda k: jax.random.split(k, 5)[jax.random.randint(k, (), 0, 5)],
    "a slice": lambda k: jax.random.split(k, 5)[4:1:-2],
    "places": lambda k: jax.random.split(k, 5)[jnp.array([3, 1, 3])],
    "replaced": lambda k: jax.random.split(k, 5).at[1].set(k),
    "reshaped": lambda k: jax.random.split(k, 6).reshape(2, 3).T,
    "joined": lambda k: jnp.concatenate([jax.random.split(k, 2), jnp.stack([k])]),
    "chosen": lambda k: jnp.where(jnp.array([True, False]), jax.random.split(k), k),
    "branches": lambda k: lax.cond(jax.random.bernoulli(k), lambda k: jax.random.split(k)[0], lambda k: k, k),
    "carried": lambda k: lax.scan(lambda k, _: (jax.random.fold_in(k, 1), k), k, None, length=3),
    "cloned": jax.random.clone,
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_moved(name):
    check(lambda seed: jax.tree.map(jax.random.key_data, KEYS[name](jax.random.key(seed))), 7)


def test_keys_are_compared():
    def compared(seed):
        keys = jax.random.split(jax.random.key(seed), (2, 3))
        return keys == keys[0], keys != keys[1, 2], keys[:, :0] == jax.random.key(seed)

    check(compared, 7)


GAMMAS = {
    "gamma": jax.random.gamma,
    "loggamma": jax.random.loggamma,
    "beta": lambda key, a: jax.random.beta(key, a, 2 * a),
    "dirichlet": jax.random.dirichlet,
    "t": jax.random.t,
    "chisquare": jax.random.chisquare,
    "float32": lambda key, a: jax.random.gamma(key, a.astype(jnp.float32), dtype=jnp.float32),
    "keys": lambda key, a: jax.vmap(lambda each: jax.random.gamma(each, a))(jax.random.split(key, 2)).sum(0),
}


@pytest.mark.repeats
@pytest.mark.parametrize("name", GAMMAS)
@pytest.mark.parametrize("make", [jax.random.key, pytest.param(jax.random.PRNGKey, marks=pytest.mark.repeats)])
def test_gamma_numbers_and_their_implicit_derivatives(name, make):
    tolerance = 1e-5 if name == "float32" else 1e-10

    def draw(seed, a):
        return GAMMAS[name](make(seed), a)

    def weighted(f, a):
        return (f(7, a) * np.array([1.0, 2.0, -1.0])).sum()

    a, f = np.array([0.3, 1.2, 5.0]), numbagraph.from_jax(draw)
    np.testing.assert_allclose(f(7, a), draw(7, jnp.asarray(a)), rtol=tolerance)
    expected = jax.grad(lambda a: weighted(draw, a))(jnp.asarray(a))
    np.testing.assert_allclose(numbagraph.grad(lambda a: weighted(f, a))(a), expected, rtol=tolerance)


def test_gamma_numbers_that_are_none_or_next_to_none():
    parameters = jnp.array([2.5, 0.0, -1.0, jnp.nan, jnp.inf, 1e-3])
    check(lambda seed: jax.random.gamma(jax.random.key(seed), parameters), 7)
    slope = numbagraph.grad(numbagraph.from_jax(lambda a: jax.random.gamma(jax.random.key(1), a)))(3e-4)
    assert abs(slope) < 1e-200, "the number is below all of float64"


def test_rules_of_jax_hold():
    @jax.custom_vjp
    def clipped(x):
        return jnp.clip(x, 0, 1)

    clipped.defvjp(lambda x: (clipped(x), x), lambda x, g: (7 * g * x,))

    @jax.custom_jvp
    def doubled(x, y):
        return x * y

    doubled.defjvp(lambda p, t: (doubled(*p), 5 * t[0] * p[1] + t[1]))
    check_gradient(lambda x: jnp.sum(clipped(x) * doubled(x, x[::-1])), X)
    both = numbagraph.vmap(numbagraph.grad(numbagraph.from_jax(lambda x: jnp.sum(doubled(x, 2 * x)))))(M)
    np.testing.assert_allclose(both, jax.vmap(jax.grad(lambda x: jnp.sum(doubled(x, 2 * x))))(M))
    tangent = numbagraph.jvp(numbagraph.from_jax(lambda x: doubled(x, x)), (X,), (X,))[1]
    np.testing.assert_allclose(tangent, jax.jvp(lambda x: doubled(x, x), (X,), (X,))[1])


def test_second_derivatives():
    def energy(x):
        return jnp.sum(jax.nn.softplus(x) ** 2) + jnp.linalg.slogdet(jnp.outer(x, x) + jnp.eye(5))[1]

    expected = jax.hessian(energy)(X)
    np.testing.assert_allclose(numbagraph.hessian(numbagraph.from_jax(energy))(X), expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(numbagraph.from_jax(jax.hessian(energy))(X), expected, rtol=1e-8, atol=1e-10)


def test_inside_of_compiled_functions_lengths_may_change():
    inner = numbagraph.from_jax(lambda x, y: jnp.outer(x, y).sum() if len(x) > 2 else x.sum())

    @numbagraph.graph_jit
    def outer(x, y):
        return inner(x[1:], y) * len(y)

    for n, m in ((5, 4), (6, 4), (2, 3), (5, 4), (4, 4), (1, 2)):
        x, y = np.ones(n), np.ones(m)
        assert outer(x, y) == ((n - 1) * m if n - 1 > 2 else n - 1) * m
    loop = numbagraph.graph_jit(lambda x: sum(inner(row, row) for row in x))
    assert loop(np.ones((3, 4))) == 48.0


def test_trees_options_and_dtypes():
    def model(p, scale=2.0):
        return {"out": p["w"] * scale, "shape": p["w"].shape[0], "pair": (p["b"], None)}

    f = numbagraph.from_jax(model)
    found = f({"w": np.ones(3, np.float32), "b": np.arange(2)}, scale=3.0)
    assert found["out"].dtype == np.float32
    assert (found["out"] == 3).all()
    assert found["shape"] == 3
    assert found["pair"][0].dtype == np.int64
    assert found["pair"][1] is None


def test_a_shape_that_is_known_is_found_natively():
    f = numbagraph.from_jax(lambda x, y: x.sum() * x.shape[0] + y.shape[0])
    for _ in range(2):
        for n, m, dtype in ((2, 1, "f8"), (3, 4, "f8"), (0, 2, "f4"), (1, 1, "f8"), (3, 2, "f4")):
            found = f(np.ones(n, dtype), np.zeros(m))
            assert found == n * n + m
            assert found.dtype == dtype
    assert f.cache_info().versions == 5


def test_both_ways():
    f = lambda x: np.sum(np.sin(x) ** 2)  # noqa: E731
    assert numbagraph.from_jax(numbagraph.to_jax(f))(X) == pytest.approx(f(X), rel=1e-14)
    g = numbagraph.to_jax(numbagraph.from_jax(lambda x: jnp.sum(jnp.sin(x) ** 2)))
    np.testing.assert_allclose(jax.jit(jax.grad(g))(X), np.sin(2 * X), rtol=1e-12)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_backends(backend):
    inner = numbagraph.from_jax(lambda x: jnp.cumsum(jnp.where(x > 0, x, x**2)))
    f = numbagraph.graph_jit(lambda x: inner(x) + 1, backend=backend)
    np.testing.assert_allclose(f(X), np.cumsum(np.where(X > 0, X, X**2)) + 1)


def test_what_is_refused():
    with pytest.raises(NotImplementedError, match=r"bfloat16.*numbagraph has no type for"):
        numbagraph.from_jax(lambda x: x.astype(jnp.bfloat16))(X)
    with pytest.raises(TypeError, match="from_jax takes functions of JAX, not 3"):
        numbagraph.from_jax(3)
    total = numbagraph.from_jax(jnp.sum)
    with pytest.raises(TraceError, match="lengths that are known"):
        numbagraph.graph_jit(lambda x: total(x[x > 0]))(X)
    with pytest.raises(TraceError, match="any length"):
        numbagraph.graph_jit(lambda x: total(x)).address(X)


def test_the_configuration_of_jax_does_not_count():
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = numbagraph.from_jax(lambda x: (x * jnp.ones(5), jnp.arange(3), x.sum(dtype=jnp.float32)))(X)
        assert [each.dtype for each in found] == [np.float64, np.int64, np.float32]
        assert jnp.arange(2.0).dtype == np.float32


def test_pickles_and_threads():
    import pickle
    from concurrent.futures import ThreadPoolExecutor

    f = pickle.loads(pickle.dumps(numbagraph.from_jax(newton)))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(f, [4.0, 9.0, 16.0, 25.0] * 5)) == pytest.approx([2.0, 3.0, 4.0, 5.0] * 5)


def test_static_arguments_reach_jax_as_they_are():
    @functools.partial(jax.jit, static_argnames=("n", "activation"))
    def powers(x, n, activation=jnp.sin, mode="sum"):
        found = activation(sum(x**k for k in range(n)))
        return found if mode == "sum" else -found

    f = numbagraph.from_jax(powers)
    expected = np.sin(1 + X + X**2)
    np.testing.assert_allclose(numbagraph.graph_jit(f, static_argnames="n")(X, 3), expected, rtol=1e-12)
    np.testing.assert_allclose(numbagraph.graph_jit(lambda x: f(x, n=3))(X), expected, rtol=1e-12)
    np.testing.assert_allclose(numbagraph.graph_jit(lambda x: f(x, 3, jnp.cos))(X), np.cos(1 + X + X**2), rtol=1e-12)
    slope = numbagraph.grad(lambda x: np.sum(f(x, 3)))(X)
    np.testing.assert_allclose(slope, np.cos(1 + X + X**2) * (1 + 2 * X), rtol=1e-12)


def test_texts_choose_as_they_do_in_jax():
    def signed(x, mode):
        return x if mode == "plus" else -x

    f = numbagraph.graph_jit(numbagraph.from_jax(signed))
    np.testing.assert_array_equal(f(X, "plus"), X)
    np.testing.assert_array_equal(f(X, "minus"), -X)


def test_errors_of_jax_speak_of_jaxs_tracers():
    f = numbagraph.graph_jit(numbagraph.from_jax(lambda x: x if x > 0 else -x))
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        f(1.0)
    assert "from_jax" not in "".join(getattr(caught.value, "__notes__", []))


def test_arrays_of_jax_from_outside_of_a_trace_are_operands():
    """Larger ones than those that become part of the code."""
    other, x = jnp.arange(40.0), np.linspace(0, 1, 40)
    known = np.asarray(other)
    for function, expected in (
        (lambda x: x * 2 + other, x * 2 + known),
        (lambda x: np.where(x > 0.5, other, x), np.where(x > 0.5, known, x)),
        (lambda x: np.concatenate([other, x])[::8], np.concatenate([known, x])[::8]),
        (lambda x: numbagraph.grad(lambda a: np.sum(a * a * x))(other), 2 * known * x),
        (lambda x: numbagraph.from_jax(jnp.add)(other, x), known + x),
    ):
        np.testing.assert_allclose(numbagraph.graph_jit(function)(x), expected, rtol=1e-6)


@pytest.mark.parametrize("function", [jax.device_put, jax.nn.logsumexp, jnp.sin, jax.vmap(jnp.sin), jax.grad(jnp.sin)])
def test_what_jax_reads_itself_is_not_followed(function):
    """JAX's modules hold thousands of objects, which took minutes to look at."""
    walk, outside = Walk(numbagraph.from_jax(function), ()), Outside(numbagraph.from_jax(function), ())
    assert not [each for each in walk.codes.values() if "jax" in each.co_filename.rsplit("-packages")[-1]]
    assert not walk.guards
    assert not outside.codes


SCALE = 2.0


@pytest.mark.parametrize("through", [lambda f: f, jax.vmap, lambda f: jax.vmap(jax.vmap(f))])
def test_what_the_users_function_reads_is_guarded_behind_functions_of_jax(through, monkeypatch):
    f = numbagraph.from_jax(through(lambda x: x * SCALE))
    np.testing.assert_array_equal(f(M), M * 2.0)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    np.testing.assert_array_equal(f(M), M * 3.0)
