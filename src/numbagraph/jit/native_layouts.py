"""Functions for callers in native code, traced for arguments any length of which may be 1."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from numbagraph.ir.abi import ArrayLeaf, Leaf
from numbagraph.ir.graph import content_hash
from numbagraph.ir.structs import replace
from numbagraph.jit.version import Traced, trace
from numbagraph.runtime.arguments import Placeholder
from numbagraph.runtime.embedding import FAILURES, Embedding
from numbagraph.runtime.specialise import Specialisation, signature_of
from numbagraph.tracing.tracer import Tracer

_numbers = itertools.count()


def embed(
    call: Callable[[list[Any]], Any],
    leaves: Sequence[Any],
    names: Sequence[str],
    described: str,
    converts: bool = False,
    stabilise: bool = True,
) -> Embedding:
    """Compile ``call`` on ``leaves`` to native code: leaves that are a `Placeholder` are arguments, all others
    constants."""
    positions = [position for position, leaf in enumerate(leaves) if isinstance(leaf, Placeholder)]
    layouts = [leaves[position].layout for position in positions]
    own_names = [names[position] for position in positions]
    name = f"graph{next(_numbers)}"

    def filled(tracers: list[Tracer]) -> Any:
        given = dict(zip(positions, tracers, strict=True))
        return call([given.get(position, leaf) for position, leaf in enumerate(leaves)])

    def version(one: bool | None) -> Traced:
        layouts_here = [with_ones(each, one) for each in layouts]
        traced = trace(filled, layouts_here, own_names, name, described, converts=converts, stabilise=stabilise)
        if traced.outputs.has_effects:
            raise NotImplementedError(f"{described} prints (debug_print), which is for calls from Python")
        return traced

    chosen, refuses_one = choose(version, any(isinstance(each, ArrayLeaf) and each.ndim for each in layouts))
    versions = tuple(specialise(each, f"{name}.{number}") for number, each in enumerate(chosen))
    order = tuple(leaves[position].number for position in positions)
    return Embedding(versions, refuses_one, order, chosen[0].outputs, described)


def choose(version: Callable[[bool | None], Traced], has_lengths: bool) -> tuple[list[Traced], bool]:
    """The versions that are needed, and whether there is none for lengths of 1.

    There is one for lengths that are not 1, and one for any lengths. Often the two are the same.
    """
    if not has_lengths:
        return [version(False)], False
    try:
        usual = version(False)
    except FAILURES:
        return [version(None)], False  # it may be written for lengths of 1
    try:
        general = version(None)
    except FAILURES:
        return [usual], True
    if content_hash(usual.graph) == content_hash(general.graph):
        return [general], False
    alike = [(each.dtype, each.ndim) for each in usual.graph.outputs] == [
        (each.dtype, each.ndim) for each in general.graph.outputs
    ]
    return ([usual, general], False) if alike else ([usual], True)


def with_ones(layout: Leaf, one: bool | None) -> Leaf:
    return replace(layout, ones=(one,) * layout.ndim) if isinstance(layout, ArrayLeaf) else layout


def c_layout(layout: Leaf) -> Leaf:
    """Return the layout by which a caller from C passes an argument that a caller from Python passes with
    ``layout``."""
    return ArrayLeaf(layout.dtype, (None,) * layout.ndim) if isinstance(layout, ArrayLeaf) else layout


def specialise(traced: Traced, name: str) -> Specialisation:
    signature = signature_of(traced.graph, traced.leaves, len(traced.captured), traced.outputs.single)
    return Specialisation(traced.graph, signature, traced.captured, name)
