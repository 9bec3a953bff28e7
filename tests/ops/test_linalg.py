"""Linear algebra beyond the values of single ops: errors and NaN, derivatives of both, chains, and large batches."""

import inspect
import threading

import numpy as np
import pytest
import scipy.linalg

import numbagraph
from numbagraph import grad, graph_jit, on_linalg_error, vmap
from numbagraph.intrinsics.emitters import fortran
from numbagraph.library.namespaces import public_function
from numbagraph.linalg import solve_triangular
from numbagraph.testing import check_gradients

BACKENDS = ["numba", "numpy"]
FAILING = {
    "cholesky": (np.linalg.cholesky, "Matrix is not positive definite"),
    "solve": (lambda a: np.linalg.solve(a, np.ones((3, 2))), "Singular matrix"),
    "inv": (np.linalg.inv, "Singular matrix"),
    "solve_triangular": (lambda a: solve_triangular(a, np.ones(3), lower=True), "singular matrix"),
}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def positive(*shape, seed=0):
    matrices = numbers(*shape, seed=seed)
    return matrices @ matrices.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def failing_batch(length):
    matrices = positive(4, length, length)
    matrices[2] = 0.0
    return matrices


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_are_numpy_s_and_name_the_line(name, backend):
    function, message = FAILING[name]
    line = inspect.getsourcelines(FAILING["solve"][0])[1] if name == "solve" else None
    compiled = graph_jit(function, backend=backend)
    good = positive(3, 3)
    compiled(good)
    with pytest.raises(np.linalg.LinAlgError, match=message) as caught:
        compiled(np.zeros((3, 3)))
    if line is not None:
        assert f"{__file__}:{line}" in str(caught.value)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("length", [3, 6, 20])
@pytest.mark.parametrize("function", [np.linalg.cholesky, np.linalg.inv])
def test_nan_for_a_block_of_code(function, length, backend):
    matrices = failing_batch(length)
    compiled = graph_jit(function, backend=backend)
    with on_linalg_error("nan"):
        found = compiled(matrices)
    assert np.isnan(found[2]).all()
    rest = [0, 1, 3]
    np.testing.assert_allclose(found[rest], function(matrices[rest]), rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(matrices)
    with on_linalg_error("nan"), on_linalg_error("raise"), pytest.raises(np.linalg.LinAlgError):
        compiled(matrices)


def test_nan_inside_of_a_traced_function():
    def f(x):
        with on_linalg_error("nan"):
            factor = np.linalg.cholesky(x)
        return np.sum(factor, (-1, -2)), np.linalg.inv(x)

    compiled = graph_jit(f)
    sums, _ = compiled(-positive(2, 3, 3))
    assert np.isnan(sums).all()
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        compiled(np.zeros((3, 3)))


def test_a_block_is_its_thread_s_own():
    compiled, caught = graph_jit(np.linalg.cholesky), []

    def call():
        try:
            compiled(-np.eye(3))
        except np.linalg.LinAlgError as error:
            caught.append(error)

    with on_linalg_error("nan"):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        assert np.isnan(compiled(-np.eye(3))).all()
    assert len(caught) == 1


def test_a_choice_that_there_is_not():
    with pytest.raises(ValueError, match="'raise', 'nan', not 'ignore'"), on_linalg_error("ignore"):
        pass


@pytest.mark.parametrize("length", [1, 3, 6, 20])
def test_nan_of_the_argument_passes(length):
    matrix = positive(length, length)
    matrix[-1, 0] = np.nan
    for function in (np.linalg.cholesky, np.linalg.inv):
        np.testing.assert_array_equal(np.isnan(graph_jit(function)(matrix))[-1, -1], True)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2, 3)])
@pytest.mark.parametrize("function", [np.linalg.cholesky, np.linalg.inv, lambda a: np.linalg.solve(a, a)])
def test_what_is_not_square(function, shape):
    with pytest.raises(np.linalg.LinAlgError):
        function(np.ones(shape))
    with pytest.raises(ValueError, match=r"square|dimension"):
        graph_jit(function)(np.ones(shape))


