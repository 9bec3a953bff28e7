"""NumPy's functions for tracers and arrays, by their NumPy names.

In a traced function NumPy's own functions do, except for those that make arrays of a length that is not known yet:
``zeros(n)``, ``arange(n)`` and their like are found here. Called on arrays outside of a trace, these functions are
NumPy's (the reference of each op).
"""

import sys

from numbagraph.frontend.namespaces import Namespace
from numbagraph.frontend.tracing import Tracer

_PLAIN = (
    "pi e inf nan newaxis euler_gamma bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 "
    "complex64 complex128 finfo iinfo isdtype result_type"
)
_namespace = Namespace(__name__, "numpy", own="copy cummax cummin", plain=_PLAIN)
__getattr__, __dir__ = _namespace.find, _namespace.names

Tracer.namespace = sys.modules[__name__]
