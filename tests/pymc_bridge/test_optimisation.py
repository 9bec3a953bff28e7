"""PyTensor's ops for minima and roots: native, with PyTensor's values and derivatives."""

import inspect
import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from pytensor.graph.replace import graph_replace  # noqa: E402
from pytensor.tensor import optimize  # noqa: E402
from scipy.optimize import brentq  # noqa: E402

from numbagraph.pymc_bridge import compile_logp  # noqa: E402

PLAIN = Mode(linker="py", optimizer="fast_compile")

x, a, b = pt.dscalar("x"), pt.dscalar("a"), pt.dscalar("b")
xs, v = pt.dvector("xs"), pt.dvector("v")

ROSENBROCK = (a - xs[0]) ** 2 + b * (xs[1] - xs[0] ** 2) ** 2
CUBIC = x**3 - a * x - b
SYSTEM = pt.stack([xs[0] ** 2 + a * xs[1] - 3.0, xs[0] - b * xs[1]])

BRACKET = {"bracket": (0.5, 10.0)}
takes_bracket = "bracket" in inspect.signature(optimize.root_scalar).parameters  # from PyTensor 3.1


def both(results, inputs, values):
    """The results of PyTensor's Python code, and those of native code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTensor speaks of object mode
        plain = pytensor.function(inputs, results, mode=PLAIN, on_unused_input="ignore")(*values)
        native = pytensor.function(inputs, results, mode="NUMBAGRAPH", on_unused_input="ignore")(*values)
    return plain, native


def check(solution, success, inputs, values, *, points=(a, b)):
    total = solution.sum()
    plain, native = both([solution, success, *pytensor.grad(total, list(points))], inputs, values)
    assert bool(native[1]) is bool(plain[1]) is True
    for one, other in zip(native, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("secant", {"optimizer_kwargs": {"x1": 3.0}}),
        ("newton", {"jac": True}),
        ("halley", {"jac": True, "hess": True}),
        ("brentq", BRACKET if takes_bracket else {"optimizer_kwargs": BRACKET}),
    ],
)
def test_roots_of_a_number(method, options):
    root, converged = optimize.root_scalar(CUBIC, x, method=method, **options)
    results = [root, converged, *pytensor.grad(root, [a, b])]
    found = pytensor.function([x, a, b], results, mode="NUMBAGRAPH", on_unused_input="ignore")(2.0, 2.5, 1.0)
    expected = brentq(lambda x: x**3 - 2.5 * x - 1.0, 0.5, 10.0)  # PyTensor 2.38 has an error in these methods
    slope = 3 * expected**2 - 2.5
    np.testing.assert_allclose(found, [expected, True, expected / slope, 1 / slope], rtol=1e-7)


def test_roots_of_vectors():
    check(*optimize.root(SYSTEM, xs, method="hybr"), [xs, a, b], [np.ones(2), 1.2, 2.0])


@pytest.mark.parametrize(("method", "hess"), [("BFGS", False), ("Newton-CG", True), ("Powell", False)])
def test_minima_of_vectors(method, hess):
    """PyTensor runs a method that native code does not have."""
    found = optimize.minimize(ROSENBROCK, xs, method=method, hess=hess, optimizer_kwargs={"tol": 1e-10})
    check(*found, [xs, a, b], [np.zeros(2), 1.5, 3.0])


def test_minima_of_a_number():
    found = optimize.minimize_scalar((x - a) ** 2 + b * pt.exp(x), x)
    check(*found, [x, a, b], [0.0, 1.5, 0.7])


def test_log_densities_with_a_root():
    with pm.Model() as model:
        rate = pm.LogNormal("rate", 1.0, 0.3)
        root, _ = optimize.root_scalar(x**3 - rate * x - 1.0, x, method="newton", jac=True)
        root = graph_replace(root, {x: pt.constant(np.float64(2.0))}, strict=False)
        pm.Normal("y", root, 0.1, observed=np.array([2.1, 2.2]))
    point = model.initial_point()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [model.compile_logp(mode=PLAIN)(point), model.compile_dlogp(mode=PLAIN)(point)]
    found = compile_logp(model)(np.array([float(point["rate_log__"])]))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)
