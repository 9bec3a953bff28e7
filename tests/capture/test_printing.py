"""What functions print in loops and branches is what Python prints."""

import contextlib
import logging
import warnings

import numpy as np
import pytest

import numbagraph as ng

X = np.array([5.0, -1.0, 2.5])


def steps(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        print(i, x[i], s)
    return s


def branches(x):
    for i in range(len(x)):
        if x[i] < 0:
            print("negative:", i, end=";\n")
        elif x[i] > 4:
            print(f"large {x[i]:.2f} at {i:03d} {{}}", x > 0, sep=" | ")
    print("end", len(x))
    return x.sum()


def nested(x):
    k = 0
    while k < 2:
        print("outer", k)
        for v in x:
            if v > 0:
                print(" ", v, [v, k], {"k": k})
                if v > 4:
                    continue
            print("-")
        k += 1
    print(x * 2, k > 1, 1.5, "text")
    return k


def helper(v):
    print("helper", v)
    return v * 2


def called(x):
    s = 0.0
    for v in x:
        s += helper(v)
        if s > 9:
            print("enough")
            break
    return s


def raising(x):
    for i in range(len(x)):
        print("step", i)
        if i > 5:
            raise ValueError("more than six")
    return 1.0


FUNCTIONS = (steps, branches, nested, called, raising)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_prints(function, backend, capsys):
    compiled = ng.graph_jit(function, backend=backend)
    compiled(X)  # before it is known that loops are captured, what comes before the first one is printed once more
    capsys.readouterr()
    for x in (X, X, X[:1], X[:0], -X):
        expected = function(x)
        wanted = capsys.readouterr().out
        assert compiled(x) == expected
        assert capsys.readouterr().out == wanted


def test_what_cannot_be_printed_is_refused(capsys):
    def maybe(x):
        last = None
        for v in x:
            last = v
        print(last)
        return 1.0

    def to_a_file(x, file):
        for v in x:
            print(v, file=file)
        return 1.0

    def in_a_condition(x):
        k = 0
        while k < x[0] and helper(x[k]) > 0:
            k += 1
        return k

    def in_a_list(x):
        return np.array([helper(v) for v in x])

    for function, message in (
        (maybe, "may be None"),
        (lambda x: to_a_file(x, object()), "file="),
        (in_a_condition, "the condition of a loop has an effect"),
        (in_a_list, "no place in the order of prints"),
    ):
        with pytest.raises(ng.TraceError, match=message) as caught:
            ng.graph_jit(function)(X)
        assert "test_printing" in str(caught.value)
    assert capsys.readouterr().out == ""


def test_warnings_and_logs_are_those_of_the_branch_that_is_taken(caplog):
    logger = logging.getLogger("tests.prints")

    def checked(x):
        if np.any(x > 1):
            warnings.warn(f"up to {x.max():.2f}", RuntimeWarning, stacklevel=2)
        for i, v in enumerate(x):
            if v > 5:
                logger.warning("element %s is %.1f", i, v)
            elif v < -5:
                logging.error(f"element {i} is {v:.2f}")  # noqa: G004, LOG015
        return 2 * x

    compiled = ng.graph_jit(checked)
    for x in (np.zeros(3), np.array([0.0, 2.0, 6.0]), np.array([-6.0, 1.0]), np.array([7.0, 8.0]), np.zeros(1)):
        seen = []
        for function in (checked, compiled):
            caplog.clear()
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                np.testing.assert_array_equal(function(x), 2 * x)
            seen.append(([(str(each.message), each.category) for each in warned], caplog.record_tuples))
        assert seen[0] == seen[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(np.zeros(2)), np.zeros(2))
        with pytest.raises(RuntimeWarning, match=r"up to 3\.00"):
            compiled(np.array([3.0, 0.0]))


def test_calls_that_fail_print_once(capsys):
    """Native code that has failed is not run again for the error."""

    def picked(x, places):
        total = 0.0
        for k in range(len(places)):
            print("place", k)
            total += x[places[k]]
        return total

    compiled = ng.graph_jit(picked)
    for places in ([0, 1], [1, 0, 2], [2, 7, 1], [0, 9], [1, 1]):
        printed = []
        for function in (picked, compiled):
            with contextlib.suppress(IndexError):
                function(X, np.array(places))
            printed.append(capsys.readouterr().out)
        assert printed[0].startswith(printed[1])
        assert len(printed[0].splitlines()) - len(printed[1].splitlines()) <= 1  # the step that fails may print nothing
