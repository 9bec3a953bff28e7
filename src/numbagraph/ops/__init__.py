"""The declarations of all ops. Importing this package fills the registry."""

from numbagraph.ir.op import registry
from numbagraph.ops import (
    arithmetic,
    bessel,
    checking,
    comparison,
    contraction,
    control,
    convolution,
    creation,
    diagonals,
    exponential,
    floating,
    gathering,
    identity,
    incomplete,
    indexing,
    integers,
    joining,
    linalg,
    masks,
    nan_statistics,
    norms,
    product,
    ranges,
    reduction,
    rounding,
    running,
    selecting,
    selection,
    shape,
    slicing,
    sorting,
    special,
    special_reductions,
    statistics,
    trigonometric,
)

DEFERRED = {
    "calculus": ("cross cumulative_prod cumulative_sum ediff1d gradient interp trapezoid unwrap vector_cross"),
    "closeness": "allclose array_equal array_equiv isclose iscomplex isneginf isposinf isreal real_if_close",
    "covariance": "corrcoef correlate cov",
    "editing": "block delete diagflat insert resize rot90 trim_zeros",
    "fourier": (
        "fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft "
        "fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn fourier_columns fourier_rows "
        "half_fourier_columns half_fourier_rows inverse_half_fourier_columns inverse_half_fourier_rows"
    ),
    "histograms": "bincount digitize histogram histogram2d histogram_bin_edges histogramdd",
    "partitions": "argpartition lexsort partition sort_complex",
    "polynomials": (
        "chebval hermeval hermval lagval legval polyadd polyder polyfit polyint polymul polynomial_value polysub "
        "polyval vander"
    ),
    "positions": "diag_indices_from ravel_multi_index tril_indices_from triu_indices_from unravel_index",
    "quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "random": (
        "draws.integers_bool draws.integers_int16 draws.integers_int32 draws.integers_int64 draws.integers_int8 "
        "draws.integers_uint16 draws.integers_uint32 draws.integers_uint64 draws.integers_uint8 "
        "draws.random draws.random_f draws.standard_normal draws.standard_normal_f draws.standard_exponential "
        "draws.standard_exponential_f draws.standard_exponential_inv draws.standard_exponential_inv_f "
        "draws.standard_cauchy draws.standard_gamma draws.standard_gamma_f draws.standard_t draws.beta "
        "draws.chisquare draws.noncentral_chisquare draws.f draws.noncentral_f draws.pareto draws.weibull draws.power "
        "draws.laplace draws.gumbel draws.logistic draws.lognormal draws.rayleigh draws.wald draws.vonmises "
        "draws.triangular draws.poisson draws.negative_binomial draws.geometric draws.logseries draws.zipf "
        "draws.binomial draws.hypergeometric draws.order"
    ),
    "sets": ("intersect1d isin setdiff1d setxor1d union1d unique_all unique_counts unique_inverse unique_values"),
    "tensors": "logspace tensorinv tensorsolve",
    "windows": "choose nanargmax nanargmin packbits sliding_window_view unpackbits",
}
"""Functions of NumPy that are composed of others, by the module that is imported when one of them is called."""

for _module, _names in DEFERRED.items():
    registry.defer(f"{__name__}.{_module}", _names.split())

__all__ = [
    "arithmetic",
    "bessel",
    "checking",
    "comparison",
    "contraction",
    "control",
    "convolution",
    "creation",
    "diagonals",
    "exponential",
    "floating",
    "gathering",
    "identity",
    "incomplete",
    "indexing",
    "integers",
    "joining",
    "linalg",
    "masks",
    "nan_statistics",
    "norms",
    "product",
    "ranges",
    "reduction",
    "rounding",
    "running",
    "selecting",
    "selection",
    "shape",
    "slicing",
    "sorting",
    "special",
    "special_reductions",
    "statistics",
    "trigonometric",
]
