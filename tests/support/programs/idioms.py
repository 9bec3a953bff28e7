"""Programs in the spelling of Numba's documentation and of scripts."""

from collections import namedtuple
from dataclasses import dataclass
import functools
import math

import numpy as np

from tests.support.programs.declared import case, refused

RNG = np.random.default_rng(5)
X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
A = np.arange(12.0).reshape(3, 4) - 4
LIMIT = 2.0
TABLE = (1.0, 2.0, 4.0)
Point = namedtuple("Point", "x y")


@case((7, 2), (-7, 2), (7, -2), (-7, -2))
def integer_arithmetic(a, b):
    s = 0
    for i in range(1, 4):
        s += (a * i) // b + (a * i) % b - divmod(a, b)[0] * i + divmod(-a, b)[1]
    return s, a // b, a % b, -a // b, a / b, abs(a), -a % b


@case((5, 3), (-5, 3), (5, 0))
def shifts(a, n):
    out = 0
    for i in range(n):
        out += (a << i) + (a >> i) + (a & i) + (a | i) + (a ^ i) + ~a
    return out


@case((np.int32(2147483646), 2), (np.int32(5), 3))
def narrow_overflow(a, n):
    s = np.zeros(n, dtype=np.int32)
    for i in range(n):
        s[i] = a
        s[i] += 1
    return s


@case((2.5,), (3.5,), (-2.5,), (0.5,))
def rounding(x):
    if x > 100:
        return 0, 0.0, 0, 0, 0
    return round(x), round(x, 1), int(x), math.floor(x), math.ceil(x)


@case((3, 2.0), (-3, 2.0), (0, -1.0))
def extremes_of_scalars(n, x):
    s = 0.0
    for i in range(4):
        s += max(n, i) + min(x, i, 1.5) + abs(n - i) + max(x, -x)
    return s


@case((X, 1, 4), (X, 3, 1), (X, 0, 9), (X, -3, -1), (X, -1, 2))
def slices_with_bounds(x, lo, hi):
    s = np.sum(x[lo:hi]) + x[:hi].sum() * 2 + x[lo:].sum() * 3
    y = x.copy()
    for i in range(3):
        y[lo:hi] += i
        y[lo:hi] *= 2.0
    return s, x[lo:hi], y


@case((X,))
def windows(x):
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        lo = max(0, i - 1)
        hi = min(n, i + 2)
        out[i] = np.mean(x[lo:hi])
    return out


@case((10,), (3,), (0,))
def downwards(n):
    s = 0
    for i in range(n, 0, -2):
        s = s * 3 + i
    for i in reversed(range(n)):
        s = s * 3 + i
    for i in reversed(range(2, n, 3)):
        s = s - i
    return s


@case((X, X[::-1].copy()), (X, X[:2]))
def pairs(x, y):
    s = 0.0
    for i, v in enumerate(x):
        s += i * v
    for i, v in enumerate(x, 2):
        s -= i * v
    for a, b in zip(x, y):
        s += a * b
    for i, (a, b) in enumerate(zip(x, y)):
        s = s * 0.5 + a - b * i
    for a, b in zip(reversed(x), y):
        s += a / (b + 10)
    return s


@case((48, 18), (7, 0), (0, 0))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@case((1.0, 0.5, 3))
def default_arguments(x, y, n):
    def f(a, b=2.0, *rest, scale=1.0, **named):
        s = a * b * scale
        for r in rest:
            s += r
        return s + named.get("extra", 0.0)

    s = 0.0
    for i in range(n):
        s += f(x) + f(x, y) + f(x, y, i, i + 1, scale=2.0) + f(x, extra=y)
    return s


@case((X, 3))
def star_arguments(x, n):
    def total(*args):
        s = 0.0
        for a in args:
            s += a
        return s

    triple = (x[0], x[1], x[2])
    first, *rest = triple
    s = 0.0
    for i in range(n):
        s += total(*triple) + total(*rest, first)
    return s


