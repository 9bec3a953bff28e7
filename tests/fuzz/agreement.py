"""Whether a call has failed as PyTensor does."""

from __future__ import annotations

import warnings
from typing import Any

from numbagraph.pymc_bridge import FallbackWarning
from tests.fuzz.evaluation import Failures, TooLong

FAMILIES = (IndexError, AssertionError, ValueError, TypeError, ArithmeticError, NotImplementedError)


def agree(found: Exception | None, expected: Any) -> bool:
    """Whether an error, or none, is what PyTensor has."""
    if found is None or not isinstance(expected, Failures):
        return found is None and not isinstance(expected, Failures)
    return any(isinstance(found, family(each)) for each in expected.errors)


def is_of_positions(expected: Any) -> bool:
    return isinstance(expected, Failures) and all(isinstance(each, IndexError) for each in expected.errors)


def is_undecided(expected: Any, undecided: tuple[type[Exception], ...]) -> bool:
    """Whether PyTensor has no answer of its own."""
    return isinstance(expected, Failures) and any(isinstance(each, undecided) for each in expected.errors)


def is_fallback(warning: warnings.WarningMessage) -> bool:
    """Whether PyTensor's own code has run in place of ours."""
    return issubclass(warning.category, FallbackWarning)


def family(error: Exception) -> Any:
    if isinstance(error, TooLong):
        return (ValueError, MemoryError)
    return next((each for each in FAMILIES if isinstance(error, each)), type(error))
