"""Modules that are merged, cut into parts, and compiled on several threads."""

import ctypes
import re
import threading

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from numbagraph.runtime import compile_jobs
from numbagraph.runtime.compile import CompileError, Library, optimised_ir
from numbagraph.runtime.compile_jobs import compile_parts, run_all
from numbagraph.runtime.module_parts import LINES_OF_A_PART, parts
from numbagraph.runtime.module_text import merged, parse

F64 = ctypes.c_double


def nest(name, operation, *, names="abc", loop=0, attributes="noinline nounwind"):
    """A function of three results, of which a loop computes the sum."""
    one, two, label = names
    return (
        f'define internal double @"{name}"(double %"{one}") {attributes}\n'
        "{\n"
        f'  br label %"{label}"\n'
        f"{label}:\n"
        f'  %"i" = phi i64 [0, %0], [%"n", %"{label}"]\n'
        f'  %"n" = add i64 %"i", 1\n'
        f'  %"{two}" = {operation} double %"{one}", 0x4000000000000000\n'
        f'  %"more" = icmp slt i64 %"n", 3\n'
        f'  br i1 %"more", label %"{label}", label %"end", !llvm.loop !{loop}\n'
        "end:\n"
        f'  ret double %"{two}"\n'
        "}\n"
    )


def module(*functions, calls=(), globals=""):
    """A module whose function ``f`` returns the sum of what the called functions give for 3."""
    body = "".join(f'  %"v{k}" = call double @"{name}"(double 0x4008000000000000)\n' for k, name in enumerate(calls))
    total, sums = "0x0", ""
    for k in range(len(calls)):
        sums += f'  %"s{k}" = fadd double {total}, %"v{k}"\n'
        total = f'%"s{k}"'
    text = f'define double @"f"()\n{{\n{body}{sums}  ret double {total}\n}}\n' + "".join(functions) + globals
    metadata = '!0 = distinct !{ !0, !2 }\n!1 = distinct !{ !1, !2 }\n!2 = !{ !"llvm.loop.vectorize.enable", i32 0 }\n'
    return text + metadata + '!3 = distinct !{ !3, !4 }\n!4 = !{ !"llvm.loop.vectorize.enable", i32 1 }\n'


def value(codes):
    library = Library(codes, {})
    return ctypes.CFUNCTYPE(F64)(library.address("f"))()


def test_functions_of_the_same_code_become_one():
    text = module(nest("p", "fadd"), nest("q", "fadd", names="xyz", loop=1), nest("r", "fmul"), calls="pqr")
    found = merged(parse(text))
    assert [each.name for each in found.functions] == ['@"f"', '@"p"', '@"r"']
    assert value(compile_parts([str(found)])) == (3 + 2) + (3 + 2) + 3 * 2


@pytest.mark.parametrize(
    "other",
    [
        nest("q", "fsub"),
        nest("q", "fadd", loop=3),
        nest("q", "fadd", attributes="noinline nounwind align 64"),
        nest("q", "fadd", attributes="nounwind"),
    ],
    ids=["operation", "metadata", "attributes", "inlined"],
)
def test_functions_that_differ_stay(other):
    text = module(nest("p", "fadd"), other, calls="pq")
    assert len(merged(parse(text)).functions) == 3


def test_labels_count_like_other_names():
    def jumping(name, first, second):
        return (
            f'define internal double @"{name}"(i1 %"c") noinline\n{{\n'
            f'  br i1 %"c", label %"{first}", label %"{second}"\n'
            "x:\n  ret double 0x0\n"
            "y:\n  ret double 0x3ff0000000000000\n}\n"
        )

    found = merged(parse(module(jumping("p", "x", "y"), jumping("q", "y", "x"))))
    assert len(found.functions) == 3


def test_callers_of_merged_functions_are_merged():
    def caller(name, callee):
        return (
            f'define internal double @"{name}"(double %"x") noinline\n{{\n'
            f'  %"y" = call double @"{callee}"(double %"x")\n  ret double %"y"\n}}\n'
        )

    functions = nest("p", "fadd"), nest("q", "fadd", loop=1), caller("g", "p"), caller("h", "q")
    found = merged(parse(module(*functions, calls="gh")))
    assert [each.name for each in found.functions] == ['@"f"', '@"p"', '@"g"']
    assert value(compile_parts([str(found)])) == 10


def test_parts_are_linked_to_what_the_module_computes():
    names = [f"n{k}" for k in range(100)]
    text = module(*(nest(name, "fadd" if k % 2 else "fmul") for k, name in enumerate(names)), calls=names)
    found = parts(parse(text))
    assert len(found) == text.count("\n") // LINES_OF_A_PART > 1
    for name in names:
        assert sum(f'define hidden double @"{name}"' in part for part in found) == 1
    assert value(compile_parts(found)) == 50 * 5 + 50 * 6


