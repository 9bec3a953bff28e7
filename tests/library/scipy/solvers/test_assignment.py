"""`scipy.optimize.linear_sum_assignment` in compiled functions."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import numbagraph as ng

COSTS = np.random.default_rng(0).normal(size=(4, 6))


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("costs", [COSTS, COSTS.T, COSTS[:1], COSTS[:0]], ids=["wide", "tall", "one", "none"])
def test_assignments_are_those_of_scipy(costs, maximize):
    function = lambda c: linear_sum_assignment(c, maximize)  # noqa: E731
    for found, expected in zip(ng.graph_jit(function)(costs), function(costs), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_the_cost_of_the_assignment_has_a_derivative():
    def cost(c):
        rows, columns = linear_sum_assignment(c)
        return np.sum(c[rows, columns] ** 2)

    expected = np.zeros_like(COSTS)
    rows, columns = linear_sum_assignment(COSTS)
    expected[rows, columns] = 2 * COSTS[rows, columns]
    np.testing.assert_allclose(ng.graph_jit(ng.grad(cost))(COSTS), expected, rtol=1e-14)


def test_errors_are_those_of_scipy():
    with pytest.raises(ValueError, match="expected a matrix"):
        ng.graph_jit(linear_sum_assignment)(COSTS[0])
    with pytest.raises(ValueError, match="invalid numeric entries"):
        ng.graph_jit(lambda c: linear_sum_assignment(c)[1])(np.full((2, 2), np.nan))
