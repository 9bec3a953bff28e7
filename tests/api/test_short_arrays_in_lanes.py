"""`vmap` of loops that carry short arrays: their elements take their places, and blocks run loops around loops."""

import numpy as np
import pytest

import numbagraph as ng

MIXING = np.array([[0.5, 0.1, 0.0], [0.0, 0.4, 0.2], [0.1, 0.0, 0.3]])
RNG = np.random.default_rng(1)


def scaled(x):
    v, n = x, 0
    while np.dot(v, v) > 0.1:
        v, n = v * 0.7, n + 1
    return v, n


def mixed(x):
    v = x
    while np.max(np.abs(v)) > 0.01:
        v = MIXING @ v
    return v


def written(x):
    v, s = x.copy(), 0.0
    while v.sum() > 0.3:
        v[0] = v[0] * 0.5
        v[1:] *= 0.8
        s += v[0] * v[-1]
    return v, s


def turned(x):
    v = x
    while v[2] > 0.05:
        v = np.roll(np.concatenate([v[1:] * 0.9, v[:1] * 0.8]), 1)[::-1]
    return v


def summed(x):
    v = x
    while np.cumsum(v)[-1] > 0.5:
        v = v * 0.9 - np.cumsum(v) * 0.01
    return v


def ordered(x):
    v = x
    while v[0] > 0.05:
        v = np.sort(v)[::-1] * 0.9 - 0.01
    return v


def products(x):
    m = np.outer(x, x)
    while np.trace(m) > 0.2:
        m = m * 0.8 + 0.01 * m.T
    return m, m.sum(axis=0), m.max(axis=1)


def grown(x):
    a, b, n = np.diag(x) + 0.1, x, 0
    while np.abs(b).sum() > 0.2:
        b, a, n = (a @ b) * 0.5, a * 0.95, n + 1
    return a, b, n


def complex_numbers(x):
    z = x + 1j * x[::-1]
    while np.abs(z).max() > 0.1:
        z = z * (0.5 + 0.5j)
    return z


def single(x):
    v = x.astype(np.float32)
    while v.sum() > np.float32(0.5):
        v = v * np.float32(0.7)
    return v


def of_all_kinds(x):
    b, k, v = x > 0.5, np.array([1, 2, 3]), x
    while v.sum() > 0.3:
        v, k = v * 0.8, k + np.arange(3)
        b = ~b & (v > 0.1)
    return b, k, v


def without_elements(x):
    v, s = x[:0], x[0]
    while s > 0.1:
        s, v = s * 0.7, v * 2
    return v, s


def chosen(x):
    v = x
    while v.sum() > 0.3:
        v = np.array([v[1], v[0] * 0.8, v[2] * 0.9]) if v[0] > v[1] else v * np.array([0.9, 0.8, 0.7])
    return v


def halved(x):
    lower, upper = np.zeros(3), x + 1
    while (upper - lower).max() > 1e-3:
        middle = (lower + upper) / 2
        low = middle * middle < x
        lower, upper = np.where(low, middle, lower), np.where(low, upper, middle)
    return lower, upper


def in_a_loop(x):
    v, total = x, 0.0
    for k in range(4):
        while v.sum() > 1.0 / (k + 1):
            v = v * 0.9
        total = total + v[1]
        v = v + 0.1
    return v, total


def in_two_loops(x):
    rows, v = [], x
    for _ in range(3):
        for j in range(2):
            while v.max() > 0.3 + 0.1 * j:
                v = v * 0.9
            v = v + 0.2 * x
        rows.append(v)
    return np.array(rows)


PROGRAMS = {
    each.__name__: each
    for each in (
        scaled, mixed, written, turned, summed, ordered, products, grown, complex_numbers, single, of_all_kinds,
        without_elements, chosen, halved, in_a_loop, in_two_loops,
    )
}  # fmt: skip
SMOOTH = [name for name in PROGRAMS if name not in ("single", "of_all_kinds", "ordered")]


def leaves(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("size", [3, 64, 70])
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_element_gives_what_numpy_gives(name, size):
    program, x = PROGRAMS[name], RNG.uniform(0.3, 1.0, (size, 3))
    expected = [np.stack(each) for each in zip(*(leaves(program(row)) for row in x), strict=True)]
    found = leaves(ng.graph_jit(ng.vmap(program))(x))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6 if other.dtype == np.float32 else 1e-11, atol=1e-13)


