"""Calls from Python: native code tries the versions that there are, and hands other calls on."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any
from weakref import ref

from numbagraph.ir.blocks import blocks
from numbagraph.jit.binding import GENERATORS, Key, in_order, is_flat_call, without_lengths
from numbagraph.jit.definition import Definition
from numbagraph.jit.generator_arguments import drawing_once
from numbagraph.jit.out import Writers
from numbagraph.jit.version import Traced, Version
from numbagraph.rewrite.debug_checks import check_level
from numbagraph.runtime.calls import CallSlots, Handlers
from numbagraph.runtime.entry import make_callable, method_of
from numbagraph.tracing.tracebacks import shorten


class NativeCallable:
    """An object whose calls are native code once a version is compiled."""

    __slots__ = ("_flat_calls", "_positional", "_writers")

    _flat_calls: tuple[Callable[..., Any], ...]
    """Functions that run a version on leaves and return the result of the call, or NotImplemented."""
    _positional: tuple[str | None, ...]
    _writers: Writers

    _described: str

    @abstractmethod
    def _handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Handle a call that no version has taken."""

    @abstractmethod
    def _explain_memory(self, error: MemoryError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise an error that says which array of a call there was no memory for, if that is known."""

    def _call(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            if not blocks.count and "out" not in kwargs:  # such a block may want another version than the usual
                given = in_order(self._positional, args, kwargs) if kwargs else args
                if given is not None:
                    for call in self._flat_calls:
                        result = call(*given)
                        if result is not NotImplemented:
                            return result
            return self._handle(args, kwargs)
        except Exception as error:
            self._explain(error, args, kwargs)
            raise

    def _refused(self, /, *args: Any, **kwargs: Any) -> Any:
        """Handle a call that no version took."""
        try:
            return self._handle(args, kwargs)
        except Exception as error:
            self._explain(error, args, kwargs)
            raise

    def _explain(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if isinstance(error, MemoryError):
            self._explain_memory(error, args, kwargs)
        else:
            shorten(error, args, self._described)

    def _raise(self, error: BaseException, /, *args: Any) -> None:
        """Raise an exception that native code met in a call."""
        try:
            raise error
        except Exception as caught:
            self._explain(caught, args, {})
            raise

    __call__ = _call


@cache
def call_natively() -> None:
    """Let native code call compiled functions from now on: it is loaded with the first version."""
    own, of_writers = vars(NativeCallable), vars(Writers)
    slots = CallSlots(
        versions=own["_flat_calls"],
        parameters=own["_positional"],
        writers=own["_writers"],
        into_array=of_writers["into_array"],
        into_tuple=of_writers["into_tuple"],
    )
    handlers = Handlers(NativeCallable._call, NativeCallable._refused, NativeCallable._raise)
    NativeCallable.__call__ = method_of(NativeCallable, slots, handlers)


class Dispatcher:
    """The table of versions that native code tries, for one compiled function."""

    def __init__(self, definition: Definition, owner: NativeCallable) -> None:
        self.definition = definition
        self._owner = ref(owner)
        """The compiled function, in whose slots native code looks; it owns this table."""
        self.clear()

    @property
    def writers(self) -> Writers:
        """The versions that write their results into arrays of the caller."""
        owner = self._owner()
        return Writers() if owner is None else owner._writers

    def clear(self) -> None:
        """Forget all versions."""
        self.versions: dict[Key, tuple[Version, ...]] = {}
        self.clear_writers()
        self._publish()

    def clear_writers(self) -> None:
        owner = self._owner()
        if owner is not None:
            owner._writers = Writers()

    def publish_signature(self) -> None:
        """Let native code match keywords with the parameters that the function has now."""
        owner = self._owner()
        if owner is not None:
            owner._positional = self.definition.positional

    def refresh(self, key: Key, versions: Iterable[Traced]) -> None:
        """Put all versions for one structure of arguments behind as few builtin functions as possible, newest first."""
        if self.definition.backend != "numba" or check_level() > 1:
            return
        groups: dict[Any, list[Traced]] = {}
        newest = [*reversed([*versions])]
        newest.sort(key=lambda each: not each.assumed)  # the others take calls that these could have
        for traced in filter(Traced.is_dispatched, newest):
            alike = (traced.outputs.alike, traced.shared) if traced.phases is None else id(traced)
            groups.setdefault(alike, []).append(traced)
        self.versions[key] = tuple(map(self._together, groups.values()))
        if not groups:
            del self.versions[key]
        self._publish()
        call_natively()

    def _publish(self) -> None:
        owner = self._owner()
        if owner is not None:
            flat = itertools.chain.from_iterable(map(self._flat, self.versions))
            owner._flat_calls = tuple(each.call for each in flat)  # the last of what native code reads

    def _flat(self, key: Key) -> Sequence[Version]:
        """The versions for one structure of arguments that a positional call may try: its arguments are the leaves."""
        names, spec, static = without_lengths(key)
        versions = self.versions[key]
        if is_flat_call(self.definition.signature, names, spec, ()):
            if not static:
                return versions
            (name, generators), *others = static
            if name == GENERATORS and not others:
                runs = [drawing_once(generators, each.run) for each in versions]
                return [Version(run, each.rebuild) for run, each in zip(runs, versions, strict=True) if run is not None]
        return ()

    def _together(self, group: list[Traced]) -> Version:
        """Combine versions whose results become the same kind of object into one builtin function."""
        first = group[0].version
        assert first is not None
        if group[0].phases is not None:
            return Version(group[0].phases.runner(guarded=True), first.rebuild)
        plans = [traced.specialisation.plan for traced in group if traced.specialisation is not None]
        return Version(group[0].shared.around(make_callable(plans, self.definition.name)), first.rebuild)
