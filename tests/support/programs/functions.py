"""Numbers, containers and functions of the standard library as they are used around arrays."""

import functools, itertools, math, operator
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
import numpy as np
from tests.support.programs.declared import case

X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])
I = np.array([3, 1, 2, 0, 5, 4])


@case((X, 2.0), (X, 0.0))
def errstate(x, t):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = x / t
        if t > 1:
            y = y + 1
    return y


@case((X, 2))
def delete_names(x, n):
    s = 0.0
    for i in range(n):
        y = x[i] * 2
        s += y
        del y
    del x
    return s


@case((X, 2))
def star_unpacking(x, n):
    first, *rest = x
    s = first
    for v in rest:
        if v > 0:
            s += v
    a, *mid, b = [x[0], x[1], x[2], x[3]]
    return s, a, b, mid


def with_default(v, acc=[0.0]):
    return v + acc[0]


@case((X, 2))
def default_read(x, n):
    s = 0.0
    for v in x:
        if v > n:
            s += with_default(v)
    return s


@case((X, 2))
def lambdas_in_loop(x, n):
    s = 0.0
    for i in range(n):
        f = lambda v: v * i + x[0]
        s += f(x[i])
    return s


@case((1,), (2,), (5,))
def membership(k):
    if k in (1, 2, 3):
        return 1
    if k in {5, 6}:
        return 2
    return 0


@case((np.array([1, 5, 7, 3]),))
def membership_loop(x):
    n = 0
    for v in x:
        if v in (1, 3, 5):
            n += 1
        if v not in [7]:
            n += 10
        if v in {7, 9}:
            n += 100
        if v in range(2, 6):
            n += 1000
        if v in {1: "a", 3: "b"}:
            n += 10000
    return n


@case((X, True), (X, False))
def bool_arithmetic(x, b):
    s = 0
    for v in x:
        s += (v > 0) + b
    return s, b + b, b * 2, -b, b & (x[0] > 0), b | False, b ^ True, not b, sum(v > 0 for v in x)


@case((np.arange(6.0).reshape(2, 3),))
def ndindex(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        if a[i, j] > 2:
            s += a[i, j] * i + j
    return s


@case((np.arange(6.0).reshape(2, 3),))
def ndindex_star(a):
    out = np.zeros_like(a)
    for i, j in np.ndindex(*a.shape):
        out[i, j] = a[i, j] * i + j
    return out


@case((np.arange(6.0).reshape(2, 3),))
def ndenumerate(a):
    s = 0.0
    for (i, j), v in np.ndenumerate(a):
        if v > 2:
            s += v * i + j
    return s


@case((np.arange(6.0).reshape(2, 3),))
def flat_loop(a):
    s = 0.0
    for v in a.flat:
        if v > 2:
            s += v
    return s


@case((X, 2))
def itertools_static(x, n):
    s = 0.0
    for i, j in itertools.product(range(3), range(2)):
        if x[i] > x[j]:
            s += 1
    for i, j in itertools.combinations(range(4), 2):
        if x[i] > x[j]:
            s += 10
    for a, b in itertools.pairwise([x[0], x[1], x[2]]):
        if a > b:
            s += 100
    for v in itertools.chain([x[0]], [x[1], x[2]]):
        if v > 0:
            s += 1000
    return s


@case((X, 2))
def itertools_traced(x, n):
    s = 0.0
    for i, j in itertools.product(range(len(x)), range(n)):
        if x[i] > x[j]:
            s += 1
    for i, j in itertools.combinations(range(len(x)), 2):
        if x[i] > x[j]:
            s += 10
    return s


@case((X, 2), (X, -1), (X, 1), (X, -2), (X, 0))
def range_traced_step(x, k):
    s = 0
    for i in range(4 if k < 0 else 0, -1 if k < 0 else 5, k):
        s = s * 10 + i
    return s


@case((X,))
def negative_step(x):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):
        s = s * 2 + x[i]
    for i in range(len(x) - 1, -1, -2):
        if x[i] > 0:
            s += i
    return s


