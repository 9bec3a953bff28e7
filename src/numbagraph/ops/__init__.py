"""The declarations of all ops. Importing this package fills the registry."""

from numbagraph.ir.op import registry
from numbagraph.ops import (
    arithmetic,
    checking,
    comparison,
    creation,
    exponential,
    gathering,
    identity,
    indexing,
    integers,
    joining,
    masks,
    product,
    reduction,
    rounding,
    selection,
    shape,
    slicing,
    special_reductions,
    through,
)

DEFERRED = {
    "array_standard": "astype",
    "bessel": "i0 i1 i0e i1e j0 j1 jv iv ive kve kve_derivative",
    "bessel_functions": (
        "airy airye bei beip ber berp besselpoly jve k0 k0e k1 k1e kei keip ker kerp kn kv log_wright_bessel "
        "modstruve struve wright_bessel y0 y1 yn yv yve"
    ),
    "calculus": "cross cumulative_prod cumulative_sum ediff1d gradient interp trapezoid unwrap vector_cross",
    "ciphers": "threefry2x32 unit_interval",
    "closeness": (
        "allclose array_equal array_equiv asarray_chkfinite isclose iscomplex isneginf isposinf isreal real_if_close"
    ),
    "combinatorial": "factorial multigammaln perm",
    "compaction": "true_positions",
    "contraction": "einsum tensordot dot inner vdot outer",
    "control.scan": "scan",
    "control.switch": "switch",
    "control.while_loop": "while_loop",
    "control.while_pullback": "while_pullback",
    "convolution": "convolve",
    "covariance": "corrcoef correlate cov",
    "densities": (
        "gamma_weight beta_weight per_gamma_density per_gamma_density_bend per_beta_density per_beta_density_bend"
    ),
    "diagonals": "main_diagonal diagonal diag tril triu",
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
    "floating": "copysign nextafter spacing heaviside ldexp frexp_mantissa frexp_exponent frexp",
    "fourier": (
        "fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft "
        "fft.fftfreq fft.rfftfreq fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn fourier_columns "
        "fourier_rows half_fourier_columns half_fourier_rows inverse_half_fourier_columns inverse_half_fourier_rows"
    ),
    "histograms": "bincount digitize histogram histogram2d histogram_bin_edges histogramdd",
    "hypergeometric": (
        "eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite "
        "eval_hermitenorm eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt eval_sh_chebyu eval_sh_jacobi "
        "eval_sh_legendre hyp0f1 hyp1f1 hyp2f1 hyperu lpmv"
    ),
    "incomplete": (
        "gammainc_by_a betainc_by_a betainc_by_b gammainc gammaincc betainc gammaincinv gammainccinv betaincinv"
    ),
    "integral_functions": (
        "dawsn erfi exp1 expi expn fresnel it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0 itmodstruve0 itstruve0 "
        "kolmogi kolmogorov shichi sici spence"
    ),
    "linalg.banded": "solve_banded solveh_banded",
    "linalg.determinants": "determinant_of det slogdet",
    "linalg.equations": "solve_sylvester solve_continuous_lyapunov solve_discrete_lyapunov",
    "linalg.factorisations": "cholesky cholesky_pullback square_lu",
    "linalg.functions": (
        "pinv_of pinv matrix_rank condition_number matrix_power multi_dot kron block_diag toeplitz matrix_diagonal "
        "matrix_trace matrix_norm vector_norm"
    ),
    "linalg.general": "lu_factor lu_solve factor_of lu eig eigvals expm_frechet expm",
    "linalg.least_squares": "lstsq_of lstsq",
    "linalg.permutations": "permutation_of",
    "linalg.solutions": "solve_triangular solve_factored solve inv cho_solve solve_tridiagonal",
    "linalg.spectra": "eigh eigvalsh qr svd svdvals",
    "nan_statistics": "nansum nanprod nancumsum nancumprod nanmax nanmin nanmean nanvar nanstd",
    "norms": "trace norm",
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
        "draws.integers_uint16 draws.integers_uint32 draws.integers_uint64 draws.integers_uint8 draws.random "
        "draws.random_f draws.standard_normal draws.standard_normal_f draws.standard_exponential "
        "draws.standard_exponential_f draws.standard_exponential_inv draws.standard_exponential_inv_f "
        "draws.standard_cauchy draws.standard_gamma draws.standard_gamma_f draws.standard_t draws.beta "
        "draws.chisquare draws.noncentral_chisquare draws.f draws.noncentral_f draws.pareto draws.weibull "
        "draws.power draws.laplace draws.gumbel draws.logistic draws.lognormal draws.rayleigh draws.wald "
        "draws.vonmises draws.triangular draws.poisson draws.negative_binomial draws.geometric draws.logseries "
        "draws.zipf draws.binomial draws.hypergeometric"
    ),
    "random_rows": (
        "draws.orders draws.multinomial draws.multivariate_hypergeometric_count "
        "draws.multivariate_hypergeometric_marginals"
    ),
    "ranges": "arange",
    "running": "cumsum cumprod cummax cummin linear_recurrence",
    "sampled": "sampled_log_gamma",
    "selecting": "nonzero flatnonzero argwhere compress extract unique",
    "sets": "intersect1d isin setdiff1d setxor1d union1d unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort insertion_points searchsorted",
    "sparse": (
        "sparse_distinct sparse_looked_up sparse_product sparse_product_columns sparse_rows sparse_sampled_product "
        "sparse_sampled_product_columns sparse_solve_triangular sparse_transposed_product "
        "sparse_transposed_product_columns sparse_transposition"
    ),
    "special": (
        "expit logit log_expit softplus log1mexp log1mexp_slope huber erf erfc erfcx erfinv erfcinv ndtr ndtri "
        "log_ndtr inverse_mills_ratio above_asymptote owens_t gammaln gamma loggamma digamma polygamma_of polygamma "
        "per xlogy xlog1py entr rel_entr kl_div"
    ),
    "statistics": "count_nonzero mean var std average ptp",
    "tensors": "geomspace logspace tensorinv tensorsolve",
    "trigonometric": (
        "sin cos tan arcsin_slope arccosh_slope arccosh_bend arctanh_slope arcsin arccos arctan arctan2 sinh cosh "
        "tanh arcsinh arccosh arctanh degrees radians sinc angle"
    ),
    "wave_functions": (
        "mathieu_a mathieu_b mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem "
        "obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pbdv pbvv pbwa pro_ang1 pro_ang1_cv "
        "pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv"
    ),
    "windows": "choose nanargmax nanargmin packbits sliding_window_view unpackbits",
}
"""Functions by the module that is imported when one of them is called: those of NumPy that are composed of others, and
most of `scipy.special`'s."""

CALLED = {
    "condition_number": "cond",
    "cummax": "maximum.accumulate",
    "cummin": "minimum.accumulate",
    "cumprod": "cumprod multiply.accumulate",
    "cumsum": "cumsum add.accumulate",
    "degrees": "degrees rad2deg",
    "digamma": "digamma psi",
    "matrix_diagonal": "diagonal",
    "matrix_trace": "trace",
    "radians": "radians deg2rad",
}
"""The functions that some of them implement, where these are not called like the op."""

for _module, _names in DEFERRED.items():
    registry.defer(f"{__name__}.{_module}", {name: CALLED.get(name, "").split() for name in _names.split()})

__all__ = [
    "arithmetic",
    "checking",
    "comparison",
    "creation",
    "exponential",
    "gathering",
    "identity",
    "indexing",
    "integers",
    "joining",
    "masks",
    "product",
    "reduction",
    "rounding",
    "selection",
    "shape",
    "slicing",
    "special_reductions",
    "through",
]
