"""Products with sparse matrices, by rows (CSR) and by coordinates (Saad, Iterative Methods for Sparse Linear Systems,
section 3.4)."""

import numpy as np


def csr_vector(data, indices, starts, x):
    """A matrix of rows times a vector: of row i there are ``data[starts[i] : starts[i + 1]]`` and their columns.

    Gives the product and its Euclidean length.
    """
    rows = starts.shape[0] - 1
    y = np.zeros(rows)
    for i in range(rows):
        first, last = starts[i], starts[i + 1]
        columns = indices[first:last]
        y[i] = data[first:last] @ x[columns]
    length = np.sqrt(y @ y)
    return y, length


def csr_vector_loops(data, indices, starts, x, y):
    """The same term by term, into ``y``; gives the index of the row with most terms."""
    longest = 0
    for i in range(starts.size - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += data[k] * x[indices[k]]
        y[i] = total
        if starts[i + 1] - starts[i] > starts[longest + 1] - starts[longest]:
            longest = i
    return longest


def csr_dense_loops(data, indices, starts, b):
    """A sparse matrix of float32 times a dense one: rows of ``b``, added up."""
    rows = len(starts) - 1
    columns = b.shape[1]
    c = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        for k in range(starts[i], starts[i + 1]):
            value = data[k]
            source = indices[k]
            for j in range(columns):
                c[i, j] += value * b[source, j]
    return c


def coo_dense(data, rows, columns, b, size):
    """A matrix of coordinates, which may repeat, times a dense one, and the sums of its columns' magnitudes."""
    gathered = b[columns]
    terms = data[:, None] * gathered
    product = np.zeros((size, b.shape[1]))
    np.add.at(product, rows, terms)
    sums = np.zeros(b.shape[0])
    np.add.at(sums, columns, np.abs(data))
    largest = sums.max()
    return product, sums, largest


def coo_to_csr_loops(data, rows, columns, size):
    """A matrix of coordinates as one of rows: count, add up, put in place; the order within a row stays."""
    starts = np.zeros(size + 1, dtype=np.int64)
    for k in range(rows.size):
        starts[rows[k] + 1] += 1
    for i in range(size):
        starts[i + 1] += starts[i]
    following = starts.copy()
    sorted_data = np.empty_like(data)
    sorted_columns = np.empty_like(columns)
    for k in range(rows.size):
        place = following[rows[k]]
        sorted_data[place] = data[k]
        sorted_columns[place] = columns[k]
        following[rows[k]] += 1
    return sorted_data, sorted_columns, starts


def _rows(rng, n, dtype=np.float64):
    counts = rng.integers(0, 8, size=n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return rng.normal(size=starts[-1]).astype(dtype), rng.integers(0, n, size=starts[-1]), starts


def _coordinates(rng, n):
    terms = 4 * n
    return rng.normal(size=terms), rng.integers(0, n, size=terms), rng.integers(0, n, size=terms)


INPUTS = {
    csr_vector: (lambda rng, n: (*_rows(rng, n), rng.normal(size=n)), (10, 7, 500, 20_000)),
    csr_vector_loops: (lambda rng, n: (*_rows(rng, n), rng.normal(size=n), np.zeros(n)), (10, 7, 2000, 100_000)),
    csr_dense_loops: (
        lambda rng, n: (*_rows(rng, n, np.float32), rng.normal(size=(n, 16)).astype(np.float32)),
        (10, 7, 500, 10_000),
    ),
    coo_dense: (lambda rng, n: (*_coordinates(rng, n), rng.normal(size=(n, 8)), n), (10, 7, 500, 20_000)),
    coo_to_csr_loops: (lambda rng, n: (*_coordinates(rng, n), n), (10, 7, 2000, 50_000)),
}
