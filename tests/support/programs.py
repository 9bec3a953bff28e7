"""Functions with loops, branches and assignments as people write them, and arguments to try them on."""

from __future__ import annotations

import math

import numpy as np

RNG = np.random.default_rng(0)
PROGRAMS = []
REFUSED = []


def case(*arguments):
    """A program that gives what Python gives."""

    def declare(function):
        PROGRAMS.append((function, arguments))
        return function

    return declare


def refused(message, *arguments):
    """A program that is refused, since nobody knows which arrays its variables share, or what Python would do."""

    def declare(function):
        REFUSED.append((function, message, arguments))
        return function

    return declare


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


@case((4.0,), (0.5,))
def ret_in_loop(x):
    for i in range(10):
        x = x * 1.1
        if x > 5:
            return x, i
    return x, -1


@case((np.array([1.0, -2.0, 3.0]),))
def raising(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] < -5:
            raise ValueError("negative")
        s += x[i]
    return s


@case((np.array([1.0, -2.0, 3.0]),))
def raising2(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("negative")
        s += x[i]
    return s


@case((4,), (-4,))
def asserts(n):
    assert n > 0, "n must be positive"
    return n * 2


@case((4.0,), (-4.0,), (0.0,))
def msqrt(x):
    if x == 0.0:
        return 1.0
    return math.sqrt(x)


@case((3.7,), (-3.7,))
def conversions(x):
    n = int(x)
    m = round(x)
    f = math.floor(x)
    return n, m, f, float(n) / 2, bool(n), abs(n), max(n, 2), min(x, 1.0)


@case((5,))
def power_table(n):
    out = np.empty((n, 3))
    for i in range(n):
        for j in range(3):
            out[i, j] = i**j
    return out


@case((np.array([5, 3, 9, 1]),))
def argmin_loop(a):
    best = a[0]
    arg = 0
    for i in range(1, a.shape[0]):
        if a[i] < best:
            best = a[i]
            arg = i
    return best, arg


@case((6,))
def sieve(n):
    p = np.ones(n + 1, dtype=np.bool_)
    p[0] = p[1] = False
    i = 2
    while i * i <= n:
        if p[i]:
            for j in range(i * i, n + 1, i):
                p[j] = False
        i += 1
    return p


@case((np.arange(4.0), 2), (np.arange(4.0), 7))
def index_error(a, k):
    s = 0.0
    for i in range(k):
        s += a[i]
    return s


@case((10,))
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case((3.0, 4))
def lists(x, n):
    l = [x, 2 * x]
    d = {"a": 1.0, "b": [0.0]}
    for i in range(n):
        l[0] = l[0] + l[1]
        d["a"] = d["a"] * l[0]
        d["b"][0] += i
    return l, d


@case((3.0,), (-3.0,))
def dict_branch(x):
    d = {"a": x}
    if x > 0:
        d["b"] = x
    else:
        d["b"] = -x
    return d


@case((np.arange(6.0),))
def neg_step(a):
    out = np.zeros(6)
    for i in range(5, -1, -1):
        out[5 - i] = a[i]
    for i in range(len(a) - 1, 0, -2):
        out[i] += 1
    return out


@case((2.5, 3))
def closure(x, n):
    def f(t):
        return t * x

    s = 0.0
    for i in range(n):
        s += f(i)
    return s


@case((3, 2))
def chained(a, b):
    s = 0
    for i in range(10):
        if a <= i < b + 5:
            s += i
        s += 1 if i % 2 == 0 and not i == 4 or i == 7 else 0
    return s


@case((np.arange(5), 3), (np.arange(5), 9))
def contains_(a, k):
    if k in a:
        return 1
    return 0


@case((np.arange(5.0),))
def zips(a):
    s = 0.0
    for i, (u, v) in enumerate(zip(a, a[1:])):
        s += i * u * v
    for u in reversed(a):
        s = s * 2 + u
    return s


@case((1.0, 3))
def type_change(x, n):
    y = 0
    for i in range(n):
        if i == 1:
            y = x
        else:
            y = y + 1
    return y


@case((3,))
def bool_flag(n):
    found = False
    for i in range(n):
        if i == 2:
            found = True
    return found


@case((np.float32(2.0), 3))
def f32(x, n):
    s = 0.0
    for i in range(n):
        s = s + x
    return s


@case((4,))
def augassign_2d(n):
    A = np.zeros((n, n))
    for i in range(n):
        A[i] += i
        A[:, i] -= 1
        A[i, i] *= 10
    return A


@case((np.arange(3.0), 2))
def list_of_arrays(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    return np.array(xs), len(xs)


def helper(a):
    a[0] = 9.0


@case((np.arange(3.0), 2))
def callee_writes(x, n):
    x = x.copy()
    for i in range(n):
        helper(x)
        x[1] += x[0]
    return x


@case((5.0,), (1.0,))
def try_except(x):
    try:
        if x > 2:
            y = 1 / x
        else:
            y = x
    except ZeroDivisionError:
        y = 0.0
    return y


@case((2,), (0,))
def zdiv(n):
    s = 0.0
    for i in range(3):
        s += i / n
    return s


@case((2,), (0,))
def only_check(n):
    for i in range(3):
        if n == i:
            raise KeyError("x")
    return n


@case((3.0,))
def unused_check(x):
    a = np.arange(3)
    for i in range(5):
        a[i]
    return x


@case((3.0, 4))
def list_alias(x, n):
    l = [x, 2 * x]
    m = l
    d = {"a": [x]}
    e = d["a"]
    for i in range(n):
        l[0] += 1
        d["a"][0] += i
    if x > 2:
        l[1] = 0.0
    return m, e


@case((3.0, 4))
def list_grow_alias(x, n):
    l = []
    m = l
    for i in range(n):
        l.append(x * i)
    return np.array(l)


@case((np.arange(4.0),))
def comp(x):
    return [2 * v for v in x][1], sum(v * v for v in x), max(abs(v - 2) for v in x), any(v > 2 for v in x)


@case((3, 4))
def nested_comp(n, m):
    return np.array([[i * j for j in range(m)] for i in range(n)])


@case((np.array([1.0, -2.0, 3.0]), 5), (np.array([1.0, 2.0]), 5), (np.array([1.0, 2.0]), -1), (np.zeros(0), -1))
def errors_with_values(x, n):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"element {i} is {x[i]:.1f} {{}}", i)
    if n < 0:
        if n == -1:
            raise KeyError(n)
        raise ArithmeticError("n")
    return n


@case((3, 1.0), (-1, 1.0), (-1, -1.0), (2, -1.0))
def raises_on_both_paths(n, x):
    if n < 0:
        if x < 0:
            raise ValueError("both")
        else:
            raise KeyError("n")
    if x < 0:
        y = x * 2
        raise OverflowError(f"{y}")
    return n + x


@case((5,), (0,), (12,))
def dead_loop_with_checks(n):
    for i in range(n):
        assert i < 10, f"{i} is too large"
    return 1.0


@case((5, 1.0), (12, 1.0), (12, -1.0))
def checks_in_branches(n, x):
    if x > 0:
        k = 0
        while k < n:
            if k > 10:
                raise RuntimeError("k")
            k += 1
    return x


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


@refused("was bound to other arrays in a loop", (RNG.random(6), 3), (RNG.random(6), 0))
def swap_alias(a, n):
    a = a.copy()
    b = np.zeros_like(a)
    keep = a
    for t in range(n):
        b[1:] = a[:-1]
        a, b = b, a
    return a + keep


@refused("may be another variable's too", (RNG.random(5), 4))
def last_shared_then_write(a, n):
    x = a.copy()
    y = x * 0
    for i in range(n):
        x = x * 2
        y = x
    y[0] = 7
    return x, y


@refused("may be another variable's too", (1.0,), (-1.0,))
def branch_alias_then_write(c):
    x = np.zeros(3)
    y = np.ones(3)
    z = x if c > 0 else y
    z[0] = 5
    return x, y, z


@refused("may be one that has been assigned to since", (1.0,), (-1.0,))
def branch_alias_read_after(c):
    x = np.zeros(3)
    y = np.ones(3)
    z = x if c > 0 else y
    x[0] = 5
    return z


@refused("leaves int64", (100,))
def fib_overflow(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@refused("'c' changes in a loop", (2.5, 3))
def closure_changes(x, n):
    c = 1.0

    def f(t):
        return t * c

    s = 0.0
    for i in range(n):
        c = c * x
        s += f(i)
    return s


@refused("'best' is", (np.arange(10.0), 3.0))
def none_state(a, t):
    best = None
    for i in range(len(a)):
        if a[i] > t and best is None:
            best = a[i]
    return best


@refused("assignment into a view", (np.arange(6.0).reshape(2, 3),))
def transposed_write(A):
    A = A.copy()
    B = A.T
    for i in range(3):
        B[i] = i
    return A


@refused("'s' is of type str", (3,))
def string_state(n):
    s = "a"
    for i in range(n):
        s = s + "b"
    return len(s)


@refused("was changed while dict_arg was traced", ({"a": np.arange(3.0), "k": 2.0},))
def dict_arg(d):
    s = 0.0
    for i in range(d["a"].shape[0]):
        s += d["a"][i] * d["k"]
        d["k"] = s
    return s
