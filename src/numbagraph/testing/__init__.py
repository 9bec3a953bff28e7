"""Checks for authors of ops. All of them follow from an op's declaration and its samples."""

from numbagraph.testing.arrays import LAYOUTS, special_values
from numbagraph.testing.batching import check_batching
from numbagraph.testing.checks import check_op, check_own_memory
from numbagraph.testing.chunks import small_chunks
from numbagraph.testing.compare import assert_same
from numbagraph.testing.donations import check_donations, may_raise
from numbagraph.testing.gradients import check_gradients
from numbagraph.testing.op_calls import Call, samples
from numbagraph.testing.views import check_writes

__all__ = [
    "LAYOUTS",
    "Call",
    "assert_same",
    "check_batching",
    "check_donations",
    "check_gradients",
    "check_op",
    "check_own_memory",
    "check_writes",
    "may_raise",
    "samples",
    "small_chunks",
    "special_values",
]
