"""Mathematical functions as code that LLVM widens to vectors, for float32 and float64."""

from numbagraph.intrinsics.vecmath.exponential import exp, exp2, expm1
from numbagraph.intrinsics.vecmath.hyperbolic import arccosh, arcsinh, arctanh, cosh, sinh, tanh
from numbagraph.intrinsics.vecmath.logarithm import log, log1p, log2, log10
from numbagraph.intrinsics.vecmath.logistic import expit, log1mexp, log_expit, logaddexp, logaddexp2, logit, softplus

__all__ = [
    "arccosh",
    "arcsinh",
    "arctanh",
    "cosh",
    "exp",
    "exp2",
    "expit",
    "expm1",
    "log",
    "log1mexp",
    "log1p",
    "log2",
    "log10",
    "log_expit",
    "logaddexp",
    "logaddexp2",
    "logit",
    "sinh",
    "softplus",
    "tanh",
]
