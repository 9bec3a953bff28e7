"""`scipy.spatial.transform.Rotation` and `Slerp`, of traced numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import double, known, known_number, lifted, refuse, require
from numbagraph.library.scipy.spatial import quaternions
from numbagraph.runtime.arguments import register_node
from numbagraph.tracing.errors import OnlyTraced


class Rotation(OnlyTraced):
    """A rotation, or an array of them, as `scipy.spatial.transform.Rotation` has them, of traced quaternions."""

    __slots__ = ("quat",)
    advice = "return its quaternions, rotation.as_quat()"
    has_operators = True

    def __init__(self, quat: Any) -> None:
        self.quat = quat

    @property
    def single(self) -> bool:
        return bool(self.quat.ndim == 1)

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self.quat.shape[:-1])

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return known(self.quat, "the number of rotations")[0]

    def __getitem__(self, index: Any) -> Rotation:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(lifted(self.quat)[index])

    def __mul__(self, other: Any) -> Rotation:
        if not is_rotation(other):
            return NotImplemented
        return Rotation(quaternions.product(self.quat, quaternion(other)))

    def __rmul__(self, other: Any) -> Rotation:
        if not is_rotation(other):
            return NotImplemented
        return Rotation(quaternions.product(quaternion(other), self.quat))

    def __pow__(self, n: Any, modulus: Any = None) -> Rotation:
        return power(self, n, modulus)

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        found = quaternions.canonical(self.quat) if canonical else self.quat
        return np.roll(found, 1, axis=-1) if scalar_first else found

    def as_matrix(self) -> Any:
        return quaternions.matrices_of(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Any:
        found = quaternions.vectors_of(self.quat)
        return np.rad2deg(found) if degrees else found

    def as_mrp(self) -> Any:
        q = quaternions.canonical(self.quat)
        return q[..., :3] / (1.0 + q[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False, *, suppress_warnings: bool = False) -> Any:
        del suppress_warnings
        if len(seq) != 3:
            raise ValueError(f"Expected 3 axes, got {seq}.")
        found = quaternions.euler_angles(self.quat, *quaternions.axes_of(seq))
        return np.rad2deg(found) if degrees else found

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        return apply(self, vectors, inverse)

    def inv(self) -> Rotation:
        return Rotation(quaternions.inverse(self.quat))

    def magnitude(self) -> Any:
        return quaternions.angles_of(self.quat)

    def approx_equal(self, other: Any, atol: Any = None, degrees: bool = False) -> Any:
        return approx_equal(self, other, atol, degrees)

    def mean(self, weights: Any = None) -> Rotation:
        return mean(self, weights)


def is_rotation(thing: Any) -> bool:
    return isinstance(thing, (Rotation, load("scipy.spatial.transform:Rotation")))


def quaternion(rotation: Any) -> Any:
    return rotation.quat if isinstance(rotation, Rotation) else rotation.as_quat()


def ours(rotation: Any) -> Rotation:
    """Return the rotations of a captured object, or of one of ours."""
    return rotation if isinstance(rotation, Rotation) else Rotation(rotation.as_quat())


def taken_apart(rotation: Rotation) -> tuple[list[Any], None, list[str]]:
    return [rotation.quat], None, ["quat"]


def put_together(_: None, children: Any) -> Any:
    """Return rotations of a leaf: those that a compiled function returns are SciPy's own."""
    (quat,) = children
    if isinstance(quat, np.ndarray):
        return load("scipy.spatial.transform:Rotation").from_quat(quat)
    return Rotation(quat)


register_node(Rotation, taken_apart, put_together)


# ---- methods of captured rotations, too ----


def apply(rotation: Any, vectors: Any, inverse: bool = False) -> Any:
    """`Rotation.apply`."""
    at, matrices = double(vectors), quaternions.matrices_of(quaternion(rotation))
    if known_number(at.shape[-1], "the vectors of a rotation") != 3:
        raise ValueError(f"Expected input of shape (..., 3), got {at.shape}.")
    turned = np.swapaxes(matrices, -1, -2) if inverse else matrices
    return np.sum(turned * np.expand_dims(at, -2), axis=-1)


def power(rotation: Any, n: Any, modulus: Any = None) -> Rotation:
    """`Rotation.__pow__`."""
    if modulus is not None:
        raise NotImplementedError("modulus not supported")
    vectors = quaternions.vectors_of(quaternion(rotation))
    return Rotation(quaternions.of_vectors(vectors * double(n)))


