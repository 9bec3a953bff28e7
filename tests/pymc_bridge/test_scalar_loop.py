"""Loops of functions of numbers (`ScalarLoop`), and the derivatives that PyTensor computes by them."""

import numpy as np
import pytest

pytest.importorskip("pymc")

import pytensor
import pytensor.tensor as pt
from pytensor import scalar as ps
from pytensor.compile.mode import Mode
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise

from numbagraph.pymc_bridge.graph_partition import Partition, divide

PLAIN = Mode(linker="py", optimizer="fast_compile")
a, b, c = ps.float64("a"), ps.float64("b"), ps.float64("c")
n, x, y = pt.lvector("n"), pt.dvector("x"), pt.dcol("y")

FIXED = Elemwise(ScalarLoop(init=[a, b], update=[a * c + b, ps.sin(b)], constant=[c]))
UNTIL = Elemwise(ScalarLoop(init=[a, b], update=[a + b * c, b * 0.5], constant=[c], until=a > 3.0))
X, Y = np.array([0.3, 1.4, -0.2]), np.array([[0.5], [1.1]])
STEPS = np.array([0, 3, 20])


@pytest.fixture(autouse=True)
def without_a_c_compiler():
    with pytensor.config.change_flags(cxx=""):
        yield


def compare(inputs, outputs, *args):
    ours, plain = (pytensor.function(inputs, outputs, mode=mode) for mode in ("NUMBAGRAPH", PLAIN))
    graph = ours.maker.fgraph
    assert all(isinstance(each, Partition) for each in divide(graph, graph.toposort(), "test").steps)
    for found, expected in zip(ours(*args), plain(*args), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("loop", [FIXED, UNTIL], ids=["fixed", "until"])
def test_each_element_takes_its_steps(loop):
    compare([n, x, y], loop(n, x, y, 0.9)[:2], STEPS, X, Y)
    compare([x, y], loop(pt.constant(4), x[0], y[0, 0], x[1])[:2], X, Y)


def test_whether_a_condition_ended_a_loop():
    compare([n, x, y], UNTIL(n, x, y, 0.9), STEPS[1:], X[1:], Y)
    done = pytensor.function([n, x, y], UNTIL(n, x, y, 0.9)[2], mode="NUMBAGRAPH")
    np.testing.assert_array_equal(done(STEPS[:1], X[:1], Y), np.ones((2, 1), bool))


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_derivatives_by_series(name):
    k, point = np.array([0.4, 1.5, 6.0, 3.0]), np.array([0.7, 0.2, 9.0, 2.5])
    order = pt.dvector("order")
    total = getattr(pt, name)(order, x).sum()
    compare([order, x], pytensor.grad(total, [order, x]), k, point)


def test_derivatives_of_the_incomplete_beta_function():
    p, q, point = np.array([0.4, 1.5, 6.0]), np.array([0.7, 2.2, 9.0]), np.array([0.3, 0.5, 0.9])
    first, second = pt.dvector("p"), pt.dvector("q")
    total = pt.betainc(first, second, x).sum()
    compare([first, second, x], pytensor.grad(total, [first, second, x]), p, q, point)
