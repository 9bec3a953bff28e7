"""What a program is: plain NumPy, and the same by hand for the peers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from asv_benchmarks.workloads.base import generator


@dataclass(frozen=True)
class Program:
    """A function as people write it, a version in `jax.numpy`, and what to call them on.

    `arguments` makes them for a size. `loops` is the version for Numba where another one than the function is better
    there. `argnums` are the arguments by which it is differentiated: what is differentiated is the sum of the squares
    of its results.
    """

    function: Callable[..., Any]
    jax: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    size: int
    tiny: int
    argnums: tuple[int, ...] = ()
    loops: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        return self.function.__name__

    def args(self, size: int | None = None) -> tuple[Any, ...]:
        chosen = size or self.size
        return self.arguments(generator(chosen), chosen)


def of_squares(function: Callable[..., Any]) -> Callable[..., Any]:
    """The number that stands for all results: the sum of their squares."""

    def loss(*args: Any) -> Any:
        returned = function(*args)
        results = returned if isinstance(returned, tuple) else (returned,)
        return sum((each**2).sum() for each in results)

    return loss
