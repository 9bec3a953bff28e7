"""Segments and lines within a ball and above a floor, one or several as rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Room(NamedTuple):
    """The radius of a ball around zero, and least values of the coordinates, of which some may be -inf."""

    radius: Any
    floor: Any


class Stretch(NamedTuple):
    """The part of a segment that is inside: from where to where, and whether there is any."""

    start: Any
    end: Any
    is_there: Any


def is_above(x: Any, floor: Any) -> Any:
    return np.all(floor <= x)


def above_floor(z: Any, d: Any, floor: Any) -> Stretch:
    """Return where ``z + t * d`` is above a floor, for any t."""
    length = (floor - z) / np.where(d == 0.0, 1.0, d)
    start = np.max(np.where(d > 0.0, length, -np.inf), axis=-1)
    end = np.min(np.where(d < 0.0, length, np.inf), axis=-1)
    is_blocked = np.any((d == 0.0) & (z < floor), axis=-1) | np.all(d == 0.0, axis=-1)
    return Stretch(start, np.where(is_blocked, 0.0, end), ~is_blocked & (start <= end))


def in_ball(z: Any, d: Any, radius: Any) -> Stretch:
    """Return where ``z + t * d`` is inside a ball, for any t."""
    a, b, c = np.sum(d * d, axis=-1), 2.0 * np.sum(z * d, axis=-1), np.sum(z * z, axis=-1) - radius**2
    discriminant = b * b - 4.0 * a * c
    rest = b + np.copysign(np.sqrt(np.maximum(discriminant, 0.0)), b)
    one, two = -rest / (2.0 * a), -2.0 * c / rest
    is_there = (discriminant >= 0.0) & ~np.all(d == 0.0, axis=-1)
    return Stretch(np.minimum(one, two), np.where(is_there, np.maximum(one, two), 0.0), is_there)


def of_segment(line: Stretch) -> Stretch:
    """Return the part of a stretch between 0 and 1."""
    is_outside = (line.end < 0.0) | (line.start > 1.0)
    start = np.where(is_outside, 0.0, np.fmax(line.start, 0.0))
    end = np.where(is_outside, 0.0, np.fmin(line.end, 1.0))
    return Stretch(start, end, line.is_there & ~is_outside)


def common(one: Stretch, other: Stretch) -> Stretch:
    start, end = np.maximum(one.start, other.start), np.minimum(one.end, other.end)
    return Stretch(start, end, one.is_there & other.is_there & (start <= end))


def inside(z: Any, d: Any, room: Room) -> Stretch:
    """Return which part of the segment from ``z`` to ``z + d`` is inside."""
    return common(of_segment(above_floor(z, d, room.floor)), of_segment(in_ball(z, d, room.radius)))


def inside_of_line(z: Any, d: Any, room: Room) -> Stretch:
    """Return which part of the line through ``z`` and ``z + d`` is inside."""
    return common(above_floor(z, d, room.floor), in_ball(z, d, room.radius))
