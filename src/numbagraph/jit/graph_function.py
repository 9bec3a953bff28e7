"""The compiled function that `graph_jit` returns."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from numbagraph.forking import new_lock
from numbagraph.ir.abi import Leaf
from numbagraph.ir.later import Later
from numbagraph.ir.public import Public
from numbagraph.ir.structs import cached_property
from numbagraph.jit.backends import compiled, describer, on_device, require_backend
from numbagraph.jit.binding import (
    GENERATORS,
    Arguments,
    Key,
    bind,
    bound_to,
    described,
    is_flat_call,
    parameter_names,
    positional_names,
    signature_of_callable,
    symbol,
    takes,
    without_lengths,
)
from numbagraph.jit.bound_methods import OF_CLASSES, BoundMethods, is_instance, takes_instance
from numbagraph.jit.conversion import Conversion
from numbagraph.jit.debug_nans import how_watched, require_choice
from numbagraph.jit.dispatch import Called, call_natively
from numbagraph.jit.generator_arguments import drawing_once
from numbagraph.jit.introspection import Inspected
from numbagraph.jit.mutated_arguments import WriteBack, only_written, require_kept
from numbagraph.jit.native_callers import Embedded
from numbagraph.jit.options import Names
from numbagraph.jit.out import Targets, Writers
from numbagraph.jit.phases import has_late_lengths, in_phases, refuse_effects
from numbagraph.jit.pickling import Pickled
from numbagraph.jit.shared_variables import SharedContext, SharedVariable, as_context
from numbagraph.jit.version import Traced, Version, trace
from numbagraph.jit.versions import Retried
from numbagraph.purity.environment import Made, Reach, Surroundings, make_while_unchanged
from numbagraph.purity.nondeterminism import forbidden
from numbagraph.purity.reachable_code import Walk
from numbagraph.rewrite.debug_checks import check_level, check_values
from numbagraph.runtime import failures, replay
from numbagraph.runtime.cache import default_cache
from numbagraph.runtime.embedding import Embedding
from numbagraph.runtime.entry import make_callable
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.runtime.guards import definition_of, same
from numbagraph.runtime.interruption import raise_kept
from numbagraph.runtime.specialise import Specialisation, signature_of
from numbagraph.tracing.trace import as_traced
from numbagraph.tracing.tracer import any_traced
from numbagraph.transforms.interpret import after_failure

if TYPE_CHECKING:
    from numbagraph.runtime import njit
else:  # it imports Numba, which takes its time
    njit = Later("numbagraph.runtime.njit")

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")


class GraphFunction(Called, Inspected, Embedded, Retried, Public, Generic[P, R]):
    """The compiled function that `graph_jit` returns.

    Calling it traces, compiles and caches a native version for each combination of dtypes, ranks, lengths that
    are 1, and memory layouts (contiguous or not). A new length needs no new version,
    unless slices of arguments meet (``x[1:] + y[:-1]``) whose lengths are no longer equal as in the first call.

    Parameters
    ----------
    function
        The function that it compiles.
    static_argnames, donate_argnames, mutates, backend, cache, parallel, convert, debug_nans, stabilise
        The options of `graph_jit`.

    Raises
    ------
    TypeError
        If ``function`` cannot be called.
    ValueError
        If an option has a value that does not exist, or names an argument that ``function`` does not have.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> f = numbagraph.graph_jit(lambda x, y: np.sum(x * y))
    >>> isinstance(f, numbagraph.GraphFunction)
    True
    >>> f(np.ones(3), 2.0), f(np.ones(100), 2.0), f.cache_info().versions
    (np.float64(6.0), np.float64(200.0), 1)
    """

    def __init__(
        self,
        function: Callable[P, R],
        *,
        static_argnames: Names = (),
        donate_argnames: Names = (),
        mutates: Names | None = None,
        backend: str = "numba",
        cache: bool = True,
        parallel: bool = False,
        convert: bool = True,
        debug_nans: bool | str = False,
        stabilise: bool = True,
    ) -> None:
        if not callable(function):
            instead = f": write @{type(function).__name__} above it" if isinstance(function, OF_CLASSES) else ""
            raise TypeError(f"graph_jit compiles functions, not {function!r}{instead}")
        require_backend(backend, parallel)
        self.function = function
        self._described = described(function)
        self.backend = backend
        self.cache = cache
        self.parallel = parallel
        self.stabilise = stabilise
        require_choice(debug_nans)
        self.debug_nans = debug_nans

        self._read_signature()
        self.static_argnames = parameter_names(self.signature, static_argnames, "static_argnames", self._described)
        self.donate_argnames = parameter_names(self.signature, donate_argnames, "donate_argnames", self._described)
        self.mutates = None if mutates is None else parameter_names(self.signature, mutates, "mutates", self._described)
        self._traced: dict[Key, dict[Key, Traced]] = {}
        """The versions by the structure of the arguments; then by the state that is read and the layouts, oldest
        first."""
        self._shared: dict[Key, tuple[SharedVariable, ...]] = {}
        """The shared variables that were met for each structure: their layouts follow those of leaves."""
        self._embedded: dict[Key, Embedding] = {}
        self._dropped: list[Embedding] = []
        """Embeddings that have been dropped, of which callers from C may still have addresses."""
        self._surroundings = Surroundings(function, self._described)
        self._lock = new_lock()
        self._versions: dict[Key, tuple[Version, ...]] = {}
        self._writers = Writers()
        self._flat_calls = ()  # the last of what native code reads
        self._alone = set()
        self._on_device: Any = None
        self._takes_instance = takes_instance(self.signature, self.static_argnames)
        self.convert = Conversion(convert)
        self.__name__ = type(function).__name__  # of a callable object; a function has its own
        functools.update_wrapper(self, function, updated=())

    def _read_signature(self) -> None:
        self._definition = definition_of(self.function)
        self.signature = signature_of_callable(self.function)
        self._has_own_out = takes(self.signature, "out")
        self._positional = positional_names(self.signature)

    def _is_redefined(self) -> bool:
        """Whether the function has got other code or defaults; its signature is then read again."""
        if same(definition_of(self.function), self._definition):
            return False
        self._read_signature()
        return True

    if TYPE_CHECKING:

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, *args: Any, ctx: SharedContext, **kwargs: Any) -> R: ...
        @overload
        def __call__(self, *args: Any, out: Any, **kwargs: Any) -> R: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: GraphFunction[Concatenate[T, Q], R], instance: T, owner: type | None = None
    ) -> GraphFunction[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return a method: it is compiled for each instance, whose arrays are captured."""
        if instance is None:
            return self
        methods = BoundMethods.of(instance)
        if self not in methods:
            function: Any = self.function
            methods[self] = GraphFunction(function.__get__(instance, owner), **self._options)
        return methods[self]

    @property
    def _options(self) -> dict[str, Any]:
        names = (
            "static_argnames",
            "donate_argnames",
            "mutates",
            "backend",
            "cache",
            "parallel",
            "debug_nans",
            "stabilise",
        )
        return {name: getattr(self, name) for name in names} | {"convert": self.convert.allowed}

    def __reduce__(self) -> tuple[Any, ...]:
        if inspect.ismethod(self.function):
            return getattr, (self.function.__self__, self.__name__)
        return _rebuild, (Pickled(self.function, GraphFunction, self), self._options)

    def __repr__(self) -> str:
        return f"<graph_jit {self._described}>"

    def _call_with_trees(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Handle a call with trees, keywords, defaults or static arguments, whose dispatch key may be known."""
        raise_kept()
        if self._takes_instance and args and is_instance(args[0]):
            return self.__get__(args[0])(*args[1:], **kwargs)
        if "ctx" in kwargs and not takes(self.signature, "ctx"):
            with as_context(kwargs.pop("ctx"), self._described):
                return self(*args, **kwargs)
        out = kwargs.pop("out", None) if not self._has_own_out else None
        if (result := on_device(self, out, args, kwargs)) is not NotImplemented:
            return result
        try:
            arguments = self._bind(args, kwargs)
        except TypeError:
            if not self._is_redefined():
                raise
            arguments = self._bind(args, kwargs)
        generators = arguments.generators
        if generators is None:
            return self._call_bound(arguments, out, args, kwargs)
        generators.require_no_trace()
        with generators.drawing():
            return self._call_bound(arguments, out, args, kwargs)

    def _call_bound(self, arguments: Arguments, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if out is not None:
            return self._call_into(arguments, Targets(out, self._described))
        for run, rebuild in () if failures.is_stopped() else arguments.find(self._versions):
            result = run(*arguments.leaves)
            if result is not NotImplemented:
                return result if rebuild is None else rebuild(result)
        if self._is_redefined():
            arguments = self._bind(args, kwargs)
        if not any_traced(arguments.leaves):
            return self._call_slowly(arguments)
        with only_written(arguments.leaves, self._writable(arguments), self._described):
            return as_traced(self.function)(*args, **kwargs)

    def _call_version(self, arguments: Arguments, traced: Traced, leaves: list[Any]) -> Any:
        if traced.outputs.written or traced.shared.variables:
            return self._call_writing(arguments, traced, leaves)
        run, rebuild = self._ready(traced, arguments.key)
        if check_level() > 1:
            assert traced.specialisation is not None
            check_values(traced.specialisation.stages, traced.inputs(leaves))
        result = replay.run_once(run, traced.specialisation, arguments.leaves, leaves)
        if result is NotImplemented:
            return traced.outputs.rebuild(self._after_failure(traced, traced.inputs(leaves)))
        return result if rebuild is None else rebuild(result)

    def _call_writing(self, arguments: Arguments, traced: Traced, leaves: list[Any]) -> Any:
        """Handle a call that writes into arguments, all of them or none, or uses shared variables."""
        back = self._write_back(arguments, traced)
        if back.meets_others:  # native code compares bounds alone
            arguments.leaves = back.copies()
            traced, leaves = self._find(arguments)
        results = back.finish(self._results(traced, arguments.key, leaves))
        traced.shared.update(results)
        return traced.outputs.rebuild(results)

    def _write_back(self, arguments: Arguments, traced: Traced) -> WriteBack:
        return WriteBack(arguments.leaves, arguments.leaf_names, traced.outputs.written, self._described)

    def _results(self, traced: Traced, key: Key, leaves: list[Any]) -> Sequence[Any]:
        """Run a version, and return the results of its graph."""
        self._ready(traced, key)
        assert traced.native is not None
        shared = traced.shared.values()
        given = [*leaves, *shared]
        result = replay.run_once(traced.native, traced.specialisation, given, given)
        if result is NotImplemented:
            return self._after_failure(traced, traced.inputs(leaves, shared))
        return [result] if traced.outputs.single and self.backend == "numba" else result

    def _call_into(self, arguments: Arguments, targets: Targets) -> Any:
        """Handle a call whose results go to arrays of the caller."""
        if not failures.is_stopped() and self._writers.write(arguments, targets):
            return targets.tree
        targets.refuse_traced(arguments.leaves)
        traced, leaves = self._find(arguments)
        targets.check(traced.outputs)
        back = self._write_back(arguments, traced) if traced.outputs.written else None
        if back is not None:
            back.require_apart(targets.leaves, targets.name)
            arguments.leaves = back.copies()
            traced, leaves = self._find(arguments)
        elif self.backend == "numba" and check_level() <= 1 and traced.is_kept and traced.is_one:
            arguments.leaves = leaves
            self._writers.extend(traced, arguments, targets, is_flat=is_flat_call(self.signature, *arguments.key))
            if not failures.is_stopped() and self._writers.write(arguments, targets):
                return targets.tree
        results = self._results(traced, arguments.key, leaves)
        targets.fill([results[slot] for slot in traced.outputs.slots if slot is not None])
        if back is not None:
            back.finish(results)
        traced.shared.update(results)
        return targets.tree

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        bound, watched = bound_to(self.signature, args, kwargs, self._described), how_watched(self.debug_nans)
        arguments = bind(bound, self.static_argnames, self._described, watched, self.convert.known)
        arguments.describe = describer(self.backend)
        return arguments

    def _known(self, arguments: Arguments) -> tuple[Traced | None, list[Any], tuple[Leaf, ...]]:
        """The version for these arguments, if there is one, and the arguments as it takes them, with their layouts."""
        layouts, leaves = arguments.described()
        usual, general = self._versions_for(arguments, layouts)
        return (usual if usual is None or usual.fits(leaves) else general), leaves, layouts

    def _find(self, arguments: Arguments) -> tuple[Traced, list[Any]]:
        """Return the version for these arguments, traced if there is none yet, and the arguments as it takes them."""
        raise_kept()
        traced, leaves, layouts = self._known(arguments)
        if traced is None:
            with self._lock, collector_at_rest:
                traced = self._known(arguments)[0] or self._add(arguments, layouts, leaves)
        return traced, leaves

    def _traced_anew(self, arguments: Arguments, layouts: tuple[Leaf, ...], **lengths: Any) -> Made:
        """Trace the function again; ``lengths`` are the options of `trace` that concern lengths."""
        described, names, writable = self._surroundings.described, arguments.leaf_names, self._writable(arguments)
        # JAX takes derivatives of it
        options: dict[str, Any] = {**lengths, "last": self.backend != "jax", "stabilise": self.stabilise}

        def use(call: Any, converts: bool) -> Traced:
            options["room"], options["unrolled"] = self.convert.room, self.convert.without_source
            return trace(call, layouts, names, self.__name__, described, writable, converts, **options)

        return self._make(arguments, use)

    def _writable(self, arguments: Arguments) -> Collection[int]:
        """The leaves of arguments that the function may write into."""
        if self.mutates is None:
            return range(len(arguments.leaves))
        own = () if arguments.generators is None else tuple(arguments.generators.places)
        return (*arguments.leaves_of(self.mutates), *own)

    def _make(self, arguments: Arguments, use: Callable[[Any, bool], Any]) -> Made:
        """Return the result of ``use`` for the function of the leaves; ``use`` also takes whether loops are
        captured."""

        def make(walk: Walk) -> Any:
            def attempt(converts: bool) -> Any:
                with forbidden(walk.watch()):
                    return use(arguments.caller(self.function, walk.may_write), converts)

            return self.convert.attempt(attempt, arguments, walk.converts_at_once)

        return make_while_unchanged(lambda: self._reach(arguments), make)

    def _reach(self, arguments: Arguments) -> Reach:
        """Return the present state of the world that the function reads. Drop the versions of one that it replaces."""
        if (found := self._surroundings.find(arguments.static)) is not None:
            return found
        with self._lock:
            if (found := self._surroundings.find(arguments.static)) is not None:
                return found
            found, gone = self._surroundings.add(arguments.static, arguments.static_arguments(self.static_argnames))
            if gone is not None:
                self._writers = Writers()
                for key, group in list(self._traced.items()):
                    self._traced[key] = {layout: each for layout, each in group.items() if layout[0] is not gone}
                    if not self._traced[key]:
                        del self._traced[key]
                    self._refresh_versions(key)
            return found

    def _ready(self, traced: Traced, key: Key) -> Version:
        """Return the version of a traced graph, compiled if it is not yet."""
        if traced.version is None:
            with self._lock:
                if traced.version is None:
                    with collector_at_rest:
                        traced.version = self._compile(traced)
                    self._refresh_versions(key)
        return traced.version

    def _specialise(self, traced: Traced, arguments: Arguments, reach: Reach) -> None:
        outputs = traced.outputs
        written = () if traced.watched else outputs.written  # by native code
        signature = signature_of(traced.graph, traced.leaves, len(traced.captured), outputs.single, written)
        cache = default_cache() if self.cache else None
        special = Specialisation(
            traced.graph, signature, traced.captured, symbol(self.__name__), cache, self.parallel, reach.guards
        )
        traced.specialisation = special
        if self.backend == "numba" and has_late_lengths(special):
            if outputs.has_effects:
                refuse_effects(self._described)
            traced.phases = in_phases(special)
            return
        if traced.watched:
            return  # what it was given is needed once more
        if self.backend == "numba":
            special.write_in_place()
        if self.donate_argnames:
            donated = arguments.leaves_of(self.donate_argnames)
            require_kept(donated, outputs.written, arguments.leaf_names, self._described)
            special.accept_donations(donated, kept=traced.shared.results)

    def _compile(self, traced: Traced) -> Version:
        """Compile a traced graph into a version: a function of the leaves, and one that builds the returned object."""
        rebuild = None if traced.outputs.flat and self.backend == "numba" else traced.outputs.rebuilder
        traced.native = compiled(traced, self.backend, self.__name__)
        return Version(traced.shared.around(traced.native), rebuild)

    def _forget(self, key: Key) -> None:
        """Drop the versions for one structure of arguments."""
        with self._lock:
            self._writers = Writers()
            self._traced.pop(key, None)
            self._refresh_versions(key)

    def _refresh_versions(self, key: Key) -> None:
        """Put all versions for one structure of arguments behind as few builtin functions as possible, newest first."""
        if self.backend != "numba" or check_level() > 1:
            return
        groups: dict[Any, list[Traced]] = {}
        newest = [*reversed(self._traced.get(key, {}).values())]
        newest.sort(key=lambda each: not each.assumed)  # the others take calls that these could have
        for traced in filter(Traced.is_dispatched, newest):
            alike = (traced.outputs.alike, traced.shared) if traced.phases is None else id(traced)
            groups.setdefault(alike, []).append(traced)
        self._versions[key] = tuple(map(self._together, groups.values()))
        if not groups:
            del self._versions[key]
        flat = itertools.chain.from_iterable(map(self._flat, self._versions))
        self._flat_calls = tuple(each.call for each in flat)
        call_natively()

    def _flat(self, key: Key) -> Sequence[Version]:
        """The versions for one structure of arguments that a positional call may try: its arguments are the leaves."""
        names, spec, static = without_lengths(key)
        versions = self._versions[key]
        if is_flat_call(self.signature, names, spec, ()):
            if not static:
                return versions
            (name, generators), *others = static
            if name == GENERATORS and not others:
                runs = [drawing_once(generators, each.run) for each in versions]
                return [Version(run, each.rebuild) for run, each in zip(runs, versions, strict=True) if run is not None]
        return ()

    def _together(self, group: list[Traced]) -> Version:
        """Combine versions whose results are rebuilt in the same way into one builtin function."""
        first = group[0].version
        assert first is not None
        if group[0].phases is not None:
            return Version(group[0].phases.runner(guarded=True), first.rebuild)
        plans = [traced.specialisation.plan for traced in group if traced.specialisation is not None]
        return Version(group[0].shared.around(make_callable(plans, self.__name__)), first.rebuild)

    _prefers_constants = False

    @cached_property
    def _numba_type_(self) -> Any:
        """The Numba type of the function, which Numba reads where ``@njit`` code uses it."""
        return njit.type_of(self)

    def _after_failure(self, traced: Traced, inputs: list[Any]) -> list[Any]:
        raise_kept()
        return after_failure(traced.graph, inputs, self._described)

    def cache_clear(self) -> None:
        """Drop all versions: the next call traces the function again. Its code stays on disk, and addresses valid.

        A method has versions for each object: ``object.method.cache_clear()`` drops those of one.

        Examples
        --------
        >>> import numbagraph
        >>> f = numbagraph.graph_jit(lambda x: 2 * x)
        >>> f(1.0), f.cache_clear(), f.cache_info().versions
        (2.0, None, 0)
        """
        with self._lock:
            self._dropped += self._embedded.values()
            self._traced, self._shared, self._embedded = {}, {}, {}
            self._surroundings.clear()
            self._writers, self._alone, self._on_device = Writers(), set(), None
            self._versions, self._flat_calls = {}, ()


def _rebuild(pickled: Pickled, options: dict[str, Any]) -> GraphFunction:
    return pickled.decorated(lambda function: GraphFunction(function, **options))
