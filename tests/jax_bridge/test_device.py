"""Functions on JAX's backend with arrays of JAX, which stay where they are: NumPy's dtypes, values and errors."""

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import numbagraph

jax = pytest.importorskip("jax")
from jax import numpy as jnp  # noqa: E402

X = np.array([0.5, -1.0, 2.0], np.float32)
Y = np.array([2.0, 0.25, 0.5], np.float32)


def on_jax(function: Any, **options: Any) -> Any:
    return numbagraph.graph_jit(function, backend="jax", **options)


def require_equal(found: Any, expected: Any) -> None:
    """The same tree in the same order, of arrays of JAX where NumPy's has arrays or numbers of its own."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            require_equal(*pair)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert isinstance(found, jax.Array)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        values: Any = expected
        np.testing.assert_allclose(found, values, rtol=1e-6)
    else:
        assert found == expected


def check(function: Any, *args: Any, **kwargs: Any) -> None:
    """A first call and a second one, which knows the way, beside plain Python."""

    def with_jax(given: Any) -> Any:
        return jax.numpy.asarray(given) if isinstance(given, np.ndarray) else given

    compiled = on_jax(function)
    given = [jax.tree_util.tree_map(with_jax, each) for each in args]
    if any(isinstance(each, dict) for each in args):  # tree_map sorts them
        given = [{k: with_jax(v) for k, v in each.items()} if isinstance(each, dict) else each for each in args]
    for _ in range(3):
        require_equal(compiled(*given, **kwargs), function(*args, **kwargs))


class Pair(NamedTuple):
    first: Any
    second: Any


def test_results_are_arrays_of_jax_with_the_dtypes_of_numpy():
    captured = np.array([0.1, 0.2, 0.3])
    check(lambda x, y: (x * y, np.sum(x), x > 0, np.argmax(x)), X, Y)
    check(lambda x: x * captured, X)
    check(lambda x: (x,), X)
    check(lambda x: x.astype(np.int8) * 2, X)
    check(lambda x: x * 2, np.zeros(0, np.float32))
    check(lambda x: None, X)


def test_numbers_of_python_and_arrays_of_numpy_beside_them_keep_their_precision():
    f = on_jax(lambda x, y, scale: (x + y) * scale)
    wide = np.array([0.1, 0.2, 0.3])
    for args in ((jnp.asarray(X), wide, 0.1), (wide, jnp.asarray(X), 0.1), (jnp.asarray(X), wide, np.float64(0.1))):
        found = f(*args)
        assert (type(found), found.dtype) == (type(jnp.zeros(1)), np.float64)
        np.testing.assert_allclose(found, (X + wide) * 0.1, rtol=1e-15)
    assert f(jnp.asarray(X), jnp.asarray(X), 0.1).dtype == np.float32
    assert f(jnp.asarray(X), jnp.asarray(X), np.float64(0.1)).dtype == np.float64
    assert f(jnp.arange(3), jnp.asarray(3), True).dtype == np.int32
    with pytest.raises(OverflowError):
        f(jnp.asarray(X), X, 2**70)


def test_arrays_of_numpy_give_arrays_of_numpy_before_and_afterwards():
    f = on_jax(lambda x: x * 2)
    for given in (X, jnp.asarray(X), X, jnp.asarray(X), X):
        assert isinstance(f(given), np.ndarray) == isinstance(given, np.ndarray)


def test_trees_keep_their_order():
    def scaled(weights):
        return {name: weight * (1 + place) for place, (name, weight) in enumerate(weights.items())}

    check(scaled, {"b": X, "a": Y})
    check(scaled, {"a": X, "b": Y})
    check(lambda pair: Pair(pair.first + pair.second, [pair.first, None, "text", 3]), Pair(X, Y))
    check(lambda x, others: [x, *others], X, [Y, (X)])
    check(lambda x, nothing: x if nothing is None else nothing, X, None)


def test_keywords_defaults_and_static_arguments():
    def f(x, n=2, *, k=1.0):
        return x * n + k

    check(f, X)
    check(f, X, 3)
    check(f, X, k=0.5)
    compiled = on_jax(lambda x, axis, how: np.sum(x, axis) if how == "sum" else np.max(x, axis), static_argnames="axis")
    x = jnp.ones((2, 3))
    assert compiled(x, 0, "sum").tolist() == [2, 2, 2]
    assert compiled(x, axis=1, how="max").tolist() == [1, 1]


def test_lengths_follow_from_numbers_of_python():
    def rows(x, n):
        return np.broadcast_to(x, (n, 3)) + np.arange(n)[:, None]

    compiled = on_jax(rows)
    for n in (2, 4, 1, 2, 0):
        require_equal(compiled(jnp.asarray(X), n), rows(X, n))


def test_new_shapes_and_dtypes():
    f = on_jax(lambda x, y: np.sum(x * y))
    for x in (X, np.arange(5, dtype=np.int32), np.ones((2, 3), np.float32), X[:1], np.zeros(0, np.float32)):
        for _ in range(2):
            require_equal(f(jnp.asarray(x), jnp.asarray(x)), np.sum(x * x))
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(3,\) \(4,\)"):
        f(jnp.ones(3), jnp.ones(4))
    require_equal(f(jnp.asarray(X), jnp.asarray(Y)), np.sum(X * Y))


def test_what_a_function_reads_is_seen_when_it_changes():
    scale = 2.0

    def f(x):
        return x * scale

    compiled = on_jax(f)
    for scale in (2.0, 3.0, 2.0, 2.0, -1.0, 3.0):
        require_equal(compiled(jnp.asarray(X)), X * np.float32(scale))


def test_methods_read_their_object():
    class Model:
        scale = 2.0

        @numbagraph.graph_jit(backend="jax")
        def run(self, x):
            return x * self.scale

    model, other = Model(), Model()
    other.scale = 5.0
    for scale in (2.0, 3.0, 2.0):
        model.scale = scale
        require_equal(model.run(jnp.asarray(X)), X * np.float32(scale))
        require_equal(other.run(jnp.asarray(X)), X * np.float32(5))


def test_an_index_out_of_bounds_is_an_error_each_time():
    f = on_jax(lambda x, index: x[index] * 2)
    x = jnp.asarray(X)
    for index in ([0, -1], [0, 3], [2, 2], [-4, 0], [1, 1]):
        if min(index) >= -3 and max(index) < 3:
            require_equal(f(x, jnp.array(index)), X[index] * np.float32(2))
        else:
            with pytest.raises(IndexError, match="out of bounds for axis 0 with size 3"):
                f(x, jnp.array(index))


def test_arrays_of_jax_are_not_written_into():
    def f(x, y):
        x[0] = y[1]
        return y * 2

    compiled, x = on_jax(f), X.copy()
    require_equal(compiled(x, jnp.asarray(Y)), Y * np.float32(2))
    assert x[0] == Y[1]
    for _ in range(2):
        with pytest.raises(ValueError, match=r"argument x of .* is written into, and JAX's arrays never change"):
            compiled(jnp.asarray(X), jnp.asarray(Y))
    check(lambda x: np.sum(np.negative(x.copy())), X)


def test_what_jax_cannot_do_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="lengths that depend on elements"):
        on_jax(lambda x: x[x > 0])(jnp.asarray(X))
    with pytest.raises(NotImplementedError, match=r"JAX has no numpy.random.Generator"):
        on_jax(lambda x, rng: x + rng.normal())(jnp.asarray(X), np.random.default_rng(1))
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        on_jax(lambda x, y: x + y)(jnp.asarray(X))
    with pytest.raises(TypeError, match="key of JAX"):
        on_jax(lambda x: x)(jax.random.key(0))
    with pytest.raises(TypeError, match="bfloat16 is not supported"):
        on_jax(lambda x: x)(jnp.zeros(2, jnp.bfloat16))


def test_transformations_of_jax_take_it_for_a_function_of_theirs():
    f = on_jax(lambda x: np.sum(np.sin(x) ** 2))
    x = jnp.asarray(X)
    f(x)
    np.testing.assert_allclose(jax.grad(f)(x), 2 * np.sin(X) * np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(f)(x), np.sum(np.sin(X) ** 2), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(f)(jnp.stack([x, 2 * x])), [np.sum(np.sin(k * X) ** 2) for k in (1, 2)], 1e-6)
    np.testing.assert_allclose(on_jax(numbagraph.grad(f))(x), 2 * np.sin(X) * np.cos(X), rtol=1e-6)


def test_numbers_of_python_follow_its_rules_and_arrays_those_of_arrays():
    f = on_jax(lambda x, scale: x * (1.0 / scale) + scale**2)
    expected = X * np.float32(0.5) + np.float32(4)
    x = jnp.asarray(X)
    for scale in (2.0, jnp.asarray(2.0), 2.0, jnp.asarray(2.0)):
        require_equal(f(x, scale), expected)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            f(x, 0.0)
        assert np.isinf(f(x, jnp.asarray(0.0))).all()


def test_captured_positions_are_looked_at_once():
    places = np.array([0, -1, 2])
    f = on_jax(lambda x: x[places])
    x = jnp.asarray(X)
    for _ in range(2):
        require_equal(f(x), X[places])
        with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
            f(x[:2])


def test_captured_arrays_serve_transformations_of_jax_too():
    captured = np.array([0.1, 0.2, 0.3])
    f, x = on_jax(lambda x: x * captured), jnp.asarray(X)
    require_equal(f(x), X * captured)
    np.testing.assert_allclose(jax.jit(f)(x), X * captured, rtol=1e-6)
    require_equal(f(x), X * captured)


def test_loops_and_branches():
    def total(x, least):
        found = 0.0
        for each in x:
            if each > least:
                found = found + each
        return found

    compiled = on_jax(total)
    for x in (X, np.arange(6, dtype=np.float32)):
        np.testing.assert_allclose(compiled(jnp.asarray(x), 0.25), total(x, 0.25))


def test_blocks_that_ask_for_more():
    f = on_jax(np.log)
    assert np.isnan(f(jnp.asarray(X))[1])
    with numbagraph.debug_nans(), pytest.raises(FloatingPointError, match=r"element \[1\] of log"):
        f(jnp.asarray(X))
    assert np.isnan(f(jnp.asarray(X))[1])
    with pytest.raises(FloatingPointError):
        on_jax(lambda x: np.log(x), debug_nans=True)(jnp.asarray(X))


def test_shared_variables_and_out():
    count = numbagraph.shared(np.float32(0))

    def f(x):
        count.value = count.value + 1
        return x * count.value

    compiled = on_jax(f)
    for number in (1, 2, 3):
        np.testing.assert_allclose(compiled(jnp.asarray(X)), X * number)
    out = np.zeros(3, np.float32)
    assert on_jax(lambda x: x * 2)(jnp.asarray(X), out=out) is out
    assert out.tolist() == (X * 2).tolist()


def plain(x):
    return x + 1


def test_a_function_that_has_run_is_pickled_and_cleared():
    f = numbagraph.graph_jit(plain, backend="jax")
    f(jnp.asarray(X))
    require_equal(pickle.loads(pickle.dumps(f))(jnp.asarray(X)), X + np.float32(1))
    f.cache_clear()
    require_equal(f(jnp.asarray(X)), X + np.float32(1))


def test_jax_is_not_imported_for_a_function_that_has_not_run():
    import subprocess
    import sys

    code = "import sys, numbagraph as ng; ng.graph_jit(abs, backend='jax'); assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
