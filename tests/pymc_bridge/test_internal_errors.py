"""Faults of numbagraph while it compiles a model or a function of PyTensor: users are told how to report them."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

from numbagraph.errors import InternalError  # noqa: E402
from numbagraph.loops import schedule  # noqa: E402
from numbagraph.pymc_bridge import compile_logp  # noqa: E402
from tests.support.planted import planted  # noqa: E402


@pytest.fixture(autouse=True)
def with_a_fault(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    monkeypatch.setattr(schedule, "plan_memory", planted("loops/planted.py", "return {}['planted']"))


def of_a_density():
    with pm.Model() as model:
        pm.Normal("x")
    compile_logp(model)(np.zeros(1))


def of_a_function():
    x = pt.dvector("x")
    pytensor.function([x], pt.exp(x).sum(), mode="NUMBAGRAPH")(np.ones(2))


@pytest.mark.parametrize("use", [of_a_density, of_a_function])
def test_they_say_how_to_report_them(use):
    with pytest.raises(InternalError, match=r"KeyError: 'planted'.*python -m numbagraph doctor"):
        use()
