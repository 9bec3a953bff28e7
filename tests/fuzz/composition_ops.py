"""How programs call ops of the registry: by arguments that follow from a vector, and at which they are finite."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from numbagraph.ir.op import numpy_function, registry
from numbagraph.ir.values import Unsupported
from tests.fuzz.programs import UNCHECKED, UNSPECIFIED

REAL = ("{0}", "np.abs({0}) + 0.2", "np.tanh({0}) * 0.6", "0.5 + 0.3 * np.sin({0})", "{0} * {0} + 1.3")
"""Vectors for ops, each in an interval of its own."""
SECOND = ("0.7 * {0}[::-1]", "0.5 + 0.2 * np.cos({0})", "{0} * {0} + 1.6", "1.5", "2")
MATRIX = ("(a + 0.1 * np.outer({0}, {0}))", "(a @ a.T + np.outer({0}, {0}))")
APART = ("empty", "empty_like", "gammaln_ratio")
LARGEST = 4.0
"""What is larger is brought near to zero: powers of it, in what is differentiated, would overflow."""
BOUND = 1e30
"""SciPy's searches give such a number where there is no solution: 1e100 from `stdtridf`. It has no derivative."""
PROBES = (np.array([0.3, -0.7, 0.55]), np.array([-0.2, 0.6, -0.45]), np.array([0.25, 0.65, -0.4]))
PLACES = (("np", np), ("np.linalg", np.linalg), ("special", scipy.special))


@dataclass(frozen=True)
class Use:
    """An op's call, as text with ``{0}`` for the vector."""

    name: str
    text: str
    is_smooth: bool

    def of(self, vector: str) -> str:
        return self.text.replace("{0}", vector)


def path_of(name: str) -> str | None:
    """How a program calls NumPy's or SciPy's function of an op."""
    function = numpy_function(registry[name])
    called = getattr(function, "__name__", None)
    found = [f"{path}.{called}" for path, module in PLACES if called and getattr(module, called, None) is function]
    return found[0] if found else None


@functools.cache
def names() -> list[str]:
    """The ops of one or two arguments that NumPy or SciPy have under a name."""
    found = (op.name for op in registry if op.name not in (*UNSPECIFIED, *UNCHECKED, *APART))
    return sorted(name for name in found if path_of(name) is not None)


@functools.cache
def uses(name: str) -> tuple[Use, ...]:
    """The ways to call an op with numbers for which it is finite; vectors, whatever it gives."""
    path = path_of(name)
    op = registry[name]
    smooth = op.kind == "decomposition" or not isinstance(op.vjp, Unsupported)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        made = (vector_of(f"{path}({each})") for each in argument_lists(getattr(numpy_function(op), "nin", None)))
        return tuple(Use(name, text, smooth) for text in made if text is not None)


def argument_lists(count: int | None) -> Iterator[str]:
    """Arguments for a function of that many; of one and of two, if that is not known."""
    one = (*REAL, *MATRIX)
    if count in (1, None):
        yield from one
    if count in (2, None):
        yield from (f"{first}, {second}" for first in one for second in SECOND)
        yield from (f"{second}, {first}" for first in one for second in SECOND[-2:])


def vector_of(call: str) -> str | None:
    """A call as a vector of floats that follow from a vector; None where it fails, or is not finite."""
    values = [value_of(call, each) for each in PROBES]
    if any(isinstance(each, (tuple, list)) for each in values):
        call = f"{call}[0]"
        values = [value_of(call, each) for each in PROBES]
    if not all(isinstance(each, (np.ndarray, np.generic)) for each in values):
        return None
    values = [np.asarray(each) for each in values]
    if any(each.dtype.kind not in "biuf" or not each.size for each in values):
        return None
    if not all(np.all(np.abs(each) < BOUND) for each in values):
        return None
    if values[0].dtype.kind == "b":
        call = f"np.where({call}, 1.0, 0.5)"
    elif values[0].dtype.kind in "iu":
        call = f"0.1 * {call}"
    elif max(np.abs(each).max() for each in values) > LARGEST:
        call = f"np.tanh(0.1 * {call})"
    if values[0].ndim == 2 and values[0].shape == (3, 3):
        return f"({call} @ w)"
    if values[0].shape == (3,):
        return call
    return f"np.sum({call})" if values[0].ndim else call


def value_of(call: str, vector: np.ndarray) -> Any:
    size = len(vector)
    known = {
        "np": np,
        "special": scipy.special,
        "v": vector.copy(),
        "a": 2 * np.eye(size) + 0.3,
        "w": np.cos(np.arange(size)),
    }
    try:
        return eval(call.replace("{0}", "v"), known)
    except (TypeError, ValueError, IndexError, np.linalg.LinAlgError, OverflowError, ArithmeticError, AttributeError):
        return None
