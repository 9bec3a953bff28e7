"""Faults in what becomes of numbers: each is planted, and the check fails that is there for it."""

import numpy as np
import pytest

from numbagraph.blockwise import storing
from numbagraph.loops import schedule
from numbagraph.rewrite import pipeline
from tests.frontend import test_as_written as as_written
from tests.frontend import test_stored_numbers as stored


def caught(check, *arguments, **options):
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(*arguments, **options)


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


def test_a_pass_that_does_not_know_of_the_option_is_caught(monkeypatch):
    usual = pipeline.Pass.is_for
    monkeypatch.setattr(pipeline.Pass, "is_for", lambda self, present, *_, **__: usual(self, present))
    caught(as_written.check_as_written, as_written.FORMULAS["softplus"], cache=False)


def test_a_region_that_does_not_know_of_the_option_is_caught(monkeypatch):
    def forgetful(*_):
        return real(True, True)

    real = schedule.RegionOptions
    monkeypatch.setattr(schedule, "RegionOptions", forgetful)
    caught(as_written.check_as_written, as_written.in_loop, cache=False)
    as_written.check_as_written(as_written.FORMULAS["softplus"])