def test_what_needs_a_variable_stays_in_the_first_part():
    counter = '@"count" = internal global double 0x0\n'
    counting = (
        'define internal double @"counting"(double %"x") noinline\n{\n'
        '  %"old" = load double, double* @"count"\n  %"new" = fadd double %"old", %"x"\n'
        '  store double %"new", double* @"count"\n  ret double %"new"\n}\n'
    )
    names = [f"n{k}" for k in range(100)]
    text = module(*(nest(name, "fadd") for name in names), counting, calls=[*names, "counting"], globals=counter)
    first, *others = parts(parse(text))
    assert 'define internal double @"counting"' in first
    assert not any("count" in each for each in others)
    assert value(compile_parts([first, *others])) == 503


def test_a_part_that_llvm_refuses_is_an_error_of_python():
    text = module(nest("p", "fadd"), calls="p")
    with pytest.raises(CompileError, match="expected"):
        compile_parts([text, "define nothing"])
    assert value(compile_parts([text, module(nest("p", "fadd")).replace('@"f"', '@"g"')])) == 5


def test_without_further_threads_all_runs_on_this_one(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    seen = []
    run_all([lambda k=k: seen.append(k) for k in range(5)], threads=4)
    assert seen == [0, 1, 2, 3, 4]


def test_an_interruption_waits_for_jobs_that_run_and_begins_no_more():
    begun, may_end, ended = threading.Event(), threading.Event(), []

    def job():
        if threading.current_thread() is threading.main_thread():
            assert begun.wait(60)
            threading.Timer(0.05, may_end.set).start()
            raise KeyboardInterrupt
        begun.set()
        assert may_end.wait(60)
        ended.append("the one that ran")

    with pytest.raises(KeyboardInterrupt):
        run_all([job, job, lambda: ended.append("one more")], threads=2)
    assert ended == ["the one that ran"]


def recurrent(w, u, xs):
    h = np.zeros(w.shape[0])
    for t in range(xs.shape[0]):
        h = np.tanh(w @ h + u @ xs[t])
    return np.sum(h * h)


def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return np.sum((p / p.sum(axis=1, keepdims=True) @ v) ** 2)


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_programs_in_parts_give_what_numpy_gives(monkeypatch, cores):
    counts = []

    def counting(texts):
        counts.append(len(texts))
        return compile_parts(texts)

    monkeypatch.setattr(compile_jobs, "cores", lambda: cores)
    monkeypatch.setattr("numbagraph.runtime.specialise.compile_parts", counting)
    rng = np.random.default_rng(cores)
    q, k, v = rng.normal(size=(3, 7, 5 + cores))
    w, u, xs = rng.normal(size=(4, 4)), rng.normal(size=(4, 3)), rng.normal(size=(6, 3))
    np.testing.assert_allclose(graph_jit(attention, cache=False)(q, k, v), attention(q, k, v), rtol=1e-12)
    for function, arguments in ((attention, (q, k, v)), (recurrent, (w, u, xs))):
        found = graph_jit(grad(function), cache=False)(*arguments)
        for place in [(0, 0), (2, 3)]:
            step = np.zeros_like(arguments[0])
            step[place] = 1e-6
            above, below = (function(arguments[0] + sign * step, *arguments[1:]) for sign in (1, -1))
            assert found[place] == pytest.approx((above - below) / 2e-6, rel=1e-6, abs=1e-7)
    batch = rng.normal(size=(3, 4, 4))
    found = graph_jit(vmap(recurrent, in_axes=(0, None, None)), cache=False)(batch, u, xs)
    np.testing.assert_allclose(found, [recurrent(each, u, xs) for each in batch], rtol=1e-12)
    assert max(counts) > 1


def waves(x):
    """Nests with sines, tangents and logarithms, of which each waits for a mean of the one before."""
    y = np.sin(x) * np.mean(np.log(np.cos(x) + 2))
    for _ in range(3):
        y = np.sin(y + np.mean(np.tan(y / 4))) + np.cos(y) * np.mean(np.log(y * y + 1)) + np.median(y)
    return y


def test_parts_call_what_llvm_has_for_vectors(monkeypatch):
    texts: list[str] = []

    def kept(texts_of_parts):
        texts.extend(texts_of_parts)
        return compile_parts(texts_of_parts)

    monkeypatch.setattr("numbagraph.runtime.specialise.compile_parts", kept)
    x = np.linspace(-1.0, 1.0, 1001)
    np.testing.assert_allclose(graph_jit(waves, cache=False)(x), waves(x), rtol=1e-12)
    named = [(re.findall(r"_ZGV_LLVM_N\d+v_[^(]*\(([^)]*)\)", text), text) for text in texts]
    assert len(texts) > 1
    assert sum(bool(names) for names, _ in named) > 1
    for names, text in named:
        code = optimised_ir(text)
        for name in names:
            assert re.search(rf'(declare|define)[^\n]*@"{re.escape(name)}"', text)
            assert re.search(rf"call <\d+ x double> @{re.escape(name)}\(", code)


def test_the_loop_of_a_gradient_shares_the_nests_of_its_values():
    # each step has two products with matrices, and the loop of the derivative computes the steps once more
    text = graph_jit(grad(recurrent)).llvm(np.eye(4), np.ones((4, 3)), np.ones((6, 3)), optimised=False)
    assert len(re.findall(r"^define .*\.sum\"", text, re.MULTILINE)) == 2
