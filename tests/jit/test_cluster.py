"""Compiled functions on the workers of a cluster of `dask.distributed`, which share one cache on disk."""

import contextlib
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import numbagraph as ng

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(8)
ROWS = RNG.normal(size=(200, 3))


@ng.gufunc("(n)->(n)")
def standardised(x):
    return (x - np.mean(x)) / np.std(x)


@ng.graph_jit
@ng.value_and_grad
def loss(weights, rows, observed):
    return np.sum((rows @ weights - observed) ** 2) + np.sum(weights**2)


@ng.graph_jit
def walk(key):
    return np.cumsum(ng.random.normal(key, 50))


def fitted(observed):
    """One model of many, fitted on a worker, and the worker's process."""
    found = minimize(loss, np.zeros(3), (ROWS, observed), jac=True, method="BFGS")
    return found.x, os.getpid()


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A cluster of two processes, whose cache on disk is empty at first."""
    folder = tmp_path_factory.mktemp("cache")
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("NUMBAGRAPH_CACHE_DIR", str(folder))
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)
        options = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": None, "processes": True}
        cluster = stack.enter_context(distributed.LocalCluster(**options))
        found = stack.enter_context(distributed.Client(cluster))
        found.cache_folder = folder
        yield found


def test_gufuncs_over_chunks(client):
    x = RNG.normal(size=(40, 30))
    found = client.compute(standardised(da.from_array(x, chunks=(7, 30)))).result()
    expected = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_many_models_on_a_shared_cache(client):
    truths = RNG.normal(size=(12, 3))
    observed = [ROWS @ truth + RNG.normal(size=200) / 10 for truth in truths]
    workers = list(client.scheduler_info()["workers"])
    first = client.submit(fitted, observed[0], workers=workers[:1], pure=False).result()
    entries = sorted(each for each in client.cache_folder.rglob("*") if each.is_file())
    second = client.submit(fitted, observed[0], workers=workers[1:], pure=False).result()
    assert first[1] != second[1]
    np.testing.assert_array_equal(first[0], second[0])
    assert entries
    assert sorted(each for each in client.cache_folder.rglob("*") if each.is_file()) == entries
    gathered = client.gather(client.map(fitted, observed, pure=False))
    for (found, _), y in zip(gathered, observed, strict=True):
        np.testing.assert_allclose(found, np.linalg.solve(ROWS.T @ ROWS + np.eye(3), ROWS.T @ y), rtol=1e-5)


def test_many_chains_by_keys(client):
    keys = list(ng.random.split(ng.random.key(4), 6))
    np.testing.assert_array_equal(client.gather(client.map(walk, keys)), [walk(key) for key in keys])


def test_an_error_of_a_worker_comes_back(client):
    with pytest.raises(ValueError, match="inner lengths"):
        client.submit(loss, np.zeros(2), ROWS, np.zeros(200), pure=False).result()
