"""All mathematical functions, including those that are otherwise imported only with the modules of their ops."""

import pkgutil

from numbagraph.forking import import_module
from numbagraph.intrinsics.emitters import vecmath
from numbagraph.intrinsics.emitters.vecmath.declare import functions

__all__ = ["functions"]

for _each in pkgutil.iter_modules(vecmath.__path__, f"{vecmath.__name__}."):
    if _each.name != __name__:
        import_module(_each.name)