def test_right_hand_sides_of_another_length():
    with pytest.raises(ValueError, match="has 3 rows, and the right-hand side has 4"):
        graph_jit(np.linalg.solve)(np.eye(3), np.ones(4))


def test_a_failure_leaves_the_caller_s_array():
    compiled = graph_jit(np.linalg.cholesky)
    matrices = failing_batch(3)
    before = matrices.copy()
    with pytest.raises(np.linalg.LinAlgError):
        compiled(matrices, out=matrices)
    np.testing.assert_array_equal(matrices, before)


@pytest.mark.parametrize("length", [2, 4, 7, 18])
def test_log_density_of_normal_vectors(length):
    """A chain of core ops and loop nests, for each element of a batch, and its gradient."""

    def logp(x, mu, cov):
        factor = np.linalg.cholesky(cov)
        scaled = solve_triangular(factor, (x - mu)[..., None], lower=True)[..., 0]
        diagonal = np.diagonal(factor, axis1=-2, axis2=-1)
        return -0.5 * np.sum(scaled**2, -1) - np.sum(np.log(diagonal), -1)

    x, mu, cov = numbers(5, length), numbers(length, seed=1), positive(5, length, length)
    difference = x - mu
    right = np.linalg.solve(cov, difference[..., None])[..., 0]
    expected = -0.5 * (difference * right).sum(-1) - 0.5 * np.linalg.slogdet(cov)[1]
    np.testing.assert_allclose(graph_jit(logp)(x, mu, cov), expected, rtol=1e-12)
    total = graph_jit(grad(lambda *args: np.sum(logp(*args)), argnums=(0, 1, 2)))
    to_x, to_mu, to_cov = total(x, mu, cov)
    np.testing.assert_allclose(to_x, -right, rtol=1e-10)
    np.testing.assert_allclose(to_mu, right.sum(0), rtol=1e-10)
    symmetric = 0.5 * (right[:, :, None] * right[:, None] - np.linalg.inv(cov))
    np.testing.assert_allclose(to_cov + np.swapaxes(to_cov, -1, -2), 2 * symmetric, rtol=1e-9, atol=1e-12)


def test_one_matrix_for_a_batch_of_right_hand_sides():
    matrix, right = positive(4, 4), numbers(3, 2, 4, 5)
    np.testing.assert_allclose(graph_jit(np.linalg.solve)(matrix, right), np.linalg.solve(matrix, right), rtol=1e-12)


def test_merged_batches_that_are_too_long_for_fortran_are_numpy_s(monkeypatch):
    monkeypatch.setattr(fortran, "LONGEST", 5)
    matrix, vectors = positive(4, 4), numbers(6, 4)
    for function in (lambda a, b: a @ b[..., None], lambda a, b: np.linalg.solve(a, b[..., None])):
        for batch in (vectors, vectors[:5]):
            found = graph_jit(function, cache=False)(matrix, batch)
            np.testing.assert_allclose(found, function(matrix, batch), rtol=1e-12)


def test_results_that_nobody_wants_take_the_memory_of_one_element():
    compiled = graph_jit(lambda a: public_function("square_lu", "numbagraph.intrinsics")(a)[1])
    text = compiled.explain(positive(1000, 5, 5))
    assert "square_lu_unwanted: 200 bytes" in text


