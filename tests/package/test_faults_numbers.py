"""Faults in what becomes of numbers: each is planted, and the check fails that is there for it."""

import numpy as np
import pytest

from numbagraph.blockwise import storing
from numbagraph.loops import schedule
from numbagraph.rewrite import pipeline
from tests.library.scipy import test_infinities
from tests.tracing import test_integer_writes


def caught(check, *arguments, **options):
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(*arguments, **options)


@pytest.mark.parametrize(
    "write",
    [
        test_integer_writes.element,
        test_integer_writes.loop,
        test_integer_writes.fill,
        test_integer_writes.array_of_list,
    ],
)
def test_a_float_that_is_stored_unchecked_is_caught(write, monkeypatch):
    monkeypatch.setattr(storing, "require_fit", lambda *_: None)
    caught(test_integer_writes.check_stored, write)


def test_scalars_of_numpy_that_are_taken_for_arrays_are_caught(monkeypatch):
    monkeypatch.setattr(storing, "boxing", lambda _: "array")
    caught(test_integer_writes.check_stored, test_integer_writes.element)
    test_integer_writes.check_stored(test_integer_writes.positions)


def test_a_bound_that_forgets_a_term_is_caught(monkeypatch):
    monkeypatch.setattr(storing, "magnitude", lambda _: np.float64(1))
    caught(test_integer_writes.check_stored, test_integer_writes.element)


def test_a_pass_that_does_not_know_of_the_option_is_caught(monkeypatch):
    usual = pipeline.Pass.is_for
    monkeypatch.setattr(pipeline.Pass, "is_for", lambda self, present, *_, **__: usual(self, present))
    caught(test_infinities.check_as_written, test_infinities.FORMULAS["softplus"], cache=False)


def test_a_region_that_does_not_know_of_the_option_is_caught(monkeypatch):
    def forgetful(*_):
        return real(True, True)

    real = schedule.RegionOptions
    monkeypatch.setattr(schedule, "RegionOptions", forgetful)
    caught(test_infinities.check_as_written, test_infinities.in_loop, cache=False)
    test_infinities.check_as_written(test_infinities.FORMULAS["softplus"])
