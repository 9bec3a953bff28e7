"""All mathematical functions: with those that are else imported with the modules of their ops, not with the package."""

from numbagraph.intrinsics.vecmath.beta import beta, betaln
from numbagraph.intrinsics.vecmath.box_cox import boxcox, boxcox1p, inv_boxcox, inv_boxcox1p
from numbagraph.intrinsics.vecmath.carlson import elliprc, elliprd, elliprf, elliprg
from numbagraph.intrinsics.vecmath.dawson import dawsn, erfi
from numbagraph.intrinsics.vecmath.degrees import cosdg, cotdg, sindg, tandg
from numbagraph.intrinsics.vecmath.dilogarithm import spence
from numbagraph.intrinsics.vecmath.elliptic import ellipe, ellipk, ellipkm1
from numbagraph.intrinsics.vecmath.exponential_integrals import exp1, expi
from numbagraph.intrinsics.vecmath.foundation import functions
from numbagraph.intrinsics.vecmath.hyperbolic_integrals import chi, shi
from numbagraph.intrinsics.vecmath.incomplete_elliptic import ellipeinc, ellipkinc
from numbagraph.intrinsics.vecmath.kolmogorov import kolmogorov
from numbagraph.intrinsics.vecmath.modified_bessel import i0, i0e, i1, i1e, k0, k0e, k1, k1e
from numbagraph.intrinsics.vecmath.normal_quantiles import ndtri_exp
from numbagraph.intrinsics.vecmath.transformations import cosm1, exprel, powm1, pseudo_huber
from numbagraph.intrinsics.vecmath.wright_omega import wrightomega

__all__ = [
    "beta",
    "betaln",
    "boxcox",
    "boxcox1p",
    "chi",
    "cosdg",
    "cosm1",
    "cotdg",
    "dawsn",
    "ellipe",
    "ellipeinc",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "elliprc",
    "elliprd",
    "elliprf",
    "elliprg",
    "erfi",
    "exp1",
    "expi",
    "exprel",
    "functions",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kolmogorov",
    "ndtri_exp",
    "powm1",
    "pseudo_huber",
    "shi",
    "sindg",
    "spence",
    "tandg",
    "wrightomega",
]
