"""Variables that have a value on some paths, and are None or undefined on the others: a value beside a flag."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import optree

from numbagraph.blockwise.promotion import convert, weak_constant
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import MISSING, Appended, Grown, Outgrown, resolved
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.known_conditions import known
from numbagraph.capture.values.objects import Attributes, Numbered, Picked, is_object, with_attributes
from numbagraph.capture.values.raised_errors import Raised, is_caught
from numbagraph.capture.values.strings import ChosenText, Leaf, Texts, are_other_texts, united
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, WEAK_TYPES
from numbagraph.ir.values import ArrayType, Value
from numbagraph.ops.shape import broadcast_value
from numbagraph.runtime.arguments import NAMESPACE, flatten, register_node, taken_apart
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class _Undefined:
    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED = _Undefined()
"""The placeholder for the value of a variable that has not been assigned."""


class Possibly(OnlyTraced):
    """A value where the traced number ``present`` is true; elsewhere ``absent``, which is None or `UNDEFINED`.

    A value that is None on some paths is an operand like others: each use requires that it is not None, unless a
    condition around it says so. A branch may test ``variable is None``.
    """

    __slots__ = ("absent", "present", "value")

    advice = (
        "the type of a result must not depend on the numbers: return a number that stands for None, such as -1 or "
        "NaN, or a flag beside the value"
    )

    def __init__(self, value: Any, present: Any, absent: Any) -> None:
        self.value = value
        self.present = present
        self.absent = absent

    def operand(self) -> Any:
        return required(self)

    def __repr__(self) -> str:
        return "a value that may be None"

    def __str__(self) -> str:
        raise CaptureError(f"the text of a value that may be None: choose with `is None` before\n  at {user_source()}")

    def __format__(self, specification: str) -> str:
        return str(self)

    def __hash__(self) -> int:
        raise CaptureError(f"hash() of a value that may be None\n  at {user_source()}")

    def __bool__(self) -> bool:
        raise CaptureError(f"the truth of a value that may be None: write `is None`\n  at {user_source()}")

    def __eq__(self, other: Any) -> Any:
        other = required(other)
        if other is None:
            return is_none(self)
        same = self.value == other
        if getattr(same, "ndim", 0):
            same = required(self) == other
        return Tracer(weak_truth(registry["logical_and"](to_value(self.present), to_value(same))))

    def __ne__(self, other: Any) -> Any:
        return Tracer(weak_truth(registry["logical_not"](to_value(self == other))))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(present(self, AttributeError, f"'NoneType' object has no attribute {name!r}"), name)

    def __getitem__(self, key: Any) -> Any:
        return required(self)[key]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*required_in(inputs), **required_in(kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*required_in(args), **required_in(kwargs))


def _install_operators() -> None:
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
        function = getattr(operator, f"__{name}__")
        setattr(Possibly, f"__{name}__", _binary(function))
        setattr(Possibly, f"__r{name}__", _reflected(function))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Possibly, f"__{name}__", _binary(getattr(operator, name)))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Possibly, f"__{name}__", _unary(getattr(operator, f"__{name}__")))


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(required(self), required(other))


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, required(self))


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: function(required(self))


_install_operators()


def present(thing: Possibly, error: type[Exception], message: str) -> Any:
    """Return the value, and let the program raise an error where it is absent."""
    found = known_flag(thing.present)
    raised = Raised(error, (message,))
    if found is False:
        raise raised.marked() if is_caught() else raised.error()
    if found is None:
        raised.require(to_value(thing.present))
    return thing.value


def required(thing: Any) -> Any:
    """Return a value that is used as a number or an array; where it is None, the program raises TypeError."""
    while isinstance(thing, Possibly):
        thing = present(thing, TypeError, "None where a number or an array is needed")
    return resolved(thing)


def required_in(tree: Any) -> Any:
    """Apply `required` to each leaf of a tree, and to lists whose lengths are traced."""
    if type(tree) in (tuple, dict):
        items = tree.items() if type(tree) is dict else enumerate(tree)
        other = {key: resolved(each) for key, each in items}
        tree = other if type(tree) is dict else tuple(other.values())
    return optree.tree_map(required, tree, none_is_leaf=True, namespace=NAMESPACE)


def is_none(thing: Any) -> Any:
    """``thing is None``."""
    if not isinstance(thing, Possibly):
        return thing is None
    found = known_flag(thing.present)
    if found is not None:
        return not found or is_none(thing.value)
    return Tracer(weak_truth(registry["logical_not"](to_value(thing.present))))


def is_present(thing: Possibly) -> Any:
    """``thing is not None``."""
    found = is_none(thing)
    return Tracer(weak_truth(registry["logical_not"](found.value))) if isinstance(found, Tracer) else not found


def weak_truth(value: Value) -> Value:
    """Return a truth value as one of Python's."""
    return value if value.type.weak else registry["cast"].bind(value, dtype=BOOL, weak=True)


