"""`numpy.fft` for tracers and arrays.

A function of `numpy.fft` can be called on traced arrays as it is; this is the same namespace for code that asks an
array for its own.
"""

from numbagraph.library.namespaces import Namespace

_namespace = Namespace(__name__, "numpy.fft")
__getattr__, __dir__ = _namespace.find, _namespace.names
