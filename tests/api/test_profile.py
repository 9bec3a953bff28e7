"""`profile`: the measured program gives the results of the plain one, and what it counts is known beforehand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit, profile
from numbagraph.api import profiling
from tests.support.html import Reader

X = np.linspace(0.1, 2.0, 500)
A = np.random.default_rng(1).normal(size=(500, 20))


@pytest.fixture(scope="module", autouse=True)
def few_calls():
    """Little is measured: what is tested does not depend on it."""
    profiling.copy_rates.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiling, "BUDGET", 0.01)
        patch.setattr(profiling, "COPIED", (2**15, 2**17))
        yield
    profiling.copy_rates.cache_clear()


def two_nests(x):
    return np.cumsum(x) / np.sum(x), np.sort(x)


def looped(x, n):
    for i in range(n):
        x = np.sin(x) + x[::-1] / (i + 2)
        if x[0] > 1:
            x = x / np.sum(x)
    return x


def halved(x):
    count = 0
    while np.sum(x) > 1:
        x = x / 2
        count = count + 1
    return x, count


def kept(x):
    return np.cumsum(x[x > 1.0])


def written(x):
    x[1:] = x[:-1] * 2
    return np.sum(x)


def products(x, a):
    return np.sum(np.tanh(a @ x[: a.shape[1]]) ** 2)


CASES = {
    "nests": (two_nests, (X,)),
    "loop": (looped, (X, 7)),
    "while": (halved, (X,)),
    "phases": (kept, (X,)),
    "written": (written, (X,)),
    "tiled": (numbagraph.grad(products), (X, A)),
    "number": (lambda x: x * 2 + 1, (2.0,)),
    "empty": (lambda x: np.cumsum(x), (np.ones(0),)),
    "strided": (lambda x: x * 2, (A[::3, ::-1],)),
    "reverse": (numbagraph.grad(lambda x: halved(x)[0][3]), (X,)),
}


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_a_call(case, parallel):
    function, arguments = CASES[case]
    if parallel:
        function = graph_jit(function, parallel=True)
    own = [np.copy(each) if isinstance(each, np.ndarray) else each for each in arguments]
    found = profile(function, *own)
    for each, before in zip(own, arguments, strict=True):
        np.testing.assert_array_equal(each, before)
    expected = function(*own) if case in ("tiled", "reverse") else CASES[case][0](*own)
    for one, other in (
        zip(found.result, expected, strict=True) if type(expected) is tuple else [(found.result, expected)]
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)
        assert type(one) is type(other) or not isinstance(other, np.ndarray)
    assert all(each.runs > 0 and each.seconds >= 0 for each in found.steps)


def by_kind(found, kind):
    return [each for each in found.steps if each.kind == kind]


def test_runs_and_bytes_of_a_loop():
    found = profile(looped, X, 7)
    (loop,) = by_kind(found, "loop")
    assert (loop.depth, loop.runs, loop.bytes) == (0, 1, 0)
    inner = [each for each in by_kind(found, "nest") if each.depth == 1]
    assert {each.runs for each in inner} == {7}
    assert max(each.bytes for each in inner) == 7 * 2 * X.nbytes
    assert max(each.iterations for each in inner) == 7 * X.size
    assert all(each.seconds <= loop.seconds for each in inner)
    assert "test_profile.py" in inner[0].source


def test_runs_of_a_branch_that_is_taken_now_and_then():
    def signs(x):
        total = 0.0
        for each in x:
            if each > 0:
                total += np.sum(np.exp(each * X))
        return total

    found = profile(signs, np.array([1.0, -1.0, 1.0, -2.0, -3.0]))
    assert [each.runs for each in by_kind(found, "branch")] == [5]
    assert [each.runs for each in by_kind(found, "nest") if each.depth == 2] == [2]


def test_steps_of_a_loop_until_a_condition_fails():
    found = profile(halved, X)
    (loop,) = by_kind(found, "loop")
    assert loop.runs == 1
    nests = [each for each in found.steps if each.depth]
    assert found.result[1] in {each.runs for each in nests}


def test_gathered_elements_count_alone():
    found = profile(lambda x, i: x[i], np.ones(100_000), np.array([1, 5, 7]))
    assert [each.bytes for each in found.steps] == [3 * 3 * 8]


def test_a_call_counts_its_operands():
    found = profile(lambda x: np.sort(x), np.ones(300))
    (call,) = by_kind(found, "call")
    assert call.bytes == 2 * 300 * 8
    assert call.limit > 0
    assert call.bandwidth is None or call.of_limit == call.bandwidth / call.limit


def test_a_table_html_and_json():
    found = profile(looped, X, 3)
    text = str(found)
    assert "loop" in text
    assert "a call" in text
    assert len(text.splitlines()) == 3 + len(found.steps)
    html = Reader(found._repr_html_())
    assert "table" in html.tags
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["steps"][0]["runs"] == found.steps[0].runs
    assert [size for size, _ in plain["limits"]] == sorted(found.limits)
    assert found.outside <= found.seconds


def test_what_calls_leave_behind_stays():
    total = numbagraph.shared(np.zeros(3))
    generator = np.random.default_rng(5)

    @graph_jit
    def drawn(rng, x):
        total.value = total.value + x
        return rng.normal(size=3)

    state = generator.bit_generator.state
    found = profile(drawn, generator, np.ones(3))
    assert generator.bit_generator.state == state
    np.testing.assert_array_equal(total.value, np.zeros(3))
    np.testing.assert_array_equal(found.result, np.random.default_rng(5).normal(size=3))


def test_a_function_that_prints_is_called_once(capfd):
    def printing(x):
        numbagraph.debug_print("sum {}", np.sum(x))
        return x + 1

    assert profile(printing, np.ones(2)).calls == 1
    assert capfd.readouterr().out.count("sum 2.0") == 1


def test_other_versions_stay_as_they_were():
    function = graph_jit(two_nests)
    function(X)
    before = function.cache_info()
    profile(function, X)
    assert function.cache_info() == before


def test_refusals():
    with pytest.raises(ValueError, match="backend 'numpy'"):
        profile(graph_jit(two_nests, backend="numpy"), X)
    with pytest.raises(TypeError, match="give an array"):
        profile(two_nests, numbagraph.Abstract((3,)))
    with pytest.raises(NotImplementedError, match="outside of traced functions"):
        graph_jit(lambda x: profile(two_nests, x).result)(X)
    with pytest.raises(IndexError, match="out of bounds"):
        profile(lambda x, i: x[i], X, 500)
    with pytest.raises(TypeError, match="compiles functions"):
        profile(3, X)
