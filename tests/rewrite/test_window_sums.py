"""The pullback of reading windows."""

import re

import numpy as np
import pytest

import numbagraph as ng

windows = np.lib.stride_tricks.sliding_window_view


def scores(x, size):
    rows = windows(x, size)
    return (x[size - 1 :] - rows.mean(axis=1)) / np.sqrt(rows.var(axis=1) + 0.5)


def weighted(x, size):
    return np.sum(windows(x, size) * np.cos(np.arange(size)), axis=1) ** 2


def along_the_first_axis(x, size):
    rows = windows(np.stack([x, x * x], axis=1), size, axis=0)
    return np.exp(-np.sum(rows * rows, axis=-1)) * rows[:, :, 0]


def along_both_axes(x, size):
    plane = x[:, None] * np.sin(np.arange(1.0, len(x) + 3.0))
    return np.sum(np.tanh(windows(plane, (size, 2))), axis=(-2, -1))


def by_positions(x, size):
    places = np.arange(len(x) - size + 1)[:, None] + np.arange(size)
    return np.max(x[places] * x[places.shape[1] - 1 :][:, None], axis=1)


def in_steps(x, size):
    for _ in range(3):
        x = np.concatenate([windows(np.sin(x), size).sum(axis=1), x[: size - 1]])
    return x


def in_branches(x, size):
    return windows(x, size).sum(axis=1) ** 2 if x[0] > 0.0 else windows(-x, size).prod(axis=1)


PROGRAMS = (scores, weighted, along_the_first_axis, along_both_axes, by_positions, in_steps, in_branches)


def numbers(length):
    return np.random.default_rng(length).normal(size=length) * 0.7


def slopes_of(program, size):
    return lambda x: ng.grad(lambda each: np.sum(program(each, size) ** 2))(x)


def by_differences(program, x, size, h=1e-6):
    def loss(each):
        return np.sum(program(each, size) ** 2)

    steps = np.eye(len(x)) * h
    return np.array([(loss(x + step) - loss(x - step)) / (2 * h) for step in steps])


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("size", "length"), [(5, 40), (3, 9)])
def test_gradients_are_those_of_differences(program, size, length):
    x = numbers(length)
    found = ng.graph_jit(slopes_of(program, size))(x)
    np.testing.assert_allclose(found, by_differences(program, x, size), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 6, 33])
def test_any_number_of_windows(size):
    """From one window on: there are elements that all windows have, or none, and windows that lie at both ends."""
    found = ng.graph_jit(slopes_of(weighted, size))
    for count in {1, 2, size - 1, size, 2 * size - 2, 2 * size - 1, 3 * size} - {0}:
        x = numbers(count + size - 1)
        np.testing.assert_allclose(found(x), by_differences(weighted, x, size), rtol=2e-5, atol=1e-5)


def test_what_is_not_finite_stays_in_its_windows():
    x = numbers(40)
    x[20] = np.inf

    def loss(x):
        rows = windows(x, 4)
        return np.sum(rows * rows.sum(axis=1)[:, None])

    found = ng.graph_jit(ng.grad(loss))(x)
    assert np.isfinite(found[:17]).all()
    assert np.isfinite(found[24:]).all()
    assert not np.isfinite(found[17:24]).any()


@pytest.mark.parametrize("program", [scores, along_the_first_axis])
def test_batches_are_their_elements(program):
    x = np.stack([numbers(30), numbers(30)[::-1]])
    slopes = slopes_of(program, 4)
    found = ng.graph_jit(ng.vmap(slopes))(x)
    np.testing.assert_allclose(found, np.stack([by_differences(program, each, 4) for each in x]), rtol=2e-5, atol=1e-6)


def test_second_derivatives_are_differences_of_first_ones():
    x, slopes = numbers(30), ng.graph_jit(slopes_of(scores, 4))
    found = ng.graph_jit(ng.grad(lambda each: np.sum(slopes_of(scores, 4)(each) * np.arange(30.0))))(x)
    h = 1e-6
    expected = [np.sum((slopes(x + e) - slopes(x - e)) * np.arange(30.0)) / (2 * h) for e in np.eye(30) * h]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("program", [scores, weighted, along_the_first_axis, along_both_axes])
def test_windows_are_summed(program):
    assert "sum_over_windows" in ng.graph_jit(slopes_of(program, 4)).explain(numbers(40))


def test_no_window_is_stored():
    """Rows of windows are computed again in the pullback, as their means have memory of their own."""
    text = ng.graph_jit(slopes_of(scores, 20)).explain(numbers(1000))
    sizes = re.findall(r"temporary.*: ([\d.]+) KiB", text)
    assert sizes
    assert max(map(float, sizes)) < 10.0  # all windows together take 153


def test_lengths_with_numbers_added_one_after_the_other_are_one():
    """The rest of an array and the windows of it need no comparison when the function runs."""

    def both(x):
        return x[4:] - windows(x, 5).sum(axis=1)

    assert "where" not in str(ng.graph_jit(ng.grad(lambda x: np.sum(both(x) ** 2))).graph(numbers(9)))
    for length in (5, 9):
        np.testing.assert_allclose(ng.graph_jit(both)(numbers(length)), both(numbers(length)), rtol=1e-13)
    with pytest.raises(ValueError, match="window shape cannot be larger"):
        ng.graph_jit(both)(numbers(4))
