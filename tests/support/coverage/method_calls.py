"""A usual call of each method and attribute of arrays, and of each method of a Generator."""

NOT_NUMERIC = "base byteswap ctypes data dump dumps flags getfield setfield setflags strides tobytes tofile view"
"""What tells of memory, and what writes files: not counted."""

ARRAY = """
T: A.T
all: (A > 0).all(axis=0)
any: (A > 1).any(axis=0)
argmax: A.argmax(axis=1)
argmin: A.argmin(axis=1)
argpartition: x[x.argpartition(3)[:3]].max()
argsort: x.argsort()
astype: x.astype(np.float32)
choose: (i % 2).choose([x, y])
clip: x.clip(0.2, 0.5)
compress: A.compress([True, False, True], axis=0)
conj: z.conj()
conjugate: z.conjugate()
copy: x.copy()
cumprod: x.cumprod()
cumsum: x.cumsum()
device: x if x.device == "cpu" else -x
diagonal: S.diagonal()
dot: A.dot(v)
dtype: x.astype(x.dtype)
fill: B.fill(2.0)
flat: x[0] + A.flat[3]
flatten: A.flatten()
imag: z.imag
item: x.item(2) * 2
itemsize: x * x.itemsize
mT: A.mT
max: A.max(axis=0)
mean: A.mean(axis=0)
min: A.min(axis=0)
nbytes: x * x.nbytes
ndim: x * A.ndim
nonzero: (A > 0.5).nonzero()
partition: B.partition([0, 1, 2], axis=0)
prod: x.prod()
put: B.put([0, 2], [-44.0, -55.0])
ravel: A.ravel()
real: z.real
repeat: x.repeat(3)
reshape: A.reshape(3, 4)
resize: x.copy().resize(3, 2)
round: x.round(2)
searchsorted: t.searchsorted(x)
shape: x * A.shape[0]
size: x * A.size
sort: B.sort(axis=0)
squeeze: x[None].squeeze()
std: A.std(axis=0)
sum: A.sum(axis=0)
swapaxes: A.swapaxes(0, 1)
take: x.take([4, 3, 1])
to_device: x.to_device("cpu")
tolist: [each * 2 for each in v.tolist()]
trace: S.trace()
transpose: C.transpose(2, 0, 1)
var: A.var(axis=0)
"""

RANDOM = """
beta: g.beta(2.0, 3.0, 5) + s
binomial: g.binomial(10, 0.3, 5) + s
bytes: s + len(g.bytes(3))
chisquare: g.chisquare(3.0, 5) + s
choice: g.choice(x, 3)
dirichlet: g.dirichlet([1.0, 3.0, 2.0], 4) + s
exponential: g.exponential(2.0, 5) + s
f: g.f(3.0, 4.0, 5) + s
gamma: g.gamma(2.0, 3.0, 5) + s
geometric: g.geometric(0.3, 5) + s
gumbel: g.gumbel(0.0, 1.0, 5) + s
hypergeometric: g.hypergeometric(10, 5, 4, 5) + s
integers: g.integers(0, 10, 5) + s
laplace: g.laplace(0.0, 1.0, 5) + s
logistic: g.logistic(0.0, 1.0, 5) + s
lognormal: g.lognormal(0.0, 1.0, 5) + s
logseries: g.logseries(0.6, 5) + s
multinomial: g.multinomial(20, [0.2, 0.3, 0.5]) + s
multivariate_hypergeometric: g.multivariate_hypergeometric([4, 5, 6], 7) + s
multivariate_normal: g.multivariate_normal(np.zeros(3), np.eye(3), 2) + s
negative_binomial: g.negative_binomial(3, 0.4, 5) + s
noncentral_chisquare: g.noncentral_chisquare(3.0, 1.0, 5) + s
noncentral_f: g.noncentral_f(3.0, 4.0, 1.0, 5) + s
normal: g.normal(s, 1.0, 5)
pareto: g.pareto(3.0, 5) + s
permutation: g.permutation(x)
permuted: g.permuted(A, axis=1)
poisson: g.poisson(4.0, 5) + s
power: g.power(3.0, 5) + s
random: g.random(5) + s
rayleigh: g.rayleigh(2.0, 5) + s
shuffle: g.shuffle(B)
standard_cauchy: g.standard_cauchy(5) + s
standard_exponential: g.standard_exponential(5) + s
standard_gamma: g.standard_gamma(2.0, 5) + s
standard_normal: g.standard_normal(5) + s
standard_t: g.standard_t(4.0, 5) + s
triangular: g.triangular(0.0, 1.0, 2.0, 5) + s
uniform: g.uniform(0.0, s, 5)
vonmises: g.vonmises(0.0, 1.0, 5) + s
wald: g.wald(1.0, 2.0, 5) + s
weibull: g.weibull(2.0, 5) + s
zipf: g.zipf(2.5, 5) + s
"""
