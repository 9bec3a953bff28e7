"""How soon points leave a circle when ``z -> z**2 + c`` is repeated (Devaney, An Introduction to Chaotic Dynamical
Systems, chapter 3)."""

import numpy as np


def mandelbrot(c, most):
    """For each ``c`` of an array the steps from zero until the magnitude is beyond 2, at most ``most``.

    Points that have left are left alone. Gives the counts, and which points never left.
    """
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    for _ in range(most):
        inside = z.real**2 + z.imag**2 <= 4.0
        if not inside.any():
            break
        z[inside] = z[inside] ** 2 + c[inside]
        counts[inside] += 1
    return counts, z.real**2 + z.imag**2 <= 4.0


def mandelbrot_loops(x, y, most):
    """The same on a grid of real and imaginary parts, point by point in real numbers."""
    counts = np.zeros((y.size, x.size), dtype=np.int32)
    for i in range(y.size):
        for j in range(x.size):
            re, im = 0.0, 0.0
            for _ in range(most):
                square_re, square_im = re * re, im * im
                if square_re + square_im > 4.0:
                    break
                im = 2.0 * re * im + y[i]
                re = square_re - square_im + x[j]
                counts[i, j] += 1
    return counts


def escape_time(z, c, most):
    """The steps that one point takes."""
    for count in range(most):
        if abs(z) > 2.0:
            return count
        z = z * z + c
    return most


def julia(z, c, most):
    """For each starting point ``z`` the steps until it is beyond 2, with a fraction where it left (a smooth shade).

    All points are computed at each step, and those that have left keep what they had.
    """
    counts = np.zeros(z.shape)
    last = np.abs(z)
    for _ in range(most):
        inside = np.abs(z) <= 2.0
        z = np.where(inside, z * z + c, z)
        counts += inside
        last = np.where(inside, np.abs(z), last)
    left = last > 2.0
    shade = np.log2(np.log2(np.where(left, last, 4.0)))
    return np.where(left, counts + 1.0 - shade, counts)


def julia_loops(low, high, c, counts, most):
    """The same without the fraction, on a grid between two corners, into ``counts``. Gives how many points stay."""
    rows, columns = counts.shape
    stay = 0
    for i in range(rows):
        for j in range(columns):
            re = low.real + (high.real - low.real) * j / (columns - 1)
            im = low.imag + (high.imag - low.imag) * i / (rows - 1)
            counts[i, j] = escape_time(complex(re, im), c, most)
            if counts[i, j] == most:
                stay += 1
    return stay


def _axes(n):
    return np.linspace(-2.1, 0.7, n), np.linspace(-1.2, 1.2, n - 1)


def _plane(rng, n, most):
    x, y = _axes(n)
    return x + 1j * y[:, None], most


def _start(rng, n, most):
    x, y = _axes(n)
    return (x + 0.7) + 1j * y[:, None], -0.4 + 0.6j, most


INPUTS = {
    mandelbrot: (lambda rng, n: _plane(rng, n, 30), (8, 11, 100, 400)),
    mandelbrot_loops: (lambda rng, n: (*_axes(n), 100), (8, 11, 50, 200)),
    julia: (lambda rng, n: _start(rng, n, 30), (8, 11, 100, 400)),
    julia_loops: (
        lambda rng, n: (-1.5 - 1.0j, 1.5 + 1.0j, -0.4 + 0.6j, np.zeros((n - 1, n), dtype=np.int64), 100),
        (8, 11, 50, 150),
    ),
}
