"""Programs with errors, numbers of Python, lists, functions and assignments."""

import cmath
import math

import numpy as np

from tests.support.programs.declared import case


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


@case((1.0, np.inf), (-0.0, -0.0), (np.nan, -np.inf), (True, 2), (2, 1.5j), (np.float32(1.5), np.int8(-3)))
def complex_numbers(x, y):
    found = []
    for _ in range(3):
        if x == x:
            found.append(complex(x, y))
        else:
            found.append(complex(y, x))
    z = complex(y, 1j) + complex(x, complex(2.5, -0.0))
    return found[0], found[2], complex(x), z


@case((np.inf, 2.0), (-0.0, -0.0))
def signs_of_complex_zeros(x, y):
    z = complex(x, y)
    for _ in range(2):
        if x > 0:
            z = complex(y, x)
    w = complex(z)
    return np.copysign(1.0, z.real), np.copysign(1.0, z.imag), np.copysign(1.0, w.imag), complex(real=x, imag=y)


@case((np.array([3, 200, 255], dtype=np.uint8), 7), (np.array([], dtype=np.uint8), 0))
def scalars_of_numpy(data, seed):
    state = np.uint32(seed)
    total = np.int64(0)
    scale = np.float32(0.5)
    for i in range(data.size):
        state = (state ^ np.uint32(data[i])) * np.uint32(3)
        if state & np.uint32(1):
            state = state >> np.uint32(1)
        total += np.int64(state)
        scale *= np.float32(1.5)
    return state, total, scale, np.int8(total), np.complex64(scale), np.bool_(seed), np.float64(seed)


@case((300,), (-1,), (255,))
def beyond_a_byte(n):
    total = np.uint8(0)
    for _ in range(2):
        if n != 5:
            total = np.uint8(n)
    return total


@case((3.7,), (-3.7,), (np.nan,), (1e30,))
def floats_as_integers(x):
    found = np.int32(0)
    for _ in range(2):
        if x != 5:
            found = np.int32(x)
    return found


@case((np.array([1.5, 2.5]),))
def arrays_of_other_types(x):
    for i in range(9):
        x = np.float64(np.float32(x) + np.float32(i))
    return np.float32(x), np.bool_(x), np.int16(x[0])


@case((0.3 + 0.4j,), (-2.0 + 0j,), (complex(-2.0, -0.0),), (0.0,), (1000.0,), (complex(1, np.inf),), (2,))
def complex_functions(z):
    size = 0.0
    for _ in range(2):
        if cmath.isfinite(z):
            size += abs(z)
    return cmath.exp(z), cmath.sqrt(z), cmath.log(z), size


@case((complex(-np.inf, np.nan),), (complex(np.nan, np.inf),), (complex(-np.inf, np.inf),), (complex(np.inf, 1),))
def infinite_exponents(z):
    w = cmath.exp(z)
    for _ in range(2):
        if not cmath.isnan(z):
            w = cmath.exp(z)
    return abs(w.real), cmath.isinf(w), cmath.isnan(w)
