"""The mode beside PyTensor's Python code where lengths, indices and numbers are not what an op is usually given."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from pytensor.raise_op import Assert  # noqa: E402
from pytensor.tensor import blas  # noqa: E402
from pytensor.tensor.basic import ARange  # noqa: E402
from pytensor.tensor.blockwise import Blockwise  # noqa: E402

from numbagraph.pymc_bridge import FallbackWarning, UnsupportedOp, from_pytensor  # noqa: E402
from numbagraph.pymc_bridge.compatibility import conditional, linalg  # noqa: E402

PLAIN = Mode(linker="py", optimizer=None)
FALLBACK = "ignore::numbagraph.pymc_bridge.FallbackWarning"
x, y, m, z = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m"), pt.zmatrix("z")
i, k, n, s = pt.lvector("i"), pt.lscalar("k"), pt.lscalar("n"), pt.dscalar("s")
mask = pt.vector("mask", dtype="bool")
X, M = np.arange(1.0, 7.0), np.arange(12.0).reshape(3, 4)
rng = np.random.default_rng(0)
Z = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
POSITIVE = Z @ Z.conj().T


def outcome(function, data):
    """The results of a call, or its error."""
    try:
        results = function(*data)
    except Exception as error:  # noqa: BLE001
        return error
    return results if isinstance(results, list) else [results]


def compare(inputs, outputs, calls, mode=PLAIN):
    """The same results, of the same dtypes and shapes, or errors of the same kind, for all calls."""
    options = {"on_unused_input": "ignore"}
    with pytensor.config.change_flags(cxx=""):
        ours, plain = (pytensor.function(inputs, outputs, mode=each, **options) for each in ("NUMBAGRAPH", mode))
        for data in calls:
            found, expected = outcome(ours, data), outcome(plain, data)
            if isinstance(expected, Exception):
                assert isinstance(found, type(expected)), f"{data}: {found!r} instead of {expected!r}"
                continue
            assert not isinstance(found, Exception), f"{data}: {found!r}"
            for one, other in zip(found, expected, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=str(data))


def vector(*numbers):
    return np.array(numbers, dtype=np.int64)


def pairs(*values):
    return [tuple(map(np.int64, each)) for each in values]


# ---- lengths and positions that are given: nothing is read or written out of bounds ----

HUGE = 2**63 - 1
CHOICE = np.array([True, False, True])
LENGTHS = {
    "split": (
        [x, i],
        pt.split(x, i, n_splits=2),
        [(X, vector(*each)) for each in ((2, 4), (3, 30), (2, 2), (-1, 7), (7, -1), (6,), (1, 2, 3), (HUGE, 7 - HUGE))],
    ),
    "split into three": (
        [x, i],
        pt.split(x, i, n_splits=3),
        [(X, vector(*each)) for each in ((2, 0, 4), (HUGE, HUGE, 8))],
    ),
    "split at constants": ([x], pt.split(x, [2, 3], n_splits=2), [(X,), (X[:5],)]),
    "reshape": (
        [x, n, k],
        x.reshape((n, k)),
        [
            (data, *each)
            for data in (X, X[:0])
            for each in pairs((2, 3), (-1, 3), (2, -3), (-2, -3), (-1, -1), (0, -1), (-1, 0), (0, 5), (2**32, 2**32))
        ],
    ),
    "alloc": (
        [s, x, n, k],
        [pt.alloc(s, n, k), pt.alloc(x, n, 3)],
        [(1.0, data, *each) for data in (X[:3], X[:2], X[:1]) for each in pairs((2, 3), (0, 3), (-1, 3), (2, -3))],
    ),
    "alloc of a range": ([n, k], pt.alloc(pt.arange(n) * 2, k, 3), pairs((3, 2), (1, 2), (2, 2), (0, 2), (1, 0))),
    "range": ([n, k], pt.arange(0, n, k), pairs((5, 2), (5, 0), (5, -1), (-5, -1), (0, 1))),
    "range of floats": ([s], pt.arange(0.0, s, 0.5), [(each,) for each in (3.0, -1.0, 0.0, np.nan, np.inf, 1e300)]),
    "eye": ([n, k], [pt.eye(n, k, 1), pt.eye(n, k, -9)], pairs((3, 2), (0, 2), (-3, 2), (2, -1))),
    "repeat": ([x, n], pt.repeat(x, n), [(X, np.int64(each)) for each in (2, 0, -1)]),
    "join": ([m, x], pt.concatenate([m, x[None]], axis=0), [(M, X[:4]), (M, X[:3]), (M, X[:1]), (M[:0], X[:4])]),
    "specify shape": (
        [x, m, n],
        [pt.specify_shape(x, 3) * 2, pt.specify_shape(m, (None, n))],
        [(each, M, np.int64(4)) for each in (X[:3], X)] + [(X[:3], M, np.int64(3))],
    ),
    "elements": ([x, m, i], [x[i], m[i, i]], [(X, M, vector(*each)) for each in ((0, -3), (3,), (6,), (-7,), ())]),
    "number": ([x, n], x[n], [(X, np.int64(each)) for each in (5, -6, 6, -7, 2**62, -HUGE)]),
    "slices": (
        [x, n, k],
        [x[n:k], x[n:k:-1], x[k::2]],
        [(data, *each) for data in (X, X[:0]) for each in pairs((2, 4), (-3, 100), (100, -100), (-HUGE, 3), (0, 0))],
    ),
    "constant mask": ([x], [x[CHOICE], pt.set_subtensor(x[CHOICE], 0.0)], [(X[:3],), (X,)]),
    "mask": (
        [x, mask],
        [x[mask], pt.inc_subtensor(x[mask], 1.0)],
        [(X, X > 2), (X, X[:3] > 2), (X[:3], X > 2), (X, X > 9)],
    ),
}


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_and_positions(name):
    compare(*LENGTHS[name])


UPDATES = [(X, y, place) for y in (X[:2], X[:1], X[:3], X[:0]) for place in (0, 3, 5, 6)]


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.parametrize("change", [pt.set_subtensor, pt.inc_subtensor], ids=["set", "increment"])
def test_updates_of_one_element_are_repeated(change):
    outputs = [change(x[n : n + 2], y), change(m[:, n - n : 2], y), change(m[i[:, None], i], y)]
    compare([x, m, y, n, i], outputs, [(X, M, each, np.int64(2), vector(0, 1)) for each in (X[:2], X[:1], X[:3])])
    compare([x, y, n], change(x[n : n + 2], y), [(data, y, np.int64(place)) for data, y, place in UPDATES])


@pytest.mark.filterwarnings(FALLBACK)
def test_lengths_of_shared_variables_that_do_not_fit():
    """PyTensor decides on these lengths as well, and none of its functions takes a shared variable as an argument."""
    shared = pytensor.shared(X)
    outputs = [pt.set_subtensor(shared[:2], y), shared[:2] + y]
    compare([y], outputs, [(each,) for each in (X[:2], X[:1], X[:3])])
    compare([y], outputs[:1], [(each,) for each in (X[:2], X[:1], X[:3])])


def test_what_pytensor_repeats_is_said_once_a_function():
    ours = pytensor.function([x, y], pt.set_subtensor(x[:2], y), mode="NUMBAGRAPH")
    ours(X, X[:2])
    with pytest.warns(FallbackWarning, match=r"could not broadcast \(1,\) to \(2,\)"):
        np.testing.assert_array_equal(ours(X, X[4:5]), [5.0, 5.0, 3.0, 4.0, 5.0, 6.0])


@pytest.mark.filterwarnings(FALLBACK)
def test_numbers_wrap_round_where_pytensor_decides_on_lengths():
    """Its Python code refuses numbers that a dtype does not hold, and its compiled code does not."""
    changed = pt.set_subtensor(x[:2], y)
    compiled = pytensor.function([x, y, i], [changed, pt.cast(i, "uint8")], mode="NUMBAGRAPH")
    for update in (X[:2], X[:1]):
        found, small = compiled(X, update, vector(-2, 256, 3))
        np.testing.assert_array_equal(found[:2], [update[0], update[-1]])
        np.testing.assert_array_equal(small, np.array([254, 0, 3], np.uint8))


@pytest.mark.filterwarnings(FALLBACK)
def test_results_are_arrays_of_their_types_where_pytensor_decides_on_lengths():
    small = pt.vector("small", dtype="uint8")
    outputs = [pt.set_subtensor(x[:2], y), pt.searchsorted(x, s), pt.cumsum(small)]
    compiled = pytensor.function([x, y, s, small], outputs, mode="NUMBAGRAPH")
    numbers = np.array([200, 100], np.uint8)
    sums = pytensor.function([small], outputs[2])(numbers)  # wide in PyTensor 3, whatever the type says
    for update in (X[:2], X[:1]):
        results = compiled(X, update, np.float64(2.5), numbers)
        expected = [*(each.dtype for each in outputs[:2]), str(sums.dtype)]
        assert [(type(each), str(each.dtype)) for each in results] == [(np.ndarray, each) for each in expected]
        np.testing.assert_array_equal(results[1], 2)
        np.testing.assert_array_equal(results[2], sums)


@pytest.mark.filterwarnings(FALLBACK)
def test_results_can_be_written_to_where_pytensor_decides_on_lengths():
    """NumPy's imaginary parts of real numbers cannot."""
    compiled = pytensor.function([x, y], [pt.set_subtensor(x[:2], y), pt.imag(x)], mode="NUMBAGRAPH")
    for update in (X[:2], X[:1]):
        for each in compiled(X, update):
            each[...] = 1


