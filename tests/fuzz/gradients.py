"""Derivatives of random programs against differences of NumPy's values: first and second order, both modes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import numbagraph.numpy as xp
from numbagraph import grad, graph_jit, hessian, jvp
from numbagraph.ir.op import numpy_function, registry
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Unsupported
from numbagraph.testing.op_calls import Call, is_supported, outcome, samples
from numbagraph.tracing.tracer import TraceError
from tests.fuzz.programs import UNSPECIFIED, is_specified
from tests.fuzz.runner import Difference, Report

STEP = 1e-3
SPECIAL = (0.0, 1.0, -1.0, 0.5, 2.0)
SPECIAL_SHARE = 0.3
"""Of points that have some of these elements."""
APART = ("elliprd", "elliprf", "elliprg")
"""A listed limit: what has no derivatives, or no second ones, where operands are equal."""
PHASE = 0.3
"""Added to what the sine is taken of: without it, the steps of angles by multiples of pi are none of the loss."""
RESOLVED = 1e7
"""The largest result that is looked at. The numbers beside larger ones are so far apart that differences lose what a
step adds to them."""
PHASES = 0.5
"""How far a result may move within a step: beyond it, differences lose count of the sine's turns."""
SINGULAR = 1e10
"""A slope that large, of an element which differences do not know, is that of a function which has none: Q and R of a
matrix with equal columns."""
LARGEST = 40
"""Elements of an argument at most: each takes some differences."""


def names() -> list[str]:
    """The ops that have derivatives."""
    found = [op for op in registry if numpy_function(op) is not None and op.name not in UNSPECIFIED]
    return sorted(op.name for op in found if not isinstance(op.vjp, Unsupported) or op.kind == "decomposition")


class Loss:
    """A scalar function of one vector: an op on parts of it, and a sum of its results with weights."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.calls: list[Call] = []
        self.rng = rng
        self.point = np.empty(0)

    def take(self, name: str) -> bool:
        """Begin with an op; whether it has a sample of a few real numbers."""
        calls = list(samples(registry[name], FLOAT64, seed=int(self.rng.integers(2**31))))
        calls = [each for each in calls if _is_usable(each)]
        if not calls:
            return False
        call = calls[int(self.rng.integers(len(calls)))]
        self.calls.append(call)
        floats = [each.astype(float).ravel() for each in call.arrays if each.dtype == FLOAT64]
        self.point = np.concatenate(floats)
        if self.rng.random() < SPECIAL_SHARE and name not in APART:
            self._make_special()
        return is_specified(name, self._arrays(self.point))

    def _make_special(self) -> None:
        """Zeros, ones, and equal elements: where formulas divide by zero or have ties."""
        chosen = self.rng.random(self.point.size) < 0.3
        self.point[chosen] = self.rng.choice(SPECIAL)

    def _arrays(self, x: Any) -> list[Any]:
        """The op's arguments: parts of a vector, and what is not differentiated."""
        arrays, begin = [], 0
        for each in self.calls[0].arrays:
            if each.dtype == FLOAT64:
                arrays.append(xp.reshape(x[begin : begin + each.size], each.shape))
                begin += each.size
            else:
                arrays.append(each)
        return arrays

    def results(self, x: Any) -> list[Any]:
        """What the op makes of the parts of a vector, as vectors of real numbers."""
        (call,), arrays = self.calls, self._arrays(x)
        result = call.op.determined(call.function(*arrays))
        parts = result if isinstance(result, (tuple, list)) else [result]
        parts = [each for each in parts if getattr(each, "dtype", None) is not None and each.dtype.kind in "fc"]
        return [xp.reshape(xp.real(each), (-1,)) for each in parts]

    def __call__(self, x: Any) -> Any:
        total = 0.0
        for number, flat in enumerate(self.results(x)):
            weights = 1.0 + 0.3 * xp.cos(
                0.5 * number + xp.arange(flat.shape[0])
            )  # none of a sum's terms is like another
            total = total + xp.sum(xp.sin(flat + PHASE) * weights)
        return total

    def __str__(self) -> str:
        return f"x = {self.point!r}\nsum(sin({', '.join(map(str, self.calls))} + {PHASE}))"


