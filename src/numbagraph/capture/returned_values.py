"""Results that are None, or one of several texts, depending on numbers of the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree

from numbagraph.capture.values.append_log import Outgrown, outgrown, resolved
from numbagraph.capture.values.list_buffer import Buffered
from numbagraph.capture.values.list_of_lists import Lists, Row
from numbagraph.capture.values.optional import Possibly, settled
from numbagraph.capture.values.strings import ChosenText
from numbagraph.capture.values.traced_keys import Defaulting
from numbagraph.runtime.arguments import NAMESPACE, flatten, register_node

LISTS = (Buffered, Lists, Row, Defaulting)
"""Classes that stand for Python's lists, dicts and sets while their lengths are traced."""


class Decided:
    """A number, and the value that depends on it: a value that is None where the number is false, or one of some
    texts."""

    __slots__ = ("number", "options", "value")

    def __init__(self, number: Any, value: Any, options: tuple[str, ...] | None) -> None:
        self.number, self.value, self.options = number, value, options


def with_numbers(tree: Any) -> Any:
    """Return the results of a function, with `Decided` in place of values that may be None and of chosen texts."""
    leaves, spec = flatten(tree)
    if any(isinstance(each, (Outgrown, *LISTS)) for each in leaves):
        tree = optree.tree_map(with_list, tree, is_leaf=is_list, none_is_leaf=True, namespace=NAMESPACE)  # type: ignore[arg-type]
        leaves, spec = flatten(tree)
    if any(isinstance(each, Outgrown) for each in leaves):
        raise outgrown()
    if not any(isinstance(each, (Possibly, ChosenText)) for each in leaves):
        return tree
    return optree.tree_unflatten(spec, list(map(with_number, leaves)))


def is_list(tree: Any) -> bool:
    """Whether something is a list whose length is traced."""
    return isinstance(resolved(tree), LISTS)


def with_list(leaf: Any) -> Any:
    leaf = resolved(leaf)
    return leaf.result() if isinstance(leaf, LISTS) else leaf


def with_number(leaf: Any) -> Any:
    leaf = settled(leaf)
    if isinstance(leaf, Possibly) and leaf.absent is None:
        return Decided(leaf.present, with_numbers(leaf.value), None)
    return Decided(leaf.index, 0, leaf.options) if isinstance(leaf, ChosenText) else leaf


def put_together(options: Any, children: Any) -> Any:
    number, value = children
    if options is not None and isinstance(number, np.ndarray) and number.ndim:  # one text for each of a batch
        return np.array(options)[number]
    try:
        place = int(number)
    except TypeError:  # what goes through the tree is no result
        return Decided(number, value, options)
    if options is None:
        return value if place else None
    return options[place]


def taken_apart(node: Any) -> tuple[tuple[Any, Any], Any]:
    return (node.number, node.value), node.options


register_node(Decided, taken_apart, put_together)
