"""Structs do what dataclasses do; the standard library is the specification."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from numbagraph.ir import structs
from numbagraph.ir.structs import Struct


class Point(Struct):
    x: int
    y: float = 2.0
    label: str = field(default="", compare=False)
    cache: dict = field(default_factory=dict, compare=False, repr=False)


class Marked(Point):
    y: float = 3.0
    mark: str = "*"


class Empty(Struct):
    pass


class Keyed(Struct):
    a: int
    key: int = field(default=0, kw_only=True)


class KeyedMore(Keyed):
    b: int


class Counter(Struct, frozen=False):
    count: int = 0


class Unique(Struct, eq=False):
    x: int


@dataclass(frozen=True)
class PointClass:
    x: int
    y: float = 2.0
    label: str = field(default="", compare=False)
    cache: dict = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class MarkedClass(PointClass):
    y: float = 3.0
    mark: str = "*"


@dataclass(frozen=True)
class EmptyClass:
    pass


@dataclass(frozen=True)
class KeyedClass:
    a: int
    key: int = field(default=0, kw_only=True)


@dataclass(frozen=True)
class KeyedMoreClass(KeyedClass):
    b: int


@dataclass
class CounterClass:
    count: int = 0


PAIRS = [
    (Point, PointClass, [((1,), {}), ((1, 2.0, "a"), {}), ((1,), {"label": "b"}), ((1, 2.5), {}), ((), {"x": 1})]),
    (Marked, MarkedClass, [((1,), {}), ((1, 3.0, "", {}, "*"), {}), ((1,), {"mark": "+"})]),
    (Empty, EmptyClass, [((), {}), ((), {})]),
    (Keyed, KeyedClass, [((1,), {}), ((1,), {"key": 0}), ((1,), {"key": 2})]),
    (KeyedMore, KeyedMoreClass, [((1, 2), {}), ((1, 2), {"key": 1}), ((), {"b": 2, "a": 1})]),
]


@pytest.mark.parametrize(("struct", "reference", "arguments"), PAIRS, ids=lambda each: getattr(each, "__name__", ""))
def test_structs_are_shown_and_compared_as_dataclasses(struct, reference, arguments):
    ours = [struct(*args, **kwargs) for args, kwargs in arguments]
    theirs = [reference(*args, **kwargs) for args, kwargs in arguments]
    assert [repr(each).replace("(", "Class(", 1) for each in ours] == [repr(each) for each in theirs]
    assert [[a == b for a in ours] for b in ours] == [[a == b for a in theirs] for b in theirs]
    assert len(set(ours)) == len(set(theirs))
    assert [vars(each) for each in ours] == [vars(each) for each in theirs]


@pytest.mark.parametrize(
    ("struct", "reference", "args", "kwargs"),
    [
        (Point, PointClass, (), {}),
        (Point, PointClass, (1,), {"x": 1}),
        (Point, PointClass, (1,), {"z": 1}),
        (Point, PointClass, (1, 2, 3, 4, 5), {}),
        (Empty, EmptyClass, (1,), {}),
        (KeyedMore, KeyedMoreClass, (1,), {"key": 1}),
    ],
)
def test_wrong_arguments_are_refused(struct, reference, args, kwargs):
    for each in (struct, reference):
        with pytest.raises(TypeError, match=struct.__name__):
            each(*args, **kwargs)


def test_a_frozen_struct_stays_as_it_is():
    for each in (Point(1), PointClass(1)):
        with pytest.raises(FrozenInstanceError, match="x"):
            each.x = 2
        with pytest.raises(FrozenInstanceError, match="x"):
            del each.x
        assert each.x == 1


def test_what_may_change_is_itself_alone():
    counter, other = Counter(), Counter()
    counter.count += 1
    assert (counter.count, other.count) == (1, 0)
    assert repr(counter).replace("Counter", "CounterClass") == repr(CounterClass(1))
    assert Counter(1) != counter
    assert len({counter, other}) == 2
    assert Unique(1) != Unique(1)
    assert len({Unique(1), Unique(1)}) == 2


def test_classes_with_the_same_fields_are_different():
    assert Point(1, 3.0) != Marked(1)
    assert Empty() != EmptyClass()


def test_defaults_are_made_anew():
    assert Point(1).cache is not Point(1).cache


@pytest.mark.parametrize("changes", [{}, {"x": 5}, {"x": 5, "mark": "+"}])
def test_replaced_fields(changes):
    ours, theirs = structs.replace(Marked(1, label="a"), **changes), replace(MarkedClass(1, label="a"), **changes)
    assert type(ours) is Marked
    assert vars(ours) == vars(theirs)
    with pytest.raises(TypeError, match="Marked"):
        structs.replace(Marked(1), z=1)


@pytest.mark.parametrize("struct", [Point(1, label="a"), Marked(1), Empty(), KeyedMore(1, 2, key=3)])
def test_copies_are_equal(struct):
    for each in (pickle.loads(pickle.dumps(struct)), copy.copy(struct), copy.deepcopy(struct)):
        assert each == struct
        assert vars(each) == vars(struct)
