"""JAX's gather and scatter, and dynamic slices, as indexing by arrays of integers.

A gather's element is the operand's at a start that its indices say plus the place within a window. So each dimension of
the operand has an array of positions that broadcasts to the result: starts along the dimensions of the batch, 0, 1, ...
along that of the window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.api.loops import scan
from numbagraph.ir.structs import Struct
from numbagraph.jax_bridge.translation import Run, is_constant, shape_of, traced


class Windows(Struct):
    """The positions of windows in an operand, and the roles of the dimensions of their stack."""

    operand: tuple[int, ...]
    """The lengths of the operand."""
    sizes: tuple[int, ...]
    """The lengths of a window, along the same dimensions."""
    stack: int
    """The number of dimensions of all windows together."""
    inner: tuple[int, ...]
    """The dimensions of the stack that are those of one window, a dimension of the operand each."""
    dropped: tuple[int, ...]
    """Dimensions of the operand, of length 1 in a window, that the stack does not have."""
    started: tuple[int, ...]
    """For each start, the dimension of the operand that it is for."""
    batch: tuple[tuple[int, int], ...]
    """The batch dimensions that operand and indices share, in pairs."""

    @property
    def outer(self) -> tuple[int, ...]:
        """The dimensions of the stack that count windows."""
        return tuple(axis for axis in range(self.stack) if axis not in self.inner)

    def outside(self, starts: Any) -> Any:
        """An array of one number a window, as it broadcasts to the stack."""
        return np.expand_dims(starts, self.inner) if self.inner else starts

    def starts(self, indices: Any) -> dict[int, Any]:
        return {axis: indices[..., number] for number, axis in enumerate(self.started)}

    def are_inside(self, indices: Any) -> Any:
        """Whether each window is inside of the operand."""
        found: Any = True
        for axis, start in self.starts(indices).items():
            found = found & (start >= 0) & (start <= self.operand[axis] - self.sizes[axis])
        return found

    def clipped(self, indices: Any) -> dict[int, Any]:
        """The starts of windows that are moved inside."""
        last = {axis: max(self.operand[axis] - self.sizes[axis], 0) for axis in self.started}
        return {axis: np.clip(start, 0, last[axis]) for axis, start in self.starts(indices).items()}

    def positions(self, starts: dict[int, Any]) -> tuple[Any, ...]:
        """The positions of the elements of all windows, in the operand."""
        windows = iter(self.inner)
        batch = dict(self.batch)
        found = []
        for axis, size in enumerate(self.sizes):
            position: Any = self.outside(starts[axis]) if axis in starts else np.zeros((1,) * self.stack, np.int64)
            if axis in batch:
                position = along(self.operand[axis], self.outer[batch[axis]], self.stack)
            elif axis not in self.dropped:
                position = position + along(size, next(windows), self.stack)
            found.append(position)
        return tuple(found)


def along(length: int, axis: int, ndim: int) -> np.ndarray:
    """0, 1, ... along one dimension of several."""
    shape = [1] * ndim
    shape[axis] = length
    return np.arange(length).reshape(shape)


def signed(indices: Any) -> Any:
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64)


def mode_of(equation: Any) -> str:
    return str(equation.params["mode"]).rpartition(".")[2]


def ints(numbers: Sequence[Any]) -> tuple[int, ...]:
    return tuple(map(int, numbers))


def gather(_run: Run, equation: Any, operand: Any, indices: Any) -> Any:
    numbers = equation.params["dimension_numbers"]
    shape = shape_of(equation.outvars[0])
    batch = ints(getattr(numbers, "operand_batching_dims", ()))
    windows = Windows(
        operand=shape_of(equation.invars[0]),
        sizes=ints(equation.params["slice_sizes"]),
        stack=len(shape),
        inner=ints(numbers.offset_dims),
        dropped=(*ints(numbers.collapsed_slice_dims), *batch),
        started=ints(numbers.start_index_map),
        batch=tuple(zip(batch, ints(getattr(numbers, "start_indices_batching_dims", ())), strict=True)),
    )
    indices, mode = signed(indices), mode_of(equation)
    dtype = operand.dtype
    if 0 in windows.operand:
        return np.full(shape, missing(equation, dtype))
    starts = windows.clipped(indices)
    found = rows(windows, operand, starts)
    if found is None:
        found = np.broadcast_to(traced(operand)[windows.positions(starts)], shape)
    if mode != "FILL_OR_DROP":
        return found
    inside = windows.are_inside(indices)
    if is_constant(inside) and np.all(inside):
        return found
    return np.where(windows.outside(inside), found, missing(equation, dtype))


def rows(windows: Windows, operand: Any, starts: dict[int, Any]) -> Any:
    """Whole rows of the operand along one dimension, which need no position for each element; or None."""
    if len(windows.started) != 1 or windows.batch or windows.dropped != windows.started:
        return None
    (axis,) = windows.started
    others = [each for each in range(len(windows.operand)) if each != axis]
    if any(windows.sizes[each] != windows.operand[each] for each in others):
        return None
    first = np.moveaxis(operand, axis, 0)
    found = np.take(traced(first), starts[axis], axis=0)
    return np.transpose(found, np.argsort([*windows.outer, *windows.inner]).tolist())


def missing(equation: Any, dtype: np.dtype) -> Any:
    """The value that JAX returns where an index is out of bounds."""
    given = equation.params.get("fill_value")
    if given is not None:
        return dtype.type(given)
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind == "b":
        return np.True_
    return dtype.type(np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max)


Update = Callable[[Any, tuple[Any, ...], Any], None]
"""Update the elements of an array at positions with as many updates."""


def scatter(rule: Callable[[Run, Any], Update]) -> Callable[..., Any]:
    """Make the translation of a scatter from the rule that combines an element with its update."""

    def put(run: Run, equation: Any, operand: Any, indices: Any, updates: Any) -> Any:
        numbers = equation.params["dimension_numbers"]
        batch = ints(getattr(numbers, "operand_batching_dims", ()))
        dropped = (*ints(numbers.inserted_window_dims), *batch)
        shape, inner = shape_of(equation.invars[2]), ints(numbers.update_window_dims)
        own, lengths = iter(inner), shape_of(equation.invars[0])
        windows = Windows(
            operand=lengths,
            sizes=tuple(1 if axis in dropped else shape[next(own)] for axis in range(len(lengths))),
            stack=len(shape),
            inner=inner,
            dropped=dropped,
            started=ints(numbers.scatter_dims_to_operand_dims),
            batch=tuple(zip(batch, ints(getattr(numbers, "scatter_indices_batching_dims", ())), strict=True)),
        )
        if 0 in shape or 0 in lengths:
            return operand
        return put_windows(windows, mode_of(equation), rule(run, equation), operand, signed(indices), updates)

    return put


def updated_by(ufunc: np.ufunc) -> Callable[[Run, Any], Update]:
    """The update by ``ufunc.at``."""

    def update(result: Any, positions: tuple[Any, ...], updates: Any) -> None:
        whole = [np.broadcast_to(each, updates.shape) for each in positions]
        ufunc.at(result, tuple(whole), updates)

    return lambda _run, _equation: update


def set_or_apply(run: Run, equation: Any) -> Update:
    """The update by an assignment; or by a function of elements, which is applied once for each position that names an
    element."""
    jaxpr = equation.params["update_jaxpr"]
    if jaxpr is None:
        return lambda result, positions, updates: result.__setitem__(positions, updates)
    constants = equation.params["update_consts"]

    def update(result: Any, positions: tuple[Any, ...], updates: Any) -> None:
        whole = [np.broadcast_to(each, updates.shape).reshape(-1) for each in positions]

        def step(array: Any, place: Sequence[Any]) -> tuple[Any, None]:
            *position, value = place
            (found,) = run.open(jaxpr, constants, [array[tuple(position)], value])
            changed = array.copy()
            changed[tuple(position)] = found
            return changed, None

        last, _ = scan(step, result, (*map(traced, whole), updates.reshape(-1)))
        result[...] = last

    return update


def put_windows(windows: Windows, mode: str, update: Update, operand: Any, indices: Any, updates: Any) -> Any:
    """Return the operand with updates. Updates of windows that are not inside are dropped: they go to a row of their
    own."""
    updates = traced(updates)
    if mode == "CLIP":
        return updated(traced(operand), windows.positions(windows.clipped(indices)), update, updates)
    starts, inside = windows.starts(indices), windows.are_inside(indices)
    if mode == "PROMISE_IN_BOUNDS" or (is_constant(inside) and np.all(inside)):
        return updated(traced(operand), windows.positions(starts), update, updates)
    axis, length = windows.started[0], windows.operand[windows.started[0]]
    more = [*windows.operand]
    more[axis] = 1
    longer = np.concatenate([traced(operand), np.zeros(more, operand.dtype)], axis=axis)
    positions = list(windows.positions(windows.clipped(indices)))
    positions[axis] = np.where(windows.outside(inside), positions[axis], length)
    found = updated(longer, tuple(positions), update, updates)
    return found[(slice(None),) * axis + (slice(0, length),)]


def updated(operand: Any, positions: tuple[Any, ...], update: Update, updates: Any) -> Any:
    """Update a copy of an array; an array of no dimensions becomes one of a single element meanwhile."""
    if not positions:
        single = operand.reshape((1,)).copy()
        update(single, (np.zeros(1, np.int64),), updates.reshape((1,)))
        return single.reshape(())
    result = operand.copy()
    update(result, positions, updates)
    return result


def dynamic_slice(_run: Run, equation: Any, operand: Any, *starts: Any) -> Any:
    shape, sizes = shape_of(equation.invars[0]), ints(equation.params["slice_sizes"])
    for axis, start in enumerate(starts):
        if sizes[axis] < shape[axis]:
            position = np.clip(signed(start), 0, shape[axis] - sizes[axis])
            operand = np.take(traced(operand), position + np.arange(sizes[axis]), axis=axis)
    return operand


def dynamic_update_slice(_run: Run, equation: Any, operand: Any, update: Any, *starts: Any) -> Any:
    shape, sizes = shape_of(equation.invars[0]), shape_of(equation.invars[1])
    if 0 in sizes:
        return operand
    result, ndim = traced(operand).copy(), len(shape)
    positions = [
        np.clip(signed(start), 0, shape[axis] - sizes[axis]) + along(sizes[axis], axis, ndim)
        for axis, start in enumerate(starts)
    ]
    if not positions:
        return update
    result[tuple(positions)] = update
    return result
