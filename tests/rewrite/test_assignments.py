"""Assignments that follow each other, of which the function reads what is in between."""

import numpy as np
import pytest

import numbagraph as ng


def mirrored(p):
    p = p.copy()
    p[1:-1] = 0.5 * (p[:-2] + p[2:]) * np.exp(-p[1:-1])
    p[0] = p[1]
    p[-1] = p[-2]
    return p


def stepped(p):
    p = p.copy()
    for _ in range(p.shape[0]):
        p[1:-1] = 0.25 * (p[:-2] + 2.0 * p[1:-1] + p[2:])
        p[0] = p[1]
        p[-1] = p[-2]
    return p


def in_the_argument(p):
    p[1:-1] = p[:-2] - p[2:]
    p[0] = p[1] + p.sum()
    p[-1] = p[-2] * p[0]


def with_what_was_between(p):
    p = p.copy()
    p[2:] = p[:-2] * 2.0
    between = p.copy()
    p[0] = p[2] + between[1]
    p[:2] = p[1:3]
    return p, between, p[0] + between[0]


@pytest.mark.parametrize("function", [mirrored, stepped, in_the_argument, with_what_was_between])
def test_assignments_in_turn_are_those_of_numpy(function):
    compiled = ng.graph_jit(function)
    for length in (3, 4, 9, 40):
        given = np.random.default_rng(length).normal(size=length)
        ours, theirs = given.copy(), given.copy()
        found, expected = compiled(ours), function(theirs)
        for one, other in zip((found, ours), (expected, theirs), strict=True):
            if isinstance(other, tuple):
                for left, right in zip(one, other, strict=True):
                    np.testing.assert_allclose(left, right, rtol=1e-14, atol=1e-14)
            elif other is not None:
                np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def test_gradients_of_assignments_in_turn():
    def total(p):
        return (mirrored(p) * np.arange(1.0, 8.0)).sum()

    p, step = np.random.default_rng(0).normal(size=7), 1e-6
    found = ng.grad(total)(p)
    for number in range(7):
        moved = np.zeros(7)
        moved[number] = step
        assert found[number] == pytest.approx((total(p + moved) - total(p - moved)) / (2 * step), abs=1e-7)


def test_each_assignment_is_made_once():
    lines = str(ng.graph_jit(mirrored).explain(np.ones(9))).splitlines()
    assert sum("fused:" in line and "exp" in line for line in lines) == 1
