"""Functions of SciPy of complex numbers, and their derivatives."""

import numpy as np
import pytest
from scipy import linalg, special

from tests.library.scipy.test_functions import S, check, check_slope

COMPLEX = S + 0.3j * np.arange(1.0, 1 + S.size).reshape(S.shape)
OF_COMPLEX = {
    "lambertw": lambda x: special.lambertw(x * (0.7 - 1.3j)),
    "sqrtm": lambda x: linalg.sqrtm(COMPLEX * (x[0] + 1j)),
    "logm": lambda x: linalg.logm(COMPLEX * (x[0] + 1j)),
    "cosm": lambda x: linalg.cosm(0.1 * COMPLEX * (x[0] + 1j)),
    "solve_toeplitz": lambda x: linalg.solve_toeplitz(
        ((4.0, 1j, 0.5) * (x + 1j), (4.0, 2.0, 1j) * (x - 0.5j)), x * (1 + 2j)
    ),
    "solve_circulant": lambda x: linalg.solve_circulant((4.0, 1j, 0.5) * (x + 1j), x * (1 + 2j)),
    "solve_sylvester": lambda x: linalg.solve_sylvester(COMPLEX * (x[0] + 1j), COMPLEX, COMPLEX * x[1]),
}


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_derivatives_through_complex_numbers(name):
    function, at = OF_COMPLEX[name], np.array([0.6, 1.9, 1.2])
    check_slope(function, at)
    check_slope(lambda x: np.imag(function(x)), at)


@pytest.mark.parametrize("name", ["jn", "yn", "in", "kn"])
def test_spherical_functions_of_complex_numbers(name):
    function = getattr(special, f"spherical_{name}")
    at = np.array([0j, 1 + 1j, -1 + 1j, -3 + 0j, complex(-3, -0.0), 20 - 3j, complex(-np.inf, 0), complex(np.nan, 0)])
    orders = np.array([[0], [1], [5]])
    for derivative in (False, True):
        check(lambda z, d=derivative: function(orders, z, d), at)
        check(lambda n, z, d=derivative: function(n, z, d), 2, at.astype(np.complex64), rtol=1e-6)
        check_slope(lambda x, d=derivative: function(2, x * (0.7 - 1.3j), d), np.array([0.6, 1.9, -1.2]))
        check_slope(lambda x, d=derivative: np.imag(function(0, x * (0.7 - 1.3j), d)), np.array([0.6, 1.9, -1.2]))
