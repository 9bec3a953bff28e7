"""Functions of `numpy.vectorize` on traced arrays, as a batch of calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.vmap import vectorize
from numbagraph.capture.builtins.numbers import Function, is_traced


def vectorised(function: np.vectorize) -> Function:
    """Return a function that calls the one behind ``function`` on a batch where arguments are traced."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_traced(args, kwargs):
            return function(*args, **kwargs)
        options: dict[str, Any] = {
            "excluded": getattr(function, "excluded", ()),
            "signature": getattr(function, "signature", None),
        }
        found = vectorize(function.pyfunc, **options)(*args, **kwargs)
        kinds = getattr(function, "otypes", None)
        return found if kinds is None or isinstance(found, tuple) else found.astype(kinds)

    return call
