"""All mathematical functions: with those that are else imported with the modules of their ops, not with the package."""

from numbagraph.intrinsics.vecmath.elliptic import ellipe, ellipk, ellipkm1
from numbagraph.intrinsics.vecmath.foundation import functions

__all__ = ["ellipe", "ellipk", "ellipkm1", "functions"]