@pytest.mark.parametrize(
    "result",
    [m[-2::-1, k] % x, m[:n, 0] + x, pt.switch(x > 0, m[-2:, 0], x), pt.exp(m[:, k:n] * 2 + x)],
    ids=["remainder", "sum", "choice", "matrix"],
)
def test_lengths_that_turn_out_to_be_1_are_not_repeated(result):
    """They follow from numbers or from other lengths, and PyTensor's types do not know them."""
    numbers = [np.arange(5.0 * rows).reshape(rows, 5) for rows in (1, 2, 6)]
    calls = [(a, b, *c) for a in numbers for b in (X[:5], X[:1]) for c in pairs((1, 2), (0, 5))]
    compare([m, x, k, n], result, calls)


def test_the_error_for_lengths_names_the_line():
    ours = pytensor.function([x, y], pt.exp(x) + y, mode="NUMBAGRAPH")
    with pytest.raises(ValueError, match=r"\(6,\) \(2,\)\n  at .*test_odd_values.py:"):
        ours(X, X[:2])


def test_shapes_that_are_refused_when_a_graph_is_translated():
    with pytest.raises(ValueError, match="negative"):
        from_pytensor([x], [x.reshape((4, -3))])
    with pytest.raises(AssertionError, match="must have length 3"):
        from_pytensor([], [pt.specify_shape(pt.as_tensor(X), 3)])


