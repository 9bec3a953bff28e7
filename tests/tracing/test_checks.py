"""Errors that a function raises itself: `check` in compiled code does what it does in Python."""

import copy
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import numbagraph as ng
from numbagraph.tracing.checks import require

BACKENDS = ["numba", "numpy", "jax"]


def plain_check(condition: Any, message: str = "a condition does not hold", *args: Any, **named: Any) -> None:
    if not np.all(condition):
        raise ng.CheckError(message.format(*args, **named) if args or named else message)


class Plain:
    """What the programs call, written in Python."""

    check = staticmethod(plain_check)

    @staticmethod
    def fori_loop(lower: int, upper: int, body: Callable[..., Any], value: Any) -> Any:
        for i in range(lower, upper):
            value = body(i, value)
        return value

    @staticmethod
    def while_loop(goes_on: Callable[..., Any], body: Callable[..., Any], value: Any) -> Any:
        while goes_on(value):
            value = body(value)
        return value

    @staticmethod
    def scan(step: Callable[..., Any], carry: Any, xs: Any) -> Any:
        ys = []
        for x in xs:
            carry, y = step(carry, x)
            ys.append(y)
        return carry, np.array(ys)

    @staticmethod
    def cond(pred: Any, yes: Callable[..., Any], no: Callable[..., Any], *operands: Any) -> Any:
        return (yes if pred else no)(*operands)


def whole_array(nx: Any, x: Any) -> Any:
    nx.check(x > 0, "the least is {:.2f} of {n}", np.min(x), n=x.shape[0])
    return np.sum(np.sqrt(np.abs(x)))


def no_results_follow(nx: Any, x: Any) -> Any:
    nx.check(np.sum(x) < 6.0, "the sum is {}", np.sum(x))
    return 2.0


def one_element(nx: Any, x: Any) -> Any:
    nx.check(x[1] > 0)
    return x * 2


def in_order(nx: Any, x: Any) -> Any:
    nx.check(x.shape[0] > 2, "length")
    nx.check(np.sum(x) < 6.0, "sum")
    nx.check(x[0] > 0.5, "first")
    nx.check(np.max(x) < 3.5, "largest")
    return x.shape[0]


def loop_then_check(nx: Any, x: Any) -> Any:
    def body(i: Any, total: Any) -> Any:
        nx.check(x[i] > 0, "x[{}] is {}", i, x[i])
        return total + x[i]

    total = nx.fori_loop(0, x.shape[0], body, 0.0)
    nx.check(total < 6.0, "the total is {}", total)
    return total


