"""Quotients and remainders of integers in loops of vectors, whose reference is NumPy's, for two widths of vectors."""

from dataclasses import dataclass

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.target import Target, emitting_for, host
from numbagraph.ir.structs import replace

DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
rng = np.random.default_rng(48)


def without_avx512() -> Target:
    return replace(host(), features=host().features.replace("+avx512", "-avx512"))


TARGETS = {"host": host, "without AVX-512": without_avx512}


@dataclass(frozen=True)
class Pairs:
    """Dividends and divisors."""

    x: np.ndarray
    y: np.ndarray


def edges(dtype: np.dtype) -> np.ndarray:
    """Numbers about all powers of 2, and fractions of the largest."""
    limits = np.iinfo(dtype)
    numbers = {limits.max // 3, limits.max // 2, limits.min // 3, limits.min // 2}
    for power in range(limits.bits + 1):
        numbers |= {sign * 2**power + near for sign in (1, -1) for near in (-1, 0, 1)}
    return np.array([each for each in sorted(numbers) if limits.min <= each <= limits.max], dtype)


def random(dtype: np.dtype, count: int) -> np.ndarray:
    """Of all magnitudes."""
    limits = np.iinfo(dtype)
    shifts = rng.integers(0, limits.bits, count).astype(dtype)
    return rng.integers(limits.min, limits.max, count, dtype, endpoint=True) >> shifts


def multiples(y: np.ndarray, near: int) -> np.ndarray:
    """Multiples of divisors, and their neighbours: there quotients are most sensitive to rounding."""
    with np.errstate(all="ignore"):
        return (
            random(y.dtype, y.size) // np.where(y == 0, y.dtype.type(1), y) * y + np.int64(near).astype(y.dtype)
        ).astype(y.dtype)


def pairs(dtype: np.dtype) -> list[Pairs]:
    x, y = (each.ravel() for each in np.meshgrid(edges(dtype), edges(dtype)))
    divisors = random(dtype, 5000)
    return [Pairs(x, y), Pairs(random(dtype, 5000), divisors)] + [
        Pairs(multiples(divisors, near), divisors) for near in (-1, 0, 1)
    ]


def quotients(x, y):
    return x // y, x % y, np.fmod(x, y), *np.divmod(x, y)


def check(compiled, function, *args) -> None:
    with np.errstate(all="ignore"):
        expected = function(*args)
    for found, wanted in zip(compiled(*args), expected, strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_by_elements_and_by_numbers(dtype, target):
    with emitting_for(TARGETS[target]()):
        compiled = graph_jit(quotients)
        for each in pairs(np.dtype(dtype)):
            check(compiled, quotients, each.x, each.y)
        some = edges(np.dtype(dtype))
        for number in some:
            check(compiled, quotients, some, number)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("divisor", [1, 3, 7, 8, 10, 100])
def test_elements_by_constants(dtype, target, divisor):
    def by_constant(x):
        return x // divisor, x % divisor, np.fmod(x, divisor)

    with emitting_for(TARGETS[target]()):
        check(
            graph_jit(by_constant), by_constant, np.concatenate([edges(np.dtype(dtype)), random(np.dtype(dtype), 999)])
        )


def common(x, y):
    return np.gcd(x, y), np.lcm(x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_common_divisors_and_multiples(dtype):
    compiled = graph_jit(common)
    for each in pairs(np.dtype(dtype)):
        check(compiled, common, each.x, each.y)