def approx_equal(rotation: Any, other: Any, atol: Any = None, degrees: bool = False) -> Any:
    """`Rotation.approx_equal`."""
    bound = 1e-8 if atol is None else np.deg2rad(double(atol)) if degrees else atol
    apart = quaternions.product(quaternion(other), quaternions.inverse(quaternion(rotation)))
    return quaternions.angles_of(apart) < bound


def mean(rotation: Any, weights: Any = None) -> Rotation:
    """`Rotation.mean`."""
    q = np.reshape(quaternion(rotation), (-1, 4))
    if weights is None:
        return Rotation(np.linalg.eigh(q.T @ q)[1][:, -1])
    w = double(weights)
    require(np.all(w >= 0), "`weights` must be non-negative.")
    return Rotation(np.linalg.eigh((np.expand_dims(np.ravel(w), -1) * q).T @ q)[1][:, -1])


# ---- constructors ----


def of_width(x: Any, width: int, name: str, shapes: str) -> Any:
    found = double(x)
    if not found.ndim or known_number(found.shape[-1], name) != width:
        raise ValueError(f"Expected `{name}` to have shape {shapes}, got {found.shape}")
    return found


def from_quat(quat: Any, *, scalar_first: bool = False) -> Rotation:
    """`Rotation.from_quat`."""
    found = of_width(quat, 4, "quat", "(..., 4)")
    return Rotation(quaternions.normalized(np.roll(found, -1, axis=-1) if scalar_first else found))


def from_matrix(matrix: Any, *, assume_valid: bool = False) -> Rotation:
    """`Rotation.from_matrix`. Matrices that are not orthogonal become the nearest ones that are."""
    found = double(matrix)
    if found.ndim < 2 or known(found, "the matrices of rotations")[-2:] != (3, 3):
        raise ValueError(f"Expected `matrix` to have shape (3, 3) or (N, 3, 3), got {found.shape}")
    if not assume_valid:
        require(
            np.all(np.linalg.det(found) > 0),
            "Non-positive determinant (left-handed or null coordinate frame) in rotation matrix",
        )
        found = quaternions.nearest_rotation(found)
    return Rotation(quaternions.of_matrices(found))


def from_rotvec(rotvec: Any, degrees: bool = False) -> Rotation:
    """`Rotation.from_rotvec`."""
    found = of_width(rotvec, 3, "rot_vec", "(3,) or (N, 3)")
    return Rotation(quaternions.of_vectors(np.deg2rad(found) if degrees else found))


def from_mrp(mrp: Any) -> Rotation:
    """`Rotation.from_mrp`."""
    found = of_width(mrp, 3, "mrp", "(3,) or (N, 3)")
    more = 1.0 + np.sum(found * found, axis=-1, keepdims=True)
    return Rotation(np.concatenate([2.0 * found / more, 2.0 / more - 1.0], axis=-1))


def from_euler(seq: str, angles: Any, degrees: bool = False) -> Rotation:
    """`Rotation.from_euler`."""
    axes, turning = quaternions.axes_of(seq)
    found = double(angles)
    found = found if found.ndim else np.reshape(found, (1,))
    if known_number(found.shape[-1], "the angles of a rotation") != len(axes):
        raise ValueError(
            "Expected last dimension of `angles` to match number of sequence axes specified, got "
            f"{known_number(found.shape[-1], 'the angles of a rotation')}."
        )
    return Rotation(quaternions.of_angles(axes, turning, np.deg2rad(found) if degrees else found))


def made(quat: Any, normalize: bool = True, copy: bool = True, scalar_first: bool = False) -> Rotation:
    """`scipy.spatial.transform.Rotation`."""
    del copy
    if normalize:
        return from_quat(quat, scalar_first=scalar_first)
    found = of_width(quat, 4, "quat", "(..., 4)")
    return Rotation(np.roll(found, -1, axis=-1) if scalar_first else found)


def concatenate(rotations: Any) -> Rotation:
    """`Rotation.concatenate`."""
    parts = [rotations] if is_rotation(rotations) else list(rotations)
    rows = [np.reshape(quaternion(each), (-1, 4)) if each.single else quaternion(each) for each in parts]
    return Rotation(np.concatenate(rows))