def dead_loop(nx: Any, x: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        nx.check(x[i] > 0, "x[{}] is {}", i, x[i])
        return c

    nx.fori_loop(0, x.shape[0], body, 0)
    return np.sum(x)


def two_loops(nx: Any, x: Any) -> Any:
    nx.fori_loop(0, x.shape[0], lambda i, c: (nx.check(x[i] < 4, "large at {}", i), c)[1], 0)
    nx.fori_loop(0, x.shape[0], lambda i, c: (nx.check(x[i] > 0, "small at {}", i), c)[1], 0)
    return x


def same_loop_twice(nx: Any, x: Any) -> Any:
    one = nx.fori_loop(0, 2, lambda i, c: (nx.check(c + x[i] < 5, "first"), c + x[i])[1], 0.0)
    other = nx.fori_loop(0, 2, lambda i, c: (nx.check(c + x[i] < 5, "second"), c + x[i])[1], 0.0)
    return one + other


def nested(nx: Any, x: Any) -> Any:
    def outer(i: Any, total: Any) -> Any:
        def inner(j: Any, t: Any) -> Any:
            nx.check(x[i] + x[j] < 7, "{} + {}", x[i], x[j])
            return t + x[j]

        return nx.fori_loop(0, x.shape[0], inner, total)

    return nx.fori_loop(0, x.shape[0], outer, 0.0)


def array_carried(nx: Any, x: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        c = c * row
        nx.check(np.abs(c) < 20.0, "up to {}", np.max(c))
        return c, np.sum(c)

    return nx.scan(step, x, x)[1]


def in_while(nx: Any, x: Any) -> Any:
    def body(state: Any) -> Any:
        total, number = state
        nx.check(total != 6.0, "six after {}", number)
        return total + np.ceil(np.abs(x[0]) + 0.5), number + 1

    return nx.while_loop(lambda state: state[0] < 10 * x[1], body, (0.0, 0))[1]


def in_condition(nx: Any, x: Any) -> Any:
    def goes_on(state: Any) -> Any:
        nx.check(state != 4.0, "four")
        return state < 10 * x[1]

    return nx.while_loop(goes_on, lambda state: state + np.ceil(np.abs(x[0]) + 0.5), 0.0)


def branch(nx: Any, x: Any) -> Any:
    def yes(x: Any) -> Any:
        nx.check(np.sum(x) < 6.0, "sum {}", np.sum(x))
        return 1.0

    return nx.cond(x[0] > 0, yes, lambda x: 2.0, x)


def never_in_branch(nx: Any, x: Any) -> Any:
    def yes(x: Any) -> Any:
        nx.check(False, "positive {}", x[0])
        return 1.0

    return nx.cond(x[0] > 0, yes, lambda x: x[0], x)


def branch_in_loop(nx: Any, x: Any) -> Any:
    def step(total: Any, row: Any) -> Any:
        def yes(row: Any) -> Any:
            nx.check(row < 3.5, "row {}", row)
            return row

        return total + nx.cond(row > 1.5, yes, lambda row: -row, row), None

    return nx.scan(step, 0.0, x)[0]


def same_in_each_step(nx: Any, x: Any) -> Any:
    """A loop without steps checks nothing."""
    return nx.fori_loop(0, int_of(x), lambda i, c: (nx.check(np.sum(x) > 0, "sum {}", np.sum(x)), c + i)[1], 0)


def int_of(x: Any) -> Any:
    return x.shape[0] - 2


def list_of_conditions(nx: Any, x: Any) -> Any:
    nx.check([x[0] > 0, True, np.sum(x) < 6.0], "one of them")
    return x + 1


PROGRAMS = [
    whole_array,
    no_results_follow,
    one_element,
    in_order,
    loop_then_check,
    dead_loop,
    two_loops,
    same_loop_twice,
    nested,
    array_carried,
    in_while,
    in_condition,
    branch,
    never_in_branch,
    branch_in_loop,
    same_in_each_step,
    list_of_conditions,
]
ARGUMENTS = [
    np.array([1.0, 2.0, 2.5]),
    np.array([1.0, -2.0, 3.0]),
    np.array([-1.0, 2.0, 4.0]),
    np.array([2.0, 3.0, 4.0]),
    np.array([0.25, 2.0, 4.0]),
    np.array([4.0, 3.0, 0.0])[::-1],
    np.array([-1.0, -2.0]),
    np.array([1.0, -4.0, 2.0]),
]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except ng.CheckError as error:
        return str(error).partition("\n")[0]


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_programs_meet_all_outcomes() -> None:
    """So that no comparison below is of one kind alone."""
    for program in PROGRAMS:
        kinds = {isinstance(outcome(program, Plain, x), str) for x in ARGUMENTS}
        assert kinds == {True, False}, program


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program: Any, backend: str) -> None:
    f = ng.graph_jit(lambda x: program(ng, x), backend=backend)
    for x in ARGUMENTS:
        assert_same(outcome(f, x), outcome(program, Plain, x))


@pytest.mark.parametrize("program", PROGRAMS)
def test_on_several_threads(program: Any) -> None:
    f = ng.graph_jit(lambda x: program(ng, x), parallel=True)
    for x in ARGUMENTS:
        assert_same(outcome(f, x), outcome(program, Plain, x))


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_for_a_batch(program: Any, backend: str) -> None:
    """Any failing element raises an error, which is that of one of them."""
    f = ng.graph_jit(lambda x: ng.vmap(lambda row: program(ng, row))(x), backend=backend)
    stacked = np.array([x for x in ARGUMENTS if x.size == 3])
    good = [x for x in stacked if not isinstance(outcome(program, Plain, x), str)]
    np.testing.assert_allclose(f(np.array(good)), [program(Plain, x) for x in good], rtol=1e-14)
    for others in (stacked, stacked[::-1], stacked[3:]):
        texts = {each for x in others if isinstance(each := outcome(program, Plain, x), str)}
        found = outcome(f, others)
        assert (found in texts) if texts else not isinstance(found, str)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", [each for each in PROGRAMS if each not in (in_order, in_while, same_in_each_step)])
def test_in_derivatives(program: Any, backend: str) -> None:
    def of(nx: Any) -> Any:
        return lambda x: np.sum(program(nx, x)) + np.sum(x**2)

    if backend == "jax" and program is in_condition:
        pytest.skip("JAX has no reverse mode of while loops")

    class Unchecked:
        check = staticmethod(lambda *args, **named: None)
        fori_loop, while_loop, scan, cond = map(staticmethod, (ng.fori_loop, ng.while_loop, ng.scan, ng.cond))

    gradient = ng.graph_jit(ng.grad(of(ng)), backend=backend)
    expected = ng.graph_jit(ng.grad(of(Unchecked)), backend=backend)
    for x in ARGUMENTS[:5]:
        text = outcome(program, Plain, x)
        assert_same(outcome(gradient, x), text if isinstance(text, str) else expected(x))


def test_forward_and_second_derivatives() -> None:
    def f(x: Any) -> Any:
        return loop_then_check(ng, x) ** 2

    x, v = ARGUMENTS[0], np.array([1.0, 0.5, 0.0])
    np.testing.assert_allclose(ng.graph_jit(lambda x: ng.jvp(f, (x,), (v,))[1])(x), 2 * np.sum(x) * np.sum(v))
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(f))(x), np.full((3, 3), 2.0))
    assert outcome(ng.graph_jit(ng.hessian(f)), ARGUMENTS[1]) == "x[1] is -2.0"
    assert outcome(ng.graph_jit(lambda x: ng.jvp(f, (x,), (v,))[1]), ARGUMENTS[1]) == "x[1] is -2.0"


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_line_and_the_step(backend: str) -> None:
    f = ng.graph_jit(lambda x: nested(ng, x), backend=backend)
    with pytest.raises(ng.CheckError, match=r"3.0 \+ 4.0") as caught:
        f(np.array([1.0, 3.0, 4.0]))
    text = str(caught.value)
    line = next(n for n, each in enumerate(Path(__file__).read_text().splitlines(), 1) if '"{} + {}"' in each)
    assert f"\n  at {__file__}:{line}\n" in text
    assert re.findall(r"in step (\d+)", text) == ["2", "1"]


