"""PyTensor's graphs, imported: each op against PyTensor's own implementation, before rewriting and after."""

import numpy as np
import pytest

pytest.importorskip("pymc")

import pymc as pm
import pytensor
import pytensor.tensor as pt
from pymc.distributions import Normal, dist_math
from pytensor import scalar as scalars
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.replace import vectorize_graph
from pytensor.raise_op import Assert
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from scipy.interpolate import InterpolatedUnivariateSpline, make_interp_spline

from numbagraph.ir.op import registry
from numbagraph.ir.types import DTYPES
from numbagraph.pymc_bridge import UnsupportedOp, from_pytensor
from numbagraph.pymc_bridge.compatibility import VersionNames, conditional, linalg
from numbagraph.pymc_bridge.translations.scalar_ops import AS_THEY_ARE, IN_RESULT_DTYPE
from numbagraph.rewrite.fold_captured import LARGEST
from numbagraph.transforms.interpret import evaluate
from tests.support.imported import PLAIN, check

v, w, m, t = pt.dvector("v"), pt.dvector("w"), pt.dmatrix("m"), pt.dtensor3("t")
s, k, i, b = pt.dscalar("s"), pt.lscalar("k"), pt.lvector("i"), pt.bvector("b")
ties = pt.switch(pt.ge(pt.specify_shape(v, 4), 1.0), np.nan, pt.round(pt.specify_shape(v, 4)))
p = pt.sigmoid(v)
square = pt.roll(pt.dot(m, m.T) + 4 * pt.eye(3), 1, axis=0) + m[:, :3]
symmetric = pt.dot(m, m.T)
regular = symmetric + 4 * pt.eye(3)
EDGES = np.array([-1.0, 0.0, 0.0, 2.0, np.nan])
DATA = {
    v: np.array([0.3, -1.2, 2.5, 0.0]),
    w: np.array([1.5, 0.2, -0.4, 2.0]),
    m: np.arange(12.0).reshape(3, 4) / 7 - 0.6,
    t: np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4),
    s: np.array(0.7),
    k: np.array(2),
    i: np.array([2, 0, -1, 2]),
    b: np.array([0, 1, 1, 0], dtype=np.int8),
}
pivot_to_permutation = VersionNames(
    "pytensor.tensor.linalg.decomposition.lu", "pytensor.tensor.slinalg"
).pivot_to_permutation
lower_gamma, upper_gamma = getattr(pt, "gammal", pt.gammainc), getattr(pt, "gammau", pt.gammaincc)
xlogy = getattr(pt.special, "xlogy", None) or pt.xlogx.xlogy0
MASK = np.array([True, False, True, True])
EXPRESSIONS = {
    "broadcasting": lambda: m + v * s - pt.constant(2),
    "int8 constants": lambda: (v**2 + 3) / 2,
    "true division of integers": lambda: i / 4,
    "small integers": lambda: pt.exp(b) * b + b // 2 + b % 2,
    "integer power": lambda: i**2,
    "comparison of dtypes": lambda: pt.eq(i, v) | (v > 0) & pt.invert(pt.isnan(v)),
    "switch of dtypes": lambda: pt.switch(b, i, v),
    "fill": lambda: pt.fill(m, s),
    "casts": lambda: pt.cast(v, "int32") + pt.cast(i, "float32"),
    "clip": lambda: pt.clip(v, -1, 1),
    "rounding": lambda: pt.round(v * 2, mode="half_away_from_zero") + pt.round(v, mode="half_to_even"),
    "polygamma": lambda: pt.polygamma(2, pt.abs(w) + 0.5) + pt.polygamma(1, pt.abs(w) + 0.5),
    "psi": lambda: pt.psi(pt.abs(w) + 0.5),
    "inverse incomplete": lambda: (
        pt.gammaincinv(pt.abs(w), p)
        + pt.gammainccinv(pt.abs(w), p)
        + pt.betaincinv(pt.abs(w), 2.0, p)
        + pt.owens_t(v, w)
    ),
    "incomplete gammas": lambda: lower_gamma(pt.abs(w) + 0.5, p) + upper_gamma(pt.abs(w) + 0.5, p),
    "max and min": lambda: pt.maximum(v, w) - pt.minimum(v, 0),
    "sum": lambda: m.sum() + m.sum(axis=0),
    "sum of axes": lambda: t.sum(axis=(0, 2), keepdims=True),
    "sum of small integers": lambda: b.sum(),
    "sum of nothing": lambda: s.sum(),
    "product": lambda: m.prod(axis=1),
    "extrema": lambda: pt.max(m, axis=1) - pt.min(m),
    "argmax": lambda: pt.argmax(m, axis=0) + pt.argmax(v),
    "all": lambda: pt.all(m > -1, axis=0),
    "any": lambda: pt.any(m > 1),
    "conditions": lambda: pt.all([pt.all(v > -9), s > 0]),
    "dimshuffle": lambda: t.dimshuffle(2, "x", 0, 1),
    "transpose": lambda: m.T + pt.expand_dims(m[:, :1].dimshuffle(0), 0),
    "reshape": lambda: pt.reshape(t, (4, -1)) + pt.reshape(t, (t.shape[2], -1)),
    "flatten": lambda: t.flatten(2),
    "shape": lambda: t.shape * 2,
    "length": lambda: pt.arange(m.shape[1]) * m.shape[0],
    "specified shape": lambda: pt.specify_shape(m, (3, None)) * 2,
    "alloc": lambda: pt.alloc(s, 2, m.shape[0]) + pt.zeros((2, 1)),
    "full": lambda: pt.full_like(m, 2.5) + pt.ones_like(m, dtype="int8"),
    "vector": lambda: pt.stack([s, v[0], 2.0]),
    "vector of shapes": lambda: pt.as_tensor([m.shape[0], 7])[0] + pt.as_tensor([m.shape[0], 7])[1],
    "join": lambda: pt.concatenate([m, pt.cast(m, "float32")], axis=1),
    "split": lambda: pt.split(m, [1, 3], n_splits=2, axis=1)[1],
    "ranges": lambda: pt.arange(1, 10, 3) + pt.arange(3),
    "range of floats": lambda: pt.arange(0.0, 2.0, 0.5),
    "eye": lambda: pt.eye(3, 4, 1) * m,
    "diagonals": lambda: pt.diagonal(m, offset=1) + pt.diag(pt.diag(v))[:3],
    "sorted": lambda: pt.sort(ties) + pt.sort(i) + pt.sort(m, axis=0)[0] + pt.sort(m, axis=None)[:4],
    "order": lambda: pt.argsort(ties, kind="stable") + pt.argsort(m, axis=1)[1],
    "derivative of sorting": lambda: pytensor.grad(pt.sum(pt.sort(m, axis=1) * v), m),
    "places": lambda: pt.searchsorted(EDGES, ties) + pt.searchsorted(EDGES, ties, side="right"),
    "convolution": lambda: pt.signal.convolve1d(v, w) + pt.signal.convolve1d(v, w[:2], mode="valid").sum(),
    "inverse": lambda: pt.linalg.inv(square) + pt.linalg.pinv(m)[:3],
    "solutions": lambda: pt.linalg.solve(square, m) + pt.linalg.solve_triangular(pt.tril(square), m, lower=True),
    "determinants": lambda: pt.linalg.det(square) + pt.linalg.slogdet(square)[1],
    "spectrum": lambda: pt.linalg.eigh(symmetric)[0] + pt.linalg.svd(square, compute_uv=False),
    "kinds of systems": lambda: sum(
        pt.linalg.solve(a, m, assume_a=kind, lower=lower)
        for a, kind, lower in (
            (pt.tril(regular) - pt.triu(square, 1), "pos", True),
            (pt.triu(regular) - pt.tril(square, -1), "pos", False),
            (pt.tril(regular - 6) - pt.triu(square, 1), "sym", True),
            (pt.triu(regular - 6) + pt.tril(square, -1), "sym", False),
            (regular, "tridiagonal", False),
            (regular, "banded", False),
        )
    ),
    "batch of systems": lambda: pt.linalg.solve(pt.stack([regular, regular + 1]), v[:3], assume_a="pos", b_ndim=1),
    "equations of matrices": lambda: (
        pt.linalg.solve_sylvester(square, symmetric, m[:, :3])
        + pt.linalg.solve_discrete_lyapunov(square / 20, symmetric, method="bilinear")
        + pt.linalg.solve_continuous_lyapunov(square, symmetric)
    ),
    "eigenvalues": lambda: pt.sort(abs(pt.linalg.eig(square)[0])),
    "eigenvalues beside a metric": lambda: linalg.eigvalsh(symmetric, regular),
    "triangular factor": lambda: pt.linalg.qr(square, mode="r") ** 2,
    "logarithm of a determinant": lambda: pm.math.logdet(square),
    "diagonal matrices": lambda: pm.math.batched_diag(m),
    "another diagonal": lambda: pt.fill_diagonal_offset(m, s, 1) + pt.fill_diagonal_offset(m, s, -1),
    "permutation": lambda: pt.inverse_permutation(pt.argsort(v)) + pt.permute_row_elements(v, pt.argsort(-v)),
    "orthogonal factor": lambda: pt.linalg.qr(square)[1] ** 2,
    "triangular factors": lambda: sum(pt.linalg.lu(square)) + sum(pt.linalg.lu(square, permute_l=True)),
    "order of rows": lambda: pt.linalg.lu(square, p_indices=True)[0],
    "factors and pivots": lambda: sum(pt.linalg.lu_factor(square)),
    "pivots": lambda: pivot_to_permutation(pt.linalg.lu_factor(square)[1], inverse=True),
    "pivots back": lambda: pivot_to_permutation(pt.linalg.lu_factor(square)[1]),
    "singular factors": lambda: pt.linalg.lu_factor(pt.outer(v[:3], w[:3]) * 0)[0],
    "factors that solve": lambda: pt.linalg.lu_solve(pt.linalg.lu_factor(square), m[:, 0]),
    "margins": lambda: pt.pad(v, (2, 1)) * 2 + pt.pad(m, ((0, 1), (1, 2)), constant_values=3.0)[0, 0],
    "block diagonal": lambda: pt.linalg.block_diag(m, pt.outer(v, w), i[None, :]),
    "batched diagonal": lambda: pt.basic.alloc_diag(m, axis1=-1, axis2=-2) * s,
    "fill diagonal": lambda: pt.fill_diagonal(m, s),
    "repeat": lambda: pt.repeat(v, 3) + pt.repeat(s, 12),
    "ends in any order": lambda: pt.clip(m, s, -s) + pt.clip(m, -s, s) + pt.clip(m, 2.0, -1.0),
    "places in several axes": lambda: pt.argmax(t, axis=(0, 2)) + pt.argmax(t, axis=(2, 0)),
    "increment once": lambda: pt.inc_subtensor(v[[0, 0, 1]], 1.0, ignore_duplicates=True),
    "repeat each": lambda: pt.repeat(v, np.array([1, 0, 2, 3])),
    "tile": lambda: pt.tile(v, 2),
    "batch of sums": lambda: Blockwise(pt.extra_ops.CumOp(axis=0), signature="(i)->(i)")(t) + v,
    "batch of graphs": lambda: Blockwise(OpFromGraph([v, s], [v * s + 1, v.sum()]), signature="(i),()->(i),()")(m, s)[
        0
    ],
    "batch of assignments": lambda: vectorize_graph(pt.inc_subtensor(v[i], w), {v: m, w: t}),
    "basic index": lambda: m[1:, ::-1] + v[-1] + v[k] + m[0, 0],
    "slices at run time": lambda: v[k:] + v[:k],
    "advanced index": lambda: m[:, i] * v[i] + m[i[:3] * 0, 1][0],
    "index of pairs": lambda: m[pt.as_tensor([0, 2]), pt.as_tensor([1, -1])],
    "index with new axes": lambda: m[:, None, i],
    "mask": lambda: v[MASK] + 1,
    "mask of a matrix": lambda: m[np.arange(12).reshape(3, 4) % 2 == 0],
    "positions of a mask": lambda: v[pt.as_tensor(MASK).nonzero()],
    "set": lambda: pt.set_subtensor(v[1:3], w[:2]),
    "increment": lambda: pt.inc_subtensor(m[1], v),
    "set at positions": lambda: pt.set_subtensor(v[i[:2]], 9.0),
    "increment at positions": lambda: pt.inc_subtensor(v[i], 1.0) + pt.inc_subtensor(m[:, i], 1.0)[0],
    "set a mask": lambda: pt.set_subtensor(v[MASK], 1.5),
    "dot": lambda: pt.dot(m, v) + pt.dot(v, w),
    "matrix product": lambda: pt.dot(m, m.T) @ m,
    "batched product": lambda: t @ m.T + pt.matmul(t, t.dimshuffle(0, 2, 1)),
    "batched matrix and vector": lambda: pt.matvec(t, v) + pt.vecdot(t, v) + pt.vecmat(v, t.mT),
    "tensordot": lambda: pt.tensordot(t, m, axes=[[2], [1]]),
    "outer": lambda: pt.outer(v, w),
    "cumulative": lambda: pt.cumsum(m, axis=1) + pt.cumprod(m, axis=0),
    "flat cumulative": lambda: pt.cumsum(m),
    "softmax": lambda: pt.special.softmax(m, axis=1) + pt.special.log_softmax(m, axis=0),
    "flat softmax": lambda: pt.special.softmax(m, axis=None),
    "log of a sum": lambda: pt.logsumexp(m, axis=1) + pt.logaddexp(s, 1.0),
    "mean and variance": lambda: m.mean(axis=0) + m.var(),
    "branches": lambda: conditional.ifelse(s > 0, v, w),
    "assert": lambda: Assert("v is too large")(v, pt.all(v < 10)),
    "xlogy": lambda: xlogy(pt.abs(v), pt.abs(w)),
    "log of a long sum": lambda: pt.logaddexp(v, w, s) - pt.logsumexp(m),
    "graph in an op": lambda: OpFromGraph([v, s], [v * s + 1])(w, v.sum()),
    "gradient": lambda: pytensor.grad(pt.sum(pt.softplus(m) * pt.sigmoid(v) + m[:, i] ** 2), m),
    "composite": lambda: Elemwise(
        scalars.Composite([a := scalars.float64(), c := scalars.float64()], [a * scalars.exp(c) + 1.0])
    )(v, s),
    "graph in two ops": lambda: (op := OpFromGraph([v, s], [v * s + 1]))(w, s) - op(v, s * 2),
    "absolute value of a complex number": lambda: pt.abs(pt.complex(v, 2.0)),
    "einsum": lambda: pt.einsum("ij,j->ij", m, v) + pt.einsum("ij,ik->jk", m, m)[0],
    "einsum of three": lambda: pt.einsum("ij,j,ij->i", pt.specify_shape(m, (3, 4)), v, m),
    "interpolation": lambda: pt.interp(v, np.linspace(-2, 3, 5), np.arange(5.0) ** 2),
    "an element of each row": lambda: pt.vectorize(lambda x, n: x[n], signature="(n),()->()")(m, i[:3]),
    "an array of each row, in one shape": lambda: pt.vectorize(
        lambda x, n: pt.alloc(x, n, 4), signature="(i),()->(n,i)"
    )(m, pt.alloc(pt.as_tensor(2), 3)),
    "joined lengths": lambda: pt.alloc(s, *[pt.concatenate([v.shape[:0], (2, 1), m.shape])[k] for k in (3, 0, 1)]),
    "lengths from an array": lambda: pt.alloc(s, pt.as_tensor(np.arange(30) % 7).max() + 1),
    "integers times joined arrays": lambda: (
        pt.sum(pt.concatenate([[0.0], v]) * np.array([0, 1, 0, 1, 2])) + pt.sum(pt.pad(v, (1, 0)) * np.arange(5))
    ),
    "op on constants": lambda: v[pt.argsort(pt.as_tensor([3.0, 1.0, 2.0]))],
}


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS")
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression(name):
    check(EXPRESSIONS[name](), DATA)