@case(
    (np.int32(5), np.float32(2)),
)
def numpy_scalars(a, b):
    s = a
    for i in range(3):
        s = s + a
    if b > 1:
        b = b * 2
    return s, b


@case((3,), (-3,))
def ternaries(n):
    return [("a", n)[1] if n > 0 else -n, n and 5, n or 7]


@case((X,))
def string_keys(x):
    d = {"pos": 0, "neg": 0}
    for v in x:
        if v > 0:
            d["pos"] += 1
        else:
            d["neg"] += 1
    return d


@case((X, 2.0))
def enumerate_list_comp(x, t):
    return [i for i, v in enumerate(x) if v > t], [i * v for i, v in enumerate(x)]


@case((X,))
def swap_elements(x):
    x[0], x[1] = x[1], x[0]
    i = 0
    while i < len(x) // 2:
        j = len(x) - 1 - i
        x[i], x[j] = x[j], x[i]
        i += 1
    return x


@case((X, 3))
def global_read(x, n):
    return TABLE[n] if x[0] > 0 else TABLE[0]


TABLE = [1.0, 2.0, 4.0, 8.0]


@case((X, 3))
def while_true(x, n):
    i = 0
    while True:
        i += 1
        if i > n:
            break
        if x[i] < 0:
            continue
        x[i] = 0
    return i


@case((X,))
def print_free(x):
    assert x[0] > 0, f"bad {x[0]}"
    assert len(x) == 5
    return x * 2


@case((1.0,), (-1.0,))
def assert_fails(x):
    assert x > 0, f"bad {x}"
    return x


@case((5,), (0,))
def factorial(n):
    r = 1
    for k in range(2, n + 1):
        r *= k
    return r


class NotConverged(RuntimeError):
    pass


@case((2.0, 3), (2.0, 30))
def newton_raises(a, n):
    x = a
    for _ in range(n):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-14:
            return new
        x = new
    raise NotConverged(f"no convergence after {n} steps, at {x}")


@case((np.arange(12).reshape(3, 4),))
def matrix_rows(m):
    best = -1
    for row in m:
        t = 0
        for v in row:
            t += v if v % 2 else -v
        best = max(best, t)
    return best


@case((X, 2))
def slices_of_lists(x, n):
    l = [x[0], x[1], x[2], x[3]]
    if n > 1:
        l = l[::-1]
    l[1:3] = [0.0, 1.0]
    return l, l[:2], l[-1]


@case((10,))
def bit_count(n):
    c = 0
    while n:
        c += n & 1
        n >>= 1
    return c


@case((6.0,), (0.5,))
def match_number(x):
    n = int(x)
    match n:
        case 0:
            return 1.0
        case 5 | 6:
            return 2.0
        case _ if n > 6:
            return 3.0
        case _:
            return 4.0


@case((X,))
def any_all_lists(x):
    return any([x[0] > 3, x[1] > 0]), all([x[0] > 3, x[1] > 0]), any(x > 4), all(x > -3)


@case((X, 3))
def reduce_(x, n):
    r = functools.reduce(lambda a, b: a * b if b > 0 else a, x)
    return r, functools.reduce(operator.add, x, 1.0)


@functools.lru_cache
def cached(n):
    return 1 if n < 2 else cached(n - 1) + cached(n - 2)


@case((X, 3))
def cached_static(x, n):
    return x[0] * cached(8) if x[0] > 0 else 0.0


@case((X, 3))
def set_of_seen(x, n):
    seen = set()
    for i in range(3):
        seen.add(i % 2)
    if n > 1:
        return len(seen)
    return 0


@case((3, 4))
def int_float(a, b):
    s = 0.0
    for i in range(a):
        s += int(i * 1.5) + float(b) / 3
    return int(s), float(a), bool(a), int(-2.7 * a), str is None


class Scaled:
    """An object that is called, and has no name as functions do."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x if x > 0 else -x


SCALED = Scaled(3.0)
RAISED = functools.partial(pow, exp=2)


@case((X,), (X[:1],))
def callable_objects(x):
    total = 0.0
    for each in x:
        total = total + SCALED(each) + RAISED(each)
    return total
