"""Functions of SciPy whose kernels are SciPy's own, with mpmath, to third order.

Those that mpmath computes slowly are derivatives of others here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import mpmath

from numbagraph.testing.exact import kelvin, kve, yn


def real(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function where it is real."""

    def wrapped(*operands: Any) -> Any:
        value = mpmath.mpmathify(function(*operands))
        return value.real if value.imag == 0 else mpmath.nan

    return wrapped


def integral(term: Callable[[int], Any], power: Callable[[int], int], first: int) -> Callable[[Any], Any]:
    """The integral from 0 of a power series that is divided by the variable."""

    @cache
    def coefficient(k: int, digits: int) -> Any:  # noqa: ARG001  the context has them
        return term(k) / power(k)

    return lambda x: mpmath.fsum(coefficient(k, mpmath.mp.dps) * x ** power(k) for k in range(first, 300))


def bessel_term(k: int) -> Any:
    return 1 / (mpmath.mpf(4) ** k * mpmath.factorial(k) ** 2)


def struve_term(k: int) -> Any:
    return (-1) ** k / (mpmath.mpf(2) ** (2 * k + 1) * mpmath.gamma(k + mpmath.mpf(3) / 2) ** 2)


def pseudo_huber(delta: Any, r: Any) -> Any:
    if delta < 0:
        return mpmath.nan
    return delta**2 * (mpmath.sqrt(1 + (r / delta) ** 2) - 1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "erfi": mpmath.erfi,
    "dawsn": lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
    "expi": mpmath.ei,
    "exp1": real(mpmath.e1),
    "spence": real(lambda x: mpmath.polylog(2, 1 - x)),
    "sici[0]": mpmath.si,
    "shichi[0]": mpmath.shi,
    "sici[1]": real(mpmath.ci),
    "shichi[1]": real(mpmath.chi),
    "fresnel[0]": mpmath.fresnels,
    "fresnel[1]": mpmath.fresnelc,
    "it2j0y0[0]": integral(lambda k: -((-1) ** k) * bessel_term(k), lambda k: 2 * k, 1),
    "it2i0k0[0]": integral(bessel_term, lambda k: 2 * k, 1),
    "it2struve0": lambda x: mpmath.pi / 2 - integral(struve_term, lambda k: 2 * k + 1, 0)(x),
    "y0": partial(yn, 0),
    "y1": partial(yn, 1),
    "yn": yn,
    "yv": yn,
    "struve": mpmath.struveh,
    "modstruve": mpmath.struvel,
    "k0": lambda x: mpmath.exp(-x) * kve(0, x),
    "k1": lambda x: mpmath.exp(-x) * kve(1, x),
    "k0e": partial(kve, 0),
    "k1e": partial(kve, 1),
    "ber": lambda x: mpmath.ber(0, x),
    "bei": lambda x: mpmath.bei(0, x),
    "ker": lambda x: kelvin(x).real,
    "kei": lambda x: kelvin(x).imag,
    "berp": lambda x: (mpmath.ber(1, x) + mpmath.bei(1, x)) / mpmath.sqrt(2),
    "beip": lambda x: (mpmath.bei(1, x) - mpmath.ber(1, x)) / mpmath.sqrt(2),
    "airy[0]": mpmath.airyai,
    "airy[1]": lambda x: mpmath.airyai(x, derivative=1),
    "airy[2]": mpmath.airybi,
    "airy[3]": lambda x: mpmath.airybi(x, derivative=1),
    "ellipk": real(mpmath.ellipk),
    "ellipkm1": real(lambda p: mpmath.ellipk(1 - p)),
    "ellipe": real(mpmath.ellipe),
    "cosm1": lambda x: mpmath.cos(x) - 1,
    "exp10": lambda x: mpmath.mpf(10) ** x,
    "pseudo_huber": pseudo_huber,
    "wrightomega": lambda x: mpmath.lambertw(mpmath.exp(x)),
}
