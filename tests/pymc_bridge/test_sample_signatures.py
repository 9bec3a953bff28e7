"""Every option of `pm.sample`, of PyMC's NUTS and of `nutpie.sample`: it works, or is refused by name with a remedy.

An option that a new version has fails here until it stands in one of the tables.
"""

import inspect

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor.tensor as pt  # noqa: E402
from pymc.step_methods.hmc.base_hmc import BaseHMC  # noqa: E402

from numbagraph.pymc_bridge import compile_model, sample  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
]
FEW = {"draws": 12, "tune": 12, "chains": 2, "progressbar": False, "compute_convergence_checks": False}
PYMC_6 = "backend" in inspect.signature(pm.sample).parameters
VERSION = tuple(map(int, nutpie.__version__.split(".")[:3]))

OF_PYMC = {
    "draws": 10,
    "tune": 10,
    "chains": 2,
    "cores": 1,
    "random_seed": 2**70,
    "progressbar": False,
    "progressbar_theme": None,
    "quiet": True,
    "step": None,
    "var_names": ["mu"],
    "initvals": {"mu": 1.0},
    "init": "adapt_diag",
    "jitter_max_retries": 3,
    "n_init": 10,
    "trace": None,
    "discard_tuned_samples": False,
    "compute_convergence_checks": False,
    "keep_warning_stat": True,
    "return_inferencedata": True,
    "idata_kwargs": {"log_likelihood": True},
    "nuts_sampler_kwargs": {"maxdepth": 3},
    "callback": None,
    "mp_ctx": "spawn",
    "blas_cores": 1,
    "model": None,
    "compile_kwargs": {"mode": "NUMBAGRAPH"},
    "nuts": {"target_accept": 0.95},
    "target_accept": 0.95,
    "nuts_sampler": "numbagraph",
    "backend": "numbagraph",
}
"""A value of each of PyMC's options that is taken."""

OF_NUTS = {"max_treedepth": 3, "target_accept": 0.9, "Emax": 500.0}
NOT_OF_NUTS = """
    early_max_treedepth scaling step_scale is_cov potential gamma k t0 adapt_step_size step_rand vars blocked dtype rng
    initial_point
""".split()

OF_NUTPIE = {
    "seed": 5,
    "progress_rate": 50,
    "progress_template": None,
    "progress_style": None,
    "progress_callback": lambda progress: None,
    "store_unconstrained": True,
    "sampler": "nuts",
    "adaptation": "low_rank",
    "low_rank_modified_mass_matrix": True,
}
NOT_OF_NUTPIE = """
    save_warmup progress_bar init_mean return_raw_trace blocking zarr_store transform_adapt
""".split()

SETTINGS = {
    "store_divergences": True,
    "store_gradient": True,
    "store_mass_matrix": True,
    "maxdepth": 4,
    "mindepth": 1,
    "max_energy_error": 500.0,
    "check_turning": True,
    "mass_matrix_switch_freq": 40,
    "target_accept": 0.9,
}


def eight_schools():
    """Centred, so that at its support point a derivative is zero."""
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0.0, 5.0), pm.HalfCauchy("tau", 5.0)
        theta = pm.Normal("theta", mu, tau, shape=8)
        deviations = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
        pm.Normal("y", theta, deviations, observed=np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]))
    return model


def parameters_of(function):
    found = inspect.signature(function).parameters.values()
    return {each.name for each in found if each.kind is not each.VAR_KEYWORD} - {"self"}


def by_pymc(**options):
    with eight_schools():
        return pm.sample(**{**FEW, "nuts_sampler": "numbagraph", **options})


def test_the_tables_are_whole():
    known = set(OF_PYMC) - {"nuts", "target_accept"} - (set() if PYMC_6 else {"backend"})
    assert parameters_of(pm.sample) == known
    nuts = parameters_of(pm.NUTS.__init__) | parameters_of(BaseHMC.__init__) - {"model"}
    assert nuts == {*OF_NUTS, *NOT_OF_NUTS}
    shared = {"compiled_model", "draws", "tune", "chains", "cores"}
    assert parameters_of(nutpie.sample) <= {*OF_NUTPIE, *NOT_OF_NUTPIE, *shared}


@pytest.mark.parametrize("name", sorted(OF_PYMC))
def test_options_of_pymc(name):
    if name == "backend" and not PYMC_6:
        pytest.skip("PyMC 5 has no such option")
    trace = by_pymc(**{name: OF_PYMC[name]})
    assert trace.posterior["mu"].dims == ("chain", "draw")


@pytest.mark.parametrize("name", sorted({*OF_NUTS, *SETTINGS}))
@pytest.mark.parametrize("place", ["nuts", "nuts_sampler_kwargs", None])
def test_options_of_the_step(name, place):
    option = {name: {**SETTINGS, **OF_NUTS}[name]}
    assert by_pymc(**(option if place is None else {place: option})).posterior["mu"].shape == (2, 12)


