"""Functions of `scipy.special` whose results are complex."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from numbagraph import graph_jit, jvp, vmap

NUMBERS = np.array([1e-300, 1e-8, 0.3, 1.0, 2.5, 4.9, 6.4, 6.6, 9.0, 20.0, 99.0])
AROUND = np.array([0.0, -0.0, 1.0, -1.0, -1e-300, -20.0, 1e4, 1e8, 1e300, np.inf, -np.inf, np.nan])
FRESNEL = {"modfresnelp": 1, "modfresnelm": -1}


def exact(sign, x):
    """The integral, and what it is beside its oscillation. [DLMF 7.2.6]"""
    with mp.workdps(60):
        turn, x = mp.expjpi(mp.mpf(sign) / 4), mp.mpf(float(x))
        integral = mp.sqrt(mp.pi) / 2 * turn * mp.erfc(x / turn)
        smooth = mp.exp(mp.mpc(0, -sign) * x * x) / turn / mp.sqrt(mp.pi) * integral
    return complex(integral), complex(smooth)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, np.bool_])
@pytest.mark.parametrize("name", ["kelvin", *FRESNEL])
def test_dtypes(name, dtype):
    function, x = getattr(special, name), np.array([1, 0, 1], dtype)
    for found, wanted in zip(graph_jit(lambda x: function(x))(x), function(x), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, 1e-6 if wanted.dtype == np.complex64 else 1e-14, 1e-16)


@pytest.mark.parametrize("name", ["kelvin", *FRESNEL])
def test_scalars_layouts_and_what_is_refused(name):
    """SciPy's Kelvin functions are off by up to 1e-10 here: their values are tested below."""
    function, precision = getattr(special, name), 1e-9 if name == "kelvin" else 1e-13
    compiled = graph_jit(lambda x: function(x))
    table = np.linspace(0.1, 9.0, 24).reshape(4, 6)
    for x in (np.float64(0.7), table[::-1, ::2], table[:0], table.T):
        for found, wanted in zip(compiled(x), function(x), strict=True):
            assert np.shape(found) == np.shape(wanted)
            np.testing.assert_allclose(found, wanted, precision)
    for found, wanted in zip(graph_jit(vmap(lambda x: function(x)))(table), function(table), strict=True):
        np.testing.assert_allclose(found, wanted, precision)
    with pytest.raises(TypeError):
        compiled(np.ones(2, np.complex128))
    with pytest.raises(TypeError):
        graph_jit(lambda x: function(x, x))(np.ones(2))


def kelvin_exactly(x):
    """[DLMF 10.61.1, 10.61.2]"""
    with mp.workdps(60):
        turn = mp.expjpi(mp.mpf(1) / 4)
        z = mp.mpf(float(x)) * turn
        both = mp.besseli(0, z), mp.besselk(0, z), turn * mp.besseli(1, z), -turn * mp.besselk(1, z)
    return [complex(each) for each in both]


def test_values_of_kelvin():
    """SciPy's are off by up to 4e-10 from 10 on."""
    x = np.concatenate([NUMBERS, [7.9, 8.1, 9.9, 10.1, 300.0, 999.0]])
    wanted = np.array([kelvin_exactly(each) for each in x]).T
    for found, exactly in zip(graph_jit(lambda x: special.kelvin(x))(x), wanted, strict=True):
        np.testing.assert_allclose(found, exactly, 1e-15)


@pytest.mark.filterwarnings("ignore")
def test_limits_of_kelvin():
    """From 2**27 on, signs of infinities are those of no number."""
    x = AROUND[~(np.abs(AROUND) > 2**27) | np.isinf(AROUND)]
    for found, wanted in zip(graph_jit(lambda x: special.kelvin(x))(x), special.kelvin(x), strict=True):
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        for part in ("real", "imag"):
            np.testing.assert_allclose(getattr(found, part), getattr(wanted, part), 1e-11, 1e-300)
    growing, falling, *_ = graph_jit(lambda x: special.kelvin(x))(np.array([1e300, 2.0**30]))
    assert np.isinf(growing.real).all()
    assert np.isinf(growing.imag).all()
    assert (falling == 0).all()


