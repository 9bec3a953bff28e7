"""What a compiled function reads of containers, and of objects in them, may change: the next call sees that."""

from __future__ import annotations

import collections
import dataclasses
import functools
import logging
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.stats
from scipy import linalg

import numbagraph as ng
from numbagraph import graph_jit
from numbagraph.purity import reachable_code

X = np.array([1.0, 2.0, 3.0])


class Part:
    def __init__(self, v: Any) -> None:
        self.v = v


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v


@dataclasses.dataclass
class Fields:
    a: float
    b: list[float]


class Pair(NamedTuple):
    a: dict[str, float]
    b: list[Part]


class Model:
    kinds = {"a": 1.0}  # noqa: RUF012  a container of the class

    def __init__(self) -> None:
        self.table = {"k": 2.0}
        self.layers = [Part(1.0)]
        self.space = types.SimpleNamespace(t=(1.0, [2.0]))

    @property
    def k(self) -> float:
        return self.table["k"]

    def __getitem__(self, name: str) -> float:
        return self.table[name]

    def run(self, x: Any) -> Any:
        for each in self.layers:
            x = x * each.v
        return x * self.table["k"] + self.kinds["a"] + self.space.t[1][0]


def table() -> dict[str, Any]:
    return {"k": 2.0, "list": [1.0, 2.0], "dict": {"a": 1.0, "b": 2.0}}


def put(*path: Any) -> Callable[[Any], None]:
    """Give an entry, which stands behind keys, another value: the last of them."""

    def change(held: Any) -> None:
        *keys, key, value = path
        for each in keys:
            held = held[each]
        held[key] = value

    return change


def attribute(name: str, value: Any) -> Callable[[Any], None]:
    return lambda held: setattr(held, name, value)


def product_of(parts: Any, x: Any) -> Any:
    for each in parts:
        x = x * each.v
    return x


def applied(functions: Any, x: Any) -> Any:
    for each in functions:
        x = each(x)
    return x


def matched(held: Any, x: Any) -> Any:
    match held:
        case {"k": value}:
            return x * value
    return x


def unpacked(held: Any, x: Any) -> Any:
    a, b = held
    return x * a["k"] * b[0].v + held.a["k"]


def given(x: Any, *more: Any, k: float = 0.0) -> Any:
    return x * k + sum(more)


def local_name(held: Any, x: Any) -> Any:
    other = held
    return x * other["k"] + other["list"][0]


