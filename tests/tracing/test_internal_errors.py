"""Faults of numbagraph are planted in its passes and emitters: users get their own line, and what to report."""

import pickle
import traceback
from pathlib import Path

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import graph_jit
from numbagraph.errors import InternalError
from numbagraph.loops import schedule
from numbagraph.loops.nests import ElementBuilder
from numbagraph.rewrite import pipeline
from numbagraph.runtime import specialise
from numbagraph.tracing.internal_errors import CALLERS, CAPTURE, COMPILER, GENERATORS, LOOPS_OF_USERS
from numbagraph.tracing.tracer import Tracer
from numbagraph.tracing.user_code import OWN
from tests.support.planted import planted

X = np.arange(1.0, 5.0)


@pytest.fixture(autouse=True)
def without_a_cache(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    monkeypatch.delenv("NUMBAGRAPH_DEBUG", raising=False)


def line_of(function, more=0):
    return f"{__file__}:{function.__code__.co_firstlineno + more}"


def shifted(x):
    y = np.sin(x)
    return y + 1.0


def test_files_that_tell_faults_apart_exist():
    tables = (COMPILER, GENERATORS, CAPTURE, CALLERS, LOOPS_OF_USERS)
    assert [each for paths in tables for each in paths if not Path(each).exists()] == []


BODIES = {
    "assert False, 'planted'": "AssertionError: planted",
    "return {}['planted']": "KeyError: 'planted'",
    "return ()[3]": "IndexError: tuple index out of range",
    "return None.planted": "AttributeError: 'NoneType' object has no attribute 'planted'",
    "return planted": "NameError: name 'planted' is not defined",
    "return 1 + 'planted'": "TypeError: unsupported operand",
    "return int('planted')": "ValueError: invalid literal",
    "raise NotImplementedError('planted')": "NotImplementedError: planted",
    "raise NotImplementedError": "NotImplementedError: ",
    "raise KeyError('planted')": "KeyError: 'planted'",
}
PLACES = {
    "a schedule": (schedule, "plan_memory", "loops/planted.py"),
    "a nest": (ElementBuilder, "compute", "loops/planted.py"),
    "memory": (schedule, "pack", "loops/planted.py"),
    "code": (specialise, "compile_parts", "emit/planted.py"),
}


@pytest.mark.parametrize("body", BODIES)
def test_whatever_arises_in_the_compiler_is_an_internal_error(body, monkeypatch):
    monkeypatch.setattr(schedule, "plan_memory", planted("loops/planted.py", body))
    with pytest.raises(InternalError, match="report it with the function") as caught:
        graph_jit(shifted)(X)
    text = str(caught.value)
    assert f"while it compiled shifted ({line_of(shifted)}): {BODIES[body]}" in text
    assert "numbagraph/loops/planted.py:2" in text
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert frames[-1].filename == f"{OWN}loops/planted.py"
    assert type(pickle.loads(pickle.dumps(caught.value))) is InternalError


@pytest.mark.parametrize("place", PLACES)
def test_faults_of_each_stage(place, monkeypatch):
    owner, name, file = PLACES[place]
    monkeypatch.setattr(owner, name, planted(file, "assert False, 'planted'"))
    with pytest.raises(InternalError, match="planted"):
        graph_jit(lambda x: np.sin(x[::2]) @ x[1::2] + np.linalg.det(x[:4:2, None] * x))(X)


def test_a_pass_that_asserts_names_the_line(monkeypatch):
    wrong = pipeline.GraphPass("numbagraph.rewrite.linear:linear_sums", name="wrong")
    vars(wrong)["function"] = planted("rewrite/planted.py", "node = args[0].outputs[0]; assert node is None, 'planted'")
    monkeypatch.setattr(pipeline, "PASSES", (wrong, *pipeline.PASSES))
    with pytest.raises(InternalError, match="AssertionError: planted") as caught:
        graph_jit(shifted)(X)
    assert str(caught.value).endswith(f"\n  in add(float64[x.shape[0]], float64[])\n  at {line_of(shifted, 2)}")


def test_an_emitter_that_lacks_a_key_names_the_line(monkeypatch):
    monkeypatch.setattr(
        ElementBuilder, "compute", planted("intrinsics/planted.py", "node = args[1]; return {}[node.op.name]")
    )
    with pytest.raises(InternalError, match="KeyError: 'add'") as caught:
        graph_jit(shifted)(X)
    assert f"\n  at {line_of(shifted, 2)}" in str(caught.value)


ENTRIES = {
    "a call": lambda f: f(X),
    "a call with a keyword": lambda f: f(x=X),
    "warmup": lambda f: f.warmup(X),
    "explain": lambda f: f.explain(X),
    "llvm": lambda f: f.llvm(X),
    "out=": lambda f: f(X, out=np.empty(4)),
    "a derivative": lambda f: ng.grad(lambda x: np.sum(f(x)))(X),
    "a batch": lambda f: ng.vmap(f)(np.ones((2, 4))),
    "another compiled function": lambda f: graph_jit(lambda x: f(x) * 2)(X),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_at_each_entry(entry, monkeypatch):
    for name in ("plan_memory", "needed_at_entry"):
        monkeypatch.setattr(schedule, name, planted("loops/planted.py", "assert False, 'planted'"))
    with pytest.raises(InternalError, match="planted"):
        ENTRIES[entry](graph_jit(shifted))


def test_a_gufunc(monkeypatch):
    monkeypatch.setattr(schedule, "plan_memory", planted("loops/planted.py", "assert False, 'planted'"))
    with pytest.raises(InternalError, match="planted"):
        ng.vectorize(lambda x: x + 1.0)(X)


@pytest.mark.parametrize(
    "body", ["assert False, 'planted'", "return {}['planted']", "return None.planted", "return ()[3]", "return planted"]
)
def test_a_fault_while_a_function_is_traced_names_the_line(body, monkeypatch):
    monkeypatch.setattr(Tracer, "astype", planted("ops/planted.py", body))

    def flat(x):
        y = x * 2
        return y.astype(int)

    with pytest.raises(InternalError, match="while it traced") as caught:
        graph_jit(flat)(X)
    assert f"\n  at {line_of(flat, 2)}" in str(caught.value)


def test_it_passes_through_functions_that_are_traced(monkeypatch):
    monkeypatch.setattr(Tracer, "astype", planted("ops/planted.py", "return {}['planted']"))
    inner = graph_jit(lambda x: x.astype(int))
    with pytest.raises(InternalError, match="KeyError: 'planted'") as caught:
        graph_jit(lambda x: inner(x) + 1)(X)
    assert isinstance(caught.value.__cause__, KeyError)
    assert str(caught.value).count("numbagraph failed") == 1


# ---- errors of users, which stay as they are ----


class Thing:
    def __getitem__(self, key):
        raise KeyError(key)


def asserts(x):
    assert x.shape[0] == 3, "of the user"
    return x


def asserts_in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        assert len(x) == 3, "of the user"
        if x[i] > 0:
            total += x[i]
    return total


def asserts_of_numbers(x):
    assert x[0] > 5, "of the user"
    return x


def raises_in_a_branch(x):
    if x[0] > 0:
        raise KeyError("of the user")
    return x


def calls(x):
    def callback(y):
        assert y is None, "of the user"

    return ng.pure_callback(callback, x, x)


def looks_up_in_a_loop(x):
    table, total = {"a": 1}, 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += table["of the user"]
    return total


def takes_an_attribute_in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += x.of_the_user
    return total


def pops(x):
    found = [x]
    found.pop()
    return found.pop()


USERS = {
    "an assertion": (asserts, AssertionError, "of the user"),
    "an assertion in a loop": (asserts_in_a_loop, AssertionError, "of the user"),
    "an assertion about numbers": (asserts_of_numbers, AssertionError, "of the user"),
    "a raise in a branch": (raises_in_a_branch, KeyError, "of the user"),
    "a callback": (calls, AssertionError, "of the user"),
    "a key": (lambda x: {}["of the user"] + x, KeyError, "of the user"),
    "a key in a loop": (looks_up_in_a_loop, KeyError, "of the user"),
    "an attribute": (lambda x: x.of_the_user, AttributeError, "of_the_user"),
    "an attribute in a loop": (takes_an_attribute_in_a_loop, AttributeError, "of_the_user"),
    "an element": (lambda x: [x][x.ndim], IndexError, "list index out of range"),
    "an empty list": (pops, IndexError, "pop from empty list"),
    "an object of the user's": (lambda x: x + Thing()["of the user"], KeyError, "of the user"),
    "a scan": (lambda x: ng.scan(lambda c, y: (c, {}["of the user"]), 0.0, x), KeyError, "of the user"),
    "a batch": (lambda x: ng.vmap(lambda y: {}["of the user"])(x), KeyError, "of the user"),
    "a derivative": (lambda x: ng.grad(lambda y: {}["of the user"])(x), KeyError, "of the user"),
    "NumPy's": (lambda x: np.sum(x, axis=3), ValueError, "axis 3"),
    "a position": (lambda x: x[7], IndexError, "7"),
    "what is not there yet": (lambda x: np.linalg.svd(np.outer(x, x), hermitian=True), NotImplementedError, "eigh"),
}


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_errors_of_users_stay_as_they_are(name, backend):
    function, kind, text = USERS[name]
    with pytest.raises(kind, match=text) as caught:
        graph_jit(function, backend=backend)(X)
    assert not isinstance(caught.value, InternalError)


def test_what_numbagraph_raises_has_no_frames_of_its_own():
    with pytest.raises(AssertionError) as caught:
        graph_jit(asserts)(X)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert not any(each.filename.startswith(str(Path(ng.__file__).parent)) for each in frames)
