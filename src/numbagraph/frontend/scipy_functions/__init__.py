"""What functions of SciPy stand for in converted code, where one of their arguments is traced.

Each module of this folder has a table ``FUNCTIONS`` of those of one module of SciPy: they are written in NumPy on
traced arrays. ``REFUSED`` says what to write instead of others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numbagraph.frontend.active import LengthsNeeded
from numbagraph.frontend.capture.numbers import is_traced
from numbagraph.frontend.locating import TraceError, is_located, user_source
from numbagraph.ir.op import load

Function = Callable[..., Any]

MODULES = {
    "scipy.fft": "fft",
    "scipy.integrate": "integrate",
    "scipy.interpolate": "interpolate",
    "scipy.linalg": "linalg",
    "scipy.ndimage": "ndimage",
    "scipy.signal.windows": "windows",
    "scipy.signal": "signal",
    "scipy.spatial.distance": "distance",
    "scipy.special": "special",
}
"""The modules of this folder, by those of SciPy."""


def home_of(function: Any) -> str | None:
    """The module from which users know a function or a class of SciPy."""
    inner = str(getattr(function, "__module__", None))
    name = getattr(function, "__name__", "")
    for module in MODULES:
        if inner.startswith(module) and getattr(sys.modules.get(module), name, None) is function:
            return module
    return None


def table(home: str, name: str) -> Any:
    return load(f"{__name__}.{MODULES[home]}:{name}")


def replacement(function: Any) -> Function | None:
    """What is called in place of a function of SciPy, or of an object of one of its classes."""
    home = home_of(function)
    if home is None:
        kind = type(function)
        home = home_of(kind)
        made = None if home is None or not callable(function) else table(home, "OBJECTS").get(kind.__name__)
        return None if made is None else where_traced(lambda *args, **kwargs: made(function, *args, **kwargs), function)
    name = function.__name__
    own = table(home, "FUNCTIONS").get(name)
    if own is not None:
        return where_traced(own, function)
    return where_traced(refusing(function, home, name), function)


def where_traced(own: Function, function: Function) -> Function:
    """``own`` for traced arguments, and the function itself for others."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return (own if is_traced(args, kwargs) else function)(*args, **kwargs)

    return call


def refusing(function: Function, home: str, name: str) -> Function:
    """A function that is not in a table: SciPy's own, which may be plain NumPy, or an error that has its name."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except LengthsNeeded:
            raise
        except TypeError as error:
            if not isinstance(error, TraceError) and not is_located(error):
                raise
            advice = table(home, "REFUSED").get(name, "numbagraph.pure_callback calls it from compiled code")
            raise TraceError(
                f"{home}.{name} is not supported in a traced function: {advice}\n  at {user_source()}"
            ) from error

    return call