def settled(thing: Any) -> Any:
    """Return a variable without a flag whose truth is known."""
    if isinstance(thing, Possibly):
        found = known_flag(thing.present)
        if found is not None:
            return settled(thing.value) if found else thing.absent
    return thing


def settled_in(tree: Any) -> Any:
    """Return a tree without flags whose truth is known."""
    leaves, spec = flatten(tree)
    if not any(isinstance(each, Possibly) for each in leaves):
        return tree
    return optree.tree_unflatten(spec, list(map(settled, leaves)))


# ---- as trees ----


class Exposed:
    """The pytree node of a `Possibly` value, by which a variable is taken apart. All other code sees a leaf."""

    __slots__ = ("absent", "present", "value")

    def __init__(self, value: Any, present: Any, absent: Any) -> None:
        self.value, self.present, self.absent = value, present, absent


def _taken_apart(node: Any) -> tuple[tuple[Any, Any], Any]:
    return (node.present, node.value), node.absent


def _put_together(absent: Any, children: Any) -> Any:
    present, value = children
    if isinstance(present, Leaf):
        return Exposed(value, present, absent)
    found = known_flag(present)
    return Possibly(value, present, absent) if found is None else value if found else absent


def _put_list_together(to: Any, children: Any) -> Any:
    elements = list(children)
    if any(isinstance(each, Leaf) for each in flatten(elements)[0]):
        return Grown(elements, to)
    return made(Appended(elements, to))


def _elements_of(node: Any) -> tuple[list[Any], object]:
    return node.elements, node.to


register_node(Grown, _elements_of, _put_list_together)


def _attributes_of(node: Any) -> tuple[list[Any], Any, tuple[str, ...]]:
    return node.values, (node.kind, node.names), node.names


def _object_of(data: tuple[type, tuple[str, ...]], children: Any) -> Any:
    kind, names = data
    values = list(children)
    if any(isinstance(each, Leaf) for each in flatten(values)[0]):
        return Attributes(kind, names, values)
    return with_attributes(kind, dict(zip(names, values, strict=True)))


def _picked(holder: Any, children: Any) -> Any:
    (number,) = children
    return holder.at(number) if isinstance(number, Tracer) else Numbered(holder, number)


register_node(Attributes, _attributes_of, _object_of)
register_node(Numbered, lambda node: ((node.number,), node.holder), _picked)
register_node(Exposed, _taken_apart, _put_together)


def known_flag(flag: Any) -> bool | None:
    return known(flag.value) if isinstance(flag, Tracer) else flag


def exposed(tree: Any) -> Any:
    """Return a tree with pytree nodes in place of values that may be absent, and of objects."""
    tree = settled_in(tree)
    leaves, spec = flatten(tree)
    nodes = list(map(node_of, leaves))
    return tree if all(map(operator.is_, nodes, leaves)) else optree.tree_unflatten(spec, nodes)


def node_of(leaf: Any) -> Any:
    if isinstance(leaf, Possibly):
        return Exposed(exposed(leaf.value), leaf.present, leaf.absent)
    if isinstance(leaf, ChosenText):
        return Texts(leaf.options, leaf.index)
    if isinstance(leaf, Appended):
        return Grown(list(map(exposed, leaf.elements())), leaf.to)
    if isinstance(leaf, Picked):
        return Numbered(leaf.holder, leaf.number)
    if is_object(leaf):
        names = tuple(sorted({*vars(leaf), *numbers_of_class(type(leaf))}))
        return Attributes(type(leaf), names, [exposed(getattr(leaf, name)) for name in names])
    return leaf