@pytest.mark.parametrize("kind", [make_interp_spline, InterpolatedUnivariateSpline], ids=lambda kind: kind.__name__)
def test_splines_of_both_kinds(kind):
    curve = dist_math.SplineWrapper(kind(np.arange(-2.0, 4.0), np.array([0.0, 1.0, -1.0, 2.0, 0.5, 1.0]), k=3))
    check(curve(v), DATA)


UNARY = sorted(
    (each for each in {**IN_RESULT_DTYPE, **AS_THEY_ARE} if issubclass(each, scalars.UnaryScalarOp)),
    key=lambda each: each.__name__,
)


@pytest.mark.parametrize("kind", UNARY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
def test_function_of_one_number(kind, dtype):
    name = {**IN_RESULT_DTYPE, **AS_THEY_ARE}[kind]
    if name not in registry:
        pytest.skip(f"there is no op {name}")
    x = pt.tensor("x", shape=(None,), dtype=dtype)
    data = np.array([0.25, 0.5, 0.75]) if dtype != "int8" else np.array([1, 1, 1])
    data = -data if name == "log1mexp" else data + 1 if name == "arccosh" else data
    data = data.astype(dtype)
    modules = (scalars.basic, scalars.math, pt.xlogx, dist_math)
    instances = (each for module in modules for each in vars(module).values())
    try:
        variable = Elemwise(next(each for each in instances if type(each) is kind))(x)
    except (TypeError, NotImplementedError) as error:
        pytest.skip(str(error))
    if np.dtype(variable.type.dtype) not in DTYPES:
        pytest.skip(f"{variable.type.dtype} is not supported")
    expected = pytensor.function([x], variable, mode=PLAIN)(data)
    graph = from_pytensor([x], [variable])
    (found,) = evaluate(graph, [data, *graph.captured], check=True)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5 if expected.dtype == "float32" else 1e-13)


