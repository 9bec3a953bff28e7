"""`compile_logp`: the log-density and the gradient that PyMC gives, as one native function of a point."""

import ctypes
import gc
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc.logprob.utils import ParameterValueError  # noqa: E402

from numbagraph.pymc_bridge import UnsupportedOp, compile_logp, compile_model  # noqa: E402
from numbagraph.pymc_bridge.sampling.initial_point import InitialPoint  # noqa: E402

rng = np.random.default_rng(5)
Y = rng.normal(size=20)
GROUP = rng.integers(0, 4, 20)

DENSITY = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


def hierarchical(group=GROUP, observed=Y):
    with pm.Model(coords={"group": range(4), "row": range(20)}) as model:
        index = pm.Data("index", group, dims="row")
        y = pm.Data("y_data", observed, dims="row")
        scale = pm.HalfNormal("scale", 1.0)
        effect = pm.Normal("effect", 0.0, scale, dims="group")
        noise = pm.Exponential("noise", 1.0)
        pm.Normal("y", effect[index], noise, observed=y, dims="row")
    return model


def reference(model, x):
    """PyTensor's own value and gradient, by its Python linker."""
    function = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    function.set_extra_values({})
    return function(np.asarray(x, dtype=float))


def call_address(compiled, x, record=None):
    gradient, value = np.full(compiled.point.size, np.nan), np.full((), np.nan)
    x = np.ascontiguousarray(x, dtype=float)
    addresses = [each.ctypes.data for each in (x, gradient, value)]
    return DENSITY(compiled.address)(x.size, *addresses, record), value, gradient


def autoregression(**options):
    with pm.Model() as model:
        pm.AR("x", pm.Normal("rho", shape=1), 1.0, init_dist=pm.Normal.dist(), steps=7, **options)
    return model


def correlated():
    with pm.Model() as model:
        pm.LKJCorr("x", n=4, eta=2.0)
    return model


SUM_TO_ZERO = pm.distributions.transforms.ZeroSumTransform([0])


@pytest.mark.parametrize(
    "build",
    [autoregression, lambda: autoregression(transform=SUM_TO_ZERO), correlated],
    ids=["walk", "transformed", "matrix"],
)
def test_shapes_follow_without_a_draw(build, monkeypatch):
    """PyTensor's types do not know these lengths; to draw the variables, it would compile loops."""
    model = build()
    drawn = InitialPoint(model, [each.name for each in model.value_vars], jitter=False).values(0)
    monkeypatch.setattr(InitialPoint, "values", None)
    assert [tuple(each) for each in compile_logp(model).point.shapes] == [each.shape for each in drawn]


def test_value_and_gradient():
    model = hierarchical()
    compiled = compile_logp(model)
    for _ in range(3):
        x = rng.normal(size=6)
        value, gradient = compiled(x)
        expected = reference(model, x)
        np.testing.assert_allclose(value, expected[0], rtol=1e-12)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-10)
        assert isinstance(value, np.float64)
        assert gradient.flags.c_contiguous


def test_the_order_is_that_of_the_initial_point():
    model = hierarchical()
    assert compile_logp(model).point.names == list(model.initial_point())


def test_c_function():
    compiled = compile_logp(hierarchical())
    x = rng.normal(size=6)
    status, value, gradient = call_address(compiled, x)
    expected = compiled(x)
    assert (status, value) == (0, expected[0])
    np.testing.assert_array_equal(gradient, expected[1])


def test_c_function_with_a_record():
    model = hierarchical()
    compiled = compile_logp(model, freeze=False)
    x = rng.normal(size=6)
    assert call_address(compiled, x, compiled.function.record.address)[1] == compiled(x)[0]


def test_c_function_in_threads():
    compiled = compile_logp(hierarchical())
    points = rng.normal(size=(8, 6))
    expected = [compiled(x)[0] for x in points]
    found = [None] * 8

    def work(number):
        for _ in range(200):
            found[number] = float(call_address(compiled, points[number])[1])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == expected


def test_wrong_sizes():
    compiled = compile_logp(hierarchical())
    assert call_address(compiled, np.zeros(5))[0] == -1
    with pytest.raises(ValueError, match="6 numbers"):
        compiled(np.zeros(5))


def test_status_of_what_is_not_finite():
    with pm.Model() as model:
        x = pm.Flat("x")
        pm.Potential("p", pt.switch(x > 0, -x, -np.inf))
    compiled = compile_logp(model)
    assert call_address(compiled, [1.0])[0] == 0
    assert call_address(compiled, [-1.0])[0] == 4
    assert compiled(np.array([-1.0]))[0] == -np.inf
    with pm.Model() as model:
        x = pm.Flat("x")
        pm.Potential("p", pt.sqrt(x))
    assert call_address(compile_logp(model), [0.0])[0] == 3


