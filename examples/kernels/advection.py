"""Transport along the vertical by Crank's and Nicolson's method: tridiagonal systems in all columns of a grid, which
Thomas's algorithm solves (Durran, Numerical Methods for Fluid Dynamics, section 3.2; Press and others, Numerical
Recipes, section 2.4)."""

import numpy as np


def vertical_advection(field, wind, dt, dz):
    """One step of ``field_t + wind * field_z = 0`` for fields (levels, ny, nx), all columns at once.

    Central differences, half from the old field and half from the new; the lowest and highest levels stay.
    """
    levels = field.shape[0]
    rate = 0.25 * dt / dz * wind
    right = field.copy()
    right[1:-1] -= rate[1:-1] * (field[2:] - field[:-2])
    upper = np.zeros_like(field)
    for k in range(1, levels - 1):
        pivot = 1.0 + rate[k] * upper[k - 1]
        upper[k] = rate[k] / pivot
        right[k] = (right[k] + rate[k] * right[k - 1]) / pivot
    for k in range(levels - 2, 0, -1):
        right[k] -= upper[k] * right[k + 1]
    return right


def vertical_advection_loops(field, wind, dt, dz, result):
    """The same column by column for fields (nx, ny, levels), into ``result``; gives the largest change."""
    nx, ny, levels = field.shape
    upper = np.zeros(levels)
    right = np.zeros(levels)
    largest = 0.0
    for i in range(nx):
        for j in range(ny):
            upper[0] = 0.0
            right[0] = field[i, j, 0]
            for k in range(1, levels - 1):
                rate = 0.25 * dt / dz * wind[i, j, k]
                pivot = 1.0 + rate * upper[k - 1]
                upper[k] = rate / pivot
                known = field[i, j, k] - rate * (field[i, j, k + 1] - field[i, j, k - 1])
                right[k] = (known + rate * right[k - 1]) / pivot
            result[i, j, levels - 1] = field[i, j, levels - 1]
            for k in range(levels - 2, 0, -1):
                result[i, j, k] = right[k] - upper[k] * result[i, j, k + 1]
            result[i, j, 0] = right[0]
            for k in range(levels):
                largest = max(largest, abs(result[i, j, k] - field[i, j, k]))
    return largest


def vertical_diffusion_loops(field, mixing, dt, dz):
    """Implicit diffusion in each column of ``field`` (nx, ny, levels), in place, float32, without flux at the ends.

    ``mixing`` (nx, ny, levels + 1) is the diffusivity between levels. Each column is an array of its own meanwhile.
    """
    scale = dt / (dz * dz)
    levels = field.shape[2]
    factors = np.zeros(levels, dtype=field.dtype)
    for i in range(field.shape[0]):
        for j in range(field.shape[1]):
            column = field[i, j].copy()
            below = field[0, 0, 0] * 0
            for k in range(levels):
                above = scale * mixing[i, j, k + 1] if k < levels - 1 else below * 0
                pivot = 1 + above + below
                if k > 0:
                    pivot = pivot - below * factors[k - 1]
                    column[k] += below * column[k - 1]
                factors[k] = above / pivot
                column[k] /= pivot
                below = above
            for k in range(levels - 2, -1, -1):
                column[k] += factors[k] * column[k + 1]
            field[i, j] = column


def _columns(rng, n, levels_first):
    shape = (12, n, n + 1) if levels_first else (n, n + 1, 12)
    return rng.normal(size=shape), rng.normal(size=shape), 0.5, 1.0


def _mixed(rng, n):
    field = rng.normal(size=(n, n + 1, 12)).astype(np.float32)
    return field, rng.random((n, n + 1, 13)).astype(np.float32), np.float32(0.5), np.float32(1.0)


INPUTS = {
    vertical_advection: (lambda rng, n: _columns(rng, n, True), (4, 6, 40, 300)),
    vertical_advection_loops: (
        lambda rng, n: (*_columns(rng, n, False), np.zeros((n, n + 1, 12))),
        (4, 6, 30, 120),
    ),
    vertical_diffusion_loops: (_mixed, (4, 6, 30, 120)),
}
