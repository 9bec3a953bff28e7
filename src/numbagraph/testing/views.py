"""Checks of writes: into arrays of which NumPy returns a view, and into the view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from numbagraph.ir.op import numpy_function
from numbagraph.ir.values import Op
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.library.namespaces import public_function
from numbagraph.testing.compare import assert_same
from numbagraph.testing.op_calls import Call, applied, is_supported, outcome, samples
from numbagraph.tracing.tracer import TraceError

Function = Callable[..., Any]


class Write(NamedTuple):
    """A write into an argument or a result of a call."""

    write: Callable[[Any], None]
    position: int
    into_result: bool

    def __call__(self, arguments: Sequence[Any], results: Sequence[Any]) -> None:
        self.write((results if self.into_result else arguments)[self.position])

    def __str__(self) -> str:
        return f"{self.write.__name__} {'result' if self.into_result else 'argument'} {self.position}"


def assign(array: Any) -> None:
    array[...] = 1


def change(array: Any) -> None:
    if array.dtype.kind == "b":
        array ^= True
    else:
        array += 1


def leaves_of(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def program(function: Function, writes: Sequence[Write]) -> Function:
    """Return a function that runs ``function`` and some writes, and returns the arguments and the results
    afterwards."""

    def run(*arrays: Any) -> Any:
        own = [array.copy() for array in arrays]
        results = leaves_of(function(*own))
        for write in writes:
            write(own, results)
        return own, results

    return run


def possible_writes(arrays: Sequence[Any], results: Sequence[Any]) -> Iterator[Write]:
    """All possible writes. Scalars cannot be written into; an argument of rank 0 is a scalar in a trace."""
    for write in (assign, change):
        yield from (Write(write, position, False) for position, each in enumerate(arrays) if each.ndim)
        yield from (
            Write(write, position, True) for position, each in enumerate(results) if isinstance(each, np.ndarray)
        )


def check_writes(op: Op, *dtypes: Any) -> int:
    """Compare an op with NumPy's function where the arrays that it is called on, or its results, are written into.

    Where these share memory, a write may be refused; otherwise it must work.

    Returns
    -------
    int
        The number of programs that gave what NumPy gives.
    """
    function = numpy_function(op)
    if function is None or not (getattr(function, "__module__", None) or "numpy").startswith(
        ("numpy", "scipy", "_operator")
    ):
        return 0  # numbagraph's own, of which nobody says what shares memory
    calls = [call for dtype in dtypes for call in samples(op, dtype)]
    return sum(check_call(call, function) for call in calls if is_supported(call.expected(call.arrays)))


def check_call(call: Call, function: Function) -> int:
    public = public_function(call.op.name, "numbagraph.numpy")
    return check_function(
        lambda *arrays: call.op.determined(applied(function, call.fill(arrays))),
        lambda *arrays: call.op.determined(applied(public, call.fill(arrays))),
        call.arrays,
        str(call),
        tolerance=max(call.op.ulp, 4.0),
    )


def check_function(
    by_numpy: Function, traced: Function, arrays: Sequence[Any], what: str, tolerance: float = 4.0
) -> int:
    """`check_writes` of one call: of ``by_numpy`` on arrays, and of ``traced`` in a traced function."""
    own = [array.copy() for array in arrays]
    results = leaves_of(outcome(by_numpy, own))
    made = [each for each in results if isinstance(each, np.ndarray)]
    shared = any(np.shares_memory(one, other) for one in own for other in made)
    writes = list(possible_writes(own, results))
    done = 0
    for chosen in [[each] for each in writes] if shared else [writes[len(writes) // 2 :]]:
        expected = outcome(program(by_numpy, chosen), arrays)
        if isinstance(expected, Exception):  # a view that is for reading, say
            continue
        title = f"{what}, {', '.join(map(str, chosen))}"
        try:
            found = GraphFunction(program(traced, chosen), backend="numpy", cache=False)(*arrays)
        except TraceError as error:
            if not shared:
                raise AssertionError(f"{title}: refused, but no memory is shared: {error}") from error
            continue
        assert_same(found, expected, ulp=tolerance, scale=10.0, boxed=False, what=title)
        done += 1
    return done
