"""Products, sums and comparisons of two sparse arrays, rows and columns of one, and extrema: SciPy is the reference."""

import itertools
import operator
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from numbagraph import TraceError, grad, graph_jit, vmap

FORMATS = ("csr", "csc", "coo")
SOME = ("csr csr", "csc csc", "coo coo", "csr csc", "csc coo", "coo csr")
"""Each format on both sides, with itself and with another one."""

PAIRS = [
    pytest.param(*pair, marks=() if " ".join(pair) in SOME else pytest.mark.repeats)
    for pair in itertools.product(FORMATS, FORMATS)
]
DTYPES = "bool int8 uint8 int32 uint64 int64 float32 float64 complex64 complex128".split()


def random(rows, columns, form="csr", dtype=float, seed=0, density=0.4):
    array = sp.random_array((rows, columns), density=density, rng=seed)
    array.data = np.round(array.data * 10 - 5)
    return array.astype(np.int8).astype(dtype).asformat(form)


def doubled(array):
    """The same array with elements that are there in two parts, in another order."""
    coo = array.tocoo()
    order = np.random.default_rng(0).permutation(2 * coo.nnz)
    data = np.concatenate([coo.data * 2, -coo.data])
    row, column = (np.concatenate([each, each])[order] for each in coo.coords)
    coo = sp.coo_array((data[order], (row, column)), shape=array.shape)
    if array.format == "coo":
        return coo
    major, minor = (row, column) if array.format == "csr" else (column, row)
    by_rows = np.argsort(major, kind="stable")
    lengths = array.shape if array.format == "csr" else array.shape[::-1]
    starts = np.append(0, np.cumsum(np.bincount(major, minlength=lengths[0])))
    parts = data[order][by_rows], minor[by_rows].astype(np.int32), starts.astype(np.int32)
    return type(array)(parts, shape=array.shape)


def canonical(array):
    """SciPy drops some zeros, and leaves the order of elements open."""
    array = array.tocsr()
    array.sum_duplicates()
    array.eliminate_zeros()
    array.sort_indices()
    return array


def assert_same(found, expected):
    if sp.issparse(expected):
        assert (found.format, found.shape, found.dtype) == (expected.format, expected.shape, expected.dtype)
        if found.format != "coo":
            assert found.indices.dtype == expected.indices.dtype
            assert len(found.data) == len(found.indices) == found.indptr[-1]
            distinct = found.copy()
            distinct.sum_duplicates()
            assert distinct.nnz == found.nnz
        found, expected = canonical(found), canonical(expected)
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_array_equal(found.indices, expected.indices)
        found, expected = found.data, expected.data
    assert type(found) is type(expected)
    assert (np.shape(found), np.asarray(found).dtype) == (np.shape(expected), np.asarray(expected).dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if np.asarray(found).dtype.itemsize < 8 else 1e-12)


def agrees(function, *args):
    """With SciPy; arguments stay as they are, and results share no memory with them."""
    before = [each.copy() for each in args if sp.issparse(each)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
        expected = function(*args)
    found = graph_jit(function)(*args)
    assert_same(found, expected)
    for array, own in zip([each for each in args if sp.issparse(each)], before, strict=True):
        np.testing.assert_array_equal(array.data, own.data)
        if sp.issparse(found):
            assert not np.shares_memory(found.data, array.data)
            found.data[...] = 0


TOGETHER = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "!=": operator.ne, "<": operator.lt, ">": operator.gt
}  # fmt: skip


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_products(left, right):
    agrees(operator.matmul, random(5, 4, left), random(4, 6, right, seed=1))
    agrees(operator.matmul, doubled(random(5, 4, left)), doubled(random(4, 6, right, seed=1)))
    for shapes in (((0, 4), (4, 3)), ((3, 0), (0, 2)), ((1, 1), (1, 1)), ((3, 4), (4, 0)))[
        :: 1 if left == right else 2
    ]:
        agrees(operator.matmul, random(*shapes[0], left), random(*shapes[1], right, seed=1))
    agrees(operator.matmul, random(3, 4, left, density=0), random(4, 3, right))
    agrees(lambda a, b: a.dot(b) @ a, random(5, 4, left), random(4, 5, right, seed=1))


