"""Written by `python tools/coefficients.py`: polynomials, lowest coefficient first, and constants."""

SPENCE = {
    "float64": (
        0.027777777777777776,
        -0.0002777777777777101,
        4.724111865969696e-06,
        -9.18577238044332e-08,
        1.897861524486519e-09,
        -4.059716988464232e-11,
        8.41691922927464e-13,
    ),
}
