"""Long arrays, and calls where those of `tests/support/coverage` are bound to sizes or make matrices of vectors."""

from typing import Any

import numpy as np

from tests.support.coverage import method_calls
from tests.support.coverage.families import families, table

NUMPY = """
arange: np.arange(len(x)) * x
atleast_1d: np.atleast_1d(x)
bartlett: np.bartlett(len(x)) * x
blackman: np.blackman(len(x)) * x
block: np.block([[S, S], [S, S]])
broadcast_shapes: x + np.zeros(np.broadcast_shapes(x.shape, (1,)))
broadcast_to: np.broadcast_to(x, (3, len(x)))
compress: np.compress(b[: len(A)], A, axis=0)
convolve: np.convolve(x, v[:30], "same")
correlate: np.correlate(x, v[:30], "full")
cross: np.cross(A[:, :3], B[:, :3])
diag: np.diag(v)
diag_indices: S[np.diag_indices(len(S))]
diagflat: np.diagflat(v)
einsum: np.einsum("ij,kj->ik", A, A)
eye: np.eye(len(S)) + S
fromfunction: np.fromfunction(lambda r, c: r + c, S.shape) + S
full: np.full(len(x), s)
geomspace: np.geomspace(1.0, 1000.0 * s, num=len(x))
hamming: np.hamming(len(x)) * x
hanning: np.hanning(len(x)) * x
histogramdd: np.histogramdd(A[:, :3], bins=(2, 3, 2))
identity: np.identity(len(S)) + S
indices: np.indices(S.shape)[0] + S
kaiser: np.kaiser(len(x), 14) * x
kron: np.kron(S[:10, :10], v)
linspace: np.linspace(0.0, s, len(x))
logspace: np.logspace(0.0, s, len(x))
mask_indices: S[np.mask_indices(len(S), np.triu)]
meshgrid: np.meshgrid(v, w)
ones: np.ones(len(x)) * x
outer: np.outer(v, w)
poly: np.poly(v[:30])
polyadd: np.polyadd(v, x)
polydiv: np.polydiv(x[:1000], v[:20])
polymul: np.polymul(v[:30], x)
polyval: np.polyval(v[:10], x)
put: np.put(B, k, y)
reshape: np.reshape(A, -1, order="F")
resize: np.resize(x, (2, len(x)))
roots: np.prod(np.roots(v[:30]))
select: np.select([x < 0.3, x > 0.6], [x, x**2], 42.0)
split: np.split(x, 4)
take: np.take(x, i)
tensordot: np.tensordot(C, C, axes=([1, 2], [1, 2]))
tri: np.tri(len(S)) * S
tril_indices: S[np.tril_indices(len(S))]
triu_indices: S[np.triu_indices(len(S), 1)]
unstack: np.unstack(A[:4])
zeros: np.zeros(len(x)) + x
"""
LINALG = """
cross: np.linalg.cross(A[:, :3], B[:, :3])
multi_dot: np.linalg.multi_dot([A, S, v])
outer: np.linalg.outer(v, w)
"""
FFT = """
fftfreq: np.fft.fftfreq(len(x), 0.1) * x
rfftfreq: np.fft.rfftfreq(2 * len(x) - 1, 0.1) * x
"""
ARRAYS = """
compress: A.compress(b[: len(A)], axis=0)
put: B.put(k, y)
reshape: A.reshape(-1)
searchsorted: np.sort(t).searchsorted(x)
take: x.take(i)
"""
SPECIAL_FUNCTIONS = """
roots_chebyt: special.roots_chebyt(50)[0].sum() * x
roots_hermite: special.roots_hermite(50)[0].sum() * x
roots_legendre: special.roots_legendre(50)[0].sum() * x
"""
FOURIER = """
dctn: fft.dctn(A, 3)
fft: fft.fft(x, len(x) + 24)
hfft2: fft.hfft2(A + 1j)
hfftn: fft.hfftn(C + 1j, norm="forward")
idct: fft.idct(x, 4)
irfft: fft.irfft(z)
prev_fast_len: x * fft.prev_fast_len(x.shape[0] + 5)
"""
SCIPY_LINALG = """
circulant: linalg.circulant(v)
companion: linalg.companion(v)
eigh_tridiagonal: linalg.eigh_tridiagonal(t, v[1:], eigvals_only=True)
eigvalsh_tridiagonal: linalg.eigvalsh_tridiagonal(t, v[1:], select="i", select_range=(0, 1))
fiedler: linalg.fiedler(v)
hankel: linalg.hankel(v, w)
khatri_rao: linalg.khatri_rao(A[:30], S)
leslie: linalg.leslie(v, t[1:])
lstsq: linalg.lstsq(A, v)[0]
qr_update: linalg.qr_update(*np.linalg.qr(A, "complete"), w, v)
qz: linalg.qz(S, A)
solve_circulant: linalg.solve_circulant(x, y)
solve_continuous_are: linalg.solve_continuous_are(A, np.eye(len(A)), np.eye(len(A)), np.eye(len(A)))
solve_discrete_are: linalg.solve_discrete_are(A, np.eye(len(A)), np.eye(len(A)), np.eye(len(A)))
solve_discrete_lyapunov: linalg.solve_discrete_lyapunov(S / 200, S)
solve_toeplitz: linalg.solve_toeplitz(np.concatenate([v[:1] + 50, v[1:]]), w)
toeplitz: linalg.toeplitz(v, w)
"""
INTEGRATE = """
cumulative_simpson: integrate.cumulative_simpson(x, dx=0.1, initial=0)
romb: integrate.romb(x[:513], s)
"""
INTERPOLATE = """
RBFInterpolator: interpolate.RBFInterpolator(GRID, KNOTS[:4] ** 2)(A[:, :3])
interpn: interpolate.interpn((KNOTS[:4], KNOTS[:3]), A[:4, :3], np.stack([2 * x, y], axis=1))
"""
NDIMAGE = """
binary_erosion: ndimage.binary_erosion(A > 0.5, S[:3, :3] > 0.3, border_value=1)
convolve1d: ndimage.convolve1d(A, v[:7], axis=0, mode="wrap")
convolve: ndimage.convolve(A, S[:3, :3], mode="constant", cval=1.0)
correlate1d: ndimage.correlate1d(A, v[:7], axis=0, mode="nearest")
correlate: ndimage.correlate(A, S[:3, :3], mode="mirror", origin=(1, 0))
generic_filter: ndimage.generic_filter(A[:30], lambda near: np.max(near) - np.mean(near), size=3)
"""
SIGNAL = """
convolve2d: signal.convolve2d(A, S[:5, :5], mode="same", boundary="symm")
convolve: signal.convolve(x, v[:30], mode="same")
correlate2d: signal.correlate2d(A, S[:5, :5], mode="same")
correlate: signal.correlate(x, v[:30])
freqz: signal.freqz(v[:9], [1.0, 0.5], 512)
oaconvolve: signal.oaconvolve(x, v)
resample: signal.resample(x, 2 * len(x))
upfirdn: signal.upfirdn(v[:9], A, 3, 2, axis=0)
welch: signal.welch(x, nperseg=256)
windows.general_gaussian: signal.windows.general_gaussian(len(x), 1.5, s)
windows.hann: signal.windows.hann(len(x)) * x
windows.kaiser: signal.windows.kaiser(len(x), s, sym=False)
"""
DISTANCE = """
cdist: distance.cdist(A[:, :3], S[:, :3])
num_obs_y: x * distance.num_obs_y(y[:990])
pdist: distance.pdist(A[:, :3], "cityblock")
squareform: distance.squareform(x[:990])
"""


