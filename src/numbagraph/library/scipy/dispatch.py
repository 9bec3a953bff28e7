"""Replacements of functions of SciPy in converted code, where one of their arguments is traced.

Each module of this folder has a table ``FUNCTIONS`` for the functions of one module of SciPy, written in NumPy on
traced arrays. `advice` says what to write instead of others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import optree

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.later import Later
from numbagraph.ir.op import load
from numbagraph.library.scipy.advice import ADVICE, CALLBACK, OBJECTS_OF_STATS, OTHERS
from numbagraph.library.scipy.solvers.index import SOLVERS
from numbagraph.tracing.errors import OnlyTraced, TraceError, is_located, user_source
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.trace import active, converted

if TYPE_CHECKING:
    from numbagraph.library.scipy.stats import multivariate
else:
    multivariate = Later("numbagraph.library.scipy.stats.multivariate")

Function = Callable[..., Any]

MODULES = {
    "scipy.fft": Later("numbagraph.library.scipy.fft"),
    "scipy.integrate": Later("numbagraph.library.scipy.integrate"),
    "scipy.interpolate": Later("numbagraph.library.scipy.interpolate.interpolants"),
    "scipy.linalg": Later("numbagraph.library.scipy.linalg.functions"),
    "scipy.ndimage": Later("numbagraph.library.scipy.ndimage.filters"),
    "scipy.signal.windows": Later("numbagraph.library.scipy.signal.windows"),
    "scipy.signal": Later("numbagraph.library.scipy.signal.table"),
    "scipy.spatial.distance": Later("numbagraph.library.scipy.distance"),
    "scipy.spatial.transform": Later("numbagraph.library.scipy.spatial.rotations"),
    "scipy.spatial": Later("numbagraph.library.scipy.spatial.point_sets"),
    "scipy.stats": Later("numbagraph.library.scipy.stats.samples"),
    "scipy.special": Later("numbagraph.library.scipy.special.compositions"),
    "scipy.cluster.vq": Later("numbagraph.library.scipy.clusters"),
}
"""The modules of this folder that have the tables, by those of SciPy. (The last one has `cdist` of another, too.)"""

CLASSES = ("scipy.spatial.transform",)
"""The modules with classes that have other constructors."""


def home_of(function: Any, modules: Iterable[str] = MODULES) -> str | None:
    """The module from which users know a function or a class of SciPy."""
    if not str(getattr(function, "__module__", None)).startswith("scipy."):
        return None
    name = getattr(function, "__name__", "")
    return next((each for each in modules if getattr(sys.modules.get(each), name, None) is function), None)


def replacement(function: Any) -> Function | None:
    """Return the replacement of a function of SciPy, or of an object of one of its classes; None for others."""
    if (solver := solver_of(function)) is not None:
        return solver
    home = home_of(function)
    if home is None:
        if (own := of_normal(function)) is not None:
            return where_traced(own, function)
        advised = advice_for(function)
        if advised is not None:
            return refusing(function, *advised)
        kind = type(function)
        home = home_of(kind)
        made = method_of(function)
        if made is not None:
            return where_traced(made, function)
        made = None if home is None or not callable(function) else MODULES[home].OBJECTS.get(kind.__name__)
        return None if made is None else where_traced(lambda *args, **kwargs: made(function, *args, **kwargs), function)
    own = MODULES[home].FUNCTIONS.get(function.__name__)
    if own is not None:
        return where_traced(own, function)
    return refusing(function, f"{home}.{function.__name__}", advice_of(home, function.__name__))


def method_of(function: Any) -> Function | None:
    """Return the replacement of a method of an object of one of SciPy's classes, or of a class; None for others."""
    name, owner = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    if owner is None or isinstance(owner, type):
        return of_class(function, owner)
    for kind in type(owner).__mro__[:-1]:
        home = home_of(kind)
        own = None if home is None else getattr(MODULES[home], "METHODS", {}).get(kind.__name__, {}).get(name)
        if own is not None:
            return lambda *args, **kwargs: own(owner, *args, **kwargs)
    return None


def of_class(function: Any, owner: type | None) -> Function | None:
    """Return the replacement of a function of a class, such as a constructor by another name; None for others."""
    known_as, _, name = str(getattr(function, "__qualname__", "")).rpartition(".")
    for home in CLASSES if owner is None else filter(None, [home_of(owner, CLASSES)]):
        found: Function | None = MODULES[home].CLASSES.get(owner.__name__ if owner else known_as, {}).get(name)
        if found is not None:
            return found
    return None


def solver_of(function: Any) -> Function | None:
    """Return the solver in place of a function of SciPy that calls functions of the user's; None for others."""
    home = home_of(function, SOLVERS)
    path = None if home is None else SOLVERS[home].get(function.__name__)
    return None if path is None else converted(load(path))


def advice_of(home: str, name: str) -> str:
    """Return the advice for a function of a module of SciPy."""
    return ADVICE.get(home, {}).get(name, OTHERS.get(home, CALLBACK))


def advice_for(function: Any) -> tuple[str, str] | None:
    """Return the name of a function of a module that has no table here, or of a method of one of its objects, and the
    advice for it; None for others."""
    home = home_of(function, (*ADVICE, *OTHERS))
    if home is not None:
        return f"{home}.{function.__name__}", advice_of(home, function.__name__)
    owner, stats = getattr(function, "__self__", function), sys.modules.get("scipy.stats")
    for name in OBJECTS_OF_STATS if stats is not None else ():
        known = getattr(stats, name)
        if owner is known or (isinstance(known, type) and isinstance(owner, known)):
            own = "" if owner is function else f".{function.__name__}"
            return f"scipy.stats.{name}{own}", advice_of("scipy.stats", name)
    return None


def of_normal(function: Any) -> Function | None:
    """Return the replacement of `scipy.stats.multivariate_normal`, of one of its methods, or of one of a distribution
    or density that was made outside; None for others."""
    owner, stats = getattr(function, "__self__", function), sys.modules.get("scipy.stats")
    if stats is None:
        return None
    if type(owner).__name__ in ("gaussian_kde", "multivariate_normal_frozen"):
        frozen: Function | None = multivariate.of_frozen(function, owner)
        return frozen
    if owner is not stats.multivariate_normal:
        return None
    found: Function | None = MODULES["scipy.stats"].NORMAL.get("" if owner is function else function.__name__)
    return found


def where_traced(own: Function, function: Function) -> Function:
    """Return a function that calls ``own`` on traced arguments, and ``function`` on others."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return (own if takes_traced(args, kwargs) else function)(*args, **kwargs)

    return call


def takes_traced(*trees: Any) -> bool:
    """Whether a call has traced arguments, or objects that stand for SciPy's with traced attributes."""
    if is_traced(trees):
        return True
    leaves: list[Any] = optree.tree_leaves(trees, none_is_leaf=True)  # type: ignore[arg-type]
    return any(isinstance(leaf, OnlyTraced) for leaf in leaves)


def refusing(function: Function, name: str, advice: str) -> Function:
    """Return the replacement of a function without one in a table: it calls SciPy's own, which may be plain NumPy, and
    turns its errors into one that names it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before = active.refusals
        try:
            return function(*args, **kwargs)
        except LengthsNeeded:
            raise
        except Exception as error:
            meant = isinstance(error, TypeError) and (isinstance(error, TraceError) or is_located(error))
            if not (meant or active.refusals != before or (is_traced(args, kwargs) and advice is not CALLBACK)):
                raise
            raise TraceError(f"{name} is not supported in a traced function: {advice}\n  at {user_source()}") from error

    return call
