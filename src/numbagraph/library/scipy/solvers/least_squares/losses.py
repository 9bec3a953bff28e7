"""Losses: what a least-squares problem sums instead of squares, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.solvers.least_squares.pivoted_qr import EPS

Loss = Callable[[Any], tuple[Any, Any, Any]]


def huber(z: Any) -> tuple[Any, Any, Any]:
    is_inner = z <= 1.0
    outer = np.where(is_inner, 1.0, z)
    value = np.where(is_inner, z, 2.0 * outer**0.5 - 1.0)
    return value, np.where(is_inner, 1.0, outer**-0.5), np.where(is_inner, 0.0, -0.5 * outer**-1.5)


def soft_l1(z: Any) -> tuple[Any, Any, Any]:
    t = 1.0 + z
    return 2.0 * (t**0.5 - 1.0), t**-0.5, -0.5 * t**-1.5


def cauchy(z: Any) -> tuple[Any, Any, Any]:
    t = 1.0 + z
    return np.log1p(z), 1.0 / t, -1.0 / t**2


def arctan(z: Any) -> tuple[Any, Any, Any]:
    t = 1.0 + z**2
    return np.arctan(z), 1.0 / t, -2.0 * z / t**2


LOSSES: dict[str, Loss | None] = {
    "arctan": arctan, "cauchy": cauchy, "huber": huber, "linear": None, "soft_l1": soft_l1,
}  # fmt: skip


def loss_of(loss: Any, f_scale: Any) -> Loss | None:
    """The loss of residuals at a scale, and its first two derivatives by the square; None for the sum of squares."""
    function: Any = LOSSES[loss] if isinstance(loss, str) else loss
    if function is None:
        return None

    def scaled(f: Any) -> tuple[Any, Any, Any]:
        value, first, second = function((f / f_scale) ** 2)
        return value * f_scale**2, first, second / f_scale**2

    return scaled


def cost_of(loss: Loss | None, f: Any) -> Any:
    """Half of the sum that is minimised."""
    return 0.5 * np.sum(f * f) if loss is None else 0.5 * np.sum(loss(f)[0])


def weighted(loss: Loss | None, f: Any, columns: Any) -> tuple[Any, Any]:
    """Return residuals and derivatives whose sum of squares has the gradient and about the curvature of the loss."""
    if loss is None:
        return f, columns
    _, first, second = loss(f)
    weight = np.sqrt(np.fmax(first + 2.0 * second * f**2, EPS))
    return f * (first / weight), columns * weight
