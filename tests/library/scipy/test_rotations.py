"""`scipy.spatial.transform`: rotations that a compiled function makes, and captured ones."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from numbagraph import fori_loop, grad, graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(10)
QUATS, VECTORS = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 3))
CAPTURED = Rotation.from_quat(QUATS)


def test_quaternions_and_what_they_become():
    def values(q, v):
        r = Rotation.from_quat(q)
        return (
            r.as_quat(), r.apply(v), r.apply(v[0], inverse=True), r.as_matrix(), r.as_rotvec(), r.as_mrp(),
            r.magnitude(), Rotation(q, scalar_first=True).inv().as_quat(canonical=True, scalar_first=True),
            (r**0.4).as_quat(), r[1].as_quat(), r[1:3].as_quat(), r.mean().as_matrix(),
        )  # fmt: skip

    check(values, QUATS, VECTORS)
    check_slope(lambda q: values(q, VECTORS)[1:7], QUATS)
    check(lambda q: Rotation.from_quat(q).apply(VECTORS), QUATS[0])
    check(lambda v, m: (Rotation.from_rotvec(v).as_quat(), Rotation.from_mrp(m).as_quat()), VECTORS, VECTORS)


def test_matrices():
    skewed = CAPTURED.as_matrix() * 1.1 + 0.1 * RNG.normal(size=(5, 3, 3))

    def values(m):
        return Rotation.from_matrix(m).as_quat(canonical=True)

    check(values, skewed)
    check(values, np.concatenate([CAPTURED.as_matrix(), np.diag([1.0, -1.0, -1.0])[None], np.eye(3)[None]]))
    check(lambda m: Rotation.from_matrix(m, assume_valid=True).as_matrix(), CAPTURED.as_matrix())
    check_slope(values, skewed)
    check_slope(values, CAPTURED.as_matrix(), rtol=1e-4)


@pytest.mark.repeats(but_each=3)
@pytest.mark.filterwarnings("ignore:Gimbal")
@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zxz", "XYX", "yxz", "YZX"])
def test_angles_of_euler(seq):
    def values(a):
        r = Rotation.from_euler(seq, a, degrees=True)
        return r.as_quat(), r.as_euler(seq), r.as_euler(seq[::-1].swapcase(), degrees=True)

    locked = np.array([[20.0, 90.0, 30.0], [20.0, -90.0, 30.0], [20.0, 0.0, 30.0], [20.0, 180.0, 30.0]])
    check(values, 40 * VECTORS)
    check(lambda a: Rotation.from_euler(seq, a, degrees=True).as_euler(seq), locked, rtol=1e-6)
    check_slope(values, 40 * VECTORS)


def test_rotations_after_one_another():
    def values(v, angle):
        r = Rotation.from_rotvec(v)
        turn = Rotation.from_euler("z", angle, degrees=True)
        return (r * CAPTURED).as_quat(), (CAPTURED * r).as_quat(), (turn * r.inv()).as_matrix(), CAPTURED[0].apply(v)

    check(values, VECTORS, np.float64(30.0))
    check_slope(lambda v: values(v, v[0, 0]), VECTORS)
    check(lambda v: CAPTURED.apply(v, inverse=True), VECTORS)
    check(lambda v: Rotation.concatenate([Rotation.from_rotvec(v), CAPTURED]).as_quat(), VECTORS)
    check(lambda v: CAPTURED.approx_equal(Rotation.from_rotvec(v), 90.0, degrees=True), VECTORS)
    check(lambda w: CAPTURED.mean(w).as_matrix(), np.arange(1.0, 6.0))


def test_small_rotations_have_derivatives():
    def there_and_back(v):
        return Rotation.from_rotvec(v).as_rotvec()

    for size in (0.0, 1e-9, 1e-3, 1.0):
        found = grad(lambda v: np.sum(there_and_back(v) * np.arange(1.0, 4.0)))(size * VECTORS[0])
        np.testing.assert_allclose(found, [1.0, 2.0, 3.0], rtol=1e-9)
    check(there_and_back, VECTORS * np.geomspace(1e-12, 1e-2, 5)[:, None], rtol=1e-13)


def test_alignment_of_vectors():
    def values(a, b):
        rotation, error = Rotation.align_vectors(a, b)
        return rotation.as_matrix(), error

    b = CAPTURED[0].inv().apply(VECTORS) + 0.05 * RNG.normal(size=(5, 3))
    check(values, VECTORS, b, rtol=1e-8)
    check_slope(lambda a: values(a, b), VECTORS)
    check(lambda a, w: Rotation.align_vectors(a, b, w)[1], VECTORS, np.arange(1.0, 6.0), rtol=1e-8)
    with pytest.raises(TypeError, match="give two pairs or more"):
        graph_jit(lambda a: Rotation.align_vectors(a, b[0])[1])(VECTORS[0])


def test_interpolated_rotations():
    times, at = np.array([0.0, 1.0, 2.5, 3.0, 4.0]), np.array([0.0, 0.3, 2.5, 4.0])

    def values(times, v, at):
        slerp = Slerp(times, Rotation.from_rotvec(v))
        return slerp(at).as_quat(), slerp(at[1]).as_rotvec()

    check(values, times, VECTORS, at)
    check_slope(lambda v: values(times, v, at)[0], VECTORS)
    captured = Slerp(times, CAPTURED)
    check(lambda at: captured(at).as_matrix(), at)
    check_error(lambda at: captured(at).as_quat(), at + 1)
    check_error(lambda times: Slerp(times, CAPTURED)(0.5).as_quat(), times[::-1])
    check_error(lambda times: Slerp(times, CAPTURED)(0.5).as_quat(), times[1:])


def test_rotations_in_loops_branches_and_results():
    def spun(v, count):
        r = Rotation.from_rotvec(v)
        for number in range(count):
            r = r * Rotation.from_euler("x", v[0] * number)
        if v[1] > 0:
            r = r.inv()
        return r.as_quat()

    for v in VECTORS[:3]:
        check(spun, v, 4)
    turned = graph_jit(lambda v: fori_loop(0, 3, lambda _, r: r * CAPTURED[0], Rotation.from_rotvec(v)))(VECTORS[0])
    assert isinstance(turned, Rotation)
    np.testing.assert_allclose(turned.as_matrix(), (Rotation.from_rotvec(VECTORS[0]) * CAPTURED[0] ** 3).as_matrix())
    several = graph_jit(vmap(lambda v: Rotation.from_rotvec(v).as_matrix()))(VECTORS)
    np.testing.assert_allclose(several, Rotation.from_rotvec(VECTORS).as_matrix())


def test_what_is_no_rotation():
    check_error(lambda q: Rotation.from_quat(q).as_quat(), np.zeros(4))
    check_error(lambda q: Rotation.from_quat(q).as_quat(), np.ones(3))
    check_error(lambda m: Rotation.from_matrix(m).as_quat(), -np.eye(3))
    check_error(lambda m: Rotation.from_matrix(m).as_quat(), np.eye(2))
    check_error(lambda v: Rotation.from_rotvec(v).as_quat(), np.ones(4))
    check_error(lambda a: Rotation.from_euler("xx", a).as_quat(), np.ones(2))
    check_error(lambda a: Rotation.from_euler("q", a).as_quat(), np.ones(1))
    check_error(lambda a: Rotation.from_euler("xy", a).as_quat(), np.ones(3))
    check_error(lambda v: Rotation.from_rotvec(v).as_euler("xy"), np.ones(3))
    check_error(lambda v: Rotation.from_rotvec(v).apply(v[:2]), np.ones(3))
    with pytest.raises(TypeError, match=r"Single rotation has no len\(\)"):
        graph_jit(lambda v: len(Rotation.from_rotvec(v)))(np.ones(3))
    with pytest.raises(TypeError, match="unsupported operand"):
        graph_jit(lambda v: Rotation.from_rotvec(v) + 1)(np.ones(3))
