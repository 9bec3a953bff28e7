"""The kernels of `examples/kernels` compute what they say: against SciPy, zlib, and what is known of the results."""

import ast
import copy
import inspect
import zlib

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.sparse

from examples.kernels import KERNELS, arguments

close = np.testing.assert_allclose


def run(name, size="small"):
    """The result, what was given, and the arguments after the call."""
    changed = arguments(name, size)
    given = copy.deepcopy(changed)
    return KERNELS[name](*changed), given, changed


@pytest.mark.parametrize("name", KERNELS)
def test_sources(name):
    function = KERNELS[name]
    source = inspect.getsource(function)
    assert function.__doc__
    assert len([line for line in source.splitlines() if line.strip()]) >= 10
    imported = ast.walk(ast.parse(inspect.getsource(inspect.getmodule(function))))
    names = [each.names[0].name for each in imported if isinstance(each, ast.Import | ast.ImportFrom)]
    assert set(names) <= {"numpy", "math", "cmath"}


@pytest.mark.parametrize("name", KERNELS)
def test_arguments_are_the_same_each_time_and_of_other_lengths(name):
    small, again, other = (arguments(name, size) for size in ("small", "small", "other"))
    np.testing.assert_equal(again, small)
    lengths = [[np.shape(each) or each for each in args] for args in (small, other)]
    assert lengths[0] != lengths[1]


def both(name):
    """The same on the same arguments in both styles: results and changed arguments."""
    first, second = arguments(name, "small"), arguments(name, "small")
    return KERNELS[name](*first), KERNELS[f"{name}_loops"](*second), first, second


def test_heat_and_diffusion():
    heat, loops, changed, _ = both("heat_3d")
    after = arguments("heat_3d", "small")
    KERNELS["heat_3d"](*after[:2], 10)
    close(loops, changed[0], rtol=1e-9)
    assert np.ptp(heat) > 0
    first, second = both("horizontal_diffusion")[:2]
    close(first[0], second[0], rtol=1e-5, atol=1e-6)
    assert first[1] == second[1] > 0


def test_fields():
    energy, energy_loops, fields, fields_loops = both("fdtd_2d")
    close(energy, energy_loops, rtol=1e-12)
    close(fields[0], fields_loops[0], rtol=1e-9, atol=1e-12)


def test_poisson():
    (u, f, h, _) = arguments("jacobi_2d", "small")
    solution, change = KERNELS["jacobi_2d"](u, f, h, 3000)
    laplacian = solution[2:, 1:-1] + solution[:-2, 1:-1] + solution[1:-1, 2:] + solution[1:-1, :-2]
    close(laplacian - 4 * solution[1:-1, 1:-1], h * h * f[1:-1, 1:-1], atol=1e-12)
    assert change < 1e-12
    steps, _ = KERNELS["jacobi_2d_loops"](u, f, h, 1e-13, 3000)
    assert 20 < steps < 3000
    close(u, solution, atol=1e-10)


def test_triangular_systems():
    for name in ("forward_substitution", "forward_substitution_loops"):
        result, (lower, b), _ = run(name)
        close(result[0] if isinstance(result, tuple) else result, scipy.linalg.solve_triangular(lower, b, lower=True))
    (x, _), (upper, b), _ = run("back_substitution")
    close(x, scipy.linalg.solve_triangular(upper, b))
    determinant, (upper, b), (_, x) = run("back_substitution_loops")
    close(x, scipy.linalg.solve_triangular(upper, b))
    close(determinant, np.linalg.det(upper))
    inverse, (lower,), _ = run("lower_inverse_loops")
    close(inverse @ lower, np.eye(len(lower)), atol=1e-5)


