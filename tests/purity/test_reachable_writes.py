"""Ways to code that writes: none of them may make a function look as if it wrote nothing, which skips the check."""

import functools
import types

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit
from numbagraph.purity import outer_state

X = np.arange(3.0) + 1


class Store:
    def __init__(self):
        self.kept = None
        self.total = 0.0
        self.buffer = np.zeros(3)

    def keep(self, x):
        self.kept = x
        return x


class Holder:
    """Its attributes have names that arrays have, too."""

    def __init__(self, inner):
        self.flat = inner
        self.real = types.SimpleNamespace(sum=inner.keep)


class Comparing:
    def __eq__(self, other):
        STORE.total = 1.0
        return True

    __hash__ = None


class Keeping:
    def __eq__(self, other):
        return STORE.keep(other)

    __hash__ = None


class Descriptor:
    def __get__(self, instance, owner):
        STORE.total = 1.0
        return 1.0


class Described:
    value = Descriptor()


class Meta(type):
    def __call__(cls, x):
        return STORE.keep(x)


class Made(metaclass=Meta):
    pass


class Called:
    __call__ = staticmethod(functools.partial(lambda x: STORE.keep(x)))


class Iterated:
    def __iter__(self):
        STORE.total = 1.0
        return iter((1.0, 2.0))


class Going:
    go = None


STORE = Store()
GOING = Going()
GOING.go = STORE.keep
HOLDER = Holder(STORE)
COMPARING, DESCRIBED, CALLED, ITERATED, KEEPING = Comparing(), Described(), Called(), Iterated(), Keeping()
MANY = [*range(100), STORE.keep]
TABLE = {"keep": STORE.keep, "deeper": [{"a": (STORE.keep,)}]}
OBJECTS = np.array([STORE.keep, None], dtype=object)
MODULE = types.ModuleType("some_module")
MODULE.keep, MODULE.store = STORE.keep, STORE


def get_store():
    return STORE


def get_holder():
    return HOLDER


def keep_in(module, x):
    return module.store.keep(x)


def call(function, x):
    return function(x)


@functools.lru_cache
def remembered(n):
    STORE.total = float(n)
    return n


@functools.wraps(get_store)
def wrapped(x):
    return STORE.keep(x)


def writes_in_default(x, keep=STORE.keep):
    return keep(x)


def imported(x):
    from tests.purity.test_reachable_writes import STORE as store

    return store.keep(x)


def class_inside(x):
    class Own(Store):
        keep = Store.keep

    return Own.keep(STORE, x)


def matched(x):
    match HOLDER:
        case Holder(flat=found):
            return found.keep(x)


def matched_call(x):
    match GOING:
        case Going(go=found):
            return found(x)


def get_function():
    return get_store


WAYS = {
    "method": lambda x: STORE.keep(x),
    "result": lambda x: get_store().keep(x),
    "attribute of a result": lambda x: get_holder().flat.keep(x),
    "name of an array's attribute": lambda x: get_holder().real.sum(x),
    "getattr": lambda x: getattr(STORE, "keep")(x),  # noqa: B009
    "vars": lambda x: vars(HOLDER)["flat"].keep(x),
    "dict": lambda x: HOLDER.__dict__["flat"].keep(x),
    "setattr": lambda x: (setattr(STORE, "kept", x), x)[1],
    "object.__setattr__": lambda x: (object.__setattr__(STORE, "kept", x), x)[1],
    "class": lambda x: type(STORE).keep(STORE, x),
    "its class": lambda x: STORE.__class__.keep(STORE, x),
    "globals": lambda x: globals()["STORE"].keep(x),
    "globals of a function": lambda x: get_store.__globals__["wrapped"](x),
    "globals of a result": lambda x: get_function().__globals__["wrapped"](x),
    "eval": lambda x: eval("STORE.keep")(x),
    "long list": lambda x: MANY[100](x),
    "containers": lambda x: TABLE["deeper"][0]["a"][0](x),
    "array of objects": lambda x: OBJECTS[0](x),
    "module": lambda x: MODULE.store.keep(x),
    "module as an argument": lambda x: keep_in(MODULE, x),
    "function as an argument": lambda x: call(STORE.keep, x),
    "partial": functools.partial(lambda keep, x: keep(x), STORE.keep),
    "default": writes_in_default,
    "wrapped": lambda x: wrapped(x),
    "lru_cache": lambda x: x + remembered(len(MANY)),
    "comparison": lambda x: KEEPING == x,  # noqa: SIM300  the method is asked first
    "metaclass": lambda x: Made(x),
    "callable": lambda x: CALLED(x),
    "map": lambda x: next(map(STORE.keep, [x])),
    "key": lambda x: min([x], key=STORE.keep),
    "np.piecewise": lambda x: x + np.apply_along_axis(STORE.keep, 0, np.ones(2))[0],
    "np.vectorize": lambda x: x + np.vectorize(STORE.keep)(1.0),
    "import": imported,
    "class inside": class_inside,
    "match": matched,
    "match and call": matched_call,
    "grad": numbagraph.grad(lambda x: STORE.keep(x).sum()),
    "vmap": numbagraph.vmap(lambda x: STORE.keep(x)),
    "compiled": lambda x: graph_jit(STORE.keep)(x),
}


