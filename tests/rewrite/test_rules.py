"""Every rule fires on its own left side, in the pipeline too, and both of its sides are equal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax

from numbagraph import graph_jit, special, value_and_grad
from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.types import DTYPES, FLOAT64
from numbagraph.ir.values import ArrayType, Dim, Input, Node
from numbagraph.rewrite.canonical import CANONICALISE
from numbagraph.rewrite.engine import PatternRule, RewriteError, RuleSet, rewrite, rule
from numbagraph.rewrite.facts import floating, is_op
from numbagraph.rewrite.patterns import exp, expm1, less, log
from numbagraph.rewrite.pipeline import optimise
from numbagraph.rewrite.specialise import SPECIALISE
from numbagraph.rewrite.stabilise import STABILISE
from numbagraph.testing.checks import REPRESENTATIVE
from numbagraph.transforms.interpret import evaluate
from tests.support.accuracy import check_accuracy
from tests.support.graphs import trace
from tests.support.rule_checks import check, compare, fired, instances, is_elementwise, special_values


def patterns_of(rules: RuleSet, *, elementwise: bool) -> list[PatternRule]:
    found = [each for each in rules.rules if isinstance(each, PatternRule)]
    return [each for each in found if is_elementwise(each.pattern) == elementwise]


@pytest.fixture
def dtypes(extent):
    """Usually one of each kind, of another width than others have."""
    return DTYPES if extent == "all" else REPRESENTATIVE


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("each", patterns_of(CANONICALISE, elementwise=True), ids=repr)
def test_canonical_rule_is_exact(each, dtypes):
    assert check(each, dtypes=dtypes)


@pytest.mark.parametrize("each", patterns_of(SPECIALISE, elementwise=True), ids=repr)
def test_specialised_rule_is_accurate(each, dtypes):
    assert check(each, ulp=4, dtypes=dtypes)


@pytest.mark.parametrize("each", patterns_of(STABILISE, elementwise=True), ids=repr)
def test_stable_rule_is_at_least_as_accurate(each):
    assert check_accuracy(each)


@pytest.mark.parametrize("rules", [CANONICALISE, STABILISE, SPECIALISE], ids=lambda rules: rules.name)
def test_no_rule_is_shadowed(rules):
    """In the whole pipeline too: what comes before must leave the form that a rule is written for."""
    for each in patterns_of(rules, elementwise=True):
        fires = (
            any(applied.rule is each for applied in optimise(graph).rewrites)
            for graph, _ in instances(each)
            if fired(each, graph) is not None
        )
        assert any(fires), f"{each!r} never fires in the pipeline"


call = {op.name: op for op in registry}.__getitem__


def repeated(x, count=5):
    return call("broadcast_to")(call("expand_dims")(x, -1), (*x.shape, count))


STRUCTURAL = [
    lambda x: call("cast")(call("cast")(x, np.complex128), np.complex64),
    lambda x: call("cast").bind(x, dtype=x.dtype),
    lambda x: call("cast")(call("trunc")(x), np.int64),
    lambda x: call("broadcast_to").bind(x, *x.shape, shape=(None, None)),
    lambda x: call("broadcast_to")(repeated(x, 1), (*x.shape, 4)),
    lambda x: call("broadcast_to").bind(
        call("broadcast_to").bind(call("expand_dims")(x, -1), *x.shape, shape=(None, None, 1)),
        *x.shape,
        shape=(None, None, 4),
    ),
    lambda x: call("expand_dims")(repeated(x), 1),
    lambda x: call("expand_dims")(call("expand_dims")(x, (0, 2)), (1, -1)),
    lambda x: call("squeeze").bind(call("expand_dims")(x, (0, 2)), axes=(-4, -2)),
    lambda x: call("squeeze").bind(call("expand_dims")(x, (0, 2, -1)), axes=(-3,)),
    lambda x: call("expand_dims")(call("squeeze")(x, 0), 0),
    lambda x: call("transpose").bind(call("transpose").bind(x, axes=(-1, -2)), axes=(-1, -2)),
    lambda x: call("transpose").bind(
        call("transpose").bind(call("expand_dims")(x, 0), axes=(-1, -3, -2)), axes=(-2, -1, -3)
    ),
    lambda x: call("reshape").bind(
        call("reshape").bind(x, x.shape[0] * x.shape[1], consumed=2, shape=(None,)),
        *x.shape,
        consumed=1,
        shape=(None, None),
    ),
    lambda x: call("copy").bind(x),
    lambda x: call("sum")(-x, 0),
    lambda x: call("sum")(x, 0) + 0,
    lambda x: call("sum")(call("expand_dims")(x, 0), 0),
    lambda x: call("prod")(call("expand_dims")(x, 0), 0),
    lambda x: call("max")(call("expand_dims")(x, 0), 0),
    lambda x: call("min")(call("expand_dims")(x, 0), 0),
    lambda x: call("all")(call("expand_dims")(x, 0), 0),
    lambda x: call("any")(call("expand_dims")(x, 0), 0),
    lambda x: call("sum")(repeated(x), -1),
    lambda x: call("sum")(repeated(x, x.shape[0]), -1),
    lambda x: call("sum")(call("broadcast_to")(call("expand_dims")(x, 1), (x.shape[0], 3, x.shape[1])), (0, 1)),
    lambda x: call("max")(repeated(x), (-1, 0)),
    lambda x: call("min")(repeated(x), -1),
    lambda x: call("all")(repeated(x), -1),
    lambda x: call("any")(repeated(x), -1),
    lambda x: call("all")(repeated(x, 0), -1),
    lambda x: call("any")(repeated(x, 0), -1),
    lambda x: call("sum")(call("concatenate")((x, x[:1], x[:0]))),
    lambda x: call("sum")(call("concatenate")((x, x[:, ::-1]), 1), 1),
]


def structural_graphs():
    """Graphs of functions that rearrange and reduce, with special values in their arguments."""
    for dtype in (np.float64, np.float32, np.int32, np.uint64, np.complex128, np.bool_):
        numbers = special_values(np.dtype(dtype))
        for array in (
            np.stack([numbers, numbers[::-1]]),
            numbers[None],
            numbers[:0].reshape(0, 2),
            numbers[:0].reshape(2, 0),
        ):
            for function in STRUCTURAL:
                try:
                    graph = trace(function, array)
                except (TypeError, ValueError, NotImplementedError):
                    continue
                yield graph, array


STRUCTURAL_RULES = [each for rules in (CANONICALISE, SPECIALISE) for each in patterns_of(rules, elementwise=False)]


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("each", STRUCTURAL_RULES, ids=repr)
def test_structural_rule_is_exact(each):
    """On rearrangements and reductions; sums are among the few results that a rule may round anew."""
    count = 0
    for graph, array in structural_graphs():
        after = fired(each, graph)
        if after is not None:
            compare(each, graph, after, [array], ulp=graph.outputs[0].op.ulp)
            count += 1
    assert count


def test_repeating_after_computing_changes_nothing():
    rng = np.random.default_rng(0)

    def function(x, y):
        wide = call("broadcast_to")(call("exp")(y), (*x.shape,))
        return call("sin")(wide) * x, call("exp")(repeated(y)), call("sum")(wide + call("expand_dims")(y, 0))

    arrays = rng.normal(size=(3, 4)), rng.normal(size=4)
    graph = trace(function, *arrays)
    after, rewrites = rewrite(graph, CANONICALISE)
    assert any(applied.rule.name == "compute_before_repeating" for applied in rewrites)
    for one, other in zip(evaluate(graph, arrays), evaluate(after, arrays, check=True), strict=True):
        np.testing.assert_array_equal(one, other)


PIECES = {
    "the first piece": (slice(0, 3), "sin"),
    "within the second": (slice(4, 6), "exp"),
    "backwards": (slice(6, 2, -2), "exp"),
    "the last": (slice(-2, None), "cos"),
    "nothing": (slice(3, 3), "concatenate"),
    "of two pieces": (slice(1, 5), "concatenate"),
}


def sliced_ops(graph):
    """The ops of which slices are taken."""
    return [each.inputs[0].op.name for each in graph.order if is_op(each, "slice") and isinstance(each.inputs[0], Node)]


def check_slices(graph, arrays, left):
    """Slices in the optimised graph are of the ops ``left`` only, and values are what they were."""
    final = optimise(graph).final
    assert sliced_ops(graph)
    assert sliced_ops(final) == left
    for one, other in zip(evaluate(graph, arrays), evaluate(final, arrays, check=True), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", PIECES)
def test_a_slice_of_one_piece_needs_no_joined_array(name):
    key, sliced = PIECES[name]
    inputs = [Input(ArrayType(FLOAT64, (3, length)), f"x{length}") for length in (3, 4, 2)]
    value = call("concatenate")([call(name)(x) for name, x in zip(("sin", "exp", "cos"), inputs, strict=True)], 1)
    arrays = [np.arange(each.shape[1]) + np.arange(3.0)[:, None] for each in inputs]
    check_slices(Graph(tuple(inputs), (value[1:, key],)), arrays, [sliced])


def test_a_slice_is_taken_before_repeating():
    x = Input(ArrayType(FLOAT64, (3, 1)), "x")
    wide = call("broadcast_to")(call("exp")(x), (2, 3, 4))
    graph = Graph((x,), (wide[1:, ::-2, 1:3], wide[:, :, 2:]))
    check_slices(graph, [np.arange(3.0)[:, None]], ["expand_dims"])


@pytest.mark.parametrize("length", [1, 4])
def test_a_slice_of_what_is_perhaps_repeated(length):
    x = Input(ArrayType(FLOAT64, (Dim("n", may_be_one=True),)), "x")
    wide = call("broadcast_to").bind(call("expand_dims")(call("exp")(x), 0), shape=(2, 4))
    check_slices(Graph((x,), (wide[:, 1:3],)), [np.arange(float(length))], ["broadcast_to"])


def test_a_derivative_of_a_choice_is_a_choice():
    x, taken = np.array([1.0, -2.0, 0.0, -0.0, np.nan]), np.array([True, False, True, False, True])
    where = call("where")
    for function in (
        lambda c, x: where(c, x, 0.0) - where(c, 0.0, call("exp")(x)),
        lambda c, x: where(c, 0.0, x) - where(c, call("exp")(x), 0.0),
        lambda c, x: where(c, x, 0.0) + where(c, 0.0, x * 2.0),
    ):
        graph = trace(function, taken, x)
        final = optimise(graph).final
        assert sum(is_op(each, "where") for each in final.order) == 1
        (one,), (other,) = evaluate(graph, [taken, x]), evaluate(final, [taken, x])
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


ROWS = [
    [1.0, 2.0, 3.0],
    [1000.0, 999.0, -np.inf],
    [-1000.0, -1001.0, -1002.0],
    [np.inf, 1.0, 2.0],
    [-np.inf] * 3,
    [np.nan, 1, 2],
]


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_log_sum_exp(axis):
    array = np.array(ROWS)
    for block in (array, array[:3], array[2:3], array[:0]):
        graph = trace(lambda x: call("log")(call("sum")(call("exp")(x), axis)), block)
        (result,) = evaluate(optimise(graph).final, [block])
        with np.errstate(divide="ignore"):
            expected = logsumexp(block, axis) if block.size else np.log(np.exp(block).sum(axis))
        np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_log_mean_exp():
    array = np.array(ROWS[:3])
    graph = trace(lambda x: call("log")(call("mean")(call("exp")(x), 1)), array)
    (result,) = evaluate(optimise(graph).final, [array])
    np.testing.assert_allclose(result, logsumexp(array, 1) - np.log(3), rtol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_softmax_and_its_logarithm(axis):
    def function(x):
        weights = call("exp")(x) / call("sum")(call("exp")(x), axis, keepdims=True)
        return weights, call("log")(weights)

    array = np.array(ROWS[:1] + ROWS[2:3])
    weights, logarithms = evaluate(optimise(trace(function, array)).final, [array])
    np.testing.assert_allclose(weights, softmax(array, axis), rtol=1e-13)
    np.testing.assert_allclose(logarithms, array - logsumexp(array, axis, keepdims=True), rtol=1e-12)


def test_a_quotient_that_only_looks_like_softmax_is_left_alone():
    """The sums of rows divide columns here."""
    array = np.random.default_rng(0).normal(size=(3, 3))
    graph = trace(lambda x: call("exp")(x) / call("sum")(call("exp")(x), 1), array)
    (result,) = evaluate(optimise(graph).final, [array])
    np.testing.assert_allclose(result, np.exp(array) / np.exp(array).sum(1), rtol=1e-14)


UNSOUND = {
    "infinite times 0": rule(lambda x: x * 0, lambda: 0),
    "0 - x at 0": rule(lambda x: 0 - x, lambda x: -x),
    "the sign": rule(lambda x, y: x - y, lambda x, y: x + y),
    "x + 0 at -0.0": rule(lambda x: x + 0, lambda x: x),
    "NaN": rule(lambda x: x / x, lambda: 1),
    "integers wrap": rule(lambda x, y: (x * y) // y, lambda x: x),
    "the order of quotients": rule(lambda x, y, z: (x * y) / z, lambda x, y, z: x * (y / z)),
}


@pytest.mark.parametrize("each", UNSOUND.values(), ids=UNSOUND)
def test_the_checker_finds_an_unsound_rule(each):
    with pytest.raises(AssertionError, match="became"):
        check(each)


def test_the_checker_finds_a_rule_that_loses_digits():
    with pytest.raises(AssertionError, match="the truth is"):
        check_accuracy(rule(lambda x: expm1(x), lambda x: exp(x) - 1))
    with pytest.raises(AssertionError, match="the truth is"):
        check_accuracy(rule(lambda x: log(exp(x)), lambda x: -x))


def test_a_rule_must_keep_the_type():
    with pytest.raises(RewriteError, match="must keep the type"):
        check(rule(lambda x, y: less(x, y), lambda x: x, where=floating))


PLACES = np.array([0, 3, 3, -1])
SELECTED = {
    "all": lambda p: p,
    "one a row": lambda p: p[np.arange(4), PLACES % 3],
    "rows": lambda p: p[PLACES],
    "one": lambda p: p[2, 1],
    "a column": lambda p: p[:, 1],
    "with a new axis": lambda p: p[::-1, None, 1:],
    "columns first": lambda p: np.transpose(p)[np.array([2, 0])],
    "reshaped": lambda p: np.reshape(p, (-1,))[3:],
    "chosen by arithmetic": lambda p: p[np.arange(4), PLACES % 3][PLACES],
}


@pytest.mark.parametrize("name", SELECTED)
@pytest.mark.parametrize("scale", [3.0, 5000.0])
def test_logarithms_of_some_probabilities(name, scale):
    """Those that underflow too, and their derivatives."""
    select, x = SELECTED[name], np.random.default_rng(0).normal(size=(4, 3))
    size = np.size(select(x))

    def total(x, scale):
        return np.sum(np.log(select(special.softmax(x * scale, axis=-1))))

    value, slope = graph_jit(value_and_grad(total))(x, scale)
    expected = log_softmax(x * scale, axis=-1)
    np.testing.assert_allclose(value, np.sum(select(expected)), rtol=1e-12)
    counts = np.bincount(np.ravel(select(np.arange(12).reshape(4, 3))), minlength=12).reshape(4, 3)
    assert counts.sum() == size
    weights = counts - softmax(x * scale, axis=-1) * counts.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(slope, scale * weights, rtol=1e-9, atol=1e-9 * scale)
