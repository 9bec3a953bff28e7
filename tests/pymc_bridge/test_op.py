"""`to_pytensor`: NumPy functions as ops of PyTensor, their derivatives, and their graphs in models."""

import doctest
import pickle
import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from pytensor.graph.replace import vectorize_graph  # noqa: E402
from scipy.integrate import odeint  # noqa: E402
from scipy.optimize import bisect  # noqa: E402

from numbagraph import TraceError, custom_vjp, graph_jit  # noqa: E402
from numbagraph.ir.shapes import ShapeError  # noqa: E402
from numbagraph.pymc_bridge import compile_logp, compile_model, from_pytensor, function_op, to_pytensor  # noqa: E402
from numbagraph.pymc_bridge.function_op import FunctionOp  # noqa: E402

PLAIN = Mode(linker="py", optimizer="fast_compile")
"""PyTensor's Python code: the op's own `perform` runs."""
MODES = pytest.mark.parametrize("mode", [PLAIN, "NUMBAGRAPH"], ids=["perform", "native"])

x, y, m = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")
X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.25, -0.5])
DATA = np.array([1.0, 2.0, 4.0])


@graph_jit
def energy(position, scale, *, power=2):
    """A tree of arguments, a number, and a keyword; a tree of results, of which one is no array."""
    ratio = position["x"] / scale
    return {"sum": np.sum(ratio**power), "both": position["x"] * position["y"], "power": power}


def misfit(v):
    return -0.5 * np.sum((v - DATA) ** 2)


def compiled(inputs, outputs, mode):
    return pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")


@MODES
def test_trees(mode):
    found = to_pytensor(energy)({"x": x, "y": y}, 2.0, power=3)
    assert set(found) == {"sum", "both", "power"}
    assert found["power"] == 3
    total, both = compiled([x, y], [found["sum"], found["both"]], mode)(X, Y)
    assert isinstance(total, np.ndarray)
    np.testing.assert_allclose(total, np.sum((X / 2) ** 3))
    np.testing.assert_array_equal(both, X * Y)


@MODES
def test_gradients(mode):
    found = to_pytensor(energy)({"x": x, "y": y}, 2.0)
    cost = found["sum"] * found["both"].sum()
    gradients = compiled([x, y], pytensor.grad(cost, [x, y]), mode)(X, Y)
    total, product = np.sum(X**2) / 4, np.sum(X * Y)
    np.testing.assert_allclose(gradients[0], X / 2 * product + total * Y)
    np.testing.assert_allclose(gradients[1], total * X)


@MODES
def test_second_derivatives(mode):
    cost = to_pytensor(lambda v: np.sum(np.sin(v) * v))(x)
    second = pytensor.grad(pytensor.grad(cost, x).sum(), x)
    np.testing.assert_allclose(compiled([x], second, mode)(X), 2 * np.cos(X) - X * np.sin(X))


def test_results_that_are_equal_have_memory_of_their_own():
    total = to_pytensor(lambda a, b: (a + b, a + b))
    for mode in (PLAIN, "NUMBAGRAPH"):
        first, second = compiled([x, y], total(x, y), mode)(X, Y)
        np.testing.assert_array_equal(first, second)
        assert not np.may_share_memory(first, second)
    both = pytensor.grad((total(x, y)[0] ** 2).sum(), [x, y])
    np.testing.assert_allclose(compiled([x, y], both, PLAIN)(X, Y), [2 * (X + Y)] * 2)


def test_a_rule_of_ones_own():
    @custom_vjp
    def double(v):
        return 2 * v

    double.defvjp(lambda v: (2 * v, None), lambda residuals, g: (g * 7,))
    gradient = pytensor.grad(to_pytensor(double)(x).sum(), x)
    for mode in (PLAIN, "NUMBAGRAPH"):
        np.testing.assert_array_equal(compiled([x], gradient, mode)(X), np.full(3, 7.0))


def test_integers_have_a_gradient_of_zeros():
    k = pt.ivector("k")
    cost = to_pytensor(lambda count, v: np.sum(count * v))(k, x)
    gradients = compiled([k, x], pytensor.grad(cost, [k, x]), PLAIN)(np.arange(3, dtype=np.int32), X)
    np.testing.assert_array_equal(gradients, [np.zeros(3), np.arange(3)])