def test_derivatives_of_kelvin():
    """The last two results are those of the first two. [DLMF 10.61.3]"""
    x = np.array([0.3, 1.0, 7.0])
    (be, ke, bep, kep), (by_be, by_ke, by_bep, by_kep) = graph_jit(
        lambda x: jvp(lambda x: special.kelvin(x), (x,), (np.ones(3),))
    )(x)
    np.testing.assert_allclose([by_be, by_ke], [bep, kep], 1e-14)
    np.testing.assert_allclose([by_bep, by_kep], [1j * be - bep / x, 1j * ke - kep / x], 1e-12)


@pytest.mark.parametrize("name", FRESNEL)
def test_values_of_modified_fresnel_integrals(name):
    x, function = np.concatenate([NUMBERS, -NUMBERS, [0.0]]), getattr(special, name)
    wanted = np.array([exact(FRESNEL[name], each) for each in x]).T
    for found, exactly in zip(graph_jit(lambda x: function(x))(x), wanted, strict=True):
        scale = np.abs(exactly) * np.maximum(1.0, x * x / 50)  # of the square that the phase is
        np.testing.assert_array_less(np.abs(found - exactly), 3e-14 * scale)
    near = NUMBERS < 0.01
    (_, smooth), x = graph_jit(lambda x: function(x))(NUMBERS[near]), NUMBERS[near]
    np.testing.assert_allclose(smooth.imag, FRESNEL[name] * x / np.sqrt(2 * np.pi), 1e-7)


@pytest.mark.parametrize("name", FRESNEL)
def test_limits_of_modified_fresnel_integrals(name):
    function = getattr(special, name)
    x, half = np.array([np.inf, -np.inf, 1e300, -1e300, np.nan]), np.sqrt(np.pi / 8) * (1 + FRESNEL[name] * 1j)
    integral, smooth = graph_jit(lambda x: function(x))(x)
    np.testing.assert_allclose(integral[:4], [0.0, 2 * half, 0.0, 2 * half], 1e-15)
    assert smooth[0] == 0
    np.testing.assert_allclose(smooth[2], (1 + FRESNEL[name] * 1j) / (np.sqrt(8 * np.pi) * 1e300), 1e-14)
    assert np.isnan([integral[4], smooth[1], smooth[3], smooth[4]]).all()


@pytest.mark.parametrize("name", FRESNEL)
def test_derivatives_of_modified_fresnel_integrals(name):
    sign, function, x = FRESNEL[name], getattr(special, name), np.array([-8.0, -0.5, 0.0, 1.0, 6.0, 7.0, 12.0])

    def slopes(x):
        return jvp(lambda x: function(x), (x,), (np.ones(len(x)),))[1]

    (by_x, smooth_by_x), (twice, _) = graph_jit(lambda x: jvp(slopes, (x,), (np.ones(len(x)),)))(x)
    np.testing.assert_allclose(by_x, -np.exp(sign * 1j * x * x), 1e-11)
    np.testing.assert_allclose(twice, -2j * sign * x * np.exp(sign * 1j * x * x), 1e-9, 1e-14)
    exactly = np.array([exact(sign, each)[1] for each in x])
    turned = np.exp(-0.25j * sign * np.pi) / np.sqrt(np.pi)
    np.testing.assert_allclose(smooth_by_x, -2j * sign * x * exactly - turned, 1e-10, 1e-13)


def test_on_jax():
    pytest.importorskip("jax")
    x = np.array([-9.0, -1.0, 0.0, 2.0, 6.0, 8.0])
    found = graph_jit(lambda x: special.modfresnelp(x), backend="jax")(x)
    np.testing.assert_allclose(found, graph_jit(lambda x: special.modfresnelp(x))(x), 1e-11)


ORDERS = np.array([0.0, 1.0, 0.5, -0.5, 2.3, -1.0, -2.0, 7.0, 20.25, -3.7, 1.5])[:, None]
HANKEL = ["hankel1", "hankel2", "hankel1e", "hankel2e"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HANKEL)
def test_values_of_hankel_functions(name):
    function = getattr(special, name)
    x = np.array([1e-3, 0.7, -0.7, 1.0, -1.0, -2.5, 30.0, -30.0, 1e3, 0.0, -0.0, np.inf, -np.inf, np.nan])
    found, wanted = graph_jit(lambda v, x: function(v, x))(ORDERS, x), function(ORDERS, x)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, 1e-14)
    for v in (0, 1, 0.5):  # an order that is known
        np.testing.assert_allclose(graph_jit(lambda x, v=v: function(v, x))(x), function(v, x), 1e-14)


