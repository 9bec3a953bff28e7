"""`itertools`."""

from __future__ import annotations

import collections
import operator
from collections.abc import Iterator
from typing import Any


def chain(*iterables: Any) -> Iterator[Any]:
    for each in iterables:
        yield from each


def chained(iterables: Any) -> Iterator[Any]:
    for each in iterables:
        yield from each


def accumulate(iterable: Any, func: Any = None, initial: Any = None) -> Iterator[Any]:
    function = operator.add if func is None else func
    found = initial
    if initial is not None:
        yield initial
    for element in iterable:
        if found is None:
            found = element
        else:
            found = function(found, element)
        yield found


def takewhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    for element in iterable:
        if not predicate(element):
            break
        yield element


def dropwhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    has_begun = False
    for element in iterable:
        if not has_begun and not predicate(element):
            has_begun = True
        if has_begun:
            yield element


def filterfalse(function: Any, iterable: Any) -> Iterator[Any]:
    for element in iterable:
        if function is None:
            if not element:
                yield element
        elif not function(element):
            yield element


def compress(data: Any, selectors: Any) -> Iterator[Any]:
    for element, is_chosen in zip(data, selectors):  # noqa: B905  the shorter one ends it
        if is_chosen:
            yield element


def starmap(function: Any, iterable: Any) -> Iterator[Any]:
    for element in iterable:
        yield function(*element)


def count(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    number = start
    while True:
        yield number
        number += step


def repeat(element: Any, times: Any) -> Iterator[Any]:
    for _ in range(times):
        yield element


def permutations(iterable: Any) -> Iterator[Any]:
    for i in range(len(iterable)):
        for j in range(len(iterable)):
            if i != j:
                yield iterable[i], iterable[j]


def part(iterable: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    """Yield ``islice`` of an iterable that has no length."""
    following = start
    for number, element in enumerate(iterable):
        if stop is not None and following >= stop:
            break
        if number == following:
            yield element
            following += step


def enumerate_(iterable: Any, start: Any = 0) -> Iterator[Any]:
    number = start
    for element in iterable:
        yield number, element
        number += 1


def queued(iterable: Any, maxlen: Any) -> Any:
    found: Any = collections.deque(maxlen=maxlen)
    for each in iterable:
        found.append(each)
    return found
