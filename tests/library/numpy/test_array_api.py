"""`numbagraph.numpy` as a namespace of the Python array API standard."""

import numpy as np
import pytest

import numbagraph.numpy as xp
from numbagraph import grad, graph_jit
from tests.support.array_standard import CALLS, FFT, LINALG, NAMES

rng = np.random.default_rng(4)
x, y = rng.uniform(0.1, 0.9, (2, 3, 4))
i, j = rng.integers(1, 5, (2, 3, 4))
ARGUMENTS = {"x": x, "y": y, "i": i, "j": j, "b": x > 0.5, "z": x + 1j * y, "v": x[0], "S": x @ x.T + np.eye(3)}

pytestmark = pytest.mark.skipif(not hasattr(np, "unstack"), reason="NumPy 2.1 is the first with all of the standard")


def called(code, namespace, arguments):
    return eval(code, {"xp": namespace, **arguments})


def test_all_names_are_there():
    assert [name for name in NAMES if not hasattr(xp, name)] == []
    assert {name for name in NAMES if not name.startswith("_")} <= set(dir(xp))
    assert [name for name in LINALG if not hasattr(xp.linalg, name)] == []
    assert [name for name in FFT if not hasattr(xp.fft, name)] == []
    functions = {name for name in NAMES if callable(getattr(xp, name)) and not isinstance(getattr(xp, name), type)}
    assert {name for name in functions if f"xp.{name}(" not in " ".join(CALLS)} == {"from_dlpack"}


def same(found, wanted):
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    tolerance = 1e-5 if np.asarray(wanted).dtype.name in ("float32", "complex64") else 1e-12
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-14)


@pytest.mark.parametrize("code", CALLS)
def test_calls(code):
    """Of arrays, and of traced ones; the values of each op are tested on all backends with the op."""
    wanted = called(code, np, ARGUMENTS)
    same(called(code, xp, ARGUMENTS), wanted)
    traced = graph_jit(lambda arguments: called(code, arguments["x"].__array_namespace__(), arguments), backend="numpy")
    same(traced(ARGUMENTS), wanted)


def test_unstacked_arrays_have_derivatives():
    slope = grad(lambda x: sum(k * np.sum(each**2) for k, each in enumerate(xp.unstack(x.reshape(3, 4), axis=1))))(x)
    np.testing.assert_allclose(slope, 2 * x * np.arange(4))


def test_what_is_refused():
    with pytest.raises(ValueError, match="Device not understood"):
        graph_jit(lambda x: xp.astype(x, xp.float32, device="gpu"))(x)
    with pytest.raises(ValueError, match="at least 1-d"):
        graph_jit(lambda x: xp.unstack(x))(1.5)
