"""Donated arguments: whose memory results take, and what a failed check leaves as it was."""

import numpy as np
import pytest

import numbagraph.numpy as xp
from numbagraph import graph_jit


def outcome(function, *args):
    try:
        return function(*args)
    except (IndexError, np.linalg.LinAlgError) as error:
        return error


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (lambda x, i: (x - 1, xp.take(np.arange(10.0), i)), [1, 2], [0, 10]),
        (lambda x, i: (x - 1, x[i]), [1, 2], [0, 9]),
        (lambda x, i: x * 2 + np.sum(x[i]), [1, 2], [0, 9]),
        (lambda x, i: x * 2 + xp.take(np.arange(5.0), i), [0, 1, 2, 3, 4], [0, 1, 2, 3, 5]),
        (lambda x, i: (x / np.sum(x), np.sum(x[i])), [1, 2], [0, 9]),
        (lambda x, i: (x * 2, np.linalg.inv(np.eye(2) * i)), 1.0, 0.0),
        (lambda x, i: (x * 2, np.linalg.inv(np.eye(2) * i) * x[0]), 1.0, 0.0),
    ],
)
def test_donated_memory_survives_a_failed_check(function, good, bad):
    """And so does an array that the result is to be written over."""
    f, over = graph_jit(function, donate_argnames="x"), graph_jit(function)
    good, bad = np.array(good), np.array(bad)
    expected = outcome(function, np.arange(5.0), bad)
    assert isinstance(expected, Exception)
    f(np.arange(5.0), good)
    single = isinstance(function(np.arange(5.0), good), np.ndarray)
    for call in (f, lambda x, i: over(x, i, out=x)) if single else (f,):
        for _ in range(2):
            x = np.arange(5.0)
            assert isinstance(outcome(call, x, bad), type(expected))
            np.testing.assert_array_equal(x, np.arange(5.0))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x * 2 + np.sum(xp.take(np.arange(9.0), i)),
        lambda x, i: x * np.linalg.inv(np.eye(2) + np.sum(i))[0, 0],
        lambda x, i: (x * 2, np.linalg.inv(np.eye(2) + np.sum(i))),
    ],
    ids=["a check before", "a call before", "a call that can be before"],
)
def test_donated_memory_is_taken_where_checks_come_first(function):
    f, x = graph_jit(function, donate_argnames="x"), np.arange(5.0)
    result = f(x, np.array([1, 2]))
    first, wanted = (result[0], 0) if isinstance(result, tuple) else (result, None)
    assert np.shares_memory(first, x)
    expected = function(np.arange(5.0), np.array([1, 2]))
    np.testing.assert_allclose(first, expected if wanted is None else expected[0], rtol=1e-14)


def test_explain_says_why_donated_memory_is_not_taken():
    f = graph_jit(lambda x, y: (x - 1, xp.take(np.arange(9.0), x), y[::-1] * 2), donate_argnames=("x", "y"))
    text = f.explain(np.arange(5), np.ones(6))
    assert "x is donated, but not overwritten: a check may fail after result0 is written; result1 differs" in text
    assert "y is donated, but not overwritten: result0 differs in dtype or shape; " in text
    assert "; it is read after result2 is written" in text


def test_donated_memory_is_used_for_the_result():
    f = graph_jit(lambda x, y: x * 2 + y, donate_argnames="x")
    x, y = np.arange(5.0), np.ones(5)
    result = f(x, y)
    assert np.shares_memory(result, x)
    np.testing.assert_array_equal(result, np.arange(5.0) * 2 + 1)
    np.testing.assert_array_equal(y, np.ones(5))


def test_donation_keeps_results_right():
    """What still reads the donated array, another argument included, sees what was there before."""

    def function(x, y):
        return x[::-1] + x * y, np.sum(x)

    f = graph_jit(function, donate_argnames="x")
    for y in (np.arange(1.0, 6.0), None):
        x = np.arange(5.0)
        y = x if y is None else y
        expected = function(x.copy(), y.copy())
        result = f(x, y)
        np.testing.assert_array_equal(result[0], expected[0])
        assert result[1] == expected[1]


def test_donation_of_what_does_not_fit_is_no_donation():
    f = graph_jit(lambda x: np.sum(x), donate_argnames="x")
    x = np.arange(5.0)
    assert f(x) == 10
    np.testing.assert_array_equal(x, np.arange(5.0))
