"""Calls of SciPy's functions of arrays, by module, on the arrays of `measure.arguments` and on others made of them."""

LINALG = """
block_diag: linalg.block_diag(S, A)
cho_factor: linalg.cho_factor(S)
cho_solve: linalg.cho_solve(linalg.cho_factor(S), v)
cholesky: linalg.cholesky(S)
circulant: linalg.circulant(x)
companion: linalg.companion(x)
convolution_matrix: linalg.convolution_matrix(x, 4, "same")
coshm: linalg.coshm(S)
cosm: linalg.cosm(S)
det: linalg.det(S)
eig: np.sort_complex(linalg.eig(S)[0])
eigh: linalg.eigh(S, eigvals_only=True)
eigvals: np.sort_complex(linalg.eigvals(S))
eigvalsh: linalg.eigvalsh(S)
expm: linalg.expm(S)
fiedler: linalg.fiedler(x)
hankel: linalg.hankel(x, y)
hessenberg: linalg.hessenberg(S)
inv: linalg.inv(S)
khatri_rao: linalg.khatri_rao(A, S)
leslie: linalg.leslie(v, t[:2])
logm: linalg.logm(S)
lstsq: linalg.lstsq(A, x[:4])[0]
lu: linalg.lu(S)
lu_factor: linalg.lu_factor(S)
lu_solve: linalg.lu_solve(linalg.lu_factor(S), v)
matmul_toeplitz: linalg.matmul_toeplitz((x, y), p)
norm: linalg.norm(A)
null_space: np.abs(linalg.null_space(A.T))
orth: np.abs(linalg.orth(A))
orthogonal_procrustes: linalg.orthogonal_procrustes(A, A[::-1] * s)
pinv: linalg.pinv(A)
polar: linalg.polar(A)
qr: linalg.qr(A, mode="economic")
schur: linalg.schur(S)
sinhm: linalg.sinhm(S)
sinm: linalg.sinm(S)
solve: linalg.solve(S, v, assume_a="pos")
solve_banded: linalg.solve_banded((1, 1), A[:3] + 2, v)
solve_circulant: linalg.solve_circulant(x + [5, 0, 0, 0, 0, 0], y)
solve_continuous_lyapunov: linalg.solve_continuous_lyapunov(S, S + 1)
solve_discrete_lyapunov: linalg.solve_discrete_lyapunov(S / 10, S)
solve_sylvester: linalg.solve_sylvester(S, S + 1, S)
solve_toeplitz: linalg.solve_toeplitz(x + [5, 0, 0, 0, 0, 0], y)
solve_triangular: linalg.solve_triangular(S, v, lower=True)
solveh_banded: linalg.solveh_banded(np.stack([0 * t, t, t + 2])[1:], v)
sqrtm: linalg.sqrtm(S)
svd: linalg.svd(A, compute_uv=False)
svdvals: linalg.svdvals(A)
tanhm: linalg.tanhm(S)
tanm: linalg.tanm(S)
toeplitz: linalg.toeplitz(x, y)
"""

INTEGRATE = """
cumulative_simpson: integrate.cumulative_simpson(C, x=np.array([0.0, 0.3, 1.0, 1.2]), initial=0)
cumulative_trapezoid: integrate.cumulative_trapezoid(x, initial=0)
romb: integrate.romb(x[:5], s)
simpson: integrate.simpson(x, x=np.cumsum(y))
trapezoid: integrate.trapezoid(A, t, axis=1)
"""

INTERPOLATE = """
Akima1DInterpolator: interpolate.Akima1DInterpolator(KNOTS, HEIGHTS)(4 * x)
BSpline: interpolate.make_interp_spline(KNOTS, HEIGHTS, 3)(5 * x)
CubicHermiteSpline: interpolate.CubicHermiteSpline(KNOTS, HEIGHTS, KNOTS)(4 * x)
CubicSpline: interpolate.CubicSpline(KNOTS, HEIGHTS)(4 * x, 1)
PPoly: interpolate.PPoly(GRID, KNOTS[:4])(4 * x - 1)
PchipInterpolator: interpolate.PchipInterpolator(KNOTS, HEIGHTS).derivative()(4.1 * x)
RegularGridInterpolator: interpolate.RegularGridInterpolator((KNOTS[:4], KNOTS[:3]), GRID)((x, y))
interp1d: interpolate.interp1d(KNOTS, HEIGHTS, fill_value="extrapolate")(4.7 * x)
interpn: interpolate.interpn((KNOTS[:4], KNOTS[:3]), A, np.stack([2 * x, y], axis=1))
splev: interpolate.splev(4 * x, interpolate.splrep(KNOTS, HEIGHTS), der=1)
"""

