"""Checks of SciPy's functions in compiled functions against the functions as they are."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit


def check(function, *args, rtol=1e-10, again=()):
    """A function gives what it gives without compilation, with other arguments of other lengths too."""
    compiled = graph_jit(function)
    for given in (args, *again):
        expected = function(*given)
        found = compiled(*given)
        if not isinstance(expected, tuple):
            expected, found = (expected,), (found,)
        assert len(found) == len(expected)
        for left, right in zip(found, expected, strict=True):
            left, right = np.asarray(left), np.asarray(right)
            assert (left.dtype, left.shape) == (right.dtype, right.shape)
            largest = np.max(np.abs(right), initial=1.0, where=np.isfinite(right))
            np.testing.assert_allclose(left, right, rtol, rtol * largest)


def check_error(function, *args):
    """The error of the function as it is."""
    with pytest.raises((ValueError, RuntimeError, IndexError, NotImplementedError)) as plain:
        function(*args)
    with pytest.raises(type(plain.value)) as compiled:
        graph_jit(function)(*args)
    assert str(plain.value).splitlines()[0][:40] in str(compiled.value)


def check_slope(function, x, rtol=1e-5):
    """The derivative along a direction is that of differences of the function as it is."""
    direction = np.random.default_rng(0).normal(size=np.shape(x))

    def value(x):
        found = function(x)
        found = found if isinstance(found, tuple) else (found,)
        return sum(
            np.sum(np.cos(np.arange(1, np.size(each) + 1)).reshape(np.shape(each)) * np.real(each)) for each in found
        )

    step = 1e-5
    expected = (value(x + step * direction) - value(x - step * direction)) / (2 * step)
    found = np.sum(grad(value)(x) * direction)
    np.testing.assert_allclose(found, expected, rtol, 1e-7)