def test_without_a_trace() -> None:
    ng.check(np.ones(3) > 0, "fine")
    ng.check(np.ones(0) > 0)
    with pytest.raises(ng.CheckError, match=rf"2 of them\n  at {re.escape(__file__)}:\d+"):
        ng.check([True, False], "{} of them", 2)
    with pytest.raises(ValueError, match="a condition does not hold"):
        ng.check(0)


def test_numbers_are_conditions() -> None:
    f = ng.graph_jit(lambda x: (ng.check(x, "zero"), x)[1])
    assert outcome(f, np.array([1, 2])).tolist() == [1, 2]
    assert outcome(f, np.array([1, 0])) == "zero"
    assert outcome(f, np.array([1.0, np.nan])).size == 2
    assert outcome(f, np.zeros(0)).size == 0
    assert outcome(f, 0) == "zero"


def test_the_element_of_a_batch_is_named() -> None:
    f = ng.graph_jit(ng.vmap(ng.vmap(lambda x, y: (ng.check(x < y, "{} and {}", x, y), x)[1], (0, None)), (0, 0)))
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(f(x, np.array([9.0, 9.0])), x)
    with pytest.raises(ng.CheckError, match=r"(?s)4.0 and 4.0\n  at .*in element 1 of the batch\n  in element 1"):
        f(x, np.array([9.0, 4.0]))
    g = ng.vectorize(lambda x: (ng.check(x < 4, "{}", x), x)[1])
    assert outcome(g, x) == "4.0"
    np.testing.assert_array_equal(g(x[:1]), x[:1])


class Refused(Exception):
    def __init__(self, code: int, value: Any) -> None:
        super().__init__(code, value)
        self.code = code
        self.value = value


@pytest.mark.parametrize("backend", BACKENDS)
def test_any_exception(backend: str) -> None:
    """It keeps its arguments; the line and the steps are notes."""

    def f(x: Any) -> Any:
        def body(i: Any, c: Any) -> Any:
            require(x[i] > 0, Refused, 7, value=x[i])
            return c + x[i]

        return ng.fori_loop(0, x.shape[0], body, 0.0)

    for function in (f, lambda x: ng.vmap(f)(np.stack([np.abs(x), x]))):
        with pytest.raises(Refused) as caught:
            ng.graph_jit(function, backend=backend)(np.array([1.0, 2.0, -3.0]))
        assert caught.value.code == 7
        assert caught.value.value == -3.0
        notes = "\n".join(caught.value.__notes__)
        assert re.search(r"test_checks.py:\d+", notes)
        assert "in step 2" in notes
        assert caught.value.__cause__ is not caught.value


def test_which_kind_comes_first() -> None:
    def f(n: int, x: Any) -> Any:
        require(np.sum(x) > 0, KeyError, "sum")
        y = 1 // n
        ng.check(n < 5, "n is {}", n)
        return y

    for backend in ("numba", "numpy"):
        g = ng.graph_jit(f, backend=backend)
        assert g(2, np.ones(2)) == 0
        for args, kind in (
            ((0, np.ones(2)), ZeroDivisionError),
            ((0, -np.ones(2)), KeyError),
            ((6, np.ones(2)), ng.CheckError),
        ):
            with pytest.raises(kind):
                g(*args)


