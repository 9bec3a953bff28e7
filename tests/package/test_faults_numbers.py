"""Faults in what becomes of numbers: each is planted, and the check fails that is there for it."""

import numpy as np
import pytest

from numbagraph.blockwise import storing
from tests.frontend import test_stored_numbers as stored


def caught(check, *arguments):
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(*arguments)


@pytest.mark.parametrize("write", [stored.element, stored.loop, stored.fill, stored.array_of_list])
def test_a_float_that_is_stored_unchecked_is_caught(write, monkeypatch):
    monkeypatch.setattr(storing, "require_fit", lambda *_: None)
    caught(stored.check_stored, write)


def test_scalars_of_numpy_that_are_taken_for_arrays_are_caught(monkeypatch):
    monkeypatch.setattr(storing, "boxing", lambda _: "array")
    caught(stored.check_stored, stored.element)
    stored.check_stored(stored.positions)


def test_a_bound_that_forgets_a_term_is_caught(monkeypatch):
    monkeypatch.setattr(storing, "magnitude", lambda _: np.float64(1))
    caught(stored.check_stored, stored.element)
