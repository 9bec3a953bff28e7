"""Distributions whose numbers are formulas of uniform, normal and exponential ones where parameters are usual.

The formulas are those of NumPy's C code, in its order of operations. Where NumPy would reject a number and draw again,
or takes a branch that is not here, the case is not usual: `require` says so. A formula is written once, for all objects
that draw and compute (`inlined_draws`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Formula(NamedTuple):
    """``number(draws, *constants(draws, *parameters))``: the constants depend on the parameters alone, and are computed
    once if all draws have the same parameters."""

    number: Callable[..., Any]
    constants: Callable[..., tuple[Any, ...]]
    examples: tuple[tuple[float, ...], ...]
    """Parameters that take all branches of the formula."""


def given(draws: Any, *parameters: Any) -> tuple[Any, ...]:
    del draws
    return parameters


def gamma_constants(draws: Any, shape: Any) -> tuple[Any, ...]:
    draws.require(shape >= 1.0)
    b = shape - 1.0 / 3.0
    return b, 1.0 / draws.sqrt(9.0 * b), shape <= 1.0


def gamma(draws: Any, b: Any, c: Any, is_exponential: Any) -> Any:
    return draws.either(is_exponential, draws.exponential, lambda: squeezed(draws, b, c))


def squeezed(draws: Any, b: Any, c: Any) -> Any:
    """Draw a gamma number: Marsaglia and Tsang, A simple method for generating gamma variables (2000), where the
    squeeze accepts."""
    x = draws.normal()
    v = 1.0 + c * x
    draws.require(v > 0.0)
    v = v * v * v
    draws.require(draws.uniform() < 1.0 - 0.0331 * (x * x) * (x * x))
    return b * v


def chisquare_constants(draws: Any, df: Any) -> tuple[Any, ...]:
    return gamma_constants(draws, df / 2.0)


def chisquare(draws: Any, *constants: Any) -> Any:
    return 2.0 * gamma(draws, *constants)


def noncentral_constants(draws: Any, df: Any, nonc: Any) -> tuple[Any, ...]:
    draws.require(nonc > 0.0)
    return draws.sqrt(nonc), *chisquare_constants(draws, df - 1.0)


def noncentral_chisquare(draws: Any, root: Any, *constants: Any) -> Any:
    central = chisquare(draws, *constants)
    n = draws.normal() + root
    return central + n * n


def f_constants(draws: Any, dfnum: Any, dfden: Any) -> tuple[Any, ...]:
    return dfnum, dfden, chisquare_constants(draws, dfnum), chisquare_constants(draws, dfden)


def f(draws: Any, dfnum: Any, dfden: Any, above: Any, below: Any) -> Any:
    numerator = chisquare(draws, *above) * dfden
    return numerator / (chisquare(draws, *below) * dfnum)


def noncentral_f_constants(draws: Any, dfnum: Any, dfden: Any, nonc: Any) -> tuple[Any, ...]:
    return dfnum, dfden, noncentral_constants(draws, dfnum, nonc), chisquare_constants(draws, dfden)


def noncentral_f(draws: Any, dfnum: Any, dfden: Any, above: Any, below: Any) -> Any:
    numerator = noncentral_chisquare(draws, *above) * dfden
    return numerator / (chisquare(draws, *below) * dfnum)


def beta_constants(draws: Any, a: Any, b: Any) -> tuple[Any, ...]:
    draws.require((a > 1.0) | (b > 1.0))
    return gamma_constants(draws, a), gamma_constants(draws, b)


def beta(draws: Any, first: Any, second: Any) -> Any:
    one = gamma(draws, *first)
    return one / (one + gamma(draws, *second))


def t_constants(draws: Any, df: Any) -> tuple[Any, ...]:
    return draws.sqrt(df / 2.0), *chisquare_constants(draws, df)


def standard_t(draws: Any, root: Any, *constants: Any) -> Any:
    above = root * draws.normal()
    return above / draws.sqrt(gamma(draws, *constants))


def cauchy(draws: Any) -> Any:
    above = draws.normal()
    return above / draws.normal()


def inverse(draws: Any, a: Any) -> tuple[Any, ...]:
    del draws
    return (1.0 / a,)


def pareto(draws: Any, a: Any) -> Any:
    return draws.libm("expm1", draws.exponential() / a)


def weibull(draws: Any, exponent: Any) -> Any:
    return draws.libm("pow", draws.exponential(), exponent)


def power(draws: Any, exponent: Any) -> Any:
    return draws.libm("pow", -draws.libm("expm1", -draws.exponential()), exponent)


def rayleigh(draws: Any, scale: Any) -> Any:
    return scale * draws.sqrt(2.0 * draws.exponential())


def lognormal(draws: Any, mean: Any, sigma: Any) -> Any:
    return draws.libm("exp", mean + sigma * draws.normal())


def laplace(draws: Any, loc: Any, scale: Any) -> Any:
    u = draws.uniform()
    draws.require(u > 0.0)
    is_above = u >= 0.5
    distance = scale * draws.libm("log", draws.where(is_above, 2.0 - u - u, u + u))
    return draws.where(is_above, loc - distance, loc + distance)


def gumbel(draws: Any, loc: Any, scale: Any) -> Any:
    u = 1.0 - draws.uniform()
    draws.require(u < 1.0)
    return loc - scale * draws.libm("log", -draws.libm("log", u))


def logistic(draws: Any, loc: Any, scale: Any) -> Any:
    u = draws.uniform()
    draws.require(u > 0.0)
    return loc + scale * draws.libm("log", u / (1.0 - u))


def triangular_constants(draws: Any, left: Any, mode: Any, right: Any) -> tuple[Any, ...]:
    del draws
    base, below = right - left, mode - left
    return left, right, below / base, below * base, (right - mode) * base


def triangular(draws: Any, left: Any, right: Any, ratio: Any, left_product: Any, right_product: Any) -> Any:
    u = draws.uniform()
    is_left = u <= ratio
    root = draws.sqrt(draws.where(is_left, u * left_product, (1.0 - u) * right_product))
    return draws.where(is_left, left + root, right - root)


def wald(draws: Any, mean: Any, scale: Any) -> Any:
    """Draw a number: Michael, Schucany and Haas, Generating random variates using transformations with multiple roots
    (1976)."""
    y = draws.normal()
    y = mean * y * y
    draws.require(y > 0.0)
    x = mean * (1.0 - 2.0 / (1.0 + draws.sqrt(1.0 + 4.0 * scale / y)))
    draws.require(x > 0.0)
    return draws.where(draws.uniform() <= mean / (mean + x), x, mean * mean / x)


def geometric_constants(draws: Any, p: Any) -> tuple[Any, ...]:
    return p, 1.0 - p, draws.libm("log1p", -p), p >= 1.0 / 3.0


def geometric(draws: Any, p: Any, q: Any, logarithm: Any, is_likely: Any) -> Any:
    return draws.either(is_likely, lambda: searched(draws, p, q), lambda: rounded(draws, logarithm))


def rounded(draws: Any, logarithm: Any) -> Any:
    found = draws.ceil(-draws.exponential() / logarithm)
    draws.require(found < 2.0**62)
    return found


def searched(draws: Any, p: Any, q: Any) -> Any:
    u = draws.uniform()
    return draws.repeat(
        (1.0, p, p),
        lambda count, sum_, product: u > sum_,
        lambda count, sum_, product: (count + 1.0, sum_ + product * q, product * q),
    )[0]


def poisson_constants(draws: Any, lam: Any) -> tuple[Any, ...]:
    draws.require(lam > 0.0)
    b = 0.931 + 2.53 * draws.sqrt(lam)
    a = -0.059 + 0.02483 * b
    return lam, draws.libm("exp", -lam), lam >= 10.0, b, 2.0 * a, 0.9277 - 3.6224 / (b - 2.0)


def poisson(draws: Any, lam: Any, least: Any, is_large: Any, *constants: Any) -> Any:
    return draws.either(is_large, lambda: transformed(draws, lam, *constants), lambda: multiplied(draws, least))


def multiplied(draws: Any, least: Any) -> Any:
    """Draw a Poisson number: Knuth, The art of computer programming, volume 2, 3.4.1."""
    return draws.repeat(
        (0.0, draws.uniform()),
        lambda count, product: product > least,
        lambda count, product: (count + 1.0, product * draws.uniform()),
    )[0]


def transformed(draws: Any, lam: Any, b: Any, twice_a: Any, bound: Any) -> Any:
    """Draw a Poisson number: Hormann, The transformed rejection method for generating Poisson random variables (1993),
    where the squeeze accepts."""
    u = draws.uniform() - 0.5
    v = draws.uniform()
    us = 0.5 - draws.fabs(u)
    draws.require(us >= 0.07)
    draws.require(v <= bound)
    found = draws.floor((twice_a / us + b) * u + lam + 0.43)
    draws.require(found < 2.0**62)
    return found


def binomial_constants(draws: Any, n: Any, p: Any) -> tuple[Any, ...]:
    is_flipped = p > 0.5
    r = draws.where(is_flipped, 1.0 - p, p)
    mean, q = n * r, 1.0 - r
    draws.require(mean > 0.0)
    draws.require(r * n <= 30.0)
    bound = mean + 10.0 * draws.sqrt(mean * q + 1.0)
    return n, r, q, draws.libm("exp", n * draws.libm("log1p", -r)), draws.where(n < bound, n, bound), is_flipped


def binomial(draws: Any, n: Any, r: Any, q: Any, none: Any, bound: Any, is_flipped: Any) -> Any:
    """Draw a binomial number by inversion, where no remainder is left."""

    def step(count: Any, probability: Any, rest: Any) -> tuple[Any, ...]:
        return count + 1.0, ((n - (count + 1.0) + 1.0) * r * probability) / ((count + 1.0) * q), rest - probability

    found = draws.repeat(
        (0.0, none, draws.uniform()),
        lambda count, probability, rest: (rest > probability) & (count <= bound),
        step,
    )[0]
    draws.require(found <= bound)
    return draws.where(is_flipped, n - found, found)


def logseries_constants(draws: Any, p: Any) -> tuple[Any, ...]:
    return p, draws.libm("log1p", -p)


def logseries(draws: Any, p: Any, r: Any) -> Any:
    """Draw a number: Kemp, Efficient generation of logarithmically distributed pseudo-random variables (1981)."""
    v = draws.uniform()
    return draws.either(v >= p, lambda: 1.0, lambda: larger(draws, v, r))


def larger(draws: Any, v: Any, r: Any) -> Any:
    q = -draws.libm("expm1", r * draws.uniform())
    return draws.either(v <= q * q, lambda: largest(draws, v, q), lambda: draws.where(v >= q, 1.0, 2.0))


def largest(draws: Any, v: Any, q: Any) -> Any:
    draws.require(v > 0.0)
    found = draws.floor(1.0 + draws.libm("log", v) / draws.libm("log", q))
    draws.require(found >= 1.0)
    draws.require(found < 2.0**62)
    return found


FORMULAS = {
    "standard_gamma": Formula(gamma, gamma_constants, ((2.5,), (1.0,))),
    "chisquare": Formula(chisquare, chisquare_constants, ((3.0,),)),
    "noncentral_chisquare": Formula(noncentral_chisquare, noncentral_constants, ((4.5, 1.5),)),
    "f": Formula(f, f_constants, ((3.0, 5.5),)),
    "noncentral_f": Formula(noncentral_f, noncentral_f_constants, ((4.5, 5.5, 1.5),)),
    "beta": Formula(beta, beta_constants, ((2.5, 1.25),)),
    "standard_t": Formula(standard_t, t_constants, ((3.5,),)),
    "standard_cauchy": Formula(cauchy, given, ((),)),
    "pareto": Formula(pareto, given, ((3.3,),)),
    "weibull": Formula(weibull, inverse, ((3.3,),)),
    "power": Formula(power, inverse, ((3.3,),)),
    "rayleigh": Formula(rayleigh, given, ((1.7,),)),
    "lognormal": Formula(lognormal, given, ((0.3, 1.2),)),
    "laplace": Formula(laplace, given, ((0.3, 1.2),)),
    "gumbel": Formula(gumbel, given, ((0.3, 1.2),)),
    "logistic": Formula(logistic, given, ((0.3, 1.2),)),
    "triangular": Formula(triangular, triangular_constants, ((-1.1, 0.3, 2.2),)),
    "wald": Formula(wald, given, ((1.3, 2.1),)),
    "logseries": Formula(logseries, logseries_constants, ((0.6,),)),
    "poisson": Formula(poisson, poisson_constants, ((3.3,), (33.3,))),
    "binomial": Formula(binomial, binomial_constants, ((20, 0.3), (20, 0.7), (10**17, 5e-17))),
    "geometric": Formula(geometric, geometric_constants, ((0.1,), (0.5,))),
}
"""The formulas, by the name of the distribution."""
