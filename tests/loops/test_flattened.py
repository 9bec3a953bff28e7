"""Nests of contiguous arrays of one shape run as one loop, whatever is reduced over all elements."""

import numpy as np
import pytest

from numbagraph import graph_jit

REDUCTIONS = {
    "sum": lambda x: np.sum(x * x),
    "max": lambda x: np.max(np.sqrt(x)),
    "argmax": lambda x: np.argmax(x),
    "argmin": lambda x: np.argmin(x + 1.0),
    "both": lambda x: (np.argmax(x), np.min(x)),
    "any": lambda x: np.any(x > 4.0),
}
SHAPES = [(3, 5), (70, 3), (3, 300), (2, 3, 4), (1, 9), (9, 1), (1, 1), (33, 31)]


def cases(shape):
    """Numbers with ties, the extremum first, last and in between, and NaN before and behind it."""
    rng = np.random.default_rng(sum(shape))
    size = int(np.prod(shape))
    for place in {0, size // 2, size - 1}:
        x = rng.integers(0, 4, size).astype(float)
        x[[place, -1]] = 9.0
        yield x.reshape(shape)
        x[place] = np.nan
        yield x.reshape(shape)
    yield np.zeros(shape)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_results_are_numpys_for_contiguous_arrays_and_views(name):
    function = REDUCTIONS[name]
    compiled = graph_jit(function)
    for shape in SHAPES:
        for x in cases(shape):
            for view in (x, x.T, x[::-1], np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
                np.testing.assert_allclose(compiled(view), function(view), rtol=1e-13)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_it_is_one_loop(name):
    compiled, x = graph_jit(REDUCTIONS[name]), np.ones((20, 3))
    assert "all dimensions run as one loop" in str(compiled.explain(x))
    assert "all dimensions run as one loop" not in str(compiled.explain(x[:, ::-1]))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.bool_])
def test_positions_of_all_types(dtype):
    compiled = graph_jit(lambda x: (np.argmax(x), np.argmin(x)))
    for shape in SHAPES:
        for x in cases(shape):
            x = np.nan_to_num(x).astype(dtype)
            assert compiled(x) == (x.argmax(), x.argmin())


def test_no_elements():
    for shape in ((0, 3), (3, 0)):
        with pytest.raises(ValueError, match="argmax of an empty"):
            graph_jit(np.argmax)(np.ones(shape))
