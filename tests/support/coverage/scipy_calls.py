"""Calls of SciPy's functions of arrays, by module, on the arrays of `measure.arguments` and on others made of them."""

LINALG = """
block_diag: linalg.block_diag(S, A)
cho_factor: linalg.cho_factor(S)
cho_solve: linalg.cho_solve(linalg.cho_factor(S), v)
cho_solve_banded: linalg.cho_solve_banded((linalg.cholesky_banded(np.stack([0 * t, t, t + 2])[1:]), False), v)
cholesky: linalg.cholesky(S)
cholesky_banded: linalg.cholesky_banded(np.stack([t + 2, t, 0 * t]), lower=True)
circulant: linalg.circulant(x)
companion: linalg.companion(x)
convolution_matrix: linalg.convolution_matrix(x, 4, "same")
coshm: linalg.coshm(S)
cosm: linalg.cosm(S)
cossin: linalg.cossin(linalg.qr(S)[0], 1, 2)
det: linalg.det(S)
eig: np.sort_complex(linalg.eig(S)[0])
eig_banded: linalg.eig_banded(np.stack([t + 2, t]), lower=True, eigvals_only=True)
eigh: linalg.eigh(S, eigvals_only=True)
eigh_tridiagonal: linalg.eigh_tridiagonal(t, v[:2], eigvals_only=True)
eigvals: np.sort_complex(linalg.eigvals(S))
eigvals_banded: linalg.eigvals_banded(np.stack([t, t + 2]))
eigvalsh: linalg.eigvalsh(S)
eigvalsh_tridiagonal: linalg.eigvalsh_tridiagonal(t, v[:2], select="i", select_range=(0, 1))
expm: linalg.expm(S)
fiedler: linalg.fiedler(x)
hankel: linalg.hankel(x, y)
hessenberg: linalg.hessenberg(S)
inv: linalg.inv(S)
khatri_rao: linalg.khatri_rao(A, S)
ldl: linalg.ldl(S - 2)
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
qr_delete: linalg.qr_delete(*np.linalg.qr(A, "complete"), 1)
qr_insert: linalg.qr_insert(*np.linalg.qr(A, "complete"), v, 2)
qr_multiply: np.abs(linalg.qr_multiply(A, A.T)[0])
qr_update: linalg.qr_update(*np.linalg.qr(A, "complete"), x[:4], v)
qz: linalg.qz(S, A[:3])
schur: linalg.schur(S)
sinhm: linalg.sinhm(S)
sinm: linalg.sinm(S)
solve: linalg.solve(S, v, assume_a="pos")
solve_banded: linalg.solve_banded((1, 1), A[:3] + 2, v)
solve_circulant: linalg.solve_circulant(x + [5, 0, 0, 0, 0, 0], y)
solve_continuous_are: linalg.solve_continuous_are(A[:3], np.eye(3), np.eye(3), np.eye(3))
solve_continuous_lyapunov: linalg.solve_continuous_lyapunov(S, S + 1)
solve_discrete_are: linalg.solve_discrete_are(A[:3], np.eye(3), np.eye(3), np.eye(3))
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
cubature: integrate.cubature(lambda r: np.exp(-s * r[:, 0] * r[:, 1]), [0.0, 0.0], [1.0, 2.0]).estimate
dblquad: integrate.dblquad(lambda u, r: np.exp(-s * u * r), 0.0, 1.0, lambda r: 0.0, lambda r: r)
fixed_quad: integrate.fixed_quad(lambda r: np.exp(-s * r), 0.0, 2.0, n=7)[0]
nquad: integrate.nquad(lambda u, r: np.exp(-s * u * r), [(0.0, 1.0), (0.0, 2.0)])
nsum: integrate.nsum(lambda r, a: (r + a * a) ** -3.0, 1.0, np.inf, args=(x,), maxterms=256).sum
odeint: integrate.odeint(lambda u, r: np.stack([u[1], -s * u[0]]), v[:2], t)
quad: integrate.quad(lambda r: np.exp(-s * r * r), 0.0, np.inf)
quad_vec: integrate.quad_vec(lambda r: np.exp(-x * r), 0.0, 2.0)
simpson: integrate.simpson(x, x=np.cumsum(y))
solve_ivp: integrate.solve_ivp(lambda r, u: np.stack([u[1], -s * u[0]]), (0.0, 3.0), v[:2], t_eval=t).y
tanhsinh: integrate.tanhsinh(lambda r, a: np.exp(-a * r), 0.0, 2.0, args=(x,)).integral
solve_bvp: integrate.solve_bvp(lambda r, u: u[::-1] * s, lambda u, w: np.hstack([u[0], w[0] - 1]), t, [x[:3], t]).y
tplquad: integrate.tplquad(lambda w, u, r: s * w * u * r, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0)
trapezoid: integrate.trapezoid(A, t, axis=1)
"""

