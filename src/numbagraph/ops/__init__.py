"""The declarations of all ops. Importing this package fills the registry."""

from numbagraph.ir.op import registry
from numbagraph.ops import (
    arithmetic,
    bessel,
    checking,
    comparison,
    contraction,
    control,
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
    through,
    trigonometric,
)

DEFERRED = {
    "array_standard": "astype",
    "bessel_functions": (
        "airy airye bei beip ber berp besselpoly jve k0 k0e k1 k1e kei keip ker kerp kn kv log_wright_bessel "
        "modstruve struve wright_bessel y0 y1 yn yv yve"
    ),
    "calculus": ("cross cumulative_prod cumulative_sum ediff1d gradient interp trapezoid unwrap vector_cross"),
    "ciphers": "threefry2x32 unit_interval",
    "closeness": (
        "allclose array_equal array_equiv asarray_chkfinite isclose iscomplex isneginf isposinf isreal real_if_close"
    ),
    "combinatorial": "factorial multigammaln perm",
    "compaction": "true_positions",
    "convolution": "convolve",
    "covariance": "corrcoef correlate cov",
    "distribution_functions": (
        "bdtr bdtrc bdtri bdtrik bdtrin betaincc betainccinv btdtria btdtrib chdtr chdtrc chdtri chdtriv chndtr "
        "chndtridf chndtrinc chndtrix fdtr fdtrc fdtri fdtridfd gdtr gdtrc gdtria gdtrib gdtrix nbdtr nbdtrc nbdtri "
        "nbdtrik nbdtrin ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit "
        "ndtri_exp nrdtrimn nrdtrisd pdtr pdtrc pdtri pdtrik smirnov smirnovi stdtr stdtridf stdtrit"
    ),
    "editing": "block delete diagflat insert resize rot90 trim_zeros",
    "elementary_functions": (
        "beta betaln binom boxcox boxcox1p cosdg cosm1 cotdg exp10 exprel gammasgn inv_boxcox inv_boxcox1p poch "
        "powm1 pseudo_huber radian rgamma sindg special.cbrt special.exp2 special.expm1 special.log1p special.round "
        "tandg tklmbda voigt_profile wrightomega zetac"
    ),
    "elliptic": "agm ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 elliprc elliprd elliprf elliprg elliprj",
    "fourier": (
        "fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft "
        "fft.fftfreq fft.rfftfreq fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn "
        "fourier_columns fourier_rows "
        "half_fourier_columns half_fourier_rows inverse_half_fourier_columns inverse_half_fourier_rows"
    ),
    "histograms": "bincount digitize histogram histogram2d histogram_bin_edges histogramdd",
    "hypergeometric": (
        "eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite "
        "eval_hermitenorm eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt eval_sh_chebyu eval_sh_jacobi "
        "eval_sh_legendre hyp0f1 hyp1f1 hyp2f1 hyperu lpmv"
    ),
    "integral_functions": (
        "dawsn erfi exp1 expi expn fresnel it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0 itmodstruve0 itstruve0 "
        "kolmogi kolmogorov shichi sici spence"
    ),
    "order_statistics": "order_statistics parted parted_positions",
    "padding": "pad",
    "partitions": "argpartition lexsort partition sort_complex",
    "polynomials": (
        "chebval hermeval hermval lagval legval polyadd polyder polyfit polyint polymul polynomial_value polysub "
        "polyval vander"
    ),
    "positions": (
        "diag_indices diag_indices_from ravel_multi_index tril_indices tril_indices_from triu_indices "
        "triu_indices_from unravel_index"
    ),
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
        "draws.binomial draws.hypergeometric"
    ),
    "random_rows": (
        "draws.orders draws.multinomial draws.multivariate_hypergeometric_count "
        "draws.multivariate_hypergeometric_marginals"
    ),
    "sampled": "sampled_log_gamma",
    "sets": ("intersect1d isin setdiff1d setxor1d union1d unique_all unique_counts unique_inverse unique_values"),
    "sparse": (
        "sparse_distinct sparse_looked_up sparse_product sparse_product_columns sparse_rows sparse_sampled_product "
        "sparse_sampled_product_columns sparse_solve_triangular sparse_transposed_product "
        "sparse_transposed_product_columns sparse_transposition"
    ),
    "tensors": "geomspace logspace tensorinv tensorsolve",
    "wave_functions": (
        "mathieu_a mathieu_b mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 "
        "mathieu_sem obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pbdv pbvv pbwa pro_ang1 "
        "pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv"
    ),
    "windows": "choose nanargmax nanargmin packbits sliding_window_view unpackbits",
}
"""Functions by the module that is imported when one of them is called: those of NumPy that are composed of others, and
most of `scipy.special`'s."""

for _module, _names in DEFERRED.items():
    registry.defer(f"{__name__}.{_module}", _names.split())

__all__ = [
    "arithmetic",
    "bessel",
    "checking",
    "comparison",
    "contraction",
    "control",
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
    "through",
    "trigonometric",
]
