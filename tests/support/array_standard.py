"""What the Python array API standard (2024.12) has, and a call of each of its functions."""

NAMES = """
e inf nan newaxis pi bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
__array_api_version__ __array_namespace_info__
can_cast finfo iinfo isdtype result_type astype
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
zeros_like abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder
round sign signbit sin sinh square sqrt subtract tan tanh trunc
take take_along_axis matmul matrix_transpose tensordot vecdot
broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze
stack tile unstack
argmax argmin count_nonzero nonzero searchsorted where unique_all unique_counts unique_inverse unique_values
argsort sort cumulative_prod cumulative_sum max mean min prod std sum var all any diff linalg fft
""".split()

LINALG = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr
slogdet solve svd svdvals tensordot trace vecdot vector_norm
""".split()

FFT = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift".split()

CALLS = """
xp.abs(x)
xp.acos(x)
xp.acosh(x+1)
xp.add(x,y)
xp.all(b,axis=1,keepdims=True)
xp.any(b,axis=0)
xp.arange(1,7,2,dtype=xp.float32,device=None)
xp.argmax(x,axis=1,keepdims=True)
xp.argmin(x,axis=0)
xp.argsort(x,axis=0,stable=True)
xp.asarray(x,dtype=xp.float32,copy=True)
xp.asin(x)
xp.asinh(x)
xp.astype(x,xp.int32,copy=False)
xp.atan(x)
xp.atan2(x,y)
xp.atanh(x)
xp.bitwise_and(i,j)
xp.bitwise_invert(i)
xp.bitwise_left_shift(i,j)
xp.bitwise_or(i,j)
xp.bitwise_right_shift(i,j)
xp.bitwise_xor(i,j)
xp.broadcast_arrays(x,v)
x*xp.broadcast_shapes((3,1),(4,))[1]
xp.broadcast_to(v,(3,4))
x*xp.can_cast(x.dtype,xp.float32)
xp.ceil(x)
xp.clip(x,min=.2,max=.5)
xp.concat([x,y],axis=1)
xp.conj(z)
xp.copysign(x,y)
xp.cos(x)
xp.cosh(x)
xp.count_nonzero(b,axis=1,keepdims=True)
xp.cumulative_prod(x,axis=1,include_initial=True)
xp.cumulative_sum(x,axis=1,dtype=xp.float32,include_initial=True)
xp.diff(x,axis=0,n=2,prepend=x[:1],append=y[:1])
xp.divide(x,y)
xp.empty((3,),dtype=xp.float32,device=None)*0
xp.empty_like(x,dtype=xp.float32,device=None)*0
xp.equal(i,j)
xp.exp(x)
xp.expand_dims(x,axis=1)
xp.expm1(x)
xp.eye(3,4,k=1,dtype=xp.float32,device=None)
x*xp.finfo(x.dtype).eps
xp.flip(x,axis=(0,1))
xp.floor(x)
xp.floor_divide(i,j)
xp.full((2,3),4.5,dtype=xp.float32,device=None)
xp.full_like(x,3,dtype=xp.int8,device=None)
xp.greater(x,y)
xp.greater_equal(x,y)
xp.hypot(x,y)
i*xp.iinfo(i.dtype).bits
xp.imag(z)
x*xp.isdtype(x.dtype,("real floating",xp.int8))
xp.isfinite(x)
xp.isinf(x)
xp.isnan(x)
xp.less(x,y)
xp.less_equal(x,y)
xp.linspace(0,1,5,dtype=xp.float32,endpoint=False,device=None)
xp.log(x)
xp.log10(x)
xp.log1p(x)
xp.log2(x)
xp.logaddexp(x,y)
xp.logical_and(b,b)
xp.logical_not(b)
xp.logical_or(b,b)
xp.logical_xor(b,b)
xp.matmul(x,y.T)
xp.matrix_transpose(x)
xp.max(x,axis=(0,1),keepdims=True)
xp.maximum(x,y)
xp.mean(x,axis=0,keepdims=True)
xp.meshgrid(v,v[:2],indexing="ij")
xp.min(x,axis=1)
xp.minimum(x,y)
xp.moveaxis(x,0,1)
xp.multiply(x,y)
xp.negative(x)
xp.nextafter(x,y)
xp.not_equal(i,j)
xp.ones((2,),dtype=xp.int8,device=None)
xp.ones_like(x,dtype=xp.int8,device=None)
xp.permute_dims(x,(1,0))
xp.positive(x)
xp.pow(x,y)
xp.prod(i,axis=1,dtype=xp.int32,keepdims=True)
xp.real(z)
xp.reciprocal(x)
xp.remainder(x,y)
xp.repeat(x,2,axis=1)
xp.reshape(x,(4,3),copy=True)
x.astype(xp.result_type(xp.float32,x))
xp.roll(x,(1,2),axis=(0,1))
xp.round(x)
xp.searchsorted(v,x[1],side="right",sorter=i[0]-1)
xp.sign(x)
xp.signbit(x)
xp.sin(x)
xp.sinh(x)
xp.sort(x,axis=0,stable=False)
xp.sqrt(x)
xp.square(x)
xp.squeeze(x[:1],axis=0)
xp.stack([x,y],axis=-1)
xp.std(x,axis=0,correction=1.0,keepdims=True)
xp.subtract(x,y)
xp.sum(x,axis=0,dtype=xp.float32,keepdims=True)
xp.take(x,i[0,:2],axis=1)
xp.tan(x)
xp.tanh(x)
xp.tensordot(x,y,axes=((1,),(1,)))
xp.tile(x,(2,1,1))
xp.tril(x,k=1)
xp.triu(x,k=-1)
xp.trunc(x)
xp.var(x,correction=1)
xp.vecdot(x,y,axis=0)
xp.where(b,x,y)
xp.zeros((2,3),dtype=xp.bool,device=None)
xp.zeros_like(x,dtype=xp.complex64,device=None)
xp.linalg.cholesky(S,upper=True)
xp.linalg.cross(x[:,:3],y[:,:3],axis=-1)
xp.linalg.det(S)
xp.linalg.diagonal(x,offset=1)
xp.linalg.eigh(S)[0]
xp.linalg.eigvalsh(S)
xp.linalg.inv(S)
xp.linalg.matmul(x,y.T)
xp.linalg.matrix_norm(x,keepdims=True,ord="nuc")
xp.linalg.matrix_power(S,3)
xp.linalg.matrix_rank(S,rtol=.1)
xp.linalg.matrix_transpose(x)
xp.linalg.outer(v,v)
xp.linalg.pinv(S,rtol=1e-9)
xp.linalg.qr(x,mode="reduced").R
xp.linalg.slogdet(S).logabsdet
xp.linalg.solve(S,x)
xp.linalg.svd(x,full_matrices=False).S
xp.linalg.svdvals(x)
xp.linalg.tensordot(x,y.T,axes=1)
xp.linalg.trace(S,offset=1,dtype=xp.float32)
xp.linalg.vecdot(x,y,axis=-1)
xp.linalg.vector_norm(x,axis=(0,1),keepdims=True,ord=3)
xp.fft.fft(z,n=6,axis=0,norm="ortho")
xp.fft.ifft(z)
xp.fft.fftn(z,s=(2,3),axes=(0,1))
xp.fft.ifftn(z)
xp.fft.rfft(x)
xp.fft.irfft(z,n=7)
xp.fft.rfftn(x)
xp.fft.irfftn(z)
xp.fft.hfft(z)
xp.fft.ihfft(x)
xp.fft.fftfreq(5,d=2.0,device=None)
xp.fft.rfftfreq(5,d=2.0)
xp.fft.fftshift(x,axes=(0,))
xp.fft.ifftshift(x)
x.to_device("cpu")
x if x.device=="cpu" else -x
x.mT
x.T
x*x.size
x[xp.newaxis]
x[...,-1]
x*len(xp.__array_namespace_info__().dtypes(kind="integral"))
x.astype(xp.__array_namespace_info__().default_dtypes()["integral"])
x if xp.__array_api_version__>="2024.12" else y
xp.unique_counts(i).counts
xp.unique_inverse(i).inverse_indices
xp.unique_all(i).values
xp.nonzero(b)
xp.unstack(xp.ones((2, 3)), axis=1)
xp.take_along_axis(x, i % 3, axis=0)
xp.clip(x, None, y)
xp.concat((x, y), axis=None)
xp.repeat(x, i[:, 0], axis=0)
xp.asarray(x, dtype=xp.result_type(x, i, xp.int8, 1.0))
x * xp.can_cast(x, xp.float32)
x.__array_namespace__(api_version="2024.12").sin(x)
x * xp.pi + xp.e
xp.isin(i, j)
xp.sort(xp.unique_values(i))
""".strip().splitlines()
"""Of real matrices x, y, integers i, j, truth values b, complex numbers z, a vector v and a positive definite matrix S,
with the names of keywords that the standard has."""
