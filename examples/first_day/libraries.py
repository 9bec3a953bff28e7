"""Other libraries: sparse matrices, labelled and lazy arrays, JAX, PyMC."""

import numpy as np
import scipy.special
from scipy import sparse
from tasks import task

import numbagraph as ng


@task()
def sparse_matrices():
    """Use a sparse matrix in a loss, and take the gradient with respect to the dense unknowns."""
    matrix = sparse.csr_array(sparse.random(60, 40, density=0.1, random_state=6))
    y = np.arange(60.0)

    @ng.graph_jit
    @ng.value_and_grad
    def loss(x):
        return np.sum((matrix @ x - y) ** 2)

    x = np.ones(40)
    value, slope = loss(x)
    np.testing.assert_allclose(value, np.sum((matrix @ x - y) ** 2))
    np.testing.assert_allclose(slope, 2 * matrix.T @ (matrix @ x - y))


@task("pandas", "xarray", "dask")
def labelled_arrays():
    """Use columns of pandas, arrays of xarray and lazy arrays of dask."""
    import dask.array as da
    import pandas as pd
    import xarray as xr

    @ng.gufunc("(n)->(n)")
    def anomaly(x):
        return x - np.mean(x)

    data = np.random.default_rng(10).normal(size=(4, 6))
    expected = data - data.mean(axis=1, keepdims=True)
    lazy = anomaly(da.from_array(data, chunks=(2, 6)))
    np.testing.assert_allclose(lazy.compute(), expected)
    field = xr.DataArray(data, dims=("city", "month"), coords={"city": list("abcd")})
    dims = {"input_core_dims": [["month"]], "output_core_dims": [["month"]]}
    found = xr.apply_ufunc(anomaly, field, **dims)
    assert found.dims == ("city", "month")
    np.testing.assert_allclose(found, expected)
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    table["c"] = ng.graph_jit(lambda a, b: np.hypot(a, b))(table["a"].to_numpy(), table["b"].to_numpy())
    np.testing.assert_allclose(table["c"], np.hypot([1.0, 2.0], [3.0, 5.0]))


@task("jax")
def with_jax():
    """Run the same function by JAX, use it in JAX, and use a function of JAX."""
    import jax

    def loss(w, x):
        return np.sum(np.tanh(x @ w) ** 2)

    w, x = np.ones(3) / 3, np.arange(12.0).reshape(4, 3) / 10
    expected = ng.graph_jit(ng.grad(loss))(w, x)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(loss), backend="jax")(w, x), expected)
    inside = jax.jit(jax.grad(ng.to_jax(loss)))(w.astype(np.float32), x.astype(np.float32))
    np.testing.assert_allclose(inside, expected, rtol=1e-5)
    softmax = ng.graph_jit(ng.from_jax(jax.nn.softmax))
    np.testing.assert_allclose(softmax(np.arange(3.0)), scipy.special.softmax(np.arange(3.0)))


@task("pymc", "nutpie")
def pymc_model():
    """Sample a PyMC model."""
    import pymc as pm

    from numbagraph.pymc_bridge import compile_logp, sample

    y = np.random.default_rng(12).normal(1.0, 2.0, size=100)
    with pm.Model() as model:
        mean, scale = pm.Normal("mean", 0, 10), pm.HalfNormal("scale", 5)
        pm.Normal("y", mean, scale, observed=y)
    trace = sample(model, draws=500, tune=500, chains=2, seed=1, progressbar=False)
    assert abs(float(trace.posterior["mean"].mean()) - y.mean()) < 0.1
    value, slope = compile_logp(model)(np.array([0.3, 0.1]))
    np.testing.assert_allclose(value, model.compile_logp()({"mean": 0.3, "scale_log__": 0.1}))
    assert slope.shape == (2,)
