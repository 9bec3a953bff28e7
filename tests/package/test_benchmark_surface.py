"""The calls of `asv_benchmarks.surface` are calls: NumPy and SciPy take them on long arrays."""

import warnings

import pytest

from asv_benchmarks.surface_calls import LONGER, UNSIZED, arguments
from tests.support.coverage.families import families
from tests.support.coverage.measure import function_of


@pytest.mark.parametrize("family", LONGER)
def test_calls_of_long_arrays_are_of_functions_that_are_counted_and_run(family: str) -> None:
    counted = families()[family].calls
    assert set(LONGER[family]) | set(UNSIZED.get(family, "").split()) <= set(counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in LONGER[family].values():
            function, given = function_of(call, arguments(1000))
            function(*given)
