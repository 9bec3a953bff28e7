"""JAX's sparse arrays (`jax.experimental.sparse`) as trees. In a trace they are objects of their own classes that hold
traced arrays, which functions of `from_jax` take. These are differentiated by their elements alone."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from numbagraph.runtime.arguments import register_node
from numbagraph.tracing.sparse_pytrees import ALL_PARTS
from numbagraph.tracing.tracer import TraceError, Tracer, to_value, user_source

NAMES = {
    "BCOO": ("data", "indices"),
    "BCSR": ("data", "indices", "indptr"),
    "COO": ("data", "row", "col"),
    "CSR": ("data", "indices", "indptr"),
    "CSC": ("data", "indices", "indptr"),
}


@functools.cache
def register(jax_sparse: ModuleType) -> None:
    register_node(Parts, lambda whole: (whole.parts, whole.form, NAMES[whole.form.kind.__name__]), made)
    for name in NAMES:
        kind = getattr(jax_sparse, name)
        register_node(kind, apart, together)
        ALL_PARTS[kind] = Parts


class Form:
    """The part of a sparse array that is no array: its class, and facts that JAX keeps with it, such as its shape."""

    def __init__(self, array: Any) -> None:
        self.kind = type(array)
        self.known: dict[str, Any] = array.tree_flatten()[1]

    def _key(self) -> tuple[Any, ...]:
        return self.kind, *self.known.items()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"{self.kind.__name__} of shape {self.known['shape']}"


class Pattern(Form):
    """The form of a traced sparse array, with the places of its elements."""

    def __init__(self, array: Any) -> None:
        super().__init__(array)
        data, *self.positions = array.tree_flatten()[0]
        self.ndim = getattr(data, "ndim", None)
        """The number of dimensions of the elements, where they are an array."""

    def _key(self) -> tuple[Any, ...]:
        values = [to_value(each) if isinstance(each, Tracer) else each for each in self.positions]
        return *super()._key(), *map(id, values)


class Parts:
    """A sparse array as a tree of all its parts, which is how a traced function returns one."""

    def __init__(self, array: Any) -> None:
        self.form = Form(array)
        self.parts: tuple[Any, ...] = array.tree_flatten()[0]


def apart(array: Any) -> tuple[Any, ...]:
    parts, names = array.tree_flatten()[0], NAMES[type(array).__name__]
    if any(isinstance(each, Tracer) for each in parts):
        return parts[:1], Pattern(array), names[:1]
    return parts, Form(array), names


def together(form: Form, parts: Iterable[Any]) -> Any:
    if not isinstance(form, Pattern):
        return made(form, parts)
    (data,) = parts
    if isinstance(data, Tracer) and form.ndim not in (None, data.ndim):
        raise TraceError(
            f"a batch of sparse arrays ({form}) is no sparse array: map over dense operands (in_axes of the sparse one "
            f"is None), or over .data, with jax.experimental.sparse inside\n  at {user_source()}"
        )
    return made(form, (data, *form.positions))


def made(form: Form, parts: Iterable[Any]) -> Any:
    """Return the sparse array that has such parts."""
    parts = tuple(parts)
    if any(isinstance(each, Tracer) and each.dtype.kind not in "iu" for each in parts[1:]):
        raise TraceError(
            f"a sparse array ({form}) from outside of a traced function has no derivatives: pass it as an argument\n"
            f"  at {user_source()}"
        )
    return form.kind.tree_unflatten(form.known, parts)
