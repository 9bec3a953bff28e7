"""Written by ``python tools/deferred_ops.py``: ops that are declared when one of them is asked for."""

NAMES = {
    "array_standard": "astype",
    "bits": "to_bits from_bits",
    "blocks": "block",
    "borders": "bordered",
    "calculus": "gradient trapezoid ediff1d cumulative_sum cumulative_prod interp unwrap cross vector_cross",
    "closeness": (
        "asarray_chkfinite isclose allclose array_equal array_equiv isneginf isposinf iscomplex isreal real_if_close"
    ),
    "contraction": "einsum tensordot dot inner vdot outer",
    "control.scan": "scan",
    "control.switch": "switch",
    "control.while_loop": "while_loop",
    "control.while_pullback": "while_pullback",
    "convolution": "convolve",
    "diagonals": "main_diagonal diagonal diag above_diagonal tril triu",
    "editing": "delete insert resize trim_zeros diagflat rot90",
    "floating": "copysign nextafter spacing heaviside ldexp frexp_mantissa frexp_exponent frexp",
    "fourier": (
        "fourier_rows half_fourier_rows inverse_half_fourier_rows fourier_columns half_fourier_columns "
        "inverse_half_fourier_columns fft.fftfreq fft.rfftfreq fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft "
        "fft.fftn fft.fft2 fft.ifftn fft.ifft2 fft.rfftn fft.rfft2 fft.irfftn fft.irfft2 fft.fftshift fft.ifftshift"
    ),
    "indexing.compaction": "true_positions true_elements",
    "indexing.data_dependent_lengths": "nonzero flatnonzero argwhere compress extract unique",
    "indexing.gathering_rows": "take_along_axis",
    "indexing.increments": "add_at",
    "indexing.masked_writes": "put_repeated sum_repeated",
    "indexing.positions": (
        "unravel_index ravel_multi_index diag_indices_from diag_indices tril_indices triu_indices tril_indices_from "
        "triu_indices_from"
    ),
    "linalg.banded": "solve_banded solveh_banded",
    "linalg.banded_factors": "cholesky_banded cho_solve_banded",
    "linalg.determinants": "determinant_of det slogdet",
    "linalg.equations": "solve_sylvester solve_continuous_lyapunov solve_discrete_lyapunov",
    "linalg.factorisations": "cholesky cholesky_pullback square_lu",
    "linalg.general": "lu_factor lu_solve factor_of lu eig eig_values eigvals expm_frechet expm",
    "linalg.hessenberg": "hessenberg_form hessenberg_pair",
    "linalg.indefinite": "factors_of_blocks",
    "linalg.least_squares": "minimal_solution lstsq",
    "linalg.matrix_functions": (
        "pinv_of pinv matrix_rank condition_number matrix_power multi_dot kron block_diag toeplitz matrix_diagonal "
        "matrix_trace matrix_norm vector_norm"
    ),
    "linalg.orthogonal_forms": "schur_form qr_reflections order_of_columns",
    "linalg.permutations": "permutation_of",
    "linalg.reflections": "product_with_q product_of_q",
    "linalg.solutions": "solve_triangular solve_factored solve inv inverse cho_solve solve_tridiagonal",
    "linalg.spectra": "eigh eigvalsh qr svd svdvals",
    "linalg.toeplitz": "solve_toeplitz",
    "linalg.tridiagonal": "tridiagonal_values",
    "linalg.tridiagonal_factors": "tridiagonal_factors solve_tridiagonal_factored",
    "norms": "trace norm",
    "padding": "pad",
    "polynomial_functions": (
        "polyadd polysub polymul polyval polyder polyint vander polyfit chebval legval hermval hermeval lagval "
        "polynomial_value"
    ),
    "random.counter_bits": "threefry2x32 unit_interval",
    "random.draws": (
        "draws.random draws.random_f draws.standard_normal draws.standard_normal_f draws.standard_exponential "
        "draws.standard_exponential_f draws.standard_exponential_inv draws.standard_exponential_inv_f "
        "draws.standard_cauchy draws.standard_gamma draws.standard_gamma_f draws.standard_t draws.beta "
        "draws.chisquare draws.noncentral_chisquare draws.f draws.noncentral_f draws.pareto draws.weibull draws.power "
        "draws.laplace draws.gumbel draws.logistic draws.lognormal draws.rayleigh draws.wald draws.vonmises "
        "draws.triangular draws.poisson draws.negative_binomial draws.geometric draws.logseries draws.zipf "
        "draws.binomial draws.hypergeometric draws.integers_int8 draws.integers_int16 draws.integers_int32 "
        "draws.integers_int64 draws.integers_uint8 draws.integers_uint16 draws.integers_uint32 draws.integers_uint64 "
        "draws.integers_bool"
    ),
    "random.draws_of_rows": (
        "draws.orders draws.multinomial draws.multivariate_hypergeometric_count "
        "draws.multivariate_hypergeometric_marginals"
    ),
    "random.sample_derivatives": "sampled_log_gamma",
    "ranges": "arange",
    "repeated": "sum_to_extents",
    "running": "cumsum cumprod cummax cummin linear_recurrence",
    "sparse.columns": "sparse_column_starts sparse_column_elements",
    "sparse.compressed": (
        "sparse_product sparse_product_columns sparse_transposed_product sparse_transposed_product_columns "
        "sparse_sampled_product sparse_sampled_product_columns sparse_rows sparse_transposition sparse_distinct "
        "sparse_looked_up sparse_solve_triangular"
    ),
    "sparse.pairs": (
        "sparse_product_starts sparse_union_starts sparse_union_places sparse_sum_elements sparse_row_elements "
        "sparse_chosen_rows sparse_product_at sparse_product_elements"
    ),
    "special.bessel_01": "j0 j1 y0 y1",
    "special.bessel_functions": (
        "k0 k1 k0e k1e jve yv yve yn kv kn spherical_jn spherical_yn spherical_kn struve modstruve ber bei ker kei "
        "berp beip kerp keip airy airye wright_bessel log_wright_bessel besselpoly"
    ),
    "special.boost_distributions": (
        "binom_cdf nbinom_sf binom_ppf binom_isf nbinom_ppf nbinom_isf hypergeom_pmf hypergeom_cdf hypergeom_sf "
        "ncf_pdf nct_pdf"
    ),
    "special.circular": "von_mises_cdf von_mises_slope",
    "special.combinatorial": "perm factorial multigammaln",
    "special.complex_results": "hankel_j hankel_y",
    "special.densities": (
        "gamma_weight beta_weight per_gamma_density per_gamma_density_bend per_beta_density per_beta_density_bend"
    ),
    "special.distribution_functions": (
        "chdtr chdtrc chdtri chdtriv gdtr gdtrc gdtrix gdtria gdtrib pdtr pdtrc pdtri pdtrik betaincc betainccinv "
        "btdtria btdtrib fdtr fdtrc fdtri fdtridfd stdtr stdtrit stdtridf bdtr bdtrc bdtri bdtrik bdtrin nbdtr nbdtrc "
        "nbdtri nbdtrik nbdtrin ndtri_exp nrdtrimn nrdtrisd chndtr chndtrix chndtridf chndtrinc ncfdtr ncfdtri "
        "ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtrit nctdtridf nctdtrinc smirnov smirnovi"
    ),
    "special.elementary_functions": (
        "special.cbrt special.exp2 exp10 special.expm1 special.log1p exprel cosm1 powm1 special.round sindg cosdg "
        "tandg cotdg radian boxcox boxcox1p inv_boxcox inv_boxcox1p pseudo_huber rgamma gammasgn beta betaln poch "
        "binom wrightomega voigt_profile tklmbda"
    ),
    "special.elliptic_integrals": (
        "ellipk ellipkm1 ellipe ellipkinc ellipeinc ellipj elliprc elliprf elliprd elliprg elliprj agm"
    ),
    "special.error_functions": (
        "expit logit log_expit softplus log1mexp log1mexp_slope huber erf erfc erfcx erfinv erfcinv ndtr ndtri "
        "log_ndtr inverse_mills_ratio above_asymptote owens_t gammaln gamma loggamma digamma polygamma_of polygamma "
        "per share_per share log_per xlogy xlog1py entr rel_entr kl_div"
    ),
    "special.hypergeometric": (
        "hyp0f1 hyp1f1 hyp2f1 hyperu lpmv eval_jacobi eval_sh_jacobi eval_gegenbauer eval_legendre eval_sh_legendre "
        "eval_chebyt eval_chebyu eval_chebyc eval_chebys eval_sh_chebyt eval_sh_chebyu eval_laguerre eval_genlaguerre "
        "eval_hermite eval_hermitenorm"
    ),
    "special.incomplete_gamma": (
        "gammainc_by_a betainc_by_a betainc_by_b gammainc gammaincc betainc gammaincinv gammainccinv betaincinv"
    ),
    "special.integral_functions": (
        "erfi dawsn expi exp1 expn spence sici shichi fresnel itj0y0 it2j0y0 iti0k0 it2i0k0 itstruve0 it2struve0 "
        "itmodstruve0 itairy kolmogorov kolmogi"
    ),
    "special.modified_bessel_functions": "i0 i1 i0e i1e jv iv ive kve kve_derivative",
    "special.riemann_zeta": "zetac",
    "special.wave_functions": (
        "mathieu_a mathieu_b mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 "
        "pro_cv obl_cv pro_ang1 pro_ang1_cv obl_ang1 obl_ang1_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv obl_rad1 "
        "obl_rad1_cv obl_rad2 obl_rad2_cv pbdv pbvv pbwa"
    ),
    "statistics.covariance": "cov corrcoef correlate",
    "statistics.histograms": "bincount digitize histogram histogram_bin_edges histogramdd histogram2d",
    "statistics.moments": "count_nonzero mean var std average ptp",
    "statistics.order_statistics": "order_statistics parted_positions parted",
    "statistics.partitions": "partition argpartition lexsort order_of_rows sort_complex",
    "statistics.quantiles": "quantile percentile nanquantile nanpercentile median nanmedian",
    "statistics.sets": (
        "isin union1d intersect1d setxor1d setdiff1d unique_all unique_counts unique_inverse unique_values"
    ),
    "statistics.sorting": "argsort sort sorted_columns insertion_points searchsorted",
    "statistics.without_nan": "nansum nanprod nancumsum nancumprod nanmax nanmin nanmean nanvar nanstd",
    "tensors": "tensorinv tensorsolve logspace geomspace",
    "trigonometry": (
        "sin cos tan arcsin_slope arccosh_slope arccosh_bend arctanh_slope arcsin arccos arctan arctan2 sinh cosh "
        "tanh arcsinh arccosh arctanh degrees radians sinc angle"
    ),
    "windows": "sliding_window_view choose packbits unpackbits nanargmax nanargmin",
}
"""The names of ops by their module in `numbagraph.ops`, in the order of their declarations."""

