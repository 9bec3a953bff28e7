"""`ifelse` in models: values, derivatives and errors are those of the branch that is taken, whatever the other does."""

import time
import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc.logprob.utils import ParameterValueError  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402

from numbagraph.ir.values import Node  # noqa: E402
from numbagraph.pymc_bridge import FallbackWarning, UnsupportedOp, compile_logp, from_pytensor  # noqa: E402
from numbagraph.pymc_bridge.compatibility import conditional  # noqa: E402

PLAIN = Mode(linker="py", optimizer="None")
INDEX = np.array([0, 1, 1])


def symmetric(x):
    return pt.stacklists([[1.0, x[0]], [x[0], 1.0]])


def diagonal(x):
    return pt.diag(pt.stack([x[0], 1.0]))


def density(x):
    return pm.logp(pm.Normal.dist(0.0, x[0]), 1.0)


def nested(x):
    return conditional.ifelse(x[1] > 0, pt.log(x[0]) + pt.log(x[1]), pt.log(x[0]) - x[1] ** 2)


def twice(x):
    root = pt.sqrt(x[0])
    return conditional.ifelse(x[1] > 0, root, -root) + conditional.ifelse(x[1] > 1, root**3, 2 * root)


FUNCTIONS = {
    "cholesky": lambda x: pt.log(pt.diag(pt.linalg.cholesky(symmetric(x) * x[0]))).sum(),
    "inverse": lambda x: pt.linalg.inv(diagonal(x)).sum(),
    "eigenvalues": lambda x: pt.linalg.eigh(symmetric(pt.log(x)))[0][0],
    "singular values": lambda x: pt.linalg.svd(symmetric(pt.log(x)), compute_uv=False)[0],
    "solution": lambda x: pt.linalg.solve(diagonal(x), x).sum(),
    "logarithm": lambda x: pt.log(x[0]) * x[1],
    "square root": lambda x: pt.sqrt(x[0]) * x[1],
    "quotient": lambda x: pt.sin(x[0]) / x[0],
    "parameter": density,
    "index": lambda x: x[pt.cast(x[0] * INDEX - 10 * (x[0] <= 0), "int64")].sum(),
    "number as an index": lambda x: x[pt.cast(x[0] - 10 * (x[0] <= 0), "int64")],
    "branches in a branch": nested,
    "one value in several branches": twice,
}
"""Functions of ``x`` that are to be evaluated where ``x[0]`` is positive."""

POINTS = ([0.9, 0.5], [0.9, -0.5], [0.0, 0.5], [-0.5, 0.5], [-2.0, -0.5])


def otherwise(x):
    return -pt.sum(x**2)


