"""`pm.Minibatch` in a compiled log-density: the numbers of the rows are data, drawn anew before each evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor
from pymc.data import MinibatchOp
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import ancestors

from numbagraph.ir.structs import Struct


class Rows(Struct, eq=False):
    """The rows of one `pm.Minibatch`, as a shared variable with their numbers."""

    numbers: Any
    data: Variable
    generator: Any
    """The shared variable with the generator, as PyMC made it."""

    def draw(self) -> None:
        """Draw other rows, as PyTensor does."""
        count = self.numbers.get_value(borrow=True).size
        rows = self.generator.get_value(borrow=True).integers(0, length(self.data), size=count)
        self.numbers.set_value(rows, borrow=True)


class Minibatches:
    """The minibatches of a model, by their generators: a graph may have several copies of one minibatch."""

    def __init__(self) -> None:
        self._rows: dict[Any, Rows] = {}

    @property
    def rows(self) -> list[Rows]:
        return list(self._rows.values())

    def replaced(self, variables: Sequence[Variable]) -> list[Variable]:
        """The variables, with rows by their numbers in the place of random ones."""
        found = {each.owner for each in ancestors(variables) if each.owner and isinstance(each.owner.op, MinibatchOp)}
        others: dict[Variable, Variable] = {}
        for node in found:
            *arrays, generator = node.inputs
            if generator not in self._rows:
                zeros = np.zeros(node.outputs[0].type.shape[0], dtype=np.int64)
                numbers: Any = pytensor.shared(zeros, name=f"rows of minibatch {len(self._rows)}")
                self._rows[generator] = Rows(numbers, arrays[0], generator)
            numbers = self._rows[generator].numbers
            others.update({old: array[numbers] for old, array in zip(node.outputs, arrays, strict=False)})
        return clone_replace(list(variables), others) if others else list(variables)

    def draw(self) -> None:
        for each in self.rows:
            each.draw()


def length(data: Any) -> int:
    """The present number of rows."""
    if isinstance(data, Constant):
        return len(data.data)
    return len(data.get_value(borrow=True)) if hasattr(data, "get_value") else int(data.shape[0].eval())
