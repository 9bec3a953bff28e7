"""What functions print in loops and branches is what Python prints."""

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
        assert "test_capture_prints" in str(caught.value)
    assert capsys.readouterr().out == ""
