"""A usual call of each of NumPy's functions, as their docstrings have them, on the arrays of `arguments.py`."""

REMOVED = ("row_stack",)
"""Names that NumPy has no more from release 2.5 on: the pages tell of them."""

EXCLUDED = {
    "files and text": (
        "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific "
        "fromfile fromregex fromstring genfromtxt get_printoptions info load loadtxt printoptions save savetxt savez "
        "savez_compressed set_printoptions show_config show_runtime test typename get_include mintypecode"
    ),
    "error handling and buffers": (
        "errstate frombuffer getbufsize geterr geterrcall setbufsize seterr seterrcall from_dlpack nested_iters"
    ),
    "dates": "busday_count busday_offset datetime_as_string datetime_data is_busday isnat",
    "objects and matrices": "asmatrix bmat frompyfunc iterable min_scalar_type",
    "memory": "may_share_memory shares_memory require isfortran",
}
"""What computes no numbers: names that are not counted."""

CALLS = """
all: np.all(A > 0, axis=1)
allclose: np.allclose(x, x + 1e-12)
amax: np.amax(A, axis=0)
amin: np.amin(A, axis=0)
angle: np.angle(z)
any: np.any(A > 0, axis=1)
append: np.append(x, [1.0, 2.0])
apply_along_axis: np.apply_along_axis(lambda row: row.sum() / row[0], 1, A)
apply_over_axes: np.apply_over_axes(np.sum, A, [0, 1])
arange: np.arange(6) * x
argmax: np.argmax(A, axis=1)
argmin: np.argmin(A, axis=1)
argpartition: x[np.argpartition(x, 3)[:3]].max()
argsort: np.argsort(x)
argwhere: np.argwhere(A > 0.5)
around: np.around(x, 2)
array: np.array(x)
array_equal: np.array_equal(x, y)
array_equiv: np.array_equiv(A, A[0])
array_split: np.array_split(x, 4)
asanyarray: np.asanyarray(x)
asarray: np.asarray(x)
asarray_chkfinite: np.asarray_chkfinite(x)
ascontiguousarray: np.ascontiguousarray(x)
asfortranarray: np.asfortranarray(A) + 1
astype: np.astype(x, np.float32)
atleast_1d: np.atleast_1d(s)
atleast_2d: np.atleast_2d(x)
atleast_3d: np.atleast_3d(x)
average: np.average(x, weights=y)
bartlett: np.bartlett(6) * x
bincount: np.bincount(i, weights=x)
blackman: np.blackman(6) * x
block: np.block([[S, np.zeros((3, 1))], [np.ones((1, 3)), 2.0]])
broadcast_arrays: np.broadcast_arrays(x, s)
broadcast_shapes: x + np.zeros(np.broadcast_shapes((6,), (1,)))
broadcast_to: np.broadcast_to(x, (3, 6))
can_cast: x.astype(np.float32) if np.can_cast(x.dtype, np.float32, "same_kind") else x
choose: np.choose(i % 2, [x, y])
clip: np.clip(x, 0.2, 0.5)
column_stack: np.column_stack((x, y))
common_type: np.astype(x, np.common_type(x, z))
compress: np.compress([True, False, True], A, axis=0)
concat: np.concat([x, y])
concatenate: np.concatenate([x, y])
convolve: np.convolve(x, y, "same")
copy: np.copy(x)
copyto: np.copyto(B, 2.0)
corrcoef: np.corrcoef(A)
correlate: np.correlate(x, y, "full")
count_nonzero: np.count_nonzero(A > 0.5, axis=0)
cov: np.cov(A)
cross: np.cross(v, w)
cumprod: np.cumprod(x)
cumsum: np.cumsum(A, axis=1)
cumulative_prod: np.cumulative_prod(x)
cumulative_sum: np.cumulative_sum(x, include_initial=True)
delete: np.delete(A, 1, axis=0)
diag: np.diag(x)
diag_indices: S[np.diag_indices(3)]
diag_indices_from: S[np.diag_indices_from(S)]
diagflat: np.diagflat(S)
diagonal: np.diagonal(S)
diff: np.diff(x)
digitize: np.digitize(x, np.array([0.2, 0.4, 0.6]))
dot: np.dot(A, v)
dsplit: np.dsplit(C, 2)
dstack: np.dstack((x, y))
ediff1d: np.ediff1d(x, to_begin=0.0)
einsum: np.einsum("ij,kj->ik", A, A)
einsum_path: np.einsum(A, [0, 1], v, [1], optimize=np.einsum_path("ij,j->i", A, v)[0])
empty: np.empty(6).shape[0] * x
empty_like: np.empty_like(x).shape[0] * x
expand_dims: np.expand_dims(x, 0)
extract: np.extract(x > 0.5, x)
eye: np.eye(3) + S
fill_diagonal: np.fill_diagonal(B, 0.0)
fix: np.fix(3 * x)
flatnonzero: np.flatnonzero(x > 0.5)
flip: np.flip(x)
fliplr: np.fliplr(A)
flipud: np.flipud(A)
fromfunction: np.fromfunction(lambda r, c: r + c, (3, 3)) + S
fromiter: np.fromiter((k * k for k in range(6)), float) * x
full: np.full(6, s)
full_like: np.full_like(x, 2.0)
geomspace: np.geomspace(1.0, 1000.0 * s, num=4)
gradient: np.gradient(x)
hamming: np.hamming(6) * x
hanning: np.hanning(6) * x
histogram: np.histogram(x, bins=4)
histogram2d: np.histogram2d(x, y, bins=3)
histogram_bin_edges: np.histogram_bin_edges(x, bins=4)
histogramdd: np.histogramdd(A, bins=(2, 3, 2))
hsplit: np.hsplit(x, 2)
hstack: np.hstack((x, y))
i0: np.i0(x)
identity: np.identity(3) + S
imag: np.imag(z)
indices: np.indices((3, 3))[0] + S
inner: np.inner(x, y)
insert: np.insert(x, 1, 5.0)
interp: np.interp(x, [0.0, 0.5, 1.0], [1.0, 3.0, 2.0])
intersect1d: np.intersect1d(i, j)
isclose: np.isclose(x, y)
iscomplex: np.iscomplex(z)
iscomplexobj: x * 2 if np.iscomplexobj(x) else x
isdtype: x if np.isdtype(x.dtype, "real floating") else -x
isin: np.isin(i, [1, 3])
isneginf: np.isneginf(x)
isposinf: np.isposinf(x)
isreal: np.isreal(z)
isrealobj: x if np.isrealobj(x) else x.real
isscalar: x if np.isscalar(x) else -x
issubdtype: x if np.issubdtype(x.dtype, np.floating) else -x
ix_: A[np.ix_([0, 2], [1, 2])]
kaiser: np.kaiser(6, 14) * x
kron: np.kron(S, v)
lexsort: np.lexsort((x, i))
linspace: np.linspace(0.0, s, 5)
logspace: np.logspace(0.0, s, 5)
mask_indices: S[np.mask_indices(3, np.triu)]
matrix_transpose: np.matrix_transpose(A)
max: np.max(A, axis=0)
mean: np.mean(A, axis=0)
median: np.median(A, axis=0)
meshgrid: np.meshgrid(x, y)
min: np.min(A, axis=0)
moveaxis: np.moveaxis(C, 0, -1)
nan_to_num: np.nan_to_num(n)
nanargmax: np.nanargmax(n)
nanargmin: np.nanargmin(n)
nancumprod: np.nancumprod(n)
nancumsum: np.nancumsum(n)
nanmax: np.nanmax(n)
nanmean: np.nanmean(n)
nanmedian: np.nanmedian(n)
nanmin: np.nanmin(n)
nanpercentile: np.nanpercentile(n, 50)
nanprod: np.nanprod(n)
nanquantile: np.nanquantile(n, 0.25)
nanstd: np.nanstd(n)
nansum: np.nansum(n)
nanvar: np.nanvar(n)
ndim: x * np.ndim(A)
nonzero: np.nonzero(A > 0.5)
ones: np.ones(6) * x
ones_like: np.ones_like(x)
outer: np.outer(x, y)
packbits: np.packbits(b)
pad: np.pad(x, (2, 3), "edge")
partition: np.partition(x, 2)[:3].max()
percentile: np.percentile(A, 50, axis=0)
permute_dims: np.permute_dims(C, (2, 0, 1))
piecewise: np.piecewise(x, [x < 0.5, x >= 0.5], [lambda t: -t, lambda t: t])
place: np.place(B, B > 0.5, [0.0, 1.0])
poly: np.poly(x)
polyadd: np.polyadd(v, x)
polyder: np.polyder(x)
polydiv: np.polydiv(x, v)
polyfit: np.polyfit(x, y, 2)
polyint: np.polyint(x)
polymul: np.polymul(v, x)
polysub: np.polysub(v, x)
polyval: np.polyval(v, x)
prod: np.prod(x)
promote_types: x.astype(np.promote_types(x.dtype, np.float32))
ptp: np.ptp(A, axis=0)
put: np.put(B, [0, 2], [-44.0, -55.0])
put_along_axis: np.put_along_axis(B, np.argmax(B, axis=1, keepdims=True), 99.0, axis=1)
putmask: np.putmask(B, B > 0.5, 0.0)
quantile: np.quantile(A, 0.25, axis=0)
ravel: np.ravel(A)
ravel_multi_index: np.ravel_multi_index((i, j), (7, 6))
real: np.real(z)
real_if_close: np.real_if_close(x)
repeat: np.repeat(x, 3)
reshape: np.reshape(A, (3, 4), order="F")
resize: np.resize(x, (2, 4))
result_type: x.astype(np.result_type(x, np.float32))
roll: np.roll(x, 2)
rollaxis: np.rollaxis(C, 2)
roots: np.prod(np.roots(x))
rot90: np.rot90(A)
round: np.round(x, 2)
row_stack: np.row_stack((x, y))
searchsorted: np.searchsorted(np.array([0.2, 0.4, 0.6]), x)
select: np.select([x < 0.3, x > 0.6], [x, x**2], 42.0)
setdiff1d: np.setdiff1d(i, j)
setxor1d: np.setxor1d(i, j)
shape: x * np.shape(A)[1]
sinc: np.sinc(x)
size: x * np.size(A)
sort: np.sort(x)
sort_complex: np.sort_complex(z)
split: np.split(x, 3)
squeeze: np.squeeze(x[None])
stack: np.stack((x, y), axis=-1)
std: np.std(A, axis=0)
sum: np.sum(A, axis=0)
swapaxes: np.swapaxes(A, 0, 1)
take: np.take(x, [4, 3, 1])
take_along_axis: np.take_along_axis(A, np.argsort(A, axis=1), axis=1)
tensordot: np.tensordot(C, A, axes=([1], [1]))
tile: np.tile(x, (2, 2))
trace: np.trace(S)
transpose: np.transpose(A)
trapezoid: np.trapezoid(y, x=x)
tri: np.tri(3) * S
tril: np.tril(S)
tril_indices: S[np.tril_indices(3)]
tril_indices_from: S[np.tril_indices_from(S)]
trim_zeros: np.trim_zeros(np.concatenate([[0.0, 0.0], x, [0.0]]))
triu: np.triu(S)
triu_indices: S[np.triu_indices(3, 1)]
triu_indices_from: S[np.triu_indices_from(S)]
union1d: np.union1d(i, j)
unique: np.unique(i)
unique_all: np.unique_all(i)
unique_counts: np.unique_counts(i)
unique_inverse: np.unique_inverse(i)
unique_values: np.sort(np.unique_values(i))
unpackbits: np.unpackbits(u)
unravel_index: np.unravel_index(i, (7, 6))
unstack: np.unstack(A)
unwrap: np.unwrap(20 * x)
vander: np.vander(x, 3)
var: np.var(A, axis=0)
vdot: np.vdot(x, y)
vsplit: np.vsplit(A, 2)
vstack: np.vstack((x, y))
where: np.where(x < 0.5, x, 10 * x)
zeros: np.zeros(6) + x
zeros_like: np.zeros_like(x) + y
"""

