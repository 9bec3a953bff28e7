"""A Python function with the options by which it is compiled, and the signature by which its calls are bound."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

from numbagraph.jit.backends import describer, require_backend
from numbagraph.jit.binding import (
    Arguments,
    bind,
    bound_to,
    parameter_names,
    positional_names,
    signature_of_callable,
    takes,
)
from numbagraph.jit.bound_methods import OF_CLASSES, takes_instance
from numbagraph.jit.conversion import Conversion
from numbagraph.jit.debug_nans import how_watched, require_choice
from numbagraph.jit.options import Names
from numbagraph.runtime.guards import definition_of, same
from numbagraph.tracing.errors import name_and_place

OPTIONS = ("static_argnames", "donate_argnames", "mutates", "backend", "cache", "parallel", "debug_nans", "stabilise")


class Definition:
    """The function behind a compiled function, with its options."""

    def __init__(
        self,
        function: Callable[..., Any],
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
        require_choice(debug_nans)
        self.function = function
        self.described = name_and_place(function)
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self.backend = backend
        self.cache = cache
        self.parallel = parallel
        self.stabilise = stabilise
        self.debug_nans = debug_nans
        self.convert = Conversion(convert)
        self._read_signature()
        names = [("static_argnames", static_argnames), ("donate_argnames", donate_argnames), ("mutates", mutates)]
        static, donated, mutated = (
            None if given is None else parameter_names(self.signature, given, option, self.described)
            for option, given in names
        )
        self.static_argnames, self.donate_argnames = static or (), donated or ()
        self.mutates = mutated
        self.takes_instance = takes_instance(self.signature, self.static_argnames)

    def _read_signature(self) -> None:
        self._defined = definition_of(self.function)
        self.signature: inspect.Signature = signature_of_callable(self.function)
        self.has_own_out = takes(self.signature, "out")
        self.positional = positional_names(self.signature)

    def is_redefined(self) -> bool:
        """Whether the function has got other code or defaults; its signature is then read again."""
        if same(definition_of(self.function), self._defined):
            return False
        self._read_signature()
        return True

    @property
    def options(self) -> dict[str, Any]:
        """The options, as `graph_jit` takes them."""
        return {name: getattr(self, name) for name in OPTIONS} | {"convert": self.convert.allowed}

    @property
    def title(self) -> str:
        """A line for people about the function and where it runs."""
        return f"{self.described}, backend {self.backend}{', parallel' if self.parallel else ''}"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """Bind the arguments of a call to the parameters, and take them apart into leaves."""
        bound, watched = bound_to(self.signature, args, kwargs, self.described), how_watched(self.debug_nans)
        arguments = bind(bound, self.static_argnames, self.described, watched, self.convert)
        arguments.describe = describer(self.backend)
        return arguments

    def writable(self, arguments: Arguments) -> Collection[int]:
        """The leaves of arguments that the function may write into."""
        if self.mutates is None:
            return range(len(arguments.leaves))
        own = () if arguments.generators is None else tuple(arguments.generators.places)
        return (*arguments.leaves_of(self.mutates), *own)
