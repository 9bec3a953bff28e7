"""What traced functions print while they run."""

import numpy as np
import pytest

from numbagraph import (
    TraceError,
    check,
    cond,
    custom_vjp,
    debug_print,
    fori_loop,
    grad,
    graph_jit,
    gufunc,
    pure_callback,
    scan,
    shared,
    switch,
    vectorize,
    vmap,
    while_loop,
)

X = np.arange(3.0)
BACKENDS = pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])


@pytest.fixture
def printed(capfd):
    def lines():
        return capfd.readouterr().out.splitlines()

    return lines


@BACKENDS
def test_in_order_and_with_the_values(printed, backend):
    def f(x, n):
        debug_print("first {} {n} {what}", x, n=n, what="text")
        debug_print("second {0:.2f}", np.sum(x))
        debug_print("second {0:.2f}", np.sum(x))
        debug_print("third")
        debug_print("{0[a]}", {"a": x + 1})
        return x * 2

    compiled = graph_jit(f, backend=backend)
    expected = ["first [0. 1. 2.] 4 text", "second 3.00", "second 3.00", "third", "[1. 2. 3.]"]
    for _ in range(2):
        np.testing.assert_array_equal(compiled(X, 4), X * 2)
        assert printed() == expected
    f(X, 4)
    assert printed() == expected
    np.testing.assert_array_equal(compiled(X, 4, out=np.zeros(3)), X * 2)
    assert printed() == expected
    assert graph_jit(lambda: debug_print("alone"), backend=backend)() is None
    assert printed() == ["alone"]


def python_loops(x):
    """What `loops` does, in Python."""
    total, lines = 0.0, ["before"]
    for each in x:
        lines.append(f"step {total} {each}")
        for k in range(2):
            lines.append(f"inner {k} {total}")
            if total > 1:
                lines.append("large")
                total -= 1
            else:
                total += each
    lines.append(f"after {total}")
    while total < 9:
        lines.append(f"while {total}")
        total = total * 2 + 1
    return total, lines


def loops(x):
    def step(total, each):
        debug_print("step {} {}", total, each)

        def inner(k, total):
            debug_print("inner {} {}", k, total)

            def large(total):
                debug_print("large")
                return total - 1

            return cond(total > 1, large, lambda total: total + each, total)

        return fori_loop(0, 2, inner, total), total

    def double(total):
        debug_print("while {}", total)
        return total * 2 + 1

    debug_print("before")
    total = scan(step, 0.0, x)[0]
    debug_print("after {}", total)
    return while_loop(lambda total: total < 9, double, total)


@BACKENDS
def test_loops_and_branches(printed, backend):
    for x in (X, X[:0], np.array([5.0, -1.0])):
        total, lines = python_loops(x)
        assert graph_jit(loops, backend=backend)(x) == total
        assert printed() == lines


@BACKENDS
def test_the_branch_that_is_taken_alone(printed, backend):
    branches = [lambda x, k=k: (debug_print("branch {} {}", k, x), x + k)[1] for k in range(3)]
    f = graph_jit(lambda k, x: switch(k, branches, x), backend=backend)
    assert f(1, 2.0) == 3.0
    assert printed() == ["branch 1 2.0"]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_gradients_print_what_the_function_does(printed, backend):
    graph_jit(grad(loops), backend=backend)(X)
    assert printed() == python_loops(X)[1]

    @custom_vjp
    def f(x):
        debug_print("primal {}", x)
        return x**2

    f.defvjp(lambda x: (f(x), x), lambda x, g: (2 * x * g,))
    assert graph_jit(grad(f), backend=backend)(3.0) == 6.0
    assert printed() == ["primal 3.0"]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_batches_print_each_element(printed, backend):
    def f(x, y):
        debug_print("x={}", x)
        debug_print("both {} {}", x, y)
        debug_print("y={}", y)
        return x + y

    rows = np.arange(4.0).reshape(2, 2)
    compiled = graph_jit(vmap(f, in_axes=(0, None)), backend=backend)
    np.testing.assert_array_equal(compiled(rows, 1.0), rows + 1)
    each = ["x=[0. 1.]", "x=[2. 3.]", "both [0. 1.] 1.0", "both [2. 3.] 1.0", "y=1.0"]
    assert printed() == each
    assert compiled(rows[:0], 1.0).shape == (0, 2)
    assert printed() == ["y=1.0"]

    positive = vmap(lambda v: cond(v > 0, lambda v: (debug_print("positive {}", v), v)[1], lambda v: v, v))
    graph_jit(lambda x: (positive(x), debug_print("end")), backend=backend)(X)
    assert printed() == ["positive 1.0", "positive 2.0", "end"]

    def count(n):
        return while_loop(lambda n: n < 20, lambda n: (debug_print("n={}", n), n * 2)[1], n)

    graph_jit(lambda n: (vmap(count)(n), debug_print("end")), backend=backend)(np.array([3, 9]))
    assert printed() == ["n=3", "n=6", "n=12", "n=9", "n=18", "end"]
    total = graph_jit(vmap(vmap(lambda v: (debug_print("{}", v), v)[1])), backend=backend)
    total(rows)
    assert sorted(printed()) == ["0.0", "1.0", "2.0", "3.0"]


