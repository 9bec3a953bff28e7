"""Checks of derivatives at special points: zeros, ones, equal operands, and edges of domains, up to third order.

Finite differences of an op's values miss these points: what a mask protects is right beside them. So derivatives are
compared with the limits of differences that mpmath takes beside a point, on each of its sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from math import comb
from typing import Any

import mpmath
import numpy as np

from numbagraph.api.differentiation import grad
from numbagraph.intrinsics.emitters.vecmath.deferred import functions
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Op, Unsupported
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.library.namespaces import public_function
from numbagraph.testing import exact as in_many_digits
from numbagraph.testing import exact_kernels

Point = tuple[float, ...]
Path = tuple[int, ...]
"""The operands by which a function is differentiated, in order."""

POINTS = {
    1: (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 40.0, -0.5, -1.0, -2.0, -3.0, -40.0),
    2: (0.0, 0.5, 1.0, 2.0, -0.5, -1.0, -2.0),
}
PARAMETERS = (1.0, 2.0, 3.0)
ORDER = 3
DIGITS = 180
NEAR = (mpmath.mpf(10) ** -20, mpmath.mpf(10) ** -40)
"""The distances of neighbours from a point: where their derivatives differ, there is no limit."""
STEP = mpmath.mpf(10) ** -10
"""The step of differences, relative to the distance of a neighbour."""
ACROSS = ((0.6, 0.8), (-0.6, -0.8), (0.9, -0.4), (-0.9, 0.4))
"""Directions in which a point of the plane has neighbours."""
SAME = 1e-8

EXACT: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "sqrt": mpmath.sqrt,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "float_power": lambda x, y: x**y,
    "power": lambda x, y: x**y,
    "absolute": abs,
    "fabs": abs,
    "sign": mpmath.sign,
    "maximum": max,
    "minimum": min,
    "fmax": max,
    "fmin": min,
    "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),
    "floor": mpmath.floor,
    "ceil": mpmath.ceil,
    "trunc": lambda x: mpmath.sign(x) * mpmath.floor(abs(x)),
    "rint": mpmath.nint,
    "remainder": lambda x, y: x - y * mpmath.floor(x / y),
    "fmod": lambda x, y: x - y * mpmath.sign(x / y) * mpmath.floor(abs(x / y)),
    "floor_divide": lambda x, y: mpmath.floor(x / y),
    "modf_fraction": lambda x: x - mpmath.sign(x) * mpmath.floor(abs(x)),
    "degrees": mpmath.degrees,
    "radians": mpmath.radians,
    "sinc": lambda x: mpmath.sinc(mpmath.pi * x),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "logaddexp2": lambda x, y: mpmath.log(mpmath.mpf(2) ** x + mpmath.mpf(2) ** y, 2),
    "log_ndtr": lambda x: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
    "gammaln": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "loggamma": lambda x: mpmath.loggamma(x),
    "gamma": mpmath.gamma,
    "digamma": lambda x: mpmath.digamma(x),
    "rgamma": mpmath.rgamma,
    "binom": mpmath.binomial,
    "poch": mpmath.rf,
    "beta": mpmath.beta,
    "betaln": lambda a, b: mpmath.log(abs(mpmath.beta(a, b))),
    "special.cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exprel": lambda x: mpmath.expm1(x) / x,
    "xlogy": lambda x, y: x * mpmath.log(y),
    "xlog1py": lambda x, y: x * mpmath.log(1 + y),
    "entr": lambda x: -x * mpmath.log(x),
    "rel_entr": lambda x, y: x * mpmath.log(x / y) if x > 0 and y > 0 else mpmath.nan,
    "kl_div": lambda x, y: x * mpmath.log(x / y) - x + y if x > 0 and y > 0 else mpmath.nan,
    "huber": lambda d, r: mpmath.nan if d <= 0 else r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2),
    "i0": lambda x: mpmath.besseli(0, x),
    "i1": lambda x: mpmath.besseli(1, x),
    "i0e": lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)),
    "i1e": lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
    "j0": lambda x: mpmath.besselj(0, x),
    "j1": lambda x: mpmath.besselj(1, x),
    "jv": mpmath.besselj,
    "hankel_j": lambda v, x: mpmath.besselj(v, x) if x > 0 else mpmath.nan,
    "hankel_y": lambda v, x: mpmath.bessely(v, x) if x > 0 else mpmath.nan,
    "iv": mpmath.besseli,
    "ive": lambda v, x: mpmath.besseli(v, x) * mpmath.exp(-abs(x)),
    "gammainc": lambda a, x: mpmath.gammainc(a, 0, x, regularized=True) if x > 0 else mpmath.nan,
    "gammaincc": lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True) if x > 0 else mpmath.nan,
    "betainc": lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True) if 0 < x < 1 else mpmath.nan,
    **in_many_digits.FUNCTIONS,
    **exact_kernels.FUNCTIONS,
}
"""The functions with mpmath, by the names of ops; numbagraph's mathematical functions declare their own."""


