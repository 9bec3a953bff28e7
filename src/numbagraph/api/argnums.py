"""The arguments that a derivative is taken with respect to, given by numbers and names."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from numbagraph.api.transformed import Function
from numbagraph.runtime.arguments import flatten

Argnums = int | Sequence[int] | None
Argnames = str | Iterable[str] | None


class Positions:
    """The arguments that a derivative is taken with respect to."""

    def __init__(self, function: Function, argnums: Argnums, argnames: Argnames) -> None:
        self.function = function
        self.names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
        if argnums is None:
            argnums = () if self.names else 0
        self.single = isinstance(argnums, int)
        self.numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        if not all(isinstance(each, (int, np.integer)) for each in self.numbers):
            raise TypeError(f"argnums takes the numbers of arguments, not {argnums!r}: argnames takes their names")

    def take(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        name = getattr(self.function, "__name__", "the function")
        for number in self.numbers:
            if not -len(args) <= number < len(args):
                raise TypeError(f"argnums names argument {number}, but {name} was called with {len(args)} positional")
        keys = [*self.numbers, *(self._key(each, args, kwargs) for each in self.names)]
        found = [args[key] if isinstance(key, int) else kwargs[key] for key in keys]
        for leaf in flatten(found)[0]:
            if not hasattr(leaf, "__array__") and not isinstance(leaf, (int, float, complex)):
                raise TypeError(
                    f"{name} has no derivative with respect to an argument of type {type(leaf).__name__}: leave it out "
                    "of argnums. Of a method, the object is argument 0, and the next one is argnums=1"
                )
        return found

    def put(
        self, args: Sequence[Any], kwargs: dict[str, Any], chosen: Sequence[Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        keys = [*self.numbers, *(self._key(each, args, kwargs) for each in self.names)]
        args, kwargs = list(args), dict(kwargs)
        for key, each in zip(keys, chosen, strict=True):
            if isinstance(key, int):
                args[key] = each
            else:
                kwargs[key] = each
        return args, kwargs

    def _key(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> int | str:
        """The place of a named argument in a call: its name, or its number where it was given by position."""
        if name in kwargs:
            return name
        parameters = list(inspect.signature(self.function).parameters)
        if name in parameters[: len(args)]:
            return parameters.index(name)
        title = getattr(self.function, "__name__", "the function")
        raise TypeError(f"argnames names {name!r}, but {title} was called without that argument")

    def arrange(self, results: Sequence[Any]) -> Any:
        """Arrange results, one per argument, in the form in which `jax.grad` returns them."""
        positional = results[0] if self.single else tuple(results[: len(self.numbers)])
        if not self.names:
            return positional
        named = dict(zip(self.names, results[len(self.numbers) :], strict=True))
        return (positional, named) if self.numbers else named
