"""Shared variables: values that live between the calls of compiled functions, which read and update them."""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np

from numbagraph.ir.abi import ArrayLeaf
from numbagraph.ir.op import registry
from numbagraph.ir.public import Public
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import ArrayType, Input, Value
from numbagraph.runtime.arguments import as_array
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.memory_layout import input_shape
from numbagraph.tracing.trace import Trace, active, current_trace, entries_kept
from numbagraph.tracing.tracer import Tracer, apply

Cell = list[Any]
"""A list of one value: an array without other references, which is never written into, or a NumPy scalar."""

_contexts: ContextVar[tuple[SharedContext, ...]] = ContextVar("numbagraph.shared", default=())
_named: WeakValueDictionary[str, SharedVariable] = WeakValueDictionary()


class SharedVariable(Public):
    """A variable whose value lives between calls. `numbagraph.shared` makes one.

    Parameters
    ----------
    value
        What it is first: an array or a number.
    name : str, optional
        What errors call it, and by what `pickle` finds it again.

    Attributes
    ----------
    value
        The value: a copy of it outside of traced functions, which may also assign a new one. Inside of them it is a
        traced array, and what it is at the end becomes the variable's value when the call has succeeded.
    dtype : numpy.dtype
        Of the value; it stays.
    ndim : int
        The number of dimensions, which stays too. Lengths may change.
    name : str or None
        As it was given.

    Examples
    --------
    >>> import numbagraph
    >>> rate = numbagraph.SharedVariable(0.5)
    >>> numbagraph.graph_jit(lambda x: x * rate.value)(3.0)
    np.float64(1.5)
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        array = _array(value, name or "a shared variable")
        self.name = name
        self.dtype = array.dtype
        self.ndim = array.ndim
        self._cell: Cell = [_stored(array)]
        if name is not None:
            _named[name] = self

    @property
    def value(self) -> Any:
        """The value: a copy, or a traced array inside of a traced function."""
        trace = current_trace()
        if trace is not None:
            return _binding(trace, self).tracer
        (found,) = cell_of(self)
        return found.copy() if self.ndim else found

    @value.setter
    def value(self, new: Any) -> None:
        trace = current_trace()
        if trace is not None:
            _binding(trace, self).assign(self._traced(new))
        else:
            cell_of(self)[0] = self._checked(new)

    def _checked(self, new: Any) -> Any:
        """Check a value for a cell, and return it."""
        array = _array(new, self._title)
        self._require(array.dtype, array.ndim)
        return _stored(array.astype(self.dtype))

    def _traced(self, new: Any) -> Tracer:
        """Check a traced value for a cell, and return it."""
        if not isinstance(new, Tracer):
            new = np.asarray(new)[()]
        found = new if isinstance(new, Tracer) else apply(registry["asarray"], new)
        self._require(found.dtype, found.ndim)
        if found.dtype != self.dtype or found.value.type.weak:
            found = apply(registry["cast"], found, self.dtype)
        return found

    def _require(self, dtype: np.dtype, ndim: int) -> None:
        if ndim != self.ndim:
            raise ValueError(f"{self._title} has {self.ndim} dimensions, and cannot hold an array of {ndim}")
        if not np.can_cast(dtype, self.dtype, "same_kind"):
            raise TypeError(f"{self._title} has dtype {self.dtype}, and cannot hold {dtype}: convert it by astype")

    def _target(self, is_written: bool) -> Any:  # noqa: ARG002
        """Return what takes the new value as its element 0. ``is_written``: whether elements of the array that the
        variable holds were assigned to."""
        return cell_of(self)

    def _is_apart(self, variables: Iterable[SharedVariable]) -> bool:  # noqa: ARG002
        """Whether elements of the array can be assigned to while the other variables are what they are."""
        return True

    def _require_writable(self, leaves: Sequence[Any]) -> None:
        """Raise where the array that the variable holds cannot be written in a call with these arguments."""

    @property
    def _title(self) -> str:
        return f"the shared variable {self.name!r}" if self.name is not None else "a shared variable"

    def __repr__(self) -> str:
        return f"<shared {self.name or 'variable'}: {self.dtype}, {self.ndim} dimensions>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.name is None:
            raise TypeError("a shared variable without a name cannot be pickled: who reads it would not find it")
        if _named.get(self.name) is not self:
            raise TypeError(f"{self._title} cannot be pickled: another one has its name, and who reads it finds that")
        return _find_named, (self.name, cell_of(self)[0])


def _array(value: Any, title: str) -> np.ndarray:
    """Return a value as an array of its own."""
    if isinstance(value, Tracer):
        raise TraceError(f"{title} is made outside of traced functions, or it would be made once\n  at {user_source()}")
    array = as_array(np.asarray(value) if isinstance(value, (bool, int, float, complex, list, tuple)) else value, title)
    return np.array(array, canonical_dtype(array.dtype), order="C")


def _stored(array: np.ndarray) -> Any:
    return array if array.ndim else array[()]


def _ready(result: Any) -> Any:
    """Prepare a result, which may be one of JAX, for a cell."""
    if isinstance(result, np.generic) or (type(result) is np.ndarray and result.ndim):
        return result
    return _stored(np.asarray(result))


def _find_named(name: str, value: Any) -> SharedVariable:
    """Return the variable of a name in this process; a new one if there is none."""
    found = _named.get(name)
    return found if found is not None else SharedVariable(value, name)


def shared(value: Any, name: str | None = None) -> SharedVariable:
    """A variable whose value lives between the calls of compiled functions.

    A compiled function runs in Python once, so it cannot count its calls in a global. It can in a shared variable:
    ``s.value`` is read at each call, and what a function has assigned to it is the variable's value when the call has
    succeeded; a call that fails changes none.

    Parameters
    ----------
    value
        An array or a number. Its dtype and its number of dimensions stay; a number becomes a NumPy scalar.
    name : str, optional
        What errors call it. `pickle` finds the variable of that name in the other process.

    Returns
    -------
    SharedVariable
        Its attribute ``value`` is read and assigned, by compiled functions and outside of them.

    Raises
    ------
    TraceError
        Inside of a traced function, where it would be one variable for all calls.

    Notes
    -----
    Bodies of loops and branches, and functions under `vmap`, may read but not assign. Derivatives take what is read as
    constant. Two threads that update a variable at once may lose an update, as in Python; `SharedContext` gives each
    a value of its own. Functions that use shared variables have no callers from ``@njit`` code or C.

    Examples
    --------
    >>> import numbagraph
    >>> total = numbagraph.shared(0.0)
    >>> @numbagraph.graph_jit
    ... def add(x):
    ...     total.value += x
    ...     return total.value
    >>> add(2.0), add(3.0)
    (np.float64(2.0), np.float64(5.0))
    >>> total.value
    np.float64(5.0)
    """
    if current_trace() is not None:
        raise TraceError(
            f"shared() inside of a traced function would make one variable for all calls: make it outside\n"
            f"  at {user_source()}"
        )
    return SharedVariable(value, name)


class SharedContext(Public):
    """Other values of shared variables, for a block of code or a call.

    Parameters
    ----------
    values : mapping
        The variables, and the value that each has to begin with.

    Raises
    ------
    TypeError
        If a key is no shared variable.

    Notes
    -----
    What is not in it is looked for in the contexts around it, and then in the variable. A new thread starts without
    contexts. `copy` makes one that is updated independently; `pickle` takes contexts of variables that have names.

    Examples
    --------
    >>> import numbagraph
    >>> count = numbagraph.shared(0)
    >>> @numbagraph.graph_jit
    ... def next_number():
    ...     count.value += 1
    ...     return count.value
    >>> mine = numbagraph.SharedContext({count: 10})
    >>> next_number(), next_number(ctx=mine), next_number(ctx=mine), next_number()
    (np.int64(1), np.int64(11), np.int64(12), np.int64(2))
    >>> with mine:
    ...     next_number()
    np.int64(13)
    """

    def __init__(self, values: Mapping[SharedVariable, Any]) -> None:
        if not isinstance(values, Mapping):
            raise TypeError(f"a SharedContext is made of shared variables and their values, not {values!r}")
        for each in values:
            if not isinstance(each, SharedVariable):
                raise TypeError(f"a SharedContext is made of shared variables and their values, not {each!r}")
        self._cells: dict[SharedVariable, Cell] = {each: [each._checked(value)] for each, value in values.items()}

    def __getitem__(self, variable: SharedVariable) -> Any:
        """A copy of the value that a variable has here."""
        (found,) = self._cells[variable]
        return found.copy() if variable.ndim else found

    def __enter__(self) -> Self:
        if current_trace() is not None:
            raise TraceError(f"a SharedContext is entered by callers of a compiled function\n  at {user_source()}")
        _contexts.set((*_contexts.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        """Leave this context, which is not the innermost where a generator that entered it is closed in another."""
        entered = _contexts.get()
        for place in reversed(range(len(entered))):
            if entered[place] is self:
                _contexts.set((*entered[:place], *entered[place + 1 :]))
                return

    def copy(self) -> SharedContext:
        """A context with the same values, which are updated independently.

        Returns
        -------
        SharedContext
            With copies of the values.

        Examples
        --------
        >>> import numbagraph
        >>> count = numbagraph.shared(0)
        >>> first = numbagraph.SharedContext({count: 1})
        >>> first.copy()[count]
        np.int64(1)
        """
        return SharedContext({each: cell[0] for each, cell in self._cells.items()})

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> SharedContext:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedContext, ({each: cell[0] for each, cell in self._cells.items()},)


def as_context(given: object, described: str) -> SharedContext:
    """Return the ``ctx`` of a call. Raise if it is not a context."""
    if not isinstance(given, SharedContext):
        raise TypeError(f"ctx= of {described} is a SharedContext, not {type(given).__name__}: SharedContext({{...}})")
    return given


def cell_of(variable: SharedVariable) -> Cell:
    """The cell that holds a variable's value now, on this thread."""
    contexts = _contexts.get()
    if contexts:
        for context in reversed(contexts):
            if variable in context._cells:
                return context._cells[variable]
    return variable._cell


