"""Data of a compiled model: they are replaced, or refused before native code reads beyond them."""

import ctypes

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
pytest.importorskip("nutpie")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

from numbagraph.pymc_bridge import compile_logp, compile_model  # noqa: E402
from tests.support.pymc_regression import Y, expand, regression  # noqa: E402

DENSITY = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


def test_data_are_replaced():
    compiled = compile_model(regression(), freeze=False)
    moved = compiled.with_data(x=np.ones(30))
    x = np.array([0.5, 2.0, 0.0])
    before, after = expand(compiled, x)[1], expand(moved, x)[1]
    where = compiled.shape_info[1][compiled.shape_info[0].index("mean")]
    np.testing.assert_allclose(after[where], 2.5)
    np.testing.assert_array_equal(before, expand(compiled, x)[1])
    with pytest.raises(KeyError):
        compiled.with_data(unknown=1.0)


def of_any_length():
    with pm.Model(coords={"side": ["left", "right"]}) as model:
        x, weight = pm.Data("x", np.linspace(-1.0, 1.0, 30)), pm.Data("weight", 2.0)
        known = pm.Data("known", Y, shape=(30,))
        slope = pm.Normal("slope", 0.0, weight, dims="side")
        pm.Deterministic("mean", slope[0] + slope[1] * x)
        pm.Normal("y", slope.sum() * x, 1.0, observed=pm.Data("seen", Y))
        pm.Normal("z", slope[0], 1.0, observed=known)
    return model


def test_data_that_change_shapes_are_refused():
    """Before native code writes more than there is room for, or reads more than there is."""
    compiled = compile_model(of_any_length(), freeze=False)
    for length in (20, 4000):
        with pytest.raises(ValueError, match=rf"'mean' would have the shape \({length},\) instead of \(30,\)"):
            compiled.with_data(x=np.ones(length), seen=np.ones(length))
    for length in (29, 31):
        with pytest.raises(ValueError, match=r"'known' must have the shape \(30,\)"):
            compiled.with_data(known=np.ones(length))
    with pytest.raises(ValueError, match="rank 0"):
        compiled.with_data(weight=np.ones(1))
    assert expand(compiled.with_data(weight=3.0), np.zeros(2))[0] == 0


@pytest.mark.parametrize("data", [{"x": np.ones(4000), "seen": np.ones(4000)}, {"known": np.ones(29)}], ids=list)
def test_native_code_refuses_them_too(data):
    compiled = compile_model(of_any_length(), freeze=False)
    with_data = super(type(compiled), compiled).with_data(**data)
    if "x" in data:
        assert expand(with_data, np.zeros(2))[0] == -2
    else:
        x, gradient, value = np.zeros(2), np.zeros(2), np.zeros(1)
        arrays = [each.ctypes.data for each in (x, gradient, value)]
        assert DENSITY(compiled.compiled_logp_func.address)(2, *arrays, with_data.user_data.ctypes.data) == 1


def test_data_that_do_not_fit_each_other_are_refused():
    with pm.Model() as model:
        x = pm.Data("x", np.zeros(4))
        pm.Normal("y", pm.Normal("slope") * x, 1.0, observed=pm.Data("seen", np.zeros(4)))
    compiled = compile_model(model, freeze=False)
    assert compiled.with_data(x=np.zeros(5), seen=np.zeros(5)).shared_data["x"].shape == (5,)
    with pytest.raises(ValueError, match=r"5.*4|4.*5"):
        compiled.with_data(seen=np.zeros(5))


def test_frozen_data_are_not_replaced():
    with pytest.raises(KeyError, match="freeze=False"):
        compile_model(regression()).with_data(x=np.ones(30))


@pytest.mark.parametrize("value", [10**12, 1.7, 1j])
def test_data_that_the_dtype_cannot_hold_are_refused(value):
    with pm.Model() as model:
        index = pm.Data("index", np.zeros(3, np.int32))
        pm.Normal("y", pm.Normal("x", shape=2)[index], observed=np.zeros(3))
    compiled = compile_model(model, freeze=False)
    assert compiled.with_data(index=np.ones(3)).shared_data["index"].dtype == np.int32
    with pytest.raises(ValueError, match="'index' holds int32"):
        compiled.with_data(index=np.full(3, value))


def test_data_named_like_arrays_of_the_model_are_refused():
    with pm.Model() as model:
        data = pm.Data("logp 0", np.full((3, 3), 7.0))
        pm.Potential("p", pt.sum(pm.Normal("x", shape=3) @ (data + np.arange(9.0).reshape(3, 3))))
    with pytest.raises(ValueError, match="data cannot be called 'logp 0'"):
        compile_logp(model, freeze=False)


def test_shared_variables_without_names():
    first, second = (pytensor.shared(np.array(each)) for each in ([1.0, 2.0], [3.0, 6.0]))
    with pm.Model() as model:
        pm.Normal("x", first + second, 1.0, shape=2)
    density = compile_logp(model, freeze=False)
    for value in ([1.0, 2.0], [0.0, 0.5]):
        first.set_value(np.array(value))
        np.testing.assert_allclose(density(np.zeros(2))[1], np.add(value, [3.0, 6.0]))
    compiled = compile_model(model, freeze=False)
    assert set(compiled.shared_data) == {"shared variable 0", "shared variable 1"}
