"""The compiled function that `graph_jit` returns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later
from numbagraph.ir.public import Public
from numbagraph.ir.structs import cached_property
from numbagraph.jit.backends import on_device
from numbagraph.jit.binding import takes
from numbagraph.jit.bound_methods import BoundMethods, is_instance
from numbagraph.jit.definition import Definition
from numbagraph.jit.dispatch import Dispatcher, NativeCallable
from numbagraph.jit.execution import Execution
from numbagraph.jit.introspection import Introspection
from numbagraph.jit.native_callers import NativeCallers
from numbagraph.jit.pickling import Pickled
from numbagraph.jit.shared_variables import SharedContext, as_context
from numbagraph.jit.version import CacheInfo
from numbagraph.jit.versions import Versions
from numbagraph.runtime.interruption import raise_kept
from numbagraph.tracing.tracebacks import for_users

if TYPE_CHECKING:
    from numbagraph.explain.html import Explanation
    from numbagraph.jit import low_level_callable
    from numbagraph.runtime import njit
else:  # few programs need it, and Numba takes its time to be imported
    low_level_callable = Later("numbagraph.jit.low_level_callable")
    njit = Later("numbagraph.runtime.njit")

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")


class GraphFunction(NativeCallable, Public, Generic[P, R]):
    """The compiled function that `graph_jit` returns.

    Calling it traces, compiles and caches a native version for each combination of dtypes, ranks, lengths that
    are 1, and memory layouts (contiguous or not). A new length needs no new version,
    unless slices of arguments meet (``x[1:] + y[:-1]``) whose lengths are no longer equal as in the first call.

    Parameters
    ----------
    function
        The function that it compiles.
    options
        The options of `graph_jit`: ``static_argnames``, ``donate_argnames``, ``mutates``, ``backend``, ``cache``,
        ``parallel``, ``convert``, ``debug_nans`` and ``stabilise``.

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

    def __init__(self, function: Callable[P, R], **options: Any) -> None:
        self.function = function
        self.definition = Definition(function, **options)
        self.backend, self._described = self.definition.backend, self.definition.described
        self._positional = self.definition.positional
        dispatcher = Dispatcher(self.definition, self)
        self.versions = Versions(self.definition, dispatcher)
        self.execution = Execution(self.definition, self.versions, dispatcher)
        self.native_callers = NativeCallers(self.definition, self.versions)
        self._introspection = Introspection(self.definition, self.versions)
        self._on_device: Any = None
        self.__name__ = self.definition.name
        functools.update_wrapper(self, function, updated=())

    if TYPE_CHECKING:

        @overload
        def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, /, *args: Any, ctx: SharedContext, **kwargs: Any) -> R: ...
        @overload
        def __call__(self, /, *args: Any, out: Any, **kwargs: Any) -> R: ...
        def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

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
            methods[self] = GraphFunction(function.__get__(instance, owner), **self.definition.options)
        return methods[self]

    def __reduce__(self) -> tuple[Any, ...]:
        if inspect.ismethod(self.function):
            return getattr, (self.function.__self__, self.__name__)
        return _rebuild, (Pickled(self.function, GraphFunction, self), self.definition.options)

    def __repr__(self) -> str:
        return f"<graph_jit {self._described}>"

    def _repr_html_(self) -> str:
        """The function and its versions, as notebooks show them."""
        return self._introspection.html()

    def _handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Handle a call that native code has not taken: of a method, in a context, on a device, or of `Execution`."""
        raise_kept()
        if self.definition.takes_instance and args and is_instance(args[0]):
            return self.__get__(args[0])(*args[1:], **kwargs)
        if "ctx" in kwargs and not takes(self.definition.signature, "ctx"):
            with as_context(kwargs.pop("ctx"), self._described):
                return self(*args, **kwargs)
        out = kwargs.pop("out", None) if not self.definition.has_own_out else None
        if (result := on_device(self, out, args, kwargs)) is not NotImplemented:
            return result
        return self.execution.call(args, kwargs, out)

    def _explain_memory(self, error: MemoryError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise an error with the largest array and its line, if native code is what ran out of memory."""
        self._introspection.explain_memory(error, args, kwargs)

    _prefers_constants = False
    """Whether the function becomes a value for `@njit` code where all arguments are constants."""

    @cached_property
    def _numba_type_(self) -> Any:
        """The type by which Numba knows the function in ``@njit`` code; Numba looks for this name."""
        return njit.type_of(self)

    @for_users
    def warmup(self, /, *args: Any, **kwargs: Any) -> None:
        """Compile for some arguments without running.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> f = numbagraph.graph_jit(lambda x: np.sum(x))
        >>> f.warmup(numbagraph.Abstract((100,), np.float32))
        >>> f.cache_info().versions
        1
        """
        self._introspection.compile(args, kwargs)

    def cache_info(self) -> CacheInfo:
        """Return the number of versions, and how many of them were compiled here or found on disk.

        Returns
        -------
        CacheInfo
            A tuple with ``versions``, ``compiled`` and ``found``.

        Examples
        --------
        >>> import numbagraph
        >>> numbagraph.graph_jit(lambda x: 2 * x).cache_info()
        CacheInfo(versions=0, compiled=0, found=0)
        """
        return CacheInfo.of(self.versions.all())

    @for_users
    def graph(self, /, *args: Any, **kwargs: Any) -> Graph:
        """The graph that is traced for some arguments.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        Graph
            ``print`` shows it as Python; it has ``inputs``, ``outputs`` and ``order``.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> print(numbagraph.graph_jit(lambda x: np.sin(x) + 1).graph(np.ones(3)))
        def xlambda(x: float64[n]):
            a = sin(x) ...
            return a + 1.0 ...
        """
        return self._introspection.program(args, kwargs)[0].graph

    @for_users
    def result_dtypes(self, /, *args: Any, **kwargs: Any) -> list[Any]:
        """The dtypes of the result for some arguments.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        list of numpy.dtype
            One a leaf of the result.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> numbagraph.graph_jit(lambda x: (x, x > 0)).result_dtypes(np.ones(3))
        [dtype('float64'), dtype('bool')]
        """
        return self._introspection.result_dtypes(args, kwargs)

    @for_users
    def stages(self, /, *args: Any, **kwargs: Any) -> dict[str, Graph]:
        """The graph after each pass.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        dict of Graph
            By the pass's name, in their order; numbered where a pass runs twice.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> f = numbagraph.graph_jit(lambda x: np.log(np.exp(x)))
        >>> list(f.stages(1.0))
        ['traced', 'canonicalise', 'stabilise', 'canonicalise 2', 'specialise']
        """
        return self._introspection.stages(args, kwargs)

    @for_users
    def explain(self, /, *args: Any, **kwargs: Any) -> Explanation:
        """Return a report on the compilation for some arguments: rules, loop nests, memory.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        Explanation
            The text, a str for people to read: its form may change. Its method ``to_html(path)`` writes a page for
            browsers, with the graph after each pass, loop nests and source lines.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> print(numbagraph.graph_jit(lambda x: np.sum(x**2)).explain(np.ones(3)))
        <lambda> (...), backend numba
        arguments:
          x: float64[x.shape[0]], contiguous
        ...
          nest 1 (sum): i0 < 3
            fused: square
            reads: x
            reduces (sum) into a register ...
            moves 24 bytes
        ...
        """
        return self._introspection.explanation(args, kwargs)

    @for_users
    def llvm(self, /, *args: Any, optimised: bool = True, **kwargs: Any) -> str:
        """The LLVM of the version for some arguments.

        Parameters
        ----------
        *args
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.
        optimised : bool, optional
            Whether it is shown as LLVM has optimised it, or else as it was emitted.
        **kwargs
            More arguments like those of a call.

        Returns
        -------
        str
            LLVM's intermediate representation.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> "fadd" in numbagraph.graph_jit(lambda x: x + 1).llvm(1.0)
        True
        """
        return "\n".join(each.llvm(optimised=optimised) for each, _ in self._introspection.programs(args, kwargs))

    @for_users
    def asm(self, /, *args: Any, **kwargs: Any) -> str:
        """The machine code of the version for some arguments.

        Parameters
        ----------
        *args, **kwargs
            Arguments like those of a call; their values do not matter, and `numbagraph.Abstract` stands for an array.

        Returns
        -------
        str
            Assembly, of this machine.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> "ret" in numbagraph.graph_jit(lambda x: x + 1).asm(1.0)
        True
        """
        return "\n".join(each.assembly() for each, _ in self._introspection.programs(args, kwargs))

    @for_users
    def address(self, /, *args: Any, **kwargs: Any) -> int:
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
        return self.native_callers.address(args, kwargs)

    @for_users
    def scipy_callable(self, signature: str, user_data: Any = None) -> Any:
        """The function as SciPy calls it from C, without Python: for `scipy.integrate.quad` and `scipy.ndimage`.

        Parameters
        ----------
        signature : str
            How SciPy calls it. ``"double(double)"`` and ``"double(double, void*)"``: a function of one number;
            ``"double(int, double*)"`` and ``"double(int, double*, void*)"``: of as many numbers as it has arguments, as
            `quad` with ``args`` and `nquad` give them, or, if it has one argument, of an array of them;
            ``"int(double*, npy_intp, double*, void*)"``: of an array, to a number (`generic_filter`);
            ``"int(double*, npy_intp, double*, npy_intp, void*)"``: to an array (`generic_filter1d`).
        user_data : optional
            What `scipy.LowLevelCallable` takes by this name. The function does not see it.

        Returns
        -------
        scipy.LowLevelCallable
            Which keeps this function alive.

        Raises
        ------
        TypeError, ValueError
            If there is no such form, or the function has other arguments or results.

        Notes
        -----
        Where the function would raise an error, it gives NaN, and to `scipy.ndimage` an error without a name.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> from scipy import integrate
        >>> bell = numbagraph.graph_jit(lambda x, scale: np.exp(-scale * x**2))
        >>> area, _ = integrate.quad(bell.scipy_callable("double(int, double*)"), -np.inf, np.inf, args=(1.0,))
        >>> print(round(area, 6))
        1.772454
        """
        return low_level_callable.scipy_callable(self, signature, user_data)

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
        with self.versions.lock:
            self.native_callers.clear()
            self.versions.clear()
            self.execution.clear()
            self._on_device = None


def _rebuild(pickled: Pickled, options: dict[str, Any]) -> GraphFunction:
    return pickled.decorated(lambda function: GraphFunction(function, **options))
