"""The fuzzers find faults of each kind that they are for: each test plants one, and a few cases must meet it."""

import ast
import ctypes
import functools
import itertools
import operator
import sys
import types

import numpy as np
import optree
import pytest

from numbagraph import graph_jit
from numbagraph.api import branches
from numbagraph.blockwise.core import promoted
from numbagraph.capture.syntax import jumps
from numbagraph.emit.control_flow import LoopEmitter
from numbagraph.ir import structs
from numbagraph.ir.op import registry
from numbagraph.ir.values import new_memory
from numbagraph.jit import binding, version
from numbagraph.jit.out import Targets
from numbagraph.loops import buffers
from numbagraph.ops.selection import where
from numbagraph.purity import reachable_code
from numbagraph.runtime import arguments, entry, guard_records, guards
from numbagraph.tracing import tracer
from tests.fuzz import (
    captured,
    composition_ops,
    compositions,
    gradients,
    late_loops,
    loops,
    nests,
    programs,
    sequences,
    stand_ins,
    statements,
    surface,
)
from tests.fuzz.allocator import checks_available
from tests.fuzz.arguments import writeable
from tests.fuzz.near import difference
from tests.fuzz.runner import run_cases
from tests.fuzz.watch import run_watched
from tests.support.faults import go_through_points
from tests.support.hanging import hangs_or_dies, writes_past_an_end

CASES = 25


pytestmark = pytest.mark.usefixtures("own_registry")


def change(name, **properties):
    """Replace properties of an op of the registry."""
    op = structs.replace(registry[name], **properties)
    registry._ops[name] = op
    for function in op.implements:
        registry._by_function[function] = op


def found(fuzzer, names, monkeypatch, cases=CASES, first=0):
    """The first difference that a fuzzer finds with some ops, from some case on."""
    monkeypatch.setattr(fuzzer, "names", lambda: names)
    report = run_cases(fuzzer.case, 0, range(first, first + cases), most=1)
    return report.differences[0][1] if report.differences else ""


def draw_only(monkeypatch, *kinds):
    """Programs of some kinds of statement alone."""
    monkeypatch.setattr(programs.Draw, "statement", lambda draw: getattr(draw, draw.choose(kinds))())


# ---- captured programs ----


def test_without_a_fault_captured_programs_agree(monkeypatch):
    assert found(captured, [], monkeypatch, cases=2) == ""


@pytest.mark.repeats
def test_what_runs_after_a_jump_is_found(monkeypatch):
    monkeypatch.setattr(jumps, "none_of", lambda names: ast.Constant(value=True))
    assert "expected, found" in found(captured, [], monkeypatch, first=81)  # of those before, none has such a jump


# ---- sequences of calls ----


def test_without_a_fault_sequences_agree():
    assert run_cases(sequences.case, 0, range(12)).differences == []


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize(
    ("owner", "name", "fault"),
    [
        (reachable_code.Walk, "_guard_content", lambda *_: None),
        (reachable_code.Walk, "_guard", lambda *_: None),
        (reachable_code.Walk, "_watch_attributes", lambda *_: None),
        (guards, "definition_of", lambda function: ()),
        (guards, "same", operator.eq),
        (guard_records, "definition_record", None),
    ],
)
def test_what_is_read_and_not_followed_is_found(owner, name, fault, monkeypatch):
    if fault is None:
        zeros = (ctypes.c_int64 * 3)()
        owner, fault = guards, lambda *_: guard_records.DefinitionRecord(ctypes.addressof(zeros))
        monkeypatch.setattr(sequences, "BACKENDS", ("numba",))
    monkeypatch.setattr(owner, name, fault)
    monkeypatch.setattr(sequences, "MOST_TRIALS", 0)
    report = run_cases(sequences.case, 0, range(60), most=1)
    assert "expected, found" in report.differences[0][1]


# ---- statements ----

STATEMENTS = ["multiply", "transpose", "sum"]


def test_without_a_fault_statements_agree(monkeypatch):
    assert found(statements, STATEMENTS, monkeypatch, cases=4) == ""


def test_a_wrong_value_is_found(monkeypatch):
    change("multiply", lower=registry["add"].lower)
    assert "expected, found" in found(statements, ["multiply"], monkeypatch)


@pytest.mark.repeats
def test_a_lost_write_through_a_view_is_found(monkeypatch):
    change("transpose", view_of=new_memory)
    draw_only(monkeypatch, "op_call", "assignment")
    assert "expected, found" in found(statements, ["transpose"], monkeypatch)