def test_types():
    single, column = pt.tensor("s", dtype="float32", shape=(4, 1)), pt.tensor("c", dtype="float64", shape=(None, 1))
    half = to_pytensor(lambda v: 0.5 * v)
    assert half(single).type == pt.tensor(dtype="float32", shape=(4, 1)).type, "a Python number has no dtype"
    assert to_pytensor(lambda v, w: v * w)(single, np.arange(3.0)).type.shape == (4, 3)
    assert half(column).type.shape == (None, 1)
    assert to_pytensor(np.argmax)(x).type == pt.lscalar
    assert to_pytensor(lambda v: np.stack([v[0], v[-1]]))(x).type.shape == (2,)


def test_any_length_may_be_one():
    """PyTensor's types do not say that a length is not 1."""
    total = to_pytensor(lambda v, w: v + w)(x, y)
    assert compiled([x, y], total, PLAIN)(X, Y[:1]).shape == (3,)


def test_lengths_are_those_of_the_arguments():
    cumulated = to_pytensor(np.cumsum)(x)
    function = compiled([x], cumulated.shape[0], "NUMBAGRAPH")
    assert function(X) == 3
    assert not any(isinstance(node.op, FunctionOp) for node in function.maker.fgraph.toposort())


def test_equal_calls_are_one():
    function = to_pytensor(energy)
    first, second = function({"x": x, "y": y}, 2.0), function({"x": x, "y": y}, 2.0)
    assert first["sum"].owner.op == second["sum"].owner.op
    assert first["sum"].owner.op != function({"x": x, "y": y}, 2)["sum"].owner.op, "2 and 2.0 have other dtypes"
    run = compiled([x, y], [first["sum"], second["sum"]], PLAIN)
    assert sum(isinstance(node.op, FunctionOp) for node in run.maker.fgraph.toposort()) == 1


def test_pickled():
    total = to_pytensor(energy)({"x": x, "y": y}, 2.0)["sum"]
    op = total.owner.op
    assert pickle.loads(pickle.dumps(op)) == op
    gradient = pytensor.grad(total, x).owner.op
    assert pickle.loads(pickle.dumps(gradient)) == gradient


def test_imported_as_its_graph():
    graph = from_pytensor([x], [pt.exp(to_pytensor(misfit)(x))])
    assert "captured" in str(graph)
    assert {value.op.name for value in graph.order if hasattr(value, "op")} >= {"exp", "sum", "square"}


