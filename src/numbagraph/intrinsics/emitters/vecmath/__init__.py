"""Mathematical functions as code that LLVM widens to vectors, for float32 and float64."""

from numbagraph.intrinsics.emitters.vecmath.error_function import erf, erfc, erfcx, log_ndtr, ndtr
from numbagraph.intrinsics.emitters.vecmath.exponential import exp, exp2, exp10, expm1
from numbagraph.intrinsics.emitters.vecmath.gamma import digamma, gamma, gammaln, rgamma
from numbagraph.intrinsics.emitters.vecmath.hyperbolic import arccosh, arcsinh, arctanh, cosh, sinh, tanh
from numbagraph.intrinsics.emitters.vecmath.inverse_error_function import erfcinv, erfinv, ndtri
from numbagraph.intrinsics.emitters.vecmath.inverse_trigonometric import arccos, arcsin, arctan, arctan2
from numbagraph.intrinsics.emitters.vecmath.logarithm import log, log1p, log2, log10
from numbagraph.intrinsics.emitters.vecmath.logistic import (
    expit,
    log1mexp,
    log_expit,
    logaddexp,
    logaddexp2,
    logit,
    softplus,
)
from numbagraph.intrinsics.emitters.vecmath.powers import cbrt, hypot, power
from numbagraph.intrinsics.emitters.vecmath.trigonometric import cos, sin, tan

__all__ = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cbrt",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "exp2",
    "exp10",
    "expit",
    "expm1",
    "gamma",
    "gammaln",
    "hypot",
    "log",
    "log1mexp",
    "log1p",
    "log2",
    "log10",
    "log_expit",
    "log_ndtr",
    "logaddexp",
    "logaddexp2",
    "logit",
    "ndtr",
    "ndtri",
    "power",
    "rgamma",
    "sin",
    "sinh",
    "softplus",
    "tan",
    "tanh",
]