@pytest.mark.parametrize("numbers", [[99.0, 1.0], [1.0, np.nan], [-1.0, 1.0], [-1.0, 99.0]])
def test_assertions_are_checked_where_the_result_has_no_element(numbers):
    v, w = pt.vector("v"), pt.vector("w")
    asserted = Assert("out of bounds")(v * 2, pt.all(w < 50), w[0] > 0)
    function = pytensor.function([v, w], [asserted, pt.exp(asserted)], mode="NUMBAGRAPH")
    for length in (0, 3, 0):
        np.testing.assert_array_equal(function(np.ones(length), [1.0, 2.0])[0], np.full(length, 2.0))
        with pytest.raises(AssertionError, match="out of bounds"):
            function(np.ones(length), numbers)


@pytest.mark.filterwarnings(FALLBACK)
def test_ranges_of_a_batch():
    """All rows of one length are an array, and which length that is must not depend on the batch."""
    ranges = Blockwise(ARange("int64"), signature="(),(),()->(a00)")
    ends = pt.alloc(n, 2)
    compare([n], ranges(ends - ends, ends, 1), pairs((3,), (0,)))
    compare([n], ranges(pt.zeros(2, dtype="int64"), pt.alloc(n, 3, 1), 1), pairs((3,), (0,)))
    compare(
        [i],
        ranges(i, i + 2, 1),
        [
            (vector(3, 2),),
            (
                vector(
                    3,
                ),
            ),
        ],
    )
    graph = from_pytensor([n], [ranges(pt.zeros(2, dtype="int64"), pt.alloc(n, 3, 1), 1)])
    assert graph.outputs[0].ndim == 3
    with pytest.raises(UnsupportedOp, match="may differ along a batch"):
        from_pytensor([i], [ranges(0, i, 1)])


# ---- masks ----

