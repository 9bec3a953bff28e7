"""Dicts and sets with keys that are elements of arrays, or computed: tables, counts, caches, sets of what was seen."""

from collections import Counter, defaultdict

import numpy as np

from tests.support.programs.declared import another, case, refused

K = np.array([1, 2, 1, 3, 2, 1])
NONE = np.array([], int)
FAR = np.array([-1, 2**40, -1, 0, 0, 2**62, -(2**63)])
MANY = np.random.default_rng(3).integers(-50, 50, 300)
SHORT = np.array([3, 1, 3], np.int32)


@case((K,))
@another((NONE,), (FAR,), (MANY,), (SHORT,))
def counted(x):
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return counts


@another((K,), (NONE,), (MANY,))
def counted_where_it_is_known(x):
    counts = {}
    for v in x:
        if v in counts:
            counts[v] += 1
        else:
            counts[v] = 1
    best, most = None, -1
    for key, n in counts.items():
        if n > most:
            best, most = key, n
    return best, most, len(counts), max(counts.values(), default=0)


@another((K,), (NONE,), (FAR,), (MANY,))
def counter(x):
    counts = Counter(x)
    steps = Counter()
    for v in x:
        steps[int(v)] += 2
    return counts, counts[99], len(counts), steps.most_common(2)


@another((K,), (NONE,), (MANY,))
def sums_by_key(x):
    sums = defaultdict(float)
    for i, v in enumerate(x):
        sums[v] += 0.5 * i
    return sums


@case((K,))
@another((NONE,), (MANY,))
def sets(x):
    seen = set()
    first = -1
    for i in range(len(x)):
        if x[i] in seen and first < 0:
            first = i
        seen.add(x[i])
    has_any = bool(seen) and bool([v for v in x if v > 2])
    return first, has_any, len(seen), len({v % 3 for v in x}), sorted({v * 2 for v in x if v > 0}), set(x)


@another((K,), (MANY,))
def in_order(x):
    counts = {v: i for i, v in enumerate(x)}
    return max(counts, key=counts.get), sorted(counts), sorted(counts.items(), key=lambda each: (-each[1], each[0]))


@case((K, 9))
@another((K, 2), (NONE, 0))
def looked_up(x, k):
    squares = {}
    for v in x:
        squares[v] = v * v
    return squares[k]


@case((K, 2))
@another((NONE, 0), (MANY, 7))
def made_shorter(x, k):
    places, seen, total = {}, set(), 0
    for i, v in enumerate(x):
        if v in places:
            total += places.pop(v)
        else:
            places[v] = i
        seen.add(v)
        seen.discard(k)
    if k in places:
        del places[k]
    return places, len(seen), k in seen, total


@case((SHORT, 2**32 + 3))
@another((SHORT, 3), (K, 2**32 + 1))
def larger_than_the_keys(x, k):
    seen, pairs = set(), set()
    for v in x:
        seen.add(v)
        pairs.add((v, v > 1))
    return k in seen, (k, True) in pairs, len(pairs)


@refused("integers of Python's, and NumPy's of int32", (SHORT, 2**32 + 3))
def keys_of_two_kinds(x, k):
    seen = {k}
    for v in x:
        seen.add(v)
    return len(seen)


@another((K, 1), (K, 5))
def removed(x, k):
    seen = set(x)
    seen.remove(k)
    return len(seen)


@case((27,))
@another((1,), (10,))
def collatz(n):
    cache, best = {1: 0}, 0
    for i in range(1, n + 1):
        m, steps = i, 0
        while m not in cache:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            steps += 1
        cache[i] = cache[m] + steps
        best = max(best, cache[i])
    return best, len(cache)


@another((0,), (5,), (12,))
def pairs_seen(n):
    seen, x, y, dx, dy, turns = set(), 0, 0, 1, 0, 0
    while len(seen) < n * n:
        seen.add((x, y))
        if (x + dx, y + dy) in seen or abs(x + dx) > n or abs(y + dy) > n:
            dx, dy = -dy, dx
            turns += 1
        x, y = x + dx, y + dy
        if turns > 1000:
            break
    return len(seen), (0, 0) in seen, (9, 9) in seen, x, y


