"""Methods of distributions that SciPy computes by integrals, sums or searches: calls of SciPy, with derivatives that
follow from the density."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from numbagraph.api.callbacks import pure_callback
from numbagraph.ir.values import Value
from numbagraph.library.scipy.arguments import refuse
from numbagraph.library.scipy.stats.formulas import Function
from numbagraph.ops.rules.custom_rule import with_rule
from numbagraph.tracing.tracer import apply

SIGNS = {"cdf": 1.0, "sf": -1.0, "logcdf": 1.0, "logsf": -1.0, "ppf": 1.0, "isf": -1.0}
"""The sign of a method's slope by its argument."""


def called(dist: Any, name: str, density: Function) -> Function:
    """Return a method as a call of SciPy. Its derivative by the argument follows from the density."""

    def formula(x: Any, *shapes: Any) -> Any:
        first, *rest = np.broadcast_arrays(x, *shapes)
        rest = [constant(each, f"the derivative of scipy.stats.{dist.name}.{name} by its shapes") for each in rest]

        def vjp(g: Any, y: Any, x: Any, *shapes: Any) -> tuple[Any, ...]:
            return g * slope(y, x, *shapes), *map(np.zeros_like, shapes)

        def slope(y: Any, x: Any, *shapes: Any) -> Any:
            if isinstance(dist, stats.rv_discrete):
                return 0.0
            if name in ("ppf", "isf"):
                return SIGNS[name] / density(y, *shapes)
            height = SIGNS[name] * density(x, *shapes)
            return height * np.exp(-y) if name.startswith("log") else height

        def refused(*_: Any) -> None:
            refuse(f"the derivative of scipy.stats.{dist.name}.{name}", INSTEAD)

        return pure_callback(
            method(dist, name), first, first, *rest, vjp=vjp if name in SIGNS else refused, vmap_method="broadcast_all"
        )

    return formula


INSTEAD = "SciPy has no formula for it; write one with numpy and scipy.special"


@lru_cache(256)
def method(dist: Any, name: str) -> Function:
    """Return a method on arrays of one shape, as one object: a callback is known by its identity."""

    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            found = getattr(dist, name)(*args)
            return tuple(map(as_float64, found)) if name == "support" else as_float64(found)

    call.__name__ = call.__qualname__ = f"scipy.stats.{dist.name}.{name}"
    return call


def as_float64(x: Any) -> np.ndarray:
    return np.asarray(x, np.float64)


def called_support(dist: Any, shapes: Any) -> Any:
    """Return the ends of a support that SciPy finds by operations which no traced array has."""
    rest = [constant(each, f"the derivative of the support of scipy.stats.{dist.name}") for each in shapes]
    rest = np.broadcast_arrays(*rest)
    return pure_callback(method(dist, "support"), (rest[0], rest[0]), *rest, vmap_method="broadcast_all")


def called_check(dist: Any, shapes: Any) -> Any:
    """Return which shapes are valid, where SciPy checks them by operations that no traced array has."""
    rest = np.broadcast_arrays(*shapes)
    return pure_callback(argument_check(dist), rest[0] > 0, *rest, vmap_method="broadcast_all")


@lru_cache(256)
def argument_check(dist: Any) -> Function:
    """Return the check on arrays of one shape, as one object."""

    def call(*shapes: Any) -> Any:
        return np.broadcast_to(np.asarray(dist._argcheck(*shapes), bool), np.shape(shapes[0]))

    call.__name__ = call.__qualname__ = f"scipy.stats.{dist.name}._argcheck"
    return call


def constant(x: Any, what: str) -> Any:
    """Return an array that raises where a derivative with respect to it is taken."""

    def refused(*_: Any) -> Any:
        refuse(what, INSTEAD)

    def value_of(value: Value) -> Value:
        return with_rule([value], [value], refused)[0]

    return apply(value_of, x)
