"""`scipy.interpolate`: polynomials through nodes, smoothing splines and radial functions that were made outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import double, inexact, known, lifted, refuse
from numbagraph.library.scipy.distance import cdist


def shaped(interpolant: Any, found: Any, at: Any) -> Any:
    """Reshape rows of results, one per point, to the shape that the interpolant gives them."""
    extra = tuple(interpolant._y_extra_shape)
    found = found.reshape((*at.shape, *extra))
    axis, count = interpolant._y_axis, at.ndim
    order = [*range(count, count + axis), *range(count), *range(count + axis, count + len(extra))]
    return np.transpose(found, order) if axis and extra else found


def barycentric(interpolant: Any, x: Any) -> Any:
    """`scipy.interpolate.BarycentricInterpolator`. [Berrut, Trefethen 2004, equation 4.2]"""
    at = double(x)
    away = np.expand_dims(np.ravel(at), -1) - np.asarray(interpolant.xi)
    hit = away == 0
    weights = np.asarray(interpolant.wi) / np.where(hit, 1.0, away)
    values = np.asarray(interpolant.yi)
    found = weights @ values / np.expand_dims(np.sum(weights, -1), -1)
    exact = lifted(values)[np.argmax(hit, -1)]
    return shaped(interpolant, np.where(np.expand_dims(np.any(hit, -1), -1), exact, found), at)


def krogh(interpolant: Any, x: Any) -> Any:
    """`scipy.interpolate.KroghInterpolator`: Newton's form."""
    at = double(x)
    flat = np.ravel(at)
    nodes, c = np.asarray(interpolant.xi), np.asarray(interpolant.c)
    product: Any = np.ones_like(flat)
    found = np.expand_dims(product, -1) * c[0]
    for number in range(1, interpolant.n):
        product = (flat - nodes[number - 1]) * product
        found = found + np.expand_dims(product, -1) * c[number]
    return shaped(interpolant, found, at)


KERNELS: dict[str, Any] = {
    "linear": lambda r: -r,
    "thin_plate_spline": lambda r: np.where(r == 0, 0.0, r**2 * np.log(np.where(r == 0, 1.0, r))),
    "cubic": lambda r: r**3,
    "quintic": lambda r: -(r**5),
    "multiquadric": lambda r: -np.sqrt(r**2 + 1),
    "inverse_multiquadric": lambda r: 1 / np.sqrt(r**2 + 1),
    "inverse_quadratic": lambda r: 1 / (r**2 + 1),
    "gaussian": lambda r: np.exp(-(r**2)),
}
"""The radial functions, by SciPy's names."""


def radial(interpolant: Any, x: Any) -> Any:
    """`scipy.interpolate.RBFInterpolator` of all points: a sum of radial functions and a polynomial."""
    if interpolant.neighbors is not None:
        refuse("scipy.interpolate.RBFInterpolator with neighbors=", "leave neighbors= away")
    at = double(x)
    if at.ndim != 2 or known(at, "RBFInterpolator")[1] != interpolant.y.shape[1]:
        raise ValueError(f"Expected the second axis of `x` to have length {interpolant.y.shape[1]}.")
    coefficients = np.asarray(interpolant._coeffs)
    count = interpolant.y.shape[0]
    scaled = (at - interpolant._shift) / interpolant._scale
    distances = cdist(at * interpolant.epsilon, np.asarray(interpolant.y) * interpolant.epsilon)
    found = KERNELS[interpolant.kernel](distances) @ coefficients[:count]
    for powers, row in zip(interpolant.powers, coefficients[count:], strict=True):
        term: Any = np.ones_like(at[:, 0])
        for axis, power in enumerate(powers):
            term = term * scaled[:, axis] ** int(power)
        found = found + np.expand_dims(term, -1) * row
    return inexact(found).reshape((at.shape[0], *interpolant.d_shape))


OBJECTS = {"BarycentricInterpolator": barycentric, "KroghInterpolator": krogh, "RBFInterpolator": radial}
