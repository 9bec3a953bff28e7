"""Solutions of boundary value problems at any point. As results of compiled functions they are SciPy's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.interpolate import PPoly

from numbagraph.library.scipy.interpolate.splines import Piecewise
from numbagraph.runtime.arguments import register_node


class Curve(Piecewise):
    """The cubics through a solution, as a function of x."""

    __slots__ = ()


def take_apart(curve: Curve) -> tuple[list[Any], None]:
    return [curve.c, curve.x], None


def put_together(_: None, children: Sequence[Any]) -> Any:
    c, x = children
    if not all(isinstance(each, np.ndarray) for each in children):
        return Curve("PPoly", c, x, 1, True)
    return PPoly(np.moveaxis(c, 2, 0), x, extrapolate=True, axis=1)


register_node(Curve, take_apart, put_together)
