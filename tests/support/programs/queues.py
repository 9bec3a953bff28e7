"""Programs that keep queues and stacks in arrays, and lists that they finish behind their loops."""

import numpy as np

from tests.support.programs.declared import case

POINTERS, TARGETS = np.array([0, 2, 4, 5, 5]), np.array([1, 2, 0, 3, 3])


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
