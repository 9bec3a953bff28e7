"""Remainders of floating-point numbers in loops of vectors: NumPy's, to the sign of zero, for two widths of vectors."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.target import Target, emitting_for, host
from numbagraph.ir.structs import replace

rng = np.random.default_rng(11)


def without(*features: str) -> Target:
    found = host().features
    for each in features:
        found = found.replace(f"+{each}", f"-{each}")
    return replace(host(), features=found)


TARGETS = {
    "host": host,
    "without AVX-512": lambda: without("avx512"),
    "without FMA": lambda: without("avx512", "fma,", "fma4"),
}


def special(dtype: np.dtype) -> np.ndarray:
    limits = np.finfo(dtype)
    sizes = [0, 1, 2, 3, 0.1, np.pi, 1e10, 2.0**23, 2.0**24, 2.0**52, 2.0**53, np.inf, limits.max, limits.tiny]
    sizes += [limits.smallest_subnormal, limits.eps, 1 + limits.eps, 1 - limits.epsneg]
    return np.array([*sizes, *(-each for each in sizes), np.nan], dtype)


def magnitudes(dtype: np.dtype, largest: float) -> np.ndarray:
    return (rng.normal(size=3000) * 10.0 ** rng.uniform(-largest, largest, 3000)).astype(dtype)


def pairs(dtype: np.dtype) -> list[tuple[np.ndarray, np.ndarray]]:
    """Special numbers, numbers of all magnitudes, and multiples with their neighbours, where quotients are rounded."""
    found = [tuple(each.ravel() for each in np.meshgrid(special(dtype), special(dtype)))]
    for largest in (1, 10, 30, 300):
        divisors = magnitudes(dtype, largest)
        multiples = (rng.integers(-(2**20), 2**20, 3000) * divisors).astype(dtype)
        near = [np.nextafter(multiples, dtype.type(end)) for end in (np.inf, -np.inf)]
        found += [(each, divisors) for each in (magnitudes(dtype, largest), multiples, *near)]
    return found


def remainders(x, y):
    return np.fmod(x, y), x % y, x // y, *np.divmod(x, y)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_remainders_are_exact(dtype, target):
    with emitting_for(TARGETS[target]()), np.errstate(all="ignore"):
        compiled = graph_jit(remainders)
        for x, y in pairs(np.dtype(dtype)):
            for found, expected in zip(compiled(x, y), remainders(x, y), strict=True):
                np.testing.assert_array_equal(found, expected, strict=True)
                zeros = expected == 0
                np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_remainders_of_single_numbers_are_exact(dtype):
    compiled = graph_jit(remainders)
    with np.errstate(all="ignore"):
        for x, y in pairs(np.dtype(dtype)):
            expected = np.array(remainders(x[::5], y[::5]))
            found = np.array([compiled(*each) for each in zip(x[::5], y[::5], strict=True)], dtype).T
            np.testing.assert_array_equal(found, expected, strict=True)
            np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


def test_remainders_are_computed_in_vectors():
    x = rng.normal(size=1000)
    assert "vector.body" in graph_jit(lambda x: x % (2 * np.pi)).llvm(x)
