"""`functools.partial` of functions of libraries, of Python and of the user's own, called in traced code."""

from functools import partial

import numpy as np
from scipy import linalg, stats

from numbagraph import graph_jit

solve = partial(linalg.solve, assume_a="pos")
total = partial(np.sum, axis=0)
least = partial(max, key=lambda each: -each)
backwards = partial(sorted, reverse=True)
log_density = partial(stats.norm.logpdf, scale=2.0)


def affine(a, b, *, c=1.0):
    return a * b + c


doubled = partial(affine, 2.0, c=3.0)


def everything(a, x):
    parts = [x[0], x[1], x[2]]
    bounded = partial(partial(np.clip, a_min=2), a_max=3)
    first = solve(a, x), total(a), least(parts), backwards(parts), doubled(x), log_density(x)
    return *first, list(partial(map, doubled)(parts)), bounded(x), partial(len)(x)


def test_partial_calls_give_what_numpy_gives():
    x = np.arange(1.0, 5.0)
    a = 4 * np.eye(4) + 1
    for found, expected in zip(graph_jit(everything)(a, x), everything(a, x), strict=True):
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, 1e-13)
