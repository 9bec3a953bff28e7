"""Programs that write into arguments and views, and programs of many statements."""

import math

import numpy as np

from tests.support.programs.declared import case


@case((np.arange(5.0), 2), (np.arange(5.0), 9), (np.arange(5.0), -9))
def written_argument(x, k):
    for i in range(len(x)):
        x[i] *= 2
        if i == k:
            x[k] = -1.0
    return x[k]


@case((np.arange(5.0),), (np.ones(4),))
def aliased_view(a):
    b = a[1:]
    for i in range(b.shape[0]):
        b[i] += a[i]
        c = b[i:]
        c *= 1.1
    return b.sum()


@case((np.arange(6.0).reshape(2, 3) + 1,))
def rows_of_argument(A):
    for row in A:
        row /= np.sqrt(np.sum(row**2))
    return A.sum()


@case((5.0, 3))
def exchanged_with_change(x, n):
    y = x
    for i in range(n):
        y, x = x, y * 2
    return x, y


@case((np.arange(5.0),))
def second_name_of_an_argument(x):
    y = x
    for i in range(len(x)):
        y[i] += 1
    return x is y, x, y


@case((np.arange(5.0), 2))
def rebound_then_written(x, n):
    for i in range(n):
        x = x + 1
    x[0] = 9
    return x


@case((np.arange(6.0), 3))
def copies_each_step(x, n):
    for i in range(n):
        t = x.copy()
        t[i] = 0
        x = t
    return x


@case((np.arange(6.0).reshape(2, 3), 2))
def reversed_rows(A, n):
    for i in range(n):
        r = A[i]
        r[:] = r[::-1]
    return A


@case((np.arange(6.0), 2))
def steps_of_ranges(x, k):
    s = 0.0
    for i in range(0, 6, k):
        s += x[i]
    for i in range(5, 0, -k):
        s = s * 2 + x[i]
    return s, i


@case((4,), (0,))
def narrow_integers(n):
    a = np.zeros(n, dtype=np.int32)
    for i in range(n):
        a[i] = i * i * 1000
    return a


@case((3,), (300,))
def wrapping_elements(n):
    a = np.zeros(3, dtype=np.uint8)
    for i in range(3):
        a[i] = a[i] + n
    return a


@case((np.array([1, 2, 3]), 2.5))
def floats_into_integers(a, v):
    for i in range(3):
        a[i] = v
    return a


@case((np.arange(4.0),))
def largest_so_far(x):
    m = -np.inf
    k = None
    for i in range(len(x)):
        if x[i] > m:
            m = x[i]
            j = i
    return m, j


@case((7,))
def jumps_in_both_loops(n):
    seen = 0
    for i in range(n):
        if i % 2:
            continue
        for j in range(n):
            if j == i:
                break
            if (i * j) % 5 == 4:
                return i, j
        seen += 1
    return seen, -1


@case((np.float32(1.5), 4), (1.5, 4))
def counted_down(x, n):
    y = x
    while n > 0:
        y = y * x
        n -= 1
    return y


@case((2.0,), (0.0,))
def truth_of_a_number(x):
    return 1 / x if x else 0.0


@case((np.array([3.0, 0.0]),))
def truth_in_a_list(x):
    return [1 / v if v else 0.0 for v in x][0]


@case((1, 2), (2, 1))
def sorted_pair(a, b):
    lo, hi = (a, b) if a < b else (b, a)
    return lo, hi


@case((np.arange(5.0), np.arange(5.0) * 2))
def arrays_in_a_dict(x, y):
    d = {"x": x, "y": y}
    for i in range(len(x)):
        d["x"][i] += d["y"][i]
    return x


@case((10,))
def elif_and_else(n):
    x = 1.0
    for i in range(1, n):
        if i < 3:
            x += i
        elif i < 5:
            x *= i
        elif i == 7:
            break
        else:
            x -= 1
    else:
        x = 0
    return x, i


@case((np.ones((3, 3)),))
def cholesky(A):
    n = A.shape[0]
    A = A + n * np.eye(n)
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            s = sum(L[i, k] * L[j, k] for k in range(j))
            if i == j:
                L[i, j] = math.sqrt(A[i, i] - s)
            else:
                L[i, j] = (A[i, j] - s) / L[j, j]
    return L


@case((5,))
def appended_pairs(n):
    t = (0, 1)
    out = []
    for _ in range(n):
        out.append(t[0])
        t = (t[1], t[0] + t[1])
    return np.array(out)


@case((np.arange(4.0), np.array([True, False, True, False])))
def mask_element_by_element(x, m):
    s = 0.0
    for i in range(len(x)):
        if m[i] and x[i] > 0 or i == 1:
            s += x[i]
    return s


@case((3.0,))
def inner_function(x):
    def f(y):
        if y > 2:
            return y * 2
        return y

    return f(x) + f(x - 2)


@case((6,))
def masked_update_then_search(n):
    x = np.arange(n)
    x[x % 2 == 0] *= 10
    k = 0
    while x[k] != 30 and k < n - 1:
        k += 1
    return x, k


@case(
    (np.arange(3.0), 3),
)
def break_at_the_end(x, n):
    total = np.zeros(3)
    for i in range(n):
        total = total + x
        if total.sum() > 5:
            break
    return total


@case((np.array([2.0, 3.0]),), (np.array([2.0, 0.0, 5.0]),), (np.array([2.0, np.nan]),))
def arrays_as_long_as_elements_say(x):
    s = 0.0
    for v in x:
        a = np.zeros(int(v))
        k = 0
        while k < 2:
            if k < a.shape[0]:
                a[k] = k
            k += 1
        s += a.sum()
    return s


@case((np.array([3.0, -1.0, 2.0]),), (np.zeros(0),), (np.arange(4)[::-1],))
def sorted_where_it_lies(x):
    found = np.empty(len(x))
    for i in range(len(x)):
        found[i] = 2 * x[i]
    found.sort()
    x[1:].sort()
    return found


@case((np.array([[3.0, -1.0, 2.0], [0.0, 5.0, -2.0]]),), (np.zeros((0, 2)),))
def rows_sorted_where_they_lie(m):
    total = 0.0
    for row in m:
        row.sort()
        total += row[0]
    m[:, -1].sort()
    return np.array([total])
