"""Loops of PyTensor (`Scan`) as native loops: values and derivatives against PyTensor's own Python code."""

import functools
import time
import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from pytensor.scan.utils import until  # noqa: E402

from numbagraph.ir import shapes  # noqa: E402
from numbagraph.pymc_bridge import FallbackWarning, UnsupportedOp, compile_logp, from_pytensor  # noqa: E402
from numbagraph.pymc_bridge.array_function import ArrayFunction  # noqa: E402
from numbagraph.pymc_bridge.compatibility import conditional  # noqa: E402
from numbagraph.pymc_bridge.graph_partition import Partition, divide  # noqa: E402
from numbagraph.pymc_bridge.importer import Importer, checked_input, finish  # noqa: E402
from numbagraph.pymc_bridge.logp import gradient_of  # noqa: E402

PLAIN = Mode(linker="py", optimizer="fast_compile")
RNG = np.random.default_rng(11)
X, M, V = RNG.normal(size=9), RNG.normal(size=(9, 3)), RNG.normal(size=3)
W = RNG.normal(size=(3, 3)) / 3

x, v, m, w, s = pt.dvector("x"), pt.dvector("v"), pt.dmatrix("m"), pt.dmatrix("w"), pt.dscalar("s")
n = pt.lscalar("n")


@pytest.fixture(autouse=True)
def without_a_c_compiler():
    """PyTensor compiles steps in its default mode, whatever the mode of the loop is."""
    with pytensor.config.change_flags(cxx="", mode=PLAIN):
        yield


def number(value):
    return pt.constant(value, dtype="float64")


def loop(step, *args, **options):
    return pytensor.scan(step, *args, return_updates=False, **options)


def initial(values, taps):
    return {"initial": pt.as_tensor(values), "taps": taps}


def garch(returns, omega, alpha, beta):
    return loop(
        lambda y, before, omega, alpha, beta: omega + alpha * y**2 + beta * before,
        returns,
        number(1.0),
        [omega, alpha, beta],
    )


def forward_algorithm(logps, transition):
    return loop(
        lambda logp, before, transition: pt.logsumexp(before[:, None] + transition, axis=0) + logp,
        logps,
        pt.zeros(3),
        transition,
    )


def several():
    """Outputs of all kinds, which depend on each other, and what is the same in all steps."""
    first, second, third = loop(
        lambda row, one, before, two, w, s: (pt.tanh(w @ one + row) * s, before + two * row[0], pt.sum(one * row)),
        m,
        [v, initial([0.1, -0.4], [-1, -2]), None],
        [w, s],
    )
    return [first, second, third]


def nested():
    """A loop in each step of a loop; the inner one reads what the outer one carries."""

    def outer(row, total, s):
        inner = loop(lambda each, before, total, s: before * s + pt.sin(each + total), row, number(0.5), [total, s])
        return total * 0.9 + inner[-1]

    return loop(outer, m, number(0.2), s)


