"""Words of bit generators that are made many at a time: numbers and states are NumPy's, wherever a draw ends."""

import numpy as np
import pytest

from numbagraph import graph_jit

FILLING = ("standard_normal", "standard_exponential", "random")


@pytest.mark.parametrize("method", FILLING)
@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "SFC64", "Philox", "MT19937"])
def test_draws_of_all_lengths_leave_the_state_of_numpy(kind, method):
    """Words are made many at a time: the state is that of the words which were taken, and of no others."""
    drawn = graph_jit(lambda rng, n: getattr(rng, method)(n))
    for seed in range(4):
        ours, numpys = (np.random.Generator(getattr(np.random, kind)(seed)) for _ in range(2))
        for count in (1, 2, 3, 0, 4, 5, 311, 1, 312, 129, 1001, 33, 624, 625, 1, 20_000, 2):
            np.testing.assert_array_equal(drawn(ours, count), getattr(numpys, method)(count), strict=True)
            if count % 3 == 1:  # half of a word is left
                assert ours.integers(0, 9, dtype=np.uint32) == numpys.integers(0, 9, dtype=np.uint32)
            np.testing.assert_equal(ours.bit_generator.state, numpys.bit_generator.state)


def test_counters_of_philox_carry():
    drawn = graph_jit(lambda rng, n: rng.standard_normal(n))
    for counter in ([2**64 - 3, 2**64 - 1, 5, 0], [2**64 - 2] + [2**64 - 1] * 3, [2**64 - 1, 3, 0, 0]):
        for position in (1, 3, 4):  # NumPy refuses 0 from release 2.5 on
            ours, numpys = (np.random.Generator(np.random.Philox(1)) for _ in range(2))
            state = ours.bit_generator.state
            state["state"]["counter"][:] = counter
            state["buffer"][:] = np.arange(1, 5, dtype=np.uint64) * 2**60
            state["buffer_pos"] = position
            for each in (ours, numpys):
                each.bit_generator.state = state
            for count in (1, 5, 0, 300, 2):
                np.testing.assert_array_equal(drawn(ours, count), numpys.standard_normal(count), strict=True)
                np.testing.assert_equal(ours.bit_generator.state, numpys.bit_generator.state)
