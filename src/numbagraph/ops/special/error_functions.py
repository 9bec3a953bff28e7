"""Special functions, most of them SciPy's: those of statistics, entropy, errors and gammas."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from numbagraph.blockwise.elementwise import Domain, elementwise_samples
from numbagraph.blockwise.kinds import decomposition, draw, elementwise
from numbagraph.blockwise.promotion import DtypeRule, Kind, as_value, convert, inexact_rule
from numbagraph.intrinsics.emitters import libm, vecmath
from numbagraph.intrinsics.emitters import special_formulas as emitters
from numbagraph.intrinsics.emitters.formula import Number, absolute, formula
from numbagraph.ir.op import lazy, load
from numbagraph.ir.types import FLOAT64, FLOATS
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.arithmetic import sign
from numbagraph.ops.comparison import equal, less, maximum, minimum
from numbagraph.ops.exponentials import exp, expm1, log, log1p
from numbagraph.ops.identity import differentiated_as, with_derivative
from numbagraph.ops.selection import where

SQRT_PI, SQRT_2 = math.sqrt(math.pi), math.sqrt(2.0)
SQRT_2_PI = SQRT_PI * SQRT_2
PROBABILITIES = (0.05, 0.95)
POSITIVE = (0.1, 5.0)


def scipy_rule(path: str) -> DtypeRule:
    """Return the rule by which SciPy's function would choose its loop; for operands of one float dtype it is that one,
    without a call of SciPy."""

    @cache
    def rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
        if kinds[0] in FLOATS and all(kind == kinds[0] for kind in kinds):
            return (kinds[0],) * (len(kinds) + 1)
        dtypes = load(path).resolve_dtypes((*kinds, None))
        if dtypes[-1].kind == "c":
            raise TypeError(f"{path.rpartition(':')[2]} of complex numbers is not supported")
        return dtypes

    return rule


def real_samples(reference: Any, domain: Domain) -> Callable[..., Any]:
    samples = elementwise_samples(reference, domain)
    return lambda rng, dtype: samples(rng, dtype) if dtype.kind != "c" else []


def special(
    name: str, *, jnp: Any = None, domain: Domain = (-3.0, 3.0), cost: float = 40, ulp: float = 4, **properties: Any
) -> Op:
    """Declare a function of real numbers in `scipy.special`; `jax.scipy.special` has it too unless ``jnp`` is given."""
    path, jnp = f"scipy.special:{name}", jnp or lazy(f"jax.scipy.special:{name}")
    properties = {"samples": real_samples(path, domain), **properties}
    return elementwise(path, dtype=scipy_rule(path), jnp=jnp, cost=cost, ulp=ulp, **properties)


expit = special("expit", emit=vecmath.expit, vjp=lambda g, y, x: (g * (y * (1 - y)),), cost=20)
logit = special(
    "logit",
    emit=vecmath.logit,
    vjp=lambda g, y, x: (differentiated_as(g / (x * (1 - x)), g / x + g / (1 - x)),),
    domain=PROBABILITIES,
    cost=40,
)
log_expit = special(
    "log_expit",
    emit=vecmath.log_expit,
    vjp=lambda g, y, x: (g * expit(-x),),
    jnp=lazy("jax.nn:log_sigmoid"),
)


def softplus_reference(x: Any) -> Any:
    return np.logaddexp(x * 1.0, 0.0)


def log1mexp_reference(x: Any) -> Any:
    x = x * 1.0
    return np.where(x > -math.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))[()]


def own(name: str, reference: Callable[..., Any], domain: Domain, **properties: Any) -> Op:
    """Declare a function that SciPy has not."""

    def rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
        dtypes = inexact_rule(kinds)
        if dtypes[-1].kind == "c":
            raise TypeError(f"{name} of complex numbers is not supported")
        return dtypes

    properties = {"samples": real_samples(reference, domain), "ulp": 4, **properties}
    return elementwise(reference, name=name, dtype=rule, **properties)


softplus = own(
    "softplus",
    softplus_reference,
    (-3.0, 3.0),
    emit=vecmath.softplus,
    vjp=lambda g, y, x: (g * expit(x),),
    jnp=lazy("jax.nn:softplus"),
    cost=35,
)
"""``log(1 + exp(x))``."""

log1mexp = own(
    "log1mexp",
    log1mexp_reference,
    (-5.0, -0.1),
    emit=vecmath.log1mexp,
    vjp=lambda g, y, x: (g * log1mexp_slope.bind(-1 / expm1(0 - x), x),),
    jnp=lambda x: load("jax.nn:log1mexp")(-x),
    cost=60,
)
"""``log(1 - exp(x))`` of a negative number."""

log1mexp_slope = with_derivative("log1mexp_slope", lambda g, y, value, x: (None, g * (y * (1 - y))))


@formula
def huber_loss(delta: Number, r: Number) -> Number:
    size = absolute(r)
    beyond = (delta < 0.0).where(delta.constant(math.inf), delta * (size - 0.5 * delta))
    return (size <= delta).where(0.5 * r * r, beyond)


def huber_vjp(g: Value, y: Value, delta: Value, r: Value) -> tuple[Value, Value]:
    """Return the cotangents of Huber's loss. At the edge of the domain, where ``delta`` is 0, the derivatives are their
    limits."""
    clipped = where(less(0, delta), maximum(minimum(r, delta), -delta), delta * sign(r))
    return g * where(equal(r, 0), 0, maximum(abs(r) - delta, 0)), g * clipped


huber = special(
    "huber",
    emit=huber_loss,
    vjp=huber_vjp,
    jnp=lambda delta, r: load("jax.numpy:where")(
        delta < 0, math.inf, load("jax.numpy:where")(abs(r) <= delta, 0.5 * r * r, delta * (abs(r) - 0.5 * delta))
    ),
    domain=POSITIVE,
    cost=6,
    kinks=lambda delta, r: (abs(r) == delta) | (delta <= 0),
)
"""Huber's loss: a square for residuals up to ``delta``, and linear beyond."""