@pytest.mark.parametrize("name", ["hankel1", "hankel2"])
def test_both_parts_of_hankel_functions(name):
    """SciPy's real part has no digits where it is small beside the other, and both are NaN where one overflows."""
    sign = 1 if name == "hankel1" else -1
    orders = np.array([0.5, 2.5, 5.0, 7.25, 20.0, 33.3, -0.5, -2.5, -7.0, -7.25, -20.75])
    x = np.array([1e-3, 0.1, 1.0, 3.0, 5.1, 9.0, 18.0, 40.0, 300.0])
    found = graph_jit(lambda v, x: getattr(special, name)(v, x))(orders[:, None], x)
    for v, row in zip(orders, found, strict=True):
        first, second = (np.array([float(f(v, each)) for each in x]) for f in (mp.besselj, mp.bessely))
        size = np.where(x < abs(v), 0.0, np.hypot(first, second))
        np.testing.assert_array_less(np.abs(row.real - first), 3e-14 * np.maximum(np.abs(first), size))
        np.testing.assert_array_less(np.abs(row.imag - sign * second), 3e-14 * np.maximum(np.abs(second), size))
    far = graph_jit(lambda v, x: getattr(special, name)(v, x))(
        np.array([100.0, -7.25, 0.5, 7.3]), [1e8, 1e6, 25.5, 27.0]
    )
    exactly = [mp.hankel1(100, 1e8), mp.hankel1(-7.25, 1e6), mp.hankel1(0.5, 25.5), mp.hankel1(7.3, 27.0)]
    exactly = np.array([complex(each) for each in exactly])
    np.testing.assert_allclose(far, exactly if sign > 0 else exactly.conj(), 2e-15)
    beyond = graph_jit(lambda v, x: getattr(special, name)(v, x))(np.array([200.0, 2.5, -200.0]), 1e-200)
    assert beyond.real.tolist() == [0.0, 0.0, 0.0]
    assert beyond.imag.tolist() == [-sign * np.inf] * 3


@pytest.mark.parametrize("name", HANKEL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.int64, np.bool_])
def test_dtypes_of_hankel_functions(name, dtype):
    function, x = getattr(special, name), np.array([1, 3, 1]).astype(dtype)
    for arguments in ((x, x), (1, x), (np.float32(0.5), x), (x, 2.0)):
        found, wanted = graph_jit(lambda v, x: function(v, x))(*arguments), function(*arguments)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, 1e-6 if wanted.dtype == np.complex64 else 1e-14)


@pytest.mark.parametrize("order", [0, 1, 2.3])
def test_derivatives_of_hankel_functions(order):
    """[DLMF 10.6.1]"""
    x = np.array([0.4, 1.0, 7.0, -2.0])
    _, found = graph_jit(lambda x: jvp(lambda x: special.hankel1(order, x), (x,), (np.ones(4),)))(x)
    wanted = (special.hankel1(order - 1, x) - special.hankel1(order + 1, x)) / 2
    np.testing.assert_allclose(found, wanted, 1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_values_of_wofz(dtype):
    with np.errstate(all="ignore"):
        x = np.array([0.0, -0.0, 1e-300, 0.3, -1.0, 5.0, -20.0, 1e8, np.inf, -np.inf, np.nan]).astype(dtype)
    found, wanted = graph_jit(lambda x: special.wofz(x))(x), special.wofz(x)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.real, wanted.real, 1e-13)
    np.testing.assert_allclose(found.imag, wanted.imag, 1e-14)


@pytest.mark.parametrize("name", [*HANKEL, "kelvin", "modfresnelm", "modfresnelp", "wofz"])
def test_complex_numbers_are_refused(name):
    function, given = getattr(special, name), np.ones(3, np.complex128)
    given = (1, given) if function.nin == 2 else (given,)
    with pytest.raises(TypeError, match=f"scipy.special.{name} is not supported .*real numbers.*pure_callback"):
        graph_jit(lambda *given: function(*given))(*given)