@case((X, 4))
def finally_blocks(x, n):
    s = 0.0
    k = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(n):
            try:
                s += x[i] / (i + 1)
            finally:
                k += 1
    return s, k


@case((X, 2.0), (X, -9.0))
def early_returns(x, t):
    for i in range(len(x)):
        for j in range(i):
            if x[i] + x[j] > t and i > j:
                return i * 10 + j
            if x[j] == t:
                return -5
        if i == 3:
            break
    else:
        return -2
    return -1


@case((0.5, 20), (2.0, 20))
def conditional_expressions(x, n):
    s = 0.0
    for i in range(n):
        s += (x if i % 2 else -x) if i < 10 else (x * i if 0 < s <= 50 else -1.0)
    return s


@case((3, 2), (3, 3), (0, 1))
def constants_of_the_module(n, m):
    s = 1.0
    for i in range(n):
        s += TABLE[i % 3] * LIMIT if i != m else math.pi
    return s


@case((X, 5))
def named_tuples(x, n):
    p = Point(0.0, x[0])
    q = [p, p]
    for i in range(n):
        p = Point(p.y, p.x + x[i % 5])
        if p.x > p.y:
            p = p._replace(y=p.y + 1)
        q[i % 1] = p
    return p.x, p.y, q[0].x


@dataclass
class Body:
    position: float
    velocity: float


@case((1.0, 0.0, 10))
def data_classes(x, v, n):
    b = Body(x, v)
    for i in range(n):
        b = Body(b.position + 0.1 * b.velocity, b.velocity - 0.1 * b.position)
    return b.position, b.velocity


@case((3.0, 4))
def dicts_with_constant_keys(x, n):
    d = {"a": x, "b": 0.0, 3: np.zeros(2)}
    for i in range(n):
        d["b"] = d["b"] + d["a"]
        d["a"] *= 0.5
        for key in ("a", "b"):
            d[key] += 1
        d[3][0] += d["a"]
    return d


def factorial(n, depth):
    if depth == 0:
        return 1.0
    return n * factorial(n - 1, depth - 1)


@case((5.0,), (2.5,))
def recursion_of_constant_depth(x):
    s = 0.0
    for i in range(3):
        s += factorial(x + i, 4)
    return s


@case((1 + 2j, 30), (0.1 + 0.1j, 30))
def complex_numbers(c, n):
    z = 0j
    for i in range(n):
        z = z * z + c
        if abs(z) > 2:
            return i, z.real, z.imag
    return n, z.real, z.imag


