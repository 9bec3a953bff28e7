"""All mathematical functions: with those that are else imported with the modules of their ops, not with the package."""

from numbagraph.intrinsics.vecmath.carlson import elliprc, elliprd, elliprf, elliprg
from numbagraph.intrinsics.vecmath.dawson import dawsn, erfi
from numbagraph.intrinsics.vecmath.elliptic import ellipe, ellipk, ellipkm1
from numbagraph.intrinsics.vecmath.exponential_integrals import exp1, expi
from numbagraph.intrinsics.vecmath.foundation import functions
from numbagraph.intrinsics.vecmath.hyperbolic_integrals import chi, shi
from numbagraph.intrinsics.vecmath.incomplete_elliptic import ellipeinc, ellipkinc
from numbagraph.intrinsics.vecmath.modified_bessel import i0, i0e, i1, i1e, k0, k0e, k1, k1e

__all__ = [
    "chi",
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
    "functions",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "shi",
]