AR1 = loop(lambda e, before, s: s * before + e, x, number(0.0), s)
LAGS = loop(lambda e, one, two, s: s * one - 0.3 * two + e, x, initial([0.0, 0.1], [-1, -2]), s)
FAR = loop(lambda e, one, three, s: s * one - 0.3 * three + e, x, initial([0.0, 0.1, 0.3], [-1, -3]), s)
POWERS = loop(lambda before, x: before * x, outputs_info=pt.ones_like(x), non_sequences=x, n_steps=n)
CASES = {
    "autoregression": ([x, s], AR1, (X, 0.4)),
    "its last value": ([x, s], AR1[-1], (X, 0.4)),
    "its last values": ([x, s], AR1[-3:], (X, 0.4)),
    "two lags": ([x, s], LAGS, (X, 0.4)),
    "two lags, the last value": ([x, s], LAGS[-1], (X, 0.4)),
    "a lag of three": ([x, s], FAR, (X, 0.4)),
    "a lag of three, the last values": ([x, s], FAR[-2:], (X, 0.4)),
    "garch": ([x, s], garch(x, pt.exp(s), s**2, pt.sigmoid(s)), (X, 0.4)),
    "random walk of vectors": ([m, v], loop(lambda row, before: before + row, m, v), (M, V)),
    "forward algorithm": ([m, w], forward_algorithm(m, w)[-1], (M, W)),
    "several outputs": ([m, v, w, s], several(), (M, V, W, 0.7)),
    "backwards": ([x, s], loop(lambda e, b, s: b * s + e, x, number(0.1), s, go_backwards=True), (X, 0.4)),
    "sequences with taps": (
        [x],
        loop(lambda a, b, before: a * b + before, {"input": x, "taps": [0, -2]}, number(0.0)),
        (X,),
    ),
    "sequences with taps on both sides": (
        [x],
        loop(lambda a, b, c: a * b + c, {"input": x, "taps": [-1, 0, 2]}, None),
        (X,),
    ),
    "a choice in each step": (
        [x, s],
        loop(lambda e, b, s: conditional.ifelse(e > 0, pt.exp(b * s), b - e), x, number(0.1), s),
        (X, 0.3),
    ),
    "a loop in a branch": ([x, s], conditional.ifelse(s > 0, AR1, x * 2), (X, 0.3)),
    "no carry": ([m, w], loop(lambda row, w: w @ row, m, None, w), (M, W)),
    "steps known at run time": ([x, n], POWERS, (X, 5)),
    "the last of some steps": ([x, n], POWERS[-1], (X, 5)),
    "two lags for some steps": (
        [s, n],
        loop(lambda a, b, s: a * s + b, outputs_info=initial([1.0, 2.0], [-2, -1]), non_sequences=s, n_steps=n),
        (0.3, 6),
    ),
    "fewer steps than elements": ([x, n], loop(lambda e, b: b + e**2, x, number(0.0), n_steps=n), (X, 4)),
    "a constant number of steps": ([v], loop(lambda b: pt.sin(b) * 2, outputs_info=v, n_steps=6), (V,)),
    "one step": ([v], loop(lambda b: pt.sin(b) * 2, outputs_info=pt.shape_padleft(v), n_steps=1), (V,)),
    "nested": ([m, s], nested(), (M, 0.4)),
    "a matrix that is carried": (
        [w, m],
        loop(lambda row, b: b @ b / 2 + pt.outer(row, row), m, w),
        (M[:4] / 3, W)[::-1],
    ),
}


def outputs_of(result):
    return result if isinstance(result, list) else [result]


def total(result):
    return pt.add(*[(each**2).sum() for each in outputs_of(result)], number(0.0))


def derivatives(inputs, result):
    return pytensor.grad(
        total(result), [each for each in inputs if each.dtype == "float64"], disconnected_inputs="ignore"
    )


def compiled_by(mode, inputs, outputs):
    return pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")


