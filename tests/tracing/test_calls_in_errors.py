"""Errors of shapes and indices name the calls that lead to the line, outermost first, and show the line itself."""

import re
from pathlib import Path

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import graph_jit

W = np.ones((3, 4))
X = np.arange(5.0)
LINES = Path(__file__).read_text().splitlines()


def line(marker):
    """The number of the one line that ends in a comment with this name."""
    (found,) = [number for number, each in enumerate(LINES, 1) if each.endswith(f"# {marker}")]
    return found


def places(error):
    """The lines and names of the calls that an error lists first, and the code that it shows."""
    _, *rest = str(error).split("\n  at ")
    found, shown = [], ""
    for each in rest:
        place, _, behind = each.partition("\n")
        found.append(tuple(re.fullmatch(rf"{re.escape(__file__)}:(\d+)(?:, in (.*))?", place).groups()))
        if behind:
            shown = behind.partition("\n  in ")[0].strip()
            break
    return [(int(number), name) for number, name in found], shown


def layer(x):
    return W @ x  # layer


def loss(p):
    return np.sum(layer(p))  # loss


def eighth(y):
    return (y * 2)[7]  # eighth


def element(y, i):
    return (y * 2)[i]  # element


def summed(y, n):
    total = 0.0
    for k in range(n):
        if total > -1.0:
            total += element(y, k)  # summed
    return total


def of_scan(y):
    return ng.fori_loop(0, 9, lambda k, c: c + element(y, k), 0.0)  # of_scan


def spread(y, z):
    return np.sin(
        np.cos(y)
        + (
            y  # spread
            * z
        )
    )


def twice(x):
    return loss(x), 2  # twice


compiled_loss = graph_jit(loss)


def of_compiled(x):
    return compiled_loss(x) + 1.0  # of_compiled


LAYER = ("layer", "return W @ x  # layer")
CASES = {
    "shapes": (loss, (X,), ng.errors.ShapeError, ["loss", "layer"]),
    "a derivative": (ng.grad(loss), (X,), ng.errors.ShapeError, ["loss", "layer"]),
    "a batch": (ng.vmap(loss), (np.ones((2, 5)),), ng.errors.ShapeError, ["loss", "layer"]),
    "a compiled function inside": (of_compiled, (X,), ng.errors.ShapeError, ["of_compiled", "loss", "layer"]),
    "an index that is known": (lambda y: eighth(y), (X,), IndexError, ["eighth"]),
    "an index": (lambda y, i: element(y, i), (X, 6), IndexError, ["element"]),
    "an index in a loop": (summed, (X, 6), IndexError, ["summed", "element"]),
    "an index in a loop that is called": (of_scan, (X,), IndexError, ["of_scan", "element"]),
}


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("case", CASES)
def test_the_calls(case, backend):
    function, args, kind, names = CASES[case]
    compiled = graph_jit(function, backend=backend)
    for _ in range(2):  # the first call compiles
        with pytest.raises(kind) as caught:
            compiled(*args)
        found, shown = places(caught.value)
        own = [each for each in found if each[1] != "<lambda>"]
        assert own == [(line(each), each) for each in names]
        assert shown == LINES[line(names[-1]) - 1].strip()


def test_the_calls_after_calls_that_were_right():
    compiled = graph_jit(twice)
    np.testing.assert_array_equal(compiled(np.ones(4))[0], 12.0)
    with pytest.raises(ng.errors.ShapeError, match=r"inner lengths of \(3, 4\) and \(5,\)") as caught:
        compiled(X)
    assert places(caught.value)[0] == [(line(each), each) for each in ("twice", "loss", "layer")]


def test_an_expression_on_several_lines():
    with pytest.raises(ng.errors.ShapeError) as caught:
        graph_jit(spread)(X, X[:3])
    found, shown = places(caught.value)
    assert found == [(line("spread"), None)]
    assert [each.strip() for each in shown.splitlines()] == ["y  # spread", "* z"]


def doubled_until(y, n):
    total = 0.0
    for k in range(n):
        total = total * 0.5 + y[k]  # doubled_until
    return total


def one_caller(y, n):
    return doubled_until(y, n)  # one_caller


def other_caller(y, n):
    return doubled_until(y, n)  # other_caller


@pytest.mark.parametrize(("lengths", "caller"), [((9, 8), "one_caller"), ((8, 9), "other_caller")])
def test_a_loop_that_two_functions_share(lengths, caller):
    compiled = graph_jit(lambda y, m, n: one_caller(y, m) - other_caller(y, n))
    assert compiled(np.ones(8), 8, 8) == 0.0
    with pytest.raises(IndexError, match="index 8 is out of bounds") as caught:
        compiled(np.ones(8), *lengths)
    named = {each for each in ("one_caller", "other_caller") if f"in {each}\n" in str(caught.value)}
    assert named == {caller}


def test_calls_of_deep_recursion_are_limited():
    def down(x, k):
        return down(x, k - 1) if k else x[7]

    with pytest.raises(IndexError) as caught:
        graph_jit(lambda x: down(x, 200))(X)
    assert 10 < str(caught.value).count("\n  at ") < 60
