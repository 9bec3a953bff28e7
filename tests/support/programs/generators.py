"""Programs with generators and comprehensions that leave elements out."""

import itertools
import math

import numpy as np

from tests.support.programs.declared import case, refused

RNG = np.random.default_rng(4)
X = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((X,), (X[:1],), (-abs(X),))
def sums_of_chosen_elements(x):
    n = len(x)
    a = sum(x[i] for i in range(n) if x[i] > 0) + np.float64(0.5)
    b = sum(1 for v in x if v > 2)
    c = sum((v * w for v, w in zip(x, x[::-1]) if v > 0 if w > 0), np.float64(10.0))
    d = sum(math.sqrt(v) for v in x if v >= 0) + 1.0
    return a, b, c, d


@case((X, 2.0), (X, 9.0), (X, -9.0), (X[:0], 0.0))
def any_and_all(x, t):
    n = len(x)
    return (
        any(v > t for v in x),
        all(v > t for v in x),
        any(x[i] > x[i + 1] for i in range(n - 1)),
        all(x[i] > 0 for i in range(n) if i % 2 == 0),
        any(x[i] for i in range(n) if x[i] > t),
        not any(v == t for v in x),
    )


@case((np.array([3, 1, 2]),))
def any_ends_early(a):
    return any(a[i] > 2 for i in range(len(a) + 5))


@case((np.array([3, 1, 2]),))
def all_runs_out_of_bounds(a):
    return all(a[i] > 0 for i in range(len(a) + 5))


@case((X,), (X[:1],), (-abs(X),), (X[:0],))
def extremes(x):
    return max(v for v in x if v > 0), min(v * v for v in x), max(abs(x[i]) for i in range(len(x)))


@case((X,), (-abs(X),), (X[:0],))
def extremes_with_defaults(x):
    a = max((v for v in x if v > 0), default=np.float64(-1.0))
    b = min((i for i in range(len(x)) if x[i] < 0), default=-1)
    return a, b


@case((X,), (-abs(X),))
def extremes_by_a_key(x):
    return max((v for v in x), key=lambda v: -v * v), min(range(3), key=lambda i: (i - 1) ** 2)


@case((X,))
def places_of_extremes(x):
    return max((i for i in range(len(x))), key=lambda i: abs(x[i] - 1)), min(i for i in range(len(x)) if x[i] < 0)


@case((X,), (-abs(X),), (X[:0],))
def lists_of_chosen_elements(x):
    kept = [2 * v for v in x if v > 0]
    total = 0.0
    for v in kept:
        total += v * 0.5
    return np.array(kept), len(kept), sum(kept) + np.float64(0.5), total + np.float64(0.0)


@case((np.arange(6.0).reshape(3, 2) - 2,))
def rows_of_chosen_elements(A):
    return np.array([row * 2 for row in A if row.sum() > 0])


@case((X, 2.0), (X, -9.0))
def known_elements_and_traced_conditions(x, t):
    a, b, c = x[0], x[1], x[2]
    kept = [v for v in (a, b, c) if v > t]
    return len(kept), sum(kept) + 0.5, sum(v for v in (a, b, c) if v > t) + 0.5, max(1.0, t)


@case((X, 3), (X, 0))
def in_loops(x, n):
    s = np.float64(0.0)
    for k in range(n):
        s += sum(v for v in x if v > k)
        if any(v < -k for v in x):
            s += 100
    return s


@case((4, 3), (0, 3), (4, 0))
def several_fors(n, m):
    a = sum(i * j for i in range(n) for j in range(m))
    b = sum(i * j for i in range(n) if i % 2 for j in range(i, m) if j != 1)
    c = any(i + j == 5 for i in range(n) for j in range(m))
    return a, b, c


@case((4, 3))
def lists_of_several_fors(n, m):
    return np.array([10 * i + j for i in range(n) for j in range(m)])


@case((3.0, 4.0))
def known_lists_of_several_fors(x, y):
    pairs = [a * b for a in (x, y) for b in (1, 2, 3) if b != 2]
    return pairs, [[i * a for i in range(2)] for a in (x, y)]


