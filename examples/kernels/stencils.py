"""Stencils: each point of a grid becomes a combination of its neighbours, again and again."""

import math

import numpy as np


def jacobi_2d(u, f, h, steps):
    """Jacobi's iteration for Poisson's equation ``u_xx + u_yy = f`` with given boundary values.

    Each inner point becomes the mean of its four neighbours less ``h**2 * f / 4`` (Saad, Iterative Methods for Sparse
    Linear Systems, section 4.1). Gives the last iterate and its largest change.
    """
    old = u.copy()
    new = u.copy()
    source = h * h * f[1:-1, 1:-1]
    for _ in range(steps):
        new[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] - source)
        old, new = new, old
    change = np.abs(old - new)
    return old, change.max()


def jacobi_2d_loops(u, f, h, tolerance, most):
    """The same until no point changes by more than ``tolerance``, in ``u`` itself.

    Gives the number of steps and the last change.
    """
    n, m = u.shape
    new = u.copy()
    change = tolerance + 1.0
    count = 0
    while change > tolerance and count < most:
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * h * f[i, j])
                change = max(change, abs(new[i, j] - u[i, j]))
        u[:, :] = new
        count += 1
    return count, change


def heat_3d(u, kappa, steps):
    """The heat equation in a box by forward differences in time and central ones in space, in ``u`` itself.

    ``kappa`` is the conductivity times the time step over the squared distance of grid points; stable up to 1 / 6
    (Strikwerda, Finite Difference Schemes and Partial Differential Equations, chapter 6). Gives the sum of heat after
    each step.
    """
    totals = np.empty(steps)
    for t in range(steps):
        core = u[1:-1, 1:-1, 1:-1]
        along_x = u[2:, 1:-1, 1:-1] - 2.0 * core + u[:-2, 1:-1, 1:-1]
        along_y = u[1:-1, 2:, 1:-1] - 2.0 * core + u[1:-1, :-2, 1:-1]
        along_z = u[1:-1, 1:-1, 2:] - 2.0 * core + u[1:-1, 1:-1, :-2]
        u[1:-1, 1:-1, 1:-1] = core + kappa * (along_x + along_y + along_z)
        totals[t] = u.sum()
    return totals


def heat_3d_loops(u, kappa, steps):
    """The same point by point, with two arrays that take turns."""
    a = u.copy()
    b = u.copy()
    nx, ny, nz = u.shape
    for _ in range(steps):
        for i in range(1, nx - 1):
            for j in range(1, ny - 1):
                for k in range(1, nz - 1):
                    around = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k]
                    around += a[i, j, k - 1] + a[i, j, k + 1]
                    b[i, j, k] = a[i, j, k] + kappa * (around - 6.0 * a[i, j, k])
        a, b = b, a
    return a


