"""Namespaces of functions like those of NumPy and SciPy: each name stands for the op that implements the function."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from numbagraph.forking import import_module
from numbagraph.ir.op import load, numpy_function, registry, ufunc_of
from numbagraph.ir.values import Op, Unsupported
from numbagraph.tracing.near_names import near_name
from numbagraph.tracing.replacements import replacements
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import apply


class Function:
    """An op as a function of tracers, arrays and numbers: outside of a trace it is NumPy's or SciPy's."""

    def __init__(self, op: Op, name: str, module: str) -> None:
        self.op = op
        self.__name__ = self.__qualname__ = name
        self.__module__ = module

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if current_trace() is None:
            return (numpy_function(self.op) or self.op.reference)(*args, **kwargs)
        if len(args) > 1 and (ufunc := ufunc_of(self.op)) is not None and len(args) > ufunc.nin:
            args, kwargs = args[: ufunc.nin], {"out": args[ufunc.nin :], **kwargs}
        for function in self.op.implements:
            if function in replacements:
                return replacements[function](*args, **kwargs)
        return apply(self.op, *args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind the function to an instance, which becomes its first argument. `help` recognises functions by this
        method."""
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> tuple[Any, ...]:
        return public_function, (self.op.name, self.__module__, self.__name__)

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__name__}>"

    @property
    def __signature__(self) -> inspect.Signature:
        function = original(self.op)
        try:
            found = inspect.signature(self.op.frontend if function is None else function)
        except ValueError:  # a ufunc, of older versions of NumPy
            return inspect.signature(lambda *args, **kwargs: None)
        return found if function is not None else found.replace(parameters=list(found.parameters.values())[1:])

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """The support of numbagraph for the function, and NumPy's or SciPy's own documentation of it."""
        function = original(self.op)
        return f"{described(self.op)}\n\n{'' if function is None else inspect.getdoc(function)}".strip()


def original(op: Op) -> Any:
    """NumPy's or SciPy's function that an op stands for; None for an op that is numbagraph's own."""
    for each in op.implements:
        function = load(each) if isinstance(each, str) else each
        if callable(function) and not module_of(function).startswith("numbagraph"):
            return function
    return None


def module_of(function: Any) -> str:
    """The module where users find a function; ufuncs do not give it."""
    found = getattr(function, "__module__", None)
    if found is None:
        return "scipy.special" if getattr(np, function.__name__, None) is not function else "numpy"
    return "numpy" if found.startswith(("numpy._core", "numpy.lib")) else found


def described(op: Op) -> str:
    """A description of numbagraph's support for a function."""
    function = original(op)
    source = "numbagraph's own" if function is None else f"as of `{module_of(function)}`"
    lines = [f"Op `{op.name}` ({op.kind}) on traced arrays, arrays and numbers, {source}."]
    for what, facet in (("Derivatives", op.vjp), ("Batches (`vmap`)", op.batch), ('backend="jax"', op.jnp)):
        if isinstance(facet, Unsupported) and op.kind != "decomposition":  # which consists of other ops
            lines.append(f"{what}: no, {facet.reason}.")
        else:
            lines.append(f"{what}: yes.")
    if op.ulp:
        lines.append(f"Results are within {op.ulp:g} units in the last place of the reference.")
    return "\n".join(lines)


def public_function(name: str, module: str, alias: str | None = None) -> Function:
    """Return the op ``name`` as a function of tracers, arrays and numbers."""
    if name not in registry:
        raise AttributeError(f"module {module!r} has no function {name!r}")
    return _function(registry[name], alias or name, module)


@functools.cache
def _function(op: Op, name: str, module: str) -> Function:
    """Return one object for each op, name and module, since pickles compare functions by identity."""
    return Function(op, name, module)


class Namespace:
    """The functions of some libraries for which there are ops.

    Parameters
    ----------
    module : str
        Where they are offered.
    libraries : str
        The modules of NumPy and SciPy whose names these are; those of earlier ones come first.
    own : str
        Ops that are here by their own names.
    plain : str
        What is the first library's own: constants, dtypes, functions of lengths alone.
    """

    def __init__(self, module: str, *libraries: str, own: str = "", plain: str = "") -> None:
        self.module = module
        self.libraries = libraries
        self.own = tuple(own.split())
        self.plain = tuple(plain.split())

    def find(self, name: str) -> Any:
        """Return the function of a name. Raise, with advice, if there is none."""
        if name in self.plain:
            return getattr(import_module(self.libraries[0]), name)
        op = None if name.startswith("_") else self.op(name)
        if op is None:
            raise AttributeError(f"module {self.module!r} has no function {name!r}{self._advice(name)}")
        return public_function(op.name, self.module, name)

    def op(self, name: str) -> Op | None:
        if name in self.own:
            return registry[name]
        for library in self.libraries:
            if library.startswith("numpy"):
                found = registry.find(getattr(import_module(library), name, None))
            else:
                found = registry.named(f"{library}:{name}")
            if found is not None:
                return found
        return None

    def names(self) -> list[str]:
        """The public names."""
        found = {*self.own, *self.plain}
        for op in registry:
            for function in op.implements:
                if isinstance(function, str):
                    library, _, name = function.partition(":")
                    found.update([name] if library in self.libraries else [])
        for library in self.libraries:
            if library.startswith("numpy"):
                module = import_module(library)
                public = (name for name in getattr(module, "__all__", dir(module)) if callable(getattr(module, name)))
                found.update(name for name in public if registry.find(getattr(module, name)) is not None)
        return sorted(found)

    def _advice(self, name: str) -> str:
        if name.startswith("_"):
            return ""
        return near_name(name, self.names(), 0.75) or f"; dir({self.module}) lists those that there are"