erf = special("erf", emit=vecmath.erf, vjp=lambda g, y, x: (g * (exp(-(x * x)) * (2 / SQRT_PI)),), cost=20)
erfc = special("erfc", emit=vecmath.erfc, vjp=lambda g, y, x: (g * (exp(-(x * x)) * (-2 / SQRT_PI)),), cost=25, ulp=16)


erfcx = special("erfcx", emit=vecmath.erfcx, vjp=lambda g, y, x: (g * (x * y * 2 - 2 / SQRT_PI),), cost=30)
erfinv = special(
    "erfinv",
    emit=vecmath.erfinv,
    vjp=lambda g, y, x: (g * (exp(y * y) * (SQRT_PI / 2)),),
    domain=(-0.95, 0.95),
    cost=60,
)
erfcinv = special(
    "erfcinv",
    emit=vecmath.erfcinv,
    vjp=lambda g, y, x: (g * (exp(y * y) * (-SQRT_PI / 2)),),
    jnp=lambda x: load("jax.scipy.special:erfinv")(1 - x),
    domain=(0.05, 1.95),
    cost=60,
)
# SciPy rounds x / sqrt(2) before it squares it: on the left side its results are off by x**2 units in the last place.
ndtr = special("ndtr", emit=vecmath.ndtr, vjp=lambda g, y, x: (g * (exp(x * x * -0.5) / SQRT_2_PI),), cost=30, ulp=256)
ndtri = special(
    "ndtri",
    emit=vecmath.ndtri,
    vjp=lambda g, y, x: (g * (exp(y * y * 0.5) * SQRT_2_PI),),
    domain=PROBABILITIES,
    cost=60,
)
log_ndtr = special(
    "log_ndtr",
    emit=vecmath.log_ndtr,
    vjp=lambda g, y, x: (g * inverse_mills_ratio(x),),
    cost=80,
    ulp=256,
)


def inverse_mills_ratio(x: Value) -> Value:
    """Return the normal density divided by its distribution function, that is, the derivative of `log_ndtr`."""
    return _inverse_mills_ratio.bind(math.sqrt(2 / math.pi) / erfcx(x / -SQRT_2), x)


def above_asymptote(x: Value) -> Value:
    """Return the difference of `inverse_mills_ratio` and ``-x``: far on the left, by Laplace's continued fraction."""
    left = less(x, -6.0)
    t = where(left, -x, 6.0)
    fraction = t
    for number in range(12, 1, -1):
        fraction = t + number / fraction
    return _above_asymptote.bind(where(left, 1 / fraction, x + inverse_mills_ratio(x)), x)


_inverse_mills_ratio = with_derivative(
    "inverse_mills_ratio", lambda g, y, value, x: (None, -(g * (y * above_asymptote(x))))
)
_above_asymptote = with_derivative(
    "above_asymptote", lambda g, y, value, x: (None, g * (1 - inverse_mills_ratio(x) * y))
)
owens_t = special(
    "owens_t",
    emit=libm.owens_t,
    vjp=lambda g, y, h, a: (
        -(g * (exp(h * h * -0.5) * erf(a * h / SQRT_2) / (2 * SQRT_2_PI))),
        g * (exp(h * h * (1 + a * a) * -0.5) / (2 * math.pi * (1 + a * a))),
    ),
    jnp=Unsupported("JAX has no owens_t"),
    cost=200,
    ulp=64,
)

gammaln = special("gammaln", emit=vecmath.gammaln, vjp=lambda g, y, x: (g * digamma(x),), domain=POSITIVE, scale=1)
gamma = special(
    "gamma", emit=vecmath.gamma, vjp=lambda g, y, x: (g * (y * digamma(x)),), domain=POSITIVE, cost=60, ulp=16
)
loggamma = special(
    "loggamma",
    emit=emitters.loggamma,
    vjp=lambda g, y, x: (g * digamma(x),),
    jnp=lazy("jax.scipy.special:gammaln"),
    domain=POSITIVE,
    scale=1,
)
digamma = special(
    "digamma",
    emit=vecmath.digamma,
    vjp=lambda g, y, x: (g * polygamma_of.bind(x, order=1),),
    implements=("scipy.special:psi",),
    domain=POSITIVE,
)

