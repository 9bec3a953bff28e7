"""What a traced function writes into what outlives the trace: an error with the line, and nothing is left there."""

import collections
import copy
import dataclasses
import functools
import types
import weakref

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit

X = np.arange(3.0) + 1


class State:
    shared = 0

    def __init__(self):
        self.k = 0.0
        self.calls = 0
        self.log = []
        self.table = {"old": 1}
        self.buffer = np.zeros(2)
        self.inner = types.SimpleNamespace(deep=[1, {"a": 2}])
        self.queue = collections.deque([1])
        self.unique = {1}

    def helper(self, x):
        self.calls += 1
        return x

    @property
    def value(self):
        return self.k

    @value.setter
    def value(self, new):
        self.k = new

    @functools.cached_property
    def weights(self):
        return np.arange(3.0)


class Slotted:
    __slots__ = ("k",)

    def __init__(self):
        self.k = 0.0


@dataclasses.dataclass
class Parameters:
    w: np.ndarray
    b: float


STATE = State()
SLOTTED = Slotted()
COUNT = 0
TABLE = {}
MODULE = types.ModuleType("some_settings")
MODULE.level = 1


def with_attribute(x):
    STATE.k = STATE.k + x.sum()  # this line
    return x


def with_counter(x):
    STATE.calls += 1  # this line
    return x


def in_a_method_that_it_calls(x):
    return STATE.helper(x)


def with_property(x):
    STATE.value = x[0]
    return x


def with_setattr(x):
    setattr(STATE, "k", x[0])  # noqa: B010
    return x


def with_new_attribute(x):
    STATE.fresh = 1.0  # this line
    return x


def with_deleted_attribute(x):
    del STATE.k  # this line
    return x


def with_append(x):
    STATE.log.append(x)  # this line
    return x


def with_append_of_numbers(x):
    STATE.log.append(1)  # this line
    return x


def with_item(x):
    STATE.table["new"] = x  # this line
    return x


def with_update(x):
    STATE.table.update(old=2)  # this line
    return x


def with_deleted_item(x):
    del STATE.table["old"]  # this line
    return x


def with_deep_item(x):
    STATE.inner.deep[1]["a"] = 3  # this line
    return x


def with_deque(x):
    STATE.queue.appendleft(2)  # this line
    return x


def with_set(x):
    STATE.unique.add(2)  # this line
    return x


def with_array(x):
    STATE.buffer[0] = 3.0  # this line
    return x + STATE.buffer[0]


def with_alias(x):
    log = STATE.log
    log += [1, 2]  # this line
    return x


def with_slot(x):
    SLOTTED.k = x.sum()  # this line
    return x


def with_class_attribute(x):
    State.shared += 1  # this line
    return x


def with_global(x):
    global COUNT  # noqa: PLW0603
    COUNT += 1  # this line
    return x


def with_new_global(x):
    global NEVER_SEEN  # noqa: PLW0603
    NEVER_SEEN = x  # this line
    return x


def with_globals(x):
    globals()["NEVER_SEEN"] = x * 2
    return x


def with_global_table(x):
    TABLE[x.ndim] = x  # this line
    return x


def with_module(x):
    MODULE.level = 2  # this line
    return x


def with_function_attribute(x):
    with_function_attribute.calls = 1  # this line
    return x


def with_default(x, seen=[]):  # noqa: B006
    seen.append(1)  # this line
    return x


def helper(x):
    STATE.calls += 1
    return x * 2


def deep(x):
    return nested(x) + functools.partial(helper, x)()


def nested(x):
    return next(helper(each) for each in (x,))


KEPT = (
    deep,
    in_a_method_that_it_calls,
    with_array,
    with_attribute,
    with_counter,
    with_deep_item,
    with_global,
    with_module,
    with_property,
    with_setattr,
    with_update,
)
"""They put arrays and numbers in the place of others, as each call does then: `test_written_state.py`."""
WRITERS = [
    value
    for name, value in sorted(globals().items())
    if name.startswith(("with_", "in_a_", "deep")) and value not in KEPT
]


def contents():
    state = copy.deepcopy([vars(STATE), TABLE, COUNT, SLOTTED.k, State.shared, vars(MODULE).get("level")])
    return state, "NEVER_SEEN" in globals(), vars(with_function_attribute).copy(), with_default.__defaults__[0].copy()


def check_write(function):
    """A write that outlives a trace must be an error with its line each time, and nothing be left."""
    before = contents()
    f = graph_jit(function, backend="numpy", static_argnames="seen" if function is with_default else ())
    for _ in range(2):
        with pytest.raises(TypeError, match=f"was changed while {function.__name__} was traced") as caught:
            f(X)
        np.testing.assert_equal(contents(), before)
    assert "test_outer_state.py:" in str(caught.value)
    first = function.__code__.co_firstlineno
    with open(__file__) as file:
        source = file.readlines()
    lines = [number for number in range(first, first + 6) if "# this line" in source[number - 1]]
    if lines:
        assert f"test_outer_state.py:{lines[0]}" in str(caught.value)


