"""Settings of the whole suite."""

import os

import hypothesis
import pytest

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
