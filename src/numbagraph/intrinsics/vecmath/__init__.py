"""Mathematical functions as code that LLVM widens to vectors, for float32 and float64."""

from numbagraph.intrinsics.vecmath.error_function import erf, erfc, erfcx, log_ndtr, ndtr
from numbagraph.intrinsics.vecmath.exponential import exp, exp2, exp10, expm1
from numbagraph.intrinsics.vecmath.gamma import digamma, gamma, gammaln, rgamma
from numbagraph.intrinsics.vecmath.hyperbolic import arccosh, arcsinh, arctanh, cosh, sinh, tanh
from numbagraph.intrinsics.vecmath.inverse_error_function import erfcinv, erfinv, ndtri
from numbagraph.intrinsics.vecmath.inverse_trigonometric import arccos, arcsin, arctan, arctan2
from numbagraph.intrinsics.vecmath.logarithm import log, log1p, log2, log10
from numbagraph.intrinsics.vecmath.logistic import expit, log1mexp, log_expit, logaddexp, logaddexp2, logit, softplus
from numbagraph.intrinsics.vecmath.powers import cbrt, hypot, power
from numbagraph.intrinsics.vecmath.trigonometric import cos, sin, tan

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