@pytest.mark.repeats
@pytest.mark.parametrize(("left", "right"), PAIRS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.repeats if name in ("-", ">") else ()) for name in TOGETHER]
)
def test_arrays_of_other_patterns(left, right, name):
    function = TOGETHER[name]
    agrees(function, random(5, 4, left), random(5, 4, right, seed=1))
    for shape in ((0, 4), (4, 0), (1, 1))[: 3 if left == right else 0]:
        agrees(function, random(*shape, left), random(*shape, right, seed=1))
    if name != "*":
        agrees(function, doubled(random(5, 4, left)), doubled(random(5, 4, right, seed=1)))


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("own", DTYPES)
@pytest.mark.parametrize(
    "other", ["bool", *(pytest.param(each, marks=pytest.mark.repeats) for each in ("float32", "uint64"))]
)
def test_dtypes(own, other):
    left, right, terms = random(5, 4, dtype=own), random(4, 5, dtype=other, seed=1), random(5, 4, dtype=other, seed=2)
    agrees(operator.matmul, left, right)
    agrees(operator.add, left, terms)
    agrees(operator.ne, left, terms)
    if "bool" not in (own, other):
        agrees(operator.sub, left, terms)
        agrees(lambda a, b: a - b.toarray(), left, terms)


@pytest.mark.parametrize(("left", "right"), [("csr", "csr"), ("csc", "csr"), ("csr", "csc")])
def test_positions_of_64_bits(left, right):
    def wide(array):
        array.indices, array.indptr = array.indices.astype(np.int64), array.indptr.astype(np.int64)
        return array

    a, b = random(5, 4, left), random(4, 5, right, seed=1)
    for one, two in ((wide(a.copy()), b), (a, wide(b.copy())), (wide(a.copy()), wide(b.copy()))):
        found = graph_jit(operator.matmul)(one, two)
        assert found.indices.dtype == np.int64
        np.testing.assert_allclose(found.toarray(), (a @ b).toarray())


def test_numbers_that_are_none():
    a, b = random(5, 4), random(4, 5, seed=1)
    a.data[:2], b.data[:3] = (np.nan, np.inf), (-np.inf, -0.0, np.nan)
    found, expected = graph_jit(operator.matmul)(a, b), a @ b
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    agrees(operator.ne, a, b.T.tocsr())
    agrees(operator.lt, a, b.T.tocsr())
    agrees(operator.gt, a, np.nan)
    agrees(operator.eq, a, np.nan)


@pytest.mark.parametrize("form", FORMATS)
def test_comparisons_with_numbers(form):
    array = random(5, 4, form)
    for compare, number in ((">", 1), ("<", -1.5), ("==", 2), ("!=", 0), (">=", 0.5), ("<=", -1), (">", 0)):
        function = {
            ">": operator.gt, "<": operator.lt, "==": operator.eq, "!=": operator.ne, ">=": operator.ge,
            "<=": operator.le,
        }[compare]  # fmt: skip
        agrees(lambda a, f=function, n=number: f(a, n), array)
        agrees(function, array, number)
        agrees(function, array, np.full((5, 4), number))
    with pytest.raises(TraceError, match=r"a comparison with 1 .*: it holds where neither has an element"):
        graph_jit(lambda a: a < 1)(array)
    with pytest.raises(ValueError, match="it holds where neither has an element"):
        graph_jit(lambda a, n: a < n)(array, 1.0)
    with pytest.raises(TraceError, match="this comparison of two sparse arrays"):
        graph_jit(lambda a: a == a.T.T)(array)


@pytest.mark.parametrize("form", FORMATS)
def test_comparisons_with_what_is_no_number(form):
    """`A == None` asks whether there is an array."""
    array = random(5, 4, form)
    for thing in (None, object(), {}):
        found = graph_jit(lambda a, thing=thing: (a == thing, a != thing, thing == a))(array)
        assert found == (array == thing, array != thing, thing == array) == (False, True, False)
        with pytest.raises(TypeError, match="not supported between instances"):
            graph_jit(lambda a, thing=thing: a < thing)(array)
    assert graph_jit(lambda a, b: a.sum() if b == None else (a @ b).sum())(array, None) == array.sum()  # noqa: E711
    own = graph_jit(lambda a: a.sum() if a != None else 0.0)(array)  # noqa: E711
    np.testing.assert_allclose(own, array.sum())
    with pytest.raises(TypeError, match="with 'x'"):
        graph_jit(lambda a: a == "x")(array)


