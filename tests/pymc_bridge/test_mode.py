"""PyTensor's mode ``NUMBAGRAPH``: values and draws of PyTensor's own modes, in few native functions."""

import doctest
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
# What PyMC says of a few samples, and of what its next versions will do, says nothing about a mode.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
]

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc.logprob.utils import ParameterValueError  # noqa: E402
from pytensor.compile.mode import get_mode  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402
from pytensor.raise_op import Assert  # noqa: E402

from numbagraph.ir.shapes import ShapeError  # noqa: E402
from numbagraph.pymc_bridge import FallbackWarning, compile_logp  # noqa: E402
from numbagraph.pymc_bridge.array_function import ArrayFunction  # noqa: E402
from numbagraph.pymc_bridge.compatibility import linalg  # noqa: E402
from numbagraph.pymc_bridge.graph_partition import Partition, divide, is_random  # noqa: E402
from numbagraph.pymc_bridge.importer import from_pytensor  # noqa: E402
from tests.support.modes import NAME, PLAIN, same  # noqa: E402
from tests.support.pymc_models import MODELS  # noqa: E402

LUFactorTridiagonal = linalg.LUFactorTridiagonal

x, y, m, s = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m"), pt.dscalar("s")
X, Y, M = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.25, -0.5]), np.arange(9.0).reshape(3, 3)

rng = np.random.default_rng(5)


class Reversed(Op):
    """An op that has no translation; it gives its result in memory that it finds, if it can."""

    __props__ = ()

    def make_node(self, v):
        return Apply(self, [v], [v.type()])

    def perform(self, node, inputs, outputs):
        (cell,) = outputs
        if cell[0] is None:
            cell[0] = np.empty_like(inputs[0])
        cell[0][...] = inputs[0][::-1]


def functions(inputs, outputs, **options):
    """The same function in our mode and by PyTensor's Python code."""
    return [pytensor.function(inputs, outputs, mode=mode, **options) for mode in (NAME, PLAIN)]


def division_of(function):
    fgraph = function.maker.fgraph
    return divide(fgraph, fgraph.toposort(), "test")


def partitions_of(function):
    return [step for step in division_of(function).steps if isinstance(step, Partition)]


# ---- functions ----


def test_values_and_types():
    outputs = [pt.exp(x).sum(), m @ x, m.argmax(axis=0), x[::-1] > y, pt.cast(x, "float32") * 2, m[1:, 0]]
    ours, plain = functions([x, y, m], outputs)
    same(ours(X, Y, M), plain(X, Y, M))
    assert len(partitions_of(ours)) == len(division_of(ours).steps) == 1


@pytest.mark.parametrize("data", [M.T, M[::-1], M[:1], M[:, ::2], np.asfortranarray(M)], ids=str)
def test_layouts_and_lengths(data):
    ours, plain = functions([m], [m * 2, m.sum(axis=1), pt.exp(m).T])
    same(ours(M), plain(M))
    same(ours(data), plain(data))
    same(ours(M), plain(M))


