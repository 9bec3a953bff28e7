"""`scipy.ndimage` on labelled images: SciPy's values and errors, derivatives, batches, computed lengths."""

import numpy as np
import optree
import pytest
from scipy import ndimage

from numbagraph import TraceError, grad, graph_jit, vmap

RNG = np.random.default_rng(0)
A = (RNG.random((9, 11)) * (RNG.random((9, 11)) > 0.55)).round(2)
LABELS = ndimage.label(A)[0]
WHOLE = (A * 9).astype(np.int8)
IMAGES = [A, A[0], A[None], A.T, A[::2, ::-1], A[:0], A > 0, A * 0, A + 1, WHOLE, A.astype(np.float32)]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001  whatever it is, it is compared
        return error


def check(function, *arguments, rtol=1e-12):
    """SciPy's values, shapes, dtypes and types, or its kind of error."""
    expected = outcome(function, arguments)
    for backend in ("numba", "numpy"):
        found = outcome(graph_jit(function, backend=backend), arguments)
        if isinstance(expected, Exception):
            assert type(found) is type(expected), found
            continue
        if isinstance(found, Exception):
            raise found
        leaves, structure = optree.tree_flatten(found)
        known, like = optree.tree_flatten(expected)
        assert structure == like
        for one, other in zip(leaves, known, strict=True):
            assert type(one) is type(other)
            np.testing.assert_allclose(one, other, rtol=rtol, strict=True)


def difference(function, point):
    found = np.zeros(point.shape)
    for place in np.ndindex(point.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = point.copy()
            moved[place] += step
            ends.append(function(moved))
        found[place] = (ends[0] - ends[1]) / 2e-6
    return found


# ---- regions ----


@pytest.mark.parametrize("image", IMAGES)
def test_labels(image):
    near = ndimage.generate_binary_structure(image.ndim, image.ndim)
    check(
        lambda a, s: (ndimage.label(a), ndimage.label(a, np.ones((3,) * a.ndim)), ndimage.label(a > 0.3, s)),
        image,
        near,
    )


def test_arguments_of_label():
    for structure in (np.ones((3, 2)), np.ones(3), np.ones((2, 3)), [[0, 1, 1], [1, 1, 0], [0, 0, 0]]):
        check(lambda a, s: ndimage.label(a, s), A, np.array(structure))
        check(lambda a, s=structure: ndimage.label(a, s), A)
    check(ndimage.label, A + 1j)
    check(lambda a: ndimage.label(a, output=np.uint8), A)
    check(lambda a: ndimage.label(a, output=np.int64)[0], A)

    def into(a):
        labels = np.zeros(a.shape, int)
        count = ndimage.label(a, output=labels)
        return labels, count

    check(into, A)
    for shape in ((2, 9, 11), (9, 1)):
        check(lambda a, s=shape: ndimage.label(a, output=np.zeros(s, int)), A)


def count_above(image, levels):
    counts = np.zeros(len(levels), int)
    for k in range(len(levels)):
        _, counts[k] = ndimage.label(image > levels[k])
    return counts


def sizes_and_sums(image):
    labels, count = ndimage.label(image)
    total = image.sum() * 0
    for i in range(1, count + 1):
        total += image[labels == i].sum() * i
    places = np.arange(1, count + 1)
    sums, means = ndimage.sum_labels(image, labels, places), ndimage.mean(image, labels, index=places)
    return total, np.bincount(labels.ravel()), sums, means, ndimage.maximum(image, labels, places), count


def largest_region(image, least):
    if image.max() > least:
        labels, _ = ndimage.label(image)
        sizes = np.bincount(labels.ravel())
        sizes[0] = 0
        return labels == np.argmax(sizes)
    return image > least


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (count_above, (A, np.array([0.1, 0.5, 2.0]))),
        (count_above, (A, np.array([]))),
        (sizes_and_sums, (A,)),
        (sizes_and_sums, (A * 0,)),
        (largest_region, (A, 0.5)),
        (largest_region, (A, 5.0)),
    ],
)
def test_programs(function, arguments):
    check(function, *arguments)


