"""The backends that run a traced graph: native code, JAX, or NumPy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numbagraph.forking import importing
from numbagraph.ir.blocks import blocks
from numbagraph.ir.graph import Graph
from numbagraph.ir.op import float_errors, imported
from numbagraph.jit.debug_nans import watching
from numbagraph.jit.version import Traced
from numbagraph.runtime.arguments import describe
from numbagraph.runtime.entry import make_callable
from numbagraph.transforms.interpret import evaluate

BACKENDS = ("numba", "jax", "numpy")


def require_backend(backend: str, parallel: bool) -> None:
    """Raise unless there is a backend of that name, with threads if ``parallel`` is set."""
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    if parallel and backend != "numba":
        raise ValueError(f"parallel=True is for backend='numba': {backend!r} has threads of its own, or none")


def compiled(traced: Traced, backend: str, name: str) -> Callable[..., Any]:
    """Return a function that runs a graph on leaves and the values of shared variables."""
    run = unwatched(traced, backend, name)
    return watching(run, traced) if traced.watched else run


def unwatched(traced: Traced, backend: str, name: str) -> Callable[..., Any]:
    if traced.phases is not None:
        return traced.phases.runner(guarded=False)
    if backend == "numba":
        assert traced.specialisation is not None
        # Whoever runs this one has looked at the guards: another thread may break them meanwhile.
        return make_callable([traced.specialisation.make_plan(guarded=False)], name)
    if backend == "jax":
        with importing:
            from numbagraph.jax_bridge.translate import compile_jax

        call = compile_jax(traced.graph)
    else:
        call = functools.partial(run_eagerly, traced.graph)
    return lambda *inputs: call([*inputs, *traced.captured])


def on_device(function: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of JAX's backend on arguments that are arrays of JAX. Return NotImplemented for other arguments,
    or where more must be known of them."""
    if function.backend != "jax" or out is not None or blocks.count or imported("jax") is None:
        return NotImplemented
    if function._on_device is None:
        with importing:
            from numbagraph.jax_bridge.device import DeviceCalls

        function._on_device = DeviceCalls(function)
        function._flat_calls = (function._on_device.run,)
    return function._on_device.call(args, kwargs)


def describer(backend: str) -> Callable[[Any, str], Any]:
    """Return the function that describes the arguments of functions which a backend runs."""
    if backend != "jax" or imported("jax") is None:
        return describe
    with importing:
        from numbagraph.jax_bridge.device import describe_kept

    return describe_kept


def run_eagerly(graph: Graph, inputs: list[Any]) -> list[Any]:
    """Run a graph op by op, each a call of NumPy, to which `numpy.errstate` applies."""
    with float_errors.as_chosen():
        return evaluate(graph, inputs)