def test_a_wrong_eigenvalue_is_found_in_any_order():
    matrix = np.array([[1.0, 2.0, 0.0], [-2.0, 1.0, 0.5], [0.0, 1.0, 3.0]])
    values, wrong = np.linalg.eigvals(matrix), np.linalg.eigvals(matrix + 1e-6 * np.eye(3))
    ordered = programs.in_order(values)
    for order in itertools.permutations(range(3)):
        assert difference(programs.in_order(values[[*order]]), ordered, [ordered]) is None
        assert difference(programs.in_order(wrong[[*order]]), ordered, [ordered]) is not None


def test_what_rounding_decides_is_no_difference_and_the_rest_is_one():
    expected, spread = np.array([2.0, 3.0]), [np.array([9.0, 3.0]), np.array([1.0, 3.0])]
    assert difference(np.array([1e13, 3.0]), expected, spread) is None
    assert difference(np.array([2.0, 3.0 + 1e-6]), expected, spread) is not None


@pytest.mark.repeats
def test_a_wrong_exponential_of_a_matrix_is_found(monkeypatch):
    change("expm", frontend=lambda op, a: op.bind(promoted(a)[0]) * (1 + 1e-7))
    assert "elements" in found(statements, ["expm"], monkeypatch)


def test_equal_results_in_one_array_are_found(monkeypatch):
    collect = version.collect_outputs

    def merged(*given):
        values, outputs = collect(*given)
        first = list(dict.fromkeys(values))
        slots = tuple(first.index(values[slot]) for slot in outputs.slots)
        return tuple(first), version.Outputs(outputs.spec, slots, outputs.static, len(first))

    monkeypatch.setattr(version, "collect_outputs", merged)
    assert "share memory" in found(statements, STATEMENTS, monkeypatch)


def test_a_donated_argument_that_a_failed_call_destroys_is_found(monkeypatch):
    monkeypatch.setattr(buffers, "fails_late", lambda program: False)
    draw_only(monkeypatch, "op_call")
    assert "donated: an argument was changed" in found(statements, ["take", "negative"], monkeypatch)


def test_a_wrong_layout_is_found(monkeypatch):
    describe = arguments.describe

    def confused(leaf, name):
        layout, array = describe(leaf, name)
        return (structs.replace(layout, contiguous=True, fortran=False) if hasattr(layout, "ones") else layout), array

    monkeypatch.setattr("numbagraph.jit.backends.describe", confused)
    assert found(statements, STATEMENTS, monkeypatch)


@pytest.mark.parametrize("fault", ["order", "kind"])
def test_results_in_wrong_containers_are_found(fault, monkeypatch):
    collect = version.collect_outputs

    def confused(value):
        if type(value) is dict:
            value = {key: confused(value[key]) for key in (sorted(value) if fault == "order" else value)}
        if type(value) in (tuple, list):
            value = type(value)(map(confused, value))
        return tuple(value) if fault == "kind" and type(value) is list else value

    draw_only(monkeypatch, "tree")
    monkeypatch.setattr(
        version, "collect_outputs", lambda returned, *described: collect(confused(returned), *described)
    )
    assert "expected, found" in found(statements, ["add"], monkeypatch)


def test_dicts_that_share_a_version_whatever_their_order_are_found(monkeypatch):
    draw_only(monkeypatch, "tree")
    monkeypatch.setattr(binding, "flatten", optree.tree_flatten)
    assert "another order" in found(statements, ["add"], monkeypatch)


def test_what_a_ufunc_writes_and_is_lost_is_found(monkeypatch):
    draw_only(monkeypatch, "method", "into")
    monkeypatch.setattr(tracer, "write_into", lambda out, function, args, kwargs: out[0])
    assert "expected, found" in found(statements, ["add"], monkeypatch)


def test_a_version_that_keeps_the_lengths_of_its_first_call_is_found(monkeypatch):
    make = entry.make_callable

    def keeping(plans, name):
        run, kept = make(plans, name), {}

        def call(*leaves):
            given = [
                np.resize(leaf, kept.setdefault((place, leaf.ndim), leaf.shape)) if np.ndim(leaf) else leaf
                for place, leaf in enumerate(leaves)
            ]
            return run(*given)

        return call

    monkeypatch.setattr("numbagraph.jit.dispatch.make_callable", keeping)
    draw_only(monkeypatch, "op_call")
    assert "arguments of other lengths" in found(statements, STATEMENTS, monkeypatch)


@pytest.fixture
def blind_to_overlaps(monkeypatch):
    """The native entry takes each two arrays for ones that share no memory."""
    read = entry.read_source
    test = "%meet = and i1 %begins_before, %ends_after"
    assert test in read("results")
    monkeypatch.setattr(
        entry, "read_source", lambda *names: read(*names).replace(test, "%meet = icmp ne i1 true, true")
    )
    monkeypatch.setattr(entry, "_entry", functools.cache(entry._entry.__wrapped__))