READ: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any], list[Callable[[Any], Any]]]] = {
    "entry": (table, lambda held, x: x * held["k"], [put("k", 3.0), put("k", 3), put("k", X)]),
    "get": (table, lambda held, x: x * held.get("k", 7.0), [put("k", 3.0), lambda held: held.pop("k")]),
    "length": (table, lambda held, x: x * len(held), [put("new", 3.0), lambda held: held.pop("k")]),
    "loop": (table, lambda held, x: [x for _ in held.values()], [put("new", 3.0), lambda held: held.pop("k")]),
    "order": (
        table,
        lambda held, x: x * float(list(held).index("k")),
        [lambda held: held.update(k=held.pop("k"))],
    ),
    "in": (table, lambda held, x: x * ("new" in held), [put("new", 1.0)]),
    "dict of dicts": (table, lambda held, x: x * held["dict"]["a"], [put("dict", "a", 3.0), put("dict", {"a": 5.0})]),
    "list in a dict": (table, lambda held, x: x * held["list"][1], [put("list", 1, 3.0), put("list", [5.0, 6.0])]),
    "local name": (table, local_name, [put("k", 5.0), put("list", 0, 6.0)]),
    "sum": (
        table,
        lambda held, x: x * sum(held["list"]),
        [
            put("list", 1, 3.0),
            lambda held: held["list"].append(4.0),
            lambda held: held["list"].clear(),
            lambda held: held["list"].extend([1.0, 2.0, 3.0, 4.0, 5.0]),
        ],
    ),
    "array of a list": (table, lambda held, x: x * np.sum(np.array(held["list"])), [put("list", 1, 3.0)]),
    "match": (table, matched, [put("k", 4.0), lambda held: held.pop("k")]),
    "arrays": (
        lambda: {"w": np.ones(3), "v": [np.ones(3)]},
        lambda held, x: x * held["w"] + held["v"][0],
        [put("w", np.zeros(3)), put("v", 0, np.full(3, 4.0)), put("w", 2.0)],
    ),
    "objects": (
        lambda: [Part(1.0), Slotted(2.0), types.SimpleNamespace(v=3.0)],
        product_of,
        [*(functools.partial(lambda k, held: setattr(held[k], "v", 5.0), k) for k in range(3)), put(1, Part(9.0))],
    ),
    "functions": (lambda: [np.abs, np.negative], applied, [put(0, lambda x: x + 1), lambda held: held.append(np.sin)]),
    "unpacking": (table, lambda held, x: given(x, *held["list"], k=held["k"]), [put("list", 0, 9.0), put("k", 5.0)]),
    "named tuple": (
        lambda: Pair({"k": 1.0}, [Part(3.0)]),
        unpacked,
        [lambda held: held.a.update(k=3.0), lambda held: setattr(held.b[0], "v", 7.0)],
    ),
    "fields of a dataclass": (
        lambda: Fields(1.0, [2.0]),
        lambda held, x: x * dataclasses.replace(held, a=3.0).b[0] * dataclasses.asdict(held)["a"],
        [attribute("a", 9.0), lambda held: put(0, 5.0)(held.b)],
    ),
    "tree": (
        lambda: Fields(1.0, [2.0]),
        lambda held, x: x * ng.grad(lambda held, x: np.sum(held.a**2 * x) * held.b[0])(held, x).a,
        [attribute("a", 9.0), lambda held: put(0, 5.0)(held.b)],
    ),
    "fields by no name": (
        lambda: Fields(1.0, [2.0]),
        lambda held, x: x * len(repr(held)),
        [attribute("a", 9.25), lambda held: held.b.append(5.0)],
    ),
    "equal dataclasses": (
        lambda: Fields(1.0, [2.0]),
        lambda held, x: x * 2 if held == Fields(1.0, [2.0]) else x * 3,
        [attribute("a", 9.0)],
    ),
    "methods": (
        Model,
        lambda held, x: held.run(x) * held.k * held["k"],
        [
            lambda held: held.table.update(k=5.0),
            lambda held: setattr(held.layers[0], "v", 6.0),
            lambda held: put(1, 0, 8.0)(held.space.t),
            attribute("kinds", {"a": 11.0}),
        ],
    ),
    "set": (
        lambda: {1, 2},
        lambda held, x: x * sum(held) + (3 in held),
        [lambda held: held.add(3), lambda held: held.discard(2), lambda held: held.update(range(100))],
    ),
    "deque": (
        lambda: collections.deque([1.0, 2.0, 4.0]),
        lambda held, x: x * sum(each * 2**k for k, each in enumerate(held)),
        [lambda held: held.rotate(), lambda held: held.appendleft(7.0)],
    ),
    "ordered dict": (
        lambda: collections.OrderedDict(a=1.0, b=2.0),
        lambda held, x: x * float(list(held).index("a")) + held["b"],
        [lambda held: held.move_to_end("a"), put("b", 5.0)],
    ),
    "dict in Python": (lambda: collections.UserDict(a=1.0), lambda held, x: x * held["a"], [put("a", 5.0)]),
    "view": (
        lambda: {"a": 1.0},
        lambda held, x: x * types.MappingProxyType(held)["a"] + sum(held.values()),
        [put("a", 5.0)],
    ),
    "attribute by a text": (
        lambda: Part(1.0),
        lambda held, x: x * getattr(held, "w", 3.0) + hasattr(held, "z"),
        [attribute("w", 5.0), attribute("z", 1.0)],
    ),
}


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("name", READ)
def test_changes_are_seen(name: str, backend: str) -> None:
    make, use, changes = READ[name]
    held = make()

    def function(x: Any) -> Any:
        return use(held, x)

    compiled = graph_jit(function, backend=backend)
    for change in (lambda held: None, *changes):
        change(held)
        for _ in range(2):
            wanted, found = np.asarray(function(X)), np.asarray(compiled(X))
            assert (found.dtype, found.tobytes()) == (wanted.dtype, wanted.tobytes())