def state():
    return STORE.kept, STORE.total, STORE.buffer.tolist()


def check_way(way):
    """A write must be an error however the code comes to it, and nothing be left."""
    before = state()
    with pytest.raises(TypeError, match="was changed while"):
        graph_jit(WAYS[way], backend="numpy")(X)
    assert state() == before


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_code_that_writes(way):
    check_way(way)


STORING = {
    "comparison": lambda x: x + int(COMPARING == 1),
    "descriptor": lambda x: x + DESCRIBED.value,
    "iteration": lambda x: x + sum(ITERATED),
    "np.add.at": lambda x: (np.add.at(STORE.buffer, 0, 1.0), x)[1],
    "out": lambda x: (np.add(STORE.buffer, 1.0, out=STORE.buffer), x)[1],
}
"""Ways to code that stores numbers, or elements of an array: each call does so."""


@pytest.mark.parametrize("way", STORING)
def test_ways_to_code_that_stores_numbers(way):
    function, found = STORING[way], []
    for call in (function, graph_jit(function, backend="numpy")):
        results = [call(X), call(X)]
        found.append((results, STORE.total, STORE.buffer.tolist()))
        STORE.total, STORE.buffer[:] = 0.0, 0.0
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]


def test_code_that_was_replaced_and_lists_that_were_changed_between_two_traces():
    def harmless(x):
        return x + 1

    functions = [harmless]

    def other(x):
        return x * 2

    compiled = graph_jit(lambda x: functions[0](x) + other(x), backend="numpy")
    np.testing.assert_array_equal(compiled(X), 3 * X + 1)
    functions[0] = STORE.keep
    with pytest.raises(TypeError, match="was changed while"):
        compiled(X.astype(np.float32))
    functions[0] = harmless
    other.__code__ = get_store.__code__.replace(co_argcount=1, co_nlocals=1, co_varnames=("x",))
    harmless.__code__ = (lambda x: STORE.keep(x)).__code__
    with pytest.raises(TypeError, match=r"was changed while|not supported|unsupported|is no array"):
        compiled(X.astype(np.int8))
    assert state() == (None, 0.0, [0.0] * 3)


class Plain:
    def __init__(self):
        self.k = 2.0
        self.w = np.arange(3.0)
        self.parts = [types.SimpleNamespace(b=1.0)]

    def run(self, x):
        return self.scaled(x) * self.k + self.w.sum()

    def scaled(self, x):
        return x / self.k if x.ndim else np.abs(x)


def helper(x):
    return np.sin(x) * len(MANY[:3])


HARMLESS = {
    "lambda": lambda x: x + 1,
    "method": Plain().run,
    "helpers": lambda x: helper(x) + sum(helper(each * 2) for each in (x, x)) + helper(x.T.real).max(),
    "loops": lambda x: np.stack([x[k] * k for k in range(3)]) if len(x.shape) == 1 else float(x),
    "compiled": graph_jit(helper),
    "grad": numbagraph.grad(lambda x: helper(x).sum() if x.ndim else x),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_seen_to_write_nothing_is_not_looked_at_further(name, monkeypatch):
    function = HARMLESS[name]
    monkeypatch.setitem(globals(), "MANY", (1, 2, 3))
    monkeypatch.setattr(outer_state, "Outside", None)  # what looks at all that there is
    graph_jit(function, backend="numpy")(X)
