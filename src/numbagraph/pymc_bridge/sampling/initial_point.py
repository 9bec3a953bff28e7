"""Initial points of a model, as PyMC draws them, but without its compilation: PyTensor's Python code is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor
from pymc.initial_point import convert_str_to_rv_dict, make_initial_point_expression
from pymc.pytensorf import compile as compile_pytensor
from pymc.pytensorf import find_rng_nodes, replace_rng_nodes, reseed_rngs
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import Mode, optdb
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import in2out, node_rewriter
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.tensor.rewriting.ofg import inline_ofg_node

from numbagraph.forking import new_lock
from numbagraph.ir.structs import cached_property


@node_rewriter([OpFromGraph])
def inline(_: FunctionGraph, node: Apply) -> Any:
    """Replace an op by the graph inside it: PyTensor would compile that graph by its C or Numba compiler."""
    return inline_ofg_node(node)


INLINE = "numbagraph_inline"
optdb.register(INLINE, in2out(inline, name=INLINE), position=0)
INLINED = RewriteDatabaseQuery(include=(INLINE,))
PYTHON_CODE = Mode(linker="py", optimizer=INLINED)


class InitialPoint:
    """Draws the vector that a chain begins with. The drawing function is made on first use; it may be called from
    threads."""

    def __init__(
        self,
        model: pm.Model,
        names: Sequence[str],
        *,
        jitter: bool = True,
        strategy: str = "support_point",
        overrides: dict[Any, Any] | None = None,
    ) -> None:
        """``names`` are those of the model's value variables, in the order in which the vector has them."""
        self.model = model
        self.names = tuple(names)
        self.jitter = jitter
        self.strategy = strategy
        self.overrides = overrides or {}
        self.lock = new_lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model with the expressions of the variables: PyMC finds these by classes that users make, in one
        process alone."""
        options = (self.jitter, self.strategy, self.overrides)
        return restored, (self.model, self.names, options, self.expressions)

    @cached_property
    def expressions(self) -> list[Variable]:
        """The expressions that the variables are drawn by."""
        model: Any = self.model
        values = {model.rvs_to_values[each].name: each for each in model.free_RVs}
        variables = [values[name] for name in self.names]
        return make_initial_point_expression(
            free_rvs=variables,
            rvs_to_transforms=model.rvs_to_transforms,
            initval_strategies={**model.rvs_to_initial_values, **convert_str_to_rv_dict(model, self.overrides)},
            jitter_rvs=set(variables) if self.jitter else set(),
            default_strategy=self.strategy,
            return_transformed=True,
        )

    @cached_property
    def function(self) -> tuple[Callable[[], Any], list[Any]]:
        """The function that draws, and the generators that it draws from."""
        with pytensor.config.change_flags(cxx=""):
            compiled = compile_pytensor([], replace_rng_nodes(self.expressions), mode=PYTHON_CODE)
        return compiled, find_rng_nodes(compiled.maker.fgraph.outputs)

    def values(self, seed: int | None = None) -> list[np.ndarray]:
        """The initial value of each variable."""
        with self.lock:
            draw, generators = self.function
            reseed_rngs(generators, seed)
            return list(draw())

    def __call__(self, seed: int | None = None) -> np.ndarray:
        return np.concatenate([np.ravel(each).astype(np.float64) for each in self.values(seed)] or [np.zeros(0)])


def restored(model: Any, names: Sequence[str], options: tuple[Any, ...], expressions: list[Variable]) -> InitialPoint:
    """Restore a pickled object."""
    jitter, strategy, overrides = options
    found = InitialPoint(model, names, jitter=jitter, strategy=strategy, overrides=overrides)
    vars(found)["expressions"] = expressions  # in place of what it would be
    return found
