"""What SciPy computes with few digits, with all of them."""

import numpy as np

IN_SINGLE = (
    "bei beip ber berp it2i0k0 it2j0y0 itairy iti0k0 itj0y0 kei keip ker kerp spherical_jn spherical_kn spherical_yn"
).split()
"""SciPy computes these in single precision where operands are, or fit into it: we are in double, and more accurate."""


def in_double(function, *arrays):
    """A function's results of the same dtypes, computed in double precision."""
    dtypes = [each.dtype for each in as_tuple(function(*arrays))]
    found = function(*[each if np.asarray(each).dtype.kind == "i" else np.asarray(each, np.float64) for each in arrays])
    exact = tuple(each.astype(dtype)[()] for each, dtype in zip(as_tuple(found), dtypes, strict=True))
    return exact if isinstance(found, tuple) else exact[0]


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)