class Binding:
    """A shared variable in a trace: the hidden argument for its value, and the array that is its value by now."""

    def __init__(self, number: int, variable: SharedVariable) -> None:
        self.layout = layout_of(variable)
        name = f"shared{number}"
        self.value = Input(ArrayType(variable.dtype, input_shape(name, self.layout.ones)), name)
        self.tracer = Tracer(self.value)
        self.tracer._scope = outermost = active.scope
        while outermost is not None and outermost.parent is not None:
            self.tracer._scope = outermost = outermost.parent
        self.first = self.tracer

    def assign(self, new: Tracer) -> None:
        if self.tracer is not new and active.scope is not None and active.scope.parent is not None:
            raise TraceError(
                "assignment to a shared variable inside of a loop's body or a branch would be lost: carry its value, "
                f"and assign it afterwards\n  at {user_source()}"
            )
        self.tracer = new

    @property
    def is_updated(self) -> bool:
        return self.tracer.value is not self.value

    @property
    def is_written(self) -> bool:
        """Whether the function has assigned to elements of the array that the variable held."""
        return self.first.value is not self.value


def _binding(trace: Trace, variable: SharedVariable) -> Binding:
    if trace.shared is None:
        raise TraceError(
            f"{variable._title} is used in a function for callers from @njit code, C or PyTensor, which have no place "
            f"for it: call the function from Python\n  at {user_source()}"
        )
    if variable not in trace.shared:
        trace.shared[variable] = Binding(len(trace.shared), variable)
    return trace.shared[variable]


