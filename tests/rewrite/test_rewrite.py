"""The rewrite engine, the passes in order (against texts in ``goldens``), and what checks them.

``UPDATE_GOLDENS=1 pytest tests/rewrite/test_rewrite.py`` writes the texts anew; read the difference before you commit.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, Guard
from numbagraph.ir.op import registry
from numbagraph.ir.structs import replace
from numbagraph.ir.types import BOOL, FLOAT32, FLOAT64, INT64
from numbagraph.ir.values import ArrayType, Constant, Dim, Input, Node, Source, at_source, constant
from numbagraph.rewrite import debug_checks
from numbagraph.rewrite.canonical import CANONICALISE
from numbagraph.rewrite.debug_checks import check_values, verify_types
from numbagraph.rewrite.engine import RewriteError, RuleSet, rewrite, rule
from numbagraph.rewrite.patterns import Symbol, exp, log, sqrt, square
from numbagraph.rewrite.pipeline import PASSES, RulePass, optimise, prepare
from numbagraph.rewrite.stages import Stage
from numbagraph.transforms.autodiff import cotangents
from numbagraph.transforms.interpret import evaluate
from tests.support.graphs import trace

GOLDENS = Path(__file__).parent / "goldens"

x = Input(ArrayType(FLOAT64, (Dim("n"),)), "x")
y = Input(ArrayType(FLOAT64, x.shape), "y")
total = Symbol("sum")


def apply(*rules, to):
    """The result of rules on one value, and what fired."""
    graph, rewrites = rewrite(Graph((x, y), (to,)), RuleSet("test", rules))
    return graph.outputs[0], rewrites


def test_rules_apply_inside_out_until_none_does():
    double = rule(lambda x: x + x, lambda x: x * 2)
    flatten = rule(lambda x: (x * 2) * 2, lambda x: x * 4)
    result, rewrites = apply(double, flatten, to=exp((x + x) + (x + x)))
    assert result is exp(x * 4)
    assert [applied.rule for applied in rewrites] == [double, double, flatten]


def test_what_does_not_change_is_the_same_object():
    graph = Graph((x, y), (exp(x) * y,))
    after, rewrites = rewrite(graph, CANONICALISE)
    assert after is graph
    assert not rewrites


def test_a_rewrite_says_what_and_where():
    double = rule(lambda x: x + x, lambda x: x * 2)
    with at_source(Source("model.py", 12)):
        value = y + y
    result, (applied,) = apply(double, to=value)
    assert (applied.node, applied.replacement, applied.rule) == (value, result, double)
    assert applied.rule.source.file == __file__
    assert str(applied).startswith(f"add(x, x) ({__file__}:")
    assert str(applied).endswith("at model.py:12")


def test_new_nodes_come_from_the_line_of_the_old_one():
    with at_source(Source("model.py", 34)):
        value = exp(x - y * 3.25)
    result, _ = apply(rule(lambda x, y: exp(x - y), lambda x, y: exp(x) / exp(y)), to=value)
    assert isinstance(result, Node)
    assert {each.source for each in (result, *result.inputs) if isinstance(each, Node)} == {Source("model.py", 34)}


def test_operands_of_commutative_ops_match_in_either_order():
    both = rule(lambda x, y: log(1 + exp(x) * y), lambda x, y: x - y)
    for value in (log(1 + exp(x) * y), log(1 + y * exp(x)), log(exp(x) * y + 1), log(y * exp(x) + 1)):
        assert apply(both, to=value)[0] is x - y
    ordered = rule(lambda x: 1 - exp(x), lambda x: x)
    assert not apply(ordered, to=exp(x) - 1)[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint64, np.complex64])
def test_constants_match_by_value_in_the_dtype_of_the_node(dtype):
    value = Input(ArrayType(np.dtype(dtype), ()), "value")
    for number, wanted in ((2, True), (3, False)):
        _, rewrites = rewrite(
            Graph((value,), (value * number,)), RuleSet("test", [rule(lambda x: x * 2, lambda x: x + x)])
        )
        assert bool(rewrites) == wanted


def test_zeros_of_different_signs_are_different_numbers():
    minus = rule(lambda x: x + -0.0, lambda x: x)
    assert apply(minus, to=x + -0.0)[0] is x
    assert not apply(minus, to=x + 0.0)[1]


def test_a_number_that_does_not_fit_matches_nothing():
    small = Input(ArrayType(np.dtype(np.uint8), ()), "small")
    graph = Graph((small,), (small * 255,))
    assert not rewrite(graph, RuleSet("test", [rule(lambda x: x * -1, lambda x: x)]))[1]


def test_a_variable_stands_for_one_value():
    same = rule(lambda x: x - x, lambda x: 0.0)
    assert not apply(same, to=x - y)[1]
    result, _ = apply(same, to=x - x)
    assert result is registry["broadcast_to"](constant(0.0), x.shape)


def test_attributes_are_matched_and_handed_on():
    outside = rule(lambda x, *, axes: total(exp(x), axes=axes), lambda x, axes: exp(total(x, axes=axes)))
    assert apply(outside, to=registry["sum"](exp(x)))[0] is exp(registry["sum"](x))
    fixed = rule(lambda x: total(x, axes=(-2,)), lambda x: x)
    assert not apply(fixed, to=registry["sum"](x))[1]


def test_a_condition_takes_the_variables_that_it_names_and_the_node():
    conditional = rule(
        lambda x, y: x * y, lambda x: x, where=lambda y, node: isinstance(y, Constant) and node.ndim == 1
    )
    assert apply(conditional, to=x * 3.0)[0] is x
    assert not apply(conditional, to=x * y)[1]


def test_guards_are_rewritten_with_the_results():
    value = Input(ArrayType(INT64, ()), "value")
    guards = [
        Guard(registry["equal"](value - 0, 3), "three", None),
        Guard(registry["less"](value, value), "less", None),
    ]
    guards.append(Guard(registry["equal"](value, value), "always true", None))
    graph, _ = rewrite(Graph((value,), (value - 0,), tuple(guards)), CANONICALISE)
    assert graph.outputs == (value,)
    assert [guard.subject for guard in graph.guards] == ["three", "less"]
    assert graph.guards[0].condition is registry["equal"](value, 3)
    assert graph.guards[1].condition is constant(False)


def test_a_graph_inside_of_a_node_is_rewritten():
    holder = replace(registry["exp"], name="holder", infer=lambda value, *, body: value.type)
    graph, rewrites = rewrite(Graph((x,), (holder.bind(x, body=Graph((y,), (y * 1.0,))),)), CANONICALISE)
    assert [applied.rule.name for applied in rewrites] == ["multiply(x, 1)"]
    assert graph.outputs[0].attrs["body"].outputs == (y,)
    assert str(graph).splitlines() == [
        "def f(x: float64[n]):",
        "    def f_(y: float64[n]):",
        "        return y",
        "    return holder(x, body=f_)",
    ]


def test_rules_that_undo_each_other_are_an_error():
    there = rule(lambda x: exp(x), lambda x: log(x))
    back = rule(lambda x: log(x), lambda x: exp(x))
    with pytest.raises(RewriteError, match="never come to an end: exp"):
        apply(there, back, to=exp(x))


def test_a_rule_that_grows_is_an_error():
    with pytest.raises(RewriteError, match="never come to an end: sqrt"):
        apply(rule(lambda x: sqrt(x), lambda x: sqrt(x + 1.0)), to=sqrt(x))
    with pytest.raises(RewriteError, match="never come to an end: square"):
        apply(rule(lambda x: square(x), lambda x: exp(square(x))), to=square(x))


def test_a_rule_must_keep_the_dtype():
    with pytest.raises(RewriteError, match=r"replaces float64\[n\] by bool\[n\]: a rule must keep the type"):
        apply(rule(lambda x: exp(x), lambda x: x > 0), to=exp(x))


def test_a_replacement_is_broadcast_to_the_shape():
    row = Input(ArrayType(FLOAT64, (Dim("m"), 1)), "row")
    graph, _ = rewrite(Graph((x, row), (registry["where"](row > 0, x, x),)), CANONICALISE)
    verify_types(graph, "test")
    assert graph.outputs[0].op.name == "broadcast_to"


def test_dimensions_that_are_none_are_added_before_an_operation():
    def difference(x, y):
        return registry["expand_dims"](x, ()) - registry["expand_dims"](y, 0)

    graph, _ = rewrite(trace(difference, np.ones(3), np.ones(3)), CANONICALISE)
    np.testing.assert_array_equal(evaluate(graph, [np.arange(3.0), np.ones(3)])[0], [[-1.0, 0.0, 1.0]])


def test_deep_graphs():
    value = x
    for number in range(5000):
        value = exp(value) * 1.0 if number % 2 else value - 0.25
    graph, rewrites = rewrite(Graph((x,), (value,)), CANONICALISE)
    assert len(rewrites) == 2500
    assert len(graph.order) == 2 + 5000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (lambda: registry["exp"](constant(1.0)), constant(np.exp(1.0))),
        (lambda: constant(3) * 4 - 2, constant(10)),
        (lambda: registry["divide"](constant(1.0), 0.0), constant(np.inf)),
        (lambda: registry["cast"](constant(1.5), FLOAT32), constant(np.float32(1.5))),
        (lambda: registry["sum"](constant([1.0, 2.0])), constant(3.0)),
        (lambda: registry["less"](constant(1), 2), constant(True)),
    ],
)
def test_constants_are_folded(value, expected):
    (result,) = rewrite(Graph((), (value(),)), CANONICALISE)[0].outputs
    assert result is expected


def test_folding_keeps_python_scalars_weak():
    weak = constant(2.0, weak=True)
    (result,) = rewrite(Graph((), (weak * weak,)), CANONICALISE)[0].outputs
    assert result is constant(4.0, weak=True)


def test_folding_leaves_what_grows_and_what_fails_to_the_call():
    wide = registry["broadcast_to"](constant(1.0), (1000,))
    power = registry["power"].bind(constant(2), constant(-1))
    graph, _ = rewrite(Graph((), (wide, power)), CANONICALISE)
    assert graph.outputs == (wide, power)


def test_passes_that_have_nothing_to_do_are_left_out():
    assert [stage.name for stage in optimise(Graph((x,), (exp(x),)))] == [
        "traced",
        "canonicalise",
        "stabilise",
        "specialise",
    ]


def test_preparing_for_a_gradient_keeps_what_only_differentiation_asks_for():
    still = registry["stop_gradient"](x)
    assert prepare([log(1 + exp(still))]) == [registry["softplus"](still)]
    assert optimise(Graph((x,), (log(1 + exp(still)),))).final.outputs == (registry["softplus"](x),)


def test_types_are_verified(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CHECK", "1")
    optimise(Graph((x, y), (exp(x) * y,)))
    wrong = Node()
    wrong.op, wrong.inputs, wrong.attributes, wrong.source = registry["exp"], (x,), (), None
    wrong.type = ArrayType(FLOAT32, x.shape)
    with pytest.raises(RewriteError, match=r"after a pass, exp at None is float32.*make it float64"):
        verify_types(Graph((x,), (wrong,)), "a pass")


def test_values_are_checked_and_the_rule_is_named():
    """An unsound rule between sound ones is found on the arguments of a call, and only on those that show it."""
    unsound = rule(lambda x: x * 0, lambda x: 0.0)
    rules = RuleSet("unsound", [*CANONICALISE.rules, unsound])
    graph = Graph((x,), (exp(x * 1.0) + (x * 0.0 - 0.0),))
    after, rewrites = rewrite(graph, rules)
    stages = [Stage("traced", graph), Stage("unsound", after, tuple(rewrites), rules)]
    check_values(stages, [np.array([1.0, 2.0])])
    with pytest.raises(RewriteError, match=r"unsound changed a value: rule multiply\(x, 0\) .*test_rewrite"):
        check_values(stages, [np.array([1.0, np.inf])])


def test_values_that_a_stable_form_saves_are_no_fault():
    graph = Graph((x,), (log(1 + exp(x)),))
    check_values(optimise(graph), [np.array([-1000.0, 0.0, 1000.0])])


def softplus_model(data, weights):
    logits = registry["sum"](data * weights, -1)
    return registry["sum"](log(1 + exp(-logits)))


def normal_model(data, mean, scale):
    return registry["sum"](-0.5 * ((data - mean) / scale) ** 2 - log(scale) - 0.5 * np.log(2 * np.pi))


def softmax_model(logits, targets):
    weights = exp(logits) / registry["sum"](exp(logits), -1, keepdims=True)
    return -registry["sum"](registry["where"](targets, log(weights), 0.0))


def windows_model(x):
    rows = registry["sliding_window_view"](x, 3)
    return registry["sum"](square(registry["sum"](rows, -1)))


def with_gradient(function, *positions):
    def both(*values):
        (value,) = prepare([function(*values)])
        return value, *cotangents([value], [constant(1.0)], [values[each] for each in positions])

    return both


def special_powers(data):
    return data**3, data / 4.0, data**-2.0, sqrt(data**2)


def lengths(data, other):
    rows, columns = data.shape
    flat = registry["reshape"](data, (rows * columns,))
    return registry["sum"](registry["broadcast_to"](other, (rows + 1, columns)), 0) + flat[0]


def normal_vector_model(point, covariance):
    quadratic = point @ registry["inv"](covariance) @ point
    return -0.5 * (quadratic + log(registry["det"](covariance)))


MATRIX, VECTOR, NUMBER = np.ones((3, 4)), np.ones(4), np.float64(1.0)
MODELS = {
    "logistic": (with_gradient(softplus_model, 1), MATRIX, VECTOR),
    "normal": (with_gradient(normal_model, 1, 2), VECTOR, NUMBER, NUMBER),
    "softmax": (with_gradient(softmax_model, 0), MATRIX, np.ones((3, 4), bool)),
    "powers": (special_powers, VECTOR.astype(np.float32)),
    "lengths": (lengths, MATRIX, VECTOR),
    "normal_vector": (normal_vector_model, VECTOR, np.eye(4) + 1),
    "laguerre": (lambda x: registry["eval_genlaguerre"](2, 0.5, x), VECTOR),
    "windows": (with_gradient(windows_model, 0), np.ones(9)),
    "bessel": (lambda x: registry["yv"](-3, x), VECTOR),
}


@pytest.mark.parametrize("name", MODELS)
def test_golden(name):
    function, *arguments = MODELS[name]
    graph = trace(function, *arguments)
    stages = optimise(graph)
    check_values(stages, arguments)
    text = "\n".join(golden_lines(stages)) + "\n"
    path = GOLDENS / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDENS"):
        path.write_text(text)
    assert text == path.read_text(), f"{path} differs: UPDATE_GOLDENS=1 writes it anew"


def golden_lines(stages):
    before = None
    for stage in stages:
        yield f"# {stage.name}{' (no change)' if stage.graph is before else ''}"
        yield from (f"#   {applied.rule.name}" for applied in stage.rewrites)
        if stage.graph is not before:
            # nodes of constants alone are shared with whatever other test has made them first
            yield re.sub(r" +# .+:\d+$", "", str(stage.graph), flags=re.MULTILINE)
        yield ""
        before = stage.graph


def test_every_pass_has_a_golden():
    changed = {stage.name for name in MODELS for stage in optimise(trace(*MODELS[name])) if stage.rewrites}
    assert {each.rules.name for each in PASSES if isinstance(each, RulePass)} <= changed


def test_printing_shows_the_users_lines_and_what_is_required():
    a, b = Input(ArrayType(FLOAT64, (Dim("a.shape[0]"),)), "a"), Input(ArrayType(BOOL, ()), "lambda")
    with at_source(Source("/home/user/model.py", 7)):
        value = registry["where"](b, exp(a) * 2.0, np.float64(np.nan))
    guard = Guard(shapes.compare("equal", a.shape[0], 3), "an array of three", None)
    text = str(Graph((a, b), (value,), (guard,), name="model"))
    assert text.splitlines() == [
        "def model(a: float64[n], xlambda: bool):",
        "    assert equal(n, 3)                          # an array of three",
        "    b = exp(a)                                  # model.py:7",
        "    c = b * 2.0                                 # model.py:7",
        "    return where(xlambda, c, nan)               # model.py:7",
    ]


def test_printing_constants():
    values = (
        constant(1.5),
        constant(2),
        constant(1.5, dtype=FLOAT32),
        constant([1, 2]),
        constant(True),
        constant(3, weak=True),
    )
    assert str(Graph((), values)).splitlines()[1] == (
        "    return (1.5, 2, float32(1.5), array([1, 2], int64), True, 3)"
    )


def test_equal_graphs_print_alike():
    def text():
        return str(trace(*MODELS["softmax"]))

    assert text() == text()


def test_evaluation_is_what_the_passes_keep():
    rng = np.random.default_rng(0)
    arguments = rng.normal(size=(3, 4)), rng.normal(size=4)
    stages = optimise(trace(with_gradient(softplus_model, 1), *arguments))
    for stage in stages:
        for one, other in zip(evaluate(stage.graph, arguments), evaluate(stages.final, arguments), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert debug_checks.check_level() in (0, 1, 2)
