"""Arrays of other libraries as arguments: none is copied whose memory the CPU reads."""

import numpy as np
import pandas as pd
import pytest
import xarray

import numbagraph
from numbagraph.runtime.arguments import as_array

double = numbagraph.graph_jit(lambda x: x * 2)


class ByDlpack:
    """As a tensor of torch on the CPU, but that NumPy knows no other way to it."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


class ByArray(ByDlpack):
    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype)


@pytest.mark.parametrize("kind", [ByDlpack, ByArray])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex128, np.bool_])
def test_the_memory_is_the_same(kind, dtype):
    for array in (
        np.ones((3, 4), dtype),
        np.ones((3, 4), dtype)[:, ::2],
        np.ones((3, 4), dtype).T,
        np.ones((0,), dtype),
    ):
        found = as_array(kind(array), "x")
        assert found.dtype == array.dtype
        assert array.size == 0 or np.shares_memory(found, array)
        assert found.ctypes.data == array.ctypes.data
    np.testing.assert_array_equal(double(kind(np.arange(3.0))), [0, 2, 4])


def test_arrays_of_jax_on_the_cpu():
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(4.0)
    assert as_array(x, "x").ctypes.data == x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(double(x), [0, 2, 4, 6])


@pytest.mark.parametrize("kind", [ByDlpack, ByArray])
def test_other_devices_are_refused(kind):
    with pytest.raises(TypeError, match=r"argument x is a .* on a device \(ROCm, number 2\).*numbagraph.to_jax"):
        double(kind(np.ones(3), (10, 2)))


def test_what_numpy_has_no_dtype_for():
    jnp = pytest.importorskip("jax.numpy")
    with pytest.raises(TypeError, match=r"argument x: .*bfloat16"):
        double(jnp.ones(3, jnp.bfloat16))


def test_elementwise_gufuncs_keep_labels():
    shifted = numbagraph.gufunc("(),()->()")(lambda x, y: np.exp(x) + y)
    series = pd.Series([1.0, 2.0], index=["a", "b"], name="s")
    found = shifted(series, series[::-1])  # which is aligned by its labels
    pd.testing.assert_series_equal(found, np.exp(series) + series)
    frame = pd.DataFrame({"u": series, "v": series})
    pd.testing.assert_frame_equal(shifted(frame, 1.0), np.exp(frame) + 1.0)
    labelled = xarray.DataArray([1.0, 2.0], dims="t", coords={"t": [10, 20]})
    other = xarray.DataArray([3.0, 4.0, 5.0], dims="u")
    xarray.testing.assert_allclose(shifted(labelled, other), np.exp(labelled) + other)
    data = xarray.Dataset({"a": labelled})
    xarray.testing.assert_allclose(shifted(data, 1.0), np.exp(data) + 1.0)
    lazy = shifted(labelled.chunk(t=1), 1.0)
    assert lazy.chunks == ((1, 1),)
    xarray.testing.assert_allclose(lazy.compute(), np.exp(labelled) + 1.0)