CALLED = {
    "binom_cdf": "_binom_cdf",
    "binom_isf": "_binom_isf",
    "binom_ppf": "_binom_ppf",
    "condition_number": "cond",
    "cummax": "maximum.accumulate",
    "cummin": "minimum.accumulate",
    "cumprod": "cumprod multiply.accumulate",
    "cumsum": "cumsum add.accumulate",
    "degrees": "degrees rad2deg",
    "digamma": "digamma psi",
    "hypergeom_cdf": "_hypergeom_cdf",
    "hypergeom_pmf": "_hypergeom_pmf",
    "hypergeom_sf": "_hypergeom_sf",
    "matrix_diagonal": "diagonal",
    "matrix_trace": "trace",
    "nbinom_isf": "_nbinom_isf",
    "nbinom_ppf": "_nbinom_ppf",
    "nbinom_sf": "_nbinom_sf",
    "ncf_pdf": "_ncf_pdf",
    "nct_pdf": "_nct_pdf",
    "polynomial_value": "polyval",
    "radians": "radians deg2rad",
    "spherical_jn": "_spherical_jn",
    "spherical_kn": "_spherical_kn",
    "spherical_yn": "_spherical_yn",
    "vector_cross": "cross",
}
"""The functions that some of them implement, where these are not called like the op."""