@pytest.mark.parametrize("image", IMAGES)
def test_distances(image):
    def all_of_them(a, s):
        transform = ndimage.distance_transform_edt
        places = transform(a, return_distances=False, return_indices=True)
        return transform(a), places, transform(a, s, return_indices=True), transform(a, [s] * a.ndim)

    check(all_of_them, image, 0.7)


def test_arguments_of_distances():
    check(lambda a: ndimage.distance_transform_edt(a, return_distances=False), A)
    check(lambda a: ndimage.distance_transform_edt(a, [1.0, 2.0, 3.0]), A)
    for metric in ("chessboard", "taxicab"):
        check(lambda a, m=metric: ndimage.distance_transform_cdt(a, m), A)
        check(lambda a, m=metric: ndimage.distance_transform_cdt(a, m, return_indices=True), A)
        check(lambda a, m=metric: ndimage.distance_transform_cdt(a, m, False, True), A > 0)
    check(lambda a: ndimage.binary_fill_holes(a), A)
    check(lambda a, s: ndimage.binary_fill_holes(a, s), A > 0.2, np.ones((3, 3)))


# ---- statistics ----

SEVERAL = (ndimage.sum_labels, ndimage.sum, ndimage.mean, ndimage.maximum, ndimage.minimum)
SPREADS = (ndimage.variance, ndimage.standard_deviation)


@pytest.mark.parametrize("image", [A, A > 0.5, WHOLE, A.astype(np.float32)], ids=lambda each: str(each.dtype))
@pytest.mark.parametrize("labels", [LABELS, LABELS.astype(np.int64) - 1, np.arange(11) % 3])
def test_statistics(image, labels):
    rtol = 1e-6 if image.dtype == np.float32 else 1e-12

    def all_of_them(a, b, i):
        single = [(f(a), f(a, b), f(a, b, 1)) for f in (*SEVERAL, *SPREADS, ndimage.median)]
        several = [(f(a, b, [2, 1, 2]), f(a, b, i)) for f in (*SEVERAL, *SPREADS)]
        missing = [f(a, b, [99, 1, -5, 7]) for f in (ndimage.sum_labels, ndimage.maximum, ndimage.minimum)]
        return single, several, missing, ndimage.sum_labels(a, b, [])

    check(all_of_them, image, labels, np.array([[0, 1], [2, 0]]), rtol=rtol)


def test_statistics_of_nan():
    image = np.array([1.0, np.nan, 3.0, np.nan, np.nan, 2.0, 7.0])
    labels = np.array([1, 1, 1, 2, 2, 3, 3])
    check(lambda a, b: [(f(a, b, [1, 2, 3]), f(a, b, 3), f(a, b, 1)) for f in SEVERAL], image, labels)


@pytest.mark.parametrize("image", [A, A[0], A[None], WHOLE, A.astype(np.float32)])
def test_centres(image):
    rtol = 1e-6 if image.dtype == np.float32 else 1e-12
    labels = np.broadcast_to(LABELS if image.ndim > 1 else LABELS[0], image.shape)

    def all_of_them(a, b):
        centre = ndimage.center_of_mass
        several = centre(a, b, [1, 2, 1]), centre(a, labels=b, index=np.arange(1, 3))
        return centre(a), centre(a, b), centre(a, b, 1), several

    check(all_of_them, image, labels, rtol=rtol)


# ---- derivatives and batches ----


def centres(a):
    x, y = ndimage.center_of_mass(a)
    return 2 * x + y**2 + sum(x * y**2 for x, y in ndimage.center_of_mass(a, LABELS, [1, 2, 3]))


def spreads(a):
    found = ndimage.variance(a, LABELS, [1, 2]) * np.array([2.0, 3.0])
    return found.sum() + ndimage.variance(a, LABELS, 1) + ndimage.standard_deviation(a, LABELS, [2]).sum()


def extrema(a):
    found = (ndimage.maximum(a, LABELS, [1, 2, 3]) * np.array([1.0, 2.0, 3.0])).sum()
    return found + ndimage.maximum(a, LABELS, 2) ** 2 + ndimage.minimum(a, LABELS, [3, 1])[0]