def test_what_is_known_while_tracing() -> None:
    @ng.graph_jit(static_argnames="n")
    def f(x: Any, n: int) -> Any:
        ng.check(np.sum(x) > 0, "sum")
        ng.check(n > 3, "n is {}", n)
        return x

    assert outcome(f, np.ones(2), 4).tolist() == [1, 1]
    assert outcome(f, np.ones(2), 2) == "n is 2"
    assert outcome(f, -np.ones(2), 2) == "sum"
    assert outcome(ng.graph_jit(lambda x: ng.check(False, "never")), 1.0) == "never"
    assert outcome(ng.graph_jit(lambda x: ng.check(False, "never {}", x)), 1.5) == "never 1.5"


@pytest.mark.parametrize("message", ["{} {}", "{0} {2}", "{name}", "{"])
def test_a_message_that_asks_for_more(message: str) -> None:
    with pytest.raises(ValueError, match=r"the message .* of check"):
        ng.graph_jit(lambda x: (ng.check(x > 0, message, x), x)[1])(1.0)
    ng.graph_jit(lambda x: (ng.check(x > 0, message), x)[1])(1.0)


def test_what_a_message_may_speak_of() -> None:
    names, table = ["a", "b"], np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        ng.check(x < 2, "{0[1]} {table[0]:.1f} {d[k]} {x!r:>5} {other}", names, table=table, d={"k": x}, x=x, other={3})
        return x

    g = ng.graph_jit(f)
    assert g(1) == 1
    table[0] = 5.0  # what it was is kept
    assert outcome(g, 7) == "b 1.0 7     7 {3}"


def test_callers_of_other_kinds() -> None:
    f = ng.graph_jit(lambda x: loop_then_check(ng, x))
    outer = ng.graph_jit(lambda x: f(x) + 1)
    for x in ARGUMENTS:
        expected = outcome(loop_then_check, Plain, x)
        assert_same(outcome(outer, x), expected if isinstance(expected, str) else expected + 1)

    @numba.njit
    def called(x: Any) -> Any:
        return f(x) + 1

    assert called(ARGUMENTS[0]) == 6.5
    with pytest.raises((ValueError, IndexError)):
        called(ARGUMENTS[1])
    core = ng.gufunc("(n)->()")(lambda x: loop_then_check(ng, x))
    np.testing.assert_allclose(core(np.stack([ARGUMENTS[0]] * 2)), [5.5, 5.5])
    assert outcome(core, np.stack(ARGUMENTS[:2])) == "x[1] is -2.0"


def test_a_failure_leaves_everything_as_it_was() -> None:
    f = ng.graph_jit(lambda x: (ng.check(np.sum(x) > 0, "sum"), 2 * x)[1], donate_argnames="x")
    x = -np.ones(1000)
    assert outcome(f, x) == "sum"
    np.testing.assert_array_equal(x, -np.ones(1000))
    np.testing.assert_array_equal(f(np.ones(3)), [2, 2, 2])


def test_from_many_threads() -> None:
    f = ng.graph_jit(lambda x: loop_then_check(ng, x))
    found: list[Any] = [None] * 8

    def call(number: int) -> None:
        found[number] = [outcome(f, x) for x in ARGUMENTS * 5]

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    expected = [outcome(loop_then_check, Plain, x) for x in ARGUMENTS * 5]
    for each in found:
        for one, other in zip(each, expected, strict=True):
            assert_same(one, other)


def test_copies_and_pickles() -> None:
    error = pickle.loads(pickle.dumps(ng.CheckError("text")))
    assert (type(error), str(error)) == (ng.CheckError, "text")
    assert str(copy.copy(error)) == "text"


def test_another_process_finds_the_code(tmp_path: Path) -> None:
    """The message is not part of the code."""
    program = """
import sys, numpy as np, numbagraph as ng
def body(i, c):
    ng.check(c < 5, sys.argv[1] + " {}", c)
    return c + i
f = ng.graph_jit(lambda n: ng.fori_loop(0, n, body, 0))
assert f(3) == 3
try:
    f(5)
except ng.CheckError as error:
    print(str(error).partition("\\n")[0], f.cache_info())
"""
    environment = {"NUMBAGRAPH_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    for text, found in (("one", "compiled=1, found=0"), ("other", "compiled=0, found=1")):
        command = [sys.executable, "-c", program, text]
        output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert output.startswith(f"{text} 6 ")
        assert found in output
