"""`scipy.interpolate`: polynomials through nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, axis_of, double, known, lifted, refuse, require
from numbagraph.tracing.errors import OnlyTraced


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
    away = np.expand_dims(np.ravel(at), -1) - array(interpolant.xi)
    hit = away == 0
    weights = array(interpolant.wi) / np.where(hit, 1.0, away)
    values = array(interpolant.yi)
    found = weights @ values / np.expand_dims(np.sum(weights, -1), -1)
    exact = lifted(values)[np.argmax(hit, -1)]
    return shaped(interpolant, np.where(np.expand_dims(np.any(hit, -1), -1), exact, found), at)


def krogh(interpolant: Any, x: Any) -> Any:
    """`scipy.interpolate.KroghInterpolator`: Newton's form."""
    at = double(x)
    flat = np.ravel(at)
    nodes, c = array(interpolant.xi), array(interpolant.c)
    product: Any = np.ones_like(flat)
    found = np.expand_dims(product, -1) * c[0]
    for number in range(1, interpolant.n):
        product = (flat - nodes[number - 1]) * product
        found = found + np.expand_dims(product, -1) * c[number]
    return shaped(interpolant, found, at)


class Nodes(OnlyTraced):
    """A polynomial through nodes, as classes of `scipy.interpolate` make it of traced nodes or heights."""

    __slots__ = ("_y_axis", "_y_extra_shape", "c", "call", "n", "wi", "xi", "yi")
    advice = "return its values at points"

    def __call__(self, x: Any) -> Any:
        return self.call(self, x)


def nodes_of(xi: Any, yi: Any, axis: int, call: Any) -> Nodes:
    made, heights = Nodes(), array(yi)
    heights = heights.astype(np.complex128 if heights.dtype.kind == "c" else np.float64)
    made.call, made.xi, made._y_axis = call, double(xi), axis_of(axis, heights.ndim)
    heights = np.moveaxis(heights, made._y_axis, 0)
    made.n, *extra = known(heights, "the heights of an interpolant")
    if known(made.xi, "the points of an interpolant") != (made.n,):
        raise ValueError("x and y arrays must be equal in length along interpolation axis.")
    made.yi, made._y_extra_shape = heights.reshape((made.n, -1)), tuple(extra)
    return made


def barycentric_of(xi: Any, yi: Any = None, axis: int = 0, **options: Any) -> Nodes:
    """`scipy.interpolate.BarycentricInterpolator`, of traced nodes or heights."""
    if yi is None or any(each is not None for each in options.values()):
        refuse("scipy.interpolate.BarycentricInterpolator of traced nodes without yi, or with wi=", "give xi and yi")
    made = nodes_of(xi, yi, axis, barycentric)
    apart = (np.expand_dims(made.xi, -1) - made.xi) * (4.0 / (np.max(made.xi) - np.min(made.xi)))
    others = np.where(np.eye(made.n, dtype=bool), 1.0, apart)
    require(np.all(others != 0), "Interpolation points xi must be distinct.")
    made.wi = 1.0 / np.prod(others, axis=-1)
    return made


def krogh_of(xi: Any, yi: Any, axis: int = 0) -> Nodes:
    """`scipy.interpolate.KroghInterpolator`, of traced nodes or heights: divided differences."""
    made = nodes_of(xi, yi, axis, krogh)
    rows, steps = made.yi, [made.yi[0]]
    for number in range(1, made.n):
        gaps = made.xi[number:] - made.xi[: made.n - number]
        require(np.all(gaps != 0), "nodes of scipy.interpolate.KroghInterpolator in a traced function must be distinct")
        rows = (rows[1:] - rows[:-1]) / np.expand_dims(gaps, -1)
        steps.append(rows[0])
    made.c = np.stack(steps)
    return made


def in_one_call(make: Any, name: str) -> Any:
    """A function of nodes, heights and points."""

    def call(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0, **options: Any) -> Any:
        if np.ndim(der) or der != 0:
            refuse(f"scipy.interpolate.{name} with der=", "numbagraph.grad gives derivatives")
        return make(xi, yi, axis, **options)(x)

    return call


FUNCTIONS = {
    "BarycentricInterpolator": barycentric_of,
    "KroghInterpolator": krogh_of,
    "barycentric_interpolate": in_one_call(barycentric_of, "barycentric_interpolate"),
    "krogh_interpolate": in_one_call(krogh_of, "krogh_interpolate"),
}
OBJECTS = {"BarycentricInterpolator": barycentric, "KroghInterpolator": krogh}
