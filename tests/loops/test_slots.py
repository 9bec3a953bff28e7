"""The memory of temporaries: a later one takes the place of one that is not used any more, the first that fits."""

from __future__ import annotations

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.loops import schedule
from numbagraph.loops.buffers import LiveRanges


def first_fit(ranges, buffers):
    """The slots by comparison of each buffer with every slot."""
    slots = []
    for buffer in buffers:
        for slot in slots:
            if ranges.fits(slot[-1], buffer) and ranges.over_well_before(slot[-1], buffer):
                slot.append(buffer)
                break
        else:
            slots.append([buffer])
    return slots


def program(seed: int, count: int):
    """A function whose temporaries have several lengths, and are read soon or late."""
    rng = np.random.default_rng(seed)
    kinds, lags = rng.integers(0, 3, count), rng.integers(1, 9, count)

    def function(x, y, z):
        values = {0: [x], 1: [y], 2: [z]}
        for kind, lag in zip(kinds.tolist(), lags.tolist(), strict=True):
            own = values[kind]
            own.append(np.cumsum(own[-1] + own[-min(lag, len(own))] * np.sum(values[(kind + 1) % 3][-1])))
        return x + values[0][-1], values[1][-1], values[2][-1]

    return function


@pytest.mark.parametrize("seed", range(6))
def test_slots_are_the_first_that_fit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    plan = schedule.plan_memory

    def compared(steps, taken=()):
        ranges = LiveRanges(steps)  # not afterwards, when buffers share memory
        slots = plan(steps, taken)
        placed = [each for slot in slots for each in slot]
        assert slots == first_fit(ranges, [each for each in ranges.first if each in placed])
        seen.append(len(placed) - len(slots))
        return slots

    monkeypatch.setattr(schedule, "plan_memory", compared)
    arguments = [np.full(length, 1e-9) for length in (3, 4, 5)]
    function = program(seed, 40)
    found = ng.graph_jit(function)(*arguments)
    assert any(seen)
    for one, two in zip(found, function(*arguments), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
