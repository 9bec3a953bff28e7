"""Linear algebra for tracers and arrays: `numpy.linalg`, and those functions of `scipy.linalg` that an op stands for.

A function of `numpy.linalg` can be called on traced arrays as it is. SciPy's are plain Python functions: call them from
here instead. Where the two have one name, this is NumPy's.
"""

from numbagraph.library.namespaces import Namespace

_namespace = Namespace(
    __name__,
    "numpy.linalg",
    "scipy.linalg",
    own="expm_frechet solve_tridiagonal",
    plain="LinAlgError",
)
__getattr__, __dir__ = _namespace.find, _namespace.names
