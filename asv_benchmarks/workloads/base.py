"""What a workload is: one plain NumPy function, and how each peer gets the same result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SEED = 20240229
GROWTH_SIZES = (100, 300, 1000)
SCALING_SIZES = tuple(10**power for power in range(9))


@dataclass(frozen=True)
class Problem:
    """A workload at one size: what is called, on what, and how each kind of peer says it.

    `function` is plain NumPy. numbagraph compiles it unchanged; JAX and PyTensor read the same code object
    with their own namespace for `np`. With `argnums` the task is the value and the gradient by those
    arguments: then `by_hand` is NumPy's version of it. `loops` is the fused function that a Numba user would
    write.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: tuple[int, ...] = ()
    by_hand: Callable[..., Any] | None = None
    loops: Callable[..., Any] | None = None
    captured: tuple[np.ndarray, ...] = ()
    """Arrays in the closure of `function`; `by_hand` and `loops` take them after `args`."""
    numexpr: str | None = None
    statement: str | None = None
    """What NumPy is timed on where a Python frame around it would count: an expression of the parameters."""


@dataclass(frozen=True)
class Workload:
    """A named family of problems, by size."""

    name: str
    sizes: tuple[int, ...]
    problem: Callable[[int], Problem]
    rtol: float = 1e-10
    """Of the largest magnitude in each result: a sum in another order differs in its last digits."""
    compile_sizes: tuple[int, ...] = ()
    """Where compile time is measured; by default at the first size, because it hardly depends on it."""
    tags: frozenset[str] = frozenset()
    largest: Mapping[str, int] = field(default_factory=dict)
    """By system, the largest size that compiles in a time worth waiting for."""

    def sizes_for(self, what: str) -> tuple[int, ...]:
        if what == "growth":
            return GROWTH_SIZES
        if what == "scaling":
            return SCALING_SIZES
        if what in ("compile", "second"):
            return self.compile_sizes or self.sizes[:1]
        return self.sizes


@dataclass(frozen=True)
class Case:
    """One workload at one size: a row of a table."""

    workload: Workload
    size: int

    @property
    def label(self) -> str:
        return f"{self.workload.name}-{self.size}"

    def problem(self) -> Problem:
        return self.workload.problem(self.size)


def generator(size: int) -> np.random.Generator:
    """The seeded source of a problem's data: the same in every process."""
    return np.random.default_rng([SEED, size])
