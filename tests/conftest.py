"""Settings of the whole suite."""

import collections
import ctypes
import gc
import itertools
import os
import sys
import zlib

import hypothesis
import pytest

from numbagraph.ir.op import registry
from numbagraph.runtime.threads import pool
from tests.support.parallel_functions import THREADS

# XLA takes most of its time for optimisations that tests of values do not need.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

hypothesis.settings.register_profile(
    "numbagraph",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    print_blob=False,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # that is the machine, above all one that is emulated
)
hypothesis.settings.register_profile(
    "thorough", deadline=None, database=None, max_examples=1500, suppress_health_check=list(hypothesis.HealthCheck)
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "numbagraph"))


_finished = itertools.count(1)

SHARED, REPRESENTATIVES = "special function", ("exp1", "itstruve0", "sici")
"""Of ops of this kind, a few stand for all in the tests of each op."""

MANY = 6
"""Cases of a test function from which on each third one usually stands for the others."""

EXTENTS = ("quick", "usual", "all")
QUICK = (
    "batching errors exactness faults graph_jit incomplete interpret methods signature structs traced_functions"
).split()
"""The files that a quick run has whole; of others it has what is marked."""


def pytest_addoption(parser):
    parser.addoption(
        "--extent",
        choices=EXTENTS,
        default="usual",
        help="quick: a part of each kind, in two minutes; all: also what repeats others, with other dtypes and layouts",
    )
    parser.addoption(
        "--share",
        type=share_of,
        default=(0, 1),
        metavar="K/N",
        help="of what --extent=all repeats with other dtypes and layouts, the K-th of N parts, such as 0/3",
    )


def share_of(text):
    part, count = map(int, text.split("/"))
    return part % count, count


def pytest_configure(config):
    config.addinivalue_line("markers", "quick: what a quick run has, of a file that it does not have whole")
    text = (
        "repeats(but_each=0): what repeats others in another way, and runs with --extent=all alone, but each n-th case"
    )
    config.addinivalue_line("markers", text)


def pytest_collection_modifyitems(config, items):
    extent, (part, parts) = config.getoption("--extent"), config.getoption("--share")
    cases, total = collections.Counter(), collections.Counter(map(function_of, items))

    def is_meant(item):
        if is_repeated(item):
            return False
        if extent == "quick":
            return item.get_closest_marker("quick") is not None or item.path.stem.removeprefix("test_") in QUICK
        repeats = is_repetition(item, cases, total)
        return not repeats or (extent == "all" and zlib.crc32(item.nodeid.encode()) % parts == part)

    meant = [is_meant(item) for item in items]
    config.hook.pytest_deselected(items=[item for item, wanted in zip(items, meant, strict=True) if not wanted])
    items[:] = [item for item, wanted in zip(items, meant, strict=True) if wanted]


def function_of(item):
    return item.path, getattr(item, "originalname", item.name)


def is_repetition(item, cases, total):
    """Whether a test is marked so, and not the n-th case of its function of which each n-th one is no repetition.

    Of functions with many cases that no mark speaks of, each third one is none; nor is any of those of an op each.
    """
    marks = list(item.iter_markers("repeats"))
    steps = [mark.kwargs["but_each"] for mark in marks if mark.kwargs]
    if marks and not steps:
        return True
    place = function_of(item)
    cases[place] += 1
    step = steps[0] if steps else 3 if total[place] >= MANY and op_of(item) not in registry else 1
    return len(steps) < len(marks) or (cases[place] - 1) % step > 0


def op_of(item):
    """The op that a test is about, if it is about one."""
    return item.callspec.params.get("name") if hasattr(item, "callspec") else None


def is_repeated(item):
    """Whether a test of each op is that of one which shares its code with others: see ops/test_special_functions.py."""
    name = op_of(item)
    shares = isinstance(name, str) and name in registry and registry[name].kind == SHARED
    return shares and name not in REPRESENTATIVES


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Where JAX is not installed, as on ARM (`.ci/arm`), a test that asks for it is skipped."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if error.name == "jax":
            pytest.skip("JAX is not installed")
        raise


def pytest_collection_finish():
    gc.collect()
    gc.freeze()  # what is there lasts, and need not be looked through each time


def pytest_runtest_logfinish():
    """JAX keeps all that it compiles, and of compiled functions those that refer to themselves wait to be collected."""
    if next(_finished) % 100 == 0:
        if "jax" in sys.modules:
            sys.modules["jax"].clear_caches()
        gc.collect()


@pytest.fixture(scope="session")
def extent(request):
    """How much is tested: one of `EXTENTS`."""
    return request.config.getoption("--extent")


@pytest.fixture(scope="session", autouse=True)
def cache_directory(tmp_path_factory):
    """One cache on disk for the session, so that no test sees code that an older version has left. Workers share it."""
    base = tmp_path_factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    directory.mkdir(mode=0o700, exist_ok=True)
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
