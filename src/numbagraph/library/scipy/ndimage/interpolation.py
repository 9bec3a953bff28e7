"""`scipy.ndimage`: images that are moved, rotated and scaled, by interpolation of the orders 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import array, double, known, refuse
from numbagraph.library.scipy.ndimage.map_coordinates import map_coordinates
from numbagraph.tracing.tracer import Tracer


def of_each(given: Any, count: int) -> list[Any]:
    if isinstance(given, Tracer) and given.ndim:
        return [given[number] for number in range(count)]
    return [given] * count if np.ndim(given) == 0 else list(given)


def at_points(name: str, image: Any, lines: Sequence[Any], output: Any, order: int, mode: str, cval: Any) -> Any:
    """Return an image at the points of a grid, whose coordinates along each axis are given."""
    if order > 1:
        refuse(f"scipy.ndimage.{name} with order={order}", "order=1 is between neighbours, order=0 the nearest")
    grid = np.stack(np.meshgrid(*lines, indexing="ij"))
    return map_coordinates(image, grid, output, order, mode, cval)


def shift(
    input: Any,
    shift: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """`scipy.ndimage.shift`."""
    del prefilter
    image = array(input)
    lengths = known(image, "shift")
    moves = of_each(shift, len(lengths))
    lines = [np.arange(length) - 1.0 * move for length, move in zip(lengths, moves, strict=True)]
    return at_points("shift", image, lines, output, order, mode, cval)


def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Any:
    """`scipy.ndimage.zoom`: the factors must be known, since they decide lengths."""
    del prefilter
    if isinstance(zoom, Tracer):
        refuse("scipy.ndimage.zoom by a traced factor", "name it in static_argnames")
    if grid_mode:
        refuse("scipy.ndimage.zoom with grid_mode=True", "scipy.ndimage.map_coordinates at the points of the grid")
    image = array(input)
    lengths = known(image, "zoom")
    wanted = [round(length * factor) for length, factor in zip(lengths, of_each(zoom, len(lengths)), strict=True)]
    steps = [(length - 1) / (own - 1) if own > 1 else 1.0 for length, own in zip(lengths, wanted, strict=True)]
    lines = [np.arange(own) * step for own, step in zip(wanted, steps, strict=True)]
    return at_points("zoom", image, lines, output, order, mode, cval)


def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """`scipy.ndimage.affine_transform`."""
    del prefilter
    image, linear = array(input), double(matrix)
    lengths = known(image, "affine_transform")
    count = len(lengths)
    wanted = lengths if output_shape is None else tuple(int(each) for each in output_shape)
    moves: Any = of_each(offset, count)
    if linear.ndim == 2 and known(linear, "affine_transform")[1] == count + 1:
        moves = [linear[number, count] for number in range(count)]
        linear = linear[:count, :count]
    elif linear.ndim not in (1, 2) or known(linear, "affine_transform")[0] != count:
        raise RuntimeError("affine matrix has wrong number of rows")
    if order > 1:
        refuse(f"scipy.ndimage.affine_transform with order={order}", "order=1 or order=0")
    grid = [each.astype(np.float64) for each in np.indices(wanted)]
    rows = []
    for number in range(count):
        if linear.ndim == 1:
            rows.append(scaled(grid[number], linear[number], moves[number]))
        else:  # in SciPy's order: rounding decides whether a point at the edge is inside
            rows.append(sum((linear[number, other] * grid[other] for other in range(count)), start=moves[number]))
    return map_coordinates(image, np.stack(rows), output, order, mode, cval)


def scaled(place: Any, factor: Any, move: Any) -> Any:
    """``factor * place + move`` in SciPy's order, which adds first (and divides by factors of 0)."""
    none = factor == 0
    return np.where(none, move, (place + move / np.where(none, 1.0, factor)) * factor)


def rotate(
    input: Any,
    angle: Any,
    axes: Any = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """`scipy.ndimage.rotate` of two dimensions. Where the shape changes, the angle must be known."""
    del prefilter
    image = array(input)
    lengths = known(image, "rotate")
    if len(lengths) != 2:
        refuse("scipy.ndimage.rotate of another number of dimensions than 2", "scipy.ndimage.affine_transform")
    if reshape and isinstance(angle, Tracer):
        refuse("scipy.ndimage.rotate by a traced angle", "reshape=False keeps the shape")
    first, second = sorted(each % 2 for each in axes)
    if (first, second) != (0, 1):
        raise ValueError("The rotation axes must be different")
    cosine, sine = load("scipy.special:cosdg")(angle), load("scipy.special:sindg")(angle)
    rows, columns = lengths
    wanted = lengths
    if reshape:
        turned = np.array([[cosine, sine], [-sine, cosine]])
        corners = turned @ np.array([[0, 0, rows, rows], [0, columns, 0, columns]])
        wanted = tuple(int(each) for each in np.ptp(corners, axis=1) + 0.5)
    middle = [(each - 1) / 2 for each in wanted]
    out = [cosine * middle[0] + sine * middle[1], cosine * middle[1] - sine * middle[0]]
    moves = [(length - 1) / 2 - each for length, each in zip(lengths, out, strict=True)]
    if order > 1:
        refuse(f"scipy.ndimage.rotate with order={order}", "order=1 or order=0")
    i, j = (each.astype(np.float64) for each in np.indices(wanted))
    points = np.stack([cosine * i + sine * j + moves[0], cosine * j - sine * i + moves[1]])
    return map_coordinates(image, points, output, order, mode, cval)


TRANSFORMS = {each.__name__: each for each in (shift, zoom, affine_transform, rotate)}