def test_parameters_are_checked():
    with pm.Model() as model:
        scale = pm.Normal("scale")
        pm.Normal("y", 0.0, scale, observed=Y)
    compiled = compile_logp(model)
    assert np.isfinite(compiled(np.array([1.0]))[0])
    with pytest.raises(ParameterValueError, match="sigma > 0"):
        compiled(np.array([-1.0]))
    assert call_address(compiled, [-1.0])[0] == 1


def test_without_bounds_checks():
    with pm.Model(check_bounds=False) as model:
        scale = pm.Normal("scale")
        pm.Normal("y", 0.0, scale, observed=Y)
    assert np.isnan(compile_logp(model)(np.array([-1.0]))[0])


def test_a_bad_group_index_is_an_error_that_names_the_variable():
    with pytest.raises(IndexError, match=r"(?s)index 4 is out of bounds.*effect\[index\]"):
        compile_logp(hierarchical(group=np.where(np.arange(20) == 3, 4, GROUP)))(np.zeros(6))


def test_errors_in_frozen_models_name_the_lines_of_the_model():
    # PyTensor keeps 8 frames of the stack, of which since 3.3 none is the user's where an array is an index.
    with pytensor.config.change_flags(traceback__limit=20), pm.Model() as model:
        index = pm.Data("index", np.array([0, 5]))
        effect = pm.Normal("effect", shape=3)
        pm.Normal("y", effect[index], 1.0, observed=np.zeros(2))  # the line
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, each in enumerate(lines, 1) if each.endswith("# the line"))
    with pytest.raises(IndexError, match=r"effect\[index\]") as caught:
        compile_logp(model)(np.zeros(3))
    assert f"{__file__}:{line}" in str(caught.value)


def test_errors_in_distributions_of_users_name_their_lines():
    def logp(value, effect):
        return -((value - effect[np.array([0, 5])]) ** 2).sum()  # the other line

    with pm.Model() as model:
        effect = pm.Normal("effect", shape=2)
        pm.CustomDist("y", effect, logp=logp, signature="(n)->(n)", observed=np.zeros(2))
    lines = Path(__file__).read_text().splitlines()
    line = next(number for number, each in enumerate(lines, 1) if each.endswith("# the other line"))
    with pytest.raises(IndexError, match="index 5 is out of bounds") as caught:
        compile_logp(model)(np.zeros(2))
    assert f"{__file__}:{line}" in str(caught.value)


def test_discrete_variables():
    with pm.Model() as model:
        pm.Poisson("count", 3.0, shape=2)
        rate = pm.Gamma("rate", 2.0, 1.0)
        pm.Poisson("y", rate, observed=[1, 2, 3])
    compiled = compile_logp(model)
    x = np.array([2.0, 5.0, 0.3])
    expected = model.compile_logp(mode="FAST_COMPILE")({"count": np.array([2, 5]), "rate_log__": np.array(0.3)})
    np.testing.assert_allclose(compiled(x), expected, rtol=1e-12)
    assert compiled([2, 5, 0.3]) == compiled(x)


def test_without_gradient():
    model = hierarchical()
    x = rng.normal(size=6)
    assert compile_logp(model, gradient=False)(x) == pytest.approx(compile_logp(model)(x)[0], rel=1e-14)


def test_data_may_change_unless_they_are_frozen():
    model = hierarchical()
    frozen, free = compile_logp(model), compile_logp(model, freeze=False)
    x = rng.normal(size=6)
    before = frozen(x)[0]
    assert free(x)[0] == pytest.approx(before, rel=1e-13)
    with model:
        pm.set_data({"y_data": Y + 1.0})
    assert frozen(x)[0] == before
    np.testing.assert_allclose(free(x)[0], reference(model, x)[0], rtol=1e-12)


def test_data_may_change_their_length():
    with pm.Model() as model:
        data = pm.Data("data", Y)
        mu = pm.Normal("mu")
        pm.Normal("y", mu, 1.0, observed=data)
    compiled = compile_logp(model, freeze=False)
    for length in (20, 1, 7):
        with model:
            pm.set_data({"data": Y[:length]})
        np.testing.assert_allclose(compiled(np.array([0.3]))[0], reference(model, [0.3])[0], rtol=1e-12)


def test_many_scalar_variables_are_registers():
    """The parts of a point are read where they are: neither copies nor loops, however many there are."""
    with pm.Model() as model:
        total = sum(pm.Normal(f"x{number}", number, 1.0) for number in range(100))
        pm.Potential("p", -(total**2))
    compiled = compile_logp(model)
    x = rng.normal(size=100)
    np.testing.assert_allclose(compiled(x)[1], np.arange(100) - x - 2 * x.sum(), rtol=1e-9)
    assert "0 loop nests" in compiled.explain()
    assert "memcpy" not in compiled.llvm()


