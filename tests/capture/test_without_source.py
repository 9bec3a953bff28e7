"""Functions that `exec` has made, of which no source is known: they may ask for lengths, and are made for each."""

from __future__ import annotations

import linecache
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from numbagraph import TraceError, grad, graph_jit, vmap
from numbagraph.jit.version import StepLimit

BODIES = {
    "length": """
        if len(x) > 3:
            return x * 2
        return x""",
    "shape": """
        return x * 2 if x.shape[0] > 3 else x""",
    "shapes": """
        if x.shape == (5,):
            return np.sum(x)
        return x[0]""",
    "size": """
        n = x.size
        if n % 2:
            return x[1:]
        return x""",
    "truth of a length": """
        if not len(x):
            return np.zeros(1)
        return x[-1] + x""",
    "least": """
        return x[: min(len(x), 3)].sum()""",
    "loop": """
        total = 0.0
        for i in range(len(x)):
            total = total + x[i] ** i
        return total""",
    "elements": """
        return sum(v * v for v in x)""",
    "while": """
        n = len(x)
        while n > 1:
            n //= 2
            x = x + n
        return x""",
    "number of rows": """
        a, *rest = x
        return a + len(rest)""",
}


def made(body: str) -> Callable[[Any], Any]:
    """A function without source."""
    scope: dict[str, Any] = {"np": np}
    exec(f"def function(x):{textwrap.indent(textwrap.dedent(body), '    ')}", scope)
    return scope["function"]


@pytest.mark.parametrize("name", BODIES)
def test_lengths_may_be_asked_for(name: str) -> None:
    function = made(BODIES[name])
    compiled = graph_jit(function)
    for count in (5, 2, 7, 1, 5):
        x = np.arange(1.0, count + 1)
        np.testing.assert_allclose(compiled(x), function(x))
        np.testing.assert_allclose(compiled(x + 1), function(x + 1))
    assert compiled.cache_info().versions == 4


def test_no_elements() -> None:
    np.testing.assert_array_equal(graph_jit(made(BODIES["truth of a length"]))(np.zeros(0)), [0])
    np.testing.assert_array_equal(graph_jit(made(BODIES["shape"]))(np.zeros(0)), np.zeros(0))


def test_transformations() -> None:
    function, x = made(BODIES["loop"]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(graph_jit(grad(function))(x), [0, 1, 6])
    np.testing.assert_allclose(graph_jit(vmap(function))(np.stack([x, x + 1])), [function(x), function(x + 1)])
    helper = graph_jit(lambda x: function(x) + function(x[1:]))
    np.testing.assert_allclose(helper(x), function(x) + function(x[1:]))


def note_of(call: Callable[[], Any], kind: type[Exception] = TraceError) -> str:
    with pytest.raises(kind) as caught:
        call()
    return "\n".join(getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize("body", ["return x if x[0] > 0 else -x", "while x[0] > 0: x = x - 1\n    return x"])
def test_what_elements_decide_is_refused_with_the_remedy(body: str) -> None:
    compiled = graph_jit(made(f"\n    {body}"))
    for _ in range(2):
        note = note_of(lambda: compiled(np.ones(3)))
        assert "the source of function is not known" in note
        assert "linecache.cache[name] = (len(text), None, text.splitlines(True), name)" in note


def test_a_source_that_linecache_has_is_captured() -> None:
    text, name = "def function(x):\n    return x if x[0] > 0 else -x\n", "<made by a test>"
    scope: dict[str, Any] = {}
    exec(compile(text, name, "exec"), scope)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    compiled = graph_jit(scope["function"])
    np.testing.assert_array_equal(compiled(np.array([-1.0, 2.0])), [1, -2])
    np.testing.assert_array_equal(compiled(np.array([1.0, 2.0, 3.0])), [1, 2, 3])
    assert compiled.cache_info().versions == 1


def test_a_long_loop_is_not_unrolled() -> None:
    compiled = graph_jit(made(BODIES["loop"]))
    assert compiled(np.ones(50)) == 50
    with pytest.raises(TraceError, match=r"unroll to more than 20,000 operations, .*: define it"):
        compiled(np.ones(StepLimit.most))
    assert compiled(np.ones(3)) == 3


def test_a_caller_in_native_code_has_no_lengths() -> None:
    compiled = graph_jit(made(BODIES["shape"]))

    @njit
    def caller(x):
        return compiled(x)

    with pytest.raises(Exception, match=r"truth of a traced array"):
        caller(np.ones(3))
    np.testing.assert_array_equal(compiled(np.ones(5)), np.full(5, 2.0))


LOOP = """
import numpy as np
from numbagraph import graph_jit

@graph_jit
def f(x):
    total = 0.0
    for v in x:
        if v > 0.5:
            total += v
    return total

print(f(np.linspace(0, 1, 5)))
"""


def test_commands_have_loops_and_standard_input_says_what_to_do():
    given = subprocess.run([sys.executable, "-c", LOOP], capture_output=True, text=True, check=True)
    assert given.stdout.strip() == "1.75"
    piped = subprocess.run([sys.executable, "-"], input=LOOP, capture_output=True, text=True, check=False)
    assert "Put it in a file" in piped.stderr
