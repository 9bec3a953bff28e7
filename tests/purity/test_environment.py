"""What a compiled function reads, wherever it is: the next call sees that something else is bound there."""

import pytest

from tests.support.rebinding import PLACES, VALUES, check_rebinding


@pytest.mark.parametrize("values", VALUES)
def test_rebinding(values):
    for place in PLACES:
        check_rebinding(place, values)


@pytest.mark.parametrize("place", PLACES)
def test_rebinding_as_the_native_entry_sees_it(place):
    check_rebinding(place, "numbers", "numba")