def test_factorisations():
    result, (a,), (factors,) = run("lu")
    close(np.tril(factors, -1) @ np.triu(factors) + np.triu(factors), a)
    close(result, np.linalg.slogdet(a)[::-1])
    (factors, order, sign), (a,), _ = run("lu_loops")
    close(np.tril(factors, -1) @ np.triu(factors) + np.triu(factors), a[order])
    close(sign * np.prod(np.diag(factors)), np.linalg.det(a))
    (lower, logarithm), (a,), _ = run("cholesky")
    close(lower, np.linalg.cholesky(a), atol=1e-12)
    close(logarithm, np.linalg.slogdet(a)[1])
    definite, (a,), (lower,) = run("cholesky_loops")
    close(lower, np.linalg.cholesky(a), atol=1e-12)
    assert definite
    assert not KERNELS["cholesky_loops"](-a)
    (q, r), (a,), _ = run("gram_schmidt")
    close(q @ r, a)
    close(q.T @ q, np.eye(len(r)), atol=1e-12)
    _, (a, _), (q, r) = run("gram_schmidt_loops")
    close(q @ r, a)
    close(q.T @ q, np.eye(len(r)), atol=1e-12)


def test_sequences():
    kitten, sitting = (np.frombuffer(text, np.uint8) for text in (b"kitten", b"sitting"))
    assert KERNELS["edit_distance"](kitten, sitting) == KERNELS["edit_distance_loops"](kitten, sitting) == 3
    length, in_a, in_b = KERNELS["common_subsequence_loops"](kitten, sitting)
    assert length == 4
    assert bytes(kitten[in_a[:4]]) == bytes(sitting[in_b[:4]]) == b"ittn"
    (path, logarithm), (start, transition, emission), _ = run("viterbi")
    total = start[path[0]] + emission[0, path[0]]
    for t in range(1, len(path)):
        total += transition[path[t - 1], path[t]] + emission[t, path[t]]
    close(logarithm, total)
    again = np.zeros_like(path)
    assert KERNELS["viterbi_loops"](start, transition, emission, again) == pytest.approx(logarithm)
    np.testing.assert_equal(again, path)


def test_knapsack():
    weights, values = np.array([3, 4, 2, 7]), np.array([4, 5, 3, 9])
    assert KERNELS["knapsack"](weights, values, np.zeros(11, int)) == (13, 10)
    best, chosen, weight = KERNELS["knapsack_loops"](weights, values, 10)
    assert best == values[chosen].sum() == 13
    assert weight == weights[chosen].sum() == 10


def test_shortest_ways():
    (longest, i, j), (distance,), (shortest,) = run("floyd_warshall")
    known = scipy.sparse.csgraph.floyd_warshall(distance)
    close(shortest, known)
    assert longest == known[i, j] == known[np.isfinite(known)].max()
    (length, before), (distance,), _ = run("floyd_warshall_loops")
    known, predecessors = scipy.sparse.csgraph.floyd_warshall(distance, return_predecessors=True)
    close(length, known)
    np.testing.assert_equal(before < 0, predecessors < 0)


def test_bodies():
    x, v, *others = arguments("n_body", "small")
    first, velocities, energy = KERNELS["n_body"](x, v, *others)
    close(energy, energy[0], rtol=1e-3)
    assert KERNELS["n_body_loops"](x, v, *others) == pytest.approx(energy[-1])
    close(x, first)
    close(v, velocities)


def test_escape():
    counts, inside = KERNELS["mandelbrot"](np.array([0.0, -1.0, 1.0, 0.5j, 2.1]), 50)
    np.testing.assert_equal(counts, [50, 50, 3, 50, 1])
    np.testing.assert_equal(inside, [True, True, False, True, False])
    x, y, most = arguments("mandelbrot_loops", "small")
    counts = KERNELS["mandelbrot"](x + 1j * y[:, None], most)[0]
    np.testing.assert_equal(KERNELS["mandelbrot_loops"](x, y, most), counts)
    low, high, c, counts, most = arguments("julia_loops", "small")
    stay = KERNELS["julia_loops"](low, high, c, counts, most)
    grid = np.linspace(low.real, high.real, 8) + 1j * np.linspace(low.imag, high.imag, 7)[:, None]
    shade = KERNELS["julia"](grid, c, most)
    assert stay == np.sum(shade == most)
    close(shade, counts, atol=1.01)