@pytest.mark.parametrize("function", WRITERS, ids=lambda each: each.__name__)
def test_writes_are_errors_with_their_line(function):
    check_write(function)


def test_writes_to_variables_of_enclosing_functions():
    count, log, table = 0, [], {}

    def cell(x):
        nonlocal count
        count += 1
        return x

    def items(x):
        table["x"] = x
        return x

    def appended(x):
        log.append(x)
        return x

    push = log.append

    def bound(x):
        push(x)
        return x

    for function in (cell, items, appended, bound, numbagraph.grad(lambda x: appended(x).sum())):
        with pytest.raises(TypeError, match="was changed while"):
            graph_jit(function, backend="numpy")(X)
    assert (count, log, table) == (0, [], {})


def test_writes_into_containers_of_the_arguments():
    def new_key(d):
        d["new"] = d["a"]
        return d["a"]

    def replaced(d):
        d["a"] = d["a"] + 1
        return d["a"]

    def appended(d):
        d["list"].append(1.0)
        return d["a"]

    def popped(d):
        return d.pop("a")

    def field(d):
        d["data"].w = d["a"]
        return d["a"]

    def extra(d):
        d["data"].extra = 1
        return d["a"]

    for function in (new_key, replaced, appended, popped, field, extra):
        argument = {"a": X, "list": [1.0], "data": Parameters(X, 1.0)}
        with pytest.raises(TypeError, match=r"an argument.* was changed"):
            graph_jit(function, backend="numpy")(argument)
        assert list(argument) == ["a", "list", "data"]
        assert argument["list"] == [1.0]
        assert not hasattr(argument["data"], "extra")


class Compiled:
    def __init__(self):
        self.k = 0.0
        self.log = []

    @graph_jit
    def add(self, x):
        self.k = self.k + x.sum()
        return x

    @graph_jit
    def double(self, x):
        return self.scaled(x) + self.other(x)

    @graph_jit
    def other(self, x):
        return x * 1

    def scaled(self, x):
        return x * 2


def test_compiled_methods():
    thing = Compiled()
    for count in (1, 2):
        thing.add(X)
        assert thing.k == count * X.sum()
    np.testing.assert_array_equal(thing.double(X), 3 * X)


@pytest.mark.parametrize(
    "container",
    [
        collections.Counter(a=2),
        collections.OrderedDict(b=1, a=2),
        collections.defaultdict(int, a=1),
        collections.deque([1, 2]),
        {"a": [1, {"b": (1, [2])}]},
        {1, 2},
    ],
    ids=lambda each: type(each).__name__,
)
def test_containers_of_all_kinds_are_restored(container):
    def function(x):
        if isinstance(container, dict):
            container["a"] = x
            container["new"] = 1
            container.pop("b", None)
        else:
            container.clear()
        return x

    before = copy.deepcopy(container)
    with pytest.raises(TypeError, match="'container' of an enclosing function was changed"):
        graph_jit(function, backend="numpy")(X)
    assert container == before
    assert list(container) == list(before)


def test_objects_that_answer_for_others_are_left_alone():
    class Target:
        pass

    class Proxy:
        def __getattribute__(self, name):
            raise RuntimeError(f"nobody may ask for {name}")

    target = Target()
    dead, proxy = weakref.proxy(target), Proxy()
    del target

    def function(x):
        return x if x.ndim else (dead, proxy)

    np.testing.assert_array_equal(graph_jit(function, backend="numpy")(X), X)


def test_what_fails_half_way_is_restored():
    def failing(x):
        STATE.k = x.sum()
        STATE.log.append(x)
        STATE.calls += 1
        raise KeyError("half-way")

    def refused(x):
        STATE.log.append(x)
        return bool(x.sum())

    before = contents()
    with pytest.raises(KeyError, match="half-way"):
        graph_jit(failing)(X)
    with pytest.raises(TypeError, match="truth"):
        graph_jit(refused, convert=False)(X)
    with pytest.raises(TypeError, match="was changed while refused was traced"):
        graph_jit(refused)(X)
    np.testing.assert_equal(contents(), before)


class Link:
    def __init__(self, after):
        self.after = after
        self.mark = 0


def test_a_long_chain_of_objects_is_named_by_its_class():
    chain = [Link(None)]
    for _ in range(3000):  # a name of each with all that lead to it took seconds and a gigabyte
        chain.append(Link(chain[-1]))
    first = chain[-1]

    def f(x):
        last = first
        while last.after is not None:
            last = last.after
        last.mark = [x]
        return x

    told = r"^Link(\.after)*\.mark was changed while f was traced"
    with pytest.raises(numbagraph.errors.SideEffectError, match=told) as caught:
        graph_jit(f)(1.0)
    assert len(str(caught.value)) < 500
    assert chain[0].mark == 0