def test_inside_of_other_functions(printed):
    inner = graph_jit(lambda x: (debug_print("inner {}", x), x + 1)[1])
    assert graph_jit(lambda x: (debug_print("outer"), inner(x), debug_print("end"))[1])(1.0) == 2.0
    assert printed() == ["outer", "inner 1.0", "end"]
    total = gufunc("(n)->()")(lambda x: (debug_print("core {}", x), np.sum(x))[1])
    np.testing.assert_array_equal(total(np.ones((2, 3))), [3.0, 3.0])
    assert printed() == ["core [1. 1. 1.]"] * 2
    np.testing.assert_array_equal(vectorize(lambda x: (debug_print("{}", x), x)[1])(X), X)
    assert printed() == ["0.0", "1.0", "2.0"]
    large = np.linspace(0, 1, 10**6)
    graph_jit(lambda x: (debug_print("{}", np.sum(x) > 1), np.sum(np.exp(x)))[1], parallel=True)(large)
    assert printed() == ["True"]
    seen = graph_jit(
        lambda x: (debug_print("a"), pure_callback(lambda x: (print("b"), x)[1], x, x), debug_print("c"))[1]
    )
    assert seen(1.0) == 1.0
    assert sorted(printed()) == ["a", "b", "c"]


@BACKENDS
def test_nothing_is_printed_again_when_a_call_fails(printed, backend):
    f = graph_jit(lambda x, i: (debug_print("x={}", x), x[i])[1], backend=backend)
    positions = np.array([7])
    for options in ({}, {"out": np.zeros(1)}):
        np.testing.assert_array_equal(f(X, np.array([1])), [1.0])
        printed()
        with pytest.raises(IndexError, match="out of bounds"):
            f(X, positions, **options)
        assert printed() == ["x=[0. 1. 2.]"]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_a_loop_that_fails_prints_up_to_the_step(printed, backend):
    def total(x, positions):
        def step(c, i):
            debug_print("i={}", i)
            return c + x[i], None

        return scan(step, 0.0, positions)[0]

    with pytest.raises(IndexError, match="in step 1"):
        graph_jit(total, backend=backend)(X, np.array([0, 5, 1]))
    assert printed() in (["i=0"], ["i=0", "i=5"])


def test_errors():
    with pytest.raises(KeyError, match="y") as found:
        graph_jit(lambda x: debug_print("{y}", x=x))(1.0)
    assert "debug_print('{y}')" in found.value.__notes__[0]
    with pytest.raises(TraceError, match=r"the condition of a loop has an effect.*have it in the step"):
        graph_jit(lambda x: while_loop(lambda n: (debug_print("c"), n < 9)[1], lambda n: n + 1, x))(1.0)
    with pytest.raises(NotImplementedError, match="which is for calls from Python"):
        graph_jit(lambda x: debug_print("{}", x)).address(1.0)


def test_errors_in_bodies_that_print_name_the_users_step():
    def changing(c, x):
        debug_print("{}", c)
        return (c, c), None

    with pytest.raises(TraceError, match=r"the step changing .*test_debug_print.py"):
        graph_jit(lambda x: scan(changing, 0.0, x))(X)


def counted(x):
    total = 0.0
    for each in x:
        debug_print("each {}", each)
        total += each
    return total


