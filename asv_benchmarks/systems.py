"""How each system runs a problem. A system is an adapter of a few lines; nothing else knows its library."""

import importlib.metadata
import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from types import FunctionType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from . import threads
from .workloads import Problem


class Unsupported(Exception):
    """This system has no way to say this problem."""


def rebind(function: Callable[..., Any], namespace: Any, control: Any = None) -> Callable[..., Any]:
    """The same code with `namespace` where it says `np`, in the functions of its module that it calls too; where it
    says `control`, with the loops of a system, if that has any."""
    assert isinstance(function, FunctionType)
    scope = {**function.__globals__, "np": namespace}
    if has_loops(function):
        if control is None:
            raise Unsupported("no loops of its own")
        scope["control"] = control
    for name, value in function.__globals__.items():
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            scope[name] = copied(value, scope)
    return copied(function, scope)


def has_loops(function: Callable[..., Any]) -> bool:
    return "control" in function.__globals__


def copied(function: FunctionType, scope: dict[str, Any]) -> FunctionType:
    """The function with other globals."""
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)


def leaves(result: Any) -> list[np.ndarray]:
    """The arrays of a result, whatever tuples and lists they come in."""
    return list(map(np.asarray, _flatten(result)))


def _flatten(result: Any) -> Iterator[Any]:
    if isinstance(result, tuple | list):
        for part in result:
            yield from _flatten(part)
    else:
        yield result


class System(ABC):
    """One library. `arguments` and `compile` are apart because data in place is not part of compile time."""

    name: ClassVar[str]
    modules: ClassVar[tuple[str, ...]]
    compiles: ClassVar[bool] = True
    caches: ClassVar[bool] = True
    """Whether a second process finds compiled code on disk."""

    def installed(self) -> bool:
        return all(importlib.util.find_spec(module) for module in self.modules)

    def version(self) -> str:
        try:
            return importlib.metadata.version(self.modules[0])
        except importlib.metadata.PackageNotFoundError:
            return "from source"

    def load(self) -> None:
        """Import the library and have it ready for its first compilation."""
        for module in self.modules:
            importlib.import_module(module)

    def arguments(self, problem: Problem) -> tuple[Any, ...]:
        return problem.args

    @abstractmethod
    def compile(self, problem: Problem) -> Callable[..., Any]: ...

    def wait(self, result: Any) -> Any:
        """The result once it is really there."""
        return result

    def statement(self, problem: Problem) -> str:
        """What is timed, by the names `call`, `a0`, `a1`: unpacking a tuple would cost time too."""
        return f"call({', '.join(f'a{i}' for i in range(len(problem.args)))})"


class Numpy(System):
    name = "numpy"
    modules = ("numpy",)
    compiles = caches = False

    def compile(self, problem: Problem) -> Callable[..., Any]:
        if not problem.argnums:
            return problem.loops or rebind(problem.function, np) if has_loops(problem.function) else problem.function
        if problem.by_hand is None:
            raise Unsupported("no gradient by hand")
        return _with_captured(problem.by_hand, problem)


class Numba(System):
    """The fused function written by hand: what numbagraph should find by itself."""

    name = "numba"
    modules = ("numba",)

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import numba

        if problem.loops is None:
            raise Unsupported("no loops by hand")
        flags = {"reassoc", "contract"}  # what lets a sum vectorise
        cached = "NUMBA_CACHE_DIR" in os.environ  # only in a folder set aside for it
        return _with_captured(numba.njit(fastmath=flags, cache=cached)(problem.loops), problem)


def _with_captured(function: Callable[..., Any], problem: Problem) -> Callable[..., Any]:
    """A closure over the captured arrays, as the user of that library would have written."""
    captured = problem.captured
    return (lambda *args: function(*args, *captured)) if captured else function


class Numexpr(System):
    name = "numexpr"
    modules = ("numexpr",)
    caches = False

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import numexpr
        from numexpr.necompiler import getType

        if problem.numexpr is None:
            raise Unsupported("not one expression")
        names = problem.function.__code__.co_varnames
        signature = [(name, getType(arg)) for name, arg in zip(names, problem.args, strict=False)]
        return numexpr.NumExpr(problem.numexpr, signature)


class Jax(System):
    name = "jax"
    modules = ("jax", "jaxlib")

    def load(self) -> None:
        import jax

        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        jax.devices()  # starts the backend

    def arguments(self, problem: Problem) -> tuple[Any, ...]:
        import jax.numpy as jnp

        return tuple(jnp.asarray(arg).block_until_ready() for arg in problem.args)

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import jax

        loops = {name: getattr(jax.lax, name) for name in ("scan", "fori_loop", "while_loop")}
        function = rebind(problem.function, jax.numpy, SimpleNamespace(**loops, vmap=jax.vmap))
        if problem.argnums:
            function = jax.value_and_grad(function, argnums=problem.argnums)
        return jax.jit(function)

    def wait(self, result: Any) -> Any:
        import jax

        return jax.block_until_ready(result)

    def statement(self, problem: Problem) -> str:
        """All outputs of one program are ready together, so waiting for one of them is enough."""
        return super().statement(problem) + ("[0]" if problem.argnums else "") + ".block_until_ready()"


class Pytensor(System):
    name = "pytensor"
    modules = ("pytensor",)

    def load(self) -> None:
        import pytensor.tensor  # noqa: F401

    def arguments(self, problem: Problem) -> tuple[Any, ...]:
        return tuple(np.asarray(arg) for arg in problem.args)

    def compile(self, problem: Problem) -> Callable[..., Any]:
        pytensor: Any = importlib.import_module("pytensor")
        pt = pytensor.tensor
        arrays = [np.asarray(arg) for arg in problem.args]
        inputs = [pt.tensor(dtype=array.dtype.name, shape=(None,) * array.ndim) for array in arrays]
        value = rebind(problem.function, pt)(*inputs)
        outputs: Any = value
        if problem.argnums:
            outputs = [value, *pytensor.grad(value, [inputs[i] for i in problem.argnums])]
        function = pytensor.function(inputs, outputs, mode="NUMBA")
        function.trust_input = True  # as PyMC does: no checks of the arguments
        return function


class Numbagraph(System):
    name = "numbagraph"
    modules = ("numbagraph",)

    def compile(self, problem: Problem) -> Callable[..., Any]:
        ng: Any = importlib.import_module("numbagraph")
        function = rebind(problem.function, np, ng) if has_loops(problem.function) else problem.function
        if problem.argnums:
            function = ng.value_and_grad(function, argnums=problem.argnums)
        return ng.graph_jit(function, parallel=threads.are_several())


SYSTEMS: dict[str, System] = {
    system.name: system for system in (Numbagraph(), Numpy(), Numba(), Numexpr(), Jax(), Pytensor())
}
