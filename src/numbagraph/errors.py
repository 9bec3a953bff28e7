"""The errors of numbagraph, by their kinds.

``TraceError`` is the base of all that a traced function cannot do. Where NumPy has an error for what is wrong, such as
``IndexError`` or ``numpy.linalg.LinAlgError``, it is raised as NumPy raises it. ``InternalError`` is a fault of
numbagraph itself.
"""

from numbagraph.ir.internal import InternalError
from numbagraph.ir.shapes import ShapeError
from numbagraph.runtime.cache import CacheWarning
from numbagraph.tracing.checks import CheckError
from numbagraph.tracing.errors import EscapedError, SideEffectError, TraceError, UnknownValueError
from numbagraph.tracing.trace import CaptureError

__all__ = [
    "CacheWarning",
    "CaptureError",
    "CheckError",
    "EscapedError",
    "InternalError",
    "ShapeError",
    "SideEffectError",
    "TraceError",
    "UnknownValueError",
]
