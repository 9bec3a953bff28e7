"""PyTensor graphs in parts: the ops that numbagraph translates become few native functions, and the rest stays
PyTensor's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.random.type import RandomType

from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import DTYPES
from numbagraph.ir.values import Value
from numbagraph.pymc_bridge.array_function import ArrayFunction
from numbagraph.pymc_bridge.branch_graphs import Branches
from numbagraph.pymc_bridge.importer import (
    Importer,
    UnsupportedOp,
    checked_input,
    describe,
    finish,
    is_choice,
)
from numbagraph.pymc_bridge.sparse_arguments import MatrixFunction, can_be_parts, matrix_input, parts_in_graph
from numbagraph.pymc_bridge.translations.draws import DEFAULT_KIND, State, sampler_of, state_input
from numbagraph.pymc_bridge.translations.sparse_matrix import SparseMatrix, is_sparse
from numbagraph.runtime.embedding import FAILURES


class Partition(Struct, eq=False):
    """Applications of ops that become one native function, and the variables that go in and come out."""

    nodes: tuple[Apply, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]


SUPPORTED = frozenset(map(str, DTYPES))

NativeFunction = ArrayFunction | MatrixFunction
Lengths = Mapping[Variable, tuple[int | None, ...]]
Step = Partition | Apply
"""A part of a graph that runs at one time: a native function, or an op that PyTensor runs."""


class Division(Struct, frozen=False):
    """A graph as steps."""

    steps: list[Step]
    functions: Mapping[Partition, NativeFunction]
    """The native function of each partition."""
    reasons: Mapping[Apply, str]
    """The reason why an application of an op is left to PyTensor, where that is not by design."""


class Untranslated(Exception):
    """An error: a partition cannot be a native function."""

    def __init__(self, reasons: Mapping[Apply, str]) -> None:
        super().__init__(*reasons.values())
        self.reasons = reasons
        """The applications of ops that cannot be translated, with the reasons."""


def divide(fgraph: FunctionGraph, order: Sequence[Apply], name: str) -> Division:
    """Divide a graph into steps, with a native function for each partition.

    What cannot be translated is found by trying; without it, the rest is divided anew.
    """
    foreign = {node for node in order if is_random(node) and sampler_of(node.op) is None}
    reasons: dict[Apply, str] = {}
    while True:
        steps = steps_of(fgraph, order, foreign)
        try:
            functions = {step: native_function(step, name) for step in steps if isinstance(step, Partition)}
        except Untranslated as found:
            reasons.update({node: reason for node, reason in found.reasons.items() if not is_random(node)})
            foreign.update(found.reasons)
        else:
            return Division(steps, functions, reasons)


def is_random(node: Apply) -> bool:
    """Whether an op draws from random generators: those without a translation are PyTensor's by design."""
    return any(isinstance(each.type, RandomType) for each in (*node.inputs, *node.outputs))


def is_known(variable: Variable) -> bool:
    """Whether native code can take a variable, an array or a sparse matrix, or return it."""
    is_supported = getattr(variable.type, "dtype", None) in SUPPORTED
    return is_supported and (can_be_parts(variable) or not is_sparse(variable))


def input_for(variable: Any, lengths: Lengths) -> Any:
    """The input for a variable, of which more lengths may be known than its type has."""
    if is_sparse(variable):
        return matrix_input(variable)
    if variable in lengths:
        variable = variable.type.clone(shape=lengths[variable])(variable.name)
    return checked_input(variable)


def steps_of(fgraph: FunctionGraph, order: Sequence[Apply], foreign: Collection[Apply]) -> list[Step]:
    """The smallest possible number of steps, in an order in which they can be run.

    On the way to an application, native and foreign ones take turns; its level says how often. Native ones of one
    level become a partition.
    """
    before = fgraph.orderings()
    levels: dict[Apply, int] = {}
    groups: dict[tuple[int, bool], list[Apply]] = defaultdict(list)
    for node in order:
        is_foreign = node in foreign
        earlier = [each.owner for each in node.inputs if each.owner is not None] + list(before.get(node, ()))
        levels[node] = max((levels[each] + (each in foreign and not is_foreign) for each in earlier), default=0)
        groups[levels[node], is_foreign].append(node)
    steps: list[Step] = []
    for (_, is_foreign), nodes in sorted(groups.items(), key=lambda item: item[0]):
        steps += nodes if is_foreign else [partition_of(fgraph, nodes)]
    return steps