def means(a):
    return (
        ndimage.median(a, LABELS, 1) + ndimage.mean(a, LABELS, [1, 3])[1] + ndimage.sum_labels(a, LABELS, [2])[0] ** 2
    )


@pytest.mark.parametrize("function", [centres, spreads, extrema, means])
def test_derivatives(function):
    image = np.where(A > 0, A, 0.0) + RNG.random(A.shape) * 1e-3  # no two elements are equal
    np.testing.assert_allclose(grad(function)(image), difference(function, image), rtol=1e-6, atol=1e-7)


def test_nothing_is_differentiated_through_labels_and_distances():
    def weighted(a):
        labels, count = ndimage.label(a)
        return (labels * a**2).sum() * count + (ndimage.distance_transform_edt(a) * a**3).sum()

    inside = A > 0
    expected = difference(weighted, A)
    np.testing.assert_allclose(grad(weighted)(A)[inside], expected[inside], rtol=1e-6)


def test_derivatives_by_sampling():
    def weighted(s):
        return (ndimage.distance_transform_edt(A, s) ** 2 * A).sum() + ndimage.distance_transform_edt(A, s[0]).sum()

    at = np.array([0.7, 1.3])
    np.testing.assert_allclose(grad(weighted)(at), difference(weighted, at), rtol=1e-6)


def test_batches():
    def several(a):
        labels, count = ndimage.label(a)
        statistics = ndimage.sum_labels(a, LABELS, [1, 2]), ndimage.maximum(a, LABELS, [3, 1])
        return labels, count, ndimage.distance_transform_edt(a), *ndimage.center_of_mass(a), *statistics

    images = np.stack([A, A[::-1], A * 0 + 1])
    rows = [several(each) for each in images]
    for found, expected in zip(graph_jit(vmap(several))(images), zip(*rows, strict=True), strict=True):
        np.testing.assert_allclose(found, np.stack(expected), rtol=1e-12)


# ---- refusals ----


def centres_of_all(a):
    labels, count = ndimage.label(a)
    return ndimage.center_of_mass(a, labels, np.arange(1, count + 1))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (centres_of_all, "several labels needs lengths that are known"),
        (lambda a: ndimage.find_objects(ndimage.label(a)[0]), "np.nonzero"),
        (lambda a: ndimage.maximum_position(a, LABELS, 1), "unravel_index"),
        (lambda a: ndimage.median(a, LABELS, [1, 2]), "np.stack"),
        (lambda a: ndimage.distance_transform_edt(a, distances=np.zeros(a.shape)), "assign the result"),
        (lambda a: ndimage.distance_transform_cdt(a, np.ones((3, 3))), "taxicab"),
    ],
)
def test_refusals(function, text):
    with pytest.raises(TraceError, match=text):
        graph_jit(function)(A)


COMPLEX = {
    "sum of each": lambda x: ndimage.sum_labels(x, LABELS, [0, 1]),
    "mean of all": lambda x: ndimage.mean(x),
    "mean of one": lambda x: ndimage.mean(x, LABELS, 1),
    "variance of all": lambda x: ndimage.variance(x),
    "variance of one": lambda x: ndimage.variance(x, LABELS, 1),
    "variance of each": lambda x: ndimage.variance(x, LABELS, [0, 1]),
    "deviation of one": lambda x: ndimage.standard_deviation(x, LABELS, 1),
    "largest of one": lambda x: ndimage.maximum(x, LABELS, 1),
    "smallest of all": lambda x: ndimage.minimum(x),
    "centre of each": lambda x: ndimage.center_of_mass(x, LABELS, [0, 1]),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_measurements_of_complex_numbers(name):
    """SciPy adds those of several labels in doubles alone, and raises."""
    image = np.cos(np.arange(LABELS.size)).reshape(LABELS.shape) + 1j * np.arange(LABELS.size).reshape(LABELS.shape)
    try:
        expected = COMPLEX[name](image)
    except TypeError:
        with pytest.raises(TypeError, match="Cannot cast array data from dtype\\('complex128'\\)"):
            graph_jit(COMPLEX[name])(image)
    else:
        found = graph_jit(COMPLEX[name])(image)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
