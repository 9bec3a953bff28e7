"""`linprog` and `milp` of `scipy.optimize` in compiled functions: HiGHS's results, and derivatives by active rows."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

import numbagraph as ng

C = np.array([-3.0, -2.0, -4.0, 0.5])
ROWS = np.array([[1.0, 1.0, 2.0, 0.0], [2.0, 0.0, 3.0, -1.0], [2.0, 1.0, 3.0, 1.0]])
SIDES = np.array([4.0, 5.3, 7.1])
EQUAL, RIGHT = np.array([[1.0, -1.0, 0.5, 1.0]]), np.array([0.4])
PARTS = ("ineqlin", "eqlin", "lower", "upper")


def check(found, expected):
    names = [name for name in expected if not name.startswith("mip_")]
    assert [name for name in found if not name.startswith("mip_")] == names
    for name in names:
        if name in PARTS:
            check(found[name], expected[name])
        elif isinstance(expected[name], str):
            assert found[name] == expected[name]
        elif expected[name] is None:
            assert np.all(np.isnan(found[name]))
        else:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-9, err_msg=name)


def differences(function, x, step=1e-6):
    columns = [(function(x + each) - function(x - each)) / (2 * step) for each in step * np.eye(len(x))]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("method", ["highs", "highs-ds", "highs-ipm"])
def test_results_are_those_of_scipy(method):
    bounds = [(0, None), (None, 1.5), (0.2, 3.0), (-1, 2)]
    compiled = ng.graph_jit(lambda c, b: linprog(c, ROWS, b, EQUAL, RIGHT, bounds, method))
    for c, b in ((C, SIDES), (np.abs(C), SIDES), (C, SIDES - 20.0)):
        check(compiled(c, b), linprog(c, ROWS, b, EQUAL, RIGHT, bounds, method))


FORMS = {
    "no constraints": lambda c: linprog(np.abs(c)),
    "one pair of bounds": lambda c: linprog(c, bounds=(-1, 2)),
    "a matrix of bounds": lambda c: linprog(c, bounds=np.array([[0, 1], [1, 2], [-1, 3], [0, np.inf]])),
    "equations": lambda c: linprog(np.abs(c), A_eq=EQUAL, b_eq=RIGHT),
    "unbounded": lambda c: linprog(c, ROWS[:1], SIDES[:1], bounds=(None, None)),
    "a limit": lambda c: linprog(c, ROWS, SIDES, options={"maxiter": 0, "presolve": False}),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    check(ng.graph_jit(FORMS[name])(C), FORMS[name](C))


def test_derivatives_of_the_point_the_value_and_the_marginals():
    def of(p):
        c, rows, sides = p[:4], p[4:16].reshape(3, 4), p[16:19]
        return linprog(c, rows, sides, EQUAL * p[19], RIGHT, [(0, None), (None, 1.5), (0.2, p[20]), (-1, 2)])

    def parts(p):
        found = of(p)
        marginals = [found[name].marginals for name in PARTS]
        return np.concatenate((found.x, found.fun * np.ones(1), found.slack, *marginals))

    p = np.concatenate((C, ROWS.ravel(), SIDES, [1.1, 3.0]))
    expected = differences(parts, p, 1e-5)
    assert np.linalg.norm(expected[:4]) > 0.1
    found = ng.graph_jit(ng.jacrev(parts))(p)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found[4, 16:19], of(p).ineqlin.marginals, atol=1e-9)


def test_where_the_point_is_not_the_only_one_derivatives_are_nan():
    slope = ng.graph_jit(ng.grad(lambda c: linprog(c, [[1.0, 1.0]], [1.0]).fun))
    np.testing.assert_allclose(slope(np.array([-2.0, -1.0])), [1.0, 0.0], atol=1e-12)
    assert np.any(np.isnan(slope(np.array([-1.0, -1.0]))))
    infeasible = ng.graph_jit(ng.grad(lambda b: linprog(np.ones(2), [[1.0, 1.0]], [b]).fun))
    assert np.isnan(infeasible(-1.0))


KINDS = np.array([1, 0, 1, 2])


@ng.graph_jit
def mixed(c, sides):
    rows = [LinearConstraint(ROWS, -np.inf, sides), LinearConstraint(EQUAL, -2.0, 0.4)]
    return milp(c, integrality=KINDS, bounds=Bounds(0, [3.0, 4.0, 5.0, 6.0]), constraints=rows)


def test_results_of_integers_are_those_of_scipy():
    for c, sides in ((C, SIDES), (-C, SIDES), (C, SIDES * 2.3), (C, -SIDES)):
        rows = [LinearConstraint(ROWS, -np.inf, sides), LinearConstraint(EQUAL, -2.0, 0.4)]
        expected = milp(c, integrality=KINDS, bounds=Bounds(0, [3.0, 4.0, 5.0, 6.0]), constraints=rows)
        found = mixed(c, sides)
        check(found, expected)
        if expected.success:
            assert (found.mip_dual_bound, found.mip_gap) == (expected.mip_dual_bound, expected.mip_gap)
    compiled = ng.graph_jit(lambda c: milp(c, integrality=1, bounds=(-1.5, 2.5)))
    check(compiled(C), milp(C, integrality=1, bounds=(-1.5, 2.5)))


def test_derivatives_hold_the_integers():
    def of(p):
        found = milp(
            p[:4], integrality=KINDS, bounds=Bounds(0, [3.0, 4.0, 5.0, 6.0]),
            constraints=[(ROWS, -np.inf, p[4:7]), (EQUAL, -2.0, p[7])],
        )  # fmt: skip
        return np.append(found.x, found.fun)

    p = np.concatenate((C, SIDES, [0.4]))
    expected = differences(of, p, 1e-5)
    assert np.any(np.abs(expected[1]) > 0.1)
    np.testing.assert_allclose(ng.graph_jit(ng.jacrev(of))(p), expected, rtol=1e-6, atol=1e-7)
    # a semicontinuous variable, and where the integers alone decide
    kinds = ng.graph_jit(ng.grad(lambda c: milp(c, integrality=1, bounds=(-1.5, 2.5)).fun))
    np.testing.assert_allclose(kinds(C), [2.0, 2.0, 2.0, -1.0], atol=1e-12)


ERRORS = {
    "one side": lambda c: linprog(c, ROWS),
    "columns": lambda c: linprog(c, ROWS[:, :2], SIDES),
    "rows": lambda c: linprog(c, ROWS, SIDES[:2]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    with pytest.raises(ValueError, match="nvalid") as plain:
        ERRORS[name](C)
    with pytest.raises(ValueError, match="Invalid input for linprog") as compiled:
        ng.graph_jit(ERRORS[name])(C)
    if name != "one side":
        assert str(plain.value).splitlines()[0][:60] in str(compiled.value)
