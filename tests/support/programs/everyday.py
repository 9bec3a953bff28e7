"""Programs with texts beside arrays, cached helpers, methods of numbers, and helpers of the standard library."""

import contextlib
import functools
import itertools
import operator

import numpy as np

from tests.support.programs.declared import another, case, refused

X = np.linspace(0.1, 1.0, 5)

# ---- texts, keys and functions beside arrays ----


@case((X,), (X[:3],), (np.array([-1.0, 2, 3, -4, 5, 6]),))
def letters(x):
    total = 0.0
    for k, v in zip("abcde", x):
        if v > 0.5:
            total += 10 * v if k in "aeiou" else v
        else:
            total -= v
    return total


@case((X, 5), (X, 0))
def letters_in_a_loop(x, n):
    total = np.zeros(3)
    for i in range(n):
        for j, c in enumerate("abc", i):
            total[j - i] += x[i] * j
            if c == "b":
                total[1] *= 0.5
    return total


@case(({"a": 1.0, "b": 2.0}, X))
def letters_as_keys(p, x):
    named = dict(zip("xyz", x))
    return sum(p[k] * v for k, v in zip("ab", x)) + named["x"] - named["z"], {k: 2 * v for k, v in zip("cd", x)}


@another((X, "abcab"), (X, ""))
def letters_of_an_argument(x, names):
    found = np.zeros(2)
    for v, k in zip(x, names):
        if k == "a":
            found[0] += v * ord(k)
    return found


@case((X, 2), (X[:2], 0))
def functions_and_shapes(x, n):
    total = x[0] * n
    for f, v in zip([np.sin, np.cos, abs], x):
        total += f(v)
    for w, (i, v) in zip([np.ones((2, 2)), np.ones(3)], enumerate(x)):
        total += w.sum() * v + i
    for (a, b), v in zip([(1, "p"), (2, "q")], x[1:]):
        total += a * v if b == "p" else -v
    for k, v in {"s": 2.0, "t": 3.0}.items():
        total += v * len(k)
    for _, v in zip([], x):
        total += v
    return total


@case((X,), (X[:2],), (np.append(X, 1.0),))
def iterators_of_letters(x):
    total = x[0] * 0
    for i, (k, v) in enumerate(zip("abc", x)):
        total += i * v + ord(k)
    for (k, v), w in zip(zip("ab", x), x[::-1]):
        total += v * w
    listed = list(map(lambda k, v: v * ord(k), "abcde", x))
    for k, v in zip("abcde", x):
        if v > 0.5:
            break
    return total, listed, v, [k for k, _ in zip("abc", x)]


@case((X,), (X[:4],))
def letters_of_one_length(x):
    total = x[0] * 0
    for k, v in zip("abcde", x, strict=True):
        total += v * ord(k)
    return total


@case((np.ones((5, 3)) * X[:, None],))
def rows_beside_letters(m):
    for k, row in zip("abc", m):
        row[0] += ord(k)


class Times:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


@case((X, 5, 2), (X, 0, -1), (X, 3, 0), (X, 1, 3))
def picked_by_a_number(x, n, k):
    functions, pair, calls = (
        [np.sin, np.cos, lambda v: v if v > 0.5 else -v],
        (np.exp, np.sqrt),
        [Times(2.0), Times(3.0)],
    )
    total = functions[k](x[0]) + x[0]
    names = ["p", "q", "r"]
    for i in range(n):
        total += functions[i % 3](x[i]) + pair[i % 2](x[i]) * calls[(i + 1) % 2](x[i])
        if names[i % 3] == "q":
            total -= x[i]
    return total, names[n % 3]


@case((X, 1), (X, 8))
def picked_lists_of_several_lengths(x, n):
    rows = [[0.0] * 5, [0.0] * 4]
    for t in range(n, 9):
        row = rows[t % 2]
        row[0] = x[0]
    return rows


@refused("known only at run time", (X,))
def letters_beside_what_a_mask_selects(x):
    total = 0.0
    for k, v in zip("abc", x[x > 0.5]):
        total += v if k == "a" else -v
    return total


@refused("was made outside", (X,))
def iterator_from_outside_of_a_loop(x):
    weights = iter([1.0, 2.0, 3.0])
    total = 0.0
    for v in x:
        for w in weights:
            total += v * w
    return total


@another((X,))
def iterators_made_in_a_loop(x):
    total = 0.0
    for v in x:
        pairs = zip("ab", [1.0, 2.0])
        total += sum(v * w for _, w in pairs) + sum(map(abs, itertools.chain([v], [-v])))
    return total


# ---- caches ----


@functools.lru_cache
def table(k):
    return np.arange(k) * 2.0


@functools.lru_cache
def folded(v):
    if v > 0.5:
        return v
    return -v


@functools.cache
def weights(count, kind):
    return np.hanning(count) if kind == "hann" else np.ones(count)


@functools.lru_cache(maxsize=None)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.lru_cache
def scaled_pair(pair, by=2.0, *, shift=0.0):
    return pair[0] * pair[1] * by + shift


class Scale:
    def __init__(self, k):
        self.k = k

    @functools.lru_cache  # noqa: B019
    def of(self, v):
        return v * self.k if v > self.k else v