def test_numbers_of_repetitions_for_other_lengths():
    ours, plain = functions([x], pt.repeat(x, np.array([1, 2])))
    for each in (ours, plain):
        with pytest.raises(ValueError, match=r"repe|broadcast"):
            each(X)


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
def test_factors_of_matrices_that_are_not_square():
    ours, plain = functions([m], pt.linalg.qr(m))
    same(ours(M[:, :2]), plain(M[:, :2]))


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_derivatives_of_eigenvalues_and_vectors(triangle):
    newer = "lower" in inspect.signature(pt.linalg.eigh).parameters
    options = {"lower": triangle == "L"} if newer else {"UPLO": triangle}
    values, vectors = pt.linalg.eigh(m, **options)
    total = (values * s).sum() + (vectors**2 * M).sum()  # whatever their signs are
    ours, plain = functions([m, s], [values, pytensor.grad(total, m)])
    for each, expected in zip(ours(M, 2.0), plain(M, 2.0), strict=True):
        np.testing.assert_allclose(each, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize("right", [x, m])
def test_tridiagonal_systems(right):
    """PyTensor factors the matrix once, for a system and for that of the derivative."""
    tridiagonal = pt.linalg.solve(m + 20 * pt.eye(3), right, assume_a="tridiagonal", b_ndim=right.ndim)
    ours, plain = functions([x, m], [tridiagonal + x, pytensor.grad((tridiagonal**2).sum(), x if right is x else m)])
    same(ours(X, M), plain(X, M))
    assert len(partitions_of(ours)) == len(division_of(ours).steps) == 1


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
def test_tridiagonal_factors_that_are_results():
    ours, plain = functions([x], LUFactorTridiagonal()(x[1:], x + 5, x[:-1]))
    same(ours(X), plain(X))


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize(
    "name",
    [name for name, each in MODELS.items() if each.kind in ("linear algebra", "named dimensions")]
    + ["kronecker normal", "marginal process on a grid"],
)
def test_models_of_which_nothing_is_left_to_pytensor(name):
    MODELS[name].build().logp_dlogp_function(ravel_inputs=True, mode=NAME)


def test_what_is_left_of_a_shape_may_be_an_argument():
    rest = pt.lscalar("rest")
    ours, plain = functions([m, rest], [m.reshape((rest, 3)), m.reshape((3, rest))])
    for length in (3, -1):
        same(ours(M, length), plain(M, length))


def test_a_part_of_the_outputs():
    function = pytensor.function([x], [x * 2, x + 1], mode=NAME)
    if "output_subset" in inspect.signature(type(function).__call__).parameters:
        same(function(X, output_subset=[1]), [X + 1])


@pytest.mark.parametrize("lengths", [(4, None), (None, 4)])
def test_places_of_extrema_along_an_axis_of_known_length(lengths):
    known = pt.tensor("known", dtype="float64", shape=lengths)
    array = rng.normal(size=[5 if each is None else each for each in lengths])
    ours, plain = functions([known], [pt.argmax(known, axis=0), pt.argmin(known, axis=1)])
    for data in (array, np.asfortranarray(array)):
        same(ours(data), plain(data))


def test_lengths_of_one_need_no_new_code():
    function = ArrayFunction(from_pytensor([m], [m + 1.0]))
    for shape in ((2, 3), (1, 3), (2, 1), (1, 1)):
        np.testing.assert_array_equal(function(np.ones(shape))[0], np.full(shape, 2.0))
    assert len(function.plans) == 4
    assert len(function.specials) == 1


def test_pytensor_neither_fuses_nor_overwrites():
    """That is done here, for whole partitions. States of random generators alone are changed where they are."""
    draw = pm.Normal.dist(x.sum(), 1.0, shape=3)
    outputs = [m @ x + y, pt.set_subtensor((x * 2)[0], 1.0), pt.exp(x) * 2 + y, draw, pt.linalg.cholesky(m @ m.T)]
    function = pm.pytensorf.compile([x, y, m], outputs, mode=NAME)
    kinds = {type(getattr(node.op, "core_op", node.op)).__name__ for node in function.maker.fgraph.toposort()}
    assert not kinds & {"Gemv", "Gemm", "Dot22"}
    changed = [node for node in function.maker.fgraph.toposort() if node.op.destroy_map]
    assert len(changed) == 1
    assert is_random(changed[0])


def test_results_are_never_shared():
    ours, _ = functions([x], [x, x * 1.0, x + 1, 1 + x, x])
    results = ours(X)
    for number, one in enumerate(results):
        assert not any(np.shares_memory(one, other) for other in (X, *results[:number]))


def test_memory_that_a_caller_has_is_not_used_again():
    with pytest.warns(FallbackWarning):
        ours = pytensor.function([x], Reversed()(x), mode=NAME)
    first = ours(X)
    ours(Y)
    np.testing.assert_array_equal(first, X[::-1])


def test_updates_and_shared_variables():
    results = []
    for mode in (NAME, PLAIN):
        total = pytensor.shared(np.zeros(3), "total")
        add = pytensor.function([x], [total, total.sum()], updates={total: total + x}, mode=mode)
        found = [*add(X), *add(Y)]
        total.set_value(np.ones(3))
        results.append([*found, *add(X), total.get_value()])
    same(*results)


def test_functions_without_work():
    assert pytensor.function([], [], mode=NAME)() == []
    ours, plain = functions([x], [x, pt.constant(2.0)])
    same(ours(X), plain(X))


def test_copies():
    first, second = pytensor.shared(X, "first"), pytensor.shared(Y, "second")
    ours = pytensor.function([s], first * s, updates={first: first + 1}, mode=NAME)
    copied, without = ours.copy(swap={first: second}), ours.copy(delete_updates=True)
    np.testing.assert_array_equal(copied(2.0), Y * 2)
    np.testing.assert_array_equal(second.get_value(), Y + 1)
    np.testing.assert_array_equal(without(2.0), X * 2)
    np.testing.assert_array_equal(ours(2.0), X * 2)
    np.testing.assert_array_equal(ours(2.0), (X + 1) * 2)
    np.testing.assert_array_equal(ours.copy(share_memory=True)(2.0), (X + 2) * 2)


def test_pickled():
    total = pytensor.shared(np.zeros(3), "total")
    ours = pytensor.function([x], pt.exp(x) + total, updates={total: total + x}, mode=NAME)
    ours(X)
    copied = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(copied(Y), np.exp(Y) + X)
    np.testing.assert_array_equal(copied(Y), np.exp(Y) + X + Y)
    np.testing.assert_array_equal(ours(Y), np.exp(Y) + X)


def test_pickled_into_a_process_that_knows_nothing_of_it(tmp_path):
    path = tmp_path / "function"
    path.write_bytes(pickle.dumps(pytensor.function([x], pt.exp(x).sum(), mode=NAME)))
    code = f"import pickle; print(float(pickle.loads(open({str(path)!r}, 'rb').read())([0.0, 0.0, 1.0])))"
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) == pytest.approx(2 + np.e)


