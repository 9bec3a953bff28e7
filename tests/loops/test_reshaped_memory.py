"""Arrays of another shape are the same memory: nothing may change it as long as either is read."""

import itertools

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.jit.graph_function import GraphFunction

SHAPES = [(12, 12), (144,), (2, 6, 12), (12, 3, 4), (2, 72), (36, 4), (12, 12)]
"""Of 144 elements."""


def matrix(x):
    return x.reshape(12, 12)


STEPS = {
    "rows": lambda x: np.fft.fft(x),
    "columns": lambda x: np.fft.fft(x, axis=0),
    "inside": lambda x: np.fft.ifft(x, axis=-2) if x.ndim > 1 else np.fft.ifft(x),
    "inverse": lambda x: np.linalg.inv(matrix(x) + 40 * np.eye(12)),
    "product": lambda x: matrix(x) @ matrix(x) / 12,
    "add": lambda x: x + 1,
    "scan": lambda x: np.cumsum(x, axis=-1) / 12,
    "turn": lambda x: x[::-1] * 1,
    "transpose": lambda x: matrix(x).T,
    "one": lambda x: x.real.copy() + 0j,
}


def update(x, number):
    """A copy of which a part is assigned to."""
    y = x.copy()
    y[number % len(y)] = number
    return y


def written(x, other):
    y = x.copy()
    y += np.roll(other.reshape(-1), 1).reshape(x.shape)
    return y


def program(seed, count=9):
    """A function of some steps and reshapes, which returns some of what it has computed on the way."""
    rng = np.random.default_rng(seed)
    plan = []
    for number in range(count):
        kind = rng.choice(["reshape", "step", "update", "written"], p=[0.4, 0.4, 0.1, 0.1])
        first, second = (int(rng.integers(max(0, number - 3), number + 1)) for _ in range(2))
        plan.append((kind, first, second, SHAPES[rng.integers(len(SHAPES))], str(rng.choice([*STEPS]))))
    kept = sorted({int(each) for each in rng.integers(1, count + 1, 2)} | {count})

    def run(x):
        values = [x]
        for number, (kind, first, second, shape, step) in enumerate(plan):
            value = values[first]
            if kind == "reshape":
                value = value.reshape(shape)
            elif kind == "step":
                value = STEPS[step](value)
            elif kind == "update":
                value = update(value, number)
            else:
                value = written(value, values[second])
            values.append(value)
        return [values[each] for each in kept]

    return run, plan


def differences(seeds, *, donate):
    for seed in seeds:
        run, plan = program(seed)
        x = np.random.default_rng(seed).normal(size=SHAPES[seed % len(SHAPES)]) + 0j
        given = x.copy()
        found = GraphFunction(run, donate_argnames="x" if donate else ())(given)
        for one, other in zip(found, run(x), strict=True):
            if not np.allclose(one, other, 1e-9, 1e-9 * np.abs(other).max()):
                yield seed, plan
        if not donate and not np.array_equal(given, x):
            yield "the argument has changed", seed, plan
        if any(np.shares_memory(*pair) for pair in itertools.combinations(found, 2)):
            yield "results share memory", seed, plan


@pytest.mark.parametrize("donate", [False, True])
def test_random_programs(donate):
    assert [*differences(range(40), donate=donate)] == []


def test_what_is_read_later_is_not_overwritten():
    def both(x):
        half = np.fft.fft(x)
        whole = np.fft.fft(half.reshape(-1, 2), axis=0)
        return half, whole, half.reshape(-1)[:3] + whole.reshape(-1)[0]

    x = np.random.default_rng(0).normal(size=(4, 6)) + 0j
    for found, expected in zip(graph_jit(both)(x), both(x), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_transforms_of_several_axes_copy_nothing():
    """Of contiguous arguments, nothing is copied, and all transforms but the first work in place."""
    compiled = graph_jit(np.fft.fftn)
    x = np.random.default_rng(0).normal(size=(4, 5, 6)) + 0j
    np.testing.assert_allclose(compiled(x), np.fft.fftn(x), atol=1e-12)
    text = str(compiled.explain(x))
    assert "0 loop nests, 3 calls" in text, text


def test_vectors_are_matrices_of_one_row():
    """A dimension of length 1 that comes or goes is no copy."""
    x = np.random.default_rng(0).normal(size=64)

    def both(x):
        return np.fft.rfft(np.concatenate([x[::2], -x[1::2]]))

    compiled = graph_jit(both)
    np.testing.assert_allclose(compiled(x), both(x), atol=1e-12)
    assert "(expand_dims)" not in compiled.explain(x)
    assert "(squeeze)" not in compiled.explain(x)
