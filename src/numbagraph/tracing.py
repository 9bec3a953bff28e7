"""The error of what cannot be traced; what else there is of tracing stands in `numbagraph.frontend.tracing`."""

from numbagraph.frontend.locating import TraceError

__all__ = ["TraceError"]