def numbers_of_class(kind: type) -> Iterator[str]:
    """The attributes of a class that are numbers, which stand for those that an object has not yet."""
    for each in kind.__mro__[:-1]:
        yield from (name for name, value in vars(each).items() if type(value) in (bool, int, float, complex))


def aligned(one: Any, other: Any) -> tuple[Any, Any]:
    """Align two trees of `Leaf`: return both with nodes `Exposed` wherever one of them is absent and the other is
    not."""
    for absent in (MISSING, UNDEFINED, None):
        if any(is_absent(each, absent) for each in (one, other)) and not (one is absent and other is absent):
            both = [parted(each, absent) for each in (one, other)]
            first, second = (each.value for each in both)
            if first is absent:
                first = optree.tree_map(emptied, second, namespace=NAMESPACE)
            elif second is absent:
                second = optree.tree_map(emptied, first, namespace=NAMESPACE)
            first, second = aligned(first, second)
            return Exposed(first, both[0].present, absent), Exposed(second, both[1].present, absent)
    if are_other_texts(one, other):
        return united(one, other)
    if are_lists(one, other):
        return padded(one, other)
    if type(one) is not type(other) or one is None or optree.tree_is_leaf(one, namespace=NAMESPACE):
        return one, other
    left, left_data, left_entries, together = taken_apart(one)
    right, right_data, right_entries, other_together = taken_apart(other)
    if left_data != right_data or left_entries != right_entries:
        return one, other
    pairs = [aligned(*pair) for pair in zip(left, right, strict=True)]
    return together(left_data, [pair[0] for pair in pairs]), other_together(right_data, [pair[1] for pair in pairs])


def are_lists(one: Any, other: Any) -> bool:
    """Whether two trees are lists, and more was appended to one than to the other."""
    if any(type(each) not in (list, Grown, Appended) for each in (one, other)):
        return False
    parts = [*elements_of(one), *elements_of(other)]
    if any(isinstance(each, Leaf) and type(each.object) is Outgrown for each in parts):  # a list of any length
        return False
    return type(one) is not type(other) or len(elements_of(one)) != len(elements_of(other))


def elements_of(held: Any) -> list[Any]:
    return held.elements if isinstance(held, Grown) else held.elements() if isinstance(held, Appended) else held


def padded(one: Any, other: Any) -> tuple[Any, Any]:
    """Pad two lists, to one of which a step of a loop has appended more: elements that the other one lacks are marked
    missing there."""
    trace = current_trace()
    if trace is None or trace.loop is None:
        return one, other
    lists = [elements_of(each) for each in (one, other)]
    same = min(map(len, lists))
    pairs = [aligned(*pair) for pair in zip(lists[0][:same], lists[1][:same], strict=True)]
    for at, held in enumerate(lists):
        for each in held[same:]:
            there = parted(each, MISSING)
            lacking = Exposed(
                optree.tree_map(emptied, there.value, namespace=NAMESPACE), Leaf(False, weak_constant(False)), MISSING
            )
            pairs.append((lacking, there) if at else (there, lacking))
    to, other_to = (None if type(each) is list else each.to for each in (one, other))
    to = to if to is other_to else None
    return Grown([pair[0] for pair in pairs], to), Grown([pair[1] for pair in pairs], to)


def is_absent(thing: Any, absent: Any) -> bool:
    return thing is absent or (isinstance(thing, Exposed) and thing.absent is absent)


def parted(thing: Any, absent: Any) -> Exposed:
    if isinstance(thing, Exposed) and thing.absent is absent:
        return thing
    flag = thing is not absent
    return Exposed(thing, Leaf(flag, weak_constant(flag)), absent)


def emptied(leaf: Leaf) -> Leaf:
    """Return a placeholder for a part that is absent, whose value is not used."""
    return Leaf(leaf.object, None) if leaf.value is None else Leaf(None, placeholder(leaf.value.type))


def placeholder(like: ArrayType) -> Value:
    """Return a value of a type, for a variable that is absent."""
    zero = weak_constant(WEAK_TYPES[like.dtype](0)) if like.weak else convert(weak_constant(0), like.dtype)
    return broadcast_value(zero, like.shape) if like.shape else zero
