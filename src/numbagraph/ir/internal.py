"""The error for faults of numbagraph itself."""

from __future__ import annotations

HOW_TO_REPORT = (
    "This is a fault of numbagraph, not of your function: report it with the function, the dtypes and shapes of its "
    "arguments, this traceback and what `python -m numbagraph doctor` prints. Until it is mended, backend='numpy' may "
    "run the function"
)


class InternalError(RuntimeError):
    """A fault of numbagraph itself, which its message says how to report.

    The error that arose inside is its ``__cause__``, with all frames. The message has the line of the user's code that
    was being traced or compiled, or that of the function.

    Examples
    --------
    >>> import numbagraph
    >>> issubclass(numbagraph.errors.InternalError, RuntimeError)
    True
    """

    __module__ = "numbagraph.errors"
