"""``np.nditer``: elements as views of no dimension, in the order of memory."""

import numpy as np

from tests.support.programs.declared import case, refused

M = np.arange(6.0).reshape(2, 3) - 1.5
CUBE = np.arange(12).reshape(2, 1, 6)
VECTOR = np.array([2.0, -1.0, 0.5])


@case((M,), (VECTOR,), (CUBE,), (M[1:],), (M[:0],))
def followed(x):
    total = 0.0
    for v in np.nditer(x):
        total = total / 2 + v * v
    return total


@case((M,), (VECTOR,), (CUBE,))
def doubled(x):
    for v in np.nditer(x, op_flags=["readwrite"]):
        v[...] = 2 * v
    return x.sum()


@case((M,), (CUBE,), (VECTOR,))
def written_in_a_block(x):
    found = x.copy()
    with np.nditer(found, op_flags=[["readwrite"]]) as visited:
        for v in visited:
            if v > 0:
                v[...] = v + 3
            v -= 1
    return found


@case((M,), (M[:1],), (np.arange(8).reshape(4, 2),))
def by_positions(x):
    out = np.zeros(x.shape)
    it = np.nditer(x, flags=["multi_index"])
    for v in it:
        i, j = it.multi_index
        if v > 1:
            out[it.multi_index] = 10 * i + j
        else:
            out[i, j] = -v
    return out


@case((M.T,), (M[:, ::2],), (VECTOR[::-1],), (M,))
def in_a_named_order(x):
    total = 0.0
    for v in np.nditer(x, order="C"):
        if v > 2:
            break
        total = 3 * total + v
    return total


@case((M,), (VECTOR,))
def in_order_of_a_copy(x):
    total = 0.0
    for v in np.nditer(x.T.copy()):
        total = 3 * total + v
    return total


@case((M[:0], np.array([1, 2])), (M, np.array([3])))
def perhaps_nothing(x, y):
    total = np.float64(0)
    for v in np.nditer(x, flags=["zerosize_ok"]):
        total += v
    return total, [int(w) for w in np.nditer(y)], sum(w * w for w in np.nditer(y))


@refused('give order="C", in which x.flat goes', (M.T,))
def in_the_order_of_memory(x):
    total = 0.0
    for v in np.nditer(x):
        total = total / 2 + v
    return total


@refused('give order="C", in which x.flat goes', (VECTOR,))
def backwards(x):
    total = 0.0
    for v in np.nditer(x[::-1]):
        total = total / 2 + v
    return total


@refused("multi_index outside of a loop over it", (M,))
def before_the_loop(x):
    it = np.nditer(x, flags=["multi_index"])
    total = 0.0 + it.multi_index[0]
    for v in it:
        total += v
    return total


@refused("loop over zip", (M, M))
def pairs(x, y):
    total = 0.0
    for v, w in np.nditer([x, y]):
        total += v * w
    return total


@refused(r"flags \['external_loop'\]: loop over x.flat", (M,))
def in_pieces(x):
    total = 0.0
    for v in np.nditer(x, flags=["external_loop"]):
        total += v.sum()
    return total


@refused("with .finished: write a loop, `for v in it`", (M,))
def by_hand(x):
    total = 0.0
    it = np.nditer(x)
    while not it.finished:
        total += it.value
        it.iternext()
    return total
