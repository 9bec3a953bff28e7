"""`scipy.integrate.fixed_quad`: the rule of Gauss and Legendre with as many points as asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import roots_legendre

from numbagraph.library.scipy.arguments import known_number


def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: Any = (), n: Any = 5) -> tuple[Any, None]:
    """`scipy.integrate.fixed_quad`."""
    nodes, weights = rule(known_number(n, "fixed_quad"))
    if np.isinf(a) or np.isinf(b):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    points = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(points, *args), axis=-1), None


def rule(n: int) -> tuple[Any, Any]:
    nodes, weights = roots_legendre(n)
    return np.real(nodes), weights
