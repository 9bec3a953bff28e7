"""Whether a call works in a compiled function: it is traced, and gives NumPy's values and dtypes."""

from __future__ import annotations

import itertools
import runpy
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import optree

from numbagraph import graph_jit


def arguments() -> dict[str, Any]:
    """Arrays that calls speak of by one letter."""
    rng = np.random.default_rng(0)
    matrix = rng.uniform(0.1, 0.9, (4, 3))
    return {
        "x": np.array([0.3, 0.7, 0.2, 0.9, 0.45, 0.6]),
        "y": np.array([0.5, 0.1, 0.8, 0.35, 0.65, 0.25]),
        "p": np.array([0.15, 0.55, 0.4, 0.75, 0.2, 0.6]),
        "q": np.array([0.35, 0.2, 0.6, 0.1, 0.7, 0.5]),
        "n": np.array([0.3, np.nan, 0.2, 0.9, np.nan, 0.6]),
        "z": np.array([1 + 2j, 0.5 - 1j, 3j, -2 + 0j, 1 + 0j, 0.25 + 4j]),
        "s": np.float64(2.5),
        "v": np.array([1.0, -3.0, 2.0]),
        "w": np.array([0.5, 4.0, -1.0]),
        "t": np.array([0.2, 0.4, 0.6]),
        "A": matrix,
        "B": matrix[::-1].copy(),
        "S": matrix.T @ matrix + np.eye(3),
        "C": rng.uniform(0.1, 0.9, (2, 3, 4)),
        "i": np.array([3, 0, 1, 3, 2, 5]),
        "j": np.array([1, 2, 5, 0, 4, 3]),
        "k": np.array([4, 2, 7, 0, 1, 6]),
        "u": np.array([3, 200, 17], np.uint8),
        "b": np.array([True, False, True, True, False, True]),
        "m": np.array([False, False, True, True, True, False]),
        "g": np.random.default_rng(7),
    }


FOLDER = tempfile.TemporaryDirectory()
"""Functions have files: loops and branches on traced values are captured where there is source."""

PREAMBLE = """import numpy as np
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, spatial, special, stats
from scipy.cluster import vq
from scipy.optimize import elementwise as _elementwise
from scipy.spatial import distance, transform

KNOTS = np.arange(5.0)
HEIGHTS = np.cos(KNOTS)
GRID = np.arange(12.0).reshape(4, 3) ** 2
PLACES = np.array([[-2.0, -2.0], [3.0, -1.0], [-1.0, 3.0], [2.5, 2.5], [0.3, 0.4]])
SCATTERED = np.random.default_rng(3).random((3, 30))

"""
NUMBERS = itertools.count()


def function_of(call: str, given: dict[str, Any] | None = None) -> tuple[Any, list[Any]]:
    """A call as a function, with its arguments. One that writes into an array gives that array too."""
    given = arguments() if given is None else given
    used = [name for name in compile(call, call, "eval").co_names if name in given]
    used += [name for name in dict.fromkeys(nested_names(call)) if name in given and name not in used]
    written = [name for name in "Bkm" if name in used and writes(call)]
    text = f"({call}, {', '.join(written)})" if written else call
    path = Path(FOLDER.name) / f"call_{next(NUMBERS)}.py"
    path.write_text(f"{PREAMBLE}def function({', '.join(used)}):\n    return {text}\n")
    return runpy.run_path(str(path))["function"], [given[name] for name in used]


def writes(call: str) -> bool:
    return ".at(" in call or "(B" in call or call.startswith("B.")


def nested_names(call: str) -> list[str]:
    """The names that functions inside of a call read."""
    codes = [each for each in compile(call, call, "eval").co_consts if hasattr(each, "co_names")]
    return [name for code in codes for name in code.co_names]


def failure(call: str | None, backend: str = "numba") -> str:
    """Why a call does not work; an empty text if it does."""
    if call is None:
        return "there is no call of it"
    function, args = function_of(call)
    compiled = graph_jit(function, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = function(*args)
        _, args = function_of(call)  # what a call has written into is made anew
        try:
            found = compiled(*args)
        except Exception as error:  # noqa: BLE001  whatever stops it is the answer
            return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return difference(found, expected)


def difference(found: Any, expected: Any) -> str:
    """How results differ; an empty text if they do not."""
    found_leaves, found_tree = optree.tree_flatten(found, none_is_leaf=True)
    leaves, tree = optree.tree_flatten(expected, none_is_leaf=True)
    if len(leaves) != len(found_leaves):
        return f"the result is {found_tree}, not {tree}"
    for one, other in zip(found_leaves, leaves, strict=True):
        if other is None or isinstance(other, bytes):
            if one != other:
                return f"the result is {one!r}, not {other!r}"
            continue
        here, there = np.asarray(one), np.asarray(other)
        if (here.dtype, here.shape) != (there.dtype, there.shape):
            return f"the result is {here.dtype}{here.shape}, not {there.dtype}{there.shape}"
        same = (
            np.allclose(here, there, 1e-9, 1e-12, equal_nan=True) if here.dtype.kind in "fc" else (here == there).all()
        )
        if not same:
            return "the values differ"
    return ""
