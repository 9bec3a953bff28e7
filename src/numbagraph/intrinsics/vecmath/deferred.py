"""All mathematical functions: with those that are else imported with the modules of their ops, not with the package."""

from numbagraph.intrinsics.vecmath.beta import beta, betaln
from numbagraph.intrinsics.vecmath.box_cox import boxcox, boxcox1p, inv_boxcox, inv_boxcox1p
from numbagraph.intrinsics.vecmath.degrees import cosdg, cotdg, sindg, tandg
from numbagraph.intrinsics.vecmath.dilogarithm import spence
from numbagraph.intrinsics.vecmath.foundation import functions
from numbagraph.intrinsics.vecmath.kolmogorov import kolmogorov
from numbagraph.intrinsics.vecmath.normal_quantiles import ndtri_exp
from numbagraph.intrinsics.vecmath.transformations import cosm1, exprel, powm1, pseudo_huber
from numbagraph.intrinsics.vecmath.wright_omega import wrightomega

__all__ = [
    "beta",
    "betaln",
    "boxcox",
    "boxcox1p",
    "cosdg",
    "cosm1",
    "cotdg",
    "exprel",
    "functions",
    "inv_boxcox",
    "inv_boxcox1p",
    "kolmogorov",
    "ndtri_exp",
    "powm1",
    "pseudo_huber",
    "sindg",
    "spence",
    "tandg",
    "wrightomega",
]
