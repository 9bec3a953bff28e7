"""PyTensor's expressions, imported: compared with PyTensor's own values, before rewriting and after."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytensor
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Variable
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors

from numbagraph.pymc_bridge import from_pytensor
from numbagraph.rewrite.debug_checks import verify_types
from numbagraph.transforms.interpret import evaluate

PLAIN = Mode(linker="py", optimizer=None)
FOR_C_CODE = ("cxx_only",)
"""Rewrites to ops that only PyTensor's C code has."""
Data = Mapping[Variable, np.ndarray]


def inputs_of(variable: Variable, data: Data) -> list[Variable]:
    """The variables that have data and that another one follows from."""
    return [each for each in data if each in set(ancestors([variable]))]


def imported_value(variable: Variable, data: Data) -> Any:
    """What the imported graph computes, with dtypes and shapes checked on the way."""
    inputs = inputs_of(variable, data)
    graph = from_pytensor(inputs, [variable])
    verify_types(graph, "import")
    return evaluate(graph, [*(data[each] for each in inputs), *graph.captured], check=True)[0]


def check(variable: Variable, data: Data) -> None:
    """An expression has PyTensor's value and dtype, as it is written and after rewriting."""
    inputs = inputs_of(variable, data)
    with pytensor.config.change_flags(cxx=""):  # graphs inside of ops would be compiled by it
        reference = pytensor.function(inputs, variable, mode=PLAIN, on_unused_input="ignore")
    expected = reference(*(data[each] for each in inputs))
    forms = [
        variable,
        rewrite_graph(variable, include=("canonicalize",), exclude=FOR_C_CODE),
        rewrite_graph(variable, include=("canonicalize", "specialize"), exclude=FOR_C_CODE),
    ]
    for each in forms:
        found = imported_value(each, data)
        assert np.asarray(found).dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