BY_MASKS = {
    "a vector": ([x, mask, s], lambda change: change(x[mask], s), (X[:3], np.array([True, False, True]), 7.0)),
    "no element": ([x, mask, s], lambda change: change(x[mask], s), (X[:3], np.zeros(3, bool), 7.0)),
    "rows": ([m, mask, y], lambda change: change(m[mask], y), (M, np.array([True, False, True]), X[:4])),
    "columns": ([m, mask, s], lambda change: change(m[:, mask], s), (M, np.array([True, False, True, True]), 7.0)),
    "a diagonal": ([m, mask, s], lambda change: change(m[mask, mask], s), (M, np.array([False, True, True]), 7.0)),
    "elements": ([m, s], lambda change: change(m[m > 4], s), (M, -1.0)),
    "another length": ([x, mask, s], lambda change: change(x[mask], s), (X[:3], np.ones(2, bool), 7.0)),
}


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize("change", [pt.set_subtensor, pt.inc_subtensor], ids=["set", "increment"])
@pytest.mark.parametrize("name", BY_MASKS)
def test_updates_by_masks_that_are_not_constant(name, change):
    """Kalman filters replace what is missing: no length depends on a mask where all elements get the same."""
    inputs, update, data = BY_MASKS[name]
    compare(inputs, update(change), [tuple(map(np.asarray, data))])


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize("key", [(mask, mask[::-1]), (mask, slice(None), mask)], ids=["two masks", "a slice between"])
def test_updates_by_several_masks(key):
    z = pt.dtensor3("z")
    data = np.arange(27.0).reshape(3, 3, 3), np.array([False, True, True])
    compare([z, mask], pt.set_subtensor(z[key], 0.5), [data])
    compare([z, mask], pt.inc_subtensor(z[key], 0.5), [data])


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
def test_updates_with_a_number_for_each_selected_element():
    fits, fails = ((X[:3], np.array([True, False, True]), X[:count]) for count in (2, 3))
    compare([x, mask, y], pt.set_subtensor(x[mask], y), [fits, fails])


# ---- matrices ----


def of_complex(a):
    of_kind = {"gen": a, "sym": a + a.T, "her": a + a.conj().T}
    kinds = ((kind, lower) for kind in of_kind for lower in (True, False))
    systems = [pt.linalg.solve(of_kind[kind], a, assume_a=kind, lower=lower) for kind, lower in kinds]
    positive = a @ a.conj().T
    return {
        "factors": [*pt.linalg.lu(a), *pt.linalg.lu_factor(a), *pt.linalg.qr(a), pt.linalg.cholesky(positive)],
        "singular values": [pt.linalg.svd(a, compute_uv=False), pt.linalg.pinv(a)],
        "singular vectors": [*pt.linalg.svd(a)],
        "eigenvalues": [*pt.linalg.eigh(a), linalg.eigvalsh(a, positive + pt.eye(3)), pt.linalg.expm(a)],
        "systems": [
            *systems,
            pt.linalg.solve(positive, a, assume_a="pos"),
            pt.linalg.solve_triangular(a, a[:, 0], trans=2),
            pt.linalg.inv(a),
        ],
        "norms": [pt.linalg.norm(a), pt.linalg.norm(a, ord=2), pt.linalg.norm(a, ord=1), pt.linalg.det(a)],
    }


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.parametrize("name", of_complex(z))
def test_complex_matrices(name):
    compare([z], of_complex(z)[name], [(each,) for each in (Z, POSITIVE, Z + Z.T)])


@pytest.mark.filterwarnings(FALLBACK)
def test_results_that_are_complex_where_their_types_are_real():
    """PyTensor runs what is computed of them, as it runs the op itself."""
    factors = pt.linalg.qr(z[:, :2])
    assert isinstance(factors, list)
    compare([z, x], [*factors, factors[0] * 2, factors[1].sum(), x + 1], [(Z, X), (POSITIVE, X[:1])])


NOT_A_NUMBER = np.eye(3) + np.array([[0, np.nan, 0], [0, 0, 0], [0, 0, 0]])
OF_REAL = {
    "determinants": lambda a: [pt.linalg.det(a), *pt.linalg.slogdet(a)],
    "factors": lambda a: [*pt.linalg.lu(a)],
    "solutions": lambda a: [pt.linalg.cholesky(a), pt.linalg.solve(a, a)],
    "singular values": lambda a: [pt.linalg.svd(a, compute_uv=False)],
    "eigenvalues": lambda a: [pt.linalg.eigh(a)[0]],
}


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", OF_REAL)
def test_matrices_that_are_not_usual(name):
    matrices = (np.eye(3) + 0.1, NOT_A_NUMBER, np.zeros((3, 3)), -np.eye(3), np.zeros((0, 0)), np.ones((1, 1)))
    compare([m], OF_REAL[name](m), [(each,) for each in matrices], Mode(linker="py", optimizer="fast_run"))