OPTIMIZE = """
bisect: optimize.bisect(lambda a: a**3 - s, 0.0, 5.0)
brute: optimize.brute(lambda a: np.sum((a - v[:2]) ** 2), ((-2.0, 2.0),) * 2, Ns=5, finish=None)
broyden1: optimize.broyden1(lambda a: a + a**3 / 9 - v, w)
broyden2: optimize.broyden2(lambda a: a + a**3 / 9 - v, w)
anderson: optimize.anderson(lambda a: a + a**3 / 9 - v, w)
diagbroyden: optimize.diagbroyden(lambda a: a + a**3 / 9 - v, w)
linearmixing: optimize.linearmixing(lambda a: a + a**3 / 9 - v, w, alpha=-0.7)
excitingmixing: optimize.excitingmixing(lambda a: v / 2 - a, w, alpha=0.6)
differential_evolution: optimize.differential_evolution(lambda a: np.sum((a - s) ** 2), [(0, 2)], rng=1, polish=False).x
approx_fprime: optimize.approx_fprime(v, optimize.rosen, 1e-4)
check_grad: optimize.check_grad(optimize.rosen, optimize.rosen_der, v, epsilon=1e-2)
dual_annealing: optimize.dual_annealing(lambda a: a @ a - s * a[0], [(0, 2)], (), 4, rng=1, no_local_search=True).x
basinhopping: optimize.basinhopping(lambda a: a @ a - s * a[0], w, 2, rng=1, minimizer_kwargs={'method': 'Powell'}).x
bracket: optimize.bracket(lambda a: (a - s) ** 2, 0.0, 1.0)
brent: optimize.brent(lambda a: (a - s) ** 2, brack=(0.0, 1.0))
brenth: optimize.brenth(lambda a: a**3 - s, 0.0, 5.0)
brentq: optimize.brentq(lambda a: a**3 - s, 0.0, 5.0)
curve_fit: optimize.curve_fit(lambda r, a: a * r, x, y, [1.0], jac=lambda r, a: r[:, None])
elementwise.bracket_minimum: optimize.elementwise.bracket_minimum(lambda a, b: (a - b) ** 2, s, args=(x,)).bracket
elementwise.bracket_root: optimize.elementwise.bracket_root(lambda a, b: a**3 - b, s, args=(x,)).bracket
elementwise.find_minimum: optimize.elementwise.find_minimum(lambda a, b: (a - b) ** 2, (-2.0, 0.1, 3.0), args=(x,)).x
elementwise.find_root: optimize.elementwise.find_root(lambda a, b: a**3 - b, (0.0, 2.0), args=(x,)).x
fixed_point: optimize.fixed_point(lambda a: np.cos(a * s) / 3, 0.5)
fmin: optimize.fmin(optimize.rosen, v, disp=False)
fmin_bfgs: optimize.fmin_bfgs(optimize.rosen, v, optimize.rosen_der, disp=False)
fmin_cg: optimize.fmin_cg(lambda a: np.sum((a - v) ** 2), w, lambda a: 2 * (a - v), disp=False)
fmin_l_bfgs_b: optimize.fmin_l_bfgs_b(optimize.rosen, v, optimize.rosen_der)[:2]
fmin_ncg: optimize.fmin_ncg(optimize.rosen, v, optimize.rosen_der, fhess=optimize.rosen_hess, disp=False)
fmin_powell: optimize.fmin_powell(lambda a: np.sum((a - v) ** 2), w, disp=False)
fmin_slsqp: optimize.fmin_slsqp(optimize.rosen, v, fprime=optimize.rosen_der, iprint=0)
fminbound: optimize.fminbound(lambda a: (a - s) ** 2, 0.0, 4.0)
fsolve: optimize.fsolve(lambda a: a**3 - v, w)
golden: optimize.golden(lambda a: (a - s) ** 2, brack=(0.0, 1.0))
least_squares: optimize.least_squares(lambda a: a**3 - v, w, jac=lambda a: np.diag(3 * a**2)).x
isotonic_regression: optimize.isotonic_regression(x).x
leastsq: optimize.leastsq(lambda a: a**3 - v, w, Dfun=lambda a: np.diag(3 * a**2))
linprog: optimize.linprog(w, bounds=(-1.0, 2.0)).x
lsq_linear: optimize.lsq_linear(S, v, (-1.0, 1.0)).x
milp: optimize.milp(w, bounds=(0.0, 1.5)).x
linear_sum_assignment: optimize.linear_sum_assignment(S)
minimize: optimize.minimize(optimize.rosen, v, jac=optimize.rosen_der).x
minimize_scalar: optimize.minimize_scalar(lambda a: (a - s) ** 2).x
newton: optimize.newton(lambda a: a**3 - s, 1.0, lambda a: 3 * a**2)
newton_krylov: optimize.newton_krylov(lambda a: a + a**3 / 9 - v, w, f_tol=1e-12)
nnls: optimize.nnls(S, v)
ridder: optimize.ridder(lambda a: a**3 - s, 0.0, 5.0)
root: optimize.root(lambda a: a**3 - v, w).x
root_scalar: optimize.root_scalar(lambda a: a**3 - s, bracket=(0.0, 5.0)).root
rosen: optimize.rosen(x)
rosen_der: optimize.rosen_der(x)
rosen_hess: optimize.rosen_hess(x)
rosen_hess_prod: optimize.rosen_hess_prod(x, y)
toms748: optimize.toms748(lambda a: a**3 - s, 0.0, 5.0)
"""

