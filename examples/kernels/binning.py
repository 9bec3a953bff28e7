"""Numbers into bins: histograms, and means of an image over rings (azimuthal integration, as diffraction images are
read: Kieffer and Karkoulis 2013)."""

import math

import numpy as np


def histogram(x, weights, edges):
    """Counts and weights of ``x`` between increasing ``edges``; what is outside of all is not counted.

    A bin contains its left edge, the last one both. Gives counts, weights, and mean weights, 0 in empty bins.
    """
    bins = edges.shape[0] - 1
    place = np.searchsorted(edges, x, side="right") - 1
    place = np.where(x == edges[-1], bins - 1, place)
    valid = (place >= 0) & (place < bins)
    counts = np.bincount(place[valid], minlength=bins)
    totals = np.zeros(bins)
    np.add.at(totals, place[valid], weights[valid])
    means = totals / np.maximum(counts, 1)
    return counts, totals, means


def histogram_loops(x, low, high, counts):
    """Counts in bins of equal width between ``low`` and ``high``, added to ``counts``; gives how many fell outside."""
    bins = counts.size
    outside = 0
    scale = bins / (high - low)
    for i in range(x.size):
        value = x[i]
        if value < low or value > high or math.isnan(value):
            outside += 1
            continue
        place = int((value - low) * scale)
        if place == bins:
            place = bins - 1
        counts[place] += 1
    return outside


def azimuthal_integration(image, mask, centre, radii):
    """Mean and standard deviation of the pixels between each two radii around ``centre``, without those in ``mask``.

    Rings without pixels have zeros.
    """
    rows, columns = image.shape
    y = np.arange(rows)[:, None] - centre[0]
    x = np.arange(columns)[None, :] - centre[1]
    distance = np.sqrt(x**2 + y**2)
    means = np.zeros(len(radii) - 1)
    deviations = np.zeros(len(radii) - 1)
    for k in range(len(radii) - 1):
        ring = (distance >= radii[k]) & (distance < radii[k + 1]) & ~mask
        if np.any(ring):
            means[k] = image[ring].mean()
            deviations[k] = image[ring].std()
    return means, deviations


def azimuthal_integration_loops(image, mask, centre, width, totals, counts):
    """Sums and counts in rings of equal width, into ``totals`` and ``counts``; gives the fullest ring's mean."""
    rows, columns = image.shape
    rings = totals.shape[0]
    for i in range(rows):
        for j in range(columns):
            if mask[i, j]:
                continue
            distance = math.sqrt((i - centre[0]) ** 2 + (j - centre[1]) ** 2)
            ring = int(distance // width)
            if ring < rings:
                totals[ring] += image[i, j]
                counts[ring] += 1
    fullest = 0
    for k in range(rings):
        if counts[k] > counts[fullest]:
            fullest = k
    return totals[fullest] / max(counts[fullest], 1)


def _picture(rng, n):
    return rng.normal(10.0, 2.0, size=(n, n + 3)), rng.random((n, n + 3)) < 0.05, np.array([n / 2.1, n / 1.9])


INPUTS = {
    histogram: (
        lambda rng, n: (rng.normal(size=n), rng.random(n), np.linspace(-2.0, 2.0, 21)),
        (50, 30, 10_000, 1_000_000),
    ),
    histogram_loops: (
        lambda rng, n: (rng.normal(size=n), -2.0, 2.0, np.zeros(20, dtype=np.int64)),
        (50, 30, 10_000, 500_000),
    ),
    azimuthal_integration: (
        lambda rng, n: (*_picture(rng, n), np.linspace(0.0, n / 2, 11)),
        (10, 7, 100, 500),
    ),
    azimuthal_integration_loops: (
        lambda rng, n: (*_picture(rng, n), n / 20.0, np.zeros(10), np.zeros(10, dtype=np.int64)),
        (10, 7, 100, 500),
    ),
}
