"""Integrals along circles by the trapezoidal rule, which converges geometrically (Trefethen and Weideman 2014)."""

import cmath
import math

import numpy as np


def resolvent_moments(a, probe, centre, radius, points, moments):
    """``1 / (2 pi i) * integral of z**k (z I - a)^-1 probe dz`` along a circle, into ``moments`` for each k.

    The moments hold the eigenvalues inside of the circle (Sakurai and Sugiura 2003). Gives the trace of the first,
    which is about how many there are if ``probe`` is the identity.
    """
    n = a.shape[0]
    identity = np.eye(n)
    for p in range(points):
        direction = np.exp(2j * np.pi * (p + 0.5) / points)
        z = centre + radius * direction
        solved = np.linalg.solve(z * identity - a, probe)
        weight = radius * direction / points
        for k in range(moments.shape[0]):
            moments[k] += weight * z**k * solved
    return np.trace(moments[0]).real


def resolvent_trace(a, centre, radius, points):
    """How many eigenvalues are in a circle: the integral of the resolvent's trace, all points as one batch.

    Gives the number, and the largest magnitude of the resolvent's elements at each point.
    """
    angles = 2.0 * np.pi * (np.arange(points) + 0.5) / points
    directions = np.exp(1j * angles)
    z = centre + radius * directions
    shifted = z[:, None, None] * np.eye(a.shape[0]) - a
    resolvent = np.linalg.inv(shifted)
    traces = np.trace(resolvent, axis1=1, axis2=2)
    integral = np.mean(traces * radius * directions)
    return integral.real, np.abs(resolvent).max(axis=(1, 2))


def cauchy_derivatives(coefficients, centres, radius, points, order):
    """The derivative of that order of ``exp(z) p(z)`` at each centre by Cauchy's formula.

    ``f^(m)(c) = m! / (2 pi i) * integral of f(z) / (z - c)**(m + 1) dz`` (DLMF 1.9.31); p by Horner's rule.
    """
    factorial = 1.0
    for k in range(2, order + 1):
        factorial *= k
    directions = np.exp(2j * np.pi * np.arange(points) / points)
    z = centres[:, None] + radius * directions
    value = np.zeros_like(z)
    for k in range(coefficients.shape[0]):
        value = value * z + coefficients[k]
    value = value * np.exp(z)
    return factorial / radius**order * np.mean(value * directions**-order, axis=1)


def zeros_inside_loops(coefficients, centre, radius, points):
    """How many zeros a polynomial has in a circle: the integral of ``p' / p`` over ``2 pi i`` (DLMF 1.10.8).

    Horner's rule gives the polynomial and its derivative together. Gives the number and the smallest ``abs(p)``.
    """
    total = 0j
    smallest = math.inf
    for k in range(points):
        direction = cmath.exp(2j * math.pi * k / points)
        z = centre + radius * direction
        value = 0j
        slope = 0j
        for coefficient in coefficients:
            slope = slope * z + value
            value = value * z + coefficient
        smallest = min(smallest, abs(value))
        total += slope / value * radius * direction
    return round((total / points).real), smallest


def _matrix(rng, n):
    return rng.normal(size=(n, n)) / math.sqrt(n)


INPUTS = {
    resolvent_moments: (
        lambda rng, n: (_matrix(rng, n), np.eye(n), 0.1 + 0.2j, 0.6, 16, np.zeros((3, n, n), dtype=np.complex128)),
        (5, 7, 20, 100),
    ),
    resolvent_trace: (lambda rng, n: (_matrix(rng, n), 0.1 + 0.2j, 0.6, 24), (5, 7, 20, 60)),
    cauchy_derivatives: (
        lambda rng, n: (rng.normal(size=6), rng.normal(size=n) + 1j * rng.normal(size=n), 0.5, 32, 3),
        (5, 7, 200, 10_000),
    ),
    zeros_inside_loops: (lambda rng, n: (rng.normal(size=9), 0.1 + 0.2j, 1.1, n), (40, 30, 1000, 50_000)),
}