@pytest.mark.parametrize("name", NOT_OF_NUTS)
@pytest.mark.parametrize("place", ["nuts", None])
def test_options_of_pymc_s_own_step(name, place):
    with pytest.raises(TypeError, match=rf"sample has no {name}: \w+"):
        by_pymc(**({name: 1} if place is None else {place: {name: 1}}))


@pytest.mark.parametrize("name", sorted(OF_NUTPIE))
def test_options_of_nutpie(name):
    if name not in parameters_of(nutpie.sample):
        pytest.skip("this version of nutpie has no such option")
    assert sample(eight_schools(), **{name: OF_NUTPIE[name]}, **FEW).posterior["mu"].shape == (2, 12)


@pytest.mark.parametrize("name", NOT_OF_NUTPIE)
def test_options_of_nutpie_that_have_another_name_or_none(name):
    with pytest.raises(TypeError, match=rf"sample has no {name}: \w+"):
        sample(eight_schools(), **{name: True}, **FEW)


REFUSED = {
    "a flow": ({"adaptation": "flow"}, TypeError, "adaptation='flow'.*low_rank"),
    "an init": ({"init": "adapt_full"}, ValueError, "init is one of.*low_rank"),
    "no mapping": ({"nuts": 3}, TypeError, "nuts is a mapping"),
    "one twice": ({"nuts": {"target_accept": 0.9}, "target_accept": 0.8}, ValueError, "target_accept was given twice"),
    "a probability": ({"target_accept": 1.5}, ValueError, "a number between 0 and 1, not 1.5"),
    "no number": ({"nuts": {"target_accept": "a"}}, ValueError, "a number between 0 and 1, not 'a'"),
    "a mode": ({"compile_kwargs": {"mode": "FAST_RUN"}}, TypeError, "not with 'FAST_RUN': leave out"),
    "a part of nutpie": ({"compile_kwargs": {"freeze_model": True}}, TypeError, "freeze_model in compile_kwargs"),
    "an old name": ({"start": {"mu": 1.0}}, TypeError, "give initvals"),
    "no option": ({"tree_size": 1}, TypeError, "tree_size"),
    "a seed": ({"random_seed": -1}, ValueError, "not negative"),
    "seeds": ({"random_seed": [-1, 2]}, ValueError, "not negative"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    options, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        by_pymc(**options)


@pytest.mark.skipif(not PYMC_6, reason="pm.sample of PyMC 5 has no backend")
def test_another_backend():
    with pytest.raises(TypeError, match="not with 'jax'"):
        by_pymc(backend="jax")


SEEDS = [2**64 - 1, 2**64, 2**70, [2**70], [2**70, 3], np.array(7), np.array([1, 2]), np.random.PCG64(3)]


@pytest.mark.parametrize(
    "seed", [*SEEDS, np.random.SeedSequence(3)], ids=lambda seed: repr(seed).partition(" object at")[0]
)
def test_seeds(seed):
    assert by_pymc(random_seed=seed).posterior["mu"].shape == (2, 12)


def test_large_seeds_differ_and_repeat():
    first, second, third = (by_pymc(random_seed=seed).posterior for seed in (2**70, 2**70, 2**70 + 1))
    assert first.equals(second)
    assert not first.equals(third)


def test_a_step_s_option_has_its_effect():
    few, many = (by_pymc(nuts={"target_accept": each}, random_seed=1, tune=200) for each in (0.6, 0.99))
    assert few.sample_stats["step_size"].mean() > many.sample_stats["step_size"].mean()
    same = by_pymc(target_accept=0.99, random_seed=1, tune=200)
    assert many.posterior.equals(same.posterior)


def test_chains_begin_where_pymc_would():
    """But where a derivative is zero, of which nutpie cannot begin to adapt."""
    model = eight_schools()
    point = np.concatenate([np.ravel(each) for each in model.initial_point().values()])
    beginning = compile_model(model, jitter=False).initial_point_func(3)
    moved = np.flatnonzero(beginning != point)
    assert list(moved) == [0]
    assert 0 < abs(beginning[0] - point[0]) < 0.1
    with model:
        trace = pm.sample(init="adapt_diag", nuts_sampler="numbagraph", random_seed=1, **FEW)
    assert trace.posterior["theta"].shape == (2, 12, 8)


@pytest.mark.parametrize("kept", [True, False])
def test_divergences_are_stored(kept):
    """Of so many draws some chain has half as many divergences, which nutpie takes for one number of each draw."""
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        pm.Potential("p", pt.log(x.sum() > 0.5))
    options = {"store_divergences": True, "discard_tuned_samples": kept, "compute_convergence_checks": False}
    seen = set()
    for seed in range(8):
        trace = sample(model, draws=10, tune=20, chains=2, seed=seed, progressbar=False, **options)
        found, diverging = trace.sample_stats["divergence_start"].values, trace.sample_stats["diverging"].values
        assert found.shape == (2, 10, 2)
        np.testing.assert_array_equal(np.isfinite(found).all(-1), diverging)
        seen.update(diverging.sum(1))
    assert 5 in seen
