"""k-means: points in groups around their means, by Lloyd's algorithm (Lloyd 1982; Bishop, Pattern Recognition and
Machine Learning, section 9.1)."""

import numpy as np


def k_means(points, centres, most):
    """Assign each point to the nearest centre, move the centres to the means of their points, until they stay.

    Gives the centres, the label of each point, and the number of rounds. A centre without points stays.
    """
    centres = centres.copy()
    labels = np.full(points.shape[0], -1)
    rounds = 0
    for rounds in range(1, most + 1):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        for k in range(centres.shape[0]):
            members = labels == k
            if members.any():
                centres[k] = points[members].mean(axis=0)
    return centres, labels, rounds


def k_means_loops(points, centres, most):
    """The same point by point, in ``centres`` itself. Gives the labels and the sum of squared distances."""
    n, dimensions = points.shape
    count = centres.shape[0]
    labels = np.zeros(n, dtype=np.int64)
    for _ in range(most):
        changed = 0
        error = 0.0
        sums = np.zeros((count, dimensions))
        sizes = np.zeros(count, dtype=np.int64)
        for i in range(n):
            best, nearest = np.inf, 0
            for k in range(count):
                distance = 0.0
                for d in range(dimensions):
                    distance += (points[i, d] - centres[k, d]) ** 2
                if distance < best:
                    best, nearest = distance, k
            if labels[i] != nearest:
                labels[i] = nearest
                changed += 1
            error += best
            sizes[nearest] += 1
            for d in range(dimensions):
                sums[nearest, d] += points[i, d]
        for k in range(count):
            if sizes[k] > 0:
                for d in range(dimensions):
                    centres[k, d] = sums[k, d] / sizes[k]
        if changed == 0:
            break
    return labels, error


def soft_k_means(points, centres, stiffness, rounds):
    """Points belong to all centres, more to near ones (MacKay, Information Theory, chapter 20); float32 stays float32.

    Responsibilities are a softmax of squared distances times minus the stiffness. Gives centres and responsibilities.
    """
    centres = centres.copy()
    shares = np.zeros((points.shape[0], centres.shape[0]), dtype=points.dtype)
    for _ in range(rounds):
        squares = np.sum((points[:, None] - centres) ** 2, axis=-1)
        exponents = -stiffness * squares
        exponents -= exponents.max(axis=1, keepdims=True)
        shares = np.exp(exponents)
        shares /= shares.sum(axis=1, keepdims=True)
        centres = (shares.T @ points) / shares.sum(axis=0)[:, None]
    return centres, shares


def _groups(rng, n, dtype=np.float64):
    middle = rng.normal(size=(4, 3)) * 4
    points = middle[rng.integers(0, 4, size=n)] + rng.normal(size=(n, 3))
    return points.astype(dtype), points[:4].astype(dtype)


INPUTS = {
    k_means: (lambda rng, n: (*_groups(rng, n), 20), (20, 13, 1000, 20_000)),
    k_means_loops: (lambda rng, n: (*_groups(rng, n), 20), (20, 13, 500, 4000)),
    soft_k_means: (lambda rng, n: (*_groups(rng, n, np.float32), np.float32(0.5), 10), (20, 13, 1000, 20_000)),
}
