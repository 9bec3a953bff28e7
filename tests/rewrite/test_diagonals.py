"""Results that `numpy.diag` of a vector makes: zeros and an assignment."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.ir.values import Node
from numbagraph.rewrite.pipeline import optimise

RNG = np.random.default_rng(11)
SPECIAL = np.array([-0.0, np.nan, np.inf, 5e-324, -2.0])
VECTORS = {
    "numbers": RNG.normal(size=9),
    "special": SPECIAL,
    "backwards": SPECIAL[::-1],
    "every other": RNG.normal(size=8).astype(np.float32)[::2],
    "complex": RNG.normal(size=3) - 1j * RNG.normal(size=3),
    "small integers": np.arange(4, dtype=np.int8) - 2,
    "truth": np.array([True, False, True]),
    "one": np.ones(1),
    "none": np.ones(0),
}


@pytest.mark.parametrize("offset", [-11, -2, -1, 0, 1, 3])
@pytest.mark.parametrize("name", VECTORS)
def test_diagonals_are_those_of_numpy(name, offset):
    vector = VECTORS[name]
    for f in (lambda v: np.diag(v, offset), lambda v: np.diagflat(v, offset)):
        expected, found = f(vector), graph_jit(f)(vector)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


def is_assigned(function, *arguments):
    nodes = optimise(graph_jit(function).graph(*arguments)).final.order
    return any(each.op.name == "put_at" for each in nodes if isinstance(each, Node))


def test_a_result_is_assigned_and_an_operand_chosen():
    vector = VECTORS["numbers"]
    assert is_assigned(lambda v: np.diag(v, 2), vector)
    assert is_assigned(lambda v: (np.diag(v), v + 1), vector)
    assert not is_assigned(lambda v: np.diag(v) + 1.0, vector)
    assert not is_assigned(lambda v: np.where(np.arange(9)[:, None] == np.arange(9), v[:, None], -0.0), vector)


@pytest.mark.parametrize("offset", [-7, -2, 0, 1, 7])
def test_choices_that_are_no_diagonals_of_a_vector_stay(offset):
    """A row instead of a column, a column of one element, and a condition for one row, all of which broadcast."""
    numbers = np.arange(5)
    places = numbers[:, None] + offset == numbers

    def on(v, rows=None):
        length = v.shape[0]
        return np.arange(length if rows is None else rows)[:, None] + offset == np.arange(length)

    functions = (
        lambda v: np.where(on(v), v[:, None], 0.0),
        lambda v: np.where(on(v), v[None, :], 0.0),
        lambda v: np.where(on(v), v[:1, None], 0.0),
        lambda v: np.where(on(v), v, 0.0),
        lambda v: np.where(on(v, v.shape[0] // 5), v[:, None], 0.0),
        lambda v: np.where(on(v, v.shape[0] // 5), v[:, None], 0.0) @ np.ones(v.shape[0]),
    )
    vector = np.arange(1.0, 6.0)
    expected = [np.where(places, each, 0.0) for each in (vector[:, None], vector, vector[:1, None], vector)]
    expected.append(np.where(places[:1], vector[:, None], 0.0))
    expected.append(expected[-1] @ np.ones(5))
    for function, matrix in zip(functions, expected, strict=True):
        np.testing.assert_array_equal(graph_jit(function)(vector), matrix)


@pytest.mark.parametrize("part", [np.s_[0], np.s_[2], np.s_[:, 1], np.s_[::-1, 3]])
def test_the_vector_may_be_a_part_of_what_it_is_written_to(part):
    room = np.arange(16.0).reshape(4, 4)
    expected = np.diag(room[part].copy())
    graph_jit(np.diag)(room[part], out=room)
    np.testing.assert_array_equal(room, expected)
