"""A regression, and the native function that gives all variables of a point."""

import ctypes

import numpy as np
import pymc as pm
import pytensor.tensor as pt

rng = np.random.default_rng(7)
Y = rng.normal(1.0, 2.0, size=30)

EXPAND = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


def regression(observed=Y):
    with pm.Model(coords={"row": range(30), "side": ["left", "right"]}) as model:
        x = pm.Data("x", np.linspace(-1.0, 1.0, 30), dims="row") * pm.Data("unit", 1.0)
        slope = pm.Normal("slope", 0.0, 2.0, dims="side")
        noise = pm.HalfNormal("noise", 3.0)
        mean = pm.Deterministic("mean", slope[0] + slope[1] * x, dims="row")
        pm.Deterministic("positive", slope > 0, dims="side")
        pm.Deterministic("larger", pt.argmax(slope))
        pm.Normal("y", mean, noise, observed=observed, dims="row")
    return model


def expand(compiled, x):
    out = np.full(compiled.n_expanded, np.nan)
    x = np.ascontiguousarray(x, dtype=float)
    address, record = compiled.compiled_expand_func.address, compiled.user_data.ctypes.data
    return EXPAND(address)(x.size, out.size, x.ctypes.data, out.ctypes.data, record), out
