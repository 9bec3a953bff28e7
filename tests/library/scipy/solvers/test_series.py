"""Sums of many terms: `scipy.integrate.nsum` and its derivatives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import nsum
from scipy.special import zeta

import numbagraph as ng

LOW = np.array([1.0, 3.0, -np.inf, -np.inf, 2.0, 1.0, np.nan, 0.0])
HIGH = np.array([np.inf, 9.7, -1.0, np.inf, 1.0, 1e7, 2.0, np.inf])
STEP: Any = np.array([1.0, 0.5, 2.0, 0.5, 1.0, 1.0, 1.0, -1.0])


def term(k, p):
    return 1 / (1 + np.abs(k)) ** p


PROGRAMS: dict[str, Callable[..., Any]] = {
    "all kinds of bounds": lambda p: nsum(term, LOW, HIGH, step=STEP, args=(p,), maxterms=512),
    "too few terms": lambda p: nsum(term, 1.0, np.inf, args=(p,), maxterms=16),
    "divergent": lambda p: nsum(lambda k, p: k ** (p / 9.0), 1.0, np.inf, args=(p,), maxterms=32),
    "tolerances": lambda p: nsum(term, 1.0, np.inf, args=(p,), tolerances={"atol": 1e-4, "rtol": 0.0}),
    "not finite": lambda p: nsum(lambda k, p: p / (k - 2.0), 1.0, 9.0, args=(p,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_errors_and_counts_are_scipys(name):
    found, expected = ng.graph_jit(PROGRAMS[name])(2.5), PROGRAMS[name](2.5)
    np.testing.assert_allclose(found.sum, expected.sum, rtol=1e-12)
    np.testing.assert_allclose(found.error, expected.error, rtol=1e-6, atol=1e-15)
    for field in ("status", "success", "nfev"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


def test_derivatives_by_the_power():
    def total(p):
        return nsum(lambda k, p: k**-p, 1.0, np.inf, args=(p,), maxterms=512).sum

    slope = (zeta(3 + 1e-5) - zeta(3 - 1e-5)) / 2e-5
    np.testing.assert_allclose(ng.graph_jit(ng.grad(total))(3.0), slope, rtol=1e-7)
    p = np.array([3.0, 4.0])
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(total))(p), zeta(p), rtol=1e-8)


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="log=True"):
        ng.graph_jit(lambda p: nsum(term, 1, 2, args=(p,), log=True).sum)(2.0)
    with pytest.raises(ValueError, match="must be non-negative and finite"):
        ng.graph_jit(lambda p: nsum(term, 1, 2, args=(p,), tolerances={"rtol": -1.0}).sum)(2.0)
    with pytest.raises(ValueError, match="`maxterms` must be a non-negative integer"):
        ng.graph_jit(lambda p: nsum(term, 1, 2, args=(p,), maxterms=-1).sum)(2.0)