def layout_of(variable: SharedVariable) -> ArrayLeaf:
    """The layout of the value that a variable has now."""
    return ArrayLeaf(variable.dtype, tuple(length == 1 for length in np.shape(cell_of(variable)[0])))


class Uses(Struct):
    """The shared variables that a version reads as hidden arguments, and the results that are their new values."""

    variables: tuple[SharedVariable, ...] = ()
    layouts: tuple[ArrayLeaf, ...] = ()
    updated: tuple[int, ...] = ()
    """The numbers of the variables that have new values."""
    written: tuple[int, ...] = ()
    """The numbers of those whose arrays the function has assigned to."""
    first: int = 0
    """The number of the result that is the first new value."""

    @property
    def results(self) -> range:
        """The results that are new values."""
        return range(self.first, self.first + len(self.updated))

    @property
    def assigned(self) -> set[SharedVariable]:
        """The variables that have new values."""
        return {self.variables[number] for number in self.updated}

    def after(self, known: tuple[SharedVariable, ...]) -> tuple[tuple[SharedVariable, ...], tuple[ArrayLeaf, ...]]:
        """Return known variables followed by these, with the layouts of all."""
        own = dict(zip(self.variables, self.layouts, strict=True))
        met = tuple(dict.fromkeys((*known, *self.variables)))
        return met, tuple(own.get(each) or layout_of(each) for each in met)

    def values(self) -> list[Any]:
        """The present values of the variables."""
        return [cell_of(each)[0] for each in self.variables]

    def update(self, results: Sequence[Any]) -> None:
        """Give the variables their new values, all of them: no signal is handled in between."""
        new = [_ready(results[number]) for number in self.results]
        cells = [self.variables[number]._target(number in self.written) for number in self.updated]
        if len(cells) == 1:
            cells[0][0] = new[0]
        else:
            deque(map(operator.setitem, cells, itertools.repeat(0), new), maxlen=0)

    def around(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``run`` as a function of the arguments alone."""
        if not self.variables:
            return run

        def call(*leaves: Any) -> Any:
            if current_trace() is not None:
                return NotImplemented
            for number in self.written:
                if not self.variables[number]._is_apart(self.variables):
                    return NotImplemented
                self.variables[number]._require_writable(leaves)
            result = run(*leaves, *self.values())
            if self.updated and result is not NotImplemented:
                self.update(result)
            return result

        return call


@contextmanager
def unassigned(what: str) -> Iterator[None]:
    """Raise where the block assigns to shared variables, or draws from generators."""
    trace = current_trace()
    states = [] if trace is None else [(each, each.value) for each in trace.drawn]
    bindings = {} if trace is None or trace.shared is None else trace.shared
    before = {variable: each.tracer.value for variable, each in bindings.items()}
    with entries_kept(what):
        yield
    if any(each.value is not old for each, old in states):
        raise TraceError(
            f"a numpy.random.Generator cannot draw under {what}, which calls the function once for all elements. Draw "
            f"a number for each outside (rng.normal(size=...)), and pass them as an argument, or draw from a key for "
            f"each element (numbagraph.random)\n  at {user_source()}"
        )
    for variable, each in bindings.items():
        if each.tracer.value is not before.get(variable, each.value):
            raise TraceError(
                f"{variable._title} is assigned to under {what}, which calls a function once for all elements: return "
                f"the value, and assign it outside\n  at {user_source()}"
            )


def uses(bindings: Mapping[SharedVariable, Binding], first: int) -> tuple[Uses, list[Input], list[Value]]:
    """Return the uses of shared variables in a trace, and its hidden inputs and results for them."""
    each = list(bindings.values())
    updated = tuple(number for number, one in enumerate(each) if one.is_updated)
    written = tuple(number for number in updated if each[number].is_written)
    found = Uses(tuple(bindings), tuple(one.layout for one in each), updated, written, first)
    return found, [one.value for one in each], [one.tracer.value for one in each if one.is_updated]