def test_batches():
    cumulated = to_pytensor(lambda v, scale: np.cumsum(v) * scale)(x, y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*will be wrapped in Blockwise")
        batch = vectorize_graph(cumulated, {x: m})
    rows = np.stack([X, Y])
    np.testing.assert_allclose(compiled([m, y], batch, "NUMBAGRAPH")(rows, Y), np.cumsum(rows, axis=1) * Y)


def models():
    """The same model three times: with PyTensor's operations, with a potential, with a distribution."""
    with pm.Model() as plain:
        v = pm.Normal("v", shape=3)
        pm.Potential("p", -0.5 * pt.sum((v - DATA) ** 2))
    with pm.Model() as potential:
        v = pm.Normal("v", shape=3)
        pm.Potential("p", to_pytensor(misfit)(v))
    with pm.Model() as distribution:
        v = pm.Normal("v", shape=3)
        logp = to_pytensor(lambda value, mu: -0.5 * (value - mu) ** 2)
        pm.CustomDist("p", v, logp=lambda value, mu: logp(value, mu), observed=DATA)
    return plain, potential, distribution


def test_models():
    plain, *others = models()
    value, gradient = compile_logp(plain)(X)
    for model in others:
        found = compile_logp(model)(X)
        np.testing.assert_allclose(found[0], value, rtol=1e-13)
        np.testing.assert_allclose(found[1], gradient, rtol=1e-12)
        reference = model.logp_dlogp_function(ravel_inputs=True, mode=PLAIN)
        reference.set_extra_values({})
        np.testing.assert_allclose(reference(X)[1], gradient, rtol=1e-12)


def test_sampled():
    import nutpie

    trace = nutpie.sample(
        compile_model(models()[1]), draws=400, tune=300, chains=2, seed=1, progress_bar=False, cores=1
    )
    np.testing.assert_allclose(trace.posterior["v"].mean(("chain", "draw")), DATA / 2, atol=0.15)


@MODES
def test_shapes_that_do_not_fit(mode):
    run = compiled([x, y], to_pytensor(lambda v, w: v + w)(x, y), mode)
    with pytest.raises(ShapeError, match="could not be broadcast"):
        run(X, Y[:2])


def test_errors():
    with pytest.raises(TypeError, match=r"'h' .*float16 is not supported"):
        to_pytensor(misfit)(pt.tensor("h", dtype="float16", shape=(3,)))
    with pytest.raises(TypeError, match="gives no arrays"):
        to_pytensor(lambda v: 3)(x)
    with pytest.raises(TypeError, match="ambiguous"):
        to_pytensor(lambda v: v if v > 0 else -v)(x)


def test_backends():
    function = graph_jit(misfit, backend="numpy")
    np.testing.assert_allclose(compiled([x], to_pytensor(function)(x), PLAIN)(X), misfit(X))


def test_examples_of_docstrings():
    results = doctest.testmod(function_op)
    assert results.attempted
    assert not results.failed


def halvings(x):
    """How often the number is halved until it is below 1, and what is left."""
    count = 0
    while x > 1.0:
        if count % 2:
            x = x / 2
        else:
            x = 0.4 * x
        count += 1
    return x * (1 + count)


def cube_root(a):
    return bisect(lambda x: x**3 - a, 0.0, 50.0)


@MODES
@pytest.mark.parametrize(
    ("function", "slope"), [(halvings, 0.4 * 0.5 * 0.4 * 0.5 * 5), (cube_root, 20 ** (-2 / 3) / 3)]
)
def test_loops_branches_and_solvers_are_captured(function, slope, mode):
    number = pt.dscalar("number")
    found = to_pytensor(function)(number)
    both = compiled([number], [found, pytensor.grad(found, number)], mode)(20.0)
    np.testing.assert_allclose(both, [function(20.0), slope], rtol=1e-9)


def differences(start, rates):
    """Takes the elements of arguments one by one, so that lengths must be known."""
    first, second = rates
    return [each * first - second for each in start]


@MODES
def test_lengths_that_pytensor_knows(mode):
    rates = pt.dvector("rates", shape=(2,))
    start = pt.dvector("start", shape=(3,))
    values = {start: X, rates: DATA[:2]}
    results = to_pytensor(differences)(start, rates)
    gradient = pytensor.gradient.grad(sum(results) ** 2, rates)
    *found, slope = pytensor.function(list(values), [*results, gradient], mode=mode)(*values.values())
    np.testing.assert_allclose(found, X - 2.0)
    np.testing.assert_allclose(slope, 2 * (X.sum() - 6.0) * np.array([X.sum(), -3.0]))


def test_lengths_that_nobody_knows():
    with pytest.raises(TraceError, match="cannot return a list whose length PyTensor does not know"):
        to_pytensor(differences)(x, pt.dvector("rates"))


def test_views_of_choices_between_integers():
    with pm.Model() as model:
        p = pm.Normal("p", shape=3)
        pm.Potential("q", pt.sum(to_pytensor(lambda x: x * np.where(x[0] > 0, np.arange(3), 0)[::-1])(p)))
    at = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(compile_logp(model)(at)[1], [2.0, 1.0, 0.0] - at)


def test_lengths_of_captured_arrays_are_constants():
    """Loops of LSODA carry parts of tables that it captures."""

    def decay(rate):
        return odeint(lambda y, t: -rate * y, [1.0], [0.0, 1.0], rtol=1e-9, atol=1e-9)[-1, 0]

    with pm.Model() as model:
        pm.Potential("q", to_pytensor(decay)(pm.Flat("rate")))
    value = compile_logp(model, gradient=False)(np.array([0.7]))
    np.testing.assert_allclose(value, np.exp(-0.7), rtol=1e-7)