def test_a_failing_check_raises_its_error():
    class OwnError(ValueError):
        pass

    from pytensor.raise_op import CheckAndRaise

    checked = CheckAndRaise(OwnError, "v must be positive")(v * 2, pt.all(v > 0))
    graph = from_pytensor([v], [pt.sum(checked)])
    with pytest.raises(OwnError, match="v must be positive"):
        evaluate(graph, [DATA[v]])
    assert evaluate(graph, [np.ones(2)]) == [4.0]


def test_a_check_of_constants_costs_nothing():
    checked = Assert("never")(v, pt.all(pt.as_tensor([1.0, 2.0]) > 0))
    assert "check" not in str(from_pytensor([v], [checked]))


class Unknown(Op):
    def make_node(self, x):
        return Apply(self, [x], [x.type("strange")])

    def perform(self, node, inputs, outputs):
        raise NotImplementedError


def test_an_unknown_op_is_named_with_its_variable():
    with pytest.raises(UnsupportedOp, match=r"Unknown.*\n?.*'strange'"):
        from_pytensor([v], [pt.exp(Unknown()(v))])


def test_an_unknown_elementwise_op_is_named(monkeypatch):
    monkeypatch.setitem(IN_RESULT_DTYPE, scalars.math.Hyp2F1, "no_such_op")
    with pytest.raises(UnsupportedOp, match="op hyp2f1 needs numbagraph's op 'no_such_op'"):
        from_pytensor([v], [pt.hyp2f1(v, v, v, v)])


