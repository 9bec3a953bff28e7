"""Compiled functions as functions of C."""

import ctypes

import numba
import numpy as np
from numba import njit
from scipy import LowLevelCallable, integrate

import numbagraph

RNG = np.random.default_rng(0)
W, Y = RNG.normal(size=7), RNG.normal(size=50)


@numbagraph.graph_jit
def total(x):
    return np.sum(x * x)


VALUE, ADDRESS, LENGTH, FLAG = ctypes.c_double, ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint8


def prototype(*arguments):
    return ctypes.CFUNCTYPE(ctypes.c_int32, *arguments)


def test_address():
    function = numbagraph.graph_jit(lambda x, y, c: (x * y + c, np.sum(x)))
    address = function.address(W, W, 1.0)
    assert address == function.address(numbagraph.Abstract((3,)), Y[::2], c=5.0)
    call = prototype(ADDRESS, LENGTH, ADDRESS, LENGTH, VALUE, ADDRESS, ADDRESS)(address)
    result, number = np.empty(7), np.empty(())

    def run(x, y):
        return call(x.ctypes.data, len(x), y.ctypes.data, len(y), 3.0, result.ctypes.data, number.ctypes.data)

    for right in (W, W[:1]):
        assert run(W, right) == 0
        np.testing.assert_array_equal(result, W * right + 3.0)
        np.testing.assert_allclose(number, np.sum(W))
    assert run(W, W[:2]) == 1


def test_callers_from_c_pass_contiguous_arrays():
    table = RNG.normal(size=(4, 6))
    address = total.address(table)
    assert all(address == total.address(each) for each in (table[:, 1:], table[::2], table.T, table[:, ::-1]))


def test_address_passes_numbers_by_value():
    function = numbagraph.graph_jit(lambda flag, integer, z, half: (np.where(flag, integer, -integer), z * half))
    call = prototype(FLAG, LENGTH, VALUE, VALUE, ctypes.c_float, ADDRESS, ADDRESS)
    address = function.address(True, 1, 1j, np.float32(0.5))
    integer, product = np.empty((), np.int64), np.empty((), np.complex64)
    results = integer.ctypes.data, product.ctypes.data
    for flag in (True, False):
        assert call(address)(flag, 5, 1.0, 2.0, 0.5, *results) == 0
        assert (integer, product) == (5 if flag else -5, 0.5 + 1j)


def test_address_reports_an_index_out_of_bounds():
    function = numbagraph.graph_jit(lambda x, i: x[i])
    call = prototype(ADDRESS, LENGTH, ADDRESS, LENGTH, ADDRESS)(function.address(W, np.array([1])))
    result = np.empty(2)
    for indices, code in (([1, 6], 0), ([1, 7], 2)):
        index = np.array(indices)
        assert call(W.ctypes.data, 7, index.ctypes.data, 2, result.ctypes.data) == code


def test_address_in_njit_code():
    call = prototype(ADDRESS, LENGTH, ADDRESS)(total.address(W))

    @njit
    def caller(x):
        result = np.empty(1)
        code = call(x.ctypes.data, x.size, result.ctypes.data)
        return code, result[0]

    assert caller(W) == (0, total(W))


def test_callback_of_scipy():
    bell = numbagraph.graph_jit(lambda x: np.exp(-x * x))
    callback = numba.cfunc("float64(float64)")(lambda x: bell(x))
    area, _ = integrate.quad(LowLevelCallable(callback.ctypes), -np.inf, np.inf)
    np.testing.assert_allclose(area, np.sqrt(np.pi))
