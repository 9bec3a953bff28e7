"""Settings of the whole suite."""

import ctypes
import os

import hypothesis
import pytest

from numbagraph.runtime.threads import pool
from tests.parallel_functions import THREADS

# XLA takes most of its time for optimisations that tests of values do not need.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

hypothesis.settings.register_profile(
    "numbagraph", deadline=None, derandomize=True, database=None, max_examples=60, print_blob=False
)
hypothesis.settings.register_profile(
    "thorough", deadline=None, database=None, max_examples=1500, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "numbagraph"))


@pytest.fixture(scope="session", autouse=True)
def cache_directory(tmp_path_factory):
    """One cache on disk for the session, so that no test sees code that an older version has left."""
    directory = tmp_path_factory.mktemp("cache")
    os.environ["NUMBAGRAPH_CACHE_DIR"] = str(directory)
    return directory


@pytest.fixture
def many():
    """As many threads as the tests ask for, on any machine, and new ones: those that there are wait for ever."""
    made = pool.get()
    made.after_fork()
    made._set_follow_numba(None)  # another test may have started Numba's threads, of which there are as many as cores
    made._set_numba_limit(None)
    made.set_limit(max(THREADS))
    yield
    made.after_fork()
    made._set_follow_numba(ctypes.cast(made._callback, ctypes.c_void_p))
