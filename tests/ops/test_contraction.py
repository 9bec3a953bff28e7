"""`einsum` of lengths that are known when the program runs, which may turn out to be 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit

rng = np.random.default_rng(5)
ROWS, COLUMN, VECTOR = rng.normal(size=(2, 3)), rng.normal(size=(3, 2)), rng.normal(size=3)

TEXTS: list[tuple[str, list[np.ndarray]]] = [
    ("i,i->i", [VECTOR]),
    ("i,i", [VECTOR]),
    ("i,i,i->", [VECTOR, VECTOR + 1]),
    ("i,ji->j", [ROWS]),
    ("i,ij->j", [COLUMN]),
    ("i,ij->ij", [COLUMN]),
    ("i,ij,jk->ik", [COLUMN, ROWS]),
    ("i,j->ij", [VECTOR]),
]


def selected(text: str) -> Callable[..., Any]:
    return lambda x, *others: np.einsum(text, x[x > 0], *others)


def cut(text: str) -> Callable[..., Any]:
    return lambda x, *others: np.einsum(text, x[: int(np.sum(x > 0))], *others)


def check_lengths(make: Callable[[str], Callable[..., Any]], text: str, others: list[np.ndarray]) -> None:
    """One function for lengths of 3 and of 1, in either order."""
    for order in ([3, 1, 3], [1, 3, 1]):
        function = make(text)
        compiled = graph_jit(function)
        for count in order:
            x = np.where(np.arange(4) < count, np.arange(1.0, 5.0), -1.0)
            np.testing.assert_allclose(compiled(x, *others), function(x, *others), rtol=1e-13)


@pytest.mark.parametrize("make", [selected, cut])
@pytest.mark.parametrize(("text", "others"), TEXTS, ids=[text for text, _ in TEXTS])
def test_a_length_that_turns_out_to_be_one_is_repeated(make, text, others) -> None:
    check_lengths(make, text, others)


def test_other_lengths_are_refused() -> None:
    compiled = graph_jit(selected("i,i->i"))
    with pytest.raises(ValueError, match=r"lengths of the dimensions 'i' differ\n  at .*test_contraction"):
        compiled(np.array([1.0, 2.0, -1.0]), VECTOR)
    np.testing.assert_array_equal(compiled(np.array([1.0, 2.0, 3.0]), VECTOR), [1, 2, 3] * VECTOR)


def test_derivatives_of_what_is_repeated_are_sums() -> None:
    slope = graph_jit(grad(lambda x: selected("i,ji->")(x, ROWS)))
    np.testing.assert_allclose(slope(np.array([-1.0, 2.0, -3.0])), [0, np.sum(ROWS), 0])
    np.testing.assert_allclose(slope(np.array([1.0, 2.0, 3.0])), np.sum(ROWS, axis=0))


def test_a_bincount_of_nothing_counts() -> None:
    for function in (
        lambda w: np.bincount([], weights=w),
        lambda w: np.bincount([], weights=w, minlength=3),
        lambda w: np.bincount(np.array([], np.int8), w),
        lambda w: np.bincount([], minlength=2) + np.sum(w),
    ):
        expected, found = function(np.array([])), graph_jit(function)(np.array([]))
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
