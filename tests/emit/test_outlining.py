"""Long straight lines of numbers are several functions of LLVM's, with the same results."""

import numpy as np
import pytest

from asv_benchmarks.growth_programs import lines_of
from numbagraph import fori_loop, grad, graph_jit, vmap
from numbagraph.emit.outlining import MOST


def line(count):
    """Numbers that follow from each other and, far behind, from the first ones, with a check now and then."""
    body = ["u, w = x * 0.5, x + 1.0", "v = u"]
    for number in range(count):
        body.append(f"v = (v * 0.5 + w) * {1 - number % 7 / 8}" if number % 3 else "v = np.sin(v) - u")
    return lines_of("x", body, "(v, u, v > w)")


PROGRAM = line(MOST)


def test_results_are_those_of_numpy():
    compiled = graph_jit(PROGRAM)
    assert ".piece" in compiled.llvm(0.25, optimised=False)
    for x in (0.25, -3.0, np.inf, np.nan):
        with np.errstate(all="ignore"):
            expected = PROGRAM(x)
        for result, one in zip(compiled(x), expected, strict=True):
            np.testing.assert_allclose(result, one, rtol=1e-12)


def test_derivatives_batches_and_loops_have_them_too():
    def value(x):
        return PROGRAM(x)[0]

    h = 1e-6
    slope = (value(0.3 + h) - value(0.3 - h)) / (2 * h)
    np.testing.assert_allclose(graph_jit(grad(value))(0.3), slope, rtol=1e-6)
    xs = np.linspace(-1.0, 1.0, 3)
    np.testing.assert_allclose(graph_jit(vmap(value))(xs), [value(x) for x in xs], rtol=1e-12)
    looped = graph_jit(lambda x: fori_loop(0, 3, lambda _, u: value(u) * 0.5, x))
    expected = 0.3
    for _ in range(3):
        expected = value(expected) * 0.5
    np.testing.assert_allclose(looped(0.3), expected, rtol=1e-12)


@pytest.mark.parametrize("count", [1, MOST // 4])
def test_short_lines_stay_as_they_are(count):
    assert ".piece" not in graph_jit(line(count)).llvm(0.25, optimised=False)
