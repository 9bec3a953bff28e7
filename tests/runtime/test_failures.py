"""A step of a loop that fails is found without running the steps before it, or anything else, again."""

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.jit.version import Version
from numbagraph.runtime import failures

N = 7


def numbers(x: Any) -> Any:
    return ng.fori_loop(0, x.shape[0] + 1, lambda i, c: 0.5 * c + x[i], 0.0)


def of_computed_array(x: Any) -> Any:
    y = np.cumsum(x) * 2
    return ng.fori_loop(0, 2 * x.shape[0], lambda i, c: 0.5 * c + y[i], 0.0)


def carried_array(x: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        ng.check(np.max(c) < 100.0, "{} at {}", np.max(c), i)
        return np.sin(c) + i * c[::-1]

    return ng.fori_loop(0, 40, step, x)


def carried_matrix(x: Any) -> Any:
    def step(m: Any, row: Any) -> Any:
        ng.check(np.sum(m) < 30.0, "{}", m)
        return (m @ m) / 2 + row, np.trace(m)

    return ng.scan(step, np.outer(x, x), np.ones((9, N)) * x[1])[1]


def carries_of_all_types(x: Any) -> Any:
    def step(state: Any) -> Any:
        whole, real, single, flag, complex_, number = state
        ng.check(number < 5, "{} {} {} {} {} {}", whole, real, single, flag, complex_, number)
        return whole + np.int32(2), real / 2, single * np.float32(1.5), ~flag, complex_ * 1j, number + 1

    start = (np.int32(1), x[2], np.float32(2.0), x[0] > 100, 1.0 + 2.0j, 0)
    return ng.while_loop(lambda state: state[0] < 1000, step, start)[1]


def in_condition(x: Any) -> Any:
    return ng.while_loop(lambda state: x[state[0]] >= 0, lambda state: (state[0] + 1, state[1] * 2), (0, 1.0))[1]


def backwards(x: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        ng.check(row > 3.0, "{} after {}", row, c)
        return c + row, c

    return ng.scan(step, 0.0, x[1:], reverse=True)[1]


def nested(x: Any) -> Any:
    def outer(i: Any, total: Any) -> Any:
        y = x * i
        return ng.fori_loop(0, i + 1, lambda j, t: t + y[2 * j], total)

    return ng.fori_loop(0, 100, outer, 0.0)


def in_branch_of_loop(x: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        return ng.cond(i > 3, lambda c: c + x[2 * i], lambda c: c * 2, c)

    return ng.fori_loop(0, 100, step, 1.0)


def loop_in_branch(x: Any) -> Any:
    return ng.cond(x[0] >= 0, numbers, lambda x: 1.0, x)


def after_others(x: Any) -> Any:
    first = ng.fori_loop(0, 5, lambda i, c: c + x[i], 0.0)
    second = ng.scan(lambda c, row: (c + row, c * first), 0.0, x)[1]
    return ng.fori_loop(0, 30, lambda i, c: c + second[i], 0.0)


def solution(x: Any) -> Any:
    def step(m: Any, _: Any) -> Any:
        return np.linalg.cholesky(m) - 1.0, None

    return ng.scan(step, np.eye(3) * x[3], None, 10)[0]


def gradient(x: Any) -> Any:
    return ng.grad(lambda x: ng.fori_loop(0, x.shape[0] + 2, lambda i, c: np.sin(c) * x[i], 1.0))(x)


def batch(x: Any) -> Any:
    return ng.vmap(lambda row: ng.fori_loop(0, 20, lambda i, c: c + row[i], 0.0))(np.outer(x, x))


def updated_in_place(x: Any) -> Any:
    def step(i: Any, a: Any) -> Any:
        a = a.copy()
        a[i] = 0.5 * a[i - 1] + x[i]
        return a

    return ng.fori_loop(1, 100, step, np.zeros(N + 5))


def read_after_an_update(x: Any) -> Any:
    def step(i: Any, a: Any) -> Any:
        a = a.copy()
        a[0] = a[0] + 1
        a[1] = a[0] + x[i]
        return a

    return ng.fori_loop(0, 100, step, x * 2)


PROGRAMS = [
    numbers,
    updated_in_place,
    read_after_an_update,
    of_computed_array,
    carried_array,
    carried_matrix,
    carries_of_all_types,
    in_condition,
    backwards,
    nested,
    in_branch_of_loop,
    loop_in_branch,
    after_others,
    solution,
    gradient,
    batch,
]
X = np.arange(1.0, N + 1)


def error_of(function: Callable[..., Any], *args: Any, **named: Any) -> Exception:
    with pytest.raises((IndexError, ng.CheckError, np.linalg.LinAlgError)) as caught:
        function(*args, **named)
    return caught.value


def summary(error: Exception) -> Any:
    """The kind of an error, its first line without names of values, the line in this file, and the steps."""
    first = re.sub(r"index \w+ is", "index is", str(error).partition("\n  ")[0])
    numbers_ = [f"{float(each):.6g}" for each in re.findall(r"[-+]?\d+\.\d+", first)]
    first = re.sub(r"[-+]?\d+\.\d+", "", first)
    return type(error), " ".join(first.split()), numbers_, re.findall(r"in step (\d+)", str(error))


@pytest.fixture
def nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(*args: Any) -> None:
        raise AssertionError("the whole graph is run again")

    monkeypatch.setattr("numbagraph.jit.execution.after_failure", again)


@pytest.mark.parametrize("layout", ["contiguous", "reversed"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_step_alone_is_run_again(program: Any, layout: str, nothing_again: None) -> None:
    x = X if layout == "contiguous" else X[::-1]
    expected = error_of(ng.graph_jit(program, backend="numpy"), x)
    f = ng.graph_jit(program)
    for _ in range(3):  # the first is not like the others: it compiles
        error = error_of(f, x)
        assert summary(error) == summary(expected)
        assert f"at {__file__}:" in str(error)
    called = error_of(ng.graph_jit(lambda tree: program(tree["x"])), {"x": x})
    assert summary(called) == summary(error)
    assert re.search(rf"at {__file__}:\d+, in <lambda>\n  at {__file__}:\d+, in {program.__name__}", str(called))


def counted(f: Any) -> list[int]:
    """How often native code is run, from now on."""
    runs = [0]

    def counting(version: Version) -> Version:
        def run(*args: Any) -> Any:
            runs[0] += 1
            return version.run(*args)

        return Version(run, version.rebuild)

    f._flat_calls = tuple(counting(Version(each, None)).run for each in f._flat_calls)
    table = f.versions.dispatcher
    table.versions = {key: tuple(map(counting, each)) for key, each in table.versions.items()}
    for group in f.versions._traced.values():
        for traced in group.values():
            traced.version = counting(traced.version)
    return runs


@pytest.mark.parametrize("by_name", [False, True])
def test_native_code_runs_once(by_name: bool) -> None:
    f = ng.graph_jit(numbers)
    error_of(f, X)
    runs = counted(f)
    error_of(f, x=X) if by_name else error_of(f, X)
    assert runs == [1]


def test_a_loop_that_overwrites_what_it_reads() -> None:
    """What its last step was given is lost: the whole graph is run again."""

    def f(x: Any) -> Any:
        def step(i: Any, a: Any) -> Any:
            a = a.copy()
            a[i] = a[i] + 1
            ng.check(np.sum(a) < 33, "{}", a[0])
            a[0] = 7.0
            return a

        return ng.fori_loop(0, 100, step, x)

    assert summary(error_of(ng.graph_jit(f), X)) == summary(error_of(ng.graph_jit(f, backend="numpy"), X))


def test_results_given_by_the_caller_and_donated_arguments(nothing_again: None) -> None:
    def f(x: Any) -> Any:
        return ng.scan(lambda c, i: (c + x[i], c), 0.0, np.arange(9))[1] + x[0]

    expected = summary(error_of(ng.graph_jit(f, backend="numpy"), X))
    compiled, out = ng.graph_jit(f), np.zeros(9)
    for _ in range(3):
        assert summary(error_of(compiled, X, out=out)) == expected
    assert summary(error_of(ng.graph_jit(f, donate_argnames="x"), X.copy())) == expected


def test_what_was_left_is_not_taken_for_another_call() -> None:
    f = ng.graph_jit(lambda x, n: ng.fori_loop(0, n, lambda i, c: c + x[i], 0.0))
    assert f(X, N) == np.sum(X)
    for _ in range(3):
        assert summary(error_of(f, X, N + 1))[3] == [str(N)]
        assert not failures.is_stopped()
        assert f(X, N) == np.sum(X)
        assert f(X.astype(np.float32), N) == np.sum(X)
        assert f(X[::2], 3) == np.sum(X[:5:2])
    with pytest.raises(TypeError):
        f(X, "7")


def test_a_failure_that_nobody_asked_about() -> None:
    """A stop that is left behind is of no matter to the next call, even one with the same arguments."""
    f = ng.graph_jit(numbers)
    g = ng.graph_jit(lambda x: ng.fori_loop(0, x.shape[0], lambda i, c: c + x[i], 0.0))
    assert g(X) == np.sum(X)
    error_of(f, X)
    for run in f._flat_calls:
        assert run(X) is NotImplemented
    assert failures.is_stopped()
    assert g(X) == np.sum(X)
    assert g(x=X) == np.sum(X)
    assert g(X, out=None) == np.sum(X)
    assert not failures.is_stopped()


def test_threads_have_their_own(nothing_again: None) -> None:
    f = ng.graph_jit(lambda x, n: ng.fori_loop(0, n, lambda i, c: c + x[i], 0.0))
    f(X, 1)
    wrong = []

    def call(length: int) -> None:
        x = np.arange(1.0, length + 1)
        for _ in range(50):
            found = summary(error_of(f, x, 100_000))
            if found[3] != [str(length)] or f(x, length) != np.sum(x):
                wrong.append(found)

    threads = [threading.Thread(target=call, args=(1000 + number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_code_from_the_disk(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, nothing_again: None) -> None:
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    found = [summary(error_of(ng.graph_jit(nested), X)) for _ in range(2)]
    assert found[0] == found[1]