@pytest.mark.parametrize("family", [pm.StudentT, pm.Normal])
def test_a_precision_is_not_computed_from_its_own_deviation(family):
    degrees = {"nu": 3.0} if family is pm.StudentT else {}
    argument = "lam" if family is pm.StudentT else "tau"
    with pm.Model() as model:
        level = pm.Normal("level", 0.0, 1.0, shape=20)
        family("y", **{argument: pt.exp(-2 * level)}, observed=Y, **degrees)
    compiled = compile_logp(model)
    assert "sign" not in compiled.explain().partition("program:")[2] or family is pm.Normal
    for scale in (1.0, 30.0):
        x = scale * rng.normal(size=20)
        value, gradient = compiled(x)
        expected = reference(model, x)
        np.testing.assert_allclose(value, expected[0], rtol=1e-12)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-10)
    with pytest.raises(ParameterValueError, match="> 0"):
        compiled(np.full(20, 400.0))  # the precision underflows


def test_an_array_of_one_number_is_no_array():
    """No observation is out of its range, and all have the same weight: nothing of that is read."""
    with pm.Model() as model:
        level = pm.Normal("level", 0.0, np.ones(20), shape=20)
        pm.Bernoulli("y", logit_p=level * np.full(20, 2.0), observed=(Y > 0).astype(int))
    compiled = compile_logp(model)
    arrays = re.findall(r"^  (\w+): (\w+)\[20\]", compiled.explain(), flags=re.MULTILINE)
    assert [dtype for _, dtype in arrays] == ["float64", "bool"]
    x = rng.normal(size=20)
    value, gradient = compiled(x)
    expected = reference(model, x)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-10)


@pytest.mark.parametrize("columns", [12, 20])
def test_rows_of_a_known_length_are_read_along_memory(columns):
    """Across them, each vector would have to be gathered."""
    matrix = rng.normal(size=(20, columns))
    with pm.Model() as model:
        pm.Normal("y", matrix @ pm.Normal("slope", shape=columns), observed=Y)
    compiled = compile_logp(model)
    assert "masked.gather" not in compiled.llvm()
    x = rng.normal(size=columns)
    np.testing.assert_allclose(compiled(x)[1], reference(model, x)[1], rtol=1e-10)


def test_equal_derivatives():
    """Two variables with one and the same derivative: the program computes it once, for both."""
    with pm.Model() as model:
        a, b = pm.Flat("a", shape=3), pm.Flat("b", shape=3)
        pm.Potential("p", pt.sum(pt.sin(a + b)))
    x = rng.normal(size=6)
    np.testing.assert_allclose(compile_logp(model)(x)[1], np.tile(np.cos(x[:3] + x[3:]), 2), rtol=1e-12)


def test_a_model_without_variables():
    with pm.Model() as model:
        pm.Normal("y", 0.0, 1.0, observed=Y)
    value, gradient = compile_logp(model)(np.zeros(0))
    np.testing.assert_allclose(value, -0.5 * np.sum(Y**2) - 10 * np.log(2 * np.pi))
    assert gradient.shape == (0,)


def test_a_variable_that_nothing_depends_on():
    with pm.Model() as model:
        pm.Flat("unused", shape=2)
        pm.Normal("x")
    np.testing.assert_array_equal(compile_logp(model)(np.array([1.0, 2.0, 0.5]))[1], [0.0, 0.0, -0.5])


def test_data_live_as_long_as_the_function():
    def address():
        compiled = compile_logp(hierarchical())
        x = np.zeros(6)
        return compiled.function.entry, compiled(x)[0]

    entry, expected = address()
    gc.collect()
    assert entry(np.zeros(6))[0] == expected


def test_single_precision():
    import pytensor

    with pytensor.config.change_flags(floatX="float32"):
        with pm.Model() as model:
            x = pm.Normal("x", 0.0, 1.0, shape=3)
            pm.Normal("y", x, 1.0, observed=np.ones(3, np.float32))
        value, gradient = compile_logp(model)(np.array([0.5, 1.0, 2.0]))
    assert (value.dtype, gradient.dtype) == (np.float64, np.float64)
    np.testing.assert_allclose(gradient, [0.0, -1.0, -3.0], atol=1e-6)


def test_found_on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "1")
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    x = rng.normal(size=6)
    first, second = compile_logp(hierarchical()), compile_logp(hierarchical())
    assert first(x)[0] == second(x)[0]
    assert first.function.special.compiled
    assert not second.function.special.compiled
    other = compile_logp(hierarchical(observed=Y + 1.0))
    assert other(x)[0] != first(x)[0]
    assert not other.function.special.compiled, "data are no part of the code"


