"""`itertools`, `next`, and `math` where it is made of loops."""

import itertools
import math
import operator

import numpy as np

from tests.support.programs.declared import case, refused

X = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, -2.0, 6.0])
K = np.array([3, 1, 4, 1, 5, 9, 2, 6])
L = np.array([2, 7, 1])


@case((X, 4.0), (X[:2], 9.0))
def first_ones(x, limit):
    place = next((i for i, v in enumerate(x) if v > limit), -1)
    value = next((v for v in x if v > limit), None)
    missing = next((v for v in x if v > 100.0), x[0])
    return place, value, missing


@case((X, 4.0), (X, 9.0))
def first_or_error(x, limit):
    return next(v for v in x if v > limit)


@case((K, L), (L, K))
def chain_of_arrays(k, l):
    s = 0
    for v in itertools.chain(k, l, k):
        if v == 9:
            continue
        s = s * 3 + v
    for v in itertools.chain.from_iterable([l, l]):
        s -= v
    return s, sum(itertools.chain(k, l)), list(itertools.chain(l, k[1:]))


@case((K, 3), (K, 20), (L, 0))
def parts(k, n):
    s = 0
    for v in itertools.islice(k, n):
        s = s * 3 + v
    for v in itertools.islice(k, 1, None, 2):
        s = s * 3 - v
    for v in itertools.islice((u for u in k if u > 1), 1, n):
        s = s * 3 - v
    return s


@case((K, 5), (L, 2))
def accumulated(k, n):
    best = 0
    for v in itertools.accumulate(k):
        if v > best:
            best = v
    last = 0
    for v in itertools.accumulate(range(n), lambda a, b: a * 2 + b, initial=7):
        last = v
    return best, last, list(itertools.accumulate(k, max)), list(itertools.accumulate(k, operator.mul))


@case((K, 5), (K, 3), (L, 50))
def while_they_hold(k, n):
    s = 0
    for v in itertools.takewhile(lambda u: u != n, k):
        s += v
    for v in itertools.dropwhile(lambda u: u < n, k):
        s = s * 2 + v
    for v in itertools.filterfalse(lambda u: u % 2, k):
        s = s * 2 - v
    for v in itertools.compress(k, k > 2):
        s = s * 2 - v
    return s


@case((K, 2), (L, 5))
def without_an_end(k, n):
    s = 0
    for i, v in zip(itertools.count(n, 3), k):
        s += i * v
    for v, sign, two in zip(k, itertools.cycle([1, -1, 2]), itertools.repeat(2)):
        s += v * sign * two
    j = 0
    for j in itertools.count(1):
        if j * j > s:
            break
    for v in itertools.repeat(k[0], n):
        s += v
    ids = itertools.count()
    return s, j, next(ids), next(ids)


@case((K, L), (L, K))
def beside_each_other(k, l):
    s = 0
    for u, v in itertools.zip_longest(k, l, fillvalue=-1):
        s = s * 2 + u - v
    for i, v in enumerate(u for u in k if u > 1):
        s += i * v
    for u, v in zip(itertools.chain(k, l), l):
        s += u * v
    return s + sum(itertools.starmap(lambda u, v: u * v, zip(k, k[1:])))


@case((K,), (L,))
def chosen_several(k):
    s = 0
    for u, v in itertools.permutations(k, 2):
        s += u > 2 * v
    for u, v in itertools.combinations_with_replacement(k, 2):
        s = (s * 3 + u - v) % 1000
    return s


@case((K, 2.7, X), (L, -5.1, X[:3]))
def of_numbers(k, x, y):
    mantissa, exponent = math.frexp(x)
    fraction, whole = math.modf(x)
    return (
        (mantissa, exponent, fraction, whole, math.ldexp(mantissa, exponent + 1)),
        math.prod(k), math.prod(y, start=2.0), math.dist(y[:3], y[-3:]), math.hypot(x, 2.0, 3.0),
    )  # fmt: skip


@case((7, 3), (12, 0), (62, 31), (4, 9), (-1, 2), (5, -1), (30, 25))
def counted_ways(n, k):
    return math.comb(n, k), math.perm(n % 15, k), math.factorial(k % 20), math.gcd(n, k, 6), math.isqrt(n * k)


@case(
    (np.array([1e16, 1.0, -1e16, 1e-3]),),
    (np.array([0.1] * 10),),
    (np.array([1e307, 1.0, -1e307, np.nan]),),
    (np.array([np.inf, 1.0]),),
    (np.array([1e16, 1.0, 1e-16]),),
    (np.zeros(0),),
)
def summed_exactly(x):
    return math.fsum(x), math.fsum([v * 3 for v in x])


@case((5,), (7,), (0,))
def ragged(n):
    return [i * j for i in range(n) for j in range(i)]


@case((X, 4.0), (X[:3], 1.0))
def lists_of_tuples(x, limit):
    held = [(i, v) for i, v in enumerate(x) if v > limit]
    held.sort(key=lambda pair: -pair[1])
    total = 0.0
    for a, b in list(zip(x, x[1:])):
        if a < b:
            total += a
    return held, len(held), total, max((v, i) for i, v in enumerate(x)), sorted([(v, i) for i, v in enumerate(x)])[0]


@case((K, 4), (L, 1))
def assigned_in_comprehensions(k, n):
    chosen = [y for v in k if (y := v * 2 - 1) > n]
    total = sum(q * q for v in k if v > 1 and (q := v - n) > 0 and q < 100)
    both = [(z := v * v) + z for v in k]
    best = max((r for v in k if (r := v % 5)), default=0)
    return chosen, total, both, any((w := v) > n and w % 2 == 0 for v in k), best


@refused(":=", (K, 4))
def assigned_for_later(k, n):
    chosen = [y for v in k if (y := v * 2 - 1) > n]
    return chosen, y