INTERPOLATE = """
Akima1DInterpolator: interpolate.Akima1DInterpolator(KNOTS, HEIGHTS * x[0])(4 * x)
BPoly: interpolate.BPoly(GRID, KNOTS[:4])(3 * x)
BSpline: interpolate.BSpline([0, 0, 0, 0.4, 1, 1, 1], x, 2)(y)
BarycentricInterpolator: interpolate.BarycentricInterpolator(KNOTS, HEIGHTS * x[0])(4 * x)
CloughTocher2DInterpolator: interpolate.CloughTocher2DInterpolator(PLACES, HEIGHTS)(x / 2, y / 2)
CubicHermiteSpline: interpolate.CubicHermiteSpline(KNOTS, HEIGHTS, KNOTS * x[0])(4 * x)
CubicSpline: interpolate.CubicSpline(KNOTS, HEIGHTS * x[0], bc_type="natural")(4 * x, 1)
InterpolatedUnivariateSpline: interpolate.InterpolatedUnivariateSpline(KNOTS, HEIGHTS * x[0])(4 * x)
KroghInterpolator: interpolate.KroghInterpolator(KNOTS, HEIGHTS * x[0])(4 * x)
LSQBivariateSpline: interpolate.LSQBivariateSpline(*SCATTERED, [0.5], [0.5], kx=1, ky=1).ev(x, y)
LSQUnivariateSpline: interpolate.LSQUnivariateSpline(KNOTS, HEIGHTS * x[0], [1.7], k=2)(4 * x)
LinearNDInterpolator: interpolate.LinearNDInterpolator(PLACES, HEIGHTS * x[0])(x / 2, y / 2)
NdBSpline: interpolate.NdBSpline(([0, 0, 1, 1], [0, 0, 1, 1]), S[:2, :2], 1)(np.stack([x, y], axis=1))
NearestNDInterpolator: interpolate.NearestNDInterpolator(PLACES, HEIGHTS * x[0])(x, y)
PPoly: interpolate.PPoly(GRID * x[0], KNOTS[:4])(4 * x - 1)
PchipInterpolator: interpolate.PchipInterpolator(KNOTS, HEIGHTS * x[0]).derivative()(4.1 * x)
RBFInterpolator: interpolate.RBFInterpolator(A, A[:, 0], kernel="cubic", degree=0)(A + 0.1)
RectBivariateSpline: interpolate.RectBivariateSpline(KNOTS[:4], KNOTS[:3], A, kx=2, ky=2).ev(3 * x, 2 * y)
RegularGridInterpolator: interpolate.RegularGridInterpolator((KNOTS[:4], KNOTS[:3]), A, "slinear")((x, y))
SmoothBivariateSpline: interpolate.SmoothBivariateSpline(*SCATTERED, kx=1, ky=1)(np.sort(x), np.sort(y))
UnivariateSpline: interpolate.UnivariateSpline(KNOTS, HEIGHTS, s=0.1)(4.5 * x, 1)
barycentric_interpolate: interpolate.barycentric_interpolate(KNOTS, HEIGHTS * x[0], 4 * x)
griddata: interpolate.griddata(PLACES, HEIGHTS * x[0], (x / 2, y / 2))
interp1d: interpolate.interp1d(KNOTS, HEIGHTS * x[0], "cubic", fill_value="extrapolate")(4.7 * x)
interpn: interpolate.interpn((KNOTS[:4], KNOTS[:3]), A, np.stack([2 * x, y], axis=1))
krogh_interpolate: interpolate.krogh_interpolate(KNOTS, HEIGHTS * x[0], 4 * x)
make_interp_spline: interpolate.make_interp_spline(KNOTS, HEIGHTS * x[0], 3)(5 * x)
make_lsq_spline: interpolate.make_lsq_spline(KNOTS, HEIGHTS * x[0], [0, 0, 0, 1.7, 4, 4, 4], 2)(4 * x)
make_smoothing_spline: interpolate.make_smoothing_spline(KNOTS, HEIGHTS * x[0], lam=0.2)(4 * x)
pchip_interpolate: interpolate.pchip_interpolate(KNOTS, HEIGHTS * x[0], 4 * x)
splantider: interpolate.splantider(interpolate.splrep(KNOTS, HEIGHTS * x[0]))[1]
splder: interpolate.splder(interpolate.splrep(KNOTS, HEIGHTS * x[0]))[1]
splev: interpolate.splev(4 * x, interpolate.splrep(KNOTS, HEIGHTS), der=1)
splint: interpolate.splint(x[0], 3.0, interpolate.splrep(KNOTS, HEIGHTS))
splrep: interpolate.splrep(KNOTS, HEIGHTS * x[0])[1]
"""

