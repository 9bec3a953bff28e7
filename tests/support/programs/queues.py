"""Programs that keep queues and stacks in arrays, and lists that they finish behind their loops."""

from collections import deque

import numpy as np

from tests.support.programs.declared import case, refused

POINTERS, TARGETS = np.array([0, 2, 4, 5, 5]), np.array([1, 2, 0, 3, 3])
SIGNAL = np.array([5.0, -1.0, 2.5, -0.25, 3.0])


@case((POINTERS, TARGETS, 0), (POINTERS, TARGETS, 3), (np.array([0, 0]), np.zeros(0, dtype=int), 0))
def breadth_first(pointers, targets, source):
    n = len(pointers) - 1
    distance = np.full(n, -1)
    queue = np.empty(n, dtype=np.int64)
    head, tail = 0, 1
    queue[0] = source
    distance[source] = 0
    while head < tail:
        u = queue[head]
        head += 1
        for v in targets[pointers[u] : pointers[u + 1]]:
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue[tail] = v
                tail += 1
    return distance


@case((np.array([3.0, -1.0, 2.0, 7.0, 0.5]),), (np.array([1.5]),), (np.zeros(0),), (np.array([4, 4, 1]),))
def quicksort_with_an_array_as_stack(a):
    n = len(a)
    stack = np.zeros((2 * n + 2, 2), dtype=np.int64)
    top = 0
    stack[0] = 0, n - 1
    while top >= 0:
        low, high = stack[top]
        top -= 1
        if low >= high:
            continue
        i = low
        for j in range(low, high):
            if a[j] <= a[high]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        top += 1
        stack[top] = low, i - 1
        top += 1
        stack[top] = i + 1, high


@case((30,), (2,), (1,), (0,))
def sieve(n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return np.nonzero(is_prime)[0]


STRIDES = [(0, 7, 2), (1, 99, 3), (-5, -1, 2), (5, 2, 1), (3, 4, 10**18), (2**62, 5, 2), (0, 7, 0), (-99, 99, 1)]


@case(*[(np.arange(7.0), *each) for each in STRIDES], (np.zeros(0), 0, 3, 2), (np.ones(1), 0, 1, 5))
def assigned_in_strides(x, start, stop, step):
    if start > 100:
        stop = stop + 1
    x[start:stop:step] = 9
    x[start::step] += 2
    x[:stop:step] *= x[:stop].sum()


@case((np.arange(6.0), 2, 3), (np.arange(5.0), 3, 1))
def views_in_strides(x, step, n):
    for _ in range(n):
        row = x[::step]
        row += 1


@case((np.arange(6.0), -2, 3), (np.arange(6.0), 0, 0), (np.arange(6.0), 0, 1))
def assigned_in_negative_strides(x, step, n):
    for k in range(n):
        x[::step] = k


@case((np.array([1.0, 1, 2, 2, 3]),), (np.array([1, 1, 2]),), (np.ones(1),))
def run_lengths(x):
    values, counts = [], []
    current, count = x[0], 1
    for v in x[1:]:
        if v == current:
            count += 1
        else:
            values.append(current)
            counts.append(count)
            current, count = v, 1
    values.append(current)
    counts.append(count)
    return values, counts


@case((np.arange(5.0), np.array([1.5, 2.5, 9.0])), (np.arange(5.0), np.zeros(2)), (np.arange(5.0), np.zeros(0)))
def merged(a, b):
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    out.extend(a[i:])
    out.extend(b[j:])
    other = out
    other.reverse()
    return out, other[0]


@refused("may be one that has been assigned to since", (np.ones((3, 2)),))
def rows_behind_a_loop(m):
    rows = []
    for row in m:
        rows.append(row * 2)
    rows.append(m[0])
    m[0] = 7
    return rows


@case((np.ones(3), 2), (np.zeros(0), 0), (np.ones(1), 70))
def appended_in_a_second_loop(x, n):
    out = []
    for v in x:
        out.append(v)
    for _ in range(n):
        out.append(x[0])
    return out


@case((np.arange(7.0), 1.5), (np.arange(7.0)[::-1], -1.0), (np.zeros(0), 0.0))
def bounded_queue(x, t):
    recent = deque(maxlen=3)
    sums = []
    for v in x:
        if v > t:
            recent.append(v)
        if v > 5:
            recent.popleft()
        sums.append(v + (recent[0] if len(recent) else v))
    return sums, recent, list(recent)


@case((np.array([3.0, 1.0, 2.0, 5.0, 4.0, 0.0]),), (np.zeros(1),))
def bounded_queue_of_a_list(x):
    last = deque(list(x), 2)
    last.extend([x[0], x[0] + 1])
    total = 0.0
    while last:
        total = 2 * total + last.popleft()
    return total


UPPER = np.triu(np.ones((5, 5), dtype=int), 1)


@case((UPPER,), (UPPER.T,), (np.ones((2, 2), dtype=int),), (np.zeros((0, 0), dtype=int),))
def topological_order(edges):
    n = len(edges)
    incoming = edges.sum(axis=0)
    queue = deque(i for i in range(n) if incoming[i] == 0)
    order = []
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in range(n):
            if edges[u, v]:
                incoming[v] -= 1
                if incoming[v] == 0:
                    queue.append(v)
    if len(order) != n:
        raise ValueError(f"a cycle of {n - len(order)}")
    return order


@case((UPPER,), (UPPER.T,), (np.ones((2, 2), dtype=int),), (np.zeros((1, 1), dtype=int),))
def topological_order_by_a_stack(edges):
    n = len(edges)
    incoming = edges.sum(axis=0)
    stack = [i for i in np.arange(n) if incoming[i] == 0]
    order = []
    while stack:
        u = stack.pop()
        order.append(u)
        for v in np.nonzero(edges[u])[0]:
            incoming[v] -= 1
            if incoming[v] == 0:
                stack.append(v)
    return np.array(order, dtype=int)


@case((np.arange(9),), (np.zeros(0, dtype=int),))
def stack_longer_than_arguments(x):
    stack = [i for i in range(len(x) ** 3) if i % 3 == 0]
    total = 0
    while stack:
        total += stack.pop() % 7
        if total % 11 == 0 and total < 50:
            stack.append(total)
    return total


@case((SIGNAL, 3), (SIGNAL, 1), (SIGNAL, 0), (SIGNAL, 9), (SIGNAL[:0], 2))
def last_of_a_signal(x, k):
    recent = deque(maxlen=k)
    for each in x:
        recent.append(each * 2)
    return np.array(list(recent)), len(recent)


@case((SIGNAL, 3), (SIGNAL, 1))
def means_of_the_last(x, k):
    recent, found = deque([0.0], k), []
    for each in x:
        recent.append(each)
        found.append(sum(recent) / k)
    return np.array(found)


@case((SIGNAL, 3), (SIGNAL, 0), (SIGNAL[:0], 2))
def deque_of_the_last(x, k):
    return np.array(deque(x, maxlen=k))


@refused("takes no computed maxlen", (SIGNAL,))
def as_many_as_the_first_says(x):
    recent = deque(maxlen=int(abs(x[0])))
    for each in x:
        recent.append(each)
    return sum(recent)