@pytest.mark.usefixtures("blind_to_overlaps")
def test_a_result_that_overwrites_what_is_still_read_is_found(monkeypatch):
    monkeypatch.setattr(statements, "graph_jit", lambda function, **_: graph_jit(function, cache=False))
    draw_only(monkeypatch, "op_call")
    assert "results over an argument" in found(statements, ["flip", "add"], monkeypatch)


@pytest.mark.usefixtures("blind_to_overlaps")
def test_donated_arguments_that_overlap_are_found(monkeypatch):
    """What is written for the one is read as the other."""
    monkeypatch.setattr(statements, "twice", writeable)  # one array as two arguments would be found before
    draw_only(monkeypatch, "op_call")
    assert "donated, and overlapping: " in found(statements, ["add", "negative"], monkeypatch, cases=100)


def test_a_lost_conversion_is_found(monkeypatch):
    def careless(targets, results):
        for leaf, each in zip(targets.leaves, results, strict=True):
            leaf[...] = each if leaf.dtype == each.dtype else 0
        return targets.tree

    monkeypatch.setattr(Targets, "fill", careless)
    draw_only(monkeypatch, "op_call")
    assert "out= of float" in found(statements, STATEMENTS, monkeypatch)


# ---- gradients ----


def test_without_a_fault_gradients_agree(monkeypatch):
    assert found(gradients, ["sin", "hypot", "matmul"], monkeypatch, cases=4) == ""


def test_a_wrong_derivative_is_found(monkeypatch):
    change("sin", vjp=lambda g, y, x: (-g,))
    assert "the gradient" in found(gradients, ["sin"], monkeypatch)


def test_a_derivative_that_a_mask_makes_zero_is_found(monkeypatch):
    """The value's derivative is right, but what stands at the protected place is a constant to the next one."""
    vjp = registry["square"].vjp

    def masked(g, y, x):
        (slope,) = vjp(g, y, x)
        return (where(registry["equal"](x, 1.0), 2.0 * g, slope),)

    change("square", vjp=masked)
    monkeypatch.setattr(gradients, "SPECIAL", (1.0,))
    monkeypatch.setattr(gradients, "SPECIAL_SHARE", 1.0)
    assert "Hessian" in found(gradients, ["square"], monkeypatch)


def test_an_asymmetric_hessian_is_found(monkeypatch):
    def wrong(g, y, a, b):
        return g * b, g * registry["stop_gradient"](a)

    change("multiply", vjp=wrong)
    assert found(gradients, ["multiply"], monkeypatch)


@pytest.mark.parametrize(("name", "cases"), [("factorial", [9, 27]), ("nanmedian", [12]), ("qr", [3])])
def test_phases_and_ties_that_differences_cannot_tell_are_no_faults(name, cases, monkeypatch):
    """Results that turn the sine within a step, equal elements beside NaN, a matrix with equal columns."""
    monkeypatch.setattr(gradients, "SPECIAL_SHARE", 1.0)
    monkeypatch.setattr(gradients, "names", lambda: [name])
    report = run_cases(gradients.case, 0, cases)
    assert (report.differences, report.cases) == ([], len(cases))


def test_a_gradient_that_turns_with_the_direction_has_no_hessian():
    at, direction = types.SimpleNamespace(point=np.zeros(3)), np.array([0.5, -0.25, 1.0])
    matrix = np.arange(9.0).reshape(3, 3)
    slopes = {False: lambda x: 2 * np.abs(x).sum() * np.sign(x), True: lambda x: matrix @ x}
    for linear, slope in slopes.items():
        along = functools.partial(lambda slope, t: slope(t * direction), slope)
        assert gradients.turns_linearly(slope, at, direction, along) == linear


# ---- loops ----


def test_without_a_fault_loops_agree(monkeypatch):
    assert found(loops, ["sin", "tanh"], monkeypatch, cases=3) == ""


def test_a_loop_in_the_wrong_direction_is_found(monkeypatch):
    monkeypatch.setattr(LoopEmitter, "index", lambda emitter, step: step)
    assert "expected, found" in found(loops, ["sin"], monkeypatch, first=20)


def test_swapped_branches_are_found(monkeypatch):
    taken = branches.taken
    monkeypatch.setattr(branches, "taken", lambda index, functions, args: taken(index, functions[::-1], args))
    assert "expected, found" in found(loops, ["sin"], monkeypatch)


@pytest.mark.repeats
def test_a_wrong_derivative_of_a_loop_is_found(monkeypatch):
    monkeypatch.setattr("numbagraph.ops.control.scan.known_or_zero", lambda value, like: registry["zeros_like"](like))
    assert "the gradient" in found(loops, ["sin"], monkeypatch)


# ---- nests ----


@pytest.fixture
def without_a_compiler(monkeypatch):
    """The faults are those of graphs, and need no compiler to be seen."""
    for name, value in {"BACKENDS": ("numpy",), "MORE": ("",), "MOST_TRIALS": 0}.items():
        monkeypatch.setattr(nests, name, value)


