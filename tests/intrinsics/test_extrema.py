"""Extrema of two numbers as NumPy's loops take them: on ARM by its instructions, which order zeros."""

import re

import numpy as np
import pytest

from numbagraph.intrinsics.emitters.target import Target, emitting_for, host
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.testing import special_values

ARM = [Target("aarch64-unknown-linux-gnu", "neoverse-n1"), Target("arm64-apple-macosx", "apple-m1")]
EXTREMA = {np.maximum: "fmax", np.minimum: "fmin", np.fmax: "fmaxnm", np.fmin: "fminnm"}


@pytest.mark.parametrize("target", ARM, ids=["Linux", "macOS"])
@pytest.mark.parametrize(("function", "instruction"), EXTREMA.items(), ids=EXTREMA.values())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_on_arm_they_are_instructions(target, function, instruction, dtype):
    x = np.ones(9, dtype)
    with emitting_for(target):
        text = GraphFunction(lambda x, y: function(x, y), cache=False).asm(x, x)
    instructions = set(re.findall(r"^\s+(\w+)", text, re.MULTILINE))
    assert instructions & {*EXTREMA.values(), "fcmp", "fcmgt", "fcmge", "fcsel", "bsl", "bif", "bit"} == {instruction}


@pytest.mark.parametrize("function", [each for each in EXTREMA if host().is_arm or each in (np.maximum, np.minimum)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_are_chosen_as_numpy_does(function, dtype):
    """In loops of vectors, in what remains of them, and of numbers. On x86, NumPy's `fmax` chooses by the length."""
    numbers = np.concatenate([special_values(np.dtype(dtype)), [0.0, -0.0]]).astype(dtype)
    x, y = (np.ravel(each) for each in np.meshgrid(numbers, numbers))
    compiled = GraphFunction(lambda x, y: function(x, y))
    for length in (1, 3, len(x)):
        for begin in range(0, len(x) - length + 1, max(1, len(x) // 40)):
            pair = x[begin : begin + length], y[begin : begin + length]
            found, expected = compiled(*pair), function(*pair)
            np.testing.assert_array_equal(found, expected, strict=True)
            known = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


GAPS = np.random.default_rng(0).uniform(size=(7, 33))
GAPS[GAPS < 0.2] = np.nan
GAPS[2], GAPS[:, 3], GAPS[4, 5], GAPS[4, 6] = np.nan, np.nan, np.inf, -np.inf


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("initial", [None, np.nan, 0.5, -np.inf, np.inf])
@pytest.mark.parametrize("function", [np.nanmax, np.nanmin])
@pytest.mark.filterwarnings("ignore")
def test_what_is_beside_nan(function, initial, axis):
    """An initial value that is NaN is left out, too."""
    options = {} if initial is None else {"initial": initial}
    for x in (GAPS, GAPS.T, GAPS[::-1], GAPS[:, ::2], GAPS.astype(np.float32), GAPS[:0] if options else GAPS[:1]):
        for more in ({}, {"where": x > 0.5}) if options else ({},):
            found = GraphFunction(lambda x, more=more: function(x, axis, **options, **more))(x)
            np.testing.assert_array_equal(found, function(x, axis, **options, **more), strict=True)


@pytest.mark.skipif(host().is_arm, reason="an infinity in place of NaN is a choice there")
def test_behind_an_infinity_in_place_of_nan_there_is_no_nan():
    text = str(GraphFunction(np.fmax.reduce, cache=False).llvm(GAPS[0]))
    assert "nnan" in text
    for function in (
        lambda x: np.max(np.where(np.isnan(x), np.inf, x), axis=0),
        lambda x: np.where(np.isnan(x), -np.inf, x) + x[0],
        lambda x: np.maximum.accumulate(np.where(np.isnan(x), -np.inf, x), axis=1),
    ):
        np.testing.assert_array_equal(GraphFunction(function)(GAPS), function(GAPS))


@pytest.mark.parametrize("target", ARM, ids=["Linux", "macOS"])
def test_on_arm_the_extremum_of_two_numbers_may_be_nan(target):
    with emitting_for(target):
        text = str(GraphFunction(lambda x, y: np.max(np.fmax(x, y)), cache=False).llvm(GAPS[0], GAPS[0]))
    assert "maxnum" in text
    assert "nnan" not in text