SPATIAL = """
ConvexHull: A[spatial.ConvexHull(PLACES).vertices[:2]]
Delaunay: spatial.Delaunay(PLACES).find_simplex(np.stack([x, y], axis=1))
KDTree: spatial.KDTree(A).query(A[:2] + 0.1, 2)
cKDTree: spatial.cKDTree(PLACES).query_ball_point(np.stack([x, y], axis=1), 0.5, return_length=True)
distance_matrix: spatial.distance_matrix(A, S, 3)
geometric_slerp: spatial.geometric_slerp(v / np.sqrt(np.sum(v**2)), w / np.sqrt(np.sum(w**2)), x)
minkowski_distance: spatial.minkowski_distance(A, v, 3)
minkowski_distance_p: spatial.minkowski_distance_p(A, v, 3)
procrustes: spatial.procrustes(A, A[::-1] * s)
"""

TRANSFORM = """
Rotation: transform.Rotation.from_euler("xyz", v).apply(A)
Slerp: transform.Slerp([0.0, 1.0, 2.0], transform.Rotation.from_rotvec(S))(x).as_quat()
"""

NDIMAGE = """
affine_transform: ndimage.affine_transform(A, [[0.9, 0.1], [-0.1, 0.8]], 0.2, order=1)
binary_closing: ndimage.binary_closing(A > 0.5)
binary_dilation: ndimage.binary_dilation(A > 0.5, iterations=2)
binary_erosion: ndimage.binary_erosion(A > 0.5, S > 0.3, border_value=1)
binary_opening: ndimage.binary_opening(A > 0.5, mask=A < 0.9)
binary_fill_holes: ndimage.binary_fill_holes(A > 0.5)
center_of_mass: ndimage.center_of_mass(A, A > 0.5)
convolve1d: ndimage.convolve1d(A, v, axis=0, mode="wrap")
convolve: ndimage.convolve(A, S, mode="constant", cval=1.0)
correlate1d: ndimage.correlate1d(A, v, axis=0, mode="nearest")
correlate: ndimage.correlate(A, S, mode="mirror", origin=(1, 0))
distance_transform_cdt: ndimage.distance_transform_cdt(A > 0.5)
distance_transform_edt: ndimage.distance_transform_edt(A > 0.5, sampling=0.5)
gaussian_filter1d: ndimage.gaussian_filter1d(x, 0.7, order=1)
gaussian_filter: ndimage.gaussian_filter(A, 1.0)
gaussian_gradient_magnitude: ndimage.gaussian_gradient_magnitude(A, 1.0)
gaussian_laplace: ndimage.gaussian_laplace(A, 1.0)
generic_filter: ndimage.generic_filter(A, lambda near: np.max(near) - np.mean(near), size=3)
label: ndimage.label(A > 0.5)
laplace: ndimage.laplace(A)
map_coordinates: ndimage.map_coordinates(A, np.stack([5 * x - 1, 3 * y]), order=1, mode="reflect")
maximum: ndimage.maximum(x, i, [0, 3, 5])
maximum_filter: ndimage.maximum_filter(A, 3)
mean: ndimage.mean(x, i, [0, 3, 5])
median: ndimage.median(x, i, 3)
median_filter: ndimage.median_filter(A, 3)
minimum: ndimage.minimum(x, i, [0, 3, 5])
minimum_filter: ndimage.minimum_filter(A, (2, 3))
percentile_filter: ndimage.percentile_filter(A, 30, size=(2, 3))
prewitt: ndimage.prewitt(A)
rank_filter: ndimage.rank_filter(A, -2, size=3)
rotate: ndimage.rotate(A, 30.0, order=1)
shift: ndimage.shift(A, (0.5, -1.0), order=1)
sobel: ndimage.sobel(A, axis=0)
standard_deviation: ndimage.standard_deviation(x, i % 3, [0, 2])
sum_labels: ndimage.sum_labels(A, A > 0.5)
uniform_filter1d: ndimage.uniform_filter1d(x, 3)
uniform_filter: ndimage.uniform_filter(A, 2)
variance: ndimage.variance(x, i, 3)
zoom: ndimage.zoom(A, 1.7, order=1)
"""