def test_as_the_default_mode():
    with pytensor.config.change_flags(mode=get_mode(NAME)):
        assert (x * 2).sum().eval({x: X}) == 3.0


# ---- what PyTensor runs itself ----


def test_an_op_without_translation():
    expression = pt.exp(Reversed()(x * 2) + x)
    with pytest.warns(FallbackWarning, match="Reversed") as found:
        ours = pytensor.function([x], [expression, Reversed()(expression)], mode=NAME)
    assert len(found) == 1
    plain = pytensor.function([x], [expression, Reversed()(expression)], mode=PLAIN)
    same(ours(X), plain(X))
    assert [type(each) is Partition for each in division_of(ours).steps] == [True, False, True, False]


def test_partitions_are_as_few_as_can_be():
    """Between two ops that do not wait for each other nothing has to be cut."""
    with pytest.warns(FallbackWarning):
        ours = pytensor.function([x, y], Reversed()(x * 2) * 3 + Reversed()(y + 1) * x, mode=NAME)
    np.testing.assert_allclose(ours(X, Y), X[::-1] * 6 + (Y[::-1] + 1) * X)
    assert len(partitions_of(ours)) == 2


def test_loops_are_native():
    step = lambda value, before: before * 0.5 + pt.exp(-value)  # noqa: E731
    outputs = pytensor.scan(step, sequences=x, outputs_info=s, return_updates=False)
    total = (outputs**2).sum()
    ours = pytensor.function([x, s], [total, *pytensor.grad(total, [x, s])], mode=NAME)
    assert len(partitions_of(ours)) == 1
    plain = pytensor.function([x, s], [total, *pytensor.grad(total, [x, s])], mode=PLAIN)
    same(ours(X, 0.3), plain(X, 0.3))


def test_a_dtype_that_is_not_supported():
    half = pt.tensor("sixteen", dtype="float16", shape=(None,))
    with pytest.warns(FallbackWarning, match="float16"):
        ours = pytensor.function([half, x], pt.cast(half * 2, "float64") + x * 2, mode=NAME)
    np.testing.assert_array_equal(ours(X.astype(np.float16), X), X * 4)


def test_slices_that_are_made_elsewhere():
    with pytest.warns(FallbackWarning):
        ours = pytensor.function([x], Reversed()(x)[pt.cast(x[0], "int64") :] * 2, mode=NAME)
    np.testing.assert_array_equal(ours(np.array([1.0, 2.0, 3.0])), [4.0, 2.0])


