"""Python's operators of traced arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numbagraph.ir.op import registry
from numbagraph.tracing.concretization import refused_attribute
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.python_arithmetic import checked
from numbagraph.tracing.replacements import replacements

Apply = Callable[..., Any]
"""A function that calls an op, or a function of values, on traced arrays."""


def install_operators(kind: Any, apply: Apply) -> None:
    """Give a class of traced arrays the methods of Python's operators."""
    names = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    functions = {name: checked(name, getattr(operator, f"__{name}__")) for name in names}
    for name, function in functions.items():
        setattr(kind, f"__{name}__", _binary(name, apply, function))
        setattr(kind, f"__r{name}__", _reflected(name, apply, function))
        setattr(kind, f"__i{name}__", _in_place(function))
    for name in ("lt", "le", "gt", "ge"):
        setattr(kind, f"__{name}__", _binary(name, apply, checked(name, getattr(operator, name))))
    for name in ("__mul__", "__rmul__"):
        setattr(kind, name, _of_numbers(vars(kind)[name]))
    setattr(kind, "__pow__", _power(vars(kind)["__pow__"]))  # noqa: B010
    setattr(kind, "__eq__", _binary("eq", apply, registry["equal"], weak=True))  # noqa: B010
    setattr(kind, "__ne__", _binary("ne", apply, registry["not_equal"], weak=True))  # noqa: B010
    for name in ("neg", "pos", "abs", "invert"):
        setattr(kind, f"__{name}__", _unary(apply, checked(name, getattr(operator, f"__{name}__"))))
    for name in ("T", "dtype", "flat", "shape"):
        setattr(kind, name, vars(kind)[name].setter(refused_attribute(name)))
    for name in ("imag", "real"):
        setattr(kind, name, vars(kind)[name].setter(_assigned_part(name)))
    setattr(kind, "__divmod__", lambda self, other: (self // other, self % other))  # noqa: B010
    setattr(kind, "__rdivmod__", lambda self, other: (other // self, other % self))  # noqa: B010


def counts(array: Any) -> bool:
    """Whether an array will be an integer, by which a list can be repeated."""
    return not array._is_array and array.dtype.kind in "iub"


def _of_numbers(multiply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return ``multiply`` with an error for a list or a text times an integer, which Python repeats."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, (list, tuple, str, bytes)) and counts(self):
            raise self._unknown(f"a {type(other).__name__} as often as the integer", "np.full(n, x) is such an array")
        return multiply(self, other)

    return method


def _power(plain: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return the method of a power, which raises where Python passes a modulus."""

    def method(self: Any, other: Any, mod: Any = None) -> Any:
        if mod is not None:
            raise self._unknown("pow() with a modulus", "a loop that squares and takes remainders is such a power")
        return plain(self, other)

    return method


def _assigned_part(name: str) -> Callable[[Any, Any], None]:
    """Return the setter of ``x.real = y`` or ``x.imag = y``."""
    refuse = refused_attribute(name)

    def assign(self: Any, value: Any) -> None:
        if name == "imag" and self.dtype.kind != "c":
            refuse(self, value)
        else:
            getattr(self, name)[...] = value

    return assign


def _binary(name: str, apply: Apply, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    python = getattr(operator, f"__{name}__")

    def method(self: Any, other: Any) -> Any:
        if is_sparse(other):
            return python(self, lifted(other))
        return NotImplemented if has_operators(other) else apply(function, self, other, **options)

    return method


def has_operators(other: Any) -> bool:
    """Whether the other operand defines what an operator means."""
    return isinstance(other, OnlyTraced) and other.has_operators


def _reflected(name: str, apply: Apply, function: Callable[..., Any]) -> Callable[..., Any]:
    python = getattr(operator, f"__{name}__")

    def method(self: Any, other: Any) -> Any:
        return python(lifted(other), self) if is_sparse(other) else apply(function, other, self)

    return method


def is_sparse(other: Any) -> bool:
    """Whether something is a sparse array of SciPy's."""
    return type(other).__module__.startswith("scipy.sparse.")


def lifted(array: Any) -> Any:
    return replacements.for_role("sparse array of SciPy's")(array)


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self._in_place(function, other)


def _unary(apply: Apply, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: apply(function, self)
