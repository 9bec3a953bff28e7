"""`graph_jit`, and the compiled function that it returns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, overload

import optree

from numbagraph.forking import new_lock
from numbagraph.frontend.binding import Arguments, Key, bind, is_flat_call, signature_of_callable, takes
from numbagraph.frontend.bound_methods import BoundMethods
from numbagraph.frontend.embed import c_layout, embed
from numbagraph.frontend.impure import forbidden
from numbagraph.frontend.locating import is_located
from numbagraph.frontend.pickled import Pickled
from numbagraph.frontend.reach import Reach, Walk
from numbagraph.frontend.surroundings import Made, Surroundings, make_while_unchanged
from numbagraph.frontend.targets import Targets, Writers
from numbagraph.frontend.traced import CacheInfo, Traced, Version, trace
from numbagraph.frontend.tracing import Tracer
from numbagraph.inspect.memory import too_large
from numbagraph.inspect.report import Report
from numbagraph.ir.abi import Leaf
from numbagraph.ir.graph import Graph
from numbagraph.ir.structs import cached_property
from numbagraph.ops.linalg.errors import Blocks
from numbagraph.rewrite.checks import check_values
from numbagraph.rewrite.pipeline import check_level
from numbagraph.runtime.arguments import Placeholder
from numbagraph.runtime.cache import default_cache
from numbagraph.runtime.collection import collector_at_rest
from numbagraph.runtime.embedding import Embedding
from numbagraph.runtime.entry import make_callable
from numbagraph.runtime.interruption import raise_kept
from numbagraph.runtime.specialise import Specialisation, signature_of
from numbagraph.transforms.interpret import after_failure, evaluate

BACKENDS = ("numba", "jax", "numpy")


class GraphFunction:
    """A compiled function: what `graph_jit` returns.

    Calling it traces, compiles and caches a native version for each combination of dtypes, ranks, lengths that
    are 1, and memory layouts (contiguous or not). A new length needs no new version.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        static_argnames: str | Iterable[str] = (),
        donate_argnames: str | Iterable[str] = (),
        backend: str = "numba",
        cache: bool = True,
        parallel: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeError(f"graph_jit compiles functions, not {function!r}")
        if backend not in BACKENDS:
            raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
        if parallel and backend != "numba":
            raise ValueError(f"parallel=True is for backend='numba': {backend!r} has threads of its own, or none")
        self.function = function
        self.backend = backend
        self.cache = cache
        self.parallel = parallel
        self.signature = signature_of_callable(function)
        self._has_own_out = takes(self.signature, "out")
        self.static_argnames = self._names(static_argnames, "static_argnames")
        self.donate_argnames = self._names(donate_argnames, "donate_argnames")
        self._traced: dict[Key, dict[Key, Traced]] = {}
        """By the structure of the arguments, and then by what is read and by the layouts of leaves, oldest first."""
        self._embedded: dict[Key, Embedding] = {}
        self._dropped: list[Embedding] = []
        """Callers from C may still have their addresses."""
        self._surroundings = Surroundings(function, self._described)
        self._lock = new_lock()
        self.flat_versions: tuple[Version, ...] = ()
        self._versions: dict[Key, tuple[Version, ...]] = {}
        self._writers = Writers()
        self.__name__ = type(function).__name__  # of a callable object; a function has its own
        functools.update_wrapper(self, function, updated=())

    def _names(self, names: str | Iterable[str], option: str) -> tuple[str, ...]:
        result = (names,) if isinstance(names, str) else tuple(names)
        for name in result:
            if name not in self.signature.parameters:
                known = ", ".join(self.signature.parameters) or "none"
                raise ValueError(
                    f"{option} names {name!r}, which is not an argument of {self._described}; its arguments: {known}"
                )
        return result

    @property
    def _described(self) -> str:
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        name = getattr(self.function, "__qualname__", repr(self.function))
        return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if Blocks.count:  # this block of code may want another version than the usual
                return self._call_with_trees(args, kwargs)
            if not kwargs:
                for run, rebuild in self.flat_versions:
                    result = run(*args)
                    if result is not NotImplemented:
                        return result if rebuild is None else rebuild(result)
            elif len(kwargs) == 1 and (out := kwargs.get("out")) is not None:
                is_tuple = type(out) is tuple
                for write in self._writers.flat[is_tuple]:
                    if write(*args, *out if is_tuple else (out,)) is not NotImplemented:
                        return out
            return self._call_with_trees(args, kwargs)
        except MemoryError as error:
            self._say_what_is_too_large(error, args, kwargs)
            raise

    def __get__(self, instance: Any, owner: type | None = None) -> GraphFunction:
        """A method: compiled for each instance, whose arrays are captured."""
        if instance is None:
            return self
        methods = BoundMethods.of(instance)
        if self not in methods:
            function: Any = self.function
            methods[self] = GraphFunction(function.__get__(instance, owner), **self._options)
        return methods[self]

    @property
    def _options(self) -> dict[str, Any]:
        names = ("static_argnames", "donate_argnames", "backend", "cache", "parallel")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        if inspect.ismethod(self.function):
            return getattr, (self.function.__self__, self.__name__)
        return _rebuild, (Pickled(self.function, GraphFunction), self._options)

    def __repr__(self) -> str:
        return f"<graph_jit {self._described}>"

    def _call_with_trees(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with trees, keywords, defaults or static arguments, of a dispatch key that may be known."""
        raise_kept()
        out = kwargs.pop("out", None) if not self._has_own_out else None
        arguments = self._bind(args, kwargs)
        if out is not None:
            return self._call_into(arguments, Targets(out, self._described))
        for run, rebuild in arguments.find(self._versions):
            result = run(*arguments.leaves)
            if result is not NotImplemented:
                return result if rebuild is None else rebuild(result)
        tracers = [leaf for leaf in arguments.leaves if isinstance(leaf, Tracer)]
        for each in tracers:
            each.require_scope()
        return self.function(*args, **kwargs) if tracers else self._call_slowly(arguments)

    def _call_slowly(self, arguments: Arguments) -> Any:
        """A new dispatch key, arguments that must be converted first, or an error."""
        traced, leaves = self._find(arguments)
        run, rebuild = self._ready(traced, arguments.key)
        if check_level() > 1:
            assert traced.specialisation is not None
            check_values(traced.specialisation.stages, [*leaves, *traced.captured])
        result = run(*leaves)
        if result is NotImplemented:
            return traced.outputs.rebuild(self._after_failure(traced, leaves))
        return result if rebuild is None else rebuild(result)

    def _call_into(self, arguments: Arguments, targets: Targets) -> Any:
        """A call whose results go to arrays of the caller."""
        if self._writers.write(arguments, targets):
            return targets.tree
        if any(isinstance(leaf, Tracer) for leaf in (*arguments.leaves, *targets.leaves)):
            raise TypeError(
                f"{targets.name} is for calls from Python: a traced function uses the value that is returned"
            )
        traced, arguments.leaves = self._find(arguments)
        targets.check(traced.outputs)
        run, _ = self._ready(traced, arguments.key)
        if self.backend == "numba" and check_level() <= 1 and traced.is_kept:
            self._writers.extend(traced, arguments, targets, is_flat=self._is_flat(*arguments.key))
            if self._writers.write(arguments, targets):
                return targets.tree
        result = run(*arguments.leaves)
        if result is NotImplemented:
            results = self._after_failure(traced, arguments.leaves)
        else:
            results = [result] if traced.outputs.single and self.backend == "numba" else result
        return targets.fill([results[slot] for slot in traced.outputs.slots if slot is not None])

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        return bind(self.signature.bind(*args, **kwargs), self.static_argnames, self._described)

    def _say_what_is_too_large(self, error: MemoryError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise an error with the largest array and its line, if native code is what ran out of memory."""
        arguments = self._bind(args, {k: v for k, v in kwargs.items() if k != "out" or self._has_own_out})
        if not is_located(error) and not any(isinstance(leaf, Tracer) for leaf in arguments.leaves):
            traced, leaves, _ = self._known(arguments)
            if traced is not None and traced.version is not None and traced.specialisation is not None:
                raise MemoryError(too_large(traced.specialisation, [*leaves, *traced.captured], self._described))

    def _known(self, arguments: Arguments) -> tuple[Traced | None, list[Any], tuple[Leaf, ...]]:
        """The version for these arguments, if there is one, and the arguments as it takes them, with their layouts."""
        layouts, leaves = arguments.described()
        traced = self._traced.get(arguments.key, {}).get((self._reach(arguments), *layouts))
        return traced, leaves, layouts

    def _find(self, arguments: Arguments) -> tuple[Traced, list[Any]]:
        """The version for these arguments, traced when there is none yet, and the arguments as it takes them."""
        raise_kept()
        traced, leaves, layouts = self._known(arguments)
        if traced is None:
            with self._lock, collector_at_rest:
                traced = self._known(arguments)[0] or self._add(arguments, layouts)
        return traced, leaves

    def _add(self, arguments: Arguments, layouts: tuple[Leaf, ...]) -> Traced:
        """A version that was traced while nothing changed that the function reads, or one for this call alone."""
        described = self._surroundings.described
        made = self._make(arguments, lambda call: trace(call, layouts, arguments.leaf_names, self.__name__, described))
        traced: Traced = made.found
        traced.is_kept = made.is_valid
        self._specialise(traced, arguments, made.reach)
        group = self._traced.setdefault(arguments.key, {}) if traced.is_kept else {}
        return group.setdefault((made.reach, *layouts), traced)

    def _make(self, arguments: Arguments, use: Callable[[Any], Any]) -> Made:
        """What ``use`` makes of the function, which it calls with tracers."""

        def make(walk: Walk) -> Any:
            with forbidden(walk.watch()):
                return use(arguments.caller(self.function, walk.may_write))

        return make_while_unchanged(lambda: self._reach(arguments), make)

    def _reach(self, arguments: Arguments) -> Reach:
        """What the function reads of the world around it, as that is now."""
        if (found := self._surroundings.find(arguments.static)) is not None:
            return found
        with self._lock:
            found = self._surroundings.find(arguments.static)
            if found is not None:
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
        """The same version, compiled."""
        if traced.version is None:
            with self._lock:
                if traced.version is None:
                    with collector_at_rest:
                        traced.version = self._compile(traced)
                    self._refresh_versions(key)
        return traced.version

    def _specialise(self, traced: Traced, arguments: Arguments, reach: Reach) -> None:
        signature = signature_of(traced.graph, traced.leaves, len(traced.captured), traced.outputs.single)
        cache = default_cache() if self.cache else None
        name = "".join(each if each.isalnum() else "_" for each in self.__name__)
        special = Specialisation(traced.graph, signature, traced.captured, name, cache, self.parallel, reach.guards)
        traced.specialisation = special
        if self.donate_argnames:
            special.accept_donations(arguments.leaves_of(self.donate_argnames))

    def _compile(self, traced: Traced) -> Version:
        """What runs this version on its leaves, and what builds the returned object from the results."""
        rebuild = None if traced.outputs.flat and self.backend == "numba" else traced.outputs.rebuild
        if self.backend == "numba":
            assert traced.specialisation is not None
            # Whoever runs this one has looked at the guards: another thread may break them meanwhile.
            plan = traced.specialisation.make_plan(guarded=False)
            return Version(make_callable([plan], self.__name__), rebuild)
        if self.backend == "jax":
            from numbagraph.jax_bridge import compile_jax

            call = compile_jax(traced.graph)
        else:
            call = functools.partial(evaluate, traced.graph)
        return Version(lambda *leaves: call([*leaves, *traced.captured]), rebuild)

    def _refresh_versions(self, key: Key) -> None:
        """Put all versions for one structure of arguments behind as few builtin functions as possible, newest first."""
        if self.backend != "numba" or check_level() > 1:
            return
        groups: dict[Any, list[Traced]] = {}
        for traced in reversed(self._traced.get(key, {}).values()):
            if traced.version is not None and not traced.outputs.has_effects:  # a call that fails must not run twice
                groups.setdefault(traced.outputs.alike, []).append(traced)
        self._versions[key] = tuple(map(self._together, groups.values()))
        if not groups:
            del self._versions[key]
        if self._is_flat(*key):
            self.flat_versions = tuple(
                version for each, versions in self._versions.items() if self._is_flat(*each) for version in versions
            )

    def _is_flat(self, names: tuple[str, ...], spec: optree.PyTreeSpec, static: tuple[Any, ...]) -> bool:
        """Whether a call with these arguments by position passes their leaves."""
        if static:
            return False
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = tuple(name for name, each in self.signature.parameters.items() if each.kind in positional)
        return is_flat_call(names, spec, parameters)

    def _together(self, group: list[Traced]) -> Version:
        """Versions whose results become the same kind of object, as one builtin function."""
        plans = [traced.specialisation.plan for traced in group if traced.specialisation is not None]
        first = group[0].version
        assert first is not None
        return Version(make_callable(plans, self.__name__), first.rebuild)

    def _inspect(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Specialisation, list[Any]]:
        traced, leaves = self._find(self._bind(args, kwargs))
        assert traced.specialisation is not None
        return traced.specialisation, [*leaves, *traced.captured]

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph that is traced for these arguments; ``print`` shows it as Python."""
        return self._inspect(args, kwargs)[0].graph

    def result_dtypes(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The dtype of each leaf of the result for these arguments."""
        traced = self._find(self._bind(args, kwargs))[0]
        return [traced.graph.outputs[slot].dtype for slot in traced.outputs.slots if slot is not None]

    def stages(self, *args: Any, **kwargs: Any) -> dict[str, Graph]:
        """The graph after each pass, by the pass's name (numbered where a pass runs twice)."""
        result: dict[str, Graph] = {}
        for stage in self._inspect(args, kwargs)[0].stages:
            count = sum(name.partition(" ")[0] == stage.name for name in result)
            result[f"{stage.name} {count + 1}" if count else stage.name] = stage.graph
        return result

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What the compiler does with the function for these arguments: rules, loop nests, memory."""
        special, leaves = self._inspect(args, kwargs)
        report = Report.of_call(special.graph, special.tiled, special.signature.leaves, leaves)
        title = f"{self._described}, backend {self.backend}{', parallel' if self.parallel else ''}"
        return report.text(title, special.stages.rewrites)

    def llvm(self, *args: Any, optimised: bool = True, **kwargs: Any) -> str:
        """The LLVM of the version for these arguments, optimised or as it was emitted."""
        return self._inspect(args, kwargs)[0].llvm(optimised=optimised)

    def asm(self, *args: Any, **kwargs: Any) -> str:
        """The machine code of the version for these arguments, as assembly."""
        return self._inspect(args, kwargs)[0].assembly()

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Compile for these arguments without running; `numbagraph.Abstract` stands for an array that is not there."""
        arguments = self._bind(args, kwargs)
        self._ready(self._find(arguments)[0], arguments.key)

    prefers_constants = False

    @cached_property
    def _numba_type_(self) -> Any:
        """Numba asks for this: it makes the function known to ``@njit`` code."""
        from numbagraph.runtime.njit import type_of  # noqa: PLC0415  it imports Numba, which takes its time

        return type_of(self)

    def embed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Embedding:
        """The function as part of other native code, which gives those arguments that are a `Placeholder`."""
        if self.backend != "numba":
            raise TypeError(f"{self._described} has backend={self.backend!r}: only backend='numba' has native code")
        with self._lock:
            return self._embed(self._bind(args, kwargs)).found

    def _embed(self, arguments: Arguments) -> Made:
        made = self._make(arguments, lambda call: embed(call, arguments.leaves, arguments.leaf_names, self._described))
        made.require_valid(self._described)
        return made

    def address(self, *args: Any, **kwargs: Any) -> int:
        """The address of the function for callers from C.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those that it will be called with (`numbagraph.Abstract` stands for an array). Their values
            do not matter, except for those in ``static_argnames``.

        Returns
        -------
        int
            Address of ``int32_t f(arguments..., results...)``, valid as long as this object lives. Each leaf of the
            arguments, in order: a number by value (a Python float as ``double``, an int as ``int64_t``, a bool as
            ``uint8_t``, a complex number as two numbers); an array as the address of its elements in C order,
            followed by its lengths as ``int64_t``. Then for each result the address of memory for it, which overlaps
            no argument. It returns 0; or 1 when the arguments do not fit each other, 2 when an index is out of
            bounds or a system has no solution, -1 when there is no memory for temporaries.

        Examples
        --------
        >>> import ctypes, numpy as np, numbagraph
        >>> f = numbagraph.graph_jit(lambda x, scale: np.sum(x) * scale)
        >>> prototype = ctypes.CFUNCTYPE(
        ...     ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
        ... )
        >>> x, result = np.ones(3), np.empty(())
        >>> prototype(f.address(x, 1.0))(x.ctypes.data, 3, 2.0, result.ctypes.data)
        0
        >>> result
        array(6.)
        """
        arguments = self._bind(args, kwargs)
        layouts = [*map(c_layout, arguments.described()[0])]
        key = (*arguments.key, (self._reach(arguments), *layouts))
        with self._lock:
            if key not in self._embedded:
                arguments.leaves = [Placeholder(layout, number) for number, layout in enumerate(layouts)]
                made = self._embed(arguments)
                key = (*arguments.key, (made.reach, *layouts))
                self._embedded[key] = made.found
            return self._embedded[key].c_address

    def _after_failure(self, traced: Traced, leaves: list[Any]) -> list[Any]:
        raise_kept()
        return after_failure(traced.graph, [*leaves, *traced.captured], self._described)

    def cache_clear(self) -> None:
        """Drop all versions: the next call traces the function again. Its code stays on disk, and addresses valid.

        A method has versions for each object: ``object.method.cache_clear()`` drops those of one.
        """
        with self._lock:
            self._dropped += self._embedded.values()
            self._traced, self._embedded = {}, {}
            self._surroundings.clear()
            self._writers = Writers()
            self._versions, self.flat_versions = {}, ()

    def cache_info(self) -> CacheInfo:
        """How many versions there are, and how many of them were compiled here or found on disk."""
        traced = [each for group in list(self._traced.values()) for each in list(group.values())]
        specials = [each.specialisation for each in traced if each.version is not None]
        compiled = sum(each is not None and each.compiled for each in specials)
        return CacheInfo(len(traced), compiled, len(specials) - compiled)


def _rebuild(pickled: Pickled, options: dict[str, Any]) -> GraphFunction:
    return pickled.decorated(lambda function: GraphFunction(function, **options))


@overload
def graph_jit(function: Callable[..., Any], **options: Any) -> GraphFunction: ...
@overload
def graph_jit(function: None = None, **options: Any) -> Callable[[Callable[..., Any]], GraphFunction]: ...
def graph_jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a plain NumPy function to one native kernel.

    Parameters
    ----------
    function
        A function (or method) of arrays, numbers and pytrees of them, written in NumPy.
    static_argnames : str or iterable of str, optional
        Arguments whose values become part of the compiled code; they must be hashable.
    donate_argnames : str or iterable of str, optional
        Array arguments whose memory the function may reuse for a result: they are overwritten.
    backend : {"numba", "jax", "numpy"}, optional
        What runs the graph: native code, JAX (GPU and TPU), or NumPy, op by op.
    cache : bool, optional
        Whether compiled code is kept on disk for other processes.
    parallel : bool, optional
        Whether long loops run on several threads (see `numbagraph.threads`). Results do not depend on their number.

    Returns
    -------
    GraphFunction
        Called as ``function`` is. With ``out=``, which is no argument of ``function``, results are written there: an
        array, or a tree of arrays like the result. As in NumPy, it may share memory with arguments.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.graph_jit
    ... def norm(x):
    ...     return np.sqrt(np.sum(x**2))
    >>> norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    if function is None:
        return functools.partial(graph_jit, **options)
    return GraphFunction(function, **options)
