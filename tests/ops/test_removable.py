"""Derivatives up to third order where a formula for the first one is 0 / 0, and beside these places."""

import mpmath
import numpy as np
import pytest
import scipy.special

from numbagraph import grad
from numbagraph.frontend.jit import GraphFunction

FUNCTIONS = {
    "ellipk": (scipy.special.ellipk, mpmath.ellipk, 0.0),
    "ellipe": (scipy.special.ellipe, mpmath.ellipe, 0.0),
    "ellipkm1": (scipy.special.ellipkm1, lambda p: mpmath.ellipk(1 - p), 1.0),
    "spence": (scipy.special.spence, lambda z: mpmath.polylog(2, 1 - z), 1.0),
}


@pytest.mark.parametrize("integral", FUNCTIONS)
def test_derivatives_where_the_formula_has_no_value(integral):
    function, reference, center = FUNCTIONS[integral]
    derivatives = [lambda x: function(x)]
    for _ in range(3):
        derivatives.append(grad(derivatives[-1]))
    found = GraphFunction(lambda x: [each(x) for each in derivatives[1:]], backend="numpy")
    for step in (0.0, 1e-12, -1e-5, 0.03, -0.049, 0.051, -0.3):
        x = center + step
        with mpmath.workdps(60):
            wanted = [float(mpmath.re(mpmath.diff(reference, mpmath.mpf(x), order))) for order in (1, 2, 3)]
        np.testing.assert_allclose(found(x), wanted, rtol=1e-9)
