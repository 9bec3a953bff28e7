"""Each solver in a branch, in a loop, under a derivative and in a batch, as a function of one number."""

import numpy as np
import pytest
from scipy import integrate, optimize

import numbagraph as ng


def by_minimum(method):
    def solve(a):
        return optimize.minimize(lambda x: np.sum((x - a) ** 2 + 0.1 * x**4), np.zeros(2), method=method, tol=1e-9).x[0]

    return solve


def by_ode(method):
    def solve(a):
        return integrate.solve_ivp(lambda t, y: -a * y * y, (0.0, 1.0), [1.0], method=method, rtol=1e-9, atol=1e-9).y[
            0, -1
        ]

    return solve


def by_root(method):
    def solve(a):
        start = np.zeros(2)
        return optimize.root(
            lambda x: x + 0.2 * (x - x[::-1]) ** 3 - a * np.array([1.0, 0.3]), start, method=method, tol=1e-9
        ).x[0]

    return solve


def minimum(fun, x, args=()):
    found = optimize.minimize(fun, x, args, tol=1e-9)
    return found.x, found.fun, found.status


T = np.linspace(0.1, 2.0, 12)
M, V = np.array([[1.0, 0.5], [0.3, 2.0], [0.2, 0.1]]), np.array([0.3, 1.2, 0.4])

NELDER_MEAD = {"method": "Nelder-Mead", "tol": 1e-10}