def square(program, x, weight):
    return sum(
        np.sum(np.abs(each) ** 2 * weight) for each in map(np.asarray, leaves(program(x))) if each.dtype.kind in "fc"
    )


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_of_batches_are_those_of_elements(name):
    program, x = PROGRAMS[name], RNG.uniform(0.3, 1.0, (66, 3))
    weights = np.arange(1.0, 67.0)

    def total(x):
        return np.sum(ng.vmap(lambda row, weight: square(program, row, weight))(x, weights))

    slope = ng.graph_jit(ng.grad(lambda row, weight: square(program, row, weight)))
    expected = np.stack([slope(row, weight) for row, weight in zip(x, weights, strict=True)])
    for row in (0, 65):
        for place in range(3):
            step = np.zeros(3)
            step[place] = 1e-6
            above, below = (square(program, x[row] + sign * step, weights[row]) for sign in (1, -1))
            assert expected[row, place] == pytest.approx((above - below) / 2e-6, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(total))(x), expected, rtol=1e-9, atol=1e-11)


def wave(x):
    v = x
    for _ in range(3):
        while v.sum() > 0.5:
            v = v * v * 0.7 + 0.1 * v
        v = v + 0.2 * x
    return (v**3).sum()


def test_second_derivatives_of_blocks():
    x = RNG.uniform(0.3, 1.0, (66, 2))
    hessian, jacobian = ng.graph_jit(ng.hessian(wave)), ng.graph_jit(ng.grad(wave))
    np.testing.assert_allclose(
        ng.graph_jit(ng.vmap(ng.hessian(wave)))(x), [hessian(row) for row in x], rtol=1e-9, atol=1e-12
    )
    forward = ng.graph_jit(ng.jacfwd(ng.vmap(wave)))(x)
    np.testing.assert_allclose(forward[np.arange(66), np.arange(66)], [jacobian(row) for row in x], rtol=1e-9)


@pytest.mark.parametrize("shape", [(7, 70), (70, 7)])
def test_batches_of_batches(shape):
    x = RNG.uniform(0.3, 1.0, (*shape, 3))
    found = ng.graph_jit(ng.vmap(ng.vmap(lambda row: in_a_loop(row)[0])))(x)
    np.testing.assert_allclose(found, [[in_a_loop(row)[0] for row in rows] for rows in x], rtol=1e-12)


def test_parameters_of_unknown_length_and_what_all_share():
    def followed(row, weights, all_rows):
        s, total = np.zeros(2), 0.0
        for each in all_rows:
            s = s + each * row * weights[1] + weights[0]
            while np.abs(s).max() > 1.0:
                s = s * weights[2]
            total = total + s.sum()
        return s, total

    rows, weights = RNG.normal(size=(70, 2)), RNG.uniform(0.3, 0.7, (70, 3))
    found = ng.graph_jit(ng.vmap(followed, in_axes=(0, 0, None)))(rows, weights, rows)
    expected = [followed(row, weight, rows) for row, weight in zip(rows, weights, strict=True)]
    for number in range(2):
        np.testing.assert_allclose(found[number], [each[number] for each in expected], rtol=1e-10)


def rising(x, k):
    v, total = x, 0.0
    for j in range(3):
        while v.sum() > 0.3:
            v = v * 0.8
        if k + j > 4:
            raise ValueError("too far")
        total = total + np.sqrt(v).sum()
        v = v + 0.3
    return total


@pytest.mark.parametrize("bad", [0, 5, 63, 64, 130, 199])
def test_errors_name_the_first_element_that_fails(bad):
    x, k = RNG.uniform(0.3, 1.0, (200, 2)), np.zeros(200, int)
    program = ng.graph_jit(ng.vmap(rising))
    np.testing.assert_allclose(program(x, k), [rising(row, 0) for row in x], rtol=1e-12)
    k[bad] = 3
    k[bad + 66 :] = 3
    with pytest.raises(ValueError, match=rf"too far[\s\S]*in element {bad} of the batch"):
        program(x, k)


def test_batches_without_elements_other_axes_and_threads():
    x = RNG.uniform(0.3, 1.0, (200, 3))
    expected = [in_a_loop(row)[0] for row in x]

    def program(row):
        return in_a_loop(row)[0]

    assert ng.graph_jit(ng.vmap(program))(x[:0]).shape == (0, 3)
    columns = ng.graph_jit(ng.vmap(program, in_axes=1, out_axes=1))(x.T.copy())
    np.testing.assert_allclose(columns.T, expected, rtol=1e-12)
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(program), parallel=True)(x), expected, rtol=1e-12)
