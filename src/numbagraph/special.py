"""SciPy's special functions for tracers and arrays, those among them that SciPy itself cannot dispatch.

A function of `scipy.special` that is a ufunc can be called on traced arrays as it is. ``logsumexp``, ``softmax`` and
``log_softmax`` are plain Python functions there: call them from here instead.
"""

from numbagraph.library.namespaces import Namespace

# NumPy's functions that SciPy has as well, and numbagraph's own.
_namespace = Namespace(__name__, "scipy.special", own="cbrt exp2 expm1 log1p sinc softplus log1mexp")
__getattr__, __dir__ = _namespace.find, _namespace.names