TRANSFORMED: dict[str, Callable[[Callable[[Any], Any]], Callable[[Any], Any]]] = {
    "grad": lambda f: ng.grad(lambda x: np.sum(f(x) ** 2)),
    "grad of compiled": lambda f: ng.grad(graph_jit(lambda x: np.sum(f(x) ** 2))),
    "compiled grad": lambda f: graph_jit(ng.grad(lambda x: np.sum(f(x) ** 2))),
    "vmap": ng.vmap,
    "scan": lambda f: graph_jit(lambda x: ng.scan(lambda c, y: (f(c) + y, c), 0.0, x)[0]),
    "gufunc": lambda f: ng.gufunc("(n)->(n)")(f),
    "into": lambda f: functools.partial(graph_jit(f), out=np.empty(3)),
    "donated": lambda f: lambda x: graph_jit(f, donate_argnames="x")(x.copy()),
    "static": lambda f: functools.partial(graph_jit(lambda x, f: f(x), static_argnames="f"), f=f),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_changes_are_seen_inside_of(name: str) -> None:
    held: dict[str, Any] = {"k": 2.0, "list": [1.0]}
    function = TRANSFORMED[name](lambda x: x * held["k"] * sum(held["list"]))
    first = np.array(function(X))
    held["list"][0] = 2.0
    assert not np.array_equal(np.array(function(X)), first)
    held["k"], held["list"] = 1.0, [2.0]
    np.testing.assert_array_equal(np.array(function(X)), first)


def test_native_code_tells_versions_apart() -> None:
    held: dict[str, Any] = {"k": 2.0, "list": [1.0, 2.0], "set": {1.0}}
    compiled = graph_jit(lambda x: x * sum(held["list"]) * sum(held["set"]) * len(held))
    compiled(X)
    run, *_ = compiled._flat_calls
    np.testing.assert_array_equal(run(X), X * 9)
    for changed, undo in (
        (lambda: put("list", 1, 5.0)(held), put("list", 1, 2.0)),
        (lambda: held["list"].append(1.0), lambda held: held["list"].pop()),
        (lambda: held["set"].add(2.0), lambda held: held["set"].discard(2.0)),
        (lambda: put("new", 1.0)(held), lambda held: held.pop("new")),
    ):
        changed()
        assert run(X) is NotImplemented
        undo(held)
        np.testing.assert_array_equal(compiled(X), X * 9)
        np.testing.assert_array_equal(run(X), X * 9)
    assert compiled.cache_info().versions == 1


def test_entries_that_are_not_read_may_change() -> None:
    state = {"rate": 0.5, "step": 0}
    fields, log = Fields(2.0, []), logging.getLogger("numbagraph.tests")
    held = types.SimpleNamespace(log=log, name="abs")
    compiled = graph_jit(lambda x: getattr(np, held.name)(x) * state["rate"] * fields.a)
    compiled(X)
    run, *_ = compiled._flat_calls
    for step in range(20):
        state["step"], state[f"new {step}"] = step, 1
        fields.b.append(float(step))
        log.isEnabledFor(step)
        np.testing.assert_array_equal(run(X), X)
    assert compiled.cache_info().versions == 1


def test_many_states_are_warned_of() -> None:
    held = [0.0]
    compiled = graph_jit(lambda x: x * sum(held))
    with pytest.warns(RuntimeWarning, match="because an element of held was bound to something else"):
        called_with_other_elements(compiled, held)


def called_with_other_elements(compiled: Any, held: list[float]) -> None:
    for value in range(20):
        held[0] = float(value)
        np.testing.assert_array_equal(compiled(X), X * value)


def test_what_is_too_much_to_compare_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numbagraph.purity.reachable_code.MOST_GUARDS", 50)
    held = [[float(each)] for each in range(100)]
    with pytest.raises(ng.TraceError, match=r"more than 50 names, attributes and containers.*pass them as arguments"):
        graph_jit(lambda x: x * sum(each[0] for each in held))(X)


def subtracted(y: Any, x: Any = 5.0) -> Any:
    return x - y


def test_another_signature_is_seen() -> None:
    def function(x: Any, y: Any = 2.0) -> Any:
        return x - y

    compiled = graph_jit(function)
    np.testing.assert_array_equal(compiled(X), X - 2)
    function.__code__ = subtracted.__code__
    np.testing.assert_array_equal(compiled(X), 2 - X)
    np.testing.assert_array_equal(compiled(x=1.0, y=X), 1 - X)
    function.__defaults__ = None
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        compiled(X)
    function.__code__ = (lambda x: x * 7).__code__
    np.testing.assert_array_equal(compiled(X), X * 7)


def test_a_list_that_is_long() -> None:
    held = list(range(100_000))
    compiled = graph_jit(lambda x: x * np.sum(np.array(held)))
    before = compiled(X)
    held[77_777] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(X) - before, X)


class Link:
    def __init__(self, after: Link | None) -> None:
        self.after = after
        self.mark = 0


def test_each_of_many_objects_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def look(self: reachable_code.Walk, kind: type, owner: Any) -> None:
        looked.append(owner)
        watch(self, kind, owner)

    watch = reachable_code.Walk._watch_attributes
    monkeypatch.setattr(reachable_code.Walk, "_watch_attributes", look)
    first = Link(None)
    for _ in range(300):
        first = Link(first)

    def f(x: Any) -> Any:
        last: Any = first
        while last.after is not None:
            last = last.after
        return x + last.mark

    assert graph_jit(f)(1.0) == 1.0
    assert len(looked) < 10 * 300


def test_functions_of_libraries_have_few_guards() -> None:
    assert scipy.stats.norm  # one of hundreds of objects that SciPy's modules lead to
    for function in (linalg.solve_discrete_are, linalg.toeplitz):
        assert 10 < len(reachable_code.Walk(function, ()).guards) < 500
