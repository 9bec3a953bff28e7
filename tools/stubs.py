"""Write the stubs from which type checkers and editors learn the functions of `numbagraph.numpy` and its like.

The names come from the registry, and the parameters from NumPy's and SciPy's own functions, with those that only newer
versions have: so the text is one for all versions from `SINCE` on.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import numpy as np

from numbagraph.library.namespaces import Function

MODULES = ("fft", "linalg", "numpy", "special")
FOLDER = Path(__file__).parents[1] / "src" / "numbagraph"
SINCE = "2.4.0"
"""The NumPy whose ufuncs tell their parameters, and the newest one for Python 3.11."""
NEWER = {"argsort": ["descending"], "sort": ["descending"]}
"""The keywords of NumPy's functions that only newer versions have."""


def declared(name: str, found: object) -> str:
    """One name of a stub."""
    if isinstance(found, Function):
        return f"def {name}{parameters(inspect.signature(found), NEWER.get(name, []))} -> Any: ..."
    if inspect.ismodule(found):
        package, _, _ = found.__name__.rpartition(".")
        return f"from {package} import {name} as {name}"
    if isinstance(found, float) or found is None:
        return f"{name}: {'None' if found is None else 'float'}"
    module = "numpy.linalg" if hasattr(np.linalg, name) else "numpy.fft" if hasattr(np.fft, name) else "numpy"
    return f"from {module} import {name} as {name}"


def parameters(signature: inspect.Signature, newer: list[str]) -> str:
    """The parameters and newer keywords, of any type; defaults stay unsaid, since they may not be written as Python."""
    missing = [each for each in newer if each not in signature.parameters]
    keywords = [inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None) for each in missing]
    return str(
        signature.replace(
            parameters=[
                each.replace(
                    annotation=Written("Any"), default=each.default if each.default is each.empty else Written("...")
                )
                for each in [*signature.parameters.values(), *keywords]
            ],
            return_annotation=signature.empty,
        )
    )


class Written:
    """What stands in a signature as it is written here."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def stub(name: str) -> str:
    module = importlib.import_module(f"numbagraph.{name}")
    lines = [declared(each, getattr(module, each)) for each in dir(module)]
    lines.sort(key=lambda line: (not line.startswith("from"), line))
    return "\n".join(["# Written by tools/stubs.py.", "from typing import Any", *lines]) + "\n"


def main() -> int:
    if np.lib.NumpyVersion(np.__version__) < SINCE:
        sys.exit(f"tools/stubs.py asks NumPy {SINCE} or newer for parameters; this is NumPy {np.__version__}")
    for name in MODULES:
        (FOLDER / f"{name}.pyi").write_text(stub(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