def test_products_that_nothing_is_added_to():
    """Where the factor is 0, what would be added is not read, as in BLAS."""
    vectors, matrices = blas.gemv_no_inplace(y, s, m, x, s - s), blas.gemm_no_inplace(m, s, m, m.T @ m, s - s)
    unknown = np.array([np.inf, np.nan, 1.0])
    compare([y, s, m, x], vectors, [(unknown, np.float64(2.0), M, X[:4]), (X[:3], np.float64(0.5), M, X[:4])])
    compare([m, s], matrices, [(M, np.float64(2.0))])


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.parametrize("number", [np.float64(2.0), np.float64(0.0)])
def test_products_are_not_repeated_to_what_they_are_added_to(number):
    row = blas.gemv_no_inplace(y, s, m, x, s)
    compare([y, s, m, x], row, [(X[:3], number, M[:1], X[:4]), (X[:1], number, M, X[:4]), (X[:3], number, M, X[:4])])
    if not hasattr(blas, "ger"):  # newer versions of PyTensor have none
        return
    matrix = blas.ger(m, s, y, x)
    calls = [(M[:, :1], number, X[:3], X[:4]), (M, number, X[:1], X[:4]), (M, number, X[:3], X[:4])]
    compare([m, s, y, x], matrix, calls)


@pytest.mark.filterwarnings(FALLBACK)
def test_permutations_of_complex_matrices_are_real_whoever_computes_them():
    factors, other = pt.linalg.lu(z), pt.linalg.lu_factor(m)
    assert isinstance(factors, list)
    function = pytensor.function([z, m], [factors[0], other[0]], mode="NUMBAGRAPH")
    for matrix in (M[:, :3], M):  # of the latter, PyTensor runs both
        assert function(Z, matrix)[0].dtype == np.float64


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_incomplete_gamma_functions_that_overflow_in_single_precision():
    k, x = pt.fvector("k"), pt.fvector("x")
    outputs = [pt.gammal(k, x), pt.gammau(k, x)]
    numbers = np.array([0.5, 3.0, 127.0, 127.0, 40.0], "f4"), np.array([0.1, 2.0, 0.0, 1e-3, 1.0], "f4")
    ours, plain = (pytensor.function([k, x], outputs, mode=each)(*numbers) for each in ("NUMBAGRAPH", PLAIN))
    for found, expected in zip(ours, plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.filterwarnings("ignore:An ill-conditioned matrix detected")
def test_equations_of_matrices_that_are_no_numbers():
    """PyTensor's answer is NaN, where SciPy's functions raise an error: a chain must not end there."""
    outputs = [
        pt.linalg.solve_sylvester(m, m, m),
        pt.linalg.solve_discrete_lyapunov(m, m @ m.T, method="bilinear"),
    ]
    for each in outputs:
        compare([m], each, [(np.eye(3) / 2 + 0.1,), (NOT_A_NUMBER * np.nan,), (NOT_A_NUMBER + np.nan,)])


# ---- branches and loops ----


@pytest.mark.filterwarnings(FALLBACK)
def test_branches_of_several_lengths():
    chosen = conditional.ifelse(s > 0, x, y)
    calls = [(a, b, each) for a, b in ((X, X), (X, X[:2]), (X[:0], X)) for each in (1.0, -1.0)]
    compare([x, y, s], [chosen * 2, chosen.sum()], calls)


@pytest.mark.filterwarnings(FALLBACK)
@pytest.mark.parametrize("outer", ["NUMBAGRAPH", PLAIN], ids=["mode", "plain"])
def test_loops_whose_steps_are_native(outer):
    """PyTensor wants a `VMLinker` inside of the loop of a derivative, which writes its updates itself."""

    def total(mode):
        steps = pytensor.scan(
            lambda value, before: before * 0.5 + pt.exp(-value),
            sequences=x,
            outputs_info=s,
            return_updates=False,
            mode=mode,
        )
        result = (steps**2).sum()
        return [result, *pytensor.grad(result, [x, s])]

    with pytensor.config.change_flags(cxx=""):
        found = pytensor.function([x, s], total("NUMBAGRAPH"), mode=outer)(X, 0.3)
        expected = pytensor.function([x, s], total("FAST_COMPILE"), mode=PLAIN)(X, 0.3)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_updates_that_exchange_values():
    first, second = (pytensor.shared(each) for each in (1.0, 2.0))
    exchange = pytensor.function([], first + second * 10, updates={first: second, second: first}, mode="NUMBAGRAPH")
    assert [exchange(), exchange()] == [21.0, 12.0]


@pytest.mark.parametrize("kind", ["stable", "mergesort"])
def test_a_stable_order_keeps_equal_elements_of_long_vectors(kind):
    x = pt.dvector("x")
    order = pytensor.function([x], pt.argsort(x, kind=kind), mode="NUMBAGRAPH")
    numbers = np.random.default_rng(0).integers(0, 6, 200).astype(float)
    np.testing.assert_array_equal(order(numbers), np.argsort(numbers, kind="stable"))


def test_an_order_of_another_length_is_refused():
    x = pt.dvector("x")
    permuted = pytensor.function([x], pt.permute_row_elements(x, pt.as_tensor([2, 0, 1])), mode="NUMBAGRAPH")
    np.testing.assert_array_equal(permuted(np.array([1.0, 2.0, 3.0])), [3.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="a place for each element"):
        permuted(np.array([1.0, 2.0]))


@pytest.mark.skipif(not hasattr(pm.math, "LogDet"), reason="this version has no such op")
def test_the_logarithm_of_a_determinant_of_no_numbers_is_refused():
    x = pt.dmatrix("x")
    compiled = pytensor.function([x], pm.math.LogDet()(x), mode="NUMBAGRAPH")
    np.testing.assert_allclose(compiled(np.diag([2.0, 3.0])), np.log(6))
    for number in (np.nan, np.inf):
        with pytest.raises(ValueError, match="infs or NaNs"):
            compiled(np.diag([2.0, number]))


@pytest.mark.skipif(not hasattr(pm.math, "LogDet"), reason="this version has no such op")
def test_the_logarithm_of_determinants_is_that_of_all_matrices():
    matrices = pt.dtensor3("matrices")
    compare([matrices], pm.math.LogDet()(matrices), [(np.stack([np.diag([2.0, 3.0]), M[:2, :2] + np.eye(2)]),)])


def test_checks_of_arrays_without_elements():
    """They are part of no element that is computed."""
    checked, some = pytensor.raise_op.Assert("too large"), x[k:2]
    small = m.sum() < 9
    calls = [(a, b, c) for a in (X[:3], X[:0]) for b in (M, M / 99) for c in np.int64([1, 2, -1])]
    compare([x, m, k], [checked(x, small)], calls)
    compare([x, m, k], [some, checked(some, small) * 2], calls)


@pytest.mark.parametrize("length", [0, 2])
def test_checks_of_arrays_without_elements_in_branches_and_loops(length):
    checked, step = pytensor.raise_op.Assert("too large"), lambda row, before: checked(before * 2, row.sum() < 9)
    steps = pytensor.scan(step, m, x, return_updates=False)
    chosen = conditional.ifelse(k > 0, checked(x, m.sum() < 9), x)
    ours = pytensor.function([x, m, k], [steps, chosen], mode="NUMBAGRAPH")
    assert [each.shape for each in ours(X[:length], M[:0], 1)] == [(0, length), (length,)]
    ours = pytensor.function([x, m, k], chosen, mode="NUMBAGRAPH")
    np.testing.assert_array_equal(ours(X[:length], M, 0), X[:length])
    with pytest.raises(AssertionError, match="too large"):
        ours(X[:length], M, 1)
    ours = pytensor.function([x, m], steps, mode="NUMBAGRAPH")
    with pytest.raises(AssertionError, match="too large"):
        ours(X[:length], M)


def test_nothing_times_the_logarithm_of_nan_is_nothing():
    """PyTensor's function looks at the first operand alone."""
    product = getattr(pt.special, "xlogy", None) or pt.xlogx.xlogy0
    compiled, known = (pytensor.function([x, y], product(x, y), mode=mode) for mode in ("NUMBAGRAPH", "FAST_COMPILE"))
    first, second = np.array([0.0, -0.0, 2.0, np.nan, 0.0]), np.array([np.nan, np.nan, np.nan, 0.0, 0.0])
    np.testing.assert_array_equal(compiled(first, second), known(first, second))
