"""The leaves that a compiled function takes for the arguments of a call."""

from __future__ import annotations

import atexit
import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import optree

from numbagraph.forking import new_lock
from numbagraph.ir.abi import PYTHON_SCALARS, ArrayLeaf, Leaf, ScalarLeaf, leaf_of
from numbagraph.ir.array_classes import module_of, refuse_other_classes
from numbagraph.ir.op import imported
from numbagraph.ir.public import Public
from numbagraph.ir.types import canonical_dtype
from numbagraph.runtime.foreign import numpy_array

NAMESPACE = "numbagraph"
_BY_INSERTION = optree.dict_insertion_ordered(True, namespace=NAMESPACE)
"""A context in which a dict's leaves come in its own order, as a function that iterates over it sees them: dicts of
another order are other trees. It is undone at the end of the process, as long as optree is there."""
_BY_INSERTION.__enter__()
atexit.register(_BY_INSERTION.__exit__, None, None, None)
_INT64 = np.iinfo(np.int64)
_registered: set[type] = set()
_registering = new_lock()


@dataclasses.dataclass(frozen=True)
class Abstract(Public):
    """A C-contiguous array that is not there yet, of which only the type is known: an argument for `warmup`.

    A length stands for any other one except 1, which NumPy's broadcasting treats differently.

    Parameters
    ----------
    shape : tuple of int
        The lengths of its dimensions.
    dtype : dtype, optional
        Of its elements, by default ``float64``.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> f = numbagraph.graph_jit(lambda x: np.sum(x))
    >>> f.warmup(numbagraph.Abstract((100,)))
    >>> f(np.ones(5))
    np.float64(5.0)
    """

    shape: tuple[int, ...]
    dtype: Any = np.float64


class Placeholder:
    """An argument that native code will pass, in a tree of arguments: its layout, and the caller's number for it."""

    __slots__ = ("layout", "number")

    def __init__(self, layout: Leaf, number: int) -> None:
        self.layout = layout
        self.number = number


def flatten(tree: Any) -> tuple[list[Any], optree.PyTreeSpec]:
    """The leaves of a pytree. Plain dataclasses are pytrees too: a class is registered when it is first met."""
    leaves, spec = optree.tree_flatten(tree, namespace=NAMESPACE)
    new = {type(leaf) for leaf in leaves if hasattr(type(leaf), "__dataclass_fields__")}
    new -= {Abstract}
    if not new:
        return leaves, spec
    for each in new:
        register_dataclass(each)
    return flatten(tree)


def leaves_like(
    expected: optree.PyTreeSpec, tree: Any, mismatch: Callable[[optree.PyTreeSpec], Exception]
) -> list[Any]:
    """The leaves of a tree in the order of another one that is alike but for the order of dicts, or what ``mismatch``
    makes of its structure is raised."""
    leaves, spec = flatten(tree)
    if spec == expected:
        return leaves
    if (spec.num_leaves, spec.num_nodes) != (expected.num_leaves, expected.num_nodes):
        raise mismatch(spec)
    try:
        return expected.flatten_up_to(tree)
    except (TypeError, ValueError):
        raise mismatch(spec) from None


def register_dataclass(cls: type) -> None:
    names = [field.name for field in dataclasses.fields(cls)]

    def take_apart(instance: object) -> tuple[list[Any], Hashable, list[str]]:
        return [getattr(instance, name) for name in names], None, names

    def put_together(_: object, children: Iterable[Any]) -> Any:
        instance = object.__new__(cls)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(instance, name, child)
        return instance

    register_node(cls, take_apart, put_together)


def register_node(cls: Any, take_apart: Any, put_together: Any) -> None:
    """Register a class with optree, so that its objects are nodes of trees. Threads that meet the class at the same
    time may all call this."""
    with _registering:
        if cls not in _registered:
            optree.register_pytree_node(cls, take_apart, put_together, namespace=NAMESPACE)
            _registered.add(cls)


def taken_apart(tree: Any, *, none_is_leaf: bool = False) -> tuple[list[Any], Hashable, tuple[Any, ...], Any]:
    """The children of a node of a tree, what else it consists of, their names, and what puts it together."""
    with _registering:  # optree knows a class before it finds the class's functions here
        pass
    return optree.tree_flatten_one_level(tree, none_is_leaf=none_is_leaf, namespace=NAMESPACE)


def is_node(thing: Any) -> bool:
    """Whether an object is a node of a tree."""
    return not optree.tree_is_leaf(thing, namespace=NAMESPACE)