def chosen(x):
    if x > 0:
        debug_print("positive")
    return x


def loop_of_loops(x):
    total = 0.0
    for each in x:
        total = fori_loop(0, 2, lambda i, total: (debug_print("{}", i), total + 1)[1], total) + each
    return total


@pytest.mark.parametrize(("function", "x"), [(counted, X), (chosen, 1.0), (loop_of_loops, X)])
def test_captured_loops_and_branches_print(function, x, capsys):
    compiled = graph_jit(function)
    for _ in range(2):
        expected = function(x)
        wanted = capsys.readouterr().out
        np.testing.assert_allclose(compiled(x), expected)
        assert capsys.readouterr().out == wanted != ""


def clipped(x):
    def step(total, each):
        debug_print("each {}", each)
        if each > 1:
            each = 1.0
        return total + each, each

    def large(total):
        debug_print("large {}", total)
        while total > 1:
            total = total - 1
        return total

    debug_print("before")
    total = scan(step, 0.0, x)[0]
    return cond(total > 1, large, lambda total: total, total)


@BACKENDS
def test_bodies_with_captured_statements_print(printed, backend):
    assert graph_jit(clipped, backend=backend)(np.array([0.5, 4.0, 0.25])) == 0.75
    assert printed() == ["before", "each 0.5", "each 4.0", "each 0.25", "large 1.75"]


@BACKENDS
def test_next_to_checks(printed, backend):
    def step(total, each):
        debug_print("each {}", each)
        check(each >= 0, "{} is negative", each)
        return total + each, total

    f = graph_jit(lambda x: (debug_print("start"), scan(step, 0.0, x)[0])[1], backend=backend)
    assert f(X) == 3.0
    assert printed() == ["start", "each 0.0", "each 1.0", "each 2.0"]
    with pytest.raises(ValueError, match=r"-1\.0 is negative"):
        f(np.array([1.0, -1.0, 2.0]))
    lines = printed()
    assert lines[:2] == ["start", "each 1.0"]
    assert lines == ["start", "each 1.0", "each -1.0", "each 2.0"][: len(lines)]  # JAX takes all steps

    f = graph_jit(lambda x: check((y := scan(step, 0.0, x)[0]) < 2, "{} is large", y), backend=backend)
    with pytest.raises(ValueError, match=r"3\.0 is large"):
        f(X)
    assert printed() == ["each 0.0", "each 1.0", "each 2.0"]

    each = vmap(lambda x: (debug_print("x={}", x), check(x > 0, "{} is not positive", x), x)[2])
    np.testing.assert_array_equal(graph_jit(each, backend=backend)(X + 1), X + 1)
    assert printed() == ["x=1.0", "x=2.0", "x=3.0"]
    with pytest.raises(ValueError, match=r"0\.0 is not positive"):
        graph_jit(each, backend=backend)(X)
    assert len(printed()) <= 3


@BACKENDS
def test_next_to_writes_and_shared_variables(printed, backend):
    calls = shared(np.zeros(()))

    def f(x, y):
        debug_print("{} {}", x, calls.value)
        x += y
        calls.value = calls.value + 1
        debug_print("{} {}", x, calls.value)
        return y * 2, "static", calls.value

    compiled = graph_jit(f, backend=backend)
    x = np.zeros(2)
    for number in range(3):
        found = compiled(x, 1.0)
        assert (found[0], found[1], found[2]) == (2.0, "static", number + 1)
        np.testing.assert_array_equal(x, np.full(2, number + 1.0))
        assert printed() == [f"{np.full(2, float(n))} {float(n)}" for n in (number, number + 1)]


def test_lengths_that_elements_decide(printed):
    def f(x):
        found = np.sort(x[x > 0])
        debug_print("{}", found)
        return found

    with pytest.raises(NotImplementedError, match=r"f \(.*prints \(debug_print\) and has lengths"):
        graph_jit(f)(X)
    np.testing.assert_array_equal(graph_jit(f, backend="numpy")(X), [1.0, 2.0])
    assert printed() == ["[1. 2.]"]
    total = graph_jit(lambda x: (debug_print("{}", np.sum(x[x > 0])), np.sum(x[x > 0]))[1])
    assert total(X) == 3.0
    assert printed() == ["3.0"]
