"""`heapq` and `bisect`. A heap holds its items in the order in which Python's functions leave them."""

from __future__ import annotations

from typing import Any


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    rise(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    sink(heap, 0)
    return least


def heapreplace(heap: Any, item: Any) -> Any:
    least = heap[0]
    heap[0] = item
    sink(heap, 0)
    return least


def heappushpop(heap: Any, item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        item, heap[0] = heap[0], item
        sink(heap, 0)
    return item


def heapify(heap: Any) -> None:
    for place in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, place)


def rise(heap: Any, top: Any, place: Any) -> None:
    """Move an item up as long as it is less than what is above it."""
    item = heap[place]
    while place > top:
        above = (place - 1) // 2
        if not item < heap[above]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def sink(heap: Any, top: Any) -> None:
    """Let the smaller items below rise until there are none, and then the item from there."""
    size, place, item = len(heap), top, heap[top]
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and not heap[below] < heap[below + 1]:
            below += 1
        heap[place] = heap[below]
        place = below
    heap[place] = item
    rise(heap, top, place)


def smallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[:n]


def largest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[:n]


def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Any:
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if a[middle] < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Any:
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if x < a[middle]:
            hi = middle
        else:
            lo = middle + 1
    return lo


def insort_left(a: Any, x: Any) -> None:
    a.insert(bisect_left(a, x), x)


def insort_right(a: Any, x: Any) -> None:
    a.insert(bisect_right(a, x), x)
