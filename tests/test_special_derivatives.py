"""Derivatives at special points, up to third order: what masks protect, ties, equal operands, and edges of domains."""

import mpmath
import numpy as np
import pytest
import scipy.special

from numbagraph import grad, graph_jit, jacfwd, jacrev
from numbagraph.jit import GraphFunction
from numbagraph.op import Unsupported, registry
from numbagraph.testing.special_points import check_special_points, has_points

ELEMENTWISE = [op.name for op in registry if op.kind == "elementwise" and has_points(op)]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_derivatives_at_special_points(name):
    assert check_special_points(registry[name])


UNKNOWN_TO_MPMATH = {
    *("betainc_by_a", "betainc_by_b", "betaincinv", "gammainc_by_a", "gammaincinv", "gammainccinv", "kve", "owens_t"),
    *("cast", "complex_of", "conjugate", "imag", "real", "where", "replace_special", "check"),
    *("heaviside", "ldexp", "nextafter", "polygamma_of", "spacing"),
}
"""What mpmath has not, or only as slowly that nobody waits for it; what is linear, or constant but for jumps."""


def test_every_elementwise_op_is_checked():
    differentiable = {op.name for op in registry if op.kind == "elementwise" and not isinstance(op.vjp, Unsupported)}
    assert differentiable - {*ELEMENTWISE} == UNKNOWN_TO_MPMATH


@pytest.mark.parametrize("name", ["logaddexp", "power", "rel_entr", "j1", "log_ndtr", "arcsin"])
def test_native_derivatives_at_special_points(name):
    """Rules rewrite what is differentiated before it is compiled."""
    assert check_special_points(registry[name], order=2, backend="numba")


@pytest.mark.parametrize("name", ["logaddexp", "power", "xlogy", "i1", "log_ndtr", "gammainc"])
def test_derivatives_at_special_points_in_float32(name):
    assert check_special_points(registry[name], order=2, dtype=np.float32, tolerance=1e-4)


# ---- what users differentiate ----

X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize(
    "loss",
    [
        lambda z: np.logaddexp(0, z),
        lambda z: np.log(1 + np.exp(z)),
        lambda z: np.log1p(np.exp(z)),
        lambda z: np.log(np.exp(0 * z) + np.exp(z)),
        lambda z: -np.log(1 / (1 + np.exp(-z))) + z,
    ],
    ids=["logaddexp", "log", "log1p", "log of a sum", "logistic"],
)
def test_hessian_of_logistic_regression_at_zero(loss):
    slope = grad(lambda w: loss(X @ w).sum())
    for found in graph_jit(lambda w: [jacfwd(slope)(w), jacrev(slope)(w)])(np.zeros(3)):
        np.testing.assert_allclose(found, X.T @ X / 4, rtol=1e-12)


@pytest.mark.parametrize("at", [-1e8, -1e4, -40.0, -6.0, -5.9, 37.0, 40.0, 1e8])
def test_derivatives_of_log_ndtr_far_out(at):
    """Against Laplace's continued fraction of the inverse Mills ratio, in many digits."""
    with mpmath.workdps(60):
        x = mpmath.mpf(at)
        density = mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)
        slope = density / (mpmath.erfc(-x / mpmath.sqrt(2)) / 2) if at > -1e5 else -x - 1 / x
        bend = -slope * (x + slope) if at > -1e5 else -1 + 1 / x**2
        wanted = float(slope), float(bend)
    slope_of = grad(lambda x: scipy.special.log_ndtr(x))
    found = GraphFunction(lambda x: (slope_of(x), grad(slope_of)(x)), backend="numpy")(at)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-300)


def test_log_of_erfc_is_differentiated_as_one_function():
    """It has two forms, and one of them was chosen at the point where both are right."""
    slope = grad(lambda x: np.log(scipy.special.erfc(x)).sum())
    found = GraphFunction(slope, backend="numpy")(np.array([0.5, 1.0, 30.0]))
    with mpmath.workdps(600):
        wanted = [float(mpmath.diff(lambda x: mpmath.log(mpmath.erfc(x)), x)) for x in (0.5, 1, 30)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
