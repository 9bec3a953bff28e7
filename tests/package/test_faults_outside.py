"""Faults in what is known of the world around a function: each is planted, and the check fails that is there for it."""

import ctypes
import operator

import pytest

from numbagraph.ir import array_classes
from numbagraph.purity import bytecode, nondeterminism, outer_state, reachable_code, snapshots
from numbagraph.runtime import guard_records, guards
from tests.purity import test_nondeterminism, test_outer_state, test_reachable_writes
from tests.purity.test_nondeterminism import check_refused
from tests.purity.test_outer_state import check_write
from tests.purity.test_reachable_writes import check_way
from tests.support.rebinding import PLACES, check_rebinding
from tests.tracing.test_array_classes import check_class

ZERO, ZEROS = ctypes.c_int64(0), (ctypes.c_int64 * 3)()
FAILURES = (AssertionError, pytest.fail.Exception, TypeError)


@pytest.fixture(autouse=True)
def own_facts(monkeypatch):
    """What is found out about code with a fault is forgotten afterwards, and what was written there is undone."""
    monkeypatch.setattr(bytecode, "_known", {})
    stores = [(vars(each), dict(vars(each))) for each in (test_outer_state.STATE, test_reachable_writes.STORE)]
    state = test_outer_state.STATE
    contents = [(each, each.copy()) for each in (state.log, state.table, state.queue, state.unique)]
    yield
    for space, old in stores:
        space.clear()
        space.update(old)
    for container, old in contents:
        container.clear()
        (container.extend if hasattr(container, "extend") else container.update)(old)
    state.buffer[:] = test_reachable_writes.STORE.buffer[:] = 0


def caught(check, *arguments):
    with pytest.raises(FAILURES):
        check(*arguments)


# ---- what is read ----


@pytest.mark.parametrize("place", PLACES)
def test_a_guard_that_is_not_made_is_caught(place, monkeypatch):
    monkeypatch.setattr(reachable_code.Walk, "_add", lambda *_: None)
    caught(check_rebinding, place, "numbers")
    caught(check_rebinding, place, "numbers", "numba")


@pytest.mark.parametrize(
    ("owner", "name", "fault", "place"),
    [
        (reachable_code.Walk, "_guard_content", lambda *_: None, "element of a list"),
        (reachable_code, "is_changing", lambda thing: type(thing) is dict, "element of a default"),
        (reachable_code, "parts_of", lambda thing: [], "element of a default"),
        (reachable_code.Walk, "_watch_attributes", lambda *_: None, "attribute of an element"),
        (reachable_code.Walk, "_watch_attributes", lambda *_: None, "attribute of a static argument"),
        (reachable_code, "asked_of", lambda code: bytecode.Asked(), "attribute by a text"),
        (guards, "definition_of", lambda function: (None, None, None), "default"),
        (guards, "definition_of", lambda function: (None, None, None), "constant in the code"),
        (guards, "version_of", lambda container: 1, "entry of a dict under a name"),
    ],
)
def test_a_guard_that_overlooks_a_kind_of_reference_is_caught(owner, name, fault, place, monkeypatch):
    monkeypatch.setattr(owner, name, fault)
    caught(check_rebinding, place, "numbers")


@pytest.mark.parametrize(("name", "place"), [("_several", "element of a list"), ("definition_record", "default")])
def test_a_guard_whose_memory_is_not_compared_is_caught(name, place, monkeypatch):
    """In Python it holds no longer, but native code takes the call."""
    made = {
        "_several": lambda kind, place, words: ([guard_records._word(ctypes.addressof(ZERO), 0)], None),
        "definition_record": lambda function, definition: guard_records.DefinitionRecord(ctypes.addressof(ZEROS)),
    }
    for owner in (guard_records, guards):
        monkeypatch.setattr(owner, name, made[name], raising=False)
    check_rebinding(place, "numbers")
    caught(check_rebinding, place, "numbers", "numba")


@pytest.mark.parametrize("values", ["kinds of numbers", "signs of zero", "numbers of NumPy", "equal objects"])
def test_a_guard_that_compares_by_equality_is_caught(values, monkeypatch):
    monkeypatch.setattr(guards, "same", operator.eq)
    caught(check_rebinding, "global", values)
    check_rebinding("global", "functions")


