"""Programs with slices whose step is a number of the program."""

import numpy as np

from tests.support.programs.declared import another, case

X = np.arange(12.0)
GRID = X.reshape(3, 4)


@case((X,), (X[:1],), (X[:0],))
def steps_of_both_signs(x):
    total = 0.0
    for r in range(-4, 5):
        if r != 0:
            total += x[::r].sum() * r + x[2::r].sum() + x[:7:r].sum()
            total += x[-3:2:r].sum() + x[9:1:r].sum() + x[100:-100:r].sum()
    return total


@case((X, 4, 2), (X, -4, 3), (X, 2**62, 1), (X, 1, 0))
def step_from_an_element(x, factor, k):
    return x[:: int(x[k]) * factor]


@case((X, 3), (X, 1))
def written_by_steps(x, n):
    for r in range(1, n + 1):
        x[::r] += 1
        x[1::-r] *= 2
        part = x[r::r]
        part[0] = -1
        part[1:] -= 0.5
    return x


@case((GRID, 3))
def steps_of_two_axes(x, n):
    for r in range(1, n):
        x[::r, 0] += 1
        x[1, ::-r] *= 2
        x[:, ::r] = x[::-1, ::r]
        x[::r, ::r][0] = r
    return x[::n].T


@case((X,), (X[:7],))
def step_from_the_length(x):
    return x[:: len(x) // 3], x[:: -len(x)]


@case((np.arange(16.0),))
def butterflies(x):
    y = x.copy()
    half = 1
    while half < len(y):
        for j in range(half):
            a, b = y[j :: 2 * half].copy(), y[j + half :: 2 * half].copy()
            y[j :: 2 * half], y[j + half :: 2 * half] = a + b, a - b
        half *= 2
    return y


@another((X, 3), (X, 1))
def upsampled(x, n):
    out = np.zeros(len(x) * n)
    for i in range(n):
        out[i::n] = x * i
    return out


@another((X,))
def sums_of_phases(x):
    return [x[i::3].sum() for i in range(3)], np.array([x[i::4].max() for i in range(len(x) // 3)])


@another((X, np.array(3)), (X, np.int64(-2)), (X, np.array(0)))
def step_of_numpy(x, r):
    return x[::r]