def test_failures_in_njit_code():
    numba = pytest.importorskip("numba")
    factor = graph_jit(lambda x: np.linalg.cholesky(x))

    @numba.njit
    def caller(x):
        return factor(x)

    np.testing.assert_allclose(caller(positive(3, 3)), np.linalg.cholesky(positive(3, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        caller(np.zeros((3, 3)))


def systems_of(length, dtype, *batch):
    matrices, right = positive(*batch, length, length).astype(dtype), numbers(*batch, length, 1, seed=2).astype(dtype)
    return np.roll(matrices, 1, axis=-2), matrices, right


def of_one_or_more(shuffled, matrix, right):
    """Every op that treats several small matrices at a time."""
    lower = np.linalg.cholesky(matrix)
    scaled = solve_triangular(lower, right, lower=True)
    back = solve_triangular(lower, scaled, lower=True, trans=1)
    inverse = np.linalg.inv(shuffled)
    return lower, np.linalg.cholesky(matrix, upper=True), scaled, back, np.linalg.solve(shuffled, right), inverse


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_what_is_found_does_not_depend_on_the_place_in_the_batch(length, dtype):
    """Several matrices are treated at a time; whether they fill the vectors, or not, makes no difference to a bit."""
    compiled = graph_jit(of_one_or_more)
    single = [compiled(*each) for each in zip(*systems_of(length, dtype, 37), strict=True)]
    expected = [np.stack(each) for each in zip(*single, strict=True)]
    whole = systems_of(length, dtype, 37)
    for count in (0, 1, 2, 15, 16, 17, 37):
        for found, wanted in zip(compiled(*[each[:count] for each in whole]), expected, strict=True):
            np.testing.assert_array_equal(found, wanted[:count], strict=True)


@pytest.mark.parametrize("shapes", [((5, 7), (5, 7)), ((5, 1), (5, 1)), ((5, 7), (7,)), ((5, 1), (7,)), ((1,), (37,))])
def test_batches_of_several_dimensions(shapes):
    """They are one where the elements follow each other, for all operands."""
    first, second = (systems_of(3, np.float64, *shape) for shape in shapes)
    found = graph_jit(np.linalg.solve)(first[0], second[2])
    np.testing.assert_allclose(found, np.linalg.solve(first[0], second[2]), rtol=1e-12)


@pytest.mark.parametrize("place", [0, 3, 36])
def test_one_failure_among_many(place):
    matrices = positive(37, 3, 3)
    matrices[place, 1, 1] = -1.0
    for function in (np.linalg.cholesky, lambda a: solve_triangular(a * np.tri(3), np.ones(3), lower=True)):
        wrong = matrices.copy()
        wrong[place, 1, 1] = -1.0 if function is np.linalg.cholesky else 0.0
        compiled = graph_jit(function)
        with pytest.raises(np.linalg.LinAlgError):
            compiled(wrong)
        with on_linalg_error("nan"):
            found = compiled(wrong)
        failed = np.isnan(found).reshape(37, -1)
        np.testing.assert_array_equal(failed.any(1), np.arange(37) == place)
        assert failed[place].all()


def deficient(columns):
    matrix = numbers(6, columns)
    matrix[:, 1] = matrix[:, 0]
    return matrix


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("matrix", [numbers(6, 3), numbers(3, 6), deficient(3), deficient(8)])
def test_least_squares(matrix, backend):
    """The sums of residuals have one element for each right-hand side, whatever the rank: NumPy may have none."""
    right = numbers(len(matrix), 2, seed=1)
    x, residuals, rank, s = graph_jit(np.linalg.lstsq, backend=backend)(matrix, right)
    expected = np.linalg.lstsq(matrix, right)
    np.testing.assert_allclose(x, expected[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(residuals, np.sum((right - matrix @ x) ** 2, 0), rtol=1e-10, atol=1e-12)
    assert (rank, type(rank)) == (expected[2], type(expected[2]))
    np.testing.assert_allclose(s, expected[3], atol=1e-12)


def test_least_squares_with_weights_is_differentiated():
    """The derivative of a fit to its data is what solves the normal equations."""
    matrix, right = numbers(6, 3), numbers(6, seed=1)
    jacobian = numbagraph.jacrev(lambda b: np.linalg.lstsq(matrix, b)[0])(right)
    np.testing.assert_allclose(jacobian, np.linalg.pinv(matrix), rtol=1e-10, atol=1e-12)


def test_least_squares_of_a_stack_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="3-dimensional array given"):
        graph_jit(np.linalg.lstsq)(np.ones((2, 3, 3)), np.ones(3))


def test_batches_of_least_squares():
    matrices, right = numbers(4, 6, 3), numbers(6, seed=1)
    found = graph_jit(vmap(lambda a, b: np.linalg.lstsq(a, b)[0], in_axes=(0, None)))(matrices, right)
    np.testing.assert_allclose(found, [np.linalg.lstsq(each, right)[0] for each in matrices], rtol=1e-10)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_equations_and_bands_refuse(backend):
    sylvester, bands, positive_bands = (
        graph_jit(function, backend=backend)
        for function in (
            numbagraph.linalg.solve_sylvester,
            lambda ab, b: numbagraph.linalg.solve_banded((1, 1), ab, b),
            numbagraph.linalg.solveh_banded,
        )
    )
    with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
        sylvester(np.full((2, 2), np.nan), np.eye(3), np.ones((2, 3)))
    with pytest.raises(ValueError, match="matrix 1 has 3 rows, and axis -1 of q has 4"):
        sylvester(np.eye(2), np.eye(3), np.ones((2, 4)))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        bands(np.zeros((3, 4)), np.ones(4))
    with pytest.raises(ValueError, match="1 diagonals below and 1 above the main one, but 2 rows"):
        bands(np.ones((2, 4)), np.ones(4))
    with pytest.raises(ValueError, match="the matrix has 4 columns, and the right-hand side has 5 rows"):
        bands(np.ones((3, 4)), np.ones(5))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        positive_bands(np.zeros((2, 4)), np.ones(4))
    with on_linalg_error("nan"):
        assert np.isnan(bands(np.zeros((3, 4)), np.ones(4))).all()


def test_a_stable_process_has_its_covariance():
    transition, noise = 0.3 * numbers(20, 20), positive(20, 20)
    found = graph_jit(numbagraph.linalg.solve_discrete_lyapunov)(transition, noise)
    np.testing.assert_allclose(found, transition @ found @ transition.T + noise, rtol=1e-9)


def test_discrete_lyapunov_computes_in_double_precision():
    """As SciPy does."""
    single = numbers(3, 3).astype(np.float32)
    assert graph_jit(numbagraph.linalg.solve_discrete_lyapunov)(single, single).dtype == np.float64


@pytest.mark.parametrize("options", [{}, {"permute_l": True}, {"p_indices": True}])
@pytest.mark.parametrize("matrix", [numbers(6, 3), numbers(3, 6), deficient(4), numbers(1, 4), np.zeros((4, 2))])
def test_factors_of_rectangles(matrix, options):
    found = graph_jit(lambda a: numbagraph.linalg.lu(a, **options))(matrix)
    for each, expected in zip(found, scipy.linalg.lu(matrix, **options), strict=True):
        assert each.shape == expected.shape
        np.testing.assert_allclose(each, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 3)])
def test_derivatives_of_factors_of_rectangles(shape):
    check_gradients(lambda a: numbagraph.linalg.lu(a)[1:], [numbers(*shape)], compiled=1)


def test_lapack_prints_nothing(capfd):
    matrix = np.eye(3)
    matrix[0, 1] = np.nan
    with pytest.raises(np.linalg.LinAlgError):
        graph_jit(np.linalg.eigvals)(matrix)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_determinants_with_zeros_beside_what_is_not_finite(dtype):
    """LAPACK finds a pivot that is zero, and then NumPy does not multiply."""
    f = graph_jit(lambda a: (np.linalg.det(a), *np.linalg.slogdet(a)))
    for shape in ((3, 3), (2, 4, 4), (20, 20)):
        for others in (np.nan, np.inf, 1.0):
            a = np.zeros(shape, dtype) + np.eye(shape[-1])
            a[..., 0, 0], a[..., 1, 1] = 0, others
            with np.errstate(all="ignore"):
                expected = (np.linalg.det(a), *np.linalg.slogdet(a))
            for found, wanted in zip(f(a), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("length", [1, 3, 6])
@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives_of_triangular_factors_where_the_last_pivot_is_0(length, backend):
    """Nothing is divided by that one, so the factors are as smooth as anywhere."""
    rng = np.random.default_rng(length)
    lower = np.tril(rng.uniform(-0.5, 0.5, (length, length)), -1) + np.eye(length)
    upper = np.triu(rng.uniform(1, 2, (length, length)))
    upper[-1, -1] = 0
    matrix = (lower @ upper)[rng.permutation(length)]
    weights, direction = rng.normal(size=(2, length, length))

    def loss(a, factor):
        return np.sum(np.sin(factor(a)[0]) * weights)

    def along(t):
        return loss(matrix + t * direction, scipy.linalg.lu_factor)

    derivative = grad(lambda a: loss(a, numbagraph.linalg.lu_factor))
    slope = graph_jit(lambda a: np.sum(derivative(a) * direction), backend=backend)
    h = 1e-4
    np.testing.assert_allclose(slope(matrix), (along(h) - along(-h)) / (2 * h), rtol=1e-5, atol=1e-6)
    second = graph_jit(grad(lambda a: np.sum(derivative(a) * direction)), backend=backend)
    expected = (slope(matrix + h * direction) - slope(matrix - h * direction)) / (2 * h)
    np.testing.assert_allclose(np.sum(second(matrix) * direction), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("diagonals", "right"),
    [((1, 0), (0, 2)), ((0, 0), (0, 2)), ((2, 0), (0,)), ((0, 3), (3, 0)), ((2, 3), (3, 0)), ((0, 2), (2, 2))],
)
def test_banded_systems_with_nothing_to_solve(diagonals, right):
    ab, b = np.ones(diagonals), np.ones(right)
    solve = graph_jit(lambda ab, b: numbagraph.linalg.solveh_banded(ab, b, lower=True))
    if diagonals[0] or not b.size:
        assert solve(ab, b).shape == scipy.linalg.solveh_banded(ab, b, lower=True).shape
    else:
        with pytest.raises(ValueError, match="there must be a row for the main diagonal"):
            solve(ab, b)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.complex128])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 30])