def test_a_guard_of_another_place_is_caught(monkeypatch):
    """Only the class that has the attribute is looked at, not those before it."""
    monkeypatch.setattr(reachable_code.Walk, "_in_classes", lambda self, kind, name, spelling: getattr(kind, name))
    caught(check_rebinding, "class attribute", "numbers")


# ---- what means more than its numbers ----


@pytest.mark.parametrize(("name", "place"), [("Quantity", "argument"), ("Wrapping", "captured"), ("Labelled", "tree")])
def test_an_array_that_is_stripped_is_caught(name, place, monkeypatch):
    monkeypatch.setattr(array_classes, "_of_class", lambda *_: None)
    caught(check_class, name, place)


# ---- what answers otherwise each time ----


WATCHED = ["np.random.normal", "fresh RandomState", "bound", "method of a method", "time.time", "caught"]


@pytest.mark.parametrize("name", WATCHED)
def test_an_impure_call_that_is_not_watched_is_caught(name, monkeypatch):
    monkeypatch.setattr(reachable_code.Walk, "watch", lambda self: None)
    caught(check_refused, name)


@pytest.mark.parametrize("name", ["Generator", "time.time", "uuid", "date"])
def test_an_impure_function_that_is_not_known_is_caught(name, monkeypatch):
    monkeypatch.setattr(nondeterminism, "spelled", lambda *_: None)
    caught(check_refused, name)


@pytest.mark.parametrize("name", ["fresh RandomState", "import inside"])
def test_a_name_that_is_not_suspicious_is_caught(name, monkeypatch):
    """Nothing that draws is there before the trace, so only the names of attributes say that there may be."""
    monkeypatch.setattr(reachable_code, "suspicious_names", frozenset)
    monkeypatch.setattr(reachable_code, "spelled", lambda *_: None)
    caught(check_refused, name)
    assert test_nondeterminism.REFUSED[name]


# ---- what is written ----

WRITES = {
    snapshots.Namespace: test_outer_state.with_attribute,
    snapshots.Attributes: test_outer_state.with_slot,
    snapshots.Content: test_outer_state.with_append,
}


@pytest.mark.parametrize("kind", WRITES, ids=lambda each: each.__name__)
def test_a_write_that_is_not_undone_is_caught(kind, monkeypatch):
    monkeypatch.setattr(kind, "restore", lambda self, name: None)
    with monkeypatch.context() as slots:
        slots.setattr(test_outer_state.SLOTTED, "k", 0.0)
        caught(check_write, WRITES[kind])


@pytest.mark.parametrize("kind", WRITES, ids=lambda each: each.__name__)
def test_a_write_that_is_not_seen_is_caught(kind, monkeypatch):
    monkeypatch.setattr(kind, "changes", lambda self: iter(()))
    with monkeypatch.context() as slots:
        slots.setattr(test_outer_state.SLOTTED, "k", 0.0)
        caught(check_write, WRITES[kind])


@pytest.mark.parametrize("way", ["array of objects", "long list", "getattr", "comparison", "metaclass", "match"])
def test_a_function_that_is_taken_for_one_that_writes_nothing_is_caught(way, monkeypatch):
    monkeypatch.setattr(
        reachable_code.Walk, "may_write", property(lambda self: False, lambda self, value: None), raising=False
    )
    caught(check_way, way)


@pytest.mark.parametrize(
    ("owner", "name", "fault", "way"),
    [
        (reachable_code, "is_harmless", lambda thing: True, "setattr"),
        (reachable_code, "are_methods", lambda names: True, "globals of a result"),
        (reachable_code, "may_write_unasked", lambda kind: False, "comparison"),
        (bytecode, "_OPAQUE", set(), "match and call"),
        (outer_state, "_BY_TEXT", frozenset(), "eval"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_way_that_is_overlooked_is_caught(owner, name, fault, way, monkeypatch):
    monkeypatch.setattr(owner, name, fault)
    caught(check_way, way)
