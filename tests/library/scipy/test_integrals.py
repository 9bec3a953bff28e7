"""Integrals of samples by `scipy.integrate` in compiled functions."""

import numpy as np
import pytest
from scipy import integrate

from tests.support.scipy_checks import check, check_error

RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 0.9, 40)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8])
def test_integrals(count):
    y, points = RNG.normal(size=(3, count)), np.cumsum(X[:count])
    for function in (integrate.trapezoid, integrate.simpson, integrate.cumulative_trapezoid):
        check(lambda y, f=function: f(y), y)
        check(lambda y, x, f=function: f(y, x), y, points)
        check(lambda y, f=function: f(y, dx=0.3, axis=0), y.T)
        check(lambda y, x, f=function: f(y, x, axis=0), y.T, points)
    check(lambda y: integrate.cumulative_simpson(y, dx=0.3), y)
    check(lambda y, x: integrate.cumulative_simpson(y, x=x, initial=1.5), y, points)
    check(lambda y, x: integrate.cumulative_simpson(y, x=x, axis=0), y.T, points)
    check(lambda y: integrate.cumulative_trapezoid(y, initial=0), y)
    check(lambda y: integrate.simpson(y), np.arange(count))


def test_integrals_of_points_that_coincide():
    y, points = X[:7], np.array([0.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0])
    check(lambda y, x: integrate.simpson(y, x), y, points)
    check(lambda y, x: integrate.simpson(y, x), y[:6], points[:6])


def test_errors_of_integrals():
    check_error(lambda y: integrate.romb(y), X[:4])
    check_error(lambda y, x: integrate.simpson(y, x), X[:4], X[:5])
    check_error(lambda y, x: integrate.cumulative_simpson(y, x=x), X[:4], np.array([0.0, 2.0, 1.0, 3.0]))
    check_error(lambda y: integrate.cumulative_trapezoid(y), X[:0])
