"""Python's garbage collector rests while a function is compiled, and finds what was made then in the end."""

import gc
import os
import weakref

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.runtime.garbage_collection import CollectorAtRest, collector_at_rest
from tests.support.tally import Tally


def test_the_collector_rests_while_a_function_is_compiled():
    traced = Tally()

    def noting(x):
        assert not gc.isenabled()
        traced.step()
        return graph_jit(lambda y: y + 1)(x)

    for before in (True, False):
        (gc.enable if before else gc.disable)()
        try:
            graph_jit(noting, cache=False)(np.ones(3))
            with pytest.raises(ZeroDivisionError):
                graph_jit(lambda x: x / (1 // 0), cache=False)(np.ones(3))
            assert gc.isenabled() == before
        finally:
            gc.enable()
    assert len(traced) == 2


def test_objects_that_someone_froze_stay_frozen():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with CollectorAtRest():
            kept = [[] for _ in range(10_000)]
        assert gc.get_freeze_count() >= count - 1000
    finally:
        gc.unfreeze()
    with CollectorAtRest():
        kept += [[] for _ in range(10_000)]
        assert gc.get_count()[0] > 10_000
    assert gc.get_count()[0] < 1000
    assert gc.get_freeze_count() == 0


class Cycle:
    def __init__(self):
        self.itself = self
        self.parts = [[] for _ in range(10_000)]


def test_what_was_made_at_rest_is_collected_by_and_by():
    collector, made = CollectorAtRest(), []
    for _ in range(30):
        with collector:
            made.append(weakref.ref(Cycle()))
    assert [each() for each in made[:10]] == [None] * 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_the_collector_of_a_child_does_not_rest():
    with collector_at_rest:
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()