def model_of(potential):
    with pm.Model() as model:
        pm.Potential("p", potential(pm.Flat("x", shape=2)))
    return model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_those_of_the_branch(name):
    function = FUNCTIONS[name]
    model = model_of(lambda x: conditional.ifelse(x[0] > 0, function(x), otherwise(x)))
    alone = [model_of(each).logp_dlogp_function(ravel_inputs=True, mode=PLAIN) for each in (otherwise, function)]
    compiled, in_mode = compile_logp(model), model.compile_logp(mode="NUMBAGRAPH")
    for x in map(np.array, POINTS):
        branch = alone[int(x[0] > 0)]
        branch.set_extra_values({})
        expected, gradient = branch(x)
        value, derivatives = compiled(x)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(derivatives, gradient, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(in_mode({"x": x}), expected, rtol=1e-12)


def test_a_branch_that_is_taken_fails_as_before():
    compiled = compile_logp(model_of(lambda x: conditional.ifelse(x[1] > 0, density(x), otherwise(x))))
    with pytest.raises(ParameterValueError, match="sigma > 0"):
        compiled(np.array([-1.0, 1.0]))
    assert compiled(np.array([-1.0, -1.0]))[0] == -2.0
    x = pt.dmatrix("x")
    inverse = pytensor.function([x], conditional.ifelse(x[0, 0] > 0, pt.linalg.inv(x), x), mode="NUMBAGRAPH")
    np.testing.assert_array_equal(inverse(np.zeros((2, 2))), np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        inverse(np.ones((2, 2)))


def names(graph):
    return {each.op.name for each in graph.order if isinstance(each, Node)}


def test_what_a_branch_alone_needs_is_in_it():
    """Of a value that is there anyhow, one is chosen."""
    x, y, s = pt.dmatrix("x"), pt.dmatrix("y"), pt.dscalar("s")
    root = pt.linalg.cholesky(x)
    chosen = conditional.ifelse(s > 0, root @ y, y * 2)
    assert not names(from_pytensor([x, y, s], [chosen])) & {"cholesky", "matmul", "where"}
    assert "cholesky" in names(from_pytensor([x, y, s], [chosen, root]))
    assert "switch" not in names(from_pytensor([x, y, s], [conditional.ifelse(s > 0, x, y.T)]))


def test_a_branch_that_takes_long():
    """A loop of many steps, where it is not taken, takes no time."""
    s, x = pt.dscalar("s"), pt.dscalar("x")
    steps = pytensor.scan(lambda b: pt.sin(b) + b, outputs_info=x, n_steps=5_000_000, return_updates=False)
    function = pytensor.function([s, x], conditional.ifelse(s > 0, steps[-1], x), mode="NUMBAGRAPH")
    times = []
    for sign in (1.0, -1.0):
        begin = time.perf_counter()
        function(sign, 0.5)
        times.append(time.perf_counter() - begin)
        function(sign, 0.5)
    assert times[1] < times[0] / 20


def test_requirements_of_lengths_in_a_branch():
    """Arrays that do not fit are an error of the branch that is taken."""
    x, y, s = pt.dvector("x"), pt.dvector("y"), pt.dscalar("s")
    function = pytensor.function([x, y, s], conditional.ifelse(s > 0, pt.dot(x, y), x.sum()), mode="NUMBAGRAPH")
    assert function(np.ones(3), np.ones(3), 1.0) == 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        assert function(np.ones(3), np.ones(2), -1.0) == 3.0
        with pytest.raises(ValueError, match="lengths that are summed over differ"):
            function(np.ones(3), np.ones(2), 1.0)


def chain(x, length):
    for _ in range(length):
        x = conditional.ifelse(x > 0, x * 0.5, pt.zeros(())) + conditional.ifelse(x > 1, pt.sin(x), -x)
    return x


def test_chains_of_choices_are_translated_once():
    x = pt.dscalar("x")
    short, long = (len(from_pytensor([x], [chain(x, length)]).order) for length in (20, 200))
    assert long < 11 * short


@pytest.mark.parametrize("second", [lambda x: x[:1], lambda x: pt.concatenate([x, x])], ids=["one", "more"])
def test_branches_of_several_lengths(second):
    """The length depends on the condition: an error in a model, and left to PyTensor in its mode."""
    x = pt.tensor("x", shape=(2,), dtype="float64")
    chosen = conditional.ifelse(x[0] > 0, x * 2, second(x))
    with pytest.raises(UnsupportedOp, match="chosen by ifelse from arrays of the shapes"):
        from_pytensor([x], [chosen])
    with pytest.warns(FallbackWarning, match="ifelse"):
        function = pytensor.function([x], chosen + 1.0, mode="NUMBAGRAPH")
    alone = pytensor.function([x], second(x) + 1.0, mode=PLAIN)
    np.testing.assert_array_equal(function([1.0, 2.0]), [3.0, 5.0])
    np.testing.assert_array_equal(function([-1.0, 2.0]), alone([-1.0, 2.0]))


def test_lengths_that_are_known_when_a_function_runs():
    """Native code is made for branches of one length. PyTensor takes others, and runs but one of them."""
    x, y = pt.dvector("x"), pt.dvector("y")
    first = pt.cast(pt.isnan(x).sum(), "int64")
    function = pytensor.function([x, y], conditional.ifelse(x.sum() > 0, x * 2, y[first] + y), mode="NUMBAGRAPH")
    np.testing.assert_array_equal(function([-1.0, 0.0], [3.0, 4.0]), [6.0, 7.0])
    with pytest.warns(FallbackWarning, match="chosen by ifelse"):
        np.testing.assert_array_equal(function([1.0, 2.0], [3.0]), [2.0, 4.0])
    with pytest.warns(FallbackWarning, match="chosen by ifelse"):
        np.testing.assert_array_equal(function([9.0, -8.0, 1.0], []), [18.0, -16.0, 2.0])


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (lambda a: pt.linalg.eigh(a)[1], lambda a: np.linalg.eigh(a)[1]),
        (lambda a: pt.linalg.svd(a)[0], lambda a: np.linalg.svd(a)[0]),
    ],
)
def test_results_of_a_call_with_several_are_computed_in_a_branch(function, reference):
    """What the call requires of its lengths is required by the branch, whose lengths are not those around it."""
    x, s = pt.dmatrix("x"), pt.dscalar("s")
    chosen = pytensor.function([x, s], conditional.ifelse(s > 0, abs(function(x)), x), mode="NUMBAGRAPH")
    a = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(chosen(a, 1.0), abs(reference(a)), rtol=1e-12)
    np.testing.assert_array_equal(chosen(a, -1.0), a)
