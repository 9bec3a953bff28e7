"""Unit quaternions, whose last number is the real part, and what stands for the same rotations."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import require

SMALL = 1e-3
"""The angle below which a series stands for a quotient, so that derivatives hold at no rotation too."""


def product(p: Any, q: Any) -> Any:
    """The quaternion of the rotation that comes after another one."""
    left, right = p[..., :3], q[..., :3]
    vector = p[..., 3:] * right + q[..., 3:] * left + np.cross(left, right)
    return np.concatenate([vector, p[..., 3:] * q[..., 3:] - np.sum(left * right, axis=-1, keepdims=True)], axis=-1)


def inverse(q: Any) -> Any:
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def normalized(q: Any) -> Any:
    size = np.sum(q * q, axis=-1, keepdims=True)
    require(np.all(size > 0), "Found zero norm quaternions in `quat`.")
    return q / np.sqrt(size)


def canonical(q: Any) -> Any:
    """The one of the two quaternions of a rotation whose real part is positive."""
    x, y, z, w = (q[..., n] for n in range(4))
    rest = (x < 0) | ((x == 0) & ((y < 0) | ((y == 0) & (z < 0))))
    return np.where(np.expand_dims((w < 0) | ((w == 0) & rest), -1), -q, q)


def of_vectors(v: Any) -> Any:
    """The quaternions of rotation vectors."""
    square = np.sum(v * v, axis=-1, keepdims=True)
    small = square <= SMALL**2
    angle = np.sqrt(np.where(small, 1.0, square))
    scale = np.where(small, 0.5 - square / 48 + square * square / 3840, np.sin(angle / 2) / angle)
    return np.concatenate(
        [scale * v, np.where(small, 1.0 - square / 8 + square * square / 384, np.cos(angle / 2))], axis=-1
    )


def vectors_of(q: Any) -> Any:
    """The rotation vectors of quaternions."""
    q = canonical(q)
    vector, w = q[..., :3], q[..., 3:]
    square = np.sum(vector * vector, axis=-1, keepdims=True)
    small = square <= (SMALL / 2) ** 2
    size = np.sqrt(np.where(small, 1.0, square))
    ratio = square / (w * w)
    series = (2.0 - 2.0 * ratio / 3.0 + 2.0 * ratio * ratio / 5.0) / w
    return np.where(small, series, 2.0 * np.arctan2(size, w) / size) * vector


def angles_of(q: Any) -> Any:
    """The angles by which quaternions rotate, from 0 to pi."""
    return 2.0 * np.arctan2(np.linalg.norm(q[..., :3], axis=-1), np.abs(q[..., 3]))


def matrices_of(q: Any) -> Any:
    x, y, z, w = (q[..., n] for n in range(4))
    rows = (
        (x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def of_matrices(m: Any) -> Any:
    """The quaternions of orthogonal matrices. Of four formulas, that one is taken which divides by the largest
    number."""
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    choice = np.argmax(np.stack([m[..., 0, 0], m[..., 1, 1], m[..., 2, 2], trace], axis=-1), axis=-1)
    cases = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts = {i: 1 - trace + 2 * m[..., i, i], j: m[..., j, i] + m[..., i, j], k: m[..., k, i] + m[..., i, k]}
        cases.append([*(parts[n] for n in range(3)), m[..., k, j] - m[..., j, k]])
    cases.append([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1], 1 + trace])
    chosen = np.expand_dims(choice, -1)
    found = np.stack(cases[3], axis=-1)
    for number in range(3):
        found = np.where(chosen == number, np.stack(cases[number], axis=-1), found)
    return found / np.sqrt(np.sum(found * found, axis=-1, keepdims=True))


def nearest_rotation(m: Any, steps: int = 9) -> Any:
    """The orthogonal matrices nearest to matrices of positive determinant. [Higham, Computing the Polar Decomposition,
    1986]"""
    size = np.cbrt(np.linalg.det(m))
    found = m / np.expand_dims(size, (-2, -1))
    for _ in range(steps):
        found = (found + np.swapaxes(np.linalg.inv(found), -1, -2)) / 2
    return found


# ---- angles of Euler ----


def axes_of(seq: str) -> tuple[list[int], bool]:
    """The axes of a sequence, and whether they turn with the body."""
    if not 1 <= len(seq) <= 3:
        raise ValueError(f"Expected axis specification to be a non-empty string of up to 3 characters, got {seq}")
    if not re.fullmatch("[XYZ]+|[xyz]+", seq):
        raise ValueError(f"Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got {seq}")
    if any(one == two for one, two in itertools.pairwise(seq)):
        raise ValueError(f"Expected consecutive axes to be different, got {seq}")
    return ["xyz".index(each) for each in seq.lower()], seq.isupper()


def of_angles(axes: list[int], turning: bool, angles: Any) -> Any:
    found: Any = None
    for number, axis in enumerate(axes):
        half = angles[..., number] / 2
        zero = np.zeros_like(half)
        parts = [np.sin(half) if axis == n else zero for n in range(3)]
        each = np.stack([*parts, np.cos(half)], axis=-1)
        found = each if found is None else product(found, each) if turning else product(each, found)
    return found


def euler_angles(q: Any, axes: list[int], turning: bool) -> Any:
    """The angles about three axes. [Bernardes, Viollet, Quaternion to Euler angles conversion, 2022]

    Where the second angle leaves the first and the third undetermined, the third is zero.
    """
    i, j, k = axes[::-1] if turning else axes
    symmetric = i == k
    if symmetric:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    w, x, y, z = q[..., 3], q[..., i], q[..., j], q[..., k] * sign
    a, b, c, d = (w, x, y, z) if symmetric else (w - y, x + z, y + w, z - x)
    total, difference = np.arctan2(b, a), np.arctan2(d, c)
    middle = 2.0 * np.arctan2(np.sqrt(c * c + d * d), np.sqrt(a * a + b * b))
    low, high = np.abs(middle) <= 1e-7, np.abs(middle - np.pi) <= 1e-7
    free = ~(low | high)
    alone = np.where(low, 2 * total, 2 * difference * (1 if turning else -1))
    own = (np.where(free, total - difference, 0.0 if turning else alone),
           np.where(free, total + difference, alone if turning else 0.0))  # fmt: skip
    first, third = own
    if not symmetric:
        third, middle = third * sign, middle - np.pi / 2
    found = [third, middle, first] if turning else [first, middle, third]
    angles = np.stack(found, axis=-1)
    return np.where(angles < -np.pi, angles + 2 * np.pi, np.where(angles > np.pi, angles - 2 * np.pi, angles))
