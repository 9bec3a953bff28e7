"""Random variables in the mode ``NUMBAGRAPH``: PyTensor's numbers, and its generators afterwards."""

import threading
import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pymc.distributions.continuous as continuous  # noqa: E402
import pymc.distributions.discrete as discrete  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
import pytensor.tensor.random.basic as basic  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402
from pytensor.tensor.random.op import RandomVariable  # noqa: E402
from pytensor.tensor.random.type import random_generator_type  # noqa: E402

from numbagraph.pymc_bridge import FallbackWarning  # noqa: E402
from numbagraph.pymc_bridge.graph_partition import Partition, divide  # noqa: E402
from numbagraph.pymc_bridge.translations.draws import METHODS, SAMPLERS, sampler_of  # noqa: E402
from tests.support.modes import NAME, PLAIN  # noqa: E402

# PyTensor's own functions of random variables warn of themselves as of PyMC 6
pytestmark = pytest.mark.filterwarnings("ignore:RandomVariable Ops will stop hiding:DeprecationWarning")

v, n = pt.dvector("v"), pt.lvector("n")
V, N = np.array([0.3, 0.5, 0.9]), np.array([3, 20, 7])
SHARES = v / v.sum()
COVARIANCE = pt.diag(v) + 0.1

EXACT = {
    "normal": lambda **k: basic.normal(v, 2.0, **k),
    "uniform": lambda **k: basic.uniform(-v, v, **k),
    "triangular": lambda **k: basic.triangular(-v, 0.1, v, **k),
    "beta": lambda **k: basic.beta(v, 2.0, **k),
    "half normal": lambda **k: basic.halfnormal(0.5, v, **k),
    "lognormal": lambda **k: basic.lognormal(v, 0.5, **k),
    "gamma": lambda **k: basic._gamma(v, 2.0, **k),
    "pareto": lambda **k: basic.pareto(v, 2.0, **k),
    "exponential": lambda **k: basic.exponential(v, **k),
    "weibull": lambda **k: basic.weibull(v, **k),
    "logistic": lambda **k: basic.logistic(v, 2.0, **k),
    "von mises": lambda **k: basic.vonmises(v, 2.0, **k),
    "poisson": lambda **k: basic.poisson(v * 10, **k),
    "geometric": lambda **k: basic.geometric(v, **k),
    "hypergeometric": lambda **k: basic.hypergeometric(n, 5, 3, **k),
    "inverse gamma": lambda **k: basic.invgamma(v, 2.0, **k),
    "wald": lambda **k: basic.wald(v, 2.0, **k),
    "student t": lambda **k: basic.t(4.0, v, 2.0, **k),
    "bernoulli": lambda **k: basic.bernoulli(v, **k),
    "laplace": lambda **k: basic.laplace(v, 2.0, **k),
    "binomial": lambda **k: basic.binomial(n, v, **k),
    "negative binomial": lambda **k: basic.nbinom(n, v, **k),
    "beta binomial": lambda **k: basic.betabinom(n, v, 2.0, **k),
    "generalized gamma": lambda **k: basic.gengamma(v, 2.0, 1.5, **k),
    "integers": lambda **k: basic.integers(n, 50, **k),
    "multinomial": lambda **k: basic.multinomial(n, SHARES, **k),
    "categorical": lambda **k: basic.categorical(pt.stack([SHARES] * 3), **k),
    "dirichlet": lambda **k: basic.dirichlet(pt.stack([v, v + 1, v]), **k),
    "shifted wald": lambda **k: continuous.wald(v, 2.0, 0.5, **k),
    "skew normal": lambda **k: continuous.skewnormal(v, 2.0, 0.7, **k),
    "clipped beta": lambda **k: continuous.beta(v, 2.0, **k),
    "discrete uniform": lambda **k: discrete.discrete_uniform(n, 50, **k),
}
ROUNDED = {
    "gumbel": lambda **k: basic.gumbel(v, 2.0, **k),
    "cauchy": lambda **k: basic.cauchy(v, 2.0, **k),
    "half cauchy": lambda **k: basic.halfcauchy(v, 2.0, **k),
    "truncated exponential": lambda **k: basic.truncexpon(v, 2.0, 1.5, **k),
    "normal vectors": lambda **k: basic.multivariate_normal(pt.stack([v, v, v * 2]), COVARIANCE, **k),
    "moyal": lambda **k: continuous.moyal(v, 2.0, **k),
}
ALONE = {
    "one normal": lambda **k: basic.normal(**k),
    "one binomial": lambda **k: basic.binomial(5, 0.5, **k),
    "one category": lambda **k: basic.categorical(SHARES, **k),
    "one vector of counts": lambda **k: basic.multinomial(10, SHARES, **k),
    "one composition": lambda **k: basic.dirichlet(v, **k),
    "broken sticks": lambda **k: basic.dirichlet(v / 20, **k),
    "a permutation": lambda **k: basic.permutation(v, **k),
    "float32": lambda **k: basic.normal(v, 1.0, dtype="float32", **k),
}
"""Arithmetic and NumPy's own draws; functions that PyTensor computes with another library; no shape asked for."""


