"""Convolutions in two dimensions, as layers of networks have them (Goodfellow, Bengio and Courville, Deep Learning,
section 9.1: correlations, in signal processing)."""

import numpy as np


def conv2d(images, filters, bias):
    """Of images (batch, height, width, channels) with filters (rows, columns, channels, outputs), then ``max(., 0)``.

    A product of matrices for each place of the filter, and their sum.
    """
    batch, height, width, _ = images.shape
    rows, columns, _, outputs = filters.shape
    high = height - rows + 1
    wide = width - columns + 1
    result = np.zeros((batch, high, wide, outputs), dtype=images.dtype)
    for i in range(rows):
        for j in range(columns):
            window = images[:, i : i + high, j : j + wide, :]
            result += window @ filters[i, j]
    return np.maximum(result + bias, 0)


def conv2d_windows(image, kernel):
    """Of one image: each result is the sum of a window times the kernel. Gives also the place of the largest."""
    rows, columns = kernel.shape
    high = image.shape[0] - rows + 1
    wide = image.shape[1] - columns + 1
    result = np.empty((high, wide))
    for i in range(high):
        for j in range(wide):
            window = image[i : i + rows, j : j + columns]
            result[i, j] = np.sum(window * kernel)
    largest = np.argmax(result)
    return result, (largest // wide, largest % wide)


def conv2d_loops(image, kernel, result):
    """Of one image of float32 into ``result`` of the same shape; there are zeros beyond the edges."""
    height, width = image.shape
    rows, columns = kernel.shape
    for i in range(height):
        for j in range(width):
            total = np.float32(0.0)
            for p in range(rows):
                y = i + p - rows // 2
                if y < 0 or y >= height:
                    continue
                for q in range(columns):
                    x = j + q - columns // 2
                    if 0 <= x < width:
                        total += image[y, x] * kernel[p, q]
            result[i, j] = total


def _batch(rng, n):
    sizes = (2, n, n + 1, 3), (3, 3, 3, 4), (4,)
    return tuple(rng.normal(size=size).astype(np.float32) for size in sizes)


def _single(rng, n):
    image, kernel = rng.normal(size=(n, n + 2)).astype(np.float32), rng.normal(size=(5, 3)).astype(np.float32)
    return image, kernel, np.zeros_like(image)


INPUTS = {
    conv2d: (_batch, (8, 6, 64, 256)),
    conv2d_windows: (lambda rng, n: (rng.normal(size=(n, n + 2)), rng.normal(size=(5, 3))), (8, 6, 64, 256)),
    conv2d_loops: (_single, (8, 6, 64, 256)),
}
