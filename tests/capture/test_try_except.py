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


def solved(a, b):
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.zeros_like(b)


def factored(a, b):
    found = np.zeros_like(a)
    try:
        found = np.linalg.cholesky(a)
    except ValueError:
        found -= 1
    return found


def inverted(a, b):
    try:
        found = np.linalg.inv(a)
    except:  # noqa: E722
        found = np.zeros_like(a)
    return found


def solved_in_a_loop(a, b):
    total = 0.0
    for _ in range(len(b)):
        try:
            total += np.linalg.solve(a, b)[0]
        except (KeyError, np.linalg.LinAlgError):
            break
    return total


def taken_by_caller(a, b):
    try:
        return inner(a, b)
    except np.linalg.LinAlgError:
        return b


def inner(a, b):
    return np.linalg.solve(a, b) if b[0] > 0 else b


@pytest.mark.parametrize("function", [solved, factored, inverted, solved_in_a_loop, taken_by_caller])
def test_errors_of_matrices_that_a_handler_takes_are_refused_with_what_to_write(function):
    for a in (np.eye(2), np.zeros((2, 2))):
        with pytest.raises(ng.TraceError, match=r"LinAlgError(?s:.*)on_linalg_error\(\"nan\"\)(?s:.*)test_try_except"):
            ng.graph_jit(function)(a, np.ones(2))


def test_what_is_written_instead_gives_what_the_handler_would():
    def instead(a, b):
        with ng.on_linalg_error("nan"):
            found = np.linalg.solve(a, b)
        if np.isnan(found).any():
            found = np.zeros_like(b)
        return found

    compiled = ng.graph_jit(instead)
    for a in (np.eye(2), np.zeros((2, 2)), np.array([[2.0, 1.0], [1.0, 3.0]])):
        np.testing.assert_allclose(compiled(a, np.ones(2)), solved(a, np.ones(2)), rtol=1e-14)


def test_handlers_of_other_errors_leave_errors_of_matrices_alone():
    def other(a, k):
        try:
            found = np.linalg.solve(a, a[0])[k]
        except IndexError:
            found = -1.0
        return found

    compiled = ng.graph_jit(other)
    assert compiled(np.eye(2), 1) == 0.0
    assert compiled(np.eye(2), 5) == -1.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        compiled(np.zeros((2, 2)), 0)


class Held:
    def __init__(self, t):
        self.t, self.n = t, 0.0

    def put(self, v):
        if v > 2:
            raise ValueError("too large")
        self.t = v
        return v

    def count(self, v):
        self.n += 1
        return self.put(v)


OUTER = Held(1.0)


def put_into_object(s):
    held, found = Held(s), 0.0
    try:
        found = held.put(s)
    except ValueError:
        found = -1.0
    return found + held.t


def put_in_loop(x):
    OUTER.t, taken = 1.0, 0
    for v in x:
        try:
            OUTER.put(v)
        except ValueError:
            taken += 1
            OUTER.n = 5.0
    return OUTER.t + OUTER.n * taken


def returns_from_try(s):
    k, values = 0, [1.0, 2.0]
    while k < 4 and s != OUTER.t:
        k += 1
        try:
            OUTER.put(s)
            return values[0] + k
        except ValueError:
            values[1] = 3.0
    return values[1]


@pytest.mark.parametrize("function", [put_into_object, put_in_loop, returns_from_try])
def test_bodies_change_objects_where_they_raise_nothing(function):
    compiled = ng.graph_jit(function)
    for s in (1.5, 2.5, -1.0):
        given = X * s if function is put_in_loop else s
        OUTER.t, OUTER.n = 1.0, 0.0
        expected, state = function(given), dict(vars(OUTER))
        OUTER.t, OUTER.n = 1.0, 0.0
        assert compiled(given) == expected
        assert vars(OUTER) == state


def test_errors_that_are_known_keep_what_has_changed():
    def run(s):
        found = s
        try:
            OUTER.count(4.0)
        except ValueError:
            found = -s
        return found

    compiled = ng.graph_jit(run)
    OUTER.n = 0.0
    assert [compiled(1.5), compiled(2.5)] == [-1.5, -2.5]
    assert OUTER.n == 2.0


def counts_and_raises(s):
    held = Held(s)
    try:
        held.count(s)
    except ValueError:
        s = 0.0
    return held.n + s


def counts_outside(s):
    try:
        OUTER.count(s)
    except ValueError:
        s = 0.0
    return OUTER.n + s


def changes_a_dict(s):
    known = {"a": 1.0}

    def change(v):
        known["a"] = v
        return OUTER.put(v)

    try:
        change(s)
    except ValueError:
        s = 0.0
    return known["a"] + s


def appends(s):
    found = [1.0]

    def change(v):
        found.append(v)
        return OUTER.put(v)

    try:
        change(s)
    except ValueError:
        s = 0.0
    return len(found) + s


def counts_before_a_known_error(s):
    held = Held(s)

    def change(v):
        if v < 0:
            raise ValueError("negative")
        held.n += 1
        raise ValueError("known")

    try:
        change(s)
    except ValueError:
        s = 0.0
    return held.n + s


@pytest.mark.parametrize(
    "function", [counts_before_a_known_error, counts_and_raises, counts_outside, changes_a_dict, appends]
)
def test_what_has_changed_before_an_error_is_refused(function):
    with pytest.raises(ng.TraceError):
        ng.graph_jit(function)(3.0)