def fdtd_2d(ez, hx, hy, permittivity, courant, steps):
    """Maxwell's equations in two dimensions, transverse magnetic, on Yee's staggered grid (Yee 1966), in the fields.

    ``ez`` is (n, m) with a perfect conductor around it, ``hx`` (n, m - 1), ``hy`` (n - 1, m). A source swings in the
    middle. Gives the energy of the electric field at each step.
    """
    n, m = ez.shape
    energy = np.zeros(steps)
    for t in range(steps):
        hx -= courant * (ez[:, 1:] - ez[:, :-1])
        hy += courant * (ez[1:, :] - ez[:-1, :])
        curl = (hy[1:, 1:-1] - hy[:-1, 1:-1]) - (hx[1:-1, 1:] - hx[1:-1, :-1])
        ez[1:-1, 1:-1] += courant * curl / permittivity[1:-1, 1:-1]
        ez[n // 2, m // 2] += np.sin(0.3 * t)
        energy[t] = 0.5 * np.sum(permittivity * ez**2)
    return energy


def fdtd_2d_loops(ez, hx, hy, permittivity, courant, steps):
    """The same point by point."""
    n, m = ez.shape
    energy = np.zeros(steps)
    for t in range(steps):
        for i in range(n):
            for j in range(m - 1):
                hx[i, j] -= courant * (ez[i, j + 1] - ez[i, j])
        for i in range(n - 1):
            for j in range(m):
                hy[i, j] += courant * (ez[i + 1, j] - ez[i, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                curl = (hy[i, j] - hy[i - 1, j]) - (hx[i, j] - hx[i, j - 1])
                ez[i, j] += courant * curl / permittivity[i, j]
        ez[n // 2, m // 2] += math.sin(0.3 * t)
        total = 0.0
        for i in range(n):
            for j in range(m):
                total += permittivity[i, j] * ez[i, j] ** 2
        energy[t] = 0.5 * total
    return energy


def horizontal_diffusion(field, strength):
    """One step of fourth-order diffusion on each level of a field (nx, ny, levels), with fluxes that go down only.

    The flux is the slope of the Laplacian; where it points up the slope of the field it is zero, so that no new
    extrema arise (Xue 2000, Monthly Weather Review 128, equation 10). Gives the field, unchanged in a frame two wide,
    and how many fluxes were cut.
    """
    neighbours = field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    laplacian = neighbours - 4.0 * field[1:-1, 1:-1]
    flux_x = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    up_x = flux_x * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0
    flux_x = np.where(up_x, 0.0, flux_x)
    flux_y = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    up_y = flux_y * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0
    flux_y = np.where(up_y, 0.0, flux_y)
    result = field.copy()
    result[2:-2, 2:-2] -= strength * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])
    return result, np.count_nonzero(up_x) + np.count_nonzero(up_y)


def horizontal_diffusion_loops(field, strength):
    """The same level by level, with fluxes in arrays of one level."""
    nx, ny, levels = field.shape
    result = field.copy()
    laplacian = np.zeros((nx, ny), dtype=field.dtype)
    flux_x = np.zeros((nx, ny), dtype=field.dtype)
    flux_y = np.zeros((nx, ny), dtype=field.dtype)
    cut = 0
    for k in range(levels):
        for i in range(1, nx - 1):
            for j in range(1, ny - 1):
                around = field[i + 1, j, k] + field[i - 1, j, k] + field[i, j + 1, k] + field[i, j - 1, k]
                laplacian[i, j] = around - 4.0 * field[i, j, k]
        for i in range(1, nx - 2):
            for j in range(2, ny - 2):
                flux_x[i, j] = laplacian[i + 1, j] - laplacian[i, j]
                if flux_x[i, j] * (field[i + 1, j, k] - field[i, j, k]) > 0:
                    flux_x[i, j] = 0.0
                    cut += 1
        for i in range(2, nx - 2):
            for j in range(1, ny - 2):
                flux_y[i, j] = laplacian[i, j + 1] - laplacian[i, j]
                if flux_y[i, j] * (field[i, j + 1, k] - field[i, j, k]) > 0:
                    flux_y[i, j] = 0.0
                    cut += 1
        for i in range(2, nx - 2):
            for j in range(2, ny - 2):
                out = flux_x[i, j] - flux_x[i - 1, j] + flux_y[i, j] - flux_y[i, j - 1]
                result[i, j, k] -= strength * out
    return result, cut


def _poisson(rng, n, *rest):
    return rng.normal(size=(n, n + 2)), rng.normal(size=(n, n + 2)), 1.0 / n, *rest


def _fields(rng, n, steps):
    fields = np.zeros((n, n + 2)), np.zeros((n, n + 1)), np.zeros((n - 1, n + 2))
    return *fields, rng.uniform(1.0, 3.0, size=(n, n + 2)), 0.5, steps


def _levels(rng, n):
    return rng.normal(size=(n, n + 3, n // 4 + 2)).astype(np.float32), np.float32(0.03)


INPUTS = {
    jacobi_2d: (lambda rng, n: _poisson(rng, n, 20), (12, 9, 100, 500)),
    jacobi_2d_loops: (lambda rng, n: _poisson(rng, n, 1e-3, 20), (12, 9, 60, 200)),
    heat_3d: (lambda rng, n: (rng.normal(size=(n, n + 1, n + 2)), 0.1, 10), (8, 6, 30, 100)),
    heat_3d_loops: (lambda rng, n: (rng.normal(size=(n, n + 1, n + 2)), 0.1, 5), (8, 6, 20, 50)),
    fdtd_2d: (lambda rng, n: _fields(rng, n, 20), (10, 13, 100, 400)),
    fdtd_2d_loops: (lambda rng, n: _fields(rng, n, 10), (10, 13, 60, 200)),
    horizontal_diffusion: (_levels, (10, 7, 50, 200)),
    horizontal_diffusion_loops: (_levels, (10, 7, 30, 80)),
}
