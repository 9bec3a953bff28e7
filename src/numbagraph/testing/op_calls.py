"""One use of an op: arguments of its NumPy function, of which the arrays are traced and all others are static."""

from __future__ import annotations

import inspect
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.common import Keywords
from numbagraph.ir.op import numpy_function
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.types import BOOL, COMPLEX128, DTYPES, FLOAT64, INT64
from numbagraph.ir.values import Op
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.library.namespaces import public_function
from numbagraph.testing.arrays import aligned

Arrays = Sequence[Any]
MAIN = (FLOAT64, INT64, BOOL, COMPLEX128, np.dtype(np.int32))


class Call(Struct):
    """An op with the arguments of one of its samples."""

    op: Op
    arguments: tuple[Any, ...]
    number: int = 0

    @cached_property
    def _flat(self) -> tuple[list[Any], optree.PyTreeSpec]:
        return optree.tree_flatten(self.arguments)  # type: ignore[return-value]

    @property
    def arrays(self) -> list[np.ndarray]:
        return [leaf for leaf in self._flat[0] if isinstance(leaf, np.ndarray)]

    def rank0(self) -> list[np.ndarray]:
        """The first element of each array, as an array of rank 0."""
        return [array.reshape(-1)[:1].reshape(()) if array.size else array for array in self.arrays]

    @property
    def static(self) -> list[Any]:
        """The leaves of the arguments that are no arrays."""
        return [leaf for leaf in self._flat[0] if not isinstance(leaf, np.ndarray)]

    def fill(self, arrays: Arrays) -> tuple[Any, ...]:
        """The arguments, with other arrays in place of theirs."""
        leaves, spec = self._flat
        rest = iter(arrays)
        return optree.tree_unflatten(spec, [next(rest) if isinstance(each, np.ndarray) else each for each in leaves])  # type: ignore[return-value]

    @cached_property
    def function(self) -> Callable[..., Any]:
        """A function of the arrays alone. On tracers it is the op, on arrays NumPy's own function."""
        public = public_function(self.op.name, "numbagraph.numpy")

        def function(*arrays: Any) -> Any:
            return applied(public, self.fill(arrays))

        kind = inspect.Parameter.POSITIONAL_ONLY
        names = [inspect.Parameter(f"x{number}", kind) for number in range(len(self.arrays))]
        function.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
        function.__name__ = function.__qualname__ = self.op.name
        return function

    def compiled(self, **options: Any) -> GraphFunction:
        """The op as `numbagraph.graph_jit` compiles it with some options."""
        return GraphFunction(self.function, **options)

    def with_known_lengths(self) -> Call:
        """A copy of the call whose function has arguments with lengths that are known during tracing."""
        known, function = Call(self.op, self.arguments, self.number), self.function
        shapes = [array.shape for array in self.arrays]

        def stated(*arrays: Any) -> Any:
            return function(*map(np.broadcast_to, arrays, shapes))

        stated.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        stated.__name__ = stated.__qualname__ = self.op.name
        known.__dict__["function"] = stated
        return known

    @cached_property
    def determined(self) -> Callable[..., Any]:
        """A function of the arrays that returns only the determined parts of the result."""

        def function(*arrays: Any) -> Any:
            return self.op.determined(self.function(*arrays))

        function.__signature__ = inspect.signature(self.function)  # type: ignore[attr-defined]
        function.__name__ = function.__qualname__ = self.op.name
        return function

    def expected(self, arrays: Arrays) -> Any:
        """The result of NumPy's function for these arrays, or the exception that it raises, as a value."""
        function = numpy_function(self.op)
        if function is None:
            return outcome(GraphFunction(self.function, backend="numpy", cache=False), arrays)
        return outcome(lambda *arguments: applied(function, arguments), self.fill([*map(aligned, arrays)]))

    def __str__(self) -> str:
        def describe(leaf: Any) -> Any:
            return f"{leaf.dtype}{list(leaf.shape)}" if isinstance(leaf, np.ndarray) else leaf

        arguments = ", ".join(str(optree.tree_map(describe, each)) for each in self.arguments)
        return f"{self.op.name}({arguments}), sample {self.number}"


def applied(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The result of a call with the arguments of a sample."""
    if arguments and isinstance(arguments[-1], Keywords):
        return function(*arguments[:-1], **arguments[-1])
    return function(*arguments)


def outcome(function: Callable[..., Any], arguments: Arrays) -> Any:
    """The result of a call, or the exception that it raised. NumPy's own warnings are ignored."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*arguments)
    except Exception as error:  # noqa: BLE001  SciPy's wrappers have classes of their own
        return error


def samples(op: Op, dtype: Any, *, seed: int = 0) -> Iterator[Call]:
    """The op's samples for a dtype. The same seed gives the same numbers, in every process."""
    rng = np.random.default_rng([seed, zlib.crc32(op.name.encode())])
    for number, arguments in enumerate(op.samples(rng, np.dtype(dtype))):
        yield Call(op, tuple(arguments), number)


def accepted(op: Op, *dtypes: Any) -> Iterator[Call]:
    """The op's samples of these dtypes that NumPy accepts."""
    for dtype in dtypes:
        yield from (call for call in samples(op, dtype) if is_supported(call.expected(call.arrays)))


def main_dtype(op: Op) -> np.dtype:
    """The dtype that stands for the others: the first, a few before all, of which NumPy accepts a sample."""
    return next((dtype for dtype in (*MAIN, *DTYPES) if any(True for _ in accepted(op, dtype))), FLOAT64)


def is_supported(result: Any) -> bool:
    """Whether the compiler has to return a result of NumPy's: it is no exception, and has no dtype that the compiler
    lacks."""
    if isinstance(result, Exception):
        return False
    if isinstance(result, (tuple, list)):
        return all(map(is_supported, result))
    return np.asarray(result).dtype in DTYPES