class Limits:
    """The derivatives of a function beside a point. Derivatives that grow without bounds are infinite."""

    def __init__(self, function: Callable[..., Any], point: Point) -> None:
        self.function = cache(function)
        self.point = [mpmath.mpf(each) for each in point]

    def along(self, operand: int, order: int) -> list[Any]:
        """The derivatives by one operand, on both sides of the point (or on the one that there is)."""
        unit = [float(each == operand) for each in range(len(self.point))]
        orders = [order * (each == operand) for each in range(len(self.point))]
        return self.limits([unit, [-each for each in unit]], orders)

    def mixed(self, path: Path) -> list[Any]:
        """The derivatives by two operands, in some directions."""
        held = len(self.point) - 2
        orders = [path.count(each) for each in range(len(self.point))]
        return self.limits([(*[0.0] * held, *each) for each in ACROSS], orders)

    def limits(self, sides: Sequence[Sequence[float]], orders: Sequence[int]) -> list[Any]:
        found = [self.limit(side, orders) for side in sides]
        return [each for each in found if not mpmath.isnan(each)]

    def jumps(self, path: Path) -> bool:
        """Whether the value at the point differs from the values beside it, along the operands of a path."""
        try:
            value = self.function(*self.point)
        except (ValueError, ZeroDivisionError):
            return False
        beside = self.mixed(()) if len(set(path)) > 1 else self.along(path[0], 0)
        return mpmath.isfinite(value) and not all(alike(each, value) for each in beside)

    def limit(self, side: Sequence[float], orders: Sequence[int]) -> Any:
        try:
            first, second = (self.difference(side, distance, orders) for distance in NEAR)
        except (ValueError, ZeroDivisionError):
            return mpmath.nan
        if alike(first, second):
            return second
        return mpmath.sign(second) * mpmath.inf if abs(second) > abs(first) else mpmath.nan

    def difference(self, side: Sequence[float], distance: Any, orders: Sequence[int]) -> Any:
        step = distance * STEP
        start = [each + distance * mpmath.mpf(along) for each, along in zip(self.point, side, strict=True)]
        total = mpmath.mpf(0)
        for steps in product(*[range(order + 1) for order in orders]):
            value = self.function(*[each + step * count for each, count in zip(start, steps, strict=True)])
            if not isinstance(value, mpmath.mpf) or not mpmath.isfinite(value):
                raise ValueError("not a real number")
            weight = (-1) ** (sum(orders) - sum(steps))
            for order, count in zip(orders, steps, strict=True):
                weight *= comb(order, count)
            total += weight * value
        return total / step ** sum(orders)


def alike(one: Any, other: Any) -> bool:
    if mpmath.isinf(one) or mpmath.isinf(other):
        return one == other
    return bool(abs(one - other) <= SAME * max(1, abs(one), abs(other)))


def exact(op: Op, result: int | None = None) -> Any:
    """The op's function with mpmath, if it is known."""
    name = op.name if result is None else f"{op.name}[{result}]"
    if name in EXACT:
        return EXACT[name]
    return partial(functions[op.name].exact, mpmath) if op.name in functions else None


def expected(op: Op, limits: Limits, point: Point, path: Path) -> float | None:
    """The correct value of a derivative: its limit, or (where there are two) their mean. None where neither exists.

    Raises
    ------
    AssertionError
        Where there is no limit, but the op does not declare that.
    """
    if limits.jumps(path):
        return None
    if len(set(path)) > 1:
        sides = limits.mixed(path)
        if sides and not all(alike(each, sides[0]) for each in sides):
            require_kink(op, point, path, sides)
            return None
        return float(sides[0]) if len(sides) == len(ACROSS) or (sides and not op.kinks(*point)) else None
    sides: list[Any] = []
    for order in range(len(path) + 1):
        sides = limits.along(path[0], order)
        if len(sides) == 2 and not alike(*sides):
            if order == 0 or all(map(mpmath.isinf, sides)):
                return None  # the value jumps, or there is a pole
            require_kink(op, point, path, sides)
            return float((sides[0] + sides[1]) / 2) if order == len(path) else None
    return float(sides[0]) if sides else None


