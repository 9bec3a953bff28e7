"""Lengths that follow from elements of arrays: the mode computes them in a native function that comes before."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.builders import OpFromGraph  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402

from numbagraph.pymc_bridge import FallbackWarning, UnsupportedOp, compile_logp, compile_model  # noqa: E402
from numbagraph.pymc_bridge.compatibility import conditional  # noqa: E402
from numbagraph.pymc_bridge.graph_partition import Partition, divide  # noqa: E402

PLAIN = Mode(linker="py", optimizer=None)
x, i = pt.dvector("x"), pt.lvector("i")
X, COUNTS = np.array([1.0, 5.0, -2.0, 4.0, 3.0, 0.5]), np.array([1, 2, 2])
count = pt.lscalar("count")
place = x[: i.max()].argmax()

NATIVE = {
    "arange": pt.arange(i.max()),
    "slices": x[: i.max()] * 2,
    "slices from": x[i.min() :],
    "bincount": pt.bincount(i),
    "scatter": pt.inc_subtensor(pt.zeros(i.max() + 1)[i], x[:3]),
    "set": pt.set_subtensor(x[: i.sum()], 3.0),
    "full": pt.full((i.sum(), 2), x[0]) + 1,
    "eye": pt.eye(i.max() + 1) @ pt.full((i.max() + 1, 2), x[1]),
    "one-hot": pt.eq(pt.arange(i.max() + 1), i[:, None]).astype("float64"),
    "linspace": pt.linspace(0.0, 1.0, i.sum()),
    "rolled": pt.roll(x, i.sum()),
    "checked": pt.specify_shape(x, (pt.clip(i, 0, 2).sum() + 1,)) * 2,
    "derivative": pytensor.grad((x[: i.max()] ** 3).sum(), x),
    "twice": x[: place + 1] * pt.arange(1 + place),
    "rest": x.reshape((i.max(), -1)),
    "vector": x.reshape(i[:2] * pt.as_tensor([1, 3]), ndim=2),
    "rest in a vector": x.reshape(pt.minimum(i[:2], 1) * pt.as_tensor([2, -1]), ndim=2),
    "vector of unknown length": x.reshape(pt.concatenate([i[1:2], -pt.ones(1, dtype="int64")]), ndim=2),
    "given to a graph inside": OpFromGraph([x, count], [x[:count] * 2])(x, i.max()),
    "inside": OpFromGraph([x, i], [x[: i.max()] * 2])(x, i),
}
FOREIGN = {
    "branch": conditional.ifelse(pt.gt(x[0], 0), x[: i.max()].sum(), pt.constant(0.0, dtype="float64")),
}


def functions(result):
    inputs = [x, i]
    return [pytensor.function(inputs, result, mode=mode, on_unused_input="ignore") for mode in ("NUMBAGRAPH", PLAIN)]


def same(result, ours, plain):
    for data in ((X, COUNTS), (X, np.array([1, 2, 3]))):
        found, expected = ours(*data), plain(*data)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("name", NATIVE)
def test_native_code_all_the_same(name):
    ours, plain = functions(NATIVE[name])
    same(NATIVE[name], ours, plain)
    graph = ours.maker.fgraph
    assert all(isinstance(each, Partition) for each in divide(graph, graph.toposort(), "test").steps)


@pytest.mark.parametrize("name", FOREIGN)
def test_where_no_number_can_be_computed_before(name):
    with pytest.warns(FallbackWarning, match="a length .*follows from elements"):
        ours, plain = functions(FOREIGN[name])
    same(FOREIGN[name], ours, plain)


def test_lengths_that_do_not_fit():
    ours, plain = functions(x.reshape(pt.minimum(i[:2], 1) * pt.as_tensor([4, -1]), ndim=2))
    for each in (ours, plain):
        with pytest.raises(ValueError, match=r"reshape|size"):
            each(X, COUNTS)


@pytest.mark.parametrize(
    "given",
    [
        pt.specify_shape(x, (4,)),
        pt.split(x, splits_size=pt.as_tensor([3, 1]), n_splits=2)[0],
        x + pt.as_tensor([1.0, 2.0, 3.0, 4.0]),
    ],
    ids=["checked", "split", "added"],
)
def test_errors_of_what_a_graph_inside_does_not_use(given):
    """PyTensor, which decides where native code refuses lengths, removes such values once that graph is inlined."""
    inside = OpFromGraph([x, i], [x.sum(), i * 2])
    for each in functions(inside(given, i)[1]):
        np.testing.assert_array_equal(each(X[:4], COUNTS), COUNTS * 2)
        with pytest.raises((AssertionError, ValueError)):
            each(X, COUNTS)


def test_no_errors_of_what_a_branch_that_is_not_taken_gives_a_graph_inside():
    shifted = x + pt.as_tensor([1.0, 2.0, 3.0, 4.0])
    inside = OpFromGraph([x], [x * 2])
    ours, plain = functions(conditional.ifelse(pt.gt(i[0], 0), inside(shifted), x))
    taken, left = np.array([1, 1, 1]), np.array([0, 1, 1])
    np.testing.assert_array_equal(ours(X[:4], taken), plain(X[:4], taken))
    with pytest.warns(FallbackWarning, match="could not be broadcast"):
        np.testing.assert_array_equal(ours(X, left), X)
    for each in (ours, plain):
        with pytest.raises(ValueError, match="broadcast"):
            each(X, taken)


def test_a_model_of_groups_that_are_counted():
    """Constant data are counted before; for data that may change the density needs the lengths before it runs."""
    with pm.Model() as model:
        group = pm.Data("group", np.array([0, 1, 2, 2]))
        mean = pm.Normal("mean", 0, 1, shape=3)
        sizes = pt.bincount(group)
        pm.Normal("seen", mean[group], 1 / pt.sqrt(sizes[group]), observed=pm.Data("y", np.arange(4.0)))
    point = np.array([0.5, -0.25, 1.5])
    value, gradient = compile_logp(model)(point)
    reference = model.logp_dlogp_function(ravel_inputs=True, mode=Mode(linker="py", optimizer="fast_compile"))
    reference.set_extra_values({})
    expected, derivative = reference(point)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, derivative, rtol=1e-12)
    for compile_it in (compile_logp, compile_model):
        with pytest.raises(UnsupportedOp, match=r"(?s)a length of .*test_lengths.py:") as caught:
            compile_it(model, freeze=False)
        assert "With freeze=True" in "".join(caught.value.__notes__)
