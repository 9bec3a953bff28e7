"""Errors that a function raises itself, where a condition does not hold: in compiled code too, with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import optree

from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import registry
from numbagraph.ir.sources import Source, text_of
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Constant, Value, at_source, constant
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.errors import is_located, user_source
from numbagraph.tracing.trace import active, current_trace
from numbagraph.tracing.tracer import Tracer, to_value


class CheckError(ValueError):
    """A condition of `numbagraph.check` does not hold."""

    __module__ = "numbagraph"


def check(condition: Any, message: str = "a condition does not hold", /, *args: Any, **named: Any) -> None:
    """Raise `CheckError` unless a condition holds, in compiled code too.

    Parameters
    ----------
    condition : bool or array of bool
        What must be true; of an array, all elements.
    message : str, optional
        What the error says: ``message.format(*args, **named)``, if there are any of these.
    *args, **named
        Numbers, arrays, and whatever else the message speaks of, with the values that they have there.

    Raises
    ------
    CheckError
        Where the condition is false, with the line of the check, and the number of the step inside of a loop.

    Notes
    -----
    A check is a statement: it is there whether or not results follow, and only where it stands, so not in a branch that
    is not taken nor in a loop without steps. Of several that fail, the first raises its error. Under `vmap` it must
    hold for all elements. With ``backend="jax"`` the error is raised when all has run; inside of JAX's own
    transformations, only conditions on lengths are checked.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.graph_jit
    ... def root(x):
    ...     numbagraph.check(x >= 0, "the least of {} numbers is {:.1f}", x.size, np.min(x))
    ...     return np.sqrt(x)
    >>> root(np.array([1.0, 4.0]))
    array([1., 2.])
    >>> root(np.array([1.0, -4.0]))
    Traceback (most recent call last):
    numbagraph.CheckError: the least of 2 numbers is -4.0
    """
    formatted = Message(message)
    if args or named:
        formatted.require_places(args, named)
    require(condition, formatted, *args, **named)


class Message(Struct):
    """A callable that makes the error of a failed check."""

    text: str

    def __call__(self, *args: Any, **named: Any) -> CheckError:
        return CheckError(self.text.format(*args, **named) if args or named else self.text)

    def require_places(self, args: Sequence[Any], named: dict[str, Any]) -> None:
        """Raise where the text refers to an argument that is not given, rather than when the check fails."""
        try:
            self.text.format(*(Anything() for _ in args), **dict.fromkeys(named, Anything()))
        except (IndexError, KeyError, ValueError) as error:
            given = ", ".join(f"{{{each}}}" for each in (*range(len(args)), *named))
            text = f"the message {self.text!r} of check asks for what it is not given ({error}): it may use {given}"
            raise ValueError(f"{text}\n  at {user_source()}") from error


class Anything:
    """A stand-in that has every attribute and element, and accepts every format."""

    def __getattr__(self, name: str) -> Anything:
        return self

    def __getitem__(self, key: object) -> Anything:
        return self

    def __format__(self, spec: str) -> str:
        return ""


def require(condition: Any, failure: Callable[..., Exception], /, *args: Any, **named: Any) -> None:
    """Raise ``failure(*args, **named)`` unless a condition holds: where this stands, under the conditions of the loops
    and branches around it, and with the values that traced arguments have there.

    Exceptions other than `CheckError` keep their arguments: the line, and the step of a loop, are notes.
    """
    source = user_source()
    with at_source(source):
        holds = truth_of(condition)
    if holds is True:
        return
    nested = active.scope is not None and active.scope.parent is not None
    place = source.alone if nested and source is not None else source  # the loop around names the calls that lead there
    deferred, values = Deferred.of(failure, args, named, place)
    collector = shapes.current_collector()
    if holds is False:
        trace = current_trace()
        if trace is None or not (nested or values or any(guard.ordered for guard in collector.guards)):
            raise deferred()
        holds = constant(False, dtype=BOOL)
    assert isinstance(holds, Value)
    subject = failure.text if isinstance(failure, Message) else getattr(failure, "__name__", str(failure))
    error = failure if isinstance(failure, type) and issubclass(failure, Exception) else CheckError
    collector.add(Guard(holds, subject, source, error, deferred, tuple(values), ordered=True))


def kind_of(guard: Guard) -> type[BaseException]:
    """The class of the error that a guard raises."""
    failure = guard.failure.failure if isinstance(guard.failure, Deferred) else None
    kind = getattr(failure, "kind", failure)
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else guard.error


def truth_of(condition: Any) -> Value | bool:
    """Whether all of a condition is true, as far as that is known."""
    if isinstance(condition, (list, tuple)) and any(isinstance(leaf, Tracer) for leaf in flatten(condition)[0]):
        return reduce(both, map(truth_of, condition), True)
    if not isinstance(condition, Tracer):
        return bool(np.all(condition))
    value: Value = to_value(condition)
    if value.dtype != BOOL:
        value = registry["not_equal"](value, 0)
    if value.ndim:
        value = registry["all"](value)
    return bool(value.data) if isinstance(value, Constant) else value


def both(left: Value | bool, right: Value | bool) -> Value | bool:
    if isinstance(left, Value) and isinstance(right, Value):
        return registry["logical_and"](left, right)
    known, other = (left, right) if isinstance(left, bool) else (right, left)
    return other if known else False


class Deferred(Struct):
    """A failure callable whose error is made once the values that it mentions are known."""

    failure: Callable[..., Exception]
    spec: optree.PyTreeSpec
    leaves: Any
    """Each leaf with its type; in the place of a traced one, `Place`."""
    source: Source | None

    @classmethod
    def of(
        cls, failure: Callable[..., Exception], args: Sequence[Any], named: dict[str, Any], source: Source | None
    ) -> tuple[Deferred, list[Value]]:
        """Return the deferred error of ``failure(*args, **named)``, and the traced values among its arguments."""
        leaves, spec = flatten((tuple(args), named))
        values = [to_value(leaf) for leaf in leaves if isinstance(leaf, Tracer)]
        kept = tuple(Place() if isinstance(leaf, Tracer) else snapshot(leaf) for leaf in leaves)
        found = cls(failure, spec, tuple((type(leaf), leaf) for leaf in kept), source)
        try:
            hash(found)
        except TypeError:
            found = cls(failure, spec, Unhashable(found.leaves), source)
        return found, values

    def __call__(self, *values: Any) -> Exception:
        rest = iter(values)
        leaves = self.leaves.leaves if isinstance(self.leaves, Unhashable) else self.leaves
        args, named = optree.tree_unflatten(
            self.spec, [next(rest) if isinstance(leaf, Place) else leaf for _, leaf in leaves]
        )
        error = self.failure(*args, **named)
        if isinstance(error, CheckError):
            return CheckError(f"{error}\n  {text_of(self.source)}")
        if is_located(error):  # the trace has met it, in a branch
            error.args = (str(error).partition("\n  at ")[0],)
        error.add_note(f"  {text_of(self.source)}")
        return error


class Place(Struct):
    """A placeholder for a value that is not known yet."""


class Unhashable(Struct, eq=False):
    """Leaves that are compared by identity."""

    leaves: tuple[Any, ...]


def snapshot(leaf: Any) -> Any:
    """A leaf as it is now."""
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf
