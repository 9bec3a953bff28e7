"""Every elementwise op of complex numbers on both sides of the branch cuts: at parts that are zeros of both signs."""

import importlib.util
import itertools

import numpy as np
import pytest

from numbagraph import grad, graph_jit
from numbagraph.ir.op import registry
from numbagraph.testing.op_calls import accepted
from numbagraph.tracing.tracer import apply

WITHOUT_JAX = importlib.util.find_spec("jax") is None
PARTS = np.array([0.0, 0.5, 1.0, 2.5])
PARTS = np.concatenate([PARTS, -PARTS])
BACKENDS = [
    *("numpy", "numba"),
    pytest.param("jax", marks=pytest.mark.skipif(WITHOUT_JAX, reason="JAX is not installed")),
]


def first_call(op):
    return next(iter(accepted(op, np.dtype(np.complex128))), None)


def is_complex(op):
    call = first_call(op) if op.kind == "elementwise" and op.name != "check" else None
    return call is not None and all(np.asarray(each).dtype.kind == "c" for each in call.arrays)


COMPLEX = [op.name for op in registry if is_complex(op)]
UNSIGNED = {
    "numba": {"sinc"},
    "jax": {
        *("maximum", "minimum", "fmax", "fmin", "sign", "sinc"),
        *("expm1", "cos", "sinh", "cosh", "reciprocal", "power", "float_power"),
    },
}
"""Ops that have zeros of other signs than NumPy's as parts of their results (docs/limits.md)."""
AT_ZERO = {"jax": {"divide": 1, "reciprocal": 0, "power": 0, "float_power": 0}}
"""Ops that are infinite or NaN at 0 otherwise than NumPy's, and the operand which that is."""


def plane(count, dtype=np.complex128):
    numbers = np.empty((len(PARTS), len(PARTS)), dtype)
    numbers.real, numbers.imag = PARTS[:, None], PARTS
    return [np.array(each) for each in zip(*itertools.product(numbers.ravel(), repeat=count), strict=True)]


def differ(found, expected, signs):
    """Where results are on other sides of a cut; or zeros of other signs."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    if expected.dtype.kind not in "fc":
        return found != expected
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(found, expected, rtol=1e-11, atol=1e-15, equal_nan=True)
        for one, other in ((found.real, expected.real), (found.imag, expected.imag)) if signs else ():
            wrong |= (one == 0) & (other == 0) & (np.signbit(one) != np.signbit(other))
    return wrong


def test_there_are_many():
    assert {"sqrt", "log", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "power"} <= {*COMPLEX}


def check_cuts(op, backend, name):
    """An op is on NumPy's side of its branch cuts."""
    call = first_call(op)
    arrays = plane(len(call.arrays))
    if name in AT_ZERO.get(backend, {}):
        zero = arrays[AT_ZERO[backend][name]] == 0
        arrays = [each[~zero] for each in arrays]
    with np.errstate(all="ignore"):
        expected = call.expected(arrays)
        found = graph_jit(lambda *given: apply(op, *given), backend=backend)(*arrays)
    wrong = differ(found, expected, name not in UNSIGNED.get(backend, ()))
    assert not wrong.any(), [each[wrong] for each in (*arrays, found, expected)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", COMPLEX)
def test_sides_of_cuts(name, backend):
    check_cuts(registry[name], backend, name)


INVERSES = ["sqrt", "exp", "sin", "tan", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"]


@pytest.mark.skipif(WITHOUT_JAX, reason="JAX is not installed")
@pytest.mark.parametrize("name", INVERSES)
def test_derivatives_in_jax_on_the_real_axis_and_the_imaginary_one(name):
    """What takes JAX's function to the other side of a cut does not take its derivative away."""
    import jax

    import numbagraph

    function, points = getattr(np, name), np.array([0.3 + 0j, 0.3 - 0j, 0.4j, -0.0 + 0.4j, -0.3 + 0.2j])

    def part(z):
        return np.sum(function(z).real + 2 * function(z).imag)

    with jax.enable_x64(True):
        found = jax.grad(numbagraph.to_jax(part))(points)
    np.testing.assert_allclose(found, grad(part)(points), rtol=1e-10, atol=1e-12)