@case((RNG.random((4, 3)), RNG.random((3, 5))))
def product_by_hand(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            acc = 0.0
            for k in range(a.shape[1]):
                acc += a[i, k] * b[k, j]
            out[i, j] = acc
    return out


@case((X, 3))
def chained_comparisons(x, n):
    s = 0
    for i in range(len(x)):
        if 0 <= i < n < 10 and -1 < x[i] <= 5 != n:
            s += 1
        if not 0 < x[i] < 3:
            s += 10
    return s


@case((4, 0.5))
def nested_functions(n, x):
    def outer(k):
        def inner(t):
            return t * k + x

        return inner(k) + inner(1.0)

    s = 0.0
    for i in range(n):
        s += outer(i)
    return s


@case((X,))
def augmented_everything(x):
    a = x.copy()
    n = 7
    for i in range(len(x)):
        a[i] += 1
        a[i] -= 0.5
        a[i] *= 2
        a[i] /= 4
        a[i] **= 2
        a[1:3] -= 1
        a[::2] *= 1.5
        n += i
        n -= 1
        n *= 3
        n //= 2
        n %= 100
        n |= 1
        n ^= 6
        n &= 127
        n <<= 1
        n >>= 1
    return a, n


@case((2, 3), (0, 0))
def truth_values(a, b):
    flag = False
    count = 0
    for i in range(a):
        flag = not flag
        if flag and b:
            count += flag
        flag |= i == 1
    return flag, count, bool(a and b), a or b, a and b


@case((5,), (1,))
def swaps(n):
    a, b, c = 1, 2, 3
    for i in range(n):
        a, b, c = b, c, a
        if i % 2:
            a, c = c, a
    return a, b, c


@case((A,))
def argmax_2d(a):
    best, bi, bj = -np.inf, -1, -1
    for i in range(a.shape[0]):
        for j, v in enumerate(a[i]):
            if v > best:
                best, bi, bj = v, i, j
    return best, bi, bj


@case((X, 2))
def raises_with_text(x, k):
    for i in range(len(x)):
        if x[i] < 0 and i > k:
            raise ValueError(f"x[{i}] = {x[i]!r} < 0 ({k:03d})")
    return 1


@case((X, 2), (X, -1))
def asserted(x, k):
    for i in range(len(x)):
        assert k >= 0, f"k is {k}"
        assert x[i] < 10
    return k


@case((10, 1e-3))
def monte_carlo(n, h):
    state = 12345
    inside = 0
    for _ in range(n):
        state = (1103515245 * state + 12345) % 2147483648
        u = state / 2147483648
        state = (1103515245 * state + 12345) % 2147483648
        v = state / 2147483648
        inside += u * u + v * v <= 1.0
    return 4 * inside / n


@case((np.array([3, 0, 2, 3, 1, 3]), 4))
def histogram(x, bins):
    counts = np.zeros(bins, dtype=np.int64)
    for v in x:
        counts[v] += 1
    return counts, np.cumsum(counts)


@case((np.array([1, 2, 3], dtype=np.uint8), 200))
def unsigned_bytes(a, n):
    s = a[0]
    for i in range(3):
        s = s + a[i]
    t = 0
    for i in range(3):
        t += a[i]
    return s, t, a + np.uint8(n)


@case((np.float32(0.1), 5))
def single_precision(x, n):
    a = np.zeros(n, dtype=np.float32)
    acc = np.float32(0)
    for i in range(n):
        acc += x * i
        a[i] = acc / 3
    return a, acc


@case((X, 0.0, 3.0))
def clipped(x, lo, hi):
    out = np.empty_like(x)
    for i, v in enumerate(x):
        out[i] = lo if v < lo else hi if v > hi else v
    return out


@case((RNG.random((6, 2)),))
def pairwise(points):
    n, d = points.shape
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            out[i, j] = out[j, i] = math.sqrt(sum((points[i, k] - points[j, k]) ** 2 for k in range(d)))
    return out


@case((np.arange(10), 3))
def rolled(a, k):
    out = np.empty_like(a)
    n = len(a)
    for i in range(n):
        out[(i + k) % n] = a[i]
        out[i - k] -= 0
    return out


@case((A,))
def running_means(a):
    m = np.zeros(a.shape[1])
    s = np.zeros_like(m)
    for k, row in enumerate(a, start=1):
        delta = row - m
        m += delta / k
        s += delta * (row - m)
    return m, s / (len(a) - 1)


@case((X, 2), (X, 0))
def functools_reduce(x, n):
    s = np.float64(0.0)
    for i in range(n):
        s += functools.reduce(lambda a, b: a + b, [x[0], x[1], x[2]]) * i
    return s


@case((3, 5.0))
def ternary_chain_of_types(n, x):
    y = 0
    for i in range(n):
        y = y + (1 if i == 0 else x)
    return y


@case((2.0, 5))
def horner(x, n):
    coefficients = [1.0, -2.0, 3.0]
    s = 0.0
    for _ in range(n):
        p = 0.0
        for c in coefficients:
            p = p * x + c
        s += p
        x *= 0.5
    return s


@case((X, 2.0), (X, 9.0), (X[:0], 1.0))
def loops_with_else_and_returns(x, t):
    for i in range(len(x)):
        if x[i] > t:
            return i
        if i == 3:
            break
    else:
        return -2
    k = 0
    while k < len(x):
        if x[k] < -t:
            return 10 * k
        k += 1
    else:
        k = -k
    return k