NDIMAGE = """
convolve: ndimage.convolve(A, S, mode="constant", cval=1.0)
convolve1d: ndimage.convolve1d(A, v, axis=0, mode="wrap")
correlate: ndimage.correlate(A, S, mode="mirror", origin=(1, 0))
correlate1d: ndimage.correlate1d(A, v, axis=0, mode="nearest")
gaussian_filter: ndimage.gaussian_filter(A, 1.0)
gaussian_filter1d: ndimage.gaussian_filter1d(x, 0.7, order=1)
gaussian_gradient_magnitude: ndimage.gaussian_gradient_magnitude(A, 1.0)
gaussian_laplace: ndimage.gaussian_laplace(A, 1.0)
laplace: ndimage.laplace(A)
map_coordinates: ndimage.map_coordinates(A, np.stack([5 * x - 1, 3 * y]), order=1, mode="reflect")
maximum_filter: ndimage.maximum_filter(A, 3)
minimum_filter: ndimage.minimum_filter(A, (2, 3))
prewitt: ndimage.prewitt(A)
sobel: ndimage.sobel(A, axis=0)
uniform_filter: ndimage.uniform_filter(A, 2)
uniform_filter1d: ndimage.uniform_filter1d(x, 3)
"""

SIGNAL = """
convolve: signal.convolve(x, v, mode="same")
convolve2d: signal.convolve2d(A, S, mode="same", boundary="symm")
correlate: signal.correlate(x, v)
correlate2d: signal.correlate2d(A, S, mode="same")
detrend: signal.detrend(A, axis=0)
fftconvolve: signal.fftconvolve(A, S, mode="same")
filtfilt: signal.filtfilt([0.2, 0.3], [1.0, -0.4], np.concatenate([x, y, p]))
hilbert: signal.hilbert(x)
lfilter: signal.lfilter([0.2, 0.3], [1.0, -0.4], A, axis=0)
lfilter_zi: signal.lfilter_zi([0.2, 0.3, 0.1], np.concatenate([[1.0], t[:2]]))
oaconvolve: signal.oaconvolve(x, v)
savgol_filter: signal.savgol_filter(x, 5, 2, deriv=1)
sosfilt: signal.sosfilt([[0.2, 0.3, 0.1, 1.0, -0.4, 0.2]], x)
windows.gaussian: signal.windows.gaussian(7, s)
windows.general_gaussian: signal.windows.general_gaussian(7, 1.5, s)
windows.hann: signal.windows.hann(6) * x
windows.kaiser: signal.windows.kaiser(7, s, sym=False)
"""

DISTANCE = """
braycurtis: distance.braycurtis(x, y)
canberra: distance.canberra(x, y)
cdist: distance.cdist(A, S)
chebyshev: distance.chebyshev(x, p)
cityblock: distance.cityblock(x, y, p)
correlation: distance.correlation(x, y)
cosine: distance.cosine(x, y)
dice: distance.dice(b, m)
euclidean: distance.euclidean(x, y)
hamming: distance.hamming(i, j)
jaccard: distance.jaccard(b, m)
jensenshannon: distance.jensenshannon(x, y)
mahalanobis: distance.mahalanobis(v, w, S)
minkowski: distance.minkowski(x, y, 3, p)
pdist: distance.pdist(A, "cityblock")
rogerstanimoto: distance.rogerstanimoto(b, m)
russellrao: distance.russellrao(b, m)
seuclidean: distance.seuclidean(x, y, p)
sokalsneath: distance.sokalsneath(b, m)
sqeuclidean: distance.sqeuclidean(x, y)
squareform: distance.squareform(x)
yule: distance.yule(b, m)
"""

MODULES = {
    "scipy_linalg": ("scipy.linalg", LINALG),
    "scipy_integrate": ("scipy.integrate, of samples", INTEGRATE),
    "scipy_interpolate": ("scipy.interpolate, of interpolants made outside", INTERPOLATE),
    "scipy_ndimage": ("scipy.ndimage", NDIMAGE),
    "scipy_signal": ("scipy.signal", SIGNAL),
    "scipy_distance": ("scipy.spatial.distance", DISTANCE),
}
"""The title of each page, and its calls. Names that are refused are in the tables ``REFUSED`` of the modules."""