SOLVERS = {
    "brentq": lambda a: optimize.brentq(lambda x: x**3 + x - a, -1.0, 5.0),
    "newton": lambda a: optimize.newton(lambda x: x**3 + x - a, 1.0),
    "root_scalar": lambda a: optimize.root_scalar(lambda x: x**3 + x - a, bracket=(-1.0, 5.0)).root,
    "fixed_point": lambda a: optimize.fixed_point(lambda x: 0.3 * np.cos(x) + 0.1 * a, 0.5),
    "minimize_scalar": lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2 + 0.1 * x**4, tol=1e-12).x,
    "root": lambda a: optimize.root(lambda x: np.stack([x[0] + x[1] - a, x[0] ** 3 - x[1]]), np.ones(2)).x[1],
    "broyden1": by_root("broyden1"),
    "anderson": by_root("anderson"),
    "df-sane": by_root("df-sane"),
    "newton_krylov": lambda a: optimize.newton_krylov(
        lambda x: x + 0.2 * (x - x[::-1]) ** 3 - a * np.array([1.0, 0.3]), np.zeros(2), method="gmres", f_tol=1e-9
    )[0],
    "fsolve": lambda a: optimize.fsolve(lambda x: x**3 + x - a, np.ones(1))[0],
    "least_squares": lambda a: optimize.least_squares(lambda x: np.stack([x[0] - a, 0.3 * x[0] ** 2]), np.ones(1)).x[0],
    "leastsq": lambda a: optimize.leastsq(lambda x: np.stack([x[0] - a, 0.3 * x[0] ** 2]), np.ones(1))[0][0],
    "curve_fit": lambda a: optimize.curve_fit(lambda t, r: np.exp(-r * t), T, np.exp(-a * T) + 0.1 * a * T, p0=[1.0])[
        0
    ][0],
    "BFGS": by_minimum("BFGS"),
    "CG": by_minimum("CG"),
    "Newton-CG": by_minimum("Newton-CG"),
    "trust-ncg": by_minimum("trust-ncg"),
    "Powell": by_minimum("Powell"),
    "trust-exact": by_minimum("trust-exact"),
    "brute": lambda a: optimize.brute(
        lambda x: np.sum((x - a) ** 2 + 0.1 * x**4), ((-2, 2),) * 2, Ns=4, finish=minimum
    )[0],
    "L-BFGS-B": by_minimum("L-BFGS-B"),
    "SLSQP": lambda a: optimize.minimize(
        lambda x: np.sum((x - a) ** 2 + 0.1 * x**4),
        np.zeros(2),
        bounds=[(None, 0.8 * a), (None, None)],
        tol=1e-10,
        constraints={"type": "eq", "fun": lambda x: x[0] + x[1] ** 2 - a},
    ).x[1],
    "trust-constr": lambda a: optimize.minimize(
        lambda x: np.sum((x - a) ** 2 + 0.1 * x**4),
        np.zeros(2),
        method="trust-constr",
        bounds=[(None, 0.8 * a), (None, None)],
        tol=1e-9,
        constraints={"type": "eq", "fun": lambda x: x[0] + x[1] ** 2 - a},
    ).x[1],
    "nnls": lambda a: optimize.nnls(M, V * a)[0][0] ** 2,
    "lsq_linear": lambda a: optimize.lsq_linear(M, V * a * a, (0.0, 0.5)).x[0],
    "isotonic_regression": lambda a: optimize.isotonic_regression(V * a * a).x[1],
    "linprog": lambda a: optimize.linprog(np.array([-1.0, -2.0]), M[:2], np.array([1.0, 2.0]) * a).x[0] ** 2,
    "differential_evolution": lambda a: optimize.differential_evolution(
        lambda x: np.sum((x - a) ** 2 + 0.1 * x**4), ((-2, 2),) * 2, rng=1, polish=False, tol=1e-13, popsize=5
    ).x[0],
    "dual_annealing": lambda a: optimize.dual_annealing(
        lambda x: np.sum((x - a) ** 2 + 0.1 * x**4), ((-2, 2),) * 2, rng=1, maxiter=3, minimizer_kwargs=NELDER_MEAD
    ).x[0],
    "quad": lambda a: integrate.quad(lambda x: np.exp(-a * x), 0.0, 1.0, full_output=1)[0],
    "quad of a pole": lambda a: integrate.quad(lambda x: np.exp(-a * x), 0.0, 1.0, weight="cauchy", wvar=0.3 * a)[0],
    "quad of a wave": lambda a: integrate.quad(lambda x: np.exp(-a * x), 0.0, 1.0, weight="cos", wvar=3.0 * a)[0],
    "quad_vec": lambda a: integrate.quad_vec(lambda x: np.exp(-a * x), 0.0, 1.0)[0],
    "nsum": lambda a: integrate.nsum(lambda k, a: (k + a) ** -3.0, 1.0, np.inf, args=(a,), maxterms=64).sum,
    "cubature": lambda a: integrate.cubature(lambda x: np.exp(-a * x[:, 0]), [0.0], [a]).estimate,
    "tanhsinh": lambda a: integrate.tanhsinh(lambda x, a: np.exp(-a * x), 0.0, 1.0, args=(a,)).integral,
    "fixed_quad": lambda a: integrate.fixed_quad(lambda x: np.exp(-a * x), 0.0, a, n=9)[0],
    "RK45": by_ode("RK45"),
    "DOP853": by_ode("DOP853"),
    "Radau": by_ode("Radau"),
    "BDF": by_ode("BDF"),
    "solve_bvp": lambda a: integrate.solve_bvp(
        lambda x, y: np.vstack((y[1], -a * np.exp(y[0]))),
        lambda ya, yb: np.hstack((ya[0], yb[0])),
        T[::2] / 2,
        np.zeros((2, 6)),
        tol=1e-6,
    ).sol(0.4)[0],
    "odeint": lambda a: integrate.odeint(lambda y, t: -a * y * y, [1.0], [0.0, 1.0], rtol=1e-9, atol=1e-9)[-1, 0],
}


def in_branch_and_loop(solve):
    def program(a):
        total = 0.0 * a
        for k in range(4):
            x = a + 0.1 * k
            if x > 1.05:
                total = total + solve(x)
            else:
                total = total + x * x
        return total

    return program


NEEDS_SLOPES = ("CG", "Newton-CG", "trust-ncg", "trust-exact")
"""Methods that SciPy has no exact slopes of: its BFGS finds the same minimum."""


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")  # SciPy's trust-constr, where a step changes no slope
@pytest.mark.parametrize("name", SOLVERS)
def test_in_branches_loops_derivatives_and_batches(name):
    program = in_branch_and_loop(SOLVERS[name])
    plain = in_branch_and_loop(SOLVERS["BFGS" if name in NEEDS_SLOPES else name])
    value, slope = ng.graph_jit(ng.value_and_grad(program))(0.9)
    np.testing.assert_allclose(value, plain(0.9), rtol=2e-6)
    step = 1e-3
    expected = (plain(0.9 + step) - plain(0.9 - step)) / (2 * step)
    np.testing.assert_allclose(slope, expected, rtol=2e-3)
    batch = np.array([0.9, 1.3])
    np.testing.assert_allclose(ng.vmap(program)(batch), [plain(each) for each in batch], rtol=2e-6)
