"""Lengths of 1 that PyTensor repeats: PyTensor computes the first call, a warning tells so once, and native code the
next ones."""

import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

from numbagraph.pymc_bridge import FallbackWarning  # noqa: E402
from numbagraph.pymc_bridge.compatibility import conditional  # noqa: E402
from numbagraph.pymc_bridge.foreign import ByPytensor  # noqa: E402
from tests.support.modes import NAME, PLAIN  # noqa: E402

x, y, k = pt.dvector("x"), pt.dvector("y"), pt.lscalar("k")


@pytest.fixture
def fallbacks(monkeypatch):
    """The refusals that PyTensor has decided on."""
    found, run = [], ByPytensor.__call__

    def noted(self, arrays, refusal):
        found.append(refusal)
        return run(self, arrays, refusal)

    monkeypatch.setattr(ByPytensor, "__call__", noted)
    return found


def warned(function, calls):
    """The results of calls, and the number of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [function(*each) for each in calls]
    return results, sum(issubclass(each.category, FallbackWarning) for each in caught)


def drawn(mode):
    rng = pytensor.shared(np.random.default_rng(3))
    following, draw = pm.Normal.dist(x, y, rng=rng).owner.outputs
    return pytensor.function([x, y], [draw, x.sum() * y], mode=mode, updates={rng: following})


def test_a_new_length_in_a_draw_is_pytensors_once(fallbacks):
    ours, plain = drawn(NAME), drawn(PLAIN)
    calls = [(np.arange(m) + 1.0, np.arange(n) + 0.5) for m, n in ((3, 3), (1, 4), (1, 4), (1, 5), (3, 3), (1, 4))]
    found, count = warned(ours, calls)
    expected, _ = warned(plain, calls)
    for one, other in zip(found, expected, strict=True):
        for each, reference in zip(one, other, strict=True):
            np.testing.assert_array_equal(each, reference)
    assert (len(fallbacks), count) == (1, 1)
    _, count = warned(ours, [(np.ones(4), np.ones(1))] * 3)
    assert (len(fallbacks), count) == (2, 1)


def test_an_update_of_length_1_is_repeated_natively_the_second_time(fallbacks):
    output = pt.set_subtensor(pt.zeros((k, 2))[:, 0], x) * y
    ours, plain = (pytensor.function([x, y, k], output, mode=mode) for mode in (NAME, PLAIN))
    calls = [(np.array([3.0]), np.array([1.0, 2.0]), n) for n in (3, 3, 4)]
    found, count = warned(ours, calls)
    for each, call in zip(found, calls, strict=True):
        np.testing.assert_array_equal(each, plain(*call))
    assert len(fallbacks) <= 1
    assert count == len(fallbacks)


def test_what_stays_pytensors_is_told_once(fallbacks):
    """Branches of several lengths: no lengths are known before that native code could be made for."""
    ours = pytensor.function([x, y, k], conditional.ifelse(pt.gt(k, 0), x * 2, y), mode=NAME)
    found, count = warned(ours, [(np.ones(2), np.ones(3), n) for n in (1, 0, 1, 0)])
    assert [each.shape for each in found] == [(2,), (3,), (2,), (3,)]
    assert len(fallbacks) == 4
    assert count == 1


@pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning")
def test_lengths_that_pytensor_refuses_stay_errors(fallbacks):
    ours = drawn(NAME)
    for _ in range(2):
        with pytest.raises(ValueError, match="broadcast"):
            ours(np.ones(2), np.ones(3))
    ours(np.ones(1), np.ones(3))
    with pytest.raises(ValueError, match="broadcast"):
        ours(np.ones(2), np.ones(3))
    assert len(fallbacks) == 4
