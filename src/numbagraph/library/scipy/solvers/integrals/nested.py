"""`scipy.integrate.nquad` and its kin: integrals over several variables, each by `quad` inside of the next."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import IntegrationWarning

from numbagraph.library.scipy.arguments import known_number, refuse
from numbagraph.library.scipy.solvers.integrals.messages import messages
from numbagraph.library.scipy.solvers.integrals.quadpack import Found, Options, integral_of

Function = Callable[..., Any]


def dblquad(
    func: Function, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (), epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8
) -> Any:
    """`scipy.integrate.dblquad`."""
    ranges = [lambda *outer: (bound_at(gfun, outer[:1]), bound_at(hfun, outer[:1])), (a, b)]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def tplquad(
    func: Function,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    """`scipy.integrate.tplquad`."""
    ranges = [
        lambda *outer: (bound_at(qfun, outer[1::-1]), bound_at(rfun, outer[1::-1])),
        lambda *outer: (bound_at(gfun, outer[:1]), bound_at(hfun, outer[:1])),
        (a, b),
    ]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def bound_at(bound: Any, outer: Sequence[Any]) -> Any:
    return bound(*outer) if callable(bound) else bound


def nquad(func: Function, ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False) -> Any:
    """`scipy.integrate.nquad`."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    depth = len(ranges)
    if opts is None or not isinstance(opts, (list, tuple)):
        opts = [{} if opts is None else opts] * depth
    whole = Nested(func, ranges, opts)
    found = level(whole, depth - 1, args)
    if full_output:
        return found.value, found.error, {"neval": found.calls}
    for number, message in enumerate(messages(options_of(opts[-1], args).limit), start=1):
        if (found.statuses >> number) & 1:
            warnings.warn(message, IntegrationWarning, stacklevel=2)
    return found.value, found.error


class Nested(NamedTuple):
    """An integral over several variables, the innermost one first."""

    func: Function
    ranges: Any
    opts: Any


def level(whole: Nested, number: int, args: tuple[Any, ...]) -> Found:
    """Integrate over a variable, and over those inside of it."""
    low, high = bound_pair(whole.ranges[number], args)
    options = options_of(whole.opts[number], args)

    def inner(x: Any) -> Any:
        if number == 0:
            return np.float64(whole.func(x, *args))
        return level(whole, number - 1, (x, *args))

    return integral_of(inner, low, high, options, is_nested=number > 0)


def bound_pair(given: Any, args: tuple[Any, ...]) -> Any:
    return given(*args) if callable(given) else given


def options_of(given: Any, args: tuple[Any, ...]) -> Options:
    """Return the options of one variable's integral."""
    chosen: Any = given(*args) if callable(given) else given
    found: dict[str, Any] = dict(chosen)
    points = found.pop("points", None)
    epsabs, epsrel = found.pop("epsabs", 1.49e-8), found.pop("epsrel", 1.49e-8)
    limit = known_number(found.pop("limit", 50), "the limit of quad")
    for name in found:
        refuse(f"nquad with the option {name!r}", "leave it out, and write a weight into the function")
    return Options(epsabs, epsrel, limit, None if points is None else np.asarray(points, dtype=np.float64))
