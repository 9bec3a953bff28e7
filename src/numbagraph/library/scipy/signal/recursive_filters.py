"""Recursive filters of `scipy.signal`, as loops that carry the state of the transposed direct form II. [Oppenheim and
Schafer, Discrete-Time Signal Processing, section 6.3]"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.api.loops import scan
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import Function, array, axis_of, inexact, known, lifted, require
from numbagraph.library.scipy.signal.convolution import convolve


def coefficients(b: Any, a: Any, dtype: Any) -> tuple[list[Any], list[Any]]:
    """Return both lists of coefficients, of one length, divided by the first of ``a``."""
    top, bottom = (np.atleast_1d(array(each)).astype(dtype) for each in (b, a))
    if top.ndim != 1 or bottom.ndim != 1:
        raise ValueError("object of too small depth for desired array")
    lengths = [known(each, "a filter")[0] for each in (top, bottom)]
    if not all(lengths):
        raise ValueError("filter coefficients must not be empty")
    require(bottom[0] != 0, "filter coefficient a[0] == 0 not supported yet")
    scaled = [each / bottom[0] for each in (top, bottom)]
    zero = np.zeros((), dtype)
    return tuple(
        [each[number] if number < length else zero for number in range(max(lengths))]
        for each, length in zip(scaled, lengths, strict=True)
    )  # type: ignore[return-value]


def kind_of(*arrays: Any) -> Any:
    dtype = np.result_type(*(each.dtype for each in arrays))
    if dtype.kind not in "fc":
        raise NotImplementedError(f"input type '{dtype}' not supported")
    return dtype


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """`scipy.signal.lfilter`."""
    top, bottom, values = np.atleast_1d(array(b)), np.atleast_1d(array(a)), array(x)
    state = None if zi is None else array(zi)
    if not values.ndim:
        raise ValueError("object of too small depth for desired array")
    axis = axis_of(axis, values.ndim)
    given = (top, bottom, values) if state is None else (top, bottom, values, state)
    dtype = kind_of(*given)
    tops, bottoms = coefficients(b, a, dtype)
    order = len(tops) - 1
    rows = np.moveaxis(values.astype(dtype), axis, 0)
    shape = known(rows, "a filter")
    if state is not None:
        states = np.moveaxis(state.astype(dtype), axis, 0)
        if known(states, "a filter")[0] != order or states.ndim != rows.ndim:
            raise ValueError(
                f"Unexpected shape for zi: expected {(*shape[1 : axis + 1], order)}, found {known(state, 'a filter')}."
            )
        carry = tuple(np.broadcast_to(states[number], shape[1:]) for number in range(order))
    else:
        carry = tuple(np.zeros(shape[1:], dtype) for _ in range(order))
    if known(bottom, "a filter")[0] == 1 and rows.ndim == 1:
        return without_feedback(np.stack(tops), rows, carry, state is not None)

    def step(carry: Sequence[Any], x: Any) -> tuple[tuple[Any, ...], Any]:
        y = tops[0] * x + (carry[0] if order else 0.0)
        following = [*carry[1:], 0.0]
        return tuple(tops[number + 1] * x + following[number] - bottoms[number + 1] * y for number in range(order)), y

    last, found = scan(step, carry, rows)
    found = np.moveaxis(found, 0, axis)
    if state is None:
        return found
    return found, np.moveaxis(np.stack(last), 0, axis) if order else state


def without_feedback(weights: Any, line: Any, carry: Sequence[Any], with_state: bool) -> Any:
    """Apply a filter whose results are sums of elements alone."""
    whole = convolve(line, weights)
    count = known(line, "a filter")[0]
    if not with_state:
        return whole[:count]
    order = len(carry)
    if order:
        begin = np.concatenate([np.stack(list(carry)), np.zeros(count, line.dtype)])[: count + order]
        whole = whole + begin
    return whole[:count], whole[count:]


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """`scipy.signal.sosfilt`: one section after the other in each step."""
    sections, values = np.atleast_2d(array(sos)), array(x)
    count, width = known(sections, "sosfilt")
    if sections.ndim != 2 or width != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    require(np.all(sections[:, 3] == 1), "sos[:, 3] should be all ones")
    axis = axis_of(axis, values.ndim)
    state = None if zi is None else array(zi)
    dtype = kind_of(sections, values) if state is None else kind_of(sections, values, state)
    rows = np.moveaxis(values.astype(dtype), axis, 0)
    shape = known(rows, "sosfilt")
    if state is None:
        carry = tuple((np.zeros(shape[1:], dtype),) * 2 for _ in range(count))
    else:
        wanted = (count, *(2 if place == axis else each for place, each in enumerate(known(values, "sosfilt"))))
        if known(state, "sosfilt") != wanted:
            raise ValueError(
                f"Invalid zi shape. With axis={axis!r}, an input with shape {known(values, 'sosfilt')!r}, and an sos "
                f"array with {count} sections, zi must have shape {wanted!r}, got {known(state, 'sosfilt')!r}."
            )
        states = np.moveaxis(state.astype(dtype), axis + 1, 1)
        carry = tuple((states[number, 0], states[number, 1]) for number in range(count))
    weights = sections.astype(dtype)
    rows_of = [[weights[number, place] for place in range(6)] for number in range(count)]

    def step(carry: Any, x: Any) -> Any:
        following = []
        for (first, second), (b0, b1, b2, _, a1, a2) in zip(carry, rows_of, strict=True):
            y = b0 * x + first
            following.append((b1 * x - a1 * y + second, b2 * x - a2 * y))
            x = y
        return tuple(following), x

    last, found = scan(step, carry, rows)
    found = np.moveaxis(found, 0, axis)
    if state is None:
        return found
    ends = np.stack([np.stack(pair) for pair in last])
    return found, np.moveaxis(ends, 1, axis + 1)


def lfilter_zi(b: Any, a: Any) -> Any:
    """`scipy.signal.lfilter_zi`: the state in which a constant 1 leaves the filter. [Gustafsson, Determining the
    initial states in forward-backward filtering, 1996]"""
    top, bottom = np.atleast_1d(inexact(b)), np.atleast_1d(inexact(a))
    if top.ndim != 1 or bottom.ndim != 1:
        raise ValueError("Numerator b must be 1-D." if top.ndim != 1 else "Denominator a must be 1-D.")
    dtype = np.result_type(top.dtype, bottom.dtype)
    tops, bottoms = coefficients(top, bottom, dtype)
    order = len(tops) - 1
    weights, feedback = (np.stack(each[1:]) for each in (tops, bottoms))
    shift = np.eye(order, k=1, dtype=dtype)
    matrix = np.eye(order, dtype=dtype) - shift + feedback[:, None] * np.eye(1, order, dtype=dtype)
    return np.linalg.solve(matrix, weights - feedback * tops[0])


def reflected(rows: Any, length: int, kind: str | None, reach: Any = None) -> Any:
    """Return rows with elements before and after, as `scipy.signal.filtfilt` adds them. Those farther away than
    ``reach`` are as those at that distance."""
    if kind is None or not length:
        return rows
    if kind == "constant":
        first = np.repeat(rows[..., :1], length, axis=-1)
        return np.concatenate([first, rows, np.repeat(rows[..., -1:], length, axis=-1)], -1)
    if reach is None:
        before, after = rows[..., length:0:-1], rows[..., -2 : -(length + 2) : -1]
    else:
        distances = np.minimum(np.arange(length, 0, -1), reach)
        before, after = rows[..., distances], rows[..., rows.shape[-1] - 1 - distances[::-1]]
    if kind == "odd":
        before, after = 2 * rows[..., :1] - before, 2 * rows[..., -1:] - after
    return np.concatenate([before, rows, after], -1)


def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: int | None = None,
) -> Any:
    """`scipy.signal.filtfilt`: forwards, and backwards."""
    del irlen
    if method != "pad":
        raise NotImplementedError("filtfilt with method='gust' is not supported in a traced function: use method='pad'")
    top, bottom, values = np.atleast_1d(array(b)), np.atleast_1d(array(a)), array(x)
    axis = axis_of(axis, values.ndim)
    size = max(known(top, "filtfilt")[0], known(bottom, "filtfilt")[0])
    rows = np.moveaxis(values, axis, -1)
    edge = margin(rows, padtype, padlen, 3 * size)
    wide = reflected(rows, edge, padtype)
    zi = lfilter_zi(top, bottom)
    forward, _ = lfilter(top, bottom, wide, zi=zi * wide[..., :1])
    back = np.flip(forward, -1)
    found, _ = lfilter(top, bottom, back, zi=zi * back[..., :1])
    found = np.flip(found, -1)
    return np.moveaxis(found[..., edge:-edge] if edge else found, -1, axis)


def margin(rows: Any, kind: str | None, given: int | None, usual: int, is_most: bool = False) -> int:
    """Return how many elements are added on each side. ``is_most``: fewer than usual may do."""
    if kind not in ("even", "odd", "constant", None):
        raise ValueError(
            f"Unknown value '{kind}' given to padtype. padtype must be 'even', 'odd', 'constant', or None."
        )
    edge = 0 if kind is None else usual if given is None else int(given)
    if known(rows, "filtfilt")[-1] <= edge and not is_most:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    return edge


def sosfilt_zi(sos: Any) -> Any:
    """`scipy.signal.sosfilt_zi`: the states of the sections in which a constant 1 leaves all of them."""
    sections = inexact(sos)
    if sections.ndim != 2 or known(sections, "sosfilt_zi")[1] != 6:
        raise ValueError("sos must be shape (n_sections, 6)")
    states, level = [], np.ones((), sections.dtype)
    for number in range(known(sections, "sosfilt_zi")[0]):
        top, bottom = sections[number, :3], sections[number, 3:]
        states.append(level * lfilter_zi(top, bottom))
        level = level * (np.sum(top) / np.sum(bottom))
    return np.stack(states)


def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: Any = None) -> Any:
    """`scipy.signal.sosfiltfilt`: forwards, and backwards."""
    sections, values = np.atleast_2d(array(sos)), array(x)
    count, width = known(sections, "sosfiltfilt")
    if width != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    require(np.all(sections[:, 3] == 1), "sos[:, 3] should be all ones")
    rows = np.moveaxis(values, axis_of(axis, values.ndim), -1)
    zeros, reach = np.minimum(np.sum(sections[:, 2] == 0), np.sum(sections[:, 5] == 0)), None
    is_late = padlen is None and padtype is not None and is_traced(sos)
    edge = margin(rows, padtype, padlen, 3 * (2 * count + 1 - (0 if is_traced(zeros) else int(zeros))), is_late)
    if is_late:
        rows, reach = lifted(rows), edge - 3 * zeros
        text = "The length of the input vector x must be greater than padlen, which follows from zeros in sos."
        require(rows.shape[-1] > reach, text)
    wide = reflected(rows, edge, padtype if edge else None, reach)
    states = sosfilt_zi(sections).reshape((count, *(1,) * (rows.ndim - 1), 2))
    forward, _ = sosfilt(sections, wide, zi=states * wide[..., :1])
    if is_late:  # what is constant before and behind leaves the states as they are
        last = forward.shape[-1] - 1 - 3 * zeros
        forward = np.where(np.arange(forward.shape[-1]) > last, forward[..., last][..., np.newaxis], forward)
    back = np.flip(forward, -1)
    found, _ = sosfilt(sections, back, zi=states * back[..., :1])
    found = np.flip(found, -1)
    return np.moveaxis(found[..., edge:-edge] if edge else found, -1, axis)


def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """`scipy.signal.lfiltic`: the state that these last results and elements leave."""
    top, bottom = np.atleast_1d(array(b)), np.atleast_1d(array(a))
    for name, each in (("a", bottom), ("b", top)):
        if each.ndim > 1:
            raise ValueError(f"Filter coefficients `{name}` must be 1-D.")
    given = [top, bottom, array(y), *([] if x is None else [array(x)])]
    kind = np.result_type(*(each.dtype for each in given))
    kind = kind if kind.kind in "fc" else np.dtype(np.float64)
    require(bottom[0] != 0, "First `a` filter coefficient must be non-zero.")
    above, below = (known(each, "lfiltic")[0] - 1 for each in (top, bottom))
    zeros = np.zeros(max(above, below), kind)
    before = [np.concatenate([np.atleast_1d(each).astype(kind), zeros]) for each in given[2:]]
    inputs = before[1] if len(before) > 1 else zeros
    found = [
        (np.sum(top[m + 1 :] * inputs[: above - m]) if m < above else 0.0)
        - (np.sum(bottom[m + 1 :] * before[0][: below - m]) if m < below else 0.0)
        for m in range(max(above, below))
    ]
    return np.stack(found).astype(kind) / bottom[0].astype(kind) if found else zeros


RECURSIONS: dict[str, Function] = {
    each.__name__: each for each in (filtfilt, lfilter, lfilter_zi, lfiltic, sosfilt, sosfilt_zi, sosfiltfilt)
}