def arguments(size: int) -> dict[str, Any]:
    """As those of `measure.arguments`: vectors of ``size`` elements, and matrices that have as many."""
    rng = np.random.default_rng(0)
    side = round(size**0.5)
    vectors: dict[str, Any] = {name: rng.uniform(0.05, 0.95, size) for name in "xypq"}
    short: dict[str, Any] = {name: rng.uniform(0.1, 0.9, side) for name in "vwt"}
    matrix = rng.uniform(0.1, 0.9, (side, side))
    thin = round(size ** (1 / 3))
    return {
        **vectors,
        **short,
        "n": np.where(rng.random(size) < 0.1, np.nan, vectors["x"]),
        "z": vectors["x"] + 1j * vectors["y"],
        "s": np.float64(2.5),
        "A": matrix,
        "B": matrix[::-1].copy(),
        "S": matrix.T @ matrix / side + np.eye(side),
        "C": rng.uniform(0.1, 0.9, (thin, thin, thin)),
        **{name: rng.integers(0, 6, size) for name in "ijk"},
        "u": rng.integers(0, 256, size).astype(np.uint8),
        **{name: rng.random(size) < 0.5 for name in "bm"},
        "g": np.random.default_rng(7),
    }


def of_methods() -> dict[str, str]:
    """Outer products of short vectors, sums of pieces of ten elements."""
    found = {}
    for name, call in families()["ufunc_methods"].calls.items():
        assert call is not None
        if name.endswith(".outer"):
            for letter in "xyijbm":
                call = call.replace(f"({letter},", f"({letter}[:len(v)],").replace(
                    f", {letter})", f", {letter}[:len(v)])"
                )
            found[name] = call
        elif name.endswith(".reduceat"):
            found[name] = call.replace("[0, 2, 4]", f"np.arange(0, len({call[call.index('(') + 1]}), 10)")
        elif "[:4].reshape(2, 2)" in call:
            found[name] = call.replace("[:4].reshape(2, 2)", ".reshape(2, -1)")
    return found


def of_generators() -> dict[str, str]:
    """As many numbers as ``x`` has."""
    found = {
        name: call.replace(", 5)", ", len(x))").replace("(5)", "(len(x))")
        for name, call in table(method_calls.RANDOM).items()
    }
    return found | table("""
choice: g.choice(x, len(x))
dirichlet: g.dirichlet([1.0, 3.0, 2.0], len(x)) + s
multinomial: g.multinomial(20, [0.2, 0.3, 0.5], len(x)) + s
multivariate_hypergeometric: g.multivariate_hypergeometric([4, 5, 6], 7, len(x)) + s
multivariate_normal: g.multivariate_normal(np.zeros(3), np.eye(3), len(x)) + s
""")


LONGER = {
    "numpy": table(NUMPY),
    "linalg": table(LINALG),
    "fft": table(FFT),
    "arrays": table(ARRAYS),
    "ufunc_methods": of_methods(),
    "random": of_generators(),
    "special_functions": table(SPECIAL_FUNCTIONS),
    "scipy_fft": table(FOURIER),
    "scipy_linalg": table(SCIPY_LINALG),
    "scipy_integrate": table(INTEGRATE),
    "scipy_interpolate": table(INTERPOLATE),
    "scipy_ndimage": table(NDIMAGE),
    "scipy_signal": table(SIGNAL),
    "scipy_distance": table(DISTANCE),
}
UNSIZED = {
    "numpy": "fromiter",
    "arrays": "resize tolist",
    "random": "bytes",
}
"""What loops over Python's objects, or has no result."""
LARGEST = {"linalg": 100_000, "scipy_linalg": 100_000}
"""Elements of a family's matrices at most: more take minutes."""