def agree(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def is_native(function):
    graph = function.maker.fgraph
    return all(isinstance(each, Partition) for each in divide(graph, graph.toposort(), "test").steps)


@functools.cache
def expected(name):
    """The total of the squares of a case's results, the results, and the derivatives of that total."""
    inputs, result, args = CASES[name]
    outputs = [total(result), *outputs_of(result), *derivatives(inputs, result)]
    return compiled_by(PLAIN, inputs, outputs)(*args)


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_in_the_mode(name):
    inputs, result, args = CASES[name]
    found = []
    for outputs in ([total(result)], outputs_of(result), derivatives(inputs, result)):
        ours = compiled_by("NUMBAGRAPH", inputs, outputs)
        assert is_native(ours)
        found += ours(*args)
    agree(found, expected(name))


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_our_own(name):
    """Loops that PyTensor has not rewritten, differentiated here."""
    inputs, result, args = CASES[name]
    variables = [total(result), *outputs_of(result)]
    with shapes.collect_guards() as guards:
        importer = Importer()
        importer.values.update({each: checked_input(each) for each in inputs})
        values = [importer(each) for each in variables]
        own = [importer.values[each] for each in inputs]
        wanted = [each for each in own if each.dtype.kind == "f"]
        graph = finish(importer, own, variables, [*values, *gradient_of(values[0], wanted)], guards, "test")
    agree(ArrayFunction(graph)(*map(np.asarray, args)), expected(name))


ZERO = {
    "no element": ([x, s], AR1, (X[:0], 0.4)),
    "no step": ([x, n], POWERS, (X, 0)),
    "no step, the last rows": ([x, n], POWERS[-2:], (X, 0)),
    "no step, and two lags": ([x, s], LAGS, (X[:0], 0.4)),
}


@pytest.mark.parametrize("name", ZERO)
def test_no_step_at_all(name):
    inputs, result, args = ZERO[name]
    ours, plain = (compiled_by(mode, inputs, [result]) for mode in ("NUMBAGRAPH", PLAIN))
    agree(ours(*args), plain(*args))


def test_one_function_for_any_number_of_steps():
    for outputs in ([POWERS], [POWERS[-1]], [POWERS[-3:]]):
        ours, plain = (compiled_by(mode, [x, n], outputs) for mode in ("NUMBAGRAPH", PLAIN))
        for steps in (1, 2, 3, 4, 7):
            agree(ours(X, steps), plain(X, steps))


def test_too_few_elements_are_pytensor_s_error():
    result = loop(lambda e, before: before + e, x, number(0.0), n_steps=n)
    ours, plain = (compiled_by(mode, [x, n], result) for mode in ("NUMBAGRAPH", PLAIN))
    for each in (ours, plain):
        with pytest.raises(ValueError, match=r"(?i)steps|shape|sequence"):
            each(X, X.size + 1)


def doubling(limit):
    def step(e, before, limit):
        now = before * 2 + e
        return (now, before + e), until(now > limit)

    return loop(step, x, [number(1.0), None], limit, n_steps=X.size)


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize("limit", [0.0, 10.0, 60.0, np.inf])
def test_a_loop_that_may_end_before(limit):
    now, other = doubling(s)
    outputs = [now[-1], other[-1]]
    ours = compiled_by("NUMBAGRAPH", [x, s], outputs)
    assert is_native(ours)
    agree(ours(X, limit), compiled_by(PLAIN, [x, s], outputs)(X, limit))


def test_all_steps_of_a_loop_that_may_end_before_are_pytensor_s():
    now, _ = doubling(s)
    with pytest.raises(UnsupportedOp, match="ends when a condition holds"):
        from_pytensor([x, s], [now])
    with pytest.warns(FallbackWarning, match="ends when a condition holds"):
        ours = compiled_by("NUMBAGRAPH", [x, s], now)
    agree([ours(X, 10.0)], [compiled_by(PLAIN, [x, s], now)(X, 10.0)])


def test_draws_in_a_loop_are_pytensor_s():
    def drawn(mode):
        rng = pytensor.shared(np.random.default_rng(3))

        def step(before, rng):
            with warnings.catch_warnings():  # PyTensor 3 will return the generator, too
                warnings.simplefilter("ignore", DeprecationWarning)
                following, value = pt.random.normal(before, 1.0, rng=rng).owner.outputs
            return value, {rng: following}

        with pytest.warns(DeprecationWarning, match="Scan return"):
            steps, updates = pytensor.scan(step, outputs_info=number(0.0), non_sequences=rng, n_steps=4)
        return pytensor.function([], steps * 2, updates=updates, mode=mode)()

    np.testing.assert_allclose(drawn("NUMBAGRAPH"), drawn(PLAIN), rtol=1e-13)


def test_a_check_in_a_step():
    """PyTensor raises the error of the step that needs it, and none where there are no steps."""
    check = pytensor.raise_op.Assert("positive, please")
    result = loop(lambda e, before: before + pt.log(check(e, e > 0)), x, number(0.0))
    for outputs in (result, result[-1]):
        ours = compiled_by("NUMBAGRAPH", [x], outputs)
        agree([ours(np.abs(X))], [compiled_by(PLAIN, [x], outputs)(np.abs(X))])
        with pytest.raises(AssertionError, match="positive, please"):
            ours(X)


def test_second_derivatives():
    second = pytensor.grad(pytensor.grad(total(AR1), s), s)
    agree([compiled_by("NUMBAGRAPH", [x, s], second)(X, 0.4)], [compiled_by(PLAIN, [x, s], second)(X, 0.4)])


def test_a_loop_whose_steps_are_an_element():
    """The steps of the inner loop are another number in each step of the outer one."""

    def outer(count, before, s):
        return loop(lambda b, s: pt.sin(b) * s, outputs_info=before, non_sequences=s, n_steps=count)[-1]

    counts = pt.lvector("counts")
    result = loop(outer, counts, number(0.3), s)
    ours, plain = (compiled_by(mode, [counts, s], result) for mode in ("NUMBAGRAPH", PLAIN))
    assert is_native(ours)
    for each in ([1, 3, 2], [5], [2, 1, 1, 4]):
        agree([ours(each, 0.7)], [plain(each, 0.7)])


def test_dtypes():
    single, integers = pt.fvector("single"), pt.lvector("integers")
    outputs = [
        loop(lambda e, b: pt.cast(b * e + 1, "float32"), single, pt.constant(1.0, dtype="float32"))[-1],
        loop(lambda e, b: b * 3 + e, integers, pt.constant(1, dtype="int64")),
        loop(lambda e, b: pt.and_(b, e < 3), integers, pt.constant(True, dtype="bool")),
    ]
    ours, plain = (compiled_by(mode, [single, integers], outputs) for mode in ("NUMBAGRAPH", PLAIN))
    for found, expected in zip(*(each(X.astype("float32"), np.arange(4)) for each in (ours, plain)), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_shared_variable_that_each_step_updates():
    def run(mode):
        count = pytensor.shared(np.int64(0))
        with pytest.warns(DeprecationWarning, match="Scan return"):
            result, updates = pytensor.scan(lambda e, b: (b + e * count, {count: count + 1}), x, number(0.0))
        function = pytensor.function([x], result, updates=updates, mode=mode)
        return [function(X), function(X), count.get_value()]

    agree(run("NUMBAGRAPH"), run(PLAIN))


def test_constant_data_in_a_loop():
    data = pt.as_tensor(M)
    result = loop(lambda row, before, s: before * s + (row * data).sum(), data, number(0.0), s)
    agree([compiled_by("NUMBAGRAPH", [s], result)(0.3)], [compiled_by(PLAIN, [s], result)(0.3)])


def test_a_derivative_costs_a_row_a_step():
    """Were each step to copy the buffer of derivatives, four times as many steps would take sixteen times as long."""
    outputs = derivatives([x, s], AR1)
    function = compiled_by("NUMBAGRAPH", [x, s], outputs)

    def seconds(size):
        data = RNG.normal(size=size) / 10
        function(data, 0.5)
        times = []
        for _ in range(7):
            begin = time.perf_counter()
            function(data, 0.5)
            times.append(time.perf_counter() - begin)
        return min(times)

    assert seconds(80_000) < 8 * seconds(20_000)


def models():
    returns = RNG.normal(size=30)

    def ar():
        rho = pm.Normal("rho", 0, 0.5, shape=2)
        pm.AR("y", rho, sigma=pm.HalfNormal("sigma"), init_dist=pm.Normal.dist(0, 1), observed=returns)

    def garch11():
        omega, alpha, beta = pm.HalfNormal("omega"), pm.Beta("alpha", 1.0, 1.0), pm.Beta("beta", 1.0, 1.0)
        pm.GARCH11("y", omega=omega, alpha_1=alpha, beta_1=beta, initial_vol=1.0, observed=returns)

    def own_garch():
        omega, alpha, beta = pm.HalfNormal("omega"), pm.Beta("alpha", 1.0, 1.0), pm.Beta("beta", 1.0, 1.0)
        variance = garch(pt.as_tensor(returns), omega, alpha, beta)
        pm.Normal("y", 0.0, pt.sqrt(variance), observed=returns)

    def custom():
        weight, scale = pm.Uniform("weight", -0.9, 0.9), pm.HalfNormal("scale")

        def logp(value, weight, scale):
            errors = loop(lambda y, error, weight: y - weight * error, value, number(0.0), pt.squeeze(weight))
            return pm.logp(pm.Normal.dist(0.0, pt.squeeze(scale)), errors)

        pm.CustomDist("y", weight, scale, logp=logp, observed=returns)

    def hidden_states():
        means = pm.Normal("means", 0, 1, shape=3)
        transition = pt.log(pm.Dirichlet("transition", np.ones((3, 3))))
        logps = pm.logp(pm.Normal.dist(means, 1.0), pt.as_tensor(returns)[:, None])
        pm.Potential("y", pt.logsumexp(forward_algorithm(logps, transition)[-1]))

    def guarded():
        """The density of each step checks its parameter."""
        scale = pm.Normal("scale", 1.0, 0.1)
        steps = loop(
            lambda y, before, scale: before + pm.logp(pm.Normal.dist(before / 10, scale), y),
            pt.as_tensor(returns),
            number(0.0),
            scale,
        )
        pm.Potential("y", steps[-1])

    return [ar, garch11, own_garch, custom, hidden_states, guarded]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("build", models(), ids=lambda each: each.__name__)
def test_models(build):
    with pm.Model() as model:
        build()
    compiled = compile_logp(model)
    reference = model.logp_dlogp_function(ravel_inputs=True, mode=PLAIN)
    reference.set_extra_values({})
    begin = np.concatenate([np.ravel(each) for each in model.initial_point(0).values()])
    for point in (begin, begin + 0.1, begin - RNG.uniform(0, 0.3, size=begin.size)):
        value, gradient = compiled(point)
        expected, derivative = reference(point)
        np.testing.assert_allclose(value, expected, rtol=1e-10)
        np.testing.assert_allclose(gradient, derivative, rtol=1e-8, atol=1e-9)
    with pm.Model() as model:
        build()
    in_mode = model.compile_logp(mode="NUMBAGRAPH")
    plain = model.compile_logp(mode=PLAIN)
    np.testing.assert_allclose(in_mode(model.initial_point(0)), plain(model.initial_point(0)), rtol=1e-10)


def test_data_of_another_length():
    with pm.Model() as model:
        returns = pm.Data("returns", RNG.normal(size=20))
        omega, alpha, beta = pm.HalfNormal("omega"), pm.Beta("alpha", 1.0, 1.0), pm.Beta("beta", 1.0, 1.0)
        variance = garch(returns, omega, alpha, beta)
        pm.Potential("p", pm.logp(pm.Normal.dist(0.0, pt.sqrt(variance)), returns).sum())
    compiled, point = compile_logp(model, freeze=False), np.array([0.1, -0.2, 0.3])
    reference = model.logp_dlogp_function(ravel_inputs=True, mode=PLAIN)
    reference.set_extra_values({})
    for size in (20, 35, 3):
        with model:
            pm.set_data({"returns": RNG.normal(size=size)})
        for found, wanted in zip(compiled(point), reference(point), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_what_a_switch_in_a_step_leaves_out_of_a_derivative():
    with pm.Model() as model:
        values = pm.Flat("values", shape=3)
        steps = loop(lambda e, before: before + pt.switch(e > 0, pt.log(e), e**2), values, number(0.0))
        pm.Potential("p", steps[-1])
    np.testing.assert_allclose(compile_logp(model)(np.array([2.0, 0.0, -3.0]))[1], [0.5, 0.0, -6.0])


def test_a_parameter_that_a_step_refuses():
    with pm.Model() as model:
        models()[-1]()
    with pytest.raises(pm.logprob.utils.ParameterValueError, match="sigma > 0"):
        compile_logp(model)(np.array([-1.0]))
