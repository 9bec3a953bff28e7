"""Selection, quantiles and partitions: short and long arrays, equal elements, NaN, and samples that mislead."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit, value_and_grad, vmap
from numbagraph.intrinsics.emitters.target import emitting_for, host
from numbagraph.ir.structs import replace
from numbagraph.ops.statistics import quantiles

rng = np.random.default_rng(12)

LENGTHS = (1, 2, 7, 8, 9, 255, 256, 257, 1000, 20011)


def arrays(dtype, length):
    """Elements that differ, few that are equal, one alone, sorted ones, and with NaN."""
    numbers = rng.integers(0, 120, length) * (1000 if np.dtype(dtype).itemsize > 1 else 1)
    yield numbers.astype(dtype)
    yield (numbers % 3).astype(dtype)
    yield np.full(length, 7, dtype)
    yield np.sort(numbers).astype(dtype)
    if np.dtype(dtype).kind == "f":
        yield np.where(rng.random(length) < 0.4, np.nan, rng.normal(size=length)).astype(dtype)
        yield rng.choice([0.0, -0.0, np.inf, -np.inf], length).astype(dtype)


def expected_parts(x, places):
    """The positions of parts that keep their order, by the ranks of a stable sort."""
    ranks = np.argsort(np.argsort(x, kind="stable"))[:, None]
    return np.argsort(2 * (ranks > places).sum(1) + (ranks == places).any(1), kind="stable")


def check(dtype):
    @graph_jit
    def parted(x, k):
        return np.partition(x, k), np.argpartition(x, k)

    for length in LENGTHS:
        for x in arrays(dtype, length):
            several = np.unique([0, length // 3, length // 2, length - 1])
            for places in (several, several[:1], several[-1:], several[len(several) // 2 :][:1]):
                wanted = expected_parts(x, places)
                found = parted(x, places if len(places) > 1 else int(places[0]))
                np.testing.assert_array_equal(found[1], wanted)
                np.testing.assert_array_equal(found[0].view(f"u{x.itemsize}"), x[wanted].view(f"u{x.itemsize}"))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u4", "i2", "u1"])
def test_parts(dtype):
    check(dtype)


@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_parts_on_processors_without_compression(dtype):
    with emitting_for(replace(host(), features=host().features.replace("+avx512vl", "-avx512vl"))):
        check(dtype)


def test_parts_are_those_of_numpy():
    x = rng.normal(size=(5, 40))
    for axis in (0, 1, -1, None):
        found = graph_jit(lambda x, axis=axis: np.partition(x, [3, -2], axis))(x)
        expected = np.partition(x, [3, -2], axis)
        for place in (3, -2):
            np.testing.assert_array_equal(np.take(found, place, axis or 0), np.take(expected, place, axis or 0))
        np.testing.assert_array_equal(np.sort(found, axis), np.sort(expected, axis))


def test_samples_that_mislead_are_found_out():
    """The sample sees what stands at its own places alone: there, elements are those of another range."""
    length = 5000
    places = [(k * 0x9E3779B97F4A7C15 % 2**64) * length >> 64 for k in range(length // 16)]
    x = rng.normal(size=length)
    x[places] += 100
    for k in (0, 10, length // 2, length - 400, length - 1):
        assert graph_jit(np.quantile, static_argnames="method")(x, k / (length - 1), method="nearest") == np.sort(x)[k]
    y = np.arange(length) % 2 * 1.0
    y[places[::2]] = 0.5
    np.testing.assert_array_equal(
        graph_jit(lambda x: np.quantile(x, [0.2, 0.5, 0.9]))(y), np.quantile(y, [0.2, 0.5, 0.9])
    )


METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest"
).split()


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_at_and_between_elements(method):
    """The positions of elements are where methods jump."""
    shares = np.concatenate([np.arange(0, 13) / 12, np.linspace(0, 1, 23)])
    for length in (1, 2, 12, 13):
        x = rng.normal(size=length)
        found = graph_jit(lambda x: np.quantile(x, shares, method=method))(x)
        np.testing.assert_allclose(found, np.quantile(x, shares, method=method), rtol=1e-13, atol=1e-15)
    x = rng.normal(size=(4, 6))
    x[1, 2:4] = np.nan
    for function in (np.nanquantile, np.quantile):
        found = graph_jit(lambda x, f=function: f(x, [0.25, 0.5, 1.0], axis=1, method=method))(x)
        np.testing.assert_allclose(found, function(x, [0.25, 0.5, 1.0], axis=1, method=method), rtol=1e-13)


def test_many_quantiles_and_as_many_as_the_call_says():
    x, shares = rng.normal(size=(3, 50)), rng.random((2, 20))
    for q in (shares, shares[0], shares[0, :0], 0.3):
        found = graph_jit(lambda x, q: np.percentile(x, q * 100, axis=1))(x, q)
        np.testing.assert_allclose(found, np.percentile(x, np.asarray(q) * 100, axis=1), rtol=1e-13)


def test_weights():
    x, w = rng.normal(size=(3, 8)), rng.integers(0, 4, (3, 8)) * 1.0
    q = [0.0, 0.25, 0.5, 1.0]
    calls: dict[str, Callable[..., Any]] = {
        "rows": lambda x, w: np.quantile(x, q, axis=1, weights=w, method="inverted_cdf"),
        "columns": lambda x, w: np.percentile(x, 30, axis=0, weights=w[:, 0] + 1, method="inverted_cdf"),
        "all": lambda x, w: np.quantile(x, q, weights=w, method="inverted_cdf"),
        "gaps": lambda x, w: np.nanquantile(
            np.where(x > 1, np.nan, x), q, axis=1, weights=w + 1, method="inverted_cdf"
        ),
    }
    for function in calls.values():
        np.testing.assert_array_equal(graph_jit(function)(x, w), function(x, w))
    for bad, text in ((-w, "non-negative"), (w * 0, "all zero")):
        with pytest.raises(ValueError, match=text):
            graph_jit(calls["rows"])(x, bad)
    with pytest.raises(ValueError, match="Only method 'inverted_cdf'"):
        graph_jit(lambda x, w: np.quantile(x, q, weights=w))(x.ravel(), w.ravel())


def test_derivatives_go_where_the_elements_stand():
    x = rng.permutation(np.arange(600.0))
    value, slope = value_and_grad(lambda x: np.quantile(x, 0.25) + np.median(x) * 2)(x)
    assert value == np.quantile(x, 0.25) + np.median(x) * 2
    expected = np.zeros(600)
    expected[x == 149], expected[x == 150] = 0.25, 0.75
    expected[np.isin(x, (299, 300))] += 1.0
    np.testing.assert_allclose(slope, expected)
    weights = rng.normal(size=600)
    found = grad(lambda x: np.sum(np.partition(x, [20, 300]) * weights))(x)
    expected[expected_parts(x, np.array([20, 300]))] = weights
    np.testing.assert_allclose(found, expected)


def test_nothing_to_select_from():
    empty = np.zeros((2, 0))
    with pytest.warns(RuntimeWarning):
        np.testing.assert_array_equal(graph_jit(lambda x: np.median(x, axis=1))(empty), np.median(empty, axis=1))
    assert grad(lambda x: np.nanmedian(x))(np.zeros(0)).shape == (0,)
    assert graph_jit(lambda x: np.partition(x, 0))(np.zeros(0)).shape == (0,)
    np.testing.assert_array_equal(graph_jit(lambda x: np.partition(x, np.zeros(0, int)))(np.ones(3)), np.ones(3))


def test_batches_of_rows_and_strides():
    x = rng.normal(size=(6, 500))[::2, ::-3]
    np.testing.assert_array_equal(vmap(np.median)(x), np.median(x, axis=1))
    np.testing.assert_array_equal(graph_jit(lambda x: np.median(x, axis=0))(x), np.median(x, axis=0))


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_quantiles_between_equal_infinities_are_infinite(infinity):
    for count in (1, 2, 5):
        x = np.array([0.0] * (count - 1) + [infinity] * count)
        q = 0.0 if infinity < 0 else 1.0
        assert graph_jit(lambda x, q: np.quantile(x, q))(x, q) == infinity
        assert graph_jit(lambda x: np.quantile(x, 0.5))(x[count - 1 :]) == infinity


INFINITE = [
    [-np.inf, np.inf], [1.0, np.inf], [-np.inf, 1.0], [np.inf] * 3, [-np.inf, -np.inf, -1.0, 0.0, 1.0, np.inf, np.inf],
    [-np.inf, 2.0, np.inf], [1.0, 2.0, np.inf, np.inf],
]  # fmt: skip
SHARES = [0.0, 1.0, *np.linspace(0.02, 0.98, 25), 1 / 3, 0.5, 2 / 3]


@pytest.mark.parametrize("method", quantiles.METHODS)
def test_quantiles_between_infinities_are_those_of_numpy_or_an_element(method):
    """Where NumPy subtracts infinities, it is an element that weighs all, or one of two equal ones."""
    compiled = graph_jit(lambda x, q: np.quantile(x, q, method=method))
    for elements in INFINITE:
        x = np.array(elements)
        for q in SHARES:
            with np.errstate(all="ignore"):
                expected = np.quantile(x, q, method=method)
            found = compiled(x, q)
            if not np.isnan(expected):
                assert found == expected
            elif q in (0, 1):
                assert found == x[int(-q)]
            else:
                assert np.isnan(found) or found in elements


@pytest.mark.parametrize("method", quantiles.METHODS)
def test_quantiles_have_the_bits_and_the_zeros_of_numpy(method):
    compiled = graph_jit(lambda x, q: np.quantile(x, q, method=method))
    zeros = [[zero] * count for count in (1, 2, 3) for zero in (0.0, -0.0)]
    for elements in (*zeros, rng.normal(size=7), rng.normal(size=40), rng.normal(size=200), [1e300, 3.0, -1e300]):
        x = np.array(elements)
        for q in SHARES:
            expected, found = np.quantile(x, q, method=method), compiled(x, q)
            assert expected == found
            assert np.signbit(expected) == np.signbit(found)


@pytest.mark.parametrize("function", [np.median, np.nanmedian])
def test_medians_of_zeros_have_no_sign(function):
    compiled = graph_jit(lambda x: function(x))
    for count in (1, 2, 3, 4):
        for elements in itertools.product([0.0, -0.0, 1.0, -1.0], repeat=count):
            expected, found = function(np.array(elements)), compiled(np.array(elements))
            assert expected == found
            assert np.signbit(expected) == np.signbit(found)
    rows = np.full((3, 5), -0.0)
    assert not np.any(np.signbit(graph_jit(lambda x: function(x, axis=0))(rows)))
