"""`backend="numpy"`: op by op, where `np.errstate` counts as it does in NumPy's own calls."""

from __future__ import annotations

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap


@graph_jit(backend="numpy")
def logarithms(x):
    for _ in range(2):
        x = np.log(x)
    return x


ZERO = np.array([1.0, 0.0])


def test_errors_are_raised_with_the_line():
    with (
        np.errstate(all="raise"),
        pytest.raises(FloatingPointError, match=r"divide by zero[^$]*in log[^$]*test_numpy_backend.py"),
    ):
        logarithms(ZERO)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        graph_jit(lambda x, n: 1 / (x - n), backend="numpy")(ZERO, 1)


def test_in_loops_and_transformed():
    @graph_jit(backend="numpy")
    def loop(x, n):
        for i in range(n):
            x = x / (2.0 - i)
        return x

    with np.errstate(divide="raise"):
        assert loop(1.0, 2) == 0.5
        with pytest.raises(FloatingPointError, match="divide by zero"):
            loop(np.ones(2), 3)
        with pytest.raises(FloatingPointError, match="divide by zero"):
            graph_jit(grad(lambda x: np.sqrt(x)), backend="numpy")(0.0)
        with pytest.raises(FloatingPointError, match="divide by zero"):
            graph_jit(vmap(lambda x: 1 / x), backend="numpy")(ZERO)


def test_functions_are_called():
    found = []
    with np.errstate(divide="call", invalid="call", call=lambda kind, flag: found.append(kind)):
        logarithms(ZERO)
    assert sorted(set(found)) == ["divide by zero", "invalid value"]


def test_warnings_are_left_out_and_other_backends_stay_quiet():
    np.testing.assert_array_equal(logarithms(np.array([1.0, np.e])), [-np.inf, 0.0])
    with np.errstate(all="raise"):
        assert graph_jit(lambda x: np.log(x))(0.0) == -np.inf
    np.testing.assert_array_equal(logarithms(np.array([1.0])), [-np.inf])


def test_an_error_of_compiled_code_is_found_as_before():
    with np.errstate(all="raise"), pytest.raises(IndexError, match="out of bounds"):
        graph_jit(lambda x, i: np.log(x)[i])(ZERO, 5)


def test_the_state_is_left_after_an_error():
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        logarithms(ZERO)
    np.testing.assert_array_equal(logarithms(ZERO)[0], -np.inf)