def test_data_of_calls_on_several_threads_are_not_mixed():
    with pm.Model() as model:
        data = [pm.Data(f"data{number}", np.zeros(20)) for number in range(6)]
        pm.Potential("sum", pm.Normal("x") * sum(pt.sum(each) for each in data))
    compiled, found, interval = compile_logp(model, freeze=False), [], sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for turn in range(40):
            pm.set_data({f"data{number}": np.full(20, float(turn)) for number in range(6)}, model=model)
            threads = [threading.Thread(target=lambda: found.append(compiled(np.ones(1))[1][0])) for _ in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
    finally:
        sys.setswitchinterval(interval)
    np.testing.assert_array_equal(found, np.repeat(120.0 * np.arange(40) - 1.0, 4))


def test_complex_results_are_refused():
    with pm.Model() as model:
        pm.Deterministic("angle", pt.complex(pm.Normal("x", shape=2), 2.0))
    with pytest.raises(UnsupportedOp, match=r"'angle'.*is complex"):
        compile_model(model)


def test_ctypes_functions_with_data():
    """What samplers take; the function keeps what it needs, and the data are those of now."""
    with pm.Model() as model:
        shift = pm.Data("shift", np.array([1.0, 2.0]))
        pm.Normal("x", shift, 1.0)
    function, data = compile_logp(model, freeze=False).ctypes
    point, gradient, value = np.array([3.0, 5.0]), np.empty(2), np.empty(())
    addresses = [each.ctypes.data for each in (point, gradient, value)]
    gc.collect()
    assert function(2, *addresses, data) == 0
    expected = reference(model, point)
    np.testing.assert_allclose(value, expected[0])
    np.testing.assert_allclose(gradient, [-2.0, -3.0])
    assert function(1, *addresses, data) == -1
    with model:
        pm.set_data({"shift": np.array([0.0, 0.0])})
    compiled = compile_logp(model, freeze=False)
    function, data = compiled.ctypes
    with model:
        pm.set_data({"shift": np.array([1.0, 1.0])})
    assert compiled.ctypes[1].value == data.value
    assert function(2, *addresses, data) == 0
    np.testing.assert_allclose(gradient, [-2.0, -4.0])


def test_a_point_that_is_no_vector_is_told_what_the_vector_holds():
    with pm.Model() as model:
        pm.Normal("place")
        pm.Normal("others", shape=2)
        pm.HalfNormal("spread")
    logp, point = compile_logp(model), model.initial_point()
    assert repr(logp) == "<log-density and gradient of a vector of 4 numbers (place, others, spread_log__)>"
    with pytest.raises(TypeError, match=r"4 numbers \(place, others, spread_log__\), not a dict: np.concatenate"):
        logp(point)
    with pytest.raises(ValueError, match=r"4 numbers \(place, .*\), not of shape \(3,\)"):
        logp(np.zeros(3))
    value, _ = logp(np.concatenate([np.ravel(each) for each in point.values()]))
    densities = -1.5 * np.log(2 * np.pi) + np.log(np.sqrt(2 / np.pi)) - 0.5  # at 0, 0, 0 and 1, where log'(1) is 1
    assert value == pytest.approx(densities, rel=1e-12)


def test_names_that_completion_shows_are_public():
    with pm.Model() as model:
        pm.Normal("x")
    names = dir(compile_logp(model))
    assert {"address", "ctypes", "point", "function", "has_gradient"} <= set(names)
    assert [each for each in names if each.startswith("_") and each not in dir(object)] == []


def test_masks_that_depend_on_the_point():
    """A sum of selected elements needs no length; an order of them does."""
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1, shape=5)
        pm.Potential("selected", pt.exp(x[x > 0]).sum() - pt.sum(x[x < -1] ** 2))
    point = np.array([0.5, -0.25, 1.5, -2.0, -1.25])
    value, gradient = compile_logp(model)(point)
    kept, squared = point > 0, point < -1
    expected = (
        -0.5 * np.sum(point**2) - 2.5 * np.log(2 * np.pi) + np.exp(point[kept]).sum() - (point[squared] ** 2).sum()
    )
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    np.testing.assert_allclose(gradient, -point + kept * np.exp(point) - 2 * squared * point, rtol=1e-13)
    with model:
        pm.Potential("sorted", (pt.sort(x[x > 0]) * pt.arange(x[x > 0].shape[0])).sum())
    for compile_it in (compile_logp, compile_model):
        with pytest.raises(UnsupportedOp, match="a length of an array follows from elements") as caught:
            compile_it(model)
        assert "pt.where" in "".join(caught.value.__notes__)
