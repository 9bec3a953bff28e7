"""What a compiled function reads of the world around it may be bound to something else: the next call sees that."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
import pickle
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.purity.environment import MOST_STATES
from numbagraph.runtime.guards import same
from tests.support.tally import Tally

X = np.array([1.0, 2.0, 3.0])
K: Any = 2.0
TABLE: Any = np.arange(3.0)
settings = types.ModuleType("settings")
settings.scale = 2.0  # type: ignore[attr-defined]


def activation(x: Any) -> Any:
    return np.abs(x)


def square(x: Any) -> Any:
    return x * x


def activation_of(function: Any, x: Any) -> Any:
    return function(x)


def read_global(x: Any) -> Any:
    return x * K


def set_global(name: str, value: Any) -> Callable[[], None]:
    return lambda: globals().__setitem__(name, value)


def check(function: Any, *changes: Callable[[], Any], arguments: tuple[Any, ...] = (X,), plain: Any = None) -> None:
    """Compare a compiled function with the plain one, before and after each change, and once more after going back."""
    compiled = function if isinstance(function, GraphFunction) else graph_jit(function)
    plain = plain or (compiled.function if isinstance(function, GraphFunction) else function)
    for change in (lambda: None, *changes):
        change()
        for _ in range(2):
            found, wanted = compiled(*arguments), plain(*arguments)
            np.testing.assert_array_equal(found, wanted)
            assert np.asarray(found).dtype == np.asarray(wanted).dtype


@pytest.fixture(autouse=True)
def restored() -> Any:
    names = ("K", "TABLE", "activation")
    before = {name: globals()[name] for name in names}
    yield
    globals().update(before)
    settings.scale = 2.0  # type: ignore[attr-defined]


def test_globals_of_all_kinds() -> None:
    check(read_global, set_global("K", 3.0), set_global("K", 3), set_global("K", np.float32(3)), set_global("K", 2.0))
    check(lambda x: x + TABLE, set_global("TABLE", np.ones(3)), set_global("TABLE", 5.0))
    check(lambda x: activation(x), set_global("activation", square), set_global("activation", np.negative))
    check(lambda x: x * settings.scale, lambda: setattr(settings, "scale", 7.0))


def test_versions_are_found_again_and_equal_numbers_share_one() -> None:
    compiled = graph_jit(read_global)
    for value in (2.0, 3.0, float("2.0"), float("3.0"), 2.0):
        set_global("K", value)()
        np.testing.assert_array_equal(compiled(X), X * value)
    assert compiled.cache_info().versions == 2
    run, *_ = compiled._flat_calls  # the native entry alone tells them apart
    np.testing.assert_array_equal(run(X), X * 2)
    set_global("K", 4.0)()
    assert run(X) is NotImplemented


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, 1.0, False),
        (1, True, False),
        (0.0, -0.0, False),
        (complex(0.0, 0.0), complex(0.0, -0.0), False),
        (math.nan, float("nan"), True),
        (10**6, int("1000000"), True),
        ("text", "".join(["te", "xt"]), True),
        ((1, (2.5,)), (1, (float("2.5"),)), True),
        ((1, 2), (1, 2, 3), False),
        ((1,), (1.0,), False),
        (np.float32(1), np.float64(1), False),
        (np.float64(1), np.float64(1), True),
        (np.float64(0.0), np.float64(-0.0), False),
        (np.ones(2), np.ones(2), False),
        ([1], [1], False),
        (None, 0, False),
    ],
)
def test_numbers_are_the_same_by_type_and_value_others_by_identity(one: Any, other: Any, alike: bool) -> None:
    assert same(one, other) is alike
    assert same(other, one) is alike
    assert same(one, one)


def test_signs_of_zero_and_nan() -> None:
    compiled = graph_jit(lambda x: np.copysign(x, K))
    for value in (0.0, -0.0, math.nan, 0.0, float("nan"), -0.0):
        set_global("K", value)()
        np.testing.assert_array_equal(compiled(X), np.copysign(X, value))
    assert compiled.cache_info().versions == 3


def test_closures() -> None:
    def make() -> tuple[Any, Any]:
        factor, shift = 2.0, 1.0

        def change(new: float) -> None:
            nonlocal factor, shift
            factor, shift = new, -new

        def inner(x: Any) -> Any:
            return activation_of(lambda y: y * factor, x) + sum([shift for _ in range(2)])

        return inner, change

    function, change = make()
    check(function, lambda: change(5.0), lambda: change(2.0))


class Base:
    rate = 0.5

    def offset(self, x: Any) -> Any:
        return x + self.bias

    bias: Any = 1.0


class Model(Base):
    def __init__(self) -> None:
        self.k = 2.0
        self.w = np.arange(3.0)
        self.part = types.SimpleNamespace(b=10.0, deeper=Base())
        self.layers = [Base(), Base()]

    @property
    def doubled(self) -> Any:
        return self.k * 2

    @staticmethod
    def fixed(x: Any) -> Any:
        return x * K

    @classmethod
    def rated(cls, x: Any) -> Any:
        return x * cls.rate

    def offset(self, x: Any) -> Any:
        return super().offset(x) * 3

    def run(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer.offset(x)
        return self.offset(x) * self.k + self.w + self.part.b + self.part.deeper.bias

    def others(self, x: Any) -> Any:
        return x * self.doubled + self.fixed(x) + self.rated(x) + activation_of(lambda y: y * self.k, x)

    compiled = graph_jit(run)
    others_compiled = graph_jit(others)


def test_attributes_of_self() -> None:
    model, other = Model(), Model()
    check(
        model.compiled,
        lambda: setattr(model, "k", 3.0),
        lambda: setattr(model, "w", np.ones(3)),
        lambda: setattr(model.part, "b", 20.0),
        lambda: setattr(model.part.deeper, "bias", 4.0),
        lambda: setattr(model, "part", types.SimpleNamespace(b=0.0, deeper=model)),
        lambda: setattr(model.layers[0], "bias", 0.25),
        lambda: setattr(model, "bias", 6.0),  # now before the class's
    )
    np.testing.assert_array_equal(other.compiled(X), other.run(X))


def test_properties_classes_and_methods_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    check(
        model.others_compiled,
        lambda: setattr(model, "k", 3.0),
        set_global("K", 5.0),
        lambda: monkeypatch.setattr(Base, "rate", 0.75),
        lambda: monkeypatch.setattr(Model, "rate", 0.25, raising=False),
        lambda: monkeypatch.setattr(Model, "fixed", staticmethod(lambda x: x - 1)),
        lambda: monkeypatch.delattr(Model, "rate"),
    )


class Slots:
    __slots__ = ("inner", "k")

    def __init__(self) -> None:
        self.k, self.inner = 2.0, 1.0

    def __call__(self, x: Any) -> Any:
        return x * self.k + self.inner


@dataclasses.dataclass
class Parameters:
    mu: float
    names: tuple[str, ...] = ("a",)

    def shifted(self, x: Any) -> Any:
        return x - self.mu + len(self.names)


def test_slots_dataclasses_and_callable_objects() -> None:
    slots, parameters = Slots(), Parameters(1.0)
    check(slots, lambda: setattr(slots, "k", 3.0), lambda: setattr(slots, "inner", -1.0))
    check(
        lambda x: parameters.shifted(x),
        lambda: setattr(parameters, "mu", 2.0),
        lambda: setattr(parameters, "names", ("a", "b")),
    )


def helper(x: Any) -> Any:
    return np.sum(x * K)


@graph_jit
def compiled_helper(x: Any) -> Any:
    return helper(x) + TABLE[0]


def test_helpers_compiled_or_not_and_transformations() -> None:
    changes = (set_global("K", 3.0), set_global("TABLE", np.ones(3)))
    check(lambda x: compiled_helper(x) + 1, *changes, plain=lambda x: helper(x) + TABLE[0] + 1)
    check(numbagraph.grad(helper), set_global("K", 7.0), plain=lambda x: np.full(3, K))
    check(graph_jit(numbagraph.grad(helper)), set_global("K", 9.0), plain=lambda x: np.full(3, K))
    check(
        numbagraph.vmap(helper), set_global("K", 2.0), arguments=(np.ones((2, 3)),), plain=lambda x: np.full(2, 3 * K)
    )
    check(functools.partial(lambda power, x: x**power * K, 2), set_global("K", 5.0))
    gufunc = numbagraph.gufunc("(n)->()")(helper)
    check(gufunc, set_global("K", 6.0), plain=helper)


def test_gradients_that_are_called_without_compiling_them() -> None:
    gradient = numbagraph.grad(helper)
    for value in (2.0, 3.0, 2.0):
        set_global("K", value)()
        np.testing.assert_array_equal(gradient(X), np.full(3, value))


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_trees_outputs_static_arguments_and_backends(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = graph_jit(lambda tree, power: tree["a"] ** power * K, static_argnames="power", backend=backend)
    out = np.empty(3)
    for level in ("0", "2"):
        monkeypatch.setenv("NUMBAGRAPH_CHECK", level)
        for value in (2.0, 3.0, 2.0):
            set_global("K", value)()
            np.testing.assert_array_equal(compiled({"a": X}, 2), X**2 * value)
            np.testing.assert_array_equal(compiled({"a": X}, 3), X**3 * value)
            assert compiled({"a": X}, 2, out=out) is out
            np.testing.assert_array_equal(out, X**2 * value)


def test_a_function_that_reads_nothing_has_no_guards() -> None:
    def mean(x: Any) -> Any:
        return np.sum(np.exp(x)) / x.shape[0] * math.pi

    compiled = graph_jit(mean)
    compiled(X)
    ((traced,),) = (group.values() for group in compiled.versions._traced.values())
    assert traced.specialisation is not None
    assert traced.specialisation.plan.record.guard_count == 0


def test_a_counter_is_bounded_and_said_once() -> None:
    compiled = graph_jit(read_global, backend="numpy")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for value in range(3 * MOST_STATES):
            set_global("K", value)()
            np.testing.assert_array_equal(compiled(X), X * value)
    assert len(caught) == 1
    assert "because K was bound to something else: pass it as an argument" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert compiled.cache_info().versions == MOST_STATES


def test_what_the_function_itself_changes_while_it_is_traced() -> None:
    made = Tally()

    class Lazy:
        @functools.cached_property
        def table(self) -> Any:
            made.step()
            return np.arange(3.0)

        def run(self, x: Any) -> Any:
            return x + self.table

    lazy = Lazy()
    compiled = graph_jit(lazy.run)
    np.testing.assert_array_equal(compiled(X), X + np.arange(3.0))
    lazy.__dict__["table"] = np.ones(3)
    np.testing.assert_array_equal(compiled(X), X + 1)
    assert len(made) == 1


def test_names_that_are_not_there_yet_or_no_longer() -> None:
    compiled = graph_jit(read_global)
    compiled(X)
    del globals()["K"]
    with pytest.raises(NameError):
        compiled(X)
    set_global("K", 4.0)()
    np.testing.assert_array_equal(compiled(X), X * 4)


def test_cache_clear_sees_contents_that_were_changed_in_place() -> None:
    table = np.ones(3)
    compiled = graph_jit(lambda x: x + table)
    np.testing.assert_array_equal(compiled(X), X + 1)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    old, out = compiled.address(X), np.empty(3)
    table[:] = 5
    np.testing.assert_array_equal(compiled(X), X + 1)  # a snapshot
    compiled.cache_clear()
    assert compiled.cache_info().versions == 0
    assert compiled._flat_calls == ()
    np.testing.assert_array_equal(compiled(X), X + 5)
    np.testing.assert_array_equal(compiled(X, out=out), X + 5)
    assert prototype(old)(X.ctypes.data, 3, out.ctypes.data) == 0  # still there
    np.testing.assert_array_equal(out, X + 1)
    assert prototype(compiled.address(X))(X.ctypes.data, 3, out.ctypes.data) == 0
    np.testing.assert_array_equal(out, X + 5)


def test_pickled_functions_have_guards_of_their_own() -> None:
    compiled_helper(X)
    loaded = pickle.loads(pickle.dumps(compiled_helper))
    set_global("K", 11.0)()
    assert loaded(X) == compiled_helper(X) == helper(X) + TABLE[0]


def test_no_code_of_objects_is_run_to_find_what_they_hold() -> None:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            if name == "k":
                raise RuntimeError("asked the class")
            return super().__getattribute__(name)

    class Own(metaclass=Meta):
        k = 3.0

        @property
        def __dict__(self) -> Any:
            raise RuntimeError("asked for the dict")

        def run(self, x: Any) -> Any:
            return x * self.k

    own = Own()
    np.testing.assert_array_equal(graph_jit(lambda x: own.run(x))(X), X * 3)


def test_objects_that_are_guarded_stay_alive() -> None:
    compiled = graph_jit(lambda x: x + TABLE)
    for value in range(6):  # a new array may get the place of one that is gone
        set_global("TABLE", np.full(3, float(value)))()
        np.testing.assert_array_equal(compiled(X), X + value)