@another((np.array([[0, 1], [2, 3], [1, 2], [5, 5]]),), (np.zeros((0, 2), int),))
def components(edges):
    parent = {}

    def find(v):
        while parent[v] != v:
            v = parent[v]
        return v

    for a, b in edges:
        parent.setdefault(a, a)
        parent.setdefault(b, b)
        one, other = find(a), find(b)
        if one != other:
            parent[one] = other
    roots = set()
    for v in parent:
        roots.add(find(v))
    return len(roots)


@another((np.array([1, 0, 2]),), (NONE,))
def added_on_some_paths(x):
    seen = set()
    for v in x:
        if v == 0:
            seen.add(0)
        elif v > 1:
            seen.add(7)
    return 0 in seen, 7 in seen, len(seen)


@another((K,), (NONE,))
def made_in_each_step(x):
    total = 0
    for i in range(len(x)):
        seen = set()
        for j in range(i, len(x)):
            if x[j] in seen:
                break
            seen.add(x[j])
        total += len(seen)
    return total


@another((K, K[2:]), (NONE, NONE))
def in_functions_and_copies(x, y):
    def note(counts, key):
        counts[key] = counts.get(key, 0) + 1

    counts = {}
    for v in x:
        note(counts, v)
    others = dict(counts)
    for v in y:
        note(others, v)
    return counts, others, isinstance(counts, dict), isinstance(others, (list, set))


@another((K, 3), (NONE, 1))
def made_longer_in_its_own_loop(x, k):
    table = {}
    for v in x:
        table[v] = 1
    for v in table:
        table[v + k] = 2
    return len(table)


@another((np.array([1.0, 2.0, 3.0]), 4))
def of_known_keys(x, n):
    named = {"a": x, "b": 2.0}
    lists = defaultdict(list)
    for key in ("a", "b", "a"):
        lists[key].append(1)
    pairs = {(i, j): x[i] * x[j] for i in range(3) for j in range(i + 1)}
    total = 0.0
    for _ in range(n):
        total += named["b"] + pairs[2, 1] + len(lists["a"]) + Counter("abca")["a"]
    return total, {**named, "c": 1}, lists


@case((K,))
@another((NONE,), (FAR,))
def lists_by_key(x):
    groups, halves, sums = defaultdict(list), {}, []
    for i, v in enumerate(x):
        groups[v].append(i)
        if v not in halves:
            halves[v] = []
        halves[v].append(i * 0.5)
    for key, row in halves.items():
        total = 0.0
        for each in row:
            total += each
        sums.append((key, total))
    return groups, len(groups), 1 in groups, halves, sums, max((len(row) for row in groups.values()), default=0)


@another((K, 2), (K, 9))
def lists_that_are_set(x, k):
    first, second = {}, {}
    for i, v in enumerate(x):
        if v in first:
            first[v].append(i)
        else:
            first[v] = [i]
        second.setdefault(v, []).append(i)
    return first, [len(second[key]) for key in sorted(second)], second[k][-1]


@another((np.array([[0, 1], [1, 2], [2, 3], [7, 9]]), 0), (np.zeros((0, 2), int), 4))
def reached(edges, start):
    neighbours = defaultdict(list)
    for u, v in edges:
        neighbours[u].append(int(v))
        neighbours[v].append(int(u))
    seen, stack = {start}, [start]
    while stack:
        for v in neighbours[stack.pop()]:
            if v not in seen:
                seen.add(v)
                stack.append(v)
    return sorted(seen)


@refused("a key of type float64", (np.array([1.0, 2.0]),))
def keys_are_floats(x):
    return len(set(x))


@refused("in the order that Python's hash table has", (K,))
def order_of_a_set(x):
    return [v for v in set(x)]


@refused("append to its lists", (K, 2))
def lists_that_are_taken_out(x, k):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups[v].append(i)
    return groups.pop(k)


@refused("another thing after a step", (K, 2))
def rebound_to_another_set(x, n):
    current = set(x)
    for i in range(n):
        following = set()
        for v in sorted(current):
            following.add(v + i)
        current = following
    return len(current)


@refused("np.array_equal", (K,))
def compared_sets(x):
    return set(x) == {1, 2, 3}


@refused("np.array_equal", (K,))
def compared_lists(x):
    return [int(v) for v in x] == [1, 2, 1, 3, 2, 1]