def drawn(make, mode, generator, **options):
    """Three draws, the state after them, and the function."""
    shared = pytensor.shared(generator)
    variable = make(rng=shared, **options)
    updates = {shared: variable.owner.outputs[0]}
    function = pytensor.function([v, n], variable, updates=updates, mode=mode, on_unused_input="ignore")
    return [function(V, N) for _ in range(3)], shared.get_value().bit_generator.state, function


def is_native(function):
    fgraph = function.maker.fgraph
    return all(isinstance(step, Partition) for step in divide(fgraph, fgraph.toposort(), "test").steps)


def alike(make, kind=np.random.PCG64, ulp=0, **options):
    ours, state, function = drawn(make, NAME, np.random.Generator(kind(5)), **options)
    expected, known, _ = drawn(make, PLAIN, np.random.Generator(kind(5)), **options)
    assert is_native(function)
    for one, other in zip(ours, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if ulp:
            np.testing.assert_allclose(one, other, rtol=ulp * 2.3e-16, atol=1e-14)
        else:
            np.testing.assert_array_equal(one, other)
    assert repr(state) == repr(known)


@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_the_numbers_of_pytensor_in_the_shape_of_the_parameters(name):
    alike((EXACT | ROUNDED)[name], ulp=64 * (name in ROUNDED))


@pytest.mark.parametrize("size", [(2, 3), (0, 3)], ids=str)
@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
@pytest.mark.repeats
def test_the_numbers_of_pytensor_in_a_shape(name, size):
    alike((EXACT | ROUNDED)[name], ulp=64 * (name in ROUNDED), size=size)


@pytest.mark.parametrize("name", ALONE)
def test_draws_without_a_shape(name):
    alike(ALONE[name])


@pytest.mark.parametrize("kind", ["MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_other_bit_generators(kind):
    alike(EXACT["integers"], getattr(np.random, kind))
    alike(EXACT["normal"], getattr(np.random, kind))


def test_every_class_of_pytensor_is_known_or_left_alone_on_purpose():
    left = {"ChoiceWithoutReplacement", "RandomVariable", "ScipyRandomVariable"}
    classes = [each for each in vars(basic).values() if isinstance(each, type) and issubclass(each, RandomVariable)]
    assert len(classes) > 30
    for each in classes:
        named = each.rng_fn is RandomVariable.rng_fn and getattr(each, "name", None) in METHODS
        assert named or f"{each.__module__}.{each.__name__}" in SAMPLERS or each.__name__ in left, each


def test_lengths_that_follow_from_others():
    shared = pytensor.shared(np.random.default_rng(1))
    outputs = [basic.normal(size=(v.shape[0] + 1, n[0]), rng=shared), v * 2]
    for arguments in ((V, N), (V[:2], N[1:]), (V[:0], N)):
        found = pytensor.function([v, n], outputs, mode=NAME)(*arguments)
        expected = pytensor.function([v, n], outputs, mode=PLAIN)(*arguments)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_chain_of_draws_is_one_native_function():
    def make(mode):
        shared = pytensor.shared(np.random.default_rng(3))
        after, first = basic.normal(rng=shared, size=3).owner.outputs
        after, second = basic.poisson(pt.exp(first), rng=after).owner.outputs
        after, third = basic.normal(second.sum(), pt.abs(first), rng=after).owner.outputs
        function = pytensor.function([], [first, second, third], updates={shared: after}, mode=mode)
        return [function(), function()], repr(shared.get_value().bit_generator.state), function

    ours, state, function = make(NAME)
    expected, known, _ = make(PLAIN)
    assert is_native(function)
    assert state == known
    np.testing.assert_array_equal(np.concatenate(ours, axis=None), np.concatenate(expected, axis=None))


def test_a_draw_that_changes_nothing_outside():
    shared, given = pytensor.shared(np.random.default_rng(4)), random_generator_type("given")
    before = repr(shared.get_value().bit_generator.state)
    function = pytensor.function([given], [basic.normal(rng=shared), *basic.normal(rng=given).owner.outputs], mode=NAME)
    generator = np.random.default_rng(8)
    first, after, second = function(generator)
    assert first == function(generator)[0] == np.random.default_rng(4).normal()
    assert second == np.random.default_rng(8).normal() == generator.normal()
    assert after is not generator
    assert after.normal() == generator.normal()
    assert repr(shared.get_value().bit_generator.state) == before


def test_one_generator_for_two_variables():
    one, other = random_generator_type("one"), random_generator_type("other")
    outputs = [basic.normal(rng=one), basic.normal(rng=other)]
    generator = np.random.default_rng(8)
    found = pytensor.function([one, other], outputs, mode=NAME)(generator, generator)
    assert found == pytensor.function([one, other], outputs, mode=PLAIN)(generator, generator)


def test_new_generators_in_the_same_variable():
    shared = pytensor.shared(np.random.default_rng(1))
    variable = basic.normal(size=2, rng=shared)
    function = pytensor.function([], variable, updates={shared: variable.owner.outputs[0]}, mode=NAME)
    function()
    for kind in (np.random.PCG64, np.random.MT19937, np.random.PCG64):
        shared.set_value(np.random.Generator(kind(7)))
        expected = np.random.Generator(kind(7))
        np.testing.assert_array_equal(function(), expected.normal(size=2))
        np.testing.assert_array_equal(function(), expected.normal(size=2))


class Failing(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        (x,) = inputs
        if np.any(x > -100):
            raise RuntimeError("half way")


@pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning")
def test_generators_are_as_before_where_a_later_step_fails():
    shared = [pytensor.shared(np.random.default_rng(seed)) for seed in (1, 2)]
    first = basic.normal(size=3, rng=shared[0])
    second = basic.choice(v, size=(2,), replace=False, rng=shared[1])
    updates = {one: each.owner.outputs[0] for one, each in zip(shared, (first, second), strict=True)}
    function = pytensor.function([v], [Failing()(first + second.sum())], updates=updates, mode=NAME)
    before = [repr(each.get_value().bit_generator.state) for each in shared]
    with pytest.raises(RuntimeError, match="half way"):
        function(V)
    assert [repr(each.get_value().bit_generator.state) for each in shared] == before


BAD = {
    "scale": (lambda rng: basic.normal(0.0, -v, rng=rng), "scale < 0"),
    "probability": (lambda rng: basic.binomial(3, v + 1, rng=rng), "p > 1"),
    "rate": (lambda rng: basic.poisson(-v, rng=rng), "lam < 0"),
    "scale of SciPy": (lambda rng: basic.halfnormal(0.0, -v, rng=rng), "Domain error in arguments"),
    "degrees": (lambda rng: basic.t(-v, 0.0, 1.0, rng=rng), "Domain error in arguments"),
    "size": (lambda rng: basic.normal(v, size=(n[0],), rng=rng), "shape|broadcast|size"),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_leave_generators_as_they_are(name):
    make, text = BAD[name]
    for mode in (NAME, PLAIN):
        shared = pytensor.shared(np.random.default_rng(1))
        earlier = basic.normal(rng=shared)
        variable = make(earlier.owner.outputs[0])
        updates = {shared: variable.owner.outputs[0]}
        function = pytensor.function([v, n], [earlier, variable], updates=updates, mode=mode, on_unused_input="ignore")
        before = repr(shared.get_value().bit_generator.state)
        with pytest.raises(ValueError, match=text):
            function(V, N + 2)
        if mode == NAME:
            assert repr(shared.get_value().bit_generator.state) == before


def test_parameters_that_are_not_numbers():
    alike(lambda **k: basic.normal(v * np.nan, v, **k))


@pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize("name", ["scales", "sticks"])
def test_what_pytensor_draws_in_another_way(name):
    """SciPy draws nothing where all scales are 0; NumPy breaks sticks for rows of small numbers."""
    makes = {"scales": lambda **k: basic.halfnormal(v, v * 0, **k), "sticks": lambda **k: basic.dirichlet(v / 20, **k)}
    alike(makes[name], size=(2, 3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda **k: basic.halfnormal(v, v * 0, **k), "drawn by halfnormal, .* if some scale is not 0"),
        (
            lambda **k: basic.halfnormal(v, v * 0, name="y", **k),
            r"'y' \(Vector.* is drawn by halfnormal, .* some scale",
        ),
        (
            lambda **k: basic.dirichlet(v / 20 * np.ones((2, 3)), **k),
            r"dirichlet, .* each row has a parameter of 0\.1 or more",
        ),
    ],
)
def test_what_pytensor_draws_in_another_way_is_said_by_its_name(make, message):
    with pytest.warns(FallbackWarning, match=message):
        drawn(make, NAME, np.random.default_rng(1))


@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS")
def test_cut_points_that_do_not_ascend_are_said_with_the_variables_name():
    x = np.linspace(-1, 1, 20)

    def predicted(arranged):
        with pm.Model():
            cut = pm.Normal("cut", shape=4, transform=pm.distributions.transforms.ordered, initval=np.arange(4.0))
            grade = pm.OrderedProbit("grade", eta=x, cutpoints=arranged(cut), compute_p=False)
            pm.draw(grade, 2, random_seed=1, mode=NAME)

    with pytest.warns(FallbackWarning, match="'grade'.*is drawn by categorical.*cutpoints=pytensor.tensor.sort"):
        predicted(lambda cut: cut)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        predicted(pt.sort)


def test_classes_that_draw_otherwise_are_not_taken_for_those_they_inherit_from():
    class Shifted(basic.NormalRV):
        @classmethod
        def rng_fn(cls, rng, *args, **kwargs):
            return rng.normal(*args, **kwargs) + 1

    assert sampler_of(Shifted()) is None
    found, _, function = drawn(lambda **k: Shifted()(v, 1.0, **k), NAME, np.random.default_rng(5))
    np.testing.assert_array_equal(found[0], np.random.default_rng(5).normal(V, 1.0) + 1)
    assert not is_native(function)


def test_threads_with_functions_of_one_generator():
    shared = pytensor.shared(np.random.default_rng(1))
    variable = basic.normal(size=4, rng=shared)
    updates = {shared: variable.owner.outputs[0]}
    functions = [pytensor.function([], variable, updates=updates, mode=NAME) for _ in range(2)]
    found: list[list[np.ndarray]] = [[], []]

    def run(number):
        found[number] += [functions[number]() for _ in range(200)]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    expected = np.random.default_rng(1).normal(size=(400, 4))
    np.testing.assert_array_equal(np.sort(np.ravel(found)), np.sort(np.ravel(expected)))