def test_clusters():
    (centres, labels, rounds), (points, given, most), _ = run("k_means")
    assert 1 < rounds <= most
    for k in range(4):
        close(centres[k], points[labels == k].mean(axis=0))
    again = given.copy()
    labels_again, error = KERNELS["k_means_loops"](points, again, most)
    np.testing.assert_equal(labels_again, labels)
    close(again, centres)
    close(error, np.sum((points - centres[labels]) ** 2))
    (_, shares), (points, *_), _ = run("soft_k_means")
    close(shares.sum(axis=1), 1, rtol=1e-5)
    assert shares.dtype == np.float32


def test_convolutions():
    result, (images, filters, bias), _ = run("conv2d")
    known = [
        sum(scipy.signal.correlate2d(images[0, ..., c], filters[..., c, o], "valid") for c in range(3)) + bias[o]
        for o in range(4)
    ]
    close(result[0], np.maximum(np.stack(known, axis=-1), 0), rtol=1e-4, atol=1e-5)
    (result, place), (image, kernel), _ = run("conv2d_windows")
    close(result, scipy.signal.correlate2d(image, kernel, "valid"))
    assert result[place] == result.max()
    _, (image, kernel, _), (*_, result) = run("conv2d_loops")
    close(result, scipy.signal.correlate2d(image, kernel, "same"), rtol=1e-4, atol=1e-5)


def test_transforms():
    (result, power), (x,), _ = run("stockham")
    close(result, np.fft.fft(x))
    close(power, np.abs(np.fft.fft(x)) ** 2)
    result, (x,), _ = run("stockham_loops", "other")
    close(result, np.fft.fft(x))
    result, (x, _), _ = run("stockham_batched")
    close(result, np.fft.fft(x, axis=1))


def test_checksums():
    for name in ("crc32_bitwise", "crc32_table"):
        result, (data,), _ = run(name)
        assert result == zlib.crc32(data)
    result, (blocks,), _ = run("crc32_rows")
    assert [*result] == [zlib.crc32(block) for block in blocks]
    for name in ("adler32", "adler32_loops"):
        result, (data,), _ = run(name)
        assert result == zlib.adler32(data)


def test_histograms():
    (counts, totals, means), (x, weights, edges), _ = run("histogram")
    np.testing.assert_equal(counts, np.histogram(x, edges)[0])
    close(totals, np.histogram(x, edges, weights=weights)[0])
    close(means[counts > 0], (totals / np.maximum(counts, 1))[counts > 0])
    outside, (x, low, high, _), (*_, counts) = run("histogram_loops")
    np.testing.assert_equal(counts, np.histogram(x, 20, (low, high))[0])
    assert outside == x.size - counts.sum()