def partition_of(fgraph: FunctionGraph, nodes: Sequence[Apply]) -> Partition:
    own = set(nodes)
    inputs = {each: None for node in nodes for each in node.inputs if each.owner not in own}
    outputs = [
        each for node in nodes for each in node.outputs if any(user not in own for user, _ in fgraph.clients[each])
    ]
    return Partition(tuple(nodes), tuple(each for each in inputs if not isinstance(each, Constant)), tuple(outputs))


def add_inputs(
    importer: Importer, variables: Sequence[Variable], kinds: Mapping[Variable, str], lengths: Lengths
) -> None:
    """Let an importer know inputs for those variables that native code can take; ``kinds`` are the bit generators of
    random generators."""
    importer.values.update({each: input_for(each, lengths) for each in variables if is_known(each)})
    random = (each for each in variables if isinstance(each.type, RandomType))
    importer.values.update({each: state_input(kinds.get(each, DEFAULT_KIND), each.name) for each in random})


def in_graph(importer: Importer, variables: Sequence[Variable]) -> tuple[list[Value], list[Variable]]:
    """The values of a graph that stand for variables, and the variable that each belongs to: a matrix has several."""
    values, owners = list[Value](), list[Variable]()
    for each in variables:
        known = importer.values[each]
        if isinstance(known, SparseMatrix):
            found = parts_in_graph(importer, known)
        else:
            found = [known.words if isinstance(known, State) else known]
        values += found
        owners += [each] * len(found)
    return values, owners


def native_function(
    partition: Partition, name: str, kinds: Mapping[Variable, str] | None = None, lengths: Lengths | None = None
) -> NativeFunction:
    """The native function of a partition; raise `Untranslated` with all applications that cannot be translated, if any.

    ``kinds`` are the bit generators of the random generators among its inputs, where they are not `DEFAULT_KIND`, and
    ``lengths`` are those of inputs, where more are known than their types have.
    """
    with shapes.collect_guards() as guards:
        importer = Importer()
        add_inputs(importer, partition.inputs, kinds or {}, lengths or {})
        reasons: dict[Apply, str] = {}
        if any(map(is_choice, partition.nodes)):
            importer.branches = Branches(partition.outputs, importer.values.__contains__, is_choice)
        for node in partition.nodes:
            if importer.branches and importer.branches.homes.get(node):
                continue  # translated when the choice that it is needed for is
            try:
                translate(importer, node, partition)
            except FAILURES as error:
                reasons[node] = str(error)
                add_inputs(importer, node.outputs, {}, {})
                continue
    if reasons:
        raise Untranslated(reasons)
    inputs: Any
    inputs, _ = in_graph(importer, partition.inputs)
    values, owners = in_graph(importer, partition.outputs)
    function = ArrayFunction(finish(importer, inputs, owners, values, guards, name))
    if any(map(is_sparse, (*partition.inputs, *partition.outputs))):
        return MatrixFunction(partition.inputs, partition.outputs, function)
    return function


def translate(importer: Importer, node: Apply, partition: Partition) -> None:
    """Let an importer translate one application of an op."""
    for each in importer.needed(node):
        if isinstance(each, Constant):
            importer(each)
        elif each not in importer.values:
            raise UnsupportedOp(f"{describe(each)} is no array of a dtype that is supported")
    importer.translate(node)
    crossing = [
        each
        for each in node.outputs
        if each in partition.outputs
        and not isinstance(importer.values[each], State)
        and not (is_known(each) and isinstance(importer.values[each], Value | SparseMatrix))
    ]
    if crossing:
        raise UnsupportedOp(f"{describe(crossing[0])} is no array of a dtype that is supported")
