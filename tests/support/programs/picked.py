"""Programs that write into one of several arrays of a list, which a number of the program picks."""

import numpy as np

from tests.support.programs.declared import another, case, refused

X = np.linspace(0.1, 1.0, 5)


@case((X, 4), (X, 5), (X, 0))
def in_turn(x, n):
    buffers = [x.copy(), np.zeros(len(x))]
    for t in range(n):
        source, target = buffers[t % 2], buffers[(t + 1) % 2]
        for i in range(1, len(x) - 1):
            target[i] = 0.25 * source[i - 1] + 0.5 * source[i] + 0.25 * source[i + 1]
        target[0], target[-1] = source[0], source[-1]
    return buffers[n % 2]


@case((X, 5), (X, 1))
def wave(x, n):
    u = [x.copy() for _ in range(3)]
    for t in range(n):
        new, now, old = u[(t + 1) % 3], u[t % 3], u[(t - 1) % 3]
        new[1:-1] = 2 * now[1:-1] - old[1:-1] + 0.1 * (now[2:] - 2 * now[1:-1] + now[:-2])
    return u[n % 3]


@case((X, 5), (X, 0))
def without_names(x, n):
    b = (np.zeros(5), x.copy())
    for t in range(n):
        b[t % 2][0] += 1
        b[1 - t % 2][1:] = b[t % 2][:-1] * 2
    return b


@case((X, 1), (X, 0), (X, -1), (X, 2), (X, -3))
def by_an_argument(x, k):
    b = [np.zeros(5), x.copy()]
    b[k][1:3] = 7
    b[k] += 1
    np.add(b[k], 2, out=b[k])
    b[k][b[k] > 8] = -1
    return b, b[k] * 2


@case((X, 1), (X, 0))
def parts_of_one_array(x, k):
    parts = [x[:-1], x[1:]]
    parts[k][0] = 9
    parts[k][:] += 1
    parts[k].T[1] = 0
    parts[1 - k].fill(3)
    return parts[k].sum()


@case((X, 5), (X, 0))
def the_same_array_twice(x, n):
    both = [x, x]
    for t in range(n):
        both[t % 2][t % 5] += both[1 - t % 2][0]


@case((X, 1, 2.0), (X, 0, -1.0))
def in_branches(x, k, v):
    arrays = [x.copy(), x * 2]
    current = arrays[k]
    if v > 0:
        current[0] = v
        arrays[0][1] = 8
    else:
        arrays[1 - k][2] = v
        current = current + 1
    return arrays, current


@case((X, 1), (X, 0))
def read_by_another_name(x, k):
    a = x.copy()
    current = [a, x * 3][k]
    total = 0.0
    for _ in range(3):
        a[0] += 1
        current[1] -= a[2]
        total += current.sum()
    return total, a, current


@case((X,))
def zipped_with_elements(x):
    a, b = x.copy(), x * 2
    total = 0.0
    for array, v in zip([a, b], x):
        total += array[0] * v
        b[0] = 100.0
        array[1] = 7
    return total, a, b


@another((X.reshape(1, 5), 3))
def pairs_of_arrays(x, n):
    pairs = [(x.copy(), x * 2), (x * 3, x * 4)]
    for t in range(n):
        a, b = pairs[t % 2]
        a[0, t] = b[0, 0]
    return pairs


@refused("'best' and another variable are one array", (X, 3))
def kept_by_another_variable(x, n):
    arrays = [x.copy(), x * 2]
    best = arrays[0]
    for t in range(n):
        current = arrays[t % 2]
        current[0] = t
        if current.sum() > best.sum():
            best = current
    return best
