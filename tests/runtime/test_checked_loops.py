"""Loops with their checks are compiled when a program first needs one."""

from __future__ import annotations

import copy
import gc
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.emit.program import DeferredLoops
from numbagraph.loops import control
from numbagraph.runtime import checked_loops
from numbagraph.runtime.compile import LinkError
from numbagraph.runtime.specialise import Specialisation
from numbagraph.testing.op_calls import outcome


def moved(x: np.ndarray, shift: int) -> np.ndarray:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i + shift] + (y[i - 1] if i else 0.0)
    return y


def two_loops(x: np.ndarray, first: int, second: int) -> float:
    total = 0.0
    for i in range(3):
        total += x[i + first]
        for j in range(4):
            total = total * 0.5 + x[i + j + second]
    return total


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The symbols that programs ask for."""
    found: list[str] = []
    address_of = checked_loops.CheckedLoops.address_of

    def counted(loops: checked_loops.CheckedLoops, symbol: str) -> int:
        found.append(symbol)
        return address_of(loops, symbol)

    monkeypatch.setattr(checked_loops.CheckedLoops, "address_of", counted)
    return found


def test_each_is_loaded_once(loads: list[str]) -> None:
    compiled, x = graph_jit(moved), np.arange(1.0, 6.0)
    np.testing.assert_array_equal(compiled(x, 0), moved(x, 0))
    assert not loads
    for shift in (-2, -5, -1):  # from the end: no error, but nothing that the loop can know before
        np.testing.assert_array_equal(compiled(x, shift), moved(x, shift))
    for shift in (1, 100, -6, -100):
        with pytest.raises(IndexError):
            compiled(x, shift)
    np.testing.assert_array_equal(compiled(x, 0), moved(x, 0))
    assert len(loads) == 1


def require_same(function: Any, compiled: Any, *args: Any) -> None:
    """Require Python's results, errors, and, without an error, what it leaves in the arguments."""
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    expected, found = outcome(function, list(theirs)), outcome(compiled, list(ours))
    if isinstance(expected, Exception):
        assert isinstance(expected, IndexError)
        assert isinstance(found, IndexError)
        theirs = args
    else:
        np.testing.assert_equal(found, expected)
    np.testing.assert_equal(ours, theirs)


def test_nests() -> None:
    compiled, x = graph_jit(two_loops), np.arange(1.0, 9.0)
    for first in (0, 5, -3, 6, -9):
        for second in (0, 2, -6, 3, -9):
            require_same(two_loops, compiled, x, first, second)


PROCESS = """
    import sys
    import numpy as np
    from numbagraph import graph_jit

    @graph_jit
    def total(x, shift):
        found = 0.0
        for i in range(len(x)):
            found = found * 0.5 + x[i + shift]
        return found

    x, shift = np.arange(1.0, 6.0), int(sys.argv[1])
    try:
        print(total(x, shift))
    except IndexError as error:
        print(str(error).splitlines()[0])
"""


def test_in_another_process(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program comes from disk, where its loops with checks are not."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(PROCESS))
    tmp_path.chmod(0o700)
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    found = []
    for number, shift in enumerate(("0", "-3", "4", "0")):
        monkeypatch.setenv("PYTHONHASHSEED", str(number))
        command = [sys.executable, "-W", "error", str(script), shift]
        found.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    x = np.arange(1.0, 6.0)
    sums = [0.0, 0.0]
    for place, shift in enumerate((0, -3)):
        for i in range(5):
            sums[place] = sums[place] * 0.5 + x[i + shift]
    assert found == [str(sums[0]), str(sums[1]), "index 5 is out of bounds for axis 0 with size 5", str(sums[0])]


def test_by_several_threads_at_once() -> None:
    x = np.arange(1.0, 200.0)
    for _ in range(3):
        compiled = graph_jit(lambda x, shift: moved(x, shift))
        compiled(x, 0)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(compiled, [x] * 16, range(-1, -17, -1)))
        for shift, each in enumerate(found, 1):
            np.testing.assert_array_equal(each, moved(x, -shift))


def test_what_stops_the_compiler_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument is as it was, and the next call tries it again."""

    def written(x: np.ndarray, shift: int) -> None:
        for i in range(len(x)):
            x[i + shift] = x[i] + 1.0

    def interrupted(*_: Any, **__: Any) -> bytes:
        raise KeyboardInterrupt

    compiled, x = graph_jit(written), np.arange(5.0)
    compiled(x, 0)
    with monkeypatch.context() as patch:
        patch.setattr(checked_loops, "compile_module", interrupted)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                compiled(x, -1)
            np.testing.assert_array_equal(x, np.arange(5.0) + 1.0)
    expected = x.copy()
    written(expected, -1)
    compiled(x, -1)
    np.testing.assert_array_equal(x, expected)


def test_they_live_as_long_as_their_program() -> None:
    before, kept = set(checked_loops.programs), []
    for factor in range(5):
        compiled = graph_jit(lambda x, shift, factor=factor: moved(x, shift) * factor)
        compiled(np.arange(5.0), -1)
        (key,) = set(checked_loops.programs) - before - set(kept)
        kept.append(key)
        del compiled
    gc.collect()
    assert len(set(checked_loops.programs) & set(kept)) < 3, "the conversion of a function may keep its last ones"


def exchanged(x: np.ndarray, shift: int) -> tuple[np.ndarray, np.ndarray]:
    old, new = x.copy(), np.zeros(len(x))
    for i in range(len(x)):
        new[i + shift] = old[i] + 0.5 * new[i - 1]
        old, new = new, old
    return old, new


def two_tables(x: np.ndarray, shift: int) -> np.ndarray:
    table, sums = np.zeros((len(x), 3)), x
    for i in range(len(x)):
        table[i + shift] = sums[i]
        sums[i - 1] += table[i, 1]
    return table


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("function", [moved, exchanged, two_tables])
def test_they_may_carry_arrays_elsewhere(function: Any, in_place: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either version may be the one that cannot update an array where it lies."""
    step_region = control.ControlBuilder.step_region

    def region(builder: Any, graph: Any, varying: Any, free: Any, versioned: bool | None = None) -> Any:
        return step_region(builder, graph, varying, free if (versioned is False) == in_place else (), versioned)

    monkeypatch.setattr(control.ControlBuilder, "step_region", region)
    checked_loops.programs.clear()  # where there is the same graph, lowered otherwise
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    compiled = graph_jit(function)
    for length in (0, 1, 4, 5):
        for shift in (0, -1, -length, 1, -length - 1):
            require_same(function, compiled, np.arange(1.0, length + 1), shift)


def test_code_that_is_not_what_its_graph_gives_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it might be if a program were lowered otherwise in another process."""
    compiled, x = graph_jit(lambda x, shift: moved(x, shift) * 1.75), np.arange(5.0)
    compiled(x, 0)
    emit = Specialisation.emit

    def emitted(special: Specialisation, module: Any, deferred: Any = None) -> Any:
        result = emit(special, module, deferred)
        deferred.loops = {f"{symbol}0": loop for symbol, loop in deferred.loops.items()}
        return result

    with monkeypatch.context() as patch:
        patch.setattr(DeferredLoops, "__setattr__", object.__setattr__)
        patch.setattr(Specialisation, "emit", emitted)
        with pytest.raises(LinkError, match="numbagraph cache clear"):
            compiled(x, -1)
    np.testing.assert_array_equal(compiled(x, -1), moved(x, -1) * 1.75)