def test_gauss_s_function_and_its_derivative_by_the_number():
    series = pt.hyp2f1(1.5, 2.0, 3.0, pt.tanh(v) / 2)
    check(series, DATA)
    check(pt.grad(series.sum(), v), DATA)


def test_random_variables_are_refused():
    with pytest.raises(UnsupportedOp, match="normal"):
        from_pytensor([v], [Normal.dist(0.0, 1.0, shape=3)])


def test_a_name_that_no_version_has_is_an_error():
    names = VersionNames("pytensor.scalar.basic", "no.such.module")
    assert names.Add is scalars.Add
    assert not isinstance(scalars.add, names.Angle)
    with pytest.raises(AttributeError, match=r"no\.such\.module has Addd"):
        names.Addd  # noqa: B018


def test_a_variable_that_is_no_input_is_named():
    with pytest.raises(ValueError, match="'w'"):
        from_pytensor([v], [v + w])


def test_shared_variables_have_the_value_of_now():
    shared = pytensor.shared(np.array([1.0, 2.0]), name="shared")
    graph = from_pytensor([], [shared * 2])
    shared.set_value(np.zeros(2))
    np.testing.assert_array_equal(evaluate(graph, list(graph.captured))[0], [2.0, 4.0])


def of_constants(compute, length):
    """The graph of the sum of a number's multiples by what is computed of all pairs of some points and some waves."""
    points, waves, x = np.linspace(0, 1, length), np.arange(1.0, 201.0), pt.dscalar("x")
    pairs = compute(pt.as_tensor(points)[:, None], pt.as_tensor(waves))
    graph = from_pytensor([x], [pt.sum(x * pairs)])
    expected = np.sum(compute(points[:, None], waves))
    np.testing.assert_allclose(evaluate(graph, [np.float64(1.0), *graph.captured])[0], expected, rtol=1e-11)
    return graph