@pytest.mark.usefixtures("without_a_compiler")
def test_without_a_fault_nests_agree(monkeypatch):
    assert found(nests, [], monkeypatch, cases=3, first=3) == ""  # one has a length that elements say


@pytest.mark.usefixtures("without_a_compiler")
def test_a_wrong_derivative_of_a_nest_is_found(monkeypatch):
    monkeypatch.setattr("numbagraph.ops.control.scan.known_or_zero", lambda value, like: registry["zeros_like"](like))
    assert "slope" in found(nests, [], monkeypatch, cases=5)


@pytest.mark.usefixtures("without_a_compiler")
def test_a_stand_in_that_leaves_its_step_is_found(monkeypatch):
    monkeypatch.setattr("numbagraph.ops.control.scan.captured_by", lambda closed, *_: list(closed.captures))
    assert "EscapedError" in found(nests, [], monkeypatch, cases=1, first=7)


# ---- loops over late lengths ----


def test_without_a_fault_late_loops_agree(monkeypatch):
    monkeypatch.setattr(late_loops, "BACKENDS", ("numba",))
    assert found(late_loops, [], monkeypatch, cases=4) == ""


# ---- compositions ----

OPS = ["sin", "multiply", "sort", "sum", "greater"]


@pytest.fixture
def of_few_ops(monkeypatch):
    """Other ops need seconds until it is known how they are called."""
    monkeypatch.setattr(composition_ops, "names", lambda: OPS)


@pytest.fixture
def by_differences(of_few_ops, monkeypatch):
    """Without JAX, which compiles each primitive that it meets, and without compilers for programs."""
    monkeypatch.setattr(compositions, "BACKENDS", ("numpy",))
    monkeypatch.setattr(compositions, "by_jax", stand_ins.stopped)


@pytest.mark.usefixtures("of_few_ops")
def test_without_a_fault_compositions_agree(monkeypatch):
    assert found(compositions, [], monkeypatch, cases=3) == ""


@pytest.mark.usefixtures("by_differences")
def test_without_a_fault_compositions_agree_with_differences(monkeypatch):
    assert found(compositions, [], monkeypatch, cases=30) == ""


@pytest.mark.usefixtures("by_differences")
def test_a_point_that_rewriting_goes_through_is_found(monkeypatch):
    go_through_points(monkeypatch)
    difference = found(compositions, [], monkeypatch)
    assert "expected, found" in difference
    assert "ng.graph_jit(program" in difference


@pytest.mark.usefixtures("by_differences")
def test_a_derivative_that_a_loop_in_between_loses_is_found(monkeypatch):
    monkeypatch.setattr("numbagraph.ops.control.scan.known_or_zero", lambda value, like: registry["zeros_like"](like))
    assert "expected, found" in found(compositions, [], monkeypatch)


# ---- the runner ----


def test_a_case_can_be_run_again_alone():
    drawn = []
    run_cases(lambda rng, report: drawn.append(rng.random()), 7, range(3))
    run_cases(lambda rng, report: drawn.append(rng.random()), 7, [2])
    assert drawn[3] == drawn[2]
    assert len(set(drawn)) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="the signals are POSIX's")
def test_cases_that_hang_or_end_the_process_are_differences():
    report = run_watched(hangs_or_dies, 7, range(5), limit=5)
    assert (report.cases, report.covered["fine"]) == (5, 3)
    assert [number for number, _ in report.differences] == [1, 2]
    assert "more than 5 seconds" in report.differences[0][1]
    assert "exit code -9" in report.differences[1][1]


@pytest.mark.skipif(not checks_available(), reason="the C library has no library of checks")
def test_writes_past_the_end_of_memory_are_differences():
    report = run_watched(writes_past_an_end, 7, range(4), limit=60)
    assert (report.cases, report.covered["fine"]) == (4, 2)
    assert [number for number, _ in report.differences] == [1, 2]
    assert all("exit code -6" in text for _, text in report.differences)


def test_an_unexpected_error_is_a_difference():
    report = run_cases(lambda rng, report: np.zeros(2)[5], 7, range(1))
    assert "IndexError" in report.differences[0][1]
    assert "1 differences" in report.text(["sin"])
    assert "not covered: sin" in report.text(["sin"])


def test_calls_of_numpy_meet_wrong_values_and_dtypes(monkeypatch):
    calls = [name for name in surface.names() if name.startswith(("tril ", "fliplr "))]
    assert found(surface, calls, monkeypatch) == ""
    change("tril", frontend=registry["triu"].frontend)
    change("fliplr", frontend=registry["flipud"].frontend)
    assert all("not" in found(surface, [name], monkeypatch) for name in calls)
