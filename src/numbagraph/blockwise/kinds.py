"""Kinds of op: each derives most properties of the ops that it declares.

An op declared with a kind is traced, lowered, differentiated, batched, translated to `jax.numpy` and tested from
that one declaration.
"""

from numbagraph.blockwise.common import (
    Keywords,
    align_batches,
    batch_elementwise,
    batch_unary,
    draw,
    real_if,
    sum_to,
    without_axes,
)
from numbagraph.blockwise.core import core_op
from numbagraph.blockwise.decomposition import decomposition
from numbagraph.blockwise.elementwise import elementwise
from numbagraph.blockwise.reduction import reduction
from numbagraph.blockwise.running import running, running_op
from numbagraph.blockwise.view import view

__all__ = [
    "Keywords",
    "align_batches",
    "batch_elementwise",
    "batch_unary",
    "core_op",
    "decomposition",
    "draw",
    "elementwise",
    "real_if",
    "reduction",
    "running",
    "running_op",
    "sum_to",
    "view",
    "without_axes",
]