SIGNAL = """
coherence: signal.coherence(np.concatenate([x, y, p]), np.concatenate([y, x, x]), nperseg=8)
csd: signal.csd(np.concatenate([x, y, p]), np.concatenate([y, x, x]), nperseg=8)
get_window: signal.get_window(("kaiser", s), 7)
istft: signal.istft(A[:, :5] + 1j, noverlap=3, window="hamming")
lombscargle: signal.lombscargle(x, y, p)
periodogram: signal.periodogram(x, s, nfft=16)
spectrogram: signal.spectrogram(np.concatenate([x, y, p]), nperseg=8)
stft: signal.stft(x, nperseg=4, boundary="even")
vectorstrength: signal.vectorstrength(x, s)
windows.exponential: signal.windows.exponential(7, None, s)
windows.general_cosine: signal.windows.general_cosine(7, p[:3])
windows.general_hamming: signal.windows.general_hamming(7, s)
windows.kaiser_bessel_derived: signal.windows.kaiser_bessel_derived(8, s)
windows.tukey: signal.windows.tukey(9, s / 3)
chirp: signal.chirp(x, 2.0 * s, 1.0, 9.0)
convolve2d: signal.convolve2d(A, S, mode="same", boundary="symm")
convolve: signal.convolve(x, v, mode="same")
correlate2d: signal.correlate2d(A, S, mode="same")
correlate: signal.correlate(x, v)
detrend: signal.detrend(A, axis=0)
fftconvolve: signal.fftconvolve(A, S, mode="same")
filtfilt: signal.filtfilt([0.2, 0.3], [1.0, -0.4], np.concatenate([x, y, p]))
freqz: signal.freqz(v, [1.0, 0.5], 8)
hilbert: signal.hilbert(x)
lfilter: signal.lfilter([0.2, 0.3], [1.0, -0.4], A, axis=0)
lfilter_zi: signal.lfilter_zi([0.2, 0.3, 0.1], np.concatenate([[1.0], t[:2]]))
medfilt: signal.medfilt(A, (3, 1))
oaconvolve: signal.oaconvolve(x, v)
resample: signal.resample(x, 9)
resample_poly: signal.resample_poly(x, 3, 2)
savgol_filter: signal.savgol_filter(x, 5, 2, deriv=1)
sawtooth: signal.sawtooth(9 * x, 0.3)
sosfilt: signal.sosfilt([[0.2, 0.3, 0.1, 1.0, -0.4, 0.2]], x)
square: signal.square(9 * x, duty=0.3)
upfirdn: signal.upfirdn(v, A, 3, 2, axis=0)
welch: signal.welch(np.concatenate([x, y, p]), nperseg=8)
windows.gaussian: signal.windows.gaussian(len(x), s)
windows.general_gaussian: signal.windows.general_gaussian(7, 1.5, s)
windows.hann: signal.windows.hann(6) * x
windows.kaiser: signal.windows.kaiser(7, s, sym=False)
"""

