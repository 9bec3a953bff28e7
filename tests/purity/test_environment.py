"""What a compiled function reads, wherever it is: the next call sees that something else is bound there."""

import pytest

from numbagraph import graph_jit
from tests.support.rebinding import PLACES, VALUES, check_rebinding


@pytest.mark.parametrize("values", VALUES)
def test_rebinding(values):
    for place in PLACES:
        check_rebinding(place, values)


@pytest.mark.parametrize("place", PLACES)
def test_rebinding_as_the_native_entry_sees_it(place):
    check_rebinding(place, "numbers", "numba")


class Doubling:
    def times(self, x):
        return 2 * x


class Tripling:
    def times(self, x):
        return 3 * x


class SlottedDoubling:
    __slots__ = ("held",)

    def times(self, x):
        return 2 * x


class SlottedTripling:
    __slots__ = ("held",)

    def times(self, x):
        return 3 * x


@pytest.mark.parametrize("kinds", [(Doubling, Tripling), (SlottedDoubling, SlottedTripling)])
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_objects_that_change_their_class(kinds, backend):
    one = kinds[0]()
    compiled = graph_jit(lambda x: one.times(x), backend=backend)
    for kind in (*kinds, *kinds):
        one.__class__ = kind
        assert [compiled(1.5), compiled(2.0)] == [one.times(1.5), one.times(2.0)]
