"""The interfaces of a compiled function for callers in native code: other compiled code, `@njit` functions, and C."""

from __future__ import annotations

from typing import Any

from numbagraph.jit.binding import Arguments, Key
from numbagraph.jit.definition import Definition
from numbagraph.jit.native_layouts import c_layout, embed
from numbagraph.jit.versions import Versions
from numbagraph.purity.environment import Made
from numbagraph.runtime.arguments import Placeholder
from numbagraph.runtime.embedding import Embedding


class NativeCallers:
    """The embeddings of one compiled function in other native code."""

    def __init__(self, definition: Definition, versions: Versions) -> None:
        self.definition, self.versions = definition, versions
        self.embedded: dict[Key, Embedding] = {}
        self._dropped: list[Embedding] = []
        """Embeddings that have been dropped, of which callers from C may still have addresses."""

    def clear(self) -> None:
        """Drop all embeddings. Who calls this has the lock of the versions."""
        self._dropped += self.embedded.values()
        self.embedded = {}

    def embedding(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Embedding:
        """Embed the function in native code that passes those arguments that are a `Placeholder`."""
        backend = self.definition.backend
        if backend != "numba":
            raise TypeError(
                f"{self.definition.described} has backend={backend!r}: only backend='numba' has native code"
            )
        with self.versions.lock:
            return self._embed(self.definition.bind(args, kwargs)).found

    def address(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        """Return the address of the function for callers from C."""
        arguments = self.definition.bind(args, kwargs)
        layouts = [*map(c_layout, arguments.described()[0])]
        key = (*arguments.key, (self.versions.reach(arguments), *layouts))
        with self.versions.lock:
            if key not in self.embedded:
                arguments.leaves = [Placeholder(layout, number) for number, layout in enumerate(layouts)]
                made = self._embed(arguments)
                key = (*arguments.key, (made.reach, *layouts))
                self.embedded[key] = made.found
            return self.embedded[key].c_address

    def _embed(self, arguments: Arguments) -> Made:
        leaves, names, definition = arguments.leaves, arguments.leaf_names, self.definition
        made = self.versions.make(
            arguments,
            lambda call, converts: embed(call, leaves, names, definition.described, converts, definition.stabilise),
        )
        made.require_valid(definition.described)
        return made
