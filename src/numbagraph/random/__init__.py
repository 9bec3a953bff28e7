"""Random numbers that follow from keys, with the names and conventions of `jax.random`.

A key is an array of two numbers of uint32. The same key always gives the same numbers, so a function that draws is a
function as any other: under `vmap` each element draws from its own key, a loop folds the number of its step into one,
threads share nothing. `split` and `fold_in` make keys of a key. The bits are those of the cipher Threefry-2x32, and
equal in every backend.

>>> from numbagraph import random
>>> first, second = random.split(random.key(7))
>>> random.normal(first, 3).round(3)
array([ 0.352, -1.154, -0.046])
"""

from numbagraph.random.choices import categorical, choice, permutation
from numbagraph.random.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    normal,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    uniform,
    weibull,
)
from numbagraph.random.counts import bernoulli, binomial, geometric, poisson, rademacher, randint
from numbagraph.random.gammas import beta, chisquare, dirichlet, f, gamma, loggamma, student_t
from numbagraph.random.keys import bits, fold_in, key, split
from numbagraph.random.vectors import multivariate_normal

__all__ = [
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "geometric",
    "gumbel",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "multivariate_normal",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "student_t",
    "triangular",
    "truncated_normal",
    "uniform",
    "weibull",
]


def __dir__() -> list[str]:
    return list(__all__)
