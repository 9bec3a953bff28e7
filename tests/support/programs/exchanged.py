"""Arguments that change places in each step of a loop, which writes into one of them."""

import numpy as np

from tests.support.programs.declared import another, case, refused

X = np.array([1.0, 0.5, -2.0, 4.0, 3.0, 0.25])
Y = X[::-1].copy()
LIFE = np.array([[0, 1, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]])


@case(*((X, Y, n) for n in (0, 1, 2, 3, 8)), (X[:2], Y[:2], 3))
def heat(a, b, steps):
    for _ in range(steps):
        b[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2 * a[1:-1] + a[:-2])
        a, b = b, a
    return a


@case(*((X, n) for n in (0, 1, 2, 3)), (X.astype(np.float32), 3))
def with_an_array_of_its_own(a, steps):
    first = a
    b = np.zeros_like(a)
    for _ in range(steps):
        b[1:-1] = a[1:-1] + a[2:]
        a, b = b, a
    return a, b, first.sum()


@case(*((X, Y, n) for n in (0, 1, 2, 3, 4, 5)))
def wave(u, v, steps):
    w = np.zeros_like(u)
    for _ in range(steps):
        w[1:-1] = 2 * v[1:-1] - u[1:-1] + 0.1 * (v[2:] - 2 * v[1:-1] + v[:-2])
        u, v, w = v, w, u
    return v


@case(*((LIFE, n) for n in (0, 1, 2, 3)))
def life(cells, steps):
    new = np.zeros_like(cells)
    rows, columns = cells.shape
    for _ in range(steps):
        for i in range(rows):
            for j in range(columns):
                near = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di or dj:
                            near += cells[(i + di) % rows, (j + dj) % columns]
                if near == 3 or (near == 2 and cells[i, j] == 1):
                    new[i, j] = 1
                else:
                    new[i, j] = 0
        cells, new = new, cells
    return cells


@another(*((X, Y, n) for n in (0, 1, 2)))
def seen_through_views(a, b, steps):
    first, part = a, b[1:]
    for _ in range(steps):
        b[1:-1] = a[1:-1] * 2 + a[2:]
        a, b = b, a
    return a.sum(), first.copy(), part.copy(), b[0]


@another(*((X, n, flag) for n in (0, 1, 2) for flag in (0, 1)))
def in_a_branch_that_is_taken(a, steps, flag):
    b = np.zeros_like(a)
    if flag > 0:
        for _ in range(steps):
            b[1:-1] = a[1:-1] * 0.5 + a[2:]
            a, b = b, a
    return a


@refused("was bound to other arrays", (X, 3))
def exchanged_in_some_steps(a, steps):
    b = np.zeros_like(a)
    for t in range(steps):
        b[1:-1] = a[1:-1] * 0.5 + a[2:]
        if t % 2 == 0:
            a, b = b, a
    return a


@refused("was bound to other arrays", (X, X.astype(np.float32), 3))
def of_two_dtypes(a, b, steps):
    for _ in range(steps):
        b[:] = a + 1
        a, b = b, a
    return a