def align_vectors(a: Any, b: Any, weights: Any = None, return_sensitivity: bool = False) -> tuple[Rotation, Any]:
    """`Rotation.align_vectors` of several pairs with finite weights. [Davenport's matrix, whose last eigenvector is the
    quaternion]"""
    one, other = double(a), double(b)
    shapes = known(one, "align_vectors"), known(other, "align_vectors")
    for name, shape in zip("ab", shapes, strict=True):
        if shape[-1:] != (3,) or len(shape) > 2:
            raise ValueError(f"Expected input `{name}` to have shape (3,) or (N, 3), got {shape}")
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"Expected inputs `a` and `b` to have same shapes, got {shapes[0]} and {shapes[1]} respectively."
        )
    if return_sensitivity or len(shapes[0]) == 1 or shapes[0][0] < 2:
        refuse("scipy.spatial.transform.Rotation.align_vectors of one pair, or with return_sensitivity",
               "give two pairs or more, and leave return_sensitivity out")  # fmt: skip
    w = np.ones(shapes[0][0]) if weights is None else double(weights)
    require(np.all(w >= 0), "`weights` may not contain negative values")
    require(np.all(np.isfinite(w)), "weights of vectors in a traced function must be finite")
    profile = (np.expand_dims(w, -1) * one).T @ other
    trace = profile[0, 0] + profile[1, 1] + profile[2, 2]
    z = np.stack([profile[2, 1] - profile[1, 2], profile[0, 2] - profile[2, 0], profile[1, 0] - profile[0, 1]])
    corner = profile + profile.T - trace * np.eye(3)
    matrix = np.concatenate(
        [np.concatenate([corner, z[:, None]], axis=1), np.concatenate([z, trace[None]])[None]], axis=0
    )
    values, vectors = np.linalg.eigh(matrix)
    square = np.sum(w * np.sum(one * one + other * other, axis=-1)) - 2 * values[-1]
    positive = square > 0
    return Rotation(vectors[:, -1]), np.where(positive, np.sqrt(np.where(positive, square, 1.0)), 0.0)


# ---- spherical linear interpolation ----


class Slerp(OnlyTraced):
    """The interpolant that `scipy.spatial.transform.Slerp` makes of traced times or rotations."""

    __slots__ = ("rotations", "rotvecs", "times")
    advice = "return the quaternions at times, slerp(t).as_quat()"

    def __init__(self, times: Any, rotations: Any) -> None:
        if not is_rotation(rotations):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        q = quaternion(rotations)
        if q.ndim == 1 or known(q, "the number of rotations")[0] <= 1:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        self.times = double(times)
        if self.times.ndim != 1:
            raise ValueError(
                f"Expected times to be specified in a 1 dimensional array, got {self.times.ndim} dimensions."
            )
        counts = known(q, "the number of rotations")[0], known(self.times, "the number of times")[0]
        if counts[0] != counts[1]:
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps given, got "
                f"{counts[0]} rotations and {counts[1]} timestamps."
            )
        require(np.all(np.diff(self.times) > 0), "Times must be in strictly increasing order.")
        self.rotations = Rotation(q[:-1])
        self.rotvecs = quaternions.vectors_of(quaternions.product(quaternions.inverse(q[:-1]), q[1:]))

    def __call__(self, times: Any) -> Rotation:
        return interpolated(self, times)


def interpolated(slerp: Any, times: Any) -> Rotation:
    """`Slerp.__call__`."""
    at, knots = double(times), slerp.times
    if at.ndim > 1:
        raise ValueError("`times` must be at most 1-dimensional.")
    inside = (at >= knots[0]) & (at <= knots[-1])
    require(np.all(inside), "Interpolation times must be within the range")
    last = known(knots, "the number of times")[0] - 2
    place = np.clip(np.searchsorted(knots, at) - 1, 0, last)
    line = lifted(knots)
    share = (at - line[place]) / (line[place + 1] - line[place])
    step = quaternions.of_vectors(lifted(slerp.rotvecs)[place] * np.expand_dims(share, -1))
    return Rotation(quaternions.product(lifted(quaternion(slerp.rotations))[place], step))


CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "align_vectors": align_vectors,
    "concatenate": concatenate,
    "from_euler": from_euler,
    "from_matrix": from_matrix,
    "from_mrp": from_mrp,
    "from_quat": from_quat,
    "from_rotvec": from_rotvec,
}
CLASSES = {"Rotation": CONSTRUCTORS}
FUNCTIONS: dict[str, Any] = {"Rotation": made, "Slerp": Slerp}
OBJECTS: dict[str, Any] = {"Slerp": interpolated}
METHODS: dict[str, dict[str, Any]] = {"Rotation": {"apply": apply, "approx_equal": approx_equal, "mean": mean}}
