"""Programs with loops and branches."""

import math

import numpy as np

from tests.support.programs.declared import case

RNG = np.random.default_rng(0)


@case((1.0, 2.0, 1e-10))
def bisection(a, b, tol):
    fa = a**3 - a - 2
    while True:
        m = 0.5 * (a + b)
        fm = m**3 - m - 2
        if abs(fm) < tol or (b - a) < tol:
            break
        if fa * fm < 0:
            b = m
        else:
            a, fa = m, fm
    return m


@case((27,), (1,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@case((1.0, 50), (0.3, 2), (0.3, 0))
def newton(x, maxit):
    for it in range(maxit):
        step = (math.cos(x) - x) / (-math.sin(x) - 1)
        x = x - step
        if abs(step) < 1e-12:
            break
    else:
        return x, -1
    return x, it


@case((np.log(RNG.random((9, 5))), np.log(RNG.random((5, 5))), np.log(RNG.random(5))))
def viterbi(logp, trans, init):
    T, S = logp.shape
    delta = np.empty((T, S))
    psi = np.zeros((T, S), dtype=np.int64)
    delta[0] = init + logp[0]
    for t in range(1, T):
        for j in range(S):
            best = -np.inf
            arg = 0
            for i in range(S):
                v = delta[t - 1, i] + trans[i, j]
                if v > best:
                    best = v
                    arg = i
            delta[t, j] = best + logp[t, j]
            psi[t, j] = arg
    path = np.zeros(T, dtype=np.int64)
    path[T - 1] = np.argmax(delta[T - 1])
    for t in range(T - 2, -1, -1):
        path[t] = psi[t + 1, path[t + 1]]
    return path, delta[T - 1].max()


@case((np.array([1, 2, 3, 4, 1, 2]), np.array([1, 3, 4, 4, 2])))
def edit_distance(s, t):
    m, n = len(s), len(t)
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    for i in range(m + 1):
        d[i, 0] = i
    for j in range(n + 1):
        d[0, j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


@case((RNG.random((50, 2)), 1.0, 0.1, 3, 20.0))
def gillespie(u, k1, k2, x0, tmax):
    x, t, n = x0, 0.0, 0
    out = np.zeros(len(u), dtype=np.int64)
    while t < tmax and n < len(u):
        a1, a2 = k1, k2 * x
        total = a1 + a2
        if total == 0.0:
            break
        t += -np.log(u[n, 0]) / total
        if u[n, 1] * total < a1:
            x += 1
        else:
            x -= 1
        out[n] = x
        n += 1
    return out, n, t


@case((np.array([1.0, 2.0, 3.0]), 0.0, 3.0, 1e-6))
def rk4_adaptive(y, t, tend, tol):
    h = 0.1
    steps = 0

    def f(t, y):
        return -2.0 * y + np.sin(t)

    def rk4(t, y, h):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    while t < tend:
        if t + h > tend:
            h = tend - t
        y1 = rk4(t, y, h)
        y2 = rk4(t + h / 2, rk4(t, y, h / 2), h / 2)
        err = np.max(np.abs(y1 - y2))
        if err > tol:
            h *= 0.5
            continue
        t += h
        y = y2
        steps += 1
        if err < tol / 50:
            h *= 2.0
    return y, steps


@case((np.arange(0, 50, 3.0), 33.0), (np.arange(0, 50, 3.0), 34.0), (np.zeros(0), 1.0))
def binary_search(a, v):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] == v:
            return mid
        if a[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    return -1


@case((RNG.normal(size=30) * 2,))
def prefix_chain(x):
    out = np.empty_like(x)
    s = 0.0
    for i in range(x.shape[0]):
        v = x[i]
        if v < 0:
            s = 0.0
        elif v < 1:
            s += v
        elif v < 2 and s > 1:
            s *= 0.5
        else:
            s -= 1
        out[i] = s
    return out


@case((np.array([1, 5, 9, 2, 7]), 16), (np.array([1, 5, 9, 2, 7]), 99))
def find_pair(a, target):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            if a[i] + a[j] == target:
                return i, j
    return -1, -1


@case((RNG.random((7, 2)), RNG.random(7)))
def unpacking(points, w):
    sx = sy = 0.0
    last = -1
    for k, ((x, y), wk) in enumerate(zip(points, w)):
        sx += wk * x * (k + 1)
        sy += wk * y
        last = k
    return sx, sy, last


@case((0.7, 9))
def append_list(x, n):
    out = []
    v = x
    for i in range(n):
        v = v * 0.5 + i
        out.append(np.sin(v))
    return np.array(out)


@case((2.0, 1e-12))
def while_true_break(x, eps):
    k = 1
    term = 1.0
    total = 1.0
    while True:
        term = term * x / k
        total += term
        k += 1
        if abs(term) < eps:
            break
        if k > 500:
            raise ValueError("no convergence")
    return total


@case((RNG.random(9), 6), (RNG.random(9), 5))
def swap_buffers(a, n):
    b = np.zeros_like(a)
    a = a.copy()
    for t in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    return a


@case((2.0, 12))
def dict_state(x, n):
    p = {"m": 0.0, "v": 0.0}
    for i in range(n):
        g = 2 * x
        p["m"] = 0.9 * p["m"] + 0.1 * g
        p["v"] = 0.99 * p["v"] + 0.01 * g * g
        x = x - 0.1 * p["m"] / (np.sqrt(p["v"]) + 1e-8)
    return x, p["m"]


def helper_loop(v, n):
    s = 0.0
    for i in range(n):
        if v[i] > 0:
            s += v[i]
        else:
            return -s
    return s


@case((RNG.normal(size=(5, 4)) + 1,))
def nested_calls(A):
    best = -1e300
    for i in range(A.shape[0]):
        s = helper_loop(A[i], A.shape[1])
        best = max(best, s)
    return best


@case((2.0, 7), (2.0, 0))
def after_loop(x, n):
    for i in range(n):
        y = x * i
    return y + i


@case((RNG.random(12),))
def sort_insertion(a):
    a = a.copy()
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@case((2.0, 7))
def listcomp(x, n):
    return np.array([x * i for i in range(n)])


@case((RNG.random(8), 8))
def try_with(x, n):
    s = 0.0
    with np.errstate(all="ignore"):
        for i in range(n):
            try:
                s += x[i] / (i + 1)
            finally:
                s += 1
    return s


@case((RNG.random(8), 8))
def generator(x, n):
    return sum(x[i] for i in range(n))


@case((1.5, 9))
def tuple_state(x, n):
    state = (x, 0.0)
    for i in range(n):
        a, b = state
        state = (a * 0.9, b + a)
    return state


@case((np.ones(4), 6))
def scalar_grow_rank(v, n):
    acc = 0
    for i in range(n):
        acc = acc + v * i
    return acc


@case((3.0,), (-1.0,))
def maybe_undefined(x):
    if x > 0:
        y = x
    return y


@case((3,), (0,))
def loop_undefined(n):
    for i in range(n):
        y = i * 2.0
    return y


@case((RNG.random(6), 3))
def alias_outer(a, n):
    a = a.copy()
    b = a
    for i in range(n):
        b[i] += 1
    return a, b


@case((RNG.random(6), 3))
def view_in_loop(a, n):
    a = a.copy()
    for i in range(n):
        v = a[i : i + 2]
        v *= 2
        a[i] = v[1]
    return a


@case((RNG.random(5), 2.0))
def rebound_shared(a, t):
    x = a.copy()
    y = np.zeros(5)
    k = 0
    while k < 3 and x[0] < t * 100:
        y = x
        x = x + 1
        k += 1
    return x, y


@case((7, 3), (7, 0), (-7, 2))
def pynum(a, b):
    if b == 0:
        return a
    return a // b + a % b


@case((10,), (0,))
def nested_break(n):
    s = 0
    for i in range(n):
        for j in range(i):
            if j > 3:
                break
            if (i + j) % 3 == 0:
                continue
            s += i * j
        else:
            s += 100
    return s


@case((5,), (0,), (50,))
def while_else(n):
    k = 0
    while k < n:
        k += 1
        if k == 20:
            break
    else:
        return -k
    return k


@case((np.array([3.0, 1.0, 2.0]),))
def bubble(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(0, n - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


@case((np.arange(12.0).reshape(3, 4),))
def row_swap(A):
    A = A.copy()
    for i in range(A.shape[0] - 1):
        A[i], A[i + 1] = A[i + 1].copy(), A[i].copy()
    return A


@case((np.arange(12.0).reshape(3, 4),))
def row_swap_no_copy(A):
    A = A.copy()
    for i in range(A.shape[0] - 1):
        t = A[i]
        A[i] = A[i + 1]
        A[i + 1] = t
    return A


@case((np.array([0.3, 0.1, -5.0]), 10), (np.array([0.3, 7.0]), 2), (np.array([]), 3))
def returns_in_a_loop_of_calls(x, most):
    def steps(z):
        for count in range(most):
            if z > 2.0:
                return count, z
            z += 1.0
        return most, z

    counts = np.zeros(x.size)
    for i in range(x.size):
        count, last = steps(x[i])
        counts[i] = count + last
    return counts


@case((np.linspace(0.0, 1.0, 5), np.linspace(0.1, 0.9, 5), 3))
def undefined_in_loops_of_loops(x, bounds, rounds):
    total = 0.0
    for _ in range(rounds):
        for bound in bounds:
            i = 0
            while i < x.size:
                if x[i] > bound:
                    found = i
                    row = x * i
                    break
                i += 1
            total += found + row.sum()
    return total


@case((np.ones(1), 2, 2), (np.ones(2), 2, 2), (np.ones(1), 1, 2), (np.ones(6), 1, 2))
def index_out_of_bounds_in_no_step(b, n, k):
    for _ in range(n, k):
        b[5] = 2.0
    return b.sum()


@case((np.ones(1), 2, 2), (np.ones(1), 3, 2), (np.ones(6), 3, 2))
def index_out_of_bounds_on_one_path(b, n, k):
    if n > k:
        b[5] = 2.0
    return b.sum()


@case((np.ones(1), 2.0), (np.ones(1), -2.0), (np.ones(3), 2.0))
def index_out_of_bounds_in_while(b, t):
    while t > 0.0:
        t -= b[1]
    return t


@case(({"a": 1.0}, 2.0), ({"a": 1.0}, -2.0), ({"a": 1.0, "b": 2.0}, 2.0))
def missing_key_on_one_path(d, t):
    if t > 0.0:
        t = d["b"] / (len(d) - 2)
    return t
