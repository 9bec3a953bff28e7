"""Generalised ufuncs: functions of vectors and matrices that are called, and broadcast, as NumPy's ufuncs are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Unpack

import numpy as np

from numbagraph.api.gufunc_axes import Moves, moves_of
from numbagraph.api.gufunc_loops import LoopFunction, writes_results
from numbagraph.api.transformed import Function, plain
from numbagraph.api.vmap import Mapped, pulled_back
from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.blockwise.signature import parse
from numbagraph.forking import importing
from numbagraph.ir.op import registry
from numbagraph.ir.public import Public
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Value, at_source
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.jit.options import CompileOptions, UfuncOptions
from numbagraph.jit.pickling import Pickled
from numbagraph.ops.rules.custom_rule import with_rule
from numbagraph.runtime.arguments import Abstract
from numbagraph.runtime.interruption import raise_kept
from numbagraph.tracing.effect_tokens import left_out
from numbagraph.tracing.trace import as_traced
from numbagraph.tracing.tracebacks import for_users, shorten
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class Loop(NamedTuple):
    """The dtypes of operands and results, spelled as in `numpy.ufunc.types`: "dd->d"."""

    text: str
    inputs: tuple[np.dtype, ...]
    outputs: tuple[np.dtype, ...]

    @classmethod
    def parse(cls, text: str) -> Loop:
        inputs, arrow, outputs = text.partition("->")
        if not arrow:
            raise ValueError(f"dtypes are spelled as in numpy.ufunc.types, such as 'dd->d', not {text!r}")
        return cls(text, *(tuple(canonical_dtype(np.dtype(each)) for each in side) for side in (inputs, outputs)))

    def takes(self, values: Sequence[Value]) -> bool:
        """Whether operands convert to those of the loop without loss, by NumPy's rules."""
        pairs = zip(values, self.inputs, strict=True)
        return all(np.can_cast(smallest(value), dtype, "safe") for value, dtype in pairs)


def smallest(value: Value) -> np.dtype:
    """The dtype of an operand that counts in promotion: a number of Python has only a kind."""
    kinds = {"b": np.bool_, "i": np.int8, "f": np.float16, "c": np.complex64}
    return np.dtype(kinds[value.dtype.kind]) if value.type.weak else value.dtype


class Options(NamedTuple):
    """The options of a call, as far as they need a compiled function of their own."""

    moves: Moves | None = None
    dtype: np.dtype | None = None


PLAIN = Options()