def describe(leaf: Any, name: str) -> tuple[Leaf, Any]:
    """The layout of an argument, and the argument as the native entry takes it.

    What the entry cannot read as it is (byte-swapped, unaligned, a subclass) is copied or viewed, as NumPy would.
    """
    kind = type(leaf)
    if kind is Abstract:
        return ArrayLeaf(canonical_dtype(leaf.dtype), tuple(length == 1 for length in leaf.shape)), leaf
    if kind in PYTHON_SCALARS:
        if kind is int and not _INT64.min <= leaf <= _INT64.max:
            raise OverflowError(f"argument {name}: the Python integer {leaf} does not fit into int64")
        return ScalarLeaf(kind), leaf
    array = as_array(leaf, name)
    if not array.flags.aligned or not array.dtype.isnative:
        array = own_memory(array)
    dtype = canonical_dtype(array.dtype)
    if array.dtype is not dtype:
        array = array.view(dtype)
    return leaf_of(array), array


def own_memory(leaf: np.ndarray) -> np.ndarray:
    """A copy of an array that shares memory with nothing, in a form that the native entry takes: in C order or not, as
    the array was."""
    dtype, flags = leaf.dtype.newbyteorder("="), leaf.flags
    if flags.c_contiguous or flags.f_contiguous:
        return np.array(leaf, dtype=dtype, order="C" if flags.c_contiguous else "F")
    apart = np.empty((*leaf.shape[:-1], 2 * leaf.shape[-1]), dtype)[..., ::2]
    apart[...] = leaf
    return apart


def is_source(thing: object) -> bool:
    """Whether something is a generator of random numbers."""
    return issubclass(type(thing), source_kinds())  # isinstance would ask proxies for what they stand for


def source_kinds() -> tuple[type, ...]:
    """The classes of random generators whose modules have been imported."""
    return _kinds_in(imported("random"), imported("numpy.random"))


@functools.cache
def _kinds_in(*modules: object) -> tuple[type, ...]:
    names = ("Random", "Generator", "RandomState", "BitGenerator", "SeedSequence")
    return tuple(getattr(module, name) for module in modules for name in names if hasattr(module, name))


def is_generator(leaf: object) -> bool:
    """Whether something is a `numpy.random.Generator`, and not of a subclass, which may draw in another way."""
    kind = type(leaf)
    if kind.__name__ != "Generator":  # which is faster than to look for the module
        return False
    module = imported("numpy.random")
    return module is not None and kind is module.Generator


def not_traced(name: str, leaf: object) -> str:
    """Return the text of an error: why a generator of random numbers is refused, and an argument to pass instead."""
    if is_generator(leaf):
        return (
            f"argument {name} is a numpy.random.Generator where there is no place for its state: pass it as an "
            f"argument of a graph_jit function that is not static, or pass the numbers that it draws"
        )
    return (
        f"argument {name} is a generator of random numbers of another kind than numpy.random.Generator, which is what "
        f"compiled functions draw from: pass one (numpy.random.default_rng(seed)), or pass the numbers that it draws"
    )


def as_array(leaf: object, name: str) -> np.ndarray:
    """An argument as a plain array, or an error that says what to do."""
    refuse_other_classes(leaf, f"argument {name}")
    if is_source(leaf):
        raise TypeError(not_traced(name, leaf))
    if module_of(type(leaf)).startswith("scipy.sparse.") and hasattr(leaf, "tocsr"):
        raise TypeError(
            f"argument {name} is a {type(leaf).__name__}; arrays of the formats csr, csc and coo are supported: pass "
            f"scipy.sparse.csr_array(A)"
        )
    is_numpy = isinstance(leaf, (np.ndarray, np.generic))
    if isinstance(leaf, type) or not (is_numpy or hasattr(leaf, "__array__") or hasattr(leaf, "__dlpack__")):
        advice = "name it in static_argnames if the function should be compiled for its value"
        if name == "self":
            advice = "let graph_jit be the outermost decorator of a method; its argument after self is argnums=1"
        elif hasattr(leaf, "__float__") and not isinstance(leaf, type):
            advice = "pass float(...) of it"
        raise TypeError(
            f"argument {name} is of type {type(leaf).__name__}, which is not an array, a number or a pytree of them: "
            f"{advice}"
        )
    array = np.asarray(leaf) if is_numpy else numpy_array(leaf, name)
    try:
        canonical_dtype(array.dtype)
    except TypeError as error:
        raise TypeError(f"argument {name}: {error}") from None
    return array.view(np.ndarray) if type(array) is not np.ndarray else array