@pytest.mark.parametrize("form", FORMATS)
def test_extrema(form):
    array = random(5, 4, form)
    full = sp.csr_array(np.arange(1.0, 7).reshape(2, 3)).asformat(form)
    for each in (array, full, -full, array.astype(np.int8), array.astype(bool), array * 0, full * np.nan):
        agrees(lambda a: a.max(), each)
        agrees(lambda a: a.min(), each)
    agrees(lambda a: a.max(), random(3, 3, form, density=0))
    with pytest.raises(ValueError, match="zero-size array"):
        graph_jit(lambda a: a.max())(random(0, 3, form))
    with pytest.raises(TraceError, match="along an axis"):
        graph_jit(lambda a: a.max(axis=0))(array)


@pytest.mark.parametrize("form", FORMATS)
def test_single_elements(form):
    array = doubled(random(5, 4, form))
    at = graph_jit(lambda a, i, j: a[i, j])
    for i, j in itertools.product(range(-5, 5), range(-4, 4)):
        assert_same(at(array, i, j), array.tocsr()[i, j])
    for i, j in ((5, 0), (-6, 0), (0, 4), (0, -5)):
        with pytest.raises(IndexError):
            at(array, i, j)
    assert_same(graph_jit(lambda a: a[2, -1])(array), array.tocsr()[2, -1])


KEYS = {
    "rows": lambda a, i: a[i], "columns": lambda a, i: a[:, i], "slice": lambda a, i: a[1:3],
    "reversed": lambda a, i: a[::-1], "slices": lambda a, i: a[1:4, ::2], "columns of rows": lambda a, i: a[i][:, [1]],
    "list": lambda a, i: a[[0, 2, -1]], "nothing": lambda a, i: a[[]], "behind": lambda a, i: a[9:],
    "all": lambda a, i: a[:], "dots": lambda a, i: a[..., 1:], "traced": lambda a, i: a[i[0] : i[1]],
    "mask": lambda a, i: a[np.array([True, False, True, True])], "both": lambda a, i: a[1:, i],
    "pair of lists": lambda a, i: a[2:4, [0, 0]],
}  # fmt: skip


@pytest.mark.repeats(but_each=9)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", KEYS)
def test_rows_and_columns(form, name):
    agrees(KEYS[name], random(4, 4, form), np.array([0, 3, 3, -2]))


CHOSEN = {
    "every second": slice(None, None, 2), "middle": slice(1, 4), "reversed": slice(None, None, -1),
    "behind": slice(9, None), "one": slice(2, 3), "list": [3, 0, 2], "repeated": [3, 0, 3, 3],
    "following": [1, 2, 3], "nothing": [], "mask": np.array([True, False, True, True, False, True]),
}  # fmt: skip


@pytest.mark.repeats(but_each=11)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", CHOSEN)
def test_chosen_rows_and_columns_are_copies(form, name):
    """Elements keep their order, and stay apart where two are at one place, as in SciPy."""
    key = CHOSEN[name]
    for array in (random(6, 6), doubled(random(6, 6)), random(6, 6, density=0)):
        array = array.asformat(form)
        for choose in (lambda a: a[key], lambda a: a[:, key]):
            try:
                expected = choose(array)
            except NotImplementedError:  # of a COO array SciPy has no masks
                expected = choose(array.tocsr()).tocoo()
            assert_same_parts(graph_jit(choose)(array), expected)


def assert_same_parts(found, expected):
    assert (found.format, found.shape, found.dtype) == (expected.format, expected.shape, expected.dtype)
    if found.format == "coo":  # SciPy sorts in some cases, and has positions of 64 bits
        parts = [np.array([each.row, each.col, each.data]) for each in (found, expected)]
        np.testing.assert_array_equal(*(each[:, np.lexsort(each)] for each in parts))
        return
    for part in ("data", "indices", "indptr"):
        one, another = getattr(found, part), getattr(expected, part)
        np.testing.assert_array_equal(one, another)
        assert one.dtype == another.dtype


def test_positions_out_of_bounds():
    for function in (lambda a, i: a[i], lambda a, i: a[:, i]):
        with pytest.raises(IndexError):
            graph_jit(function)(random(4, 4), np.array([0, 4]))
    with pytest.raises(TraceError, match="an index of pairs of positions of a csr_array"):
        graph_jit(lambda a: a[[0], [1]])(random(4, 4))