def require_kink(op: Op, point: Point, path: Path, sides: Sequence[Any]) -> None:
    if not op.kinks(*map(np.float64, point)):
        found = ", ".join(mpmath.nstr(each, 8) for each in sides)
        raise AssertionError(
            f"{op.name} at {point}, derivative by {path}: {found} beside it, but no kinks are declared"
        )


def has_points(op: Op) -> bool:
    """Whether an op can be checked: it has a derivative, and a function with mpmath."""
    return not isinstance(op.vjp, Unsupported) and exact(op) is not None


def paths(operands: Sequence[int], order: int) -> Iterator[Path]:
    for length in range(1, order + 1):
        yield from product(operands, repeat=length)


def derivatives(
    op: Op, operands: Sequence[int], order: int, backend: str, result: int | None = None
) -> Callable[..., dict[Path, Any]]:
    """The compiled function that returns derivatives of each element, by their paths."""
    public = public_function(op.name, "numbagraph.numpy")

    def one(*arrays: Any) -> Any:
        return public(*arrays) if result is None else public(*arrays)[result]

    def by(path: Path) -> Callable[..., Any]:
        function = one
        for operand in path:
            function = grad(total(function), argnums=operand)
        return function

    def every(*arrays: Any) -> list[Any]:
        return [by(path)(*arrays) for path in paths(operands, order)]

    run = GraphFunction(every, backend=backend)
    return lambda *arrays: dict(zip(paths(operands, order), run(*arrays), strict=True))


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of an elementwise function's values, whose gradient has each element's derivative."""
    return lambda *arrays: function(*arrays).sum()


def operands_of(op: Op) -> tuple[int, list[int]]:
    """The number of an op's operands, and the positions of those that its samples have as real numbers: the others are
    parameters."""
    arrays = next(iter(op.samples(np.random.default_rng(0), FLOAT64)))
    return len(arrays), [position for position, each in enumerate(arrays) if np.asarray(each).dtype == FLOAT64]


def points_of(op: Op) -> np.ndarray:
    """Special points, a row each."""
    count, operands = operands_of(op)
    ranges = [POINTS[len(operands)] if each in operands else PARAMETERS for each in range(count)]
    return np.array(list(product(*ranges)))


def check_special_points(
    op: Op,
    *,
    order: int = ORDER,
    backend: str = "numpy",
    dtype: Any = FLOAT64,
    tolerance: float = 1e-7,
    result: int | None = None,
) -> int:
    """Compare an elementwise op's derivatives at special points with their limits beside them.

    Mixed derivatives must be the same in whichever order they are taken. Where a derivative is not continuous, the op
    must say so (`kinks`), and give the mean of both sides.

    Returns
    -------
    int
        The number of derivatives that were compared.

    Raises
    ------
    AssertionError
        With all derivatives that are wrong.
    """
    function, points, (_, operands) = exact(op, result), points_of(op), operands_of(op)
    arrays = points.T.astype(dtype).copy()
    found, results = derivatives(op, operands, order, backend, result)(*arrays), op.reference(*arrays)
    results = results if result is None else op.reference(*arrays, result=result)
    failures, compared = [], 0
    for row, point in enumerate(map(tuple, points.tolist())):
        if np.isnan(results[row]):
            continue
        values = {path: float(each[row]) for path, each in found.items()}
        with mpmath.workdps(DIGITS):
            limits = cache(partial(expected, op, Limits(function, point), point))
            for path, value in values.items():
                if len(set(path)) > 1 and np.isinf(results[row]):
                    continue  # an infinite value has slopes along lines at most
                where, sorted_path = f"{op.name} at {point}, derivative by {path}", tuple(sorted(path))
                if not agree(value, values[sorted_path], tolerance):
                    failures.append(f"{where}: {value}, but {values[sorted_path]} in another order")
                try:
                    wanted = limits(sorted_path)
                except AssertionError as error:
                    failures.append(str(error))
                    continue
                if wanted is None:
                    continue
                compared += 1
                if not agree(value, wanted, tolerance):
                    failures.append(f"{where}: {wanted} expected, found {value}")
    if failures:
        raise AssertionError(f"{len(failures)} of {compared} derivatives\n" + "\n".join(dict.fromkeys(failures)))
    return compared


def agree(value: float, wanted: float, tolerance: float) -> bool:
    if not (np.isfinite(wanted) and np.isfinite(value)):
        return value == wanted or bool(np.isnan(value) and np.isnan(wanted))
    return abs(value - wanted) <= tolerance * max(1.0, abs(wanted))
