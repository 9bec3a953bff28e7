"""What `except` takes of errors of traced values, in derivatives, batches and repeated calls."""

import numpy as np
import pytest

import numbagraph as ng

X = np.array([4.0, -1.0, 2.25, 0.0, 9.0])


def rooted(v):
    if v < 0:
        raise ValueError("negative")
    return v**0.5


def total(x):
    found = 0.0
    for v in x:
        try:
            found += rooted(v)
        except ValueError:
            found += 3.0 * v
    return found


def test_gradients_are_those_of_the_path_that_is_taken():
    x = np.array([4.0, -1.0, 2.25, 9.0])
    expected = np.where(x < 0, 3.0, 0.5 / np.sqrt(np.abs(x)))
    np.testing.assert_allclose(ng.graph_jit(ng.grad(total))(x), expected, rtol=1e-14)


def test_elements_of_a_batch_take_their_own_paths():
    def ratio(a, b):
        try:
            return float(a) / float(b)
        except ZeroDivisionError:
            return -1.0

    found = ng.graph_jit(ng.vmap(ratio))(X, np.array([2.0, 0.0, 0.5, 0.0, 3.0]))
    np.testing.assert_array_equal(found, [2.0, -1.0, 4.5, -1.0, 3.0])


def test_arguments_are_written_as_the_path_says():
    def moved(x, k):
        try:
            v = x[k]
            x[0] = 2 * v
        except IndexError:
            x[1] = -1.0

    compiled = ng.graph_jit(moved)
    for k in (2, 7, -5, -6, 0):
        given, expected = X.copy(), X.copy()
        compiled(given, k)
        moved(expected, k)
        np.testing.assert_array_equal(given, expected)


def test_errors_that_no_handler_names_leave_the_function_and_change_nothing():
    def moved(x, k, b):
        try:
            x[0] = x[k] / (1 // b)
        except ZeroDivisionError:
            x[1] = -5.0

    compiled = ng.graph_jit(moved)
    given = X.copy()
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        compiled(given, 9, 1)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        compiled(given, 9, 0)  # before the division
    np.testing.assert_array_equal(given, X)
    compiled(given, 2, 0)
    np.testing.assert_array_equal(given, [4.0, -5.0, 2.25, 0.0, 9.0])


def test_the_first_error_counts_also_where_it_is_found_in_the_run():
    def quotient(x, places, b):
        try:
            return x[places[0]] / (1 // b)
        except ZeroDivisionError:
            return -5.0

    compiled = ng.graph_jit(quotient)
    assert compiled(X, np.array([2]), 0) == -5.0
    assert compiled(X, np.array([2]), 1) == 2.25
    for b in (0, 1):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(X, np.array([9]), b)


def test_integers_beyond_64_bits_are_no_errors_of_the_program():
    """Python's integers have no limit, so the handler would not run there."""

    def power(a):
        try:
            return a * a
        except OverflowError:
            return -1

    compiled = ng.graph_jit(power)
    assert compiled(3) == 9
    with pytest.raises(OverflowError, match="leaves int64"):
        compiled(2**40)