def test_rings():
    (means, deviations), (image, mask, centre, radii), _ = run("azimuthal_integration")
    i, j = np.indices(image.shape)
    ring = np.digitize(np.hypot(i - centre[0], j - centre[1]), radii) - 1
    for k in range(len(radii) - 1):
        pixels = image[(ring == k) & ~mask]
        close(means[k], pixels.mean() if pixels.size else 0)
        close(deviations[k], pixels.std() if pixels.size else 0)
    mean, (image, mask, centre, width, *_), (*_, totals, counts) = run("azimuthal_integration_loops")
    ring = (np.hypot(i - centre[0], j - centre[1]) // width).astype(int)
    close(totals, [image[(ring == k) & ~mask].sum() for k in range(10)])
    close(mean, totals[counts.argmax()] / counts.max())


def test_sparse_products():
    (product, length), (*matrix, x), _ = run("csr_vector")
    known = scipy.sparse.csr_array(tuple(matrix), shape=(len(x), len(x))) @ x
    close(product, known)
    close(length, np.linalg.norm(known))
    longest, (*matrix, x, _), (*_, product) = run("csr_vector_loops")
    close(product, scipy.sparse.csr_array(tuple(matrix), shape=(len(x), len(x))) @ x)
    assert longest == np.argmax(np.diff(matrix[2]))
    product, (*matrix, b), _ = run("csr_dense_loops")
    close(product, scipy.sparse.csr_array(tuple(matrix), shape=(len(product), len(b))) @ b, rtol=1e-4, atol=1e-5)
    (product, sums, largest), (data, rows, columns, b, size), _ = run("coo_dense")
    matrix = scipy.sparse.coo_array((data, (rows, columns)), shape=(size, size))
    close(product, matrix @ b)
    close(sums, np.bincount(columns, np.abs(data), size))
    assert largest == sums.max()
    (data, columns, starts), (given, rows, given_columns, size), _ = run("coo_to_csr_loops")
    matrix = scipy.sparse.coo_array((given, (rows, given_columns)), shape=(size, size))
    close(scipy.sparse.csr_array((data, columns, starts), shape=(size, size)).toarray(), matrix.toarray())


def test_contours():
    a, probe, centre, radius, _, moments = arguments("resolvent_moments", "small")
    trace = KERNELS["resolvent_moments"](a, probe, centre, radius, 400, moments)
    eigenvalues = np.linalg.eigvals(a)
    inside = eigenvalues[np.abs(eigenvalues - centre) < radius]
    close(trace, inside.size, atol=1e-6)
    close(np.trace(moments[1]), inside.sum(), atol=1e-6)
    close(KERNELS["resolvent_trace"](a, centre, radius, 400)[0], inside.size, atol=1e-6)
    result, (coefficients, centres, _, _, order), _ = run("cauchy_derivatives")
    p = np.polynomial.Polynomial(coefficients[::-1])
    derivatives = [p, p.deriv(), p.deriv(2), p.deriv(3)]
    known = sum(w * d(centres) for w, d in zip((1, 3, 3, 1), derivatives, strict=True)) * np.exp(centres)
    assert order == 3
    close(result, known, rtol=1e-8)
    (count, smallest), (coefficients, centre, radius, _), _ = run("zeros_inside_loops", "medium")
    assert count == np.sum(np.abs(np.roots(coefficients) - centre) < radius)
    assert smallest > 0


def test_flows():
    u, v, p, dx, dt, viscosity, _, sweeps = arguments("cavity_flow", "small")
    energy = KERNELS["cavity_flow"](u, v, p, dx, dt, viscosity, 400, sweeps)
    assert energy[-1] == pytest.approx(energy[-2], rel=1e-3)
    assert np.all(u[-1] == 1)
    assert u[1:-1].min() < 0  # what comes back below
    *given, _, sweeps = arguments("cavity_vorticity_loops", "small")
    lowest, (i, j) = KERNELS["cavity_vorticity_loops"](*given, 400, sweeps)
    assert given[0][i, j] == lowest < -0.01
    u, _, _, count = run("channel_flow")[0]
    assert 1 < count <= 30
    assert u[len(u) // 2].mean() > u[1].mean() > 0


def test_transport():
    result, (field, wind, dt, dz), _ = run("vertical_advection")
    moved = [np.moveaxis(each, 0, -1).copy() for each in (field, wind)]
    again = np.zeros_like(moved[0])
    change = KERNELS["vertical_advection_loops"](*moved, dt, dz, again)
    close(np.moveaxis(again, -1, 0), result, rtol=1e-10)
    close(change, np.abs(result - field).max())
    rate = 0.25 * dt / dz * wind[1:-1]
    slopes = (result + field)[2:] - (result + field)[:-2]
    close(result[1:-1] - field[1:-1], -rate * slopes, atol=1e-12)
    _, (before, mixing, dt, dz), (after, *_) = run("vertical_diffusion_loops")
    close(after.sum(axis=2), before.sum(axis=2), atol=1e-4)
    flux = mixing[..., 1:-1] * np.diff(after, axis=2) * dt / dz**2
    close(after - before, np.diff(flux, axis=2, prepend=0, append=0), atol=1e-4)