@case((X, 1.5), (X, 2))
def cached_helpers(x, v):
    total = folded(v) + folded(3) + fibonacci(10)
    for each in x:
        total += folded(each)
    return total + x + table(5) + table(len(x)), (x * weights(5, "hann")).sum() + weights(len(x), "box").sum()


@case((X, 2.0))
def cached_methods_and_tuples(x, v):
    scale = Scale(0.5)
    total = scaled_pair((v, 3.0)) + scaled_pair((2, 3), by=v, shift=1.0)
    for each in x:
        total += scale.of(each)
    return total


@case((X,))
def cached_inside(x):
    @functools.lru_cache
    def term(k):
        return x[k] * k

    total = 0.0
    for i in range(3):
        total += term(i) + term(2)
        for j in range(len(x)):
            total += term(j) * term(1)
    return total


@case((X,))
def cached_of_an_array(x):
    return folded(x)


@refused("lru_cache keeps", (3,))
def written_into_a_cache(n):
    found = table(n)
    found[0] = 1.0
    return found


# ---- methods of numbers ----


@case((5,), (0,), (-9,), (2**62,), (-(2**63),), (True,))
def bits(n):
    return n.bit_length(), n.bit_count(), 1 << (n % 1000).bit_length()


@case((np.array([-5, 0, 7, 127, -128], np.int8),), (np.array([5, 0, 2**64 - 1], np.uint64),))
def bits_of_elements(a):
    total = 0
    for i, v in enumerate(a):
        total += v.bit_count() + (i * i).bit_count() + int(i).bit_length()
    return total


@case((np.array([1, 2]),))
def numpy_has_no_bit_length(a):
    return a[0].bit_length()


@case((X * 0 + [0.5, 2.0, np.inf, np.nan, -0.0], 1.5), (X.astype(np.float32), 2.0))
def whole_numbers(x, v):
    count = 0
    for each in x:
        if each.is_integer():
            count += 1
    return count, v.is_integer()


# ---- tuples with None ----


@case((3,), (5,), (0,))
def tuples_with_none(n):
    held = [(None, i) for i in range(3)]
    total = 0
    for t in range(n):
        held = held[1:] + [(None, t)]
        total += held[0][1]
    return total, held


@case((X,), (np.array([2.0, -3.0]),))
def best_or_none(x):
    best = (None, -1.0)
    for i in range(len(x)):
        if x[i] > best[1]:
            best = (i, x[i])
    return best


@case((X,))
def stack_with_parents(x):
    stack = [(None, 0)]
    total = x[0] * 0
    while stack:
        parent, k = stack.pop()
        if parent is not None:
            total += x[k] - x[parent]
        if k + 1 < len(x):
            stack.append((k, k + 1))
    return total


# ---- helpers of the standard library, and contexts ----


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b


@case((X, 2), (X, -1))
def operators_as_functions(x, k):
    total = operator.methodcaller("sum")(x)
    clip = operator.methodcaller("clip", 0.2, 0.8)
    for i in range(len(x)):
        total += operator.methodcaller("sum", axis=0)(x[: i + 1]) + clip(x)[i]
    pair = Pair(x, Pair(total, x[0]))
    picked = operator.itemgetter(1, k, slice(1, 3))(x)
    return operator.attrgetter("b.a", "a.shape")(pair), picked, operator.attrgetter("T")(x)


@case((X,), (-X,))
def operators_as_keys(x):
    pairs = sorted([(i, -v) for i, v in enumerate(x)], key=operator.itemgetter(1))
    first = 0
    for i in range(3):
        first += min(enumerate(x[i:]), key=operator.itemgetter(1))[0]
    return pairs, max(enumerate(x), key=operator.itemgetter(1)), first


@contextlib.contextmanager
def scaled(x, by):
    yield x * by


@contextlib.contextmanager
def replaced(a, i, v):
    old = a[i]
    a[i] = v
    try:
        yield a
    finally:
        a[i] = old


@case((X, 1, 5.0, 3), (X, 2, -3.0, 0))
def contexts(x, i, v, n):
    x = x.copy()
    total = x[0] * 0
    with replaced(x, i, v) as changed:
        total += changed.sum()
    for j in range(n):
        with scaled(x, 2.0) as y, np.errstate(divide="ignore"), contextlib.nullcontext(y) as z:
            total += z[j] / x[0]
    with contextlib.suppress(ZeroDivisionError):
        total *= 2
    return total, x


@case((np.arange(12.0).reshape(3, 4) - 5, 2.0))
def along_an_axis(a, least):
    def chosen(row):
        if row[0] > 0:
            return row.sum()
        return row.min()

    def normalised(row):
        total = 0.0
        for v in row:
            total += v if v > 0 else -1
        return row / total if total > 3 else row * 0

    def above(row, bound, flag=True):
        if row.max() > bound and flag:
            return row[row > bound].sum()
        return 0.0

    return (
        np.apply_along_axis(chosen, 1, a),
        np.apply_along_axis(normalised, 0, a),
        np.apply_along_axis(above, -1, a, least, flag=True),
    )