def test_eigenvalues_have_the_order_of_numpy(length, dtype):
    """LAPACK's routine for real matrices has another order than the one for complex ones."""
    given = np.trunc(5 * numbers(2, length, length, seed=length)) if dtype == np.int64 else numbers(2, length, length)
    matrices = given.astype(dtype)
    tolerance = 2e-4 if dtype == np.float32 else 1e-9
    values, vectors = graph_jit(np.linalg.eig)(matrices)
    for each in (values, graph_jit(np.linalg.eigvals)(matrices)) if dtype != np.float32 else ():
        np.testing.assert_allclose(each, np.linalg.eig(matrices)[0], tolerance, tolerance)
    for matrix, value, vector in zip(matrices if length else (), values, vectors, strict=bool(length)):
        expected = scipy.linalg.eig(matrix)  # by the same LAPACK, whose rounding signs, and orders of float32, follow
        np.testing.assert_allclose(value, expected[0], tolerance, tolerance)
        np.testing.assert_allclose(vector, expected[1], 0, 30 * tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives_of_eigenvalues_of_real_matrices(backend):
    weights = np.arange(1.0, 6.0)

    def value(a):
        values, vectors = np.linalg.eig(a)
        return np.sum(weights * np.abs(values) ** 3) + np.sum(weights * np.abs(vectors) ** 2)

    matrix = numbers(5, 5)  # with pairs of conjugates
    assert np.any(np.linalg.eigvals(matrix).imag != 0)
    step, direction = 1e-6, numbers(5, 5, seed=1)
    slope = (value(matrix + step * direction) - value(matrix - step * direction)) / (2 * step)
    found = graph_jit(grad(value), backend=backend)(matrix)
    np.testing.assert_allclose(np.sum(found * direction), slope, rtol=1e-6)