polygamma_of = elementwise(
    lambda x, order: load("scipy.special:polygamma")(order, x).astype(x.dtype),
    name="polygamma_of",
    dtype=inexact_rule,
    emit=emitters.polygamma,
    vjp=lambda g, y, x, *, order: (g * polygamma_of.bind(x, order=order + 1),),
    jnp=lambda x, *, order: load("jax.scipy.special:polygamma")(order, x),
    frontend=lambda op, x, order: polygamma(order, x),
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4), POSITIVE), 2)] if dtype == FLOAT64 else [],
    zero_dim="array",
    cost=60,
    ulp=64,
)
"""A derivative of digamma; its order is an attribute."""


def polygamma_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "c":
        return []
    # Order 0 is digamma in the precision of its argument, but in double precision as far as one can see.
    in_double = load("scipy.special:psi")(np.ones((), dtype)).dtype == FLOAT64
    return [(n, draw(rng, dtype, (3, 4), POSITIVE)) for n in (0, 1, 2) if n or in_double]


@decomposition("scipy.special:polygamma", samples=polygamma_samples, ulp=64)
def polygamma(n: Any, x: Any) -> Value:
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise TypeError(f"polygamma takes a static order, 0 or more, not {n!r}")
    value = as_value(x)
    if value.dtype.kind == "c":
        raise TypeError("polygamma of complex numbers is not supported")
    if n == 0:
        return convert(digamma(value), FLOAT64)  # in digamma's own precision; SciPy computes all others in double
    return polygamma_of.bind(convert(value, FLOAT64), order=int(n))


def both_zero(a: Any, b: Any) -> Any:
    return (a == 0) & (b == 0)


def per(a: Value, b: Value, times: int = 1) -> Value:
    """Return ``a / b**times``, which is 0 where ``a`` is 0, whatever ``b`` is."""
    divisor = where(equal(a, 0.0), 1.0, b)
    return _per.bind(a / (divisor if times == 1 else divisor**times), a, b, times=times)


_per = with_derivative(
    "per",
    lambda g, y, value, a, b, *, times: (None, g / b**times, g * (per(a, b, times + 1) * -times)),
)


def share_per(g: Value, a: Value) -> Value:
    """Return ``g / a``, linear in ``g``: where that is 0, there is no division, in whichever mode it is
    differentiated."""
    return _share_per.bind(g / where(equal(g, 0.0), 1.0, a), g, a)


_share_per = with_derivative("share_per", lambda h, y, value, g, a: (None, share_per(h, a), -(h * per(g, a, 2))))


def share(g: Value, slope: Value) -> Value:
    """Return ``g * slope``, linear in both: where ``g`` is 0, it is 0 for a slope that is infinite like a logarithm,
    too."""
    return _share.bind(where(equal(g, 0.0), 0.0, g * slope), g, slope)


_share = with_derivative("share", lambda h, y, value, g, slope: (None, share(h, slope), share(g, h)))


def log_per(a: Value, b: Value) -> Value:
    """Return ``log(a / b)``, which is 0 where ``b`` is 0. Beside the infinite slope in ``a`` at 0, that in ``b`` is
    finite."""
    zero = equal(b, 0.0)
    return _log_per.bind(where(zero, 0.0, log(a / where(zero, 1.0, b))), a, b)


_log_per = with_derivative("log_per", lambda g, y, value, a, b: (None, share_per(g, a), -(g / b)))


xlogy = special(
    "xlogy",
    emit=emitters.xlogy,
    vjp=lambda g, y, a, b: (g * log(b), g * per(a, b)),
    domain=POSITIVE,
    logarithm_of=(1,),
    cost=20,
    kinks=both_zero,
)
xlog1py = special(
    "xlog1py",
    emit=emitters.xlog1py,
    vjp=lambda g, y, a, b: (g * log1p(b), g * per(a, b + 1)),
    domain=POSITIVE,
    cost=25,
    kinks=lambda a, b: (a == 0) & (b == -1),
)
entr = special("entr", emit=emitters.entr, vjp=lambda g, y, x: (-share(g, log(x) + 1),), domain=POSITIVE, cost=20)
rel_entr = special(
    "rel_entr",
    emit=emitters.rel_entr,
    vjp=lambda g, y, a, b: (share(g, log_per(a, b) + 1), -(g * per(a, b))),
    domain=POSITIVE,
    logarithm_of=(1,),
    cost=40,
    kinks=both_zero,
)
kl_div = special(
    "kl_div",
    emit=emitters.kl_div,
    vjp=lambda g, y, a, b: (share(g, log_per(a, b)), g * (1 - per(a, b))),
    domain=POSITIVE,
    cost=40,
    ulp=8,
    kinks=both_zero,
)
