"""Programs that write through views of arrays."""

import numpy as np

from tests.support.programs.declared import case, refused

M = np.arange(12.0).reshape(3, 4)


@case((M,), (M.T,), (M[:, ::2],))
def transposed_rows(a):
    b = a.T
    for i in range(a.shape[1]):
        b[i] += i
        b[i, 0] *= 2
    return a.sum()


@case((M, 2), (M, 5))
def transposed_elements(a, k):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if (i + j) % k == 0:
                a.T[j, i] = -a[i, j]


@case((M,))
def columns_scaled(a):
    for column in a.T:
        column /= column.sum()
        column[-1] = 0


@case((M, 12), (M, 13), (M.T, 12), (M[:, ::2], 6))
def flat_elements(a, n):
    for i in range(n):
        a.flat[i] += i
    a.flat[-1] = 5


@case((M, 5), (M, -1), (M.copy(), 12))
def raveled(a, place):
    flat = a.ravel()
    flat[place] = 100
    if place > 0:
        flat[:place] += 1
    else:
        a[0] = 9
    return flat


@case((np.arange(12.0), 3), (np.arange(24.0)[::2], 4))
def reshaped_rows(a, n):
    grid = a.reshape(3, 4)
    for i in range(n):
        grid[i % 3] += grid[(i + 1) % 3]
        a[i] = 0
    return grid[:, 1]


@case((4, 1.0), (0, 1.0))
def grid_of_buffer(n, v):
    buffer = np.zeros(12)
    grid = buffer.reshape(3, 4)
    for i in range(n):
        grid[i % 3, i] = v
        buffer[11 - i] -= v
    return buffer, grid


@case((M, 2.0), (M, -2.0))
def views_in_branches(a, v):
    if v > 0:
        a.T[0] = v
        np.flip(a)[0] += 1
    else:
        a[1:, 2].T[...] = 3
        np.fill_diagonal(a[1:].T, v)
    return a.sum()


@case((M, 3), (M, 0))
def rows_as_names(a, n):
    row = a[1]
    row += 1
    for i in range(n):
        row = a[i]
        row += 1
        row[0] = 2


@refused("'row' and another variable are one array", (M, 3))
def row_after_the_loop(a, n):
    row = a[1]
    for i in range(n):
        row = a[i]
        row += 1
    return row


@case((M, 3), (M, 4))
def written_before_the_error(a, n):
    for i in range(n):
        a.T[i] = -1
        row = a[i]
        row[1] = 7


@case((M * (1 + 1j), 3), (M * (1 + 1j), 0))
def parts_of_complex(a, n):
    for i in range(n):
        a[i].real[1:] = i
        a.imag[:, i] += 1
    a.real *= 2


@case((M,))
def diagonal_for_reading(a):
    for i in range(3):
        np.diag(a)[i] = 1


@refused("assignment into a view", (M,))
def reshape_of_any_order(a):
    b = a.T.reshape(2, 6)
    for i in range(2):
        b[i] = 1


@case((np.zeros((2, 3, 2)), 12), (np.zeros((2, 3, 2)), 13), (np.zeros((0, 4)), 0))
def elements_by_number(a, n):
    for i in range(n):
        a.ravel()[-i - 1] = i
        a.reshape(-1)[i] += 10 * i
    if n > 5:
        a.ravel()[n - 3] = -1


@case((M, np.array([0, 5, -12])), (M, np.array([3, 11, -1])))
def elements_by_numbers(a, c):
    for place in c:
        a.ravel()[place] = 7
        a.flat[place] += 1


Q = np.arange(16.0).reshape(4, 4)


@case((Q,), (Q.T,), (Q.astype(np.float32),), (Q[:, ::-1],), (Q[:0, :0],))
def diagonal_by_einsum(a):
    b = a.copy()
    np.einsum("ii->i", b)[:] = 1.0
    np.einsum("ii->i", a)[1:] += a[1:, 0]
    return b


@case((Q,))
def diagonal_by_names(a):
    diagonal = np.einsum(a, [0, 0], [0])
    diagonal += 5
    diagonal[0] = 7
    a[1, 1] = 100
    diagonal[diagonal > 20] = 0
    diagonal[[-1, 2]] *= 3
    return diagonal, a.sum()


@case((np.arange(27.0).reshape(3, 3, 3),))
def diagonals_of_three(a):
    np.einsum("iii->i", a)[...] = 0
    np.einsum("iij->ij", a)[1] += 1
    np.einsum("jii->ij", a)[2, 0] = 9
    np.einsum("...ii->...i", a)[:, -1] = 4


@case((Q, 4), (Q, 2), (Q, 0))
def diagonal_in_a_loop(a, n):
    diagonal = np.einsum("ii->i", a)
    for i in range(n):
        diagonal[i] = a[0, 1] + i
        np.einsum("ii->i", a)[i:] += i
        a[i, i] *= 2
    return diagonal.sum()


@case((Q, 4.0), (Q, -2.0))
def diagonal_in_a_branch(a, v):
    if v > 0:
        np.einsum("ii->i", a)[:] = v
    else:
        np.multiply(a[0], 2, out=np.einsum("ii->i", a))


@case((Q, 2), (Q, -4), (Q, 4), (Q, -5))
def one_of_the_diagonal(a, place):
    np.einsum("ii->i", a)[place] = -1


@case((Q,), (Q.T,))
def einsum_for_another_order(a):
    np.einsum("ij->ji", a)[0] = 5
    np.einsum("ba", a)[1, 2:] = 6
    np.einsum("ij", a)[3] = 7
    np.copyto(np.einsum("ij->ji", a)[1:].T[0], 3)
    sums = np.einsum("ij->i", a)
    sums[0] = 100
    return sums


@case((Q,), (Q.T,))
def moved_axes(a):
    np.swapaxes(a, 0, 1)[0] = 5
    a.swapaxes(0, 1)[1] += 1
    np.moveaxis(a, 0, 1)[3] = 9
    np.rollaxis(a, 1)[2] = 1
    a.transpose(1, 0)[3, 0] = -1
    np.expand_dims(a, 0).squeeze(0)[1, 1] = 8
    np.squeeze(a[None, :, None])[2, 2:] = 4
    a.T[...] = np.arange(4.0) + a.T


@case((Q,), (Q.T,), (Q[:, ::-1],))
def dimensions_taken_apart(a):
    n = a.shape[0]
    b = a.T.reshape(n // 2, 2, n)
    b[1, 0] += 7
    c = a.reshape((n, 1, a.shape[1] // 2, 2))
    c[1, 0, :, 1] = -3
    d = np.reshape(a, (2, n // 2, a.shape[1]), order="F")
    d[1, 0] *= 2
    return b, c, d


@case((Q[:3],), (Q.T[1:],))
def known_dimensions_taken_apart(a):
    buffer = np.zeros((3, 4))
    buffer[...] = a
    buffer.T[1:3].reshape(2, -1, 3)[:, 0, 1] = 5
    buffer[:, ::-1].reshape(3, 2, 2)[1, :, 0] -= 9
    buffer.T.reshape((2, 2, 3), order="F")[0, 1] = 3
    return buffer


def zeroed(part):
    part[:] = 0


@case((Q,))
def parts_for_a_function(a):
    zeroed(np.einsum("ii->i", a)[1:])
    zeroed(a.T[1])
    zeroed(a.reshape(-1)[4:6])


@case((Q,))
def broadcast_for_reading(a):
    np.broadcast_to(a[0], (4, 4))[1] = 0


@case((Q,))
def windows_for_reading(a):
    np.lib.stride_tricks.sliding_window_view(a, 2, 0)[0] = 0
