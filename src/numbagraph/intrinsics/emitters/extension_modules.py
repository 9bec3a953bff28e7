"""Compiled modules of other packages, imported without the rest of the package."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType

from numbagraph.forking import import_module, importing


@cache
def extension_module(name: str) -> ModuleType:
    """A compiled module that imports nothing of its package, such as `scipy.linalg.cython_blas`.

    The package itself would be imported first, which for `scipy.linalg` takes 0.4 s. If a program does that later, it
    gets the same module: Cython makes one a process.
    """
    with importing:
        if name in sys.modules:
            return sys.modules[name]
        top, *inner = name.split(".")[:-1]
        package = find_spec(top)
        if os.name == "nt":
            import_module(top)  # it says where its libraries are
        places = (package and package.submodule_search_locations) or []
        spec = PathFinder.find_spec(name, [os.path.join(each, *inner) for each in places])
        if spec is None or spec.loader is None:  # a package that is built when it is imported
            return import_module(name)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
