"""The tests of derivatives inside of other code catch faults: each of these plants one, and sees a check fail."""

import pytest

from tests.api import test_compositions
from tests.support.faults import go_through_points


@pytest.mark.parametrize("transformation", test_compositions.TAKEN)
def test_a_point_that_rewriting_goes_through_is_caught(transformation, monkeypatch):
    go_through_points(monkeypatch)
    with pytest.raises(AssertionError, match="expected, found"):
        test_compositions.test_derivatives_at_computed_points("plain", transformation)


@pytest.mark.parametrize("place", test_compositions.PLACED)
def test_it_is_caught_in_each_place(place, monkeypatch):
    go_through_points(monkeypatch)
    with pytest.raises(AssertionError, match="expected, found"):
        test_compositions.test_derivatives_at_computed_points(place, "grad")