class GUFunc(Public):
    """A generalised ufunc. `gufunc` makes one.

    It has the attributes of a `numpy.ufunc`, and is called as one: with ``out``, ``axes``, ``axis``, ``keepdims``,
    ``dtype``, and, if it has no core dimensions, ``where``. Arguments with an ``__array_ufunc__`` of their own, such as
    those of dask, take the call over. In a traced function it is traced along; it may be called from ``@njit`` code.

    Parameters
    ----------
    core
        The function of vectors and matrices.
    signature, vjp, core_shape, dtypes, **options
        As of `gufunc`.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> total = numbagraph.GUFunc(lambda x: np.sum(x), "(n)->()")
    >>> total(np.ones((2, 3)), axis=0), total.nin, total.signature
    (array([2., 2., 2.]), 1, '(n)->()')
    """

    identity = None

    def __init__(
        self,
        core: Function,
        signature: str,
        *,
        vjp: Callable[..., Any] | None = None,
        core_shape: Callable[..., Any] | None = None,
        dtypes: Sequence[str] | None = None,
        **options: Unpack[CompileOptions],
    ) -> None:
        self.__name__: str = getattr(core, "__name__", "gufunc")
        self.core = plain(getattr(core, "py_func", core))  # of a function that Numba compiles
        self.cores = parse(signature)
        self.vjp = vjp
        self.loops = tuple(map(Loop.parse, dtypes or ()))
        self.options = {"vjp": vjp, "core_shape": core_shape, "dtypes": dtypes, **options}
        self._loop_function: LoopFunction | None = None
        if writes_results(self.core, self.cores):
            self._loop_function = LoopFunction(self.core, self.cores, self.__name__, vjp, core_shape)
        self._compile_options = options
        self._compiled: dict[Options, GraphFunction] = {}
        functools.update_wrapper(self, self.core, updated=())
        names = [f"x{number}" for number in range(self.nin)]
        kind = inspect.Parameter.POSITIONAL_ONLY
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
        self._plain = self._variant(PLAIN)

    @property
    def nin(self) -> int:
        return len(self.cores.inputs)

    @property
    def nout(self) -> int:
        return len(self.cores.outputs)

    @property
    def nargs(self) -> int:
        return self.nin + self.nout

    @property
    def is_elementwise(self) -> bool:
        """Whether there are no core dimensions."""
        return not any(map(len, (*self.cores.inputs, *self.cores.outputs)))

    @property
    def signature(self) -> str | None:
        """The signature, as NumPy's ufuncs have it; None if there are no core dimensions."""
        return None if self.is_elementwise else str(self.cores)

    @property
    def types(self) -> list[str]:
        """The declared dtypes of operands and results. Without any, the ufunc is compiled for the dtypes of its
        calls."""
        return [loop.text for loop in self.loops]

    @property
    def ntypes(self) -> int:
        return len(self.loops)

    @property
    def _numba_type_(self) -> Any:
        return self._plain._numba_type_

    def __repr__(self) -> str:
        return f"<gufunc {self.__name__} {self.cores}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (Pickled(self.core, GUFunc, self), str(self.cores), self.options)

    # ---- calls ----

    def __call__(self, /, *operands: Any, **options: Unpack[UfuncOptions]) -> Any:
        if not options:
            try:
                for call in self._plain._flat_calls:  # which take nothing but NumPy's own arrays
                    result = call(*operands)
                    if result is not NotImplemented:
                        return result
            except MemoryError:
                return self._plain(*operands)  # which says what it is that there is no memory for
        try:
            return self._call(operands, dict(options))
        except Exception as error:
            shorten(error, described=self.__name__)
            raise

    def _call(self, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
        raise_kept()
        if len(operands) > self.nin:  # as in NumPy, arrays for the results may follow
            if "out" in options or len(operands) > self.nargs:
                raise TypeError(f"{self.__name__} takes {self.nin} operands, and {len(operands)} were given")
            rest = operands[self.nin :]
            options = {**options, "out": rest + (None,) * (self.nout - len(rest))}
            operands = operands[: self.nin]
        if len(operands) < self.nin:
            raise TypeError(f"{self.__name__} takes {self.nin} operands, and {len(operands)} were given")
        out = targets(options.pop("out", None), self.nout, self.__name__)
        for override in overriding((*operands, *out)):
            if is_lazy(override) and not self.cores.is_plain and all(each is None for each in out):
                return self._in_blocks(operands, options)
            given = {**options, **({"out": out} if any(each is not None for each in out) else {})}
            result = type(override).__array_ufunc__(override, self, "__call__", *operands, **given)
            if result is not NotImplemented:
                return result
        operands = tuple(each if is_leaf(each) else np.asarray(each) for each in operands)
        where = options.pop("where", True) if self.is_elementwise else True
        chosen = self._parsed(operands, options)
        if any(isinstance(each, Tracer) for each in (*operands, *out)):
            if where is not True or any(each is not None for each in out):
                raise TypeError(f"{self.__name__} takes neither out= nor where= in a traced function")
            return self._traced(operands, chosen)
        result = self._variant(chosen)(*operands)
        if where is not True or any(each is not None for each in out):
            return self._into(out, result, where)
        return result

    def _in_blocks(self, operands: Sequence[Any], options: dict[str, Any]) -> Any:
        """Call with arrays of dask, which itself reads plain signatures alone."""
        with importing:
            from dask.array import apply_gufunc  # noqa: PLC0415  an operand is of dask

        operands = [each if is_lazy(each) else np.asarray(each) for each in operands]
        rest = dict(options)
        moves = moves_of(self.cores, self.__name__, [each.ndim for each in operands], rest)
        axes = moves.inputs if moves is not None else [()] * self.nin
        shapes = [moved_shape(each.shape, own) for each, own in zip(operands, axes, strict=True)]
        binding = self.cores.bind(self.__name__, shapes)
        others = self._loop_function.sizes(binding.lengths) if self._loop_function is not None else None
        signature, sizes = self.cores.plain(self.__name__, binding, others)
        variant = self._variant(self._parsed(operands, {key: options[key] for key in ("dtype",) if key in options}))
        samples = [Abstract(shape, each.dtype) for shape, each in zip(shapes, operands, strict=True)]
        dtypes = variant.result_dtypes(*samples)
        return apply_gufunc(
            self,
            signature,
            *operands,
            output_sizes=sizes,
            output_dtypes=dtypes if self.nout > 1 else dtypes[0],
            **options,
        )

    def _parsed(self, operands: Sequence[Any], options: Mapping[str, Any]) -> Options:
        rest = dict(options)
        moves = moves_of(self.cores, self.__name__, [np.ndim(each) for each in operands], rest)
        dtype = rest.pop("dtype", None)
        casting = rest.pop("casting", "same_kind")
        if rest:
            raise TypeError(f"{self.__name__} got an unexpected keyword argument {next(iter(rest))!r}")
        if dtype is None:
            return Options(moves)
        for each in operands:
            source = np.result_type(each) if not isinstance(each, Tracer) else each.dtype
            if not np.can_cast(source, dtype, casting):
                raise TypeError(f"{self.__name__}: cannot cast an operand from {source} to {dtype} ({casting!r})")
        return Options(moves, canonical_dtype(np.dtype(dtype)))

    def _variant(self, options: Options) -> GraphFunction:
        """Return the compiled function for calls with these options."""
        if options not in self._compiled:
            call = functools.partial(self._traced_call, options)
            functools.update_wrapper(call, self.core)
            call.__signature__ = self.__signature__  # type: ignore[attr-defined]
            self._compiled[options] = GraphFunction(call, mutates=(), **self._compile_options)
        return self._compiled[options]

    def _traced_call(self, options: Options, *operands: Any) -> Any:
        return self._traced(operands, options)

    def _into(self, out: Sequence[Any], result: Any, where: Any) -> Any:
        """Write results into the caller's arrays, where the mask ``where`` is true, and return them."""
        results = result if self.nout > 1 else (result,)
        if where is not True and any(each is None for each in out):
            raise TypeError(f"{self.__name__}: where= leaves elements undefined, so it needs out=")
        stored = []
        for target, each in zip(out, results, strict=True):
            if target is not None:
                np.copyto(target, each, casting="same_kind", where=where)
            stored.append(each if target is None else target)
        return tuple(stored) if self.nout > 1 else stored[0]

    # ---- tracing ----

    def _traced(self, operands: Sequence[Any], options: Options) -> Any:
        with at_source(user_source()):
            return self._of_operands(operands, options)

    def _of_operands(self, operands: Sequence[Any], options: Options) -> Any:
        values = [as_value(to_value(each)) for each in operands]
        values, dtypes = self._promoted(values, options)
        moves = options.moves
        if moves is not None:
            values = [moved(each, axes, to_end=True) for each, axes in zip(values, moves.inputs, strict=True)]
        if self._loop_function is not None:
            results = self._loop_function(values, dtypes)
        else:
            results = Mapped(self._core_function, self.cores, self.__name__)(values)
        if moves is not None:
            results = [self._placed(*each, kept=moves.kept) for each in zip(results, moves.outputs, strict=True)]
        dtypes = dtypes or [each.dtype for each in results]  # numbers that are no longer Python's, as a ufunc's
        results = [convert(each, dtype) for each, dtype in zip(results, dtypes, strict=True)]
        tracers = tuple(Tracer(scalar_result(each)) for each in results)
        return tracers if self.nout > 1 else tracers[0]

    def _promoted(self, values: list[Value], options: Options) -> tuple[list[Value], Sequence[np.dtype] | None]:
        """Convert operands to the dtypes in which they are computed. Return them, and the dtypes of the results, if an
        option or a declaration gives them."""
        dtype = options.dtype
        if dtype is not None and not self.loops:
            return [convert(each, dtype) for each in values], [dtype] * self.nout
        if not self.loops:
            return values, None
        for loop in self.loops:
            if loop.takes(values) if dtype is None else loop.outputs[0] == dtype:
                return [convert(*each) for each in zip(values, loop.inputs, strict=True)], loop.outputs
        found = ", ".join(str(each.type) for each in values)
        raise TypeError(f"{self.__name__} does not take {found}: its dtypes are {', '.join(self.types)}")

    def _core_function(self, *arguments: Any) -> Any:
        """Call the core, with the derivative that was given for it."""
        returned = as_traced(self.core)(*arguments)
        if self.vjp is None:
            return returned
        results = returned if self.nout > 1 else (returned,)
        values = [as_value(to_value(each)) for each in results]
        points = [each.value for each in arguments if isinstance(each, Tracer)]

        def backward(given: Sequence[Value], cotangents: Sequence[Value]) -> list[Value | None]:
            return self._cotangents(arguments, given, cotangents)

        tracers = tuple(map(Tracer, with_rule(values, points, backward)))
        return tracers if self.nout > 1 else tracers[0]

    def _cotangents(
        self, arguments: Sequence[Any], given: Sequence[Value], cotangents: Sequence[Value]
    ) -> list[Value | None]:
        assert self.vjp is not None
        rest = iter(given)
        arguments = [Tracer(next(rest)) if isinstance(each, Tracer) else each for each in arguments]
        with left_out():
            result = as_traced(self.core)(*arguments)
        g = tuple(map(Tracer, cotangents)) if self.nout > 1 else Tracer(cotangents[0])
        found = pulled_back(self.vjp, self.__name__, g, result, arguments)
        pairs = zip(found, arguments, strict=True)
        return [None if each is None else as_value(to_value(each)) for each, one in pairs if isinstance(one, Tracer)]

    def _placed(self, value: Value, axes: tuple[int, ...], *, kept: bool) -> Value:
        """Move the core dimensions of a result to their axes; dimensions that are kept have length 1."""
        if kept:
            value = registry["expand_dims"](value, tuple(range(-len(axes), 0)))
        return moved(value, axes, to_end=False)

    # ---- what a ufunc with core dimensions does not have ----

    def _no_method(self, *_args: Any, **_options: Any) -> NoReturn:
        raise RuntimeError(f"{self.__name__} has no reductions and no outer product: its signature is {self.cores}")

    reduce = accumulate = reduceat = outer = at = _no_method


def moved(value: Value, axes: tuple[int, ...], *, to_end: bool) -> Value:
    """Move the dimensions ``axes`` of a value to the end, or back from there."""
    last = tuple(range(-len(axes), 0))
    if axes == last:
        return value
    return registry["moveaxis"](value, axes, last) if to_end else registry["moveaxis"](value, last, axes)


def moved_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Move the lengths of dimensions ``axes`` to the end of a shape."""
    moved = [axis % len(shape) for axis in axes]
    return (*(each for axis, each in enumerate(shape) if axis not in moved), *(shape[axis] for axis in moved))


def is_lazy(operand: Any) -> bool:
    """Whether an operand is an array of dask."""
    return type(operand).__module__.partition(".")[0] == "dask"


def is_leaf(operand: Any) -> bool:
    return isinstance(operand, (Tracer, np.ndarray, np.generic, bool, int, float, complex))


def targets(out: Any, count: int, name: str) -> tuple[Any, ...]:
    """The array for each result, or None."""
    found = out if isinstance(out, tuple) else (out,) + (None,) * (count - 1)
    if len(found) != count:
        raise ValueError(f"{name}: 'out' must be a tuple with an array, or None, for each of {count} results")
    for each in found:
        if each is not None and not isinstance(each, np.ndarray) and not hasattr(each, "__array_ufunc__"):
            raise TypeError(f"{name}: 'out' must be an array, not {type(each).__name__}")
    return found


def overriding(operands: Sequence[Any]) -> Iterator[Any]:
    """Yield the operands with an ``__array_ufunc__`` of their own, in the order in which NumPy calls it, and raise if
    none of them has taken the call."""
    found: list[Any] = []
    for each in operands:
        method = getattr(type(each), "__array_ufunc__", np.ndarray.__array_ufunc__)
        if method is np.ndarray.__array_ufunc__ or isinstance(each, Tracer) or type(each) in map(type, found):
            continue
        if method is None:
            raise TypeError(
                f"operand of type {type(each).__name__} does not support ufuncs: its __array_ufunc__ is None"
            )
        position = next((k for k, other in enumerate(found) if isinstance(each, type(other))), len(found))
        found.insert(position, each)
    yield from found
    if found:
        kinds = ", ".join(type(each).__name__ for each in found)
        raise TypeError(f"no operand knows what to do with this ufunc: __array_ufunc__ of {kinds} gave NotImplemented")


def _rebuild(pickled: Pickled, signature: str, options: dict[str, Any]) -> GUFunc:
    return pickled.decorated(lambda core: GUFunc(core, signature, **options))


@for_users
def gufunc(
    signature: str,
    *,
    vjp: Callable[..., Any] | None = None,
    core_shape: Callable[..., Any] | None = None,
    dtypes: Sequence[str] | None = None,
    **options: Unpack[CompileOptions],
) -> Callable[[Function], GUFunc]:
    """Make a generalised ufunc of a function of vectors and matrices.

    The function takes the operands and returns its results, in NumPy: then it is traced, and fuses with what is around.
    Or it takes arrays for the results behind the operands and writes into them, in loops: then Numba compiles it. Loops
    get numbers for operands without core dimensions, and arrays of one element for such results.

    Parameters
    ----------
    signature : str
        The core dimensions of each operand and result. What NEP 20 has: names ``"(m,n),(n,p)->(m,p)"``, fixed lengths
        ``"(3),(3)->(3)"``, dimensions that may be missing ``"(m?,n),(n,p?)->(m?,p?)"``, and such that are repeated if
        their length is 1 ``"(n|1),(n)->(n)"``. Beyond that, lengths of results by expressions ``"(m),(n)->(m+n-1)"``,
        operands that are a length themselves ``"(),<n>->(n)"``, and conditions ``"(n>=2)->()"``.
    vjp : callable, optional
        ``vjp(g, y, *operands)``: the cotangent of each operand (None if it is zero) from that of the result, on cores,
        in NumPy. For several results ``g`` and ``y`` are tuples. By default it is derived, except from loops.
    core_shape : callable, optional
        Of loops, ``core_shape(**lengths)`` gives the lengths of names that stand in results alone, in their order.
    dtypes : sequence of str, optional
        The dtypes of operands and results, spelled as in `numpy.ufunc.types`, such as ``["ff->f", "dd->d"]``: the first
        that all operands fit is taken. By default the function takes what it gets, and results of loops have the common
        dtype of the operands.
    **options
        Those of `graph_jit` that name no arguments.

    Returns
    -------
    callable
        A decorator; what it returns is called as a `numpy.ufunc` is.

    Raises
    ------
    TypeError
        If there is no such option.
    ValueError
        If the signature cannot be read (the message points at the character), or operands or results do not fit it.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.gufunc("(n),(n)->()")
    ... def weighted_mean(x, weights):
    ...     return np.sum(x * weights) / np.sum(weights)
    >>> weighted_mean(np.eye(3), np.array([1.0, 1.0, 2.0]))
    array([0.25, 0.25, 0.5 ])
    >>> weighted_mean(np.eye(3), np.ones(3), axes=[0, 0, ()])
    array([0.33333333, 0.33333333, 0.33333333])
    >>> @numbagraph.gufunc("(n)->(n)")
    ... def smoothed(x, out):
    ...     level = x[0]
    ...     for i in range(x.size):
    ...         level = 0.5 * (level + x[i])
    ...         out[i] = level
    >>> smoothed(np.array([1.0, 3.0, 2.0]))
    array([1., 2., 2.])
    """
    parse(signature)
    for name in options:
        if name not in CompileOptions.__annotations__:
            raise TypeError(f"gufunc() got an unexpected keyword argument {name!r}")
    return lambda core: GUFunc(core, signature, vjp=vjp, core_shape=core_shape, dtypes=dtypes, **options)