FOURIER = """
dct: fft.dct(A, axis=0, norm="ortho")
dctn: fft.dctn(A, 3, [5, 2], [0, 1])
dst: fft.dst(x, 1)
dstn: fft.dstn(A)
fft2: fft.fft2(A)
fft: fft.fft(x, 9)
fftfreq: fft.fftfreq(len(x), s)
fftn: fft.fftn(C, axes=(0, 2))
fftshift: fft.fftshift(A, axes=1)
fht: fft.fht(x, 0.1, 0.5, 0.2, 0.3)
hfft2: fft.hfft2(A * z[:3])
hfft: fft.hfft(z)
hfftn: fft.hfftn(C + 1j, [2, 4], (0, 2), norm="forward")
idct: fft.idct(x, 4, 8)
idctn: fft.idctn(C, norm="forward", axes=-1)
idst: fft.idst(x, 3)
idstn: fft.idstn(A, 2, norm="ortho")
ifft2: fft.ifft2(A, workers=1)
ifft: fft.ifft(z, overwrite_x=True)
ifftn: fft.ifftn(A)
ifftshift: fft.ifftshift(x)
ifht: fft.ifht(A, 0.1, 0.5)
ihfft2: fft.ihfft2(A, norm="ortho")
ihfft: fft.ihfft(x)
ihfftn: fft.ihfftn(C)
irfft2: fft.irfft2(A)
irfft: fft.irfft(z, 7)
irfftn: fft.irfftn(A + 1j)
next_fast_len: fft.rfft(x, fft.next_fast_len(2 * len(x) - 1, True))
prev_fast_len: x * fft.prev_fast_len(x.shape[0] + 5)
rfft2: fft.rfft2(A)
rfft: fft.rfft(x, axis=0)
rfftfreq: fft.rfftfreq(len(x), s)
rfftn: fft.rfftn(C)
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
directed_hausdorff: distance.directed_hausdorff(A, S)
euclidean: distance.euclidean(x, y)
hamming: distance.hamming(i, j)
jaccard: distance.jaccard(b, m)
jensenshannon: distance.jensenshannon(x, y)
mahalanobis: distance.mahalanobis(v, w, S)
minkowski: distance.minkowski(x, y, 3, p)
num_obs_dm: x * distance.num_obs_dm(S)
num_obs_y: x * distance.num_obs_y(x)
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
    "scipy_fft": ("scipy.fft", FOURIER),
    "scipy_linalg": ("scipy.linalg", LINALG),
    "scipy_integrate": ("scipy.integrate", INTEGRATE),
    "scipy_interpolate": ("scipy.interpolate", INTERPOLATE),
    "scipy_optimize": ("scipy.optimize", OPTIMIZE),
    "scipy_ndimage": ("scipy.ndimage", NDIMAGE),
    "scipy_signal": ("scipy.signal", SIGNAL),
    "scipy_distance": ("scipy.spatial.distance", DISTANCE),
    "scipy_spatial": ("scipy.spatial", SPATIAL),
    "scipy_transform": ("scipy.spatial.transform", TRANSFORM),
}
"""The title of each page, and its calls. Names that are refused are in the table ``ADVICE`` of `numbagraph`."""