def test_numbers_between_ops_are_numpy_s():
    class AsNumber(Op):
        __props__ = ()

        def make_node(self, v):
            return Apply(self, [pt.scalar_from_tensor(v)], [pt.dscalar()])

        def perform(self, node, inputs, outputs):
            assert isinstance(inputs[0], np.float64)
            outputs[0][0] = np.asarray(inputs[0])

    with pytest.warns(FallbackWarning, match="AsNumber"):
        ours = pytensor.function([x], AsNumber()(pt.exp(x.sum())), mode=NAME)
    np.testing.assert_allclose(ours(X), np.exp(X.sum()))


# ---- errors ----


def test_lengths_that_do_not_fit():
    ours = pytensor.function([x, y], x + y, mode=NAME)
    with pytest.raises(ShapeError, match=r"could not be broadcast together with shapes \(3,\) \(2,\)"):
        ours(X, Y[:2])


def test_lengths_that_pytensor_relies_on_are_checked():
    """A function that trusts its arguments does not look at them, and native code must not read beyond them."""
    known = pt.tensor("known", dtype="float64", shape=(3,))
    ours = pytensor.function([known], known.sum(), mode=NAME)
    ours.trust_input = True
    assert ours(X) == X.sum()
    with pytest.raises(ShapeError, match=r"'known' .*must have length 3 along axis 0"):
        ours(X[:2])
    with pytest.raises(TypeError, match="known must be"):
        ours(M)
    assert ours([1, 2, 3]) == 6.0


def test_checks():
    ours = pytensor.function([x], Assert("x must be positive")(x, pt.all(x > 0)) * 2, mode=NAME)
    np.testing.assert_array_equal(ours(np.ones(2)), [2.0, 2.0])
    with pytest.raises(AssertionError, match="x must be positive"):
        ours(X)


def test_systems_without_solution_give_nan():
    """And do not end a chain that comes to a matrix without a factor."""
    factor = pt.linalg.cholesky(m)
    outputs = [factor, pt.linalg.solve(m, m.T), pt.linalg.solve_triangular(m, m.T), pytensor.grad(factor.sum(), m)]
    ours, plain = functions([m], outputs)
    for matrix in (np.eye(3) * 2 + M / 9, -np.ones((3, 3)), np.zeros((3, 3))):
        same(ours(matrix), plain(matrix))
    inverse = pytensor.function([m], pt.linalg.inv(m), mode=NAME)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        inverse(np.ones((2, 2)))


def test_a_covariance_that_is_none():
    with pm.Model() as model:
        shared = pm.Flat("shared")
        covariance = pt.stacklists([[1.0, shared], [shared, 1.0]])
        pm.MvNormal("y", np.zeros(2), covariance, observed=np.array([0.1, 0.2]))
    function = model.logp_dlogp_function(ravel_inputs=True, mode=NAME)
    function.set_extra_values({})
    assert np.isfinite(function(np.array([0.5]))[0])
    assert function(np.array([2.0]))[0] == -np.inf
    with pytest.raises(ParameterValueError, match="posdef"):
        compile_logp(model)(np.array([2.0]))


def test_indices():
    index = pt.lvector("index")
    ours = pytensor.function([x, index], x[index], mode=NAME)
    with pytest.raises(IndexError, match=r"(?s)index 3 is out of bounds.*x\[index\]"):
        ours(X, np.array([0, 3]))


def test_an_error_of_pytensor_s_own_op_names_it():
    class Failing(Reversed):
        def perform(self, node, inputs, outputs):
            raise ZeroDivisionError("this always fails")

    with pytest.warns(FallbackWarning):
        ours = pytensor.function([x], Failing()(x) * 2, mode=NAME)
    with pytest.raises(ZeroDivisionError, match="this always fails") as found:
        ours(X)
    assert "Failing" in found.value.__notes__[0]


# ---- documentation ----


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
def test_examples_of_the_page():
    page = Path(__file__).parents[2] / "docs" / "pymc.md"
    results = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted > 10
    assert not results.failed
