"""Keys and bits: the cipher's published answers, JAX's layout, and the same bits everywhere."""

import subprocess
import sys

import jax
import numpy as np
import pytest

from numbagraph import graph_jit, random, scan, vmap
from numbagraph.random.keys import threefry2x32

BACKENDS = ("numba", "jax", "numpy")
KEY = random.key(7)


@pytest.mark.parametrize("backend", [None, *BACKENDS])
def test_known_answers_of_the_cipher(backend):
    """Those of Random123 (Salmon et al. 2011), for 20 rounds: counters, keys, and what is given."""
    counters = np.array([0, 2**64 - 1, 0x243F6A8885A308D3], np.uint64)
    keys = np.array([[0, 0], [2**32 - 1, 2**32 - 1], [0x13198A2E, 0x03707344]], np.uint32)
    cipher = threefry2x32 if backend is None else graph_jit(lambda *words: threefry2x32(*words), backend=backend)
    expected = np.array([0x6B20015999BA4EFE, 0x1CB996FCBB002BE7, 0xC4923A9C483DF7A0], np.uint64)
    np.testing.assert_array_equal(cipher(*keys.T, counters), expected)


@pytest.mark.parametrize("seed", [0, 7, 2**32 + 5, 2**63 - 1, -3])
def test_keys_are_those_of_jax(seed):
    with jax.enable_x64(True):
        theirs = jax.random.key(seed)
        data = jax.random.key_data
        expected = data(theirs), data(jax.random.split(theirs, (3, 2))), data(jax.random.fold_in(theirs, 12))
        key = random.key(seed)
        for found, wanted in zip((key, random.split(key, (3, 2)), random.fold_in(key, 12)), expected, strict=True):
            assert found.dtype == np.uint32
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_bits_are_those_of_jax(dtype):
    with jax.enable_x64(True):
        for shape in ((), (5,), (3, 4), (0, 2)):
            expected = jax.random.bits(jax.random.key(7), shape, dtype)
            for found in (random.bits(KEY, shape, dtype), graph_jit(lambda k, s=shape: random.bits(k, s, dtype))(KEY)):
                assert (found.dtype, np.shape(found)) == (dtype, shape)
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_simple_numbers_are_those_of_jax(dtype):
    exact = {"uniform": {}}
    close = {"normal": 64, "exponential": 4}
    with jax.enable_x64(True):
        for name in (*exact, *close):
            expected = getattr(jax.random, name)(jax.random.key(7), (50,), dtype)
            found = getattr(random, name)(KEY, 50, dtype)
            assert found.dtype == dtype
            if name in exact:
                np.testing.assert_array_equal(found, expected)
            else:
                tolerance = close[name] * np.finfo(dtype).eps
                np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def drawn(key):
    first, second = random.split(random.fold_in(key, 3))
    return random.bits(first, (2, 3)), random.uniform(second, 4), random.randint(second, 5, -10, 2**40)


@pytest.mark.parametrize("backend", BACKENDS)
def test_bits_are_the_same_in_every_backend(backend):
    for one, other in zip(drawn(KEY), graph_jit(drawn, backend=backend)(KEY), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_bits_are_the_same_in_batches_and_loops():
    keys = random.split(KEY, 4)
    expected = [np.stack(each) for each in zip(*map(drawn, keys), strict=True)]
    for found in (vmap(drawn)(keys), scan(lambda c, key: (c, drawn(key)), 0.0, keys)[1]):
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_loop_folds_in_the_number_of_its_step():
    @graph_jit
    def walk(key, steps):
        place = 0.0
        for step in range(steps):
            place += random.normal(random.fold_in(key, step))
        return place

    for steps in (0, 1, 5):
        expected = sum(random.normal(random.fold_in(KEY, step)) for step in range(steps))
        np.testing.assert_allclose(walk(KEY, steps), expected, rtol=1e-13)


def test_lengths_may_be_known_only_when_the_program_runs():
    @graph_jit
    def sample(key, x, n):
        return random.bits(key, n), random.bits(key, x.shape), random.split(key, n)

    for length in (0, 1, 5):
        x = np.ones((length, 3))
        flat, matrix, keys = sample(KEY, x, length)
        np.testing.assert_array_equal(flat, random.bits(KEY, length))
        np.testing.assert_array_equal(matrix, random.bits(KEY, (length, 3)))
        np.testing.assert_array_equal(keys, random.split(KEY, length))


def test_a_seed_may_be_known_only_when_the_program_runs():
    make = graph_jit(lambda seed: random.key(seed))
    for seed in (0, 5, 2**40, -1):
        np.testing.assert_array_equal(make(seed), random.key(seed))
    np.testing.assert_array_equal(make(np.uint64(2**64 - 1)), random.key(2**64 - 1))


@pytest.mark.parametrize(
    ("draw", "error", "text"),
    [
        (lambda: random.key(0.5), TypeError, "integer"),
        (lambda: random.key(np.arange(2)), TypeError, "a seed is an integer"),
        (lambda: random.key(2**64), OverflowError, "64 bits"),
        (lambda: random.bits(KEY.astype(np.int64)), TypeError, "a key is an array of two numbers of uint32"),
        (lambda: random.bits(random.split(KEY)), TypeError, "under vmap"),
        (lambda: random.bits(np.zeros(3, np.uint32)), TypeError, "a key is an array of two numbers of uint32"),
        (lambda: random.bits(KEY, -1), ValueError, "negative"),
        (lambda: random.bits(KEY, (2, -1, -1)), ValueError, "negative"),
        (lambda: random.bits(KEY, 2, np.int64), TypeError, "bits are of uint8"),
        (lambda: random.normal(KEY, 2, np.int64), TypeError, "float64 or float32"),
    ],
)
def test_what_is_no_key_shape_or_dtype_is_refused(draw, error, text):
    for function in (draw, graph_jit(lambda: draw())):
        with pytest.raises(error, match=text):
            function()


def test_the_module_is_imported_when_it_is_used():
    program = "import sys, numbagraph; assert 'numbagraph.random' not in sys.modules; numbagraph.random.key(1)"
    subprocess.run([sys.executable, "-c", program], check=True)