def _is_usable(call: Call) -> bool:
    floats = [each for each in call.arrays if each.dtype == FLOAT64]
    is_small = 0 < sum(each.size for each in floats) <= LARGEST
    return is_small and is_supported(call.expected(call.arrays))


def case(rng: np.random.Generator, report: Report) -> None:
    """The derivatives of one function at one point."""
    loss = Loss(rng)
    name = str(rng.choice(names()))
    if not loss.take(name):
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        check(loss, rng, report)


def check(loss: Loss, rng: np.random.Generator, report: Report) -> None:
    point = loss.point
    value = outcome(loss, [point])
    if isinstance(value, Exception) or not np.all(np.isfinite(value)) or np.ndim(value):
        return
    if any(np.abs(each).max(initial=0) > RESOLVED for each in loss.results(point)):
        return
    gradient = outcome(graph_jit(grad(loss), cache=False), [point])
    if isinstance(gradient, (TraceError, NotImplementedError, TypeError)):
        report.refused[str(gradient).partition("\n")[0][:80]] += 1
        return
    if isinstance(gradient, Exception):
        raise Difference(f"the gradient: {gradient!r}\n{loss}")
    direction = rng.uniform(-1, 1, point.size)
    by_elements = _by_elements(loss)
    if not _is_linear(loss, by_elements, direction):
        return
    known = _compare(loss, "the gradient", gradient, by_elements)
    if np.any(~known & (np.abs(gradient) > SINGULAR)):
        return
    forward = outcome(graph_jit(lambda x, d: jvp(loss, (x,), (d,))[1], cache=False), [point, direction])
    expected = float(gradient @ direction)
    if isinstance(forward, Exception) or not np.isclose(forward, expected, rtol=1e-8, atol=1e-8, equal_nan=True):
        raise Difference(f"forward mode: {expected!r} expected, found {forward!r}\n{loss}")
    if _has_known_phases(loss, direction):
        _check_second(loss, point, direction)
    report.covered.update(each.op.name for each in loss.calls)


def _has_known_phases(loss: Loss, direction: np.ndarray) -> bool:
    found = outcome(loss.results, [loss.point + STEP * direction])
    if isinstance(found, Exception):
        return True  # beyond the edge of what the op takes: differences do not know that side
    pairs = list(zip(found, loss.results(loss.point), strict=True))
    if any(there.shape != here.shape for there, here in pairs):
        return False  # so many elements are equal at the point alone
    moved = [np.abs(there - here) for there, here in pairs]
    return not any(np.any(each[np.isfinite(each)] > PHASES) for each in moved)


def _value(loss: Loss, x: np.ndarray) -> Any:
    """NumPy's value, and NaN beyond the edge of what an op takes."""
    value = outcome(loss, [x])
    return np.nan if isinstance(value, Exception) else np.asarray(value, float)[()]


def _by_elements(loss: Loss) -> list[tuple[Any, Any]]:
    """NumPy's derivatives along the axes, and how well they are known."""

    def along(unit: np.ndarray) -> tuple[Any, Any]:
        if not _has_known_phases(loss, unit):
            return np.nan, np.inf
        return derivative(lambda t: _value(loss, loss.point + t * unit))

    return [along(unit) for unit in np.eye(loss.point.size)]


def _is_linear(loss: Loss, by_elements: list[tuple[Any, Any]], direction: np.ndarray) -> bool:
    """Whether NumPy's values change along a direction as they do along the axes, of the elements where both are known.
    They do not where several elements are equal and one of them is chosen: along each axis alone such a function is
    smooth."""
    slopes, errors = (np.array(each, float) for each in zip(*by_elements, strict=True))
    known = errors < 1e-3 * (1 + np.abs(slopes))
    direction = np.where(known, direction, 0.0)
    if not known.any() or not _has_known_phases(loss, direction):
        return True  # elements are compared one by one, where they are known
    expected, error = derivative(lambda t: _value(loss, loss.point + t * direction))
    bound = 1e-3 * (1 + np.abs(expected))
    uncertain = float(np.abs(direction[known]) @ errors[known])
    if not uncertain < bound:
        return True
    along = direction[known] @ slopes[known]
    return bool(error < bound and np.abs(expected - along) <= 1e-2 * bound + 10 * (uncertain + error))


