"""Checks of SciPy's functions in compiled functions against the functions as they are."""

import numpy as np
import pytest

from numbagraph import graph_jit


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
