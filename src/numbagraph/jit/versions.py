"""The versions of a compiled function: how they are found, traced and compiled.

Computed lengths that a statement requires to be equal are one in the usual version, where they follow from lengths of
arguments that are equal in the call for which it is traced: so loop nests fuse, and exist once. A call in which these
differ has a version of its own, for any lengths.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from numbagraph.forking import new_lock
from numbagraph.ir.abi import Leaf
from numbagraph.ir.shapes import ShapeError
from numbagraph.jit.backends import compiled
from numbagraph.jit.binding import Arguments, Key, symbol
from numbagraph.jit.definition import Definition
from numbagraph.jit.dispatch import Dispatcher
from numbagraph.jit.mutated_arguments import require_kept
from numbagraph.jit.phases import has_late_lengths, in_phases, refuse_effects
from numbagraph.jit.shared_variables import SharedVariable, layout_of
from numbagraph.jit.version import Traced, Version, trace
from numbagraph.jit.written_state import StateVariable
from numbagraph.purity.array_holders import held_arrays
from numbagraph.purity.environment import Made, Reach, Surroundings, depth_of_user, make_while_unchanged
from numbagraph.purity.nondeterminism import forbidden
from numbagraph.purity.reachable_code import Walk
from numbagraph.runtime.cache import default_cache
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.runtime.interruption import raise_kept
from numbagraph.runtime.specialise import Specialisation, signature_of
from numbagraph.times import stage
from numbagraph.tracing.errors import SideEffectError, TraceError
from numbagraph.tracing.static_lengths import lengths_of

UNEQUAL = "unequal"
"""Marks the key of a version for calls whose lengths are not equal where the usual version takes them to be."""


MANY_VALUES = 16
"""The number of versions for values of the same arguments from which users are warned."""


class Versions:
    """The versions of one compiled function, by its arguments and by the state of the world that it reads."""

    def __init__(self, definition: Definition, dispatcher: Dispatcher) -> None:
        self.definition, self.dispatcher = definition, dispatcher
        self.lock = new_lock()
        self.environment = Surroundings(definition.function, definition.described)
        self._traced: dict[Key, dict[Key, Traced]] = {}
        """The versions by the structure of the arguments; then by the state that is read and the layouts, oldest
        first."""
        self.state: dict[Any, StateVariable] = {}
        """The attributes, globals and elements that the function assigns to, by holder and key."""
        self._by_values: Counter[tuple[str, ...]] = Counter()
        """The number of versions for values of the same arguments."""
        self._shared: dict[Key, tuple[SharedVariable, ...]] = {}
        """The shared variables that were met for each structure: their layouts follow those of leaves."""

    def all(self) -> list[Traced]:
        """All versions, in the order in which they were traced for each structure of arguments."""
        return [each for group in list(self._traced.values()) for each in list(group.values())]

    def have_state(self) -> bool:
        """Whether calls read or write values that outlive them."""
        return bool(self.state) or any(each.shared.variables for each in self.all())

    def known(self, arguments: Arguments) -> tuple[Traced | None, list[Any], tuple[Leaf, ...]]:
        """The version for these arguments, if there is one, and the arguments as it takes them, with their layouts."""
        layouts, leaves = arguments.described()
        usual, general = self._for_layouts(arguments, layouts)
        return (usual if usual is None or usual.fits(leaves) else general), leaves, layouts

    def find(self, arguments: Arguments) -> tuple[Traced, list[Any]]:
        """Return the version for these arguments, traced if there is none yet, and the arguments as it takes them."""
        raise_kept()
        self._release()
        traced, leaves, layouts = self.known(arguments)
        if traced is None:
            with self.lock, collector_at_rest:
                self._regroup(arguments)
                traced = self.known(arguments)[0] or self._add(arguments, layouts, leaves)
        return traced, leaves

    def ready(self, traced: Traced, key: Key) -> Version:
        """Return the version of a traced graph, compiled if it is not yet."""
        if traced.version is None:
            with self.lock:
                if traced.version is None:
                    with collector_at_rest:
                        traced.version = self._compile(traced)
                    self._refresh(key)
        return traced.version

    def with_compared_lengths(self, arguments: Arguments, traced: Traced) -> Traced:
        """Return the version that compares lengths where a statement is reached that requires them to be equal."""
        with self.lock, collector_at_rest:
            if traced.apart is not None:
                return traced.apart
            made = self._trace(arguments, arguments.described()[0], apart=True)
            found: Traced = made.found
            found.watched = arguments.watched
            self._specialise(found, arguments, made.reach)
            if made.is_valid:
                traced.apart = found
            return found

    def reach(self, arguments: Arguments) -> Reach:
        """Return the present state of the world that the function reads. Drop the versions of one that it replaces."""
        if (found := self.environment.find(arguments.static)) is not None:
            return found
        with self.lock:
            if (found := self.environment.find(arguments.static)) is not None:
                return found
            static = arguments.static_arguments(self.definition.static_argnames)
            found, gone = self.environment.add(arguments.static, static)
            if gone is not None:
                self.dispatcher.clear_writers()
                for key, group in list(self._traced.items()):
                    self._traced[key] = {layout: each for layout, each in group.items() if layout[0] is not gone}
                    if not self._traced[key]:
                        del self._traced[key]
                    self._refresh(key)
            return found

    def make(self, arguments: Arguments, use: Callable[[Any, bool], Any]) -> Made:
        """Return the result of ``use`` for the function of the leaves; ``use`` also takes whether loops are
        captured."""
        function, convert = self.definition.function, self.definition.convert

        def make(walk: Walk) -> Any:
            def attempt(converts: bool) -> Any:
                with forbidden(walk.watch()):
                    return use(arguments.caller(function, walk.may_write, self.state.values()), converts)

            return convert.attempt(attempt, arguments, walk.converts_at_once)

        return make_while_unchanged(lambda: self.reach(arguments), make)

    def forget(self, key: Key) -> None:
        """Drop the versions for one structure of arguments."""
        with self.lock:
            self.dispatcher.clear_writers()
            self._traced.pop(key, None)
            self._refresh(key)

    def clear(self) -> None:
        """Drop all versions. Who calls this has the lock."""
        self._traced, self._shared = {}, {}
        self.environment.clear()
        self.dispatcher.clear()

    def _refresh(self, key: Key) -> None:
        self.dispatcher.refresh(key, self._traced.get(key, {}).values())

    def _for_layouts(self, arguments: Arguments, layouts: tuple[Leaf, ...]) -> tuple[Traced | None, Traced | None]:
        """The versions for some layouts: one that may take lengths to be equal, and one that does not."""
        structure = arguments.key
        shared = map(layout_of, self._shared.get(structure, ()))
        group, key = self._traced.get(structure, {}), (self.reach(arguments), *layouts, *shared)
        return group.get(key), group.get((*key, UNEQUAL))

    def _add(self, arguments: Arguments, layouts: tuple[Leaf, ...], leaves: list[Any]) -> Traced:
        """Add a version that was traced while the state that the function reads did not change; otherwise make one for
        this call alone."""
        is_general = self._for_layouts(arguments, layouts)[0] is not None
        lengths = None if is_general or self.definition.backend != "numba" else lengths_of(leaves)
        try:
            made = self._trace(arguments, layouts, lengths=lengths)
        except SideEffectError as error:
            new = self._adopt(error)
            if not new:
                traced = self._add_writing(arguments, layouts, leaves)
                if traced is None:
                    raise
                return traced
            traced = self._add(arguments, layouts, leaves)
            if not new <= traced.shared.assigned:  # by a function that remembers its results, for one
                raise
            return traced
        except (ShapeError, IndexError) as error:
            try:  # lengths that a statement requires, which may not be reached, may contradict others
                made = self._trace(arguments, layouts, apart=True)
            except Exception:  # noqa: BLE001  the first one speaks of the function as it is
                raise error from None
        except (TraceError, ValueError):
            traced = self._add_writing(arguments, layouts, leaves)
            if traced is None:
                raise
            return traced
        traced = made.found
        traced.is_kept, traced.watched, traced.fixed = made.is_valid, arguments.watched, arguments.fixed()
        self._warn_of_values(arguments.fixed_values())
        self._specialise(traced, arguments, made.reach)
        structure = arguments.key
        group = self._traced.setdefault(structure, {}) if traced.is_kept else {}
        self._shared[structure], shared = traced.shared.after(self._shared.get(structure, ()))
        return group.setdefault((made.reach, *layouts, *shared, *([UNEQUAL] if is_general else [])), traced)

    def _adopt(self, error: SideEffectError) -> set[SharedVariable]:
        """Let the entries that a trace has written be variables of the function. Return the new ones; none if some
        cannot be."""
        found = {each.place: each for each in error.origins if each is not None and each.is_storable()}
        new = {key: StateVariable(each) for key, each in found.items() if key not in self.state}
        if not new or len(found) != len(error.origins):
            return set()
        self._set_state(self.state | new)
        return set(new.values())

    def _release(self) -> None:
        """Let entries be none of the function's variables any more that hold something else than arrays and numbers by
        now, or nothing, or an array that is another variable's, too."""
        every = self.state.values()
        if all(each.is_stored and each._is_apart(every) for each in every):
            return
        with self.lock:
            kept = {key: each for key, each in self.state.items() if each.is_stored and each._is_apart(every)}
            self._set_state(kept)
            self.clear()

    def _regroup(self, arguments: Arguments) -> None:
        """Let arrays be none of the function's variables any more that something else in its reach holds by now, too:
        an assignment to an element changes what it reads there."""
        written = {key: each for key, each in self.state.items() if each.in_place}
        if not written:
            return
        static = arguments.static_arguments(self.definition.static_argnames)
        groups = [{one.place for one in each} for each in held_arrays(self.definition.function, static)]
        stale = {key for key, each in written.items() if {one.place for one in each.places} not in groups}
        if stale:
            self._set_state({key: each for key, each in self.state.items() if key not in stale})
            self.clear()

    def _set_state(self, state: dict[Any, StateVariable]) -> None:
        self.state = state
        self.environment.leave_out({one.place for each in state.values() for one in each.places})

    def _add_writing(self, arguments: Arguments, layouts: tuple[Leaf, ...], leaves: list[Any]) -> Traced | None:
        """Add a version whose arrays from outside, which the function may change, are variables of it; None if there
        are none, or if that is no help."""
        static, before = arguments.static_arguments(self.definition.static_argnames), self.state
        known = {place.place for each in before.values() for place in each.places}
        groups = held_arrays(self.definition.function, static)
        groups = [each for each in groups if known.isdisjoint(one.place for one in each)]
        new = {first.place: StateVariable(first, others, in_place=True) for first, *others in groups}
        if not new:
            return None
        self._set_state(before | new)
        try:
            traced = self._add(arguments, layouts, leaves)
        except SideEffectError:
            self._set_state(before)
            raise
        except Exception:  # noqa: BLE001  the first error speaks of the function as it is
            self._set_state(before)
            return None
        unwritten = {place for place, each in new.items() if each not in traced.shared.assigned}
        if not unwritten:
            return traced
        self._set_state({place: each for place, each in self.state.items() if place not in unwritten})
        return self._add(arguments, layouts, leaves) if len(unwritten) < len(new) else None

    def _warn_of_values(self, fixed: Mapping[str, Any]) -> None:
        """Warn once if there are many versions for values of the same arguments."""
        names = tuple(fixed)
        self._by_values[names] += 1
        if names and self._by_values[names] == MANY_VALUES:
            spelled = ", ".join(map(repr, names))
            warnings.warn(
                f"{self.definition.described} has been compiled for {MANY_VALUES} values of {spelled}: its code needs "
                f"them while it is traced. Pass arrays where that is possible, or one object in each call, or compile "
                f"the part that does not need them",
                RuntimeWarning,
                stacklevel=depth_of_user(),
            )

    def _trace(self, arguments: Arguments, layouts: tuple[Leaf, ...], **lengths: Any) -> Made:
        """Trace the function; ``lengths`` are the options of `trace` that concern lengths."""
        definition = self.definition
        described, names, writable = self.environment.described, arguments.leaf_names, definition.writable(arguments)
        # JAX takes derivatives of it
        options: dict[str, Any] = {**lengths, "last": definition.backend != "jax", "stabilise": definition.stabilise}

        def use(call: Any, converts: bool) -> Traced:
            options["room"], options["unrolled"] = definition.convert.room, definition.convert.without_source
            return trace(call, layouts, names, definition.name, described, writable, converts, **options)

        with stage("tracing"):
            return self.make(arguments, use)

    def _specialise(self, traced: Traced, arguments: Arguments, reach: Reach) -> None:
        definition, outputs = self.definition, traced.outputs
        written = () if traced.watched else outputs.written  # by native code
        signature = signature_of(traced.graph, traced.leaves, len(traced.captured), outputs.single, written)
        cache, name = default_cache() if definition.cache else None, symbol(definition.name)
        special = Specialisation(
            traced.graph, signature, traced.captured, name, cache, definition.parallel, reach.guards
        )
        traced.specialisation = special
        if definition.backend == "numba" and has_late_lengths(special):
            if outputs.has_effects:
                refuse_effects(definition.described)
            traced.phases = in_phases(special)
            return
        if traced.watched:
            return  # what it was given is needed once more
        if definition.backend == "numba":
            special.write_in_place()
        if definition.donate_argnames:
            donated = arguments.leaves_of(definition.donate_argnames)
            require_kept(donated, outputs.written, arguments.leaf_names, definition.described)
            special.accept_donations(donated, kept=traced.shared.results)

    def _compile(self, traced: Traced) -> Version:
        """Compile a traced graph into a version: a function of the leaves, and one that builds the returned object."""
        rebuild = None if traced.outputs.flat and self.definition.backend == "numba" else traced.outputs.rebuilder
        traced.native = compiled(traced, self.definition.backend, self.definition.name)
        return Version(traced.shared.around(traced.native), rebuild)