WEIGHTS = np.random.default_rng(4).normal(size=(4, 4))
SCALARS = {
    "product": lambda a, b: ((a @ b).toarray() * WEIGHTS).sum(),
    "sum": lambda a, b: ((a + b).toarray() * WEIGHTS).sum(),
    "difference": lambda a, b: (((a - b) * (a - b)).toarray() * WEIGHTS).sum(),
    "square": lambda a, b: (a @ a @ b).power(2).sum(),
    "rows": lambda a, b: (a[[1, 1, 0]] @ b[:, 1:]).power(2).sum(),
    "columns": lambda a, b: (a[:, [1, 1, 0]] @ b[:3, [3, 0]]).power(2).sum(),
    "element": lambda a, b: a[1, 1] ** 2 + a[0, 2] * b[2, 3],
    "largest": lambda a, b: a.max() * b.min(),
}


@pytest.mark.repeats(but_each=9)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", SCALARS)
def test_derivatives(form, name):
    """Against differences, of the elements of both arrays."""
    function = SCALARS[name]
    a, b = random(4, 4, "csr", seed=3, density=0.6).asformat(form), random(4, 4, form, seed=5, density=0.6)
    for each in (a, b):
        each.data += np.random.default_rng(1).normal(size=each.nnz) * 0.3
    for argnum in (0, 1):
        slope = graph_jit(grad(function, argnum))(a, b)
        given = (a, b)[argnum]
        assert slope.format == form
        assert slope.nnz == given.nnz
        for number in range(given.nnz):
            ends = []
            for step in (1e-6, -1e-6):
                moved = given.copy()
                moved.data[number] += step
                ends.append(function(*((moved, b) if argnum == 0 else (a, moved))))
            difference = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(slope.data[number], difference, rtol=1e-5, atol=1e-6)


def test_lengths_need_no_new_version():
    function = graph_jit(operator.matmul)
    for seed, (m, k, n) in enumerate([(3, 4, 5), (6, 2, 4), (2, 7, 3)]):
        a, b = random(m, k, seed=seed), random(k, n, seed=seed + 9)
        assert_same(function(a, b), a @ b)


def test_captured_arrays_and_loops():
    b = random(4, 4, seed=1)

    @graph_jit
    def powers(a):
        total = 0.0
        for i in range(3):
            total += (a @ b).sum() * i
        return total, b @ a, a + b

    a = random(4, 4)
    total, product, added = powers(a)
    np.testing.assert_allclose(total, 3 * (a @ b).sum())
    assert_same(product, b @ a)
    assert_same(added, a + b)


def test_batches_are_refused_or_right():
    a, b = random(4, 4), random(4, 4, seed=1)
    x = np.arange(8.0).reshape(2, 4)
    found = graph_jit(lambda a, b, x: vmap(lambda row: (a @ b) @ row)(x))(a, b, x)
    np.testing.assert_allclose(found, ((a @ b) @ x.T).T)


@pytest.mark.parametrize("operation", [operator.matmul, operator.add])
@pytest.mark.parametrize("which", [0, 1])
def test_patterns_that_are_none(operation, which):
    function = graph_jit(operation)
    for part, number in (("indices", 4), ("indices", -1), ("indptr", 99), ("indptr", -1)):
        pair = [random(4, 4), random(4, 4, seed=1)]
        getattr(pair[which], part)[1] = number
        with pytest.raises(ValueError, match="pattern of a sparse array"):
            function(*pair)


@pytest.mark.parametrize(
    "choose", [lambda a: a[:2], lambda a: a[:, :2], lambda a: a[:, [2, 0]], lambda a: a[:, [1, 0, 1]]]
)
def test_rows_and_columns_of_patterns_that_are_none(choose):
    """SciPy reads beyond the array, or gives elements that are not there."""
    function = graph_jit(choose)
    for number, wrong in ((1, 99), (1, -1), (0, 1), (4, 2)):
        array = random(4, 4)
        array.indptr[number] = wrong
        with pytest.raises(ValueError, match="pattern of a sparse array"):
            function(array)


@pytest.mark.parametrize("columns", [slice(2), [2, 0], [1, 0, 1]])
@pytest.mark.parametrize("wrong", [4, -1, 10**8, -(10**8)])
def test_columns_of_indices_that_are_none(columns, wrong):
    array = random(4, 4)
    array.indices[1] = wrong
    with pytest.raises(ValueError, match="pattern of a sparse array"):
        graph_jit(lambda a: a[:, columns])(array)
    array = random(4, 4, "coo")
    array.col[1] = wrong
    with pytest.raises(ValueError, match="pattern of a sparse array"):
        graph_jit(lambda a: a[:, columns])(array)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="dimension mismatch"):
        graph_jit(operator.matmul)(random(3, 4), random(3, 4))
    with pytest.raises(ValueError, match="inconsistent shapes"):
        graph_jit(operator.add)(random(3, 4), random(4, 3))
