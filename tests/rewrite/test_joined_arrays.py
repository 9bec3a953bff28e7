"""Elements of joined arrays, of which the other pieces are not computed: `numbagraph.rewrite.joined_arrays`."""

import numpy as np
import pytest

import numbagraph as ng

X = np.array([[1.0, -2.0, 3.0], [-1.0, -2.0, -4.0], [0.5, 2.0, 1.0]])


def last(x):
    return np.concatenate([x[x > 0], np.stack([2 * x[0]])])[-1]


def last_column(x):
    return np.concatenate([np.outer(x, x)[x > 0], x[None] * 2]).T[:, -1]


def last_of_three_axes(x):
    return np.concatenate([np.outer(x, x)[x > 0][None], np.outer(x, 2 * x)[x > 0][None]]).transpose(2, 0, 1)[:, 1]


def row_whose_other_axes_are_exchanged(x):
    return np.stack([np.outer(x, x + 1), np.outer(x, 2 * x + 1)]).transpose(0, 2, 1)[1]


FUNCTIONS = [last, last_column, last_of_three_axes, row_whose_other_axes_are_exchanged]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_element_behind_those_that_a_mask_selects(function):
    for each in X:
        np.testing.assert_array_equal(ng.graph_jit(function)(each), function(each))


def test_pieces_that_are_not_read_are_not_computed():
    assert "concatenate" not in ng.graph_jit(lambda x: np.sin(last(x))).explain(X[0])