FURTHER = """
lib.stride_tricks.sliding_window_view: np.lib.stride_tricks.sliding_window_view(x, 3)
vectorize: np.vectorize(lambda p, q: p * q + 1)(x, y)
polynomial.polynomial.polyval: np.polynomial.polynomial.polyval(x, [1.0, -3.0, 2.0])
polynomial.chebyshev.chebval: np.polynomial.chebyshev.chebval(x, [1.0, -3.0, 2.0])
polynomial.legendre.legval: np.polynomial.legendre.legval(x, [1.0, -3.0, 2.0])
polynomial.hermite.hermval: np.polynomial.hermite.hermval(x, [1.0, -3.0, 2.0])
polynomial.hermite_e.hermeval: np.polynomial.hermite_e.hermeval(x, [1.0, -3.0, 2.0])
polynomial.laguerre.lagval: np.polynomial.laguerre.lagval(x, [1.0, -3.0, 2.0])
"""
"""What stands in modules of their own, and is used as much."""

LINALG = """
cholesky: np.linalg.cholesky(S)
cond: np.linalg.cond(S)
cross: np.linalg.cross(v, w)
det: np.linalg.det(S)
diagonal: np.linalg.diagonal(S)
eig: np.linalg.eig(S + 1j)[0].sum()
eigh: np.linalg.eigh(S)[0]
eigvals: np.linalg.eigvals(S + 1j).sum()
eigvalsh: np.linalg.eigvalsh(S)
inv: np.linalg.inv(S)
lstsq: np.linalg.lstsq(A, A[:, 0])[0]
matmul: np.linalg.matmul(A, S)
matrix_norm: np.linalg.matrix_norm(A)
matrix_power: np.linalg.matrix_power(S, 3)
matrix_rank: np.linalg.matrix_rank(A)
matrix_transpose: np.linalg.matrix_transpose(A)
multi_dot: np.linalg.multi_dot([A, S, v])
norm: np.linalg.norm(x)
outer: np.linalg.outer(x, y)
pinv: np.linalg.pinv(A)
qr: np.abs(np.linalg.qr(A)[1])
slogdet: np.linalg.slogdet(S)
solve: np.linalg.solve(S, v)
svd: np.linalg.svd(A)[1]
svdvals: np.linalg.svdvals(A)
tensordot: np.linalg.tensordot(A, S, axes=1)
tensorinv: np.linalg.tensorinv(S + 0.0, ind=1)
tensorsolve: np.linalg.tensorsolve(S, v)
trace: np.linalg.trace(S)
vecdot: np.linalg.vecdot(x, y)
vector_norm: np.linalg.vector_norm(A, axis=1)
"""

FFT = """
fft: np.fft.fft(x)
fft2: np.fft.fft2(A)
fftfreq: np.fft.fftfreq(6, 0.1) * x
fftn: np.fft.fftn(C)
fftshift: np.fft.fftshift(x)
hfft: np.fft.hfft(z)
ifft: np.fft.ifft(z)
ifft2: np.fft.ifft2(A)
ifftn: np.fft.ifftn(C)
ifftshift: np.fft.ifftshift(x)
ihfft: np.fft.ihfft(x)
irfft: np.fft.irfft(z)
irfft2: np.fft.irfft2(A)
irfftn: np.fft.irfftn(C)
rfft: np.fft.rfft(x)
rfft2: np.fft.rfft2(A)
rfftfreq: np.fft.rfftfreq(10, 0.1) * x
rfftn: np.fft.rfftn(C)
"""
