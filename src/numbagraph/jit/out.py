"""``out=``: results that are written into arrays of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

from numbagraph.forking import new_lock
from numbagraph.ir.array_classes import refuse_other_classes
from numbagraph.jit.binding import Arguments, Key
from numbagraph.jit.version import Outputs, Traced
from numbagraph.runtime.arguments import flatten, leaves_like
from numbagraph.runtime.entry import make_callable
from numbagraph.runtime.specialise import Specialisation
from numbagraph.runtime.structures import structure_of
from numbagraph.tracing.tracer import Tracer

Writer = Callable[..., Any]
"""A function that runs a version on its leaves, followed by an array for each result. It returns `NotImplemented` where
these do not suit: then the results are computed anew, and copied."""


class Targets:
    """The argument ``out`` of a call: a tree like the one that the function returns, of arrays."""

    def __init__(self, tree: Any, described: str) -> None:
        self.tree = tree
        self.name = f"out= of {described}"
        self.leaves, self.spec = flatten(tree)

    def refuse_traced(self, leaves: Sequence[Any]) -> None:
        if any(isinstance(leaf, Tracer) for leaf in (*leaves, *self.leaves)):
            raise TypeError(f"{self.name} is for calls from Python: a traced function uses the value that is returned")

    def check(self, outputs: Outputs) -> None:
        """Raise where results cannot be written into these arrays, as far as that is known before the call."""

        def mismatch(found: optree.PyTreeSpec) -> ValueError:
            return ValueError(
                f"{self.name} is {structure_of(found)}, and the result is {structure_of(outputs.spec)}: pass arrays in "
                "that structure"
            )

        self.leaves, self.spec = leaves_like(outputs.spec, self.tree, mismatch), outputs.spec
        for leaf, slot in zip(self.leaves, outputs.slots, strict=True):
            if slot is None:
                raise TypeError(f"{self.name} has an entry for a result that is the same in each call")
            if not isinstance(leaf, np.ndarray):
                raise TypeError(f"{self.name} must be made of arrays, and has a {type(leaf).__name__}")
            refuse_other_classes(leaf, self.name)
            if not leaf.flags.writeable:
                raise ValueError(f"{self.name} is read-only")

    def fill(self, results: Sequence[Any]) -> Any:
        """Copy the results into the arrays; results of another dtype of the same kind are converted, as NumPy would."""
        pairs = list(zip(self.leaves, map(np.asarray, results), strict=True))
        for leaf, each in pairs:
            if leaf.shape != each.shape:
                raise ValueError(f"{self.name} has shape {leaf.shape}, and the result has shape {each.shape}")
            if not np.can_cast(each.dtype, leaf.dtype, "same_kind"):
                raise TypeError(f"{self.name} has dtype {leaf.dtype}, and the result has dtype {each.dtype}")
        for leaf, each in pairs:
            leaf[...] = each
        return self.tree


class Writers:
    """The writers of one compiled function, by the key that they must match before their leaves are looked at."""

    __slots__ = ("_by_tree", "_known", "_lock", "into_array", "into_tuple")  # native code reads two of them

    def __init__(self) -> None:
        self.into_array: tuple[Writer, ...] = ()
        """Writers for calls whose positional arguments are the leaves, and whose result is an array."""
        self.into_tuple: tuple[Writer, ...] = ()
        """Writers for calls whose positional arguments are the leaves, and whose result is a tuple of arrays."""
        self._by_tree: dict[optree.PyTreeSpec, dict[Key, tuple[Writer, ...]]] = {}
        self._known: set[tuple[int, int | None]] = set()
        self._lock = new_lock()

    def write(self, arguments: Arguments, targets: Targets) -> bool:
        """Write the results, if one of the writers can."""
        writers = arguments.find(self._by_tree.get(targets.spec, {}))
        for each in writers:  # noqa: SIM110  a generator would not let StopIteration of a callback through
            if each(*arguments.leaves, *targets.leaves) is not NotImplemented:
                return True
        return False

    def extend(self, traced: Traced, arguments: Arguments, targets: Targets, *, is_flat: bool) -> None:
        """Compile the writers that a version lacks for such arguments and targets."""
        special = traced.specialisation
        assert special is not None
        if not traced.outputs.in_order:
            return
        reused = [number for number, leaf in enumerate(arguments.leaves) if [id(leaf)] == [*map(id, targets.leaves)]]
        with self._lock:
            for number in (None, *reused):
                if (id(traced), number) not in self._known:
                    chosen = special if number is None else over_argument(special, number)
                    if chosen is not None:
                        write = make_callable([chosen.make_plan(into=True)], special.name)
                        self._add(write, arguments.key, targets.spec)
                        if is_flat and traced.outputs.flat:
                            self._add_flat(write, is_single=traced.outputs.single)
                    self._known.add((id(traced), number))  # at the end, since a forked child may begin anew

    def _add(self, write: Writer, key: Key, tree: optree.PyTreeSpec) -> None:
        writers = self._by_tree.setdefault(tree, {})
        writers[key] = (write, *writers.get(key, ()))

    def _add_flat(self, write: Writer, *, is_single: bool) -> None:
        if is_single:
            self.into_array = (write, *self.into_array)
        else:
            self.into_tuple = (write, *self.into_tuple)


def over_argument(special: Specialisation, number: int) -> Specialisation | None:
    """Return the program with its only result in the memory of an argument; None where it must not lie there."""
    if special.signature.results[0].donated is not None:
        return None
    found = special.copy()
    found.accept_donations([number])
    return found if found.signature.results[0].donated == number else None
