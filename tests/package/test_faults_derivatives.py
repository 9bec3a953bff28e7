"""The tests of derivatives at special points catch faults: each of these plants one, and sees a test of theirs fail."""

from __future__ import annotations

from typing import Any

import pytest

from numbagraph.ops.special import error_functions
from numbagraph.transforms import autodiff, factors
from tests.transforms import test_factors


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """No code of a fault stays on disk."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")


def whole(*_: Any) -> None:
    """No product is taken apart."""
    return


def beside_zeros(selection: Any, place: int, value: Any) -> Any:
    return factors.with_input(selection, place, value)


FAULTS = {
    "a factor of 0 is not cancelled": (
        (autodiff, "factors_of", whole),
        lambda: test_factors.test_zero_factors_add_nothing("quotient", "numpy"),
    ),
    "nothing is taken apart": (
        (factors, "DEEPEST", 0),
        lambda: test_factors.test_zero_factors_add_nothing("outer product", "numpy"),
    ),
    "what is not selected is divided by": (
        (factors, "of_one", beside_zeros),
        lambda: test_factors.test_zero_factors_add_nothing("joined", "numpy"),
    ),
    "nothing is multiplied with what is infinite": (
        (error_functions, "share_per", lambda g, a: g / a),
        lambda: test_factors.test_mixed_second_derivatives_beside_an_infinite_one(test_factors.rel_entr),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (place, attribute, fault), check = FAULTS[name]
    check()
    monkeypatch.setattr(place, attribute, fault)
    with pytest.raises(AssertionError):
        check()