def test_what_is_dear_is_computed_once_though_it_is_larger():
    """A basis, such as that of a Gaussian process, is larger than the points that it is computed at."""
    assert [each.shape for each in of_constants(lambda x, y: np.sin(x * y), 50).captured] == [(50, 200)]


def test_what_is_cheap_or_very_large_is_computed_by_each_call():
    for compute, length in ((lambda x, y: x - y, 50), (lambda x, y: np.sin(x * y), LARGEST // 1600 + 1)):
        assert {each.size for each in of_constants(compute, length).captured} == {length, 200}


def test_lengths_that_pytensor_does_not_know_do_not_broadcast():
    graph = from_pytensor([v, w], [v + w])
    with pytest.raises(ValueError, match="broadcast"):
        evaluate(graph, [np.ones(3), np.ones(1)])


def test_known_lengths_are_part_of_the_types():
    x = pt.tensor("x", shape=(3, 1), dtype="float64")
    graph = from_pytensor([x], [x + pt.as_tensor(np.arange(4.0))])
    assert graph.outputs[0].shape == (3, 4)


def test_deep_graphs():
    variable = v
    for _ in range(3000):
        variable = variable + 1.0
    graph = from_pytensor([v], [variable])
    np.testing.assert_allclose(evaluate(graph, [DATA[v]])[0], DATA[v] + 3000)