@case((X,), (X[:1],))
def loops_over_generators(x):
    y = x.copy()
    z = x
    s = 0.0
    for v in (2 * x[i] for i in range(len(x)) if x[i] != 2.5):
        s = s * 0.5 + v
        z[-1] += 1
        y[-1] += z[-1]
        if s > 100:
            break
    return s, y


@case((X,))
def known_generators(x):
    a, b = (2 * v for v in (x[0], x[1]))
    m = sum(k for k in range(20))
    n = max(k * k for k in (1, -3, 2))
    return a, b, np.zeros(m).shape[0], tuple(v + 1 for v in (a, b)), n, math.prod(k for k in range(1, 5))


@case((X,))
def long_known_ranges(x):
    return sum(x[i % 5] * i for i in range(30)), any(x[i % 5] > 4 for i in range(1000))


@case((X, 3.0))
def text_and_dicts(x, t):
    d = dict((name, t * k) for k, name in enumerate("abc"))
    return d, {k: x[k] for k in range(3)}, len("".join(c for c in "abc"))


@case((X,), (X[:0],))
def sums_of_arrays(x):
    return sum(v * np.ones(2) for v in x) + np.zeros(2)


@case((RNG.random((4, 4)),))
def power_iteration(A):
    n = A.shape[0]
    v = np.ones(n)
    for _ in range(20):
        w = np.array([sum(A[i, j] * v[j] for j in range(n)) for i in range(n)])
        scale = max(abs(w[i]) for i in range(n))
        v = w / scale
    return v, scale


@case((20,), (2,), (1,))
def primes(n):
    return np.array([k for k in range(2, n) if all(k % j != 0 for j in range(2, k))], dtype=np.int64)


@refused("a generator that is kept", (X, 2.0))
def kept_generator(x, c):
    g = (v * c for v in x)
    c = 5.0
    if x[0] > 0:
        c = 3.0
    return sum(g)


@refused("changes in a loop over a generator", (X, 2.0))
def generator_of_what_changes(x, c):
    s = 0.0
    for v in (u * c for u in x):
        s += v
        c = c + 1
    return s


@case((X,))
def list_of_unknown_parts(x):
    return np.array([i for v in x for i in range(int(v))])


@case((np.array([2.0, 3.0]),))
def arrays_of_the_length_of_an_element(x):
    s = 0.0
    for v in x:
        a = np.zeros(int(v))
        for i in range(int(v)):
            a[i] = i
        s += a.sum()
    return s


@case((X,), (X[:1],))
def generators_of_generators(x):
    doubled = sum(v * 2 for v in (w + 1 for w in x if w > 0) if v > 3.2)
    pairs = sum(v * u for v in (w + 1 for w in x if w > 0) for u in (q * 2 for q in x if q < 2))
    start = np.float64(0.5)
    return doubled + start, pairs + start, any(v > 5 for v in (w * 2 for w in x)), np.array([v for v in (w for w in x)])


@case((np.arange(6.0).reshape(2, 3),), (np.ones((0, 3)),))
def places_in_comprehensions(a):
    products = sum(v * w for v, w in itertools.product(a[:, 0], a[:, 0]) if v >= w)
    shifted = [a[i] + 1 for i in np.ndindex(a.shape)]
    start = np.float64(0.5)
    return sum(v * i[1] for i, v in np.ndenumerate(a) if v > 1) + start, np.array(shifted), products + start


@case((X, 2 * X), (X, X[:2]), (X[:0], X[:0]), (X[:3], X))
def strict_pairs(x, y):
    total = 0.0
    for v, w in zip(x, y, strict=True):
        total += v * w
    return total + sum(v for v, _ in zip(x, [1, 2, 3, 4, 5], strict=True))


@refused("a key of type float64", (X,))
def set_of_chosen_elements(x):
    return len(set([v for v in x if v > 0]))  # noqa: C403


@refused("cannot take the elements of a generator one by one", (X,))
def library_that_takes_a_generator(x):
    return np.fromiter(map(abs, x), float) if x[0] > 0 else x


@case((X,), (X[:0],))
def first_of_a_generator(x):
    return next((i for i, v in enumerate(x) if v > 2.6), -1)
