"""NumPy's functions for tracers and arrays, by their NumPy names.

In a traced function NumPy's own functions do, except for those that make arrays of a length that is not known yet:
``zeros(n)``, ``arange(n)`` and their like are found here. Called on arrays outside of a trace, these functions are
NumPy's (the reference of each op). This is a namespace of the Python array API standard (2024.12), with its extensions
`linalg` and `fft`: it is what ``x.__array_namespace__()`` gives of a traced array.
"""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from numbagraph import fft as fft  # noqa: PLC0414  an extension of the standard, which is found here
from numbagraph import linalg as linalg  # noqa: PLC0414
from numbagraph.ir.later import Later
from numbagraph.library.namespaces import Namespace
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer

if TYPE_CHECKING:
    from numbagraph.library.numpy import polynomials
else:  # JAX and few others call it
    polynomials = Later("numbagraph.library.numpy.polynomials")

_PLAIN = (
    "pi e inf nan newaxis euler_gamma bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 "
    "complex64 complex128 bool finfo iinfo isdtype result_type can_cast broadcast_shapes from_dlpack "
    "__array_api_version__ __array_namespace_info__"
)
_namespace = Namespace(__name__, "numpy", own="copy cummax cummin", plain=_PLAIN)
__getattr__ = _namespace.find


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The arrays along an axis, of which there are as many as its length: a function has a version for each length.

    Parameters
    ----------
    x : array
        Of at least one dimension.
    axis : int
        The one that the arrays do not have.

    Returns
    -------
    tuple of arrays

    Examples
    --------
    >>> import numpy as np
    >>> from numbagraph import graph_jit
    >>> import numbagraph.numpy as xp
    >>> graph_jit(lambda x: xp.unstack(x.reshape(2, -1), axis=1)[0])(np.arange(4))
    array([0, 2])
    """
    if current_trace() is None:
        return tuple(np.moveaxis(np.asarray(x), axis, 0))
    found: tuple[Any, ...] = polynomials.unstack(x, axis=axis)
    return found


def __dir__() -> list[str]:
    return sorted({"fft", "linalg", "unstack", *(name for name in _namespace.names() if not name.startswith("_"))})


Tracer.namespace = sys.modules[__name__]