def _check_second(loss: Loss, point: np.ndarray, direction: np.ndarray) -> None:
    """The Hessian is symmetric, and is the derivative of the gradient, which was compared with NumPy."""
    matrix = outcome(graph_jit(hessian(loss), cache=False), [point])
    if isinstance(matrix, (NotImplementedError, TypeError)):
        return
    if isinstance(matrix, Exception):
        raise Difference(f"the Hessian: {matrix!r}\n{loss}")
    size = 1 + np.abs(matrix[np.isfinite(matrix)]).max(initial=0)
    if np.isfinite(matrix).all() and not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-7 * size):
        raise Difference(f"the Hessian is not symmetric: {matrix - matrix.T}\n{loss}")
    slope = graph_jit(grad(loss), cache=False)

    def along(t: float) -> Any:
        x = point + t * direction
        return slope(x) if np.isfinite(_value(loss, x)) else np.full(point.size, np.nan)

    try:
        _compare(loss, "the Hessian", [matrix @ direction], [derivative(along)])
    except Difference:
        if turns_linearly(slope, loss, direction, along):
            raise


def turns_linearly(
    slope: Callable[[np.ndarray], Any], loss: Loss, direction: np.ndarray, along: Callable[[float], Any]
) -> bool:
    """Whether the gradient changes along a direction as it does along the axes: that of the square of a sum of absolute
    values, for one, does not where elements are 0, though it is smooth on each line."""
    expected, error = derivative(along)
    each = [derivative(lambda t, unit=unit: slope(loss.point + t * unit)) for unit in np.eye(direction.size)]
    columns, errors = (np.array(part) for part in zip(*each, strict=True))
    bound = 1e-3 * (1 + np.abs(expected))
    unknown = np.abs(direction) @ errors + error
    known = unknown < bound
    return bool(np.all(np.abs(expected - direction @ columns)[known] <= (bound + 10 * unknown)[known]))


def _compare(loss: Loss, what: str, found: Any, differences: list[tuple[Any, Any]]) -> np.ndarray:
    """Compare with differences, where those from both sides agree: the function is smooth there. Gives where it is."""
    smooth = []
    for number, (each, (expected, error)) in enumerate(zip(found, differences, strict=True)):
        bound = 1e-5 * (1 + np.abs(expected)) + 10 * error
        smooth.append(error < 1e-3 * (1 + np.abs(expected)))
        wrong = smooth[-1] & ~(np.abs(each - expected) <= bound)
        if np.any(wrong):
            raise Difference(f"{what}[{number}]: {expected} expected, found {each}\n{loss}")
    return np.array(smooth)


def derivative(curve: Callable[[float], Any]) -> tuple[np.ndarray, np.ndarray]:
    """The derivative at 0 by differences of sixth order, and how well it is known: from steps of two sizes, and from
    each side. Where a function is not smooth, or not defined on one side, the second number is large or NaN."""
    values = {k: np.asarray(curve(k * STEP), float) for k in (-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6)}

    def central(step: int) -> np.ndarray:
        odd = [values[k * step] - values[-k * step] for k in (1, 2, 3)]
        return (45 * odd[0] - 9 * odd[1] + odd[2]) / (60 * step * STEP)

    def one_sided(sign: int) -> np.ndarray:
        v = [values[sign * k] for k in (0, 1, 2, 3, 4)]
        return sign * (-25 * v[0] + 48 * v[1] - 36 * v[2] + 16 * v[3] - 3 * v[4]) / (12 * STEP)

    fine = central(1)
    left, right = one_sided(-1), one_sided(1)
    error = np.maximum(np.abs(fine - central(2)), np.maximum(np.abs(fine - left), np.abs(fine - right)))
    return fine, np.where(np.isfinite(error), error, np.inf)
